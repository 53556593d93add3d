(* An audit that keeps to the rules of AuditSound.v, a target that keeps its claim, and an outcome
   that is refuted.

   The audit draws on one data set twice, Poisson numbers of draws with a sum of at most 1, and
   tests in its first trial, by the ratio, whether two laws are equal.

   Assumed: nothing. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From mathcomp Require Import reals.
From covassay Require Import PValues EventTests Wagers PoissonNumbers AuditSound.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Example.
Variable R : realType.
Local Notation outcome := (seq bool * seq bool)%type.

Definition equal_laws : promises R unit bool :=
  Promises (Pure 1) (fun _ _ => True) (fun _ _ _ => False).
Definition heads : distribution R bool := point true.
Definition sure (x : unit) := heads.
Definition nothing_cited : citations R unit bool := fun _ _ _ _ => False.

Lemma sure_keeps : keeps equal_laws sure.
Proof. by split=> // -[] [] _; split=> [|E]; rewrite ?ltr01 // mul1r. Qed.

Lemma one_share_ge0 (u : unit) : 0 <= 1 :> R. Proof. exact: ler01. Qed.
Lemma one_share_sum : \sum_(u : unit) 1 <= 1 :> R.
Proof. by rewrite sumr_const card_unit mulr1n. Qed.

Definition one_question : error_budget R [finType of unit] [finType of unit] :=
  ErrorBudget one_share_ge0 one_share_sum one_share_ge0 one_share_sum.

Definition one_family (q : [finType of unit]) := 1%N.

Definition test_once (p : outcome -> R) (h : seq outcome) : plan R unit bool [finType of unit] one_family :=
  Plan tt tt (poisson_numbers (@ler01 R) 1)
    (fun q l (i : 'I_(one_family q)) => if h is [::] then Some (1, p) else None).

Definition ratio_once := test_once (fun b => ratio_p 1 (count id b.1) (count id b.2)).

Definition first_trial := ratio_once [::].

Lemma ratio_once_lawful n : lawful_audit ratio_once equal_laws nothing_cited n.
Proof.
move=> q l i; split=> [[|//] w p /= [<- <-]|r _].
  split; first exact: ltr01.
  by apply: (@Ratio _ _ _ _ _ tt tt _ id 1) => //; exact: poisson_fair.
have rest h : h != [::] -> forall r', spent ratio_once l i h r' = 0.
  move=> h0 r'; elim: r' h h0 => [|b r' IH] [|x h] //= _.
  by rewrite IH // /weight /= addr0.
case: r => [|b r] /=; first exact: ler01.
by rewrite rest // /weight /= addr0.
Qed.

Lemma refuted_once :
  refuted (test_once (fun=> 0)) one_question 1 (fun _ _ _ => None) (fun=> false) [:: ([::], [::])].
Proof.
apply/existsP; exists tt; apply/existsP; exists tt; apply/existsP; exists ord0.
apply/forallP => j; apply/implyP => _.
rewrite /decided_p /= /trial_p /= mul0r min_l ?ler01 //.
by rewrite !mulr1 divr_ge0 ?ler01 ?ler0n.
Qed.

End Example.
