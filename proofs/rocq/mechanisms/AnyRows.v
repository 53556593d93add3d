(* Mechanisms whose theorems speak of rows of the unit ball, for rows of any length.

   Every row is shortened to length r if it is longer, and divided by r.  Then the mechanism is run,
   and its answer is multiplied by r^2 if it is a matrix or a trace, by r if it is a radius, and by
   nothing if it is a direction, a number of a feature or a vector of coefficients (UnitRows.v).
   Neighbours differ in one row, which may be any vector; n, d, r and all other parameters are public.

   Every definition is a probability, for these two too:
   - above-threshold publishes the number of the first feature whose noisy energy reaches the noisy
     threshold, or d + 1 if there is none;
   - private-radius publishes the first of given radii such that the noisy number of rows that are not
     longer reaches a noisy threshold, or 1 if there is none.

   Assumed: nothing.  Not said: floating point; how the noise is drawn. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp.
From covassay Require Import SymmetricMechanisms GaussianMechanisms JohnsonLindenstrauss UnitRows.
From covassay Require Import Sphere KapralovTalwar OutputPerturbation FiniteMechanisms LevelSearch.
From covassay Require Sensitivity Algorithm2 BallProjection AdaptiveCovariance Adassp.

Section AnyRows.
Variables (R : realType) (n d : nat) (r : R).
Hypotheses (n_gt0 : (0 < n)%N) (r_gt0 : 0 < r).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Notation row := [the measurableType _ of 'M[R]_(1, d)].
Notation real := [the measurableType _ of (R : Type)].

(* A map from the numbers is measurable. *)
Lemma measurable_from_numbers e (Y : measurableType e) (h : numbers -> Y) : measurable_fun setT h.
Proof. by []. Qed.

(* ---------------------------------------------------------------------------- *)
(* Pure differential privacy                                                    *)

Section Pure.
Variable eps : R.
Hypothesis eps_gt0 : 0 < eps.

Definition nuclear_laplace_release : mechanism R data matrix := any_rows r (nuclear_laplace d n_gt0 eps_gt0).

(* The premises are n >= 1, eps > 0 and r > 0. *)
(*@ WHOLE.nuclear-laplace *)
Theorem nuclear_laplace_release_dp : dp neighbours eps (fun X => nuclear_laplace_release X).
Proof. by apply: (any_rows_dp r_gt0); exact: nuclear_laplace_dp. Qed.

Definition nuclear_laplace_symmetric_release : mechanism R data matrix :=
  any_rows r (nuclear_laplace_symmetric d n_gt0 eps_gt0).

(* The premises are n >= 1, eps > 0 and r > 0. *)
(*@ WHOLE.nuclear-laplace-symmetric *)
Theorem nuclear_laplace_symmetric_release_dp :
  dp neighbours eps (fun X => nuclear_laplace_symmetric_release X).
Proof. by apply: (any_rows_dp r_gt0); exact: nuclear_laplace_symmetric_dp. Qed.

Definition laplace_release : mechanism R data row := any_rows r (laplace d n_gt0 eps_gt0).

(* The premises are n >= 1, eps > 0 and r > 0. *)
(*@ WHOLE.laplace *)
Theorem laplace_release_dp : dp neighbours eps (fun X => laplace_release X).
Proof. by apply: (any_rows_dp r_gt0); exact: laplace_dp. Qed.

Let measurable_square_unit : measurable_fun setT (fun y : R => r ^+ 2 * y).
Proof. by apply: measurable_funrM; exact: measurable_fun_id. Qed.

Definition private_trace_release : mechanism R data real :=
  publish (on_unit_rows r (private_trace d n_gt0 eps_gt0)) measurable_square_unit.

(* The premises are n >= 1, eps > 0 and r > 0. *)
(*@ WHOLE.private-trace *)
Theorem private_trace_release_dp : dp neighbours eps (fun X => private_trace_release X).
Proof. by apply: publish_dp; apply: (on_unit_rows_dp r_gt0); exact: private_trace_dp. Qed.

Section SomeColumns.
Hypothesis d_gt0 : (0 < d)%N.

Definition lap_cov_release (c : calibration) : mechanism R data matrix :=
  any_rows r (lap_cov n_gt0 eps_gt0 d_gt0 c).

(* The premises are n >= 1, d >= 1, eps > 0 and r > 0, for either calibration. *)
(*@ WHOLE.lap-cov *)
Theorem lap_cov_release_dp (c : calibration) : dp neighbours eps (fun X => lap_cov_release c X).
Proof. by apply: (any_rows_dp r_gt0); exact: lap_cov_dp. Qed.

Definition entrywise_release (c : calibration) (full : bool) : mechanism R data matrix :=
  any_rows r (entrywise n_gt0 eps_gt0 d_gt0 c full).

(* The premises are n >= 1, d >= 1, eps > 0 and r > 0, for either calibration, with noise on all
   entries or on the triangle. *)
(*@ WHOLE.entrywise-laplace *)
Theorem entrywise_release_dp (c : calibration) (full : bool) :
  dp neighbours eps (fun X => entrywise_release c full X).
Proof. by apply: (any_rows_dp r_gt0); exact: entrywise_dp. Qed.

Definition k_norm_release (b : body) : mechanism R data matrix := any_rows r (k_norm d n_gt0 eps_gt0 b).

(* The premises are n >= 1, d >= 1, eps > 0 and r > 0, for each of the five bodies. *)
(*@ WHOLE.k-norm *)
Theorem k_norm_release_dp (b : body) : dp neighbours eps (fun X => k_norm_release b X).
Proof. by apply: (any_rows_dp r_gt0); exact: k_norm_dp. Qed.

Section Centred.
Hypothesis n_gt1 : (1 < n)%N.

Definition centred_release : mechanism R data matrix :=
  any_rows r (centred_laplace d n_gt0 eps_gt0 n_gt1).

(* The premises are n >= 2, d >= 1, eps > 0 and r > 0. *)
(*@ WHOLE.centred-covariance *)
Theorem centred_release_dp : dp neighbours eps (fun X => centred_release X).
Proof. by apply: (any_rows_dp r_gt0); exact: centred_laplace_dp. Qed.

End Centred.

(* exponential: the number of feature u, from 1 on, with the probability of FiniteMechanisms.v. *)
Let share (X : data) (k : nat) : R := if insub k is Some u then exponential eps X u else 0.

Let share_ge0 X k : 0 <= share X k.
Proof.
rewrite /share; case: insubP => // u _ _; rewrite divr_ge0 ?sumr_ge0 // => [|v _]; exact/ltW/expR_gt0.
Qed.

Let feature_law (X : data) : {measure set numbers -> \bar R} :=
  [the measure _ _ of msum (fun k => [the measure _ _ of
     mscale (NngNum (share_ge0 X k)) [the {measure set numbers -> \bar R} of dirac k.+1]]) d].

Let feature_lawE X S : feature_law X S = (\sum_(u < d | u.+1 \in S) exponential eps X u)%:E.
Proof.
rewrite /= /msum [in RHS]big_mkcond -sumEFin; apply: eq_bigr => u _.
transitivity ((share X u)%:E * (\1_S u.+1)%:E)%E; first by [].
rewrite indicE /share insubT ?ltn_ord // => ud; rewrite (_ : Sub _ _ = u); last exact: val_inj.
by case: (_ \in S); rewrite ?mule1 ?mule0.
Qed.

Let feature_total X : feature_law X setT = 1%E.
Proof.
rewrite feature_lawE -(exponential_total eps X d_gt0).
by congr (_%:E); apply: eq_bigl => u; rewrite in_setT.
Qed.

Definition exponential_release : mechanism R data numbers := on_unit_rows r (Mechanism feature_total).

(* The premises are d >= 1, eps > 0 and r > 0. *)
(*@ WHOLE.exponential *)
Theorem exponential_release_dp : dp neighbours eps (fun X => exponential_release X).
Proof.
apply: (on_unit_rows_dp r_gt0) => X Y XY S _.
by rewrite [X in (X <= _)%E]feature_lawE [X in (_ <= _ * X)%E]feature_lawE lee_fin exponential_dp.
Qed.

End SomeColumns.

(* The answers of the sparse vector technique, numbered from 0 on. *)
Section Answers.
Variables (k : nat) (tight : bool) (T : R) (Q : data -> 'I_k -> R).

Let answer_law X : {measure set numbers -> \bar R} :=
  level_law T (rate1_gt0 eps_gt0) (rate2_gt0 eps_gt0 tight) (Q X).

Let answer_total X : answer_law X setT = 1%E. Proof. exact: level_law_total. Qed.

Definition first_answer : mechanism R data numbers := Mechanism answer_total.

Lemma first_answer_dp : (forall X Y o, adjacent X Y ->
    (first_above eps_gt0 tight T (Q X) o <= (expR eps)%:E * first_above eps_gt0 tight T (Q Y) o)%E) ->
  dp adjacent eps (fun X => first_answer X).
Proof. by move=> H X Y XY; apply: level_law_le => o; exact: H. Qed.

End Answers.

Definition above_threshold_release (tight : bool) (share : R) : mechanism R data numbers :=
  publish (on_unit_rows r (first_answer tight (share * n%:R / d%:R) (@energy R n d)))
    (measurable_from_numbers (succn : numbers -> numbers)).

(* The premises are eps > 0 and r > 0. *)
(*@ WHOLE.above-threshold *)
Theorem above_threshold_release_dp (tight : bool) (share : R) :
  dp neighbours eps (fun X => above_threshold_release tight share X).
Proof.
apply: publish_dp; apply: (on_unit_rows_dp r_gt0); apply: first_answer_dp => X Y o XY.
by have := above_threshold_dp eps_gt0 tight share (pred1 o) XY; rewrite !big_pred1_eq.
Qed.

Definition private_radius_release k (radius : 'I_k -> R) (tight : bool) (T : R) : mechanism R data real :=
  publish (on_unit_rows r (first_answer tight T (rows_within radius)))
    (measurable_from_numbers (fun j => AdaptiveCovariance.found_radius radius j * r : real)).

(* The premises are eps > 0 and r > 0; the radii and the threshold are any numbers. *)
(*@ WHOLE.private-radius *)
Theorem private_radius_release_dp k (radius : 'I_k -> R) (tight : bool) (T : R) :
  dp neighbours eps (fun X => private_radius_release radius tight T X).
Proof.
apply: publish_dp; apply: (on_unit_rows_dp r_gt0); apply: first_answer_dp => X Y o XY.
by have := private_radius_dp eps_gt0 radius tight T (pred1 o) XY; rewrite !big_pred1_eq.
Qed.

Definition bingham_release (tight : bool) : mechanism R data [the measurableType _ of 'M[R]_(d, 1)] :=
  on_unit_rows r (bingham n d eps_gt0 tight).

(* The premises are eps > 0 and r > 0. *)
(*@ WHOLE.bingham *)
Theorem bingham_release_dp (tight : bool) : dp neighbours eps (fun X => bingham_release tight X).
Proof. by apply: (on_unit_rows_dp r_gt0); exact: bingham_dp. Qed.

Section Deflation.
Variable k : nat.
Hypothesis k_gt0 : (0 < k)%N.

Definition kapralov_talwar_release : mechanism R data matrix := any_rows r (kapralov_talwar n d k_gt0 eps_gt0).

(* The premises are k >= 1, eps > 0 and r > 0. *)
(*@ WHOLE.kapralov-talwar *)
Theorem kapralov_talwar_release_dp : dp neighbours eps (fun X => kapralov_talwar_release X).
Proof. by apply: (any_rows_dp r_gt0); exact: kapralov_talwar_dp. Qed.

End Deflation.

(* nuclear-ball-projection: the two noises are drawn one after the other, independently. *)
Section BallProjection.
Variable c : calibration.
Notation scale := (Algorithm2.paper_scale_gt0 n_gt0 eps_gt0).
Notation post := (@BallProjection.nuclear_ball_projection R d).

(* How many units 1/(n eps) the two scales have. *)
Definition matrix_units : nat := if c is Paper then 4 else 2.
Definition trace_units : nat := if c is Paper then 10 else 4.

Let matrix_units_gt0 : (0 < matrix_units)%N. Proof. by rewrite /matrix_units; case: c. Qed.
Let trace_units_gt0 : (0 < trace_units)%N. Proof. by rewrite /trace_units; case: c. Qed.

Let noisy_matrix := with_noise (matrices R d d)
  (norm_weight (Algorithm2.nuclear R d) (scale matrix_units_gt0)) (@Sensitivity.covariance R n d).
Let noisy_trace := with_noise (line R)
  (laplace_weight (scale trace_units_gt0)) (@Algorithm2.twice_trace R n d).

Let project (y : 'M[R]_d * R) : 'M[R]_d := post (Num.max 0 y.2, y.1).

Let measurable_project : measurable_fun [set: [the measurableType _ of ('M[R]_d * R)%type]] project.
Proof.
apply: (measurable_fun_comp (@BallProjection.ball_projection_measurable R d d (Algorithm2.nuclear R d))).
apply/prod_measurable_funP; split.
  by apply: measurable_fun_max; [exact: measurable_fun_cst|exact: measurable_fun_snd].
exact: measurable_fun_fst.
Qed.

Let ball_law (X : data) : {measure set matrix -> \bar R} := image_law measurable_project
  [the measure _ _ of joint (noisy_matrix X) (Algorithm2.constant_stage matrix (release_total noisy_trace X))].

Let ball_total X : ball_law X setT = 1%E.
Proof. exact: (joint_total _ (release_total noisy_matrix X)). Qed.

Definition ball_release : mechanism R data matrix := any_rows r (Mechanism ball_total).

(* What is spent of eps. *)
Definition ball_cost : R := if c is Paper then eps / 2%:R else eps.

(* The premises are n >= 1, eps > 0 and r > 0, for either calibration. *)
(*@ WHOLE.nuclear-ball-projection *)
Theorem ball_release_dp : dp neighbours ball_cost (fun X => ball_release X).
Proof.
apply: (any_rows_dp r_gt0).
have H : dp adjacent ball_cost
    (Algorithm2.nuclear_ball_mechanism (scale matrix_units_gt0) (scale trace_units_gt0) post).
  rewrite /ball_cost; move: matrix_units_gt0 trace_units_gt0; rewrite /matrix_units /trace_units.
  case: (c) => p q.
    rewrite (bool_irrelevance p isT) (bool_irrelevance q isT).
    exact: BallProjection.algorithm2_complete_dp.
  rewrite (bool_irrelevance p isT) (bool_irrelevance q isT).
  exact: BallProjection.algorithm2_complete_tight_dp.
have E X S : measurable S -> ball_law X S
    = Algorithm2.nuclear_ball_mechanism (scale matrix_units_gt0) (scale trace_units_gt0) post X S.
  move=> mS; have mT : measurable (project @^-1` S).
    by rewrite -[X in measurable X]setTI; exact: measurable_project.
  pose P1 := [the measure _ _ of law (shift_weight (matrices R d d)
    (norm_weight (Algorithm2.nuclear R d) (scale matrix_units_gt0)) (Sensitivity.covariance X))].
  pose P2 := [the measure _ _ of law (shift_weight (line R)
    (laplace_weight (scale trace_units_gt0)) (Algorithm2.twice_trace X))].
  transitivity (two_stage P1 (fun=> P2) (project @^-1` S)); last first.
    by apply/esym; exact: add_noise2_two_stage.
  transitivity (\int[noisy_matrix X]_y P2 (xsection (project @^-1` S) y))%E.
    by apply: eq_integral => y _; apply: law_shift; exact: measurable_xsection.
  by apply: eq_measure_integral => A mA _; exact: law_shift.
by move=> X Y XY S mS; rewrite [X in (X <= _)%E]E // [X in (_ <= _ * X)%E]E //; exact: H.
Qed.

End BallProjection.

End Pure.

(* ---------------------------------------------------------------------------- *)
(* Zero-concentrated differential privacy                                       *)

Section Concentrated.
Variable rho : R.
Hypothesis rho_gt0 : 0 < rho.

Definition gaussian_release : mechanism R data row := any_rows r (gaussian d n_gt0 rho_gt0).

(* The premises are n >= 1, rho > 0 and r > 0. *)
(*@ WHOLE.gaussian *)
Theorem gaussian_release_zcdp : zcdp neighbours rho (fun X => gaussian_release X).
Proof. by apply: (any_rows_zcdp r_gt0); exact: gaussian_zcdp. Qed.

Definition gauss_cov_release (e : ensemble) : mechanism R data matrix :=
  any_rows r (gauss_cov d n_gt0 rho_gt0 e).

(* The premises are n >= 1, rho > 0 and r > 0; the ensemble is either of the two. *)
(*@ WHOLE.gauss-cov *)
Theorem gauss_cov_release_zcdp (e : ensemble) : zcdp neighbours rho (fun X => gauss_cov_release e X).
Proof. by apply: (any_rows_zcdp r_gt0); exact: gauss_cov_zcdp. Qed.

End Concentrated.

End AnyRows.

(* ---------------------------------------------------------------------------- *)
(* Regression: the last entry of a row is the target                            *)

Section Regression.
Variables (R : realType) (n : nat) (r : R).
Hypothesis r_gt0 : 0 < r.

Section OutputPerturbation.
Variables (k : nat) (alpha eps : R).
Hypotheses (n_gt0 : (0 < n)%N) (alpha_gt0 : 0 < alpha) (eps_gt0 : 0 < eps).

Definition output_perturbation_release (c : calibration) :
    mechanism R (Sensitivity.dataset R n (k + 1)) [the measurableType _ of 'M[R]_(k, 1)] :=
  on_unit_rows r (output_perturbation k n_gt0 alpha_gt0 eps_gt0 c).

(* The premises are n >= 1, alpha > 0, eps > 0 and r > 0, for either calibration. *)
(*@ WHOLE.output-perturbation *)
Theorem output_perturbation_release_dp (c : calibration) :
  dp (@Sensitivity.neighbours R n (k + 1)) eps (fun X => output_perturbation_release c X).
Proof. by apply: (on_unit_rows_dp r_gt0); exact: output_perturbation_dp. Qed.

End OutputPerturbation.

Section AdaSSP.
Variables (k : nat) (rho beta : R) (tight : bool).
Hypothesis rho_gt0 : 0 < rho.

Definition adassp_release :
    mechanism R (Sensitivity.dataset R n (k.+1 + 1)) [the measurableType _ of 'M[R]_(k.+1, 1)] :=
  on_unit_rows r (Mechanism (@Adassp.adassp_total R n k rho beta tight rho_gt0)).

(* The premises are rho > 0 and r > 0. *)
(*@ WHOLE.adassp *)
Theorem adassp_release_zcdp :
  zcdp (@Sensitivity.neighbours R n (k.+1 + 1)) (Adassp.adassp_loss rho tight) (fun X => adassp_release X).
Proof. by apply: (on_unit_rows_zcdp r_gt0); exact: Adassp.adassp_zcdp. Qed.

End AdaSSP.

End Regression.
