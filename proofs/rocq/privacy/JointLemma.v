(* The joint privacy loss of the d rounds of iterative eigenvector sampling (ADK19).

   Round i < d-1 samples with inverse temperature eta_i; the last direction is
   forced.  When a record x is replaced by y and the sampled basis is theta, put
   a_i = <theta_i, x>^2 and b_i = <theta_i, y>^2.  Both are nonnegative and sum to at
   most one (unit ball, orthonormal basis).  The loss of all rounds together is at
   most
       sum_i eta_i a_i + sum_i eta_i sum_(j > i) b_j ,
   where i runs over the rounds and j over all directions.  Proved here, over any
   ordered field: this is at most (largest eta) + (sum of all eta), and some a and b
   reach that value.  Bounding each round alone gives 2 (sum of all eta).

   Rounds are numbered 0, ..., k-1 and directions 0, ..., k (so d = k+1).  Assumed:
   nothing.  Not said: that the loss of the mechanism is the displayed sum. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section JointLemma.
Variables (F : realFieldType) (k : nat) (eta : 'I_k -> F).
Hypothesis eta_ge0 : forall i, 0 <= eta i.

(* Nonnegative shares of the directions, at most one in total. *)
Definition shares (a : 'I_k.+1 -> F) := (forall i, 0 <= a i) /\ \sum_i a i <= 1.

Definition dir (i : 'I_k) : 'I_k.+1 := widen_ord (leqnSn k) i.

Definition joint_loss (a b : 'I_k.+1 -> F) : F :=
  \sum_i eta i * a (dir i) + \sum_i eta i * \sum_(j < k.+1 | (i < j)%N) b j.

(* The premises are temperatures eta_i >= 0 that are at most top, and shares a and b:
   nonnegative numbers whose sum is at most 1. *)
(*@ ADK19.JOINT-LOSS *)
Theorem joint_loss_le (a b : 'I_k.+1 -> F) (top : F) :
  shares a -> shares b -> 0 <= top -> (forall i, eta i <= top) ->
  joint_loss a b <= top + \sum_i eta i.
Proof.
move=> [a0 a1] [b0 b1] top0 etop; apply: ler_add.
  apply: le_trans (_ : \sum_i top * a (dir i) <= _).
    by apply: ler_sum => i _; rewrite ler_wpmul2r.
  rewrite -mulr_sumr -[X in _ <= X]mulr1 ler_wpmul2l //; apply: le_trans a1.
  by rewrite [X in _ <= X]big_ord_recr /= ler_addl.
apply: ler_sum => i _; rewrite -[X in _ <= X]mulr1 ler_wpmul2l //.
apply: le_trans b1; rewrite [X in _ <= X](bigID (fun j : 'I_k.+1 => (i < j)%N)) /=.
by rewrite ler_addl sumr_ge0.
Qed.

(* All of x in a direction with the largest eta, all of y in the last direction. *)
Definition point (j0 j : 'I_k.+1) : F := (j == j0)%:R.

Lemma shares_point j0 : shares (point j0).
Proof.
split=> [i|]; first by rewrite ler0n.
by rewrite (bigD1 j0) //= /point eqxx big1 ?addr0 // => j /negbTE ->.
Qed.

(* The bound is attained, for temperatures of any sign. *)
(*@ ADK19.JOINT-LOSS-ATTAINED *)
Theorem joint_loss_attained (i0 : 'I_k) :
  joint_loss (point (dir i0)) (point ord_max) = eta i0 + \sum_i eta i.
Proof.
rewrite /joint_loss; congr (_ + _).
  rewrite (bigD1 i0) //= /point eqxx mulr1 big1 ?addr0 // => i ne.
  rewrite (_ : (dir i == dir i0) = false) ?mulr0 //.
  by apply/negbTE; apply: contraNneq ne => /(congr1 val) /= e; apply/eqP/val_inj.
apply: eq_bigr => i _; rewrite (bigD1 ord_max) ?ltn_ord //= /point eqxx.
by rewrite big1 ?addr0 ?mulr1 // => j /andP[_ /negbTE ->].
Qed.

(* Round by round the bound would be 2 (sum of all eta), which is never smaller. *)
Lemma joint_le_rounds (i0 : 'I_k) : eta i0 + \sum_i eta i <= \sum_i eta i + \sum_i eta i.
Proof. by rewrite ler_add2r (bigD1 i0) //= ler_addl sumr_ge0. Qed.

End JointLemma.
