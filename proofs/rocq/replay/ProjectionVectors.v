(* Releases of mechanisms that end with a projection, computed by the kernel, for tests of the
   Python code: projection-mechanism and naive-pce.

   The projection of a matrix needs its eigenvectors, which are rarely rational.  So the rows
   start from what is projected: a spectrum a, on the eigenvectors (3, 4)/5 and (-4, 3)/5.  The
   noise is the one that leads to this matrix, and what is released has the spectrum
   max (a_i - theta, 0).  The lemmas say of every map to nearest points that it gives this, for
   a theta that is zero, or, in the ball of trace one, that makes the trace one.

   Of naive-pce the squared radius is rational because beta = n e^(-L) for a rational L with
   rational sqrt (d L); rows that are longer than the radius count as zero.

   Assumed: nothing. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Symmetric SymmetricMechanisms.
From covassay Require Import GaussianMechanisms Releases RationalData ReleaseVectors.
From covassay Require Euclidean MatrixNorms Sensitivity Projections.
From mathcomp Require Import rat.

Lemma nearest_unique (R : realType) d (K : 'M[R]_d -> Prop) A P Q :
  Projections.projection K A P -> Projections.projection K A Q -> P = Q.
Proof.
move=> AP AQ; apply/eqP; rewrite -subr_eq0; apply/eqP; apply: frobenius_definite.
have := Projections.projection_nonexpansive AP AQ; rewrite subrr -MatrixNorms.sqr_frob_norm.
have -> : MatrixNorms.frob_dot (0 : 'M[R]_d) 0 = 0 by rewrite /MatrixNorms.frob_dot mulmx0 mxtrace0.
by move=> le; apply/eqP; rewrite -sqrf_eq0 eq_le le sqr_ge0.
Qed.

(* Matrices with given orthonormal eigenvectors. *)
Section Spectrum.
Variables (R : realType) (d : nat) (U : 'I_d -> 'cV[R]_d).
Hypothesis orthonormal : forall i j, Euclidean.dot (U i) (U j) = (i == j)%:R.
Hypothesis complete : \sum_i U i *m (U i)^T = 1%:M.
Implicit Types a p : 'I_d -> R.

Definition spectral a : 'M[R]_d := \sum_i a i *: (U i *m (U i)^T).

Lemma frob_spectral a C : MatrixNorms.frob_dot (spectral a) C = \sum_i a i * Euclidean.form C (U i).
Proof.
rewrite MatrixNorms.frob_dotC /spectral /MatrixNorms.frob_dot mulmx_sumr raddf_sum; apply: eq_bigr => i _ /=.
by rewrite -scalemxAr mxtraceZ -/(MatrixNorms.frob_dot C _) MatrixNorms.frob_dot_outer.
Qed.

Lemma trace_forms C : \tr C = \sum_i Euclidean.form C (U i).
Proof.
have -> : \tr C = MatrixNorms.frob_dot (spectral (fun=> 1)) C.
  by rewrite /spectral; under eq_bigr do rewrite scale1r; rewrite complete /MatrixNorms.frob_dot trmx1 mul1mx.
by rewrite frob_spectral; apply: eq_bigr => i _; rewrite mul1r.
Qed.

Lemma form_spectral p u : Euclidean.form (spectral p) u = \sum_i p i * Euclidean.dot (U i) u ^+ 2.
Proof.
rewrite /Euclidean.form /spectral mulmx_suml /Euclidean.dot.
rewrite -/(Euclidean.dot u (\sum_i (p i *: (U i *m (U i)^T)) *m u)).
have dot_sum (F : 'I_d -> 'cV[R]_d) : Euclidean.dot u (\sum_i F i) = \sum_i Euclidean.dot u (F i).
  rewrite /Euclidean.dot exchange_big /=; apply: eq_bigr => k _; rewrite summxE mulr_sumr.
  by apply: eq_bigr.
rewrite dot_sum; apply: eq_bigr => i _.
by rewrite -[LHS]/(Euclidean.form _ u) Euclidean.formZ Euclidean.form_outer.
Qed.

Lemma form_eigenvector p i : Euclidean.form (spectral p) (U i) = p i.
Proof.
rewrite form_spectral (bigD1 i) //= orthonormal eqxx expr1n mulr1 big1 ?addr0 // => j /negbTE ji.
by rewrite orthonormal ji expr0n mulr0.
Qed.

Lemma psd_spectral p : (forall i, 0 <= p i) -> Euclidean.psd (spectral p).
Proof.
move=> p0; split=> [|u]; last first.
  by rewrite form_spectral sumr_ge0 // => i _; rewrite mulr_ge0 ?sqr_ge0.
rewrite /Euclidean.symmetric /spectral raddf_sum; apply: eq_bigr => i _ /=.
by rewrite linearZ /= Euclidean.symmetric_outer.
Qed.

Lemma spectral_nearest a p theta r C : Projections.threshold a p theta r ->
  Euclidean.psd C -> \tr C <= r -> MatrixNorms.frob_dot (spectral a - spectral p) (C - spectral p) <= 0.
Proof.
move=> kkt [_ C0]; rewrite trace_forms => Cr.
have -> : spectral a - spectral p = spectral (fun i => a i - p i).
  by rewrite /spectral -sumrB; apply: eq_bigr => i _; rewrite scalerBl.
rewrite frob_spectral; under eq_bigr do rewrite Euclidean.formB form_eigenvector.
by apply: (Projections.simplex_projection kkt) => // i; exact: C0.
Qed.

Lemma trace_spectral p : \tr (spectral p) = \sum_i p i.
Proof. by rewrite trace_forms; apply: eq_bigr => i _; rewrite form_eigenvector. Qed.

Lemma ball_spectral a p theta : Projections.threshold a p theta 1 ->
  Projections.projection (@psd_trace_ball R d) (spectral a) (spectral p).
Proof.
move=> kkt; have [_ _ p1 _] := kkt; split=> [|C [C0 C1]]; last exact: (spectral_nearest kkt).
by split; [apply: psd_spectral; exact: Projections.threshold_ge0 kkt|rewrite trace_spectral].
Qed.

Lemma psd_spectral_nearest a :
  Projections.projection (@Euclidean.psd R d) (spectral a) (spectral (fun i => Num.max (a i) 0)).
Proof.
have p0 i : 0 <= Num.max (a i) 0 by rewrite le_maxr lexx orbT.
split=> [|C C0]; first exact: psd_spectral.
apply: (@spectral_nearest a _ 0 (Num.max (\tr C) (\sum_i Num.max (a i) 0))) => //.
  split=> //; [|by rewrite le_maxr lexx orbT|by rewrite mul0r].
  by move=> i; rewrite subr0.
by rewrite le_maxr lexx.
Qed.

End Spectrum.

(* ---------------------------------------------------------------------------- *)
(* The rational eigenvectors (3, 4)/5 and (-4, 3)/5                             *)

Definition eigenvectors : seq (seq rat) := [:: [:: frac 3 5; frac 4 5]; [:: - frac 4 5; frac 3 5]].
Definition spectral_entry (a : nat -> rat) (i j : nat) : rat :=
  sum_to 2 (fun l => a l * (entry eigenvectors l i * entry eigenvectors l j)).

(* The noise that leads from q to the matrix with spectrum a; and what the projection leaves of a. *)
Definition noise_for (q : nat -> nat -> rat) (s : rat) (a : nat -> rat) (i j : nat) : rat :=
  (spectral_entry a i j - q i j) / s.
Definition shrunk (theta : rat) (a : nat -> rat) (i : nat) : rat := Num.max (a i - theta) 0.
Definition shrunk_to_one (theta : rat) (a : nat -> rat) : bool :=
  let total := sum_to 2 (shrunk theta a) in
  [&& 0 <= theta, total <= 1 & theta * (1 - total) == 0].

Section RationalSpectrum.
Variable R : realType.
Notation U := (fun l : 'I_2 => \col_k ratr (entry eigenvectors l k) : 'cV[R]_2).

Lemma eigenvectors_orthonormal i j : Euclidean.dot (U i) (U j) = (i == j)%:R.
Proof.
have -> : Euclidean.dot (U i) (U j)
    = ratr (sum_to 2 (fun k => entry eigenvectors i k * entry eigenvectors j k)).
  by rewrite sum_toE rmorph_sum; apply: eq_bigr => k _; rewrite !mxE rmorphM.
have -> : sum_to 2 (fun k => entry eigenvectors i k * entry eigenvectors j k) = (i == j)%:R.
  by apply/eqP; case: i j => [[|[|i]] //= ?] [[|[|j]] //= ?]; vm_compute.
by rewrite rmorph_nat.
Qed.

Lemma spectral_rat (a : nat -> rat) : spectral U (fun l => ratr (a l)) = entries_of R 2 2 (spectral_entry a).
Proof.
apply/matrixP => i j; rewrite /spectral summxE mxE /spectral_entry sum_toE rmorph_sum; apply: eq_bigr => l _.
by rewrite !mxE big_ord1 !mxE !rmorphM.
Qed.

Lemma eigenvectors_complete : \sum_i U i *m (U i)^T = 1%:M.
Proof.
have -> : \sum_i U i *m (U i)^T = spectral U (fun l => ratr 1).
  by rewrite /spectral; apply: eq_bigr => i _; rewrite rmorph1 scale1r.
rewrite (spectral_rat (fun=> 1)); apply/matrixP => i j; rewrite !mxE.
have -> : spectral_entry (fun=> 1) i j = (i == j)%:R.
  by apply/eqP; case: i j => [[|[|i]] //= ?] [[|[|j]] //= ?]; vm_compute.
by rewrite rmorph_nat.
Qed.

Lemma noise_leads (A : 'M[R]_2) (b : R) (s : rat) q a : A = entries_of R 2 2 q -> 0 < b -> b ^+ 2 = ratr s ->
  A + b *: (Num.sqrt (ratr s) *: entries_of R 2 2 (noise_for q s a)) = spectral U (fun l => ratr (a l)).
Proof.
move=> AE b0 bs; have s0 : s != 0.
  by rewrite -(fmorph_eq0 (ratr_rmorphism R)) /= -bs expf_neq0 // gt_eqF.
have -> : Num.sqrt (ratr s) = b by rewrite -bs sqrtr_sqr gtr0_norm.
rewrite spectral_rat scalerA -expr2 bs AE; apply/matrixP => i j; rewrite !mxE -rmorphM -rmorphD.
by congr ratr; rewrite /noise_for mulrC divfK // addrC subrK.
Qed.

Lemma ratr_shrunk theta a i : ratr (shrunk theta a i) = Num.max (ratr (a i) - ratr theta) 0 :> R.
Proof.
rewrite /shrunk -rmorphB; have [h|/ltW h] := leP (a i - theta) 0.
  by rewrite rmorph0 max_r // lerq0.
by rewrite max_l // ler0q.
Qed.

Lemma shrunk_threshold theta a : shrunk_to_one theta a ->
  @Projections.threshold R 2 (fun l => ratr (a l)) (fun l => ratr (shrunk theta a l)) (ratr theta) 1.
Proof.
move=> /and3P[t0 le1 /eqP slack].
have totalE : \sum_(i < 2) ratr (shrunk theta a i) = ratr (sum_to 2 (shrunk theta a)) :> R.
  by rewrite sum_toE rmorph_sum.
split; first by rewrite ler0q.
- by move=> i; exact: ratr_shrunk.
- by rewrite totalE -(rmorph1 (ratr_rmorphism R)) ler_rat.
by rewrite totalE -(rmorph1 (ratr_rmorphism R)) -rmorphB -rmorphM slack rmorph0.
Qed.

End RationalSpectrum.

Definition spectrum (a1 a2 : rat) (i : nat) : rat := nth 0 [:: a1; a2] i.

(* The row of a release y with noise z, of square scale s. *)
Definition projected_row (start : seq rat) (s : rat) (z y : nat -> nat -> rat) : seq rat :=
  start ++ s :: matrix_columns 2 2 z ++ matrix_columns 2 2 y.

(* ---------------------------------------------------------------------------- *)
(* projection-mechanism                                                         *)

Definition ball_noise (n : nat) (rho : rat) x (a : nat -> rat) : nat -> nat -> rat :=
  noise_for (moment n x) (gauss_cov_scale n 2 rho) a.

Lemma projection_mechanism_holds (R : realType) n (rho : rat) x (e : ensemble) (n_gt0 : (0 < n)%N)
    (rho_gt0 : 0 < ratr rho :> R) (p : 'M[R]_2 -> 'M[R]_2)
    (p_nearest : forall A, Projections.projection (@psd_trace_ball R 2) A (p A)) :
  let f Z := p (Sensitivity.covariance (rows R n 2 x) + matrix_scale n (ratr rho) *: Z) in
  computes (projection_mechanism n_gt0 rho_gt0 p_nearest e (rows R n 2 x))
    (symmetric_law (off_diagonal R e) (unit_gaussian R 1 (entries 2))) f /\
  forall theta a, shrunk_to_one theta a ->
    f (Num.sqrt (ratr (gauss_cov_scale n 2 rho)) *: entries_of R 2 2 (ball_noise n rho x a))
    = entries_of R 2 2 (spectral_entry (shrunk theta a)).
Proof.
move=> f; have [law_cov _] := gauss_cov_holds 2 x e n_gt0 rho_gt0; split.
  exact: (image_computes (nearest_measurable p_nearest) law_cov).
move=> theta a one; rewrite /f (@noise_leads R).
- rewrite -spectral_rat; apply: nearest_unique (p_nearest _) _.
  apply: ball_spectral; [exact: eigenvectors_orthonormal|exact: eigenvectors_complete|].
  exact: shrunk_threshold one.
- exact: covariance_rows.
- exact: matrix_scale_gt0.
- exact: matrix_scale_square.
Qed.

Definition projection_rows : seq (seq rat) :=
  [seq projected_row ([:: c.1.1%:R; 2%:R; c.1.2; 0] ++ data_columns c.1.1 2 sample_rows)
         (gauss_cov_scale c.1.1 2 c.1.2) (ball_noise c.1.1 c.1.2 sample_rows (spectrum c.2.1.1 c.2.1.2))
         (spectral_entry (shrunk c.2.2 (spectrum c.2.1.1 c.2.1.2)))
   | c <- [seq c <- [:: (2%N, 1, (frac 3 5, - frac 1 5, 0)); (2%N, frac 1 2, (frac 4 5, frac 3 5, frac 1 5));
                        (3%N, 1, (frac 3 2, - frac 1 4, frac 1 2))]
           | shrunk_to_one c.2.2 (spectrum c.2.1.1 c.2.1.2)]].

(* ---------------------------------------------------------------------------- *)
(* naive-pce: option 0 for "reconstructed", 1 for "tight"                        *)

Definition pce_radius (d : nat) (kappa L t : rat) : rat := kappa * (d%:R + 2%:R * t + 2%:R * L).
Definition shortened (n d : nat) (r2 : rat) (x : seq (seq rat)) : seq (seq rat) :=
  [seq if square_length d x k <= r2 then nth [::] x k else [::] | k <- iota 0 n].
Definition naive_pce_scale (tight : bool) (n : nat) (rho r2 : rat) : rat :=
  (if tight then 1 else 2%:R) * r2 ^+ 2 / (n%:R ^+ 2 * rho).
Definition naive_pce_noise (tight : bool) (n : nat) (rho r2 : rat) x (a : nat -> rat) : nat -> nat -> rat :=
  noise_for (moment n (shortened n 2 r2 x)) (naive_pce_scale tight n rho r2) a.

Section NaivePce.
Variables (R : realType) (n : nat) (rho kappa L t : rat) (beta : R) (x : seq (seq rat)) (tight : bool).
Hypotheses (n_gt0 : (0 < n)%N) (rho_gt0 : 0 < ratr rho :> R) (kappa_gt0 : 0 < ratr kappa :> R).
Hypotheses (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).
Hypotheses (beta_L : ln (n%:R / beta) = ratr L) (t_ge0 : 0 <= t) (t_L : t ^+ 2 = 2%:R * L).
Notation r2 := (pce_radius 2 kappa L t).

Lemma squared_radius_rat : squared_radius n 2 (ratr kappa) beta = ratr r2.
Proof.
rewrite /squared_radius /log_term beta_L.
have -> : Num.sqrt (2%:R * ratr L) = ratr t :> R.
  have -> : 2%:R * ratr L = ratr t ^+ 2 :> R by rewrite -rmorphX t_L rmorphM rmorph_nat.
  by rewrite sqrtr_sqr ger0_norm // ler0q.
by rewrite /pce_radius -(rmorph_nat (ratr_rmorphism R) 2) /= -!rmorphM -!rmorphD -rmorphM.
Qed.

Lemma short_rows : short_covariance (ratr kappa) beta (rows R n 2 x)
  = entries_of R 2 2 (moment n (shortened n 2 r2 x)).
Proof.
rewrite -covariance_rows /short_covariance; congr Sensitivity.covariance; apply/funext => k.
rewrite /short squared_radius_rat square_length_rows ler_rat.
apply/colP => i; rewrite [RHS]mxE /entry (nth_map 0%N) ?size_iota // nth_iota // add0n.
by case: ifP => _; rewrite mxE // nth_nil rmorph0.
Qed.

Lemma naive_pce_holds (p : 'M[R]_2 -> 'M[R]_2)
    (p_nearest : forall A, Projections.projection (@Euclidean.psd R 2) A (p A)) :
  let f Z := p (short_covariance (ratr kappa) beta (rows R n 2 x)
                + pce_scale n 2 (ratr rho) (ratr kappa) beta tight *: Z) in
  computes (naive_pce n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 p_nearest tight (rows R n 2 x))
    (symmetric_law 1 (unit_gaussian R 1 (entries 2))) f /\
  forall a, f (Num.sqrt (ratr (naive_pce_scale tight n rho r2))
               *: entries_of R 2 2 (naive_pce_noise tight n rho r2 x a))
            = entries_of R 2 2 (spectral_entry (shrunk 0 a)).
Proof.
move=> f; have b0 : 0 < pce_scale n 2 (ratr rho) (ratr kappa) beta tight by exact: pce_scale_gt0.
split.
  apply: (image_computes (nearest_measurable p_nearest)).
  by apply: symmetric_computes => *; [exact: b0|exact: gaussian_unit].
move=> a; rewrite /f (@noise_leads R).
- rewrite -spectral_rat; apply: nearest_unique (p_nearest _) _.
  have -> : (fun l : 'I_2 => ratr (shrunk 0 a l) : R) = fun l => Num.max (ratr (a l)) 0.
    by apply/funext => l; rewrite ratr_shrunk rmorph0 subr0.
  by apply: psd_spectral_nearest; [exact: eigenvectors_orthonormal|exact: eigenvectors_complete].
- exact: short_rows.
- exact: b0.
rewrite /pce_scale sqr_sqrtr; last first.
  by apply: ltW; rewrite -sqrtr_gt0; exact: b0.
rewrite squared_radius_rat /naive_pce_scale fmorph_div; congr (_ / _).
  rewrite -rmorphX; move: (r2 ^+ 2) => u; rewrite rmorphM; congr (_ * _).
  by rewrite /variance_factor; case: tight; rewrite ?rmorph1 ?rmorph_nat.
by rewrite rmorphM rmorphX rmorph_nat.
Qed.

End NaivePce.

(* The squared radius is 10, with kappa = 1, L = 2 and t = 2; one row is a little longer. *)
Definition long_data : seq (seq rat) :=
  [:: [:: 3%:R; frac 11 10]; [:: 2%:R; 2%:R]; [:: - 1; 1]].

Definition naive_pce_rows : seq (seq rat) :=
  let kappa := 1 in let L := 2%:R in let r2 := pce_radius 2 kappa L 2%:R in
  [seq projected_row ([:: 3%:R; 2%:R; c.1.2; (nat_of_bool c.1.1)%:R] ++ data_columns 3 2 long_data ++ [:: kappa; L])
         (naive_pce_scale c.1.1 3 c.1.2 r2)
         (naive_pce_noise c.1.1 3 c.1.2 r2 long_data (spectrum c.2.1 c.2.2))
         (spectral_entry (shrunk 0 (spectrum c.2.1 c.2.2)))
   | c <- [:: (false, 1, (5%:R, 1)); (true, 1, (6%:R, - 2%:R)); (false, frac 1 2, (4%:R, - 1))]].
