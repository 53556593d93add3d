(* Six mechanisms whose theorems need an object: with this object, and for rows of any length.

   - projection-mechanism and naive-pce, with the nearest point of NearestPoints.v.
   - johnson-lindenstrauss and johnson-lindenstrauss-image, with the same nearest point in their fit.
   - separate-cov and separate-cov-pure, with the measurable map of Rebuild.v.

   Rows are shortened to length r, divided by r, and the answer is multiplied by r^2 (UnitRows.v);
   naive-pce has a length of its own.  Neighbours differ in one row, which may be any vector.

   Assumed: nothing.  Not said: floating point; how the noise is drawn; how T is chosen; that
   equal eigenvalues of the noisy matrix have probability zero. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms JohnsonLindenstrauss SeparateCov.
From covassay Require Import UnitRows NearestPoints Rebuild.
From covassay Require Sensitivity Algorithm2.
From mathcomp Require Import mxalgebra.

Section Unconditional.
Variables (R : realType) (n d : nat) (r : R).
Hypotheses (n_gt0 : (0 < n)%N) (r_gt0 : 0 < r).
Notation data := (Sensitivity.dataset R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].

Section Concentrated.
Variable rho : R.
Hypothesis rho_gt0 : 0 < rho.

Let projection_total e (X : data) :
  projection_mechanism n_gt0 rho_gt0 (@nearest_psd_traceP R d) e X setT = 1%E.
Proof. exact: (release_total (gauss_cov d n_gt0 rho_gt0 e) X). Qed.

Definition projection_release (e : ensemble) : mechanism R data matrix :=
  any_rows r (Mechanism (projection_total e)).

(* The premises are n >= 1, rho > 0 and r > 0. *)
(*@ WHOLE.projection-mechanism *)
Theorem projection_release_zcdp (e : ensemble) :
  zcdp neighbours rho (fun X => projection_release e X).
Proof. by apply: (any_rows_zcdp r_gt0); exact: projection_mechanism_zcdp. Qed.

Definition separate_release (e : ensemble) : mechanism R data matrix :=
  any_rows r (Mechanism (separate_cov_total n_gt0 (@measurable_rebuild R d) e rho_gt0)).

(* The premises are n >= 1, rho > 0 and r > 0. *)
(*@ WHOLE.separate-cov *)
Theorem separate_release_zcdp (e : ensemble) : zcdp neighbours rho (fun X => separate_release e X).
Proof.
apply: (any_rows_zcdp r_gt0).
by apply: (@separate_cov_zcdp R n d n_gt0 _ (@measurable_rebuild R d) rho e rho_gt0); exact: rebuildP.
Qed.

End Concentrated.

Section NaivePce.
Variables (rho kappa beta : R).
Hypotheses (rho_gt0 : 0 < rho) (kappa_gt0 : 0 < kappa) (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).

Let pce_law tight (X : data) : {measure set matrix -> \bar R} :=
  naive_pce n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 (@nearest_psdP R d) tight X.

Let pce_total tight X : pce_law tight X setT = 1%E.
Proof.
exact: (release_total (symmetric_noise 1 (gaussian_weight 1 (entries d)
  (pce_scale_gt0 d n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 tight))
  (@short_covariance R n d kappa beta)) X).
Qed.

Definition naive_pce_release (tight : bool) : mechanism R data matrix := Mechanism (pce_total tight).

(* The premises are n >= 1, rho > 0, kappa > 0 and 0 < beta < 1. *)
(*@ WHOLE.naive-pce *)
Theorem naive_pce_release_zcdp (tight : bool) : zcdp neighbours rho (fun X => naive_pce_release tight X).
Proof. exact: naive_pce_zcdp. Qed.

End NaivePce.

Section Pure.
Variable eps : R.
Hypothesis eps_gt0 : 0 < eps.

Section SeparatePure.
Variable c : calibration.
Hypothesis d_gt0 : (0 < d)%N.

Definition separate_pure_release : mechanism R data matrix :=
  any_rows r
    (Mechanism (separate_cov_pure_total n_gt0 (@measurable_rebuild R d) c eps_gt0 d_gt0)).

(* The premises are n >= 1, d >= 1, eps > 0 and r > 0. *)
(*@ WHOLE.separate-cov-pure *)
Theorem separate_pure_release_dp : dp neighbours eps (fun X => separate_pure_release X).
Proof.
apply: (any_rows_dp r_gt0).
by apply: (separate_cov_pure_dp n_gt0 (@measurable_rebuild R d) c eps_gt0 d_gt0); exact: rebuildP.
Qed.

End SeparatePure.

Variables (l : nat) (T : 'M[R]_(l, entries d)).

Section Lindenstrauss.
Variable alpha : R.
Hypotheses (alpha_gt0 : 0 < alpha) (T_neq0 : T != 0).

Definition lindenstrauss_release : mechanism R data matrix :=
  any_rows r (johnson_lindenstrauss n_gt0 eps_gt0 alpha_gt0 (@nearest_psd_traceP R d) T_neq0).

(* The premises are n >= 1, eps > 0, alpha > 0, r > 0 and a matrix T that is not 0. *)
(*@ WHOLE.johnson-lindenstrauss *)
Theorem lindenstrauss_release_dp : dp neighbours eps (fun X => lindenstrauss_release X).
Proof. by apply: (any_rows_dp r_gt0); exact: johnson_lindenstrauss_dp. Qed.

End Lindenstrauss.

Section Image.
Hypothesis T_free : row_free T.

Definition lindenstrauss_image_release : mechanism R data matrix :=
  any_rows r (johnson_lindenstrauss_image n_gt0 eps_gt0 T_free (@nearest_psd_traceP R d)).

(* The premises are n >= 1, eps > 0, r > 0 and a matrix T with independent rows. *)
(*@ WHOLE.johnson-lindenstrauss-image *)
Theorem lindenstrauss_image_release_dp : dp neighbours eps (fun X => lindenstrauss_image_release X).
Proof. by apply: (any_rows_dp r_gt0); exact: johnson_lindenstrauss_image_dp. Qed.

End Image.

End Pure.

End Unconditional.
