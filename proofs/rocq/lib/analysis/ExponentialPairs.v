(* e^-u + e^-v to second order, for numbers u and v that are nearly opposite.

   Let u = h f + h^2 g and v = - h f + h^2 g, both up to h^3 q r, where q >= 1, r >= 0 and
   0 <= h <= 1/(2 q).  Then

      e^-u + e^-v = 2 + h^2 (f^2 - 2 g),   up to C h^3 e^(3 r/4),

   where C depends on q only.  The powers of r in the remainder are absorbed by the
   exponential, because r <= 12 e^(r/12).  Nothing is assumed. *)
From covassay Require Import MeasureTheory Expansions.

Section Pair.
Variable R : realType.
Implicit Types f g h q r u v x : R.

(* the remainder, as a multiple of h^3 *)
Definition bound q r : R := 5%:R * (12%:R * q) ^+ 3 * expR (3%:R / 4%:R * r).

Let bound_ge0 q r : 1 <= q -> 0 <= bound q r.
Proof.
move=> q1; have q0 : 0 <= q := le_trans ler01 q1.
by rewrite /bound !mulr_ge0 ?ler0n ?exprn_ge0 ?mulr_ge0 ?ler0n // ltW ?expR_gt0.
Qed.

(* r + q r^2 + ... is absorbed by the exponential *)
Let absorb q r : 0 <= r -> 1 <= q ->
  q * r + (q * r) ^+ 2 + 3%:R * (q * r) ^+ 3 * expR (r / 2%:R) <= bound q r.
Proof.
move=> r0 q1; have q0 : 0 <= q := le_trans ler01 q1; pose x := expR (r / 12%:R).
have r12 : 0 <= r / 12%:R by rewrite divr_ge0 ?ler0n.
have x1 : 1 <= x by rewrite /x -[X in X <= _](expR0 R) ler_expR.
have x0 : 0 <= x := le_trans ler01 x1.
have rx : r <= 12%:R * x.
  rewrite -ler_pdivr_mull ?ltr0n // mulrC; apply: le_trans (expR_ge1Dx r12).
  by rewrite ler_addr ler01.
have -> : expR (r / 2%:R) = x ^+ 6 by rewrite /x -expRMm; congr expR; field.
have -> : bound q r = 5%:R * (q * (12%:R * x)) ^+ 3 * x ^+ 6.
  rewrite /bound (_ : expR _ = x ^+ 3 * x ^+ 6); first by rewrite !exprMn; move: (x ^+ 6) => e; ring.
  by rewrite -exprD /x -expRMm; congr expR; field.
have y1 : 1 <= q * (12%:R * x).
  by apply: mulr_ege1 => //; apply: mulr_ege1 => //; rewrite ler1n.
have le : q * r <= q * (12%:R * x) by rewrite ler_wpmul2l.
have t0 : 0 <= q * r by rewrite mulr_ge0.
move: (q * r) (q * (12%:R * x)) t0 y1 le => t y t0 y1 le.
have y0 : 0 <= y := le_trans ler01 y1.
have e1 : 1 <= x ^+ 6 by rewrite exprn_ege1.
have y3 : y <= y ^+ 3 by rewrite -[X in X <= _]expr1 ler_weexpn2l.
have y2 : y ^+ 2 <= y ^+ 3 by rewrite ler_weexpn2l.
have t3 : t ^+ 3 <= y ^+ 3 by rewrite ler_expn2r.
have t2 : t ^+ 2 <= y ^+ 2 by rewrite ler_expn2r.
move: (x ^+ 6) e1 => e e1; have e0 : 0 <= e := le_trans ler01 e1.
have p0 : 0 <= y ^+ 3 by rewrite exprn_ge0.
have pe : y ^+ 3 <= y ^+ 3 * e by rewrite ler_pemulr.
have te : 3%:R * t ^+ 3 * e <= 3%:R * (y ^+ 3 * e).
  by rewrite -mulrA ler_wpmul2l ?ler0n // ler_wpmul2r.
rewrite (_ : 5%:R * y ^+ 3 * e = y ^+ 3 * e + y ^+ 3 * e + 3%:R * (y ^+ 3 * e)); last by ring.
apply: ler_add te; apply: ler_add.
  exact: le_trans (le_trans le y3) pe.
exact: le_trans (le_trans t2 y2) pe.
Qed.

(* e^-u, when u is h f + h^2 g up to h^3 q r *)
Lemma exp_second_order q r f g h u : 0 <= r -> 1 <= q -> 0 <= h -> h * q <= 1 / 2%:R ->
  `|f| <= q * r -> `|u| <= h * (q * r) -> `|u - h * f| <= h ^+ 2 * (q * r) ->
  `|u - (h * f + h ^+ 2 * g)| <= h ^+ 3 * (q * r) ->
  `|expR (- u) - (1 - h * f + h ^+ 2 * (f ^+ 2 / 2%:R - g))| <= h ^+ 3 * bound q r.
Proof.
move=> r0 q1 h0 hq f1 u1 u2 u3; have q0 : 0 <= q := le_trans ler01 q1.
have t0 : 0 <= q * r by rewrite mulr_ge0.
apply: le_trans (ler_wpmul2l (exprn_ge0 3 h0) (absorb r0 q1)).
rewrite [X in _ <= X]mulrDr [X in _ <= X + _]mulrDr.
have -> : expR (- u) - (1 - h * f + h ^+ 2 * (f ^+ 2 / 2%:R - g)) =
    - (u - (h * f + h ^+ 2 * g)) + (u - h * f) * (u + h * f) / 2%:R + (expR (- u) - (1 - u + u ^+ 2 / 2%:R)).
  by move: (expR _) => e; field.
apply: le_trans (ler_norm_add _ _) _; apply: ler_add.
  apply: le_trans (ler_norm_add _ _) _; apply: ler_add; first by rewrite normrN.
  rewrite !normrM normfV (ger0_norm (ler0n R 2)) ler_pdivr_mulr ?ltr0n //.
  rewrite (_ : _ * _ * _ = h ^+ 2 * (q * r) * (h * (q * r) + h * (q * r))); last by ring.
  apply: ler_pmul => //; apply: le_trans (ler_norm_add _ _) _; apply: ler_add => //.
  by rewrite normrM ger0_norm // ler_wpmul2l.
apply: le_trans (exp_taylor u) _.
rewrite (_ : h ^+ 3 * (_ * _) = 3%:R * (h * (q * r)) ^+ 3 * expR (r / 2%:R)); last first.
  by rewrite exprMn; move: (expR _) => e; ring.
apply: ler_pmul; rewrite ?mulr_ge0 ?ler0n ?exprn_ge0 ?(ltW (expR_gt0 _)) //.
  by rewrite ler_wpmul2l ?ler0n // ler_expn2r // nnegrE ?mulr_ge0.
rewrite ler_expR; apply: le_trans u1 _; rewrite mulrA [r / _]mulrC ler_wpmul2r //.
by rewrite -[_^-1]mul1r.
Qed.

(* the terms of odd order of u and v cancel *)
Lemma exp_pair q r f g h u v : 0 <= r -> 1 <= q -> 0 <= h -> h * q <= 1 / 2%:R ->
  `|f| <= q * r -> `|u| <= h * (q * r) -> `|v| <= h * (q * r) ->
  `|u - h * f| <= h ^+ 2 * (q * r) -> `|v + h * f| <= h ^+ 2 * (q * r) ->
  `|u - (h * f + h ^+ 2 * g)| <= h ^+ 3 * (q * r) ->
  `|v - (h ^+ 2 * g - h * f)| <= h ^+ 3 * (q * r) ->
  `|expR (- u) + expR (- v) - (2%:R + h ^+ 2 * (f ^+ 2 - 2%:R * g))| <= h ^+ 3 * (bound q r *+ 2).
Proof.
move=> r0 q1 h0 hq f1 u1 v1 u2 v2 u3 v3.
have U := exp_second_order r0 q1 h0 hq f1 u1 u2 u3.
have V : `|expR (- v) - (1 - h * - f + h ^+ 2 * ((- f) ^+ 2 / 2%:R - g))| <= h ^+ 3 * bound q r.
  apply: exp_second_order => //; rewrite ?normrN ?mulrN ?opprK //.
  by rewrite [- _ + _]addrC.
apply: le_trans (_ : h ^+ 3 * bound q r + h ^+ 3 * bound q r <= _); last by rewrite -mulrDr mulr2n.
apply: le_trans (ler_add U V); apply: le_trans (ler_norm_add _ _).
rewrite le_eqVlt; apply/orP/or_introl/eqP; congr `|_|.
by move: (expR (- u)) (expR (- v)) => a b; field.
Qed.

End Pair.
