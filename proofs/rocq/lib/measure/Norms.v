(* Norms on m x n matrices.

   A norm is what it is in any textbook: subadditive, homogeneous, zero only at zero.
   Proved for every norm: it is continuous (hence measurable), and it lies between
   two positive multiples of the sum of the absolute values of the entries (all
   norms on matrices are equivalent).  Nothing is assumed. *)
From covassay Require Import MeasureTheory Lebesgue LebesgueOpen.
Import numFieldNormedType.Exports.

Record norm (R : realType) m n := Norm {
  norm_at :> 'M[R]_(m, n) -> R;
  norm_triangle : forall x y, norm_at (x + y) <= norm_at x + norm_at y;
  norm_scale : forall a x, norm_at (a *: x) = `|a| * norm_at x;
  norm_definite : forall x, norm_at x = 0 -> x = 0 }.

(* The sum of the absolute values of the entries. *)
Definition l1 (R : realType) m n (x : 'M[R]_(m, n)) : R := \sum_i \sum_j `|x i j|.

(* What is at least every entry vanishes at 0 only. *)
Lemma definite_of_entries (R : realType) m n (x : 'M[R]_(m, n)) (c : R) :
  (forall i j, `|x i j| <= c) -> c = 0 -> x = 0.
Proof.
move=> xc c0; apply/matrixP => i j; rewrite mxE; apply/eqP.
by rewrite -normr_eq0 eq_le normr_ge0 andbT -c0.
Qed.

Section SumNorm.
Variables (R : realType) (m n : nat).
Implicit Types x y : 'M[R]_(m, n).

Lemma l1_triangle x y : l1 (x + y) <= l1 x + l1 y.
Proof.
rewrite /l1 -big_split ler_sum // => i _ /=; rewrite -big_split ler_sum // => j _ /=.
by rewrite mxE ler_norm_add.
Qed.

Lemma l1_scale a x : l1 (a *: x) = `|a| * l1 x.
Proof.
rewrite /l1 mulr_sumr; apply: eq_bigr => i _; rewrite mulr_sumr; apply: eq_bigr => j _.
by rewrite mxE normrM.
Qed.

Lemma l1_ge_entry x i j : `|x i j| <= l1 x.
Proof.
rewrite /l1 (bigD1 i) //= (bigD1 j) //= -addrA ler_addl addr_ge0 ?sumr_ge0 // => k _.
by rewrite sumr_ge0.
Qed.

Lemma l1_ge0 x : 0 <= l1 x.
Proof. by rewrite sumr_ge0 // => i _; rewrite sumr_ge0. Qed.

Lemma l1_definite x : l1 x = 0 -> x = 0.
Proof. by apply: definite_of_entries => i j; exact: l1_ge_entry. Qed.

Definition l1_norm : norm R m n := Norm l1_triangle l1_scale l1_definite.

End SumNorm.

Section Theory.
Variables (R : realType) (m n : nat) (N : norm R m n).
Implicit Types x y : 'M[R]_(m, n).

Lemma norm0 : N 0 = 0.
Proof. by rewrite -(scale0r 0) norm_scale normr0 mul0r. Qed.

Lemma normN x : N (- x) = N x.
Proof. by rewrite -scaleN1r norm_scale normrN1 mul1r. Qed.

Lemma normC x y : N (x - y) = N (y - x).
Proof. by rewrite -normN opprB. Qed.

Lemma norm_ge0 x : 0 <= N x.
Proof.
have := norm_triangle N x (- x); rewrite subrr norm0 normN -mulr2n.
by rewrite pmulrn_lge0.
Qed.

Lemma norm_sub x y : N x <= N y + N (x - y).
Proof. by rewrite -[X in N X <= _](subrK y) addrC norm_triangle. Qed.

Lemma norm_sum (I : finType) (f : I -> 'M[R]_(m, n)) : N (\sum_i f i) <= \sum_i N (f i).
Proof.
elim/big_rec2: _ => [|i a b _ le]; first by rewrite norm0.
by apply: le_trans (norm_triangle _ _ _) _; rewrite ler_add2l.
Qed.

(* Upper bound by the entries. *)
Definition norm_const : R := \sum_i \sum_j N (delta_mx i j).

Lemma norm_const_ge0 : 0 <= norm_const.
Proof. by rewrite sumr_ge0 // => i _; rewrite sumr_ge0 // => j _; exact: norm_ge0. Qed.

Lemma norm_le_l1 x : N x <= norm_const * l1 x.
Proof.
rewrite [X in N X]matrix_sum_delta; apply: le_trans (norm_sum _) _.
rewrite /l1 mulr_sumr ler_sum // => i _; apply: le_trans (norm_sum _) _.
rewrite mulr_sumr ler_sum // => j _; rewrite norm_scale mulrC ler_wpmul2r //.
rewrite /norm_const (bigD1 i) //= (bigD1 j) //= -addrA ler_addl addr_ge0 ?sumr_ge0 //.
  by move=> k _; exact: norm_ge0.
by move=> k _; rewrite sumr_ge0 // => l _; exact: norm_ge0.
Qed.

Lemma norm_continuous : continuous N.
Proof.
move=> x U /nbhs_ballP [e /= e0 eU].
pose K : R := norm_const * (m * n)%:R + 1.
have K0 : 0 < K by rewrite ltr_paddl // mulr_ge0 ?norm_const_ge0.
apply/nbhs_ballP; exists (e / K) => /=; first by rewrite divr_gt0.
move=> y xy; apply: eU; rewrite /ball /=.
have lexy : `|N x - N y| <= N (x - y).
  rewrite ler_norml; apply/andP; split; last by rewrite ler_subl_addl norm_sub.
  by rewrite ler_subr_addl ler_subl_addr normC norm_sub.
apply: le_lt_trans lexy _; apply: le_lt_trans (norm_le_l1 _) _.
have l1xy : l1 (x - y) <= (m * n)%:R * (e / K).
  have -> : (m * n)%:R * (e / K) = \sum_(i < m) \sum_(j < n) e / K.
    by rewrite !big_const_ord !iter_addr_0 -mulrnA mulnC mulr_natl.
  rewrite /l1 ler_sum // => i _; rewrite ler_sum // => j _; rewrite !mxE ltW //.
  exact: xy.
apply: le_lt_trans (ler_wpmul2l norm_const_ge0 l1xy) _.
rewrite mulrA mulrCA -[X in _ < X]mulr1 ltr_pmul2l // ltr_pdivr_mulr // mul1r.
by rewrite ltr_addl.
Qed.

Lemma norm_measurable : measurable_fun setT (N : 'M[R]_(m, n) -> R).
Proof. by apply: continuous_measurable_matrix; exact: norm_continuous. Qed.

End Theory.

(* Lower bound by the entries: compactness of the unit sphere. *)
Section Lower.
Variable R : realType.

Lemma norm_lower_row k (N : norm R 1 k) :
  exists2 c : R, 0 < c & forall x, c * l1 x <= N x.
Proof.
case: k N => [|k] N.
  exists 1 => // x; rewrite mul1r /l1 big1 ?norm_ge0 // => i _.
  by rewrite big_ord0.
pose A := [set x : 'rV[R]_k.+1 | l1 x = 1].
have cA : compact A.
  have c1 : compact [set x : 'rV[R]_k.+1 | forall i, `[- 1, 1]%classic (x ord0 i)].
    by apply: (@rV_compact _ _ (fun=> `[- 1, 1]%classic)) => _; exact: segment_compact.
  apply: (subclosed_compact _ c1).
    rewrite (_ : A = @l1_norm R 1 k.+1 @^-1` [set 1]) //.
    apply: closed_comp; last exact: closed_eq.
    by move=> x _; exact: norm_continuous.
  by move=> x /= x1 i; rewrite in_itv /= -ler_norml -x1 l1_ge_entry.
have cN : compact (N @` A).
  by apply: continuous_compact => //; apply: continuous_subspaceT => x; exact: norm_continuous.
have oN : open (~` (N @` A)).
  by apply: closed_openC; apply: compact_closed => //; exact: norm_hausdorff.
have N0 : (~` (N @` A)) 0.
  move=> [x x1 /norm_definite x0]; move: x1; rewrite /A /= x0.
  have -> : l1 0 = 0 := norm0 (l1_norm R 1 k.+1).
  by move=> /esym/eqP; rewrite oner_eq0.
have /nbhs_ballP [c /= c0 hc] : nbhs 0 (~` (N @` A)) by apply: open_nbhs_nbhs.
exists c => // x; have [x0|x0] := eqVneq (l1 x) 0.
  by rewrite x0 mulr0 norm_ge0.
have l0 : 0 < l1 x by rewrite lt_def x0 l1_ge0.
rewrite leNgt; apply/negP => lt.
have : (~` (N @` A)) (N ((l1 x)^-1 *: x)).
  apply: hc; rewrite /ball /= sub0r normrN ger0_norm ?norm_ge0 //.
  by rewrite norm_scale gtr0_norm ?invr_gt0 // ltr_pdivr_mull // mulrC.
apply; exists ((l1 x)^-1 *: x) => //; rewrite /A /= l1_scale gtr0_norm ?invr_gt0 //.
by rewrite mulVf.
Qed.

(*@ NORM-EQUIVALENCE *)
Theorem norm_lower m n (N : norm R m n) :
  exists2 c : R, 0 < c & forall x, c * l1 x <= N x.
Proof.
have tri (x y : 'rV[R]_(m * n)) : N (vec_mx (x + y)) <= N (vec_mx x) + N (vec_mx y).
  by rewrite linearD /= norm_triangle.
have sca a (x : 'rV[R]_(m * n)) : N (vec_mx (a *: x)) = `|a| * N (vec_mx x).
  by rewrite linearZ /= norm_scale.
have def (x : 'rV[R]_(m * n)) : N (vec_mx x) = 0 -> x = 0.
  by move/norm_definite => x0; rewrite -[x]vec_mxK x0 linear0.
have [c c0 hc] := norm_lower_row (Norm tri sca def).
exists c => // x; have := hc (mxvec x); rewrite /= mxvecK.
suff -> : l1 (mxvec x) = l1 x by [].
rewrite /l1 big_ord_recl big_ord0 addr0 (reindex _ (curry_mxvec_bij m n)) /=.
by rewrite pair_bigA /=; apply: eq_bigr => -[i j] _ /=; rewrite mxvecE.
Qed.

End Lower.
