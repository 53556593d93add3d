(* Matrices with bounded entries, and the nuclear norm of a product.

   If |X_ij| <= x and |Y_ij| <= y for d x d matrices, then |(X Y)_ij| <= d x y,
   |<X, Y>| <= d^2 x y and |X|_* <= d^2 x.  Orthogonal matrices on either side do not change
   |X|_*, and |X Y|_* <= (|X|_F^2 + |Y|_F^2)/2.  Nothing is assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets.
From mathcomp.analysis Require Import reals.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import Euclidean MatrixNorms.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Entries.
Variables (R : realType) (d : nat).
Implicit Types (X Y Z M U V : 'M[R]_d) (c x y : R).

Definition entries_le c X := forall i j, `|X i j| <= c.

Lemma entries_leD x y X Y : entries_le x X -> entries_le y Y -> entries_le (x + y) (X + Y).
Proof. by move=> hx hy i j; rewrite mxE; apply: le_trans (ler_norm_add _ _) (ler_add (hx _ _) (hy _ _)). Qed.

Lemma entries_leN x X : entries_le x X -> entries_le x (- X).
Proof. by move=> hx i j; rewrite mxE normrN. Qed.

Lemma entries_leZ h x X : 0 <= h -> h <= 1 -> entries_le x X -> entries_le x (h *: X).
Proof.
move=> h0 h1 hx i j; rewrite mxE normrM ger0_norm //.
by apply: le_trans (ler_wpmul2r _ h1) _; rewrite ?normr_ge0 // mul1r.
Qed.

Lemma sum_const_le (F : 'I_d -> R) c : (forall k, F k <= c) -> \sum_k F k <= d%:R * c.
Proof.
move=> Fc; apply: (@le_trans _ _ (\sum_(k < d) c)); first by apply: ler_sum => k _.
by rewrite sumr_const card_ord mulr_natl.
Qed.

Lemma entries_leM x y X Y : entries_le x X -> entries_le y Y -> entries_le (d%:R * (x * y)) (X *m Y).
Proof.
move=> hx hy i j; rewrite mxE; apply: le_trans (ler_norm_sum _ _ _) _.
by apply: sum_const_le => k; rewrite normrM ler_pmul.
Qed.

Lemma entries_le_dot x y X Y : entries_le x X -> entries_le y Y ->
  `|frob_dot X Y| <= d%:R * (d%:R * (x * y)).
Proof.
move=> hx hy; rewrite frob_dotE; apply: le_trans (ler_norm_sum _ _ _) _.
apply: sum_const_le => j; apply: le_trans (ler_norm_sum _ _ _) _.
by apply: sum_const_le => i; rewrite normrM ler_pmul.
Qed.

Lemma entries_le_nuclear c X : entries_le c X -> nuclear_norm X <= d%:R * (d%:R * c).
Proof.
move=> hX; apply: nuclear_norm_le => M cM; apply: le_trans (ler_norm _) _.
rewrite -[c]mul1r; apply: entries_le_dot => // i j; exact: contraction_entry.
Qed.

Lemma nuclear_orthogonal U V X : orthogonal_mx U -> orthogonal_mx V ->
  nuclear_norm (U *m X *m V^T) = nuclear_norm X.
Proof.
have le (U' V' X' : 'M[R]_d) : orthogonal_mx U' -> orthogonal_mx V' ->
    nuclear_norm (U' *m X' *m V'^T) <= nuclear_norm X'.
  move=> oU oV; apply: nuclear_norm_le => M cM.
  have -> : frob_dot M (U' *m X' *m V'^T) = frob_dot (U'^T *m M *m V') X'.
    by rewrite /frob_dot !trmx_mul trmxK !mulmxA mxtrace_mulC !mulmxA.
  apply: nuclear_norm_ub => u; rewrite mul1r -!mulmxA (orthogonal_norm _ (orthogonal_mx_tr oU)).
  by apply: le_trans (contractionP _ cM) _; rewrite orthogonal_norm.
move=> oU oV; apply/eqP; rewrite eq_le le //=.
have XE : X = U^T *m (U *m X *m V^T) *m V^T^T.
  by rewrite trmxK !mulmxA oU mul1mx -mulmxA oV mulmx1.
by rewrite {1}XE le //; exact: orthogonal_mx_tr.
Qed.

(* |X Y|_* <= (|X|_F^2 + |Y|_F^2)/2 *)
Lemma frob_dot_product M X Y : contraction M ->
  frob_dot M (X *m Y) <= (frob_dot X X + frob_dot Y Y) / 2%:R.
Proof.
move=> cM; have -> : frob_dot M (X *m Y) = frob_dot (M *m Y^T) X.
  by rewrite /frob_dot trmx_mul trmxK mulmxA mxtrace_mulC mulmxA.
have le : frob_dot (M *m Y^T) (M *m Y^T) <= frob_dot Y Y.
  have -> : frob_dot Y Y = frob_dot Y^T Y^T by rewrite /frob_dot trmxK mxtrace_mulC.
  move: Y^T => P; rewrite !frob_dotE; apply: ler_sum => j _.
  have E (Q : 'M[R]_d) : \sum_i Q i j * Q i j = dot (col j Q) (col j Q).
    by apply: eq_bigr => i _; rewrite !mxE.
  rewrite !E -!sqr_norm !colE -mulmxA ler_sqr ?nnegrE ?Euclidean.norm_ge0 //.
  exact: contractionP.
have := frob_dot_ge0 (M *m Y^T - X); rewrite !frob_dotL (frob_dotC X) => sq.
rewrite ler_pdivl_mulr ?ltr0n //; apply: le_trans (ler_add (lexx (frob_dot X X)) le).
move: sq; move: (frob_dot X X) (frob_dot (M *m Y^T) X) (frob_dot (M *m Y^T) (M *m Y^T)) => p q t sq.
rewrite -subr_ge0; apply: le_trans sq _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
by ring.
Qed.

Lemma sum_symmetric (F : 'I_d -> 'I_d -> R) :
  \sum_i \sum_j F i j = (\sum_i \sum_j (F i j + F j i)) / 2%:R.
Proof.
have -> : \sum_i \sum_j (F i j + F j i) = \sum_i \sum_j F i j + \sum_i \sum_j F j i.
  by rewrite -big_split; apply: eq_bigr => i _; rewrite -big_split.
by rewrite [X in _ + X]exchange_big /= -mulr2n -[_ *+ 2]mulr_natr mulfK ?pnatr_eq0.
Qed.

End Entries.

Section Sums.
Variables (R : realType) (d : nat) (s : 'I_d -> R).
Hypothesis s_ge0 : forall i, 0 <= s i.

Lemma sum_rows : \sum_(i < d) \sum_(j < d) s j = d%:R * \sum_i s i.
Proof. by rewrite sumr_const card_ord -[LHS]mulr_natl. Qed.

Lemma pair_zero i j : s i + s j = 0 -> s i = 0 /\ s j = 0.
Proof. by move=> /eqP; rewrite paddr_eq0 // => /andP[/eqP-> /eqP->]. Qed.

End Sums.
