(* Finitely many outputs: randomised response, and composition of zCDP.

   A law on a finite set is a positive function with sum one.
   - Randomised response answers a bit truthfully with probability e^eps/(1+e^eps):
     it is eps-DP, and no smaller factor would do.
   - rho-zCDP (Bun and Steinke): for every alpha > 1,
         sum_y P(y)^alpha Q(y)^(1-alpha) <= e^((alpha-1) alpha rho),
     that is, the Renyi divergence of order alpha is at most alpha rho.  Adaptive
     composition adds the rho's: the second law may depend on the first output.

   What zCDP has to do with pure and approximate privacy is in PureToZcdp; continuous
   outputs (the Gaussian mechanism) are in Gaussian.

   Assumed: nothing.  Not said: outputs of probability zero (the laws are positive). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp Require Import reals ereal signed topology normedtype sequences realfun exp.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope ring_scope.

Section Finite.
Variable R : realType.

(* A positive law on a finite set. *)
Definition positive_law (Y : finType) (P : Y -> R) := (forall y, 0 < P y) /\ \sum_y P y = 1.

(* ---------------------------------------------------------------------------- *)
(* Randomised response                                                          *)

Definition randomised_response (eps : R) (x y : bool) : R :=
  (if x == y then expR eps else 1) / (1 + expR eps).

Lemma rr_denominator_gt0 (eps : R) : 0 < 1 + expR eps.
Proof. by rewrite addr_gt0 // expR_gt0. Qed.

Lemma randomised_response_law eps x : positive_law (randomised_response eps x).
Proof.
have d0 := rr_denominator_gt0 eps.
split=> [y|]; first by rewrite divr_gt0 //; case: ifP => _ //; exact: expR_gt0.
rewrite big_bool /= /randomised_response.
case: x; rewrite /= -mulrDl; last by rewrite divff // gt_eqF.
by rewrite addrC divff // gt_eqF.
Qed.

(*@ RANDOMISED-RESPONSE-DP *)
Theorem randomised_response_dp eps x x' (S : pred bool) : 0 <= eps ->
  \sum_(y | S y) randomised_response eps x y <=
  expR eps * \sum_(y | S y) randomised_response eps x' y.
Proof.
move=> e0; rewrite mulr_sumr ler_sum // => y _; have d0 := rr_denominator_gt0 eps.
have e1 : 1 <= expR eps by rewrite -expR0 ler_expR.
rewrite /randomised_response mulrA ler_pmul2r ?invr_gt0 //.
apply: (@le_trans _ _ (expR eps)); first by case: ifP.
by rewrite ler_pmulr ?expR_gt0 //; case: ifP.
Qed.

Lemma randomised_response_tight eps y :
  randomised_response eps y y = expR eps * randomised_response eps (~~ y) y.
Proof. by rewrite /randomised_response eqxx; case: y; rewrite /= mul1r. Qed.

(* ---------------------------------------------------------------------------- *)
(* zCDP                                                                         *)

(* e^((alpha-1) D), D the Renyi divergence of order alpha. *)
Definition renyi_moment (Y : finType) (alpha : R) (P Q : Y -> R) : R :=
  \sum_y P y `^ alpha * Q y `^ (1 - alpha).

Definition zcdp_close (Y : finType) (rho : R) (P Q : Y -> R) :=
  forall alpha, 1 < alpha -> renyi_moment alpha P Q <= expR ((alpha - 1) * alpha * rho).

Lemma exp_funMl (a b x : R) : 0 < a -> 0 < b -> (a * b) `^ x = a `^ x * b `^ x.
Proof. by move=> a0 b0; rewrite /exp_fun lnM ?posrE // mulrDr expRD. Qed.

Lemma zcdp_refl (Y : finType) (P : Y -> R) : positive_law P -> zcdp_close 0 P P.
Proof.
move=> [P0 P1] alpha _; rewrite mulr0 expR0 -P1 ler_sum // => y _.
by rewrite -exp_funD // addrCA subrr addr0 exp_funr1.
Qed.

Lemma zcdp_inhabited (eps : R) (x : bool) :
  zcdp_close 0 (randomised_response eps x) (randomised_response eps x).
Proof. exact/zcdp_refl/randomised_response_law. Qed.

(* The joint law of a two-stage program. *)
Definition joint (Y Z : finType) (P : Y -> R) (K : Y -> Z -> R) (yz : Y * Z) : R :=
  P yz.1 * K yz.1 yz.2.

Lemma joint_law (Y Z : finType) (P : Y -> R) (K : Y -> Z -> R) :
  positive_law P -> (forall y, positive_law (K y)) -> positive_law (joint P K).
Proof.
move=> [P0 P1] K0; split=> [[y z]|]; first by rewrite mulr_gt0 //; have [] := K0 y.
rewrite -(pair_bigA _ (fun y z => P y * K y z)) /= -[RHS]P1; apply: eq_bigr => y _.
by rewrite -mulr_sumr; have [_ ->] := K0 y; rewrite mulr1.
Qed.

(*@ ZCDP-COMPOSITION *)
Theorem zcdp_composition (Y Z : finType) (P Q : Y -> R) (K L : Y -> Z -> R) (r1 r2 : R) :
  positive_law P -> positive_law Q ->
  (forall y, positive_law (K y)) -> (forall y, positive_law (L y)) ->
  zcdp_close r1 P Q -> (forall y, zcdp_close r2 (K y) (L y)) ->
  zcdp_close (r1 + r2) (joint P K) (joint Q L).
Proof.
move=> [P0 _] [Q0 _] K0 L0 PQ KL alpha a1.
rewrite mulrDr expRD /renyi_moment /joint.
rewrite -(pair_bigA _ (fun y z => (P y * K y z) `^ alpha * (Q y * L y z) `^ (1 - alpha))) /=.
apply: (@le_trans _ _ (\sum_y P y `^ alpha * Q y `^ (1 - alpha)
                       * expR ((alpha - 1) * alpha * r2))).
  apply: ler_sum => y _; have [Ky _] := K0 y; have [Ly _] := L0 y.
  under eq_bigr do rewrite !exp_funMl // mulrACA.
  rewrite -mulr_sumr ler_wpmul2l //; last exact: KL.
  by rewrite mulr_ge0 // ltW // exp_fun_gt0.
by rewrite -mulr_suml ler_wpmul2r ?PQ // ltW // expR_gt0.
Qed.

End Finite.
