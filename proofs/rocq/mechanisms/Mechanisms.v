(* Whole mechanisms: from a data set of rows in the unit ball to the law of the release.

   A mechanism here is a PROBABILITY for every data set: a measure of total mass one.
   Each definition below has the steps of a file of reference/mechanisms, with the
   scale that the code computes, and the theorem speaks of that definition, of every
   measurable event, every dimension and all data sets that differ in one row.

   - private-trace: the trace of the covariance, Laplace noise of scale 1/(n eps).
   - laplace: the diagonal of the covariance, Laplace noise of scale 2/(n eps) on each
     entry, in dimension one 1/(n eps).
   - nuclear-laplace: the covariance, noise Z with density exp(-nuclear norm of Z), scale
     2/(n eps).
   - entrywise-laplace with noise on all entries: scale 2d/(n eps) as in the paper, or
     sqrt 2 d/(n eps), in dimension one 1/(n eps).

   Assumed: nothing.  Not said: floating point; how the noise is drawn.  AnyRows.v has
   rows of any length. *)
From covassay Require Import MeasureTheory PureDP Lebesgue AdditiveNoise Norms KNorm Gaussian Zcdp.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity Algorithm2.

(* A probability for every data set. *)
Record mechanism (R : realType) (X : Type) d (Y : measurableType d) := Mechanism {
  release :> X -> {measure set Y -> \bar R};
  release_total : forall x, release x setT = 1%E }.

Section Noise.
Context (R : realType) (X : Type) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Variables (G : translations mu) (w : weight mu) (q : X -> Y).

Let noisy_law x : {measure set Y -> \bar R} :=
  [the measure _ _ of pushforward [the measure _ _ of law w] (measurable_add G (q x))].

Let noisy_total x : noisy_law x setT = 1%E.
Proof. exact: law_total. Qed.

(* Publish q(x) + Z, where Z has the law w. *)
Definition with_noise : mechanism R X Y := Mechanism noisy_total.

End Noise.

(* Noise with density exp(-N(z)/b), for a query that moves by at most eps b. *)
Lemma matrix_noise_dp (R : realType) m n (N : norm R m n) (b eps : R) (b_gt0 : 0 < b) (X : Type)
    (nb : X -> X -> Prop) (q : X -> 'M[R]_(m, n)) :
  (forall x x', nb x x' -> N (q x - q x') <= eps * b) ->
  dp nb eps (fun x => with_noise (matrices R m n) (norm_weight N b_gt0) q x).
Proof.
move=> sens; apply: (@add_noise_dp _ _ _ _ (matrices R m n) (norm_weight N b_gt0)) => x x' xx' y /=.
rewrite /norm_density -expRD ler_expR ler_subr_addl -mulrBl.
rewrite ler_pdivr_mulr // ler_subl_addr.
rewrite (_ : y - q x' = (y - q x) + (q x - q x')); last by rewrite addrA subrK.
by apply: le_trans (norm_triangle _ _ _) _; rewrite addrC ler_add2r sens.
Qed.

Lemma line_noise_dp (R : realType) (b eps : R) (b_gt0 : 0 < b) (X : Type)
    (nb : X -> X -> Prop) (q : X -> R) :
  (forall x x', nb x x' -> `|q x - q x'| <= eps * b) ->
  dp nb eps (fun x => with_noise (line R) (laplace_weight b_gt0) q x).
Proof.
move=> sens; apply: (@add_noise_dp _ _ _ _ (line R) (laplace_weight b_gt0)) => x x' xx' y /=.
rewrite /exp_line -expRD ler_expR ler_subr_addl -mulrBr mulrC.
rewrite ler_pdivr_mulr // ler_subl_addr.
rewrite (_ : y - q x' = (y - q x) + (q x - q x')); last by rewrite addrA subrK.
by apply: le_trans (ler_norm_add _ _) _; rewrite addrC ler_add2r sens.
Qed.

(* Gaussian noise, for a query that moves by at most Delta in Frobenius norm. *)
(*@ ZCDP-GAUSSIAN *)
Theorem gaussian_noise_zcdp (R : realType) (m n : nat) (sigma : R) (sigma_gt0 : (0 < sigma)%R)
    (X : Type) (nb : X -> X -> Prop) (Delta : R) (q : X -> 'M[R]_(m, n)) :
  (forall x x', nb x x' -> sum_squares (q x - q x') <= Delta ^+ 2)%R ->
  zcdp nb (Delta ^+ 2 / (2 * sigma ^+ 2)) (fun x => with_noise (matrices R m n) (gaussian_weight m n sigma_gt0) q x).
Proof.
move=> sens x x' xx'; apply: (concentrated_eq (P := gaussian_at sigma_gt0 (q x)) (Q := gaussian_at sigma_gt0 (q x'))) => //.
exact/gaussian_concentrated/sens.
Qed.

(* How far two rows of the unit ball move the entries. *)
Section RowBounds.
Variable R : realType.

Lemma l1_gap_le (d : nat) (x y : 'cV[R]_d) : (0 < d)%N ->
  Euclidean.norm x <= 1 -> Euclidean.norm y <= 1 ->
  l1 (RankTwo.gap x y) <= Num.sqrt 2%:R * d%:R.
Proof.
move=> d0 x1 y1; set A := RankTwo.gap x y; set w : R := Num.sqrt 2%:R.
have amgm (k t : R) : 2%:R * k * `|t| <= k ^+ 2 * t ^+ 2 + 1.
  rewrite -[t ^+ 2](real_normK (num_real t)); move: (`|t|) => u; rewrite -subr_ge0.
  by rewrite (_ : _ - _ = (k * u - 1) ^+ 2) ?sqr_ge0 //; ring.
have w0 : 0 < w by rewrite sqrtr_gt0.
have ww : w * w = 2%:R by rewrite -expr2 sqr_sqrtr.
have dR : 0 < d%:R :> R by rewrite ltr0n.
pose c : R := d%:R / w; have c0 : 0 < c by rewrite divr_gt0.
have frob : \sum_i \sum_j A i j ^+ 2 <= 2%:R.
  rewrite exchange_big /= -ww -expr2.
  have -> : \sum_j \sum_i A i j ^+ 2 = MatrixNorms.frob_dot A A.
    by rewrite MatrixNorms.frob_dotE; apply: eq_bigr => j _; apply: eq_bigr => i _; rewrite expr2.
  rewrite -MatrixNorms.sqr_frob_norm ler_expn2r ?nnegrE ?MatrixNorms.frob_norm_ge0 ?(ltW w0) //.
  exact: Sensitivity.frob_gap_le.
have sum : 2%:R * c * l1 A <= 2%:R * d%:R ^+ 2.
  apply: (@le_trans _ _ (\sum_(i < d) \sum_(j < d) (c ^+ 2 * A i j ^+ 2 + 1))).
    by rewrite /l1 mulr_sumr ler_sum // => i _; rewrite mulr_sumr ler_sum // => j _; exact: amgm.
  under eq_bigr do rewrite big_split /= -mulr_sumr sumr_const card_ord.
  rewrite big_split /= -mulr_sumr sumr_const card_ord -[X in _ + X]mulr_natr.
  have c2 : c ^+ 2 * 2%:R = d%:R ^+ 2 by rewrite -ww /c; field; rewrite gt_eqF.
  have -> : 2%:R * d%:R ^+ 2 = c ^+ 2 * 2%:R + d%:R * d%:R :> R by rewrite c2; ring.
  by rewrite ler_add2r ler_pmul2l // exprn_gt0.
have c20 : 0 < 2%:R * c by rewrite mulr_gt0.
rewrite -(ler_pmul2l c20); apply: le_trans sum _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
by rewrite /c; field; rewrite gt_eqF.
Qed.

Lemma l1_gap_line (d : nat) (x y : 'cV[R]_d) : (d <= 1)%N ->
  Euclidean.norm x <= 1 -> Euclidean.norm y <= 1 -> l1 (RankTwo.gap x y) <= 1.
Proof.
case: d x y => [|[|d]] // x y _ x1 y1; first by rewrite /l1 big_ord0 ler01.
have := Sensitivity.trace_gap_le x1 y1; rewrite /mxtrace big_ord1.
by rewrite /l1 !big_ord1.
Qed.

Lemma l1_diagonal_le (d : nat) (x y : 'cV[R]_d) :
  Euclidean.norm x <= 1 -> Euclidean.norm y <= 1 ->
  \sum_i `|RankTwo.gap x y i i| <= if (1 < d)%N then 2%:R else 1.
Proof.
move=> x1 y1; case: ifP => [_|/negbT]; last first.
  rewrite -leqNgt => d1; apply: le_trans (l1_gap_line d1 x1 y1).
  by rewrite /l1 ler_sum // => i _; rewrite (bigD1 i) //= ler_addl sumr_ge0.
have sq (v : 'cV[R]_d) : Euclidean.norm v <= 1 -> \sum_i v i 0 ^+ 2 <= 1.
  by rewrite Euclidean.norm_le1 /Euclidean.dot => v1; under eq_bigr do rewrite expr2.
apply: (@le_trans _ _ (\sum_i (x i 0 ^+ 2 + y i 0 ^+ 2))); last first.
  by rewrite big_split /= -[2%:R]/(1 + 1) ler_add ?sq.
apply: ler_sum => i _; rewrite /RankTwo.gap !mxE !big_ord1 !mxE -!expr2.
by apply: le_trans (ler_norm_sub _ _) _; rewrite !ger0_norm ?sqr_ge0.
Qed.

End RowBounds.

Section Mechanisms.
Variables (R : realType) (n d : nat) (eps : R).
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < eps).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation covariance := (@Sensitivity.covariance R n d).

Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

(* What the code calls noise_scale: a sensitivity of n times the covariance, over n eps. *)
Definition noise_scale (s : R) : R := s / (n%:R * eps).

Lemma noise_scale_gt0 s : 0 < s -> 0 < noise_scale s.
Proof. by move=> s0; rewrite divr_gt0 // mulr_gt0. Qed.

Lemma scaleE s : eps * noise_scale s = n%:R^-1 * s.
Proof. by rewrite /noise_scale; field; rewrite (gt_eqF nR_gt0) (gt_eqF eps_gt0). Qed.

Definition private_trace :=
  with_noise (line R) (laplace_weight (noise_scale_gt0 ltr01)) (fun X : data => \tr (covariance X)).

(* The premises are n >= 1 and eps > 0. *)
Theorem private_trace_dp : dp adjacent eps (fun X => private_trace X).
Proof.
apply: line_noise_dp => X Y [bX bY [i XY]]; rewrite scaleE -raddfB /=.
rewrite (Sensitivity.covariance_gap XY) mxtraceZ normrM gtr0_norm ?invr_gt0 //.
by rewrite ler_pmul2l ?invr_gt0 //; apply: Sensitivity.trace_gap_le.
Qed.

Definition nuclear_laplace :=
  with_noise (matrices R d d) (norm_weight (Algorithm2.nuclear R d) (noise_scale_gt0 (ltr0n R 2)))
    covariance.

(* The premises are n >= 1 and eps > 0. *)
Theorem nuclear_laplace_dp : dp adjacent eps (fun X => nuclear_laplace X).
Proof.
apply: matrix_noise_dp => X Y [bX bY [i XY]]; rewrite scaleE.
rewrite (Sensitivity.covariance_gap XY) /= MatrixNorms.nuclear_normZ ?invr_ge0 ?(ltW nR_gt0) //.
by rewrite ler_pmul2l ?invr_gt0 // RankTwo.nuclear_norm_gap Sensitivity.spread_le2.
Qed.

(* The second moments of the features, and their sensitivity times n. *)
Definition second_moments (X : data) : 'rV[R]_d := \row_i covariance X i i.
Definition second_moments_sensitivity : R := if (1 < d)%N then 2%:R else 1.

Lemma second_moments_sensitivity_gt0 : 0 < second_moments_sensitivity.
Proof. by rewrite /second_moments_sensitivity; case: ifP. Qed.

Definition laplace :=
  with_noise (matrices R 1 d)
    (norm_weight (l1_norm R 1 d) (noise_scale_gt0 second_moments_sensitivity_gt0)) second_moments.

(* All entries, with the sensitivity that the paper takes, or the smaller one. *)
Definition entry_sensitivity : R := if (1 < d)%N then Num.sqrt 2%:R * d%:R else 1.

Definition entrywise_laplace (s : R) (s_gt0 : 0 < s) :=
  with_noise (matrices R d d) (norm_weight (l1_norm R d d) (noise_scale_gt0 s_gt0)) covariance.

(* The premises are n >= 1 and eps > 0. *)
Theorem laplace_dp : dp adjacent eps (fun X => laplace X).
Proof.
apply: matrix_noise_dp => X Y [bX bY [i XY]]; rewrite scaleE.
have -> : second_moments X - second_moments Y
    = n%:R^-1 *: \row_j RankTwo.gap (X i) (Y i) j j.
  have /matrixP e := Sensitivity.covariance_gap XY.
  rewrite /second_moments; move: (covariance X) (covariance Y) (RankTwo.gap _ _) e => A B G e.
  by apply/rowP => j; have := e j j; rewrite !mxE.
rewrite /= l1_scale gtr0_norm ?invr_gt0 // ler_pmul2l ?invr_gt0 //.
rewrite /l1 big_ord1; under eq_bigr do rewrite mxE.
exact: l1_diagonal_le.
Qed.

(* With any scale from the smaller one on; the paper's 2d is larger than sqrt 2 d. *)
(* The premises are n >= 1, eps > 0, s > 0 and the sensitivity at most s. *)
(*@ PART.entrywise-laplace *)
Theorem entrywise_laplace_dp (s : R) (s_gt0 : 0 < s) : entry_sensitivity <= s ->
  dp adjacent eps (fun X => entrywise_laplace s_gt0 X).
Proof.
move=> es; apply: matrix_noise_dp => X Y [bX bY [i XY]]; rewrite scaleE.
rewrite (Sensitivity.covariance_gap XY) /= l1_scale gtr0_norm ?invr_gt0 //.
rewrite ler_pmul2l ?invr_gt0 //; apply: le_trans es; rewrite /entry_sensitivity.
case: ifP => [d1|/negbT]; first by apply: l1_gap_le => //; exact: ltnW.
by rewrite -leqNgt => d1; exact: l1_gap_line.
Qed.

Lemma entry_sensitivity_paper : (0 < d)%N -> entry_sensitivity <= 2%:R * d%:R.
Proof.
move=> d0; rewrite /entry_sensitivity; case: ifP => _; last first.
  by rewrite -natrM ler1n muln_gt0.
rewrite ler_pmul2r ?ltr0n // -(@ler_pexpn2r _ 2) ?nnegrE ?sqrtr_ge0 // sqr_sqrtr //.
by rewrite -natrX ler_nat.
Qed.

End Mechanisms.
