(* A linear form of independent Gaussian entries is Gaussian.

   Z has independent standard Gaussian entries, V is a fixed m x n matrix, |V| the root of its
   sum of squares.  Then sum V_ij Z_ij has the law of |V| t, where t is standard Gaussian on
   the line, for every measurable event of the line (gaussian_projection).

   The proof is by coordinates.  Two of them are turned by two shears of the plane, and each
   shear is a shift and a change of scale of one coordinate (Tonelli).  The value sqrt (2 pi) of
   the normalizer is not used.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueBox.
From covassay Require Import LebesgueShift LebesgueScale LebesgueRows AdditiveNoise KNorm.
From covassay Require Import ExponentialBounds Gaussian TwoStages.
From covassay Require LawIntegral.
Local Open Scope ereal_scope.

Section Line.
Variable R : realType.
Notation mu := [the measure _ _ of @leb R].
Implicit Types (f g : R -> \bar R) (A : set R).

(* ---------------------------------------------------------------------------- *)
(* Lebesgue measure does not see a reflection                                   *)

Lemma measurable_opp : measurable_fun setT (fun x : R => - x)%R.
Proof.
under eq_fun do rewrite -mulN1r.
by apply: measurable_funrM; exact: measurable_fun_id.
Qed.

Lemma leb_opp A : measurable A -> leb [set x | A (- x)%R] = leb A.
Proof.
move=> mA; pose G := [the measurableType _ of salgebraType (R.-ocitv.-measurable)].
pose reflected := [the measure _ _ of pushforward (@lebesgue_measure R)
  (measurable_opp : @measurable_fun _ _ G G setT _)].
suff E : forall X, ocitv X -> hlength X = reflected X.
  by rewrite /leb (lebesgue_measure_unique E mA).
move=> _ [[x y] _ <-] /=.
rewrite /pushforward (_ : _ @^-1` _ = `[(- y)%R, (- x)%R[%classic); last first.
  by apply/seteqP; split => z /=; rewrite !in_itv /= ltr_oppr ler_oppl andbC.
rewrite lebesgue_measure_itv !hlength_itv /= !lte_fin ltr_opp2.
by case: ifP => // _; rewrite -!EFinB opprK addrC.
Qed.

Lemma integral_opp f : measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[mu]_x f (- x)%R = \int[mu]_x f x.
Proof.
by apply: (integral_preserved (mu := mu) measurable_opp); exact: leb_opp.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The standard Gaussian law on the line                                        *)

Notation bell := (@bell R).

Lemma bell_gt0 x : (0 < bell x)%R. Proof. exact: expR_gt0. Qed.
Lemma bell_ge0 x : (0 <= bell x)%R. Proof. exact/ltW/bell_gt0. Qed.

Lemma bellN x : bell (- x) = bell x.
Proof. by rewrite /ExponentialBounds.bell sqrrN. Qed.

Lemma measurable_bell : measurable_fun setT bell.
Proof.
apply: measurable_exp_opp; apply: measurable_fun_div; apply: measurable_fun_exprn.
exact: measurable_fun_id.
Qed.

Lemma measurable_bellE : measurable_fun setT (fun x => (bell x)%:E).
Proof. by apply/EFin_measurable_fun; exact: measurable_bell. Qed.

(* 1/2 at least between -1 and 1 *)
Lemma bell_mass_ge1 : 1 <= \int[mu]_x (bell x)%:E.
Proof.
pose B : set R := `[(- 1)%R, 1%R]%classic.
have mB : measurable B by exact: measurable_itv.
apply: (@le_trans _ _ (\int[mu]_(x in B) (2^-1%R : R)%:E)).
  rewrite integral_cst // [X in _ * X](_ : _ = lebesgue_measure `[(- 1)%R, 1%R]%classic) //.
  rewrite lebesgue_measure_itv hlength_itv /= lte_fin.
  rewrite (_ : (- 1 < 1)%R); last by rewrite -subr_gt0 opprK addr_gt0.
  by rewrite -EFinB -EFinM lee_fin opprK mulVf.
apply: (@le_trans _ _ (\int[mu]_(x in B) (bell x)%:E)).
  apply: ge0_le_integral => //.
  - exact: measurable_fun_cst.
  - by move=> x _; rewrite lee_fin bell_ge0.
  - by apply: measurable_funTS; exact: measurable_bellE.
  move=> x; rewrite /B /= in_itv /= => /andP[x0 x1]; rewrite lee_fin.
  apply: le_trans (expR_ge1D _); rewrite [X in (X <= _)%R](_ : _ = 1 - 1 / 2)%R; last by field.
  rewrite ler_add2l ler_opp2 ler_pmul2r ?invr_gt0 //.
  by rewrite -real_normK ?num_real // expr_le1 // ler_norml x0.
apply: subset_integral => //; first exact: measurable_bellE.
by move=> x _; rewrite lee_fin bell_ge0.
Qed.

Lemma bell_pos : 0 < \int[mu]_x (bell x)%:E.
Proof. exact: lt_le_trans bell_mass_ge1. Qed.

(* x^2/2 >= 2 |x| - 2 *)
Lemma bell_lty : \int[mu]_x (bell x)%:E < +oo.
Proof.
apply: (@le_lt_trans _ _ (\int[mu]_x ((expR 2)%:E * (exp_line 2 x)%:E))).
  apply: ge0_le_integral => //.
  - by move=> x _; rewrite lee_fin bell_ge0.
  - exact: measurable_bellE.
  - move=> x _; rewrite -EFinM lee_fin; apply: mulr_ge0; last exact: exp_line_ge0.
    exact: ltW (expR_gt0 _).
  - by apply: measurable_funeM; apply/EFin_measurable_fun; exact: measurable_exp_line.
  move=> x _; rewrite -EFinM lee_fin /exp_line -expRD ler_expR -subr_ge0.
  rewrite -(real_normK (num_real x)); move: `|x|%R => t.
  rewrite [X in (0 <= X)%R](_ : _ = 2^-1 * (t - 2) ^+ 2)%R; last by field.
  by rewrite mulr_ge0 ?sqr_ge0 // invr_ge0.
rewrite ge0_integralM_EFin //.
- by rewrite lte_mul_pinfty ?lee_fin ?exp_line_lty // ltW // expR_gt0.
- by move=> x _; rewrite lee_fin exp_line_ge0.
- by apply/EFin_measurable_fun; exact: measurable_exp_line.
- by rewrite ltW // expR_gt0.
Qed.

Definition normal_weight : weight mu := Weight bell_ge0 measurable_bell bell_pos bell_lty.

(* The standard Gaussian law, and its distribution function. *)
Definition normal : {measure set R -> \bar R} := [the measure _ _ of law normal_weight].
Definition normal_cdf (x : R) : R := fine (normal `]-oo, x]%classic).

Let C : R := normalizer normal_weight.
Let C_gt0 : (0 < C)%R. Proof. exact: normalizer_gt0. Qed.
Let C_E : \int[mu]_x (bell x)%:E = C%:E.
Proof. exact: (esym (normalizerE normal_weight)). Qed.

Lemma normal_fin A : measurable A -> normal A \is a fin_num.
Proof.
move=> mA; rewrite ge0_fin_numE ?measure_ge0 //; apply: le_lt_trans (ltry 1).
by rewrite -(law_total normal_weight); apply: (le_measure normal); rewrite ?inE.
Qed.

Lemma normal_cdfE x : normal `]-oo, x]%classic = (normal_cdf x)%:E.
Proof. by rewrite /normal_cdf fineK //; apply: normal_fin; exact: measurable_itv. Qed.

(* ---------------------------------------------------------------------------- *)
(* Two coordinates                                                              *)

Section Plane.
Variables (f : R -> \bar R) (q : R).
Hypotheses (mf : measurable_fun setT f) (f0 : forall t, 0 <= f t).

Notation plane := [the measurableType _ of (R * R)%type].

Let m_first : measurable_fun setT (fun z : plane => z.1).
Proof. exact: measurable_fun_fst. Qed.

Let m_second : measurable_fun setT (fun z : plane => z.2).
Proof. exact: measurable_fun_snd. Qed.

Let m_linear (p p' : R) : measurable_fun setT (fun z : plane => p * z.1 + p' * z.2)%R.
Proof.
by apply: measurable_funD; apply: measurable_funrM.
Qed.

Let swap (h : plane -> \bar R) : measurable_fun setT h -> (forall z, 0 <= h z) ->
  \int[mu]_x \int[mu]_y h (x, y) = \int[mu]_y \int[mu]_x h (x, y).
Proof.
move=> mh h0.
have E1 := fubini_tonelli1 (m1 := mu) (m2 := mu) (@leb_sigma_finite R) h mh h0.
have E2 := fubini_tonelli2 (m1 := mu) (m2 := mu) (@leb_sigma_finite R) (@leb_sigma_finite R) h mh h0.
exact: etrans (esym E1) E2.
Qed.

Let m_product (p p' s s' : R) (g : plane -> R) : measurable_fun setT g ->
  measurable_fun setT (fun z : plane => f (p * z.1 + p' * z.2)%R * (bell (g z))%:E * (bell (s * z.1 + s' * z.2)%R)%:E).
Proof.
move=> mg; apply: emeasurable_funM; first apply: emeasurable_funM.
- exact: (measurable_fun_comp mf (m_linear p p')).
- exact: (measurable_fun_comp measurable_bellE mg).
- exact: (measurable_fun_comp measurable_bellE (m_linear s s')).
Qed.

Let bellE_ge0 x : 0 <= (bell x)%:E. Proof. by rewrite lee_fin bell_ge0. Qed.

Let rotated (p : R) : (0 < p)%R ->
  \int[mu]_x \int[mu]_y (f (p * x + q * y)%R * (bell x)%:E * (bell y)%:E)
  = C%:E * \int[mu]_t (f (Num.sqrt (p ^+ 2 + q ^+ 2) * t)%R * (bell t)%:E).
Proof.
move=> p0; set r := Num.sqrt _; have pp : (0 < p ^+ 2 + q ^+ 2)%R by rewrite ltr_spaddl ?sqr_ge0 ?exprn_gt0.
have r0 : (0 < r)%R by rewrite sqrtr_gt0.
have rr : (r ^+ 2 = p ^+ 2 + q ^+ 2)%R by rewrite sqr_sqrtr ?ltW.
have a0 : (0 < r / p)%R by rewrite divr_gt0.
pose h (z : plane) := f (p * z.1 + q * z.2)%R * (bell z.1)%:E * (bell z.2)%:E.
have mh : measurable_fun setT h.
  rewrite (_ : h = (fun z => f (p * z.1 + q * z.2)%R * (bell z.1)%:E * (bell (0 * z.1 + 1 * z.2)%R)%:E)).
    exact: (m_product p q 0 1 m_first).
  by apply/funext => z; rewrite /h mul0r add0r mul1r.
have h0 z : 0 <= h z by rewrite /h !mule_ge0.
pose h2 (z : plane) := f (r * z.1 + 0 * z.2)%R * (bell z.1)%:E * (bell (- (q / p) * z.1 + (r / p) * z.2)%R)%:E.
have mh2 : measurable_fun setT h2 by exact: m_product m_first.
have h20 z : 0 <= h2 z by rewrite /h2 !mule_ge0.
rewrite (swap mh h0).
have inner y : \int[mu]_x h (x, y) = (r / p)%:E * \int[mu]_t h2 (t, y).
  have mhy : measurable_fun setT (fun x => h (x, y)) by exact: (measurable_fun_prod2 y mh).
  rewrite -(integral_affine_line (- (q / p) * y)%R a0 mhy (fun x => h0 _)); congr (_ * _).
  apply: eq_integral => t _; rewrite /h /h2 /= mul0r addr0 -!muleA -!EFinM; congr (f _ * _%:E).
    by field; rewrite gt_eqF.
  rewrite /ExponentialBounds.bell -!expRD; congr expR.
  rewrite -!opprD -!mulrDl; congr (- (_ / _))%R.
  have -> : ((r / p * t + - (q / p) * y) ^+ 2 + y ^+ 2 =
      (r ^+ 2 * t ^+ 2 - 2 * r * q * t * y + (p ^+ 2 + q ^+ 2) * y ^+ 2) / p ^+ 2)%R by field; rewrite gt_eqF.
  have -> : (t ^+ 2 + (- (q / p) * t + r / p * y) ^+ 2 =
      ((p ^+ 2 + q ^+ 2) * t ^+ 2 - 2 * r * q * t * y + r ^+ 2 * y ^+ 2) / p ^+ 2)%R by field; rewrite gt_eqF.
  by rewrite rr.
under eq_integral do rewrite inner.
have m_inner : measurable_fun setT (fun y => \int[mu]_t h2 (t, y)).
  exact: (measurable_fun_fubini_tonelli_G (m1 := mu) (@leb_sigma_finite R) h2 mh2 h20).
rewrite ge0_integralM_EFin //; last 2 first.
- by move=> y _; apply: integral_ge0 => t _.
- exact: ltW.
rewrite -(swap mh2 h20).
have mass t : \int[mu]_y (bell (- (q / p) * t + (r / p) * y)%R)%:E = (C * (p / r))%:E.
  have := integral_affine_line (- (q / p) * t)%R a0 measurable_bellE bellE_ge0.
  under eq_integral do rewrite addrC; rewrite C_E => E.
  have e1 : ((p / r)%:E * (r / p)%:E = 1)%E.
    by rewrite -EFinM; congr _%:E; field; rewrite !gt_eqF.
  by rewrite [(C * _)%R]mulrC EFinM -E muleA e1 mul1e.
have outer t : \int[mu]_y h2 (t, y) = (C * (p / r))%:E * (f (r * t)%R * (bell t)%:E).
  rewrite /h2 /=; under eq_integral do rewrite mul0r addr0.
  rewrite ge0_integralM ?mass //; first by rewrite muleC.
  - apply: (measurable_fun_comp measurable_bellE).
    apply: measurable_funD; first exact: measurable_fun_cst.
    by apply: measurable_funrM; exact: measurable_fun_id.
  - by rewrite mule_ge0.
under eq_integral do rewrite outer.
rewrite ge0_integralM_EFin //; last 3 first.
- by move=> t _; rewrite mule_ge0.
- apply: emeasurable_funM => //; last exact: measurable_bellE.
  by apply: (measurable_fun_comp mf); apply: measurable_funrM; exact: measurable_fun_id.
- by rewrite mulr_ge0 ?divr_ge0 // ltW.
by rewrite muleA -EFinM; congr (_%:E * _); field; rewrite !gt_eqF.
Qed.

Lemma measurable_outer (p : R) : measurable_fun setT (fun x =>
  \int[mu]_y (f (p * x + q * y)%R * (bell x)%:E * (bell y)%:E)).
Proof.
pose h (z : plane) := f (p * z.1 + q * z.2)%R * (bell z.1)%:E * (bell (0 * z.1 + 1 * z.2)%R)%:E.
have mh : measurable_fun setT h by exact: m_product m_first.
have h0 z : 0 <= h z by rewrite /h !mule_ge0.
have mF := measurable_fun_fubini_tonelli_F (m2 := mu) (@leb_sigma_finite R) h mh h0.
suff -> : (fun x => \int[mu]_y (f (p * x + q * y)%R * (bell x)%:E * (bell y)%:E)) = fubini_F mu h by exact: mF.
apply/funext => x.
by apply: eq_integral => y _; rewrite /h /= mul0r add0r mul1r.
Qed.

(* p x + q y is |(p, q)| t *)
Lemma two_coordinates (p : R) : (0 <= q)%R ->
  \int[mu]_x \int[mu]_y (f (p * x + q * y)%R * (bell x)%:E * (bell y)%:E)
  = C%:E * \int[mu]_t (f (Num.sqrt (p ^+ 2 + q ^+ 2) * t)%R * (bell t)%:E).
Proof.
move=> q0; have [p0|p0|<-] := ltgtP 0%R p; first exact: rotated.
  have np0 : (0 < - p)%R by rewrite oppr_gt0.
  have E := rotated np0; rewrite sqrrN in E; apply: etrans E.
  have G0 x : 0 <= \int[mu]_y (f (p * x + q * y)%R * (bell x)%:E * (bell y)%:E).
    by apply: integral_ge0 => y _; rewrite !mule_ge0.
  apply: etrans (esym (integral_opp (measurable_outer p) G0)) _.
  by apply: eq_integral => x _; apply: eq_integral => y _; rewrite bellN mulrN mulNr.
rewrite expr0n add0r sqrtr_sqr ger0_norm // -C_E.
have mq : measurable_fun setT (fun t => f (q * t)%R * (bell t)%:E).
  apply: emeasurable_funM; last exact: measurable_bellE.
  by apply: (measurable_fun_comp mf); apply: measurable_funrM; exact: measurable_fun_id.
have q_ge0 t : 0 <= f (q * t)%R * (bell t)%:E by rewrite mule_ge0.
have inner x : \int[mu]_y (f (0 * x + q * y)%R * (bell x)%:E * (bell y)%:E)
    = (bell x)%:E * \int[mu]_y (f (q * y)%R * (bell y)%:E).
  under eq_integral do rewrite mul0r add0r muleAC muleC.
  by rewrite ge0_integralM_EFin ?bell_ge0.
under eq_integral do rewrite inner.
rewrite muleC -ge0_integralM //; last 2 first.
- exact: measurable_bellE.
- by apply: integral_ge0 => t _.
by apply: eq_integral => x _; rewrite muleC.
Qed.

End Plane.

(* ---------------------------------------------------------------------------- *)
(* Rows                                                                         *)

Implicit Type k : nat.

Definition row_bell k (z : 'rV[R]_k) : R := (\prod_j bell (z ord0 j))%R.
Definition row_dot k (v z : 'rV[R]_k) : R := (\sum_j v ord0 j * z ord0 j)%R.
Definition row_length k (v : 'rV[R]_k) : R := Num.sqrt (\sum_j v ord0 j ^+ 2).

Lemma row_bell_ge0 k (z : 'rV[R]_k) : (0 <= row_bell z)%R.
Proof. by apply: prodr_ge0 => j _; exact: bell_ge0. Qed.

Lemma measurable_row_bell k : measurable_fun setT (fun z : 'rV[R]_k => (row_bell z)%:E).
Proof.
apply/EFin_measurable_fun; apply: measurable_prod => j.
by apply: (measurable_fun_comp measurable_bell); exact: measurable_entry.
Qed.

Lemma measurable_row_dot k (v : 'rV[R]_k) : measurable_fun setT (row_dot v).
Proof.
by apply: measurable_sum => j; apply: measurable_funrM; exact: measurable_entry.
Qed.

Lemma row_projection k (v : 'rV[R]_k) f : measurable_fun setT f -> (forall t, 0 <= f t) ->
  \int[leb_row R k]_z (f (row_dot v z) * (row_bell z)%:E)
  = (C ^+ k / C)%:E * \int[mu]_t (f (row_length v * t)%R * (bell t)%:E).
Proof.
elim: k v f => [|k IH] v f mf f0.
  rewrite (eq_integral (cst (f 0%R))); last first.
    by move=> z _; rewrite /row_dot /row_bell !big_ord0 mule1.
  rewrite integral_cst //= /dirac indicE in_setT mule1 /row_length big_ord0 sqrtr0.
  under eq_integral do rewrite mul0r.
  rewrite ge0_integralM //; last 2 first.
  - exact: measurable_bellE.
  - by move=> t _; rewrite lee_fin bell_ge0.
  rewrite C_E.
  by rewrite muleCA -EFinM expr0 mul1r mulVf ?mule1 // gt_eqF.
pose w : 'rV[R]_k := (\row_j v ord0 (lift ord0 j))%R; pose p := v ord0 ord0.
have dotE t z : row_dot v (cons_row (t, z)) = (p * t + row_dot w z)%R.
  rewrite /row_dot big_ord_recl cons_row0; congr (_ + _)%R.
  by apply: eq_bigr => j _; rewrite cons_rowS mxE.
have bellE t z : row_bell (cons_row (t, z)) = (bell t * row_bell z)%R.
  rewrite /row_bell big_ord_recl cons_row0; congr (_ * _)%R.
  by apply: eq_bigr => j _; rewrite cons_rowS.
have lengthE : row_length v = Num.sqrt (p ^+ 2 + row_length w ^+ 2)%R.
  rewrite /row_length sqr_sqrtr; last by rewrite sumr_ge0 // => j _; exact: sqr_ge0.
  by rewrite big_ord_recl; congr (Num.sqrt (_ + _)); apply: eq_bigr => j _; rewrite mxE.
have mF : measurable_fun setT (fun z : 'rV[R]_k.+1 => f (row_dot v z) * (row_bell z)%:E).
  apply: emeasurable_funM; last exact: measurable_row_bell.
  by apply: (measurable_fun_comp mf); exact: measurable_row_dot.
rewrite integral_row_inner //; last by move=> z; rewrite mule_ge0 // lee_fin row_bell_ge0.
have K0 : (0 <= C ^+ k / C)%R by rewrite divr_ge0 ?exprn_ge0 // ltW.
have mshift a : measurable_fun setT (fun s => f (p * a + s)%R).
  exact: (measurable_fun_comp mf (line_measurable_add (p * a)%R)).
have inner t : \int[leb_row R k]_z (f (row_dot v (cons_row (t, z))) * (row_bell (cons_row (t, z)))%:E)
    = (C ^+ k / C)%:E * \int[mu]_s (f (p * t + row_length w * s)%R * (bell t)%:E * (bell s)%:E).
  under eq_integral do rewrite dotE bellE EFinM muleCA.
  rewrite ge0_integralM_EFin ?bell_ge0 //; last 2 first.
  - by move=> z _; rewrite mule_ge0 // lee_fin row_bell_ge0.
  - apply: emeasurable_funM; last exact: measurable_row_bell.
    by apply: (measurable_fun_comp (mshift t)); exact: measurable_row_dot.
  rewrite (IH w _ (mshift t)) // muleCA; congr (_ * _).
  rewrite -ge0_integralM_EFin ?bell_ge0 //.
  - by apply: eq_integral => s _; rewrite muleCA muleA.
  - by move=> s _; rewrite mule_ge0 // lee_fin bell_ge0.
  - apply: emeasurable_funM; last exact: measurable_bellE.
    apply: (measurable_fun_comp (mshift t)).
    by apply: measurable_funrM; exact: measurable_fun_id.
under eq_integral do rewrite inner.
rewrite ge0_integralM_EFin //; last 2 first.
- by move=> t _; apply: integral_ge0 => s _; rewrite !mule_ge0 // lee_fin bell_ge0.
- exact: measurable_outer.
rewrite two_coordinates ?sqrtr_ge0 // muleA -EFinM lengthE; congr (_%:E * _).
by rewrite exprSr mulrAC.
Qed.

End Line.
