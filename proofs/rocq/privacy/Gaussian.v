(* The Gaussian mechanism is zero-concentrated private.

   Publish q(x) + Z where Z is an m x n matrix with density proportional to
   exp (-|z|_F^2/(2 sigma^2)) (independent Gaussian entries). For orders alpha > 1 (indeed
   for every real alpha) and centres a, b,

      p_a(y)^alpha p_b(y)^(1-alpha) = e^(alpha (alpha-1) |a - b|^2/(2 sigma^2)) p_c(y),
                                      c = alpha a + (1 - alpha) b,

   by completing the square, at every y. Lebesgue measure does not see translations, so
   the integral of the left side is the factor: the Renyi divergence of order alpha is
   alpha |a - b|^2/(2 sigma^2), and a query that neighbours move by at most Delta in
   Frobenius norm is released with (Delta^2/(2 sigma^2))-zCDP. For every space of outputs,
   rho-zCDP implies (eps, delta)-DP with eps = rho + 2 sqrt (rho ln (1/delta)).

   Rows, columns and the line are the cases m = 1 or n = 1. The normalizer of the density is
   PROVED finite and non-zero; its value (sigma sqrt (2 pi))^(m n) is neither proved nor
   used. Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueBox LebesgueProduct AdditiveNoise KNorm.
From covassay Require Import ExponentialBounds PureToZcdp.
From covassay Require FiniteDP.
Local Open Scope ereal_scope.

(* ---------------------------------------------------------------------------- *)
(* zCDP for laws with positive densities                                        *)

Section Zcdp.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Implicit Types f g : weight mu.

(* The density of the law. *)
Definition density f (y : Y) : R := (f y / normalizer f)%R.

(* e^((alpha-1) D), D the Renyi divergence of order alpha. *)
Definition renyi_integral (alpha : R) f g : \bar R :=
  \int[mu]_y (density f y `^ alpha * density g y `^ (1 - alpha))%:E.

Definition zcdp_laws (rho : R) f g :=
  forall alpha : R, (1 < alpha)%R ->
  renyi_integral alpha f g <= (expR ((alpha - 1) * alpha * rho))%:E.

Definition positive_weight f := forall y, (0 < f y)%R.

Lemma density_gt0 f y : positive_weight f -> (0 < density f y)%R.
Proof. by move=> f0; rewrite divr_gt0 ?normalizer_gt0. Qed.

Lemma density_measurable1 f : measurable_fun setT (density f).
Proof. exact/EFin_measurable_fun/density_measurable. Qed.

(* One order at a time, for one event. *)
Lemma zcdp_laws_tail (alpha rho eps : R) f g S :
  (1 < alpha)%R -> positive_weight f -> positive_weight g -> measurable S ->
  measurable_fun setT (fun y => density f y `^ alpha * density g y `^ (1 - alpha))%R ->
  zcdp_laws rho f g ->
  law f S <= (expR eps)%:E * law g S + (expR ((alpha - 1) * (alpha * rho - eps)))%:E.
Proof.
move=> a1 f0 g0 mS mr fg; set r := (fun y => _ : R) in mr.
have r0 y : (0 <= r y)%R by rewrite mulr_ge0 // ltW // exp_fun_gt0.
pose c := expR (- ((alpha - 1) * eps)); have c0 : (0 <= c)%R by rewrite ltW // expR_gt0.
have e0 : (0 <= expR eps)%R by rewrite ltW // expR_gt0.
have rS : measurable_fun S (fun y => (r y)%:E) by apply/EFin_measurable_fun/measurable_funTS.
have dg0 y : 0 <= (density g y)%:E by apply: density_ge0.
have le : law f S <= \int[mu]_(y in S) ((expR eps)%:E * (density g y)%:E + c%:E * (r y)%:E).
  apply: ge0_le_integral => //.
  - by move=> y _; apply: density_ge0.
  - exact: density_measurable.
  - by move=> y _; rewrite adde_ge0 // mule_ge0 // lee_fin.
  - apply: emeasurable_funD; apply: measurable_funeM => //; exact: density_measurable.
  by move=> y _; rewrite -!EFinM -EFinD lee_fin privacy_loss_split ?density_gt0.
apply: le_trans le _; rewrite ge0_integralD //; last 4 first.
- by move=> y _; rewrite mule_ge0.
- by apply: measurable_funeM; exact: density_measurable.
- by move=> y _; rewrite mule_ge0 // lee_fin.
- exact: measurable_funeM.
rewrite ge0_integralM_EFin //; last exact: density_measurable.
rewrite ge0_integralM_EFin //; last by move=> y _; rewrite lee_fin.
rewrite lee_add2l //.
have -> : ((alpha - 1) * (alpha * rho - eps))%R
        = (- ((alpha - 1) * eps) + (alpha - 1) * alpha * rho)%R by ring.
rewrite expRD EFinM lee_wpmul2l ?lee_fin //; apply: le_trans (fg alpha a1).
apply: subset_integral => //; first exact/EFin_measurable_fun.
by move=> y _; rewrite lee_fin.
Qed.

End Zcdp.

(* (eps, delta)-DP of two laws: Wishart.indistinguishable for the measurable events. *)
Definition approx_indistinguishable (R : realType) d (Y : measurableType d) (eps delta : R)
    (P Q : set Y -> \bar R) :=
  forall S, measurable S -> P S <= (expR eps)%:E * Q S + delta%:E.

(* ---------------------------------------------------------------------------- *)
(* The density                                                                  *)

Section Gaussian.
Variables (R : realType) (m n : nat) (sigma : R).
Hypothesis sigma_gt0 : (0 < sigma)%R.
Implicit Types a b y z : 'M[R]_(m, n).
Let v : R := (2 * sigma ^+ 2)%R.
Let v_gt0 : (0 < v)%R. Proof. by rewrite mulr_gt0 // exprn_gt0. Qed.

(* The square of the Frobenius norm. *)
Definition sum_squares z : R := (\sum_i \sum_j z i j ^+ 2)%R.

Definition gaussian_density z : R := expR (- (sum_squares z / v)).

Lemma gaussian_density_gt0 z : (0 < gaussian_density z)%R.
Proof. exact: expR_gt0. Qed.

Lemma gaussian_density_ge0 z : (0 <= gaussian_density z)%R.
Proof. exact/ltW/gaussian_density_gt0. Qed.

Lemma sum_squares_measurable : measurable_fun setT sum_squares.
Proof.
apply: measurable_sum => i; apply: measurable_sum => j; apply: measurable_fun_exprn.
exact: measurable_entry.
Qed.

Lemma gaussian_density_measurable : measurable_fun setT gaussian_density.
Proof.
by apply: measurable_exp_opp; apply: measurable_fun_div; exact: sum_squares_measurable.
Qed.

(* On the unit box it is bounded below. *)
Lemma gaussian_density_pos : 0 < \int[@leb_matrix R m n]_z (gaussian_density z)%:E.
Proof.
pose B := box (0%R : 'M[R]_(m, n)) (const_mx 1%R).
pose low := expR (- ((m * n)%:R / v)).
have mB : measurable B by exact: measurable_box.
apply: (@lt_le_trans _ _ (\int[@leb_matrix R m n]_(z in B) low%:E)).
  have B1 : leb_matrix B = 1.
    rewrite /B leb_matrix_box; last by move=> i j; rewrite !mxE.
    by rewrite big1 // => i _; rewrite big1 // => j _; rewrite !mxE subr0.
  by rewrite integral_cst //= B1 mule1 lte_fin expR_gt0.
apply: (@le_trans _ _ (\int[@leb_matrix R m n]_(z in B) (gaussian_density z)%:E)).
  apply: ge0_le_integral => //.
  - by move=> z _; rewrite lee_fin ltW // expR_gt0.
  - exact: measurable_fun_cst.
  - by move=> z _; rewrite lee_fin gaussian_density_ge0.
  - apply/EFin_measurable_fun; apply: measurable_funTS; exact: gaussian_density_measurable.
  move=> z zB; rewrite lee_fin ler_expR ler_opp2 ler_pmul2r ?invr_gt0 //.
  have -> : ((m * n)%:R = \sum_(i < m) \sum_(j < n) 1 :> R)%R.
    by rewrite !big_const_ord !iter_addr_0 -mulrnA mulnC.
  rewrite /sum_squares ler_sum // => i _; rewrite ler_sum // => j _.
  have := zB i j; rewrite !mxE => /andP[z0 z1].
  by rewrite expr_le1 // ltW.
apply: subset_integral => //.
  by apply/EFin_measurable_fun; exact: gaussian_density_measurable.
by move=> z _; rewrite lee_fin gaussian_density_ge0.
Qed.

(* t^2/v >= 2 |t| - v: the tails are lighter than those of a Laplace law. *)
Lemma gaussian_density_lty : \int[@leb_matrix R m n]_z (gaussian_density z)%:E < +oo.
Proof.
pose u (t : R) := (expR v * exp_line 2 t)%R.
have u0 t : (0 <= u t)%R := mulr_ge0 (ltW (expR_gt0 _)) (exp_line_ge0 _ _).
have mu : measurable_fun setT u by apply: measurable_funrM; exact: measurable_exp_line.
pose I := fine (\int[@leb R]_t (u t)%:E).
have IE : \int[@leb R]_t (u t)%:E = I%:E.
  rewrite fineK // ge0_fin_numE; last by apply: integral_ge0 => t _; rewrite lee_fin.
  under eq_integral do rewrite EFinM.
  rewrite ge0_integralM_EFin //.
  - by rewrite lte_mul_pinfty ?lee_fin ?exp_line_lty // ltW // expR_gt0.
  - by move=> t _; rewrite lee_fin exp_line_ge0.
  - by apply/EFin_measurable_fun; exact: measurable_exp_line.
  - by rewrite ltW // expR_gt0.
have E := integral_matrix_prod (fun (i : 'I_m) (j : 'I_n) => mu) (fun _ _ => u0) (fun _ _ => IE).
apply: le_lt_trans (ltry (\prod_(i < m) \prod_(j < n) I)%R); rewrite -E.
apply: ge0_le_integral => //.
- by move=> z _; rewrite lee_fin gaussian_density_ge0.
- by apply/EFin_measurable_fun; exact: gaussian_density_measurable.
- by move=> z _; rewrite lee_fin prodr_ge0 // => i _; apply: prodr_ge0.
- apply/EFin_measurable_fun.
  exact: (measurable_matrix_prod (u := fun _ _ => u)).
move=> z _; rewrite lee_fin /gaussian_density /sum_squares mulr_suml -sumrN.
rewrite (big_morph _ (@expRD R) (@expR0 R)); apply: ler_prod => i _.
rewrite ltW ?expR_gt0 //= mulr_suml -sumrN (big_morph _ (@expRD R) (@expR0 R)).
apply: ler_prod => j _; rewrite ltW ?expR_gt0 //= /u /exp_line -expRD ler_expR.
have -> : (z i j ^+ 2 = `|z i j| ^+ 2)%R by rewrite -normrX ger0_norm ?sqr_ge0.
rewrite -subr_ge0 [X in (0 <= X)%R](_ : _ = (`|z i j| - v) ^+ 2 / v)%R.
  by rewrite divr_ge0 ?sqr_ge0 // ltW.
by move: `|_|%R => t; field; rewrite gt_eqF.
Qed.

Definition gaussian_weight : weight [the measure _ _ of @leb_matrix R m n] :=
  Weight gaussian_density_ge0 gaussian_density_measurable gaussian_density_pos gaussian_density_lty.

(* Centred at a. *)
Definition gaussian a := shift_weight (matrices R m n) gaussian_weight a.

Lemma gaussian_positive a : positive_weight (gaussian a).
Proof. by move=> y; exact: expR_gt0. Qed.

(* ---------------------------------------------------------------------------- *)
(* The Renyi divergence                                                         *)

(* Completing the square, entry by entry. *)
Lemma complete_square (alpha : R) a b y :
  (alpha * sum_squares (y - a) + (1 - alpha) * sum_squares (y - b)
   = sum_squares (y - (alpha *: a + (1 - alpha) *: b))
     - alpha * (alpha - 1) * sum_squares (a - b))%R.
Proof.
rewrite /sum_squares !mulr_sumr -big_split -sumrB; apply: eq_bigr => i _ /=.
rewrite !mulr_sumr -big_split -sumrB; apply: eq_bigr => j _ /=.
by rewrite !mxE; move: (y i j) (a i j) (b i j) => s t u; ring.
Qed.

Let inverse_normalizer : R := (normalizer gaussian_weight)^-1%R.
Let inverse_normalizer_gt0 : (0 < inverse_normalizer)%R.
Proof. by rewrite invr_gt0; exact: normalizer_gt0. Qed.

Lemma gaussian_densityE a y :
  density (gaussian a) y = (inverse_normalizer * expR (- (sum_squares (y - a) / v)))%R.
Proof.
rewrite mulrC /inverse_normalizer.
by rewrite -(normalizer_shift (matrices R m n) gaussian_weight a).
Qed.

(* The premise is sigma > 0; alpha, a, b and y are arbitrary. *)
(*@ GAUSSIAN-POINTWISE *)
Theorem gaussian_renyi_pointwise (alpha : R) a b y :
  (density (gaussian a) y `^ alpha * density (gaussian b) y `^ (1 - alpha)
   = expR (alpha * (alpha - 1) * (sum_squares (a - b) / v))
     * density (gaussian (alpha *: a + (1 - alpha) *: b)) y)%R.
Proof.
rewrite !gaussian_densityE !powerM ?expR_gt0 ?inverse_normalizer_gt0 //.
rewrite mulrACA -exp_funD ?inverse_normalizer_gt0 // [(alpha + _)%R]addrC subrK.
rewrite exp_funr1 ?inverse_normalizer_gt0 // [RHS]mulrCA; congr (_ * _)%R.
rewrite /exp_fun !expK -!expRD; congr (expR _).
transitivity (- ((alpha * sum_squares (y - a) + (1 - alpha) * sum_squares (y - b)) / v))%R.
  by move: (sum_squares _) (sum_squares _) (v^-1)%R => s t w; ring.
rewrite complete_square; move: (sum_squares _) (sum_squares _) (v^-1)%R => s t w; ring.
Qed.

(* The premise is sigma > 0; alpha, a and b are arbitrary. *)
(*@ GAUSSIAN-RENYI *)
Theorem gaussian_renyi (alpha : R) a b :
  renyi_integral alpha (gaussian a) (gaussian b)
  = (expR (alpha * (alpha - 1) * (sum_squares (a - b) / v)))%:E.
Proof.
rewrite /renyi_integral; set k := expR _.
have one c : \int[@leb_matrix R m n]_y (density (gaussian c) y)%:E = 1.
  exact: (law_total (gaussian c)).
under eq_integral do rewrite gaussian_renyi_pointwise EFinM.
rewrite ge0_integralM_EFin ?one ?mule1 //.
- by move=> y _; apply: density_ge0.
- by apply: density_measurable.
- by rewrite ltW // expR_gt0.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The mechanism                                                                *)

Variable Delta : R.
Let rho : R := (Delta ^+ 2 / v)%R.

(* The premises are sigma > 0 and centres a and b whose squared distance is at most
   Delta^2. *)
(*@ GAUSSIAN-ZCDP *)
Theorem gaussian_zcdp a b : (sum_squares (a - b) <= Delta ^+ 2)%R ->
  zcdp_laws rho (gaussian a) (gaussian b).
Proof.
move=> ab alpha a1; rewrite gaussian_renyi lee_fin ler_expR [(alpha * _)%R]mulrC.
rewrite ler_wpmul2l ?mulr_ge0 ?subr_ge0 ?(ltW a1) ?(ltW (lt_trans ltr01 a1)) //.
by rewrite ler_pmul2r // invr_gt0.
Qed.

(* Publish q(x) + Z. *)
Definition gaussian_mechanism (X : Type) (q : X -> 'M[R]_(m, n)) (x : X) :
    set 'M[R]_(m, n) -> \bar R :=
  add_noise (matrices R m n) gaussian_weight q x.

(* The premises are sigma > 0, Delta > 0, rho = Delta^2/(2 sigma^2) < eps, and a query that
   moves by at most Delta between neighbours, in the root of the sum of squares. *)
(*@ GAUSSIAN-APPROXIMATE *)
Theorem gaussian_approximate_dp (X : Type) (nb : X -> X -> Prop) (q : X -> 'M[R]_(m, n))
    (eps : R) : (0 < Delta)%R -> (rho < eps)%R ->
  (forall x x', nb x x' -> sum_squares (q x - q x') <= Delta ^+ 2)%R ->
  forall x x', nb x x' ->
  approx_indistinguishable eps (expR (- ((eps - rho) ^+ 2 / (4%:R * rho))))
    (gaussian_mechanism q x) (gaussian_mechanism q x').
Proof.
move=> D0 re sens x x' xx' S mS; rewrite /gaussian_mechanism /add_noise !law_shift //.
have r0 : (0 < rho)%R by rewrite divr_gt0 ?exprn_gt0.
have [alpha a1 <-] := best_order r0 re.
apply: zcdp_laws_tail => //; try exact: gaussian_positive; last exact/gaussian_zcdp/sens.
under eq_fun do rewrite gaussian_renyi_pointwise.
by apply: measurable_funrM; apply: density_measurable1.
Qed.

End Gaussian.
