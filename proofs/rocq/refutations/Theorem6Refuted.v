(* DN25, Theorem 6, is false for every large d, for laws that satisfy noise_moments.

   It would have P (|Z| > C d) <= 2 exp (- d^(1/3) / c). But the left side is at least
   1/(384 d^4) (Theorem6Tail), and the right side falls below that: exp x >= (x/13)^13, so
   that with y = d^(1/3) the failure probability is at most a constant times y^-13, while
   d^4 = y^12. The dimension from which on this holds is not computed. *)
From covassay Require Import MeasureTheory PairSums TailIdentity Theorem6 Theorem6Moments.
From covassay Require Import Theorem6Tail.

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

(* the printed failure probability falls below 1/(384 d^4) for every large d *)
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
set y := cube_root R d; have y0 : 0 < y by apply: exp_fun_gt0.
have yb : b < y by rewrite -(@ltr_pexpn2r _ 3) ?nnegrE ?(ltW b0) ?(ltW y0) // cube_root_cube.
have y4 : d%:R ^+ 4 = y ^+ 12 by rewrite -(cube_root_cube R) // -exprM.
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

(* Theorem 6 with the constants C and c is false for all large d, hence not a theorem, when
   C <= (7 + sqrt 33)/8 and c > 0: there is a d0 such that for all d >= d0 the probability
   of |Z| <= C d is below 1 - 2 exp (- d^(1/3)/c); d0 is not computed.
   CONDITIONAL on noise_moments in every dimension d >= 1: P_d is a probability, the
   singular values s_i >= 0 and H are measurable, E R = d^2, E R^2 = d^4 + d^2,
   E R^4 <= d^2 (d^2 + 1) (d^2 + 2) (d^2 + 3), and E (Q + H) = 2 d^3. Z does not appear:
   s_1, ..., s_d stand for its singular values at rho = 1, and `within` is the event that
   all are at most C d. Theorem6Noise has the theorem for the noise, with no such premise.
   The term of H with s_i = s_j = 0 counts 0. The printed constant 1.1
   is one of these C (printed_constant_below). *)
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

End Refutation.
