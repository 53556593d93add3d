(* Expansions to second order, with a remainder of third order.

   - |e^-u - (1 - u + u^2/2)| <= 3 |u|^3 e^|u|;
   - (1 + h)^-n = 1 - n h + n (n + 1)/2 h^2, up to C |h|^3 for |h| <= 1/2, where C depends
     on n only; so (1 + h)^-n + (1 - h)^-n = 2 + n (n + 1) h^2, up to C h^3.

   The first comes from the signs of derivatives, one after the other, the second by
   induction on n.  Nothing is assumed. *)
From mathcomp.analysis Require Import derive.
From covassay Require Import MeasureTheory ExponentialBounds.
Import numFieldNormedType.Exports.

Section Exponential.
Variable R : realType.
Implicit Types (e h t u x : R).

Local Notation exp_neg := (@exp_neg R).
Let square : R -> R := id * id.
Let cube : R -> R := square * id.

Let D_square x : is_derive x 1 square (x *+ 2).
Proof.
have := is_deriveM (is_derive_id x 1) (is_derive_id x 1) => D.
by apply: is_derive_eq D _; rewrite /GRing.scale /= mulr1 mulr2n.
Qed.

Let D_cube x : is_derive x 1 cube (x ^+ 2 *+ 3).
Proof.
have := is_deriveM (D_square x) (is_derive_id x 1) => D.
apply: is_derive_eq D _; rewrite /GRing.scale /= mulr1 -[square x]/(x * x).
by ring.
Qed.

Let D_double f (df x : R) : is_derive x 1 f df -> is_derive x 1 (f + f) (df *+ 2).
Proof. by move=> D; rewrite mulr2n; exact: is_deriveD. Qed.

(* f, with the derivative 2 df >= 0, grows on [0, oo). *)
Let grow f df (x c e : R) : (forall z, is_derive z 1 f (df z *+ 2)) -> (forall z, 0 <= z -> 0 <= df z) ->
  0 <= x -> f x - f 0 = (e - c) *+ 2 -> c <= e.
Proof.
move=> D pos x0 E; rewrite -subr_ge0 -(@pmulrn_lge0 _ _ 2) // -E subr_ge0.
by apply: (nondecreasing D) (lexx 0) x0 => z z0; rewrite mulrn_wge0 // pos.
Qed.

Lemma exp_neg_le x : 0 <= x -> expR (- x) <= 1 - x + x ^+ 2 / 2%:R.
Proof.
pose F : R -> R := square - (id + id) - (exp_neg + exp_neg).
have D z : is_derive z 1 F ((exp_neg z - (1 - z)) *+ 2).
  apply: is_derive_eq (is_deriveB (is_deriveB (D_square z) (D_double _)) (D_double (is_derive_exp_neg z))) _.
  by rewrite -!mulrnBl opprK addrC opprB.
have FE z : F z = z * z - (z + z) - (expR (- z) + expR (- z)) by [].
move=> x0; apply: (grow D) x0 _ => [z _|]; first by rewrite subr_ge0 expR_ge1D.
by rewrite !FE oppr0 expR0; move: (expR _) => e; field.
Qed.

Lemma exp_neg_ge x : 0 <= x -> 1 - x + x ^+ 2 / 2%:R - x ^+ 3 <= expR (- x).
Proof.
pose F : R -> R := exp_neg + exp_neg + (id + id) - square + (cube + cube).
have D z : is_derive z 1 F ((1 - z + z ^+ 2 / 2%:R - exp_neg z + z ^+ 2 * 5%:R / 2%:R) *+ 2).
  have D1 := is_deriveD (D_double (is_derive_exp_neg z)) (D_double (is_derive_id z (1 : R))).
  apply: is_derive_eq (is_deriveD (is_deriveB D1 (D_square z)) (D_double (D_cube z))) _.
  by move: (exp_neg z) => e; field.
have FE z : F z = expR (- z) + expR (- z) + (z + z) - z * z + (z * z * z + z * z * z) by [].
move=> x0; apply: (grow D) x0 _ => [z z0|].
  rewrite addr_ge0 //; first by rewrite subr_ge0 exp_neg_le.
  by rewrite !mulr_ge0 ?invr_ge0 ?ler0n ?exprn_ge0.
by rewrite !FE oppr0 expR0; move: (expR _) => e; field.
Qed.

Lemma exp_ge x : 0 <= x -> 1 + x + x ^+ 2 / 2%:R <= expR x.
Proof.
pose F : R -> R := expR + expR - (id + id) - square.
have D z : is_derive z 1 F ((expR z - (1 + z)) *+ 2).
  apply: is_derive_eq (is_deriveB (is_deriveB (D_double (is_derive_expR z)) (D_double _)) (D_square z)) _.
  by rewrite -!mulrnBl opprD addrA.
have FE z : F z = expR z + expR z - (z + z) - z * z by [].
move=> x0; apply: (grow D) x0 _ => [z _|]; first by rewrite subr_ge0 expR_ge1D.
by rewrite !FE expR0; move: (expR x) => e; field.
Qed.

Lemma exp_le x : 0 <= x -> expR x <= 1 + x + x ^+ 2 / 2%:R + 3%:R * x ^+ 3 * expR x.
Proof.
move=> x0; have e0 := expR_gt0 x.
have p0 : 0 <= 1 + x + x ^+ 2 / 2%:R by rewrite !addr_ge0 ?ler01 ?divr_ge0 ?exprn_ge0 ?ler0n.
have low : 1 - 3%:R * x ^+ 3 <= (1 + x + x ^+ 2 / 2%:R) * expR (- x).
  have [x1|/ltW x1] := leP x 1; last first.
    apply: le_trans (_ : 0 <= _); last by rewrite mulr_ge0 // ltW ?expR_gt0.
    rewrite subr_le0; apply: le_trans (exprn_ege1 3 x1) _.
    by rewrite ler_pemull ?exprn_ge0 // ler1n.
  apply: le_trans (ler_wpmul2l p0 (exp_neg_ge x0)); rewrite -subr_ge0.
  rewrite [X in 0 <= X](_ : _ = x ^+ 3 * (3%:R / 4%:R * (1 - x) + (1 - x ^+ 2) / 2%:R + 3%:R / 4%:R)).
    have x2 : x ^+ 2 <= 1 by rewrite exprn_ile1.
    by rewrite mulr_ge0 ?exprn_ge0 // !addr_ge0 ?mulr_ge0 ?subr_ge0 ?invr_ge0 ?ler0n.
  by field.
have := ler_wpmul2r (ltW e0) low; rewrite -[X in _ <= X]mulrA -expRD addNr expR0 mulr1 mulrBl mul1r.
by rewrite ler_subl_addr.
Qed.

Lemma exp_taylor u : `|expR (- u) - (1 - u + u ^+ 2 / 2%:R)| <= 3%:R * `|u| ^+ 3 * expR `|u|.
Proof.
have [u0|/ltW u0] := leP 0 u.
  rewrite (ger0_norm u0) distrC ger0_norm ?subr_ge0 ?exp_neg_le //.
  have := exp_neg_ge u0; rewrite ler_subl_addr -ler_subl_addl => le; apply: le_trans le _.
  have e1 : 1 <= expR u by apply: le_trans (expR_ge1D u); rewrite ler_addl.
  apply: le_trans (_ : 3%:R * u ^+ 3 <= _); first by rewrite ler_pemull ?exprn_ge0 // ler1n.
  by rewrite ler_pemulr // mulr_ge0 ?ler0n ?exprn_ge0.
have v0 : 0 <= - u by rewrite oppr_ge0.
rewrite (ler0_norm u0); move: (- u) v0 (opprK u) => v v0 <-.
rewrite sqrrN ger0_norm; first by rewrite ler_subl_addl exp_le.
by rewrite subr_ge0 exp_ge.
Qed.

End Exponential.

Section Powers.
Variable R : realType.
Implicit Types h : R.
(* (1 + h)^-n *)
Lemma inverse_power n : exists2 C : R, 0 <= C & forall h, `|h| <= 1 / 2%:R ->
  `|((1 + h) ^+ n)^-1 - (1 - n%:R * h + n%:R * (n%:R + 1) / 2%:R * h ^+ 2)| <= C * `|h| ^+ 3.
Proof.
elim: n => [|n [C C0 IH]].
  by exists 0 => // h _; rewrite expr0 invr1 !mul0r subr0 addr0 subrr normr0.
pose D : R := (n%:R + 1) * (n%:R + 2%:R) / 2%:R.
have D0 : 0 <= D by rewrite !mulr_ge0 ?addr_ge0 ?invr_ge0 ?ler0n ?ler01.
have CD : 0 <= C + D by rewrite addr_ge0.
exists (2%:R * (C + D)) => [|h h2]; first by rewrite mulr_ge0 ?ler0n.
have half : 1 <= 2%:R * (1 + h).
  have := h2; rewrite ler_norml => /andP[lo _]; rewrite -subr_ge0.
  rewrite (_ : _ - 1 = 2%:R * (h - - (1 / 2%:R))); last by field.
  by rewrite mulr_ge0 ?ler0n ?subr_ge0.
have p : 0 < 1 + h by rewrite -(pmulr_rgt0 _ (ltr0n R 2)) (lt_le_trans ltr01).
rewrite (_ : _ - _ = (((1 + h) ^+ n)^-1 - (1 - n%:R * h + n%:R * (n%:R + 1) / 2%:R * h ^+ 2) - D * h ^+ 3) / (1 + h)).
  rewrite normrM normfV (gtr0_norm p) ler_pdivr_mulr //; apply: le_trans (ler_norm_sub _ _) _.
  rewrite normrM (ger0_norm D0) normrX; apply: le_trans (ler_add (IH h h2) (lexx _)) _.
  rewrite -mulrDl (_ : _ * (1 + h) = (C + D) * `|h| ^+ 3 * (2%:R * (1 + h))); last by ring.
  by rewrite ler_pemulr // mulr_ge0 ?exprn_ge0.
rewrite exprS invfM mulrSr /D; move: (_ ^+ n)^-1 n%:R => x k; field.
by rewrite gt_eqF.
Qed.

(* the part of even order *)
Lemma inverse_power_pair n : exists2 C : R, 0 <= C & forall h, 0 <= h -> h <= 1 / 2%:R ->
  `|((1 + h) ^+ n)^-1 + ((1 - h) ^+ n)^-1 - (2%:R + h ^+ 2 * (n%:R * (n%:R + 1)))| <= h ^+ 3 * C.
Proof.
have [C C0 le] := inverse_power n; exists (C + C) => [|h h0 h2]; first exact: addr_ge0.
have a := ger0_norm h0; have lep := le h; have leN := le (- h).
rewrite normrN !a in lep leN.
have := ler_add (lep h2) (leN h2); rewrite -mulrDl [_ * h ^+ 3]mulrC => bound.
apply: le_trans bound; apply: le_trans (ler_norm_add _ _); rewrite le_eqVlt; apply/orP/or_introl/eqP.
congr `|_|.
by move: (_ ^+ n)^-1 (_ ^+ n)^-1 n%:R => x y k; field.
Qed.
End Powers.
