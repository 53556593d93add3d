(* joint-moments: the mean and the second moment of the same rows, with one account.

   The rows are any vectors, neighbours differ in one of them; n, d, r, the weight and rho are public.
   Rows longer than r are shortened to r, and all are divided by r.

   Released are the mean plus sigma_1 N, N standard normal, and below it the second moment plus
   sigma_2 G, G of the Gaussian orthogonal ensemble; the first times r, the second times r^2.  Here
   sigma_1 = S/(n sqrt (2 rho)), sigma_2 = sigma_1/sqrt lambda, and S^2 bounds
   |x - y|^2 + lambda |x x^T - y y^T|^2 over the unit ball:

   - lambda = weight lambda_0, lambda_0 = 1/2 for d >= 2 and (11 + 5 sqrt 5)/8 for d = 1;
   - S^2 = 4 for a weight up to 1; else 2 + 2 lambda + 1/(2 lambda) for d >= 2, and
     lambda p^3 (2 - p) with p = (3 - sqrt (1 - 2/lambda))/2 for d = 1.

   Assumed: nothing.  Not said: floating point; how the noise is drawn; that the bounds are attained. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms SpectralMaps UnitRows GaussianLearner.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity Algorithm2 JohnsonLindenstrauss.

(* ---------------------------------------------------------------------------- *)
(* The supremum of the change                                                   *)

Section Change.
Variable R : realType.
Implicit Types a b c t l w p : R.

(* Two rows of squared lengths a and b, with product c. *)
Lemma change_many a b c l : 0 <= a -> a <= 1 -> 0 <= b -> b <= 1 -> 0 <= l ->
  a + b - 2%:R * c + l * (a ^+ 2 + b ^+ 2 - 2%:R * c ^+ 2) <= 2%:R - 2%:R * c + 2%:R * l * (1 - c ^+ 2).
Proof.
move=> a0 a1 b0 b1 l0; have sq u : 0 <= u -> u <= 1 -> 0 <= 1 - u ^+ 2.
  by move=> u0 u1; rewrite subr_ge0 expr_le1.
rewrite -subr_ge0.
have -> : 2%:R - 2%:R * c + 2%:R * l * (1 - c ^+ 2)
    - (a + b - 2%:R * c + l * (a ^+ 2 + b ^+ 2 - 2%:R * c ^+ 2))
    = (1 - a) + (1 - b) + l * ((1 - a ^+ 2) + (1 - b ^+ 2)) by ring.
apply: addr_ge0; first by apply: addr_ge0; rewrite subr_ge0.
by apply: mulr_ge0 => //; apply: addr_ge0; exact: sq.
Qed.

Lemma change_small c l : -1 <= c -> c <= 1 -> 0 <= l -> l <= 2%:R^-1 ->
  2%:R - 2%:R * c + 2%:R * l * (1 - c ^+ 2) <= 4%:R.
Proof.
move=> c0 c1 l0 l1; rewrite -subr_ge0.
have -> : 4%:R - (2%:R - 2%:R * c + 2%:R * l * (1 - c ^+ 2)) = 2%:R * (1 + c) * (1 - l * (1 - c)) by ring.
have p : 0 <= 1 + c by rewrite -ler_subl_addl sub0r.
rewrite !mulr_ge0 // subr_ge0; apply: (@le_trans _ _ (2%:R^-1 * 2%:R)); last by rewrite mulVf ?pnatr_eq0.
apply: ler_pmul => //; first by rewrite subr_ge0.
by rewrite -subr_ge0 (_ : 2%:R - (1 - c) = 1 + c) //; ring.
Qed.

Lemma change_large c l : 0 < l ->
  2%:R - 2%:R * c + 2%:R * l * (1 - c ^+ 2) <= 2%:R + 2%:R * l + (2%:R * l)^-1.
Proof.
move=> l0; have ln : l != 0 by rewrite gt_eqF.
rewrite -subr_ge0.
have -> : 2%:R + 2%:R * l + (2%:R * l)^-1 - (2%:R - 2%:R * c + 2%:R * l * (1 - c ^+ 2))
    = (2%:R * l)^-1 * (2%:R * l * c + 1) ^+ 2 by field.
by rewrite mulr_ge0 ?sqr_ge0 // invr_ge0 mulr_ge0 ?ler0n ?ltW.
Qed.

(* Dimension one: t is the distance of two numbers. *)
Definition line_change l t : R := t ^+ 2 * (1 + l * (2%:R - t) ^+ 2).
Definition line_weight : R := (11%:R + 5%:R * Num.sqrt 5%:R) / 8%:R.
Definition line_point l : R := (3%:R - Num.sqrt (1 - 2%:R / l)) / 2%:R.

Let root5 : Num.sqrt 5%:R ^+ 2 = 5%:R :> R. Proof. by rewrite sqr_sqrtr ?ler0n. Qed.

Lemma root5_ge2 : 2%:R <= Num.sqrt 5%:R :> R.
Proof. by rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?ler0n ?sqrtr_ge0 // root5 -natrX ler_nat. Qed.

Lemma line_weight_gt2 : 2%:R < line_weight.
Proof.
rewrite ltr_pdivl_mulr ?ltr0n // -natrM; apply: (@lt_le_trans _ _ (11%:R + 5%:R * 2%:R)).
  by rewrite -natrM -natrD ltr_nat.
by rewrite ler_add2l ler_wpmul2l ?ler0n // root5_ge2.
Qed.

Lemma line_weight_gt0 : 0 < line_weight.
Proof. by apply: lt_trans line_weight_gt2; rewrite ltr0n. Qed.

Lemma line_change_small l t : 0 <= t -> t <= 2%:R -> 0 <= l -> l <= line_weight ->
  line_change l t <= 4%:R.
Proof.
move=> t0 t2 l0 l1; apply: (@le_trans _ _ (line_change line_weight t)).
  by rewrite ler_wpmul2l ?sqr_ge0 // ler_add2l ler_wpmul2r ?sqr_ge0.
set w := Num.sqrt 5%:R : R.
rewrite -subr_ge0; have -> : 4%:R - line_change line_weight t
    = (2%:R - t) * (line_weight * (t - (w - 1)) ^+ 2 * (t + (2%:R * w - 4%:R))
       + (w ^+ 2 - 5%:R) * ((15%:R * t * w - 17%:R * t - 10%:R * w ^+ 2 + 18%:R * w - 12%:R) / 8%:R)).
  by rewrite /line_change /line_weight -/w; field.
rewrite root5 subrr mul0r addr0; apply: mulr_ge0; first by rewrite subr_ge0.
apply: mulr_ge0; first by apply: mulr_ge0; [exact: ltW line_weight_gt0|exact: sqr_ge0].
apply: addr_ge0 => //; rewrite (_ : 2%:R * w - 4%:R = 2%:R * (w - 2%:R)); last by ring.
by rewrite mulr_ge0 ?ler0n // subr_ge0 root5_ge2.
Qed.

Lemma line_change_large l t : 0 <= t -> t <= 2%:R -> line_weight < l ->
  line_change l t <= l * line_point l ^+ 3 * (2%:R - line_point l).
Proof.
move=> t0 t2 l1; have l0 : 0 < l := lt_trans line_weight_gt0 l1; have ln : l != 0 by rewrite gt_eqF.
set w := Num.sqrt 5%:R : R; set u := Num.sqrt (1 - 2%:R / l); set p := line_point l.
have inside : 0 <= 1 - 2%:R / l.
  by rewrite subr_ge0 ler_pdivr_mulr // mul1r (le_trans (ltW line_weight_gt2)) // ltW.
have u2 : u ^+ 2 = 1 - 2%:R / l by rewrite sqr_sqrtr.
have u0 : 0 <= u by rewrite sqrtr_ge0.
have u1 : u <= 1.
  by rewrite -(@expr_le1 _ 2) // u2 ger_addl oppr_le0 divr_ge0 ?ler0n // ltW.
have w2 := root5_ge2; rewrite -/w in w2.
have ww : w ^+ 2 = 5%:R by exact: root5.
have uw : 5%:R - 2%:R * w <= u.
  have [le|/ltW ge] := leP (5%:R - 2%:R * w) 0; first exact: le_trans le u0.
  rewrite -(@ler_pexpn2r _ 2) ?nnegrE // u2.
  have -> : (5%:R - 2%:R * w) ^+ 2 = 1 - 2%:R / line_weight + 4%:R * (w ^+ 2 - 5%:R) * (1 - 4%:R * 2%:R * 5%:R^-1 * 0).
    have wn : 11%:R + 5%:R * w != 0 by rewrite gt_eqF // addr_gt0 ?ltr0n ?mulr_gt0 ?ltr0n ?(lt_le_trans _ w2) ?ltr0n.
    have E : 2%:R / line_weight = 4%:R * (5%:R * w - 11%:R).
      rewrite /line_weight -/w invf_div.
      apply: (mulIf wn); rewrite [LHS](_ : _ = 16%:R); last by field.
      have -> : 4%:R * (5%:R * w - 11%:R) * (11%:R + 5%:R * w) = 4%:R * (25%:R * w ^+ 2 - 121%:R) by ring.
      by rewrite ww; ring.
    by rewrite E; move: ww => _; ring.
  rewrite ww subrr mulr0 mul0r addr0 ler_add2l ler_opp2 ler_pmul2l ?ltr0n //.
  by rewrite lef_pinv ?posrE ?line_weight_gt0 // ltW.
have pE : p = (3%:R - u) / 2%:R by [].
have key : l * (2%:R * (2%:R - p) * (p - 1)) = 1.
  have -> : 2%:R * (2%:R - p) * (p - 1) = (1 - u ^+ 2) / 2%:R by rewrite pE; field.
  by rewrite u2; field.
have p1 : 1 <= p.
  rewrite pE ler_pdivl_mulr ?ltr0n // mul1r -subr_ge0 (_ : 3%:R - u - 2%:R = 1 - u) ?subr_ge0 //.
  by ring.
have p2 : p <= w - 1.
  rewrite pE ler_pdivr_mulr ?ltr0n // ler_subl_addl -ler_subl_addr.
  by apply: le_trans uw; rewrite le_eqVlt; apply/orP/or_introl/eqP; ring.
rewrite -subr_ge0.
have -> : l * p ^+ 3 * (2%:R - p) - line_change l t
    = l * (t - p) ^+ 2 * (p * (2%:R - p) - t * (t + 2%:R * p - 4%:R)).
  have -> : line_change l t = t ^+ 2 * (l * (2%:R * (2%:R - p) * (p - 1))) + l * (t * (2%:R - t)) ^+ 2.
    by rewrite key /line_change; ring.
  by ring.
apply: mulr_ge0; first by apply: mulr_ge0; [exact: ltW|exact: sqr_ge0].
rewrite subr_ge0; apply: (@le_trans _ _ (2%:R * (2%:R * p - 2%:R))).
  apply: (@le_trans _ _ (t * (2%:R * p - 2%:R))).
    apply: ler_wpmul2l => //; rewrite -subr_ge0.
    by rewrite [X in 0 <= X](_ : _ = 2%:R - t) ?subr_ge0 //; ring.
  apply: ler_wpmul2r => //; rewrite [X in 0 <= X](_ : _ = 2%:R * (p - 1)); last by ring.
  by rewrite mulr_ge0 ?ler0n // subr_ge0.
have pw : p + 1 <= w by rewrite -ler_subr_addr.
have pp : 0 <= p + 1 by rewrite addr_ge0 ?ler01 // (le_trans ler01 p1).
have sq : (p + 1) ^+ 2 <= w ^+ 2 by rewrite ler_expn2r ?nnegrE // (le_trans pp pw).
rewrite ww in sq; rewrite -subr_ge0.
by rewrite [X in 0 <= X](_ : _ = 5%:R - (p + 1) ^+ 2) ?subr_ge0 //; ring.
Qed.

End Change.

(* ---------------------------------------------------------------------------- *)
(* The mechanism                                                                *)

Section JointMoments.
Variables (R : realType) (n d : nat) (rho weight r : R).
Hypotheses (n_gt0 : (0 < n)%N) (d_gt0 : (0 < d)%N) (rho_gt0 : 0 < rho) (weight_gt0 : 0 < weight).
Hypothesis r_gt0 : 0 < r.
Notation data := (Sensitivity.dataset R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Notation vector := [the measurableType _ of 'M[R]_(d, 1)].
Notation both := [the measurableType _ of ('M[R]_d * 'M[R]_(d, 1))%type].
Notation stacked := [the measurableType _ of 'M[R]_(1 + d, d)].
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

(* lambda *)
Definition moment_weight : R := weight * (if (1 < d)%N then 2%:R^-1 else line_weight R).

(* S^2 *)
Definition change_squared : R :=
  if weight <= 1 then 4%:R
  else if (1 < d)%N then 2%:R + 2%:R * moment_weight + (2%:R * moment_weight)^-1
  else moment_weight * line_point moment_weight ^+ 3 * (2%:R - line_point moment_weight).

Lemma moment_weight_gt0 : 0 < moment_weight.
Proof. by rewrite mulr_gt0 //; case: ifP => _; rewrite ?invr_gt0 ?ltr0n ?line_weight_gt0. Qed.

Lemma change_le (x y : 'cV[R]_d) : Euclidean.norm x <= 1 -> Euclidean.norm y <= 1 ->
  Euclidean.dot (x - y) (x - y)
  + moment_weight * MatrixNorms.frob_dot (RankTwo.gap x y) (RankTwo.gap x y) <= change_squared.
Proof.
move=> x1 y1; have l0 := moment_weight_gt0; rewrite RankTwo.frob_gap.
have xx : Euclidean.dot x x <= 1 by rewrite -Euclidean.norm_le1.
have yy : Euclidean.dot y y <= 1 by rewrite -Euclidean.norm_le1.
have E : Euclidean.dot (x - y) (x - y) = Euclidean.dot x x + Euclidean.dot y y - 2%:R * Euclidean.dot x y.
  by rewrite !Euclidean.dotL (Euclidean.dotC y x); ring.
rewrite E; case d1 : (1 < d)%N; last first.
  have dE : d = 1%N by apply/eqP; rewrite eqn_leq d_gt0 leqNgt d1.
  pose u := x (Ordinal d_gt0) 0; pose v := y (Ordinal d_gt0) 0.
  have one (i : 'I_d) : i = Ordinal d_gt0.
    by apply/val_inj => /=; apply/eqP; rewrite -leqn0 -ltnS -[X in (_ < X)%N]dE ltn_ord.
  have dotE (a b : 'cV[R]_d) : Euclidean.dot a b = a (Ordinal d_gt0) 0 * b (Ordinal d_gt0) 0.
    by rewrite /Euclidean.dot (bigD1 (Ordinal d_gt0)) //= big1 ?addr0 // => i; rewrite (one i) eqxx.
  move: xx yy; rewrite !dotE -/u -/v => uu vv.
  have box (z : R) : z * z <= 1 -> -1 <= z /\ z <= 1.
    by rewrite -expr2 -real_normK ?num_real // expr_le1 // ler_norml => /andP[].
  have [u_lo u_hi] := box _ uu; have [v_lo v_hi] := box _ vv; pose t := `|u - v|.
  have t0 : 0 <= t by rewrite normr_ge0.
  have t2 : t <= 2%:R.
    rewrite ler_norml -[2%:R]/(1 + 1) opprD; apply/andP; split; first by rewrite ler_add // ler_opp2.
    by rewrite ler_add // ler_oppl.
  have tt : t ^+ 2 = (u - v) ^+ 2 by rewrite real_normK ?num_real.
  have sum_le : (u + v) ^+ 2 <= (2%:R - t) ^+ 2.
    rewrite -subr_ge0 /t; have [le|/ltW ge] := leP v u.
      rewrite (ger0_norm (_ : 0 <= u - v)); last by rewrite subr_ge0.
      rewrite [X in 0 <= X](_ : _ = 4%:R * (1 - u) * (1 + v)); last by ring.
      by apply: mulr_ge0; [rewrite mulr_ge0 ?ler0n // subr_ge0|rewrite -ler_subl_addl sub0r].
    rewrite (ler0_norm (_ : u - v <= 0)); last by rewrite subr_le0.
    rewrite [X in 0 <= X](_ : _ = 4%:R * (1 - v) * (1 + u)); last by ring.
    by apply: mulr_ge0; [rewrite mulr_ge0 ?ler0n // subr_ge0|rewrite -ler_subl_addl sub0r].
  apply: (@le_trans _ _ (line_change moment_weight t)).
    rewrite /line_change mulrDr mulr1 tt [X in _ <= X](_ : _ = (u - v) ^+ 2 + moment_weight * ((u - v) ^+ 2 * (2%:R - t) ^+ 2)); last by ring.
    rewrite [X in X <= _](_ : _ = (u - v) ^+ 2 + moment_weight * ((u - v) ^+ 2 * (u + v) ^+ 2)); last by ring.
    by rewrite ler_add2l ler_wpmul2l ?(ltW l0) // ler_wpmul2l ?sqr_ge0.
  rewrite /change_squared d1; case: ifP => [w1|/negbT].
    apply: line_change_small => //; first exact: ltW.
    by rewrite /moment_weight d1 ler_pimull // ltW // line_weight_gt0.
  rewrite -ltNge => w1; apply: line_change_large => //.
  by rewrite /moment_weight d1 ltr_pmull // line_weight_gt0.
apply: le_trans (change_many _ (Euclidean.dot_ge0 x) xx (Euclidean.dot_ge0 y) yy (ltW l0)) _.
rewrite /change_squared d1; case: ifP => [w1|_]; last exact: change_large.
have c1 : `|Euclidean.dot x y| <= 1.
  apply: le_trans (Euclidean.cauchy_schwarz _ _) _; rewrite -[X in _ <= X]mulr1.
  by apply: ler_pmul; rewrite ?Euclidean.norm_ge0.
move: c1; rewrite ler_norml => /andP[lo hi]; apply: change_small => //; first exact: ltW.
by rewrite /moment_weight d1 ler_pimull // invr_ge0 ler0n.
Qed.

Lemma change_squared_gt0 : 0 < change_squared.
Proof.
have l0 := moment_weight_gt0; rewrite /change_squared; case: ifP => [_|/negbT]; first by rewrite ltr0n.
rewrite -ltNge => w1; case d1 : (1 < d)%N.
  have l2 : 0 < 2%:R * moment_weight by rewrite mulr_gt0 ?ltr0n.
  by rewrite addr_gt0 ?addr_gt0 ?ltr0n // invr_gt0.
have big : line_weight R < moment_weight by rewrite /moment_weight d1 ltr_pmull // line_weight_gt0.
have := line_change_large (ler0n R 2) (lexx 2%:R) big; apply: lt_le_trans.
by rewrite /line_change subrr expr0n mulr0 addr0 mulr1 exprn_gt0 // ltr0n.
Qed.

(* sigma_1 and sigma_2 *)
Definition mean_scale : R := Num.sqrt (change_squared / (2%:R * rho)) / n%:R.
Definition moment_scale : R := mean_scale / Num.sqrt moment_weight.

Lemma mean_scale_gt0 : 0 < mean_scale.
Proof. by rewrite divr_gt0 // sqrtr_gt0 divr_gt0 ?change_squared_gt0 // mulr_gt0 ?ltr0n. Qed.

Lemma moment_scale_gt0 : 0 < moment_scale.
Proof. by rewrite divr_gt0 ?mean_scale_gt0 // sqrtr_gt0 moment_weight_gt0. Qed.

Definition row_mean (X : data) : 'M[R]_(d, 1) := n%:R^-1 *: \sum_i X i.

Definition mean_release := with_noise (matrices R d 1) (gaussian_weight d 1 mean_scale_gt0) row_mean.
Definition moment_release := symmetric_noise (off_diagonal R Goe)
  (gaussian_weight 1 (entries d) moment_scale_gt0) (@Sensitivity.covariance R n d).

(* r times the mean, above r^2 times the second moment. *)
Definition scaled_above (Sm : 'M[R]_d * 'M[R]_(d, 1)) : 'M[R]_(1 + d, d) :=
  mean_above (r ^+ 2 *: Sm.1, r *: Sm.2).

Lemma measurable_scaled_above : measurable_fun [set: both] scaled_above.
Proof.
apply: (measurable_fun_comp (@measurable_mean_above R d)); apply: MatrixStages.measurable_pair.
  by apply: JohnsonLindenstrauss.measurable_mxZ; exact: measurable_fun_fst.
by apply: JohnsonLindenstrauss.measurable_mxZ; exact: measurable_fun_snd.
Qed.

Let moments_law (X : data) : {measure set stacked -> \bar R} :=
  image_law measurable_scaled_above
    [the measure _ _ of joint (moment_release (unit_rows r X))
       (Algorithm2.constant_stage matrix (release_total mean_release (unit_rows r X)))].

Let moments_total X : moments_law X setT = 1%E.
Proof. exact: (joint_total _ (release_total moment_release (unit_rows r X))). Qed.

Definition joint_moments : mechanism R data stacked := Mechanism moments_total.

(* The premises are n >= 1, d >= 1, rho > 0, r > 0 and a weight > 0. *)
(*@ WHOLE.joint-moments *)
Theorem joint_moments_zcdp : zcdp neighbours rho (fun X => joint_moments X).
Proof.
move=> X0 Y0 XY0; apply: concentrated_image; have [bX bY [i XY]] := unit_rows_adjacent r_gt0 XY0.
move: (unit_rows r X0) (unit_rows r Y0) bX bY XY => X Y bX bY XY.
set q1 := Euclidean.dot (X i - Y i) (X i - Y i).
set q2 := MatrixNorms.frob_dot (RankTwo.gap (X i) (Y i)) (RankTwo.gap (X i) (Y i)).
have q10 : 0 <= q1 by exact: Euclidean.dot_ge0.
have q20 : 0 <= q2 by exact: MatrixNorms.frob_dot_ge0.
pose s1 := n%:R^-1 * Num.sqrt q1; pose s2 := n%:R^-1 * Num.sqrt (q2 / 2%:R).
have mean_change : sum_squares (row_mean X - row_mean Y) <= s1 ^+ 2.
  have -> : row_mean X - row_mean Y = n%:R^-1 *: (X i - Y i).
    rewrite /row_mean -scalerBr (bigD1 i) //= [X in _ *: (_ - X)](bigD1 i) //=.
    have -> : \sum_(j | j != i) X j = \sum_(j | j != i) Y j by apply: eq_bigr => j ji; rewrite XY.
    by rewrite opprD addrACA subrr addr0.
  rewrite sum_squares_scale /s1 exprMn sqr_sqrtr // ler_wpmul2l ?sqr_ge0 //.
  rewrite le_eqVlt; apply/orP/or_introl/eqP; rewrite /sum_squares /q1 /Euclidean.dot.
  by apply: eq_bigr => j _; rewrite big_ord1 expr2.
have cost : s2 ^+ 2 / moment_scale ^+ 2 + s1 ^+ 2 / (2%:R * mean_scale ^+ 2) <= rho.
  have l0 := moment_weight_gt0; have S0 := change_squared_gt0.
  have m2 : mean_scale ^+ 2 = change_squared / (2%:R * rho) / n%:R ^+ 2.
    by rewrite /mean_scale expr_div_n sqr_sqrtr // divr_ge0 ?(ltW S0) // mulr_ge0 ?ler0n // ltW.
  have -> : s2 ^+ 2 / moment_scale ^+ 2 + s1 ^+ 2 / (2%:R * mean_scale ^+ 2)
      = (q1 + moment_weight * q2) / change_squared * rho.
    rewrite /moment_scale expr_div_n (sqr_sqrtr (ltW l0)) m2 /s1 /s2 [(_ * Num.sqrt q1) ^+ 2]exprMn exprMn.
    rewrite (sqr_sqrtr q10) sqr_sqrtr ?divr_ge0 ?ler0n //; field.
    by rewrite (gt_eqF l0) (gt_eqF S0) (gt_eqF rho_gt0) (gt_eqF nR_gt0).
  by rewrite ler_pimull ?(ltW rho_gt0) // ler_pdivr_mulr // mul1r; exact: change_le.
apply: (concentrated_le cost).
apply: (concentrated_joint (K := Algorithm2.constant_stage matrix (release_total mean_release X))
  (L := Algorithm2.constant_stage matrix (release_total mean_release Y))) => [|y].
  apply: (@symmetric_gaussian_zcdp R d _ (fun A B => A = X /\ B = Y) (@Sensitivity.covariance R n d) Goe
    moment_scale moment_scale_gt0 s2) => //.
  - by rewrite mulr_ge0 ?invr_ge0 ?ler0n ?sqrtr_ge0.
  - exact: covariance_sym.
  move=> _ _ [-> ->]; rewrite (Sensitivity.covariance_gap XY) MatrixNorms.frob_dotZl MatrixNorms.frob_dotZr.
  rewrite mulrA -expr2 -/q2 /s2 exprMn sqr_sqrtr ?divr_ge0 ?ler0n //.
  by rewrite le_eqVlt; apply/orP/or_introl/eqP; field; rewrite (gt_eqF nR_gt0).
have H : zcdp (fun A B : data => A = X /\ B = Y) (s1 ^+ 2 / (2%:R * mean_scale ^+ 2))
    (fun A => mean_release A).
  by apply: gaussian_noise_zcdp => _ _ [-> ->]; exact: mean_change.
exact: (H X Y (conj (erefl X) (erefl Y))).
Qed.

End JointMoments.
