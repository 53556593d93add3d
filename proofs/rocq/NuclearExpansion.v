(* The nuclear norm to second order.

   Let S = diag (s) with s >= 0, |A_ij| <= 1 and 0 <= h <= 1. Then |S + h A S|_* is

      sum s_i + h sum A_ii s_i + (h^2/4) sum_ij (A_ij s_j - A_ji s_i)^2/(s_i + s_j),

   up to C h^3 sum s_i, where C depends on the dimension only. Equal values s_i and
   s_i = 0 are allowed.

   From below: the pairing with 1 + h K + h^2 K^2/2, K_ij = (A_ij s_j - A_ji s_i)/(s_i + s_j),
   which lengthens vectors by a factor 1 + O(h^4) only.  From above: |X Y|_* is at most
   (|X|_F^2 + |Y|_F^2)/2; S + h A S is, up to O(h^3), the product of (1 + h A) Q (1 - h T + h^2 T^2)
   and (1 + h T) Q, with Q^2 = S and T_ij = Q_ii Q_jj (A_ij + A_ji)/(2 (s_i + s_j)).
   Nothing is assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets.
From mathcomp.analysis Require Import reals.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import Euclidean MatrixNorms SingularValues.
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

Section Constants.
Variable R : realType.
Implicit Types m : R.

Definition above_constant m : R := m ^+ 5 + m ^+ 3 * 2%:R * (m ^+ 2 * 2%:R + m ^+ 3)
  + m ^+ 2 * (m ^+ 2 * 2%:R + m ^+ 3) ^+ 2 + m ^+ 6 * (1 + m).
Definition expansion_constant m : R := m ^+ 2 + 2%:R * m ^+ 5 + m * above_constant m.

End Constants.

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

Let sum_s : \sum_(i < d) \sum_(j < d) s j = n * r.
Proof. by rewrite sumr_const card_ord -[LHS]mulr_natl. Qed.

Let dot_S_le x y (X Y : 'M[R]_d) : entries_le x X -> entries_le y Y ->
  `|frob_dot X (Y *m S)| <= n * r * (x * y).
Proof.
move=> hX hY; rewrite dot_S -sum_s mulr_suml; apply: le_trans (ler_norm_sum _ _ _) _.
apply: ler_sum => i _; rewrite mulr_suml; apply: le_trans (ler_norm_sum _ _ _) _.
apply: ler_sum => j _; rewrite !normrM (ger0_norm (s_ge0 j)) mulrC.
by rewrite ler_wpmul2l // ler_pmul.
Qed.

Let pair_zero i j : s i + s j = 0 -> s i = 0 /\ s j = 0.
Proof. by move=> /eqP; rewrite paddr_eq0 // => /andP[/eqP-> /eqP->]. Qed.

(* ---------------------------------------------------------------------------- *)
(* From below                                                                   *)

Let K : 'M[R]_d := \matrix_(i, j) ((A i j * s j - A j i * s i) / (s i + s j)).

Let KE i j : K i j * (s i + s j) = A i j * s j - A j i * s i.
Proof.
rewrite mxE; have [z|nz] := eqVneq (s i + s j) 0; last by rewrite divfK.
by have [-> ->] := pair_zero z; rewrite addr0 !mulr0 subrr.
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
  by have [-> ->] := pair_zero z; rewrite !(mulr0, subrr, expr0n, mul0r, addr0) /= ?mul0r.
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

(* ---------------------------------------------------------------------------- *)
(* From above                                                                   *)

Let q i : R := Num.sqrt (s i).
Let Q : 'M[R]_d := diag_mx (\row_i q i).
Let rho : R := \sum_i q i.
Let T : 'M[R]_d := \matrix_(i, j) (q i * q j * (A i j + A j i) / (2%:R * (s i + s j))).

Let q_ge0 i : 0 <= q i. Proof. exact: sqrtr_ge0. Qed.
Let sE i : s i = q i ^+ 2. Proof. by rewrite sqr_sqrtr. Qed.
Let rho_ge0 : 0 <= rho. Proof. by apply: sumr_ge0. Qed.

Let pair_le i j : q i * q j *+ 2 <= s i + s j.
Proof.
rewrite !sE -subr_ge0 (_ : _ - _ = (q i - q j) ^+ 2) ?sqr_ge0 //.
by move: (q i) (q j) => a b; ring.
Qed.

Let rho_sq : rho ^+ 2 <= n * r.
Proof.
have -> : n * r = \sum_i \sum_j (s i + s j) / 2%:R.
  rewrite -sum_s (_ : \sum_i \sum_j (s i + s j) / 2%:R
      = (\sum_(i < d) \sum_(j < d) s i + \sum_(i < d) \sum_(j < d) s j) / 2%:R); last first.
    by rewrite -big_split mulr_suml; apply: eq_bigr => i _; rewrite -big_split mulr_suml.
  by rewrite [X in X + _]exchange_big /= -mulr2n -[_ *+ 2]mulr_natr mulfK ?pnatr_eq0.
rewrite expr2 /rho mulr_suml; apply: ler_sum => i _; rewrite mulr_sumr; apply: ler_sum => j _.
by rewrite ler_pdivl_mulr ?ltr0n // mulr_natr pair_le.
Qed.

Let Q_le : entries_le rho Q.
Proof.
move=> i j; rewrite !mxE; case: eqP => _; last by rewrite mulr0n normr0.
rewrite mulr1n ger0_norm // /rho (bigD1 i) //= ler_addl; exact: sumr_ge0.
Qed.

Let T_tr : T^T = T.
Proof. by apply/matrixP => i j; rewrite !mxE [A j i + _]addrC [s j + _]addrC [q j * _]mulrC. Qed.

Let T_le1 : entries_le 1 T.
Proof.
move=> i j; rewrite mxE; have [z|nz] := eqVneq (s i + s j) 0.
  by rewrite z mulr0 invr0 mulr0 normr0 ler01.
have p : 0 < 2%:R * (s i + s j) by rewrite mulr_gt0 ?ltr0n // lt_def nz addr_ge0.
rewrite normrM normfV (gtr0_norm p) ler_pdivr_mulr // mul1r normrM ger0_norm ?mulr_ge0 //.
have A2 : `|A i j + A j i| <= 2%:R by apply: le_trans (ler_norm_add _ _) (ler_add (A_le1 _ _) (A_le1 _ _)).
apply: le_trans (ler_wpmul2l (mulr_ge0 (q_ge0 i) (q_ge0 j)) A2) _.
rewrite mulr_natr; apply: le_trans (pair_le i j) _.
by rewrite ler_pemull ?addr_ge0 // ler1n.
Qed.

Let QQ : Q *m Q = S.
Proof.
by rewrite /Q /S mulmx_diag; congr diag_mx; apply/rowP => i; rewrite !mxE -expr2 -sE.
Qed.

Let dotE (X Y : 'M[R]_d) : frob_dot X Y = \sum_i \sum_j X i j * Y i j.
Proof. by rewrite frob_dotE exchange_big. Qed.

Let dot_T (X Y : 'M[R]_d) : frob_dot X (Y *m T) = frob_dot (X *m T) Y.
Proof. by rewrite /frob_dot trmx_mul T_tr mulmxA mxtrace_mulC mulmxA. Qed.

Let diag_sum (F : 'I_d -> 'I_d -> R) : \sum_i \sum_j Q i j * F i j = \sum_i q i * F i i.
Proof.
apply: eq_bigr => i _; rewrite (bigD1 i) //= big1 ?addr0 => [|j ij].
  by rewrite !mxE eqxx mulr1n.
by rewrite !mxE eq_sym (negbTE ij) mulr0n mul0r.
Qed.

Let B : 'M[R]_d := Q + h *: (A *m Q).
Let X1 : 'M[R]_d := A *m Q - Q *m T.
Let X3 : 'M[R]_d := A *m Q *m T *m T.
Let X2 : 'M[R]_d := Q *m T *m T - A *m Q *m T + h *: X3.
Let X : 'M[R]_d := Q + h *: X1 + h ^+ 2 *: X2.
Let Y : 'M[R]_d := Q + h *: (T *m Q).

Let XE : X = B *m (1%:M - h *: T + h ^+ 2 *: (T *m T)).
Proof.
rewrite /X /X1 /X2 /X3 /B !mulmxDr mulmx1 mulmxN -!scalemxAr !mulmxDl -!scalemxAl !mulmxA.
move: (A *m Q) => C; move: (C *m T) (Q *m T) => D E; move: (D *m T) (E *m T) => F G.
set P := Q; clearbody P; apply/matrixP => i j; rewrite !mxE.
by move: (P i j) (C i j) (D i j) (E i j) (F i j) (G i j) => p c e f g k; ring.
Qed.

Let XY : X *m Y = S + h *: (A *m S) + h ^+ 3 *: (B *m (T *m T *m T *m Q)).
Proof.
have -> : Y = (1%:M + h *: T) *m Q by rewrite mulmxDl mul1mx -scalemxAl.
have PT : (1%:M - h *: T + h ^+ 2 *: (T *m T)) *m (1%:M + h *: T)
    = 1%:M + h ^+ 3 *: (T *m T *m T).
  rewrite mulmxDr mulmx1 -scalemxAr !mulmxDl mul1mx mulNmx -!scalemxAl.
  move: (T *m T) => D; move: (D *m T) => C; set P := T; clearbody P.
  apply/matrixP => i j; rewrite !mxE; move: (P i j) (C i j) (D i j) (i == j)%:R => t c e k.
  by ring.
rewrite XE -mulmxA (mulmxA _ _ Q) PT mulmxDl mul1mx mulmxDr -scalemxAl -scalemxAr; congr (_ + _).
by rewrite /B mulmxDl -scalemxAl -mulmxA QQ.
Qed.

Let theta : R := \sum_i \sum_j T i j ^+ 2 * s j.
Let cross : R := \sum_i \sum_j q i * T i j * (A i j * q j).
Let power : R := \sum_i \sum_j A i j ^+ 2 * s j.

Let second_orderE2 : second_order = (power + 4%:R * theta - 4%:R * cross) / 2%:R.
Proof.
have -> : power + 4%:R * theta - 4%:R * cross = \sum_i \sum_j
    (A i j ^+ 2 * s j + 4%:R * (T i j ^+ 2 * s j) - 4%:R * (q i * T i j * (A i j * q j))).
  rewrite /power /theta /cross !mulr_sumr -sumrN -!big_split; apply: eq_bigr => i _ /=.
  by rewrite !mulr_sumr -sumrN -!big_split.
rewrite sum_symmetric /second_order !mulr_suml; apply: eq_bigr => i _.
rewrite !mulr_suml; apply: eq_bigr => j _.
have -> : T j i = T i j by have := congr1 (fun M : 'M[R]_d => M i j) T_tr; rewrite /= mxE.
rewrite mxE; have [z|nz] := eqVneq (s i + s j) 0.
  by have [-> ->] := pair_zero z; rewrite !(mulr0, invr0, subrr, expr0n, mul0r, addr0) /= ?mul0r.
move: nz; rewrite !sE; move: (A i j) (A j i) (q i) (q j) => a b x y nz; field.
by rewrite nz.
Qed.

Let frobD (V W' : 'M[R]_d) k : frob_dot (V + k *: W') (V + k *: W')
  = frob_dot V V + k * (2%:R * frob_dot V W') + k ^+ 2 * frob_dot W' W'.
Proof. by rewrite !frob_dotL (frob_dotC W' V); ring. Qed.

Let normX : frob_dot X X + frob_dot Y Y = (r + h * first_order + h ^+ 2 * second_order
  + h ^+ 3 * (frob_dot Q X3 + frob_dot X1 X2 + h * frob_dot X2 X2 / 2%:R)) * 2%:R.
Proof.
have QQr : frob_dot Q Q = r.
  by rewrite dotE diag_sum; apply: eq_bigr => i _; rewrite !mxE eqxx mulr1n sE expr2.
have QAQ : frob_dot Q (A *m Q) = first_order.
  rewrite dotE diag_sum; apply: eq_bigr => i _.
  by rewrite mul_mx_diag !mxE mulrCA -expr2 -sE.
have QTQ : frob_dot Q (T *m Q) = frob_dot Q (Q *m T).
  by rewrite !dotE !diag_sum; apply: eq_bigr => i _; rewrite mul_mx_diag mul_diag_mx !mxE [_ * q i]mulrC.
have QTQT : frob_dot (Q *m T) (Q *m T) = theta.
  rewrite dotE exchange_big; apply: eq_bigr => i _; apply: eq_bigr => j _ /=.
  have -> : T i j ^+ 2 * s j = T j i ^+ 2 * q j ^+ 2.
    by rewrite -sE; have := congr1 (fun M : 'M[R]_d => M i j) T_tr; rewrite /= mxE => ->.
  by rewrite mul_diag_mx [in LHS]mxE [(\row_k q k) 0 j]mxE -expr2 exprMn mulrC.
have TQTQ : frob_dot (T *m Q) (T *m Q) = theta.
  rewrite dotE; apply: eq_bigr => i _; apply: eq_bigr => j _ /=.
  by rewrite mul_mx_diag [in LHS]mxE [(\row_k q k) 0 j]mxE -expr2 exprMn -sE.
have AQAQ : frob_dot (A *m Q) (A *m Q) = power.
  rewrite dotE; apply: eq_bigr => i _; apply: eq_bigr => j _ /=.
  by rewrite mul_mx_diag [in LHS]mxE [(\row_k q k) 0 j]mxE -expr2 exprMn -sE.
have QTAQ : frob_dot (Q *m T) (A *m Q) = cross.
  rewrite dotE; apply: eq_bigr => i _; apply: eq_bigr => j _ /=.
  by rewrite mul_diag_mx mul_mx_diag !mxE.
have QX1 : frob_dot Q X1 = first_order - frob_dot Q (T *m Q).
  by rewrite /X1 frob_dotDr frob_dotNr QAQ QTQ.
have QX2 : frob_dot Q X2 = theta - cross + h * frob_dot Q X3.
  by rewrite /X2 !frob_dotL (dot_T Q (Q *m T)) (dot_T Q (A *m Q)) QTQT QTAQ.
have X1X1 : frob_dot X1 X1 = power - 2%:R * cross + theta.
  by rewrite /X1 !frob_dotL (frob_dotC (A *m Q) (Q *m T)) QTAQ AQAQ QTQT; ring.
have YY : frob_dot Y Y = r + h * (2%:R * frob_dot Q (T *m Q)) + h ^+ 2 * theta.
  by rewrite /Y frobD QQr TQTQ.
have VX2 : frob_dot (Q + h *: X1) X2 = frob_dot Q X2 + h * frob_dot X1 X2.
  by rewrite frob_dotDl frob_dotZl.
rewrite YY /X frobD frobD VX2 QQr QX1 QX2 X1X1 second_orderE2.
move: (frob_dot Q X3) (frob_dot X1 X2) (frob_dot X2 X2) (frob_dot Q (T *m Q)) first_order => x y z t f.
by move: r power cross theta => a b c e; field.
Qed.

Let x1 : R := n * (1 * rho) + n * (rho * 1).
Let x3 : R := n * (n * (n * (1 * rho) * 1) * 1).
Let x2 : R := n * (n * (rho * 1) * 1) + n * (n * (1 * rho) * 1) + x3.

Let X1_le : entries_le x1 X1.
Proof. by apply: entries_leD; [|apply: entries_leN]; apply: entries_leM. Qed.

Let X3_le : entries_le x3 X3.
Proof. by do 2 apply: entries_leM => //; apply: entries_leM. Qed.

Let X2_le : entries_le x2 X2.
Proof.
apply: entries_leD; last exact: entries_leZ.
by apply: entries_leD; [|apply: entries_leN]; apply: entries_leM => //; apply: entries_leM.
Qed.

Let x5 : R := n * ((rho + n * (1 * rho)) * (n * (n * (n * (1 * 1) * 1) * rho))).

Let E_le : entries_le x5 (B *m (T *m T *m T *m Q)).
Proof.
apply: entries_leM; last by do 2 (apply: entries_leM => //); apply: entries_leM.
by apply: entries_leD => //; apply: entries_leZ => //; apply: entries_leM.
Qed.

Let constant : R := above_constant n.

Let constant_ge0 : 0 <= constant.
Proof.
have m k : 0 <= n ^+ k by rewrite exprn_ge0.
by rewrite /constant /above_constant !(addr_ge0, mulr_ge0, ler0n, ler01, exprn_ge0).
Qed.

Lemma nuclear_above :
  nuclear_norm (S + h *: (A *m S))
  <= r + h * first_order + h ^+ 2 * second_order + h ^+ 3 * (n * constant * r).
Proof.
apply: nuclear_norm_le => C cC; have h3 : 0 <= h ^+ 3 by rewrite exprn_ge0.
have C1 : entries_le 1 C by move=> i j; exact: contraction_entry.
set E := B *m (T *m T *m T *m Q).
have -> : S + h *: (A *m S) = X *m Y - h ^+ 3 *: E by rewrite XY addrK.
rewrite frob_dotDr frob_dotNr frob_dotZr; have := frob_dot_product X Y cC; rewrite normX mulfK ?pnatr_eq0 // => le.
apply: le_trans (ler_add le (lexx _)) _; rewrite -[X in X <= _]addrA -mulrN -mulrDr ler_add2l ler_wpmul2l //.
have b1 := le_trans (ler_norm _) (entries_le_dot Q_le X3_le).
have b2 := le_trans (ler_norm _) (entries_le_dot X1_le X2_le).
have b3 := le_trans (ler_norm _) (entries_le_dot X2_le X2_le).
have b4 : - frob_dot C E <= n * (n * (1 * x5)).
  apply: le_trans (ler_norm _) _; rewrite normrN; exact: entries_le_dot.
have b3' : h * frob_dot X2 X2 / 2%:R <= n * (n * (x2 * x2)).
  apply: le_trans _ b3; have := frob_dot_ge0 X2; move: (frob_dot X2 X2) => F F0.
  rewrite ler_pdivr_mulr ?ltr0n // mulr_natr mulr2n; apply: le_trans (ler_wpmul2r F0 h_le1) _.
  by rewrite mul1r ler_addl.
apply: le_trans (ler_add (ler_add (ler_add b1 b2) b3') b4) _.
apply: (@le_trans _ _ (constant * rho ^+ 2)).
  by rewrite le_eqVlt; apply/orP/or_introl/eqP; rewrite /x5 /x2 /x1 /x3 /constant /above_constant -/n; move: (n) (rho) => m p; ring.
rewrite -mulrA [n * _]mulrC -mulrA ler_wpmul2l ?constant_ge0 // mulrC.
exact: rho_sq.
Qed.

Lemma nuclear_between :
  `|nuclear_norm (S + h *: (A *m S)) - (r + h * first_order + h ^+ 2 * second_order)|
  <= h ^+ 3 * (expansion_constant n * r).
Proof.
have m k : 0 <= n ^+ k by rewrite exprn_ge0.
have low0 : 0 <= n ^+ 2 + 2%:R * n ^+ 5 by rewrite addr_ge0 ?mulr_ge0 ?ler0n.
have high0 : 0 <= n * constant by rewrite mulr_ge0 ?constant_ge0.
have h3 : 0 <= h ^+ 3 by rewrite exprn_ge0.
have below := nuclear_below; have above := nuclear_above.
rewrite ler_norml ler_subl_addl ler_subr_addl /expansion_constant; apply/andP; split.
  apply: le_trans below; rewrite ler_add2l ler_opp2 ler_wpmul2l // ler_wpmul2r //.
  by rewrite ler_addl.
apply: le_trans above _; rewrite ler_add2l ler_wpmul2l // ler_wpmul2r //.
by rewrite ler_addr.
Qed.

End Expansion.

(* One constant for all s, A and h. *)
(*@ NUCLEAR-EXPANSION *)
Theorem nuclear_expansion (R : realType) d : exists C : R, forall (s : 'I_d -> R) (A : 'M[R]_d) h,
  (forall i, 0 <= s i) -> (forall i j, `|A i j| <= 1) -> 0 <= h -> h <= 1 ->
  `|nuclear_norm (diag_mx (\row_i s i) + h *: (A *m diag_mx (\row_i s i)))
    - (\sum_i s i + h * first_order s A + h ^+ 2 * second_order s A)| <= h ^+ 3 * (C * \sum_i s i).
Proof.
exists (expansion_constant d%:R) => s A h s0 A1 h0 h1.
exact: (nuclear_between s0 A1 h0 h1).
Qed.
