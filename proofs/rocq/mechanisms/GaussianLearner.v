(* pme and gaussian-learner: the mean of a Gaussian in preconditioned coordinates, and the mean
   together with the covariance.

   The rows are any vectors in a public order, neighbours differ in one of them, all else is public.

   - The differences are (x_(2i) - x_(2i-1))/sqrt 2 for i = 1, ..., floor (n/2); for n = 1 there is
     one zero row.
   - pme takes A and A^-1 from ppc for the differences with rho/2 and beta/2, then m from kv-mean
     for the rows A x_i with rho/2, beta/2, sigma = sqrt 1000 and sqrt 1000 times the bound on the
     mean.  It releases A^-1 m.
   - gaussian-learner releases the mean of pme with rho/2 and beta/2 above the covariance of pgce
     for the differences with rho/2 and beta/2.

   What is spent is 3/4 rho by pme and 5/8 rho by gaussian-learner, or rho by both if tight.

   Assumed: nothing.  Not said: floating point, so neither that a difference beyond the largest
   float counts as zero; how the noise is drawn; that less is spent for d = 1. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp.
From covassay Require Import GaussianMechanisms SpectralMaps MatrixStages Stages KvMean Preconditioning.
From covassay Require Euclidean Sensitivity Algorithm2.

(* ---------------------------------------------------------------------------- *)
(* Stages after one another, under zCDP                                         *)

Lemma stages_zcdp (R : realType) (X : Type) (nb : X -> X -> Prop) d1 d2 d3
    (Y1 : measurableType d1) (Y2 : measurableType d2) (Y3 : measurableType d3) (r1 r2 : R)
    (K : X -> stage R Y1 Y2) (L : X -> stage R [the measurableType _ of (Y1 * Y2)%type] Y3) y :
  zcdp nb r1 (fun x => K x y) -> (forall z, zcdp nb r2 (fun x => L x (y, z))) ->
  zcdp nb (r1 + r2) (fun x => Stages.chain (K x) (L x) y).
Proof. by move=> HK HL; exact: (zcdp_run (M1 := fun x => K x y) (M2 := fun x => second (L x) y) HK HL). Qed.

Lemma map_stage_zcdp (R : realType) (X : Type) (nb : X -> X -> Prop) d1 d2 d3
    (Y1 : measurableType d1) (Y2 : measurableType d2) (Y3 : measurableType d3) (r : R)
    (K : X -> stage R Y1 Y2) (h : Y1 * Y2 -> Y3) (mh : measurable_fun setT h) y :
  zcdp nb r (fun x => K x y) -> zcdp nb r (fun x => map_stage (K x) mh y).
Proof. by move=> HK x x' xx'; apply: concentrated_image; exact: HK. Qed.

(* ---------------------------------------------------------------------------- *)
(* The differences of pairs of rows                                             *)

Section Differences.
Variables (R : realType) (n d : nat).
Implicit Types X Y : Sensitivity.dataset R n d.

Definition pairs : nat := maxn 1 n./2.

Lemma pairs_gt0 : (0 < pairs)%N.
Proof. by rewrite leq_max. Qed.

(* Row k of the data, counted from 0. *)
Definition row_at X (k : nat) : 'cV[R]_d := if insub k is Some i then X i else 0.

Definition differences X : Sensitivity.dataset R pairs d :=
  fun i => if (i.*2.+1 < n)%N then (Num.sqrt 2%:R)^-1 *: (row_at X i.*2.+1 - row_at X i.*2) else 0.

Lemma differences_neighbours X Y : Sensitivity.neighbours X Y ->
  Sensitivity.neighbours (differences X) (differences Y).
Proof.
move=> [i XY]; have same k : k != i :> nat -> row_at X k = row_at Y k.
  rewrite /row_at; case: insubP => // j _ <- ji; apply: XY.
  by apply: contra ji => /eqP ->.
pose l := if insub (i./2) is Some l then l else Ordinal pairs_gt0 : 'I_pairs.
exists l => j jl; rewrite /differences; case: ifP => // jn.
have ji : j != i./2 :> nat.
  apply: contra jl => /eqP ji; apply/eqP; rewrite /l; apply/val_inj.
  case: insubP => [l' _ e|]; first by rewrite /= ji -e.
  by rewrite -ji ltn_ord.
rewrite !same //; apply: contra ji => /eqP <-; first by rewrite doubleK.
by rewrite /= uphalf_double.
Qed.

End Differences.

(* ---------------------------------------------------------------------------- *)
(* kv-mean for the rows A x_i                                                   *)

Section ImageMean.
Variables (R : realType) (n d : nat) (rho sigma mean_bound beta : R).
Hypotheses (n_gt0 : (0 < n)%N) (d_gt0 : (0 < d)%N) (rho_gt0 : 0 < rho) (sigma_gt0 : 0 < sigma).
Notation data := (Sensitivity.dataset R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation transform := (transform R d).
Notation bins := ((2 * last_bin sigma mean_bound).+1).
Notation counts := [the measurableType _ of 'M[R]_(d, bins)].
Notation means := [the measurableType _ of 'M[R]_(d, 1)].
Notation transform_counts := [the measurableType _ of (transform * 'M[R]_(d, bins))%type].

Definition image_rows (X : data) (y : transform) : data := fun i => y.1 *m X i.

Lemma image_neighbours X Y y : neighbours X Y -> neighbours (image_rows X y) (image_rows Y y).
Proof. by move=> [i XY]; exists i => j ji; rewrite /image_rows XY. Qed.

Lemma measurable_image_entry (X : data) i j : measurable_fun setT (fun y : transform => image_rows X y i j 0).
Proof.
apply: (measurable_fun_comp (@measurable_entry R d 1 j 0)).
by apply: measurable_matrixM; [exact: measurable_fun_fst|exact: measurable_fun_cst].
Qed.

(* The values of one bin are an interval. *)
Lemma measurable_in_bin (k : 'I_bins) : measurable [set v | in_bin k v].
Proof.
apply: is_interval_measurable => u v uk vk w /andP[uw wv]; rewrite /mkset /in_bin in uk vk *.
pose s (t : R) := ceil (t / sigma - 2%:R^-1).
have mono t t' : t <= t' -> s t <= s t'.
  by move=> tt'; rewrite /s le_ceil // ler_sub // ler_pmul2r ?invr_gt0.
apply/eqP/le_anti/andP; split.
  by rewrite -(eqP vk) ler_add2r; exact: mono.
by rewrite -(eqP uk) ler_add2r; exact: mono.
Qed.

Lemma measurable_image_histogram (X : data) :
  measurable_fun setT (fun y : transform => histogram sigma mean_bound (image_rows X y)).
Proof.
apply: measurable_fun_matrix => j k; under eq_fun do rewrite mxE.
apply: measurable_sum => i.
rewrite (_ : (fun y => _) = \1_[set v | in_bin k v] \o (fun y : transform => image_rows X y i j 0)).
  apply: measurable_fun_comp; last exact: measurable_image_entry.
  by apply: measurable_fun_indic; exact: measurable_in_bin.
by apply/funext => y /=; rewrite indicE mem_setE.
Qed.

Definition image_counts (X : data) : stage R transform counts :=
  noise_stage (gaussian_weight d bins (count_scale_gt0 d_gt0 rho_gt0)) (measurable_image_histogram X).

Lemma measurable_image_mean (X : data) : measurable_fun [set: transform_counts]
  (fun yz : transform * 'M[R]_(d, bins) =>
     clipped_mean (sigma := sigma) (mean_bound := mean_bound) beta (image_rows X yz.1) yz.2).
Proof.
have mc j : measurable_fun [set: transform_counts]
    (fun yz : transform * 'M[R]_(d, bins) => centre (sigma := sigma) (mean_bound := mean_bound) yz.2 j).
  apply: (measurable_fun_comp (measurable_centre (sigma := sigma) (mean_bound := mean_bound) j)).
  exact: measurable_fun_snd.
have mv i j : measurable_fun [set: transform_counts]
    (fun yz : transform * 'M[R]_(d, bins) => image_rows X yz.1 i j 0).
  apply: (measurable_fun_comp (measurable_image_entry X i j)); exact: measurable_fun_fst.
set w := half_width n d sigma beta.
apply: measurable_fun_matrix => j l; under eq_fun do rewrite mxE.
apply: measurable_funrM; apply: measurable_sum => i.
rewrite (_ : (fun yz => _) = (fun yz : transform * 'M[R]_(d, bins) =>
    (- 1) * Num.max ((- 1) * Num.max (image_rows X yz.1 i j 0)
      (centre (sigma := sigma) (mean_bound := mean_bound) yz.2 j - w))
    ((- 1) * (centre (sigma := sigma) (mean_bound := mean_bound) yz.2 j + w)))).
  apply: measurable_funrM; apply: measurable_fun_max; apply: measurable_funrM.
    apply: measurable_fun_max; first exact: mv.
    by apply: measurable_funB; [exact: mc|exact: measurable_fun_cst].
  by apply: measurable_funD; [exact: mc|exact: measurable_fun_cst].
by apply/funext => yz; rewrite clipE !mulN1r.
Qed.

Definition image_means (X : data) : stage R transform_counts means :=
  noise_stage (gaussian_weight d 1 (mean_scale_gt0 beta n_gt0 d_gt0 rho_gt0 sigma_gt0))
    (measurable_image_mean X).

(* Counts, then means. *)
Definition image_mean (X : data) : stage R transform means :=
  Stages.chain (image_counts X) (image_means X).

(* It is kv-mean on the rows A x_i. *)
Lemma image_meanE (X : data) y S : measurable S ->
  image_mean X y S
  = kv_mean mean_bound beta n_gt0 d_gt0 rho_gt0 sigma_gt0 (image_rows X y) S.
Proof. by []. Qed.

Lemma image_mean_zcdp y : zcdp neighbours rho (fun X => image_mean X y).
Proof.
move=> X Y XY; have E Z S (mS : measurable S) := esym (image_meanE Z y mS).
apply: (concentrated_eq (E X) (E Y)).
by apply: kv_mean_zcdp; exact: image_neighbours.
Qed.

End ImageMean.
(* ---------------------------------------------------------------------------- *)
(* pme                                                                          *)

(* A map of data sets that keeps neighbours. *)
Lemma zcdp_map (R : realType) (X X' : Type) (nb : X -> X -> Prop) (nb' : X' -> X' -> Prop) (r : R)
    e (Y : measurableType e) (f : X -> X') (M : X' -> {measure set Y -> \bar R}) :
  (forall x y, nb x y -> nb' (f x) (f y)) -> zcdp nb' r M -> zcdp nb r (fun x => M (f x)).
Proof. by move=> fnb H x y xy; apply: H; exact: fnb. Qed.

Section Learner.
Variables (R : realType) (n d : nat) (tight : bool) (kappa mean_bound : R).
Hypotheses (n_gt0 : (0 < n)%N) (d_gt0 : (0 < d)%N) (kappa_gt0 : 0 < kappa).
Notation data := (Sensitivity.dataset R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation vector := [the measurableType _ of 'M[R]_(d, 1)].
Notation matrix := [the measurableType _ of 'M[R]_d].
Let factor_gt0 : 0 < variance_factor R tight.
Proof. exact: lt_le_trans ltr01 (variance_factor_ge1 R tight). Qed.

Section Pme.
Variables (rho beta : R).
Hypotheses (rho_gt0 : 0 < rho) (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).

(* sqrt 1000 *)
Definition image_deviation : R := Num.sqrt (smallest_kappa R).

Lemma image_deviation_gt0 : 0 < image_deviation.
Proof. by rewrite sqrtr_gt0 smallest_kappa_gt0. Qed.

(* A^-1 m *)
Definition map_back (ym : transform R d * 'M[R]_(d, 1)) : 'M[R]_(d, 1) := ym.1.2 *m ym.2.

Lemma measurable_map_back :
  measurable_fun [set: [the measurableType _ of (transform R d * 'M[R]_(d, 1))%type]] map_back.
Proof.
apply: measurable_matrixM; last exact: measurable_fun_snd.
exact: (measurable_fun_comp (@measurable_fun_snd _ _ _ _) (@measurable_fun_fst _ _ _ _)).
Qed.

(* The mean of the rows A x_i, mapped back. *)
Definition mean_stage (X : data) : stage R (transform R d) vector :=
  map_stage
    (image_mean (image_deviation * mean_bound) (half beta) n_gt0 d_gt0 (half_gt0 rho_gt0)
       image_deviation_gt0 X)
    measurable_map_back.

Let pme_law (X : data) : {measure set vector -> \bar R} :=
  run (precondition tight (pairs_gt0 n) (half_gt0 rho_gt0) kappa_gt0 (half_gt0 beta_gt0)
         (half_lt1 beta_lt1) (differences X))
    (mean_stage X).

Let pme_total X : pme_law X setT = 1%E.
Proof. by apply: run_total; exact: precondition_total. Qed.

Definition pme : mechanism R data vector := Mechanism pme_total.

(* What is spent: 3/4 rho, or rho if tight. *)
Definition pme_cost : R := if tight then rho else 3%:R / 4%:R * rho.

(* The premises are n >= 1, d >= 1, rho > 0, kappa > 0 and 0 < beta < 1; the bound on the mean
   is any number. *)
(*@ WHOLE.pme *)
Theorem pme_zcdp : zcdp neighbours pme_cost (fun X => pme X).
Proof.
have -> : pme_cost = half rho / variance_factor R tight + half rho.
  by rewrite /pme_cost /half; case: (tight); rewrite /variance_factor; field.
apply: (zcdp_run (M1 := fun X => precondition tight (pairs_gt0 n) (half_gt0 rho_gt0) kappa_gt0
  (half_gt0 beta_gt0) (half_lt1 beta_lt1) (differences X)) (M2 := mean_stage)).
  by apply: (zcdp_map (@differences_neighbours R n d)); exact: precondition_zcdp.
by move=> y; apply: map_stage_zcdp; exact: image_mean_zcdp.
Qed.

End Pme.

(* ---------------------------------------------------------------------------- *)
(* gaussian-learner                                                             *)

Variables (rho beta : R).
Hypotheses (rho_gt0 : 0 < rho) (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).
Notation both := [the measurableType _ of ('M[R]_d * 'M[R]_(d, 1))%type].
Notation stacked := [the measurableType _ of 'M[R]_(1 + d, d)].

Definition learned_mean := pme (half_gt0 rho_gt0) (half_gt0 beta_gt0) (half_lt1 beta_lt1).

(* The mean as a row, above the covariance. *)
Definition mean_above (Sm : 'M[R]_d * 'M[R]_(d, 1)) : 'M[R]_(1 + d, d) := col_mx Sm.2^T Sm.1.

Lemma measurable_mean_above : measurable_fun [set: both] mean_above.
Proof.
apply: measurable_fun_matrix => i j; rewrite /mean_above.
case: (splitP i) => k ik.
  have -> : i = lshift d k by exact/val_inj.
  under eq_fun do rewrite col_mxEu mxE.
  by apply: (measurable_fun_comp (@measurable_entry R d 1 j k)); exact: measurable_fun_snd.
have -> : i = rshift 1 k by exact/val_inj.
under eq_fun do rewrite col_mxEd.
by apply: (measurable_fun_comp (@measurable_entry R d d k j)); exact: measurable_fun_fst.
Qed.

Let covariance_law (X : data) : {measure set matrix -> \bar R} :=
  pgce tight (pairs_gt0 n) (half_gt0 rho_gt0) kappa_gt0 (half_gt0 beta_gt0) (half_lt1 beta_lt1)
    (differences X).

Let learner_law (X : data) : {measure set stacked -> \bar R} :=
  image_law measurable_mean_above
    [the measure _ _ of joint (covariance_law X)
       (Algorithm2.constant_stage matrix (release_total learned_mean X))].

Let learner_total X : learner_law X setT = 1%E.
Proof. by apply: joint_total; exact: pgce_total. Qed.

Definition gaussian_learner : mechanism R data stacked := Mechanism learner_total.

(* What is spent: 5/8 rho, or rho if tight. *)
Definition learner_cost : R := if tight then rho else 5%:R / 8%:R * rho.

(* The premises are n >= 1, d >= 1, rho > 0, kappa > 0 and 0 < beta < 1; the bound on the mean
   is any number. *)
(*@ WHOLE.gaussian-learner *)
Theorem gaussian_learner_zcdp : zcdp neighbours learner_cost (fun X => gaussian_learner X).
Proof.
have -> : learner_cost = half rho / variance_factor R tight + pme_cost (half rho).
  by rewrite /learner_cost /pme_cost /half; case: (tight); rewrite /variance_factor; field.
rewrite /gaussian_learner /= /learner_law; apply: zcdp_postprocessing.
apply: (zcdp_composition (M2 := fun X => Algorithm2.constant_stage matrix (release_total learned_mean X))).
  by apply: (zcdp_map (@differences_neighbours R n d)); exact: pgce_zcdp.
by move=> y; exact: pme_zcdp.
Qed.

End Learner.
