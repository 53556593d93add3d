(* The spectral theorem: every real symmetric matrix has an orthonormal basis of
   eigenvectors, with the eigenvalues in decreasing order.

   By induction on the size. Let l be the greatest value of the form on the unit sphere, and
   u a vector where it is attained: u is an eigenvector (FormMaximum).
   1. A reflection H carries the first unit vector to u, so that in the new coordinates the
      matrix B = H A H has the first column (l, 0, ..., 0), and, being symmetric, is a block
      of size 1 and a symmetric block of size d (first_block).
   2. The smaller block has eigenvectors and eigenvalues by induction, and with (1, 0, ..., 0)
      and l they are those of B (spectral_block). The order is kept: each eigenvalue of the
      smaller block is a value of the form of B at a unit vector, so at most l (block_le).
   3. H carries the eigenvectors of B to those of A (spectral_conjugate).

   With it the sensitivity of the vector of eigenvalues (EigenvalueSensitivity) has no
   premise left. Nothing is assumed. *)
From covassay Require Import MatrixTheory Euclidean MatrixNorms EigenvalueSensitivity FormMaximum.

Section Steps.
Variables (R : realType) (d : nat).
Implicit Types (B U : 'M[R]_d) (a : 'rV[R]_d) (l : R).

(* The block matrix of a number and a square matrix. *)
Definition bordered l B : 'M[R]_(1 + d) := block_mx l%:M 0 0 B.

(* The first unit vector. *)
Let e : 'cV[R]_(1 + d) := delta_mx 0 0.

(* a symmetric matrix with the first column (l, 0, ..., 0) is bordered *)
Lemma first_block (B : 'M[R]_(1 + d)) l : symmetric B -> B *m e = l *: e ->
  B = bordered l (drsubmx B).
Proof.
move=> sB Be; have first (i : 'I_1) : lshift d i = 0 by rewrite (ord1 i); apply/val_inj.
have col0 i : B i 0 = l * (i == 0)%:R.
  by have := congr1 (fun v : 'cV_(1 + d) => v i 0) Be; rewrite /e -colE !mxE andbT.
have symB i j : B i j = B j i by rewrite -{1}sB mxE.
rewrite -[LHS]submxK; congr block_mx; apply/matrixP=> i j; rewrite !mxE ?first.
- by rewrite col0 !ord1 eqxx mulr1.
- by rewrite symB col0 mulr0.
- by rewrite col0 mulr0.
Qed.

(* if the form of a bordered matrix is at most l |v|^2, so are the eigenvalues of its block *)
Lemma block_le B U a l : spectral B U a ->
  (forall v, form (bordered l B) v <= l * dot v v) -> forall j, a 0 j <= l.
Proof.
move=> sp max j; have [oU _ _] := sp; pose y := U *m (delta_mx j 0 : 'cV[R]_d).
have yy : dot y y = 1 by rewrite orthogonal_dot // dot_deltas eqxx.
have split2 (p q : 'cV[R]_d) : dot (col_mx (0 : 'cV[R]_1) p) (col_mx (0 : 'cV[R]_1) q) = dot p q.
  rewrite /dot big_split_ord /= big_ord1 col_mxEu mxE mul0r add0r.
  by apply: eq_bigr => k _; rewrite !col_mxEd.
have := max (col_mx 0 y); rewrite /form mul_block_col !(mulmx0, mul0mx, add0r) !split2 yy mulr1.
rewrite -/(form B y) /y (form_spectral _ sp) (bigD1 j) //= big1 => [|k kj].
  by rewrite mxE !eqxx expr1n mulr1 addr0.
by rewrite mxE (negbTE kj) expr0n mulr0.
Qed.

(* eigenvectors and eigenvalues of a bordered matrix *)
Lemma spectral_block B U a l : spectral B U a -> (forall j, a 0 j <= l) ->
  spectral (bordered l B) (bordered 1 U) (row_mx l%:M a).
Proof.
move=> [oU BE aD] top; have diag1 : diag_mx (l%:M : 'rV[R]_1) = l%:M.
  by apply/matrixP=> i j; rewrite !mxE !ord1 eqxx !mulr1n.
split.
- rewrite /orthogonal_mx tr_block_mx mulmx_block trmx1 !trmx0.
  rewrite !(mulmx0, mul0mx, addr0, add0r) mulmx1.
  by rewrite (_ : U^T *m U = 1%:M) // -scalar_mx_block.
- rewrite diag_mx_row diag1 tr_block_mx !mulmx_block trmx1 !trmx0.
  by rewrite !(mulmx0, mul0mx, addr0, add0r, mul1mx, mulmx1) -BE.
have aL i : (row_mx l%:M a : 'rV[R]_(1 + d)) 0 (lshift d i) = l.
  by rewrite row_mxEl mxE !ord1 mulr1n.
have aR j : (row_mx l%:M a : 'rV[R]_(1 + d)) 0 (rshift 1 j) = a 0 j by rewrite row_mxEr.
move=> i j; case: (@split_ordP 1 d i) => i' ->; case: (@split_ordP 1 d j) => j' ->.
- by rewrite !ord1.
- by move=> _; move: (top j'); rewrite -[X in X <= _](aR j') -[X in _ <= X](aL i').
- by rewrite !ord1.
rewrite /= leq_add2l => /aD; rewrite -[X in X <= _](aR j') -[X in _ <= X](aR i').
by [].
Qed.

(* other orthonormal coordinates *)
Lemma spectral_conjugate (H B U : 'M[R]_d) a : orthogonal_mx H ->
  spectral B U a -> spectral (H *m B *m H^T) (H *m U) a.
Proof.
move=> oH [oU BE aD]; split=> //; first exact: orthogonal_mxM.
by rewrite BE trmx_mul !mulmxA.
Qed.

End Steps.

(* Every symmetric matrix A of any size is U diag (a) U^T, with an orthogonal U and
   a_1 >= a_2 >= ... That A is symmetric is the only premise. *)
(*@ SPECTRAL-THEOREM *)
Theorem spectral_theorem (R : realType) d (A : 'M[R]_d) :
  symmetric A -> exists U a, spectral A U a.
Proof.
elim: d A => [|d IH] A sA.
  exists 1%:M, 0; split; last by case.
    by rewrite /orthogonal_mx trmx1 mulmx1.
  by apply/matrixP; case.
have [u [l [uu Au max]]] := greatest_eigenvalue sA.
pose e : 'cV[R]_(1 + d) := delta_mx 0 0; pose H := reflection (e - u).
have He : H *m e = u by apply: reflection_swap; rewrite dot_deltas eqxx uu.
have sH : symmetric H := reflection_sym _.
have HH : H *m H = 1%:M := reflectionK _.
have oH : orthogonal_mx H by rewrite /orthogonal_mx sH.
pose B : 'M[R]_(1 + d) := H *m A *m H.
have sB : symmetric B by rewrite /symmetric !trmx_mul sH sA mulmxA.
have Be : B *m e = l *: e.
  by rewrite /B -!mulmxA He Au -scalemxAr -He mulmxA HH mul1mx.
have maxB v : form B v <= l * dot v v.
  rewrite -(orthogonal_dot v v oH); apply: le_trans (max (H *m v)).
  by rewrite /form /B -!mulmxA (dot_sym _ _ sH).
have sB' : symmetric (drsubmx B) by rewrite /symmetric trmx_drsub sB.
have [U' [a' sp]] := IH (drsubmx B) sB'.
have BE := first_block sB Be; have top j : a' 0 j <= l by apply: (block_le sp); rewrite -BE.
have spB := spectral_block sp top; rewrite -BE in spB; exists (H *m bordered 1 U'), (row_mx l%:M a').
have -> : A = H *m B *m H^T by rewrite sH /B !mulmxA HH mul1mx -mulmxA HH mulmx1.
exact: spectral_conjugate.
Qed.

(* The sensitivity of the eigenvalues: at most 2 in l1 when a record of length at most 1 is
   replaced by another one. The premises are that A and B have the eigenvectors U and V with
   the eigenvalues a and b in decreasing order, that A + x x^T = B + y y^T, and that x and y
   have length at most 1. The eigenvectors exist for every symmetric A and B. *)
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
