(******************************************************************************)
(* Sums over the pairs i < j of {0, ..., d-1}: the three facts the proofs on  *)
(* the spectrum of nuclear-Laplace noise need. Nothing is assumed.            *)
(******************************************************************************)
From mathcomp Require Import all_ssreflect ssralg.
From mathcomp.algebra_tactics Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section PairSums.
Variable d : nat.

(* every ordered pair i <> j is some pair i < j or its reverse *)
Lemma sum_neq_lt (V : zmodType) (F : 'I_d -> 'I_d -> V) :
  \sum_(i < d) \sum_(j < d | j != i) F i j
  = \sum_(i < d) \sum_(j < d | (i < j)%N) (F i j + F j i).
Proof.
under [RHS]eq_bigr do rewrite big_split /=.
rewrite big_split /= [X in _ + X](exchange_big_dep xpredT) //= -big_split /=.
apply: eq_bigr => i _; rewrite (bigID (fun j : 'I_d => (i < j)%N)) /=.
congr (_ + _); apply: eq_bigl => j; rewrite -val_eqE /=; first by case: ltngtP.
by rewrite -leqNgt ltn_neqAle.
Qed.

(* sum_(i<j) (s_i + s_j) = (d - 1) sum_i s_i *)
Lemma sum_pairs_add (V : zmodType) (s : 'I_d -> V) :
  \sum_(i < d) \sum_(j < d | (i < j)%N) (s i + s j) = (\sum_(i < d) s i) *+ d.-1.
Proof.
rewrite -(sum_neq_lt (fun i _ => s i)) -sumrMnl; apply: eq_bigr => i _.
rewrite sumr_const; congr (_ *+ _).
by rewrite -[X in _ = X.-1](card_ord d) -(cardC1 i); apply: eq_card => j; rewrite !inE.
Qed.

(* (sum_i s_i)^2 = sum_i s_i^2 + 2 sum_(i<j) s_i s_j *)
Lemma sqr_sum (R : comRingType) (s : 'I_d -> R) :
  (\sum_(i < d) s i) ^+ 2
  = \sum_(i < d) s i ^+ 2 + (\sum_(i < d) \sum_(j < d | (i < j)%N) s i * s j) *+ 2.
Proof.
rewrite expr2 mulr_suml; under eq_bigr do rewrite mulr_sumr.
rewrite -sumrMnl; under [X in _ + X]eq_bigr do rewrite -sumrMnl.
rewrite -[X in _ + X](_ : \sum_(i < d) \sum_(j < d | j != i) s i * s j = _); last first.
  rewrite sum_neq_lt; apply: eq_bigr => i _; apply: eq_bigr => j _.
  by rewrite mulrC -mulr2n.
by rewrite -big_split; apply: eq_bigr => i _; rewrite (bigD1 i) //= expr2.
Qed.

End PairSums.
