(******************************************************************************)
(* The Hessian of V(w) = - sum_(i<j) ln |w_i^2 - w_j^2|, a lower bound on it, *)
(* and why V is still not convex: for DN25, section 4, where the density      *)
(* prod_(i<j) |w_i^2 - w_j^2| on the simplex is called strongly log-concave.  *)
(*                                                                            *)
(* The Hessian is a sum of rank-one forms,                                    *)
(*   sum_(i<j) (w_i - w_j)^-2 (e_i - e_j)(e_i - e_j)^T                        *)
(*           + (w_i + w_j)^-2 (e_i + e_j)(e_i + e_j)^T,                       *)
(* and it is at least (d - 2) I, even 2 (d - 1) I, at each point of the       *)
(* simplex where V is finite. But V is +infinity on the walls w_i = w_j,      *)
(* which cut the simplex into pieces: the density is positive at (.7, .3) and *)
(* at (.3, .7) and zero at their midpoint. So it is not log-concave, strongly *)
(* or otherwise, for any d >= 2. That the Hessian matrix of this file holds   *)
(* the second derivatives is form_hessian together with LogVandermonde.v.     *)
(******************************************************************************)
From covassay Require Import MatrixTheory PairSums Euclidean LogVandermonde.
From mathcomp Require Import fingroup perm.
From mathcomp.analysis Require Import sequences exp.

(* THE HESSIAN *)

Section Forms.
Variables (R : rcfType) (d : nat).
Implicit Types (w : 'I_d -> R) (h : 'cV[R]_d).

Definition unit_vector (i : 'I_d) : 'cV[R]_d := delta_mx i 0.
Definition ones : 'cV[R]_d := const_mx 1.
Local Notation e := unit_vector.

Lemma dot_sum_unit i j h : dot (e i + e j) h = h i 0 + h j 0.
Proof. by rewrite dotDl !dot_delta. Qed.
Lemma dot_diff_unit i j h : dot (e i - e j) h = h i 0 - h j 0.
Proof. by rewrite dotBl !dot_delta. Qed.

Lemma form_pairs (F : 'I_d -> 'I_d -> 'M[R]_d) h :
  form (\sum_(i < d) \sum_(j < d | (i < j)%N) F i j) h
  = \sum_(i < d) \sum_(j < d | (i < j)%N) form (F i j) h.
Proof.
have fsum (I : finType) (P : pred I) (G : I -> 'M[R]_d) :
    form (\sum_(k | P k) G k) h = \sum_(k | P k) form (G k) h.
  elim/big_rec2: _ => [|k a A _ <-]; last by rewrite formD.
  by rewrite /form mul0mx dot0r.
by rewrite fsum; apply: eq_bigr => i _; rewrite fsum.
Qed.

Lemma dot_self h : dot h h = \sum_i h i 0 ^+ 2.
Proof. by apply: eq_bigr => i _; rewrite expr2. Qed.

(* the two sums of squares behind the bounds, as forms *)
Lemma sum_pairs_sqrD h :
  \sum_(i < d) \sum_(j < d | (i < j)%N) (h i 0 + h j 0) ^+ 2
  = (d.-1)%:R * dot h h + ((\sum_i h i 0) ^+ 2 - dot h h).
Proof.
rewrite sqr_sum dot_self.
rewrite addrAC subrr add0r mulr_natl -sum_pairs_add -sumrMnl -big_split.
apply: eq_bigr => i _; rewrite -sumrMnl -big_split; apply: eq_bigr => j _.
by rewrite sqrrD addrAC.
Qed.

Lemma sum_pairs_sqrDB h :
  \sum_(i < d) \sum_(j < d | (i < j)%N) ((h i 0 - h j 0) ^+ 2 + (h i 0 + h j 0) ^+ 2)
  = 2%:R * (d.-1)%:R * dot h h.
Proof.
rewrite dot_self.
rewrite -mulrA [(_.-1)%:R * _]mulr_natl -sum_pairs_add mulr_natl -sumrMnl.
apply: eq_bigr => i _; rewrite -sumrMnl; apply: eq_bigr => j _.
by move: (h i 0) (h j 0) => a b; ring.
Qed.

(* sum_(i<j) (e_i + e_j)(e_i + e_j)^T = (d - 2) I + 1 1^T, tested on every vector *)
(*@ HESSIAN-PAIRS *)
Theorem pair_forms h : (0 < d)%N ->
  form (\sum_(i < d) \sum_(j < d | (i < j)%N) (e i + e j) *m (e i + e j)^T) h
  = form ((d%:R - 2%:R)%:M + ones *m ones^T) h.
Proof.
move=> d0; rewrite form_pairs formD form_scalar form_outer.
have -> : dot ones h = \sum_i h i 0 by apply: eq_bigr => i _; rewrite mxE mul1r.
transitivity (\sum_(i < d) \sum_(j < d | (i < j)%N) (h i 0 + h j 0) ^+ 2).
  by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite form_outer dot_sum_unit.
have dE : d%:R = (d.-1)%:R + 1 :> R by rewrite -[in LHS](prednK d0) mulrSr.
rewrite sum_pairs_sqrD dE.
by move: (dot h h) (\sum_i h i 0) (d.-1)%:R => a b c; ring.
Qed.

Definition hessian w : 'M[R]_d :=
  \sum_(i < d) \sum_(j < d | (i < j)%N)
    ((w i - w j) ^- 2 *: ((e i - e j) *m (e i - e j)^T)
     + (w i + w j) ^- 2 *: ((e i + e j) *m (e i + e j)^T)).

Lemma symmetric_hessian w : symmetric (hessian w).
Proof.
rewrite /symmetric /hessian raddf_sum; apply: eq_bigr => i _.
rewrite raddf_sum; apply: eq_bigr => j _ /=.
rewrite trD !linearZ /=.
by congr (_ *: _ + _ *: _); apply: symmetric_outer.
Qed.

Lemma hessianE w h : form (hessian w) h
  = \sum_(i < d) \sum_(j < d | (i < j)%N)
      (((h i 0 - h j 0) / (w i - w j)) ^+ 2 + ((h i 0 + h j 0) / (w i + w j)) ^+ 2).
Proof.
rewrite form_pairs; apply: eq_bigr => i _; apply: eq_bigr => j _.
rewrite formD !formZ !form_outer dot_sum_unit dot_diff_unit !exprMn !exprVn.
by rewrite mulrC [X in _ + X]mulrC.
Qed.

(* each pair gains at least (h_i -+ h_j)^2 / k when all (w_i -+ w_j)^2 are at most k *)
Lemma quotient_ge (a b k : R) : 0 < k -> a != 0 -> a ^+ 2 <= k -> b ^+ 2 / k <= (b / a) ^+ 2.
Proof.
move=> k0 a0 ak; rewrite exprMn exprVn ler_wpmul2l ?sqr_ge0 //.
by rewrite lef_pinv // posrE exprn_even_gt0.
Qed.

Lemma hessian_ge w h k : 0 < k ->
  (forall i j : 'I_d, (i < j)%N ->
     [/\ w i - w j != 0, w i + w j != 0, (w i - w j) ^+ 2 <= k & (w i + w j) ^+ 2 <= k]) ->
  2%:R * (d.-1)%:R / k * dot h h <= form (hessian w) h.
Proof.
move=> k0 small; rewrite hessianE mulrAC -sum_pairs_sqrDB mulr_suml; apply: ler_sum => i _.
rewrite mulr_suml; apply: ler_sum => j ij; have [m0 p0 m p] := small i j ij.
by rewrite mulrDl ler_add // quotient_ge.
Qed.

End Forms.

(* THE BOUNDS *)

Section Bounds.
Variables (R : realType) (d : nat).
Implicit Types w : 'I_d -> R.

(* probability vectors *)
Definition simplex w := (forall i, 0 <= w i) /\ \sum_i w i = 1.

(* the form of the Hessian is the second derivative of LogVandermonde.v *)
(*@ HESSIAN-FORM *)
Theorem form_hessian w (h : 'cV[R]_d) : form (hessian w) h = curvature w (fun i => h i 0).
Proof. exact: hessianE. Qed.

(* if no entry exceeds a in absolute value, the Hessian is at least ((d - 1)/(2 a^2)) I *)
(*@ DN25.Hessian-BALL *)
Theorem hessian_ge_ball w (a : R) : 0 < a -> separated w -> (forall i, `|w i| <= a) ->
  loewner_le ((d.-1)%:R / (2%:R * a ^+ 2))%:M (hessian w).
Proof.
move=> a0 sep wa h; rewrite form_scalar.
have k0 : 0 < 4%:R * a ^+ 2 by rewrite mulr_gt0 ?ltr0n // exprn_gt0.
have -> : (d.-1)%:R / (2%:R * a ^+ 2) = 2%:R * (d.-1)%:R / (4%:R * a ^+ 2).
  by move: (d.-1)%:R => n; field; rewrite (gt_eqF a0).
apply: hessian_ge => // i j ij; have [m p] := separated_diff sep ij.
have sq (x : R) : `|x| <= a + a -> x ^+ 2 <= 4%:R * a ^+ 2.
  move=> xa; rewrite -(real_normK (num_real x)).
  rewrite (_ : 4%:R * a ^+ 2 = (a + a) ^+ 2); last by ring.
  by rewrite ler_sqr // nnegrE ?normr_ge0 // addr_ge0 // ltW.
split=> //; apply: sq.
  by apply: le_trans (ler_norm_sub _ _) _; rewrite ler_add.
by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add.
Qed.

Lemma simplex_pair w i j : simplex w -> i != j -> w i + w j <= 1.
Proof.
move=> [w0 <-] ij; rewrite (bigD1 i) // (bigD1 j) //=; last by rewrite eq_sym.
by rewrite addrA ler_addl sumr_ge0.
Qed.

(* on the simplex: at least 2 (d - 1) I, hence at least (d - 2) I *)
(*@ DN25.Hessian-SIMPLEX *)
Theorem hessian_ge_simplex w : separated w -> simplex w ->
  loewner_le (2%:R * (d.-1)%:R)%:M (hessian w).
Proof.
move=> sep sw h; rewrite form_scalar -[2%:R * _]divr1; apply: hessian_ge => [|i j ij].
  exact: ltr01.
have [m p] := separated_diff sep ij; have [w0 _] := sw.
have sum1 : w i + w j <= 1 by apply: simplex_pair => //; rewrite -val_eqE neq_ltn ij.
have p2 : (w i + w j) ^+ 2 <= 1 by rewrite expr_le1 ?addr_ge0.
split=> //; apply: le_trans p2; rewrite -subr_ge0.
rewrite (_ : _ - _ = w i * w j *+ 4); first by rewrite mulrn_wge0 ?mulr_ge0.
by move: (w i) (w j) => a b; ring.
Qed.

Corollary hessian_ge_simplex_d2 w : separated w -> simplex w ->
  loewner_le (d%:R - 2%:R)%:M (hessian w).
Proof.
move=> sep sw h; apply: le_trans (hessian_ge_simplex sep sw h).
rewrite !form_scalar ler_wpmul2r ?dot_ge0 // ler_subl_addr -!natrM -natrD ler_nat.
by case: (d) => // n; rewrite mul2n -addnn /= addn2 ltnS -addnS leq_addr.
Qed.

(* BUT THE DENSITY IS NOT LOG-CONCAVE *)

(* the density, up to its constant *)
Definition density w : R := \prod_(i < d) \prod_(j < d | (i < j)%N) `|w i ^+ 2 - w j ^+ 2|.

Definition midpoint (v w : 'I_d -> R) : 'I_d -> R := fun i => (v i + w i) / 2%:R.

(* f = exp (-V) with V - (k/2) |w|^2 convex on the simplex, read at midpoints. k = 0 is plain *)
(* log-concavity, and k > 0 strong log-concavity.                                            *)
Definition strongly_log_concave (k : R) (f : ('I_d -> R) -> R) := 
  forall v w, simplex v -> simplex w ->
  f v * f w * expR (k / 4%:R * \sum_i (v i - w i) ^+ 2) <= f (midpoint v w) ^+ 2.

Lemma density_gt0 w : separated w -> 0 < density w.
Proof.
move=> sep; apply: prodr_gt0 => i _; apply: prodr_gt0 => j ij.
by rewrite normr_gt0 subr_eq0 sep.
Qed.

Lemma density_eq0 w i j : i != j -> w i = w j -> density w = 0.
Proof.
wlog ij : i j / (i < j)%N => [th|_ wij].
  move=> ne e; case: (ltngtP i j) => [lt|gt|/val_inj eij].
  - exact: th lt ne e.
  - by apply: th gt _ _ => //; rewrite eq_sym.
  - by rewrite eij eqxx in ne.
by rewrite /density (bigD1 i) //= (bigD1 j) //= wij subrr normr0 !mul0r.
Qed.

(* for every d >= 2 and every k, of any sign *)
(*@ DN25.StrongLogConcave-REFUTED *)
Theorem density_not_log_concave k : (1 < d)%N -> ~ strongly_log_concave k density.
Proof.
move=> d2; pose i0 := Ordinal (ltnW d2); pose i1 := Ordinal d2.
(* w_i proportional to i + 1, and the same with the first two entries swapped *)
pose N : R := \sum_(i < d) (i.+1)%:R; pose w (i : 'I_d) : R := (i.+1)%:R / N.
have N0 : 0 < N.
  rewrite /N (bigD1 i0) //=; apply: ltr_paddr; rewrite ?ltr0n //.
  by apply: sumr_ge0 => i _; rewrite ler0n.
pose v i := w (tperm i0 i1 i).
have sw : simplex w.
  split=> [i|]; first by rewrite divr_ge0 ?ler0n // ltW.
  by rewrite -mulr_suml divff // gt_eqF.
have sv : simplex v.
  split=> [i|]; first by have [w0 _] := sw; apply: w0.
  by case: sw => _ <-; rewrite [RHS](reindex_inj (@perm_inj _ (tperm i0 i1))).
have inj (i j : 'I_d) : i != j -> w i ^+ 2 != w j ^+ 2.
  move=> ij; rewrite eqr_expn2 ?divr_ge0 ?ler0n ?ltW //.
  have Nn : N^-1 != 0 by rewrite invr_eq0 gt_eqF.
  by rewrite (inj_eq (mulIf Nn)) eqr_nat eqSS.
have sepw : separated w by move=> i j ij; apply: inj; rewrite -val_eqE neq_ltn ij.
have sepv : separated v.
  move=> i j ij; apply: inj; rewrite (inj_eq (@perm_inj _ _)).
  by rewrite -val_eqE neq_ltn ij.
move=> /(_ v w sv sw); rewrite (@density_eq0 (midpoint v w) i0 i1) //.
  by rewrite expr0n leNgt !mulr_gt0 ?density_gt0 ?expR_gt0.
by rewrite /midpoint /v tpermL tpermR addrC.
Qed.

End Bounds.

(* The example at d = 2: density 2/5 at (.7, .3) and at (.3, .7), zero at (.5, .5). *)
Section Example.
Variable R : realType.
Definition pair_of (a b : R) : 'I_2 -> R := fun i => if i == 0 then a else b.

Lemma density2 a b : density (pair_of a b) = `|a ^+ 2 - b ^+ 2|.
Proof.
rewrite /density; under eq_bigr do rewrite big_mkcond.
by rewrite !big_ord_recl !big_ord0 /= !mulr1 !mul1r.
Qed.

(*@ DN25.StrongLogConcave-EXAMPLE *)
Theorem density_example :
  [/\ density (pair_of (7%:R / 10%:R) (3%:R / 10%:R)) = 2%:R / 5%:R,
      density (pair_of (3%:R / 10%:R) (7%:R / 10%:R)) = 2%:R / 5%:R &
      density (pair_of (1 / 2%:R) (1 / 2%:R)) = 0].
Proof.
have v : (7%:R / 10%:R) ^+ 2 - (3%:R / 10%:R) ^+ 2 = 2%:R / 5%:R :> R by field.
have p : 0 <= 2%:R / 5%:R :> R by rewrite divr_ge0 ?ler0n.
rewrite !density2 subrr normr0 v ger0_norm //; split=> //.
by rewrite distrC v ger0_norm.
Qed.

End Example.
