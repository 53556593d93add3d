(* Whole mechanisms with Gaussian noise, under (epsilon, delta)-DP.

   The noise has the scale sigma = m Delta, where Delta is the l2 sensitivity and m > 0 is what the
   code calls the multiplier.  Every theorem holds for every m > 0 and every epsilon >= 0, with

      delta = gaussian_profile (1/m) epsilon                          (GaussianProfile.v),

   which is what the code's `spend` states.  The code's m is sqrt (2 ln (1.25/delta))/epsilon or the
   least m that gives (epsilon, delta), rounded up.

   - gaussian-approximate: the diagonal of the covariance, Delta = sqrt 2/n, in dimension one 1/n.
   - gauss-cov-approximate: the covariance, symmetric noise of either ensemble, Delta = sqrt 2/n.
   - box-gauss-approximate: the weighted sums of rows with bounded columns, for both kinds of
     neighbours, with the Delta of box-gauss.

   In the first two, rows of any length are shortened as in UnitRows.v.

   Assumed: nothing.  Not said: floating point; how the noise is drawn. *)
From covassay Require Import MechanismTheory Gaussian GaussianProfile TwoStages Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms JohnsonLindenstrauss UnitRows.
From covassay Require Import BoxMoments BoxMechanisms.
From covassay Require MatrixNorms Sensitivity Algorithm2.

(* ---------------------------------------------------------------------------- *)
(* Noise on a query                                                             *)

Section Noise.
Variables (R : realType) (m eps : R).
Hypotheses (m_gt0 : 0 < m) (eps_ge0 : 0 <= eps).
Notation profile := (gaussian_profile m^-1 eps).

(* m Delta. *)
Definition approximate_scale (Delta : R) : R := m * Delta.

Lemma approximate_scale_gt0 Delta : 0 < Delta -> 0 < approximate_scale Delta.
Proof. exact: mulr_gt0. Qed.

(* A query that neighbours move by at most Delta in Frobenius norm.  The premises are m > 0,
   eps >= 0 and Delta > 0. *)
(*@ APPROXIMATE-GAUSSIAN *)
Theorem gaussian_noise_approximate (k l : nat) (Delta : R) (Delta_gt0 : 0 < Delta)
    (X : Type) (nb : X -> X -> Prop) (q : X -> 'M[R]_(k, l)) :
  (forall x x', nb x x' -> sum_squares (q x - q x') <= Delta ^+ 2) ->
  approximate_dp nb eps profile
    (fun x => with_noise (matrices R k l) (gaussian_weight k l (approximate_scale_gt0 Delta_gt0)) q x).
Proof.
move=> sens x x' xx'.
have E c S : measurable S -> law (Gaussian.gaussian (approximate_scale_gt0 Delta_gt0) (q c)) S
    = with_noise (matrices R k l) (gaussian_weight k l (approximate_scale_gt0 Delta_gt0)) q c S.
  by move=> mS; rewrite -(law_shift (matrices R k l)).
apply: (approximate_eq (E x) (E x')).
apply: gaussian_indistinguishable; rewrite ?invr_gt0 // /approximate_scale mulKf ?gt_eqF //.
exact: sens.
Qed.

(* The same on the entries on and above the diagonal of a symmetric query. *)
Lemma symmetric_noise_approximate d (X : Type) (nb : X -> X -> Prop) (off : R)
    (w : weight [the measure _ _ of @leb_matrix R 1 (entries d)]) (q : X -> 'M[R]_d) (delta : R) :
  off != 0 -> (forall x, (q x)^T = q x) ->
  approximate_dp nb eps delta (fun x => with_noise (matrices R 1 (entries d)) w (fun x => corner off (q x)) x) ->
  approximate_dp nb eps delta (fun x => symmetric_noise off w q x).
Proof.
move=> off0 q_sym H x x' xx' S mS; rewrite !(symmetric_noiseE w off0 q_sym).
exact: (approximate_image (measurable_mirror off) (H _ _ xx')).
Qed.

End Noise.

(* ---------------------------------------------------------------------------- *)
(* Rows of any length                                                           *)

Section AnyRows.
Variables (R : realType) (n d : nat) (r m eps : R).
Hypotheses (n_gt0 : (0 < n)%N) (r_gt0 : 0 < r) (m_gt0 : 0 < m) (eps_ge0 : 0 <= eps).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation profile := (gaussian_profile m^-1 eps).

Lemma any_rows_approximate k l (M : mechanism R data [the measurableType _ of 'M[R]_(k, l)]) (delta : R) :
  approximate_dp adjacent eps delta (fun X => M X) ->
  approximate_dp neighbours eps delta (fun X => any_rows r M X).
Proof. by move=> H X Y XY; apply: approximate_image; exact: (H _ _ (unit_rows_adjacent r_gt0 XY)). Qed.

Definition gaussian_approximate : mechanism R data [the measurableType _ of 'rV[R]_d] :=
  with_noise (matrices R 1 d)
    (gaussian_weight 1 d (approximate_scale_gt0 m_gt0 (@moments_change_gt0 R n d n_gt0)))
    (@second_moments R n d).

Definition gaussian_approximate_release : mechanism R data [the measurableType _ of 'M[R]_(1, d)] :=
  any_rows r gaussian_approximate.

(* The premises are n >= 1, m > 0, eps >= 0 and r > 0. *)
(*@ WHOLE.gaussian-approximate *)
Theorem gaussian_approximate_release_dp :
  approximate_dp neighbours eps profile (fun X => gaussian_approximate_release X).
Proof.
apply: any_rows_approximate; apply: gaussian_noise_approximate => //.
exact: second_moments_move.
Qed.

(* sqrt 2/n. *)
Definition covariance_change : R := Num.sqrt 2%:R / n%:R.

Lemma covariance_change_gt0 : 0 < covariance_change.
Proof. by rewrite divr_gt0 ?sqrtr_gt0 ?ltr0n. Qed.

Definition gauss_cov_approximate (e : ensemble) : mechanism R data [the measurableType _ of 'M[R]_d] :=
  symmetric_noise (off_diagonal R e)
    (gaussian_weight 1 (entries d) (approximate_scale_gt0 m_gt0 covariance_change_gt0))
    (@Sensitivity.covariance R n d).

Definition gauss_cov_approximate_release (e : ensemble) : mechanism R data [the measurableType _ of 'M[R]_d] :=
  any_rows r (gauss_cov_approximate e).

(* The premises are n >= 1, m > 0, eps >= 0 and r > 0; the ensemble is either of the two. *)
(*@ WHOLE.gauss-cov-approximate *)
Theorem gauss_cov_approximate_release_dp (e : ensemble) :
  approximate_dp neighbours eps profile (fun X => gauss_cov_approximate_release e X).
Proof.
apply: any_rows_approximate; apply: symmetric_noise_approximate.
- exact: off_diagonal_neq0.
- exact: covariance_sym.
apply: gaussian_noise_approximate => // X Y XY; rewrite -cornerB.
have -> : covariance_change ^+ 2 = 2%:R * n%:R^-1 ^+ 2 by rewrite exprMn sqr_sqrtr ?ler0n.
apply: le_trans (covariance_move n_gt0 XY); apply: sum_squares_corner; last exact: off_diagonal_le.
by rewrite linearB /= !covariance_sym.
Qed.

End AnyRows.

(* ---------------------------------------------------------------------------- *)
(* Bounded columns                                                              *)

Section Box.
Variables (R : realType) (d : nat) (low high : 'I_d -> R) (m eps : R).
Hypotheses (d_gt0 : (0 < d)%N) (bounds : forall j, low j < high j) (m_gt0 : 0 < m) (eps_ge0 : 0 <= eps).
Notation profile := (gaussian_profile m^-1 eps).

Lemma box_approximate (w : weights R) (X : Type) (sums : X -> 'M[R]_d.+1)
    (law_of : weight [the measure _ _ of @leb_matrix R 1 (entries d.+1)]) (known delta : R)
    (nb : X -> X -> Prop) : weights_neq0 w -> (forall x i j, sums x i j = sums x j i) ->
  count w != 0 \/ (forall x, sums x ord0 ord0 = known) ->
  approximate_dp nb eps delta
    (fun x => with_noise (matrices R 1 (entries d.+1)) law_of (fun x => weigh w (sums x)) x) ->
  approximate_dp nb eps delta (fun x => box_release low high w sums law_of x).
Proof.
move=> [a0 b0 c0] sym public H x x' xx' S mS; rewrite !(box_releaseE _ _ _ a0 b0 c0 sym public).
exact: (approximate_image (measurable_from_weighted low high w known) (H _ _ xx')).
Qed.

Definition box_gauss_approximate (n : nat) := box_release low high (gauss_weights_replaced R d)
  (sums_of low high (n := n))
  (gaussian_weight 1 (entries d.+1) (approximate_scale_gt0 m_gt0 (gauss_sensitivity_replaced_gt0 R d_gt0))).

(* The premises are d >= 1, bounds with low_j < high_j, m > 0 and eps >= 0. *)
(*@ WHOLE.box-gauss-approximate *)
Theorem box_gauss_approximate_dp (n : nat) :
  approximate_dp (@Sensitivity.neighbours R n d) eps profile (fun X => box_gauss_approximate n X).
Proof.
apply: (@box_approximate _ _ _ _ n%:R).
- exact: gauss_weights_replaced_neq0.
- exact: sums_of_sym.
- by right; exact: sums_of_count.
apply: gaussian_noise_approximate => //; exact: weighted_sums_move.
Qed.

Definition box_gauss_approximate_list := box_release low high (gauss_weights_added R d)
  (sums_of_list low high)
  (gaussian_weight 1 (entries d.+1) (approximate_scale_gt0 m_gt0 (gauss_sensitivity_added_gt0 R d_gt0))).

(* The premises are d >= 1, bounds with low_j < high_j, m > 0 and eps >= 0. *)
(*@ ADD-REMOVE.box-gauss-approximate *)
Theorem box_gauss_approximate_list_dp :
  approximate_dp (@added_or_removed 'cV[R]_d) eps profile (fun X => box_gauss_approximate_list X).
Proof.
apply: (@box_approximate _ _ _ _ 0).
- exact: gauss_weights_added_neq0.
- exact: sums_of_list_sym.
- by left; exact: gauss_count_added_neq0.
apply: gaussian_noise_approximate => //; exact: weighted_list_sums_move.
Qed.

End Box.
