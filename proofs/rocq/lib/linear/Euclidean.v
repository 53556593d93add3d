(******************************************************************************)
(* Vectors and matrices over a real closed field (the reals, for example):    *)
(* scalar product, length, symmetric and positive semidefinite matrices, and  *)
(* the reflection that swaps two vectors of equal length.                     *)
(*                                                                            *)
(* Column vectors of dimension d are 'cV_d; x^T is the transpose, A *m B the  *)
(* matrix product, a *: A a multiple, and x *m y^T the rank-one matrix x yT.  *)
(* Nothing is assumed, and no axiom is used.                                  *)
(******************************************************************************)
From covassay Require Import MatrixTheory.

(* transposition is linear *)
Lemma trD (R : ringType) m n (A B : 'M[R]_(m, n)) : (A + B)^T = A^T + B^T.
Proof. exact: raddfD. Qed.
Lemma trN (R : ringType) m n (A : 'M[R]_(m, n)) : (- A)^T = - A^T.
Proof. exact: raddfN. Qed.
Lemma trZ (R : comRingType) m n k (A : 'M[R]_(m, n)) : (k *: A)^T = k *: A^T.
Proof. exact: linearZ. Qed.

(* THE SCALAR PRODUCT *)

Section Dot.
Variables (R : comRingType).
Implicit Types (d : nat) (a : R).

(* <u, v> = sum_i u_i v_i *)
Definition dot d (u v : 'cV[R]_d) : R := \sum_(i < d) u i 0 * v i 0.

Lemma dotE d (u v : 'cV[R]_d) : u^T *m v = (dot u v)%:M.
Proof.
apply/matrixP=> i j; rewrite !ord1 !mxE eqxx mulr1n; apply: eq_bigr => k _.
by rewrite !mxE.
Qed.

Lemma dotC d (u v : 'cV[R]_d) : dot u v = dot v u.
Proof. by apply: eq_bigr => i _; rewrite mulrC. Qed.

Lemma dotDl d (u v w : 'cV[R]_d) : dot (u + v) w = dot u w + dot v w.
Proof. by rewrite -big_split; apply: eq_bigr => i _; rewrite mxE mulrDl. Qed.

Lemma dotZl d a (u v : 'cV[R]_d) : dot (a *: u) v = a * dot u v.
Proof. by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite mxE mulrA. Qed.

Lemma dotNl d (u v : 'cV[R]_d) : dot (- u) v = - dot u v.
Proof. by rewrite -scaleN1r dotZl mulN1r. Qed.

Lemma dotBl d (u v w : 'cV[R]_d) : dot (u - v) w = dot u w - dot v w.
Proof. by rewrite dotDl dotNl. Qed.

Lemma dot0l d (u : 'cV[R]_d) : dot 0 u = 0.
Proof. by rewrite /dot big1 // => i _; rewrite mxE mul0r. Qed.

Lemma dotDr d (u v w : 'cV[R]_d) : dot w (u + v) = dot w u + dot w v.
Proof. by rewrite dotC dotDl !(dotC w). Qed.

Lemma dotZr d a (u v : 'cV[R]_d) : dot u (a *: v) = a * dot u v.
Proof. by rewrite dotC dotZl dotC. Qed.

Lemma dotNr d (u v : 'cV[R]_d) : dot u (- v) = - dot u v.
Proof. by rewrite dotC dotNl dotC. Qed.

Lemma dotBr d (u v w : 'cV[R]_d) : dot w (u - v) = dot w u - dot w v.
Proof. by rewrite dotDr dotNr. Qed.

Lemma dot0r d (u : 'cV[R]_d) : dot u 0 = 0.
Proof. by rewrite dotC dot0l. Qed.

(* expands a scalar product of linear combinations *)
Definition dotL := (dotDl, dotDr, dotNl, dotNr, dotZl, dotZr, dot0l, dot0r).

(* <A u, v> = <u, A^T v> *)
Lemma dot_mulmxl m d (A : 'M[R]_(m, d)) (u : 'cV[R]_d) (v : 'cV[R]_m) :
  dot (A *m u) v = dot u (A^T *m v).
Proof.
have := dotE (A *m u) v; rewrite trmx_mul -mulmxA dotE => /matrixP/(_ 0 0).
by rewrite !mxE eqxx !mulr1n.
Qed.

(* (x y^T) u = <y, u> x *)
Lemma outer_mulmx m d (x : 'cV[R]_m) (y u : 'cV[R]_d) : x *m y^T *m u = dot y u *: x.
Proof. by rewrite -mulmxA dotE mul_mx_scalar. Qed.

Lemma dot_delta d (i : 'I_d) (u : 'cV[R]_d) : dot (delta_mx i 0) u = u i 0.
Proof.
rewrite /dot (bigD1 i) //= !mxE !eqxx mul1r big1 ?addr0 // => j /negbTE ne.
by rewrite mxE ne mul0r.
Qed.

End Dot.

(* two coordinate vectors *)
Lemma dot_deltas (R : comRingType) d (i j : 'I_d) :
  dot (delta_mx i 0) (delta_mx j 0) = (i == j)%:R :> R.
Proof. by rewrite dot_delta mxE eqxx andbT. Qed.

(* LENGTH *)

Section Length.
Variables (R : rcfType).
Implicit Types (d : nat) (a : R).

(* |u| = sqrt <u, u> *)
Definition norm d (u : 'cV[R]_d) : R := Num.sqrt (dot u u).

Lemma dot_ge0 d (u : 'cV[R]_d) : 0 <= dot u u.
Proof. by apply: sumr_ge0 => i _; rewrite -expr2 sqr_ge0. Qed.

Lemma dot_eq0 d (u : 'cV[R]_d) : (dot u u == 0) = (u == 0).
Proof.
apply/idP/eqP => [|->]; last by rewrite dot0l.
rewrite psumr_eq0 => [/allP z|i _]; last by rewrite -expr2 sqr_ge0.
apply/matrixP => i j; rewrite ord1 mxE; apply/eqP.
by rewrite -sqrf_eq0 expr2; apply: (implyP (z i (mem_index_enum _))).
Qed.

Lemma norm_ge0 d (u : 'cV[R]_d) : 0 <= norm u.
Proof. exact: sqrtr_ge0. Qed.

Lemma sqr_norm d (u : 'cV[R]_d) : norm u ^+ 2 = dot u u.
Proof. by rewrite sqr_sqrtr ?dot_ge0. Qed.

Lemma norm_eq0 d (u : 'cV[R]_d) : (norm u == 0) = (u == 0).
Proof. by rewrite -sqrf_eq0 sqr_norm dot_eq0. Qed.

Lemma norm_gt0 d (u : 'cV[R]_d) : (0 < norm u) = (u != 0).
Proof. by rewrite lt_def norm_ge0 andbT norm_eq0. Qed.

Lemma norm0 d : norm (0 : 'cV[R]_d) = 0.
Proof. by apply/eqP; rewrite norm_eq0. Qed.

Lemma normZ d a (u : 'cV[R]_d) : norm (a *: u) = `|a| * norm u.
Proof. by rewrite /norm dotZl dotZr mulrA -expr2 sqrtrM ?sqr_ge0 // sqrtr_sqr. Qed.

Lemma normN d (u : 'cV[R]_d) : norm (- u) = norm u.
Proof. by rewrite /norm dotNl dotNr opprK. Qed.

Lemma norm_delta d (i : 'I_d) : norm (delta_mx i 0 : 'cV[R]_d) = 1.
Proof. by rewrite /norm dot_deltas eqxx sqrtr1. Qed.

(* lengths are compared through their squares *)
Lemma norm_le d e (u : 'cV[R]_d) (v : 'cV[R]_e) : (norm u <= norm v) = (dot u u <= dot v v).
Proof. by rewrite -!sqr_norm ler_sqr // nnegrE norm_ge0. Qed.

Lemma norm_le1 d (u : 'cV[R]_d) : (norm u <= 1) = (dot u u <= 1).
Proof. by rewrite -sqr_norm expr_le1 ?norm_ge0. Qed.

(* Cauchy-Schwarz, as squares and as lengths *)
Lemma dot_sqr_le d (u v : 'cV[R]_d) : dot u v ^+ 2 <= dot u u * dot v v.
Proof.
have [->|u0] := eqVneq u 0; first by rewrite !dot0l expr0n mul0r.
have p : 0 < dot u u by rewrite lt_def dot_ge0 dot_eq0 u0.
rewrite -subr_ge0 -(pmulr_rge0 _ p).
rewrite [X in 0 <= X](_ : _ = dot (dot u u *: v - dot u v *: u) (dot u u *: v - dot u v *: u)).
  exact: dot_ge0.
by rewrite !dotL (dotC v u); ring.
Qed.

Lemma cauchy_schwarz d (u v : 'cV[R]_d) : `|dot u v| <= norm u * norm v.
Proof.
by rewrite -[X in X <= _]sqrtr_sqr -sqrtrM ?dot_ge0 // ler_wsqrtr ?dot_sqr_le.
Qed.

Lemma dot_le d (u v : 'cV[R]_d) : dot u v <= norm u * norm v.
Proof. exact: le_trans (ler_norm _) (cauchy_schwarz u v). Qed.

(* the triangle inequality *)
Lemma norm_triangle d (u v : 'cV[R]_d) : norm (u + v) <= norm u + norm v.
Proof.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?addr_ge0 ?norm_ge0 //.
have h : dot u v + dot u v <= norm u * norm v + norm u * norm v by rewrite ler_add // dot_le.
rewrite sqr_norm !dotL (dotC v u).
have -> : (norm u + norm v) ^+ 2 = dot u u + (norm u * norm v + norm u * norm v) + dot v v.
  by rewrite -!sqr_norm; ring.
by rewrite !addrA ler_add2r -!addrA ler_add2l.
Qed.

End Length.

(* SYMMETRIC, POSITIVE SEMIDEFINITE, ORTHOGONAL *)

Section Matrices.
Variable R : rcfType.
Implicit Types d : nat.

Definition symmetric d (A : 'M[R]_d) := A^T = A.

(* the value u^T A u of the quadratic form of A *)
Definition form d (A : 'M[R]_d) (u : 'cV[R]_d) : R := dot u (A *m u).

(* the Loewner order: A is below B when u^T A u <= u^T B u for every u *)
Definition loewner_le d (A B : 'M[R]_d) := forall u, form A u <= form B u.

(* positive semidefinite: symmetric, with a form that is never negative *)
Definition psd d (A : 'M[R]_d) := symmetric A /\ forall u, 0 <= form A u.

Definition orthogonal_mx d (Q : 'M[R]_d) := Q^T *m Q = 1%:M.

(* A lengthens no vector by more than the factor k: its operator norm is at most k *)
Definition op_le m d (A : 'M[R]_(m, d)) (k : R) := forall u, norm (A *m u) <= k * norm u.

Lemma form_scalar d k (u : 'cV[R]_d) : form k%:M u = k * dot u u.
Proof. by rewrite /form mul_scalar_mx dotZr. Qed.

Lemma formD d (A B : 'M[R]_d) u : form (A + B) u = form A u + form B u.
Proof. by rewrite /form mulmxDl dotDr. Qed.

Lemma formN d (A : 'M[R]_d) u : form (- A) u = - form A u.
Proof. by rewrite /form mulNmx dotNr. Qed.

Lemma formB d (A B : 'M[R]_d) u : form (A - B) u = form A u - form B u.
Proof. by rewrite formD formN. Qed.

Lemma formZ d k (A : 'M[R]_d) u : form (k *: A) u = k * form A u.
Proof. by rewrite /form -scalemxAl dotZr. Qed.

Lemma form_outer d (x u : 'cV[R]_d) : form (x *m x^T) u = dot x u ^+ 2.
Proof. by rewrite /form outer_mulmx dotZr (dotC u) expr2. Qed.

Lemma symmetric_outer d (x : 'cV[R]_d) : symmetric (x *m x^T).
Proof. by rewrite /symmetric trmx_mul trmxK. Qed.

Lemma psd_outer d (x : 'cV[R]_d) : psd (x *m x^T).
Proof. by split=> [|u]; [apply: symmetric_outer | rewrite form_outer sqr_ge0]. Qed.

Lemma dot_sym d (A : 'M[R]_d) u v : symmetric A -> dot u (A *m v) = dot (A *m u) v.
Proof. by move=> sA; rewrite dot_mulmxl sA. Qed.

Lemma orthogonal_mxT d (Q : 'M[R]_d) : orthogonal_mx Q -> Q *m Q^T = 1%:M.
Proof. by move=> /mulmx1C. Qed.

Lemma orthogonal_dot d (Q : 'M[R]_d) u v : orthogonal_mx Q -> dot (Q *m u) (Q *m v) = dot u v.
Proof. by move=> oQ; rewrite dot_mulmxl mulmxA oQ mul1mx. Qed.

Lemma orthogonal_norm d (Q : 'M[R]_d) u : orthogonal_mx Q -> norm (Q *m u) = norm u.
Proof. by move=> oQ; rewrite /norm orthogonal_dot. Qed.

Lemma orthogonal_mx_tr d (Q : 'M[R]_d) : orthogonal_mx Q -> orthogonal_mx Q^T.
Proof. by move=> oQ; rewrite /orthogonal_mx trmxK orthogonal_mxT. Qed.

Lemma orthogonal_mxM d (P Q : 'M[R]_d) :
  orthogonal_mx P -> orthogonal_mx Q -> orthogonal_mx (P *m Q).
Proof.
by move=> oP oQ; rewrite /orthogonal_mx trmx_mul -mulmxA (mulmxA P^T) oP mul1mx.
Qed.

(* For symmetric A the operator norm is read off the form: if |u^T A u| <= k |u|^2 for *)
(* all u then |A u| <= k |u| for all u. *)
Lemma sym_op_le d (A : 'M[R]_d) k :
  symmetric A -> (forall u, `|form A u| <= k * dot u u) -> op_le A k.
Proof.
move=> sA bound.
(* polarisation: u^T A v is a difference of two values of the form *)
have polar u v : dot u (A *m v) *+ 4 <= k * (dot u u + dot v v) *+ 2.
  have -> : dot u (A *m v) *+ 4 = form A (u + v) - form A (u - v).
    rewrite /form !mulmxDr !mulmxN !dotL (dot_sym v u sA) (dotC (A *m v)).
    by move: (dot u (A *m u)) (dot v (A *m v)) (dot u (A *m v)) => a b c; ring.
  have [lo _] := ler_normlP _ _ (bound (u - v)); have [_ up] := ler_normlP _ _ (bound (u + v)).
  apply: le_trans (ler_add up lo) _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
  by rewrite !dotL (dotC v u); ring.
move=> u; have [Au0|Au0] := eqVneq (A *m u) 0.
  rewrite Au0 norm0; have [->|u0] := eqVneq u 0; first by rewrite norm0 mulr0.
  have := le_trans (normr_ge0 _) (bound u).
  by rewrite pmulr_lge0 ?lt_def ?dot_ge0 ?dot_eq0 ?u0 // => k0; rewrite mulr_ge0 ?norm_ge0.
have u0 : u != 0 by apply: contraNneq Au0 => ->; rewrite mulmx0.
have n1 : 0 < norm u by rewrite norm_gt0.
have n2 : 0 < norm (A *m u) by rewrite norm_gt0.
have := polar (norm u *: (A *m u)) (norm (A *m u) *: u).
rewrite -scalemxAr !dotL -!sqr_norm.
set a := norm u in n1 *; set b := norm (A *m u) in n2 *.
rewrite [X in X <= _](_ : _ = (a * b ^+ 2 * 4%:R) * b); last by ring.
rewrite [X in _ <= X](_ : _ = (a * b ^+ 2 * 4%:R) * (k * a)); last by ring.
by rewrite ler_pmul2l // !mulr_gt0 ?exprn_gt0 ?ltr0n.
Qed.

End Matrices.

(* THE REFLECTION THAT SWAPS TWO VECTORS OF EQUAL LENGTH *)

Section Reflection.
Variable R : rcfType.
Implicit Types d : nat.

(* H = I - 2 w w^T / |w|^2; for w = 0 this is I *)
Definition reflection d (w : 'cV[R]_d) : 'M[R]_d := 1%:M - (2%:R / dot w w) *: (w *m w^T).

Lemma reflection_sym d (w : 'cV[R]_d) : symmetric (reflection w).
Proof. by rewrite /symmetric !linearB /= linearZ /= trmx1 symmetric_outer. Qed.

Lemma reflection_mulmx d (w u : 'cV[R]_d) :
  reflection w *m u = u - (2%:R / dot w w * dot w u) *: w.
Proof. by rewrite mulmxBl mul1mx -scalemxAl outer_mulmx scalerA. Qed.

Lemma reflectionK d (w : 'cV[R]_d) : reflection w *m reflection w = 1%:M.
Proof.
have [->|w0] := eqVneq w 0.
  by rewrite /reflection mul0mx scaler0 subr0 mulmx1.
have nz : dot w w != 0 by rewrite dot_eq0.
rewrite {1}/reflection mulmxBl mul1mx -scalemxAl {1}/reflection mulmxBr mulmx1 -scalemxAr.
rewrite (mulmxA (w *m w^T)) -(mulmxA w w^T w) dotE mul_mx_scalar -scalemxAl scalerA scalerBr.
rewrite scalerA -addrA -[in X in _ + X]opprD -[RHS]subr0; congr (_ - _); rewrite addrA -scalerDl.
by rewrite -scalerBl [X in X *: _](_ : _ = 0) ?scale0r //; field.
Qed.

Lemma reflection_orthogonal d (w : 'cV[R]_d) : orthogonal_mx (reflection w).
Proof. by rewrite /orthogonal_mx reflection_sym reflectionK. Qed.

(* the reflection along u - v sends u to v when |u| = |v| *)
Lemma reflection_swap d (u v : 'cV[R]_d) : dot u u = dot v v -> reflection (u - v) *m u = v.
Proof.
move=> e; rewrite reflection_mulmx.
have [uv|ne] := eqVneq (u - v) 0; first by rewrite uv scaler0 subr0; apply/subr0_eq.
have nz : dot (u - v) (u - v) != 0 by rewrite dot_eq0.
suff -> : 2%:R / dot (u - v) (u - v) * dot (u - v) u = 1 by rewrite scale1r opprB addrC subrK.
rewrite mulrAC; apply: (canLR (mulfK nz)); rewrite mul1r !dotL (dotC v u) -e.
by ring.
Qed.

End Reflection.
