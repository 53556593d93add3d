(******************************************************************************)
(* How far one record moves the vector of eigenvalues.                        *)
(*                                                                            *)
(* A symmetric matrix is given with its eigenvalues in decreasing order and   *)
(* an orthogonal matrix of eigenvectors (spectral). If A <= C in the Loewner  *)
(* order, every eigenvalue of A is at most that of C with the same number     *)
(* (Weyl). So A + x x^T raises every eigenvalue, in total by |x|^2 (the       *)
(* trace), and replacing the record y by x moves the vector of eigenvalues by *)
(* at most |x|^2 + |y|^2 in l1: by 2 when records have length 1, and this is  *)
(* attained by (2, 0) -> (1, 1).                                              *)
(*                                                                            *)
(* That every symmetric matrix has such eigenvalues is SpectralTheorem.v.     *)
(* Nothing is assumed.                                                        *)
(******************************************************************************)
From covassay Require Import MatrixTheory Euclidean MatrixNorms PsdProjection.
From mathcomp Require Import mxalgebra.

Section Spectral.
Variables (R : rcfType) (d : nat).
Implicit Types (A B C U V : 'M[R]_d) (a b c : 'rV[R]_d) (x y u w : 'cV[R]_d).

Definition spectral A U a := [/\ orthogonal_mx U, A = U *m diag_mx a *m U^T
  & forall i j : 'I_d, (i <= j)%N -> a 0 j <= a 0 i].

(* in the coordinates of the eigenvectors the form is a sum of squares *)
Lemma form_spectral A U a w : spectral A U a ->
  form A (U *m w) = \sum_i a 0 i * w i 0 ^+ 2.
Proof.
move=> [oU AE _]; rewrite /form AE -!mulmxA (mulmxA U^T) oU mul1mx orthogonal_dot //.
by apply: eq_bigr => i _; rewrite mul_diag_mx mxE expr2 mulrCA.
Qed.

Lemma trace_spectral A U a : spectral A U a -> \tr A = \sum_i a 0 i.
Proof.
move=> [oU AE _]; rewrite AE mxtrace_mulC mulmxA oU mul1mx.
by apply: eq_bigr => i _; rewrite mxE eqxx mulr1n.
Qed.

(* i equations in i + 1 unknowns have a solution that is not zero *)
Lemma crossing (M : 'M[R]_d) (i : 'I_d) : exists2 w : 'cV[R]_d, w != 0 &
  (forall k : 'I_d, (i < k)%N -> w k 0 = 0) /\ (forall j : 'I_d, (j < i)%N -> (M *m w) j 0 = 0).
Proof.
pose X : 'M[R]_d := \matrix_(k, j)
  if (k <= i)%N then (if (j < i)%N then M j k else 0) else (k == j)%:R.
have /det0P [r r0 rX] : \det X == 0.
  rewrite (expand_det_col X i) big1 // => k _; rewrite mxE ltnn.
  case: ifPn => [_|]; first by rewrite mul0r.
  by rewrite -ltnNge => ik; rewrite -val_eqE /= gtn_eqF // mul0r.
have tail (k : 'I_d) : (i < k)%N -> r 0 k = 0.
  move=> ik; move/matrixP/(_ 0 k): rX; rewrite !mxE => <-.
  rewrite (bigD1 k) //= mxE leqNgt ik eqxx mulr1 big1 ?addr0 // => l lk.
  rewrite mxE; case: ifPn => _; last by rewrite (negbTE lk) mulr0.
  by rewrite ltnNge (ltnW ik) mulr0.
exists r^T; first by rewrite -(inj_eq (@trmx_inj _ _ _)) trmxK trmx0.
split=> [k ik|j ji]; first by rewrite mxE tail.
transitivity ((r *m X) 0 j); last by rewrite rX mxE.
rewrite !mxE; apply: eq_bigr => k _; rewrite !mxE mulrC.
have [ki|ik] := leqP k i; first by rewrite ji.
by rewrite tail // !mul0r.
Qed.

(* Weyl: A <= C implies that the eigenvalues of A are at most those of C *)
(*@ WEYL-MONOTONE *)
Theorem weyl_monotone A C U V a c : spectral A U a -> spectral C V c -> loewner_le A C ->
  forall i, a 0 i <= c 0 i.
Proof.
move=> sA sC AC i; have [oU _ aD] := sA; have [oV _ cD] := sC.
have [w w0 [wi zi]] := crossing (V^T *m U) i; pose z := V^T *m U *m w.
have Vz : V *m z = U *m w by rewrite /z !mulmxA (orthogonal_mxT oV) mul1mx.
have ww : 0 < dot w w by rewrite lt_def dot_eq0 w0 dot_ge0.
have zz : dot z z = dot w w by rewrite -(orthogonal_dot z z oV) Vz orthogonal_dot.
have lo : a 0 i * dot w w <= form A (U *m w).
  rewrite (form_spectral w sA) /dot mulr_sumr; apply: ler_sum => k _; rewrite -expr2.
  have [ki|ik] := leqP k i; first by rewrite ler_wpmul2r ?sqr_ge0 ?aD.
  by rewrite wi // expr0n !mulr0.
have up : form C (V *m z) <= c 0 i * dot z z.
  rewrite (form_spectral z sC) /dot mulr_sumr; apply: ler_sum => k _; rewrite -expr2.
  have [ik|ki] := leqP i k; first by rewrite ler_wpmul2r ?sqr_ge0 ?cD.
  by rewrite zi // expr0n !mulr0.
rewrite -(ler_pmul2r ww); apply: le_trans lo (le_trans (AC _) _).
by rewrite -zz -Vz.
Qed.

(* one more record raises the eigenvalues, in total by its squared length *)
Lemma eigenvalue_rise A C U V a c x : spectral A U a -> spectral C V c ->
  C = A + x *m x^T -> \sum_i `|c 0 i - a 0 i| = dot x x.
Proof.
move=> sA sC CE; have AC : loewner_le A C.
  by move=> u; rewrite CE formD ler_addl form_outer sqr_ge0.
rewrite (eq_bigr (fun i => c 0 i - a 0 i)) => [|i _]; last first.
  by rewrite ger0_norm // subr_ge0 (weyl_monotone sA sC AC).
rewrite sumrB -(trace_spectral sA) -(trace_spectral sC) CE linearD /= addrC addKr.
by rewrite mxtrace_mulC dotE mxtrace_scalar mulr1n.
Qed.

(* replacing y by x *)
(*@ EIGENVALUE-CHANGE *)
Theorem eigenvalue_change A B C U V W a b c x y :
  spectral A U a -> spectral B V b -> spectral C W c ->
  C = A + x *m x^T -> C = B + y *m y^T ->
  \sum_i `|b 0 i - a 0 i| <= dot x x + dot y y.
Proof.
move=> sA sB sC CA CB.
rewrite -(eigenvalue_rise sA sC CA) -(eigenvalue_rise sB sC CB) -big_split.
apply: ler_sum => i _ /=.
have -> : b 0 i - a 0 i = (c 0 i - a 0 i) - (c 0 i - b 0 i) by rewrite opprB [RHS]addrC addrA subrK.
by apply: le_trans (ler_norm_add _ _) _; rewrite normrN.
Qed.

(*@ ADK19.EIGENVALUE-SENSITIVITY *)
Theorem eigenvalue_sensitivity A B C U V W a b c x y :
  spectral A U a -> spectral B V b -> spectral C W c ->
  C = A + x *m x^T -> C = B + y *m y^T -> norm x <= 1 -> norm y <= 1 ->
  \sum_i `|b 0 i - a 0 i| <= 2%:R.
Proof.
move=> sA sB sC CA CB; rewrite !norm_le1 => x1 y1.
by apply: le_trans (eigenvalue_change sA sB sC CA CB) _; rewrite -[2%:R]/(1 + 1) ler_add.
Qed.

End Spectral.

(* The bound is attained, and the premises hold somewhere: the data e1, e1 and e1, e2. *)
Section Attained.
Variable R : rcfType.

Definition rv2 (a b : R) : 'rV[R]_2 := \row_i if i == 0 then a else b.

Lemma spectral_diag (a b : R) : b <= a -> spectral (mx2 a 0 0 b) 1%:M (rv2 a b).
Proof.
move=> ba; split; first by rewrite /orthogonal_mx trmx1 mulmx1.
  rewrite trmx1 mulmx1 mul1mx; apply/matrixP=> i j; rewrite !mxE.
  by case: i j => [[|[|//]] ?] [[|[|//]] ?] /=; rewrite ?mulr1n ?mulr0n.
by case=> [[|[|//]] ?] [[|[|//]] ?]; rewrite !mxE.
Qed.

Lemma outer_cv2 (x y : R) : cv2 x y *m (cv2 x y)^T = mx2 (x * x) (x * y) (y * x) (y * y).
Proof.
apply/matrixP=> i j; rewrite !mxE big_ord1 !mxE.
by case: (i == 0); case: (j == 0).
Qed.

Lemma mx2_add (a b c e a' b' c' e' : R) :
  mx2 a b c e + mx2 a' b' c' e' = mx2 (a + a') (b + b') (c + c') (e + e').
Proof. by apply/matrixP=> i j; rewrite !mxE; case: ifP; case: ifP. Qed.

Theorem eigenvalue_sensitivity_attained :
  let x : 'cV[R]_2 := cv2 0 1 in let y : 'cV[R]_2 := cv2 1 0 in
  [/\ spectral (mx2 2%:R 0 0 0) 1%:M (rv2 2%:R 0), spectral (mx2 1 0 0 1) 1%:M (rv2 1 1),
      spectral (mx2 2%:R 0 0 1) 1%:M (rv2 2%:R 1),
      mx2 2%:R 0 0 1 = mx2 2%:R 0 0 0 + x *m x^T /\ mx2 2%:R 0 0 1 = mx2 1 0 0 1 + y *m y^T &
      \sum_i `|rv2 1 1 0 i - rv2 2%:R 0 0 i| = 2%:R].
Proof.
move=> x y; split; try by apply: spectral_diag; rewrite ?ler0n ?ler1n.
  split; first by rewrite outer_cv2 mx2_add !(mulr0, mul0r, mulr1, addr0, add0r).
  by rewrite outer_cv2 mx2_add !(mulr0, mul0r, mulr1, addr0).
rewrite !big_ord_recl big_ord0 !mxE /= subr0 normr1 addr0.
by rewrite (_ : 1 - 2%:R = -1) ?normrN1 //; ring.
Qed.

End Attained.
