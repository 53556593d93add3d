(******************************************************************************)
(* The identity behind the second moment of nuclear-Laplace noise.            *)
(*                                                                            *)
(* For positive s_1, ..., s_d with distinct squares let                       *)
(*   R = sum s_i,  Q = sum s_i^2,  H = 2 sum_(i<j) s_i s_j / (s_i + s_j).     *)
(* The derivative of ln prod_(i<j) |s_i^2 - s_j^2| along the field (s_i^2) is *)
(*   W = 2 (d - 1) R - H,   and   (3/2)(d - 1) R <= W <= 2 (d - 1) R.         *)
(* pair_le and tail_le are the pointwise inequalities that Theorem6.v         *)
(* integrates; they need s >= 0 only. Nothing is assumed.                     *)
(******************************************************************************)
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp.
From mathcomp.analysis Require Import reals normedtype derive.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import PairSums LogVandermonde.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Import numFieldNormedType.Exports.
Local Open Scope ring_scope.

Section Algebra.
Variables (R : realFieldType) (d : nat).
Implicit Types (s : 'I_d -> R).

Definition total s : R := \sum_i s i.
Definition square_sum s : R := \sum_i s i ^+ 2.
Definition harmonic_sum s : R :=
  (\sum_(i < d) \sum_(j < d | (i < j)%N) s i * s j / (s i + s j)) *+ 2.

(* 2 a b / (a + b) <= (a + b)/2 *)
Lemma harmonic_le (a b : R) : 0 <= a -> 0 <= b -> (a * b / (a + b)) *+ 2 <= (a + b) / 2%:R.
Proof.
move=> a0 b0; have ab : 0 <= a + b by rewrite addr_ge0.
have [z|nz] := eqVneq (a + b) 0; first by rewrite z invr0 mulr0 mul0rn mul0r.
have p : 0 < a + b by rewrite lt_def nz.
rewrite -subr_ge0 (_ : _ - _ = (a - b) ^+ 2 / (a + b) / 2%:R); last by field.
by rewrite !divr_ge0 ?sqr_ge0 ?ler0n.
Qed.

(* and the gap is at least (a - b)^2/(4 M) when a, b <= M *)
Lemma pair_le (a b M : R) : 0 <= a -> 0 <= b -> a <= M -> b <= M -> 0 < M ->
  (a * b / (a + b)) *+ 2 <= (a + b) / 2%:R - (a - b) ^+ 2 / (4%:R * M).
Proof.
move=> a0 b0 aM bM M0; have ab : 0 <= a + b by rewrite addr_ge0.
have [z|nz] := eqVneq (a + b) 0.
  have /eqP : (a == 0) && (b == 0) by rewrite -(paddr_eq0 a0 b0) z.
  move/eqP/andP => [/eqP-> /eqP->].
  by rewrite !mul0r mul0rn addr0 subrr expr0n !mul0r subr0.
have p : 0 < a + b by rewrite lt_def nz.
have e : (a * b / (a + b)) *+ 2 = (a + b) / 2%:R - (a - b) ^+ 2 / (2%:R * (a + b)) by field.
rewrite e ler_add2l ler_opp2 ler_wpmul2l ?sqr_ge0 // lef_pinv ?posrE ?mulr_gt0 ?ltr0n //.
rewrite (_ : 4%:R * M = 2%:R * (M + M)); last by ring.
by rewrite ler_wpmul2l ?ler0n // ler_add.
Qed.

Lemma harmonic_sum_ge0 s : (forall i, 0 <= s i) -> 0 <= harmonic_sum s.
Proof.
move=> s0; rewrite mulrn_wge0 //; apply: sumr_ge0 => i _; apply: sumr_ge0 => j _.
by rewrite divr_ge0 ?mulr_ge0 ?addr_ge0.
Qed.

Lemma sum_pairs_total s :
  \sum_(i < d) \sum_(j < d | (i < j)%N) (s i + s j) = (d.-1)%:R * total s.
Proof. by rewrite sum_pairs_add mulr_natl. Qed.

(* H <= (d - 1) R / 2 *)
Lemma harmonic_sum_le s : (forall i, 0 <= s i) -> harmonic_sum s <= (d.-1)%:R / 2%:R * total s.
Proof.
move=> s0; rewrite mulrAC -sum_pairs_total mulr_suml /harmonic_sum -sumrMnl.
apply: ler_sum => i _; rewrite mulr_suml -sumrMnl; apply: ler_sum => j _.
exact: harmonic_le.
Qed.

(* sum_(i<j) (s_i - s_j)^2 = d Q - R^2 *)
Lemma sum_pairs_sqrB s : (0 < d)%N ->
  \sum_(i < d) \sum_(j < d | (i < j)%N) (s i - s j) ^+ 2 = d%:R * square_sum s - total s ^+ 2.
Proof.
move=> d0; rewrite /total sqr_sum.
have dE : d%:R = (d.-1)%:R + 1 :> R by rewrite -[in LHS](prednK d0) mulrSr.
rewrite dE mulrDl mul1r opprD addrA addrK.
rewrite -(sum_pairs_total (fun i => s i ^+ 2)) -sumrMnl -sumrN -big_split.
apply: eq_bigr => i _; rewrite -sumrMnl -sumrN -big_split; apply: eq_bigr => j _ /=.
by rewrite sqrrB addrAC.
Qed.

(* H <= (d - 1) R / 2 - (d Q - R^2)/(4 M) when no s_i exceeds M *)
Lemma harmonic_sum_le_bounded s (M : R) : (0 < d)%N -> 0 < M ->
  (forall i, 0 <= s i) -> (forall i, s i <= M) ->
  harmonic_sum s
  <= (d.-1)%:R / 2%:R * total s - (d%:R * square_sum s - total s ^+ 2) / (4%:R * M).
Proof.
move=> d0 M0 s0 sM; rewrite -sum_pairs_sqrB // mulrAC -sum_pairs_total /harmonic_sum.
rewrite !mulr_suml -sumrMnl -sumrN -big_split; apply: ler_sum => i _ /=.
by rewrite !mulr_suml -sumrMnl -sumrN -big_split; apply: ler_sum => j _; apply: pair_le.
Qed.

Lemma square_sum_le_total s : (forall i, 0 <= s i) -> square_sum s <= total s ^+ 2.
Proof.
move=> s0; rewrite /total sqr_sum ler_addl mulrn_wge0 //.
by apply: sumr_ge0 => i _; apply: sumr_ge0 => j _; rewrite mulr_ge0.
Qed.

Lemma square_sum_le_bounded s (M : R) : (forall i, 0 <= s i) -> (forall i, s i <= M) ->
  square_sum s <= M * total s.
Proof.
move=> s0 sM; rewrite /total mulr_sumr; apply: ler_sum => i _.
by rewrite expr2 ler_wpmul2r.
Qed.

Lemma total_ge0 s : (forall i, 0 <= s i) -> 0 <= total s.
Proof. by move=> s0; apply: sumr_ge0. Qed.
Lemma square_sum_ge0 s : 0 <= square_sum s.
Proof. by apply: sumr_ge0 => i _; apply: sqr_ge0. Qed.

(* Q + H <= (M + d/4 - 1/2) R + R^2/(4 M), when no s_i exceeds M and M >= d/4 *)
(*@ TAIL-POINTWISE *)
Theorem tail_le s (M : R) : (0 < d)%N -> d%:R <= 4%:R * M ->
  (forall i, 0 <= s i) -> (forall i, s i <= M) ->
  square_sum s + harmonic_sum s
  <= (M + d%:R / 4%:R - 1 / 2%:R) * total s + total s ^+ 2 / (4%:R * M).
Proof.
move=> d0 dM s0 sM; have M0 : 0 < M.
  by rewrite -(pmulr_rgt0 M (ltr0n R 4)) (lt_le_trans _ dM) ?ltr0n.
apply: le_trans (ler_add (lexx _) (harmonic_sum_le_bounded d0 M0 s0 sM)) _.
have dE : d%:R = (d.-1)%:R + 1 :> R by rewrite -[in LHS](prednK d0) mulrSr.
have Q_le := square_sum_le_bounded s0 sM.
have k0 : 0 <= 1 - d%:R / (4%:R * M).
  by rewrite subr_ge0 ler_pdivr_mulr ?mulr_gt0 ?ltr0n // mul1r.
have := ler_wpmul2l k0 Q_le; rewrite dE; move: (total s) (square_sum s) (d.-1)%:R => T Q n.
rewrite -subr_ge0 => h; rewrite -subr_ge0; apply: le_trans h _.
rewrite le_eqVlt; apply/orP/or_introl/eqP; field.
by rewrite gt_eqF.
Qed.

End Algebra.

Section Derivative.
Variables (R : realType) (d : nat) (s : 'I_d -> R).
Hypothesis sep : separated s.

(* the derivative of ln prod_(i<j) |s_i^2 - s_j^2| at s in the direction (s_1^2, ..., s_d^2) *)
Definition field_slope : R := - slope s (fun i => s i ^+ 2).

Lemma is_derive_field_slope :
  is_derive (0 : R) 1 (fun t => - potential (shifted s (fun i => s i ^+ 2) t)) field_slope.
Proof.
have e : shifted s (fun i => s i ^+ 2) 0 = s.
  by rewrite /shifted; apply: boolp.funext => i; rewrite mul0r addr0.
have := @is_derive_potential R d s (fun i => s i ^+ 2) 0; rewrite e => /(_ sep) D.
exact: is_deriveN D.
Qed.

(* W = 2 (d - 1) R - H *)
(* The premise is that the s_i are separated: no two of them have equal squares. *)
(*@ TAIL-IDENTITY *)
Theorem field_slopeE : field_slope = (total s *+ d.-1) *+ 2 - harmonic_sum s.
Proof.
rewrite /field_slope /slope opprK -sum_pairs_add /harmonic_sum -mulrnBl -sumrB -sumrMnl.
apply: eq_bigr => i _; rewrite -sumrB -sumrMnl; apply: eq_bigr => j ij.
have [m p] := separated_diff sep ij.
by move: (s i) (s j) m p => a b m p; field; rewrite m p.
Qed.

(* The premises are that the s_i are separated (no two have equal squares) and positive. *)
(*@ TAIL-BOUNDS *)
Theorem field_slope_bounds : (forall i, 0 < s i) ->
  3%:R / 2%:R * (d.-1)%:R * total s <= field_slope <= 2%:R * (d.-1)%:R * total s.
Proof.
move=> pos; have s0 i : 0 <= s i by apply: ltW.
have e : (total s *+ d.-1) *+ 2 = 2%:R * (d.-1)%:R * total s.
  by rewrite -mulrA !mulr_natl.
rewrite field_slopeE e; apply/andP; split; last by rewrite ler_subl_addr ler_addl harmonic_sum_ge0.
rewrite ler_subr_addl -ler_subr_addr; apply: le_trans (harmonic_sum_le s0) _.
rewrite le_eqVlt; apply/orP/or_introl/eqP.
by move: (d.-1)%:R (total s) => n T; field.
Qed.

End Derivative.
