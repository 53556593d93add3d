(* Releases of mechanisms with additive noise that the kernel computes, for tests of the Python code.

   Each list of rows has, in rational numbers: n, d, the budget, an option, a data set x, the
   square s of the noise scale, a matrix z, and what is released when the noise of scale one is
   sqrt s times z (RationalData.v).  Beside each list stands a lemma, `releases`, with two parts:

   - the law of the whole mechanism, as the theorem WHOLE.... speaks of it, is that of f(Z), where
     Z has the law of noise of scale one, and f is written out in the lemma;
   - f of sqrt s times z, on the data x, is the matrix that was evaluated.

   Assumed: nothing. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Symmetric Triangle Releases.
From covassay Require Import RationalData SymmetricMechanisms GaussianMechanisms ApproximateMechanisms.
From covassay Require Euclidean MatrixNorms Sensitivity CentredSensitivity Algorithm2.
From mathcomp Require Import rat.

(* ---------------------------------------------------------------------------- *)
(* Pure differential privacy                                                    *)

Section Pure.
Variables (R : realType) (n d : nat) (eps : rat) (x : seq (seq rat)).
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < ratr eps :> R).
Notation X := (rows R n d x).
Notation b := (noise_scale n (ratr eps : R)).

Lemma noise_scale_squared (a : R) (s : rat) : a ^+ 2 = ratr s ->
  b a ^+ 2 = ratr (s / (n%:R * eps) ^+ 2).
Proof.
move=> E; rewrite /noise_scale; have <- := ratr_square_div (n%:R * eps) E.
by rewrite rmorphM rmorph_nat.
Qed.

Lemma scale_gt0 (a : R) : 0 < a -> 0 < b a. Proof. exact: noise_scale_gt0. Qed.

Lemma nat_square (k : nat) : k%:R ^+ 2 = ratr (k%:R ^+ 2) :> R.
Proof. by rewrite rmorphX rmorph_nat. Qed.

(* Noise of the scale a/(n eps), shaped by a norm, on all entries of a query ... *)
Lemma full_releases m k (N : norm R m k) (q : Sensitivity.dataset R n d -> 'M[R]_(m, k)) out
    (a : R) (s : rat) (a_gt0 : 0 < b a) :
  q X = entries_of R m k out -> b a ^+ 2 = ratr s ->
  releases (with_noise (matrices R m k) (norm_weight N a_gt0) q X) (law (unit_noise N))
    (fun Z => q X + b a *: Z) s (noisy out s).
Proof.
move=> qX as_; apply: additive; [|exact: qX|exact: a_gt0|exact: as_].
by apply: matrix_computes; [exact: a_gt0|exact: norm_unit].
Qed.

(* ... or on those on and above the diagonal. *)
Lemma symmetric_releases (N : norm R 1 (entries d)) (q : Sensitivity.dataset R n d -> 'M[R]_d) out
    (a : R) (s : rat) (a_gt0 : 0 < b a) :
  q X = entries_of R d d out -> b a ^+ 2 = ratr s ->
  releases (symmetric_noise 1 (norm_weight N a_gt0) q X) (symmetric_law 1 (unit_noise N))
    (fun Z => q X + b a *: Z) s (noisy out s).
Proof.
move=> qX as_; apply: additive; [|exact: qX|exact: a_gt0|exact: as_].
by apply: symmetric_computes; [exact: a_gt0|exact: norm_unit].
Qed.

End Pure.

Definition nuclear_laplace_scale (n d : nat) (eps : rat) : rat := 2%:R ^+ 2 / (n%:R * eps) ^+ 2.
Definition nuclear_laplace_release n d eps x := noisy (moment n x) (nuclear_laplace_scale n d eps).
Definition nuclear_laplace_rows :=
  square_rows 0 sample_square nuclear_laplace_scale nuclear_laplace_release.

Lemma nuclear_laplace_holds (R : realType) n d (eps : rat) x (n_gt0 : (0 < n)%N)
    (eps_gt0 : 0 < ratr eps :> R) :
  releases (nuclear_laplace d n_gt0 eps_gt0 (rows R n d x)) (law (unit_noise (Algorithm2.nuclear R d)))
    (fun Z => Sensitivity.covariance (rows R n d x) + noise_scale n (ratr eps) 2%:R *: Z)
    (nuclear_laplace_scale n d eps) (nuclear_laplace_release n d eps x).
Proof. by apply: full_releases; [exact: covariance_rows|apply: noise_scale_squared; exact: nat_square]. Qed.

Definition symmetric_scale (n d : nat) (eps : rat) : rat := 2%:R ^+ 2 / (n%:R * eps) ^+ 2.
Definition nuclear_laplace_symmetric_release n d eps x :=
  noisy (moment n x) (symmetric_scale n d eps).
Definition nuclear_laplace_symmetric_rows :=
  square_rows 0 sample_noise symmetric_scale nuclear_laplace_symmetric_release.

Lemma nuclear_laplace_symmetric_holds (R : realType) n d (eps : rat) x (n_gt0 : (0 < n)%N)
    (eps_gt0 : 0 < ratr eps :> R) :
  releases (nuclear_laplace_symmetric d n_gt0 eps_gt0 (rows R n d x))
    (symmetric_law 1 (unit_noise (symmetric_norm (Algorithm2.nuclear R d))))
    (fun Z => Sensitivity.covariance (rows R n d x) + noise_scale n (ratr eps) 2%:R *: Z)
    (symmetric_scale n d eps) (nuclear_laplace_symmetric_release n d eps x).
Proof. by apply: symmetric_releases; [exact: covariance_rows|apply: noise_scale_squared; exact: nat_square]. Qed.

(* The squares of the sensitivities in l1, of the entries on and above the diagonal and of all. *)
Definition triangle_square (d : nat) : rat :=
  if (1 < d)%N then ((d + 2) ^ 2 + 4 * (d ^ 2 %/ 4))%:R / 2%:R ^+ 2 else 1.
Definition full_square (d : nat) : rat := if (1 < d)%N then 2%:R * d%:R ^+ 2 else 1.

Section L1.
Variables (R : realType) (d : nat).

Lemma root_two_square : (Num.sqrt 2%:R * d%:R) ^+ 2 = ratr (2%:R * d%:R ^+ 2) :> R.
Proof. by rewrite exprMn sqr_sqrtr ?ler0n // rmorphM rmorphX !rmorph_nat. Qed.

Lemma triangle_squareE : triangle_l1 R d ^+ 2 = ratr (triangle_square d).
Proof.
rewrite /triangle_l1 /triangle_square; case: ifP => _; last by rewrite expr1n rmorph1.
by rewrite expr_div_n sqr_sqrtr ?ler0n // fmorph_div rmorphX !rmorph_nat.
Qed.

Lemma full_squareE : entry_sensitivity R d ^+ 2 = ratr (full_square d).
Proof.
rewrite /entry_sensitivity /full_square; case: ifP => _; last by rewrite expr1n rmorph1.
exact: root_two_square.
Qed.

End L1.

Definition l1_rows : seq (seq rat) :=
  [seq [:: d%:R; triangle_square d; full_square d] | d <- iota 1 8].

Lemma l1_squares_hold (R : realType) d :
  triangle_l1 R d ^+ 2 = ratr (triangle_square d) /\ entry_sensitivity R d ^+ 2 = ratr (full_square d).
Proof. by split; [exact: triangle_squareE|exact: full_squareE]. Qed.

(* lap-cov; option 1 is "tight". *)
Definition lap_cov_scale (c : calibration) (n d : nat) (eps : rat) : rat :=
  (if c is Paper then 2%:R * d%:R ^+ 2 else triangle_square d) / (n%:R * eps) ^+ 2.
Definition lap_cov_release c n d eps x := noisy (moment n x) (lap_cov_scale c n d eps).
Definition lap_cov_rows :=
  square_rows 0 sample_noise (lap_cov_scale Paper) (lap_cov_release Paper) ++
  square_rows 1 sample_noise (lap_cov_scale Tight) (lap_cov_release Tight).

Lemma lap_cov_holds (R : realType) n d (eps : rat) x (c : calibration) (n_gt0 : (0 < n)%N)
    (d_gt0 : (0 < d)%N) (eps_gt0 : 0 < ratr eps :> R) :
  releases (lap_cov n_gt0 eps_gt0 d_gt0 c (rows R n d x))
    (symmetric_law 1 (unit_noise (l1_norm R 1 (entries d))))
    (fun Z => Sensitivity.covariance (rows R n d x) + noise_scale n (ratr eps) (lap_cov_numerator R d c) *: Z)
    (lap_cov_scale c n d eps) (lap_cov_release c n d eps x).
Proof.
apply: symmetric_releases; [exact: covariance_rows|apply: noise_scale_squared].
by case: c; [exact: root_two_square|exact: triangle_squareE].
Qed.

(* entrywise-laplace; option: 1 for "tight", 2 more for noise on the triangle. *)
Definition entrywise_scale (c : calibration) (full : bool) (n d : nat) (eps : rat) : rat :=
  (if c is Paper then (2%:R * d%:R) ^+ 2 else if full then full_square d else triangle_square d)
  / (n%:R * eps) ^+ 2.
Definition entrywise_release c full n d eps x := noisy (moment n x) (entrywise_scale c full n d eps).
Definition entrywise_rows :=
  square_rows 0 sample_square (entrywise_scale Paper true) (entrywise_release Paper true) ++
  square_rows 1 sample_square (entrywise_scale Tight true) (entrywise_release Tight true) ++
  square_rows 2%:R sample_noise (entrywise_scale Paper false) (entrywise_release Paper false) ++
  square_rows 3%:R sample_noise (entrywise_scale Tight false) (entrywise_release Tight false).

Section Entrywise.
Variables (R : realType) (n d : nat) (eps : rat) (x : seq (seq rat)) (c : calibration).
Hypotheses (n_gt0 : (0 < n)%N) (d_gt0 : (0 < d)%N) (eps_gt0 : 0 < ratr eps :> R).

Lemma entrywise_square full :
  entrywise_numerator R d c full ^+ 2
  = ratr (if c is Paper then (2%:R * d%:R) ^+ 2 else if full then full_square d else triangle_square d).
Proof.
case: c; first by rewrite rmorphX rmorphM !rmorph_nat.
by case: full; [exact: full_squareE|exact: triangle_squareE].
Qed.

Lemma entrywise_holds full :
  releases (entrywise n_gt0 eps_gt0 d_gt0 c full (rows R n d x))
    (if full then law (unit_noise (l1_norm R d d))
     else symmetric_law 1 (unit_noise (l1_norm R 1 (entries d))))
    (fun Z => Sensitivity.covariance (rows R n d x)
              + noise_scale n (ratr eps) (entrywise_numerator R d c full) *: Z)
    (entrywise_scale c full n d eps) (entrywise_release c full n d eps x).
Proof.
case: full; [apply: full_releases|apply: symmetric_releases];
  by [exact: covariance_rows|apply: noise_scale_squared; exact: entrywise_square].
Qed.

End Entrywise.

(* k-norm; options 0 to 4 are schatten1, covariance, l1, l2, linf. *)
Definition body_square (d : nat) (k : body) : rat :=
  if (d <= 1)%N then 1 else
  match k with
  | Schatten1 => 2%:R ^+ 2 | Covariance => 1 | L1 => triangle_square d | L2 => 2%:R | Linf => 1
  end.
Definition k_norm_scale k (n d : nat) (eps : rat) : rat := body_square d k / (n%:R * eps) ^+ 2.
Definition k_norm_release k n d eps x := noisy (moment n x) (k_norm_scale k n d eps).
Definition k_norm_rows :=
  flatten [seq square_rows p.1 sample_noise (k_norm_scale p.2) (k_norm_release p.2)
    | p <- [:: (0, Schatten1); (1, Covariance); (2%:R, L1); (3%:R, L2); (4%:R, Linf)]].

Lemma k_norm_holds (R : realType) n d (eps : rat) x (k : body) (n_gt0 : (0 < n)%N)
    (eps_gt0 : 0 < ratr eps :> R) :
  releases (k_norm d n_gt0 eps_gt0 k (rows R n d x)) (symmetric_law 1 (unit_noise (body_norm R d k)))
    (fun Z => Sensitivity.covariance (rows R n d x) + noise_scale n (ratr eps) (body_sensitivity R d k) *: Z)
    (k_norm_scale k n d eps) (k_norm_release k n d eps x).
Proof.
apply: symmetric_releases; [exact: covariance_rows|apply: noise_scale_squared].
rewrite /body_sensitivity /body_square; case: ifP => _; first by rewrite expr1n rmorph1.
case: k; rewrite ?expr1n ?rmorph1 //; [exact: nat_square|exact: triangle_squareE|].
by rewrite sqr_sqrtr ?ler0n // rmorph_nat.
Qed.

(* centred-covariance *)
Definition mean_entry (n : nat) (x : seq (seq rat)) (i : nat) : rat :=
  sum_to n (fun k => entry x k i) / n%:R.
Definition centred_moment (n : nat) (x : seq (seq rat)) (i j : nat) : rat :=
  sum_to n (fun k => (entry x k i - mean_entry n x i) * (entry x k j - mean_entry n x j)) / n%:R.
Definition centred_square (n d : nat) (eps : rat) : rat :=
  (if (1 < d)%N then 27%:R else 16%:R) * (n.-1%:R / n%:R ^+ 2) ^+ 2 / eps ^+ 2.
Definition centred_release n d eps x := noisy (centred_moment n x) (centred_square n d eps).
Definition centred_release_rows := square_rows 0 sample_noise centred_square centred_release.

Lemma centred_moment_rows (R : realType) n d x :
  CentredSensitivity.centred_covariance (rows R n d x) = entries_of R d d (centred_moment n x).
Proof.
have meanE i (k : 'I_1) : CentredSensitivity.mean (rows R n d x) i k = ratr (mean_entry n x i).
  rewrite /CentredSensitivity.mean !mxE summxE /mean_entry fmorph_div rmorph_nat mulrC; congr (_ / _).
  by rewrite sum_toE rmorph_sum; apply: eq_bigr => l _; rewrite mxE.
apply/matrixP => i j; rewrite !mxE summxE fmorph_div rmorph_nat mulrC; congr (_ / _).
rewrite sum_toE rmorph_sum; apply: eq_bigr => k _.
rewrite mxE big_ord1; move: (meanE i 0) (meanE j 0).
move: (CentredSensitivity.mean _) => m mi mj.
by rewrite !mxE mi mj -!rmorphB -rmorphM.
Qed.

Lemma centred_release_holds (R : realType) n d (eps : rat) x (n_gt0 : (0 < n)%N) (n_gt1 : (1 < n)%N)
    (eps_gt0 : 0 < ratr eps :> R) :
  releases (centred_laplace d n_gt0 eps_gt0 n_gt1 (rows R n d x))
    (symmetric_law 1 (unit_noise (symmetric_norm (Algorithm2.nuclear R d))))
    (fun Z => CentredSensitivity.centred_covariance (rows R n d x) + centred_scale n d (ratr eps) *: Z)
    (centred_square n d eps) (centred_release n d eps x).
Proof.
apply: additive.
- by apply: symmetric_computes => *; [exact: centred_scale_gt0|exact: norm_unit].
- exact: centred_moment_rows.
- exact: centred_scale_gt0.
- have nE : (n.-1)%:R / n%:R ^+ 2 = ratr (n.-1%:R / n%:R ^+ 2) :> R.
    by rewrite fmorph_div rmorphX !rmorph_nat.
  rewrite /centred_scale /centred_square nE; move: (_ / _ : rat) {nE} => t.
  rewrite expr_div_n exprMn fmorph_div rmorphM !rmorphX; congr (_ * _ / _).
  rewrite /centred_numerator; case: ifP => _; last by rewrite rmorph_nat; ring.
  by rewrite exprMn sqr_sqrtr ?ler0n // rmorph_nat; ring.
Qed.

(* laplace: the diagonal of the covariance. *)
Definition laplace_scale (n d : nat) (eps : rat) : rat :=
  (if (1 < d)%N then 2%:R else 1) ^+ 2 / (n%:R * eps) ^+ 2.
Definition diagonal_moments n x (i j : nat) : rat := moment n x j j.
Definition laplace_release n d eps x := noisy (diagonal_moments n x) (laplace_scale n d eps).
Definition laplace_rows := vector_rows 0 sample_noise laplace_scale laplace_release.

Lemma diagonal_rows (R : realType) n d x :
  second_moments (rows R n d x) = entries_of R 1 d (diagonal_moments n x).
Proof.
by apply/rowP => j; rewrite /second_moments covariance_rows !mxE.
Qed.

Lemma laplace_holds (R : realType) n d (eps : rat) x (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < ratr eps :> R) :
  releases (laplace d n_gt0 eps_gt0 (rows R n d x)) (law (unit_noise (l1_norm R 1 d)))
    (fun Z => second_moments (rows R n d x) + noise_scale n (ratr eps) (second_moments_sensitivity R d) *: Z)
    (laplace_scale n d eps) (laplace_release n d eps x).
Proof.
apply: full_releases; [exact: diagonal_rows|apply: noise_scale_squared].
by rewrite /second_moments_sensitivity; case: ifP => _; rewrite rmorphX ?rmorph_nat ?rmorph1.
Qed.

(* private-trace *)
Definition trace_moment (n d : nat) (x : seq (seq rat)) : rat := sum_to d (fun i => moment n x i i).
Definition private_trace_scale (n d : nat) (eps : rat) : rat := 1 / (n%:R * eps) ^+ 2.
Definition private_trace_release n d eps x (z : seq (seq rat)) (i j : nat) : rat :=
  trace_moment n d x + private_trace_scale n d eps * entry z i j.
Definition private_trace_rows :=
  release_rows (fun=> 1%N) (fun=> 1%N) 0 sample_noise private_trace_scale private_trace_release.

Lemma trace_rows (R : realType) n d x :
  \tr (Sensitivity.covariance (rows R n d x)) = ratr (trace_moment n d x).
Proof.
rewrite covariance_rows /mxtrace /trace_moment sum_toE rmorph_sum.
by apply: eq_bigr => i _; rewrite mxE.
Qed.

Lemma private_trace_holds (R : realType) n d (eps : rat) x (n_gt0 : (0 < n)%N)
    (eps_gt0 : 0 < ratr eps :> R) :
  computes (private_trace d n_gt0 eps_gt0 (rows R n d x)) (law (unit_laplace R))
    (fun z => \tr (Sensitivity.covariance (rows R n d x)) + noise_scale n (ratr eps) 1 * z) /\
  forall z, \tr (Sensitivity.covariance (rows R n d x))
      + noise_scale n (ratr eps) 1 * (Num.sqrt (ratr (private_trace_scale n d eps)) * ratr (entry z 0 0))
    = ratr (private_trace_release n d eps x z 0 0).
Proof.
have b0 : 0 < noise_scale n (ratr eps : R) 1 by exact: scale_gt0.
split=> [|z]; first by apply: line_computes => *; [exact: b0|exact: laplace_unit].
have E : noise_scale n (ratr eps : R) 1 ^+ 2 = ratr (private_trace_scale n d eps).
  by apply: noise_scale_squared; rewrite expr1n rmorph1.
by rewrite -E sqrtr_sqr gtr0_norm // mulrA -expr2 E trace_rows rmorphD rmorphM.
Qed.

(* ---------------------------------------------------------------------------- *)
(* Zero-concentrated differential privacy                                       *)

Definition gaussian_square (n d : nat) (rho : rat) : rat :=
  (if (1 < d)%N then 2%:R else 1) / n%:R ^+ 2 / (2%:R * rho).
Definition gaussian_release n d rho x := noisy (diagonal_moments n x) (gaussian_square n d rho).
Definition gaussian_rows := vector_rows 0 sample_noise gaussian_square gaussian_release.

Lemma gaussian_holds (R : realType) n d (rho : rat) x (n_gt0 : (0 < n)%N)
    (rho_gt0 : 0 < ratr rho :> R) :
  releases (gaussian d n_gt0 rho_gt0 (rows R n d x)) (law (unit_gaussian R 1 d))
    (fun Z => second_moments (rows R n d x) + gaussian_scale (ratr rho) (moments_change R n d) *: Z)
    (gaussian_square n d rho) (gaussian_release n d rho x).
Proof.
have b0 : 0 < gaussian_scale (ratr rho) (moments_change R n d).
  by apply: gaussian_scale_gt0 => //; exact: moments_change_gt0.
apply: additive; [|exact: diagonal_rows|exact: b0|].
  by apply: matrix_computes => *; [exact: b0|exact: gaussian_unit].
rewrite /gaussian_scale /moments_change !expr_div_n !sqr_sqrtr; last 2 first.
- by rewrite mulr_ge0 ?ler0n // ltW.
- by case: ifP.
rewrite /gaussian_square !fmorph_div rmorphX rmorphM !rmorph_nat; congr (_ / _ / _).
by case: ifP => _; rewrite ?rmorph_nat ?rmorph1.
Qed.

(* gauss-cov; option 0 for "wigner", 1 for "goe". *)
Definition gauss_cov_scale (n d : nat) (rho : rat) : rat := 1 / (n%:R ^+ 2 * rho).
Definition gauss_cov_release n d rho x := noisy (moment n x) (gauss_cov_scale n d rho).
Definition gauss_cov_rows :=
  square_rows 0 sample_noise gauss_cov_scale gauss_cov_release ++
  square_rows 1 sample_noise gauss_cov_scale gauss_cov_release.

Lemma matrix_scale_square (R : realType) n d (rho : rat) : 0 < ratr rho :> R ->
  matrix_scale n (ratr rho : R) ^+ 2 = ratr (gauss_cov_scale n d rho).
Proof.
move=> rho0; rewrite /matrix_scale exprVn exprMn sqr_sqrtr ?ltW //.
by rewrite /gauss_cov_scale fmorph_div rmorphM rmorphX rmorph_nat rmorph1 div1r.
Qed.

Lemma gauss_cov_holds (R : realType) n d (rho : rat) x (e : ensemble) (n_gt0 : (0 < n)%N)
    (rho_gt0 : 0 < ratr rho :> R) :
  releases (gauss_cov d n_gt0 rho_gt0 e (rows R n d x))
    (symmetric_law (off_diagonal R e) (unit_gaussian R 1 (entries d)))
    (fun Z => Sensitivity.covariance (rows R n d x) + matrix_scale n (ratr rho) *: Z)
    (gauss_cov_scale n d rho) (gauss_cov_release n d rho x).
Proof.
have b0 : 0 < matrix_scale n (ratr rho : R) by exact: matrix_scale_gt0.
apply: additive; [|exact: covariance_rows|exact: b0|exact: matrix_scale_square].
by apply: symmetric_computes => *; [exact: b0|exact: gaussian_unit].
Qed.

(* ---------------------------------------------------------------------------- *)
(* Approximate differential privacy                                             *)

(* The budget is half the multiplier, for which there are eps <= 1 and delta < 1. *)
Definition gaussian_approximate_square (n d : nat) (b : rat) : rat :=
  (2%:R * b) ^+ 2 * ((if (1 < d)%N then 2%:R else 1) / n%:R ^+ 2).
Definition gaussian_approximate_release n d b x :=
  noisy (diagonal_moments n x) (gaussian_approximate_square n d b).
Definition gaussian_approximate_rows :=
  vector_rows 0 sample_noise gaussian_approximate_square gaussian_approximate_release.

(* Option 0 for "wigner", 1 for "goe". *)
Definition gauss_cov_approximate_scale (n d : nat) (b : rat) : rat := (2%:R * b) ^+ 2 * (2%:R / n%:R ^+ 2).
Definition gauss_cov_approximate_release n d b x := noisy (moment n x) (gauss_cov_approximate_scale n d b).
Definition gauss_cov_approximate_rows :=
  square_rows 0 sample_noise gauss_cov_approximate_scale gauss_cov_approximate_release ++
  square_rows 1 sample_noise gauss_cov_approximate_scale gauss_cov_approximate_release.

Section Approximate.
Variables (R : realType) (n d : nat) (b : rat) (x : seq (seq rat)).
Hypotheses (n_gt0 : (0 < n)%N) (m_gt0 : 0 < ratr (2%:R * b) :> R).
Notation m := (ratr (2%:R * b) : R).
Notation X := (rows R n d x).

Lemma gaussian_approximate_holds :
  releases (gaussian_approximate d n_gt0 m_gt0 X) (law (unit_gaussian R 1 d))
    (fun Z => second_moments X + approximate_scale m (moments_change R n d) *: Z)
    (gaussian_approximate_square n d b) (gaussian_approximate_release n d b x).
Proof.
have b0 : 0 < approximate_scale m (moments_change R n d).
  by apply: approximate_scale_gt0 => //; exact: moments_change_gt0.
apply: additive; [|exact: diagonal_rows|exact: b0|].
  by apply: matrix_computes => *; [exact: b0|exact: gaussian_unit].
rewrite /approximate_scale /moments_change exprMn [X in _ * X]expr_div_n sqr_sqrtr; last by case: ifP.
rewrite [RHS]rmorphM rmorphX fmorph_div rmorphX rmorph_nat; congr (_ * (_ / _)).
by case: ifP => _; rewrite ?rmorph_nat ?rmorph1.
Qed.

Lemma gauss_cov_approximate_holds (e : ensemble) :
  releases (gauss_cov_approximate d n_gt0 m_gt0 e X)
    (symmetric_law (off_diagonal R e) (unit_gaussian R 1 (entries d)))
    (fun Z => Sensitivity.covariance X + approximate_scale m (covariance_change R n) *: Z)
    (gauss_cov_approximate_scale n d b) (gauss_cov_approximate_release n d b x).
Proof.
have b0 : 0 < approximate_scale m (covariance_change R n).
  by apply: approximate_scale_gt0 => //; exact: covariance_change_gt0.
apply: additive; [|exact: covariance_rows|exact: b0|].
  by apply: symmetric_computes => *; [exact: b0|exact: gaussian_unit].
rewrite /approximate_scale /covariance_change exprMn [X in _ * X]expr_div_n sqr_sqrtr ?ler0n //.
by rewrite [RHS]rmorphM rmorphX fmorph_div rmorphX !rmorph_nat.
Qed.

End Approximate.
