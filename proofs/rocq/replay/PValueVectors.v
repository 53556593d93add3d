(* Binomial tails that the kernel computes, for tests of the Python code.

   A row has n, k, a, c and the digits, to the base 1000 and from the lowest, of the integer t
   with P(Bin(n, a/(a + c)) >= k) = t/(a + c)^n.  It is computed with binary numbers, row by
   row of a triangle: T(0, 0) = 1, T(n, 0) = (a + c)^n, T(n+1, k+1) = a T(n, k) + c T(n, k+1).

   `tail_counts_hold` ties it to the p-values of EventTests.v: with e = a/c, this is the tail
   of `tail_valid` and of `bounds_valid`, and `ratio_p` for the counts k and n - k.

   Assumed: nothing. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint rat ring.
From covassay Require Import EventTests.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.

Section Triangle.
Variables a c : N.

Fixpoint below (r : seq N) : seq N :=
  if r is x :: r' then (a * x + c * head 0 r')%num :: below r' else [::].

(* (a + c)^n and the row T(n, 0), T(n, 1), ... *)
Fixpoint triangle (n : nat) : N * seq N :=
  if n is n'.+1 then
    let: (total, r) := triangle n' in let total' := ((a + c) * total)%num in (total', total' :: below r)
  else (1%num, [:: 1%num]).

Definition tail_count (n k : nat) : N := nth 0%num (triangle n).2 k.

Lemma nth_below r k : nth 0%num (below r) k = (a * nth 0 r k + c * nth 0 r k.+1)%num.
Proof. by elim: r k => [|x r IH] [|k] //=; rewrite ?N.mul_0_r // IH; case: r {IH}. Qed.

End Triangle.

Local Open Scope ring_scope.

Section Ties.
Variables (R : realFieldType) (a c : N).
Hypothesis ac_gt0 : 0 < (nat_of_bin a)%:R + (nat_of_bin c)%:R :> R.
Local Notation A := ((nat_of_bin a)%:R : R).
Local Notation C := ((nat_of_bin c)%:R : R).

Lemma triangle_total n : (nat_of_bin (triangle a c n).1)%:R = (A + C) ^+ n :> R.
Proof.
elim: n => [|n IH] //=; case: (triangle a c n) IH => t r /= IH.
by rewrite nat_of_mul_bin nat_of_add_bin natrM natrD IH exprS.
Qed.

Lemma tail_counts_hold n k :
  (nat_of_bin (tail_count a c n k))%:R / (A + C) ^+ n = tail (A / (A + C)) n k :> R.
Proof.
have ac0 : A + C != 0 by rewrite gt_eqF.
apply: (canLR (mulfK _)); first by rewrite expf_neq0.
elim: n k => [|n IH] [|k] //=; rewrite ?mul0r ?mul1r //.
- by rewrite /tail_count /=; case: k.
- by rewrite /tail_count -triangle_total /=; case: (triangle a c n).
have -> : tail_count a c n.+1 k.+1 = (a * tail_count a c n k + c * tail_count a c n k.+1)%num.
  by rewrite /tail_count /=; case: (triangle a c n) => t r /=; rewrite nth_below.
rewrite nat_of_add_bin !nat_of_mul_bin natrD !natrM !IH exprS.
have -> : 1 - A / (A + C) = C / (A + C) by field.
by field.
Qed.

Lemma ratio_counts_hold k l : 0 < C ->
  (nat_of_bin (tail_count a c (k + l) k))%:R / (A + C) ^+ (k + l) = ratio_p (A / C) k l :> R.
Proof.
move=> C0; rewrite tail_counts_hold /ratio_p /odds_share; congr tail.
have h1 : C != 0 by rewrite gt_eqF.
have h2 : A + C != 0 by rewrite gt_eqF.
have h3 : C + A != 0 by rewrite addrC.
by field; rewrite ?h1 ?h2 ?h3.
Qed.

End Ties.

Definition whole (n : nat) : rat := ratz n.
Definition digit (x : N) : rat := whole (nat_of_bin x).
Fixpoint digits (count : nat) (x : N) : seq rat :=
  if count is count'.+1 then digit (x mod 1000) :: digits count' (x / 1000) else [::].

Definition tail_row (n k : nat) (a c count : N) : seq rat :=
  [:: whole n; whole k; digit a; digit c] ++ digits 24 count.

(* From all draws down to about what the odds give. *)
Definition tail_points : seq (nat * nat) :=
  [seq (n, k) | n <- [:: 1; 3; 8; 20; 40; 60]%N, k <- [:: n; n.-1; (n - n %/ 10)%N; (n - n %/ 5)%N; (n - n %/ 3)%N; n./2.+1]].
Definition odds : seq (N * N) :=
  [:: (1, 1); (3, 2); (2, 1); (11, 4); (7, 1); (12, 1); (1, 2)]%num.

Definition tail_rows : seq (seq rat) :=
  [seq tail_row p.1 p.2 o.1 o.2 (tail_count o.1 o.2 p.1 p.2) | p <- tail_points, o <- odds].
