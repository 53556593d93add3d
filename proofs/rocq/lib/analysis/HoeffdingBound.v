(* Hoeffding's lemma for two points, and the largest Renyi moment of a privacy loss of bounded range.

   - For p, q >= 0 with p + q = 1:  p e^x + q e^y <= e^(p x + q y + (y - x)^2/8).
   - Let a <= 1 <= b = a e^eps, a < b, and let a law and another have the ratios a and b with such
     weights that both laws have mass one.  Their Renyi moment of order alpha >= 1 is at most
     e^((alpha - 1) alpha eps^2/8).

   The first comes from the sign of a derivative, twice; the second from the first, at alpha - 1 and
   at -1.  Nothing is assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum interval.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets functions.
From mathcomp.analysis Require Import reals topology normedtype sequences derive realfun exp.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import ExponentialBounds.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports numFieldNormedType.Exports.
Local Open Scope ring_scope.

Section Centred.
Variables (R : realType) (p q : R).
Hypotheses (p_ge0 : 0 <= p) (q_ge0 : 0 <= q) (pq1 : p + q = 1).
Implicit Types h : R.

Let mean : R := q - p.
Let even h : R := q * expR h + p * exp_neg h.
Let odd h : R := q * expR h - p * exp_neg h.

Let even_gt0 h : 0 < even h.
Proof.
have e0 := expR_gt0 h; have f0 : 0 < exp_neg h by exact: expR_gt0.
move: p_ge0; rewrite le_eqVlt => /predU1P[p0|p0].
  have q1 : q = 1 by rewrite -pq1 -p0 add0r.
  by rewrite /even -p0 q1 mul0r addr0 mul1r.
by rewrite /even ltr_paddl ?mulr_ge0 ?mulr_gt0 // ltW.
Qed.

Let even_derive h : is_derive h 1 even (odd h).
Proof.
rewrite (_ : even = q \*: expR + p \*: @exp_neg R) //.
apply: is_derive_eq (is_deriveD (is_deriveZ q (is_derive_expR h)) (is_deriveZ p (is_derive_exp_neg h))) _.
by rewrite /GRing.scale /= mulrN.
Qed.

Let odd_derive h : is_derive h 1 odd (even h).
Proof.
rewrite (_ : odd = q \*: expR - p \*: @exp_neg R) //.
apply: is_derive_eq (is_deriveB (is_deriveZ q (is_derive_expR h)) (is_deriveZ p (is_derive_exp_neg h))) _.
by rewrite /GRing.scale /= mulrN opprK.
Qed.

Let slope h : R := odd h * (even h)^-1.

Let slope_derive h : is_derive h 1 slope (1 - slope h ^+ 2).
Proof.
have e0 : even h != 0 by rewrite gt_eqF.
apply: is_derive_eq (is_deriveM (odd_derive h) (is_deriveV e0 (even_derive h))) _.
rewrite /GRing.scale /= /slope; move: (even h) e0 (odd h) => e e0 o.
by field.
Qed.

Let slope_le h : 0 <= h -> slope h <= mean + h.
Proof.
move=> h0; have D z : is_derive z 1 (id - slope) (1 - (1 - slope z ^+ 2)).
  exact: is_deriveB (is_derive_id z 1) (slope_derive z).
have pos z : 0 <= z -> 0 <= 1 - (1 - slope z ^+ 2) by move=> _; rewrite opprB addrC subrK sqr_ge0.
have := nondecreasing D pos (lexx 0) h0.
rewrite -![(id - slope) _]/(_ - slope _) /= sub0r.
have -> : slope 0 = mean.
  by rewrite /slope /odd /even /exp_neg oppr0 expR0 !mulr1 addrC [q + p]addrC pq1 invr1 mulr1 addrC.
by rewrite ler_oppl opprB ler_subl_addr addrC.
Qed.

Let tail h : R := expR (- (mean * h + h ^+ 2 / 2%:R)).

Let tail_derive h : is_derive h 1 tail (- ((mean + h) * tail h)).
Proof.
have Dq : is_derive h 1 ((- mean) \*: id + (- 2%:R^-1) \*: (id ^+ 2) : R -> R) (- (mean + h)).
  apply: is_derive_eq (is_deriveD (is_deriveZ (- mean) (is_derive_id h 1))
    (is_deriveZ (- 2%:R^-1) (is_deriveX 1 (is_derive_id h 1)))) _.
  by rewrite /GRing.scale /= expr1; field.
have -> : tail = expR \o ((- mean) \*: id + (- 2%:R^-1) \*: (id ^+ 2)).
  apply/funext => z; rewrite /tail /=; congr (expR _).
  rewrite -[(_ + _) z]/((- mean) * z + (- 2%:R^-1) * (id ^+ 2) z) exprfctE.
  by rewrite mulNr mulNr -opprD [2%:R^-1 * _]mulrC.
apply: is_derive_eq (is_derive1_comp (is_derive_expR _) Dq) _.
by rewrite mulrN mulrC.
Qed.

Lemma hoeffding_centred h : 0 <= h -> even h <= expR (mean * h + h ^+ 2 / 2%:R).
Proof.
move=> h0; have D z : is_derive z 1 (- (even * tail)) (((mean + z) * even z - odd z) * tail z).
  apply: is_derive_eq (is_deriveN (is_deriveM (even_derive z) (tail_derive z))) _.
  by rewrite /GRing.scale /=; move: (even z) (odd z) (tail z) mean => e o t m; ring.
have pos z : 0 <= z -> 0 <= ((mean + z) * even z - odd z) * tail z.
  move=> z0; rewrite mulr_ge0 ?(ltW (expR_gt0 _)) // subr_ge0 -ler_pdivr_mulr ?even_gt0 //.
  exact: slope_le.
have := nondecreasing D pos (lexx 0) h0.
rewrite -![(- (_ * _)) _]/(- (even _ * tail _)) ler_opp2.
have -> : even 0 * tail 0 = 1.
  rewrite /even /tail /exp_neg oppr0 expR0 mulr0 expr0n mul0r addr0 oppr0 expR0 !mulr1.
  by rewrite addrC.
rewrite /tail expRN -ler_pdivl_mulr ?invr_gt0 ?expR_gt0 //.
by rewrite invrK mul1r.
Qed.

End Centred.

Section TwoPoints.
Variable R : realType.
Implicit Types p q x y a b alpha eps : R.

Lemma hoeffding_two_points p q x y : 0 <= p -> 0 <= q -> p + q = 1 ->
  p * expR x + q * expR y <= expR (p * x + q * y + (y - x) ^+ 2 / 8%:R).
Proof.
have main p' q' x' y' : 0 <= p' -> 0 <= q' -> p' + q' = 1 -> x' <= y' ->
    p' * expR x' + q' * expR y' <= expR (p' * x' + q' * y' + (y' - x') ^+ 2 / 8%:R).
  move=> p0 q0 pq xy; pose c := (x' + y') / 2%:R; pose h := (y' - x') / 2%:R.
  have h0 : 0 <= h by rewrite divr_ge0 ?ler0n // subr_ge0.
  have -> : x' = c - h by rewrite /c /h; field.
  have -> : y' = c + h by rewrite /c /h; field.
  have := ler_wpmul2l (ltW (expR_gt0 c)) (hoeffding_centred p0 q0 pq h0).
  rewrite -expRD => le; have E : p' * expR (c - h) + q' * expR (c + h)
      = expR c * (q' * expR h + p' * exp_neg h).
    by rewrite !expRD /exp_neg; move: (expR c) (expR h) (expR (- h)) => u v w; ring.
  rewrite E; apply: (le_trans le); rewrite ler_expR le_eqVlt; apply/orP/or_introl/eqP.
  have -> : q' = 1 - p' by rewrite -pq addrC addKr.
  by field.
move=> p0 q0 pq; have [xy|/ltW yx] := leP x y; first exact: main.
have -> : p * expR x + q * expR y = q * expR y + p * expR x by rewrite addrC.
have -> : p * x + q * y + (y - x) ^+ 2 / 8%:R = q * y + p * x + (x - y) ^+ 2 / 8%:R by field.
by apply: main => //; rewrite addrC.
Qed.

Theorem bounded_range_moment alpha eps a b : 1 <= alpha -> 0 < a -> a <= 1 -> 1 <= b -> a < b ->
  b = a * expR eps ->
  (b - 1) * a `^ alpha + (1 - a) * b `^ alpha
  <= (b - a) * expR ((alpha - 1) * alpha * (eps ^+ 2 / 8%:R)).
Proof.
move=> alpha1 a0 a1 b1 ab bE; have b0 : 0 < b by exact: lt_le_trans ltr01 b1.
have ba : 0 < b - a by rewrite subr_gt0.
pose p := (b - 1) * a / (b - a); pose q := (1 - a) * b / (b - a).
have p0 : 0 <= p by rewrite divr_ge0 ?mulr_ge0 ?subr_ge0 // ltW.
have q0 : 0 <= q by rewrite divr_ge0 ?mulr_ge0 ?subr_ge0 // ltW.
have pq : p + q = 1 by rewrite /p /q; field; rewrite gt_eqF.
pose x := ln a; pose y := ln b; pose m := p * x + q * y.
have xE : expR x = a by rewrite lnK.
have yE : expR y = b by rewrite lnK.
have yx : y - x = eps by apply: expR_inj; rewrite expRD expRN yE xE bE mulrAC divff ?mul1r // gt_eqF.
have H t : p * expR (t * x) + q * expR (t * y) <= expR (t * m + t ^+ 2 * (eps ^+ 2 / 8%:R)).
  apply: le_trans (hoeffding_two_points _ _ p0 q0 pq) _; rewrite -mulrBr yx ler_expR /m.
  by rewrite le_eqVlt; apply/orP/or_introl/eqP; field.
have m_le : m <= eps ^+ 2 / 8%:R.
  have := H (-1); rewrite !mulN1r !expRN xE yE.
  have -> : p / a + q / b = 1.
    by rewrite /p /q; field; rewrite (gt_eqF a0) (gt_eqF b0) (gt_eqF ba).
  by rewrite sqrrN expr1n mul1r -{1}(@expR0 R) ler_expR addrC subr_ge0.
have -> : (b - 1) * a `^ alpha + (1 - a) * b `^ alpha
    = (b - a) * (p * expR ((alpha - 1) * x) + q * expR ((alpha - 1) * y)).
  have pw c : 0 < c -> c `^ alpha = c * expR ((alpha - 1) * ln c).
    by move=> c0; rewrite /exp_fun mulrBl mul1r expRD expRN lnK // mulrCA divff ?mulr1 // gt_eqF.
  rewrite !pw // -/x -/y /p /q; move: (expR _) (expR _) => u v; field.
  by rewrite gt_eqF.
rewrite ler_pmul2l //; apply: le_trans (H _) _; rewrite ler_expR.
have -> : (alpha - 1) * alpha * (eps ^+ 2 / 8%:R)
    = (alpha - 1) * (eps ^+ 2 / 8%:R) + (alpha - 1) ^+ 2 * (eps ^+ 2 / 8%:R) by field.
by rewrite ler_add2r ler_wpmul2l // subr_ge0.
Qed.

End TwoPoints.
