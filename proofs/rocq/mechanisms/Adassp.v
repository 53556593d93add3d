(* adassp: ridge regression from noisy sums, with a penalty that adapts to the data.

   The rows lie in the unit ball of R^(p+1); the first p entries are the features a, the last
   is the target y.  Neighbours differ in one row; n and p are public.  With G = sum a a^T and
   v = sum y a,

     G' = G + s2 W,  v' = v + s3 N,  l = max (0, smallest eigenvalue of G + s1 (Z - t)),
     lambda = max (0, s2 sqrt (p ln (2 p^2/beta)) - l),  t = sqrt (2 ln (1/beta)),

   and the release is the least solution of least squares of (G' + lambda I) theta = v'.
   W is symmetric with independent N(0, 1) on and above the diagonal.  G' and v' come from one
   Gaussian row: its entries for v are multiplied by s3/s2 after the noise, and by s2/s3 before.

   "paper" has s1^2 = 3/(2 rho), s2^2 = 3/rho, s3^2 = 3/(2 rho) and spends 2 rho/3; "tight" has
   s2^2 and s3^2 half as large and spends rho.

   Assumed: nothing.  Not said: floating point; how the noise is drawn; that less is
   spent for p = 1.  AnyRows.v has rows of any length. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import GaussianMechanisms Sphere EigenvalueSensitivity SpectralMaps.
From covassay Require Import EigenvalueFunctions MatrixStages EigenvalueChange.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity Algorithm2.

Section Adassp.
Variables (R : realType) (n k : nat) (rho beta : R) (tight : bool).
Hypothesis rho_gt0 : 0 < rho.
Notation p := k.+1.
Notation data := (Sensitivity.dataset R n (p + 1)).
Notation adjacent := (@Algorithm2.adjacent R n (p + 1)).

Definition eigenvalue_scale : R := Num.sqrt (3%:R / (2%:R * rho)).
Definition gram_scale : R := Num.sqrt (3%:R / (if tight then 2%:R * rho else rho)).
Definition vector_scale : R := Num.sqrt (3%:R / (if tight then 4%:R * rho else 2%:R * rho)).

Lemma eigenvalue_scale_gt0 : 0 < eigenvalue_scale.
Proof. by rewrite sqrtr_gt0 divr_gt0 ?mulr_gt0 ?ltr0n. Qed.

Lemma gram_scale_gt0 : 0 < gram_scale.
Proof. by rewrite sqrtr_gt0 divr_gt0 ?ltr0n //; case: tight; rewrite ?mulr_gt0 ?ltr0n. Qed.

Lemma vector_scale_gt0 : 0 < vector_scale.
Proof. by rewrite sqrtr_gt0 divr_gt0 ?ltr0n //; case: tight; rewrite ?mulr_gt0 ?ltr0n. Qed.

(* G and v, the blocks of sum z z^T. *)
Definition gram (X : data) : 'M[R]_p := ulsubmx (scatter X).
Definition product (X : data) : 'M[R]_(p, 1) := ursubmx (scatter X).
Definition smallest_eigenvalue (X : data) : R := eigenvalues (gram X) 0 ord_max.

(* The smallest eigenvalue + s1 Z. *)
Definition noisy_eigenvalue :=
  with_noise (matrices R 1 1) (gaussian_weight 1 1 eigenvalue_scale_gt0)
    (fun X => (smallest_eigenvalue X)%:M).

(* The upper triangle of G, and v times s2/s3, with noise s2. *)
Definition sums (X : data) : 'rV[R]_(entries p + p) :=
  row_mx (corner 1 (gram X)) ((gram_scale / vector_scale) *: (product X)^T).

Definition noisy_sums (X : data) : stage R [the measurableType _ of 'M[R]_1]
    [the measurableType _ of 'rV[R]_(entries p + p)] :=
  noise_stage (gaussian_weight 1 (entries p + p) gram_scale_gt0)
    (@measurable_fun_cst _ _ _ _ setT (sums X)).

Definition noisy_gram (r : 'rV[R]_(entries p + p)) : 'M[R]_p := mirror 1 (lsubmx r).
Definition noisy_product (r : 'rV[R]_(entries p + p)) : 'M[R]_(p, 1) :=
  (vector_scale / gram_scale) *: (rsubmx r)^T.

Definition margin : R := Num.sqrt (2%:R * ln (1 / beta)).
Definition target_eigenvalue : R := gram_scale * Num.sqrt (p%:R * ln (2%:R * p%:R ^+ 2 / beta)).
Definition penalty (noisy : R) : R := Num.max 0 (target_eigenvalue - Num.max 0 noisy).

(* The coefficients, from the noisy eigenvalue and the noisy sums. *)
Definition coefficients (y : 'M[R]_1 * 'rV[R]_(entries p + p)) : 'M[R]_(p, 1) :=
  spectral_map (@pseudo_inverse R)
    (noisy_gram y.2 + penalty (y.1 0 0 - eigenvalue_scale * margin) *: 1%:M)
  *m noisy_product y.2.

Notation outputs :=
  [the measurableType _ of ('M[R]_1 * 'rV[R]_(entries p + p))%type].

Lemma measurable_coefficients : measurable_fun [set: outputs] coefficients.
Proof.
have m1 : measurable_fun [set: outputs] (@fst 'M[R]_1 'rV[R]_(entries p + p)).
  exact: measurable_fun_fst.
have m2 : measurable_fun [set: outputs] (@snd 'M[R]_1 'rV[R]_(entries p + p)).
  exact: measurable_fun_snd.
have entry j : measurable_fun [set: outputs] (fun y : 'M[R]_1 * 'rV[R]_(entries p + p) => y.2 0 j).
  exact: (measurable_fun_comp (@measurable_entry R 1 (entries p + p) 0 j) m2).
apply: measurable_matrixM.
  apply: (measurable_spectral_map (@pseudo_inverse_map R p)); apply: measurable_matrixD.
    apply: (measurable_fun_comp (@measurable_mirror R p 1)).
    apply: measurable_fun_matrix => i j.
    rewrite (_ : (fun y => _) = (fun y : 'M[R]_1 * 'rV[R]_(entries p + p) => y.2 0 (lshift p j))).
      exact: entry.
    by apply/funext => y; rewrite mxE ord1.
  apply: measurable_matrixZ; last exact: measurable_fun_cst.
  apply: measurable_fun_max; first exact: measurable_fun_cst.
  apply: measurable_funB; first exact: measurable_fun_cst.
  apply: measurable_fun_max; first exact: measurable_fun_cst.
  apply: measurable_funB; last exact: measurable_fun_cst.
  exact: (measurable_fun_comp (@measurable_entry R 1 1 0 0) m1).
apply: measurable_matrixZ; first exact: measurable_fun_cst.
apply: measurable_fun_matrix => i j.
rewrite (_ : (fun y => _) = (fun y : 'M[R]_1 * 'rV[R]_(entries p + p) => y.2 0 (rshift (entries p) i))).
  exact: entry.
by apply/funext => y; rewrite !mxE ord1.
Qed.

Definition adassp (X : data) : {measure set [the measurableType _ of 'M[R]_(p, 1)] -> \bar R} :=
  image_law measurable_coefficients
    [the measure _ _ of joint (noisy_eigenvalue X) (noisy_sums X)].

Lemma adassp_total X : adassp X setT = 1%E.
Proof. exact: (joint_total _ (release_total noisy_eigenvalue X)). Qed.

(* ---------------------------------------------------------------------------- *)
(* What one row changes                                                         *)

Lemma scatter_others (X : data) i : scatter X = (\sum_(j | j != i) X j *m (X j)^T) + X i *m (X i)^T.
Proof. by rewrite /scatter (bigD1 i) //= addrC. Qed.

Lemma scatter_gap (X Y : data) i : (forall j, j != i -> X j = Y j) ->
  scatter X - scatter Y = RankTwo.gap (X i) (Y i).
Proof.
move=> XY; rewrite !(scatter_others _ i) (eq_bigr (fun j => Y j *m (Y j)^T)) => [|j ji].
  by rewrite opprD addrACA subrr add0r.
by rewrite XY.
Qed.

Lemma gram_gap X Y : gram X - gram Y = ulsubmx (scatter X - scatter Y).
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Lemma product_gap X Y : product X - product Y = ursubmx (scatter X - scatter Y).
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Lemma ulsubmxD (A B : 'M[R]_(p + 1)) : ulsubmx (A + B) = ulsubmx A + ulsubmx B :> 'M[R]_p.
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Lemma ulsubmx_outer (z : 'cV[R]_(p + 1)) : ulsubmx (z *m z^T) = usubmx z *m (usubmx z)^T.
Proof. by apply/matrixP => i j; rewrite !mxE; apply: eq_bigr => l _; rewrite !mxE. Qed.

Lemma gram_sym X : (gram X)^T = gram X.
Proof.
rewrite /gram trmx_ulsub; congr ulsubmx; rewrite /scatter raddf_sum /=.
by apply: eq_bigr => i _; exact: Euclidean.symmetric_outer.
Qed.

Lemma dot_usubmx (z : 'cV[R]_(p + 1)) : Euclidean.norm z <= 1 ->
  Euclidean.dot (usubmx z) (usubmx z) <= 1.
Proof.
rewrite Euclidean.norm_le1; apply: le_trans; rewrite [X in _ <= X]/Euclidean.dot big_split_ord /=.
rewrite ler_paddr ?sumr_ge0 // => [i _|]; first by rewrite -expr2 sqr_ge0.
by rewrite le_eqVlt; apply/orP/or_introl/eqP; apply: eq_bigr => i _; rewrite mxE.
Qed.

Lemma smallest_eigenvalue_change X Y : adjacent X Y ->
  `|smallest_eigenvalue X - smallest_eigenvalue Y| <= 1.
Proof.
move=> [bX bY [i XY]]; pose G0 := ulsubmx (\sum_(j | j != i) X j *m (X j)^T) : 'M[R]_p.
have G0_sym : G0^T = G0.
  rewrite /G0 trmx_ulsub; congr ulsubmx; rewrite raddf_sum /=.
  by apply: eq_bigr => j _; exact: Euclidean.symmetric_outer.
have XE : gram X = raised G0 (usubmx (X i)).
  by rewrite /gram (scatter_others X i) ulsubmxD ulsubmx_outer.
have YE : gram Y = raised G0 (usubmx (Y i)).
  rewrite /gram (scatter_others Y i) ulsubmxD ulsubmx_outer /raised; congr (ulsubmx _ + _).
  by apply: eq_bigr => j ji; rewrite XY.
rewrite /smallest_eigenvalue XE YE.
by apply: eigenvalue_change_each => //; apply: dot_usubmx; [exact: bX|exact: bY].
Qed.

(* |A|^2 + 2 |b|^2 <= |z z^T - z' z'^T|^2 <= 2. *)
Lemma blocks_change X Y : adjacent X Y ->
  MatrixNorms.frob_dot (gram X - gram Y) (gram X - gram Y)
  + 2%:R * sum_squares (product X - product Y) <= 2%:R.
Proof.
move=> [bX bY [i XY]]; set D := scatter X - scatter Y.
have D2 : MatrixNorms.frob_dot D D <= 2%:R.
  rewrite /D (scatter_gap XY) -MatrixNorms.sqr_frob_norm -[X in _ <= X]sqr_sqrtr ?ler0n //.
  rewrite ler_expn2r ?nnegrE ?sqrtr_ge0 ?MatrixNorms.frob_norm_ge0 //.
  exact: Sensitivity.frob_gap_le.
have D_sym a c : D a c = D c a.
  have sS (Z : data) : (scatter Z)^T = scatter Z.
    rewrite /scatter raddf_sum /=; apply: eq_bigr => j _; exact: Euclidean.symmetric_outer.
  have sD : D^T = D by rewrite /D linearB /= !sS.
  by rewrite -{1}sD mxE.
rewrite gram_gap product_gap -/D; clearbody D; apply: le_trans D2.
rewrite !MatrixNorms.frob_dotE [X in _ <= X]big_split_ord /= big_ord1.
have -> : \sum_(j < p) \sum_(a < p + 1) D a (lshift 1 j) * D a (lshift 1 j)
    = \sum_(j < p) \sum_(a < p) (ulsubmx D) a j * (ulsubmx D) a j
      + sum_squares (ursubmx D).
  rewrite /sum_squares -big_split /=; apply: eq_bigr => j _.
  rewrite big_split_ord /= !big_ord1; congr (_ + _).
    by apply: eq_bigr => a _; rewrite !mxE.
  by rewrite !mxE D_sym -expr2.
rewrite -addrA ler_add2l mulr_natl mulr2n ler_add2l.
rewrite big_split_ord /= /sum_squares ler_paddr ?sumr_ge0 // => [a _|]; first by rewrite -expr2 sqr_ge0.
by rewrite le_eqVlt; apply/orP/or_introl/eqP; apply: eq_bigr => a _; rewrite big_ord1 !mxE expr2.
Qed.

Lemma sum_squares_row m1 m2 (A : 'rV[R]_m1) (B : 'rV[R]_m2) :
  sum_squares (row_mx A B) = sum_squares A + sum_squares B.
Proof.
rewrite /sum_squares !big_ord1 big_split_ord /=.
by congr (_ + _); apply: eq_bigr => j _; rewrite ?row_mxEl ?row_mxEr.
Qed.

Lemma scale_ratio : (gram_scale / vector_scale) ^+ 2 = 2%:R.
Proof.
rewrite expr_div_n !sqr_sqrtr; try by rewrite divr_ge0 ?ler0n // ?mulr_ge0 ?ler0n // ltW.
- by case: tight; field; rewrite gt_eqF.
- by case: tight; rewrite divr_ge0 ?mulr_ge0 ?ler0n // ltW.
- by case: tight; rewrite divr_ge0 ?mulr_ge0 ?ler0n // ltW.
Qed.

Lemma sums_change X Y : adjacent X Y -> sum_squares (sums X - sums Y) <= Num.sqrt 2%:R ^+ 2.
Proof.
move=> XY; rewrite sqr_sqrtr ?ler0n //; apply: le_trans (blocks_change XY).
rewrite /sums opp_row_mx add_row_mx sum_squares_row -cornerB -scalerBr sum_squares_scale scale_ratio.
apply: ler_add; last first.
  rewrite ler_wpmul2l ?ler0n // /sum_squares exchange_big /=.
  by apply: ler_sum => a _; apply: ler_sum => c _; rewrite !mxE.
apply: sum_squares_corner; last by rewrite invr1 expr1n ler1n.
by rewrite linearB /= !gram_sym.
Qed.

(* What both parts spend together. *)
Definition adassp_loss : R := if tight then rho else 2%:R * rho / 3%:R.

(* The premise is rho > 0. *)
Theorem adassp_zcdp : zcdp adjacent adassp_loss adassp.
Proof.
have -> : adassp_loss = 1 ^+ 2 / (2%:R * eigenvalue_scale ^+ 2)
    + Num.sqrt 2%:R ^+ 2 / (2%:R * gram_scale ^+ 2).
  rewrite /adassp_loss /eigenvalue_scale /gram_scale !sqr_sqrtr ?ler0n //.
  - by case: tight; field; rewrite gt_eqF.
  - by case: tight; rewrite divr_ge0 ?mulr_ge0 ?ler0n // ltW.
  - by rewrite divr_ge0 ?mulr_ge0 ?ler0n // ltW.
apply: zcdp_postprocessing; apply: zcdp_composition.
  apply: gaussian_noise_zcdp => X Y XY; rewrite expr1n /sum_squares !big_ord1 !mxE eqxx !mulr1n.
  rewrite -[X in _ <= X](expr1n _ 2) -[X in X <= _]real_normK ?num_real //.
  by rewrite ler_expn2r ?nnegrE ?normr_ge0 ?ler01 // smallest_eigenvalue_change.
by move=> y X Y XY; apply: gaussian_concentrated; exact: sums_change.
Qed.

End Adassp.
