(* Releases of separate-cov and separate-cov-pure that the kernel computes, for tests of the
   Python code.

   The laws are those of what is computed from two independent noises of scale one, a matrix W
   and a row N: the eigenvectors of cov + s W and the eigenvalues of cov plus t N (clipped to
   [0, 1] in separate-cov-pure).  The rows of the data lie on the axes, so that the eigenvalues of
   cov are rational; W leads to a matrix with the eigenvectors (3, 4)/5 and (-4, 3)/5, and N is t
   times the rational row l.

   Assumed: nothing.  Not said: other eigenvectors; that there is a measurable map `rebuild`. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval rat zmodp matrix.
From covassay Require Import MeasureTheory PureDP Lebesgue AdditiveNoise Norms KNorm Mechanisms Gaussian TwoStages.
From covassay Require Import Symmetric SymmetricMechanisms GaussianMechanisms EigenvalueSensitivity SpectralMaps.
From covassay Require Import SeparateCov Releases RationalData ReleaseVectors StageVectors.
From covassay Require Sensitivity ProjectionVectors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* q + s l *)
Definition noisy_values (q : nat -> rat) (s : rat) (l : nat -> rat) (i : nat) : rat := q i + s * l i.
Definition clipped_values (a : nat -> rat) (i : nat) : rat := Num.min (Num.max (a i) 0) 1.

(* The noise that leads to the matrix with the eigenvalues g on the tilted axes. *)
Definition directions (n : nat) x (s : rat) (g : nat -> rat) : nat -> nat -> rat :=
  noise_to (basis_entry tilted g) (moment n x) s.

Section Rebuild.
Variables (R : realType) (rebuild : 'M[R]_2 * 'rV[R]_2 -> 'M[R]_2).
Hypothesis rebuild_ok : rebuilds rebuild.
Notation row a := (\row_i ratr (a i) : 'rV[R]_2).

Lemma rebuild_tilted (g l : nat -> rat) : g 1%N < g 0%N ->
  rebuild (entries_of R 2 2 (basis_entry tilted g), row l) = entries_of R 2 2 (basis_entry tilted l).
Proof.
move=> lt; rewrite -(basis_matrix R tilted l).
apply: rebuild_ok; [exact: (basis_spectral R tilted_orthonormal lt)|exact: basis_descending].
Qed.

Lemma noisy_row (q l : nat -> rat) (b : R) (s : rat) : 0 < b -> b ^+ 2 = ratr s ->
  row q + b *: (Num.sqrt (ratr s) *: row l) = row (noisy_values q s l).
Proof.
move=> b0 bs; have -> : Num.sqrt (ratr s) = b by rewrite -bs sqrtr_sqr gtr0_norm.
by apply/rowP => i; rewrite scalerA -expr2 bs !mxE rmorphD rmorphM.
Qed.

End Rebuild.

Section Releases.
Variables (R : realType) (n : nat) (x : seq (seq rat)) (v : nat -> nat -> rat) (q : nat -> rat).
Hypotheses (n_gt0 : (0 < n)%N) (x_spectrum : has_spectrum v q n x).
Variables (rebuild : 'M[R]_2 * 'rV[R]_2 -> 'M[R]_2).
Hypothesis rebuild_measurable :
  measurable_fun [set: [the measurableType _ of ('M[R]_2 * 'rV[R]_2)%type]] rebuild.
Hypothesis rebuild_ok : rebuilds rebuild.
Notation X := (rows R n 2 x).
Notation covariance := (@Sensitivity.covariance R n 2).
Notation row a := (\row_i ratr (a i) : 'rV[R]_2).

Definition separate_cov_square (rho : rat) : rat := gauss_cov_scale n 2 (rho / 2%:R).

Lemma separate_cov_holds (rho : rat) (e : ensemble) (rho_gt0 : 0 < ratr rho :> R) (g l : nat -> rat) :
  g 1%N < g 0%N ->
  let b := matrix_scale n (ratr rho / 2%:R) in let s := separate_cov_square rho in
  let f z := rebuild (covariance X + b *: z.1, eigenvalues (covariance X) + b *: z.2) in
  computes (separate_cov n_gt0 rebuild_measurable e rho_gt0 X)
    (both (symmetric_law (off_diagonal R e) (unit_gaussian R 1 (entries 2)))
       [the measure _ _ of law (unit_gaussian R 1 2)]) f /\
  f (Num.sqrt (ratr s) *: entries_of R 2 2 (directions n x s g), Num.sqrt (ratr s) *: row l)
  = entries_of R 2 2 (basis_entry tilted (noisy_values q s l)).
Proof.
move=> lt b s f; have b0 : 0 < b by exact: matrix_scale_gt0 (half_budget_gt0 rho_gt0).
have halfE : ratr rho / 2%:R = ratr (rho / 2%:R) :> R by rewrite fmorph_div rmorph_nat.
have bs : b ^+ 2 = ratr s.
  rewrite /b /s halfE; apply: matrix_scale_square; rewrite -halfE.
  exact: half_budget_gt0.
split; last first.
  rewrite /f /= (noise_arrives _ (covariance_rows R n 2 x) b0 bs) (covariance_eigenvalues R x_spectrum).
  by rewrite (noisy_row q l b0 bs) rebuild_tilted.
have matrix : computes (gauss_cov 2 n_gt0 (half_budget_gt0 rho_gt0) e X) (symmetric_law (off_diagonal R e) (unit_gaussian R 1 (entries 2)))
    (fun W => covariance X + b *: W) by apply: symmetric_computes => // z; exact: gaussian_unit.
have values y : computes (noisy_eigenvalues n_gt0 rho_gt0 X y) (law (unit_gaussian R 1 2))
    (fun N => eigenvalues (covariance X) + b *: N) by apply: noise_stage_computes => // z; exact: gaussian_unit.
exact: (image_joint_computes (measurable_noisy _ _) matrix values rebuild_measurable).
Qed.

(* separate-cov-pure; option 1 is "tight". *)
Definition pure_matrix_square (c : calibration) (eps : rat) : rat := lap_cov_scale c n 2 (eps / 2%:R).
Definition pure_eigenvalue_square (eps : rat) : rat := 2%:R ^+ 2 / (n%:R * (eps / 2%:R)) ^+ 2.

Lemma separate_cov_pure_holds (eps : rat) (c : calibration) (d_gt0 : (0 < 2)%N)
    (eps_gt0 : 0 < ratr eps :> R) (g l : nat -> rat) : g 1%N < g 0%N ->
  let b := noise_scale n (ratr eps / 2%:R) (lap_cov_numerator R 2 c) in
  let t := noise_scale n (ratr eps / 2%:R) 2%:R in
  let f z := rebuild (covariance X + b *: z.1, unit_clip (eigenvalues (covariance X) + t *: z.2)) in
  computes (separate_cov_pure n_gt0 rebuild_measurable c eps_gt0 d_gt0 X)
    (both (symmetric_law 1 (unit_noise (l1_norm R 1 (entries 2))))
       [the measure _ _ of law (unit_noise (l1_norm R 1 2))]) f /\
  f (Num.sqrt (ratr (pure_matrix_square c eps)) *: entries_of R 2 2 (directions n x (pure_matrix_square c eps) g),
     Num.sqrt (ratr (pure_eigenvalue_square eps)) *: row l)
  = entries_of R 2 2 (basis_entry tilted (clipped_values (noisy_values q (pure_eigenvalue_square eps) l))).
Proof.
move=> lt b t f.
have halfE : ratr eps / 2%:R = ratr (eps / 2%:R) :> R by rewrite fmorph_div rmorph_nat.
have b0 : 0 < b := noise_scale_gt0 n_gt0 (half_epsilon_gt0 eps_gt0) (lap_cov_numerator_gt0 R d_gt0 c).
have t0 : 0 < t := noise_scale_gt0 n_gt0 (half_epsilon_gt0 eps_gt0) (ltr0n R 2).
have bs : b ^+ 2 = ratr (pure_matrix_square c eps).
  by rewrite /b halfE; apply: noise_scale_squared; case: (c); [exact: root_two_square|exact: triangle_squareE].
have ts : t ^+ 2 = ratr (pure_eigenvalue_square eps).
  by rewrite /t halfE; apply: noise_scale_squared; exact: nat_square.
split; last first.
  rewrite /f /= (noise_arrives _ (covariance_rows R n 2 x) b0 bs) (covariance_eigenvalues R x_spectrum).
  rewrite (noisy_row q l t0 ts); have -> (a : nat -> rat) : unit_clip (row a) = row (clipped_values a).
    by apply/rowP => i; rewrite !mxE /clipped_values ratr_min ratr_max rmorph0 rmorph1.
  by rewrite rebuild_tilted.
have matrix : computes (lap_cov n_gt0 (half_epsilon_gt0 eps_gt0) d_gt0 c X) (symmetric_law 1 (unit_noise (l1_norm R 1 (entries 2))))
    (fun W => covariance X + b *: W) by apply: symmetric_computes => // z; exact: norm_unit.
have values y : computes (laplace_eigenvalues n_gt0 eps_gt0 X y) (law (unit_noise (l1_norm R 1 2)))
    (fun N => eigenvalues (covariance X) + t *: N) by apply: noise_stage_computes => // z; exact: norm_unit.
exact: (image_joint_computes (measurable_noisy _ _) matrix values (measurable_rebuild_clipped rebuild_measurable)).
Qed.

End Releases.

(* Rows on the axes: the covariance is diagonal. *)
Definition axis_data : seq (seq rat) := [:: [:: 1; 0]; [:: 0; frac 1 2]; [:: frac 1 2; 0]].
Definition axis_values : nat -> rat := ProjectionVectors.spectrum (frac 5 12) (frac 1 12).

(* The row of a release: the square t of the scale of the eigenvalues, l, and what they become. *)
Definition separate_row (start : seq rat) (s : rat) (g l : nat -> rat) (t : rat) (a : nat -> rat) : seq rat :=
  start ++ s :: matrix_columns 2 2 (directions 3 axis_data s g) ++ [:: t; l 0%N; l 1%N] ++
  matrix_columns 2 2 (basis_entry tilted a).
Definition separate_cases : seq (rat * (nat -> rat) * (nat -> rat)) :=
  let pair := ProjectionVectors.spectrum in
  [seq c <- [:: (frac 1 2, pair (frac 1 2) (frac 1 4), pair (frac 1 4) (- frac 1 8));
                (2%:R, pair (frac 1 4) (- frac 3 4), pair (frac 1 2) 1);
                (8%:R, pair 1 (frac 1 8), pair 4%:R (- 2%:R))]
   | has_spectrum axis axis_values 3 axis_data && (c.1.2 1%N < c.1.2 0%N)].

Definition separate_cov_rows : seq (seq rat) :=
  [seq let s := separate_cov_square 3 c.2.1.1 in
       separate_row ([:: 3%:R; 2%:R; c.2.1.1; c.1] ++ data_columns 3 2 axis_data) s c.2.1.2 c.2.2 s
         (noisy_values axis_values s c.2.2)
   | c <- [seq (o, c) | o <- [:: 0; 1], c <- separate_cases]].

Definition separate_cov_pure_rows : seq (seq rat) :=
  [seq let t := pure_eigenvalue_square 3 c.2.1.1 in
       separate_row ([:: 3%:R; 2%:R; c.2.1.1; c.1.1] ++ data_columns 3 2 axis_data)
         (pure_matrix_square 3 c.1.2 c.2.1.1) c.2.1.2 c.2.2 t (clipped_values (noisy_values axis_values t c.2.2))
   | c <- [seq (o, c) | o <- [:: (0, Paper); (1, Tight)], c <- separate_cases]].
