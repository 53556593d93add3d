(* Pure differential privacy, for every measurable event.

   Who this is for: a reader who knows differential privacy and wants to see what
   exactly the kernel has checked.

   What is here.
   - The definition.  A mechanism sends a data set to a probability law on a
     measurable space of outputs.  It is eps-DP for a relation of neighbours when
     P(S) <= e^eps Q(S) for EVERY measurable event S of the two laws.
   - Post-processing and adaptive composition.  The joint law of the two-stage
     program (run the first mechanism, hand its output to the second, publish both)
     is constructed by integrating the second law over the first.
   - Laws given by a density up to a constant, and what a bound on the ratio of
     two densities says about events: e^c when the constants agree (additive
     noise), e^(2c) when they do not (the exponential mechanism).
   - Two independent laws with densities have the product density.

   Assumed: nothing beyond the library.  Not said: anything about floating point or
   about how a law is sampled.

   Notation of the library: 'M[R]_(m, n) and 'cV[R]_d are matrices and columns, 'I_n
   the numbers below n, n%:R a number as a real, x *+ n = n x, M^T the transpose, *m
   the product of matrices; \bar R are the reals with infinities, x%:E a real among
   them, \int[mu]_x f x an integral.  `norm` is the length of a vector in Euclidean.v
   and the type of all norms on matrices in Norms.v. *)
From covassay Require Import MeasureTheory MeasurableFunctions.
Local Open Scope ereal_scope.

(* ---------------------------------------------------------------------------- *)
(* The definition                                                               *)

Section Definitions.
Context (R : realType) d (Y : measurableType d).

(* e^eps bounds the ratio of the two laws on every measurable event. *)
Definition indistinguishable (eps : R) (P Q : set Y -> \bar R) :=
  forall S, measurable S -> P S <= (expR eps)%:E * Q S.

(* A mechanism M maps data x to the law of its output; nb x x' means that x and x'
   are neighbours.  Apply it with a symmetric relation to get both directions. *)
Definition dp (X : Type) (nb : X -> X -> Prop) (eps : R) (M : X -> set Y -> \bar R) :=
  forall x x', nb x x' -> indistinguishable eps (M x) (M x').

End Definitions.

Section Basics.
Context (R : realType) d (Y : measurableType d).
Implicit Types P Q : {measure set Y -> \bar R}.

Lemma indistinguishable_refl (eps : R) P : (0 <= eps)%R -> indistinguishable eps P P.
Proof.
move=> e0 S mS; rewrite -[X in X <= _]mul1e lee_wpmul2r ?measure_ge0 // lee_fin.
by rewrite -expR0 ler_expR.
Qed.

Lemma indistinguishable_le (eps eps' : R) P Q :
  (eps <= eps')%R -> indistinguishable eps P Q -> indistinguishable eps' P Q.
Proof.
move=> le PQ S mS; apply: le_trans (PQ S mS) _.
by rewrite lee_wpmul2r ?measure_ge0 // lee_fin ler_expR.
Qed.

(* Group privacy: two steps cost the sum. *)
Lemma indistinguishable_trans (e1 e2 : R) P Q (T : {measure set Y -> \bar R}) :
  indistinguishable e1 P Q -> indistinguishable e2 Q T ->
  indistinguishable (e1 + e2) P T.
Proof.
move=> PQ QT S mS; apply: le_trans (PQ S mS) _.
by rewrite expRD EFinM -muleA lee_wpmul2l ?QT // lee_fin ltW // expR_gt0.
Qed.

(* The bound on events is a bound on expectations of nonnegative functions. *)
Lemma indistinguishable_integral (eps : R) P Q (f : Y -> \bar R) :
  indistinguishable eps P Q -> measurable_fun setT f -> (forall y, 0 <= f y) ->
  \int[P]_y f y <= (expR eps)%:E * \int[Q]_y f y.
Proof.
move=> PQ mf f0; rewrite ge0_integralTE //.
apply: ub_ereal_sup => _ [h /= hf <-].
have e0 : 0 <= (expR eps)%:E by rewrite lee_fin ltW // expR_gt0.
have le1 : sintegral P h <= (expR eps)%:E * sintegral Q h.
  rewrite !sintegralE ge0_mule_fsumr; last by move=> r; exact: nnsfun_mulemu_ge0.
  apply: lee_fsum; first exact: fimfunP.
  move=> _ [t _ <-]; rewrite muleCA; apply: lee_wpmul2l; first by rewrite lee_fin.
  exact/PQ/measurable_sfunP.
apply: le_trans le1 _; apply: lee_wpmul2l => //.
rewrite -integralT_nnsfun; apply: ge0_le_integral => //.
- by move=> y _; rewrite lee_fin.
- exact/EFin_measurable_fun.
Qed.

End Basics.

(* ---------------------------------------------------------------------------- *)
(* Post-processing                                                              *)

(*@ POST-PROCESSING *)
Theorem postprocessing (R : realType) d d' (Y : measurableType d) (Z : measurableType d')
    (X : Type) (nb : X -> X -> Prop) (eps : R) (M : X -> set Y -> \bar R) (h : Y -> Z) :
  measurable_fun setT h -> dp nb eps M -> dp nb eps (fun x S => M x (h @^-1` S)).
Proof. by move=> mh MP x x' xx' S mS; apply: MP => //; rewrite -[_ @^-1` _]setTI; exact: mh. Qed.

(* ---------------------------------------------------------------------------- *)
(* Adaptive composition                                                         *)

Section Composition.
Context (R : realType) d1 d2 (Y1 : measurableType d1) (Y2 : measurableType d2).

(* A second stage: to each first output a probability law, and the probability of
   each event is a measurable function of the first output. *)
Record stage := Stage {
  stage_law :> Y1 -> {measure set Y2 -> \bar R};
  stage_total : forall y, stage_law y setT = 1;
  stage_measurable : forall B, measurable B -> measurable_fun setT (fun y => stage_law y B) }.

(* The joint law of (first output, second output). *)
Definition two_stage (P : set Y1 -> \bar R) (k : Y1 -> {measure set Y2 -> \bar R})
  (S : set (Y1 * Y2)) : \bar R := \int[P]_y k y (xsection S y).

Lemma stage_le1 (k : stage) y B : measurable B -> k y B <= 1.
Proof. by move=> mB; rewrite -(stage_total k y) le_measure ?inE. Qed.

Lemma xsection_setT (y : Y1) : xsection [set: Y1 * Y2] y = setT.
Proof. by apply/seteqP; split => z _ //; rewrite /xsection /= inE. Qed.

Lemma stage_section_measurable (k : stage) (S : set (Y1 * Y2)) :
  measurable S -> measurable_fun setT (fun y => k y (xsection S y)).
Proof.
move=> mS; pose phi S y := k y (xsection S y).
pose B := [set S : set (Y1 * Y2) | measurable S /\ measurable_fun setT (phi S)].
suff: measurable `<=` B by move=> /(_ S mS)[].
rewrite measurable_prod_measurableType.
set C := [set A1 `*` A2 | A1 in measurable & A2 in measurable].
have CI : setI_closed C.
  move=> X Y [X1 mX1 [X2 mX2 <-{X}]] [Z1 mZ1 [Z2 mZ2 <-{Y}]].
  exists (X1 `&` Z1); first exact: measurableI.
  by exists (X2 `&` Z2); [exact: measurableI|rewrite setMI].
have CT : C setT by exists setT => //; exists setT => //; rewrite setMTT.
suff monoB : monotone_class setT B.
  apply: monotone_class_subset => // _ [X1 mX1 [X2 mX2 <-]].
  split; first exact: measurableM.
  have -> : phi (X1 `*` X2) = (fun y => (\1_X1 y)%:E * k y X2).
    apply/funext => y; rewrite indicE /phi.
    have [yX1|yX1] := boolP (y \in X1); first by rewrite mul1e in_xsectionM.
    by rewrite mul0e notin_xsectionM // measure0.
  apply: emeasurable_funM; last exact: stage_measurable.
  exact/EFin_measurable_fun/measurable_fun_indic.
split => //.
- split; first exact: measurableT.
  rewrite (_ : phi setT = cst 1); first exact: measurable_fun_cst.
  by apply/funext => y; rewrite /phi xsection_setT stage_total.
- move=> X Y XY [mX mphiX] [mY mphiY]; split; first exact: measurableD.
  have -> : phi (X `\` Y) = (fun y => phi X y - phi Y y).
    apply/funext => y; rewrite /phi xsectionD measureD ?setIidr //.
    + exact: le_xsection.
    + exact: measurable_xsection.
    + exact: measurable_xsection.
    + by apply: le_lt_trans (stage_le1 _ _ _) (ltry _); exact: measurable_xsection.
  exact: emeasurable_funB.
- move=> F ndF BF; split; first by apply: bigcupT_measurable => n; have [] := BF n.
  apply: (emeasurable_fun_cvg (phi \o F)) => [i|y _]; first by have [] := BF i.
  rewrite /phi xsection_bigcup; apply: nondecreasing_cvg_mu.
  + by move=> n; apply: measurable_xsection; case: (BF n).
  + by apply: bigcupT_measurable => i; apply: measurable_xsection; case: (BF i).
  + by move=> m n mn; exact/subsetPset/le_xsection/subsetPset/ndF.
Qed.

(* Both stages run: the total probability is one. *)
Lemma two_stage_total (P : {measure set Y1 -> \bar R}) (k : stage) :
  P setT = 1 -> two_stage P k setT = 1.
Proof.
move=> P1; rewrite /two_stage (eq_integral (cst 1)).
  by rewrite integral_cst //= mul1e.
by move=> y _; rewrite xsection_setT stage_total.
Qed.

(* The two losses add, although the second mechanism sees the first output. *)
(*@ COMPOSITION-ADAPTIVE *)
Theorem adaptive_composition (X : Type) (nb : X -> X -> Prop) (eps1 eps2 : R)
    (M1 : X -> {measure set Y1 -> \bar R}) (M2 : X -> stage) :
  dp nb eps1 (fun x => M1 x) ->
  (forall y, dp nb eps2 (fun x => M2 x y)) ->
  dp nb (eps1 + eps2) (fun x => two_stage (M1 x) (M2 x)).
Proof.
move=> dp1 dp2 x x' xx' S mS; rewrite expRD EFinM -muleA.
have m x0 : measurable_fun setT (fun y => M2 x0 y (xsection S y)).
  exact: stage_section_measurable.
have e20 : 0 <= (expR eps2)%:E by rewrite lee_fin ltW // expR_gt0.
have le1 : two_stage (M1 x) (M2 x) S
    <= \int[M1 x]_y ((expR eps2)%:E * M2 x' y (xsection S y)).
  apply: ge0_le_integral => //.
  - by move=> y _; rewrite mule_ge0.
  - exact: measurable_funeM.
  - by move=> y _; apply: dp2 => //; exact: measurable_xsection.
apply: le_trans le1 _; apply: le_trans.
  apply: (indistinguishable_integral (dp1 x x' xx')); first exact: measurable_funeM.
  by move=> y; rewrite mule_ge0.
by rewrite ge0_integralM.
Qed.

End Composition.

(* ---------------------------------------------------------------------------- *)
(* Laws with a density                                                          *)

Section Densities.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).

(* A density up to a constant: nonnegative, measurable, with a total mass that is
   neither zero nor infinite. *)
Record weight := Weight {
  weight_at :> Y -> R;
  weight_ge0 : forall y, (0 <= weight_at y)%R;
  weight_measurable : measurable_fun setT weight_at;
  weight_pos : 0 < \int[mu]_y (weight_at y)%:E;
  weight_lty : \int[mu]_y (weight_at y)%:E < +oo }.

(* The constant that makes the total mass one. *)
Definition normalizer (w : weight) : R := fine (\int[mu]_y (w y)%:E).

(* The probability law with density w / normalizer w. *)
Definition law (w : weight) (S : set Y) : \bar R :=
  \int[mu]_(y in S) (w y / normalizer w)%:E.

Lemma normalizerE (w : weight) : (normalizer w)%:E = \int[mu]_y (w y)%:E.
Proof. by rewrite fineK // ge0_fin_numE ?weight_lty // ltW // weight_pos. Qed.

Lemma normalizer_gt0 (w : weight) : (0 < normalizer w)%R.
Proof. by rewrite -lte_fin normalizerE weight_pos. Qed.

Lemma weight_measurableE (w : weight) S : measurable_fun S (fun y => (w y)%:E).
Proof. by apply/EFin_measurable_fun; apply: measurable_funTS; exact: weight_measurable. Qed.

Lemma lawE (w : weight) S : measurable S ->
  law w S = (normalizer w)^-1%:E * \int[mu]_(y in S) (w y)%:E.
Proof.
move=> mS; rewrite /law -ge0_integralM_EFin //.
- by apply: eq_integral => y _; rewrite -EFinM mulrC.
- by move=> y _; rewrite lee_fin weight_ge0.
- exact: weight_measurableE.
- by rewrite invr_ge0 ltW // normalizer_gt0.
Qed.

Lemma law_total (w : weight) : law w setT = 1.
Proof.
rewrite lawE // -normalizerE -EFinM mulVf //.
by rewrite gt_eqF // normalizer_gt0.
Qed.

Lemma density_ge0 (w : weight) y : 0 <= (w y / normalizer w)%:E.
Proof. by rewrite lee_fin divr_ge0 ?weight_ge0 // ltW // normalizer_gt0. Qed.

Lemma density_measurable (w : weight) S :
  measurable_fun S (fun y => (w y / normalizer w)%:E).
Proof.
apply/EFin_measurable_fun; apply: measurable_funTS.
rewrite (_ : (fun _ => _) = (fun y => (normalizer w)^-1 * w y)%R).
  by apply: measurable_funrM; exact: weight_measurable.
by apply/funext => y; rewrite mulrC.
Qed.

Let law0 w : law w set0 = 0. Proof. by rewrite /law integral_set0. Qed.

Let law_ge0 w S : 0 <= law w S.
Proof. by apply: integral_ge0 => y _; exact: density_ge0. Qed.

Let law_sigma_additive w : semi_sigma_additive (law w).
Proof.
move=> F mF tF mUF.
have -> : law w (\bigcup_n F n) = \sum_(n <oo) law w (F n).
  rewrite /law ge0_integral_bigcup //; last by move=> y _; exact: density_ge0.
  split; first exact: density_measurable.
  rewrite (eq_integral (fun y => (w y / normalizer w)%:E)); last first.
    by move=> y _; rewrite gee0_abs // density_ge0.
  apply: le_lt_trans (ltry 1); rewrite -(law_total w).
  by apply: subset_integral => //; [exact: density_measurable|move=> y _; exact: density_ge0].
by apply: is_cvg_nneseries => n _; exact: law_ge0.
Qed.

HB.instance Definition _ (w : weight) :=
  isMeasure.Build _ _ _ (law w) (law0 w) (law_ge0 w) (@law_sigma_additive w).

Lemma law_sigma_finite (w : weight) : sigma_finite setT (law w).
Proof.
exists (fun _ => setT); first by rewrite bigcup_const //; exists 0%N.
by move=> _; split => //; rewrite law_total ltry.
Qed.

(* Equal constants: a bound on the densities is a bound on every event. *)
Lemma law_ratio (c : R) (f g : weight) :
  normalizer f = normalizer g -> (forall y, f y <= expR c * g y)%R ->
  indistinguishable c (law f) (law g).
Proof.
move=> Z fg S mS; rewrite !lawE // Z muleCA lee_wpmul2l //.
  by rewrite lee_fin invr_ge0 ltW // normalizer_gt0.
have e0 : (0 <= expR c)%R by rewrite ltW // expR_gt0.
rewrite -ge0_integralM_EFin //.
- apply: ge0_le_integral => //.
  + by move=> y _; rewrite lee_fin weight_ge0.
  + exact: weight_measurableE.
  + by move=> y _; rewrite -EFinM lee_fin mulr_ge0 // weight_ge0.
  + by apply: measurable_funeM; exact: weight_measurableE.
  + by move=> y _; rewrite -EFinM lee_fin.
- by move=> y _; rewrite lee_fin weight_ge0.
- exact: weight_measurableE.
Qed.

(* The constants need not agree: then they move by at most the same factor. *)
Lemma law_ratio2 (c : R) (f g : weight) :
  (forall y, f y <= expR c * g y)%R -> (forall y, g y <= expR c * f y)%R ->
  indistinguishable (c *+ 2) (law f) (law g).
Proof.
have le_int (u v : weight) S : measurable S -> (forall y, u y <= expR c * v y)%R ->
    \int[mu]_(y in S) (u y)%:E <= (expR c)%:E * \int[mu]_(y in S) (v y)%:E.
  move=> mS uv; rewrite -ge0_integralM_EFin //; first last.
  - by rewrite ltW // expR_gt0.
  - exact: weight_measurableE.
  - by move=> y _; rewrite lee_fin weight_ge0.
  apply: ge0_le_integral => //.
  + by move=> y _; rewrite lee_fin weight_ge0.
  + exact: weight_measurableE.
  + by move=> y _; rewrite -EFinM lee_fin mulr_ge0 ?weight_ge0 // ltW // expR_gt0.
  + by apply: measurable_funeM; exact: weight_measurableE.
  + by move=> y _; rewrite -EFinM lee_fin.
move=> fg gf S mS; rewrite !lawE // mulr2n expRD EFinM muleACA.
apply: lee_pmul; last exact: le_int.
- by rewrite lee_fin invr_ge0 ltW // normalizer_gt0.
- by apply: integral_ge0 => y _; rewrite lee_fin weight_ge0.
rewrite -EFinM lee_fin ler_pdivl_mulr ?normalizer_gt0 // mulrC.
rewrite ler_pdivr_mulr ?normalizer_gt0 // -lee_fin EFinM !normalizerE.
exact: le_int.
Qed.

End Densities.

(* ---------------------------------------------------------------------------- *)
(* Two independent laws                                                         *)

Section Independent.
Context (R : realType) d1 d2 (Y1 : measurableType d1) (Y2 : measurableType d2).
Variables (mu1 : {measure set Y1 -> \bar R}) (mu2 : {measure set Y2 -> \bar R}).
Hypothesis sf2 : sigma_finite setT mu2.
Let mu12 := [the measure _ _ of product_measure1 mu1 sf2].

Variables (f : weight mu1) (g : weight mu2).

(* The density of a pair of independent draws. *)
Definition pair_density (x : Y1 * Y2) : R := (f x.1 * g x.2)%R.

Lemma pair_density_ge0 x : (0 <= pair_density x)%R.
Proof. by rewrite mulr_ge0 ?weight_ge0. Qed.

Lemma pair_density_measurable : measurable_fun setT pair_density.
Proof.
apply: measurable_funM.
  by apply: (measurable_fun_comp (weight_measurable f)); exact: measurable_fun_fst.
by apply: (measurable_fun_comp (weight_measurable g)); exact: measurable_fun_snd.
Qed.

Lemma integral_pair_density :
  \int[mu12]_x (pair_density x)%:E = (normalizer f * normalizer g)%:E.
Proof.
rewrite integral_product; try exact: weight_ge0; try exact: weight_measurable.
by rewrite -!normalizerE -EFinM.
Qed.

Lemma pair_density_pos : 0 < \int[mu12]_x (pair_density x)%:E.
Proof. by rewrite integral_pair_density lte_fin mulr_gt0 ?normalizer_gt0. Qed.

Lemma pair_density_lty : \int[mu12]_x (pair_density x)%:E < +oo.
Proof. by rewrite integral_pair_density ltry. Qed.

Definition pair_weight : weight mu12 :=
  Weight pair_density_ge0 pair_density_measurable pair_density_pos pair_density_lty.

Lemma normalizer_pair : normalizer pair_weight = (normalizer f * normalizer g)%R.
Proof.
by apply: EFin_inj; rewrite normalizerE /= integral_pair_density.
Qed.

Lemma law_pair_rectangle A B : measurable A -> measurable B ->
  law pair_weight (A `*` B) = law f A * law g B.
Proof.
move=> mA mB; rewrite !lawE //; last exact: measurableM.
rewrite normalizer_pair invfM EFinM muleACA; congr (_ * _).
have mI (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R})
    (w : weight mu) (D : set Y) : measurable D ->
    measurable_fun setT (fun y => w y * \1_D y)%R.
  move=> mD; apply: measurable_funM; first exact: weight_measurable.
  exact: measurable_fun_indic.
rewrite (integral_mkcond A) (integral_mkcond B) (integral_mkcond (A `*` B)).
have E (T : Type) (w : T -> R) (D : set T) :
    ((fun y => (w y)%:E) \_ D) = (fun y => (w y * \1_D y)%:E).
  apply/funext => y; rewrite /patch indicE; case: ifPn => _; first by rewrite mulr1.
  by rewrite mulr0.
rewrite !E -integral_product; first last.
- by move=> z; rewrite mulr_ge0 ?weight_ge0 // indicE ler0n.
- by move=> y; rewrite mulr_ge0 ?weight_ge0 // indicE ler0n.
- exact: mI.
- exact: mI.
apply: eq_integral => -[y z] _ /=; congr (_%:E).
rewrite mulrACA; congr (_ * _)%R; rewrite !indicE -natrM mulnb; congr ((nat_of_bool _)%:R).
by apply/idP/andP; rewrite !inE => -[].
Qed.

(* The joint law of two independent releases, built in two stages, has the product
   density. *)
(* The premises are that the second of the two measures is sigma-finite and that S is an
   event. *)
(*@ INDEPENDENT-JOINT-LAW *)
Theorem law_pair S : measurable S ->
  law pair_weight S = two_stage (law f) (fun=> [the measure _ _ of law g]) S.
Proof.
move=> mS.
have := @product_measure_unique _ _ _ _ R [the measure _ _ of law f]
  [the measure _ _ of law g] (law_sigma_finite f) (law_sigma_finite g)
  [the measure _ _ of law pair_weight].
by move=> /(_ law_pair_rectangle S mS) <-.
Qed.

End Independent.
