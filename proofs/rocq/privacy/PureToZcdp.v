(* From pure to zero-concentrated privacy and on to approximate privacy, for laws on
   a finite set.

   - eps-DP implies (eps^2/2)-zCDP, for every real order alpha > 1.  The pair of laws
     with the largest Renyi moment is randomised response.
   - rho-zCDP bounds the Kullback-Leibler divergence by rho.
   - rho-zCDP implies (eps, delta)-DP with delta = e^(-(eps - rho)^2/(4 rho)) for every
     eps > rho, that is, with eps = rho + 2 sqrt (rho ln (1/delta)).

   zcdp_close is defined, and composes, in FiniteDP.  Assumed: nothing.  Not said:
   outputs of probability zero (the laws are positive). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp Require Import reals ereal signed topology normedtype sequences realfun exp.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import FiniteDP ExponentialBounds.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope ring_scope.

Section Finite.
Variables (R : realType) (Y : finType).
Implicit Types (P Q : Y -> R) (alpha eps rho delta : R).

(* eps-DP for a pair of laws, both ways. *)
Definition dp_close eps P Q := forall S : pred Y,
  (\sum_(y | S y) P y <= expR eps * (\sum_(y | S y) Q y)) /\
  (\sum_(y | S y) Q y <= expR eps * (\sum_(y | S y) P y)).

Lemma dp_close_pointwise eps P Q y : dp_close eps P Q ->
  P y <= expR eps * Q y /\ Q y <= expR eps * P y.
Proof. by move/(_ (pred1 y)); rewrite !big_pred1_eq. Qed.

(* P^alpha Q^(1-alpha) = Q (P/Q)^alpha *)
Lemma renyi_term alpha (p q : R) : 0 < p -> 0 < q ->
  p `^ alpha * q `^ (1 - alpha) = q * (p / q) `^ alpha.
Proof.
move=> p0 q0; have qV : 0 < q^-1 by rewrite invr_gt0.
rewrite powerM // mulrCA exp_funD // exp_funr1 //; congr (_ * (_ * _)).
by rewrite /exp_fun lnV ?posrE // mulrN mulNr.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The extremal pair                                                            *)

Lemma randomised_response_moment alpha eps :
  renyi_moment alpha (randomised_response eps true) (randomised_response eps false)
  = (expR (alpha * eps) + expR ((1 - alpha) * eps)) / (1 + expR eps).
Proof.
have d0 : 0 < 1 + expR eps := rr_denominator_gt0 eps.
have e0 : 0 < expR eps by apply: expR_gt0.
have d1 : (1 + expR eps) != 0 by rewrite gt_eqF.
have e1 : expR eps != 0 by rewrite gt_eqF.
have p0 : 0 < expR eps / (1 + expR eps) by rewrite divr_gt0.
have q0 : 0 < 1 / (1 + expR eps) by rewrite divr_gt0.
pose p := expR eps / (1 + expR eps); pose q := 1 / (1 + expR eps).
transitivity (p `^ alpha * q `^ (1 - alpha) + q `^ alpha * p `^ (1 - alpha)).
  by rewrite /renyi_moment big_bool.
rewrite (renyi_term alpha p0 q0) (renyi_term alpha q0 p0).
have -> : expR eps / (1 + expR eps) / (1 / (1 + expR eps)) = expR eps by field; rewrite d1.
have -> : 1 / (1 + expR eps) / (expR eps / (1 + expR eps)) = expR (- eps).
  by rewrite expRN; field; rewrite e1 d1.
have -> : expR ((1 - alpha) * eps) = expR eps * expR (- (alpha * eps)).
  by rewrite mulrBl mul1r expRD.
rewrite /exp_fun !expK mulrN.
by move: (expR (alpha * eps)) (expR (- (alpha * eps))) => u v; field.
Qed.

(*@ RANDOMISED-RESPONSE-EXTREMAL *)
Theorem randomised_response_extremal alpha eps P Q :
  1 <= alpha -> 0 < eps -> positive_law P -> positive_law Q -> dp_close eps P Q ->
  renyi_moment alpha P Q
  <= renyi_moment alpha (randomised_response eps true) (randomised_response eps false).
Proof.
move=> a1 e0 [P0 P1] [Q0 Q1] PQ; rewrite randomised_response_moment.
pose b := expR eps; pose a := expR (- eps).
have b1 : 1 < b by rewrite /b expR_gt1.
have b0 : 0 < b by apply: expR_gt0.
have a0 : 0 < a by apply: expR_gt0.
have aE : a = b^-1 by rewrite /a expRN.
have ab : 0 < b - a by rewrite subr_gt0 /a /b ltr_expR -subr_gt0 opprK addr_gt0.
(* every ratio lies between a and b *)
have ratio y : a <= P y / Q y <= b.
  have [PbQ QbP] := dp_close_pointwise y PQ.
  by rewrite ler_pdivl_mulr // ler_pdivr_mulr // PbQ aE mulrC ler_pdivr_mulr // mulrC QbP.
rewrite ler_pdivl_mulr ?rr_denominator_gt0 // -/b.
have chord : (b - a) * renyi_moment alpha P Q <= (b - 1) * a `^ alpha + (1 - a) * b `^ alpha.
  rewrite /renyi_moment mulr_sumr.
  apply: (@le_trans _ _ (\sum_y ((b * Q y - P y) * a `^ alpha + (P y - a * Q y) * b `^ alpha))).
    apply: ler_sum => y _; rewrite renyi_term // mulrCA.
    have /andP[lo up] := ratio y.
    apply: le_trans (ler_wpmul2l (ltW (Q0 y)) (power_chord a1 a0 lo up)) _.
    rewrite le_eqVlt; apply/orP/or_introl/eqP.
    have := Q0 y; move: (a `^ alpha) (b `^ alpha) (P y) (Q y) => u v p q q0.
    by field; rewrite gt_eqF.
  by rewrite big_split /= -!mulr_suml !sumrB -!mulr_sumr P1 Q1 !mulr1.
have aP : a `^ alpha = expR (- (alpha * eps)) by rewrite /exp_fun expK mulrN.
have bP : b `^ alpha = expR (alpha * eps) by rewrite /exp_fun expK.
have split : expR ((1 - alpha) * eps) = b * expR (- (alpha * eps)).
  by rewrite -expRD mulrBl mul1r.
have b10 : 0 < (b - 1) / b by rewrite divr_gt0 // subr_gt0.
rewrite -(ler_pmul2l b10) split -aP -bP.
apply: le_trans (le_trans chord _); rewrite le_eqVlt; apply/orP/or_introl/eqP.
  by rewrite aE; field; rewrite gt_eqF.
by rewrite aE; move: (a `^ alpha) (b `^ alpha) => u v; field; rewrite gt_eqF.
Qed.

(* Its moment is at most e^(alpha (alpha - 1) eps^2/2). *)
Lemma randomised_response_moment_le alpha eps : 1 <= alpha -> 0 <= eps ->
  renyi_moment alpha (randomised_response eps true) (randomised_response eps false)
  <= expR ((alpha - 1) * alpha * (eps ^+ 2 / 2%:R)).
Proof.
move=> a1 e0; rewrite randomised_response_moment ler_pdivr_mulr ?rr_denominator_gt0 //.
pose x := eps / 2%:R; pose y := (alpha - 1 / 2%:R) * eps.
have x0 : 0 <= x by rewrite divr_ge0.
have xy : x <= y.
  rewrite /x /y mulrC ler_wpmul2r // ler_subr_addr.
  by apply: le_trans a1; rewrite le_eqVlt; apply/orP/or_introl/eqP; field.
have := ler_wpmul2l (ltW (expR_gt0 x)) (cosh_growth x0 xy).
have -> : expR x * twice_cosh y = expR (alpha * eps) + expR ((1 - alpha) * eps).
  rewrite /twice_cosh mulrDr -!expRD.
  by congr (expR _ + expR _); rewrite /x /y; field.
have -> c : expR x * (twice_cosh x * c) = c * (1 + expR eps).
  have -> : expR x * (twice_cosh x * c) = c * (expR x * expR (- x) + expR x * expR x).
    by rewrite /twice_cosh; move: (expR x) (expR (- x)) => u v; ring.
  by rewrite -!expRD subrr expR0 /x; congr (_ * (_ + expR _)); field.
have -> // : (y ^+ 2 - x ^+ 2) / 2%:R = (alpha - 1) * alpha * (eps ^+ 2 / 2%:R).
by rewrite /x /y; field.
Qed.

(*@ PURE-ZCDP *)
Theorem pure_dp_zcdp eps P Q :
  0 < eps -> positive_law P -> positive_law Q -> dp_close eps P Q ->
  zcdp_close (eps ^+ 2 / 2%:R) P Q.
Proof.
move=> e0 PP QP PQ alpha /ltW a1.
apply: le_trans (randomised_response_extremal a1 e0 PP QP PQ) _.
by apply: randomised_response_moment_le => //; apply: ltW.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The Kullback-Leibler divergence                                              *)

Definition kullback_leibler P Q : R := \sum_y P y * ln (P y / Q y).

(* Jensen's inequality: (alpha - 1) KL <= ln of the moment of order alpha *)
Lemma kullback_leibler_moment alpha P Q : positive_law P -> positive_law Q ->
  expR ((alpha - 1) * kullback_leibler P Q) <= renyi_moment alpha P Q.
Proof.
move=> [P0 P1] [Q0 Q1]; set m := (alpha - 1) * _.
have term y : P y `^ alpha * Q y `^ (1 - alpha) = P y * expR ((alpha - 1) * ln (P y / Q y)).
  have Pa : P y `^ alpha = P y * P y `^ (alpha - 1).
    by rewrite -{2}(exp_funr1 (P0 y)) -exp_funD // addrC subrK.
  rewrite Pa -mulrA; congr (_ * _); rewrite ln_div ?posrE // mulrBr expRD /exp_fun.
  by rewrite -mulNr opprB.
rewrite /renyi_moment (eq_bigr _ (fun y _ => term y)).
pose tangent y := expR m * (1 + ((alpha - 1) * ln (P y / Q y) - m)).
apply: (@le_trans _ _ (\sum_y P y * tangent y)); last first.
  by apply: ler_sum => y _; rewrite ler_pmul2l //; apply: expR_tangent.
rewrite le_eqVlt; apply/orP/or_introl/eqP.
rewrite [RHS](eq_bigr (fun y => expR m * (1 - m) * P y
    + expR m * (alpha - 1) * (P y * ln (P y / Q y)))); last first.
  by move=> y _; rewrite /tangent; move: (P y) (ln _) (expR m) => p l e; ring.
rewrite big_split /= -!mulr_sumr P1 mulr1 -/(kullback_leibler P Q) -mulrA -/m.
by clear tangent; move: m (expR m) => m' e; ring.
Qed.

(*@ ZCDP-KL *)
Theorem zcdp_kullback_leibler rho P Q : positive_law P -> positive_law Q ->
  zcdp_close rho P Q -> kullback_leibler P Q <= rho.
Proof.
move=> PP QP PQ; have le alpha : 1 < alpha -> kullback_leibler P Q <= alpha * rho.
  move=> a1; have := le_trans (kullback_leibler_moment alpha PP QP) (PQ alpha a1).
  by rewrite ler_expR -mulrA ler_pmul2l // subr_gt0.
have [r0|r0] := leP rho 0.
  have := le 2%:R; rewrite ltr1n => /(_ isT) h; apply: le_trans h _.
  by rewrite mulr_natl mulr2n ger_addl.
rewrite leNgt; apply/negP => lt.
have a1 : 1 < (1 + kullback_leibler P Q / rho) / 2%:R.
  rewrite ltr_pdivl_mulr ?ltr0n // mul1r -[2%:R]/(1 + 1) ltr_add2l.
  by rewrite ltr_pdivl_mulr // mul1r.
have := le _ a1; apply/negP; rewrite -ltNge.
have -> : (1 + kullback_leibler P Q / rho) / 2%:R * rho = (rho + kullback_leibler P Q) / 2%:R.
  by field; rewrite gt_eqF.
rewrite ltr_pdivr_mulr ?ltr0n // mulr_natr mulr2n ltr_add2r.
exact: lt.
Qed.

(* ---------------------------------------------------------------------------- *)
(* Approximate privacy                                                          *)

(* Markov's inequality for one output: p <= e^eps q + e^(-(alpha-1) eps) p^alpha q^(1-alpha) *)
Lemma privacy_loss_split alpha eps (p q : R) : 1 < alpha -> 0 < p -> 0 < q ->
  p <= expR eps * q + expR (- ((alpha - 1) * eps)) * (p `^ alpha * q `^ (1 - alpha)).
Proof.
move=> a1 p0 q0; have m0 : 0 <= expR (- ((alpha - 1) * eps)) * (p `^ alpha * q `^ (1 - alpha)).
  by rewrite !mulr_ge0 // ltW // ?expR_gt0 // exp_fun_gt0.
have [le|lt] := leP p (expR eps * q); first by apply: le_trans le _; rewrite ler_addl.
apply: (@le_trans _ _ (expR (- ((alpha - 1) * eps)) * (p `^ alpha * q `^ (1 - alpha)))); last first.
  by rewrite ler_addr mulr_ge0 // ltW // expR_gt0.
have pq : eps + ln q < ln p.
  by rewrite -ltr_expR expRD !lnK ?posrE.
rewrite /exp_fun -!expRD -{1}[p]lnK ?posrE // ler_expR -subr_ge0.
have -> : - ((alpha - 1) * eps) + (alpha * ln p + (1 - alpha) * ln q) - ln p
        = (alpha - 1) * (ln p - (eps + ln q)) by ring.
by rewrite mulr_ge0 // subr_ge0 ltW.
Qed.

(* One order alpha at a time. *)
Lemma zcdp_tail alpha rho eps P Q (S : pred Y) :
  1 < alpha -> positive_law P -> positive_law Q -> zcdp_close rho P Q ->
  \sum_(y | S y) P y
  <= expR eps * (\sum_(y | S y) Q y) + expR ((alpha - 1) * (alpha * rho - eps)).
Proof.
move=> a1 [P0 _] [Q0 _] PQ.
apply: le_trans (ler_sum _ (fun y _ => privacy_loss_split eps a1 (P0 y) (Q0 y))) _.
rewrite big_split /= -!mulr_sumr ler_add2l.
have -> : (alpha - 1) * (alpha * rho - eps)
        = - ((alpha - 1) * eps) + (alpha - 1) * alpha * rho by ring.
rewrite expRD ler_pmul2l ?expR_gt0 //; apply: le_trans (PQ alpha a1).
rewrite /renyi_moment [X in _ <= X](bigID S) /= ler_addl sumr_ge0 // => y _.
by rewrite mulr_ge0 // ltW // exp_fun_gt0.
Qed.

(* The best order. *)
Lemma best_order rho eps : 0 < rho -> rho < eps -> exists2 alpha, 1 < alpha &
  (alpha - 1) * (alpha * rho - eps) = - ((eps - rho) ^+ 2 / (4%:R * rho)).
Proof.
move=> r0 re; exists ((eps + rho) / (2%:R * rho)); last by field; rewrite gt_eqF.
by rewrite ltr_pdivl_mulr ?mulr_gt0 ?ltr0n // mul1r mulr_natl mulr2n ltr_add2r.
Qed.

(*@ ZCDP-APPROXIMATE *)
Theorem zcdp_approximate_dp rho eps P Q (S : pred Y) :
  0 < rho -> rho < eps -> positive_law P -> positive_law Q -> zcdp_close rho P Q ->
  \sum_(y | S y) P y
  <= expR eps * (\sum_(y | S y) Q y) + expR (- ((eps - rho) ^+ 2 / (4%:R * rho))).
Proof.
move=> r0 re PP QP PQ; have [alpha a1 <-] := best_order r0 re.
exact: zcdp_tail.
Qed.

(* The usual form: delta is given, and eps = rho + 2 sqrt (rho ln (1/delta)). *)
(*@ ZCDP-APPROXIMATE-DELTA *)
Theorem zcdp_approximate_dp_delta rho delta P Q (S : pred Y) :
  0 < rho -> 0 < delta -> delta < 1 -> positive_law P -> positive_law Q -> zcdp_close rho P Q ->
  \sum_(y | S y) P y
  <= expR (rho + 2%:R * Num.sqrt (rho * ln delta^-1)) * (\sum_(y | S y) Q y) + delta.
Proof.
move=> r0 d0 d1 PP QP PQ; set r := Num.sqrt _.
have l0 : 0 < ln delta^-1 by rewrite ln_gt0 // invf_gt1.
have s0 : 0 < r by rewrite sqrtr_gt0 mulr_gt0.
have re : rho < rho + 2%:R * r by rewrite ltr_addl mulr_gt0 ?ltr0n.
have := zcdp_approximate_dp S r0 re PP QP PQ.
have -> // : expR (- ((rho + 2%:R * r - rho) ^+ 2 / (4%:R * rho))) = delta.
have r2 : r ^+ 2 = rho * ln delta^-1 by rewrite sqr_sqrtr // ltW // mulr_gt0.
have -> : (rho + 2%:R * r - rho) ^+ 2 / (4%:R * rho) = r ^+ 2 / rho by field; rewrite gt_eqF.
by rewrite r2 mulrAC divff ?gt_eqF // mul1r lnV ?posrE // opprK lnK.
Qed.

End Finite.

(* The premises can be met: randomised response is eps-DP in this sense. *)
Lemma randomised_response_dp_close (R : realType) (eps : R) : 0 <= eps ->
  dp_close eps (randomised_response eps true) (randomised_response eps false).
Proof. by move=> e0 S; split; apply: randomised_response_dp. Qed.

Lemma randomised_response_zcdp (R : realType) (eps : R) : 0 < eps ->
  zcdp_close (eps ^+ 2 / 2%:R) (randomised_response eps true) (randomised_response eps false).
Proof.
move=> e0; apply: pure_dp_zcdp => //; try exact: randomised_response_law.
by apply: randomised_response_dp_close; apply: ltW.
Qed.
