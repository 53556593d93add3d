(* The exact (epsilon, delta) of Gaussian noise.

   approximate_dp: (epsilon, delta)-DP, for all measurable events.  With normal_tail u, the
   probability that a standard normal number is larger than u, and q > 0,

      gaussian_profile q eps = normal_tail (eps/q - q/2) - e^eps normal_tail (eps/q + q/2),

   which is Phi(q/2 - eps/q) - e^eps Phi(-q/2 - eps/q) (Balle and Wang 2018, Theorem 8).

   - gaussian_step: two Gaussian laws of matrices whose centres are q sigma apart meet
     (eps, gaussian_profile q eps) on every event, because no event needs more than the half space
     where the loss is above eps (`likelihood`, after Neyman and Pearson).
   - gaussian_profile_monotone: gaussian_profile q eps increases in q.
   - gaussian_indistinguishable: so centres that are at most q sigma apart meet it too.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueShift AdditiveNoise KNorm.
From covassay Require Import Gaussian HalfSpaces TwoStages.
Local Open Scope ereal_scope.

(* ---------------------------------------------------------------------------- *)
(* The definition                                                               *)

(* (eps, delta)-DP for a relation of neighbours. *)
Definition approximate_dp (R : realType) d (Y : measurableType d) (X : Type) (nb : X -> X -> Prop)
    (eps delta : R) (M : X -> set Y -> \bar R) :=
  forall x x', nb x x' -> approx_indistinguishable eps delta (M x) (M x').

(* What is computed from the output costs nothing. *)
Lemma approximate_image (R : realType) d d' (Y : measurableType d) (Z : measurableType d')
    (h : Y -> Z) (mh : measurable_fun setT h) (eps delta : R) (P Q : {measure set Y -> \bar R}) :
  approx_indistinguishable eps delta P Q ->
  approx_indistinguishable eps delta (image_law mh P) (image_law mh Q).
Proof. by move=> H S mS; apply: H; rewrite -[X in measurable X]setTI; exact: mh. Qed.

(* Only the values on events matter. *)
Lemma approximate_eq (R : realType) d (Y : measurableType d) (eps delta : R) (P P' Q Q' : set Y -> \bar R) :
  (forall S, measurable S -> P S = P' S) -> (forall S, measurable S -> Q S = Q' S) ->
  approx_indistinguishable eps delta P Q -> approx_indistinguishable eps delta P' Q'.
Proof. by move=> PP QQ H S mS; rewrite -PP // -QQ //; exact: H. Qed.

(* ---------------------------------------------------------------------------- *)
(* The worst event                                                              *)

Section Likelihood.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Implicit Types f g : weight mu.
Lemma law_le_on f g (p q : R) B : (0 <= p)%R -> (0 <= q)%R -> measurable B ->
  (forall y, B y -> p * density f y <= q * density g y)%R -> p%:E * law f B <= q%:E * law g B.
Proof.
move=> p0 q0 mB le.
rewrite /law -ge0_integralM_EFin //; first last.
- exact: density_measurable.
- by move=> y _; exact: density_ge0.
rewrite -ge0_integralM_EFin //; first last.
- exact: density_measurable.
- by move=> y _; exact: density_ge0.
apply: ge0_le_integral => //; first [by move=> y _; rewrite mule_ge0 ?density_ge0 | by apply: measurable_funeM; exact: density_measurable | by move=> y By; rewrite -!EFinM lee_fin; exact: le].
Qed.

(* The event on which f is denser than c g needs the largest delta. *)
Lemma likelihood f g (c : R) A S : (0 <= c)%R -> measurable A -> measurable S ->
  (forall y, A y -> c * density g y <= density f y)%R ->
  (forall y, ~ A y -> density f y <= c * density g y)%R ->
  law f S + c%:E * law g A <= law f A + c%:E * law g S.
Proof.
move=> c0 mA mS hi lo.
have l1 : law f (S `\` A) <= c%:E * law g (S `\` A).
  rewrite -[X in X <= _]mul1e; apply: law_le_on => //; first exact: measurableD.
  by move=> y [_ Ay]; rewrite mul1r; exact: lo.
have l2 : c%:E * law g (A `\` S) <= law f (A `\` S).
  rewrite -[X in _ <= X]mul1e; apply: law_le_on => //; first exact: measurableD.
  by move=> y [Ay _]; rewrite mul1r; exact: hi.
have ge1 (h : weight mu) B : 0 <= law h B by exact: (@measure_ge0 _ _ _ [the measure _ _ of law h]).
have cut1 (h : weight mu) B D : measurable B -> measurable D -> law h B = law h (B `\` D) + law h (B `&` D).
  by move=> mB mD; exact: (@measureDI _ _ _ [the measure _ _ of law h] B D mB mD).
rewrite (cut1 f S A mS mA) (cut1 g A S mA mS) (cut1 f A S mA mS) (cut1 g S A mS mA) [A `&` S]setIC.
rewrite (ge0_muleDr _ (ge1 _ _) (ge1 _ _)) (ge0_muleDr _ (ge1 _ _) (ge1 _ _)).
rewrite addeACA [X in _ <= X]addeACA [X in _ <= X + _]addeC.
by apply: lee_add; [exact: lee_add|].
Qed.
End Likelihood.

(* ---------------------------------------------------------------------------- *)
(* The profile                                                                  *)

Definition gaussian_profile (R : realType) (q eps : R) : R :=
  (normal_tail (eps / q - q / 2%:R) - expR eps * normal_tail (eps / q + q / 2%:R))%R.
Section Profile.
Variables (R : realType) (m n : nat) (sigma : R).
Hypothesis sigma_gt0 : (0 < sigma)%R.
Implicit Types a b y z : 'M[R]_(m, n).
Notation v := (2%:R * sigma ^+ 2)%R.
Notation w := (gaussian_weight m n sigma_gt0).
Notation at_ a := (gaussian sigma_gt0 a).

Let v_gt0 : (0 < v)%R. Proof. by rewrite mulr_gt0 ?exprn_gt0 ?ltr0n. Qed.

Let law_at a S : measurable S -> law (at_ a) S = law w [set z | S (a + z)%R].
Proof. by move=> mS; rewrite -(law_shift (matrices R m n) w a mS). Qed.

Lemma dot_mxD a y z : dot_mx a (y + z) = (dot_mx a y + dot_mx a z)%R.
Proof.
rewrite /dot_mx -big_split; apply: eq_bigr => i _ /=; rewrite -big_split; apply: eq_bigr => j _ /=.
by rewrite mxE mulrDr.
Qed.

Lemma square_gap a b y : (sum_squares (y - b) - sum_squares (y - a)
  = 2%:R * dot_mx (a - b) y - (sum_squares a - sum_squares b))%R.
Proof.
rewrite /sum_squares /dot_mx mulr_sumr -!sumrB; apply: eq_bigr => i _.
rewrite mulr_sumr -!sumrB; apply: eq_bigr => j _; rewrite !mxE.
by move: (y i j) (a i j) (b i j) => s t u; ring.
Qed.

Lemma dot_centres a b : (2%:R * dot_mx (a - b) a = sum_squares a - sum_squares b + sum_squares (a - b)
  /\ 2%:R * dot_mx (a - b) b = sum_squares a - sum_squares b - sum_squares (a - b))%R.
Proof.
split; rewrite /sum_squares /dot_mx mulr_sumr -sumrB -?big_split -?sumrB; apply: eq_bigr => i _ /=;
  rewrite mulr_sumr -sumrB -?big_split -?sumrB; apply: eq_bigr => j _ /=; rewrite !mxE;
  by move: (a i j) (b i j) => t u; ring.
Qed.

Theorem gaussian_step a b (eps : R) S : measurable S -> a != b ->
  law (at_ a) S <= (expR eps)%:E * law (at_ b) S
    + (gaussian_profile (size_mx (a - b) / sigma) eps)%:E.
Proof.
move=> mS ab; have D0 : (a - b)%R != 0%R by rewrite subr_eq0.
have h0 := size_mx_gt0 D0; set h := size_mx (a - b) in h0 *.
have hh : (h ^+ 2 = sum_squares (a - b))%R by rewrite sqr_sqrtr // ltW // sum_squares_gt0.
pose T : R := ((eps * v + (sum_squares a - sum_squares b)) / 2%:R)%R.
pose A : set 'M[R]_(m, n) := [set y | (T < dot_mx (a - b) y)%R].
have mA : measurable A by exact: measurable_half_space.
have e0 : (0 <= expR eps)%R by rewrite ltW // expR_gt0.
have N0 : (0 < (normalizer w)^-1)%R by rewrite invr_gt0; exact: normalizer_gt0.
have gap y : (2%:R * (dot_mx (a - b) y - T) = (sum_squares (y - b) - sum_squares (y - a)) - eps * v)%R.
  by rewrite square_gap /T; field.
have exponent y : (expR eps * density (at_ b) y
    = (normalizer w)^-1 * expR (eps - sum_squares (y - b) / v))%R.
  by rewrite gaussian_densityE mulrCA -expRD.
have exponent' y : (density (at_ a) y
    = (normalizer w)^-1 * expR (- (sum_squares (y - a) / v)))%R.
  by rewrite gaussian_densityE.
have order y : (- (sum_squares (y - a) / v) - (eps - sum_squares (y - b) / v)
    = 2%:R * (dot_mx (a - b) y - T) / v)%R.
  by rewrite gap; field; rewrite gt_eqF.
have hi y : A y -> (expR eps * density (at_ b) y <= density (at_ a) y)%R.
  rewrite /A /= exponent exponent' ler_pmul2l // ler_expR -subr_ge0 order -subr_gt0 => yA.
  by rewrite divr_ge0 ?mulr_ge0 ?ler0n ?(ltW yA) // ltW.
have lo y : ~ A y -> (density (at_ a) y <= expR eps * density (at_ b) y)%R.
  move=> /negP; rewrite -leNgt -subr_le0 => yA.
  rewrite exponent exponent' ler_pmul2l // ler_expR -subr_le0 order pmulr_lle0 ?invr_gt0 //.
  by rewrite pmulr_rle0 ?ltr0n.
have := likelihood e0 mA mS hi lo.
have half c t : (T - dot_mx (a - b) c = t)%R -> law (at_ c) A = (normal_tail (t / (h * sigma)))%:E.
  move=> tE; rewrite (law_at _ mA) -(half_space sigma_gt0 _ D0); congr (law w _).
  by apply/seteqP; split => z /=; rewrite /A /= dot_mxD -ltr_subl_addl tE.
have [ca cb] := dot_centres a b; have two : (2%:R != 0 :> R)%R by rewrite pnatr_eq0.
have q0 : (h * sigma != 0)%R by rewrite mulf_neq0 // gt_eqF.
have ta : (T - dot_mx (a - b) a = (eps * v - h ^+ 2) / 2%:R)%R.
  by apply: (mulfI two); rewrite mulrBr ca hh /T; field.
have tb : (T - dot_mx (a - b) b = (eps * v + h ^+ 2) / 2%:R)%R.
  by apply: (mulfI two); rewrite mulrBr cb hh /T; field.
rewrite (half _ _ ta) (half _ _ tb) /gaussian_profile.
have -> : ((eps * v - h ^+ 2) / 2%:R / (h * sigma) = eps / (h / sigma) - h / sigma / 2%:R)%R.
  by field; rewrite !gt_eqF.
have -> : ((eps * v + h ^+ 2) / 2%:R / (h * sigma) = eps / (h / sigma) + h / sigma / 2%:R)%R.
  by field; rewrite !gt_eqF.
move: (normal_tail _) (normal_tail _) => p q; rewrite -EFinM => le.
by rewrite EFinB addeA lee_subr_addr // [X in _ <= X]addeC.
Qed.

End Profile.

(* A larger distance needs a larger delta. *)
Lemma gaussian_profile_monotone (R : realType) (q r eps : R) : (0 < q)%R -> (q <= r)%R ->
  (gaussian_profile q eps <= gaussian_profile r eps)%R.
Proof.
move=> q0 qr; pose s := Num.sqrt (r ^+ 2 - q ^+ 2).
have rr : (0 <= r ^+ 2 - q ^+ 2)%R by rewrite subr_ge0 ler_expn2r // nnegrE ltW // (lt_le_trans q0).
pose a : 'M[R]_(1, 2) := \row_j (if j == ord0 then q else s).
pose e : 'M[R]_(1, 2) := \row_j (j == ord0)%:R.
have size (a' : 'M[R]_(1, 2)) : size_mx a' = Num.sqrt (a' ord0 ord0 ^+ 2 + a' ord0 (lift ord0 ord0) ^+ 2) :> R.
  by rewrite /size_mx /sum_squares big_ord1 big_ord_recl big_ord1.
have sa : size_mx a = r.
  by rewrite size !mxE /= sqr_sqrtr // addrC subrK sqrtr_sqr ger0_norm // ltW // (lt_le_trans q0).
have se : size_mx e = 1%R by rewrite size !mxE /= expr1n expr0n addr0 sqrtr1.
have e0 : e != 0%R by apply/eqP => /matrixP/(_ ord0 ord0)/eqP; rewrite !mxE /= oner_eq0.
have a0 : a != 0%R by apply/eqP => /matrixP/(_ ord0 ord0)/eqP; rewrite !mxE /= gt_eqF.
pose t := (eps / q + q / 2%:R)%R; pose S : set 'M[R]_(1, 2) := [set z | (t < dot_mx e z)%R].
have mS : measurable S by exact: measurable_half_space.
have ea : dot_mx e a = q.
  by rewrite /dot_mx big_ord1 big_ord_recl big_ord1 !mxE /= mul1r mul0r addr0.
have half c u : (t - dot_mx e c = u)%R ->
    law (gaussian (ltr01 : 0 < 1 :> R)%R c) S = (normal_tail u)%:E.
  move=> tE; rewrite -(law_shift (matrices R 1 2) (gaussian_weight 1 2 (ltr01 : 0 < 1 :> R)%R) c mS).
  rewrite (_ : [set z | _] = [set z | (u < dot_mx e z)%R]); last first.
    by apply/seteqP; split => z; rewrite /S /= dot_mxD -ltr_subl_addl tE.
  by rewrite (half_space (ltr01 : 0 < 1 :> R)%R u e0) se mulr1 divr1.
have H := gaussian_step (ltr01 : 0 < 1 :> R)%R eps mS a0.
have rE : (size_mx (a - 0) / 1 = r)%R by rewrite subr0 sa divr1.
rewrite rE in H.
have ha : law (gaussian (ltr01 : 0 < 1 :> R)%R a) S = (normal_tail (eps / q - q / 2%:R)%R)%:E.
  by apply: half; rewrite ea /t; field; rewrite gt_eqF.
have h0 : law (gaussian (ltr01 : 0 < 1 :> R)%R (0%R : 'M[R]_(1, 2))) S = (normal_tail t)%:E.
  apply: half; rewrite /dot_mx big1 ?subr0 // => i _; rewrite big1 // => j _.
  by rewrite [X in (_ * X)%R]mxE mulr0.
rewrite ha h0 in H.
rewrite -EFinM -EFinD lee_fin -ler_subl_addl in H.
exact: H.
Qed.

Lemma gaussian_profile_ge0 (R : realType) (q eps : R) : (0 < q)%R -> (0 <= gaussian_profile q eps)%R.
Proof.
move=> q0; pose a : 'M[R]_(1, 1) := const_mx q.
have a0 : a != 0%R by apply/eqP => /matrixP/(_ ord0 ord0)/eqP; rewrite !mxE gt_eqF.
have empty c : law (gaussian (ltr01 : 0 < 1 :> R)%R c) (set0 : set 'M[R]_(1, 1)) = 0.
  exact: (@measure0 _ _ _ [the measure _ _ of law (gaussian ltr01 c)]).
have qE : (size_mx (a - 0) / 1 = q)%R.
  by rewrite subr0 divr1 /size_mx /sum_squares !big_ord1 mxE sqrtr_sqr ger0_norm // ltW.
have H := gaussian_step (ltr01 : 0 < 1 :> R)%R eps measurable0 a0.
rewrite qE (empty a) (empty 0%R) in H.
by move: (gaussian_profile q eps) H => p; rewrite mule0 add0e lee_fin.
Qed.

(* Centres that are at most q sigma apart. *)
Lemma gaussian_indistinguishable (R : realType) m n (sigma q eps : R) (sigma_gt0 : (0 < sigma)%R)
    (a b : 'M[R]_(m, n)) : (0 <= eps)%R -> (0 < q)%R -> (sum_squares (a - b) <= (q * sigma) ^+ 2)%R ->
  approx_indistinguishable eps (gaussian_profile q eps)
    (law (gaussian sigma_gt0 a)) (law (gaussian sigma_gt0 b)).
Proof.
move=> eps0 q0 near S mS; have [->|ab] := eqVneq a b.
  have p0 := gaussian_profile_ge0 eps q0; move: (gaussian_profile q eps) p0 => p p0.
  have l0 : 0 <= law (gaussian sigma_gt0 b) S.
    exact: (@measure_ge0 _ _ _ [the measure _ _ of law (gaussian sigma_gt0 b)]).
  move: (law _ S) l0 => l l0.
  rewrite -[X in X <= _]adde0; apply: lee_add; last by rewrite lee_fin.
  by rewrite -[X in X <= _]mul1e lee_wpmul2r // lee_fin -expR0 ler_expR.
apply: le_trans (gaussian_step sigma_gt0 eps mS ab) _.
apply: lee_add2l; rewrite lee_fin.
apply: gaussian_profile_monotone; first by rewrite divr_gt0 // size_mx_gt0 // subr_eq0.
have qs : (0 <= q * sigma)%R by rewrite mulr_ge0 ?ltW.
rewrite ler_pdivr_mulr // /size_mx -[X in (_ <= X)%R](ger0_norm qs) -sqrtr_sqr.
exact: ler_wsqrtr.
Qed.
