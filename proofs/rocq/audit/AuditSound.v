(* The audit says REFUTED of a target that keeps its claim with at most the probability that
   its error budget has given out.

   A target is a law of its outputs for every data set; failures and time-outs are outputs.  It
   keeps its claim if neighbours' laws respect the guarantee (Wagers.v), and if what is promised
   of the law on single data sets holds.

   The audit makes trials one after another: in each it draws on two data sets, and it chooses
   data sets, numbers of draws and tests by all that it has drawn before (`plan`).  So a pilot
   may choose an event, a first look a second one, and one question what the next one asks.
   The numbers of draws may be random.  The rules of `lawful` say which p-values a trial may give.

   A question has a share of the false-alarm probability and a family of hypotheses, both
   fixed before the first draw.  Each look at it has a part of the share.  A hypothesis may be tested
   in several trials; the weights of its tests add up to at most one on every path, a p-value is
   divided by its weight, and a hypothesis that is never tested has the p-value 1.  Holm's
   procedure decides the family of each look at its part of the share.

   Assumed: one premise of the theorem, which is taken from the literature: the p-values `cited`, of
   one trial, and `pooled`, of several trials together, are super-uniform. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From mathcomp Require Import reals.
From covassay Require Import PValues EventTests Wagers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Lawful.
Variables (R : realType) (X Y : Type).
Local Notation sizes := (distribution R (nat * nat)).
Local Notation outcome := (seq Y * seq Y)%type.

(* What a target promises. *)
Record promises := Promises {
  guarantee : claim R;
  neighbours : X -> X -> Prop;
  at_most : X -> pred Y -> R -> Prop }. (* the event has at most this probability on this data set *)

Definition keeps (c : promises) (target : X -> distribution R Y) : Prop :=
  (forall x x', neighbours c x x' -> respects (guarantee c) (target x) (target x')) /\
  (forall x E th, at_most c x E th -> pr (target x) E <= th).

(* A relation of the p-values that rest on the literature. *)
Definition citations := X -> X -> sizes -> (outcome -> R) -> Prop.

Variables (c : promises) (cited : citations).

(* The p-values that a trial may give; a larger number may take the place of a p-value. *)
Inductive lawful : X -> X -> sizes -> (outcome -> R) -> Prop :=
  | Binomial x x' W E th p : at_most c x E th -> th <= 1 ->
      (forall b, tail th (size b.1) (count E b.1) <= p b) -> lawful x x' W p
  | Ratio x x' W E e p : neighbours c x x' -> guarantee c = Pure e -> fair W ->
      (forall b, ratio_p e (count E b.1) (count E b.2) <= p b) -> lawful x x' W p
  | Bounds x x' W E p : neighbours c x x' ->
      (forall b, p b < 1 -> exists lo up, contradicts (guarantee c) lo up /\ bounds_at lo up (p b) E b) ->
      lawful x x' W p
  | Wager x x' W (w : bet R Y) p : neighbours c x x' ->
      inequality (guarantee c) (first_gain w) (second_gain w) (bound w) ->
      (forall b, 1 <= p b \/ 1 <= p b * factor w b.1 b.2) -> lawful x x' W p
  | Stages x x' W (w : bet R Y) stages p : neighbours c x x' ->
      inequality (guarantee c) (first_gain w) (second_gain w) (bound w) -> schedule_of stages ->
      (forall b, 1 <= p b \/ 0 < p b /\ reached_by w stages (p b)^-1 b) -> lawful x x' W p
  | Weighted x x' W k (ws : 'I_k -> R) (ps : 'I_k -> outcome -> R) (chosen : outcome -> 'I_k) p :
      (forall i, 0 < ws i) -> \sum_i ws i <= 1 -> (forall i, lawful x x' W (ps i)) ->
      (forall b, ps (chosen b) b / ws (chosen b) <= p b) -> lawful x x' W p
  | Turned x x' W p : lawful x' x (turned_sizes W) p -> lawful x x' W (fun b => p (turned b))
  | Cited x x' W p : cited x x' W p -> lawful x x' W p.

Variable target : X -> distribution R Y.
Hypothesis kept : keeps c target.
Hypothesis literature : forall x x' W p, cited x x' W p ->
  super_uniform (trial W (target x) (target x')) p.

Theorem lawful_valid x x' W p : lawful x x' W p -> super_uniform (trial W (target x) (target x')) p.
Proof.
have [private true_law] := kept.
elim=> {x x' W p}.
- move=> x x' W E th p promised th1 le; apply: (super_uniform_le le) => t t0.
  apply: trial_le => n n'; apply: le_trans (tail_valid n (true_law _ _ _ promised) th1 t0).
  apply: draws_mono => s sn; rewrite -[X in _ <= X](mean_const (draws (target x') n')).
  by apply: mean_mono => u; rewrite /= sn.
- move=> x x' W E e p xx' g fair le; apply: (super_uniform_le le).
  by have := private _ _ xx'; rewrite g => -[e0 H]; exact: ratio_valid.
- move=> x x' W E p xx' certificate; apply: bounds_valid certificate => lo up.
  exact: contradicts_valid (private _ _ xx').
- move=> x x' W w p xx' ineq gain; apply: bet_valid gain; exact: ineq (private _ _ xx').
- move=> x x' W w stages p xx' ineq all_draws gain; apply: super_uniform_below1 => t.
  rewrite le_eqVlt => /orP[/eqP <- _|t0 t1].
    rewrite (@eq_pr _ _ _ _ xpred0) ?/pr ?mean_const // => b; apply/negbTE; rewrite -ltNge.
    by case: (gain b) => [|[]//]; exact: lt_le_trans.
  apply: le_trans (stages_valid (ineq _ _ (private _ _ xx')) W all_draws t0).
  apply: pr_mono => b small; case: (gain b) => [p1|[p0 reached]].
    by have := lt_le_trans (le_lt_trans small t1) p1; rewrite ltxx.
  by apply: reaches_le reached; rewrite lef_pinv ?posrE.
- move=> x x' W k ws ps chosen p ws0 ws1 _ IH le; apply: super_uniform_le le _.
  exact: weighted_valid.
- by move=> x x' W p _ IH; exact: turned_valid.
- by move=> x x' W p /literature.
Qed.

End Lawful.

(* ---------------------------------------------------------------------------- *)
(* Many trials                                                                  *)

(* Shares of the false-alarm probability for questions, and parts of a share for looks. *)
Record error_budget (R : realType) (Q L : finType) := ErrorBudget {
  share : Q -> R;
  share_ge0 : forall q, 0 <= share q;
  shares_le1 : \sum_q share q <= 1;
  part : L -> R;
  part_ge0 : forall l, 0 <= part l;
  parts_le1 : \sum_l part l <= 1 }.

Section Audit.
Variables (R : realType) (X Y : Type) (Q L : finType) (family : Q -> nat).
Local Notation outcome := (seq Y * seq Y)%type.

(* The next trial: data sets, numbers of draws, and, for the hypotheses that it tests, weight and p-value. *)
Record plan := Plan {
  first_data : X; second_data : X;
  numbers : distribution R (nat * nat);
  tested : forall q, L -> 'I_(family q) -> option (R * (outcome -> R)) }.

(* The audit: the next trial by the outcomes so far, oldest first. *)
Variables (audit : seq outcome -> plan) (target : X -> distribution R Y).

Definition next_trial h :=
  trial (numbers (audit h)) (target (first_data (audit h))) (target (second_data (audit h))).

(* n trials after the outcomes h. *)
Fixpoint run (n : nat) (h : seq outcome) : distribution R (seq outcome) :=
  if n is n'.+1 then
    and_then (next_trial h) (fun b => and_then (run n' (rcons h b)) (fun r => point (b :: r)))
  else point [::].

Lemma mean_runS n h f : mean (run n.+1 h) f =
  mean (next_trial h) (fun b => mean (run n (rcons h b)) (fun r => f (b :: r))).
Proof.
rewrite mean_then; apply: eq_mean => b; rewrite mean_then.
by apply: eq_mean => r; rewrite mean_point.
Qed.

Section OneHypothesis.
Variables (q : Q) (l : L) (i : 'I_(family q)).

Definition weight h : R := if tested (audit h) l i is Some (w, _) then w else 0.
Definition trial_p h b : R := if tested (audit h) l i is Some (w, p) then p b / w else 1.

(* The weights, and the p-value, of a hypothesis along the outcomes r after the outcomes h. *)
Fixpoint spent h r : R := if r is b :: r' then weight h + spent (rcons h b) r' else 0.
Fixpoint p_value h r : R :=
  if r is b :: r' then Num.min (trial_p h b) (p_value (rcons h b) r') else 1.

Hypothesis weights_gt0 : forall h w p, tested (audit h) l i = Some (w, p) -> 0 < w.
Hypothesis tests_valid : forall h w p, tested (audit h) l i = Some (w, p) ->
  super_uniform (next_trial h) p.

Lemma p_value_valid n : (forall r, size r = n -> spent [::] r <= 1) ->
  super_uniform (run n [::]) (p_value [::]).
Proof.
move=> all_spent; apply: super_uniform_below1 => t t0 t1; rewrite -[X in _ <= X]mul1r.
elim: n [::] (1 : R) all_spent => [|n IH] h c all_spent.
  rewrite /pr mean_point /= (lt_geF t1) mulr_ge0 //.
  exact: (all_spent [::]).
rewrite /pr mean_runS -[c * t](mean_const (next_trial h)).
have w0 : 0 <= weight h.
  by rewrite /weight; case E: tested => [[w p]|] //; rewrite ltW // (weights_gt0 E).
have rest b : pr (run n (rcons h b)) (fun r => p_value (rcons h b) r <= t) <= (c - weight h) * t.
  apply: IH => r rn; rewrite ler_subr_addl; apply: (all_spent (b :: r)); by rewrite /= rn.
apply: (@le_trans _ _ (mean (next_trial h) (fun b => (trial_p h b <= t)%R%:R + (c - weight h) * t))).
  apply: mean_mono => b; apply: le_trans (ler_add (lexx _) (rest b)).
  rewrite -[X in X + _](mean_const (run n (rcons h b))) -mean_add; apply: mean_mono => r /=.
  rewrite le_minl -natrD ler_nat.
  by case: (trial_p h b <= t); case: (p_value (rcons h b) r <= t).
rewrite mean_add !mean_const -ler_subr_addr -mulrBl opprB addrC subrK.
rewrite /trial_p /weight; case E: tested => [[w p]|]; last first.
  by rewrite mean_const (lt_geF t1) mul0r.
have w1 := weights_gt0 E; rewrite mulrC in w0 *.
rewrite (@eq_mean _ _ _ _ (fun b => (p b <= t * w)%R%:R)); last by move=> b; rewrite ler_pdivr_mulr.
by apply: (tests_valid E); rewrite mulr_ge0 // ltW.
Qed.

End OneHypothesis.

Variables (budget : error_budget R Q L) (alpha : R).

(* The hypotheses whose p-value is a function of all outcomes. *)
Variable pooled : forall q, L -> 'I_(family q) -> option (seq outcome -> R).

Definition decided_p q (l : L) (i : 'I_(family q)) r : R :=
  if pooled l i is Some p then p r else p_value l i [::] r.

(* What the looks at a question reject. *)
Definition rejected q (l : L) i r : bool :=
  holm_rejects (fun j : 'I_(family q) => decided_p l j) (alpha * share budget q * part budget l) i r.

(* `broken`: a check without statistics has seen that a promise is broken. *)
Definition refuted (broken : pred (seq outcome)) r : bool :=
  broken r || [exists q : Q, [exists l : L, [exists i : 'I_(family q), rejected l i r]]].

(* What the audit must keep to: the rules of `lawful`, and the weights. *)
Definition lawful_audit (c : promises R X Y) (cited : citations R X Y) n :=
  forall q l (i : 'I_(family q)),
    (forall h w p, tested (audit h) l i = Some (w, p) ->
       0 < w /\ lawful c cited (first_data (audit h)) (second_data (audit h)) (numbers (audit h)) p) /\
    (forall r, size r = n -> spent l i [::] r <= 1).

(*@ AUDIT-SOUND *)
Theorem audit_sound (c : promises R X Y) (cited : citations R X Y) (broken : pred (seq outcome)) n :
  0 <= alpha -> lawful_audit c cited n ->
  keeps c target -> pr (run n [::]) broken = 0 ->
  (forall x x' W p, cited x x' W p -> super_uniform (trial W (target x) (target x')) p) ->
  (forall q l (i : 'I_(family q)) p, pooled l i = Some p -> super_uniform (run n [::]) p) ->
  pr (run n [::]) (refuted broken) <= \sum_q alpha * share budget q <= alpha.
Proof.
move=> alpha0 law kept intact literature all_trials; apply/andP; split; last first.
  by rewrite -mulr_sumr -[X in _ <= X]mulr1 ler_wpmul2l // shares_le1.
have look q l : pr (run n [::]) (fun r => [exists i : 'I_(family q), rejected l i r]) <=
    alpha * share budget q * part budget l.
  have level0 : 0 <= alpha * share budget q * part budget l.
    by rewrite !mulr_ge0 ?share_ge0 ?part_ge0.
  apply: le_trans (holm_valid (p := fun i : 'I_(family q) => decided_p l i) (true_null := predT) level0 _).
    by apply: pr_mono => r /existsP[i rej]; apply/existsP; exists i.
  move=> i _; rewrite /decided_p; case E: (pooled l i) => [p|]; first exact: all_trials E.
  have [rules all_spent] := law q l i; apply: p_value_valid all_spent => h w p /rules[] //.
  by move=> _ ok; have := lawful_valid kept literature ok.
apply: le_trans (pr_or _ _ _) _; rewrite intact add0r.
apply: (@le_trans _ _ (pr (run n [::]) (fun r => [exists q in predT,
    [exists l in predT, [exists i : 'I_(family q), rejected l i r]]]))).
  apply: pr_mono => r /existsP[q /existsP[l rej]]; apply/existsP; exists q => /=.
  by apply/existsP; exists l.
apply: le_trans (pr_exists _ _ _) _; apply: ler_sum => q _.
apply: le_trans (pr_exists _ _ _) _.
apply: (@le_trans _ _ (\sum_l alpha * share budget q * part budget l)).
  by apply: ler_sum => l _; exact: look.
rewrite -mulr_sumr -[X in _ <= X]mulr1 ler_wpmul2l ?parts_le1 //.
by rewrite mulr_ge0 ?share_ge0.
Qed.

End Audit.
