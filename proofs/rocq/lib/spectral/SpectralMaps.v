(* Functions of the eigenvalues of a symmetric matrix, and that they are measurable.

   `eigh` of numpy gives orthonormal eigenvectors V and eigenvalues a of a symmetric matrix A.
   Here V and a are any that the spectral theorem gives; of a matrix that is not symmetric the
   symmetric part is taken.  `spectral_map f A` is V diag (f a) V^T, in the code
   (vectors * f(values)) @ vectors.T.

   Proved:
   - if |f s - f t| <= c |s - t| for all s and t, then f moves matrices in Frobenius norm by at
     most c times their distance;
   - so it is measurable, and so are products and limits of such functions.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions Lebesgue LipschitzMaps EigenvalueSensitivity SpectralTheorem.
From covassay Require Euclidean MatrixNorms Projections.
Import numFieldNormedType.Exports.

(* ---------------------------------------------------------------------------- *)
(* Maps that do not increase distances much                                     *)

(* ---------------------------------------------------------------------------- *)
(* Sums, products and inverses of matrices are measurable                       *)

Section Operations.
Context (R : realType) e (T : measurableType e).

Lemma measurable_matrixD m n (f g : T -> 'M[R]_(m, n)) :
  measurable_fun setT f -> measurable_fun setT g -> measurable_fun setT (fun t => f t + g t).
Proof.
move=> mf mg; apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
by apply: measurable_funD; apply: (measurable_fun_comp (@measurable_entry R m n i j)).
Qed.

Lemma measurable_matrixZ m n (a : T -> R) (f : T -> 'M[R]_(m, n)) :
  measurable_fun setT a -> measurable_fun setT f -> measurable_fun setT (fun t => a t *: f t).
Proof.
move=> ma mf; apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
by apply: measurable_funM => //; apply: (measurable_fun_comp (@measurable_entry R m n i j)).
Qed.

Lemma measurable_matrixT m n (f : T -> 'M[R]_(m, n)) :
  measurable_fun setT f -> measurable_fun setT (fun t => (f t)^T).
Proof.
move=> mf; apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
exact: (measurable_fun_comp (@measurable_entry R m n j i)).
Qed.

Lemma measurable_matrixM m n k (f : T -> 'M[R]_(m, n)) (g : T -> 'M[R]_(n, k)) :
  measurable_fun setT f -> measurable_fun setT g -> measurable_fun setT (fun t => f t *m g t).
Proof.
move=> mf mg; apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
apply: measurable_sum => p; apply: measurable_funM.
  exact: (measurable_fun_comp (@measurable_entry R m n i p)).
exact: (measurable_fun_comp (@measurable_entry R n k p j)).
Qed.

End Operations.

(* ---------------------------------------------------------------------------- *)
(* Eigenvectors and functions of the eigenvalues                                *)

Section Eigh.
Variables (R : realType) (d : nat).
Implicit Types (A B C M U V W : 'M[R]_d) (f g : R -> R).

Definition sym_part A : 'M[R]_d := 2%:R^-1 *: (A + A^T).

Lemma sym_part_sym A : Euclidean.symmetric (sym_part A).
Proof. by rewrite /Euclidean.symmetric linearZ /= linearD /= trmxK addrC. Qed.

Lemma sym_part_id A : A^T = A -> sym_part A = A.
Proof. by move=> sA; rewrite /sym_part sA -mulr2n -[A *+ 2]scaler_nat scalerA mulVf ?scale1r. Qed.

Lemma eigh_exists A : exists Va : 'M[R]_d * 'rV[R]_d, spectral (sym_part A) Va.1 Va.2.
Proof. by have [V [a s]] := spectral_theorem (sym_part_sym A); exists (V, a). Qed.

Definition eigenvectors A : 'M[R]_d := (sval (cid (eigh_exists A))).1.
Definition eigenvalues A : 'rV[R]_d := (sval (cid (eigh_exists A))).2.

Lemma eighP A : spectral (sym_part A) (eigenvectors A) (eigenvalues A).
Proof. exact: svalP (cid (eigh_exists A)). Qed.

Definition spectral_map f A : 'M[R]_d :=
  eigenvectors A *m diag_mx (map_mx f (eigenvalues A)) *m (eigenvectors A)^T.

Lemma spectral_map_sym f A : (spectral_map f A)^T = spectral_map f A.
Proof. by rewrite /spectral_map !trmx_mul trmxK tr_diag_mx mulmxA. Qed.

Lemma spectral_mapE f A i j : spectral_map f A i j
  = \sum_k eigenvectors A i k * f (eigenvalues A 0 k) * eigenvectors A j k.
Proof.
by rewrite /spectral_map mxE; apply: eq_bigr => k _; rewrite mul_mx_diag !mxE.
Qed.

Lemma spectral_map_id A : A^T = A -> spectral_map id A = A.
Proof.
move=> sA; have [_ AE _] := eighP A; rewrite -[RHS](sym_part_id sA) AE /spectral_map.
by congr (_ *m diag_mx _ *m _); apply/rowP => i; rewrite mxE.
Qed.

Lemma spectral_map_mul f g A :
  spectral_map (fun t => f t * g t) A = spectral_map f A *m spectral_map g A.
Proof.
have [oV _ _] := eighP A; rewrite /spectral_map.
rewrite -!mulmxA; congr (_ *m _); rewrite (mulmxA (eigenvectors A)^T (eigenvectors A)) oV mul1mx mulmxA.
by congr (_ *m _); rewrite mulmx_diag; congr diag_mx; apply/rowP => i; rewrite !mxE.
Qed.

Lemma frob_dot_orthogonal U V M : Euclidean.orthogonal_mx U -> Euclidean.orthogonal_mx V ->
  MatrixNorms.frob_dot (U^T *m M *m V) (U^T *m M *m V) = MatrixNorms.frob_dot M M.
Proof.
move=> oU oV; rewrite /MatrixNorms.frob_dot !trmx_mul trmxK -!mulmxA.
rewrite (mulmxA U) (Euclidean.orthogonal_mxT oU) mul1mx mxtrace_mulC -!mulmxA.
by rewrite (Euclidean.orthogonal_mxT oV) mulmx1.
Qed.

Lemma sym_part_le A B : MatrixNorms.frob_dot (sym_part A - sym_part B) (sym_part A - sym_part B)
  <= MatrixNorms.frob_dot (A - B) (A - B).
Proof.
have -> : sym_part A - sym_part B = sym_part (A - B).
  by rewrite /sym_part -scalerBr [(A - B)^T]linearB /= opprD addrACA.
move: (A - B) => C; have CT : MatrixNorms.frob_dot C^T C^T = MatrixNorms.frob_dot C C.
  by rewrite /MatrixNorms.frob_dot trmxK mxtrace_mulC.
have le : MatrixNorms.frob_dot (C - C^T) (C - C^T) >= 0 by exact: MatrixNorms.frob_dot_ge0.
rewrite /sym_part MatrixNorms.frob_dotZl MatrixNorms.frob_dotZr mulrA.
move: le; rewrite !MatrixNorms.frob_dotL CT (MatrixNorms.frob_dotC C^T C).
move: (MatrixNorms.frob_dot C C) (MatrixNorms.frob_dot C C^T) => a b le.
rewrite -subr_ge0 [X in 0 <= X](_ : _ = 4%:R^-1 * (a + - b + (- b + - - a))); last by field.
by rewrite mulr_ge0 ?invr_ge0 ?ler0n.
Qed.

(* In the coordinates of both bases the difference has the entries (f a_i - f b_j) W_ij. *)
Theorem spectral_map_lipschitz f (c : R) A B : (forall s t, `|f s - f t| <= c * `|s - t|) ->
  MatrixNorms.frob_dot (spectral_map f A - spectral_map f B) (spectral_map f A - spectral_map f B)
  <= c ^+ 2 * MatrixNorms.frob_dot (A - B) (A - B).
Proof.
move=> lip; apply: le_trans (ler_wpmul2l (sqr_ge0 c) (sym_part_le A B)).
have [oU AE _] := eighP A; have [oV BE _] := eighP B.
have VV := Euclidean.orthogonal_mxT oV.
set U := eigenvectors A in oU AE *; set V := eigenvectors B in oV BE VV *.
have E h : U^T *m (U *m diag_mx (map_mx h (eigenvalues A)) *m U^T
      - V *m diag_mx (map_mx h (eigenvalues B)) *m V^T) *m V
    = \matrix_(i, j) ((h (eigenvalues A 0 i) - h (eigenvalues B 0 j)) * (U^T *m V) i j).
  rewrite mulmxBr mulmxBl !mulmxA oU mul1mx -!mulmxA oV mulmx1 !mulmxA.
  apply/matrixP => i j; rewrite -mulmxA mul_diag_mx mul_mx_diag !mxE.
  by rewrite mulrBl; congr (_ - _); rewrite mulrC.
rewrite /spectral_map -(frob_dot_orthogonal _ oU oV) -[X in _ <= _ * X](frob_dot_orthogonal _ oU oV) E.
have -> : sym_part A - sym_part B = U *m diag_mx (map_mx id (eigenvalues A)) *m U^T
      - V *m diag_mx (map_mx id (eigenvalues B)) *m V^T.
  have mid (a : 'rV[R]_d) : map_mx id a = a by apply/rowP => i; rewrite mxE.
  by rewrite !mid AE BE.
rewrite E !MatrixNorms.frob_dotE mulr_sumr; apply: ler_sum => j _.
rewrite mulr_sumr; apply: ler_sum => i _; rewrite !mxE.
move: (\sum_(_ < d) _) => w; rewrite -!expr2 !exprMn [c ^+ 2 * _]mulrA.
rewrite ler_wpmul2r ?sqr_ge0 // -exprMn -[X in X <= _]real_normK ?num_real //.
rewrite -[X in _ <= X]real_normK ?num_real // ler_expn2r ?nnegrE ?normr_ge0 // normrM.
apply: le_trans (lip _ _) _; rewrite ler_wpmul2r ?normr_ge0 //; exact: ler_norm.
Qed.

(* The functions of the eigenvalues that are measurable. *)
Definition measurable_map f := measurable_fun setT (spectral_map f).

Lemma lipschitz_map f (c : R) : 0 < c -> (forall s t, `|f s - f t| <= c * `|s - t|) ->
  measurable_map f.
Proof. by move=> c0 lip; apply: (LipschitzMaps.lipschitz_measurable c0) => A B; exact: spectral_map_lipschitz. Qed.

Lemma measurable_map_mul f g :
  measurable_map f -> measurable_map g -> measurable_map (fun t => f t * g t).
Proof.
move=> mf mg; rewrite /measurable_map.
rewrite (_ : spectral_map _ = fun A => spectral_map f A *m spectral_map g A).
  exact: measurable_matrixM.
by apply/funext => A; exact: spectral_map_mul.
Qed.

Lemma measurable_map_limit (g : nat -> R -> R) f : (forall k, measurable_map (g k)) ->
  (forall t, exists N, forall k, (N <= k)%N -> g k t = f t) -> measurable_map f.
Proof.
move=> mg lim; apply: measurable_fun_matrix => i j.
apply: (@measurable_fun_cvg _ _ _ _ (fun k A => spectral_map (g k) A i j)).
  by move=> k; exact: (measurable_fun_comp (@measurable_entry R d d i j) (mg k)).
move=> A _.
have [N all] : exists N, forall k, (N <= k)%N -> forall l, g k (eigenvalues A 0 l) = f (eigenvalues A 0 l).
  pose at_ l := cid (lim (eigenvalues A 0 l)); exists (\max_l sval (at_ l)) => k Nk l.
  by apply: (svalP (at_ l)); apply: leq_trans Nk; exact: leq_bigmax.
apply: cvg_near_cst; exists N => // k Nk /=.
by rewrite !spectral_mapE; apply: eq_bigr => l _; rewrite all.
Qed.

End Eigh.
