(******************************************************************************)
(* Premises that can be met. A theorem with a premise that nothing satisfies  *)
(* says nothing; the file witnesses.toml names, for every predicate in a      *)
(* premise, a lemma that establishes it. Here are those lemmas that no other  *)
(* file has.                                                                  *)
(******************************************************************************)
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals ereal sequences exp measure.
From covassay Require Import Euclidean MatrixNorms.
From covassay Require Sensitivity Algorithm2 Hessian Wishart.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* the identity is its own singular value decomposition *)
Lemma svd_inhabited (R : realType) d : svd (1%:M : 'M[R]_d) 1%:M 1%:M (const_mx 1).
Proof.
have o : orthogonal_mx (1%:M : 'M[R]_d) by rewrite /orthogonal_mx trmx1 mulmx1.
split=> // [i|]; first by rewrite mxE ler01.
by rewrite diag_const_mx mul1mx trmx1 mulmx1.
Qed.

(* two data sets that differ: one record of length one, and the record 0 *)
Lemma adjacent_inhabited (R : realType) n d :
  exists X Y : Sensitivity.dataset R n.+1 d.+1, Algorithm2.adjacent X Y /\ X ord0 != Y ord0.
Proof.
pose X i : 'cV[R]_d.+1 := if i == ord0 :> 'I_n.+1 then delta_mx ord0 0 else 0.
exists X, (fun=> 0); split.
  split=> [i|i|]; rewrite ?norm0 ?ler01 //.
    by rewrite /X; case: ifP => _; rewrite ?norm_delta ?norm0 ?ler01.
  by exists ord0 => j /negbTE j0; rewrite /X j0.
by rewrite /X eqxx -norm_eq0 norm_delta oner_eq0.
Qed.

(* all the weight on one coordinate *)
Lemma simplex_inhabited (R : realType) d : Hessian.simplex (fun i : 'I_d.+1 => (i == ord0)%:R : R).
Proof.
split=> [i|]; first by rewrite ler0n.
by rewrite (bigD1 ord0) //= big1 ?addr0 // => i /negbTE ->.
Qed.

(* a log-concave function (k = 0): the constant 1 *)
Lemma log_concave_inhabited (R : realType) d :
  Hessian.strongly_log_concave 0 (fun=> 1 : R) (d := d).
Proof. by move=> v w _ _; rewrite mul0r mul0r expR0 !mulr1 expr1n. Qed.

(* a law is close to itself *)
Lemma indistinguishable_inhabited (R : realType) (Y : Type) (events : set (set Y)) eps delta
    (P : set Y -> \bar R) : 0 <= eps -> 0 <= delta -> (forall S, 0 <= P S)%E ->
  Wishart.indistinguishable events eps delta P P.
Proof.
move=> e0 d0 P0 S _; apply: (@le_trans _ _ ((expR eps)%:E * P S)%E).
  by rewrite -[X in (X <= _)%E]mul1e lee_wpmul2r // lee_fin -expR0 ler_expR.
by rewrite lee_addl // lee_fin.
Qed.
