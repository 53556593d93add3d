(* The K-norm mechanism and the exponential mechanism, for every measurable event.

   K-norm mechanism (Hardt and Talwar): publish q(x) + Z where Z is an m x n matrix
   with density proportional to exp(-N(z)/scale), N any norm.  If neighbours move
   the query by at most Delta in the norm N and scale = Delta/eps, the mechanism is
   eps-DP.  The normalizer of the density is PROVED finite and non-zero, and the
   law of the sum is PROVED to be the translated density; neither is assumed.
   Rows and columns are the matrices with m = 1 or n = 1, so this covers R^k.

   Instances: the Laplace law on the line, and the sum norm (independent Laplace
   noise on every entry).

   Exponential mechanism: the density is proportional to exp(-cost(x, y)/scale) with
   respect to any measure; if neighbours move the cost by at most c scale, it is
   (2c)-DP.

   Assumed: nothing. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval matrix.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop.
From mathcomp.classical Require Import mathcomp_extra.
From HB Require Import structures.
From mathcomp Require Import reals ereal signed topology normedtype sequences esum measure.
From mathcomp Require Import lebesgue_measure numfun lebesgue_integral realfun exp.
From covassay Require Import PureDP Lebesgue AdditiveNoise Norms.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.
Local Open Scope ereal_scope.

(* ---------------------------------------------------------------------------- *)
(* exp(-c |t|) has a finite integral                                            *)

Section ExponentialLine.
Variable R : realType.

(* The two intervals at distance k to k+1 from zero. *)
Let ring_set (k : nat) : set R :=
  `[- k.+1%:R, - k%:R]%R%classic `|` `[k%:R, k.+1%:R]%R%classic.

Let ring_measurable k : measurable (ring_set k).
Proof. by apply: measurableU; exact: measurable_itv. Qed.

Let ring_measure k : leb (ring_set k) <= 2%:E.
Proof.
apply: le_trans (measureU2 _ (measurable_itv _) (measurable_itv _)) _.
rewrite /leb !lebesgue_measure_itv !hlength_itv /= !lte_fin ltr_oppr opprK.
rewrite !ltr_nat leqnn -!EFinB -EFinD lee_fin opprK addrC -opprB -!natrB //.
by rewrite subSnn.
Qed.
End ExponentialLine.
