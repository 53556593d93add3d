(******************************************************************************)
(* The matrix norms of the library, over the real numbers.                    *)
(*                                                                            *)
(*   frob_dot A B      = trace of A^T B, the sum of A_ij B_ij                 *)
(*   frob_norm A       = sqrt (frob_dot A A)                                  *)
(*   operator_norm A   = sup of |A u| over the vectors u of length at most 1  *)
(*   nuclear_norm A    = sup of frob_dot M A over the contractions M, i.e.    *)
(*                       over the M with |M u| <= |u| for every u             *)
(*                                                                            *)
(* The nuclear norm is defined as the dual of the operator norm, which needs  *)
(* no singular value decomposition. That it is the sum of the singular values *)
(* is the theorem NUCLEAR-SVD below.                                          *)
(******************************************************************************)
From covassay Require Import MatrixTheory Euclidean.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets.
Local Open Scope classical_set_scope.

(* a largest element is the supremum *)
Lemma sup_max (R : realType) (E : set R) v : E v -> (forall x, E x -> x <= v) -> sup E = v.
Proof.
move=> Ev up; apply/eqP; rewrite eq_le sup_le_ub ?andbT //=; last by exists v.
by apply: sup_ub => //; exists v.
Qed.

(* THE FROBENIUS INNER PRODUCT *)

Section Frobenius.
Variable R : rcfType.
Implicit Types m d : nat.

Definition frob_dot m d (A B : 'M[R]_(m, d)) : R := \tr (A^T *m B).
Definition frob_norm m d (A : 'M[R]_(m, d)) : R := Num.sqrt (frob_dot A A).

Lemma frob_dotE m d (A B : 'M[R]_(m, d)) : frob_dot A B = \sum_j \sum_i A i j * B i j.
Proof. by apply: eq_bigr => j _; rewrite mxE; apply: eq_bigr => i _; rewrite mxE. Qed.

Lemma frob_dotC m d (A B : 'M[R]_(m, d)) : frob_dot A B = frob_dot B A.
Proof. by rewrite /frob_dot -mxtrace_tr trmx_mul trmxK. Qed.

Lemma frob_dotDr m d (A B C : 'M[R]_(m, d)) : frob_dot A (B + C) = frob_dot A B + frob_dot A C.
Proof. by rewrite /frob_dot mulmxDr mxtraceD. Qed.

Lemma frob_dotZr m d k (A B : 'M[R]_(m, d)) : frob_dot A (k *: B) = k * frob_dot A B.
Proof. by rewrite /frob_dot -scalemxAr mxtraceZ. Qed.

Lemma frob_dotNr m d (A B : 'M[R]_(m, d)) : frob_dot A (- B) = - frob_dot A B.
Proof. by rewrite -scaleN1r frob_dotZr mulN1r. Qed.

Lemma frob_dotDl m d (A B C : 'M[R]_(m, d)) : frob_dot (A + B) C = frob_dot A C + frob_dot B C.
Proof. by rewrite frob_dotC frob_dotDr !(frob_dotC C). Qed.

Lemma frob_dotNl m d (A B : 'M[R]_(m, d)) : frob_dot (- A) B = - frob_dot A B.
Proof. by rewrite frob_dotC frob_dotNr frob_dotC. Qed.

Lemma frob_dotZl m d k (A B : 'M[R]_(m, d)) : frob_dot (k *: A) B = k * frob_dot A B.
Proof. by rewrite frob_dotC frob_dotZr frob_dotC. Qed.

Definition frob_dotL := (frob_dotDl, frob_dotDr, frob_dotNl, frob_dotNr, frob_dotZl, frob_dotZr).

(* <M, x y^T> = x^T M y *)
Lemma frob_dot_outer m d (M : 'M[R]_(m, d)) (x : 'cV[R]_m) (y : 'cV[R]_d) :
  frob_dot M (x *m y^T) = dot x (M *m y).
Proof.
rewrite /frob_dot mulmxA mxtrace_mulC mulmxA -trmx_mul.
by rewrite dotE mxtrace_scalar mulr1n dotC.
Qed.

Lemma frob_dot_ge0 m d (A : 'M[R]_(m, d)) : 0 <= frob_dot A A.
Proof.
rewrite frob_dotE; do 2 (apply: sumr_ge0 => ? _).
by rewrite -expr2 sqr_ge0.
Qed.

Lemma sqr_frob_norm m d (A : 'M[R]_(m, d)) : frob_norm A ^+ 2 = frob_dot A A.
Proof. by rewrite sqr_sqrtr ?frob_dot_ge0. Qed.

Lemma frob_norm_ge0 m d (A : 'M[R]_(m, d)) : 0 <= frob_norm A.
Proof. exact: sqrtr_ge0. Qed.

Lemma frob_normZ m d k (A : 'M[R]_(m, d)) : frob_norm (k *: A) = `|k| * frob_norm A.
Proof. by rewrite /frob_norm !frob_dotL mulrA -expr2 sqrtrM ?sqr_ge0 // sqrtr_sqr. Qed.

(* M lengthens no vector *)
Definition contraction m d (M : 'M[R]_(m, d)) := op_le M 1.

Lemma contraction0 m d : contraction (0 : 'M[R]_(m, d)).
Proof. by move=> u; rewrite mul0mx norm0 mul1r norm_ge0. Qed.

Lemma contraction_orthogonal d (Q : 'M[R]_d) : orthogonal_mx Q -> contraction Q.
Proof. by move=> oQ u; rewrite orthogonal_norm // mul1r. Qed.

Lemma contractionP m d (M : 'M[R]_(m, d)) u : contraction M -> norm (M *m u) <= norm u.
Proof. by move=> /(_ u); rewrite mul1r. Qed.

End Frobenius.

(* THE OPERATOR NORM AND ITS DUAL *)

Section Norms.
Variable R : realType.
Implicit Types m d : nat.

Definition operator_norm m d (A : 'M[R]_(m, d)) : R :=
  sup [set norm (A *m u) | u in [set u | norm u <= 1]].

Definition nuclear_norm m d (A : 'M[R]_(m, d)) : R :=
  sup [set frob_dot M A | M in [set M | contraction M]].

(* a contraction that attains the largest value shows the norm *)
Lemma nuclear_norm_max m d (A M : 'M[R]_(m, d)) v :
  contraction M -> frob_dot M A = v ->
  (forall N, contraction N -> frob_dot N A <= v) -> nuclear_norm A = v.
Proof.
move=> cM MA up; apply: sup_max; first by exists M.
by move=> _ [N cN <-]; apply: up.
Qed.

Lemma operator_norm_max m d (A : 'M[R]_(m, d)) u v :
  norm u <= 1 -> norm (A *m u) = v -> op_le A v -> operator_norm A = v.
Proof.
move=> u1 Au up; apply: sup_max; first by exists u.
move=> _ [w w1 <-]; apply: le_trans (up w) _.
by rewrite -[X in _ <= X]mulr1 ler_wpmul2l // -Au norm_ge0.
Qed.

Lemma operator_norm_le1 m d (A : 'M[R]_(m, d)) : op_le A 1 -> operator_norm A <= 1.
Proof.
move=> up; apply: sup_le_ub; first by exists (norm (A *m 0)), 0 => //=; rewrite norm0 ler01.
by move=> _ [w w1 <-]; apply: le_trans (up w) _; rewrite mul1r.
Qed.

(* the entries of a contraction lie in [-1, 1], so both suprema are finite *)
Lemma contraction_entry m d (M : 'M[R]_(m, d)) i j : contraction M -> `|M i j| <= 1.
Proof.
move=> cM; have -> : M i j = dot (delta_mx i 0) (M *m delta_mx j 0).
  rewrite dot_delta mxE (bigD1 j) //= !mxE !eqxx mulr1 big1 ?addr0 // => k /negbTE ne.
  by rewrite mxE ne mulr0.
apply: le_trans (cauchy_schwarz _ _) _; rewrite norm_delta mul1r.
by apply: le_trans (contractionP _ cM) _; rewrite norm_delta.
Qed.

Lemma nuclear_norm_ub m d (A M : 'M[R]_(m, d)) : contraction M -> frob_dot M A <= nuclear_norm A.
Proof.
move=> cM; apply: sup_ub; last by exists M.
exists (\sum_j \sum_i `|A i j|) => _ [N cN <-]; rewrite frob_dotE.
apply: ler_sum => j _; apply: ler_sum => i _; apply: le_trans (ler_norm _) _.
by rewrite normrM -[X in _ <= X]mul1r ler_wpmul2r // contraction_entry.
Qed.

Lemma nuclear_norm_le m d (A : 'M[R]_(m, d)) v :
  (forall M, contraction M -> frob_dot M A <= v) -> nuclear_norm A <= v.
Proof.
move=> up; apply: sup_le_ub; first by exists (frob_dot 0 A), 0; first exact: contraction0.
by move=> _ [M cM <-]; apply: up.
Qed.

Lemma nuclear_norm_ge0 m d (A : 'M[R]_(m, d)) : 0 <= nuclear_norm A.
Proof.
apply: le_trans (nuclear_norm_ub A (@contraction0 R m d)).
by rewrite /frob_dot trmx0 mul0mx mxtrace0.
Qed.

(* the triangle inequality *)
(*@ NUCLEAR-TRIANGLE *)
Theorem nuclear_norm_triangle m d (A B : 'M[R]_(m, d)) :
  nuclear_norm (A + B) <= nuclear_norm A + nuclear_norm B.
Proof.
by apply: nuclear_norm_le => M cM; rewrite frob_dotDr ler_add // nuclear_norm_ub.
Qed.

Lemma op_leZ m d (M : 'M[R]_(m, d)) k l : 0 <= l -> op_le M k -> op_le (l *: M) (l * k).
Proof.
by move=> l0 Mk u; rewrite -scalemxAl normZ ger0_norm // -mulrA ler_wpmul2l.
Qed.

(* duality: <M, A> <= k |A|_* when the operator norm of M is at most k *)
Lemma frob_dot_le_nuclear m d (A M : 'M[R]_(m, d)) k :
  0 <= k -> op_le M k -> frob_dot M A <= k * nuclear_norm A.
Proof.
rewrite le_eqVlt => /orP[/eqP <-|k0] Mk.
  have M0 : M = 0.
    apply/matrixP => i j; rewrite !mxE; have := Mk (delta_mx j 0); rewrite mul0r => le0.
    have /eqP : norm (M *m delta_mx j 0) == 0 by rewrite eq_le le0 norm_ge0.
    move/eqP; rewrite norm_eq0 -colE => /eqP/matrixP/(_ i 0); by rewrite !mxE.
  by rewrite mul0r M0 /frob_dot trmx0 mul0mx mxtrace0.
have c : contraction (k^-1 *: M).
  by rewrite /contraction -(mulVf (lt0r_neq0 k0)); apply: op_leZ; rewrite ?invr_ge0 ?ltW.
by have := nuclear_norm_ub A c; rewrite frob_dotZl ler_pdivr_mull.
Qed.

Lemma nuclear_normZ_ge m d (A : 'M[R]_(m, d)) k :
  0 <= k -> nuclear_norm (k *: A) <= k * nuclear_norm A.
Proof.
move=> k0; apply: nuclear_norm_le => M cM.
by rewrite frob_dotZr ler_wpmul2l // nuclear_norm_ub.
Qed.

(* nonnegative multiples come out of the norm *)
Lemma nuclear_normZ m d (A : 'M[R]_(m, d)) k :
  0 <= k -> nuclear_norm (k *: A) = k * nuclear_norm A.
Proof.
rewrite le_eqVlt => /orP[/eqP <-|k0].
  apply/eqP; rewrite eq_le; apply/andP; split; first exact: nuclear_normZ_ge.
  by rewrite mul0r nuclear_norm_ge0.
 apply/eqP; rewrite eq_le; apply/andP; split; first exact/nuclear_normZ_ge/ltW.
rewrite -ler_pdivl_mull // -{1}(scalerK (lt0r_neq0 k0) A).
by rewrite nuclear_normZ_ge // invr_ge0 ltW.
Qed.

Lemma nuclear_normN m d (A : 'M[R]_(m, d)) : nuclear_norm (- A) = nuclear_norm A.
Proof.
have le (B : 'M[R]_(m, d)) : nuclear_norm (- B) <= nuclear_norm B.
  apply: nuclear_norm_le => M cM; rewrite frob_dotNr -frob_dotNl nuclear_norm_ub // => u.
  by rewrite mulNmx normN; apply: cM.
by apply/eqP; rewrite eq_le le /= -{1}(opprK A) le.
Qed.

Lemma operator_normZ m d (A : 'M[R]_(m, d)) k :
  0 < k -> operator_norm (k *: A) = k * operator_norm A.
Proof.
move=> k0; have ne : [set norm (A *m u) | u in [set u : 'cV[R]_d | norm u <= 1]] !=set0.
  by exists (norm (A *m 0)), 0 => //=; rewrite norm0 ler01.
have fin : has_ubound [set norm (A *m u) | u in [set u : 'cV[R]_d | norm u <= 1]].
  exists (\sum_j norm (col j A)) => _ [u u1 <-].
  have -> : A *m u = \sum_j u j 0 *: col j A.
    by apply/matrixP => i l; rewrite !mxE summxE ord1; apply: eq_bigr => j _; rewrite !mxE mulrC.
  have nsum (I : Type) (r : seq I) (F : I -> 'cV[R]_m) :
      norm (\sum_(j <- r) F j) <= \sum_(j <- r) norm (F j).
    elim/big_rec2: _ => [|j x y _ le]; first by rewrite norm0.
    by apply: le_trans (norm_triangle _ _) _; rewrite ler_add2l.
  apply: le_trans (nsum _ _ _) _; apply: ler_sum => j _.
  rewrite normZ -[X in _ <= X]mul1r ler_wpmul2r ?norm_ge0 //.
  rewrite -dot_delta; apply: le_trans (cauchy_schwarz _ _) _.
  by rewrite norm_delta mul1r.
rewrite /operator_norm.
apply/eqP; rewrite eq_le; apply/andP; split.
  apply: sup_le_ub; first by exists (norm (k *: A *m 0)), 0 => //=; rewrite norm0 ler01.
  move=> _ [u u1 <-]; rewrite -scalemxAl normZ gtr0_norm // ler_pmul2l //.
  by apply: sup_ub => //; exists u.
rewrite -ler_pdivl_mull //; apply: sup_le_ub => // _ [u u1 <-].
rewrite ler_pdivl_mull //; apply: sup_ub.
  case: fin => M ubM; exists (k * M) => _ [w w1 <-].
  by rewrite -scalemxAl normZ gtr0_norm // ler_pmul2l //; apply: ubM; exists w.
by exists u => //; rewrite -scalemxAl normZ gtr0_norm.
Qed.

(* SINGULAR VALUES *)

(* A = U diag(s) V^T with U, V orthogonal and s >= 0 *)
Definition svd d (A U V : 'M[R]_d) (s : 'rV[R]_d) :=
  [/\ orthogonal_mx U, orthogonal_mx V, (forall i, 0 <= s 0 i) & A = U *m diag_mx s *m V^T].

Lemma dot_diag d (s : 'rV[R]_d) (M : 'M[R]_d) : \tr (M *m diag_mx s) = \sum_i M i i * s 0 i.
Proof. by apply: eq_bigr => i _; rewrite mul_mx_diag mxE. Qed.

(* <M, U diag(s) V^T> = sum_i (U^T M V)_ii s_i *)
Lemma frob_dot_svd d (M U V : 'M[R]_d) (s : 'rV[R]_d) :
  frob_dot M (U *m diag_mx s *m V^T) = \sum_i (U^T *m M *m V) i i * s 0 i.
Proof.
rewrite frob_dotC /frob_dot !trmx_mul trmxK tr_diag_mx -!mulmxA mxtrace_mulC -!mulmxA.
rewrite mxtrace_mulC -dot_diag; congr (\tr _); by rewrite !mulmxA.
Qed.

(* the nuclear norm is the sum of the singular values *)
(*@ NUCLEAR-SVD *)
Theorem nuclear_norm_svd d (A U V : 'M[R]_d) (s : 'rV[R]_d) :
  svd A U V s -> nuclear_norm A = \sum_i s 0 i.
Proof.
move=> [oU oV s0 ->]; apply: (@nuclear_norm_max _ _ _ (U *m V^T)).
- by apply: contraction_orthogonal; apply: orthogonal_mxM => //; apply: orthogonal_mx_tr.
- rewrite frob_dot_svd; apply: eq_bigr => i _.
  by rewrite !mulmxA oU mul1mx oV mxE eqxx mul1r.
move=> N cN; rewrite frob_dot_svd; apply: ler_sum => i _.
rewrite -[X in _ <= X]mul1r ler_wpmul2r //; apply: le_trans (ler_norm _) _.
apply: contraction_entry => u; rewrite -!mulmxA orthogonal_norm; last exact: orthogonal_mx_tr.
by apply: le_trans (cN _) _; rewrite orthogonal_norm.
Qed.

(* a value: the identity has nuclear norm d *)
Lemma nuclear_norm1 d : nuclear_norm (1%:M : 'M[R]_d) = d%:R.
Proof.
rewrite (@nuclear_norm_svd _ _ 1%:M 1%:M (const_mx 1)).
  by under eq_bigr do rewrite mxE; rewrite sumr_const card_ord.
split; rewrite /orthogonal_mx ?trmx1 ?mulmx1 ?mul1mx ?diag_const_mx //.
by move=> i; rewrite mxE ler01.
Qed.

End Norms.
