(* Countably many outputs, of which every set is an event.

   `discrete T` is the countable type T with all of its sets as events.  A map into it
   is measurable when every single value is taken on an event.  Every map from it is
   measurable.  `integers m n` are the m x n matrices of integers.

   Assumed: nothing. *)
From mathcomp Require Import all_ssreflect ssralg countalg ssrnum ssrint interval matrix.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop.
From mathcomp.classical Require Import mathcomp_extra.
From HB Require Import structures.
From mathcomp Require Import reals ereal signed topology normedtype sequences esum measure.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

Definition discrete (T : Type) : Type := T.

Section Discrete.
Variable T : countZmodType.

(* Every set is an event. *)
Definition discrete_event : set (set T) := setT.

Let discrete0 : discrete_event set0. Proof. by []. Qed.
Let discreteC A : discrete_event A -> discrete_event (~` A). Proof. by []. Qed.
Let discreteU (F : (set T)^nat) :
  (forall i, discrete_event (F i)) -> discrete_event (\bigcup_i F i).
Proof. by []. Qed.

HB.instance Definition _ := @isMeasurable.Build default_measure_display (discrete T)
  (Pointed.class (PointedType T 0)) discrete_event discrete0 discreteC discreteU.

(* Countable unions, indexed by T. *)
Lemma bigcup_countable d (Y : measurableType d) (S : set T) (F : T -> set Y) :
  (forall k, measurable (F k)) -> measurable (\bigcup_(k in S) F k).
Proof.
move=> mF; pose G n := if unpickle n is Some k then (if k \in S then F k else set0) else set0.
rewrite (_ : \bigcup_(k in S) F k = \bigcup_n G n).
  apply: bigcupT_measurable => n; rewrite /G; case: (unpickle n) => [k|]; last exact: measurable0.
  by case: ifP => _; [exact: mF|exact: measurable0].
apply/seteqP; split => y.
  by case=> k Sk Fy; exists (pickle k) => //; rewrite /G pickleK mem_set.
case=> n _; rewrite /G; case: (unpickle n) => [k|] //; case: ifPn => // /[!inE] Sk Fy.
by exists k.
Qed.

Lemma measurable_fun_discrete d (Y : measurableType d) (f : Y -> discrete T) :
  (forall k, measurable [set y | f y = k]) -> measurable_fun setT f.
Proof.
move=> mf _ S _; rewrite setTI (_ : f @^-1` S = \bigcup_(k in S) [set y | f y = k]).
  exact: bigcup_countable.
by apply/seteqP; split => y; [exists (f y)|case=> k Sk /= ->].
Qed.

(* Every map from such a space is measurable. *)
Lemma measurable_fun_from_discrete d (Y : measurableType d) (h : discrete T -> Y) :
  measurable_fun setT h.
Proof. by []. Qed.

End Discrete.

(* Integer matrices, as a countable set. *)
Definition integers (m n : nat) : countZmodType := [countZmodType of 'M[int]_(m, n)].
