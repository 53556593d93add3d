(* DN25, Theorem 6: the spectral norm of the noise exceeds C d with probability at least
   1/(384 d^4), for every C up to the critical constant a = (7 + sqrt 33)/8.

   Take M = a d and tau = 1/(96 d^6) in the inequality of Theorem6Moments. Because
   4 a^2 = 7 a - 1, the terms of order d^3 cancel: what is left is

     d^2/2 <= d/(4 a) + d^2/8 + 48 d^6 P (|Z| > a d),

   where d^2/8 bounds the fourth moment. Since d/(4 a) <= d^2/4, the probability is at least
   (d^2/8)/(48 d^6) = 1/(384 d^4). The only premise is noise_moments. *)
From covassay Require Import MeasureTheory PairSums TailIdentity Theorem6 Theorem6Moments.

(* the bound on E R^4 is at most 24 n^8 *)
Lemma fourth_le (F : realFieldType) (n : F) : 1 <= n ->
  fourth_bound n <= 24%:R * n ^+ 8.
Proof.
move=> n1; rewrite /fourth_bound; have m1 : 1 <= n ^+ 2 by rewrite exprn_ege1.
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

(* the terms of order d^3 cancel at the critical constant *)
Lemma cancellation (R : realType) (n : R) : 0 < n -> let a := critical R in
  (a * n + n / 4%:R - 1 / 2%:R) * n ^+ 2 + (4%:R * (a * n))^-1 * (n ^+ 4 + n ^+ 2)
  - 2%:R * n ^+ 3 = n / (4%:R * a) - n ^+ 2 / 2%:R.
Proof.
move=> n0 a; have a0 : 0 < a by apply: lt_le_trans (critical_ge1 R).
have root : 4%:R * a ^+ 2 = 7%:R * a - 1 := critical_root R; clearbody a.
apply/eqP; rewrite -subr_eq0; apply/eqP.
transitivity (n ^+ 3 * (4%:R * a ^+ 2 - (7%:R * a - 1)) / (4%:R * a)).
  by field; rewrite ?gt_eqF.
by rewrite root subrr mulr0 mul0r.
Qed.

Section Tail.
Context dd (T : measurableType dd) (R : realType) (P : {measure set T -> \bar R}).
Variables (d : nat) (s : T -> 'I_d -> R).
Hypothesis moments : noise_moments P s.

(* For every d >= 1 and every C up to the critical constant: P (|Z| > C d) >= 1/(384 d^4).
   The premise is the record noise_moments for P and s: P is a probability, the singular
   values s_i >= 0 and H are measurable, E R = d^2, E R^2 = d^4 + d^2,
   E R^4 <= d^2 (d^2 + 1) (d^2 + 2) (d^2 + 3), and E (Q + H) = 2 d^3. NoiseIdentity proves
   it for the noise. *)
(*@ DN25.Thm6-TAIL *)
Theorem tail_probability (C : R) : (0 < d)%N -> C <= critical R ->
  ((384%:R * d%:R ^+ 4)^-1%:E <= P (~` within s (C * d%:R)))%E.
Proof.
move=> d0 Cle; set a := critical R in Cle *; set n : R := d%:R.
have n1 : 1 <= n by rewrite ler1n.
have n0 : 0 < n by apply: lt_le_trans n1.
have a1 : 1 <= a := critical_ge1 R.
have a0 : 0 < a by apply: lt_le_trans a1.
apply: (@le_trans _ _ (P (~` within s (a * n)))); last first.
  apply: le_measure; rewrite ?inE; try exact/measurableC/(measurable_within moments).
  apply: subsetC => x xC i; apply: le_trans (xC i) _.
  by apply: ler_wpmul2r => //; apply: ltW.
have t0 : 0 < (96%:R * n ^+ 6)^-1 by rewrite invr_gt0 mulr_gt0 ?ltr0n ?exprn_gt0.
have dM : n <= 4%:R * (a * n).
  by rewrite mulrA ler_pmull //; apply: le_trans a1 _; rewrite ler_pmull // ler1n.
have := moment_inequality moments d0 dM t0; rewrite -/n.
set p := P _; have [q pq] : exists q, p = q%:E.
  suff : p \is a fin_num by case: (p) => // r _; exists r.
  rewrite ge0_fin_numE ?measure_ge0 //; apply: le_lt_trans (_ : (1 < +oo)%E); last exact: ltry.
  rewrite -(is_probability moments); apply: le_measure; rewrite ?inE //.
  exact/measurableC/(measurable_within moments).
rewrite pq -EFinM -EFinD !lee_fin => main.
have K24 := fourth_le n1; set K := fourth_bound n in K24 main.
have poly := cancellation n0; rewrite /= -/a in poly.
clear pq p; clearbody K a n; have an0 : a * n != 0 by rewrite mulf_neq0 ?gt_eqF.
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

End Tail.
