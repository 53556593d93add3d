(* A measurable map that puts given eigenvalues on the eigenvectors of a symmetric matrix.

   If the eigenvalues a of G are distinct, the matrix of the orthogonal projection on the i-th
   eigenvector is the product of (G - a_j)/(a_i - a_j) over all j other than i.  The sum of these
   matrices, each times l_i, is V diag(l) V^T, whatever the signs of the eigenvectors V.  It is defined
   for all matrices, with 1/0 = 0, and measurable, because the eigenvalues are.

   Nothing is assumed. *)
From covassay Require Import MechanismTheory EigenvalueSensitivity SpectralMaps SeparateCov.
From covassay Require Euclidean MatrixNorms LipschitzMaps BallProjection.

Section Eigenvalues.
Variables (R : realType) (d : nat).
Implicit Types (A B M V : 'M[R]_d) (u : 'cV[R]_d).

Lemma dot_mulmx_le M u :
  Euclidean.dot (M *m u) (M *m u) <= MatrixNorms.frob_dot M M * Euclidean.dot u u.
Proof.
rewrite MatrixNorms.frob_dotE exchange_big mulr_suml {1}/Euclidean.dot; apply: ler_sum => i _ /=.
have -> : (M *m u) i 0 = Euclidean.dot (row i M)^T u.
  by rewrite mxE; apply: eq_bigr => j _; rewrite !mxE.
rewrite -expr2; apply: le_trans (Euclidean.dot_sqr_le _ _) _.
rewrite le_eqVlt; apply/orP/or_introl/eqP; congr (_ * _).
by apply: eq_bigr => j _; rewrite !mxE.
Qed.

Lemma form_le_frob M u : Euclidean.form M u <= MatrixNorms.frob_norm M * Euclidean.dot u u.
Proof.
rewrite /Euclidean.form -[Euclidean.dot u u]Euclidean.sqr_norm expr2 mulrCA.
apply: le_trans (Euclidean.dot_le _ _) _; rewrite ler_wpmul2l ?Euclidean.norm_ge0 //.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?Euclidean.norm_ge0 ?MatrixNorms.frob_norm_ge0 //.
by rewrite exprMn !Euclidean.sqr_norm MatrixNorms.sqr_frob_norm dot_mulmx_le.
Qed.

(* Weyl: an eigenvalue moves by at most the distance of the matrices. *)
Lemma eigenvalue_shift_le A B i :
  eigenvalues A 0 i <= eigenvalues B 0 i + MatrixNorms.frob_norm (sym_part A - sym_part B).
Proof.
set k := MatrixNorms.frob_norm _; have sA := eighP A; have [oV BE bD] := eighP B.
have sC : spectral (sym_part B + k%:M) (eigenvectors B) (eigenvalues B + const_mx k).
  split=> // [|p q pq]; last by rewrite !mxE ler_add2r bD.
  rewrite {1}BE linearD /= mulmxDr mulmxDl diag_const_mx; congr (_ + _).
  by rewrite -mulmxA mul_scalar_mx -scalemxAr (Euclidean.orthogonal_mxT oV) scalemx1.
have le : Euclidean.loewner_le (sym_part A) (sym_part B + k%:M).
  move=> u; rewrite Euclidean.formD Euclidean.form_scalar -ler_subl_addl -Euclidean.formB.
  exact: form_le_frob.
by have := weyl_monotone sA sC le i; rewrite !mxE.
Qed.

Lemma eigenvalues_measurable : measurable_fun setT (@eigenvalues R d).
Proof.
have c0 : 0 < d%:R + 1 :> R by rewrite ltr_spaddr ?ltr01 ?ler0n.
apply: (LipschitzMaps.lipschitz_measurable c0) => A B.
apply: (@le_trans _ _ (d%:R * MatrixNorms.frob_dot (A - B) (A - B))); last first.
  rewrite ler_wpmul2r ?MatrixNorms.frob_dot_ge0 // -subr_ge0.
  have -> : (d%:R + 1) ^+ 2 - d%:R = d%:R ^+ 2 + d%:R + 1 :> R by ring.
  by rewrite !addr_ge0 ?ler01 ?sqr_ge0 ?ler0n.
rewrite {1}MatrixNorms.frob_dotE mulr_natl -[X in _ *+ X](card_ord d) -sumr_const.
apply: ler_sum => j _; rewrite big_ord1 !mxE -expr2.
apply: le_trans (sym_part_le A B); rewrite -MatrixNorms.sqr_frob_norm -real_normK ?num_real //.
rewrite ler_expn2r ?nnegrE ?normr_ge0 ?MatrixNorms.frob_norm_ge0 // ler_norml; apply/andP; split.
  rewrite ler_oppl opprB ler_subl_addl; apply: le_trans (eigenvalue_shift_le B A j) _.
  by rewrite -[sym_part B - _]opprB -scaleN1r MatrixNorms.frob_normZ normrN1 mul1r.
by rewrite ler_subl_addl eigenvalue_shift_le.
Qed.

(* 1/x, and 0 at 0. *)
Lemma measurable_inverse : measurable_fun setT (fun x : R => x^-1).
Proof.
pose f (x : R) := BallProjection.positive_inverse x.
have mf : measurable_fun setT f by exact: BallProjection.positive_inverse_measurable.
rewrite (_ : (fun x => x^-1) = (fun x => f x - f (0 - x))).
  apply: measurable_funB => //; apply: (measurable_fun_comp mf).
  by apply: measurable_funB; [exact: measurable_fun_cst|exact: measurable_fun_id].
apply/funext => x; rewrite /f /BallProjection.positive_inverse sub0r oppr_gt0.
by case: (ltrgtP x 0) => [x0|x0|->]; rewrite ?subr0 ?sub0r ?invrN ?opprK // invr0.
Qed.

End Eigenvalues.

(* ---------------------------------------------------------------------------- *)

Section Rebuild.
Variables (R : realType) (d : nat).
Implicit Types (G V : 'M[R]_d) (a l : 'rV[R]_d).
Notation pair := [the measurableType _ of ('M[R]_d * 'rV[R]_d)%type].

(* (G - a_j)/(a_i - a_j) *)
Definition factor_of G (i j : 'I_d) : 'M[R]_d :=
  (eigenvalues G 0 i - eigenvalues G 0 j)^-1 *: (G - (eigenvalues G 0 j)%:M).

Definition projector G (i : 'I_d) : 'M[R]_d := \big[mulmx/1%:M]_(j < d | j != i) factor_of G i j.

Definition rebuild (Gl : 'M[R]_d * 'rV[R]_d) : 'M[R]_d := \sum_i Gl.2 0 i *: projector Gl.1 i.

Lemma mulmx_spectral V (I : Type) (s : seq I) (P : pred I) (c : I -> 'rV[R]_d) :
  Euclidean.orthogonal_mx V ->
  \big[mulmx/1%:M]_(j <- s | P j) (V *m diag_mx (c j) *m V^T)
  = V *m diag_mx (\row_k \prod_(j <- s | P j) c j 0 k) *m V^T.
Proof.
move=> oV; elim: s => [|j s IH].
  rewrite big_nil; have -> : (\row_k \prod_(j <- [::] | P j) c j 0 k) = const_mx 1 :> 'rV[R]_d.
    by apply/rowP => k; rewrite !mxE big_nil.
  by rewrite diag_const_mx mulmx1 (Euclidean.orthogonal_mxT oV).
rewrite big_cons; case Pj: (P j); last first.
  by rewrite IH; congr (_ *m diag_mx _ *m _); apply/rowP => k; rewrite !mxE big_cons Pj.
rewrite IH -!mulmxA (mulmxA V^T V) oV mul1mx (mulmxA (diag_mx _) (diag_mx _)) mulmx_diag.
by congr (_ *m (diag_mx _ *m _)); apply/rowP => k; rewrite !mxE big_cons Pj.
Qed.

Lemma rebuildP : rebuilds rebuild.
Proof.
move=> G V a l sG desc; have [oV GE aD] := sG.
have G_sym : G^T = G by rewrite GE !trmx_mul trmxK tr_diag_mx mulmxA.
have := eighP G; rewrite (sym_part_id G_sym) => sU.
have ba : eigenvalues G = a.
  have le : Euclidean.loewner_le G G by move=> u; exact: lexx.
  by apply/rowP => i; apply/eqP; rewrite eq_le (weyl_monotone sU sG le) (weyl_monotone sG sU le).
have distinct (i j : 'I_d) : j != i -> a 0 i - a 0 j != 0.
  rewrite -val_eqE neq_ltn subr_eq0 => /orP[]/desc; first by move/lt_eqF/negbT.
  by move/gt_eqF/negbT.
have PE i : projector G i = V *m diag_mx (\row_k (k == i)%:R) *m V^T.
  have fE j : factor_of G i j = V *m diag_mx (\row_k ((a 0 i - a 0 j)^-1 * (a 0 k - a 0 j))) *m V^T.
    have -> : diag_mx (\row_k ((a 0 i - a 0 j)^-1 * (a 0 k - a 0 j)))
        = (a 0 i - a 0 j)^-1 *: (diag_mx a - (a 0 j)%:M) :> 'M[R]_d.
      apply/matrixP => p q; rewrite !mxE; case: (p == q); rewrite ?mulr1n // !mulr0n subr0 mulr0 //.
    rewrite /factor_of ba -scalemxAr -scalemxAl mulmxBr mulmxBl -GE; congr (_ *: (_ - _)).
    by rewrite -mulmxA mul_scalar_mx -scalemxAr (Euclidean.orthogonal_mxT oV) scalemx1.
  rewrite /projector (eq_bigr _ (fun j _ => fE j)) mulmx_spectral //.
  congr (_ *m diag_mx _ *m _); apply/rowP => k; rewrite !mxE.
  have [->|ki] := eqVneq k i.
    by rewrite big1 // => j ji; rewrite mxE mulVf // distinct.
  by rewrite (bigD1 k) //= mxE subrr mulr0 mul0r.
rewrite /rebuild /= (eq_bigr (fun i => V *m (l 0 i *: diag_mx (\row_k (k == i)%:R)) *m V^T)); last first.
  by move=> i _; rewrite PE scalemxAl scalemxAr.
rewrite -mulmx_suml -mulmx_sumr; congr (_ *m _ *m _); apply/matrixP => p q.
rewrite summxE !mxE (bigD1 p) //= !mxE eqxx big1 => [|i ip]; last first.
  by rewrite !mxE eq_sym (negbTE ip) mul0rn mulr0.
by rewrite addr0; case: (p == q); rewrite ?mulr1n ?mulr1 // !mulr0n mulr0.
Qed.

Lemma measurable_rebuild : measurable_fun [set: pair] rebuild.
Proof.
have mG : measurable_fun [set: pair] (fun Gl : 'M[R]_d * 'rV[R]_d => Gl.1) by exact: measurable_fun_fst.
have ml : measurable_fun [set: pair] (fun Gl : 'M[R]_d * 'rV[R]_d => Gl.2) by exact: measurable_fun_snd.
have mev i : measurable_fun [set: pair] (fun Gl : 'M[R]_d * 'rV[R]_d => eigenvalues Gl.1 0 i).
  apply: (measurable_fun_comp (@measurable_entry R 1 d 0 i)).
  exact: (measurable_fun_comp (@eigenvalues_measurable R d) mG).
have mf i j : measurable_fun [set: pair] (fun Gl : 'M[R]_d * 'rV[R]_d => factor_of Gl.1 i j).
  apply: measurable_matrixZ.
    by apply: (measurable_fun_comp (@measurable_inverse R)); exact: measurable_funB.
  apply: measurable_fun_matrix => p q; under eq_fun do rewrite !mxE.
  apply: measurable_funB; first exact: (measurable_fun_comp (@measurable_entry R d d p q) mG).
  case: (p == q); under eq_fun do rewrite ?mulr1n ?mulr0n; [exact: mev|exact: measurable_fun_cst].
have mp i : measurable_fun [set: pair] (fun Gl : 'M[R]_d * 'rV[R]_d => projector Gl.1 i).
  rewrite /projector; elim: (index_enum _) => [|j s IH].
    under eq_fun do rewrite big_nil; exact: measurable_fun_cst.
  under eq_fun do rewrite big_cons; case: (j != i) => //.
  by apply: measurable_matrixM.
apply: measurable_fun_matrix => p q; under eq_fun do rewrite summxE.
apply: measurable_sum => i; under eq_fun do rewrite mxE.
apply: measurable_funM; first exact: (measurable_fun_comp (@measurable_entry R 1 d 0 i) ml).
exact: (measurable_fun_comp (@measurable_entry R d d p q) (mp i)).
Qed.

End Rebuild.
