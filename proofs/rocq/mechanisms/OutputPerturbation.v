(* output-perturbation: ridge coefficients with noise on them, end to end.

   Data: n rows (a_i, y_i) in the unit ball of R^(k + 1), the last column is the target.
   Neighbours differ in one row; n, k, alpha and eps are public.  M is the covariance of the
   rows, with the blocks M_aa and M_ay.
     1.  w = (M_aa + 2 alpha I)^(-1) M_ay, the minimiser of the ridge objective;
     2.  publish w + V, where V has density proportional to exp(-eps |V| / S).
   S bounds the change of w between neighbours:
     paper: S = (W + sqrt (W^2 + 1))/(2 alpha n),  W = 1/sqrt (2 alpha);
     tight: S = sqrt (W^2 + 1)/(2 alpha n),        W = 1/(2 sqrt (2 alpha (1 + 2 alpha))).

   The proof.  With c = (w, -1), the first k entries of M c + 2 alpha (w, 0) are zero.  For two
   neighbours, 2 alpha |w - w'|^2 <= -(w - w', 0) . (M - M') c <= |w - w'| |c|/n, since the
   change of n M has operator norm at most one.  And |w| <= W, because with q = (w, 0) M (w, 0),
   s = |w|^2 and the mean g of y_i^2: (q + 2 alpha s)^2 <= q g and q <= (1 - g) s.

   Assumed: nothing.  Not said: floating point; how the noise is drawn; that w minimises the
   objective.  AnyRows.v has rows of any length. *)
From covassay Require Import MechanismTheory SymmetricMechanisms Sphere.
From covassay Require Euclidean RankTwo Sensitivity Triangle Algorithm2.

(* ---------------------------------------------------------------------------- *)
(* The coefficients                                                             *)

Section Coefficients.
Variables (R : realType) (n k : nat) (alpha : R).
Hypotheses (n_gt0 : (0 < n)%N) (alpha_gt0 : 0 < alpha).
Notation data := (Sensitivity.dataset R n (k + 1)).
Notation covariance := (@Sensitivity.covariance R n (k + 1)).
Notation dot := Euclidean.dot.
Notation form := Euclidean.form.
Implicit Types (X Y : data) (u v w : 'cV[R]_k) (M : 'M[R]_(k + 1)).

(* (M_aa + 2 alpha I)^(-1) M_ay *)
Definition coefficients M : 'cV[R]_k :=
  invmx (ulsubmx M + (2%:R * alpha)%:M) *m ursubmx M.

Let mu : R := 2%:R * alpha.
Let mu_gt0 : 0 < mu. Proof. by rewrite mulr_gt0 ?ltr0n. Qed.
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

(* (u, 0) and (0, 1) *)
Definition features u : 'cV[R]_(k + 1) := col_mx u 0.
Definition target : 'cV[R]_(k + 1) := col_mx 0 1.

Lemma dot_features u (v : 'cV[R]_(k + 1)) : dot (features u) v = dot u (usubmx v).
Proof.
rewrite -{1}[v]vsubmxK /dot /features big_split_ord /= [X in _ + X]big1 ?addr0 => [|i _].
  by apply: eq_bigr => i _; rewrite !col_mxEu.
by rewrite !col_mxEd mxE mul0r.
Qed.

Lemma features_mulmx M u : usubmx (M *m features u) = ulsubmx M *m u.
Proof.
by rewrite -{1}[M]submxK /features mul_block_col col_mxKu mulmx0 addr0.
Qed.

Lemma target_mulmx M : usubmx (M *m target) = ursubmx M.
Proof. by rewrite -{1}[M]submxK /target mul_block_col col_mxKu mulmx0 add0r mulmx1. Qed.

(* The form of the covariance is a mean of squares. *)
Lemma form_covariance X (v : 'cV[R]_(k + 1)) : form (covariance X) v = n%:R^-1 * \sum_i dot (X i) v ^+ 2.
Proof.
rewrite /Sensitivity.covariance Euclidean.formZ; congr (_ * _).
rewrite /form mulmx_suml; elim/big_ind2: _ => [|a b c e <- <-|i _].
- by rewrite Euclidean.dot0r.
- by rewrite Euclidean.dotDr.
by rewrite -/(form _ _) Euclidean.form_outer.
Qed.

Lemma form_covariance_ge0 X (v : 'cV[R]_(k + 1)) : 0 <= form (covariance X) v.
Proof.
by rewrite form_covariance mulr_ge0 ?invr_ge0 ?ler0n // sumr_ge0 // => i _; rewrite sqr_ge0.
Qed.

Lemma dot_covariance X (u v : 'cV[R]_(k + 1)) : dot u (covariance X *m v) = n%:R^-1 * \sum_i dot (X i) u * dot (X i) v.
Proof.
rewrite /Sensitivity.covariance -scalemxAl Euclidean.dotZr; congr (_ * _).
rewrite mulmx_suml; elim/big_ind2: _ => [|a b c e <- <-|i _].
- by rewrite Euclidean.dot0r.
- by rewrite Euclidean.dotDr.
by rewrite Euclidean.outer_mulmx Euclidean.dotZr Euclidean.dotC mulrC (Euclidean.dotC u).
Qed.

(* The matrix that is inverted has an inverse. *)
Lemma regular X : ulsubmx (covariance X) + mu%:M \in unitmx.
Proof.
rewrite unitmxE unitfE; apply/negP => /det0P[v v0 vH].
set H := _ + _ in vH; have sH : H^T = H.
  rewrite /H linearD /= tr_scalar_mx; congr (_ + _).
  by rewrite trmx_ulsub covariance_sym.
have Hv : H *m v^T = 0 by rewrite -sH -trmx_mul vH trmx0.
have : dot v^T (H *m v^T) = 0 by rewrite Hv Euclidean.dot0r.
rewrite /H mulmxDl Euclidean.dotDr mul_scalar_mx Euclidean.dotZr -features_mulmx -dot_features.
have f0 := form_covariance_ge0 X (features v^T); rewrite /form in f0.
have v1 : 0 < dot v^T v^T.
  rewrite lt_def Euclidean.dot_ge0 Euclidean.dot_eq0 andbT.
  by apply: contraNneq v0 => /(congr1 trmx); rewrite trmxK trmx0 => ->.
by move=> e; have := ltr_paddl f0 (mulr_gt0 mu_gt0 v1); rewrite e ltxx.
Qed.

Notation ridge X := (coefficients (covariance X)).

(* The vector (w, -1), and the normal equations. *)
Definition residual w : 'cV[R]_(k + 1) := features w - target.

Lemma normal_equations X v :
  dot (features v) (covariance X *m residual (ridge X)) = - (mu * dot v (ridge X)).
Proof.
rewrite dot_features /residual mulmxBr linearB /= features_mulmx target_mulmx.
have E : ulsubmx (covariance X) *m ridge X = ursubmx (covariance X) - mu *: ridge X.
  apply/eqP; rewrite eq_sym subr_eq -mul_scalar_mx -mulmxDl /coefficients mulmxA.
  by rewrite mulmxV ?mul1mx // regular.
by rewrite E addrAC subrr add0r Euclidean.dotNr Euclidean.dotZr.
Qed.

Lemma dot_featuresE u v : dot (features u) (features v) = dot u v.
Proof. by rewrite dot_features /features col_mxKu. Qed.

Lemma sqr_residual w : dot (residual w) (residual w) = dot w w + 1.
Proof.
rewrite /residual !Euclidean.dotL !dot_featuresE (Euclidean.dotC target).
have -> : dot (features w) target = 0 by rewrite dot_features /target col_mxKu Euclidean.dot0r.
have -> : dot target target = 1.
  rewrite /target /dot big_split_ord /= big1 ?add0r => [|i _]; last by rewrite col_mxEu mxE mul0r.
  by rewrite big_ord1 !col_mxEd !mxE eqxx mulr1.
by rewrite !(oppr0, addr0, add0r, opprK).
Qed.

(* ---------------------------------------------------------------------------- *)
(* How long the coefficients are                                                *)

(* the inequality behind the length *)
Lemma short_enough (m q g s p : R) : 0 < m -> 0 <= s -> 0 <= q ->
  (q + m * s) ^+ 2 <= q * g -> q <= p * s -> p + g <= 1 -> 4%:R * m * (1 + m) * s <= 1.
Proof.
move=> m0; rewrite le_eqVlt => /predU1P[<- _ _ _ _|s0 q0 key qp pg]; first by rewrite mulr0 ler01.
pose l := q / s; have qE : q = l * s by rewrite /l mulfVK // gt_eqF.
have l0 : 0 <= l by rewrite divr_ge0 // ltW.
have lp : l <= p by rewrite /l ler_pdivr_mulr.
have lm : 0 < (l + m) ^+ 2 by rewrite exprn_gt0 // ltr_paddl.
have step : s * (l + m) ^+ 2 <= l * (1 - l).
  rewrite -(ler_pmul2l s0) [X in X <= _](_ : _ = (q + m * s) ^+ 2); last by rewrite qE; ring.
  apply: le_trans key _; rewrite qE [X in _ <= X](_ : _ = (l * s) * (1 - l)); last by ring.
  apply: ler_wpmul2l; first by rewrite mulr_ge0 // ltW.
  by rewrite ler_subr_addr; apply: le_trans pg; rewrite addrC ler_add2r.
have c0 : 0 <= 4%:R * m * (1 + m).
  by apply: mulr_ge0; [rewrite mulr_ge0 ?ler0n // ltW|rewrite addr_ge0 ?ler01 // ltW].
rewrite -(ler_pmul2r lm) mul1r -[X in X <= _]mulrA; apply: le_trans (ler_wpmul2l c0 step) _.
rewrite -subr_ge0 [X in 0 <= X](_ : _ = (l * (1 + 2%:R * m) - m) ^+ 2) ?sqr_ge0 //.
by ring.
Qed.

Lemma coefficients_short X : Sensitivity.bounded X ->
  4%:R * mu * (1 + mu) * dot (ridge X) (ridge X) <= 1.
Proof.
move=> bX; set w := ridge X; set M := covariance X.
pose p := n%:R^-1 * \sum_i dot (usubmx (X i)) (usubmx (X i)).
have i0 : 0 <= n%:R^-1 :> R by rewrite invr_ge0 ler0n.
apply: (@short_enough mu (form M (features w)) (form M target) (dot w w) p mu_gt0).
- exact: Euclidean.dot_ge0.
- exact: form_covariance_ge0.
- have := normal_equations X w; rewrite -/w -/M /residual mulmxBr Euclidean.dotBr.
  rewrite -/(form M (features w)) => e.
  have -> : form M (features w) + mu * dot w w = dot (features w) (M *m target).
    by apply/eqP; rewrite -subr_eq0 addrAC e addNr.
  rewrite dot_covariance !form_covariance [X in X <= _]exprMn [X in _ <= X]mulrACA -[_ * n%:R^-1]expr2.
  apply: ler_wpmul2l; first by rewrite sqr_ge0.
  exact: Triangle.finite_cauchy_schwarz.
- rewrite form_covariance /p -mulrA; apply: ler_wpmul2l => //; rewrite mulr_suml.
  apply: ler_sum => i _; rewrite Euclidean.dotC dot_features Euclidean.dotC.
  exact: Euclidean.dot_sqr_le.
rewrite form_covariance /p -mulrDr -big_split /= -(ler_pmul2l nR_gt0) mulrA mulfV ?gt_eqF // mul1r mulr1.
have -> : n%:R = \sum_(i < n) 1 :> R by rewrite sumr_const card_ord.
apply: ler_sum => i _; have := bX i; rewrite Euclidean.norm_le1; apply: le_trans.
rewrite -[X in _ <= dot X X]vsubmxK {3}/dot big_split_ord /=; apply: ler_add.
  by rewrite /dot; apply: ler_sum => j _; rewrite !col_mxEu.
rewrite big_ord1 !col_mxEd -expr2 /dot big_split_ord /= big1 ?add0r => [|j _]; last first.
  by rewrite /target col_mxEu mxE mulr0.
by rewrite big_ord1 /target !col_mxEd !mxE eqxx mulr1.
Qed.

(* ---------------------------------------------------------------------------- *)
(* How far one row moves them                                                   *)

Lemma coefficients_change X Y : @Algorithm2.adjacent R n (k + 1) X Y ->
  Euclidean.norm (ridge X - ridge Y)
  <= Num.sqrt (dot (ridge X) (ridge X) + 1) / (mu * n%:R).
Proof.
move=> [bX bY [i XY]]; set w := ridge X; set v := ridge Y; set e := w - v.
have key : mu * dot e e <= Euclidean.norm e * (n%:R^-1 * Num.sqrt (dot w w + 1)).
  have eX := normal_equations X e; have eY := normal_equations Y e.
  have gapE := Sensitivity.covariance_gap XY.
  have ee : dot e e = dot e w - dot e v by rewrite -Euclidean.dotBr.
  have fY : dot (features e) (covariance Y *m residual w)
      = form (covariance Y) (features e) + dot (features e) (covariance Y *m residual v).
    rewrite /form -Euclidean.dotDr -mulmxDr; congr (dot _ (_ *m _)).
    rewrite /residual addrA; congr (_ - _).
    by rewrite /features add_col_mx addr0 /e subrK.
  have gE : dot (features e) (covariance X *m residual w)
      = dot (features e) (covariance Y *m residual w)
        + n%:R^-1 * dot (features e) (RankTwo.gap (X i) (Y i) *m residual w).
    rewrite -Euclidean.dotZr scalemxAl -gapE mulmxBl -Euclidean.dotDr; congr dot.
    by rewrite addrC subrK.
  have E : mu * dot e e = - form (covariance Y) (features e)
      - n%:R^-1 * dot (features e) (RankTwo.gap (X i) (Y i) *m residual w).
    move: eX; rewrite -/w gE fY eY ee mulrBr -/v => eX.
    by apply/eqP; rewrite -subr_eq0; apply/eqP; move/eqP: eX; rewrite -subr_eq0 => /eqP <-; ring.
  rewrite E; apply: (@le_trans _ _
      (- (n%:R^-1 * dot (features e) (RankTwo.gap (X i) (Y i) *m residual w)))).
    by rewrite ger_addr oppr_le0 form_covariance_ge0.
  rewrite -mulrN mulrCA ler_pmul2l ?invr_gt0 // -Euclidean.dotNr.
  apply: le_trans (Euclidean.dot_le _ _) _.
  have -> : Euclidean.norm (features e) = Euclidean.norm e by rewrite /Euclidean.norm dot_featuresE.
  apply: ler_wpmul2l; first exact: Euclidean.norm_ge0.
  rewrite Euclidean.normN -sqr_residual; apply: le_trans (Sensitivity.op_le_gap1 (bX i) (bY i) _) _.
  by rewrite mul1r.
have [e0|e0] := eqVneq (Euclidean.norm e) 0.
  by rewrite e0 divr_ge0 ?sqrtr_ge0 // mulr_ge0 ?ltW.
have ep : 0 < Euclidean.norm e by rewrite lt_def e0 Euclidean.norm_ge0.
rewrite ler_pdivl_mulr ?mulr_gt0 // -(ler_pmul2l ep); set S := Num.sqrt _ in key *.
rewrite [X in X <= _](_ : _ = mu * Euclidean.norm e ^+ 2 * n%:R); last by ring.
rewrite [X in _ <= X](_ : _ = Euclidean.norm e * (n%:R^-1 * S) * n%:R).
  by rewrite ler_pmul2r // Euclidean.sqr_norm.
by field; rewrite gt_eqF.
Qed.

End Coefficients.

(* ---------------------------------------------------------------------------- *)
(* The mechanism                                                                *)

Section Mechanism.
Variables (R : realType) (n k : nat) (alpha eps : R).
Hypotheses (n_gt0 : (0 < n)%N) (alpha_gt0 : 0 < alpha) (eps_gt0 : 0 < eps).
Notation data := (Sensitivity.dataset R n (k + 1)).
Notation adjacent := (@Algorithm2.adjacent R n (k + 1)).
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.
Let two_alpha_gt0 : 0 < 2%:R * alpha. Proof. by rewrite mulr_gt0 ?ltr0n. Qed.
Let factor_gt0 : 0 < 2%:R * alpha * (1 + 2%:R * alpha).
Proof. by rewrite mulr_gt0 // addr_gt0. Qed.

(* W, the bound on the length of the coefficients. *)
Definition largest_norm (c : calibration) : R :=
  if c is Paper then (Num.sqrt (2%:R * alpha))^-1
  else (2%:R * Num.sqrt (2%:R * alpha * (1 + 2%:R * alpha)))^-1.

(* The bound on the distance of two gradients at coefficients of length at most W. *)
Definition gradient_change (c : calibration) : R :=
  (if c is Paper then largest_norm c else 0) + Num.sqrt (largest_norm c ^+ 2 + 1).

Definition sensitivity (c : calibration) : R := gradient_change c / (2%:R * alpha * n%:R).

Definition ridge_scale (c : calibration) : R := sensitivity c / eps.

Lemma largest_norm_ge0 c : 0 <= largest_norm c.
Proof. by case: c; rewrite invr_ge0 ?mulr_ge0 ?sqrtr_ge0 ?ler0n. Qed.

Lemma gradient_change_ge c : Num.sqrt (largest_norm c ^+ 2 + 1) <= gradient_change c.
Proof. by rewrite ler_addr; case: c => //; exact: largest_norm_ge0. Qed.

Lemma ridge_scale_gt0 c : 0 < ridge_scale c.
Proof.
rewrite !divr_gt0 ?mulr_gt0 ?ltr0n //; apply: lt_le_trans (gradient_change_ge c).
by rewrite sqrtr_gt0 ltr_paddl ?sqr_ge0.
Qed.

(* The coefficients are no longer than W, in both calibrations. *)
Lemma largest_normP c (X : data) (w := coefficients alpha (Sensitivity.covariance X)) :
  Sensitivity.bounded X -> Euclidean.dot w w <= largest_norm c ^+ 2.
Proof.
move=> bX; have := coefficients_short n_gt0 alpha_gt0 bX; rewrite -/w => le.
have short : Euclidean.dot w w <= largest_norm Tight ^+ 2.
  rewrite /largest_norm exprVn exprMn sqr_sqrtr ?(ltW factor_gt0) // -[X in _ <= X]mul1r.
  rewrite ler_pdivl_mulr; last by apply: mulr_gt0; rewrite ?exprn_gt0 ?ltr0n.
  by apply: le_trans le; rewrite le_eqVlt; apply/orP/or_introl/eqP; ring.
apply: le_trans short _; case: c => //.
rewrite ler_expn2r ?nnegrE ?largest_norm_ge0 // /largest_norm.
have root : 0 < Num.sqrt (2%:R * alpha * (1 + 2%:R * alpha)) by rewrite sqrtr_gt0.
have root1 : 0 < Num.sqrt (2%:R * alpha) by rewrite sqrtr_gt0.
rewrite lef_pinv ?posrE ?mulr_gt0 ?ltr0n //.
apply: le_trans (_ : Num.sqrt (2%:R * alpha * (1 + 2%:R * alpha)) <= _); last first.
  by rewrite ler_pemull ?sqrtr_ge0 // ler1n.
by rewrite ler_wsqrtr // ler_pemulr ?ler_addl ?(ltW two_alpha_gt0).
Qed.

(* w + V *)
Definition output_perturbation (c : calibration) :=
  with_noise (matrices R k 1) (norm_weight (length R k) (ridge_scale_gt0 c))
    (fun X : data => coefficients alpha (Sensitivity.covariance X)).

(* The premises are n >= 1, alpha > 0 and eps > 0, for either calibration. *)
Theorem output_perturbation_dp (c : calibration) :
  dp adjacent eps (fun X => output_perturbation c X).
Proof.
apply: matrix_noise_dp => X Y XY; have [bX _ _] := XY.
rewrite /ridge_scale mulrC divfK ?gt_eqF // /=.
apply: le_trans (coefficients_change n_gt0 alpha_gt0 XY) _.
rewrite ler_pmul2r ?invr_gt0 ?mulr_gt0 //; apply: le_trans (gradient_change_ge c).
by rewrite ler_wsqrtr // ler_add2r largest_normP.
Qed.

End Mechanism.
