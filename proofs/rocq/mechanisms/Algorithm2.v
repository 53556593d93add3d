(* DN25 Algorithm 2 (nuclear-ball projection), end to end from its definition.

   Data: n records in the unit ball of R^d; S = (1/n) sum_i x_i x_i^T.  Neighbours
   differ in one record.
     1.  A = S + Z, where Z has density proportional to exp(-|Z|_* n eps / 4);
     2.  r = max(0, 2 tr S + L), where L has density proportional to
         exp(-|L| n eps / 10), independent of Z;
     3.  publish the projection of A on the nuclear ball of radius r.

   Claimed in the paper: eps-DP.  Proved here, for every measurable event, every n
   and d and every eps > 0:
   - by composition of the two releases: eps/2 + eps/5 = (7/10) eps;
   - from the joint density: eps/2, because one record cannot move the covariance
     and the trace by their largest amounts at the same time;
   - with the scales 2/(n eps) and 4/(n eps), half of the noise in step 1 and two
     fifths in step 2, the joint bound gives exactly the eps that is claimed.

   Step 3 may be any measurable function of (r, A): the proof does not look at it.
   That the projection on the nuclear ball is one is proved in BallProjection.
   Assumed: nothing.  Not said: that eps/2 is attained; anything about floating
   point. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue AdditiveNoise Norms KNorm.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity.
From mathcomp Require Import rat.

Notation nuclear_norm := MatrixNorms.nuclear_norm.
Notation dataset := Sensitivity.dataset.
Notation covariance := Sensitivity.covariance.

(* ---------------------------------------------------------------------------- *)
(* The nuclear norm is a norm                                                   *)

Section NuclearNorm.
Variables (R : realType) (d : nat).
Implicit Types A B : 'M[R]_d.

Lemma nuclear_scale a A : nuclear_norm (a *: A) = `|a| * nuclear_norm A.
Proof.
have [a0|a0] := leP 0 a; first by rewrite MatrixNorms.nuclear_normZ // ger0_norm.
rewrite ltr0_norm // -MatrixNorms.nuclear_normZ; last by rewrite oppr_ge0 ltW.
by rewrite scaleNr MatrixNorms.nuclear_normN.
Qed.

(* Every entry is at most the nuclear norm. *)
Lemma nuclear_ge_entry A i j : A i j <= nuclear_norm A.
Proof.
pose M : 'M[R]_d := delta_mx i (ord0 : 'I_1) *m (delta_mx j (ord0 : 'I_1))^T.
have cM : MatrixNorms.contraction M.
  move=> u; rewrite mul1r /M Euclidean.outer_mulmx Euclidean.normZ Euclidean.norm_delta mulr1.
  by apply: le_trans (Euclidean.cauchy_schwarz _ _) _; rewrite Euclidean.norm_delta mul1r.
have <- : MatrixNorms.frob_dot M A = A i j.
  rewrite MatrixNorms.frob_dotE (bigD1 j) //= (bigD1 i) //=.
  have ME k l : M k l = ((k == i) && (l == j))%:R.
    by rewrite !mxE big_ord_recl big_ord0 addr0 !mxE !eqxx !andbT -natrM mulnb.
  rewrite ME !eqxx mul1r big1 ?addr0; last by move=> k /negbTE ki; rewrite ME ki mul0r.
  rewrite big1 ?addr0 // => l /negbTE lj; rewrite big1 // => k _.
  by rewrite ME lj andbF mul0r.
exact: MatrixNorms.nuclear_norm_ub.
Qed.

Lemma nuclear_definite A : nuclear_norm A = 0 -> A = 0.
Proof.
move=> A0; apply/matrixP => i j; rewrite mxE; apply/eqP; rewrite eq_le -{1}A0.
rewrite nuclear_ge_entry /= -oppr_le0 -A0 -MatrixNorms.nuclear_normN.
by have := nuclear_ge_entry (- A) i j; rewrite mxE.
Qed.

Definition nuclear : Norms.norm R d d :=
  Norms.Norm (@MatrixNorms.nuclear_norm_triangle R d d) nuclear_scale nuclear_definite.

End NuclearNorm.

(* A second stage that does not look at the first output. *)
Section ConstantStage.
Context (R : realType) d1 d2 (Y1 : measurableType d1) (Y2 : measurableType d2).
Variables (P : {measure set Y2 -> \bar R}) (P1 : P setT = 1%E).

Lemma constant_stage_measurable B : measurable B -> measurable_fun [set: Y1] (fun=> P B).
Proof. by move=> _; exact: measurable_fun_cst. Qed.

Definition constant_stage : stage R Y1 Y2 :=
  @Stage R _ _ Y1 Y2 (fun=> P) (fun=> P1) constant_stage_measurable.

End ConstantStage.

(* ---------------------------------------------------------------------------- *)
(* Budgets, over any ordered field (the rationals or the reals)                  *)

Section Budget.
Variable F : realFieldType.
Implicit Types eps n s t : F.

(* Composition: the nuclear part is run at eps/2, the trace part has sensitivity 2/n
   and noise of scale 10/(n eps). *)
Definition budget_composition eps n : F := eps / 2%:R + (2%:R / n) / (10%:R / (n * eps)).

(*@ DN25.Alg2-BUDGET *)
Theorem budget_compositionE eps n : 0 < eps -> 0 < n ->
  budget_composition eps n = 7%:R / 10%:R * eps.
Proof.
by move=> e0 n0; rewrite /budget_composition; field; rewrite (gt_eqF n0) (gt_eqF e0).
Qed.

(* Jointly: a record of squared length s is replaced by one of squared length t. *)
Definition budget_joint eps n s t : F :=
  ((s + t) / n) / (4%:R / (n * eps)) + (2%:R * `|s - t| / n) / (10%:R / (n * eps)).

Lemma budget_jointE eps n s t : 0 < eps -> 0 < n ->
  budget_joint eps n s t = eps * ((s + t) / 4%:R + `|s - t| / 5%:R).
Proof.
by move=> e0 n0; rewrite /budget_joint; field; rewrite (gt_eqF n0) (gt_eqF e0).
Qed.

(*@ DN25.Alg2-BUDGET-JOINT *)
Theorem budget_joint_le eps n s t : 0 < eps -> 0 < n -> s <= 1 -> t <= 1 ->
  budget_joint eps n s t <= eps / 2%:R.
Proof.
move=> e0 n0 s1 t1; rewrite budget_jointE // ler_pmul2l //.
wlog st : s t s1 t1 / t <= s.
  move=> H; have [ts|/ltW st] := leP t s; first exact: H.
  by rewrite (addrC s) distrC; exact: H.
rewrite ger0_norm ?subr_ge0 // (_ : _ + _ = s * (9%:R / 20%:R) + t / 20%:R); last by field.
have -> : 2%:R^-1 = 1 * (9%:R / 20%:R) + 1 / 20%:R :> F by field.
by rewrite ler_add // ler_pmul2r ?divr_gt0 ?invr_gt0 ?ltr0n.
Qed.

(* The value of the budget formula is reached by two records of length one; that the loss of
   the mechanism reaches it is not said. *)
Lemma budget_joint_attained eps n : 0 < eps -> 0 < n ->
  budget_joint eps n 1 1 = eps / 2%:R.
Proof. by move=> e0 n0; rewrite budget_jointE // subrr normr0; field. Qed.

(* The scales 2/(n eps) and 4/(n eps). *)
Definition budget_tight eps n s t : F :=
  ((s + t) / n) / (2%:R / (n * eps)) + (2%:R * `|s - t| / n) / (4%:R / (n * eps)).

(*@ DN25.Alg2-BUDGET-TIGHT *)
Theorem budget_tightE eps n s t : 0 < eps -> 0 < n ->
  budget_tight eps n s t = eps * Num.max s t.
Proof.
move=> e0 n0; rewrite /budget_tight; case: leP => st.
  by rewrite ler0_norm ?subr_le0 //; field; rewrite (gt_eqF n0) (gt_eqF e0).
by rewrite gtr0_norm ?subr_gt0 //; field; rewrite (gt_eqF n0) (gt_eqF e0).
Qed.

End Budget.

(* The rational budgets are the real ones. *)
Lemma budget_composition_rat (R : realFieldType) (eps n : rat) :
  ratr (budget_composition eps n) = budget_composition (ratr eps) (ratr n) :> R.
Proof. by rewrite /budget_composition rmorphD !fmorph_div rmorphM !rmorph_nat. Qed.

Lemma budget_joint_rat (R : realFieldType) (eps n s t : rat) :
  ratr (budget_joint eps n s t) = budget_joint (ratr eps) (ratr n) (ratr s) (ratr t) :> R.
Proof.
rewrite /budget_joint rmorphD !fmorph_div rmorphD !rmorphM !rmorph_nat.
have -> (a : rat) : ratr_rmorphism R `|a| = `|ratr a| :> R by exact: ratr_norm.
by rewrite rmorphB.
Qed.

(* Two values: 7/10 and 1/2 of a unit budget. *)
Lemma budget_composition_value : budget_composition (1 : rat) 1 = 7%:R / 10%:R.
Proof. by rewrite budget_compositionE // mulr1. Qed.

Lemma budget_joint_value : budget_joint (1 : rat) 1 1 1 = 1 / 2%:R.
Proof. exact: budget_joint_attained. Qed.

(* ---------------------------------------------------------------------------- *)
(* The mechanism                                                                *)

Section Algorithm2.
Variables (R : realType) (n d : nat).
Hypothesis n_gt0 : (0 < n)%N.
Let nR : R := n%:R.
Let nR_gt0 : 0 < nR. Proof. by rewrite ltr0n. Qed.

(* Data sets of n records of the unit ball; neighbours differ in one record. *)
Definition adjacent (X Y : dataset R n d) :=
  [/\ Sensitivity.bounded X, Sensitivity.bounded Y & Sensitivity.neighbours X Y].

(* The query of step 2. *)
Definition twice_trace (X : dataset R n d) : R := 2%:R * \tr (covariance X).

Let sq (x : 'cV[R]_d) : R := Euclidean.dot x x.

(* One record moves both queries; the change is read off its squared lengths. *)
Lemma adjacent_change X Y : adjacent X Y -> exists s t, [/\ 0 <= s <= 1, 0 <= t <= 1,
    nuclear R d (covariance X - covariance Y) <= (s + t) / nR &
    `|twice_trace X - twice_trace Y| = 2%:R * `|s - t| / nR].
Proof.
case=> bX bY [i XY]; exists (sq (X i)), (sq (Y i)); split.
- by rewrite Euclidean.dot_ge0 -Euclidean.norm_le1 bX.
- by rewrite Euclidean.dot_ge0 -Euclidean.norm_le1 bY.
- rewrite (Sensitivity.covariance_gap XY) /= MatrixNorms.nuclear_normZ ?invr_ge0 ?ler0n //.
  rewrite RankTwo.nuclear_norm_gap mulrC ler_pmul2r ?invr_gt0 //.
  exact: RankTwo.spread_le.
have trB : \tr (covariance X - covariance Y) = \tr (covariance X) - \tr (covariance Y).
  by rewrite linearB.
rewrite /twice_trace -mulrBr -trB (Sensitivity.covariance_gap XY) mxtraceZ.
rewrite RankTwo.trace_gap !normrM normfV !normr_nat.
by rewrite mulrCA mulrC.
Qed.

(* Two losses that are bounded together. *)
Let loss_add (a a' b b' c g eps : R) : a' <= a + c -> b' <= b + g -> c + g <= eps ->
  - a + - b <= eps + (- a' + - b').
Proof.
move=> u v w.
have u' : 0 <= a + c - a' by rewrite subr_ge0.
have v' : 0 <= b + g - b' by rewrite subr_ge0.
have w' : 0 <= eps - (c + g) by rewrite subr_ge0.
rewrite -subr_ge0.
have -> : eps + (- a' + - b') - (- a + - b)
        = (a + c - a') + (b + g - b') + (eps - (c + g)) by ring.
exact: (addr_ge0 (addr_ge0 u' v') w').
Qed.

Let exp_loss (a a' b b' eps : R) : - a + - b <= eps + (- a' + - b') ->
  expR (- a) * expR (- b) <= expR eps * (expR (- a') * expR (- b')).
Proof. by move=> le; rewrite -!expRD ler_expR. Qed.

Let exp_loss1 (a a' eps : R) : a' <= a + eps -> expR (- a) <= expR eps * expR (- a').
Proof. by move=> le; rewrite -expRD ler_expR ler_subr_addl ler_subl_addl. Qed.

(* Steps 1 and 2 with given scales, and then step 3, any function of (A, r).  The
   two noises are drawn independently; the event S is about the final output. *)
Section Scales.
Variables (scale1 scale2 : R).
Hypotheses (scale1_gt0 : 0 < scale1) (scale2_gt0 : 0 < scale2).

(* The law of (S + Z, 2 tr S + L). *)
Definition noisy_pair (X : dataset R n d) : set ('M[R]_d * R) -> \bar R :=
  add_noise2 (matrices R d d) (line R) (norm_weight (nuclear R d) scale1_gt0)
    (laplace_weight scale2_gt0) (@covariance R n d) twice_trace X.

(* The law of post(max(0, 2 tr S + L), S + Z). *)
Definition nuclear_ball_mechanism (post : R * 'M[R]_d -> 'M[R]_d) (X : dataset R n d)
    (S : set 'M[R]_d) : \bar R :=
  noisy_pair X [set ar | S (post (Num.max 0 ar.2, ar.1))].

(* It is a probability law. *)
Lemma nuclear_ball_mechanism_total post X : nuclear_ball_mechanism post X setT = 1%E.
Proof.
pose w1 := norm_weight (nuclear R d) scale1_gt0; pose w2 := laplace_weight scale2_gt0.
pose k := constant_stage [the measurableType _ of 'M[R]_d]
  (law_total w2 : [the measure _ _ of law w2] setT = 1%E).
exact: (@two_stage_total R _ _ _ _ [the measure _ _ of law w1] k (law_total w1)).
Qed.

Lemma noisy_pair_dp (eps : R) :
  (forall s t, s <= 1 -> t <= 1 ->
     ((s + t) / nR) / scale1 + (2%:R * `|s - t| / nR) / scale2 <= eps) ->
  dp adjacent eps noisy_pair.
Proof.
move=> H; apply: add_noise2_dp; first exact: leb_sigma_finite.
move=> X Y XY A r /=; have [s [t [/andP[_ s1] /andP[_ t1] nuc tr]]] := adjacent_change XY.
rewrite /norm_density /exp_line; apply: exp_loss.
have tri1 : nuclear R d (A - covariance Y)
    <= nuclear R d (A - covariance X) + (s + t) / nR.
  rewrite (_ : A - covariance Y = (A - covariance X) + (covariance X - covariance Y)).
    by apply: le_trans (Norms.norm_triangle _ _ _) _; rewrite ler_add2l.
  by rewrite addrA subrK.
have tri2 : `|r - twice_trace Y| <= `|r - twice_trace X| + 2%:R * `|s - t| / nR.
  rewrite (_ : r - twice_trace Y = (r - twice_trace X) + (twice_trace X - twice_trace Y)).
    by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l tr.
  by rewrite addrA subrK.
apply: (loss_add _ _ (H s t s1 t1)).
  by rewrite -mulrDl ler_pmul2r ?invr_gt0.
by rewrite ![scale2^-1 * _]mulrC -mulrDl ler_pmul2r ?invr_gt0.
Qed.

(* The same two releases, composed: the second is run whatever the first has said. *)
Lemma noisy_pair_dp_composition (eps1 eps2 : R) :
  (2%:R / nR) / scale1 <= eps1 -> (2%:R / nR) / scale2 <= eps2 ->
  dp adjacent (eps1 + eps2) noisy_pair.
Proof.
move=> H1 H2.
pose P1 (X : dataset R n d) := [the measure _ _ of law (shift_weight (matrices R d d)
  (norm_weight (nuclear R d) scale1_gt0) (covariance X))].
pose P2 (X : dataset R n d) := [the measure _ _ of law (shift_weight (line R)
  (laplace_weight scale2_gt0) (twice_trace X))].
pose M2 (X : dataset R n d) := constant_stage [the measurableType _ of 'M[R]_d]
  (law_total _ : P2 X setT = 1%E).
have dp1 : dp adjacent eps1 (fun X => P1 X).
  move=> X Y XY; apply: law_ratio; first by rewrite !normalizer_shift.
  move=> A /=; have [s [t [/andP[_ s1] /andP[_ t1] nuc _]]] := adjacent_change XY.
  have tri : nuclear R d (A - covariance Y) <= nuclear R d (A - covariance X) + 2%:R / nR.
    rewrite (_ : A - covariance Y = (A - covariance X) + (covariance X - covariance Y)).
      apply: le_trans (Norms.norm_triangle _ _ _) _; rewrite ler_add2l.
      apply: le_trans nuc _; rewrite ler_pmul2r ?invr_gt0 //.
      by rewrite -[2%:R]/(1 + 1) ler_add.
    by rewrite addrA subrK.
  apply: exp_loss1.
  apply: le_trans (_ : (nuclear R d (A - covariance X) + 2%:R / nR) / scale1 <= _).
    by rewrite ler_pmul2r ?invr_gt0.
  by rewrite mulrDl ler_add2l.
have dp2 A : dp adjacent eps2 (fun X => M2 X A).
  move=> X Y XY; apply: law_ratio; first by rewrite !normalizer_shift.
  move=> r /=; have [s [t [/andP[s0 s1] /andP[t0 t1] _ tr]]] := adjacent_change XY.
  have st : `|s - t| <= 1.
    rewrite ler_norml; apply/andP; split.
      by rewrite ler_subr_addl; apply: (le_trans _ s0); rewrite subr_le0.
    by rewrite ler_subl_addl; apply: (le_trans s1); rewrite ler_addr.
  have tri : `|r - twice_trace Y| <= `|r - twice_trace X| + 2%:R / nR.
    rewrite (_ : r - twice_trace Y = (r - twice_trace X) + (twice_trace X - twice_trace Y)).
      apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l tr.
      by rewrite ler_pmul2r ?invr_gt0 // -[X in _ <= X]mulr1 ler_pmul2l ?ltr0n.
    by rewrite addrA subrK.
  apply: exp_loss1; rewrite ![scale2^-1 * _]mulrC.
  apply: le_trans (_ : (`|r - twice_trace X| + 2%:R / nR) / scale2 <= _).
    by rewrite ler_pmul2r ?invr_gt0.
  by rewrite mulrDl ler_add2l.
move=> X Y XY S mS; rewrite /noisy_pair !add_noise2_two_stage //.
exact: (adaptive_composition dp1 dp2 XY mS).
Qed.

(* Step 3 costs nothing. *)
Lemma nuclear_ball_mechanism_dp (eps : R) (post : R * 'M[R]_d -> 'M[R]_d) :
  measurable_fun setT post -> dp adjacent eps noisy_pair ->
  dp adjacent eps (nuclear_ball_mechanism post).
Proof.
move=> mpost H; pose h (ar : 'M[R]_d * R) := post (Num.max 0 ar.2, ar.1).
have mh : measurable_fun setT h.
  apply: (measurable_fun_comp mpost); apply/prod_measurable_funP; split.
    apply: measurable_fun_max; first exact: measurable_fun_cst.
    exact: measurable_fun_snd.
  exact: measurable_fun_fst.
exact: (postprocessing mh H).
Qed.

End Scales.

Variables (eps : R) (post : R * 'M[R]_d -> 'M[R]_d).
Hypotheses (eps_gt0 : 0 < eps) (measurable_post : measurable_fun setT post).

Lemma paper_scale_gt0 k : (0 < k)%N -> 0 < k%:R / (nR * eps).
Proof. by move=> k0; rewrite divr_gt0 ?mulr_gt0 ?ltr0n. Qed.

(* Algorithm 2 with the scales of the paper. *)
Definition algorithm2 : dataset R n d -> set 'M[R]_d -> \bar R :=
  nuclear_ball_mechanism (@paper_scale_gt0 4 isT) (@paper_scale_gt0 10 isT) post.

(* For every n >= 1, d, eps > 0, every measurable post, neighbours X, Y and every event E:
   algorithm2 X E <= e^(7/10 eps) algorithm2 Y E, by composition.  Being adjacent is symmetric,
   so the bound holds both ways.  Z is a full d x d matrix, not a symmetric one; post gets
   (r, A), and the algorithm of the paper is the case where it projects A on the nuclear ball
   of radius r. *)
(*@ DN25.Alg2-DP *)
Theorem algorithm2_dp : dp adjacent (7%:R / 10%:R * eps) algorithm2.
Proof.
rewrite -(budget_compositionE eps_gt0 nR_gt0).
apply: nuclear_ball_mechanism_dp => //; apply: noisy_pair_dp_composition => //.
rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
by rewrite (gt_eqF nR_gt0) (gt_eqF eps_gt0).
Qed.

(* By the joint density: eps/2. *)
(* The premises are n >= 1, eps > 0 and a measurable third step post. *)
(*@ DN25.Alg2-DP-JOINT *)
Theorem algorithm2_dp_joint : dp adjacent (eps / 2%:R) algorithm2.
Proof.
apply: nuclear_ball_mechanism_dp => //; apply: noisy_pair_dp => s t s1 t1.
exact: budget_joint_le.
Qed.

(* The scales 2/(n eps) and 4/(n eps): exactly what is claimed. *)
Definition algorithm2_tight : dataset R n d -> set 'M[R]_d -> \bar R :=
  nuclear_ball_mechanism (@paper_scale_gt0 2 isT) (@paper_scale_gt0 4 isT) post.

(* With noise of the tight scales: eps, the whole budget. The premises are n >= 1, eps > 0
   and a measurable third step post. *)
(*@ DN25.Alg2-TIGHT-DP *)
Theorem algorithm2_tight_dp : dp adjacent eps algorithm2_tight.
Proof.
apply: nuclear_ball_mechanism_dp => //; apply: noisy_pair_dp => s t s1 t1.
have := budget_tightE s t eps_gt0 nR_gt0; rewrite /budget_tight => ->.
rewrite -[X in _ <= X]mulr1 ler_pmul2l // le_maxl s1; exact: t1.
Qed.

End Algorithm2.
