(* The premises of Theorem6 can be met in every dimension.

   noise_moments asks for five moments of the singular values.  A law with four
   atoms has them: the sum R of the values is d^2 - d or d^2 + d with equal
   probability, and, independently, either all of it is in one value, with
   probability p = (d + 2)/(2 d^2 - d + 2), or it is spread evenly over all d.

   This is not the law of nuclear-Laplace noise.  It shows that Theorem6 is not
   empty, by a law for which the moments are finite sums.  The noise itself meets the
   premises too (NoiseIdentity). *)
From mathcomp Require Import all_ssreflect ssralg ssrnum interval zmodp.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets functions.
From mathcomp.classical Require Import cardinality.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences exp.
From mathcomp.analysis Require Import measure lebesgue_measure lebesgue_integral numfun.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import Expectation PairSums TailIdentity Theorem6.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope. Local Open Scope classical_set_scope.

Section FourAtoms.
Variables (R : realType) (d : nat).
Hypothesis d_gt0 : (0 < d)%N.
Let n : R := d%:R.
Let n0 : 0 < n. Proof. by rewrite ltr0n. Qed.
Let n1 : 1 <= n. Proof. by rewrite ler1n. Qed.

(* the probability that one value has it all *)
Definition lumped : R := (n + 2%:R) / (2%:R * n ^+ 2 - n + 2%:R).

Let denominator_gt0 : 0 < 2%:R * n ^+ 2 - n + 2%:R.
Proof.
rewrite ltr_paddl ?ltr0n // subr_ge0 expr2 mulrA ler_pmull //.
by apply: le_trans n1 _; rewrite mulr_natl mulr2n ler_addl ltW.
Qed.

Lemma lumped_ge0 : 0 <= lumped.
Proof. by rewrite divr_ge0 // ltW // addr_gt0 ?ltr0n. Qed.

Lemma lumped_le1 : lumped <= 1.
Proof.
rewrite ler_pdivr_mulr // mul1r ler_add2r ler_subr_addr -mulr2n -[_ *+ 2]mulr_natl.
by rewrite ler_pmul2l ?ltr0n // expr2 ler_pmull.
Qed.

(* the atoms are 0, 1, 2, 3 *)
Definition atom_weight (k : nat) : R := (if (k < 2)%N then lumped else 1 - lumped) / 2%:R.
Definition atom_total (k : nat) : R := n ^+ 2 + (if odd k then n else - n).
Definition spectrum (k : nat) (i : 'I_d) : R :=
  if (k < 2)%N then (if val i == 0%N then atom_total k else 0) else atom_total k / n.

Lemma atom_weight_ge0 k : 0 <= atom_weight k.
Proof. by rewrite divr_ge0 //; case: ifP; rewrite ?lumped_ge0 // subr_ge0 lumped_le1. Qed.

Lemma atom_total_ge0 k : 0 <= atom_total k.
Proof.
have n2 : n <= n ^+ 2 by rewrite expr2 ler_pmull.
rewrite /atom_total; case: (odd k); last by rewrite subr_ge0.
by rewrite addr_ge0 ?ltW // exprn_gt0.
Qed.

Lemma spectrum_ge0 k i : 0 <= spectrum k i.
Proof.
have t0 := atom_total_ge0 k; rewrite /spectrum; case: ifP => _; first by case: ifP.
by rewrite divr_ge0 // ltW.
Qed.

Definition four_atoms : {measure set nat -> \bar R} :=
  [the measure _ _ of msum (fun k =>
    [the measure _ _ of mscale (NngNum (atom_weight_ge0 k)) [the measure _ _ of dirac k]]) 4].

Let discrete (f : nat -> R) : measurable_fun setT f.
Proof. by []. Qed.

Lemma expect_four_atoms (f : nat -> R) : (forall k, 0 <= f k) ->
  expect four_atoms f = (\sum_(k < 4) atom_weight k * f k)%:E.
Proof.
move=> f0; have mf : measurable_fun setT (fun k => (f k)%:E) by [].
have fE k : (0 <= (f k)%:E)%E by rewrite lee_fin.
rewrite /expect ge0_integral_measure_sum // -sumEFin; apply: eq_bigr => k _.
by rewrite ge0_integral_mscale // integral_dirac // indicE in_setT mul1e EFinM.
Qed.

(* the sum, the sum of squares and the harmonic sum at an atom *)
Let zero : 'I_d := Ordinal d_gt0.

Let sum_lumped (g : R -> R) k : g 0 = 0 -> (k < 2)%N ->
  \sum_i g (spectrum k i) = g (atom_total k).
Proof.
move=> g0 k2; rewrite (bigD1 zero) //= big1 ?addr0 => [|i i0].
  by rewrite /spectrum k2.
by rewrite /spectrum k2 ifN // ?g0 //; apply: contra i0 => /eqP i0; apply/eqP/val_inj.
Qed.

Let sum_even (g : R -> R) k : (k < 2)%N = false ->
  \sum_i g (spectrum k i) = n * g (atom_total k / n).
Proof.
move=> k2; rewrite (eq_bigr (fun=> g (atom_total k / n))) => [|i _]; last by rewrite /spectrum k2.
by rewrite sumr_const card_ord mulr_natl.
Qed.

Lemma total_spectrum k : total (spectrum k) = atom_total k.
Proof.
rewrite /total; case k2 : (k < 2)%N; first by rewrite (@sum_lumped id).
by rewrite (@sum_even id) // mulrC divfK // gt_eqF.
Qed.

Lemma square_sum_spectrum k :
  square_sum (spectrum k) = atom_total k ^+ 2 / (if (k < 2)%N then 1 else n).
Proof.
rewrite /square_sum; case k2 : (k < 2)%N.
  by rewrite (@sum_lumped (fun x => x ^+ 2)) ?expr0n // divr1.
by rewrite (@sum_even (fun x => x ^+ 2)) //; field; rewrite gt_eqF.
Qed.

Lemma harmonic_sum_spectrum k :
  harmonic_sum (spectrum k) = if (k < 2)%N then 0 else (n - 1) / 2%:R * atom_total k.
Proof.
rewrite /harmonic_sum; case k2 : (k < 2)%N.
  rewrite big1 ?mul0rn // => i _; rewrite big1 // => j ij.
  have j0 : (val j == 0%N) = false by apply: gtn_eqF; apply: leq_ltn_trans ij.
  by rewrite /spectrum k2 j0 mulr0 mul0r.
have dE : n - 1 = (d.-1)%:R by rewrite /n -[in LHS](prednK d_gt0) mulrSr addrK.
rewrite dE mulrAC -[atom_total k]total_spectrum -sum_pairs_total mulr_suml -sumrMnl.
apply: eq_bigr => i _; rewrite mulr_suml -sumrMnl; apply: eq_bigr => j _.
rewrite /spectrum k2; set a := _ / n.
have [->|a0] := eqVneq a 0; first by rewrite !(mul0r, addr0) mul0rn.
by field; rewrite -mulr2n -mulr_natl mulf_neq0 ?pnatr_eq0.
Qed.

Let D0 : 2%:R * n ^+ 2 - n + 2%:R != 0. Proof. by rewrite gt_eqF. Qed.

Let expect_total m : expect four_atoms (fun k => total (spectrum k) ^+ m)
  = (((n ^+ 2 - n) ^+ m + (n ^+ 2 + n) ^+ m) / 2%:R)%:E.
Proof.
rewrite expect_four_atoms => [|k]; last by rewrite exprn_ge0 // total_ge0 //; apply: spectrum_ge0.
rewrite !big_ord_recr big_ord0 /= add0r !total_spectrum /atom_weight /atom_total /=; congr (_%:E).
by move: (_ ^+ m) (_ ^+ m) lumped => a b p; field.
Qed.

(* Some law satisfies noise_moments in the dimension d. The premise is d >= 1. *)
(*@ NOISE-MOMENTS-SATISFIABLE *)
Theorem noise_moments_satisfiable : noise_moments four_atoms spectrum.
Proof.
split => //.
- have := expect_four_atoms (f := fun=> 1) (fun=> ler01).
  rewrite !big_ord_recr big_ord0 /= add0r /expect integral_cst // mul1e => ->; congr (_%:E).
  by rewrite /atom_weight /=; move: lumped => p; field.
- by move=> k i; apply: spectrum_ge0.
- under [X in expect _ X = _]eq_fun do rewrite -[total _]expr1.
  by rewrite expect_total; congr (_%:E); rewrite !expr1 -/n; field.
- by rewrite expect_total; congr (_%:E); rewrite -/n; field.
- rewrite expect_total lee_fin -subr_ge0 [X in 0 <= X](_ : _ = 10%:R * n ^+ 4 + 6%:R * n ^+ 2).
    by rewrite addr_ge0 // mulr_ge0 ?ler0n // exprn_ge0 // ltW.
  by rewrite -/n; field.
rewrite expect_four_atoms => [|k]; last first.
  by rewrite addr_ge0 ?square_sum_ge0 ?harmonic_sum_ge0 //; apply: spectrum_ge0.
rewrite !big_ord_recr big_ord0 /= add0r !square_sum_spectrum !harmonic_sum_spectrum.
rewrite /atom_weight /atom_total /lumped /=.
by congr (_%:E); rewrite -/n; field; rewrite D0 gt_eqF.
Qed.

End FourAtoms.
