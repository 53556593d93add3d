(* The Laplace density: int exp (-|x|/b) dx = 2 b, so that exp (-|x|/b)/(2 b) is a
   probability density. The library has no fundamental theorem of calculus for the
   Lebesgue integral; translations do instead. Let I be the integral of exp (-x) over
   x > 0. Moving by h, the part beyond h is exp (-h) I; the part up to h lies between
   h exp (-h) and h. So I (1 - exp (-h)) lies there too, and I = 1.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory PureDP Lebesgue LebesgueBox LebesgueShift LebesgueScale KNorm.
From covassay Require Import ExponentialBounds Squeeze.
Local Open Scope ereal_scope.

Section Laplace.
Variable R : realType.
Implicit Types (h t : R) (A B : set R).
Let Leb := [the measure _ _ of @leb R].
Let f (t : R) : R := exp_line 1 t.

Let f0 t : 0 <= (f t)%:E. Proof. by rewrite lee_fin exp_line_ge0. Qed.
Let mf A : measurable_fun A (fun t => (f t)%:E).
Proof. by apply/EFin_measurable_fun/measurable_funTS; exact: measurable_exp_line. Qed.

Let J A : \bar R := \int[Leb]_(t in A) (f t)%:E.

Let J_ge0 A : 0 <= J A. Proof. by apply: integral_ge0. Qed.

Let J_lty A : measurable A -> J A < +oo.
Proof.
move=> mA; apply: le_lt_trans (exp_line_lty (@ltr01 R)); exact: subset_integral.
Qed.

Let J_fin A : measurable A -> J A = (fine (J A))%:E.
Proof. by move=> mA; rewrite fineK // ge0_fin_numE // J_lty. Qed.

Let J_union A B : measurable A -> measurable B -> [disjoint A & B] -> J (A `|` B) = J A + J B.
Proof. by move=> mA mB AB; rewrite /J integral_setU. Qed.

(* a translation that multiplies the density by exp (-h) *)
Let J_move A B h c : measurable A -> (forall t, B (t + h) <-> A t)%R ->
  (forall t, A t -> f (t + h) = expR (- c) * f t)%R -> measurable B ->
  J B = (expR (- c))%:E * J A.
Proof.
move=> mA BA fh mB; rewrite /J integral_mkcond -(integral_shift_line h) //; last 2 first.
- exact/(measurable_restrict _ mB).
- by move=> t; apply: erestrict_ge0.
rewrite -ge0_integralM_EFin //; last by rewrite ltW // expR_gt0.
rewrite [RHS]integral_mkcond; apply: eq_integral => t _; rewrite /patch.
have -> : ((t + h)%R \in B) = (t \in A) by apply/idP/idP; rewrite !inE => /BA.
by case: ifPn => //; rewrite inE => At; rewrite fh // EFinM.
Qed.

(* a half-line is a piece of length h at the origin and the half-line moved by h *)
Let half A (piece rest : R -> set R) : measurable A ->
  (forall h, (0 < h)%R -> [/\ measurable (piece h), measurable (rest h), A = piece h `|` rest h,
     [disjoint piece h & rest h] & leb (piece h) = h%:E]) ->
  (forall h t, (0 < h)%R -> piece h t -> `|t| <= h)%R ->
  (forall h, (0 < h)%R -> J (rest h) = (expR (- h))%:E * J A) -> J A = 1.
Proof.
move=> mA split near move_; rewrite J_fin //; congr (_%:E); set I := fine _.
have key h : (0 < h)%R -> (h * expR (- h) <= I * (1 - expR (- h)) <= h)%R.
  move=> h0; have [mp mr AE dis len] := split h h0.
  have E : J A = J (piece h) + (expR (- h))%:E * J A.
    by rewrite -move_ // -J_union // -AE.
  have pE : (I * (1 - expR (- h)))%:E = J (piece h).
    move: E; rewrite J_fin // -/I J_fin // -EFinM -EFinD => -[E]; congr (_%:E).
    by rewrite mulrBr mulr1 {1}E mulrC addrK.
  have mc (c : R) : measurable_fun (piece h) (fun=> c%:E) by exact: measurable_fun_cst.
  have flat (c : R) : \int[Leb]_(t in piece h) c%:E = (h * c)%:E.
    by rewrite integral_cst //= len -EFinM mulrC.
  apply/andP; split; rewrite -lee_fin pE.
    rewrite -flat; apply: ge0_le_integral => //.
      by move=> t _; rewrite lee_fin ltW // expR_gt0.
    move=> t pt; rewrite lee_fin /f /exp_line mul1r ler_expR ler_opp2.
    exact: near pt.
  rewrite -[X in _ <= X%:E]mulr1 -flat.
  apply: ge0_le_integral => // t _; rewrite lee_fin /f /exp_line mul1r -expR0 ler_expR oppr_le0.
  exact: normr_ge0.
have e_ge h : (1 - h <= expR (- h))%R := expR_ge1D (- h).
have e_le h : (0 < h)%R -> (h * (1 - h) <= 1 - expR (- h))%R.
  move=> h0; rewrite ler_subr_addr.
  have le1 : (expR (- h) * (1 + h) <= 1)%R.
    by rewrite expRN mulrC ler_pdivr_mulr ?expR_gt0 // mul1r expR_ge1D.
  apply: le_trans le1; rewrite -subr_ge0.
  have -> : (expR (- h) * (1 + h) - (h * (1 - h) + expR (- h)) = h * (expR (- h) - (1 - h)))%R.
    by move: (expR _) => e; ring.
  by rewrite mulr_ge0 ?subr_ge0 // ltW.
apply/eqP; rewrite eq_le; apply/andP; split.
  apply: (@le_of_small _ _ _ I) => h h0 h1; have /andP[_ le] := key h h0.
  have I0 : (0 <= I)%R by apply: fine_ge0.
  have := le_trans (ler_wpmul2l I0 (e_le h h0)) le.
  rewrite mulrCA -[X in (_ <= X)%R]mulr1 ler_pmul2l // mulrBr mulr1 ler_subl_addr.
  by rewrite [(h * I)%R]mulrC.
apply: (@le_of_small _ _ _ 1) => h h0 h1; have /andP[ge _] := key h h0.
have I0 : (0 <= I)%R by apply: fine_ge0.
have le : (I * (1 - expR (- h)) <= I * h)%R.
  by rewrite ler_wpmul2l // ler_subl_addr -ler_subl_addl e_ge.
have := le_trans (ler_wpmul2l (ltW h0) (e_ge h)) (le_trans ge le).
by rewrite [(I * h)%R]mulrC ler_pmul2l // mulr1 ler_subl_addr.
Qed.

Let positive_half : J `]0%R, +oo[%classic = 1.
Proof.
apply: (half (piece := fun h => `]0%R, h]%classic) (rest := fun h => `]h, +oo[%classic)).
- exact: measurable_itv.
- move=> h h0; split; try exact: measurable_itv.
  + apply/seteqP; split => t /=; rewrite !in_itv /= ?andbT.
      by move=> t0; have [th|th] := leP t h; [left; rewrite t0|right].
    by case=> [/andP[]//|]; exact: lt_trans.
  + apply/disj_set2P/seteqP; split => t //=; rewrite !in_itv /= andbT => -[/andP[_ le] lt].
    by move: lt; rewrite ltNge le.
  + by rewrite leb_oc ?subr0 // ltW.
- by move=> h t h0; rewrite /= in_itv /= => /andP[t0 th]; rewrite gtr0_norm.
- move=> h h0; apply: (J_move (h := h)); try exact: measurable_itv.
    by move=> t; rewrite /= !in_itv /= !andbT ltr_addr.
  move=> t; rewrite /= in_itv /= andbT => t0; rewrite /f /exp_line !mul1r.
  by rewrite !gtr0_norm ?addr_gt0 // opprD expRD mulrC.
Qed.

Let negative_half : J `]-oo, 0%R]%classic = 1.
Proof.
apply: (half (piece := fun h => `](- h)%R, 0%R]%classic)
             (rest := fun h => `]-oo, (- h)%R]%classic)).
- exact: measurable_itv.
- move=> h h0; split; try exact: measurable_itv.
  + apply/seteqP; split => t /=; rewrite !in_itv /=.
      by move=> t0; have [th|th] := leP t (- h)%R; [right|left; rewrite t0].
    by case=> [/andP[]//|] th; apply: le_trans th _; rewrite oppr_le0 ltW.
  + apply/disj_set2P/seteqP; split => t //=; rewrite !in_itv /= => -[/andP[lt _] le].
    by move: lt; rewrite ltNge le.
  + by rewrite leb_oc ?oppr_le0 ?(ltW h0) // sub0r opprK.
- move=> h t h0; rewrite /= in_itv /= => /andP[ht t0].
  by rewrite ler0_norm // ler_oppl ltW.
- move=> h h0; apply: (J_move (h := (- h)%R)); try exact: measurable_itv.
    by move=> t; rewrite /= !in_itv /= ger_addr.
  move=> t; rewrite /= in_itv /= => t0; rewrite /f /exp_line !mul1r.
  rewrite !ler0_norm //; last by rewrite -oppr_ge0 opprD opprK addr_ge0 ?oppr_ge0 // ltW.
  by rewrite !opprK addrC expRD.
Qed.

Let both_halves : \int[Leb]_t (f t)%:E = 2%:E.
Proof.
have T : [set: R] = `]-oo, 0%R]%classic `|` `]0%R, +oo[%classic.
  apply/seteqP; split => t //= _; rewrite !in_itv /= andbT.
  by have [|] := leP t 0%R; [left|right].
rewrite -[LHS]/(J setT) T J_union; try exact: measurable_itv.
  by rewrite positive_half negative_half -EFinD.
apply/disj_set2P/seteqP; split => t //=; rewrite !in_itv /= andbT => -[le lt].
by move: lt; rewrite ltNge le.
Qed.

Variable b : R.
Hypothesis b_gt0 : (0 < b)%R.

(* The premise is a scale b > 0. *)
(*@ LAPLACE-NORMALIZER *)
Theorem laplace_normalizer : normalizer (laplace_weight b_gt0) = (2 * b)%R.
Proof.
apply: EFin_inj; rewrite normalizerE /=.
have c0 : (0 < b^-1)%R by rewrite invr_gt0.
have := integral_rescale (mu := Leb) c0 (measurable_scale_line b^-1) (leb_scale c0)
  (@mf setT) f0.
rewrite both_halves expr1 => E.
have -> : \int[Leb]_t (exp_line b^-1 t)%:E = b%:E * ((b^-1)%:E * \int[Leb]_t (f (b^-1 * t))%:E).
  rewrite muleA -EFinM mulfV ?gt_eqF // mul1e; apply: eq_integral => t _.
  by rewrite /f /exp_line mul1r normrM gtr0_norm.
by rewrite E -EFinM mulrC.
Qed.

End Laplace.
