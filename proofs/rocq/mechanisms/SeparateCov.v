(* separate-cov and separate-cov-pure: eigenvectors from one noisy matrix, eigenvalues with noise
   of their own.

   The rows lie in the unit ball, neighbours differ in one row, n and d are public.  C is the
   covariance, a_1 >= ... >= a_d are its eigenvalues.

   - separate-cov: G = C + s W, as gauss-cov releases it at rho/2, and a + s N, with
     s = 1/(n sqrt (rho/2)).
   - separate-cov-pure: G as lap-cov releases it at eps/2, and a + (4/(n eps)) times independent
     Laplace variables, clipped to [0, 1].

   Released is the matrix with the eigenvectors of G, in descending order of its eigenvalues, and
   the noisy eigenvalues (`rebuilds`).  If two eigenvalues of G are equal, the eigenvectors can be
   chosen in more than one way.  The theorems hold for every measurable choice.  That the map is
   `rebuilds` says which mechanism this is; the proofs need only that it is measurable.

   Assumed: nothing.  Not said: floating point; how the noise is drawn.  Unconditional.v has a
   measurable choice, and rows of any length. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms EigenvalueSensitivity.
From covassay Require Import SpectralMaps MatrixStages EigenvalueChange.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity Algorithm2.

(* ---------------------------------------------------------------------------- *)
(* From eigenvectors and eigenvalues to a matrix                                *)

Section Rebuild.
Variables (R : realType) (d : nat).
Implicit Types (G V : 'M[R]_d) (a l : 'rV[R]_d).

Definition descending a := forall i j : 'I_d, (i < j)%N -> a 0 j < a 0 i.

(* What f returns if the eigenvalues of G are distinct. *)
Definition rebuilds (f : 'M[R]_d * 'rV[R]_d -> 'M[R]_d) :=
  forall G V a l, spectral G V a -> descending a -> f (G, l) = V *m diag_mx l *m V^T.

(* The eigenvectors are unique up to their signs, so any will do. *)
Lemma rebuilds_eigh : rebuilds (fun Gl =>
  eigenvectors Gl.1 *m diag_mx Gl.2 *m (eigenvectors Gl.1)^T).
Proof.
move=> G V a l sG desc /=; have [oV GE _] := sG.
have G_sym : G^T = G by rewrite GE !trmx_mul trmxK tr_diag_mx mulmxA.
have := eighP G; rewrite (sym_part_id G_sym) => sU; have [oU UE _] := sU.
set U := eigenvectors G in sU oU UE *; set b := eigenvalues G in sU UE.
have ba : b = a.
  have le : Euclidean.loewner_le G G by move=> u; exact: lexx.
  by apply/rowP => i; apply/eqP; rewrite eq_le (weyl_monotone sU sG le) (weyl_monotone sG sU le).
pose W := U^T *m V.
have commute : diag_mx a *m W = W *m diag_mx a.
  have E1 : U^T *m G *m V = diag_mx a *m W by rewrite UE ba !mulmxA oU mul1mx -mulmxA.
  have E2 : U^T *m G *m V = W *m diag_mx a by rewrite GE !mulmxA -[_ *m V^T *m V]mulmxA oV mulmx1.
  by rewrite -E1 E2.
have VE : V = U *m W by rewrite /W mulmxA (Euclidean.orthogonal_mxT oU) mul1mx.
have oW : W *m W^T = 1%:M.
  by rewrite /W trmx_mul trmxK !mulmxA -[U^T *m V *m V^T]mulmxA (Euclidean.orthogonal_mxT oV) mulmx1.
clearbody W.
have W0 i j : i != j -> W i j = 0.
  move=> ij; have /matrixP /(_ i j) := commute; rewrite mul_diag_mx mul_mx_diag !mxE.
  rewrite [RHS]mulrC => /eqP; rewrite -subr_eq0 -mulrBl mulf_eq0 => /orP[|/eqP //].
  rewrite subr_eq0 => /eqP aij; move: ij; rewrite -val_eqE neq_ltn => /orP[]/desc.
    by rewrite aij ltxx.
  by rewrite aij ltxx.
have Wl : diag_mx l *m W = W *m diag_mx l.
  apply/matrixP => i j; rewrite mul_diag_mx mul_mx_diag !mxE.
  by have [->|/W0 ->] := eqVneq i j; [rewrite mulrC|rewrite mulr0 mul0r].
rewrite VE trmx_mul !mulmxA -[U *m W *m _]mulmxA -Wl !mulmxA -[_ *m W *m W^T]mulmxA oW mulmx1.
by [].
Qed.

End Rebuild.

Section SeparateCov.
Variables (R : realType) (n d : nat).
Hypothesis n_gt0 : (0 < n)%N.
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation covariance := (@Sensitivity.covariance R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Notation row := [the measurableType _ of 'rV[R]_d].
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

(* What one row of the unit ball changes: both matrices add x x^T to the same matrix. *)
Lemma common_part (X Y : data) : adjacent X Y -> exists G x y,
  [/\ G^T = G, covariance X = raised G x, covariance Y = raised G y,
      Euclidean.dot x x <= n%:R^-1 & Euclidean.dot y y <= n%:R^-1].
Proof.
move=> [bX bY [i XY]]; pose c : R := Num.sqrt n%:R^-1.
have cc : c * c = n%:R^-1 by rewrite -expr2 sqr_sqrtr // invr_ge0 ler0n.
pose G : 'M[R]_d := n%:R^-1 *: \sum_(j | j != i) X j *m (X j)^T.
have outer (z : 'cV[R]_d) : n%:R^-1 *: (z *m z^T) = (c *: z) *m (c *: z)^T.
  by rewrite linearZ /= -scalemxAl -scalemxAr scalerA cc.
have short (z : 'cV[R]_d) : Euclidean.norm z <= 1 -> Euclidean.dot (c *: z) (c *: z) <= n%:R^-1.
  rewrite Euclidean.norm_le1 Euclidean.dotZl Euclidean.dotZr mulrA cc => z1.
  by rewrite -[X in _ <= X]mulr1 ler_wpmul2l // invr_ge0 ler0n.
exists G, (c *: X i), (c *: Y i); split; try exact: short.
- rewrite /G linearZ /= raddf_sum /=; congr (_ *: _).
  by apply: eq_bigr => j _; exact: Euclidean.symmetric_outer.
- by rewrite /raised -outer -scalerDr /covariance (bigD1 i) //= addrC.
rewrite /raised -outer -scalerDr /covariance (bigD1 i) //= addrC.
by congr (_ *: (_ + _)); apply: eq_bigr => j ji; rewrite XY.
Qed.

Variable rebuild : 'M[R]_d * 'rV[R]_d -> 'M[R]_d.
Hypothesis rebuild_measurable :
  measurable_fun [set: [the measurableType _ of ('M[R]_d * 'rV[R]_d)%type]] rebuild.

(* ---------------------------------------------------------------------------- *)
(* separate-cov                                                                 *)

Section Concentrated.
Variables (rho : R) (e : ensemble).
Hypothesis rho_gt0 : 0 < rho.

Lemma half_budget_gt0 : 0 < rho / 2%:R.
Proof. by rewrite divr_gt0 ?ltr0n. Qed.

(* The eigenvalues, with noise of the scale of gauss-cov at rho/2. *)
Definition noisy_eigenvalues (X : data) : stage R matrix row :=
  noise_stage (gaussian_weight 1 d (matrix_scale_gt0 n_gt0 half_budget_gt0))
    (@measurable_fun_cst _ _ _ _ setT (eigenvalues (covariance X))).

Definition separate_cov (X : data) : {measure set matrix -> \bar R} :=
  image_law rebuild_measurable
    [the measure _ _ of joint (gauss_cov d n_gt0 half_budget_gt0 e X) (noisy_eigenvalues X)].

Lemma separate_cov_total X : separate_cov X setT = 1%E.
Proof. exact: (joint_total _ (release_total (gauss_cov d n_gt0 half_budget_gt0 e) X)). Qed.

Lemma noisy_eigenvalues_zcdp y : zcdp adjacent (rho / 2%:R) (fun X => noisy_eigenvalues X y).
Proof.
have -> : rho / 2%:R = (Num.sqrt 2%:R / n%:R) ^+ 2 / (2%:R * matrix_scale n (rho / 2%:R) ^+ 2).
  rewrite /matrix_scale expr_div_n sqr_sqrtr ?ler0n // exprVn exprMn sqr_sqrtr ?(ltW half_budget_gt0) //.
  by field; rewrite (gt_eqF nR_gt0) (gt_eqF rho_gt0).
move=> X Y XY; apply: gaussian_concentrated; rewrite expr_div_n sqr_sqrtr ?ler0n //.
have [G [x [z [sG -> -> x1 z1]]]] := common_part XY.
rewrite /sum_squares big_ord1; under eq_bigr do rewrite !mxE.
by have := eigenvalue_change_l2 sG x1 z1; rewrite exprVn.
Qed.

(* The premises are n >= 1, rho > 0 and a measurable map rebuild that returns V diag(l) V^T
   for every symmetric G with distinct eigenvalues and eigenvectors V, and every l
   (rebuilds). *)
Theorem separate_cov_zcdp : rebuilds rebuild -> zcdp adjacent rho separate_cov.
Proof.
move=> _.
have -> : rho = rho / 2%:R + rho / 2%:R by field.
apply: zcdp_postprocessing; apply: zcdp_composition; first exact: gauss_cov_zcdp.
exact: noisy_eigenvalues_zcdp.
Qed.

End Concentrated.

(* ---------------------------------------------------------------------------- *)
(* separate-cov-pure                                                            *)

Section Pure.
Variables (eps : R) (c : calibration).
Hypotheses (eps_gt0 : 0 < eps) (d_gt0 : (0 < d)%N).

Lemma half_epsilon_gt0 : 0 < eps / 2%:R.
Proof. by rewrite divr_gt0 ?ltr0n. Qed.

(* The eigenvalues, with Laplace noise of scale 2/(n eps/2). *)
Definition laplace_eigenvalues (X : data) : stage R matrix row :=
  noise_stage
    (norm_weight (l1_norm R 1 d) (noise_scale_gt0 n_gt0 half_epsilon_gt0 (ltr0n R 2)))
    (@measurable_fun_cst _ _ _ _ setT (eigenvalues (covariance X))).

(* Eigenvalues below 0 become 0, those above 1 become 1. *)
Definition unit_clip (l : 'rV[R]_d) : 'rV[R]_d := \row_i Num.min (Num.max (l 0 i) 0) 1.

Definition rebuild_clipped (Gl : 'M[R]_d * 'rV[R]_d) : 'M[R]_d := rebuild (Gl.1, unit_clip Gl.2).

Notation outputs := [the measurableType _ of ('M[R]_d * 'rV[R]_d)%type].

Lemma measurable_rebuild_clipped : measurable_fun [set: outputs] rebuild_clipped.
Proof.
apply: (measurable_fun_comp rebuild_measurable); apply: measurable_pair.
  exact: measurable_fun_fst.
apply: measurable_fun_matrix => i j.
rewrite (_ : (fun y => _) =
    (fun y : 'M[R]_d * 'rV[R]_d => 0 - Num.max (0 - Num.max (y.2 0 j) 0) (- 1))).
  do 2 (apply: measurable_funB; first exact: measurable_fun_cst; apply: measurable_fun_max;
    last exact: measurable_fun_cst).
  apply: (measurable_fun_comp (@measurable_entry R 1 d 0 j)); exact: measurable_fun_snd.
by apply/funext => y; rewrite mxE !sub0r oppr_max !opprK.
Qed.

Definition separate_cov_pure (X : data) : {measure set matrix -> \bar R} :=
  image_law measurable_rebuild_clipped
    [the measure _ _ of joint (lap_cov n_gt0 half_epsilon_gt0 d_gt0 c X) (laplace_eigenvalues X)].

Lemma separate_cov_pure_total X : separate_cov_pure X setT = 1%E.
Proof. exact: (joint_total _ (release_total (lap_cov n_gt0 half_epsilon_gt0 d_gt0 c) X)). Qed.

Lemma laplace_eigenvalues_dp y : dp adjacent (eps / 2%:R) (fun X => laplace_eigenvalues X y).
Proof.
apply: (@matrix_noise_dp R 1 d (l1_norm R 1 d) _ _
  (noise_scale_gt0 n_gt0 half_epsilon_gt0 (ltr0n R 2)) data adjacent
  (fun X => eigenvalues (covariance X))) => X Y XY.
rewrite (scaleE n_gt0 half_epsilon_gt0) mulrC.
have [G [x [z [sG -> -> x1 z1]]]] := common_part XY.
rewrite /= /l1 big_ord1; under eq_bigr do rewrite !mxE.
exact: (eigenvalue_change_l1 sG x1 z1).
Qed.

(* The premises are n >= 1, d >= 1, eps > 0 and a measurable map rebuild as in the theorem
   on separate-cov. *)
Theorem separate_cov_pure_dp : rebuilds rebuild -> dp adjacent eps (fun X => separate_cov_pure X).
Proof.
move=> _.
have composed : dp adjacent (eps / 2%:R + eps / 2%:R)
    (fun X => two_stage (lap_cov n_gt0 half_epsilon_gt0 d_gt0 c X) (laplace_eigenvalues X)).
  by apply: adaptive_composition; [exact: lap_cov_dp|exact: laplace_eigenvalues_dp].
have two : eps / 2%:R + eps / 2%:R = eps by field.
rewrite two in composed; exact: (postprocessing measurable_rebuild_clipped composed).
Qed.

End Pure.

End SeparateCov.
