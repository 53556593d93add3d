(* The classical multiplier of Gaussian noise (Dwork and Roth 2014, Theorem A.1).

   For 0 < eps <= 1 and 0 < delta < 1 let m = k/eps, k = sqrt (2 ln (1.25/delta)).  Then
   gaussian_profile (1/m) eps <= delta.

   With h = k - eps/(2 k), gaussian_profile (1/m) eps <= normal_tail h.
   - If h >= 0, then normal_tail h <= e^(-h^2/2)/2, because (t + h)^2 >= t^2 + h^2 for t >= 0; and
     h^2 >= k^2 - 1, so that this is at most delta e^(1/2)/2.5, and e^(1/2) <= 2.5.
   - If h < 0, then k^2 < 1/2, so delta > 4/5; and normal_tail h <= 1/2 + |h| <= 4/5, as k^2 >= 2/5.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueShift LebesgueTurn.
From covassay Require Import AdditiveNoise Gaussian HalfSpaces ExponentialBounds.
From covassay Require Import GaussianProfile.
Local Open Scope ereal_scope.

Section Tail.
Variable R : realType.
Notation G := (gauss_line (2%:R : R)).
Notation total := (fine (\int[@leb R]_x (G x)%:E)).
Notation beyond h := (fine (mass_above (2%:R : R) h 1)).
Implicit Types h t x : R.

Let two_gt0 : (0 < 2%:R :> R)%R. Proof. by rewrite ltr0n. Qed.

Let G_ge0 x : 0 <= (G x)%:E. Proof. by rewrite lee_fin gauss_line_ge0. Qed.

Let mG : measurable_fun setT (fun x => (G x)%:E).
Proof. by apply/EFin_measurable_fun; exact: measurable_gauss_line. Qed.

Let above_G_ge0 h x : 0 <= (above h (1 * x) * G x)%:E.
Proof. by rewrite lee_fin mulr_ge0 ?above_ge0 ?gauss_line_ge0. Qed.

Let m_above_G h : measurable_fun setT (fun x => (above h (1 * x) * G x)%:E).
Proof. by apply/EFin_measurable_fun; exact: measurable_mass. Qed.

Lemma totalE : (total)%:E = \int[@leb R]_x (G x)%:E.
Proof. by rewrite fineK // ge0_fin_numE ?gauss_line_lty // integral_ge0. Qed.

Lemma beyondE h : (beyond h)%:E = mass_above 2%:R h 1.
Proof. by rewrite fineK // ge0_fin_numE ?mass_above_lty // mass_above_ge0. Qed.

Let indicator_integral (c : R) (A : set R) : (0 <= c)%R -> measurable A ->
  \int[@leb R]_x (c * \1_A x)%:E = c%:E * leb A.
Proof.
move=> c0 mA; under eq_integral do rewrite EFinM.
rewrite ge0_integralM_EFin ?integral_indic ?setIT //.
  by move=> x _; rewrite lee_fin indicE ler0n.
by apply/EFin_measurable_fun; exact: measurable_fun_indic.
Qed.

Let measurable_indicator (c : R) (A : set R) : measurable A ->
  measurable_fun setT (fun x => (c * \1_A x)%:E).
Proof.
by move=> mA; apply/EFin_measurable_fun; apply: measurable_funrM; exact: measurable_fun_indic.
Qed.

Let indicator_ge0 (c : R) (A : set R) x : (0 <= c)%R -> 0 <= (c * \1_A x)%:E.
Proof. by move=> c0; rewrite lee_fin mulr_ge0 // indicE ler0n. Qed.

(* At least the interval from -1 to 1, where the density is at least 1/2. *)
Lemma total_ge1 : (1 <= total)%R.
Proof.
have half0 : (0 <= 2%:R^-1 :> R)%R by rewrite invr_ge0.
rewrite -lee_fin totalE; pose A : set R := `[(- 1)%R, 1%R]%classic.
have mA : measurable A by exact: measurable_itv.
apply: (@le_trans _ _ (\int[@leb R]_x (2%:R^-1 * \1_A x)%:E)).
  rewrite indicator_integral // /leb lebesgue_measure_itv hlength_itv /= lte_fin.
  by rewrite gtr_opp // -EFinB -EFinM lee_fin opprK -[(1 + 1)%R]/(2%:R) mulVf.
apply: ge0_le_integral => //.
- by move=> x _; exact: indicator_ge0.
- exact: measurable_indicator.
move=> x _; rewrite lee_fin indicE; case: (boolP (x \in A)) => [|_]; last by rewrite mulr0 gauss_line_ge0.
rewrite inE /A /= in_itv /= mulr1 -ler_norml => x1; rewrite /gauss_line.
apply: le_trans (expR_ge1D _); rewrite -subr_ge0.
have -> : (1 + - (x ^+ 2 / 2%:R) - 2%:R^-1 = (1 - x ^+ 2) / 2%:R)%R by field.
by rewrite divr_ge0 // subr_ge0 -[(x ^+ 2)%R]real_normK ?num_real // exprn_ile1.
Qed.

Let total_gt0 : (0 < total)%R. Proof. exact: lt_le_trans ltr01 total_ge1. Qed.

(* By symmetry. *)
Lemma beyond_zero : (2%:R * beyond 0 <= total)%R.
Proof.
have sym : mass_above (2%:R : R) 0 (-1) = (beyond 0)%:E.
  by rewrite beyondE mass_above_abs normrN normr1.
rewrite -lee_fin totalE mulr_natl mulr2n EFinD -{1}sym beyondE /mass_above -ge0_integralD //.
- apply: ge0_le_integral => //.
  + by move=> x _; rewrite adde_ge0 // lee_fin mulr_ge0 ?above_ge0 ?gauss_line_ge0.
  + apply: emeasurable_funD => //; apply/EFin_measurable_fun; exact: measurable_mass.
  move=> x _; rewrite -EFinD lee_fin -mulrDl !aboveE mul1r mulN1r oppr_gt0.
  rewrite ler_pimull ?gauss_line_ge0 //.
  by have [_|_|_] := ltrgt0P x; rewrite /= ?mulr0n ?mulr1n ?addr0 ?add0r ?ler01 ?lexx.
- by move=> x _; rewrite lee_fin mulr_ge0 ?above_ge0 ?gauss_line_ge0.
by apply/EFin_measurable_fun; exact: measurable_mass.
Qed.

Lemma beyond_positive h : (0 <= h)%R -> (beyond h <= expR (- (h ^+ 2 / 2%:R)) * beyond 0)%R.
Proof.
move=> h0; have e0 : (0 <= expR (- (h ^+ 2 / 2%:R)))%R by rewrite ltW // expR_gt0.
rewrite -lee_fin EFinM !beyondE /mass_above -(integral_shift_line h) // -ge0_integralM_EFin //.
apply: ge0_le_integral => //.
- exact: (measurable_fun_comp (m_above_G h) (measurable_fun_addr h)).
- by move=> x _; rewrite mule_ge0 // lee_fin.
- exact: measurable_funeM.
move=> x _; rewrite -EFinM lee_fin !mul1r !aboveE -subr_gt0 addrK mulrCA.
have [x0|x0] := ltP 0%R x; last by rewrite !mul0r.
rewrite !mul1r /gauss_line -expRD ler_expR -opprD ler_opp2 -mulrDl ler_pmul2r ?invr_gt0 //.
have -> : ((x + h) ^+ 2 = h ^+ 2 + x ^+ 2 + 2%:R * (x * h))%R by ring.
by rewrite ler_addl mulr_ge0 // mulr_ge0 // ltW.
Qed.

Lemma beyond_negative h : (h <= 0)%R -> (beyond h <= beyond 0 - h)%R.
Proof.
move=> h0; pose A : set R := `]h, 0%R]%classic.
have mA : measurable A by exact: measurable_itv.
have AE : leb A = (- h)%:E.
  rewrite /leb lebesgue_measure_itv hlength_itv /= lte_fin.
  by case: ltgtP h0 => // [_ _|-> _]; rewrite ?add0e ?oppr0.
rewrite -lee_fin EFinD !beyondE /mass_above -AE -[leb A]mul1e -indicator_integral // -ge0_integralD //.
- apply: ge0_le_integral => //.
  + by move=> x _; rewrite adde_ge0 // indicator_ge0.
  + by apply: emeasurable_funD => //; exact: measurable_indicator.
  move=> x _; rewrite -EFinD lee_fin !aboveE !mul1r indicE.
  have [x0|x0] := ltP 0%R x; first by rewrite (le_lt_trans h0 x0) ler_addl ler0n.
  rewrite mul0r add0r; case: (boolP (h < x)%R) => hx; last by rewrite mul0r ler0n.
  rewrite mem_set; last by rewrite /A /= in_itv /= hx.
  by rewrite mul1r -[true%:R]expR0 /gauss_line ler_expR oppr_le0 divr_ge0 ?sqr_ge0.
- by move=> x _; exact: indicator_ge0.
exact: measurable_indicator.
Qed.

Lemma normal_tail_beyond h : normal_tail h = (beyond h / total)%R.
Proof. exact: normal_tailE. Qed.

Lemma normal_tail_ge0 h : (0 <= normal_tail h)%R.
Proof. by rewrite normal_tail_beyond divr_ge0 ?(ltW total_gt0) // fine_ge0 // mass_above_ge0. Qed.

Lemma normal_tail_positive h : (0 <= h)%R -> (normal_tail h <= expR (- (h ^+ 2 / 2%:R)) / 2%:R)%R.
Proof.
move=> h0; rewrite normal_tail_beyond ler_pdivr_mulr //; apply: le_trans (beyond_positive h0) _.
rewrite -[X in (_ <= X)%R]mulrA ler_pmul2l ?expR_gt0 // [X in (_ <= X)%R]mulrC ler_pdivl_mulr // mulrC.
exact: beyond_zero.
Qed.

Lemma normal_tail_negative h : (h <= 0)%R -> (normal_tail h <= 2%:R^-1 - h)%R.
Proof.
move=> h0; rewrite normal_tail_beyond ler_pdivr_mulr //; apply: le_trans (beyond_negative h0) _.
rewrite mulrBl; apply: ler_add.
  by rewrite mulrC ler_pdivl_mulr // mulrC beyond_zero.
by rewrite -mulNr ler_pemulr ?oppr_ge0 // total_ge1.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The classical multiplier                                                     *)

(* sqrt (2 ln (1.25/delta))/eps. *)
Definition classical_multiplier (eps delta : R) : R :=
  (Num.sqrt (2%:R * ln (5%:R / 4%:R / delta)) / eps)%R.

Section Classical.
Variables eps delta : R.
Hypotheses (eps_gt0 : (0 < eps)%R) (eps_le1 : (eps <= 1)%R).
Hypotheses (delta_gt0 : (0 < delta)%R) (delta_lt1 : (delta < 1)%R).
Notation L := (ln (5%:R / 4%:R / delta)).
Notation k := (Num.sqrt (2%:R * L)).

Let ratio_gt0 : (0 < 4%:R / 5%:R * delta)%R.
Proof. by rewrite mulr_gt0 // divr_gt0 ?ltr0n. Qed.

Let logE : (L = - ln (4%:R / 5%:R * delta))%R.
Proof. by rewrite -lnV ?posrE // invfM invf_div. Qed.

Let log_ge : (1 - 4%:R / 5%:R * delta <= L)%R.
Proof. by rewrite logE ler_oppr opprB ln_le. Qed.

Let log_ge5 : (5%:R^-1 <= L)%R.
Proof.
apply: le_trans log_ge; rewrite ler_subr_addr -ler_subr_addl.
have -> : (1 - 5%:R^-1 = 4%:R / 5%:R * 1 :> R)%R by field.
by rewrite ler_pmul2l ?divr_gt0 ?ltr0n // ltW.
Qed.

Let L_gt0 : (0 < L)%R. Proof. by apply: lt_le_trans log_ge5; rewrite invr_gt0 ltr0n. Qed.

Let k_gt0 : (0 < k)%R. Proof. by rewrite sqrtr_gt0 mulr_gt0. Qed.

Let kk : (k ^+ 2 = 2%:R * L)%R. Proof. by rewrite sqr_sqrtr // mulr_ge0 // ltW. Qed.

Lemma classical_multiplier_gt0 : (0 < classical_multiplier eps delta)%R.
Proof. by rewrite divr_gt0. Qed.

Let h : R := (k - eps / k / 2%:R)%R.

Let hk : (h * k = 2%:R * L - eps / 2%:R)%R.
Proof. by move: kk k_gt0; rewrite /h; move: k => u <- u0; field; rewrite gt_eqF. Qed.

Let half_ge : (expR (2%:R^-1 : R) <= 2%:R)%R.
Proof.
rewrite -[2%:R^-1]opprK expRN -[X in (_ <= X)%R]invrK lef_pinv ?posrE ?invr_gt0 ?expR_gt0 //.
by apply: le_trans (expR_ge1D _); rewrite [X in (X <= _)%R](_ : _ = 1 - 2%:R^-1)%R //; field.
Qed.

(* The premises are 0 < eps <= 1 and 0 < delta < 1. *)
(*@ CLASSICAL-MULTIPLIER *)
Theorem classical_multiplier_enough :
  (gaussian_profile (classical_multiplier eps delta)^-1 eps <= delta)%R.
Proof.
rewrite /gaussian_profile /classical_multiplier invf_div.
have -> : (eps / (eps / k) = k)%R by field; rewrite !gt_eqF.
apply: (@le_trans _ _ (normal_tail h)).
  by rewrite ler_subl_addr ler_addl mulr_ge0 ?normal_tail_ge0 // ltW // expR_gt0.
have [h0|h0] := leP 0%R h.
  apply: le_trans (normal_tail_positive h0) _.
  have hh : (- (h ^+ 2 / 2%:R) <= 2%:R^-1 - L)%R.
    have -> : (h ^+ 2 = 2%:R * L - eps + (eps / k / 2%:R) ^+ 2)%R.
      by move: kk k_gt0; rewrite /h; move: k => u <- u0; field; rewrite gt_eqF.
    move: L (eps / k / 2%:R)%R => l u; rewrite -subr_ge0.
    have -> : (2%:R^-1 - l - - ((2%:R * l - eps + u ^+ 2) / 2%:R) = (1 - eps + u ^+ 2) / 2%:R)%R by field.
    by rewrite divr_ge0 // addr_ge0 ?sqr_ge0 // subr_ge0.
  rewrite ler_pdivr_mulr // [X in (_ <= X)%R]mulrC; apply: (@le_trans _ _ (expR (2%:R^-1 - L))); first by rewrite ler_expR.
  rewrite expRD logE opprK lnK ?posrE //.
  apply: (@le_trans _ _ (2%:R * (4%:R / 5%:R * delta))%R); first by rewrite ler_pmul2r.
  rewrite ler_pmul2l // ler_pimull ?(ltW delta_gt0) // ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
  by [].
have delta_ge : (15%:R / 16%:R < delta)%R.
  have L4 : (L < 4%:R^-1)%R.
    have : (h * k < 0)%R by rewrite pmulr_llt0.
    rewrite hk subr_lt0 => /lt_le_trans/(_ (_ : eps / 2%:R <= 2%:R^-1)%R) H.
    have {H} : (2%:R * L < 2%:R^-1)%R by apply: H; rewrite ler_pdivr_mulr // mulVf ?pnatr_eq0.
    have -> : (2%:R^-1 = 2%:R * 4%:R^-1 :> R)%R by field.
    by rewrite ltr_pmul2l.
  have := le_lt_trans log_ge L4; rewrite ltr_subl_addr -ltr_subl_addl => H.
  rewrite -(ltr_pmul2l (_ : (0 < 4%:R / 5%:R :> R)%R)) ?divr_gt0 ?ltr0n //; apply: le_lt_trans H.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
apply: le_trans (normal_tail_negative (ltW h0)) _.
have hge : (- h <= 6%:R^-1)%R.
  have k35 : (3%:R / 5%:R <= k)%R.
    rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?sqrtr_ge0 ?divr_ge0 ?ler0n // kk.
    apply: le_trans (_ : (2%:R * 5%:R^-1 <= _)%R); last by rewrite ler_pmul2l.
    by rewrite -subr_ge0 [X in (0 <= X)%R](_ : _ = 25%:R^-1)%R ?invr_ge0 ?ler0n //; field.
  rewrite -(ler_pmul2r k_gt0) mulNr hk opprB -subr_ge0.
  apply: (@le_trans _ _ (6%:R^-1 * (3%:R / 5%:R) - (2%:R^-1 - 2%:R * 5%:R^-1))%R).
    by rewrite [X in (_ <= X)%R](_ : _ = 0)%R //; field.
  apply: ler_sub; first by rewrite ler_pmul2l ?invr_gt0 ?ltr0n.
  by apply: ler_sub; [rewrite ler_pdivr_mulr // mulVf ?pnatr_eq0|rewrite ler_pmul2l].
apply: (@le_trans _ _ (2%:R^-1 + 6%:R^-1)%R); first by rewrite ler_add2l.
apply: le_trans (ltW delta_ge).
by rewrite -subr_ge0 [X in (0 <= X)%R](_ : _ = 13%:R / 48%:R)%R ?divr_ge0 ?ler0n //; field.
Qed.

End Classical.

End Tail.
