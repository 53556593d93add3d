(* Numbers that are squeezed between bounds which hold for every small h > 0.

   A number is at most y if it is at most y + h z for all h in (0, 1). It is q a if it lies
   between the difference quotients of a/(1 + h)^q and a/(1 - h)^q at h = 0, for all such h:
   with Bernoulli's inequality the bounds are linear in h. Nothing is assumed. *)
From covassay Require Import MeasureTheory.

Section Squeeze.
Variable R : realType.
Implicit Types (a b h x y z : R).

Lemma bernoulli_nat q h : -1 <= h -> 1 + q%:R * h <= (1 + h) ^+ q.
Proof.
move=> h1; have h0 : 0 <= 1 + h by rewrite -ler_subl_addl sub0r.
elim: q => [|q IH]; first by rewrite mul0r addr0 expr0.
rewrite exprSr; apply: le_trans (ler_wpmul2r h0 IH).
rewrite -subr_ge0 [X in 0 <= X](_ : _ = q%:R * h ^+ 2); last by rewrite mulrSr; ring.
by rewrite mulr_ge0 ?sqr_ge0.
Qed.

Lemma le_of_small x y z : (forall h, 0 < h -> h < 1 -> x <= y + h * z) -> x <= y.
Proof.
move=> H; apply/ler_addgt0Pr => e e0.
have d0 : 0 < e + `|z| + 1 by rewrite ltr_paddl // addr_ge0 // ltW.
pose h := e / (e + `|z| + 1); have h0 : 0 < h by rewrite divr_gt0.
have h1 : h < 1 by rewrite ltr_pdivr_mulr // mul1r -addrA ltr_addl ltr_paddl.
apply: le_trans (H h h0 h1) _; rewrite ler_add2l.
apply: le_trans (ler_wpmul2l (ltW h0) (ler_norm z)) _.
rewrite /h mulrAC ler_pdivr_mulr // ler_wpmul2l ?(ltW e0) //.
by rewrite addrAC ler_addr addr_ge0 // ltW.
Qed.

(* b is the derivative of a/(1 - h)^q at h = 0 *)
Lemma squeeze q a b : 0 <= a ->
  (forall h, 0 < h -> h < 1 -> (1 - h) ^+ q * (h * b + a) <= a) ->
  (forall h, 0 < h -> h < 1 -> (1 + h) ^+ q * (a - h * b) <= a) -> 0 <= b ->
  b = q%:R * a.
Proof.
move=> a0 up lo b0; apply/eqP; rewrite eq_le; apply/andP; split.
  apply: (@le_of_small _ _ (q%:R * b)) => h h0 h1.
  have hb : 0 <= h * b + a by rewrite addr_ge0 // mulr_ge0 // ltW.
  have hm : -1 <= - h by rewrite ler_opp2 ltW.
  have := le_trans (ler_wpmul2r hb (bernoulli_nat q hm)) (up h h0 h1).
  rewrite -subr_ge0 => le; rewrite -subr_ge0 -(pmulr_rge0 _ h0).
  apply: le_trans le _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
  by move: (q%:R) => r; ring.
apply: (@le_of_small _ _ (q%:R * b)) => h h0 h1.
have hm : -1 <= h by apply: le_trans (ltW h0); rewrite oppr_le0.
have le : (1 + q%:R * h) * (a - h * b) <= a.
  have [s|s] := leP 0 (a - h * b).
    by apply: le_trans (lo h h0 h1); rewrite ler_wpmul2r // bernoulli_nat.
  apply: le_trans a0; rewrite mulr_ge0_le0 ?(ltW s) // addr_ge0 // mulr_ge0 // ltW //.
move: le; rewrite -subr_ge0 => le; rewrite -subr_ge0 -(pmulr_rge0 _ h0).
apply: le_trans le _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
by move: (q%:R) => r; ring.
Qed.

End Squeeze.
