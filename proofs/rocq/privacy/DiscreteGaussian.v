(* The discrete Gaussian law: the integer k has a probability proportional to
   e^(-k^2/(2v)), where v > 0.  The sum of these numbers is PROVED to be finite, so that
   the probabilities add up to one.

   Assumed: nothing.  Not said: how it is drawn (SamplerLaws.v), and its variance. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop.
From mathcomp.classical Require Import mathcomp_extra.
From mathcomp Require Import reals ereal signed topology normedtype sequences esum exp.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import DiscreteLaplace.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

Section Gaussian.
Variables (R : realType) (v : R).

Definition dgaussian_weight (k : int) : R := expR (- (k%:~R ^+ 2 / (2%:R * v))).

Definition dgaussian (k : int) : R := dgaussian_weight k / fine (mass dgaussian_weight setT).

Hypothesis v_gt0 : 0 < v.

Lemma dgaussian_weight_le (k : int) : dgaussian_weight k <= expR (v / 2%:R) * expR (- `|k|%:~R).
Proof.
rewrite -expRD ler_expR ler_oppl opprD opprK addrC ler_subl_addr.
rewrite intr_norm -[k%:~R ^+ 2]real_normK ?num_real //; move: (`|k%:~R|) => x.
rewrite -subr_ge0 (_ : _ - _ = (x - v) ^+ 2 / (2%:R * v)); last by field; rewrite gt_eqF.
by rewrite divr_ge0 ?sqr_ge0 // mulr_ge0 ?ler0n // ltW.
Qed.

Lemma dgaussian_weight_gt0 k : 0 < dgaussian_weight k. Proof. exact: expR_gt0. Qed.

(* The sum of the weights. *)
Lemma dgaussian_sum : mass dgaussian_weight setT = (fine (mass dgaussian_weight setT))%:E
  /\ 0 < fine (mass dgaussian_weight setT).
Proof.
have w0 k : (0 <= (dgaussian_weight k)%:E)%E by rewrite lee_fin ltW // dgaussian_weight_gt0.
have one : (1 <= mass dgaussian_weight setT)%E.
  apply: ereal_sup_ub; exists [set 0] => //.
  by rewrite fsbig_set1 /dgaussian_weight expr0n mul0r oppr0 expR0.
pose c := (expR 1^-1 - 1) / (expR 1^-1 + 1) : R.
have e1 : 1 < expR 1^-1 :> R by rewrite expR_gt1 invr1.
have c0 : 0 < c by rewrite divr_gt0 ?subr_gt0 // addr_gt0 ?expR_gt0.
have finite : (mass dgaussian_weight setT <= (expR (v / 2%:R) / c)%:E)%E.
  rewrite -[X in (_ <= X)%E]mule1 -(@dlaplace_total R 1 ltr01) -esum_scale; first last.
  - by move=> k; rewrite lee_fin ltW // dlaplace_gt0.
  - by rewrite divr_gt0 ?expR_gt0.
  apply: le_esum => k _; rewrite -EFinM lee_fin; apply: le_trans (dgaussian_weight_le k) _.
  by rewrite /dlaplace -/c mulrA divfK ?gt_eqF // divr1.
have fin : mass dgaussian_weight setT \is a fin_num.
  by rewrite ge0_fin_numE ?(le_lt_trans finite (ltry _)) // (le_trans lee01 one).
rewrite fineK //; split=> //; rewrite -lte_fin fineK //.
exact: lt_le_trans lte01 one.
Qed.

Lemma dgaussian_weightE k : fine (mass dgaussian_weight setT) * dgaussian k = dgaussian_weight k.
Proof. by have [_ G0] := dgaussian_sum; rewrite /dgaussian mulrC divfK // gt_eqF. Qed.

(* The premise is v > 0. *)
(*@ DISCRETE-GAUSSIAN-TOTAL *)
Theorem dgaussian_total : mass dgaussian setT = 1%E.
Proof.
have [E G0] := dgaussian_sum; set G := fine _ in E G0.
rewrite /mass (eq_esum (b := fun k => (G^-1)%:E * (dgaussian_weight k)%:E)%E); last first.
  by move=> k _; rewrite -EFinM mulrC.
rewrite esum_scale ?invr_gt0 //; last by move=> k; rewrite lee_fin ltW // dgaussian_weight_gt0.
by rewrite [X in (_ * X)%E]E -EFinM mulVf // gt_eqF.
Qed.

End Gaussian.
