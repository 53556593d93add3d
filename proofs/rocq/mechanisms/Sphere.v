(* The uniform law on the unit sphere, and the private leading eigenvector (bingham).

   The direction of a vector z is z divided by its length, and 0 for z = 0.  The uniform law
   on the sphere of R^d is the law of the direction of a standard Gaussian vector, which is
   zero with probability zero.

   bingham draws a unit vector u with density proportional to exp(eta u^T C u) with respect to
   that law, C = n times the covariance, eta = eps/4 or ("tight") eps/2.  The density is
   written with the direction of u, which is u itself on the sphere.

   Assumed: nothing.  Not said: floating point; how the vector is drawn; that the uniform law
   is invariant under rotations, which the proof does not need.  AnyRows.v has rows of any length. *)
From covassay Require Import MechanismTheory Gaussian TwoStages.
From covassay Require Euclidean RankTwo Sensitivity Algorithm2 BallProjection.

Section Sphere.
Variables (R : realType) (d : nat).
Implicit Types u v z : 'M[R]_(d, 1).

Lemma length_definite z : Euclidean.norm z = 0 -> z = 0.
Proof. by move=> /eqP; rewrite Euclidean.norm_eq0 => /eqP. Qed.

Definition length : norm R d 1 :=
  Norm (@Euclidean.norm_triangle R d) (@Euclidean.normZ R d) length_definite.

Definition direction z : 'M[R]_(d, 1) := BallProjection.positive_inverse (Euclidean.norm z) *: z.

Lemma norm_direction z : Euclidean.norm (direction z) <= 1.
Proof.
rewrite Euclidean.normZ /BallProjection.positive_inverse; case: ifP => [z0|_].
  by rewrite ger0_norm ?invr_ge0 ?(ltW z0) // mulVf // gt_eqF.
by rewrite normr0 mul0r ler01.
Qed.

(* A vector, multiplied by a measurable function of it. *)
Lemma measurable_rescaled (f : 'M[R]_(d, 1) -> R) :
  measurable_fun setT f -> measurable_fun setT (fun z => f z *: z).
Proof.
move=> mf; apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
by apply: measurable_funM => //; exact: measurable_entry.
Qed.

Lemma measurable_direction : measurable_fun setT direction.
Proof.
apply: measurable_rescaled.
rewrite (_ : (fun z => _) = @BallProjection.positive_inverse R \o length) //.
apply: measurable_fun_comp; last exact: norm_measurable.
exact: BallProjection.positive_inverse_measurable.
Qed.

Definition uniform_sphere : {measure set [the measurableType _ of 'M[R]_(d, 1)] -> \bar R} :=
  image_law measurable_direction
    [the measure _ _ of law (gaussian_weight d 1 (ltr01 : 0 < 1 :> R))].

Lemma uniform_sphere_total : uniform_sphere setT = 1%E.
Proof. exact: law_total. Qed.

(* It gives no weight to vectors that are longer than one. *)
Lemma uniform_sphere_support : uniform_sphere [set u | Euclidean.norm u <= 1] = 1%E.
Proof.
rewrite -uniform_sphere_total; congr (law _ _); apply/seteqP.
by split => z //= _; exact: norm_direction.
Qed.

End Sphere.

(* A density between e^(-b) and e^b with respect to a probability. *)
Section BoundedWeight.
Context (R : realType) e (Y : measurableType e) (mu : {measure set Y -> \bar R}) (g : Y -> R) (b : R).
Hypotheses (mu1 : mu setT = 1%E) (mg : measurable_fun setT g) (gb : forall y, `|g y| <= b).

Let w y : R := expR (g y).

Let w_ge0 y : 0 <= w y. Proof. by rewrite ltW // expR_gt0. Qed.

Let w_measurable : measurable_fun setT w.
Proof.
rewrite (_ : w = expR \o g) //; apply: measurable_fun_comp => //.
by apply: continuous_measurable_fun; exact: continuous_expR.
Qed.

Let w_pos : (0 < \int[mu]_y (w y)%:E)%E.
Proof.
apply: (@lt_le_trans _ _ (\int[mu]_y (cst (expR (- b))%:E) y)%E).
  by rewrite integral_cst // mu1 mule1 lte_fin expR_gt0.
apply: ge0_le_integral => //.
- by move=> y _; rewrite lee_fin ltW // expR_gt0.
- exact: measurable_fun_cst.
- by move=> y _; rewrite lee_fin.
- exact/EFin_measurable_fun.
by move=> y _; rewrite lee_fin ler_expR; have := gb y; rewrite ler_norml => /andP[].
Qed.

Let w_lty : (\int[mu]_y (w y)%:E < +oo)%E.
Proof.
apply: (@le_lt_trans _ _ (\int[mu]_y (cst (expR b)%:E) y)%E); last first.
  by rewrite integral_cst // mu1 mule1 ltry.
apply: ge0_le_integral => //.
- by move=> y _; rewrite lee_fin.
- exact/EFin_measurable_fun.
- by move=> y _; rewrite lee_fin ltW // expR_gt0.
- exact: measurable_fun_cst.
by move=> y _; rewrite lee_fin ler_expR; have := gb y; rewrite ler_norml => /andP[].
Qed.

Definition bounded_weight : weight mu := Weight w_ge0 w_measurable w_pos w_lty.

End BoundedWeight.

(* ---------------------------------------------------------------------------- *)

Section Bingham.
Variables (R : realType) (n d : nat) (eps : R).
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < eps).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).

Definition scatter (X : data) : 'M[R]_d := \sum_i X i *m (X i)^T.

(* u^T C u for the direction of u. *)
Definition score (X : data) (u : 'M[R]_(d, 1)) : R := Euclidean.form (scatter X) (direction u).

Definition bingham_exponent (tight : bool) : R := eps / (if tight then 2%:R else 4%:R).

Lemma bingham_exponent_gt0 tight : 0 < bingham_exponent tight.
Proof. by rewrite divr_gt0 //; case: tight; rewrite ltr0n. Qed.

Lemma entry_le1 (v : 'cV[R]_d) i : Euclidean.norm v <= 1 -> `|v i 0| <= 1.
Proof.
move=> v1; rewrite -(Euclidean.dot_delta i v); apply: le_trans (Euclidean.cauchy_schwarz _ _) _.
by rewrite Euclidean.norm_delta mul1r.
Qed.

Lemma form_direction_le (A : 'M[R]_d) u : `|Euclidean.form A (direction u)| <= l1 A.
Proof.
have v1 := norm_direction u; move: (direction u) v1 => v v1.
rewrite /Euclidean.form /Euclidean.dot; apply: le_trans (ler_norm_sum _ _ _) _.
rewrite /l1; apply: ler_sum => i _; rewrite normrM -[X in _ <= X]mul1r.
apply: ler_pmul => //; first exact: entry_le1.
rewrite mxE; apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => j _.
by rewrite normrM ler_pimulr // entry_le1.
Qed.

Lemma score_le X u : `|score X u| <= l1 (scatter X).
Proof. exact: form_direction_le. Qed.

(* How far one row moves the form of the scatter matrix, at a vector that is not longer than 1. *)
Lemma form_scatter_change (X Y : data) (v : 'cV[R]_d) : adjacent X Y -> Euclidean.norm v <= 1 ->
  `|Euclidean.form (scatter X) v - Euclidean.form (scatter Y) v| <= 1.
Proof.
move=> [bX bY [i XY]] v1; rewrite -Euclidean.formB.
have -> : scatter X - scatter Y = RankTwo.gap (X i) (Y i).
  rewrite /scatter (bigD1 i) //= [X in _ - X](bigD1 i) //= /RankTwo.gap.
  have -> : \sum_(j | j != i) X j *m (X j)^T = \sum_(j | j != i) Y j *m (Y j)^T.
    by apply: eq_bigr => j ji; rewrite XY.
  by rewrite opprD addrACA subrr addr0.
rewrite RankTwo.form_gap.
have sq (x : 'cV[R]_d) : Euclidean.norm x <= 1 -> 0 <= Euclidean.dot x v ^+ 2 <= 1.
  move=> x1; rewrite sqr_ge0 /= -real_normK ?num_real // expr_le1 //.
  apply: le_trans (Euclidean.cauchy_schwarz _ _) _; rewrite -[X in _ <= X]mulr1.
  by apply: ler_pmul; rewrite ?Euclidean.norm_ge0.
have /andP[a0 a1] := sq _ (bY i); have /andP[b0 b1] := sq _ (bX i).
rewrite ler_norml ler_subr_addl ler_subl_addl; apply/andP; split.
  by apply: (le_trans a1); rewrite ler_addl.
by rewrite ler_subl_addl; apply: (le_trans b1); rewrite ler_addr.
Qed.

Lemma measurable_score X : measurable_fun setT (score X).
Proof.
rewrite (_ : score X = (fun v : 'M[R]_(d, 1) => Euclidean.form (scatter X) v) \o @direction R d) //.
apply: measurable_fun_comp; last exact: measurable_direction.
rewrite /Euclidean.form /Euclidean.dot; apply: measurable_sum => i.
apply: measurable_funM; first exact: measurable_entry.
under eq_fun do rewrite mxE; apply: measurable_sum => j.
by apply: measurable_funrM; exact: measurable_entry.
Qed.

Section Calibration.
Variable tight : bool.
Notation eta := (bingham_exponent tight).

Let exponent_measurable X : measurable_fun setT (fun u => eta * score X u).
Proof. by apply: measurable_funrM; exact: measurable_score. Qed.

Let exponent_le X u : `|eta * score X u| <= eta * l1 (scatter X).
Proof.
by rewrite normrM gtr0_norm ?bingham_exponent_gt0 // ler_pmul2l ?bingham_exponent_gt0 // score_le.
Qed.

(* Density exp(eta u^T C u) with respect to the uniform law on the sphere. *)
Definition bingham_weight X : weight (uniform_sphere R d) :=
  bounded_weight (uniform_sphere_total R d) (exponent_measurable X) (exponent_le X).

Let bingham_law X : {measure set [the measurableType _ of 'M[R]_(d, 1)] -> \bar R} :=
  [the measure _ _ of law (bingham_weight X)].

Let bingham_total X : bingham_law X setT = 1%E. Proof. exact: law_total. Qed.

Definition bingham : mechanism R data [the measurableType _ of 'M[R]_(d, 1)] :=
  Mechanism bingham_total.

(* The premise is eps > 0. *)
Theorem bingham_dp : dp adjacent eps (fun X => bingham X).
Proof.
have eta0 := bingham_exponent_gt0 tight.
have two : eta *+ 2 <= eps.
  rewrite -mulr_natr /bingham_exponent -mulrA ler_pimulr ?(ltW eps_gt0) //.
  by case: (tight); rewrite mulrC ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
move=> X Y XY; apply: (indistinguishable_le two); move: X Y XY.
apply: (@exponential_mechanism_dp R _ _ (uniform_sphere R d) data adjacent
  (fun X u => - score X u) eta^-1 eta bingham_weight); first by rewrite invr_gt0.
  by move=> X u; rewrite /= invrK mulNr opprK mulrC.
move=> X Y u XY; rewrite divff ?gt_eqF // opprK addrC distrC.
by apply: form_scatter_change => //; exact: norm_direction.
Qed.

End Calibration.

End Bingham.
