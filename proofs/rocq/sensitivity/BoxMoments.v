(* How far one row of the box [-1, 1]^d moves the moments, in the weights of the code.

   The sums over all rows of 1, u_j, u_j^2 - 1 and u_i u_j (i < j) have the weights k, a, b
   and c.  Proved, for all d, all rows and all weights that meet the stated condition:

   - one row is another, sum of squares, b^2 <= a^2: the change is at most
     4 p (a^2 + c^2 (d - p)) for the p of the code (l2_replaced);
   - one row is another, absolute values, 2 b >= c: with Q = c (d - 1) + 2 b it is at most
     d (a + Q)^2/(2 Q), and 2 a d if Q < a (l1_replaced);
   - one row comes or goes, sum of squares, b^2 <= a^2 + c^2 (d - 1)/2: at most
     k^2 + d a^2 + c^2 d (d - 1)/2 (l2_added);
   - one row comes or goes, absolute values, 2 b <= a + c (d - 1): at most
     k + d a + c d (d - 1)/2 (l1_added).

   Nothing is assumed. *)
From mathcomp Require Import ssrint.
From covassay Require Import MatrixTheory.

(* ---------------------------------------------------------------------------- *)
(* Sums over pairs                                                              *)

Section Pairs.
Variables (R : realFieldType) (d : nat).
Implicit Types (f g : 'I_d -> 'I_d -> R) (x : 'I_d -> R).

Definition pairs f : R := \sum_(i < d) \sum_(j < d | (i < j)%N) f i j.

Lemma pairs_double f : (forall i j, f j i = f i j) ->
  \sum_i \sum_j f i j = \sum_i f i i + 2%:R * pairs f.
Proof.
move=> sym; have low : \sum_(i < d) \sum_(j < d | (j < i)%N) f i j = pairs f.
  rewrite /pairs (exchange_big_dep xpredT) //=.
  by apply: eq_bigr => i _; apply: eq_bigr => j _; exact: sym.
rewrite mulr_natl mulr2n -{2}low /pairs -!big_split /=; apply: eq_bigr => i _.
rewrite (bigD1 i) //=; congr (_ + _).
rewrite (bigID (fun j : 'I_d => (i < j)%N)) /=; congr (_ + _); apply: eq_bigl => j.
  by apply: andb_idl => ij; rewrite -val_eqE /= neq_ltn ij orbT.
by rewrite -leqNgt [RHS]ltn_neqAle -val_eqE.
Qed.

Lemma pairs_le f g : (forall i j, f i j <= g i j) -> pairs f <= pairs g.
Proof. by move=> fg; apply: ler_sum => i _; apply: ler_sum => j _; exact: fg. Qed.

Lemma eq_pairs f g : (forall i j, f i j = g i j) -> pairs f = pairs g.
Proof. by move=> fg; apply: eq_bigr => i _; apply: eq_bigr => j _; exact: fg. Qed.

Lemma pairs_scale (t : R) f : pairs (fun i j => t * f i j) = t * pairs f.
Proof. by rewrite /pairs mulr_sumr; apply: eq_bigr => i _; rewrite mulr_sumr. Qed.

Lemma pairs_add f g : pairs (fun i j => f i j + g i j) = pairs f + pairs g.
Proof. by rewrite /pairs -big_split; apply: eq_bigr => i _; rewrite -big_split. Qed.

Lemma pairs_sum x : pairs (fun i j => x i + x j) = (d%:R - 1) * \sum_i x i.
Proof.
have := @pairs_double (fun i j => x i + x j) (fun i j => addrC _ _).
have -> : \sum_i \sum_j (x i + x j) = 2%:R * (d%:R * \sum_i x i).
  have E i : \sum_j (x i + x j) = d%:R * x i + \sum_j x j.
    by rewrite big_split /= sumr_const card_ord mulr_natl.
  under eq_bigr do rewrite E.
  rewrite big_split /= -mulr_sumr sumr_const card_ord -(mulr_natl (\sum_j x j) d).
  by move: (\sum_j x j) (d%:R : R) => S D; ring.
have -> : \sum_i (x i + x i) = 2%:R * \sum_i x i by rewrite big_split /=; ring.
move=> e; apply: (@mulfI _ 2%:R); first by rewrite pnatr_eq0.
by rewrite -(addKr (2%:R * \sum_i x i) (2%:R * pairs _)) -e; ring.
Qed.

Lemma pairs_product x :
  2%:R * pairs (fun i j => x i * x j) = (\sum_i x i) ^+ 2 - \sum_i x i ^+ 2.
Proof.
have := @pairs_double (fun i j => x i * x j) (fun i j => mulrC _ _).
under eq_bigr do rewrite -mulr_sumr.
rewrite -mulr_suml -expr2 => ->.
have -> : \sum_i x i * x i = \sum_i x i ^+ 2 by apply: eq_bigr => i _; rewrite expr2.
by rewrite addrC addKr.
Qed.

(* Of d numbers, the square of the sum is at most d times the sum of squares. *)
Lemma square_sum_le x : (\sum_i x i) ^+ 2 <= d%:R * \sum_i x i ^+ 2.
Proof.
have : 2%:R * pairs (fun i j => x i * x j) <= pairs (fun i j => x i ^+ 2 + x j ^+ 2).
  rewrite -pairs_scale; apply: pairs_le => i j.
  by rewrite -subr_ge0 [X in _ <= X](_ : _ = (x i - x j) ^+ 2) ?sqr_ge0 //; ring.
rewrite pairs_product (pairs_sum (fun i => x i ^+ 2)).
by rewrite mulrBl mul1r ler_subl_addr subrK.
Qed.

End Pairs.

(* A sum over the entries on and above the diagonal, first row apart. *)
Lemma sum_lifted (R : realFieldType) d (f : 'I_d.+1 -> 'I_d.+1 -> R) :
  \sum_(i < d.+1) \sum_(j < d.+1 | (i <= j)%N) f i j
  = f ord0 ord0 + \sum_j f ord0 (lift ord0 j) + \sum_j f (lift ord0 j) (lift ord0 j)
    + pairs (fun i j => f (lift ord0 i) (lift ord0 j)).
Proof.
rewrite big_ord_recl; have -> : \sum_(j < d.+1 | (@ord0 d <= j)%N) f ord0 j
    = f ord0 ord0 + \sum_j f ord0 (lift ord0 j) by rewrite (eq_bigl xpredT) // big_ord_recl.
rewrite -!addrA; congr (_ + (_ + _)); rewrite -big_split /=; apply: eq_bigr => i _.
rewrite big_mkcond big_ord_recl /= add0r -big_mkcond /= (bigD1 i) //=; congr (_ + _).
by apply: eq_bigl => j; rewrite [RHS]ltn_neqAle andbC -val_eqE eq_sym.
Qed.

(* The sum of numbers between 0 and 1, and of their squares. *)
Lemma rounding_gap (R : realFieldType) d (x : 'I_d -> R) (p : int) : (forall i, 0 <= x i <= 1) ->
  2%:R * p%:~R * (\sum_i x i) - p%:~R * (p%:~R + 1) <= (\sum_i x i) ^+ 2 - \sum_i x i ^+ 2.
Proof.
elim: d x p => [|d IH] x p x01.
  have -> : p%:~R + 1 = (p + 1)%:~R :> R by rewrite intrD.
  rewrite !big_ord0 mulr0 expr0n subrr sub0r oppr_le0 -intrM ler0z.
  case: p => n; first by rewrite mulr_ge0.
  by rewrite NegzE -mulrNN opprK mulr_ge0 // opprD opprK subr_ge0.
rewrite !big_ord_recr /=.
have := IH (fun i => x (widen_ord (leqnSn d) i)) p (fun i => x01 _).
have := IH (fun i => x (widen_ord (leqnSn d) i)) (p - 1) (fun i => x01 _).
move: (\sum_(i < d) x _) (\sum_(i < d) x _ ^+ 2) => s r.
rewrite rmorphB /=; move: (p%:~R : R) => q; have /andP[t0 t1] := x01 ord_max.
move: (x ord_max) t0 t1 => t t0 t1.
rewrite -subr_ge0 => A; rewrite -subr_ge0 => B; rewrite -subr_ge0.
apply: (@le_trans _ _ ((1 - t) * (s ^+ 2 - r - (2%:R * q * s - q * (q + 1)))
   + t * (s ^+ 2 - r - (2%:R * (q - 1) * s - (q - 1) * (q - 1 + 1))))).
  by rewrite addr_ge0 // mulr_ge0 // subr_ge0.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The weights                                                                  *)

Record weights (R : Type) := Weights { count : R; mean : R; square : R; product : R }.

(* What each entry of the sums is multiplied by. *)
Definition weight_of (R : Type) d (w : weights R) (i j : 'I_d.+1) : R :=
  if i == ord0 then if j == ord0 then count w else mean w
  else if j == ord0 then mean w else if i == j then square w else product w.

Section Row.
Variables (R : realType) (d : nat) (w : weights R).
Notation a := (mean w).
Notation b := (square w).
Notation c := (product w).
Notation matrix := 'M[R]_d.+1.
Implicit Types (u v : 'cV[R]_d) (A : matrix).

(* (1, u) *)
Definition lifted u : 'cV[R]_d.+1 := \col_i (if unlift ord0 i is Some j then u j 0 else 1).

(* What the row u adds to the sums of 1, u_j, u_j^2 - 1 and u_i u_j. *)
Definition moments u : matrix :=
  \matrix_(i, j) (lifted u i 0 * lifted u j 0 - ((i == j) && (i != ord0))%:R).

Lemma moments_sym u i j : moments u i j = moments u j i.
Proof.
by rewrite !mxE mulrC [j == i]eq_sym; case: eqP => // ->.
Qed.

Lemma moments00 u : moments u ord0 ord0 = 1.
Proof. by rewrite !mxE unlift_none andbF subr0 mulr1. Qed.

Lemma moments0S u j : moments u ord0 (lift ord0 j) = u j 0.
Proof. by rewrite !mxE unlift_none liftK andbF subr0 mul1r. Qed.

Lemma momentsSS u i j : moments u (lift ord0 i) (lift ord0 j) = u i 0 * u j 0 - (i == j)%:R.
Proof. by rewrite !mxE !liftK (inj_eq lift_inj) andbT. Qed.

Lemma weight00 : weight_of w (@ord0 d) ord0 = count w.
Proof. by []. Qed.

Lemma weight0S (j : 'I_d) : weight_of w (@ord0 d) (lift ord0 j) = a.
Proof. by []. Qed.

Lemma weightSS (i j : 'I_d) : weight_of w (lift ord0 i) (lift ord0 j) = if i == j then b else c.
Proof. by rewrite /weight_of /= (inj_eq lift_inj). Qed.

(* The sums of squares and of absolute values of the weighted entries on and above the
   diagonal. *)
Definition weighted_squares A : R :=
  \sum_(i < d.+1) \sum_(j < d.+1 | (i <= j)%N) (weight_of w i j * A i j) ^+ 2.
Definition weighted_l1 A : R :=
  \sum_(i < d.+1) \sum_(j < d.+1 | (i <= j)%N) `|weight_of w i j * A i j|.

Definition in_box u : Prop := forall j, `|u j 0| <= 1.

Lemma weighted_squaresE A : weighted_squares A
  = (count w * A ord0 ord0) ^+ 2 + \sum_j (a * A ord0 (lift ord0 j)) ^+ 2
    + \sum_j (b * A (lift ord0 j) (lift ord0 j)) ^+ 2
    + pairs (fun i j => ((if i == j then b else c) * A (lift ord0 i) (lift ord0 j)) ^+ 2).
Proof.
rewrite /weighted_squares (sum_lifted (fun i j => (weight_of w i j * A i j) ^+ 2)).
by congr (_ + _ + _); apply: eq_bigr => j _; rewrite weightSS eqxx.
Qed.

Lemma weighted_l1E A : weighted_l1 A
  = `|count w * A ord0 ord0| + \sum_j `|a * A ord0 (lift ord0 j)|
    + \sum_j `|b * A (lift ord0 j) (lift ord0 j)|
    + pairs (fun i j => `|(if i == j then b else c) * A (lift ord0 i) (lift ord0 j)|).
Proof.
rewrite /weighted_l1 (sum_lifted (fun i j => `|weight_of w i j * A i j|)).
by congr (_ + _ + _); apply: eq_bigr => j _; rewrite weightSS eqxx.
Qed.

(* ---------------------------------------------------------------------------- *)
(* One row comes or goes                                                        *)

Definition l2_squared_added : R :=
  count w ^+ 2 + d%:R * a ^+ 2 + c ^+ 2 * d%:R * (d%:R - 1) / 2%:R.
Definition l1_sensitivity_added : R :=
  count w + d%:R * a + c * d%:R * (d%:R - 1) / 2%:R.

Lemma pairs_off (f g : 'I_d -> 'I_d -> R) : (forall i j, i != j -> f i j <= g i j) -> pairs f <= pairs g.
Proof.
move=> fg; apply: ler_sum => i _; apply: ler_sum => j ij; apply: fg.
by rewrite -val_eqE neq_ltn ij.
Qed.

Lemma l2_added u : in_box u -> b ^+ 2 <= a ^+ 2 + c ^+ 2 * (d%:R - 1) / 2%:R ->
  weighted_squares (moments u) <= l2_squared_added.
Proof.
move=> u1 bac; rewrite weighted_squaresE moments00 mulr1 /l2_squared_added.
pose t j := u j 0 ^+ 2.
have t0 j : 0 <= t j by exact: sqr_ge0.
have t1 j : t j <= 1 by rewrite /t -[u j 0 ^+ 2]real_normK ?num_real // expr_le1.
rewrite -!addrA ler_add2l.
apply: (@le_trans _ _ (\sum_j a ^+ 2 * t j + (\sum_j b ^+ 2 * (1 - t j)
    + c ^+ 2 / 2%:R * pairs (fun i j => t i + t j)))).
  apply: ler_add; last apply: ler_add.
  - by apply: ler_sum => j _; rewrite moments0S exprMn.
  - apply: ler_sum => j _; rewrite momentsSS eqxx exprMn ler_wpmul2l ?sqr_ge0 //.
    rewrite -expr2 -/(t j) -sqrrN opprB expr2 -[X in _ <= X]mulr1 ler_wpmul2l ?subr_ge0 //.
    by rewrite ger_addl oppr_le0.
  rewrite -pairs_scale; apply: pairs_off => i j ij.
  rewrite /= momentsSS (negbTE ij) subr0 exprMn -[X in _ <= X]mulrA ler_wpmul2l ?sqr_ge0 //.
  rewrite exprMn -/(t i) -/(t j) ler_pdivl_mull ?ltr0n // -subr_ge0.
  rewrite [X in _ <= X](_ : _ = t i * (1 - t j) + t j * (1 - t i)); last by ring.
  by rewrite addr_ge0 // mulr_ge0 // subr_ge0.
rewrite pairs_sum -!mulr_sumr sumrB sumr_const card_ord -[1 *+ d]/(d%:R).
have s1 : \sum_j t j <= d%:R.
  rewrite -[d in X in _ <= X]card_ord -sumr_const ler_sum //.
move: (\sum_j t j) s1 => s s1; rewrite -subr_ge0.
rewrite [X in _ <= X](_ : _ = (d%:R - s) * (a ^+ 2 + c ^+ 2 * (d%:R - 1) / 2%:R - b ^+ 2)); last by field.
by rewrite mulr_ge0 ?subr_ge0.
Qed.

Lemma l1_added u : in_box u -> 0 <= count w -> 0 <= a -> 0 <= b -> 0 <= c ->
  b = (a + c * (d%:R - 1)) / 2%:R ->
  weighted_l1 (moments u) <= l1_sensitivity_added.
Proof.
move=> u1 k0 a0 b0 c0 bE; rewrite weighted_l1E moments00 mulr1 /l1_sensitivity_added ger0_norm //.
pose t j := `|u j 0|.
have t0 j : 0 <= t j by exact: normr_ge0.
have t1 j : t j <= 1 by exact: u1.
rewrite -!addrA ler_add2l.
apply: (@le_trans _ _ (\sum_j a * t j + (\sum_j b * (1 - t j ^+ 2)
    + c / 2%:R * pairs (fun i j => t i ^+ 2 + t j ^+ 2)))).
  apply: ler_add; last apply: ler_add.
  - by apply: ler_sum => j _; rewrite moments0S normrM ger0_norm.
  - apply: ler_sum => j _; rewrite momentsSS eqxx normrM ger0_norm // ler_wpmul2l //.
    rewrite -expr2 -[u j 0 ^+ 2]real_normK ?num_real // -/(t j) ler0_norm ?opprB //.
    by rewrite subr_le0 expr_le1.
  rewrite -pairs_scale; apply: pairs_off => i j ij.
  rewrite /= momentsSS (negbTE ij) subr0 !normrM (ger0_norm c0) -[X in _ <= X]mulrA ler_wpmul2l //.
  rewrite -/(t i) -/(t j) ler_pdivl_mull ?ltr0n // -subr_ge0.
  by rewrite [X in _ <= X](_ : _ = (t i - t j) ^+ 2) ?sqr_ge0 //; ring.
rewrite pairs_sum -[d%:R * a](_ : \sum_(j < d) a = _); last by rewrite sumr_const card_ord mulr_natl.
have -> : c * d%:R * (d%:R - 1) / 2%:R = \sum_(j < d) (c * (d%:R - 1) / 2%:R).
  by rewrite sumr_const card_ord -mulr_natl; ring.
rewrite mulrA [X in _ + (_ + X)]mulr_sumr -!big_split ler_sum // => j _ /=.
rewrite bE -subr_ge0 [X in _ <= X](_ : _ = a / 2%:R * (1 - t j) ^+ 2); last by field.
by rewrite mulr_ge0 ?sqr_ge0 // divr_ge0 ?ler0n.
Qed.

(* ---------------------------------------------------------------------------- *)
(* One row is another                                                           *)

(* Half the differences. *)
Let half_gap u v j : R := `|u j 0 - v j 0| / 2%:R.

Let half_gap01 u v j : in_box u -> in_box v -> 0 <= half_gap u v j <= 1.
Proof.
move=> u1 v1; rewrite divr_ge0 ?ler0n //= ler_pdivr_mulr ?ltr0n // mul1r.
by apply: le_trans (ler_norm_sub _ _) _; rewrite -[2%:R]/(1 + 1) ler_add.
Qed.

(* |s| + |t| <= 1 for the half sum s and the half difference t of two numbers. *)
Let half_sum u v j : in_box u -> in_box v -> `|u j 0 + v j 0| / 2%:R <= 1 - half_gap u v j.
Proof.
move=> /(_ j) + /(_ j); rewrite /half_gap !ler_norml => /andP[u0 u1] /andP[v0 v1].
rewrite ler_subr_addr -mulrDl ler_pdivr_mulr ?ltr0n // mul1r.
case: (ger0P (u j 0 + v j 0)) => _; case: (ger0P (u j 0 - v j 0)) => _.
- by rewrite [X in X <= _](_ : _ = u j 0 + u j 0); [rewrite -[2%:R]/(1 + 1) ler_add|ring].
- by rewrite [X in X <= _](_ : _ = v j 0 + v j 0); [rewrite -[2%:R]/(1 + 1) ler_add|ring].
- rewrite [X in X <= _](_ : _ = - v j 0 + - v j 0); last by ring.
  by rewrite -[2%:R]/(1 + 1) ler_add // ler_oppl.
rewrite [X in X <= _](_ : _ = - u j 0 + - u j 0); last by ring.
by rewrite -[2%:R]/(1 + 1) ler_add // ler_oppl.
Qed.

Let entryB A B i j : (A - B) i j = A i j - B i j.
Proof. by rewrite !mxE. Qed.

Let mean_gap u v (j : 'I_d) : `|(moments u - moments v) ord0 (lift ord0 j)| = 2%:R * half_gap u v j.
Proof. by rewrite entryB !moments0S /half_gap mulrC divfK ?pnatr_eq0. Qed.

Let square_gap u v (j : 'I_d) : in_box u -> in_box v ->
  `|(moments u - moments v) (lift ord0 j) (lift ord0 j)| <= 4%:R * half_gap u v j * (1 - half_gap u v j).
Proof.
move=> u1 v1; rewrite entryB !momentsSS.
rewrite eqxx [X in `|X|](_ : _ = (u j 0 - v j 0) * (u j 0 + v j 0)); last by ring.
have E : `|u j 0 - v j 0| = 2%:R * half_gap u v j by rewrite /half_gap mulrC divfK ?pnatr_eq0.
rewrite normrM E; have hs := half_sum j u1 v1; have /andP[g0 _] := half_gap01 j u1 v1.
move: (half_gap u v j) (`|u j 0 + v j 0|) g0 hs => g t g0 hs.
apply: (@le_trans _ _ (2%:R * g * (2%:R * (1 - g)))); last first.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
by rewrite ler_wpmul2l ?mulr_ge0 ?ler0n // -ler_pdivr_mull ?ltr0n // mulrC.
Qed.

Let product_gap u v (i j : 'I_d) : in_box u -> in_box v -> i != j ->
  `|(moments u - moments v) (lift ord0 i) (lift ord0 j)|
  <= 2%:R * (half_gap u v i + half_gap u v j - 2%:R * (half_gap u v i * half_gap u v j)).
Proof.
move=> u1 v1 ij; rewrite entryB !momentsSS (negbTE ij) !subr0.
rewrite [X in `|X|](_ : _ = 2%:R * ((u i 0 - v i 0) / 2%:R * ((u j 0 + v j 0) / 2%:R)
  + (u i 0 + v i 0) / 2%:R * ((u j 0 - v j 0) / 2%:R))); last by field.
have abs2 : `|2%:R^-1| = 2%:R^-1 :> R by rewrite ger0_norm ?invr_ge0 ?ler0n.
rewrite normrM [X in X * _]ger0_norm ?ler0n // ler_pmul2l ?ltr0n //.
apply: le_trans (ler_norm_add _ _) _; rewrite !normrM !abs2.
rewrite -[`|u i 0 - v i 0| / _]/(half_gap u v i) -[`|u j 0 - v j 0| / _]/(half_gap u v j).
have /andP[gi0 _] := half_gap01 i u1 v1; have /andP[gj0 _] := half_gap01 j u1 v1.
have hi := half_sum i u1 v1; have hj := half_sum j u1 v1.
move: (half_gap u v i) (half_gap u v j) gi0 gj0 hi hj => gi gj gi0 gj0 hi hj.
apply: (@le_trans _ _ (gi * (1 - gj) + (1 - gi) * gj)).
  by apply: ler_add; [rewrite ler_wpmul2l|rewrite ler_wpmul2r].
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(* The number of columns in which the worst rows are opposite. *)
Definition opposite_columns : nat :=
  if (d <= 1)%N then d else minn d `|floor ((a ^+ 2 / c ^+ 2 + d%:R + 1) / 2%:R)|%N.

Definition opposite (p : R) : R := 4%:R * p * (a ^+ 2 + c ^+ 2 * (d%:R - p)).
Definition l2_squared_replaced : R := opposite opposite_columns%:R.

(* Where p is the best of the whole numbers up to d. *)
Lemma opposite_columns_best : 0 < c ->
  [/\ (opposite_columns <= d)%N,
      2%:R * opposite_columns%:R * c ^+ 2 <= a ^+ 2 + (d%:R + 1) * c ^+ 2 &
      opposite_columns = d \/
      a ^+ 2 + (d%:R + 1) * c ^+ 2 <= 2%:R * (opposite_columns%:R + 1) * c ^+ 2].
Proof.
move=> c0; have c20 : 0 < c ^+ 2 by rewrite exprn_gt0.
rewrite /opposite_columns; case: ifP => [d1|/negbT d1].
  split=> //; last by left.
  rewrite -[X in X <= _]add0r ler_add ?sqr_ge0 // ler_wpmul2r ?(ltW c20) //.
  by case: d d1 => [|[|]] // _; rewrite ?mulr0 ?add0r ?ler01 // mulr1.
set q := (_ / 2%:R).
have q0 : 0 <= q by rewrite divr_ge0 ?ler0n ?addr_ge0 ?ler0n ?ler01 // divr_ge0 ?sqr_ge0.
have E t : (2%:R * t * c ^+ 2 <= a ^+ 2 + (d%:R + 1) * c ^+ 2) = (t <= q).
  rewrite /q ler_pdivl_mulr ?ltr0n // -addrA -[RHS](ler_pmul2r c20) [in RHS]mulrDl divfK ?gt_eqF //.
  by rewrite [in RHS](mulrC t).
have E' t : (a ^+ 2 + (d%:R + 1) * c ^+ 2 <= 2%:R * t * c ^+ 2) = (q <= t).
  rewrite /q ler_pdivr_mulr ?ltr0n // -addrA -[RHS](ler_pmul2r c20) [in RHS]mulrDl divfK ?gt_eqF //.
  by rewrite [in RHS](mulrC t).
have f0 : 0 <= floor q by rewrite floor_ge0.
have fE : `|floor q|%N%:R = (floor q)%:~R :> R by rewrite -[in RHS](gez0_abs f0) pmulrn.
rewrite E E'; split; first by rewrite geq_minl.
  apply: (@le_trans _ _ `|floor q|%N%:R); first by rewrite ler_nat geq_minr.
  by rewrite fE floor_le.
rewrite /minn; case: ifP => df; [by left|right].
by rewrite fE ltW // lt_succ_floor.
Qed.

Lemma l2_replaced u v : 0 < c -> b ^+ 2 <= a ^+ 2 -> in_box u -> in_box v ->
  weighted_squares (moments u - moments v) <= l2_squared_replaced.
Proof.
move=> c0 ba u1 v1; rewrite weighted_squaresE.
have -> : (count w * (moments u - moments v) ord0 ord0) ^+ 2 = 0.
  by rewrite entryB !moments00 subrr mulr0 expr0n.
rewrite add0r; have [g gE] : exists g, forall j, g j = half_gap u v j by exists (half_gap u v).
have g01 j : 0 <= g j <= 1 by rewrite gE half_gap01.
have sqr_le (s t : R) : 0 <= t -> `|s| <= t -> s ^+ 2 <= t ^+ 2.
  by move=> t0 st; rewrite -[s ^+ 2]real_normK ?num_real // ler_expn2r ?nnegrE.
have c20 : 0 < c ^+ 2 by rewrite exprn_gt0.
(* by chords *)
apply: (@le_trans _ _ (\sum_j 4%:R * a ^+ 2 * g j
    + 4%:R * c ^+ 2 * pairs (fun i j => g i + g j + - 2%:R * (g i * g j)))).
  apply: ler_add.
    rewrite -big_split /= ler_sum // => j _; have /andP[g0 g1] := g01 j.
    rewrite !exprMn; have -> : (moments u - moments v) ord0 (lift ord0 j) ^+ 2 = (2%:R * g j) ^+ 2.
      by rewrite gE -mean_gap real_normK ?num_real.
    have h0 : 0 <= g j * (1 - g j) by rewrite mulr_ge0 // subr_ge0.
    have h1 : 4%:R * (g j * (1 - g j)) <= 1.
      by rewrite -subr_ge0 [X in _ <= X](_ : _ = (1 - 2%:R * g j) ^+ 2) ?sqr_ge0 //; ring.
    apply: (@le_trans _ _ (a ^+ 2 * (2%:R * g j) ^+ 2 + a ^+ 2 * (4%:R * (g j * (1 - g j))))).
      rewrite ler_add2l; apply: ler_pmul; rewrite ?sqr_ge0 //.
      apply: le_trans (sqr_le _ _ _ (square_gap j u1 v1)) _; rewrite -gE -mulrA.
        by rewrite mulr_ge0 ?ler0n.
      by rewrite expr2 -[X in _ <= X]mulr1 ler_wpmul2l // mulr_ge0 ?ler0n.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
  rewrite -pairs_scale; apply: pairs_off => i j ij /=.
  rewrite (negbTE ij) exprMn; have /andP[i0 i1] := g01 i; have /andP[j0 j1] := g01 j.
  rewrite (_ : 4%:R * c ^+ 2 * _ = c ^+ 2 * (4%:R * (g i + g j - 2%:R * (g i * g j)))); last by ring.
  rewrite ler_pmul2l //.
  have t0 : 0 <= g i + g j - 2%:R * (g i * g j).
    rewrite (_ : _ - _ = g i * (1 - g j) + g j * (1 - g i)); last by ring.
    by rewrite addr_ge0 // mulr_ge0 // subr_ge0.
  have t1 : g i + g j - 2%:R * (g i * g j) <= 1.
    rewrite -subr_ge0 [X in _ <= X](_ : _ = g i * g j + (1 - g i) * (1 - g j)); last by ring.
    by rewrite addr_ge0 // mulr_ge0 // subr_ge0.
  apply: le_trans (sqr_le _ _ _ (product_gap u1 v1 ij)) _; rewrite -!gE.
    by rewrite mulr_ge0 ?ler0n.
  rewrite exprMn -natrX ler_pmul2l ?ltr0n // expr2 -[X in _ <= X]mulr1.
  by rewrite ler_wpmul2l.
rewrite pairs_add pairs_sum pairs_scale -mulr_sumr.
have E : - 2%:R * pairs (fun i j => g i * g j) = - ((\sum_i g i) ^+ 2 - \sum_i g i ^+ 2).
  by rewrite -pairs_product mulNr.
rewrite E; have [pd lo hi] := opposite_columns_best c0.
have line (q : int) := rounding_gap q g01.
have sd : \sum_i g i <= d%:R.
  rewrite -[d in X in _ <= X]card_ord -sumr_const ler_sum // => j _.
  by have /andP[] := g01 j.
rewrite /l2_squared_replaced /opposite; move: (opposite_columns) pd lo hi => p pd lo hi.
have above q : 4%:R * a ^+ 2 * (\sum_i g i) + 4%:R * c ^+ 2 *
    ((d%:R - 1) * (\sum_i g i) + - ((\sum_i g i) ^+ 2 - \sum_i g i ^+ 2)) <=
    4%:R * a ^+ 2 * (\sum_i g i) + 4%:R * c ^+ 2 *
    ((d%:R - 1) * (\sum_i g i) - (2%:R * q%:~R * (\sum_i g i) - q%:~R * (q%:~R + 1))).
  by rewrite ler_add2l ler_pmul2l ?mulr_gt0 ?ltr0n // ler_add2l ler_opp2 line.
have four0 : 0 <= 4%:R :> R by rewrite ler0n.
have [sp|ps] := leP (\sum_i g i) p%:R.
  apply: le_trans (above (p%:Z - 1)) _; have -> : (p%:Z - 1)%:~R = p%:R - 1 :> R by rewrite rmorphB.
  rewrite -subr_ge0.
  rewrite [X in _ <= X](_ : _ = 4%:R * ((p%:R - \sum_i g i) *
    (a ^+ 2 + (d%:R + 1) * c ^+ 2 - 2%:R * p%:R * c ^+ 2))); last by ring.
  by rewrite mulr_ge0 // mulr_ge0 ?subr_ge0.
case: hi => [pE|hi]; first by move: ps; rewrite pE ltNge sd.
apply: le_trans (above p%:Z) _; rewrite -[p%:~R]/(p%:R : R) -subr_ge0.
rewrite [X in _ <= X](_ : _ = 4%:R * ((\sum_i g i - p%:R) *
  (2%:R * (p%:R + 1) * c ^+ 2 - (a ^+ 2 + (d%:R + 1) * c ^+ 2)))); last by ring.
by rewrite mulr_ge0 // mulr_ge0 ?subr_ge0 // ltW.
Qed.

(* Absolute values. *)
Definition l1_sensitivity_replaced : R :=
  let Q := c * (d%:R - 1) + 2%:R * b in
  if a <= Q then d%:R * (a + Q) ^+ 2 / (2%:R * Q) else 2%:R * d%:R * a.

Lemma l1_replaced u v : 0 < a -> 0 < b -> 0 < c -> c <= 2%:R * b -> in_box u -> in_box v ->
  weighted_l1 (moments u - moments v) <= l1_sensitivity_replaced.
Proof.
move=> a0 b0 c0 cb u1 v1; rewrite weighted_l1E.
have -> : `|count w * (moments u - moments v) ord0 ord0| = 0.
  by rewrite entryB !moments00 subrr mulr0 normr0.
rewrite add0r; have [g gE] : exists g, forall j, g j = half_gap u v j by exists (half_gap u v).
have g01 j : 0 <= g j <= 1 by rewrite gE half_gap01.
apply: (@le_trans _ _ (\sum_j 2%:R * a * g j + \sum_j (4%:R * b * g j - 4%:R * b * g j ^+ 2)
    + 2%:R * c * pairs (fun i j => g i + g j + - 2%:R * (g i * g j)))).
  apply: ler_add; first apply: ler_add.
  - apply: ler_sum => j _; rewrite normrM mean_gap (gtr0_norm a0) -gE.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
  - apply: ler_sum => j _; rewrite normrM (gtr0_norm b0).
    apply: le_trans (ler_wpmul2l (ltW b0) (square_gap j u1 v1)) _; rewrite -gE.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
  rewrite -pairs_scale; apply: pairs_off => i j ij /=; rewrite (negbTE ij) normrM (gtr0_norm c0).
  apply: le_trans (ler_wpmul2l (ltW c0) (product_gap u1 v1 ij)) _; rewrite -!gE.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
rewrite pairs_add pairs_sum pairs_scale -mulr_sumr sumrB -!mulr_sumr.
have E : - 2%:R * pairs (fun i j => g i * g j) = - ((\sum_i g i) ^+ 2 - \sum_i g i ^+ 2).
  by rewrite -pairs_product mulNr.
rewrite E; have sr := square_sum_le g.
have sd : \sum_i g i <= d%:R.
  rewrite -[d in X in _ <= X]card_ord -sumr_const ler_sum // => j _.
  by have /andP[] := g01 j.
have s0 : 0 <= \sum_i g i by rewrite sumr_ge0 // => j _; have /andP[] := g01 j.
rewrite /l1_sensitivity_replaced; have r0 : 0 <= \sum_i g i ^+ 2 by rewrite sumr_ge0 // => j _; rewrite sqr_ge0.
move: (\sum_i g i) (\sum_i g i ^+ 2) s0 sd sr r0 => s r s0 sd sr r0.
set Q := c * (d%:R - 1) + 2%:R * b.
have cb0 : 0 <= 4%:R * b - 2%:R * c.
  by rewrite subr_ge0 [X in _ <= X](_ : _ = 2%:R * (2%:R * b)); [rewrite ler_pmul2l ?ltr0n|ring].
have -> : 2%:R * a * s + (4%:R * b * s - 4%:R * b * r) + 2%:R * c * ((d%:R - 1) * s - (s ^+ 2 - r))
    = 2%:R * (a + Q) * s - 2%:R * c * s ^+ 2 - (4%:R * b - 2%:R * c) * r by rewrite /Q; ring.
case: (posnP d) => [d0|d_gt0].
  have sE : s = 0 by apply/eqP; rewrite eq_le s0 andbT; move: sd; rewrite d0.
  rewrite sE mulr0 expr0n mulr0 subrr sub0r d0 mul0r mulr0 !mul0r if_same oppr_le0.
  by rewrite mulr_ge0.
have D0 : 0 < d%:R :> R by rewrite ltr0n.
have Q0 : 0 < Q.
  rewrite /Q ltr_paddl ?mulr_gt0 ?ltr0n //.
  by rewrite mulr_ge0 ?(ltW c0) // subr_ge0 ler1n.
apply: (@le_trans _ _ (2%:R * (a + Q) * s - 2%:R * Q * s ^+ 2 / d%:R)).
  rewrite -subr_ge0 [X in _ <= X](_ : _ = (4%:R * b - 2%:R * c) * (d%:R * r - s ^+ 2) / d%:R).
    by rewrite divr_ge0 ?(ltW D0) // mulr_ge0 // subr_ge0.
  by rewrite /Q; field; rewrite gt_eqF.
case: ifP => [_|/negbT]; rewrite -subr_ge0.
  rewrite [X in _ <= X](_ : _ = (d%:R * (a + Q) - 2%:R * Q * s) ^+ 2 / (2%:R * Q * d%:R)).
    by rewrite divr_ge0 ?sqr_ge0 // !mulr_ge0 ?ler0n ?ltW.
  by field; rewrite (gt_eqF D0) (gt_eqF Q0).
rewrite subr_ge0 -ltNge => Qa; rewrite -subr_ge0.
rewrite [X in _ <= X](_ : _ = 2%:R * ((d%:R - s) * (a - Q * s / d%:R))).
  rewrite mulr_ge0 ?ler0n // mulr_ge0 // subr_ge0 // ler_pdivr_mulr //.
  by apply: ler_pmul; rewrite // ltW.
by field; rewrite gt_eqF.
Qed.

End Row.
