(* Lebesgue measure on matrices and row operations: for h > -1 and functions f >= 0,

      int f(Z + h E_kl Z) dZ = int f(Z) dZ                   if k <> l,
      (1 + h)^n int f(Z + h E_kk Z) dZ = int f(Z) dZ          on the m x n matrices,

   where E_kl has a single one, in row k and column l.  So one row is added to another, or
   multiplied by 1 + h.  Entry by entry this is a shift and a change of scale of one
   coordinate, by numbers that do not depend on it (Tonelli).  Nothing is assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval matrix.
From covassay Require Import MeasureTheory Lebesgue LebesgueShift LebesgueBox LebesgueScale.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope. Local Open Scope ereal_scope.

Section Rows.
Variable R : realType.

Lemma integral_affine_line (alpha c : R) (f : R -> \bar R) : (0 < alpha)%R ->
  measurable_fun setT f -> (forall t, 0 <= f t) ->
  alpha%:E * \int[@leb R]_t f (alpha * t + c)%R = \int[@leb R]_t f t.
Proof.
move=> a0 mf f0; rewrite -[RHS](integral_shift_line c) // -(expr1 alpha).
have := @integral_rescale R alpha a0 _ _ [the measure _ _ of @leb R] (fun t => alpha * t)%R 1
  (fun t => f (t + c)%R) (@measurable_scale_line R alpha) (@leb_scale R alpha a0).
rewrite expr1; apply=> //.
exact: (measurable_fun_comp mf (measurable_fun_addr c)).
Qed.

Lemma measurable_cons_fun k (f : 'rV[R]_k.+1 -> \bar R) : measurable_fun setT f ->
  measurable_fun setT (f \o @cons_row R k).
Proof. by move=> mf; apply: (measurable_fun_comp mf); exact: measurable_cons_row. Qed.

Let pairs k := [the measure _ _ of product_measure1 [the measure _ _ of @leb R]
  (@leb_row_sigma_finite R k)].

Let integral_pairs k (f : 'rV[R]_k.+1 -> \bar R) :
  measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[leb_row R k.+1]_x f x = \int[pairs k]_tv (f \o @cons_row R k) tv.
Proof.
move=> mf f0; rewrite integral_pushforward //; apply: eq_measure_integral => A mA _.
apply/esym/(product_measure_unique (@leb_sigma_finite R)) => //.
by move=> A1 A2 mA1 mA2 /=; rewrite product_measure2E.
Qed.

(* The first coordinate last, or first. *)
Lemma integral_row_outer k (f : 'rV[R]_k.+1 -> \bar R) :
  measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[leb_row R k.+1]_x f x = \int[leb_row R k]_v \int[@leb R]_t f (cons_row (t, v)).
Proof.
move=> mf f0; rewrite integral_pairs //.
rewrite (fubini_tonelli2 (@leb_sigma_finite R) (@leb_row_sigma_finite R k)) //.
  exact: measurable_cons_fun.
by move=> x; exact: f0.
Qed.

Lemma integral_row_inner k (f : 'rV[R]_k.+1 -> \bar R) :
  measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[leb_row R k.+1]_x f x = \int[@leb R]_t \int[leb_row R k]_v f (cons_row (t, v)).
Proof.
move=> mf f0; rewrite integral_pairs //.
rewrite fubini_tonelli1 //; first exact: measurable_cons_fun.
by move=> x; exact: f0.
Qed.

(* x with t in place of its entry i *)
Definition upd k (i : 'I_k) (x : 'rV[R]_k) (t : R) : 'rV[R]_k :=
  \row_j (if j == i then t else x ord0 j).

Lemma measurable_upd k (i : 'I_k) (a : 'rV[R]_k -> R) : measurable_fun setT a ->
  measurable_fun setT (fun x => upd i x (a x)).
Proof.
move=> ma; apply: measurable_fun_matrix => r j; under eq_fun do rewrite mxE.
by case: eqP => _ //; exact: measurable_entry.
Qed.

Lemma cons_upd0 k (t u : R) (v : 'rV[R]_k) : upd ord0 (cons_row (t, v)) u = cons_row (u, v).
Proof.
apply/rowP => j; rewrite mxE; case: (unliftP ord0 j) => [l ->|->].
  by rewrite !cons_rowS eq_sym (negbTE (neq_lift _ _)).
by rewrite eqxx cons_row0.
Qed.

Lemma cons_updS k (l : 'I_k) (t u : R) (v : 'rV[R]_k) :
  upd (lift ord0 l) (cons_row (t, v)) u = cons_row (t, upd l v u).
Proof.
apply/rowP => j; rewrite mxE; case: (unliftP ord0 j) => [i ->|->].
  by rewrite !cons_rowS mxE (inj_eq lift_inj).
by rewrite (negbTE (neq_lift _ _)) !cons_row0.
Qed.

Lemma measurable_cons_tail k (t : R) : measurable_fun setT (fun v : 'rV[R]_k => cons_row (t, v)).
Proof.
apply: measurable_fun_matrix => i j; rewrite (ord1 i); case: (unliftP ord0 j) => [l ->|->].
  under eq_fun do rewrite cons_rowS.
  exact: measurable_entry.
under eq_fun do rewrite cons_row0.
exact: measurable_fun_cst.
Qed.

Lemma measurable_cons_head k (v : 'rV[R]_k) : measurable_fun setT (fun t => cons_row (t, v)).
Proof.
apply: measurable_fun_matrix => i j; rewrite (ord1 i); case: (unliftP ord0 j) => [l ->|->].
  under eq_fun do rewrite cons_rowS.
  exact: measurable_fun_cst.
under eq_fun do rewrite cons_row0.
exact: measurable_fun_id.
Qed.

(* One coordinate becomes alpha times itself, plus a function of the others. *)
Theorem integral_upd k (i : 'I_k) (alpha : R) (g : 'rV[R]_k -> R) (f : 'rV[R]_k -> \bar R) :
  (0 < alpha)%R -> measurable_fun setT g -> (forall x t, g (upd i x t) = g x) ->
  measurable_fun setT f -> (forall x, 0 <= f x) ->
  alpha%:E * \int[leb_row R k]_x f (upd i x (alpha * x ord0 i + g x))%R = \int[leb_row R k]_x f x.
Proof.
move=> a0; elim: k i g f => [[]//|k IH] i g f mg gi mf f0.
have ma : measurable_fun setT (fun x : 'rV[R]_k.+1 => alpha * x ord0 i + g x)%R.
  by apply: measurable_funD => //; apply: measurable_funrM; exact: measurable_entry.
have mF := measurable_fun_comp mf (measurable_upd i ma).
case: (unliftP ord0 i) mF {ma} gi => [l ->|->] mF gi.
  rewrite !integral_row_inner //.
  rewrite -ge0_integralM_EFin //; last 3 first.
  - by move=> t _; apply: integral_ge0 => v _.
  - exact (measurable_fun_fubini_tonelli_F (@leb_row_sigma_finite R k) _ (measurable_cons_fun mF) (fun x => f0 _)).
  - exact: ltW.
  apply: eq_integral => t _; rewrite -[RHS](IH l (fun v => g (cons_row (t, v)))) //.
  - by congr (_ * _); apply: eq_integral => v _; rewrite cons_updS cons_rowS.
  - exact: (measurable_fun_comp mg (measurable_cons_tail t)).
  - by move=> v u; rewrite -cons_updS gi.
  - exact: (measurable_fun_comp mf (measurable_cons_tail t)).
rewrite !integral_row_outer //.
rewrite -ge0_integralM_EFin //; last 3 first.
- by move=> v _; apply: integral_ge0 => t _.
- exact (measurable_fun_fubini_tonelli_G (@leb_sigma_finite R) _ (measurable_cons_fun mF) (fun x => f0 _)).
- exact: ltW.
apply: eq_integral => v _.
rewrite -[RHS](integral_affine_line (g (cons_row (0%R, v))) a0) //; last first.
  exact: (measurable_fun_comp mf (measurable_cons_head v)).
congr (_ * _); apply: eq_integral => t _; rewrite cons_upd0 cons_row0 /=; congr (f (cons_row (_ + _, _)%R)).
by rewrite -(gi (cons_row (t, v)) 0%R) cons_upd0.
Qed.

End Rows.

Section Matrices.
Variables (R : realType) (m n : nat).
Implicit Types (Z : 'M[R]_(m, n)) (f : 'M[R]_(m, n) -> \bar R).

Let vec_integral f : measurable_fun setT f -> (forall Z, 0 <= f Z) ->
  \int[@leb_matrix R m n]_Z f Z = \int[leb_row R (m * n)]_v f (vec_mx v).
Proof.
move=> mf f0; rewrite (_ : \int[_]_Z _ =
  \int[pushforward (leb_row R (m * n)) (@measurable_vec_mx R m n)]_Z f Z) //.
by rewrite integral_pushforward.
Qed.

(* Z with t in place of its entry (k, j) *)
Definition entry_upd k j Z (t : R) : 'M[R]_(m, n) :=
  \matrix_(i, l) (if (i == k) && (l == j) then t else Z i l).

Let vec_upd k j (v : 'rV[R]_(m * n)) t :
  entry_upd k j (vec_mx v) t = vec_mx (upd (mxvec_index k j) v t).
Proof.
apply/matrixP => i l; rewrite !mxE; congr (if _ then _ else _).
apply/andP/eqP => [[/eqP-> /eqP->] //|].
by move=> /cast_ord_inj/enum_rank_inj [-> ->]; rewrite !eqxx.
Qed.

Lemma measurable_entry_upd k j (a : 'M[R]_(m, n) -> R) : measurable_fun setT a ->
  measurable_fun setT (fun Z => entry_upd k j Z (a Z)).
Proof.
move=> ma; apply: measurable_fun_matrix => i l; under eq_fun do rewrite mxE.
by case: ((i == k) && (l == j)) => //; exact: measurable_entry.
Qed.

Lemma integral_entry_upd k j (alpha : R) (g : 'M[R]_(m, n) -> R) f :
  (0 < alpha)%R -> measurable_fun setT g -> (forall Z t, g (entry_upd k j Z t) = g Z) ->
  measurable_fun setT f -> (forall Z, 0 <= f Z) ->
  alpha%:E * \int[@leb_matrix R m n]_Z f (entry_upd k j Z (alpha * Z k j + g Z))%R
  = \int[@leb_matrix R m n]_Z f Z.
Proof.
move=> a0 mg gi mf f0; rewrite [RHS]vec_integral //.
rewrite (@vec_integral (fun Z => f (entry_upd k j Z (alpha * Z k j + g Z))%R)) //; last first.
  apply: (measurable_fun_comp mf); apply: measurable_entry_upd.
  by apply: measurable_funD => //; apply: measurable_funrM; exact: measurable_entry.
have mv := @measurable_vec_mx R m n.
rewrite -[RHS](@integral_upd R (m * n) (mxvec_index k j) alpha (g \o vec_mx) (f \o vec_mx)) //.
- congr (_ * _); apply: eq_integral => v _ /=; rewrite vec_upd; congr (f (vec_mx (upd _ _ _))).
  by rewrite mxE.
- exact: (measurable_fun_comp mg mv).
- by move=> v t /=; rewrite -vec_upd gi.
- exact: (measurable_fun_comp mf mv).
- by move=> v; exact: f0.
Qed.

Variables (k l : 'I_m) (h : R).
Hypothesis h1 : (-1 < h)%R.
Let alpha : R := (1 + h *+ (k == l))%R.
Let beta : R := (h *+ (k != l))%R.

Let alpha_gt0 : (0 < alpha)%R.
Proof.
rewrite /alpha; case: eqP => _; last by rewrite mulr0n addr0 ltr01.
by rewrite mulr1n -(ltr_add2l (-1)) addr0 addrA addNr add0r.
Qed.

(* the operation, on the first J columns *)
Let partial (J : nat) Z : 'M[R]_(m, n) := \matrix_(i, j)
  (if (i == k) && (j < J)%N then alpha * Z k j + beta * Z l j else Z i j)%R.

Let step (j : 'I_n) Z := entry_upd k j Z (alpha * Z k j + beta * Z l j)%R.

Let m_beta (j : 'I_n) : measurable_fun setT (fun Z : 'M[R]_(m, n) => beta * Z l j)%R.
Proof. by apply: measurable_funrM; exact: measurable_entry. Qed.

Let m_step j : measurable_fun setT (step j).
Proof.
apply: measurable_entry_upd; apply: measurable_funD => //.
by apply: measurable_funrM; exact: measurable_entry.
Qed.

Let partialS (j : 'I_n) Z : partial j.+1 Z = step j (partial j Z).
Proof.
apply/matrixP => r c; rewrite !mxE ltnn !andbF.
have [->|rk] /= := eqVneq r k; last by [].
have [->|cj] := eqVneq c j; last by rewrite ltnS leq_eqVlt (negbTE (_ : c != j :> nat)) //.
by rewrite ltnS leqnn.
Qed.

Let integral_partial (J : nat) f : (J <= n)%N -> measurable_fun setT f -> (forall Z, 0 <= f Z) ->
  (alpha ^+ J)%:E * \int[@leb_matrix R m n]_Z f (partial J Z) = \int[@leb_matrix R m n]_Z f Z.
Proof.
elim: J f => [|J IH] f Jn mf f0.
  rewrite expr0 mul1e; apply: eq_integral => Z _; congr f.
  by apply/matrixP => i j; rewrite mxE ltn0 andbF.
pose j : 'I_n := Ordinal Jn.
rewrite -[RHS](@integral_entry_upd k j alpha (fun Z => beta * Z l j)%R f) //; last first.
  move=> Z t; rewrite mxE /beta; have [_|kl] := eqVneq k l; first by rewrite mulr0n !mul0r.
  by [].
rewrite exprS EFinM -muleA; congr (_ * _).
rewrite -[RHS](IH (f \o step j) (ltnW Jn) (measurable_fun_comp mf (m_step j)) (fun Z => f0 _)).
by congr (_ * _); apply: eq_integral => Z _; rewrite -[J.+1]/(j.+1) partialS.
Qed.

(*@ LEBESGUE-ROW-OPERATION *)
Theorem integral_row_operation f : measurable_fun setT f -> (forall Z, 0 <= f Z) ->
  ((1 + h *+ (k == l)) ^+ n)%R%:E * \int[@leb_matrix R m n]_Z f (Z + h *: (delta_mx k l *m Z))%R
  = \int[@leb_matrix R m n]_Z f Z.
Proof.
move=> mf f0; rewrite -[RHS](integral_partial (leqnn n)) //; congr (_ * _).
apply: eq_integral => Z _; congr f; apply/matrixP => i j; rewrite !mxE ltn_ord andbT.
rewrite (bigD1 l) //= big1 ?addr0 => [|r rl]; last by rewrite mxE (negbTE rl) andbF mul0r.
rewrite mxE eqxx andbT /alpha /beta.
have [->|ik] := eqVneq i k; last by rewrite mul0r mulr0 addr0.
have [->|kl] := eqVneq k l; first by rewrite mulr0n mul0r addr0 mulr1n mul1r mulrDl mul1r.
by rewrite mulr0n addr0 !mul1r mulr1n.
Qed.

End Matrices.
