(* Zero-concentrated differential privacy (zCDP), for laws on any measurable space.

   For densities p and q, rho-zCDP says that the Renyi divergence of every order alpha > 1
   is at most alpha rho, that is int p^alpha q^(1-alpha) <= e^((alpha-1) alpha rho).  Laws of
   releases, for example of post-processed ones, need not have densities.  The definition
   here speaks of events and measurable functions only, by the dual form of the Renyi
   divergence: for every bounded measurable function g,

      E_Q e^(alpha g) <= 1   implies   E_P e^((alpha-1) g) <= e^((alpha-1) rho).

   Proved:
   - laws with densities that meet the textbook bound meet this one (`zcdp_of_densities`); the
     converse is not proved here;
   - post-processing costs nothing;
   - two stages, of which the second sees the output of the first, cost the sum;
   - Gaussian noise of standard deviation sigma, added to matrices that are at most Delta apart
     in Frobenius norm, is (Delta^2/(2 sigma^2))-concentrated (Mechanisms.v has the mechanism).

   Nothing is assumed. *)
From covassay Require Import MeasureTheory PureDP Lebesgue AdditiveNoise KNorm.
From covassay Require Import ExponentialBounds PureToZcdp Gaussian TwoStages.
From covassay Require LawIntegral.
Local Open Scope ereal_scope.

(* ---------------------------------------------------------------------------- *)
(* The definition                                                               *)

Section Definitions.
Context (R : realType) d (Y : measurableType d).

(* Between -b and b, and measurable. *)
Definition bounded_function (b : R) (g : Y -> R) :=
  measurable_fun setT g /\ forall y, (`|g y| <= b)%R.

(* The mean of e^(c g). *)
Definition exponential_mean (P : {measure set Y -> \bar R}) (c : R) (g : Y -> R) : \bar R :=
  \int[P]_y (expR (c * g y))%:E.

Definition concentrated (rho : R) (P Q : {measure set Y -> \bar R}) :=
  forall (alpha b : R) (g : Y -> R), (1 < alpha)%R -> bounded_function b g ->
  exponential_mean Q alpha g <= 1 ->
  exponential_mean P (alpha - 1) g <= (expR ((alpha - 1) * rho))%:E.

(* rho-zCDP for a relation of neighbours. *)
Definition zcdp (X : Type) (nb : X -> X -> Prop) (rho : R) (M : X -> {measure set Y -> \bar R}) :=
  forall x x', nb x x' -> concentrated rho (M x) (M x').

End Definitions.

Lemma measurable_ln_comp (R : realType) d (Y : measurableType d) (c : Y -> R) :
  measurable_fun setT c -> (forall y, 0 < c y)%R -> measurable_fun setT (fun y => ln (c y)).
Proof.
move=> mc c0; apply: (measurability (RGenOInfty.measurableE R)) => _ [_ [a ->] <-].
rewrite setTI (_ : _ @^-1` _ = setT `&` c @^-1` `]expR a, +oo[%classic).
  by apply: mc => //; exact: measurable_itv.
apply/seteqP; split => y; rewrite /= !in_itv /= !andbT.
  by move=> ay; split=> //; rewrite -[c y]lnK ?posrE // ltr_expR.
by case=> _; rewrite -{1}[c y]lnK ?posrE // ltr_expR.
Qed.

Section Basics.
Context (R : realType) d (Y : measurableType d).
Implicit Types (P Q : {measure set Y -> \bar R}) (g : Y -> R).

Lemma bounded_measurable (b c : R) g : bounded_function b g ->
  measurable_fun setT (fun y => (expR (c * g y))%:E).
Proof.
move=> [mg _]; apply/EFin_measurable_fun.
rewrite (_ : (fun y => _) = expR \o (fun y => c * g y)%R) //.
apply: measurable_fun_comp; last exact: measurable_funrM.
by apply: continuous_measurable_fun; exact: continuous_expR.
Qed.

Lemma exponential_ge0 (x : R) : 0 <= (expR x)%:E.
Proof. by rewrite lee_fin ltW // expR_gt0. Qed.

Lemma concentrated_le (rho rho' : R) P Q : (rho <= rho')%R ->
  concentrated rho P Q -> concentrated rho' P Q.
Proof.
move=> le H alpha b g a1 bg Q1; apply: le_trans (H _ _ _ a1 bg Q1) _.
by rewrite lee_fin ler_expR ler_wpmul2l // subr_ge0 ltW.
Qed.

(* The premise need not be normalized: c is the mean under Q. *)
Lemma concentrated_mean (rho alpha b : R) P Q g c : (1 < alpha)%R -> (0 < c)%R ->
  concentrated rho P Q -> bounded_function b g -> exponential_mean Q alpha g <= c%:E ->
  exponential_mean P (alpha - 1) g
  <= (expR ((alpha - 1) * rho) * expR ((alpha - 1) * (ln c / alpha)))%:E.
Proof.
move=> a1 c0 H [mg bg] Qc; pose s := (ln c / alpha)%R.
have a0 : (0 < alpha)%R by apply: lt_trans a1.
pose g' y := (g y - s)%R.
have bg' : bounded_function (b + `|s|) g'.
  split; first by apply: measurable_funB => //; exact: measurable_fun_cst.
  by move=> y; apply: le_trans (ler_norm_sub _ _) _; rewrite ler_add2r.
have shift (P' : {measure set Y -> \bar R}) (e : R) :
    exponential_mean P' e g' = (expR (- (e * s)))%:E * exponential_mean P' e g.
  rewrite /exponential_mean -ge0_integralM_EFin //.
  - by apply: eq_integral => y _; rewrite -EFinM -expRD /g' mulrBr addrC.
  - by move=> y _; exact: exponential_ge0.
  - exact: (@bounded_measurable b).
  - by rewrite ltW // expR_gt0.
have Q1 : exponential_mean Q alpha g' <= 1.
  rewrite shift; apply: (@le_trans _ _ ((expR (- (alpha * s)))%:E * c%:E)).
    by rewrite lee_wpmul2l ?exponential_ge0.
  rewrite -{1}[c]lnK ?posrE // -EFinM -expRD lee_fin /s.
  by rewrite mulrCA divff ?gt_eqF // mulr1 addNr expR0.
have := H alpha _ g' a1 bg' Q1; rewrite shift => le.
have e1 : (expR ((alpha - 1) * s))%:E * (expR (- ((alpha - 1) * s)))%:E = 1.
  by rewrite -EFinM -expRD subrr expR0.
rewrite -[X in X <= _]mul1e -e1 -muleA EFinM [X in _ <= X]muleC.
by rewrite lee_wpmul2l ?exponential_ge0.
Qed.

End Basics.

(* ---------------------------------------------------------------------------- *)
(* Post-processing and composition                                              *)

Section PostProcessing.
Context (R : realType) d d' (Y : measurableType d) (Z : measurableType d').
Variables (h : Y -> Z) (mh : measurable_fun setT h).

Lemma concentrated_image (rho : R) P Q :
  concentrated rho P Q -> concentrated rho (image_law mh P) (image_law mh Q).
Proof.
move=> H alpha b g a1 [mg bg].
have E (P' : {measure set Y -> \bar R}) e :
    exponential_mean (image_law mh P') e g = exponential_mean P' e (g \o h).
  rewrite /exponential_mean /image_law integral_pushforward //.
    exact: (@bounded_measurable _ _ _ b).
  by move=> z; exact: exponential_ge0.
rewrite !E; apply: H a1 _ => //; split; first exact: measurable_fun_comp.
by move=> y; exact: bg.
Qed.

(*@ ZCDP-POST-PROCESSING *)
Theorem zcdp_postprocessing (X : Type) (nb : X -> X -> Prop) (rho : R)
    (M : X -> {measure set Y -> \bar R}) :
  zcdp nb rho M -> zcdp nb rho (fun x => image_law mh (M x)).
Proof. by move=> H x x' xx'; apply: concentrated_image; exact: H. Qed.

End PostProcessing.

Section Composition.
Context (R : realType) d1 d2 (Y1 : measurableType d1) (Y2 : measurableType d2).
Notation Y12 := [the measurableType _ of (Y1 * Y2)%type].

Lemma concentrated_joint (rho1 rho2 : R) (P Q : {measure set Y1 -> \bar R}) (K L : stage R Y1 Y2) :
  concentrated rho1 P Q -> (forall y, concentrated rho2 (K y) (L y)) ->
  concentrated (rho1 + rho2) [the measure _ _ of joint P K] [the measure _ _ of joint Q L].
Proof.
move=> PQ KL alpha b g a1 [mg bg]; have a0 : (0 < alpha)%R by apply: lt_trans a1.
have a10 : (0 < alpha - 1)%R by rewrite subr_gt0.
have mG c : measurable_fun setT (fun x => (expR (c * g x))%:E).
  exact: (@bounded_measurable _ _ Y12 b c g).
have G0 c x : 0 <= (expR (c * g x))%:E by exact: exponential_ge0.
have bgy (y : Y1) : bounded_function b (fun z => g (y, z)).
  by split=> [|z]; [exact/measurable_fun_prod1|exact: bg].
rewrite /exponential_mean !integral_joint // => Q1.
pose inner y := \int[L y]_z (expR (alpha * g (y, z)))%:E.
have b0 (y : Y1) (z : Y2) : (0 <= b)%R by apply: le_trans (bg (y, z)).
(* the inner mean lies between e^(-alpha b) and e^(alpha b) *)
have bounds y : (expR (- (alpha * b)))%:E <= inner y <= (expR (alpha * b))%:E.
  have cstE (r : R) : \int[L y]_z (cst r%:E) z = r%:E.
    by rewrite integral_cst // stage_total mule1.
  have mg' : measurable_fun setT (fun z : Y2 => (expR (alpha * g (y, z)))%:E).
    exact: (bounded_measurable _ (bgy y)).
  rewrite -[X in X <= _ <= _]cstE -[X in _ <= _ <= X]cstE.
  apply/andP; split; apply: ge0_le_integral => //.
  - by move=> z _; exact: exponential_ge0.
  - exact: measurable_fun_cst.
  - move=> z _; rewrite lee_fin ler_expR -mulrN ler_pmul2l //.
    by have := bg (y, z); rewrite ler_norml => /andP[].
  - by move=> z _; exact: exponential_ge0.
  - exact: measurable_fun_cst.
  - move=> z _; rewrite lee_fin ler_expR ler_pmul2l //.
    by have := bg (y, z); rewrite ler_norml => /andP[].
have fin y : inner y \is a fin_num.
  have /andP[lo hi] := bounds y; rewrite ge0_fin_numE; first exact: le_lt_trans hi (ltry _).
  by apply: le_trans lo; exact: exponential_ge0.
pose c y := fine (inner y); have cE y : inner y = (c y)%:E by rewrite /c fineK.
have c0 y : (0 < c y)%R.
  have /andP[lo _] := bounds y; rewrite -lte_fin -cE; apply: lt_le_trans lo.
  by rewrite lte_fin expR_gt0.
have mc : measurable_fun setT c.
  apply/EFin_measurable_fun; rewrite (_ : EFin \o c = inner); last by apply/funext => y /=.
  exact: (measurable_inner L (mG alpha) (G0 alpha)).
pose G y := (ln (c y) / alpha)%R.
have bG : bounded_function b G.
  split.
    rewrite /G; under eq_fun do rewrite mulrC.
    by apply: measurable_funrM; exact: measurable_ln_comp.
  move=> y; have /andP[lo hi] := bounds y; move: lo hi; rewrite cE !lee_fin => lo hi.
  rewrite ler_norml ler_pdivl_mulr // ler_pdivr_mulr // mulNr [(b * _)%R]mulrC.
  by rewrite -ler_expR lnK ?posrE // lo -ler_expR lnK ?posrE.
have Q1' : exponential_mean Q alpha G <= 1.
  rewrite /exponential_mean (eq_integral inner) // => y _.
  by rewrite cE /G mulrCA divff ?gt_eqF // mulr1 lnK ?posrE.
have outer := PQ alpha b G a1 bG Q1'.
apply: (@le_trans _ _ (\int[P]_y ((expR ((alpha - 1) * rho2))%:E * (expR ((alpha - 1) * G y))%:E))).
  apply: ge0_le_integral => //.
  - by move=> y _; apply: integral_ge0.
  - exact: (measurable_inner K (mG _) (G0 _)).
  - by move=> y _; rewrite mule_ge0 ?exponential_ge0.
  - by apply: measurable_funeM; exact: (@bounded_measurable _ _ _ b).
  move=> y _; rewrite -EFinM.
  by apply: (concentrated_mean a1 (c0 y) (KL y) (bgy y)); rewrite -cE.
rewrite ge0_integralM //; first last.
- exact: exponential_ge0.
- by move=> y _; exact: exponential_ge0.
- exact: (@bounded_measurable _ _ _ b).
by rewrite mulrDr expRD EFinM muleC lee_wpmul2r // exponential_ge0.
Qed.

(* The joint law of two stages, of which the second sees the first output. *)
(*@ ZCDP-COMPOSITION-ADAPTIVE *)
Theorem zcdp_composition (X : Type) (nb : X -> X -> Prop) (rho1 rho2 : R)
    (M1 : X -> {measure set Y1 -> \bar R}) (M2 : X -> stage R Y1 Y2) :
  zcdp nb rho1 M1 -> (forall y, zcdp nb rho2 (fun x => M2 x y)) ->
  zcdp nb (rho1 + rho2) (fun x => [the measure _ _ of joint (M1 x) (M2 x)]).
Proof.
by move=> H1 H2 x x' xx'; apply: concentrated_joint; [exact: H1|move=> y; exact: H2].
Qed.

(* The law of the second output alone. *)
Lemma zcdp_run (X : Type) (nb : X -> X -> Prop) (rho1 rho2 : R)
    (M1 : X -> {measure set Y1 -> \bar R}) (M2 : X -> stage R Y1 Y2) :
  zcdp nb rho1 M1 -> (forall y, zcdp nb rho2 (fun x => M2 x y)) ->
  zcdp nb (rho1 + rho2) (fun x => run (M1 x) (M2 x)).
Proof.
move=> H1 H2 x x' xx'.
by apply: concentrated_image; exact: (zcdp_composition H1 H2 xx').
Qed.

End Composition.

(* ---------------------------------------------------------------------------- *)
(* Laws with densities                                                          *)

Section Densities.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Implicit Types f g : weight mu.

Lemma integral_weight f (h : Y -> R) : measurable_fun setT h -> (forall y, 0 <= h y)%R ->
  \int[law f]_y (h y)%:E = \int[mu]_y (h y * density f y)%:E.
Proof.
move=> mh h0; have mE : measurable_fun setT (fun y => (h y)%:E) by exact/EFin_measurable_fun.
rewrite (LawIntegral.integral_law f mE) => [|y]; last by rewrite lee_fin.
by apply: eq_integral => y _; rewrite /density -EFinM mulrC.
Qed.

(* Two numbers between which a weighted mean of exponentials lies. *)
Lemma exp_mean_le (alpha x y : R) : (1 < alpha)%R ->
  (expR (x / alpha + y * (alpha - 1) / alpha)
   <= expR x / alpha + expR y * (alpha - 1) / alpha)%R.
Proof.
move=> a1; have a0 : (0 < alpha)%R by apply: lt_trans a1.
have an : alpha != 0%R by rewrite gt_eqF.
set m := (x / alpha + y * (alpha - 1) / alpha)%R.
have tx := expR_tangent m x; have ty := expR_tangent m y.
apply: (@le_trans _ _ (expR m * (1 + (x - m)) / alpha + expR m * (1 + (y - m)) * (alpha - 1) / alpha)%R).
  rewrite le_eqVlt; apply/orP; left; apply/eqP.
  move: (expR m) => e; rewrite /m; field; exact: an.
apply: ler_add; first by rewrite ler_pmul2r ?invr_gt0.
by rewrite ler_pmul2r ?invr_gt0 // ler_pmul2r ?subr_gt0.
Qed.

(* The textbook bound implies the one of this file. *)
(*@ ZCDP-DENSITIES *)
Theorem zcdp_of_densities (rho : R) f g :
  positive_weight f -> positive_weight g ->
  (forall alpha, measurable_fun setT (fun y => density f y `^ alpha * density g y `^ (1 - alpha))%R) ->
  zcdp_laws rho f g -> concentrated rho [the measure _ _ of law f] [the measure _ _ of law g].
Proof.
move=> f0 g0 mr H alpha b u a1 bu Q1; have [mu' _] := bu.
have a0 : (0 < alpha)%R by apply: lt_trans a1.
have an : alpha != 0%R by rewrite gt_eqF.
pose r y := (density f y `^ alpha * density g y `^ (1 - alpha))%R.
have mexp c : measurable_fun setT (fun y => expR (c * u y))%R.
  exact/EFin_measurable_fun/(bounded_measurable c bu).
have e0 (x : R) : (0 <= expR x)%R by rewrite ltW // expR_gt0.
have EW (w : weight mu) c : exponential_mean [the measure _ _ of law w] c u
    = \int[mu]_y (expR (c * u y) * density w y)%:E.
  exact: (integral_weight w (mexp c) (fun y => e0 _)).
have {}Q1 : \int[mu]_y (expR (alpha * u y) * density g y)%:E <= 1.
  by exact: (eq_ind _ (fun t => t <= 1) Q1 _ (EW g alpha)).
suff : \int[mu]_y (expR ((alpha - 1) * u y) * density f y)%:E <= (expR ((alpha - 1) * rho))%:E.
  by move=> le; exact: (eq_ind _ (fun t => t <= _) le _ (esym (EW f (alpha - 1)%R))).
pose A := (expR ((alpha - 1) * rho) * expR (- ((alpha - 1) * alpha * rho)) / alpha)%R.
pose B := (expR ((alpha - 1) * rho) * (alpha - 1) / alpha)%R.
have A0 : (0 <= A)%R by rewrite divr_ge0 ?mulr_ge0 // ltW.
have B0 : (0 <= B)%R by rewrite divr_ge0 ?mulr_ge0 ?subr_ge0 // ltW.
have r0 y : (0 <= r y)%R by rewrite mulr_ge0 // ltW // exp_fun_gt0.
have dg0 y : (0 <= density g y)%R by rewrite ltW // density_gt0.
have df0 y : (0 <= density f y)%R by rewrite ltW // density_gt0.
have young y : (expR ((alpha - 1) * u y) * density f y
    <= A * r y + B * (expR (alpha * u y) * density g y))%R.
  pose p := ln (density f y); pose q := ln (density g y).
  have pE : density f y = expR p by rewrite lnK // posrE density_gt0.
  have qE : density g y = expR q by rewrite lnK // posrE density_gt0.
  pose s := (alpha * p + (1 - alpha) * q - (alpha - 1) * alpha * rho)%R.
  have -> : (expR ((alpha - 1) * u y) * density f y = expR ((alpha - 1) * rho) *
      expR (s / alpha + (alpha * u y + q) * (alpha - 1) / alpha))%R.
    by rewrite pE -!expRD /s; congr expR; field.
  have -> : (A * r y + B * (expR (alpha * u y) * density g y) = expR ((alpha - 1) * rho) *
      (expR s / alpha + expR (alpha * u y + q) * (alpha - 1) / alpha))%R.
    rewrite /A /B /r /exp_fun -/p -/q qE /s !expRD.
    move: (expR ((alpha - 1) * rho)) (expR (- ((alpha - 1) * alpha * rho))) (expR (alpha * p))
      (expR ((1 - alpha) * q)) (expR (alpha * u y)) (expR q) => e1 e2 e3 e4 e5 e6.
    by field; exact: an.
  by rewrite ler_wpmul2l // exp_mean_le.
have eg0 y : (0 <= expR (alpha * u y) * density g y)%R by apply: mulr_ge0.
have ef0 y : (0 <= expR ((alpha - 1) * u y) * density f y)%R by apply: mulr_ge0.
apply: (@le_trans _ _ (\int[mu]_y (A%:E * (r y)%:E + B%:E * (expR (alpha * u y) * density g y)%:E))).
  apply: ge0_le_integral => //.
  - by move=> y _; rewrite lee_fin.
  - by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: density_measurable1.
  - by move=> y _; rewrite -!EFinM -EFinD lee_fin; apply: addr_ge0; apply: mulr_ge0.
  - apply: emeasurable_funD; apply: measurable_funeM; apply/EFin_measurable_fun; first exact: mr.
    by apply: measurable_funM => //; exact: density_measurable1.
  by move=> y _; rewrite -!EFinM -EFinD lee_fin.
rewrite ge0_integralD //; last 4 first.
- by move=> y _; rewrite -EFinM lee_fin; apply: mulr_ge0.
- by apply: measurable_funeM; apply/EFin_measurable_fun; exact: mr.
- by move=> y _; rewrite -EFinM lee_fin; apply: mulr_ge0.
- apply: measurable_funeM; apply/EFin_measurable_fun.
  by apply: measurable_funM => //; exact: density_measurable1.
rewrite ge0_integralM_EFin //; last 2 first.
- by move=> y _; rewrite lee_fin.
- by apply/EFin_measurable_fun; exact: mr.
rewrite ge0_integralM_EFin //; last 2 first.
- by move=> y _; rewrite lee_fin.
- by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: density_measurable1.
apply: (@le_trans _ _ (A%:E * (expR ((alpha - 1) * alpha * rho))%:E + B%:E * 1)).
  by apply: lee_add; apply: lee_wpmul2l; rewrite ?lee_fin //; exact: H.
rewrite mule1 -EFinM -EFinD lee_fin /A /B le_eqVlt; apply/orP; left; apply/eqP.
have -> : (expR (- ((alpha - 1) * alpha * rho)) = (expR ((alpha - 1) * alpha * rho))^-1)%R by rewrite expRN.
have nz : expR ((alpha - 1) * alpha * rho) != 0%R by rewrite gt_eqF // expR_gt0.
move: (expR ((alpha - 1) * alpha * rho)) nz (expR ((alpha - 1) * rho)) => e nz e1.
by field; rewrite nz an.
Qed.

End Densities.

(* Only the values on events matter. *)
Lemma concentrated_eq (R : realType) d (Y : measurableType d) (rho : R)
    (P P' Q Q' : {measure set Y -> \bar R}) :
  (forall S, measurable S -> P S = P' S) -> (forall S, measurable S -> Q S = Q' S) ->
  concentrated rho P Q -> concentrated rho P' Q'.
Proof.
move=> PP QQ H alpha b g a1 bg; rewrite /exponential_mean.
have E (M M' : {measure set Y -> \bar R}) c : (forall S, measurable S -> M S = M' S) ->
    \int[M']_y (expR (c * g y))%:E = \int[M]_y (expR (c * g y))%:E.
  by move=> MM; apply: eq_measure_integral => S mS _; rewrite MM.
by rewrite (E _ _ _ PP) (E _ _ _ QQ); exact: (H alpha b).
Qed.

(* ---------------------------------------------------------------------------- *)
(* Gaussian noise                                                               *)

Section GaussianNoise.
Variables (R : realType) (m n : nat) (sigma : R) (sigma_gt0 : (0 < sigma)%R).
Notation noise := (gaussian_weight m n sigma_gt0).

(* The law of a + Z. *)
Definition gaussian_at (a : 'M[R]_(m, n)) :
    {measure set [the measurableType _ of 'M[R]_(m, n)] -> \bar R} :=
  image_law (matrix_measurable_add a) [the measure _ _ of law noise].

Lemma gaussian_concentrated (Delta : R) a b : (sum_squares (a - b)%R <= Delta ^+ 2)%R ->
  concentrated (Delta ^+ 2 / (2 * sigma ^+ 2)) (gaussian_at a) (gaussian_at b).
Proof.
move=> ab.
have E c S : measurable S -> law (gaussian sigma_gt0 c) S = gaussian_at c S.
  by move=> mS; rewrite -(law_shift (matrices R m n)).
apply: (concentrated_eq (E a) (E b)).
apply: zcdp_of_densities; try exact: gaussian_positive; last exact: gaussian_zcdp.
move=> alpha; under eq_fun do rewrite gaussian_renyi_pointwise.
by apply: measurable_funrM; apply: density_measurable1.
Qed.

End GaussianNoise.

(* The definition can be met. *)
Lemma concentrated_inhabited (R : realType) (m n : nat) :
  concentrated (0 ^+ 2 / (2 * 1 ^+ 2) : R) (gaussian_at (m := m) (n := n) ltr01 0)
    (gaussian_at ltr01 0).
Proof.
apply: gaussian_concentrated; rewrite subrr expr0n /sum_squares big1 // => i _.
by rewrite big1 // => j _; rewrite mxE expr0n.
Qed.

Lemma zcdp_inhabited (R : realType) (m n : nat) :
  zcdp (fun _ _ : unit => True) (0 ^+ 2 / (2 * 1 ^+ 2) : R)
    (fun _ => gaussian_at (m := m) (n := n) ltr01 0).
Proof. by move=> x x' _; exact: concentrated_inhabited. Qed.
