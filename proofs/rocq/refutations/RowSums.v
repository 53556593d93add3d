(* Sums over all pairs of rows of the terms of the expansion of the nuclear norm.

   Let U be orthogonal and s_1, ..., s_d >= 0.  E_kl is the matrix with a single one, in row k
   and column l, and A = U^T E_kl U, so that A_ij = U_ki U_lj.  The terms of NuclearExpansion.v,

      F_kl = sum_i A_ii s_i,   G_kl = (1/4) sum_ij (A_ij s_j - A_ji s_i)^2/(s_i + s_j),

   satisfy, with m = d - 1,

      sum_kl F_kl^2 = sum s_i^2,   2 sum_kl G_kl = m sum s_i - 2 sum_(i<j) s_i s_j/(s_i + s_j),

   because the columns of U are orthonormal.  Nothing is assumed. *)
From covassay Require Import MeasureTheory PairSums TailIdentity.
From covassay Require Import Euclidean MatrixNorms MatrixEntries NuclearBelow.

Section Sums.
Variables (R : realType) (d : nat) (U : 'M[R]_d) (s : 'I_d -> R).
Hypotheses (oU : orthogonal_mx U) (s_ge0 : forall i, 0 <= s i).

(* E_kl in the axes of the columns of U *)
Definition turned (k l : 'I_d) : 'M[R]_d := U^T *m delta_mx k l *m U.

Lemma turnedE k l i j : turned k l i j = U k i * U l j.
Proof.
rewrite /turned -mulmxA mxE (bigD1 k) //= big1 ?addr0 => [|m mk]; rewrite !mxE.
  rewrite (bigD1 l) //= big1 ?addr0 => [|m ml]; rewrite mxE; first by rewrite !eqxx mul1r.
  by rewrite (negbTE ml) andbF mul0r.
by rewrite big1 ?mulr0 // => l' _; rewrite mxE (negbTE mk) mul0r.
Qed.

Let columns i j : \sum_k U k i * U k j = (i == j)%:R.
Proof.
have := congr1 (fun M : 'M[R]_d => M i j) oU; rewrite !mxE => <-.
by apply: eq_bigr => k _; rewrite mxE.
Qed.

Lemma turned_le1 k l : entries_le 1 (turned k l).
Proof.
move=> i j; rewrite turnedE normrM -[1]mulr1.
have le a b : `|U a b| <= 1.
  rewrite -(@expr_le1 _ 2) // real_normK ?num_real // -[X in _ <= X](_ : \sum_m U m b * U m b = 1).
    by rewrite (bigD1 a) //= -expr2 ler_addl sumr_ge0 // => m _; rewrite -expr2 sqr_ge0.
  by rewrite columns eqxx.
by apply: ler_pmul.
Qed.

(* sums over all k and l of products of two entries *)
Let entries_sum i j i' j' :
  \sum_k \sum_l turned k l i j * turned k l i' j' = ((i == i') && (j == j'))%:R.
Proof.
transitivity ((\sum_k U k i * U k i') * (\sum_l U l j * U l j')).
  rewrite big_distrlr /=; apply: eq_bigr => k _; apply: eq_bigr => l _.
  by rewrite !turnedE mulrACA.
by rewrite !columns -natrM mulnb.
Qed.

Let exchange (F : 'I_d -> 'I_d -> 'I_d -> 'I_d -> R) :
  \sum_k \sum_l \sum_i \sum_j F k l i j = \sum_i \sum_j \sum_k \sum_l F k l i j.
Proof.
under eq_bigr do rewrite exchange_big; rewrite exchange_big; apply: eq_bigr => i _.
under eq_bigr do rewrite exchange_big; rewrite exchange_big; apply: eq_bigr => j _.
by [].
Qed.

Lemma first_order_sum : \sum_k \sum_l first_order s (turned k l) ^+ 2 = square_sum s.
Proof.
transitivity (\sum_k \sum_l \sum_i \sum_j (s i * s j) * (turned k l i i * turned k l j j)).
  apply: eq_bigr => k _; apply: eq_bigr => l _; rewrite /first_order expr2 big_distrlr /=.
  by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite mulrACA mulrC.
rewrite exchange; apply: eq_bigr => i _.
have E j : \sum_k \sum_l (s i * s j) * (turned k l i i * turned k l j j) = s i * s j * (i == j)%:R.
  by under eq_bigr do rewrite -mulr_sumr; rewrite -mulr_sumr entries_sum andbb.
rewrite (bigD1 i) //= E eqxx mulr1 -expr2 big1 ?addr0 // => j ij.
by rewrite E eq_sym (negbTE ij) mulr0.
Qed.

Lemma second_order_sum :
  2%:R * (\sum_k \sum_l second_order s (turned k l)) = (d.-1)%:R * total s - harmonic_sum s.
Proof.
transitivity (\sum_i \sum_(j | j != i) (s i ^+ 2 + s j ^+ 2) / (s i + s j) / 2%:R).
  transitivity (\sum_k \sum_l \sum_i \sum_j
      (turned k l i j * s j - turned k l j i * s i) ^+ 2 / (s i + s j) / 2%:R).
    rewrite mulr_sumr; apply: eq_bigr => k _; rewrite mulr_sumr; apply: eq_bigr => l _.
    have half x : 2%:R * (x / 4%:R) = x / 2%:R :> R by field.
    by rewrite /second_order half mulr_suml; apply: eq_bigr => i _; rewrite mulr_suml.
  rewrite exchange; apply: eq_bigr => i _; rewrite [RHS]big_mkcond; apply: eq_bigr => j _.
  transitivity ((\sum_k \sum_l (s j ^+ 2 * (turned k l i j * turned k l i j)
      + s i ^+ 2 * (turned k l j i * turned k l j i) - 2%:R * s i * s j * (turned k l i j * turned k l j i)))
      / (s i + s j) / 2%:R).
    rewrite !mulr_suml; apply: eq_bigr => k _; rewrite !mulr_suml; apply: eq_bigr => l _.
    by congr (_ / _ / _); move: (turned _ _ _ _) (turned _ _ _ _) (s i) (s j) => a b p q; ring.
  have lin : \sum_k \sum_l (s j ^+ 2 * (turned k l i j * turned k l i j)
      + s i ^+ 2 * (turned k l j i * turned k l j i) - 2%:R * s i * s j * (turned k l i j * turned k l j i))
      = s j ^+ 2 + s i ^+ 2 - 2%:R * s i * s j * (i == j)%:R.
    under eq_bigr do rewrite sumrB big_split -!mulr_sumr.
    rewrite sumrB big_split -!mulr_sumr !entries_sum !eqxx !mulr1 /=.
    by rewrite [j == i]eq_sym andbb.
  rewrite lin eq_sym; have [<-|ij] := eqVneq i j.
    by rewrite mulr1 (_ : _ - _ = 0) ?mul0r //; ring.
  by rewrite mulr0 subr0 addrC.
rewrite sum_neq_lt -sum_pairs_total /harmonic_sum -sumrMnl -sumrB; apply: eq_bigr => i _.
rewrite -sumrMnl -sumrB; apply: eq_bigr => j _.
have [z|nz] := eqVneq (s i + s j) 0.
  by have [-> ->] := pair_zero s_ge0 z; rewrite !(mulr0, subrr, expr0n, mul0r, addr0, mul0rn, oppr0).
move: (s i) (s j) nz => p q nz; field.
by rewrite nz.
Qed.

(* ---------------------------------------------------------------------------- *)
(* Their sizes                                                                  *)

Lemma first_order_le A : entries_le 1 A -> `|first_order s A| <= \sum_i s i.
Proof.
move=> A1; apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => i _.
by rewrite normrM (ger0_norm (s_ge0 i)) ler_pimull.
Qed.

Lemma second_order_le A : entries_le 1 A -> `|second_order s A| <= d%:R * \sum_i s i.
Proof.
move=> A1; rewrite /second_order ger0_norm; last first.
  by rewrite divr_ge0 ?ler0n // sumr_ge0 // => i _; rewrite sumr_ge0 // => j _; rewrite divr_ge0 ?sqr_ge0 ?addr_ge0.
apply: le_trans (_ : (\sum_i \sum_j (s i + s j)) / 4%:R <= _).
  rewrite ler_wpmul2r ?invr_ge0 ?ler0n //; apply: ler_sum => i _; apply: ler_sum => j _.
  have p0 : 0 <= s i + s j by rewrite addr_ge0.
  have [z|nz] := eqVneq (s i + s j) 0; first by rewrite z invr0 mulr0.
  rewrite ler_pdivr_mulr ?lt_def ?nz // -expr2 -[X in X <= _]real_normK ?num_real // ler_expn2r ?nnegrE //.
  apply: le_trans (ler_norm_sub _ _) _; rewrite !normrM !(ger0_norm (s_ge0 _)) addrC.
  by apply: ler_add; rewrite ler_pimull.
have -> : \sum_i \sum_j (s i + s j) = d%:R * (\sum_i s i) *+ 2.
  rewrite mulr2n; under eq_bigr do rewrite big_split sumr_const card_ord.
  by rewrite big_split /= sum_rows sumrMnl -[_ *+ d]mulr_natl.
rewrite -mulr_natr -mulrA ler_pimulr ?mulr_ge0 ?ler0n ?sumr_ge0 //.
by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
Qed.

End Sums.
