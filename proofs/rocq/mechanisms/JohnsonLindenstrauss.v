(* johnson-lindenstrauss and johnson-lindenstrauss-image, end to end.

   A symmetric matrix M is listed as svec M, the entries on and above the diagonal, those off it
   times sqrt 2, so that |svec M| is the Frobenius norm.  T is any public matrix with so many
   columns.  The rows lie in the unit ball, neighbours differ in one row, n, d, T, alpha and eps
   are public.

   johnson-lindenstrauss, for T <> 0:
     1.  y_i = T svec (x_i x_i^T), shortened to length c = 1 + alpha/2 if it is longer;
     2.  the mean of the y_i plus S/(n eps) V, where V has density proportional to exp(-|V|) and
         S = min (2c, sqrt 2 |T|), |T| the operator norm;
     3.  the fit below.
   johnson-lindenstrauss-image, for T of full row rank:
     1.  T svec of the covariance plus 2/(n eps) V, where V has density proportional to
         exp(-|V|_K), |v|_K = inf { nuclear norm of M : T svec M = v, M symmetric };
     2.  the fit below.

   The fit looks for the point M of { M psd, tr M <= 1 } with T svec M nearest to y: 300 accelerated
   projected gradient steps, or the projection itself if T is square.  It holds for every map p to
   nearest points of this set.  The release is the symmetric part of the fit.

   Assumed: nothing.  Not said: floating point; how the noise is drawn (by a Markov chain in
   johnson-lindenstrauss-image, which is approximate: the theorem is about the exact law); how T
   is chosen; how good the fit is.  Unconditional.v has rows of any length, and such a map p. *)
From covassay Require Import MechanismTheory TwoStages Symmetric SymmetricMechanisms Gaussian.
From covassay Require Import GaussianMechanisms Sphere SpectralMaps Coinpress.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity Algorithm2 Projections.
From covassay Require BallProjection.
From mathcomp Require Import mxalgebra.

(* ---------------------------------------------------------------------------- *)
(* Post-processing as a mechanism                                               *)

Section Publish.
Context (R : realType) (X : Type) d d' (Y : measurableType d) (Z : measurableType d').
Variables (M : mechanism R X Y) (h : Y -> Z) (mh : measurable_fun setT h).

Let published x : {measure set Z -> \bar R} := image_law mh (M x).

Let published_total x : published x setT = 1%E.
Proof. exact: (release_total M x). Qed.

(* Run M and publish h of its answer. *)
Definition publish : mechanism R X Z := Mechanism published_total.

Lemma publish_dp (nb : X -> X -> Prop) (eps : R) :
  dp nb eps (fun x => M x) -> dp nb eps (fun x => publish x).
Proof. by move=> H x x' xx' S mS; exact: (postprocessing mh H). Qed.

End Publish.

(* ---------------------------------------------------------------------------- *)
(* Measurable operations on matrices                                            *)

Section MeasurableMatrices.
Context (R : realType) e (Y : measurableType e).

Lemma measurable_mx_entry m n (f : Y -> 'M[R]_(m, n)) i j :
  measurable_fun setT f -> measurable_fun setT (fun y => f y i j).
Proof. by move=> mf; exact: (measurable_fun_comp (@measurable_entry R m n i j) mf). Qed.

Lemma measurable_mxZ m n (a : R) (f : Y -> 'M[R]_(m, n)) : measurable_fun setT f ->
  measurable_fun setT (fun y => a *: f y).
Proof.
move=> mf; apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
by apply: measurable_funrM; exact: measurable_mx_entry.
Qed.

Lemma measurable_mxB m n (f g : Y -> 'M[R]_(m, n)) : measurable_fun setT f ->
  measurable_fun setT g -> measurable_fun setT (fun y => f y - g y).
Proof.
move=> mf mg; under eq_fun do rewrite -scaleN1r.
by apply: measurable_matrixD => //; exact: measurable_mxZ.
Qed.

End MeasurableMatrices.

(* ---------------------------------------------------------------------------- *)
(* svec                                                                         *)

Section Svec.
Variables (R : realType) (d : nat).
Implicit Types A B : 'M[R]_d.

Definition half_root : R := (Num.sqrt 2%:R)^-1.

Lemma half_root_neq0 : half_root != 0.
Proof. by rewrite invr_eq0 gt_eqF // sqrtr_gt0 ltr0n. Qed.

(* The row of the entries on and above the diagonal, those off it times sqrt 2; and back. *)
Definition svec A : 'cV[R]_(entries d) := (corner half_root A)^T.
Definition unsvec (v : 'cV[R]_(entries d)) : 'M[R]_d := mirror half_root v^T.

Lemma svecB A B : svec (A - B) = svec A - svec B.
Proof. by rewrite /svec cornerB linearB. Qed.

Lemma svecZ a A : svec (a *: A) = a *: svec A.
Proof. by rewrite /svec cornerZ linearZ. Qed.

Lemma svecK A : A^T = A -> unsvec (svec A) = A.
Proof. by move=> sA; rewrite /unsvec trmxK cornerK // half_root_neq0. Qed.

Lemma norm_svec A : A^T = A -> Euclidean.norm (svec A) <= MatrixNorms.frob_norm A.
Proof.
move=> sA; rewrite ler_wsqrtr //.
have -> : Euclidean.dot (svec A) (svec A) = sum_squares (corner half_root A).
  rewrite /sum_squares big_ord1 /Euclidean.dot; apply: eq_bigr => l _.
  by rewrite /svec mxE expr2.
by apply: sum_squares_corner => //; rewrite /half_root invrK sqr_sqrtr ?ler0n.
Qed.

Context e (Y : measurableType e).

Lemma measurable_svec (f : Y -> 'M[R]_d) : measurable_fun setT f ->
  measurable_fun setT (fun y => svec (f y)).
Proof.
move=> mf; apply: measurable_matrixT; apply: measurable_fun_matrix => i j.
by under eq_fun do rewrite mxE; apply: measurable_funrM; exact: measurable_mx_entry.
Qed.

Lemma measurable_unsvec (f : Y -> 'cV[R]_(entries d)) : measurable_fun setT f ->
  measurable_fun setT (fun y => unsvec (f y)).
Proof.
move=> mf; apply: (measurable_fun_comp (@measurable_mirror R d half_root)).
exact: measurable_matrixT.
Qed.

End Svec.

(* ---------------------------------------------------------------------------- *)
(* The fit                                                                      *)

Section Fit.
Variables (R : realType) (l d : nat) (T : 'M[R]_(l, entries d)) (p : 'M[R]_d -> 'M[R]_d).
Hypothesis p_nearest : forall A, Projections.projection (@psd_trace_ball R d) A (p A).
Implicit Types y : 'M[R]_(l, 1).

Definition iterations : nat := 300.

(* 1/|T|^2 *)
Definition step_size : R := (MatrixNorms.operator_norm T ^+ 2)^-1.

Definition next_momentum (t : R) : R := (1 + Num.sqrt (1 + 4%:R * t ^+ 2)) / 2%:R.

(* So many steps from (current, ahead) and a momentum. *)
Fixpoint accelerated (k : nat) (momentum : R) (current ahead : 'M[R]_d) y : 'M[R]_d :=
  if k is k'.+1 then
    let gradient := unsvec (T^T *m (T *m svec ahead - y)) in
    let following := p (ahead - step_size *: gradient) in
    let after := next_momentum momentum in
    accelerated k' after following
      (following + ((momentum - 1) / after) *: (following - current)) y
  else current.

(* If T is square, the code takes the projection itself. *)
Definition fit y : 'M[R]_d :=
  match @eqP nat_eqType l (entries d) with
  | ReflectT e => p (unsvec (castmx (e, erefl 1%N) y))
  | ReflectF _ => accelerated iterations 1 0 0 y
  end.

(* The symmetric part of the fit. *)
Definition fitted y : 'M[R]_d := 2%:R^-1 *: (fit y + (fit y)^T).

Let measurable_p : measurable_fun setT p := nearest_measurable p_nearest.

Lemma measurable_accelerated e (Y : measurableType e) k momentum (f g : Y -> 'M[R]_d)
    (y : Y -> 'M[R]_(l, 1)) :
  measurable_fun setT f -> measurable_fun setT g -> measurable_fun setT y ->
  measurable_fun setT (fun z => accelerated k momentum (f z) (g z) (y z)).
Proof.
elim: k momentum f g => [|k IH] momentum f g mf mg my //=.
have mp : measurable_fun setT (fun z => p (g z - step_size *: unsvec (T^T *m (T *m svec (g z) - y z)))).
  apply: (measurable_fun_comp measurable_p); apply: measurable_mxB => //.
  apply: measurable_mxZ; apply: measurable_unsvec; apply: measurable_matrixM; first exact: measurable_fun_cst.
  apply: measurable_mxB => //; apply: measurable_matrixM; first exact: measurable_fun_cst.
  exact: measurable_svec.
by apply: IH => //; apply: measurable_matrixD => //; apply: measurable_mxZ; exact: measurable_mxB.
Qed.

Lemma measurable_fitted : measurable_fun setT fitted.
Proof.
have mf : measurable_fun setT fit.
  rewrite /fit; case: eqP => [e|_].
    apply: (measurable_fun_comp measurable_p); apply: measurable_unsvec.
    apply: measurable_fun_matrix => i j; under eq_fun do rewrite castmxE.
    exact: measurable_entry.
  apply: (measurable_accelerated iterations 1 (f := fun=> 0) (g := fun=> 0)).
  - exact: measurable_fun_cst.
  - exact: measurable_fun_cst.
  - exact: measurable_fun_id.
by apply: measurable_mxZ; apply: measurable_matrixD => //; exact: measurable_matrixT.
Qed.

End Fit.

(* ---------------------------------------------------------------------------- *)
(* Lengths                                                                      *)

Section Lengths.
Variables (R : realType) (m k : nat).

(* |A v| <= |A| |v| *)
Lemma operator_normP (A : 'M[R]_(m, k)) (v : 'cV[R]_k) :
  Euclidean.norm (A *m v) <= MatrixNorms.operator_norm A * Euclidean.norm v.
Proof.
have [->|v0] := eqVneq v 0; first by rewrite mulmx0 !Euclidean.norm0 mulr0.
have n0 : 0 < Euclidean.norm v by rewrite Euclidean.norm_gt0.
rewrite -ler_pdivr_mulr // mulrC -[X in X * _]gtr0_norm ?invr_gt0 //.
rewrite -Euclidean.normZ scalemxAr; apply: sup_ub; last first.
  exists ((Euclidean.norm v)^-1 *: v) => //=.
  by rewrite Euclidean.normZ gtr0_norm ?invr_gt0 // mulVf // gt_eqF.
exists (\sum_i \sum_j `|A i j|) => _ [u /= u1 <-].
apply: (@le_trans _ _ (l1 (A *m u))).
  rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?Euclidean.norm_ge0 ?l1_ge0 // Euclidean.sqr_norm.
  apply: le_trans (LipschitzMaps.frob_dot_le_l1 _); rewrite MatrixNorms.frob_dotE big_ord1.
  exact: lexx.
rewrite /l1; apply: ler_sum => i _; rewrite big_ord1 mxE; apply: le_trans (ler_norm_sum _ _ _) _.
by apply: ler_sum => j _; rewrite normrM ler_pimulr // entry_le1.
Qed.

Lemma operator_norm_gt0 (A : 'M[R]_(m, k)) : A != 0 -> 0 < MatrixNorms.operator_norm A.
Proof.
move=> A0; have [j Aj] : exists j, col j A != 0.
  apply/existsP; rewrite -negb_forall; apply: contra A0 => /forallP Aj.
  by apply/eqP/matrixP => i j; have /eqP/matrixP/(_ i 0) := Aj j; rewrite !mxE.
have := operator_normP A (delta_mx j 0); rewrite -colE Euclidean.norm_delta mulr1.
by apply: lt_le_trans; rewrite Euclidean.norm_gt0.
Qed.

(* Shortening brings no two points further apart: it is the projection on a ball. *)
Lemma press_projection (tau : R) (v : 'M[R]_(m, 1)) : 0 < tau ->
  Projections.projection (fun u => Euclidean.norm u <= tau) v (press tau v).
Proof.
move=> t0; split=> [|u u1]; first exact: norm_press.
have dotE (a b : 'M[R]_(m, 1)) : MatrixNorms.frob_dot a b = Euclidean.dot a b.
  by rewrite MatrixNorms.frob_dotE big_ord1.
rewrite dotE /press; have [le|lt] := leP (Euclidean.norm v) tau.
  by rewrite divff ?gt_eqF // scale1r subrr Euclidean.dot0l.
have v0 := lt_trans t0 lt; set t := tau / _.
have -> : v - t *: v = (1 - t) *: v by rewrite scalerBl scale1r.
rewrite Euclidean.dotZl mulr_ge0_le0 //.
  by rewrite subr_ge0 ler_pdivr_mulr // mul1r ltW.
rewrite Euclidean.dotBr Euclidean.dotZr -Euclidean.sqr_norm subr_le0.
have -> : t * Euclidean.norm v ^+ 2 = Euclidean.norm v * tau by rewrite /t expr2 mulrA divfK ?gt_eqF // mulrC.
by apply: le_trans (Euclidean.dot_le _ _) _; rewrite ler_pmul2l.
Qed.

Lemma press_nonexpansive (tau : R) (u v : 'M[R]_(m, 1)) : 0 < tau ->
  Euclidean.norm (press tau u - press tau v) <= Euclidean.norm (u - v).
Proof.
move=> t0; rewrite Euclidean.norm_le.
have := Projections.projection_nonexpansive (press_projection u t0) (press_projection v t0).
by rewrite !MatrixNorms.frob_dotE !big_ord1.
Qed.

End Lengths.

(* ---------------------------------------------------------------------------- *)
(* johnson-lindenstrauss                                                        *)

Section Mechanisms.
Variables (R : realType) (n d l : nat) (eps alpha : R) (T : 'M[R]_(l, entries d)).
Variable p : 'M[R]_d -> 'M[R]_d.
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < eps) (alpha_gt0 : 0 < alpha).
Hypothesis p_nearest : forall A, Projections.projection (@psd_trace_ball R d) A (p A).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation covariance := (@Sensitivity.covariance R n d).
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

Section EuclideanNoise.
Hypothesis T_neq0 : T != 0.

(* c *)
Definition image_radius : R := 1 + alpha / 2%:R.

Lemma image_radius_gt0 : 0 < image_radius.
Proof. by rewrite addr_gt0 // divr_gt0 // ltr0n. Qed.

(* S *)
Definition image_sensitivity : R :=
  Num.min (2%:R * image_radius) (Num.sqrt 2%:R * MatrixNorms.operator_norm T).

Lemma image_sensitivity_gt0 : 0 < image_sensitivity.
Proof.
by rewrite lt_minr !mulr_gt0 ?image_radius_gt0 ?sqrtr_gt0 ?ltr0n ?operator_norm_gt0.
Qed.

(* The image of a row, and the mean of the shortened images. *)
Definition row_image (x : 'cV[R]_d) : 'M[R]_(l, 1) := T *m svec (x *m x^T).
Definition mean_image (X : data) : 'M[R]_(l, 1) :=
  n%:R^-1 *: \sum_i press image_radius (row_image (X i)).

Definition noisy_image :=
  with_noise (matrices R l 1)
    (norm_weight (length R l) (noise_scale_gt0 n_gt0 eps_gt0 image_sensitivity_gt0)) mean_image.

Definition johnson_lindenstrauss := publish noisy_image (measurable_fitted T p_nearest).

Lemma mean_image_change X Y : adjacent X Y ->
  Euclidean.norm (mean_image X - mean_image Y) <= n%:R^-1 * image_sensitivity.
Proof.
move=> [bX bY [i XY]].
have -> : mean_image X - mean_image Y = n%:R^-1 *:
    (press image_radius (row_image (X i)) - press image_radius (row_image (Y i))).
  rewrite /mean_image -scalerBr (bigD1 i) //= [X in _ *: (_ - X)](bigD1 i) //=.
  have -> : \sum_(j | j != i) press image_radius (row_image (X j))
      = \sum_(j | j != i) press image_radius (row_image (Y j)).
    by apply: eq_bigr => j ji; rewrite XY.
  by rewrite opprD addrACA subrr addr0.
rewrite Euclidean.normZ gtr0_norm ?invr_gt0 // ler_pmul2l ?invr_gt0 // le_minr; apply/andP; split.
  apply: le_trans (Euclidean.norm_triangle _ _) _; rewrite Euclidean.normN mulr_natl mulr2n.
  by rewrite ler_add // norm_press // image_radius_gt0.
apply: le_trans (press_nonexpansive _ _ image_radius_gt0) _.
rewrite /row_image -mulmxBr -svecB -/(RankTwo.gap (X i) (Y i)).
apply: le_trans (operator_normP _ _) _; rewrite mulrC ler_pmul2r ?operator_norm_gt0 //.
apply: le_trans (norm_svec (RankTwo.symmetric_gap _ _)) _.
exact: Sensitivity.frob_gap_le.
Qed.

(* The premises are n >= 1, eps > 0, alpha > 0, a matrix T that is not 0, and a map p to
   nearest points of the positive semidefinite matrices of trace at most 1. *)
Theorem johnson_lindenstrauss_dp : dp adjacent eps (fun X => johnson_lindenstrauss X).
Proof.
apply: publish_dp; apply: matrix_noise_dp => X Y XY.
by rewrite (scaleE n_gt0 eps_gt0) /= mean_image_change.
Qed.

End EuclideanNoise.

End Mechanisms.

(* ---------------------------------------------------------------------------- *)
(* The norm of an image: the least norm of what is mapped to it                 *)

Section ImageNorm.
Variables (R : realType) (l k : nat) (N : norm R 1 k) (T : 'M[R]_(l, k)).
Hypothesis T_free : row_free T.
Implicit Types (v : 'M[R]_(l, 1)) (z : 'rV[R]_k).

Definition image_norm_at v : R := inf [set N z | z in [set z | T *m z^T = v]].

Let preimage v : exists z, T *m z^T = v.
Proof.
have /row_freeP[B TB] := T_free.
by exists (B *m v)^T; rewrite trmxK mulmxA TB mul1mx.
Qed.

Let nonempty v : [set N z | z in [set z | T *m z^T = v]] !=set0.
Proof. by have [z zv] := preimage v; exists (N z), z. Qed.

Lemma image_norm_le z : image_norm_at (T *m z^T) <= N z.
Proof.
apply: inf_lb; last by exists z.
by exists 0 => _ [y _ <-]; exact: norm_ge0.
Qed.

Lemma image_norm_ge v (c : R) : (forall z, T *m z^T = v -> c <= N z) -> c <= image_norm_at v.
Proof. by move=> cN; apply: lb_le_inf => // _ [z zv <-]; exact: cN. Qed.

Lemma image_norm_triangle v w : image_norm_at (v + w) <= image_norm_at v + image_norm_at w.
Proof.
rewrite -ler_subl_addr; apply: image_norm_ge => y yv.
rewrite ler_subl_addr -ler_subl_addl; apply: image_norm_ge => z zw.
rewrite ler_subl_addl -yv -zw -mulmxDr -linearD /=.
exact: le_trans (image_norm_le _) (norm_triangle _ _ _).
Qed.

Lemma image_norm_scale a v : image_norm_at (a *: v) = `|a| * image_norm_at v.
Proof.
have le b w : image_norm_at (b *: w) <= `|b| * image_norm_at w.
  have [->|b0] := eqVneq b 0.
    rewrite normr0 mul0r scale0r; have := image_norm_le 0.
    by rewrite trmx0 mulmx0 norm0.
  rewrite -ler_pdivr_mull ?normr_gt0 //; apply: image_norm_ge => z zw.
  rewrite ler_pdivr_mull ?normr_gt0 // -norm_scale -zw scalemxAr -linearZ /=.
  exact: image_norm_le.
apply/eqP; rewrite eq_le le /=; have [->|a0] := eqVneq a 0.
  by rewrite normr0 mul0r; apply: image_norm_ge => z _; exact: norm_ge0.
have := le a^-1 (a *: v); rewrite scalerA mulVf // scale1r normrV ?unitfE //.
by rewrite ler_pdivl_mull ?normr_gt0.
Qed.

Lemma image_norm_definite v : image_norm_at v = 0 -> v = 0.
Proof.
move=> v0; have [c c0 hc] := norm_lower N; pose K := l1 T; apply: l1_definite.
apply/eqP; rewrite eq_le l1_ge0 andbT.
have le z : T *m z^T = v -> c * l1 v <= K * N z.
  move=> zv; apply: (@le_trans _ _ (c * (K * l1 z))); last first.
    by rewrite mulrCA ler_wpmul2l ?l1_ge0.
  rewrite ler_pmul2l // -zv /K /l1 mulr_suml; apply: ler_sum => i _.
  rewrite big_ord1 mxE; apply: le_trans (ler_norm_sum _ _ _) _.
  rewrite mulr_suml; apply: ler_sum => j _; rewrite normrM mxE.
  by apply: ler_wpmul2l => //; rewrite big_ord1 (bigD1 j) //= ler_addl sumr_ge0.
have [K0|K0] := eqVneq K 0.
  by have [z /le] := preimage v; rewrite K0 mul0r pmulr_rle0.
have Kp : 0 < K by rewrite lt_def K0 l1_ge0.
have : K^-1 * (c * l1 v) <= image_norm_at v.
  by apply: image_norm_ge => z /le; rewrite ler_pdivr_mull.
by rewrite v0 ler_pdivr_mull // mulr0 pmulr_rle0.
Qed.

Definition image_norm : norm R l 1 :=
  Norm image_norm_triangle image_norm_scale image_norm_definite.

End ImageNorm.

(* ---------------------------------------------------------------------------- *)
(* johnson-lindenstrauss-image                                                  *)

Section Image.
Variables (R : realType) (n d l : nat) (eps : R) (T : 'M[R]_(l, entries d)).
Variable p : 'M[R]_d -> 'M[R]_d.
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < eps) (T_free : row_free T).
Hypothesis p_nearest : forall A, Projections.projection (@psd_trace_ball R d) A (p A).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation covariance := (@Sensitivity.covariance R n d).
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

(* The nuclear norm of the symmetric matrix M, as a norm of svec M. *)
Let nuclear_at (z : 'rV[R]_(entries d)) : R := MatrixNorms.nuclear_norm (mirror (half_root R) z).

Let nuclear_triangle y z : nuclear_at (y + z) <= nuclear_at y + nuclear_at z.
Proof. by rewrite /nuclear_at mirrorD MatrixNorms.nuclear_norm_triangle. Qed.

Let nuclear_scale a z : nuclear_at (a *: z) = `|a| * nuclear_at z.
Proof. by rewrite /nuclear_at mirrorZ Algorithm2.nuclear_scale. Qed.

Let nuclear_definite z : nuclear_at z = 0 -> z = 0.
Proof. by move=> /Algorithm2.nuclear_definite; apply: mirror_inj0; exact: half_root_neq0. Qed.

Definition nuclear_svec : norm R 1 (entries d) :=
  Norm nuclear_triangle nuclear_scale nuclear_definite.

Definition image_noise :=
  with_noise (matrices R l 1)
    (norm_weight (image_norm nuclear_svec T_free) (noise_scale_gt0 n_gt0 eps_gt0 (ltr0n R 2)))
    (fun X : data => T *m svec (covariance X)).

Definition johnson_lindenstrauss_image := publish image_noise (measurable_fitted T p_nearest).

(* The premises are n >= 1, eps > 0, a matrix T with independent rows, and a map p to
   nearest points of the positive semidefinite matrices of trace at most 1. *)
Theorem johnson_lindenstrauss_image_dp : dp adjacent eps (fun X => johnson_lindenstrauss_image X).
Proof.
apply: publish_dp; apply: matrix_noise_dp => X Y [bX bY [i XY]].
rewrite (scaleE n_gt0 eps_gt0) -mulmxBr -svecB (Sensitivity.covariance_gap XY) svecZ -scalemxAr.
rewrite norm_scale gtr0_norm ?invr_gt0 // ler_pmul2l ?invr_gt0 //.
apply: le_trans (image_norm_le _ _ _) _.
rewrite /= /nuclear_at cornerK ?half_root_neq0 //; last exact: RankTwo.symmetric_gap.
by rewrite RankTwo.nuclear_norm_gap Sensitivity.spread_le2.
Qed.

End Image.
