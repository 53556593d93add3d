(******************************************************************************)
(* DN25, Theorem 6 says: |Z| <= 1.1 rho d with probability at least           *)
(* 1 - 2 exp (- d^(1/3) / c), for nuclear-Laplace noise Z of scale rho in d   *)
(* dimensions and a constant c. This file refutes it, with every constant     *)
(* C <= (7 + sqrt 33)/8 = 1.593... in place of 1.1 and every c > 0, from the   *)
(* moments of the singular values (the truth is pi).                          *)
(*                                                                            *)
(* Take rho = 1. Let s_1, ..., s_d >= 0 be the singular values, on any        *)
(* probability space, R = sum s_i, Q = sum s_i^2 and                          *)
(* H = 2 sum_(i<j) s_i s_j/(s_i + s_j). The premises (record noise_moments):  *)
(*   E R = d^2, E R^2 = d^4 + d^2, E R^4 <= d^2 (d^2+1) (d^2+2) (d^2+3),      *)
(*   E (Q + H) = 2 d^3.                                                       *)
(* The first line is proved for the noise in GammaMoments.v. The second is    *)
(* integration by parts of the field (s_i^2) against the density              *)
(* exp (-R) prod |s_i^2 - s_j^2| (its integrand is TAIL-IDENTITY); it is not  *)
(* proved, except for d = 1: it is the named assumption A-MOMENTS. Measurable *)
(* s_i and H are premises too. Some law satisfies all the premises in every   *)
(* dimension (NoiseMomentsWitness.v).                                         *)
(******************************************************************************)
From mathcomp Require Import all_ssreflect ssralg ssrnum interval zmodp.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets functions.
From mathcomp.classical Require Import cardinality.
From mathcomp.analysis Require Import reals ereal topology normedtype sequences exp.
From mathcomp.analysis Require Import measure lebesgue_measure lebesgue_integral numfun.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import PairSums TailIdentity.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope. Local Open Scope classical_set_scope.

(* EXPECTATIONS OF NONNEGATIVE FUNCTIONS *)

Section Expectation.
Context dd (T : measurableType dd) (R : realType) (P : {measure set T -> \bar R}).
Implicit Types f g : T -> R.

Definition expect f : \bar R := (\int[P]_x (f x)%:E)%E.

Let measE f : measurable_fun setT f -> measurable_fun setT (fun x => (f x)%:E).
Proof. by move=> mf; apply/EFin_measurable_fun. Qed.

Lemma expectD f g : (forall x, 0 <= f x) -> (forall x, 0 <= g x) ->
  measurable_fun setT f -> measurable_fun setT g ->
  expect (fun x => f x + g x) = (expect f + expect g)%E.
Proof.
move=> f0 g0 mf mg; rewrite /expect -ge0_integralD //.
- by move=> x _; rewrite lee_fin.
- exact: measE.
- by move=> x _; rewrite lee_fin.
- exact: measE.
Qed.

Lemma expectZ k f : 0 <= k -> (forall x, 0 <= f x) -> measurable_fun setT f ->
  expect (fun x => k * f x) = (k%:E * expect f)%E.
Proof.
move=> k0 f0 mf; rewrite /expect -ge0_integralM_EFin //; last exact: measE.
by move=> x _; rewrite lee_fin.
Qed.

Lemma expect_le f g : (forall x, 0 <= f x) -> (forall x, f x <= g x) ->
  measurable_fun setT f -> measurable_fun setT g -> (expect f <= expect g)%E.
Proof.
move=> f0 fg mf mg; apply: ge0_le_integral => //.
- by move=> x _; rewrite lee_fin.
- exact: measE.
- by move=> x _; rewrite lee_fin (le_trans (f0 x)).
- exact: measE.
- by move=> x _; rewrite lee_fin.
Qed.

Lemma expect_indic B : measurable B -> expect (\1_B : T -> R) = P B.
Proof. by move=> mB; rewrite /expect integral_indic // setIT. Qed.

End Expectation.

Lemma fourth_le (F : realFieldType) (n : F) : 1 <= n ->
  n ^+ 2 * (n ^+ 2 + 1) * (n ^+ 2 + 2%:R) * (n ^+ 2 + 3%:R) <= 24%:R * n ^+ 8.
Proof.
move=> n1; have m1 : 1 <= n ^+ 2 by rewrite exprn_ege1.
rewrite (_ : 24%:R * n ^+ 8 = n ^+ 2 * (2%:R * n ^+ 2) * (3%:R * n ^+ 2) * (4%:R * n ^+ 2)).
  move: (n ^+ 2) m1 => m m1; have m0 : 0 <= m by apply: le_trans m1.
  have le k : m + k%:R <= (k.+1)%:R * m.
    by rewrite mulrSr mulrDl mul1r [m + _]addrC ler_add2r ler_pemulr ?ler0n.
  have nn k : 0 <= m + k%:R by rewrite addr_ge0 ?ler0n.
  have h1 := ler_pmul m0 (nn 1%N) (lexx m) (le 1%N).
  have h2 := ler_pmul (mulr_ge0 m0 (nn 1%N)) (nn 2%N) h1 (le 2%N).
  exact: ler_pmul (mulr_ge0 (mulr_ge0 m0 (nn 1%N)) (nn 2%N)) (nn 3%N) h2 (le 3%N).
by ring.
Qed.

(* THE PREMISES *)

Section Premises.
Context dd (T : measurableType dd) (R : realType) (P : {measure set T -> \bar R}).
Variables (d : nat) (s : T -> 'I_d -> R).

Record noise_moments : Prop := NoiseMoments {
  is_probability : P setT = 1%E;
  measurable_s : forall i, measurable_fun setT (fun x => s x i);
  measurable_harmonic : measurable_fun setT (fun x => harmonic_sum (s x));
  s_ge0 : forall x i, 0 <= s x i;
  moment1 : expect P (fun x => total (s x)) = (d%:R ^+ 2)%:E;
  moment2 : expect P (fun x => total (s x) ^+ 2) = (d%:R ^+ 4 + d%:R ^+ 2)%:E;
  moment4 : (expect P (fun x => (total (s x) ^+ 4)%R)
             <= (d%:R ^+ 2 * (d%:R ^+ 2 + 1) * (d%:R ^+ 2 + 2%:R) * (d%:R ^+ 2 + 3%:R))%:E)%E;
  by_parts : expect P (fun x => square_sum (s x) + harmonic_sum (s x)) = (2%:R * d%:R ^+ 3)%:E }.

(* the event |Z| <= M: no singular value exceeds M *)
Definition within (M : R) : set T := [set x | forall i, s x i <= M].

Hypothesis moments : noise_moments.

Let s0 := s_ge0 moments.

Lemma measurable_sum_s (f : 'I_d -> T -> R) : (forall i, measurable_fun setT (f i)) ->
  measurable_fun setT (fun x => \sum_(i < d) f i x).
Proof.
move=> mf; elim: (index_enum _) => [|i r IH].
  rewrite (_ : (fun _ => _) = cst 0); first exact: measurable_fun_cst.
  by apply/funext => x; rewrite big_nil.
rewrite (_ : (fun _ => _) = f i \+ (fun x => \sum_(j <- r) f j x)); first exact: measurable_funD.
by apply/funext => x; rewrite big_cons.
Qed.

Lemma measurable_total : measurable_fun setT (fun x => total (s x)).
Proof. exact/measurable_sum_s/measurable_s. Qed.

Lemma measurable_square_sum : measurable_fun setT (fun x => square_sum (s x)).
Proof. by apply: measurable_sum_s => i; apply/measurable_fun_exprn/measurable_s. Qed.

Lemma measurable_within M : measurable (within M).
Proof.
rewrite (_ : within M = \bigcap_(i in [set: 'I_d]) [set x | s x i <= M]); last first.
  by apply/seteqP; split=> [x xM i _|x xM i]; [apply: xM | apply: (xM i I)].
apply: fin_bigcap_measurable; first exact: finite_finset.
move=> i _; rewrite (_ : [set _ | _] = setT `&` (fun x => s x i) @^-1` `]-oo, M]).
  by apply: (measurable_s moments i) => //; apply: measurable_itv.
by apply/seteqP; split=> x; rewrite /= ?in_itv //= => -[].
Qed.

(* THE MAIN INEQUALITY *)

(* Q + H is bounded pointwise by a combination of R, R^2, R^4 and the bad event |Z| > M *)
Lemma pointwise x (M tau : R) : (0 < d)%N -> d%:R <= 4%:R * M -> 0 < tau ->
  square_sum (s x) + harmonic_sum (s x)
  <= (M + d%:R / 4%:R - 1 / 2%:R) * total (s x) + (4%:R * M)^-1 * total (s x) ^+ 2
     + (tau / 2%:R * total (s x) ^+ 4 + (2%:R * tau)^-1 * \1_(~` within M) x).
Proof.
move=> d0 dM t0; have R0 : 0 <= total (s x) by apply: total_ge0.
have M0 : 0 < M by rewrite -(pmulr_rgt0 M (ltr0n R 4)) (lt_le_trans _ dM) ?ltr0n.
have t4 : 0 <= tau / 2%:R * total (s x) ^+ 4 by rewrite mulr_ge0 ?divr_ge0 ?exprn_ge0 ?ler0n // ltW.
have [good|bad] := pselect (within M x).
  rewrite indicE memNset ?mulr0 ?addr0; last by rewrite /setC /=.
  apply: le_trans (tail_le d0 dM (s0 x) good) _.
  by rewrite [total (s x) ^+ 2 / _]mulrC ler_addl.
rewrite indicE mem_set // mulr1.
have small : harmonic_sum (s x) <= (M + d%:R / 4%:R - 1 / 2%:R) * total (s x).
  apply: le_trans (harmonic_sum_le (s0 x)) _; rewrite ler_wpmul2r //.
  have dE : d%:R = (d.-1)%:R + 1 :> R by rewrite -[in LHS](prednK d0) mulrSr.
  have M4 : d%:R / 4%:R <= M by rewrite ler_pdivr_mulr ?ltr0n // mulrC.
  rewrite ler_subr_addr; apply: le_trans (ler_add M4 (lexx (d%:R / 4%:R))).
  by rewrite dE le_eqVlt; apply/orP/or_introl/eqP; move: (d.-1)%:R => n; field.
have square : square_sum (s x) <= tau / 2%:R * total (s x) ^+ 4 + (2%:R * tau)^-1.
  apply: le_trans (square_sum_le_total (s0 x)) _.
  rewrite -subr_ge0 (_ : _ - _ = (tau * total (s x) ^+ 2 - 1) ^+ 2 / (2%:R * tau)).
    by rewrite divr_ge0 ?sqr_ge0 // mulr_ge0 ?ler0n // ltW.
  by move: (total (s x)) => t; field; rewrite gt_eqF.
rewrite addrC -addrA; apply: ler_add => //; apply: le_trans square _.
by rewrite ler_addr mulr_ge0 ?sqr_ge0 // invr_ge0 mulr_ge0 ?ler0n // ltW.
Qed.

Let K : R := d%:R ^+ 2 * (d%:R ^+ 2 + 1) * (d%:R ^+ 2 + 2%:R) * (d%:R ^+ 2 + 3%:R).

(* its expectation, with p = P (|Z| > M) *)
Lemma moment_inequality (M tau : R) : (0 < d)%N -> d%:R <= 4%:R * M -> 0 < tau ->
  ((2%:R * d%:R ^+ 3)%:E
   <= ((M + d%:R / 4%:R - 1 / 2%:R) * d%:R ^+ 2 + (4%:R * M)^-1 * (d%:R ^+ 4 + d%:R ^+ 2)
       + tau / 2%:R * K)%:E + (2%:R * tau)^-1%:E * P (~` within M))%E.
Proof.
move=> d0 dM t0; rewrite -(by_parts moments).
have M0 : 0 < M by rewrite -(pmulr_rgt0 M (ltr0n R 4)) (lt_le_trans _ dM) ?ltr0n.
have R0 x : 0 <= total (s x) by apply: total_ge0.
have mR := measurable_total; have mW := measurable_within M.
have m1 : measurable_fun setT (\1_(~` within M) : T -> R).
  exact/measurable_fun_indic/measurableC.
have ind0 x : 0 <= (\1_(~` within M) x : R) by rewrite indicE ler0n.
have a0 : 0 <= M + d%:R / 4%:R - 1 / 2%:R.
  have M4 : d%:R / 4%:R <= M by rewrite ler_pdivr_mulr ?ltr0n // mulrC.
  rewrite subr_ge0; apply: le_trans (ler_add M4 (lexx (d%:R / 4%:R))).
  rewrite (_ : 1 / 2%:R = 1 / 4%:R + 1 / 4%:R :> R); last by field.
  by rewrite ler_add // ler_pmul2r ?invr_gt0 ?ltr0n // ler1n.
have b0 : 0 <= (4%:R * M)^-1 by rewrite invr_ge0 mulr_ge0 ?ler0n // ltW.
have c0 : 0 <= tau / 2%:R by rewrite divr_ge0 ?ler0n // ltW.
have e0 : 0 <= (2%:R * tau)^-1 by rewrite invr_ge0 mulr_ge0 ?ler0n // ltW.
have mQH : measurable_fun setT (fun x => square_sum (s x) + harmonic_sum (s x)).
  exact: (measurable_funD measurable_square_sum (measurable_harmonic moments)).
have mX n : measurable_fun setT (fun x => total (s x) ^+ n) by apply: measurable_fun_exprn.
have mc (f : T -> R) k : measurable_fun setT f -> measurable_fun setT (fun x => k * f x : R).
  exact: measurable_funrM.
have mD (f g : T -> R) : measurable_fun setT f -> measurable_fun setT g ->
    measurable_fun setT (fun x => f x + g x : R) by apply: measurable_funD.
apply: le_trans (expect_le P _ (fun x => pointwise x d0 dM t0) mQH _) _.
- by move=> x; rewrite addr_ge0 ?square_sum_ge0 ?harmonic_sum_ge0.
- by do ![exact: (mR) | exact: (m1) | exact: (mX) | apply: (mD) | apply: (mc)].
rewrite expectD; last 4 first.
- by move=> x; apply: addr_ge0; apply: mulr_ge0 => //; apply: sqr_ge0.
- by move=> x; apply: addr_ge0; apply: mulr_ge0 => //; apply: exprn_ge0.
- by do ![exact: (mR) | exact: (m1) | exact: (mX) | apply: (mD) | apply: (mc)].
- by do ![exact: (mR) | exact: (m1) | exact: (mX) | apply: (mD) | apply: (mc)].
rewrite (expectD P (f := fun x => _ * total (s x))); last 4 first.
- by move=> x; rewrite mulr_ge0.
- by move=> x; rewrite mulr_ge0 ?sqr_ge0.
- by apply: (mc); first [exact: (mR) | exact: (m1) | exact: (mX)].
- by apply: (mc); first [exact: (mR) | exact: (m1) | exact: (mX)].
rewrite (expectD P (f := fun x => _ * total (s x) ^+ 4)); last 4 first.
- by move=> x; rewrite mulr_ge0 ?exprn_ge0.
- by move=> x; rewrite mulr_ge0.
- by apply: (mc); first [exact: (mR) | exact: (m1) | exact: (mX)].
- by apply: (mc); first [exact: (mR) | exact: (m1) | exact: (mX)].
rewrite !expectZ //; try by move=> x; rewrite exprn_ge0.
rewrite (moment1 moments) (moment2 moments) expect_indic; last exact: measurableC.
rewrite addeA lee_add2r // -!EFinM -EFinD [X in (_ <= X)%E]EFinD lee_add2l //.
by rewrite (EFinM _ K) lee_wpmul2l ?lee_fin //; apply: (moment4 moments).
Qed.

(* THE FINITE-DIMENSIONAL BOUND *)

(* the critical constant: the larger root of 4 a^2 - 7 a + 1 *)
Definition critical : R := (7%:R + Num.sqrt 33%:R) / 8%:R.

Lemma critical_root : 4%:R * critical ^+ 2 = 7%:R * critical - 1.
Proof.
have r : Num.sqrt 33%:R ^+ 2 = 33%:R :> R by rewrite sqr_sqrtr ?ler0n.
apply/eqP; rewrite -subr_eq0; apply/eqP.
transitivity ((Num.sqrt 33%:R ^+ 2 - 33%:R) / 16%:R : R); last by rewrite r subrr mul0r.
by rewrite /critical; move: (Num.sqrt 33%:R) => t; field.
Qed.

Lemma critical_ge1 : 1 <= critical.
Proof.
rewrite /critical ler_pdivl_mulr ?ltr0n // mul1r.
rewrite (_ : 8%:R = 7%:R + 1); last by ring.
by rewrite ler_add2l -[X in X <= _]sqrtr1 ler_wsqrtr // ler1n.
Qed.

(* For every d >= 1 and every C up to the critical constant: P (|Z| > C d) >= 1/(384 d^4). *)
(*@ DN25.Thm6-TAIL *)
Theorem tail_probability (C : R) : (0 < d)%N -> C <= critical ->
  ((384%:R * d%:R ^+ 4)^-1%:E <= P (~` within (C * d%:R)))%E.
Proof.
move=> d0 Cle; set a := critical in Cle *; set n : R := d%:R.
have n1 : 1 <= n by rewrite ler1n.
have n0 : 0 < n by apply: lt_le_trans n1.
have a1 : 1 <= a := critical_ge1.
have a0 : 0 < a by apply: lt_le_trans a1.
apply: (@le_trans _ _ (P (~` within (a * n)))); last first.
  apply: le_measure; rewrite ?inE; try exact/measurableC/measurable_within.
  apply: subsetC => x xC i; apply: le_trans (xC i) _.
  by apply: ler_wpmul2r => //; apply: ltW.
have t0 : 0 < (96%:R * n ^+ 6)^-1 by rewrite invr_gt0 mulr_gt0 ?ltr0n ?exprn_gt0.
have dM : n <= 4%:R * (a * n).
  by rewrite mulrA ler_pmull //; apply: le_trans a1 _; rewrite ler_pmull // ler1n.
have := moment_inequality d0 dM t0; rewrite -/n.
set p := P _; have [q pq] : exists q, p = q%:E.
  suff : p \is a fin_num by case: (p) => // r _; exists r.
  rewrite ge0_fin_numE ?measure_ge0 //; apply: le_lt_trans (_ : (1 < +oo)%E); last exact: ltry.
  rewrite -(is_probability moments); apply: le_measure; rewrite ?inE //.
  exact/measurableC/measurable_within.
rewrite pq -EFinM -EFinD !lee_fin => main.
have K24 : K <= 24%:R * n ^+ 8 := fourth_le n1.
clear pq p; move: critical_root; rewrite -/a => root; clearbody a n.
have an0 : a * n != 0 by rewrite mulf_neq0 ?gt_eqF.
have poly : (a * n + n / 4%:R - 1 / 2%:R) * n ^+ 2 + (4%:R * (a * n))^-1 * (n ^+ 4 + n ^+ 2)
    - 2%:R * n ^+ 3 = n / (4%:R * a) - n ^+ 2 / 2%:R.
  apply/eqP; rewrite -subr_eq0; apply/eqP.
  transitivity (n ^+ 3 * (4%:R * a ^+ 2 - (7%:R * a - 1)) / (4%:R * a)).
    by field; rewrite ?gt_eqF.
  by rewrite root subrr mulr0 mul0r.
have half : (96%:R * n ^+ 6)^-1 / 2%:R * K <= n ^+ 2 / 8%:R.
  have c0 : 0 <= (96%:R * n ^+ 6)^-1 / 2%:R by rewrite divr_ge0 ?ler0n // ltW.
  apply: le_trans (ler_wpmul2l c0 K24) _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
  by field; rewrite gt_eqF.
have small : n / (4%:R * a) <= n ^+ 2 / 4%:R.
  rewrite invfM mulrA ler_pdivr_mulr // mulrAC ler_pmul2r ?invr_gt0 ?ltr0n //.
  by rewrite expr2 -mulrA ler_pmulr // -[X in X <= _]mulr1 ler_pmul ?ler01.
have key : n ^+ 2 / 8%:R <= 48%:R * n ^+ 6 * q.
  have inv : (2%:R * (96%:R * n ^+ 6)^-1)^-1 = 48%:R * n ^+ 6 by field; rewrite gt_eqF.
  move: main; rewrite inv -subr_ge0 => main; rewrite -subr_ge0.
  apply: le_trans (le_trans main _) (lexx _).
  have := ler_add half small; rewrite -subr_ge0 => hs; rewrite -subr_ge0.
  apply: le_trans hs _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
  move: poly; move: ((a * n + n / 4%:R - 1 / 2%:R) * n ^+ 2) ((4%:R * (a * n))^-1 * _) => x y.
  move=> /(canRL (subrK _)); move: (n / (4%:R * a)) => z e.
  by rewrite e; move: (_ / 2%:R * K) => w; field.
rewrite -(ler_pmul2l (_ : 0 < 48%:R * n ^+ 6)) ?mulr_gt0 ?ltr0n ?exprn_gt0 //.
apply: le_trans key; rewrite le_eqVlt; apply/orP/or_introl/eqP.
by field; rewrite gt_eqF.
Qed.

End Premises.

(* THE REFUTATION *)

Section Refutation.
Variable R : realType.

(* exp x >= (x/13)^13 *)
Lemma expR_ge13 (x : R) : 0 <= x -> (x / 13%:R) ^+ 13 <= expR x.
Proof.
move=> x0; have -> : expR x = expR (x / 13%:R) ^+ 13.
  by rewrite -expRMm mulrC divfK ?pnatr_eq0.
have y0 : 0 <= x / 13%:R by rewrite divr_ge0 ?ler0n.
rewrite ler_pexpn2r ?nnegrE ?(ltW (expR_gt0 _)) //.
by apply: le_trans (expR_ge1Dx y0); rewrite ler_addr ler01.
Qed.

(* the cube root of d, and the failure probability 2 exp (- d^(1/3)/c) of the printed theorem *)
Definition cube_root (d : nat) : R := d%:R `^ (3%:R^-1).
Definition printed_failure (c : R) (d : nat) : R := 2%:R * expR (- (cube_root d / c)).

Lemma cube_root_cube d : (0 < d)%N -> cube_root d ^+ 3 = d%:R.
Proof.
move=> d0; rewrite /cube_root /exp_fun -expRMm mulrA divff ?pnatr_eq0 // mul1r.
by rewrite lnK // posrE ltr0n.
Qed.

(* it falls below 1/(384 d^4) for every large d *)
Lemma printed_failure_small (c : R) : 0 < c ->
  exists d0 : nat, forall d, (d0 <= d)%N -> printed_failure c d < (384%:R * d%:R ^+ 4)^-1.
Proof.
move=> c0; pose b := 768%:R * (13%:R * c) ^+ 13.
have c13 : 0 < (13%:R * c) ^+ 13 by rewrite exprn_gt0 // mulr_gt0 ?ltr0n.
have b0 : 0 < b by rewrite mulr_gt0 ?ltr0n.
exists (Num.bound (b ^+ 3)) => d dd0.
have b3 : b ^+ 3 < d%:R.
  by apply: lt_le_trans (archi_boundP (exprn_ge0 3 (ltW b0))) _; rewrite ler_nat.
have d0 : (0 < d)%N by rewrite -(ltr0n R); apply: lt_trans b3; rewrite exprn_gt0.
set y := cube_root d; have y0 : 0 < y by apply: exp_fun_gt0.
have yb : b < y by rewrite -(@ltr_pexpn2r _ 3) ?nnegrE ?(ltW b0) ?(ltW y0) // cube_root_cube.
have y4 : d%:R ^+ 4 = y ^+ 12 by rewrite -cube_root_cube // -exprM.
have big : 768%:R * y ^+ 12 < expR (y / c).
  apply: lt_le_trans (expR_ge13 (divr_ge0 (ltW y0) (ltW c0))).
  have -> : (y / c / 13%:R) ^+ 13 = y ^+ 12 * (y / (13%:R * c) ^+ 13).
    by rewrite -mulrA -invfM [c * _]mulrC exprMn exprVn exprSr mulrA.
  rewrite mulrC ltr_pmul2l ?exprn_gt0 // ltr_pdivl_mulr //.
have y12 : 0 < y ^+ 12 by rewrite exprn_gt0.
rewrite /printed_failure -/y expRN y4 -ltr_pdivl_mull ?ltr0n //.
rewrite -invfM ltf_pinv ?posrE ?expR_gt0 ?mulr_gt0 ?ltr0n //.
by rewrite mulrA -natrM.
Qed.

(* Theorem 6 with the constants C and c, for laws that satisfy the premises in every          *)
(* dimension d >= 1: false for all large d, hence not a theorem, when C <= (7 + sqrt 33)/8.   *)
(* CONDITIONAL on noise_moments in every dimension. Z does not appear: s_1, ..., s_d stand    *)
(* for its singular values at rho = 1, and `within` is the event that all are at most C d.    *)
(* There is a d0 such that for all d >= d0 its probability is below 1 - 2 exp (- d^(1/3)/c);  *)
(* d0 is not computed. The term of H with s_i = s_j = 0 counts 0.                             *)
(*@ DN25.Thm6-REFUTED *)
Theorem theorem6_refuted (dd : nat -> measure_display) (T : forall d, measurableType (dd d))
    (P : forall d, {measure set T d -> \bar R}) (s : forall d, T d -> 'I_d -> R) (C c : R) :
  (forall d, (0 < d)%N -> noise_moments (P d) (@s d)) ->
  C <= critical R -> 0 < c ->
  exists d0 : nat, forall d, (d0 <= d)%N ->
    (P d (within (@s d) (C * d%:R)) < (1 - printed_failure c d)%:E)%E.
Proof.
move=> moments Cle c0; have [d1 small] := printed_failure_small c0.
exists (maxn d1 1) => d; rewrite geq_max => /andP[dd1 d0].
have mom := moments d d0; set A := within _ _.
have mA : measurable A := measurable_within mom (C * d%:R).
have tail := tail_probability mom d0 Cle; rewrite -/A in tail.
have PA : (P d A + P d (~` A) = 1)%E.
  rewrite -(is_probability mom) -measureU ?setUv ?setICr //; exact: measurableC.
have finA : P d A \is a fin_num.
  rewrite ge0_fin_numE ?measure_ge0 //; apply: le_lt_trans (_ : (1 < +oo)%E); last exact: ltry.
  by rewrite -PA lee_addl ?measure_ge0.
have finB : P d (~` A) \is a fin_num.
  rewrite ge0_fin_numE ?measure_ge0 //; apply: le_lt_trans (_ : (1 < +oo)%E); last exact: ltry.
  by rewrite -PA lee_addr ?measure_ge0.
move: PA tail; rewrite -(fineK finA) -(fineK finB) -EFinD lee_fin lte_fin => -[PA] tail.
rewrite -PA ltr_subr_addr ltr_add2l; apply: lt_le_trans tail.
exact: small.
Qed.

(* in particular for the printed constant 1.1 *)
Lemma printed_constant_below : 11%:R / 10%:R <= critical R.
Proof.
rewrite /critical ler_pdivl_mulr ?ltr0n //.
apply: (@le_trans _ _ (7%:R + 2%:R)).
  rewrite -subr_ge0 (_ : _ - _ = 1 / 5%:R); last by field.
  by rewrite divr_ge0 ?ler0n ?ler01.
rewrite ler_add2l -[X in X <= _]ger0_norm ?ler0n // -sqrtr_sqr ler_wsqrtr //.
by rewrite -natrX ler_nat.
Qed.

End Refutation.
