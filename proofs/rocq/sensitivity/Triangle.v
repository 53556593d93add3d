(******************************************************************************)
(* How far one record moves the entries on and above the diagonal.            *)
(*                                                                            *)
(* D = x x^T - y y^T for two vectors of the unit ball of R^d, d >= 2. Then    *)
(*                                                                            *)
(*   sum_(i <= j) |D_ij| <= s,   2 s = sqrt ((d + 2)^2 + 4 floor (d^2/4)),    *)
(*                                                                            *)
(* and the sum is at most 1 for d = 1. That s is attained is not proved here. *)
(*                                                                            *)
(* The proof. P holds the m features with D_ii >= 0, the k others are the     *)
(* rest. a, b, g are the Frobenius norms of the blocks, u and -v the traces   *)
(* of the two diagonal blocks, so that u - v is the trace of D. By Cauchy and *)
(* Schwarz in each block, twice the sum is at most                            *)
(*    m a + k b + 2 sqrt (m k) g + u + v,    with u <= a, v <= b,             *)
(* and a^2 + b^2 + 2 g^2 = |D|^2 <= 1 + (1 - |u - v|)^2. Cauchy and Schwarz   *)
(* once more gives the bound. Nothing is assumed.                             *)
(******************************************************************************)
From covassay Require Import MatrixTheory Euclidean MatrixNorms RankTwo Sensitivity.

Local Ltac nonneg :=
  repeat first [assumption | exact: sqr_ge0 | exact: ler0n | apply: addr_ge0 | apply: mulr_ge0].

(* CAUCHY AND SCHWARZ FOR FINITE SUMS *)
Section FiniteSums.
Variables (R : rcfType) (I : finType) (P : pred I).
Implicit Types f g : I -> R.

Lemma finite_cauchy_schwarz f g :
  (\sum_(i | P i) f i * g i) ^+ 2 <= (\sum_(i | P i) f i ^+ 2) * (\sum_(i | P i) g i ^+ 2).
Proof.
have le : \sum_(i | P i) \sum_(j | P j) (f i * g i) * (f j * g j)
    <= \sum_(i | P i) \sum_(j | P j) (f i ^+ 2 * g j ^+ 2 + f j ^+ 2 * g i ^+ 2) / 2%:R.
  apply: ler_sum => i _; apply: ler_sum => j _; rewrite -subr_ge0.
  have -> : (f i ^+ 2 * g j ^+ 2 + f j ^+ 2 * g i ^+ 2) / 2%:R - (f i * g i) * (f j * g j)
      = (f i * g j - f j * g i) ^+ 2 / 2%:R by field.
  by rewrite divr_ge0 ?sqr_ge0 ?ler0n.
have eL : (\sum_(i | P i) f i * g i) ^+ 2
    = \sum_(i | P i) \sum_(j | P j) (f i * g i) * (f j * g j).
  by rewrite expr2 mulr_suml; apply: eq_bigr => i _; rewrite mulr_sumr.
rewrite eL; apply: le_trans le _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
have e1 : \sum_(i | P i) \sum_(j | P j) f i ^+ 2 * g j ^+ 2
    = (\sum_(i | P i) f i ^+ 2) * (\sum_(i | P i) g i ^+ 2).
  by rewrite mulr_suml; apply: eq_bigr => i _; rewrite mulr_sumr.
have e2 : \sum_(i | P i) \sum_(j | P j) f j ^+ 2 * g i ^+ 2
    = (\sum_(i | P i) f i ^+ 2) * (\sum_(i | P i) g i ^+ 2).
  by rewrite exchange_big.
under eq_bigr do rewrite -mulr_suml big_split /=.
rewrite -mulr_suml big_split /= e1 e2; move: (\sum_(i | P i) f i ^+ 2) (\sum_(i | P i) g i ^+ 2).
by move=> p q; field.
Qed.

Lemma sum_abs_le f :
  \sum_(i | P i) `|f i| <= Num.sqrt #|P|%:R * Num.sqrt (\sum_(i | P i) f i ^+ 2).
Proof.
have s0 : 0 <= \sum_(i | P i) f i ^+ 2 by rewrite sumr_ge0 // => i _; rewrite sqr_ge0.
rewrite -sqrtrM ?ler0n // -[X in X <= _]ger0_norm ?sumr_ge0 // -sqrtr_sqr ler_wsqrtr //.
have := finite_cauchy_schwarz (fun=> 1) (fun i => `|f i|).
under eq_bigr do rewrite mul1r.
under [X in _ <= X * _]eq_bigr do rewrite expr1n.
under [X in _ <= _ * X]eq_bigr do rewrite -normrX ger0_norm ?sqr_ge0 //.
by rewrite sumr_const.
Qed.

End FiniteSums.

(* THE BOUND *)

Definition triangle_l1 (R : rcfType) (d : nat) : R :=
  if (1 < d)%N then Num.sqrt (((d + 2) ^ 2 + 4 * (d ^ 2 %/ 4))%:R) / 2%:R else 1.

Definition triangle_sum (R : rcfType) d (A : 'M[R]_d) : R :=
  \sum_(i < d) \sum_(j < d | (i <= j)%N) `|A i j|.

Section Numbers.
Variable R : rcfType.

(* Cauchy and Schwarz for (a, b, g), with room for a multiple of the trace. *)
Lemma weighted_le (T al be ga m k a b g h w : R) :
  0 <= a -> 0 <= b -> 0 <= g -> 0 <= al -> 0 <= be -> 0 <= h -> h ^+ 2 = m * k ->
  al ^+ 2 + be ^+ 2 + 2%:R * (m * k) <= T ^+ 2 / 2%:R ->
  0 <= w -> w <= 1 -> a ^+ 2 + b ^+ 2 + 2%:R * g ^+ 2 <= 1 + (1 - w) ^+ 2 ->
  0 <= ga -> ga <= 1 -> 4%:R <= T ->
  al * a + be * b + 2%:R * h * g + ga * w <= T.
Proof.
move=> a0 b0 g0 al0 be0 h0 hh size w0 w1 frob ga0 ga1 T4.
have T0 : 0 <= T by apply: le_trans T4; rewrite ler0n.
have gw : ga * w <= T.
  apply: le_trans (_ : 1 * 1 <= _); first exact: ler_pmul.
  by rewrite mulr1; apply: le_trans T4; rewrite ler1n.
rewrite -ler_subr_addr -(@ler_pexpn2r _ 2) ?nnegrE ?subr_ge0 //; last first.
  by nonneg.
have cs : (al * a + be * b + 2%:R * h * g) ^+ 2
    <= (al ^+ 2 + be ^+ 2 + 2%:R * h ^+ 2) * (a ^+ 2 + b ^+ 2 + 2%:R * g ^+ 2).
  rewrite -subr_ge0 [X in 0 <= X](_ : _ = (al * b - be * a) ^+ 2
    + 2%:R * (al * g - h * a) ^+ 2 + 2%:R * (be * g - h * b) ^+ 2); last by ring.
  by nonneg.
apply: le_trans cs _; rewrite hh.
apply: (@le_trans _ _ (T ^+ 2 / 2%:R * (1 + (1 - w) ^+ 2))).
  by apply: ler_pmul => //; rewrite -?hh; nonneg.
rewrite -subr_ge0 [X in 0 <= X](_ : _ =
    T * w * (T * (1 - w) / 2%:R + (T - 4%:R * ga) / 2%:R) + (ga * w) ^+ 2); last by field.
apply: addr_ge0; last exact: sqr_ge0.
apply: mulr_ge0; first exact: mulr_ge0.
apply: addr_ge0; apply: divr_ge0; rewrite ?ler0n //; first by rewrite mulr_ge0 // subr_ge0.
rewrite subr_ge0; apply: le_trans T4; rewrite -[X in _ <= X]mulr1.
by rewrite ler_wpmul2l ?ler0n.
Qed.

End Numbers.

Section Blocks.
Variables (R : realType) (d : nat) (x y : 'cV[R]_d).
Hypotheses (x1 : norm x <= 1) (y1 : norm y <= 1).
Let D : 'M[R]_d := gap x y.

Lemma gap_entry i j : D i j = x i 0 * x j 0 - y i 0 * y j 0.
Proof. by rewrite !mxE !big_ord1 !mxE. Qed.

(* The sum over a block, its squares, and its trace. *)
Definition block (P Q : pred 'I_d) : R := \sum_(i | P i) \sum_(j | Q j) `|D i j|.
Definition squares (P Q : pred 'I_d) : R := \sum_(i | P i) \sum_(j | Q j) D i j ^+ 2.
Definition block_trace (P : pred 'I_d) : R := \sum_(i | P i) D i i.

Lemma squares_ge0 P Q : 0 <= squares P Q.
Proof. by rewrite sumr_ge0 // => i _; rewrite sumr_ge0 // => j _; exact: sqr_ge0. Qed.

Lemma block_le P Q : block P Q <= Num.sqrt (#|P| * #|Q|)%:R * Num.sqrt (squares P Q).
Proof.
have := sum_abs_le [pred p | P p.1 && Q p.2] (fun p : 'I_d * 'I_d => D p.1 p.2).
rewrite /block /squares !pair_big /=.
suff -> : #|[pred p | P p.1 && Q p.2]| = (#|P| * #|Q|)%N by [].
by rewrite -cardX; apply: eq_card => -[i j]; rewrite !inE.
Qed.

Lemma block_trace_le P : block_trace P ^+ 2 <= squares P P.
Proof.
pose a := \sum_(i | P i) x i 0 ^+ 2; pose b := \sum_(i | P i) y i 0 ^+ 2.
pose c := \sum_(i | P i) x i 0 * y i 0.
have -> : block_trace P = a - b.
  by rewrite /block_trace -sumrB; apply: eq_bigr => i _; rewrite gap_entry !expr2.
have -> : squares P P = a ^+ 2 + b ^+ 2 - 2%:R * c ^+ 2.
  have dbl (f g : 'I_d -> R) : (\sum_(i | P i) f i) * (\sum_(i | P i) g i)
      = \sum_(i | P i) \sum_(j | P j) f i * g j.
    by rewrite mulr_suml; apply: eq_bigr => i _; rewrite mulr_sumr.
  rewrite [a ^+ 2]expr2 [b ^+ 2]expr2 [c ^+ 2]expr2 !dbl mulr_sumr -big_split -sumrB.
  apply: eq_bigr => i _ /=; rewrite mulr_sumr -big_split -sumrB; apply: eq_bigr => j _ /=.
  by rewrite gap_entry; move: (x i 0) (x j 0) (y i 0) (y j 0) => s t u v; ring.
rewrite -subr_ge0.
have -> : a ^+ 2 + b ^+ 2 - 2%:R * c ^+ 2 - (a - b) ^+ 2 = 2%:R * (a * b - c ^+ 2) by ring.
by rewrite mulr_ge0 ?ler0n // subr_ge0 finite_cauchy_schwarz.
Qed.

(* Splitting the indices into P and the rest. *)
Lemma split_sum P (f : 'I_d -> 'I_d -> R) : (forall i j, f i j = f j i) ->
  let off := \sum_(i | P i) \sum_(j | ~~ P j) f i j in
  \sum_i \sum_j f i j = \sum_(i | P i) \sum_(j | P j) f i j
    + \sum_(i | ~~ P i) \sum_(j | ~~ P j) f i j + 2%:R * off.
Proof.
move=> sym off; rewrite (bigID P) /=.
under eq_bigr do rewrite (bigID P) /=.
under [X in _ + X]eq_bigr do rewrite (bigID P) /=.
rewrite !big_split /= -/off.
have -> : \sum_(i | ~~ P i) \sum_(i0 | P i0) f i i0 = off.
  by rewrite exchange_big; apply: eq_bigr => i _; apply: eq_bigr => j _; exact: sym.
by rewrite mulr_natl mulr2n; move: off => r; ring.
Qed.

Lemma gap_entryC i j : D i j = D j i.
Proof. by rewrite !gap_entry [x i 0 * _]mulrC [y i 0 * _]mulrC. Qed.

Let s : R := dot x x.
Let t : R := dot y y.
Let T : R := Num.sqrt (((d + 2) ^ 2 + 4 * (d ^ 2 %/ 4))%:R).

(* |D|^2 and the trace pull against each other. *)
Lemma frob_trace_le : frob_dot D D <= 1 + (1 - `|s - t|) ^+ 2.
Proof.
rewrite frob_gap; have := x1; have := y1; rewrite !norm_le1 -/s -/t => t1 s1.
have s0 : 0 <= s by apply: dot_ge0.
have t0 : 0 <= t by apply: dot_ge0.
apply: le_trans (_ : s ^+ 2 + t ^+ 2 <= _).
  by rewrite ger_addl oppr_le0 mulr_ge0 ?sqr_ge0 ?ler0n.
move: s0 t0 s1 t1; move: s t => p q s0 t0 s1 t1.
wlog st : p q s0 t0 s1 t1 / q <= p.
  move=> H; have [ts|/ltW st] := leP q p; first exact: H.
  by rewrite addrC distrC; exact: H.
rewrite ger0_norm ?subr_ge0 // ler_add ?expr_le1 // ler_expn2r ?nnegrE ?subr_ge0 //.
  by rewrite ler_subl_addr; apply: le_trans s1 _; rewrite ler_addl.
by rewrite ler_subr_addr addrC subrK.
Qed.

Section Split.
Variable P : pred 'I_d.
Let Q : pred 'I_d := predC P.
Let m : R := #|P|%:R.
Let k : R := #|Q|%:R.
Let a : R := Num.sqrt (squares P P).
Let b : R := Num.sqrt (squares Q Q).
Let g : R := Num.sqrt (squares P Q).
Let h : R := Num.sqrt (#|P| * #|Q|)%:R.
Let u : R := block_trace P.
Let v : R := - block_trace Q.

Lemma cards_split : (#|P| + #|Q| = d)%N.
Proof. by rewrite cardC card_ord. Qed.

Lemma blocks_le :
  \sum_i \sum_j `|D i j| <= m * a + k * b + 2%:R * h * g.
Proof.
have -> : \sum_i \sum_j `|D i j| = block P P + block Q Q + 2%:R * block P Q.
  by apply: (split_sum P) => i j; rewrite gap_entryC.
have sq (n : nat) : Num.sqrt (n * n)%:R = n%:R :> R.
  by rewrite natrM -expr2 sqrtr_sqr ger0_norm ?ler0n.
rewrite -mulrA !ler_add ?ler_pmul2l ?ltr0n //; [|have := block_le Q Q|exact: block_le].
  by have := block_le P P; rewrite sq.
by rewrite sq.
Qed.

(* One of the two weightings of the traces. *)
Lemma split_le (th al be ga : R) : (1 < d)%N -> u - v = s - t ->
  al = m + 2%:R * th -> be = k + 2%:R * (1 - th) -> 0 <= th -> th <= 1 ->
  `|1 - 2%:R * th| <= ga -> ga <= 1 ->
  2%:R * (al ^+ 2 + be ^+ 2 + 2%:R * (m * k)) <= T ^+ 2 ->
  m * a + k * b + 2%:R * h * g + (u + v) <= T.
Proof.
move=> d2 uv alE beE th0 th1 gaE ga1 size.
have a0 : 0 <= a by apply: sqrtr_ge0.
have b0 : 0 <= b by apply: sqrtr_ge0.
have ua : u <= a.
  by apply: le_trans (ler_norm _) _; rewrite -sqrtr_sqr ler_wsqrtr // block_trace_le.
have vb : v <= b.
  apply: le_trans (ler_norm _) _; rewrite normrN -sqrtr_sqr ler_wsqrtr //.
  exact: block_trace_le.
have m0 : 0 <= m by rewrite ler0n.
have k0 : 0 <= k by rewrite ler0n.
have T2 : T ^+ 2 = ((d + 2) ^ 2 + 4 * (d ^ 2 %/ 4))%:R by rewrite sqr_sqrtr ?ler0n.
have T4 : 4%:R <= T.
  rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?ler0n ?sqrtr_ge0 // T2 -natrX ler_nat.
  apply: leq_trans (leq_addr _ _); apply: (@leq_trans ((2 + 2) ^ 2)) => //.
  by rewrite leq_sqr leq_add2r.
have w1 : `|s - t| <= 1.
  have := x1; have := y1; rewrite !norm_le1 -/s -/t => t1 s1.
  have s0 : 0 <= s by apply: dot_ge0.
  have t0 : 0 <= t by apply: dot_ge0.
  rewrite ler_norml ler_subr_addl ler_subl_addr; apply/andP; split.
    by apply: (le_trans t1); rewrite ler_addr.
  by rewrite ler_subl_addl; apply: (le_trans s1); rewrite ler_addr.
have traces : u + v <= 2%:R * th * a + 2%:R * (1 - th) * b + ga * `|s - t|.
  have -> : u + v = 2%:R * th * u + 2%:R * (1 - th) * v + (1 - 2%:R * th) * (u - v) by ring.
  rewrite uv; apply: ler_add; first apply: ler_add.
  - by rewrite ler_wpmul2l ?mulr_ge0 ?ler0n.
  - by rewrite ler_wpmul2l ?mulr_ge0 ?subr_ge0 ?ler0n.
  by apply: le_trans (ler_norm _) _; rewrite normrM ler_wpmul2r.
apply: le_trans (ler_add (lexx _) traces) _.
have -> : m * a + k * b + 2%:R * h * g
    + (2%:R * th * a + 2%:R * (1 - th) * b + ga * `|s - t|)
    = al * a + be * b + 2%:R * h * g + ga * `|s - t|.
  by rewrite alE beE; move: (a) (b) (g) (h) (m) (k) `|s - t| => *; ring.
apply: (@weighted_le _ _ _ _ _ m k) => //.
- exact: sqrtr_ge0.
- by rewrite alE addr_ge0 ?mulr_ge0 ?ler0n.
- by rewrite beE addr_ge0 ?mulr_ge0 ?subr_ge0 ?ler0n.
- exact: sqrtr_ge0.
- by rewrite sqr_sqrtr ?ler0n // natrM.
- by rewrite ler_pdivl_mulr ?ltr0n // mulrC.
- apply: le_trans frob_trace_le; rewrite !sqr_sqrtr ?squares_ge0 //.
  rewrite frob_dotE exchange_big /= (eq_bigr (fun i => \sum_j D i j ^+ 2)); last first.
    by move=> i _; apply: eq_bigr => j _; rewrite expr2.
  by rewrite (split_sum P) // => i j; rewrite gap_entryC.
by apply: le_trans gaE; exact: normr_ge0.
Qed.

End Split.

(* T^2, for even and for odd d. *)
Let T2 : T ^+ 2 = ((d + 2) ^ 2 + 4 * (d ^ 2 %/ 4))%:R. Proof. by rewrite sqr_sqrtr ?ler0n. Qed.

Let T2_even : ~~ odd d -> T ^+ 2 = 2%:R * d%:R ^+ 2 + 4%:R * d%:R + 4%:R.
Proof.
move=> /negbTE ev; rewrite T2; have -> : (4 * (d ^ 2 %/ 4) = d ^ 2)%N.
  have e : (d ^ 2 = d./2 ^ 2 * 4)%N.
    by rewrite -{1}(odd_double_half d) ev add0n -mul2n expnMn mulnC.
  by rewrite e mulnK // mulnC.
by rewrite natrD !natrX natrD; ring.
Qed.

Let T2_odd : odd d -> T ^+ 2 = 2%:R * d%:R ^+ 2 + 4%:R * d%:R + 3%:R.
Proof.
move=> od; rewrite T2; have dE : d = (2 * d./2 + 1)%N by rewrite -{1}(odd_double_half d) od mul2n addnC.
have -> : (4 * (d ^ 2 %/ 4) = d ^ 2 - 1)%N.
  have e : (d ^ 2 = (d./2 ^ 2 + d./2) * 4 + 1)%N.
    rewrite {1}dE; move: (d./2) => q.
    by rewrite sqrnD expnMn exp1n muln1 mulnA addnAC mulnDl (mulnC (2 ^ 2)%N) (mulnC (2 * 2)%N).
  by rewrite e divnMDl // addn0 addnK mulnC.
have d0 : (0 < d ^ 2)%N by rewrite expn_gt0; case: (d) od.
by rewrite natrD natrB // !natrX natrD; ring.
Qed.

(* The entries with a nonnegative diagonal entry, and the others. *)
Let P : pred 'I_d := fun i => 0 <= D i i.

(* Twice the sum over the triangle. *)
Lemma twice_triangle_le : (1 < d)%N ->
  \sum_i \sum_j `|D i j| + \sum_i `|D i i| <= T.
Proof.
move=> d2.
have diag : \sum_i `|D i i| = block_trace P + (- block_trace (predC P)).
  rewrite (bigID P) /= -sumrN; congr (_ + _).
    by apply: eq_bigr => i Pi; rewrite ger0_norm.
  by apply: eq_bigr => i Pi; rewrite ler0_norm // ltW // ltNge.
have traces : block_trace P - (- block_trace (predC P)) = s - t.
  by rewrite opprK -trace_gap /block_trace /mxtrace [RHS](bigID P).
rewrite diag; apply: le_trans (ler_add (blocks_le P) (lexx _)) _.
have dE : d%:R = #|P|%:R + #|predC P|%:R :> R by rewrite -natrD cards_split.
have := cards_split P; move: dE; have := @split_le P.
move: (#|P|) (#|predC P|) => m k main dE mk.
have [od|ev] := boolP (odd d); last first.
  apply: (main (1 / 2%:R) (m%:R + 1) (k%:R + 1) 0) => //; try by field.
  - by rewrite divr_ge0 ?ler01 ?ler0n.
  - by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler1n.
  - by rewrite mul1r divff ?pnatr_eq0 // subrr normr0.
  - exact: ler01.
  by rewrite T2_even // dE le_eqVlt; apply/orP; left; apply/eqP; ring.
have ne : k != m.
  apply: contraL od => /eqP e; have : ~~ odd (m + k) by rewrite e addnn odd_double.
  by rewrite mk.
have [km|mk'|/eqP e] := ltngtP k m; last by rewrite e in ne.
- apply: (main (1 / 4%:R) (m%:R + 1 / 2%:R) (k%:R + 3%:R / 2%:R) (1 / 2%:R)) => //; try by field.
  + by rewrite divr_ge0 ?ler01 ?ler0n.
  + by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler1n.
  + rewrite (_ : 1 - _ = 1 / 2%:R); last by field.
    by rewrite ger0_norm // divr_ge0 ?ler01 ?ler0n.
  + by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler1n.
  rewrite T2_odd // dE -subr_ge0.
  have le : 0 <= m%:R - k.+1%:R :> R by rewrite subr_ge0 ler_nat.
  have E M K : 2%:R * (M + K) ^+ 2 + 4%:R * (M + K) + 3%:R
    - 2%:R * ((M + 1 / 2%:R) ^+ 2 + (K + 3%:R / 2%:R) ^+ 2 + 2%:R * (M * K))
    = 2%:R * (M - (1 + K)) :> R by field.
  by rewrite E mulr_ge0 ?ler0n // -mulrS.
- apply: (main (3%:R / 4%:R) (m%:R + 3%:R / 2%:R) (k%:R + 1 / 2%:R) (1 / 2%:R)) => //; try by field.
  + by rewrite divr_ge0 ?ler01 ?ler0n.
  + by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
  + rewrite (_ : 1 - _ = - (1 / 2%:R)); last by field.
    by rewrite normrN ger0_norm // divr_ge0 ?ler01 ?ler0n.
  + by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler1n.
  rewrite T2_odd // dE -subr_ge0.
  have le : 0 <= k%:R - m.+1%:R :> R by rewrite subr_ge0 ler_nat.
  have E M K : 2%:R * (M + K) ^+ 2 + 4%:R * (M + K) + 3%:R
    - 2%:R * ((M + 3%:R / 2%:R) ^+ 2 + (K + 1 / 2%:R) ^+ 2 + 2%:R * (M * K))
    = 2%:R * (K - (1 + M)) :> R by field.
  by rewrite E mulr_ge0 ?ler0n // -mulrS.
Qed.

(* The premises are records x and y of length at most 1. *)
(*@ SENS-TRIANGLE *)
Theorem triangle_sum_gap_le : triangle_sum (gap x y) <= triangle_l1 R d.
Proof.
have twice : 2%:R * triangle_sum D = \sum_i \sum_j `|D i j| + \sum_i `|D i i|.
  pose lo := \sum_(i < d) \sum_(j < d | (j <= i)%N) `|D i j|.
  have E : lo = triangle_sum D.
    rewrite /lo /triangle_sum (exchange_big_dep xpredT) //=.
    by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite gap_entryC.
  have row (i : 'I_d) : \sum_(j < d | (j <= i)%N) `|D i j| + \sum_(j < d | (i <= j)%N) `|D i j|
      = \sum_j `|D i j| + `|D i i|.
    rewrite [in RHS](bigID (fun j : 'I_d => (j < i)%N)) /= (bigD1 i) //=.
    have collect (a A B L G : R) : A = L -> B = G -> a + A + B = L + G + a by move=> -> ->; ring.
    apply: collect.
      by apply: eq_bigl => j; rewrite ltn_neqAle andbC.
    by apply: eq_bigl => j; rewrite -leqNgt.
  rewrite mulr_natl mulr2n -{1}E /lo /triangle_sum -big_split -big_split /=.
  by apply: eq_bigr => i _; exact: row.
rewrite /triangle_l1; case: ifP => [d2|/negbT]; last first.
  rewrite -leqNgt => d1; case: (d) x y x1 y1 d1 @D twice => [|[|e]] // X Y X1 Y1 _ D' _.
    by rewrite /triangle_sum big_ord0 ler01.
  rewrite /triangle_sum big_ord1 big_mkcond big_ord1 /=.
  by have := trace_gap_le X1 Y1; rewrite /mxtrace big_ord1.
by rewrite ler_pdivl_mulr ?ltr0n // mulrC twice twice_triangle_le.
Qed.

End Blocks.
