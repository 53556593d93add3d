(* The functions of eigenvalues that mechanisms use are measurable: positive part, square root
   of the positive part plus h, its inverse, a step, and 1/t with 1/0 = 0.

   The first three do not move numbers by much.  The last two are limits of such functions:
   at every number they agree with almost all of them.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory Lebesgue SpectralMaps.
Import numFieldNormedType.Exports.

Section Functions.
Variable R : realType.
Implicit Types s t h theta : R.

Definition positive_part t : R := Num.max t 0.

Lemma positive_part_lipschitz s t : `|positive_part s - positive_part t| <= 1 * `|s - t|.
Proof.
rewrite mul1r /positive_part; have [s0|s0] := leP s 0; have [t0|t0] := leP t 0.
- by rewrite subrr normr0.
- rewrite sub0r normrN gtr0_norm // ler0_norm ?subr_le0 ?(le_trans s0 (ltW t0)) //.
  by rewrite opprB ler_addl oppr_ge0.
- rewrite subr0 gtr0_norm // ger0_norm ?subr_ge0 ?(le_trans t0 (ltW s0)) //.
  by rewrite ler_addl oppr_ge0.
- by [].
Qed.

(* sqrt (max (t, 0) + h), and its inverse. *)
Definition shifted_root h t : R := Num.sqrt (positive_part t + h).
Definition inverse_root h t : R := (shifted_root h t)^-1.

Lemma positive_part_ge0 t : 0 <= positive_part t.
Proof. by rewrite le_maxr lexx orbT. Qed.

Lemma shifted_root_ge h t : 0 < h -> Num.sqrt h <= shifted_root h t.
Proof. by move=> h0; rewrite ler_wsqrtr // ler_addr positive_part_ge0. Qed.

Lemma shifted_root_lipschitz h s t : 0 < h ->
  `|shifted_root h s - shifted_root h t| <= (Num.sqrt h)^-1 * `|s - t|.
Proof.
move=> h0; have r0 : 0 < Num.sqrt h by rewrite sqrtr_gt0.
have ge := shifted_root_ge _ h0.
have sq u : shifted_root h u ^+ 2 = positive_part u + h.
  by rewrite sqr_sqrtr // addr_ge0 ?positive_part_ge0 // ltW.
rewrite ler_pdivl_mull //; apply: le_trans (_ : `|shifted_root h s + shifted_root h t| *
  `|shifted_root h s - shifted_root h t| <= _).
  rewrite ler_wpmul2r ?normr_ge0 // ger0_norm ?addr_ge0 ?sqrtr_ge0 //.
  by apply: le_trans (ge s) _; rewrite ler_addl sqrtr_ge0.
rewrite -normrM mulrC -subr_sqr !sq opprD addrACA subrr addr0.
by have := positive_part_lipschitz s t; rewrite mul1r.
Qed.

Lemma inverse_lipschitz (b p q : R) : 0 < b -> b <= p -> b <= q ->
  `|p^-1 - q^-1| <= (b ^+ 2)^-1 * `|p - q|.
Proof.
move=> b0 bp bq; have p0 := lt_le_trans b0 bp; have q0 := lt_le_trans b0 bq.
have -> : p^-1 - q^-1 = (p * q)^-1 * (q - p) by field; rewrite !gt_eqF.
rewrite normrM distrC ler_wpmul2r ?normr_ge0 // gtr0_norm ?invr_gt0 ?mulr_gt0 //.
by rewrite lef_pinv ?posrE ?exprn_gt0 ?mulr_gt0 // expr2 ler_pmul // ltW.
Qed.

(* One below theta, another from there on. *)
Definition step_function theta (low high t : R) : R := if theta <= t then high else low.

(* 1/t, and 0 at 0. *)
Definition pseudo_inverse t : R := t^-1.

Section Maps.
Variable d : nat.

Lemma positive_part_map : measurable_map d positive_part.
Proof. exact: (lipschitz_map ltr01 positive_part_lipschitz). Qed.

Lemma shifted_root_map h : 0 < h -> measurable_map d (shifted_root h).
Proof.
move=> h0; have c0 : 0 < (Num.sqrt h)^-1 by rewrite invr_gt0 sqrtr_gt0.
by apply: (lipschitz_map c0) => s t; exact: shifted_root_lipschitz.
Qed.

Lemma inverse_root_map h : 0 < h -> measurable_map d (inverse_root h).
Proof.
move=> h0; have r0 : 0 < Num.sqrt h by rewrite sqrtr_gt0.
have c0 : 0 < (Num.sqrt h ^+ 2)^-1 * (Num.sqrt h)^-1 by rewrite mulr_gt0 ?invr_gt0 ?exprn_gt0.
apply: (lipschitz_map c0) => s t.
apply: le_trans (inverse_lipschitz r0 (shifted_root_ge s h0) (shifted_root_ge t h0)) _.
rewrite -mulrA ler_wpmul2l ?invr_ge0 ?sqr_ge0 //; exact: shifted_root_lipschitz.
Qed.

(* Ramps of slope k that end at theta. *)
Let ramp theta (k : nat) t : R := positive_part (1 - k%:R * positive_part (theta - t)).

Let ramp_map theta k : measurable_map d (ramp theta k).
Proof.
have c0 : 0 < k%:R + 1 :> R by rewrite ltr_spaddr ?ltr01 ?ler0n.
apply: (lipschitz_map c0) => s t; apply: le_trans (positive_part_lipschitz _ _) _.
rewrite mul1r opprD addrACA subrr add0r opprK addrC -mulrBr normrM ger0_norm ?ler0n //.
apply: ler_pmul => //; rewrite ?normr_ge0 ?ler_addl ?ler01 //.
apply: le_trans (positive_part_lipschitz _ _) _; rewrite mul1r.
by rewrite opprB addrC addrA subrK.
Qed.

Lemma step_map theta low high : measurable_map d (step_function theta low high).
Proof.
pose g k t := low + (high - low) * ramp theta k t.
apply: (@measurable_map_limit _ _ g) => [k|t].
  have c0 : 0 < (`|high - low| + 1) * (k%:R + 1).
    by rewrite mulr_gt0 ?ltr_spaddr ?ltr01 ?ler0n ?normr_ge0.
  apply: (lipschitz_map c0) => s t.
  rewrite /g opprD addrACA subrr add0r -mulrBr normrM -mulrA.
  apply: ler_pmul; rewrite ?normr_ge0 ?ler_addl ?ler01 //.
  apply: le_trans (positive_part_lipschitz _ _) _.
  rewrite mul1r opprD addrACA subrr add0r opprK addrC -mulrBr normrM ger0_norm ?ler0n //.
  apply: ler_pmul => //; rewrite ?normr_ge0 ?ler_addl ?ler01 //.
  apply: le_trans (positive_part_lipschitz _ _) _; rewrite mul1r.
  by rewrite opprB addrC addrA subrK.
rewrite /step_function; have [le|lt] := leP theta t.
  exists 0%N => k _; rewrite /g /ramp (_ : positive_part (theta - t) = 0).
    by rewrite mulr0 subr0 /positive_part max_l ?ler01 // mulr1 addrC subrK.
  by rewrite /positive_part max_r // subr_le0.
have p0 : 0 < theta - t by rewrite subr_gt0.
exists (Num.bound (theta - t)^-1) => k Nk; rewrite /g /ramp {2}/positive_part max_l ?ltW //.
rewrite /positive_part max_r ?mulr0 ?addr0 // subr_le0 -ler_pdivr_mulr // div1r.
apply: le_trans (ltW (archi_boundP _)) _; first by rewrite invr_ge0 ltW.
by rewrite ler_nat.
Qed.

Lemma pseudo_inverse_map : measurable_map d pseudo_inverse.
Proof.
pose cut (k : nat) t : R := (Num.max `|t| k.+1%:R^-1)^-1.
have cut_map k : measurable_map d (cut k).
  have b0 : 0 < k.+1%:R^-1 :> R by rewrite invr_gt0 ltr0n.
  have c0 : 0 < (k.+1%:R^-1 ^+ 2)^-1 :> R by rewrite invr_gt0 exprn_gt0.
  have big (u : R) : k.+1%:R^-1 <= Num.max `|u| k.+1%:R^-1 :> R by rewrite le_maxr lexx orbT.
  apply: (lipschitz_map c0) => s t; apply: le_trans (inverse_lipschitz b0 (big s) (big t)) _.
  rewrite ler_wpmul2l ?(ltW c0) //; apply: le_trans _ (ler_dist_dist s t).
  have shift u : Num.max u k.+1%:R^-1 = positive_part (u - k.+1%:R^-1) + k.+1%:R^-1.
    by rewrite /positive_part addr_maxl subrK add0r.
  rewrite !shift opprD addrACA subrr addr0; apply: le_trans (positive_part_lipschitz _ _) _.
  by rewrite mul1r opprB addrA subrK.
have id_map : measurable_map d (@id R).
  by apply: (lipschitz_map ltr01) => s t; rewrite mul1r.
pose g k t := t * (cut k t * cut k t).
apply: (@measurable_map_limit _ _ g) => [k|t].
  by apply: measurable_map_mul => //; exact: measurable_map_mul.
have [->|t0] := eqVneq t 0; first by exists 0%N => k _; rewrite /g mul0r /pseudo_inverse invr0.
have a0 : 0 < `|t| by rewrite normr_gt0.
exists (Num.bound `|t|^-1) => k Nk; rewrite /g /cut max_l.
  rewrite -invfM -expr2 real_normK ?num_real // expr2 invfM mulrA divff // mul1r.
  by [].
rewrite -[X in _ <= X]invrK lef_pinv ?posrE ?invr_gt0 ?ltr0n //; apply: le_trans (ltW (archi_boundP _)) _.
  by rewrite invr_ge0.
by rewrite ler_nat leqW.
Qed.

End Maps.

End Functions.
