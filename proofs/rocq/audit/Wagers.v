(* Claims of privacy between two laws, and bets against them.

   - `respects`: the law on one data set and that on another keep eps-DP (e stands for e^eps),
     (eps, delta)-DP or rho-zCDP.  zCDP is in the dual form of Zcdp.v.
   - `contradicts_valid`: when bounds on the probabilities of one event contradict a claim.
   - `event_inequality`, `renyi_inequality`, `kullback_leibler_inequality`: the inequalities
     E_P A - E_Q B <= c of the code's bets follow from the claims.
   - `bet_mean`: the factor of a bet on such an inequality has a mean of at most one, whatever
     the numbers of draws; so its inverse is a super-uniform p-value (`bet_valid`).
   - `stages_valid`: the gain over stages of draws ever reaches 1/t with probability at most t.

   Assumed: nothing. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp Require Import reals ereal signed topology normedtype sequences realfun exp.
From covassay Require Import ExponentialBounds PValues EventTests.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope ring_scope.

(* ---------------------------------------------------------------------------- *)
(* Claims                                                                       *)

Inductive claim (R : realType) :=
  | Pure (e : R)                 (* e = e^eps *)
  | Approximate (e delta : R)
  | Concentrated (rho : R).

Section Claims.
Variables (R : realType) (Y : Type).
Implicit Types (P Q : distribution R Y) (E : pred Y) (g : Y -> R).

Definition respects (c : claim R) P Q : Prop :=
  match c with
  | Pure e => 0 < e /\ forall E, pr P E <= e * pr Q E
  | Approximate e delta => 0 <= e /\ forall E, pr P E <= e * pr Q E + delta
  | Concentrated rho => forall (alpha : R) g, 1 < alpha ->
      mean Q (fun y => expR (alpha * g y)) <= 1 ->
      mean P (fun y => expR ((alpha - 1) * g y)) <= expR ((alpha - 1) * rho)
  end.

(* e^((alpha-1) D) for two coins, D their Renyi divergence of order alpha. *)
Definition coin_moment (alpha p q : R) : R :=
  p `^ alpha * q `^ (1 - alpha) + (1 - p) `^ alpha * (1 - q) `^ (1 - alpha).

(* No event may have a probability of at least p on one data set and at most q on the other. *)
Definition contradicts (c : claim R) (p q : R) : Prop :=
  match c with
  | Pure e => e * q < p
  | Approximate e delta => e * q + delta < p
  | Concentrated rho => [/\ 0 < q, q < p, p < 1 &
      exists2 alpha, 1 < alpha & expR ((alpha - 1) * alpha * rho) < coin_moment alpha p q]
  end.

Section Concentrated.
Variables (P Q : distribution R Y) (rho : R).
Hypothesis PQ : respects (Concentrated rho) P Q.

(* Young's inequality. *)
Lemma renyi_inequality (alpha : R) g : 1 < alpha ->
  alpha * mean P (fun y => expR ((alpha - 1) * g y)) -
  (alpha - 1) * mean Q (fun y => expR (alpha * g y)) <= expR ((alpha - 1) * alpha * rho).
Proof.
move=> a1; have b0 : 0 < alpha - 1 by rewrite subr_gt0.
have a0 : 0 < alpha by rewrite (lt_trans ltr01).
set S := mean Q _; have S0 : 0 < S by apply: mean_gt0 => y; exact: expR_gt0.
pose s := ln S / alpha; have eS : S = expR (alpha * s) by rewrite /s mulrCA divff ?mulr1 ?gt_eqF // lnK.
have Q1 : mean Q (fun y => expR (alpha * (g y - s))) <= 1.
  rewrite (@eq_mean _ _ _ _ (fun y => expR (- (alpha * s)) * expR (alpha * g y))); last first.
    by move=> y; rewrite mulrBr expRD mulrC.
  by rewrite mean_scale -/S eS -expRD addNr expR0.
have P1 : mean P (fun y => expR ((alpha - 1) * g y)) <= expR ((alpha - 1) * (s + rho)).
  rewrite (@eq_mean _ _ _ _ (fun y => expR ((alpha - 1) * s) * expR ((alpha - 1) * (g y - s)))).
    by rewrite mean_scale mulrDr expRD ler_pmul2l ?expR_gt0 //; exact: PQ.
  by move=> y; rewrite -expRD -mulrDr [s + _]addrC subrK.
set m := (alpha - 1) * (s + rho) in P1; rewrite ler_subl_addr eS.
apply: (@le_trans _ _ (alpha * expR m)); first by rewrite ler_pmul2l.
set x := (alpha - 1) * alpha * rho; set y := alpha * s.
apply: le_trans (ler_add (expR_tangent m x)
  (_ : (alpha - 1) * (expR m * (1 + (y - m))) <= (alpha - 1) * expR y)); last first.
  by rewrite ler_pmul2l // expR_tangent.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /x /y /m; ring.
Qed.

(* The limit of alpha = 1. *)
Lemma kullback_leibler_inequality g : 0 <= rho ->
  mean P g - mean Q (fun y => expR (g y)) <= rho - 1.
Proof.
move=> rho0; set S := mean Q _; have S0 : 0 < S by apply: mean_gt0 => y; exact: expR_gt0.
have H (alpha : R) : 1 < alpha -> mean P g - ln S <= alpha * rho.
  move=> a1; have b0 : 0 < alpha - 1 by rewrite subr_gt0.
  have a0 : 0 < alpha by rewrite (lt_trans ltr01).
  pose f y := (g y - ln S) / alpha.
  have Q1 : mean Q (fun y => expR (alpha * f y)) <= 1.
    rewrite (@eq_mean _ _ _ _ (fun y => expR (- ln S) * expR (g y))); last first.
      by move=> y; rewrite /f mulrCA divff ?gt_eqF // mulr1 expRD mulrC.
    by rewrite mean_scale -/S expRN lnK // mulVf ?gt_eqF.
  have {Q1}P1 := PQ a1 Q1; set m := (alpha - 1) * rho in P1.
  have : mean P (fun y => expR m * (1 + ((alpha - 1) * f y - m))) <= expR m.
    by apply: le_trans P1; apply: mean_mono => y; exact: expR_tangent.
  rewrite mean_scale ger_pmulr ?expR_gt0 // mean_add mean_add !mean_const mean_scale.
  rewrite -ler_subr_addl subrr subr_le0 ler_pmul2l // => {P1}.
  rewrite (@eq_mean _ _ _ _ (fun y => alpha^-1 * (g y + - ln S))); last by move=> y; rewrite /f mulrC.
  by rewrite mean_scale mean_add mean_const mulrC ler_pdivr_mulr // mulrC.
have lnS : ln S <= S - 1 by exact: ln_le.
have {}H : mean P g - ln S <= rho.
  apply/ler_addgt0Pr => d d0.
  have r1 : 0 < 1 + rho by rewrite ltr_paddr.
  apply: le_trans (H (1 + d / (1 + rho)) _) _; first by rewrite ltr_addl divr_gt0.
  rewrite mulrDl mul1r ler_add2l mulrAC ler_pdivr_mulr // ler_pmul2l // ler_addr.
  exact: ler01.
apply: (@le_trans _ _ (rho + (ln S - S))); first by rewrite addrA ler_add2r -ler_subl_addr.
by rewrite ler_add2l ler_subl_addr addrC.
Qed.

(* Two coins. *)
Lemma coin_valid (E : pred Y) (p q : R) : contradicts (Concentrated rho) p q ->
  p <= pr P E -> pr Q E <= q -> False.
Proof.
case=> q0 qp p1 [alpha a1 viol] pE qE.
have b0 : 0 < alpha - 1 by rewrite subr_gt0.
have a0 : 0 < alpha by rewrite (lt_trans ltr01).
have p0 : 0 < p by exact: lt_trans qp.
have p1' : 0 < 1 - p by rewrite subr_gt0.
have q1' : 0 < 1 - q by rewrite subr_gt0 (lt_trans qp).
pose g1 := ln p - ln q; pose g0 := ln (1 - p) - ln (1 - q).
have g01 : g0 <= g1.
  apply: (@le_trans _ _ 0); first by rewrite /g0 subr_le0 ler_ln ?posrE // ler_add2l ler_opp2 ltW.
  by rewrite /g1 subr_ge0 ler_ln ?posrE // ltW.
pose g y := if E y then g1 else g0.
have lin (D : distribution R Y) (c : R) : mean D (fun y => expR (c * g y)) =
    expR (c * g0) + (expR (c * g1) - expR (c * g0)) * pr D E.
  rewrite /pr -mean_scale -[X in _ = X + _](mean_const D) -mean_add; apply: eq_mean => y.
  by rewrite /g; case: (E y); rewrite ?mulr1 ?mulr0 ?addr0 // addrC subrK.
have := renyi_inequality g a1; rewrite leNgt => /negP; apply.
apply: lt_le_trans viol _; rewrite !lin.
have up (c : R) : 0 < c -> 0 <= expR (c * g1) - expR (c * g0).
  by move=> c0; rewrite subr_ge0 ler_expR ler_pmul2l.
apply: (@le_trans _ _ (alpha * (expR ((alpha - 1) * g0) +
    (expR ((alpha - 1) * g1) - expR ((alpha - 1) * g0)) * p) - (alpha - 1) *
    (expR (alpha * g0) + (expR (alpha * g1) - expR (alpha * g0)) * q))); last first.
  apply: ler_add; first by rewrite ler_pmul2l // ler_add2l ler_wpmul2l // up.
  by rewrite ler_opp2 ler_pmul2l // ler_add2l ler_wpmul2l // up.
have M1 : p * expR ((alpha - 1) * g1) = p `^ alpha * q `^ (1 - alpha).
  by rewrite -[X in X * _](lnK (p0 : p \is Num.pos)) /exp_fun -!expRD; congr expR; rewrite /g1; ring.
have M1' : q * expR (alpha * g1) = p `^ alpha * q `^ (1 - alpha).
  by rewrite -[X in X * _](lnK (q0 : q \is Num.pos)) /exp_fun -!expRD; congr expR; rewrite /g1; ring.
have M0 : (1 - p) * expR ((alpha - 1) * g0) = (1 - p) `^ alpha * (1 - q) `^ (1 - alpha).
  by rewrite -[X in X * _](lnK (p1' : 1 - p \is Num.pos)) /exp_fun -!expRD; congr expR; rewrite /g0; ring.
have M0' : (1 - q) * expR (alpha * g0) = (1 - p) `^ alpha * (1 - q) `^ (1 - alpha).
  by rewrite -[X in X * _](lnK (q1' : 1 - q \is Num.pos)) /exp_fun -!expRD; congr expR; rewrite /g0; ring.
rewrite le_eqVlt; apply/orP; left; apply/eqP.
transitivity (alpha * (p * expR ((alpha - 1) * g1) + (1 - p) * expR ((alpha - 1) * g0)) -
  (alpha - 1) * (q * expR (alpha * g1) + (1 - q) * expR (alpha * g0))).
  rewrite M1 M0 M1' M0' -/(coin_moment alpha p q); set M := coin_moment _ _ _.
  by rewrite -mulrBl opprB addrC subrK mul1r.
ring.
Qed.

End Concentrated.

Lemma contradicts_valid c P Q (E : pred Y) (p q : R) : respects c P Q -> contradicts c p q ->
  pr P E < p \/ q < pr Q E.
Proof.
move=> keeps viol; have [pE|] := ltrP (pr P E) p; first by left.
have [qE|qE] := ltrP q (pr Q E); first by right.
move=> pE; exfalso; case: c keeps viol => [e|e delta|rho] /=.
- case=> e0 H; rewrite ltNge => /negP; apply; apply: le_trans pE _; apply: le_trans (H E) _.
  by rewrite ler_pmul2l.
- case=> e0 H; rewrite ltNge => /negP; apply; apply: le_trans pE _; apply: le_trans (H E) _.
  by rewrite ler_add2r ler_wpmul2l.
by move=> H viol; exact: (coin_valid H viol pE qE).
Qed.

(* Functions A, B and a number k with E_P A - E_Q B <= k under a claim. *)
Definition inequality (c : claim R) (A B : Y -> R) (k : R) :=
  forall P Q, respects c P Q -> mean P A - mean Q B <= k.

Lemma event_inequality e delta (E : pred Y) :
  inequality (Approximate e delta) (fun y => (E y)%:R) (fun y => e * (E y)%:R) delta.
Proof. by move=> P Q [_ H]; rewrite mean_scale ler_subl_addl; exact: H. Qed.

Lemma pure_event_inequality e (E : pred Y) :
  inequality (Pure e) (fun y => (E y)%:R) (fun y => e * (E y)%:R) 0.
Proof. by move=> P Q [_ H]; rewrite mean_scale ler_subl_addl addr0; exact: H. Qed.

End Claims.

(* ---------------------------------------------------------------------------- *)
(* Bets                                                                         *)

(* A bet multiplies the stake by 1 + lambda (A(y) - u) for each of n draws y on the first data
   set, and by 1 + lambda n/n' (u - k - B(y')) for each of n' draws y' on the second.  lambda may
   depend on n and n'.  No factor may be negative. *)
Record bet (R : realType) (Y : Type) := Bet {
  first_gain : Y -> R; second_gain : Y -> R; bound : R; centre : R;
  stake : nat -> nat -> R;
  stake_ge0 : forall n n', 0 <= stake n n';
  first_factor_ge0 : forall n n' y, 0 <= 1 + stake n n' * (first_gain y - centre);
  second_factor_ge0 : forall n n' y,
    0 <= 1 + stake n n' * n%:R / n'%:R * (centre - bound - second_gain y) }.

Section Bets.
Variables (R : realType) (Y : Type) (w : bet R Y) (P Q : distribution R Y).
Hypothesis PQ : mean P (first_gain w) - mean Q (second_gain w) <= bound w.

Definition factor (s t : seq Y) : R :=
  let n := size s in let n' := size t in
  if (n == 0%N) || (n' == 0%N) then 1 else
  \prod_(y <- s) (1 + stake w n n' * (first_gain w y - centre w)) *
  \prod_(y <- t) (1 + stake w n n' * n%:R / n'%:R * (centre w - bound w - second_gain w y)).

Lemma factor_ge0 s t : 0 <= factor s t.
Proof.
rewrite /factor; case: ifP => _; first exact: ler01.
by rewrite mulr_ge0 // prodr_ge0 // => y _; [exact: first_factor_ge0|exact: second_factor_ge0].
Qed.

Theorem bet_mean n n' : mean (draws P n) (fun s => mean (draws Q n') (factor s)) <= 1.
Proof.
have [z|] := boolP ((n == 0%N) || (n' == 0%N)).
  rewrite (@eq_draws _ _ _ _ _ (fun=> 1)) ?mean_const // => s sn.
  rewrite (@eq_draws _ _ _ _ _ (fun=> 1)) ?mean_const // => t tn.
  by rewrite /factor sn tn z.
rewrite negb_or -!lt0n => /andP[n0 n0'].
set l := stake w n n'; set l' := l * n%:R / n'%:R.
pose a := mean P (fun y => 1 + l * (first_gain w y - centre w)).
pose b := mean Q (fun y => 1 + l' * (centre w - bound w - second_gain w y)).
have -> : mean (draws P n) (fun s => mean (draws Q n') (factor s)) = a ^+ n * b ^+ n'.
  rewrite -draws_prod -draws_prod mulrC -mean_scale; apply: eq_draws => s sn.
  rewrite mulrC -mean_scale; apply: eq_draws => t tn.
  by rewrite /factor sn tn !gtn_eqF.
have a0 : 0 <= a by apply: mean_ge0 => y; exact: first_factor_ge0.
have b0 : 0 <= b by apply: mean_ge0 => y; exact: second_factor_ge0.
have := PQ; set A := mean P (first_gain w); set B := mean Q (second_gain w) => AB.
have aE : a = 1 + l * (A - centre w).
  by rewrite /a mean_add mean_const mean_scale mean_add mean_const.
have bE : b = 1 + l' * (centre w - bound w - B).
  rewrite /b mean_add mean_const mean_scale mean_add mean_const; congr (1 + l' * (_ + _)).
  rewrite (@eq_mean _ _ _ _ (fun y => (-1) * second_gain w y)) ?mean_scale ?mulN1r //.
  by move=> y; rewrite mulN1r.
have le1 : a ^+ n <= expR (n%:R * (l * (A - centre w))).
  by rewrite expRMm ler_expn2r ?nnegrE ?(ltW (expR_gt0 _)) // aE expR_ge1D.
have le2 : b ^+ n' <= expR (n'%:R * (l' * (centre w - bound w - B))).
  by rewrite expRMm ler_expn2r ?nnegrE ?(ltW (expR_gt0 _)) // bE expR_ge1D.
apply: le_trans (ler_pmul _ _ le1 le2) _; rewrite ?exprn_ge0 // -expRD -[X in _ <= X]expR0 ler_expR.
have nz : n'%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have -> : n%:R * (l * (A - centre w)) + n'%:R * (l' * (centre w - bound w - B)) =
    n%:R * l * (A - B - bound w) by rewrite /l'; field.
by rewrite mulr_ge0_le0 ?mulr_ge0 ?ler0n ?stake_ge0 // subr_le0.
Qed.

Theorem bet_valid W (p : seq Y * seq Y -> R) :
  (forall b, 1 <= p b \/ 1 <= p b * factor b.1 b.2) -> super_uniform (trial W P Q) p.
Proof.
move=> gain; apply: super_uniform_below1 => t t0 t1.
apply: (@le_trans _ _ (mean (trial W P Q) (fun b => t * factor b.1 b.2))).
  apply: mean_mono => b; case: (lerP (p b) t) => small /=; last by rewrite mulr_ge0 // factor_ge0.
  case: (gain b) => [p1|le]; first by have := lt_le_trans (le_lt_trans small t1) p1; rewrite ltxx.
  by apply: le_trans le _; rewrite ler_wpmul2r // factor_ge0.
rewrite mean_scale -[X in _ <= X]mulr1 ler_wpmul2l //; apply: trial_le => n n'.
exact: bet_mean.
Qed.

(* Whether the gain, which is g so far, gets to `bar` at the start or after one of the stages. *)
Fixpoint reaches (bar g : R) (stages : seq (nat * nat)) (s t : seq Y) : bool :=
  (bar <= g) || if stages is n :: rest then
    reaches bar (g * factor (take n.1 s) (take n.2 t)) rest (drop n.1 s) (drop n.2 t) else false.

Lemma reaches_le bar bar' g stages s t : bar <= bar' ->
  reaches bar' g stages s t -> reaches bar g stages s t.
Proof.
move=> le; elim: stages g s t => [|n r IH] g s t /=; first by rewrite !orbF; exact: le_trans.
by case/orP=> [/(le_trans le) -> //|/IH ->]; rewrite orbT.
Qed.

Definition total (stages : seq (nat * nat)) : nat * nat :=
  (sumn (map fst stages), sumn (map snd stages)).

(* Ville's inequality. *)
Lemma reaches_mean bar g stages : 0 <= bar -> 0 <= g ->
  bar * mean (draws P (total stages).1) (fun s => mean (draws Q (total stages).2) (fun t =>
    (reaches bar g stages s t)%:R)) <= g.
Proof.
move=> bar0; elim: stages g => [|n r IH] g g0.
  by rewrite !mean_draws0 /= orbF; case: (lerP bar g) => le /=; rewrite ?mulr1 ?mulr0.
have [le|gt] := lerP bar g.
  apply: le_trans le; rewrite -[X in _ <= X]mulr1 ler_wpmul2l //.
  by rewrite -[X in _ <= X](mean_const (draws P (total (n :: r)).1)) mean_mono // => s; exact: pr_le1.
rewrite /total /= draws_cat -mean_scale.
apply: (@le_trans _ _ (mean (draws P n.1) (fun s1 => mean (draws Q n.2) (fun t1 => g * factor s1 t1)))).
  apply: draws_mono => s1 s1n.
  apply: (@le_trans _ _ (mean (draws Q n.2) (fun t1 => bar *
      mean (draws P (total r).1) (fun s2 => mean (draws Q (total r).2) (fun t2 =>
        (reaches bar (g * factor s1 t1) r s2 t2)%:R))))); last first.
    by apply: mean_mono => t1; apply: IH; rewrite mulr_ge0 ?factor_ge0.
  rewrite mean_scale ler_wpmul2l // [X in _ <= X]fubini; apply: mean_mono => s2.
  rewrite draws_cat; apply: draws_mono => t1 t1n; apply: mean_mono => t2.
  by rewrite /= (lt_geF gt) /= !take_size_cat ?drop_size_cat.
rewrite (@eq_mean _ _ _ _ (fun s1 => g * mean (draws Q n.2) (factor s1))).
  by rewrite mean_scale -[X in _ <= X]mulr1 ler_wpmul2l // bet_mean.
by move=> s1; rewrite mean_scale.
Qed.

(* The stages of n and n' draws. *)
Definition schedule_of (stages : nat * nat -> seq (nat * nat)) := forall n, total (stages n) = n.

Definition reached_by (stages : nat * nat -> seq (nat * nat)) (bar : R) (b : seq Y * seq Y) :=
  reaches bar 1 (stages (size b.1, size b.2)) b.1 b.2.

Theorem stages_valid W stages (t : R) : schedule_of stages -> 0 < t ->
  pr (trial W P Q) (reached_by stages t^-1) <= t.
Proof.
move=> all_draws t0; apply: trial_le => n n'.
have := @reaches_mean t^-1 1 (stages (n, n')); rewrite all_draws /= => H.
have {H} := H (ltW _) ler01; rewrite invr_gt0 => /(_ t0).
rewrite mulrC ler_pdivr_mulr // mul1r => H; apply: le_trans H.
apply: draws_mono => s sn; apply: draws_mono => u un.
by rewrite /reached_by /= sn un.
Qed.

End Bets.
