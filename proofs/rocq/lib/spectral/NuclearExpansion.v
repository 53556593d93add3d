(* The nuclear norm to second order.

   Let S = diag (s) with s >= 0, |A_ij| <= 1 and 0 <= h <= 1.  Then |S + h A S|_* is

      sum s_i + h sum A_ii s_i + (h^2/4) sum_ij (A_ij s_j - A_ji s_i)^2/(s_i + s_j),

   up to C h^3 sum s_i, where C depends on the dimension only.  Equal values s_i and s_i = 0
   are allowed; a term with s_i + s_j = 0 is 0.  Nothing is assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets.
From mathcomp.analysis Require Import reals.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import Euclidean MatrixNorms SingularValues MatrixEntries NuclearBelow NuclearAbove.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Between.
Variables (R : realType) (d : nat) (s : 'I_d -> R) (A : 'M[R]_d) (h : R).
Hypotheses (s_ge0 : forall i, 0 <= s i) (A_le1 : entries_le 1 A) (h_ge0 : 0 <= h) (h_le1 : h <= 1).
Let n : R := d%:R.
Let S : 'M[R]_d := diag_mx (\row_i s i).
Let r : R := \sum_i s i.
Let r_ge0 : 0 <= r. Proof. by apply: sumr_ge0. Qed.
Let constant : R := above_constant n.
Let n_ge0 : 0 <= n. Proof. exact: ler0n. Qed.
Local Notation first_order := (first_order s A).
Local Notation second_order := (second_order s A).

Lemma nuclear_between :
  `|nuclear_norm (S + h *: (A *m S)) - (r + h * first_order + h ^+ 2 * second_order)|
  <= h ^+ 3 * (expansion_constant n * r).
Proof.
have m k : 0 <= n ^+ k by rewrite exprn_ge0.
have low0 : 0 <= n ^+ 2 + 2%:R * n ^+ 5 by rewrite addr_ge0 ?mulr_ge0 ?ler0n.
have high0 : 0 <= n * constant by rewrite mulr_ge0 ?above_constant_ge0.
have h3 : 0 <= h ^+ 3 by rewrite exprn_ge0.
have below := nuclear_below s_ge0 A_le1 h_ge0 h_le1; have above := nuclear_above s_ge0 A_le1 h_ge0 h_le1.
rewrite ler_norml ler_subl_addl ler_subr_addl /expansion_constant; apply/andP; split.
  apply: le_trans below; rewrite ler_add2l ler_opp2 ler_wpmul2l // ler_wpmul2r //.
  by rewrite ler_addl.
apply: le_trans above _; rewrite ler_add2l ler_wpmul2l // ler_wpmul2r //.
by rewrite ler_addr.
Qed.

End Between.

(* One constant for all s, A and h. *)
(*@ NUCLEAR-EXPANSION *)
Theorem nuclear_expansion (R : realType) d : exists C : R, forall (s : 'I_d -> R) (A : 'M[R]_d) h,
  (forall i, 0 <= s i) -> (forall i j, `|A i j| <= 1) -> 0 <= h -> h <= 1 ->
  `|nuclear_norm (diag_mx (\row_i s i) + h *: (A *m diag_mx (\row_i s i)))
    - (\sum_i s i + h * first_order s A + h ^+ 2 * second_order s A)| <= h ^+ 3 * (C * \sum_i s i).
Proof.
exists (expansion_constant d%:R) => s A h s0 A1 h0 h1.
exact: (nuclear_between s0 A1 h0 h1).
Qed.
