(* Singular values: every real square matrix is U diag (s) V^T with orthogonal U and V and
   s >= 0, where s are the square roots of the eigenvalues of Z^T Z, in decreasing order.

   They are measurable functions of Z, and so is the sum of s_i s_j/(s_i + s_j) over pairs.

   V are the eigenvectors of Z^T Z.  The columns of Z V are orthogonal to each other, with the
   lengths s_i; one reflection after the other moves the axes to them.  The eigenvalues are
   measurable because no eigenvalue moves further than the matrix does (Weyl).
   Nothing is assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval zmodp matrix.
From covassay Require Import MeasureTheory Lebesgue.
From covassay Require Import Euclidean MatrixNorms EigenvalueSensitivity SpectralTheorem SpectralMaps LipschitzMaps MeasurableFunctions.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports numFieldNormedType.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

Section Existence.
Variables (R : realType) (d : nat).
Implicit Types (Z U V : 'M[R]_d).

Definition singular_row Z : 'rV[R]_d := \row_i Num.sqrt (eigenvalues (Z^T *m Z) 0 i).
Definition singular_values Z (i : 'I_d) : R := singular_row Z 0 i.

Let axis (i : 'I_d) : 'cV[R]_d := delta_mx i 0.

(* Orthogonal columns of given lengths are a rotation of the axes, stretched. *)
Lemma rotate_axes (b : 'I_d -> 'cV[R]_d) (s : 'I_d -> R) :
  (forall i j, dot (b i) (b j) = (s i ^+ 2) *+ (i == j)) ->
  exists2 U, orthogonal_mx U & forall i, U *m (s i *: axis i) = b i.
Proof.
move=> bb; suff H n : exists2 U, orthogonal_mx U &
    forall i : 'I_d, (i < n)%N -> U *m (s i *: axis i) = b i.
  by have [U oU UE] := H d; exists U => // i; exact: UE.
elim: n => [|k [U oU UE]].
  by exists 1%:M => //; rewrite /orthogonal_mx trmx1 mulmx1.
have [kd|dk] := ltnP k d; last first.
  by exists U => // i ik; apply: UE; apply: leq_trans (ltn_ord i) dk.
pose j := Ordinal kd; pose y := U^T *m b j.
have yy : dot (s j *: axis j) (s j *: axis j) = dot y y.
  rewrite /y (orthogonal_dot _ _ (orthogonal_mx_tr oU)) bb eqxx mulr1n dotZl dotZr.
  by rewrite dot_deltas eqxx mulr1 expr2.
pose H := reflection (s j *: axis j - y).
have Hj : H *m (s j *: axis j) = y by exact: reflection_swap.
exists (U *m H) => [|i]; first by apply: orthogonal_mxM => //; exact: reflection_orthogonal.
rewrite ltnS leq_eqVlt => /orP[/eqP ij|ik].
  have -> : i = j by exact: val_inj.
  by rewrite -mulmxA Hj /y mulmxA (orthogonal_mxT oU) mul1mx.
have ne : (i == j) = false by apply/eqP => ij; rewrite ij /= ltnn in ik.
have orth : dot (s j *: axis j - y) (s i *: axis i) = 0.
  rewrite dotBl dotZl dotZr dot_deltas [j == i]eq_sym ne !mulr0 sub0r.
  have -> : s i *: axis i = U^T *m b i by rewrite -(UE i ik) mulmxA oU mul1mx.
  by rewrite /y (orthogonal_dot _ _ (orthogonal_mx_tr oU)) bb [j == i]eq_sym ne mulr0n oppr0.
by rewrite -mulmxA /H reflection_mulmx orth mulr0 scale0r subr0 UE.
Qed.

Lemma gram_sym Z : (Z^T *m Z)^T = Z^T *m Z.
Proof. by rewrite trmx_mul trmxK. Qed.

Let gram_spectral Z : spectral (Z^T *m Z) (eigenvectors (Z^T *m Z)) (eigenvalues (Z^T *m Z)).
Proof. by have := eighP (Z^T *m Z); rewrite sym_part_id // gram_sym. Qed.

Let columns Z i j (V := eigenvectors (Z^T *m Z)) :
  dot (Z *m (V *m axis i)) (Z *m (V *m axis j)) = eigenvalues (Z^T *m Z) 0 i *+ (i == j).
Proof.
have [oV E _] := gram_spectral Z.
have AV : Z^T *m Z *m V = V *m diag_mx (eigenvalues (Z^T *m Z)).
  by rewrite -[RHS]mulmx1 -oV mulmxA -E.
rewrite dot_mulmxl !mulmxA AV -!mulmxA (orthogonal_dot _ _ oV) dot_delta.
rewrite mul_diag_mx !mxE eqxx andbT; case: eqP => [->|_]; by rewrite ?mulr1 ?mulr0.
Qed.

Lemma gram_eigenvalue_ge0 Z i : 0 <= eigenvalues (Z^T *m Z) 0 i.
Proof. by have := columns Z i i; rewrite eqxx mulr1n => <-; exact: dot_ge0. Qed.

Lemma singular_values_ge0 Z i : 0 <= singular_values Z i.
Proof. by rewrite /singular_values mxE sqrtr_ge0. Qed.

(*@ SVD-EXISTS *)
Theorem svd_exists Z : exists U V, svd Z U V (singular_row Z).
Proof.
pose V := eigenvectors (Z^T *m Z); have [oV _ _] := gram_spectral Z.
have [|U oU UE] := @rotate_axes (fun i => Z *m (V *m axis i)) (singular_values Z).
  move=> i j; rewrite columns /singular_values mxE sqr_sqrtr ?gram_eigenvalue_ge0 //.
exists U, V; split => //; first by move=> i; exact: singular_values_ge0.
suff -> : U *m diag_mx (singular_row Z) = Z *m V by rewrite -mulmxA (orthogonal_mxT oV) mulmx1.
apply/matrixP => r i; have := congr1 (fun v : 'cV[R]_d => v r 0) (UE i).
rewrite /= -scalemxAr mulmxA -!colE mxE [RHS]mxE [X in _ * X]mxE => <-.
by rewrite mul_mx_diag mxE mulrC.
Qed.

End Existence.

(* No vector becomes longer than the matrix. *)
Lemma op_le_frob (R : realType) m d (M : 'M[R]_(m, d)) : op_le M (frob_norm M).
Proof.
move=> u; rewrite -ler_sqr ?nnegrE ?norm_ge0 ?mulr_ge0 ?frob_norm_ge0 ?norm_ge0 //.
rewrite exprMn !sqr_norm sqr_frob_norm frob_dotE exchange_big mulr_suml /dot; apply: ler_sum => i _ /=.
rewrite -expr2 (_ : (M *m u) i 0 = dot (row i M)^T u); last first.
  by rewrite mxE; apply: eq_bigr => j _; rewrite !mxE.
apply: le_trans (dot_sqr_le _ _) _; rewrite ler_wpmul2r ?dot_ge0 //.
by rewrite /dot; apply: ler_sum => j _; rewrite !mxE.
Qed.

Section Measurable.
Variables (R : realType) (d : nat).
Implicit Types (A B Z : 'M[R]_d).

(* Weyl: no eigenvalue moves further than the matrix. *)
Lemma eigenvalue_le A B i : eigenvalues A 0 i <= eigenvalues B 0 i + frob_norm (A - B).
Proof.
pose t := frob_norm (A - B); have [oV BE dB] := eighP B.
have spB : spectral (sym_part B + t%:M) (eigenvectors B) (eigenvalues B + const_mx t).
  split=> //; last by move=> j k jk; rewrite !mxE ler_add2r dB.
  rewrite linearD /= mulmxDr mulmxDl -BE; congr (_ + _).
  by rewrite diag_const_mx mul_mx_scalar -scalemxAl (orthogonal_mxT oV) scalemx1.
have := weyl_monotone (eighP A) spB; rewrite /loewner_le => /(_ _ i); rewrite !mxE; apply => u.
rewrite -subr_ge0 -Euclidean.formB.
have -> : sym_part B + t%:M - sym_part A = t%:M - (sym_part A - sym_part B) by rewrite opprB addrCA addrA.
rewrite Euclidean.formB form_scalar subr_ge0; apply: le_trans (dot_le _ _) _.
rewrite -sqr_norm expr2 mulrCA ler_wpmul2l ?norm_ge0 //; apply: le_trans (op_le_frob _ _) _.
rewrite ler_wpmul2r ?norm_ge0 //; apply: ler_wsqrtr; exact: sym_part_le.
Qed.

Lemma measurable_eigenvalue i : measurable_fun setT (fun A : 'M[R]_d => eigenvalues A 0 i).
Proof.
have lip A B : frob_dot ((eigenvalues A 0 i)%:M - (eigenvalues B 0 i)%:M : 'M[R]_1)
    ((eigenvalues A 0 i)%:M - (eigenvalues B 0 i)%:M) <= 1 ^+ 2 * frob_dot (A - B) (A - B).
  rewrite expr1n mul1r frob_dotE !big_ord1 !mxE eqxx !mulr1n -expr2 -sqr_frob_norm.
  rewrite -[X in X <= _]real_normK ?num_real // ler_expn2r ?nnegrE ?frob_norm_ge0 //.
  have sym : frob_norm (B - A) = frob_norm (A - B).
    by rewrite -opprB /frob_norm frob_dotNl frob_dotNr opprK.
  rewrite ler_norml ler_subr_addr addrC ler_subl_addr -sym eigenvalue_le /= sym.
  by rewrite ler_subl_addl eigenvalue_le.
have := lipschitz_measurable ltr01 lip => m.
have := measurable_fun_comp (@measurable_entry R 1 1 0 0) m.
by rewrite (_ : _ \o _ = fun A : 'M[R]_d => eigenvalues A 0 i) //; apply/funext => A; rewrite /= mxE eqxx mulr1n.
Qed.

Lemma measurable_singular_values i : measurable_fun setT (fun Z : 'M[R]_d => singular_values Z i).
Proof.
rewrite (_ : (fun _ => _) = Num.sqrt \o (fun A : 'M[R]_d => eigenvalues A 0 i) \o (fun Z => Z^T *m Z)).
  apply: measurable_fun_comp.
    apply: measurable_fun_comp (measurable_eigenvalue i).
    by apply: continuous_measurable_fun; exact: sqrt_continuous.
  by apply: measurable_matrixM; [apply: measurable_matrixT|]; exact: measurable_fun_id.
by apply/funext => Z; rewrite /singular_values mxE.
Qed.

(* 1/t, with 1/0 = 0, is the limit of t/(t^2 + 1/k). *)
Lemma measurable_inverse : measurable_fun setT (fun t : R => t^-1).
Proof.
pose h (k : nat) (t : R) := t / (t ^+ 2 + k.+1%:R^-1).
have pos (k : nat) (t : R) : 0 < t ^+ 2 + k.+1%:R^-1.
  by rewrite ltr_paddl ?sqr_ge0 // invr_gt0 ltr0n.
have mh k : measurable_fun setT (h k).
  apply: continuous_measurable_fun => t.
  have cD : {for t, continuous (fun u : R => u ^+ 2 + k.+1%:R^-1)}.
    apply: (@continuousD _ _ _ (fun u : R => u ^+ 2) (fun=> k.+1%:R^-1%R) t).
      exact: exprn_continuous.
    exact: cst_continuous.
  have cV : {for t, continuous (fun u : R => (u ^+ 2 + k.+1%:R^-1)^-1%R)}.
    by apply: (@continuousV _ _ (fun u : R => u ^+ 2 + k.+1%:R^-1) t); rewrite ?gt_eqF.
  have cI : {for t, continuous (fun u : R => u)} by [].
  exact: (@continuousM _ _ (fun u : R => u) (fun u : R => (u ^+ 2 + k.+1%:R^-1)^-1%R) t cI cV).
apply: (measurable_fun_cvg mh) => t _.
have [->|t0] := eqVneq t 0.
  rewrite invr0 (_ : h ^~ 0 = fun=> 0); first exact: cvg_cst.
  by apply/funext => k; rewrite /h mul0r.
rewrite (_ : t^-1 = t / (t ^+ 2 + 0)); last by rewrite addr0 expr2 invfM mulrA mulfV // mul1r.
apply: cvgMr; apply: (@cvgV _ _ _ _ (fun k : nat => t ^+ 2 + k.+1%:R^-1)).
  by rewrite addr0 sqrf_eq0.
apply: (@cvgD _ _ _ _ _ (fun=> t ^+ 2) (@harmonic R)); last exact: cvg_harmonic.
exact: cvg_cst.
Qed.

End Measurable.
