(* Stages: what a mechanism does after its first answer, built from parts.

   - density_stage: after y, draw z with density exp(g(y, z)) with respect to a probability mu.
   - map_stage: after y, publish h(y, z), where z has the law of a stage.
   - chain: after y, draw z by a first stage, then the answer by a second one that sees (y, z).
   - run_dp: a mechanism and a stage after it, of which the last answer is published, cost the sum.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue AdditiveNoise TwoStages Sphere.
From covassay Require Algorithm2 BallProjection.

(* ---------------------------------------------------------------------------- *)
(* A density that depends on what came before                                   *)

Section DensityStage.
Context (R : realType) d1 d2 (Y1 : measurableType d1) (Y2 : measurableType d2).
Variables (mu : {measure set Y2 -> \bar R}) (g : Y1 * Y2 -> R) (b : Y1 -> R).
Hypotheses (mu1 : mu setT = 1%E) (mg : measurable_fun setT g).
Hypothesis gb : forall y z, `|g (y, z)| <= b y.

Let mg_at y : measurable_fun setT (fun z => g (y, z)).
Proof. exact/measurable_fun_prod1. Qed.

Definition density_weight y : weight mu := bounded_weight mu1 (mg_at y) (gb y).

Let density_law y : {measure set Y2 -> \bar R} := [the measure _ _ of law (density_weight y)].

Let density_total y : density_law y setT = 1%E. Proof. exact: law_total. Qed.

Let mexp : measurable_fun setT (fun yz => expR (g yz)).
Proof.
apply: (measurable_fun_comp (f := expR)) => //.
by apply: continuous_measurable_fun; exact: continuous_expR.
Qed.

Let measurable_mass B : measurable B ->
  measurable_fun setT (fun y => \int[mu]_(z in B) (density_weight y z)%:E)%E.
Proof.
move=> mB; pose f (yz : Y1 * Y2) : \bar R := (expR (g yz) * \1_B yz.2)%:E.
have mf : measurable_fun setT f.
  apply/EFin_measurable_fun/measurable_funM => //.
  have mI : measurable_fun setT (\1_B : Y2 -> R) by exact: measurable_fun_indic.
  exact: (measurable_fun_comp mI (@measurable_fun_snd _ _ Y1 Y2)).
have f0 yz : (0 <= f yz)%E by rewrite lee_fin mulr_ge0 ?indicE ?ler0n // ltW // expR_gt0.
have := measurable_inner (Algorithm2.constant_stage Y1 mu1) mf f0.
congr (measurable_fun setT _); apply/funext => y; rewrite [RHS]integral_mkcond.
apply: eq_integral => z _; rewrite /f /patch indicE /=.
by case: ifP => _; rewrite ?mulr1 // mulr0.
Qed.

Let density_measurable B : measurable B -> measurable_fun setT (fun y => density_law y B).
Proof.
move=> mB; rewrite (_ : (fun y => _) = fun y =>
    ((BallProjection.positive_inverse (normalizer (density_weight y)))%:E
     * \int[mu]_(z in B) (density_weight y z)%:E)%E); last first.
  apply/funext => y; rewrite /density_law /= lawE // /BallProjection.positive_inverse.
  by rewrite normalizer_gt0.
apply: emeasurable_funM; last exact: measurable_mass.
apply/EFin_measurable_fun.
apply: (measurable_fun_comp (f := @BallProjection.positive_inverse R)).
  exact: BallProjection.positive_inverse_measurable.
apply/EFin_measurable_fun; rewrite (_ : _ \o _ = fun y => \int[mu]_z (density_weight y z)%:E)%E.
  exact: measurable_mass.
by apply/funext => y; rewrite /= normalizerE.
Qed.

Definition density_stage : stage R Y1 Y2 := Stage density_total density_measurable.

End DensityStage.

(* ---------------------------------------------------------------------------- *)
(* A function of what came before and of the answer                             *)

(* A function of two variables, when the first is known. *)
Section At.
Context (R : realType) d1 d2 d3 (Y1 : measurableType d1) (Y2 : measurableType d2)
  (Y3 : measurableType d3).
Variable h : Y1 * Y2 -> Y3.
Hypothesis mh : measurable_fun setT h.

Lemma measurable_at y : measurable_fun setT (fun z => h (y, z)).
Proof.
move=> _ B mB; rewrite setTI.
rewrite (_ : _ @^-1` B = xsection (h @^-1` B) y).
  by apply: measurable_xsection; have := mh measurableT mB; rewrite setTI.
by apply/seteqP; split => z; rewrite /xsection /= inE.
Qed.

End At.

Section MapStage.
Context (R : realType) d1 d2 d3 (Y1 : measurableType d1) (Y2 : measurableType d2)
  (Y3 : measurableType d3).
Variables (K : stage R Y1 Y2) (h : Y1 * Y2 -> Y3).
Hypothesis mh : measurable_fun setT h.

Let mapped y : {measure set Y3 -> \bar R} := image_law (measurable_at R mh y) (K y).

Let mapped_total y : mapped y setT = 1%E. Proof. exact: (stage_total K y). Qed.

Let mapped_measurable B : measurable B -> measurable_fun setT (fun y => mapped y B).
Proof.
move=> mB; rewrite (_ : (fun y => _) = fun y => K y (xsection (h @^-1` B) y)).
  by apply: stage_section_measurable; have := mh measurableT mB; rewrite setTI.
apply/funext => y; rewrite /mapped /= /pushforward; congr (K y _).
by apply/seteqP; split => z; rewrite /xsection /= inE.
Qed.

Definition map_stage : stage R Y1 Y3 := Stage mapped_total mapped_measurable.

End MapStage.

(* ---------------------------------------------------------------------------- *)
(* One stage after another                                                      *)

Section Chain.
Context (R : realType) d1 d2 d3 (Y1 : measurableType d1) (Y2 : measurableType d2)
  (Y3 : measurableType d3).
Variables (K : stage R Y1 Y2) (L : stage R [the measurableType _ of (Y1 * Y2)%type] Y3).

Let section_measurable y B : measurable B -> measurable_fun setT (fun z => L (y, z) B).
Proof.
move=> mB; pose f (yz : Y1 * Y2) := L yz B.
have mf : measurable_fun setT f by exact: stage_measurable.
exact: (measurable_at R mf y).
Qed.

(* The second stage, when y is known. *)
Definition second y : stage R Y2 Y3 :=
  @Stage R _ _ Y2 Y3 (fun z => L (y, z)) (fun z => stage_total L (y, z)) (@section_measurable y).

Let chained y : {measure set Y3 -> \bar R} := run (K y) (second y).

Let chained_total y : chained y setT = 1%E.
Proof. by apply: run_total; exact: stage_total. Qed.

Let chained_measurable B : measurable B -> measurable_fun setT (fun y => chained y B).
Proof.
move=> mB; pose f yz := L yz B.
have -> : (fun y => chained y B) = (fun y => \int[K y]_z f (y, z))%E.
  apply/funext => y; rewrite /chained /run /= /pushforward /joint /two_stage /=.
  apply: eq_integral => z _; rewrite /f; congr (L (y, z) _).
  by apply/seteqP; split => w; rewrite /xsection /= inE.
by apply: measurable_inner => //; exact: stage_measurable.
Qed.

Definition chain : stage R Y1 Y3 := Stage chained_total chained_measurable.

End Chain.

(* ---------------------------------------------------------------------------- *)
(* What they cost                                                               *)

Lemma run_dp (R : realType) (X : Type) (nb : X -> X -> Prop) d1 d2 (Y1 : measurableType d1)
    (Y2 : measurableType d2) (e1 e2 : R) (P : X -> {measure set Y1 -> \bar R})
    (K : X -> stage R Y1 Y2) :
  dp nb e1 (fun x => P x) -> (forall y, dp nb e2 (fun x => K x y)) ->
  dp nb (e1 + e2) (fun x => run (P x) (K x)).
Proof.
move=> HP HK x x' xx' S mS.
exact: (postprocessing (@measurable_second _ _ Y1 Y2) (adaptive_composition HP HK) xx' mS).
Qed.

Section Cost.
Context (R : realType) (X : Type) (nb : X -> X -> Prop).
Context d1 d2 d3 (Y1 : measurableType d1) (Y2 : measurableType d2) (Y3 : measurableType d3).

Lemma chain_dp (e1 e2 : R) (K : X -> stage R Y1 Y2)
    (L : X -> stage R [the measurableType _ of (Y1 * Y2)%type] Y3) y :
  dp nb e1 (fun x => K x y) -> (forall z, dp nb e2 (fun x => L x (y, z))) ->
  dp nb (e1 + e2) (fun x => chain (K x) (L x) y).
Proof. by move=> HK HL; exact: (run_dp (P := fun x => K x y) (K := fun x => second (L x) y) HK HL). Qed.

Lemma map_stage_dp (e : R) (K : X -> stage R Y1 Y2) (h : Y1 * Y2 -> Y3)
    (mh : measurable_fun setT h) y :
  dp nb e (fun x => K x y) -> dp nb e (fun x => map_stage (K x) mh y).
Proof. by move=> HK x x' xx' S mS; exact: (postprocessing (measurable_at R mh y) HK xx' mS). Qed.

End Cost.
