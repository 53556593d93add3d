(* The spectral theorem: every real symmetric matrix has an orthonormal basis of
   eigenvectors, with the eigenvalues in decreasing order.

   The form u^T A u has a maximum on the unit sphere, which is compact; there it is an
   eigenvalue. A reflection moves the first unit vector to that point, so that in the
   new coordinates A is a block of size 1 and a symmetric block of size d - 1, and so on.

   With it the sensitivity of the vector of eigenvalues (EigenvalueSensitivity) has no
   premise left. Nothing is assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval zmodp matrix.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp Require Import reals ereal signed topology normedtype sequences.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import Euclidean MatrixNorms EigenvalueSensitivity.
From covassay Require Norms BallProjection GammaMoments.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports numFieldNormedType.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

Lemma continuous_sum (R : realType) (T : topologicalType) (I : Type) (r : seq I) (f : I -> T -> R) :
  (forall i, continuous (f i)) -> continuous (fun x => \sum_(i <- r) f i x : R).
Proof.
move=> cf; elim: r => [|i r IH].
  have -> : (fun x => \sum_(i <- [::]) f i x : R) = (fun=> 0 : R).
    by apply/funext => x; rewrite big_nil.
  by move=> x; rewrite big_nil; exact: cst_continuous.
have -> : (fun x => \sum_(j <- i :: r) f j x : R) =
    (fun x => f i x + \sum_(j <- r) f j x : R).
  by apply/funext => x; rewrite big_cons.
by move=> x; rewrite big_cons; apply: continuousD; [exact: cf | exact: IH].
Qed.

Section Maximum.
Variables (R : realType) (k : nat) (A : 'M[R]_k.+1).
Implicit Types (x : 'rV[R]_k.+1) (u v : 'cV[R]_k.+1).

Let value (x : 'rV[R]_k.+1) : R := \sum_i x 0 i * (\sum_j A i j * x 0 j).

Let value_form x : value x = form A x^T.
Proof.
rewrite /form /dot; apply: eq_bigr => i _; rewrite !mxE; congr (_ * _).
by apply: eq_bigr => j _; rewrite mxE.
Qed.

Let coordinate i : continuous (fun x : 'rV[R]_k.+1 => x 0 i).
Proof. exact: coord_continuous. Qed.

Let row_value i : continuous (fun x : 'rV[R]_k.+1 => \sum_j A i j * x 0 j : R).
Proof.
apply: (continuous_sum (f := fun j (x : 'rV[R]_k.+1) => A i j * x 0 j)) => j x.
by apply: continuousM; [exact: cst_continuous | exact: coordinate].
Qed.

Let value_continuous : continuous value.
Proof.
apply: (continuous_sum (f := fun i (x : 'rV[R]_k.+1) => x 0 i * (\sum_j A i j * x 0 j))) => i x.
by apply: continuousM; [exact: coordinate | exact: row_value].
Qed.

Let opposite_continuous : continuous (fun x => - value x).
Proof. by move=> x; apply: continuousN; exact: value_continuous. Qed.

(* the maximum of the form on the unit sphere *)
Lemma form_attains_max : exists2 u, dot u u = 1 & forall v, form A v <= form A u * dot v v.
Proof.
pose E := BallProjection.euclidean_row R k.+1.
pose S := [set x : 'rV[R]_k.+1 | Norms.norm_at E x = 1].
have cS : compact S.
  apply: (subclosed_compact _ (@BallProjection.unit_ball_compact _ _ E)); last first.
    by move=> x Sx; have : Norms.norm_at E x <= 1 by rewrite (Sx : Norms.norm_at E x = 1).
  apply: (closed_comp (D := [set 1 : R])); last exact: closed_eq.
  by move=> x _; exact: Norms.norm_continuous.
have S0 : S !=set0.
  by exists (delta_mx 0 0); rewrite /S /= trmx_delta norm_delta.
have [u Su max] := BallProjection.attains_min cS S0 opposite_continuous.
have uu : dot u^T u^T = 1.
  by rewrite -sqr_norm -[norm _]/(Norms.norm_at E u) (Su : Norms.norm_at E u = 1) expr1n.
exists u^T => // v; have [->|v0] := eqVneq v 0; first by rewrite /form dot0l dot0l mulr0.
have n0 : 0 < norm v by rewrite norm_gt0.
have Sv : S ((norm v)^-1 *: v^T).
  rewrite /S /= linearZ /= trmxK normZ gtr0_norm ?invr_gt0 // mulVf // gt_eqF //.
have := max _ Sv; rewrite ler_opp2 !value_form linearZ /= trmxK {1}/form -scalemxAr dotZl dotZr.
have vv : 0 < dot v v by rewrite lt_def dot_eq0 v0 dot_ge0.
rewrite mulrA -expr2 exprVn sqr_norm -/(form A v) => le.
by rewrite -(ler_pdivr_mulr _ _ vv) mulrC.
Qed.

End Maximum.

(* a positive semidefinite form vanishes only on the kernel *)
Lemma psd_kernel (R : realType) d (M : 'M[R]_d) (e : 'cV[R]_d) :
  psd M -> form M e = 0 -> M *m e = 0.
Proof.
move=> [sM M0] Me; apply/eqP; rewrite -dot_eq0 eq_le dot_ge0 andbT.
set v := M *m e; apply: (@GammaMoments.le_of_small R _ 0 (form M v / 2%:R)) => t t0 _.
rewrite add0r; have := M0 (e - t *: v).
have -> : form M (e - t *: v) = form M e - t * (dot v v *+ 2) + t ^+ 2 * form M v.
  rewrite /form mulmxBr -scalemxAr !dotL (dot_sym e v sM) (dotC v (M *m e)) -/v.
  by move: (dot e v) (dot v v) (dot v (M *m v)) => a b c; ring.
rewrite Me sub0r => le; rewrite -subr_ge0 -(pmulr_rge0 _ t0) -(pmulr_lge0 _ (ltr0n R 2)).
apply: le_trans le _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
by rewrite mulr2n; move: (form M v) (dot v v) => b c; field.
Qed.

(*@ SPECTRAL-THEOREM *)
Theorem spectral_theorem (R : realType) d (A : 'M[R]_d) :
  symmetric A -> exists U a, spectral A U a.
Proof.
elim: d A => [|d IH] A sA.
  exists 1%:M, 0; split; last by case.
    by rewrite /orthogonal_mx trmx1 mulmx1.
  by apply/matrixP; case.
have [u uu max] := form_attains_max A; set l := form A u in max.
pose e : 'cV[R]_(1 + d) := delta_mx 0 0.
have ee : dot e e = 1 by rewrite dot_deltas eqxx.
pose H := reflection (e - u).
have He : H *m e = u by apply: reflection_swap; rewrite ee uu.
have sH : symmetric H := reflection_sym _.
have HH : H *m H = 1%:M := reflectionK _.
pose B : 'M[R]_(1 + d) := H *m A *m H.
have sB : symmetric B by rewrite /symmetric !trmx_mul sH sA mulmxA.
have formB v : form B v = form A (H *m v).
  by rewrite /form /B -!mulmxA (dot_sym _ _ sH).
have HHv v : dot (H *m v) (H *m v) = dot v v.
  by apply: orthogonal_dot; rewrite /orthogonal_mx sH.
(* e is an eigenvector of B *)
have Be : B *m e = l *: e.
  have psdM : psd (l%:M - B).
    split; first by rewrite /symmetric linearB /= tr_scalar_mx sB.
    by move=> v; rewrite Euclidean.formB form_scalar subr_ge0 formB -HHv max.
  apply/esym/eqP; rewrite -subr_eq0 -mul_scalar_mx -mulmxBl; apply/eqP/psd_kernel => //.
  by rewrite Euclidean.formB form_scalar ee mulr1 formB He subrr.
have col0 i : B i 0 = l * (i == 0)%:R.
  by have := congr1 (fun v : 'cV_(1 + d) => v i 0) Be; rewrite /e -colE !mxE andbT.
have symB i j : B i j = B j i by rewrite -{1}sB mxE.
have AHB : A = H *m B *m H by rewrite /B !mulmxA HH mul1mx -mulmxA HH mulmx1.
clearbody B; have first (i : 'I_1) : lshift d i = 0 by rewrite (ord1 i); apply/val_inj.
have BE : B = block_mx l%:M 0 0 (drsubmx B).
  rewrite -[LHS]submxK; congr block_mx; apply/matrixP=> i j; rewrite !mxE ?first.
  - by rewrite col0 !ord1 eqxx mulr1.
  - by rewrite symB col0 mulr0.
  - by rewrite col0 mulr0.
have sB' : symmetric (drsubmx B) by apply/matrixP=> i j; rewrite !mxE symB.
have [U' [a' sp]] := IH (drsubmx B) sB'; have [oU' B'E a'D] := sp.
pose V : 'M[R]_(1 + d) := block_mx 1%:M 0 0 U'.
have oV : orthogonal_mx V.
  rewrite /orthogonal_mx tr_block_mx mulmx_block trmx1 !trmx0.
  rewrite !(mulmx0, mul0mx, addr0, add0r) mulmx1.
  by rewrite (_ : U'^T *m U' = 1%:M) // -scalar_mx_block.
have diag1 : diag_mx (l%:M : 'rV[R]_1) = l%:M.
  by apply/matrixP=> i j; rewrite !mxE !ord1 eqxx !mulr1n.
exists (H *m V), (row_mx l%:M a'); split.
- by apply: orthogonal_mxM => //; rewrite /orthogonal_mx sH.
- rewrite AHB; have -> : B = V *m diag_mx (row_mx l%:M a') *m V^T.
    rewrite diag_mx_row diag1 tr_block_mx !mulmx_block trmx1 !trmx0.
    rewrite !(mulmx0, mul0mx, addr0, add0r, mul1mx, mulmx1) -B'E.
    exact: BE.
  by rewrite trmx_mul sH !mulmxA.
have top j : a' 0 j <= l.
  pose y := U' *m (delta_mx j 0 : 'cV[R]_d); pose v : 'cV[R]_(1 + d) := col_mx 0 y.
  have yy : dot y y = 1.
    by rewrite orthogonal_dot // dot_deltas eqxx.
  have split2 (p q : 'cV[R]_d) : dot (col_mx (0 : 'cV[R]_1) p) (col_mx (0 : 'cV[R]_1) q) = dot p q.
    rewrite /dot big_split_ord /= big_ord1 col_mxEu mxE mul0r add0r.
    by apply: eq_bigr => k _; rewrite !col_mxEd.
  have vy : form B v = form (drsubmx B) y.
    by rewrite /form {1}BE /v mul_block_col !(mulmx0, mul0mx, add0r) split2.
  have := max (H *m v); rewrite -formB HHv vy split2 yy mulr1.
  rewrite /y (form_spectral _ sp) (bigD1 j) //= big1 => [|k kj].
    by rewrite mxE !eqxx expr1n mulr1 addr0.
  by rewrite mxE (negbTE kj) expr0n mulr0.
have aL i : (row_mx l%:M a' : 'rV[R]_(1 + d)) 0 (lshift d i) = l.
  by rewrite row_mxEl mxE !ord1 mulr1n.
have aR j : (row_mx l%:M a' : 'rV[R]_(1 + d)) 0 (rshift 1 j) = a' 0 j by rewrite row_mxEr.
move=> i j; case: (@split_ordP 1 d i) => i' ->; case: (@split_ordP 1 d j) => j' ->.
- by rewrite !ord1.
- by move=> _; move: (top j'); rewrite -[X in X <= _](aR j') -[X in _ <= X](aL i').
- by rewrite !ord1.
rewrite /= leq_add2l => /a'D; rewrite -[X in X <= _](aR j') -[X in _ <= X](aR i').
by [].
Qed.

(* The sensitivity of the eigenvalues, for any two neighbours. *)
(*@ ADK19.EIGENVALUES *)
Theorem eigenvalue_sensitivity_symmetric (R : realType) d (A B : 'M[R]_d) (x y : 'cV[R]_d) U V a b :
  spectral A U a -> spectral B V b -> A + x *m x^T = B + y *m y^T ->
  norm x <= 1 -> norm y <= 1 -> \sum_i `|b 0 i - a 0 i| <= 2%:R.
Proof.
move=> sA sB AB; have [[oU AE _] _] := (sA, sB).
have sym : symmetric (A + x *m x^T).
  rewrite /symmetric linearD /= symmetric_outer AE !trmx_mul trmxK tr_diag_mx.
  by rewrite mulmxA.
have [W [c sC]] := spectral_theorem sym.
exact: (eigenvalue_sensitivity sA sB sC erefl AB).
Qed.
