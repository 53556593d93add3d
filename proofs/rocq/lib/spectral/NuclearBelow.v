(* The nuclear norm to second order, from below.

   Let S = diag (s) with s >= 0, |A_ij| <= 1 and 0 <= h <= 1.  Then |S + h A S|_* is at least

      sum s_i + h sum A_ii s_i + (h^2/4) sum_ij (A_ij s_j - A_ji s_i)^2/(s_i + s_j) - C h^3 sum s_i:

   this is the pairing with 1 + h K + h^2 K^2/2, where K_ij = (A_ij s_j - A_ji s_i)/(s_i + s_j),
   which lengthens vectors by a factor 1 + O(h^4) only.  Nothing is assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets.
From mathcomp.analysis Require Import reals.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import Euclidean MatrixNorms SingularValues MatrixEntries.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Expansion.
Variables (R : realType) (d : nat) (s : 'I_d -> R) (A : 'M[R]_d) (h : R).
Hypotheses (s_ge0 : forall i, 0 <= s i) (A_le1 : entries_le 1 A) (h_ge0 : 0 <= h) (h_le1 : h <= 1).

Let n : R := d%:R.
Let S : 'M[R]_d := diag_mx (\row_i s i).
Let r : R := \sum_i s i.
Let r_ge0 : 0 <= r. Proof. by apply: sumr_ge0. Qed.
Let n_ge0 : 0 <= n. Proof. exact: ler0n. Qed.

Definition first_order : R := \sum_i A i i * s i.
Definition second_order : R := (\sum_i \sum_j (A i j * s j - A j i * s i) ^+ 2 / (s i + s j)) / 4%:R.

Let dot_S (X Y : 'M[R]_d) : frob_dot X (Y *m S) = \sum_i \sum_j X i j * Y i j * s j.
Proof.
rewrite frob_dotE exchange_big; apply: eq_bigr => i _; apply: eq_bigr => j _ /=.
by rewrite mul_mx_diag !mxE mulrA.
Qed.

Let dot_S1 (X : 'M[R]_d) : frob_dot X S = \sum_i X i i * s i.
Proof.
rewrite frob_dotE; apply: eq_bigr => j _; rewrite (bigD1 j) //= big1 ?addr0 => [|i ij].
  by rewrite !mxE eqxx mulr1n.
by rewrite !mxE (negbTE ij) mulr0n mulr0.
Qed.

Let dot_S_le x y (X Y : 'M[R]_d) : entries_le x X -> entries_le y Y ->
  `|frob_dot X (Y *m S)| <= n * r * (x * y).
Proof.
move=> hX hY; rewrite dot_S -sum_rows mulr_suml; apply: le_trans (ler_norm_sum _ _ _) _.
apply: ler_sum => i _; rewrite mulr_suml; apply: le_trans (ler_norm_sum _ _ _) _.
apply: ler_sum => j _; rewrite !normrM (ger0_norm (s_ge0 j)) mulrC.
by rewrite ler_wpmul2l // ler_pmul.
Qed.

(* ---------------------------------------------------------------------------- *)
(* From below                                                                   *)

Let K : 'M[R]_d := \matrix_(i, j) ((A i j * s j - A j i * s i) / (s i + s j)).

Let KE i j : K i j * (s i + s j) = A i j * s j - A j i * s i.
Proof.
rewrite mxE; have [z|nz] := eqVneq (s i + s j) 0; last by rewrite divfK.
by have [-> ->] := pair_zero s_ge0 z; rewrite addr0 !mulr0 subrr.
Qed.

Let K_skew i j : K j i = - K i j.
Proof. by rewrite !mxE -[RHS]mulNr opprB [s j + s i]addrC. Qed.

Let K_tr : K^T = - K.
Proof. by apply/matrixP => i j; rewrite mxE K_skew [RHS]mxE. Qed.

Let K_le1 : entries_le 1 K.
Proof.
move=> i j; rewrite mxE; have [z|nz] := eqVneq (s i + s j) 0; first by rewrite z invr0 mulr0 normr0 ler01.
have p : 0 < s i + s j by rewrite lt_def nz addr_ge0.
rewrite normrM normfV (gtr0_norm p) ler_pdivr_mulr // mul1r [s i + s j]addrC.
apply: le_trans (ler_norm_sub _ _) _; rewrite !normrM !(ger0_norm (s_ge0 _)).
by apply: ler_add; rewrite ler_pimull.
Qed.

Let second_orderE : second_order = \sum_i \sum_j (K i j * A i j * s j - K i j ^+ 2 * s j / 2%:R).
Proof.
rewrite /second_order [RHS]sum_symmetric mulr_suml [RHS]mulr_suml; apply: eq_bigr => i _.
rewrite mulr_suml [RHS]mulr_suml; apply: eq_bigr => j _; rewrite K_skew.
have [z|nz] := eqVneq (s i + s j) 0.
  by have [-> ->] := pair_zero s_ge0 z; rewrite !(mulr0, subrr, expr0n, mul0r, addr0) /= ?mul0r.
rewrite mxE; move: (A i j) (A j i) (s i) (s j) nz => a b p q nz; field.
by rewrite addrC.
Qed.

Let skew_dot (u v : 'cV[R]_d) : dot (K *m u) v = - dot u (K *m v).
Proof. by rewrite dot_mulmxl K_tr mulNmx dotNr. Qed.

Let W : 'M[R]_d := 1%:M + h *: K + (h ^+ 2 / 2%:R) *: (K *m K).

Let K_op (u : 'cV[R]_d) : norm (K *m u) <= n * norm u.
Proof.
apply: le_trans (op_le_frob K u) _; rewrite ler_wpmul2r ?Euclidean.norm_ge0 //.
rewrite -ler_sqr ?nnegrE ?frob_norm_ge0 // sqr_frob_norm; apply: le_trans (ler_norm _) _.
by apply: le_trans (entries_le_dot K_le1 K_le1) _; rewrite !mulr1 -expr2.
Qed.

Let W_op : op_le W (1 + h ^+ 4 * n ^+ 4).
Proof.
move=> u; have c0 : 0 <= h ^+ 4 * n ^+ 4 by rewrite mulr_ge0 ?exprn_ge0.
have c1 : 0 <= 1 + h ^+ 4 * n ^+ 4 by rewrite addr_ge0 ?ler01.
rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?Euclidean.norm_ge0 // exprMn !sqr_norm.
set v := K *m u; set w := K *m v.
have uv : dot u v = 0.
  have := skew_dot u u; rewrite -/v dotC => /eqP; rewrite -addr_eq0 -mulr2n mulrn_eq0 => /eqP; apply.
have vw : dot v w = 0.
  have := skew_dot v v; rewrite -/w dotC => /eqP; rewrite -addr_eq0 -mulr2n mulrn_eq0 => /eqP; apply.
have uw : dot u w = - dot v v by rewrite -[LHS]opprK /w -skew_dot.
have ww : dot w w <= n ^+ 4 * dot u u.
  rewrite -!sqr_norm (_ : n ^+ 4 = (n * n) ^+ 2); last by ring.
  rewrite -exprMn ler_sqr ?nnegrE ?mulr_ge0 ?Euclidean.norm_ge0 // -mulrA.
  by apply: le_trans (K_op v) _; rewrite ler_wpmul2l // K_op.
have -> : W *m u = u + h *: v + (h ^+ 2 / 2%:R) *: w.
  by rewrite /W !mulmxDl mul1mx -!scalemxAl -mulmxA.
rewrite !dotL (dotC v u) (dotC w u) (dotC w v) uv vw uw.
move: c0 ww (dot_ge0 u) (dot_ge0 w); set c := h ^+ 4 * n ^+ 4 => c0 ww uu w0.
have le : h ^+ 4 / 4%:R * dot w w <= c * dot u u.
  rewrite /c -[_ / _ * _]mulrA -[h ^+ 4 * n ^+ 4 * _]mulrA ler_wpmul2l ?exprn_ge0 //; apply: le_trans _ ww.
  by rewrite ler_pimull // invf_le1 ?ler1n ?ltr0n.
have extra : 0 <= (c + c ^+ 2) * dot u u by rewrite mulr_ge0 // addr_ge0 // exprn_ge0.
have gap : 0 <= c * dot u u - h ^+ 4 / 4%:R * dot w w by rewrite subr_ge0.
rewrite -subr_ge0; apply: le_trans (addr_ge0 extra gap) _.
rewrite le_eqVlt; apply/orP/or_introl/eqP.
by move: (dot u u) (dot v v) (dot w w) => x y z; field.
Qed.

Let pairing : exists2 e, `|e| <= n ^+ 2 * r &
  frob_dot W (S + h *: (A *m S)) = r + h * first_order + h ^+ 2 * second_order + h ^+ 3 * e.
Proof.
pose e := frob_dot (K *m K) (A *m S) / 2%:R.
exists e.
  rewrite normrM normfV (ger0_norm (ler0n R 2)) ler_pdivr_mulr ?ltr0n //.
  apply: le_trans (dot_S_le (entries_leM K_le1 K_le1) A_le1) _.
  rewrite !mulr1 (_ : n * r * _ = n ^+ 2 * r); last by rewrite -/n; ring.
  by rewrite ler_pemulr ?mulr_ge0 ?exprn_ge0 // ler1n.
have one_S : frob_dot 1%:M S = r.
  by rewrite dot_S1; apply: eq_bigr => i _; rewrite mxE eqxx mul1r.
have K_S : frob_dot K S = 0.
  rewrite dot_S1 big1 // => i _; have := K_skew i i => /eqP.
  by rewrite -addr_eq0 -mulr2n mulrn_eq0 /= => /eqP->; rewrite mul0r.
have KK_S : frob_dot (K *m K) S = - \sum_i \sum_j K i j ^+ 2 * s j.
  rewrite dot_S1 exchange_big -sumrN; apply: eq_bigr => i _; rewrite mxE mulr_suml -sumrN.
  by apply: eq_bigr => j _; rewrite [K i j]K_skew !mulNr expr2.
have one_AS : frob_dot 1%:M (A *m S) = first_order.
  rewrite dot_S; apply: eq_bigr => i _; rewrite (bigD1 i) //= big1 ?addr0 => [|j ij].
    by rewrite mxE eqxx mul1r.
  by rewrite mxE eq_sym (negbTE ij) !mul0r.
have second : second_order = frob_dot K (A *m S) + frob_dot (K *m K) S / 2%:R.
  rewrite second_orderE KK_S dot_S mulNr mulr_suml -sumrB; apply: eq_bigr => i _.
  by rewrite mulr_suml -sumrB.
rewrite /W !frob_dotL one_S K_S one_AS second /e.
move: (frob_dot K (A *m S)) (frob_dot (K *m K) S) (frob_dot (K *m K) (A *m S)) first_order => x y z f.
by field.
Qed.

Let M_le : nuclear_norm (S + h *: (A *m S)) <= n * r * 2%:R.
Proof.
apply: nuclear_norm_le => C cC; apply: le_trans (ler_norm _) _.
have C1 : entries_le 1 C by move=> i j; exact: contraction_entry.
rewrite -[2%:R]mul1r -{1}[S]mul1mx scalemxAl -mulmxDl; apply: dot_S_le => //.
apply: entries_leD; last exact: entries_leZ.
by move=> i j; rewrite mxE; case: (i == j); rewrite ?normr1 ?normr0 ?ler01.
Qed.

Lemma nuclear_below :
  r + h * first_order + h ^+ 2 * second_order - h ^+ 3 * ((n ^+ 2 + 2%:R * n ^+ 5) * r)
  <= nuclear_norm (S + h *: (A *m S)).
Proof.
have [e e_le E] := pairing; have c0 : 0 <= 1 + h ^+ 4 * n ^+ 4.
  by rewrite addr_ge0 ?ler01 ?mulr_ge0 ?exprn_ge0.
have := frob_dot_le_nuclear (S + h *: (A *m S)) c0 W_op; rewrite E => main.
have h3 : 0 <= h ^+ 3 by rewrite exprn_ge0.
have e_lo : - (n ^+ 2 * r) <= e by move: e_le; rewrite ler_norml => /andP[].
have lo := ler_wpmul2l h3 e_lo.
have far : h ^+ 4 * n ^+ 4 * nuclear_norm (S + h *: (A *m S)) <= h ^+ 3 * (2%:R * n ^+ 5 * r).
  rewrite [X in _ <= X](_ : _ = h ^+ 3 * n ^+ 4 * (n * r * 2%:R)); last by ring.
  apply: ler_pmul; rewrite ?nuclear_norm_ge0 ?mulr_ge0 ?exprn_ge0 //.
  by rewrite ler_wpmul2r ?exprn_ge0 // exprS ler_pimull.
rewrite [X in _ <= X]mulrDl mul1r in main; move: main lo far; move: (nuclear_norm _) => N.
set f := first_order; set g := second_order; move: f g (h ^+ 4 * n ^+ 4 * N) => f g y main lo far.
rewrite -subr_ge0 in main; rewrite -subr_ge0 in lo; rewrite -subr_ge0 in far.
rewrite -subr_ge0; apply: le_trans (addr_ge0 (addr_ge0 main lo) far) _.
by rewrite le_eqVlt; apply/orP/or_introl/eqP; ring.
Qed.

End Expansion.
