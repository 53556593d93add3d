(* DN25, Theorem 6: an inequality between moments and the probability of |Z| > M.

   At every point Q + H is at most a combination of R and R^2 where no singular value
   exceeds M (TailIdentity), and at most a combination of R^4 and a constant where one does:

     Q + H <= (M + d/4 - 1/2) R + R^2/(4 M) + (tau/2) R^4 + 1/(2 tau) [|Z| > M],

   for d <= 4 M and every tau > 0. In expectation, and with the premises noise_moments for
   E R, E R^2, E R^4 and E (Q + H), this bounds P (|Z| > M) from below (moment_inequality).
   The only premise is noise_moments. *)
From covassay Require Import MeasureTheory MeasurableFunctions PairSums TailIdentity Theorem6 Expectation.

(* The bound on E R^4. *)
Definition fourth_bound (R : ringType) (n : R) : R :=
  n ^+ 2 * (n ^+ 2 + 1) * (n ^+ 2 + 2%:R) * (n ^+ 2 + 3%:R).

Section Moments.
Context dd (T : measurableType dd) (R : realType) (P : {measure set T -> \bar R}).
Variables (d : nat) (s : T -> 'I_d -> R).
Hypothesis moments : noise_moments P s.

Let s0 := s_ge0 moments.

(* WHAT IS MEASURABLE *)

Lemma measurable_total : measurable_fun setT (fun x => total (s x)).
Proof. by apply: measurable_sum => i; exact: (measurable_s moments). Qed.

Lemma measurable_square_sum : measurable_fun setT (fun x => square_sum (s x)).
Proof. by apply: measurable_sum => i; apply/measurable_fun_exprn/(measurable_s moments). Qed.

(* the event |Z| <= M *)
Lemma measurable_within M : measurable (within s M).
Proof.
rewrite (_ : within s M = \bigcap_(i in [set: 'I_d]) [set x | s x i <= M]); last first.
  by apply/seteqP; split=> [x xM i _|x xM i]; [apply: xM | apply: (xM i I)].
apply: fin_bigcap_measurable; first exact: finite_finset.
move=> i _; rewrite (_ : [set _ | _] = setT `&` (fun x => s x i) @^-1` `]-oo, M]).
  by apply: (measurable_s moments i) => //; apply: measurable_itv.
by apply/seteqP; split=> x; rewrite /= ?in_itv //= => -[].
Qed.

(* THE INEQUALITY *)

(* at every point *)
Lemma pointwise x (M tau : R) : (0 < d)%N -> d%:R <= 4%:R * M -> 0 < tau ->
  square_sum (s x) + harmonic_sum (s x)
  <= (M + d%:R / 4%:R - 1 / 2%:R) * total (s x) + (4%:R * M)^-1 * total (s x) ^+ 2
     + (tau / 2%:R * total (s x) ^+ 4 + (2%:R * tau)^-1 * \1_(~` within s M) x).
Proof.
move=> d0 dM t0; have R0 : 0 <= total (s x) by apply: total_ge0.
have M0 : 0 < M by rewrite -(pmulr_rgt0 M (ltr0n R 4)) (lt_le_trans _ dM) ?ltr0n.
have t4 : 0 <= tau / 2%:R * total (s x) ^+ 4 by rewrite mulr_ge0 ?divr_ge0 ?exprn_ge0 ?ler0n // ltW.
have [good|bad] := pselect (within s M x).
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

(* in expectation *)
Lemma moment_inequality (M tau : R) : (0 < d)%N -> d%:R <= 4%:R * M -> 0 < tau ->
  ((2%:R * d%:R ^+ 3)%:E
   <= ((M + d%:R / 4%:R - 1 / 2%:R) * d%:R ^+ 2 + (4%:R * M)^-1 * (d%:R ^+ 4 + d%:R ^+ 2)
       + tau / 2%:R * fourth_bound d%:R)%:E + (2%:R * tau)^-1%:E * P (~` within s M))%E.
Proof.
move=> d0 dM t0; rewrite -(by_parts moments).
have M0 : 0 < M by rewrite -(pmulr_rgt0 M (ltr0n R 4)) (lt_le_trans _ dM) ?ltr0n.
have R0 x : 0 <= total (s x) by apply: total_ge0.
have mR := measurable_total; have mW := measurable_within M.
have m1 : measurable_fun setT (\1_(~` within s M) : T -> R).
  exact/measurable_fun_indic/measurableC.
have ind0 x : 0 <= (\1_(~` within s M) x : R) by rewrite indicE ler0n.
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
by rewrite (EFinM _ (fourth_bound _)) lee_wpmul2l ?lee_fin //; exact: (moment4 moments).
Qed.

End Moments.
