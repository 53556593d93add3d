(* Releases of nuclear-ball-projection (DN25 Algorithm 2) that the kernel computes, for tests of
   the Python code.

   The law of the mechanism is that of what is computed from two independent noises of scale
   one, a matrix Z and a number L: A = cov + b1 Z, r = max (0, 2 tr cov + b2 L), then the
   projection of A on the nuclear ball of radius r.  The rows start from singular values a and a
   radius r; the noise is the one that leads to the matrix W diag(a), W the rotation with columns
   (3, 4)/5 and (-4, 3)/5, and to r.  Released is W diag(max (a - theta, 0)), for a theta that is
   zero, or that brings the nuclear norm to r.

   Assumed: nothing. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueScale AdditiveNoise Norms.
From covassay Require Import KNorm Algorithm2 BallProjection Releases RationalData.
From covassay Require Import ReleaseVectors ProjectionVectors.
From covassay Require Euclidean MatrixNorms Sensitivity Projections.
From mathcomp Require Import rat.

(* Two independent noises, each stretched by its scale. *)
Lemma two_stage_rescale (R : realType) m n (c1 c2 : R)
    (w1 u1 : weight [the measure _ _ of @leb_matrix R m n]) (w2 u2 : weight [the measure _ _ of @leb R]) T :
  0 < c1 -> 0 < c2 -> (forall z, w1 (c1 *: z) = u1 z) -> (forall z, w2 (c2 * z) = u2 z) -> measurable T ->
  two_stage (law w1) (fun=> [the measure _ _ of law w2]) T
  = two_stage (law u1) (fun=> [the measure _ _ of law u2]) [set z | T (c1 *: z.1, c2 * z.2)].
Proof.
move=> c10 c20 w1u w2u mT; rewrite /two_stage; pose g y := law w2 (xsection T y).
have mg : measurable_fun setT g.
  by apply: measurable_fun_xsection; [exact: law_sigma_finite|rewrite inE].
have g0 y : (0 <= g y)%E by exact: (@measure_ge0 _ _ _ [the measure _ _ of law _]).
transitivity (\int[law u1]_y (g \o (fun z => c1 *: z)) y)%E.
  have E := @integral_pushforward _ _ _ _ _ (@measurable_scale R c1 m n) R
    [the measure _ _ of law u1] g mg g0.
  apply: etrans E; apply: eq_measure_integral => A mA _.
  exact: (matrix_rescale c10 w1u mA).
apply: eq_integral => y _; rewrite /= /g (line_rescale c20 w2u); last exact: measurable_xsection.
by congr (law u2 _); apply/seteqP; split => z; rewrite /xsection /= !inE.
Qed.

(* W diag(a). *)
Definition rotated (a : nat -> rat) (i j : nat) : rat := entry eigenvectors j i * a j.

(* The noises that lead to W diag(a) and to the radius r. *)
Definition ball_matrix_noise (b1 : rat) (n : nat) x (a : nat -> rat) (i j : nat) : rat :=
  (rotated a i j - moment n x i j) / b1.
Definition ball_trace_noise (b2 : rat) (n : nat) x (r : rat) : rat := (r - 2%:R * trace_moment n 2 x) / b2.

(* theta brings the sum of the singular values to r, or is zero. *)
Definition shrunk_to (theta r : rat) (a : nat -> rat) : bool :=
  let total := sum_to 2 (shrunk theta a) in
  [&& 0 <= theta, 0 <= r, 0 <= a 0%N, 0 <= a 1%N, total <= r & theta * (r - total) == 0].

Definition ball_scale (k n : nat) (eps : rat) : rat := k%:R / (n%:R * eps).

Section Ball.
Variables (R : realType) (n : nat) (eps : rat) (x : seq (seq rat)).
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < ratr eps :> R).
Notation X := (rows R n 2 x).
Notation unit_noises := (two_stage (law (unit_noise (nuclear R 2))) (fun=> [the measure _ _ of law (unit_laplace R)])).

Lemma ball_computes (b1 b2 : R) (b1_gt0 : 0 < b1) (b2_gt0 : 0 < b2) :
  computes (nuclear_ball_mechanism b1_gt0 b2_gt0 (@nuclear_ball_projection R 2) X) unit_noises
    (fun z => nuclear_ball_projection (Num.max 0 (twice_trace X + b2 * z.2), covariance X + b1 *: z.1)).
Proof.
move=> S mS; pose h (z : 'M[R]_2 * R) :=
  nuclear_ball_projection (Num.max 0 (twice_trace X + z.2), covariance X + z.1).
have mh : measurable_fun setT h.
  apply: (measurable_fun_comp (ball_projection_measurable _)); apply/prod_measurable_funP; split.
    apply: measurable_fun_max; first exact: measurable_fun_cst.
    apply: (measurable_fun_comp (line_measurable_add (twice_trace X))); exact: measurable_fun_snd.
  apply: (measurable_fun_comp (matrix_measurable_add (covariance X))); exact: measurable_fun_fst.
have mT : measurable [set z | S (h z)] by rewrite -[X in measurable X]setTI; exact: mh.
have E := two_stage_rescale b1_gt0 b2_gt0 (@norm_unit R 2 2 (nuclear R 2) b1 b1_gt0)
  (laplace_unit b2_gt0) mT.
exact: E.
Qed.

Lemma rotated_svd (a : nat -> rat) : (forall j : 'I_2, 0 <= a j) ->
  MatrixNorms.svd (entries_of R 2 2 (rotated a)) (entries_of R 2 2 (fun i j => entry eigenvectors j i)) 1%:M
    (\row_j ratr (a j)).
Proof.
move=> a0; split.
- apply/matrixP => i j; rewrite !mxE -(eigenvectors_orthonormal R); apply: eq_bigr => k _.
  by rewrite !mxE.
- by rewrite /Euclidean.orthogonal_mx trmx1 mulmx1.
- by move=> j; rewrite mxE ler0q.
rewrite trmx1 mulmx1; apply/matrixP => i j; rewrite mul_mx_diag !mxE.
by rewrite /rotated rmorphM.
Qed.

Lemma ball_value (b1 b2 : rat) (a : nat -> rat) theta r : 0 < b1 -> 0 < b2 -> shrunk_to theta r a ->
  nuclear_ball_projection (Num.max 0 (twice_trace X + ratr b2 * ratr (ball_trace_noise b2 n x r)),
      covariance X + ratr b1 *: entries_of R 2 2 (ball_matrix_noise b1 n x a))
  = entries_of R 2 2 (rotated (shrunk theta a)).
Proof.
move=> b10 b20 /and5P[t0 r0 a0 a1 /andP[le slack]].
have -> : twice_trace X + ratr b2 * ratr (ball_trace_noise b2 n x r) = ratr r.
  rewrite /twice_trace trace_rows -(rmorph_nat (ratr_rmorphism R) 2) -!rmorphM -rmorphD; congr ratr.
  by rewrite /ball_trace_noise [b2 * _]mulrC divfK ?gt_eqF // addrC subrK.
have -> : covariance X + ratr b1 *: entries_of R 2 2 (ball_matrix_noise b1 n x a)
    = entries_of R 2 2 (rotated a).
  rewrite covariance_rows; apply/matrixP => i j; rewrite !mxE -rmorphM -rmorphD; congr ratr.
  by rewrite /ball_matrix_noise [b1 * _]mulrC divfK ?gt_eqF // addrC subrK.
rewrite max_r ?ler0q //.
have rR : 0 <= ratr r :> R by rewrite ler0q.
apply: nearest_unique (ball_projectionP (nuclear R 2) _ rR) _.
have apos (j : 'I_2) : 0 <= a j by case: j => [[|[|]]].
have kkt : Projections.threshold ((\row_j ratr (a j) : 'rV[R]_2) 0)
    ((\row_j ratr (shrunk theta a j) : 'rV[R]_2) 0) (ratr theta) (ratr r).
  have totalE : \sum_(i < 2) (\row_j ratr (shrunk theta a j) : 'rV[R]_2) 0 i = ratr (sum_to 2 (shrunk theta a)).
    by rewrite sum_toE rmorph_sum; apply: eq_bigr => j _; rewrite mxE.
  split; first by rewrite ler0q.
  - by move=> i; rewrite !mxE ratr_shrunk.
  - by rewrite totalE ler_rat.
  by rewrite totalE -rmorphB -rmorphM (eqP slack) rmorph0.
have := Projections.nuclear_ball_projection (rotated_svd apos) kkt.
congr (Projections.projection _ _ _); rewrite /Projections.shrink trmx1 mulmx1.
by apply/matrixP => i j; rewrite mul_mx_diag !mxE /rotated rmorphM.
Qed.

Lemma ball_scaleE k : k%:R / (n%:R * ratr eps) = ratr (ball_scale k n eps) :> R.
Proof. by rewrite fmorph_div rmorphM !rmorph_nat. Qed.

Lemma ball_scale_gt0 k : (0 < k)%N -> 0 < ball_scale k n eps.
Proof. by move=> k0; rewrite divr_gt0 ?mulr_gt0 ?ltr0n // -(ltr0q R). Qed.

(* What is computed with the scales b1 = k1/(n eps) of the matrix and b2 = k2/(n eps) of the
   trace, and what a release of it shows. *)
Local Notation with_scales k1 k2 := (fun z => nuclear_ball_projection
  (Num.max 0 (twice_trace X + k2%:R / (n%:R * ratr eps) * z.2),
   covariance X + (k1%:R / (n%:R * ratr eps)) *: z.1)).
Local Notation shows f b1 b2 a theta r := (shrunk_to theta r a ->
  f (entries_of R 2 2 (ball_matrix_noise b1 n x a), ratr (ball_trace_noise b2 n x r))
  = entries_of R 2 2 (rotated (shrunk theta a))).

Let with_scales_shows k1 k2 (a : nat -> rat) theta r : (0 < k1)%N -> (0 < k2)%N ->
  shows (with_scales k1 k2) (ball_scale k1 n eps) (ball_scale k2 n eps) a theta r.
Proof.
by move=> k10 k20 ok; rewrite /= !ball_scaleE; apply: ball_value; rewrite ?ball_scale_gt0.
Qed.

(* b1 and b2 are 4/(n eps) and 10/(n eps), or ("tight") 2/(n eps) and 4/(n eps). *)
Lemma algorithm2_release_holds (a : nat -> rat) theta r :
  let f := with_scales 4 10 in let b1 := ball_scale 4 n eps in let b2 := ball_scale 10 n eps in
  computes (algorithm2 n_gt0 (@nuclear_ball_projection R 2) eps_gt0 X) unit_noises f /\
  shows f b1 b2 a theta r.
Proof. by move=> f b1 b2; split=> [|ok]; [exact: ball_computes|exact: with_scales_shows]. Qed.

Lemma algorithm2_tight_release_holds (a : nat -> rat) theta r :
  let f := with_scales 2 4 in let b1 := ball_scale 2 n eps in let b2 := ball_scale 4 n eps in
  computes (algorithm2_tight n_gt0 (@nuclear_ball_projection R 2) eps_gt0 X) unit_noises f /\
  shows f b1 b2 a theta r.
Proof. by move=> f b1 b2; split=> [|ok]; [exact: ball_computes|exact: with_scales_shows]. Qed.

End Ball.

(* Rows of (n, eps), the two scales, and (a, theta, r); option 1 for "tight". *)
Definition ball_rows : seq (seq rat) :=
  [seq let n := 2%N in let b1 := ball_scale c.1.1 n c.2.1.1 in let b2 := ball_scale c.1.2 n c.2.1.1 in
       let a := spectrum c.2.1.2.1 c.2.1.2.2 in
       [:: n%:R; 2%:R; c.2.1.1; (c.1.1 == 2%N)%:R] ++ data_columns n 2 sample_rows ++
       matrix_columns 2 2 (ball_matrix_noise b1 n sample_rows a) ++
       ball_trace_noise b2 n sample_rows c.2.2.2 :: matrix_columns 2 2 (rotated (shrunk c.2.2.1 a))
   | c <- [seq (s, e) | s <- [:: (4, 10); (2, 4)]%N,
             e <- [:: (1 : rat, (frac 3 2, frac 1 2), (frac 1 2, 1)); (2%:R, (frac 1 2, frac 1 4), (0, 1));
                      (1, (2%:R, 1), (frac 1 2, 2%:R))]]
   & shrunk_to c.2.2.1 c.2.2.2 (spectrum c.2.1.2.1 c.2.1.2.2)].
