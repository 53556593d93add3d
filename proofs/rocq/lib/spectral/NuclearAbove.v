(* The nuclear norm to second order, from above (from below: NuclearBelow.v).

   |X Y|_* is at most (|X|_F^2 + |Y|_F^2)/2, and S + h A S is, up to O(h^3), the product of
   (1 + h A) Q (1 - h T + h^2 T^2) and (1 + h T) Q, with Q^2 = S = diag (s) and
   T_ij = Q_ii Q_jj (A_ij + A_ji)/(2 (s_i + s_j)).  Nothing is assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets.
From mathcomp.analysis Require Import reals.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import Euclidean MatrixNorms SingularValues MatrixEntries NuclearBelow.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Constants.
Variable R : realType.
Implicit Types m : R.

Definition above_constant m : R := m ^+ 5 + m ^+ 3 * 2%:R * (m ^+ 2 * 2%:R + m ^+ 3)
  + m ^+ 2 * (m ^+ 2 * 2%:R + m ^+ 3) ^+ 2 + m ^+ 6 * (1 + m).
Definition expansion_constant m : R := m ^+ 2 + 2%:R * m ^+ 5 + m * above_constant m.

Lemma above_constant_ge0 m : 0 <= m -> 0 <= above_constant m.
Proof. by move=> m0; rewrite /above_constant !(addr_ge0, mulr_ge0, ler0n, ler01, exprn_ge0). Qed.

End Constants.

Section Above.
Variables (R : realType) (d : nat) (s : 'I_d -> R) (A : 'M[R]_d) (h : R).
Hypotheses (s_ge0 : forall i, 0 <= s i) (A_le1 : entries_le 1 A) (h_ge0 : 0 <= h) (h_le1 : h <= 1).
Let n : R := d%:R.
Let S : 'M[R]_d := diag_mx (\row_i s i).
Let r : R := \sum_i s i.
Let r_ge0 : 0 <= r. Proof. by apply: sumr_ge0. Qed.
Let n_ge0 : 0 <= n. Proof. exact: ler0n. Qed.
Local Notation first_order := (first_order s A).
Local Notation second_order := (second_order s A).

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
  rewrite -sum_rows (_ : \sum_i \sum_j (s i + s j) / 2%:R
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
  by have [-> ->] := pair_zero s_ge0 z; rewrite !(mulr0, invr0, subrr, expr0n, mul0r, addr0) /= ?mul0r.
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

Let constant_ge0 : 0 <= constant. Proof. exact: above_constant_ge0. Qed.

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
  rewrite le_eqVlt; apply/orP/or_introl/eqP; rewrite /x5 /x2 /x1 /x3 /constant /above_constant.
  by rewrite -/n; move: (n) (rho) => m p; ring.
rewrite -mulrA [n * _]mulrC -mulrA ler_wpmul2l ?constant_ge0 // mulrC.
exact: rho_sq.
Qed.

End Above.
