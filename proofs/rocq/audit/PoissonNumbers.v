(* Poisson numbers of draws.

   Two independent Poisson numbers n and n' of the same mean m, of which n is fair given n + n'
   (`EventTests.fair`).  A distribution here has finitely many outcomes, so:

   - `poisson_numbers m B` is the law of two such numbers given that n + n' <= B, and it is
     fair (`poisson_fair`);
   - `poisson_limit`: the probabilities e^-m m^n/n! e^-m m^n'/n'! of all pairs with n + n' <= B,
     times the probability that the p-value of the ratio is at most t with n and n' draws, add
     up to at most t, for every B, and so in the limit.

   Assumed: nothing. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp Require Import reals ereal signed topology normedtype sequences realfun exp.
From covassay Require Import PValues EventTests.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope ring_scope.

Section Finite.
Variables (R : realFieldType) (m : R).
Hypothesis m_ge0 : 0 <= m.

Definition poisson_weight (a : R) (n : nat) : R := a ^+ n / n`!%:R.

Lemma poisson_weight_ge0 a n : 0 <= a -> 0 <= poisson_weight a n.
Proof. by move=> a0; rewrite divr_ge0 ?ler0n // exprn_ge0. Qed.

(* Sums over the pairs with sum N. *)
Lemma poisson_pairs N (g : nat * nat -> R) :
  \sum_(i < N.+1) poisson_weight m i * poisson_weight m (N - i) * g (i : nat, N - i)%N =
  poisson_weight (2%:R * m) N * count_mean 2%:R^-1 N (fun i => g (i, N - i)%N).
Proof.
rewrite count_mean_sum mulr_sumr; apply: eq_bigr => i _; rewrite mulrA; congr (_ * _).
have iN : (i <= N)%N by rewrite -ltnS.
have half : 1 - 2%:R^-1 = 2%:R^-1 :> R by field.
rewrite /binom half /poisson_weight.
have fact0 n : (n`!)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n fact_gt0.
have -> : (N`!)%:R = 'C(N, i)%:R * ((i`!)%:R * ((N - i)`!)%:R) :> R by rewrite -!natrM bin_fact.
have -> : (2%:R * m) ^+ N = (2%:R * m) ^+ i * (2%:R * m) ^+ (N - i) by rewrite -exprD subnKC.
have C0 : 'C(N, i)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n bin_gt0.
rewrite !exprMn !exprVn.
have two n : 2%:R ^+ n != 0 :> R by rewrite expf_neq0 // pnatr_eq0.
move: (fact0 i) (fact0 (N - i)%N) C0 (two i) (two (N - i)%N).
set x := 2%:R ^+ i; set y := 2%:R ^+ (N - i); set a := m ^+ i; set b := m ^+ (N - i).
set C := 'C(N, i)%:R; set I := i`!%:R; set J := (N - i)`!%:R => I0 J0 C0 x0 y0.
by field; rewrite I0 J0 C0 x0 y0.
Qed.

Variable B : nat.

Definition poisson_total : R := \sum_(N < B.+1) poisson_weight (2%:R * m) N.

Lemma poisson_total_gt0 : 0 < poisson_total.
Proof.
rewrite /poisson_total big_ord_recl /poisson_weight expr0 fact0 divr1 ltr_spaddl ?ltr01 //.
by apply: sumr_ge0 => i _; rewrite poisson_weight_ge0 // mulr_ge0 // ler0n.
Qed.

(* The sum n + n' given that it is at most B. *)
Definition sum_atoms : seq (R * nat) :=
  [seq (poisson_weight (2%:R * m) (nat_of_ord N) / poisson_total, nat_of_ord N) | N <- enum 'I_B.+1].

Lemma sum_atoms_mean g : \sum_(a <- sum_atoms) a.1 * g a.2 =
  (\sum_(N < B.+1) poisson_weight (2%:R * m) N * g N) / poisson_total.
Proof.
by rewrite big_map big_enum /= mulr_suml; apply: eq_bigr => N _; rewrite mulrAC.
Qed.

Lemma sum_atoms_ge0 : all (fun a => 0 <= a.1) sum_atoms.
Proof.
apply/allP => a /mapP[N _ ->] /=; rewrite divr_ge0 ?(ltW poisson_total_gt0) //.
by rewrite poisson_weight_ge0 // mulr_ge0 // ler0n.
Qed.

Lemma sum_atoms_sum1 : \sum_(a <- sum_atoms) a.1 = 1.
Proof.
transitivity (\sum_(a <- sum_atoms) a.1 * 1); first by apply: eq_bigr => a _; rewrite mulr1.
rewrite (sum_atoms_mean (fun=> 1)) (eq_bigr (fun N : 'I_B.+1 => poisson_weight (2%:R * m) N)).
  by rewrite divff // gt_eqF // poisson_total_gt0.
by move=> N _; rewrite mulr1.
Qed.

Definition poisson_sum : distribution R nat := Distribution sum_atoms_ge0 sum_atoms_sum1.

Lemma half01 : (0 <= (2%:R^-1 : R) <= 1).
Proof. by rewrite invr_ge0 ler0n invf_le1 ?ltr0n // ler1n. Qed.

Definition poisson_numbers : distribution R (nat * nat) :=
  and_then poisson_sum (fun N => and_then (draws (coin half01) N)
    (fun s => point (count id s, N - count id s)%N)).

Lemma poisson_numbers_sum g : mean poisson_numbers g =
  mean poisson_sum (fun N => count_mean 2%:R^-1 N (fun i => g (i, N - i)%N)).
Proof.
rewrite mean_then; apply: eq_mean => N; rewrite mean_then -[in RHS](pr_coin half01).
by rewrite -(mean_count (coin half01) id N (fun i => g (i, N - i)%N)); apply: eq_mean => s; rewrite mean_point.
Qed.

(* They are two independent Poisson numbers, given that their sum is at most B. *)
Lemma poisson_numbersE g : mean poisson_numbers g =
  (\sum_(N < B.+1) \sum_(i < N.+1) poisson_weight m i * poisson_weight m (N - i) * g (i : nat, N - i)%N)
  / poisson_total.
Proof.
rewrite poisson_numbers_sum.
apply: etrans (sum_atoms_mean (fun N => count_mean 2%:R^-1 N (fun i => g (i, N - i)%N))) _.
by congr (_ / _); apply: eq_bigr => N _; rewrite poisson_pairs.
Qed.

Theorem poisson_fair : fair poisson_numbers.
Proof. by exists poisson_sum => g; exact: poisson_numbers_sum. Qed.

End Finite.

Section Limit.
Variables (R : realType) (m : R).
Hypothesis m_ge0 : 0 <= m.

Lemma poisson_total_le B : poisson_total m B <= expR (2%:R * m).
Proof.
have a0 : 0 <= 2%:R * m by rewrite mulr_ge0 // ler0n.
rewrite /poisson_total; apply: le_trans (nondecreasing_cvg_le _ _ B.+1); last exact: is_cvg_series_exp_coeff.
  by rewrite /series /= big_mkord.
by apply/nondecreasing_seqP => n; rewrite /series /= big_nat_recr //= ler_addl poisson_weight_ge0.
Qed.

(*@ AUDIT-POISSON *)
Theorem poisson_limit Y (P Q : distribution R Y) (E : pred Y) (e t : R) B :
  0 < e -> pr P E <= e * pr Q E -> 0 <= t ->
  \sum_(N < B.+1) \sum_(i < N.+1)
    (expR (- m) * poisson_weight m i) * (expR (- m) * poisson_weight m (N - i)) *
    mean (draws P i) (fun s => pr (draws Q (N - i)) (fun u => ratio_p e (count E s) (count E u) <= t))
  <= t.
Proof.
move=> e0 claim t0; pose g n := mean (draws P n.1) (fun s => pr (draws Q n.2) (fun u =>
  ratio_p e (count E s) (count E u) <= t)).
have valid := ratio_valid e0 (poisson_fair m_ge0 B) claim t0.
rewrite /pr mean_trial -/(pr _ _) (poisson_numbersE m_ge0 B g) in valid.
have Z0 := poisson_total_gt0 m_ge0 B.
rewrite ler_pdivr_mulr // in valid.
apply: (@le_trans _ _ (expR (- m) * expR (- m) * (t * poisson_total m B))); last first.
  rewrite mulrCA -[X in _ <= X]mulr1 ler_wpmul2l // -expRD -opprD -mulr2n -mulr_natl.
  by rewrite expRN mulrC ler_pdivr_mulr ?expR_gt0 // mul1r poisson_total_le.
apply: le_trans (ler_wpmul2l _ valid); last by rewrite mulr_ge0 // ltW // expR_gt0.
rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite !mulr_sumr; apply: eq_bigr => N _.
by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite /g /= !mulrA; congr (_ * _); ring.
Qed.

End Limit.
