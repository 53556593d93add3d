(* Adding noise to a query, and the law of the sum.

   The space of outputs is the real line or the m x n matrices, with Lebesgue
   measure.  A mechanism with additive noise draws z from a law that does not depend
   on the data and publishes q(x) + z.  Its law is DEFINED as that: the probability
   of S is the noise's probability of { z | q(x) + z in S }.

   Proved: the published value has the shifted density w(y - q(x)) with the same
   normalizer (this is translation invariance), alone and beside a second,
   independent release; hence a bound on the ratio of shifted densities is a bound
   on every event.  No norm appears yet; that is the file KNorm.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory PureDP Lebesgue LebesgueShift.
Local Open Scope ereal_scope.

(* What is used of the line and of matrices: one can add and subtract, this is
   measurable, and integrals do not see a translation. *)
Record translations (R : realType) d (Y : measurableType d)
    (mu : {measure set Y -> \bar R}) := Translations {
  add : Y -> Y -> Y;
  sub : Y -> Y -> Y;
  addK : forall a z, sub (add a z) a = z;
  measurable_add : forall a, measurable_fun setT (add a);
  measurable_sub : forall a, measurable_fun setT (fun y => sub y a);
  integral_add : forall a (f : Y -> \bar R), measurable_fun setT f -> (forall y, 0 <= f y) ->
    \int[mu]_y f (add a y) = \int[mu]_y f y }.

Section Instances.
Variable R : realType.

Lemma line_addK (a z : R) : (a + z - a)%R = z. Proof. by rewrite addrAC subrr add0r. Qed.

Lemma line_measurable_add (a : R) : measurable_fun setT (fun z : R => (a + z)%R).
Proof. by under eq_fun do rewrite addrC; exact: measurable_fun_addr. Qed.

Lemma line_measurable_sub (a : R) : measurable_fun setT (fun z : R => (z - a)%R).
Proof. exact: measurable_fun_addr. Qed.

Lemma line_integral_add (a : R) (f : R -> \bar R) :
  measurable_fun setT f -> (forall y, 0 <= f y) ->
  \int[@leb R]_y f (a + y)%R = \int[@leb R]_y f y.
Proof. by move=> mf f0; under eq_fun do rewrite addrC; exact: integral_shift_line. Qed.

Definition line : translations [the measure _ _ of @leb R] :=
  Translations line_addK line_measurable_add line_measurable_sub line_integral_add.

Variables m n : nat.
Implicit Type a : 'M[R]_(m, n).

Lemma matrix_addK a z : (a + z - a)%R = z. Proof. by rewrite addrAC subrr add0r. Qed.

Lemma matrix_measurable_add a : measurable_fun setT (fun z : 'M[R]_(m, n) => (a + z)%R).
Proof. by under eq_fun do rewrite addrC; exact: measurable_matrix_add. Qed.

Lemma matrix_measurable_sub a : measurable_fun setT (fun z : 'M[R]_(m, n) => (z - a)%R).
Proof. exact: measurable_matrix_add. Qed.

Lemma matrix_integral_add a (f : 'M[R]_(m, n) -> \bar R) :
  measurable_fun setT f -> (forall y, 0 <= f y) ->
  \int[@leb_matrix R m n]_y f (a + y)%R = \int[@leb_matrix R m n]_y f y.
Proof. by move=> mf f0; under eq_fun do rewrite addrC; exact: integral_shift. Qed.

Definition matrices : translations [the measure _ _ of @leb_matrix R m n] :=
  Translations matrix_addK matrix_measurable_add matrix_measurable_sub matrix_integral_add.

End Instances.

(* ---------------------------------------------------------------------------- *)

Section Shift.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Variables (G : translations mu) (w : weight mu) (a : Y).

(* The density of a + z when z has density w. *)
Definition shift_density (y : Y) : R := w (sub G y a).

Lemma shift_density_ge0 y : (0 <= shift_density y)%R.
Proof. exact: weight_ge0. Qed.

Lemma shift_density_measurable : measurable_fun setT shift_density.
Proof. exact: (measurable_fun_comp (weight_measurable w) (measurable_sub G a)). Qed.

Lemma integral_shift_density :
  \int[mu]_y (shift_density y)%:E = \int[mu]_y (w y)%:E.
Proof.
rewrite -(integral_add G a); first by apply: eq_integral => y _; rewrite /shift_density addK.
  exact/EFin_measurable_fun/shift_density_measurable.
by move=> y; rewrite lee_fin shift_density_ge0.
Qed.

Lemma shift_density_pos : 0 < \int[mu]_y (shift_density y)%:E.
Proof. by rewrite integral_shift_density weight_pos. Qed.

Lemma shift_density_lty : \int[mu]_y (shift_density y)%:E < +oo.
Proof. by rewrite integral_shift_density weight_lty. Qed.

Definition shift_weight : weight mu :=
  Weight shift_density_ge0 shift_density_measurable shift_density_pos shift_density_lty.

Lemma normalizer_shift : normalizer shift_weight = normalizer w.
Proof. by rewrite /normalizer /= integral_shift_density. Qed.

(* The law of a + z. *)
(*@ ADDITIVE-NOISE-LAW *)
Theorem law_shift S : measurable S -> law w [set z | S (add G a z)] = law shift_weight S.
Proof.
move=> mS.
have mT : measurable [set z | S (add G a z)].
  by rewrite -[X in measurable X]setTI; exact: measurable_add.
rewrite !lawE // normalizer_shift; congr (_ * _).
rewrite (integral_mkcond S) (integral_mkcond [set z | _]) -[RHS](integral_add G a).
- apply: eq_integral => z _; rewrite /patch.
  have -> : (z \in [set z | S (add G a z)]) = (add G a z \in S).
    by apply/idP/idP; rewrite !inE.
  by rewrite /= /shift_density addK.
- by apply/(measurable_restrict _ mS) => //; exact: weight_measurableE.
- by move=> y; apply: erestrict_ge0 => z _; rewrite lee_fin shift_density_ge0.
Qed.

End Shift.

(* ---------------------------------------------------------------------------- *)

Section Mechanism.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Variables (G : translations mu) (w : weight mu).

(* Publish q(x) + z, where z has the law w. *)
Definition add_noise (X : Type) (q : X -> Y) (x : X) (S : set Y) : \bar R :=
  law w [set z | S (add G (q x) z)].

Lemma add_noise_total X (q : X -> Y) x : add_noise q x setT = 1.
Proof. exact: law_total. Qed.

Theorem add_noise_dp X (nb : X -> X -> Prop) (q : X -> Y) (eps : R) :
  (forall x x', nb x x' -> forall y, w (sub G y (q x)) <= expR eps * w (sub G y (q x')))%R ->
  dp nb eps (add_noise q).
Proof.
move=> H x x' xx' S mS; rewrite /add_noise !law_shift //.
apply: law_ratio => //; first by rewrite !normalizer_shift.
exact: H.
Qed.

End Mechanism.

(* Two releases with independent noise. *)
Section TwoReleases.
Context (R : realType) d1 d2 (Y1 : measurableType d1) (Y2 : measurableType d2).
Context (mu1 : {measure set Y1 -> \bar R}) (mu2 : {measure set Y2 -> \bar R}).
Hypothesis sf2 : sigma_finite setT mu2.
Variables (G1 : translations mu1) (G2 : translations mu2).
Variables (w1 : weight mu1) (w2 : weight mu2).

(* The law of (z1, z2), z1 and z2 independent. *)
Definition independent (S : set (Y1 * Y2)) : \bar R :=
  two_stage (law w1) (fun=> [the measure _ _ of law w2]) S.

(* Publish (q1(x) + z1, q2(x) + z2). *)
Definition add_noise2 (X : Type) (q1 : X -> Y1) (q2 : X -> Y2) (x : X)
    (S : set (Y1 * Y2)) : \bar R :=
  independent [set z | S (add G1 (q1 x) z.1, add G2 (q2 x) z.2)].

Lemma independentE (a : Y1) (b : Y2) S : measurable S ->
  independent [set z | S (add G1 a z.1, add G2 b z.2)]
  = two_stage (law (shift_weight G1 w1 a))
      (fun=> [the measure _ _ of law (shift_weight G2 w2 b)]) S.
Proof.
move=> mS; rewrite /independent /two_stage.
pose g y := law (shift_weight G2 w2 b) (xsection S y).
have mg : measurable_fun setT g.
  apply: measurable_fun_xsection; last by rewrite inE.
  exact: law_sigma_finite.
transitivity (\int[law w1]_y (g \o add G1 a) y).
  apply: eq_integral => y _ /=; rewrite /g -law_shift; last exact: measurable_xsection.
  by congr (law w2 _); apply/seteqP; split => z; rewrite /xsection /= !inE.
have g0 y : 0 <= g y by exact: (@measure_ge0 _ _ _ [the measure _ _ of law _]).
have E := @integral_pushforward _ _ _ _ _ (measurable_add G1 a) R
  [the measure _ _ of law w1] g mg g0.
apply: etrans (esym E) _.
apply: eq_measure_integral => A mA _; rewrite /= /pushforward.
exact: law_shift.
Qed.

(* The joint law is that of the two-stage program: first release, then second. *)
Lemma add_noise2_two_stage X (q1 : X -> Y1) (q2 : X -> Y2) x S : measurable S ->
  add_noise2 q1 q2 x S = two_stage (law (shift_weight G1 w1 (q1 x)))
      (fun=> [the measure _ _ of law (shift_weight G2 w2 (q2 x))]) S.
Proof. exact: independentE. Qed.

(* The joint bound: the two losses are bounded together, not one after the other. *)
Theorem add_noise2_dp X (nb : X -> X -> Prop) (q1 : X -> Y1) (q2 : X -> Y2) (eps : R) :
  (forall x x', nb x x' -> forall y z,
     w1 (sub G1 y (q1 x)) * w2 (sub G2 z (q2 x)) <=
     expR eps * (w1 (sub G1 y (q1 x')) * w2 (sub G2 z (q2 x'))))%R ->
  dp nb eps (add_noise2 q1 q2).
Proof.
move=> H x x' xx' S mS; rewrite /add_noise2 !independentE //.
rewrite -!(law_pair sf2) //.
apply: law_ratio => //; first by rewrite !normalizer_pair !normalizer_shift.
by move=> [y z]; exact: H.
Qed.

End TwoReleases.
