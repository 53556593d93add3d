(* The Lebesgue measure of a box is the product of its sides, on rows and on matrices.

   Rows: by induction on the length, since a box of rows of length k + 1 is an interval
   times a box of rows of length k. Matrices: a box of matrices is a box of the rows of
   their entries. The boxes with corners -k and k cover everything, so that both
   measures are sigma-finite. With that, the product that defines the measure on rows
   may be built in either order of integration. Nothing is assumed. *)
From covassay Require Import MeasureTheory Lebesgue.
Local Open Scope ereal_scope.

Section Cubes.
Variables (R : realType) (m n : nat).

(* The box with corners -k and k: together these boxes are everything. *)
Definition cube (k : nat) : set 'M[R]_(m, n) := box (const_mx (- k%:R)%R) (const_mx k%:R).

Lemma cubes_cover : setT = \bigcup_k cube k.
Proof.
apply/seteqP; split => // x _.
exists (Num.bound (\sum_i \sum_j `|x i j|)) => //= i j; rewrite !mxE.
have le : (`|x i j| <= \sum_i \sum_j `|x i j|)%R.
  rewrite (bigD1 i) //= (bigD1 j) //= -addrA ler_addl addr_ge0 ?sumr_ge0 // => k _.
  by rewrite sumr_ge0.
have := le_lt_trans le (archi_boundP (le_trans (normr_ge0 _) le)).
by rewrite ltr_norml => /andP[-> /ltW].
Qed.

Lemma measurable_cube k : measurable (cube k).
Proof. exact: measurable_box. Qed.

Lemma cube_corners k i j :
  ((const_mx (- k%:R) : 'M[R]_(m, n)) i j <= (const_mx k%:R : 'M[R]_(m, n)) i j)%R.
Proof. by rewrite !mxE -subr_ge0 opprK addr_ge0. Qed.

End Cubes.

Section Rows.
Variable R : realType.

Lemma leb_row_box k (a b : 'rV[R]_k) : (forall i j, (a i j <= b i j)%R) ->
  leb_row R k (box a b) = (\prod_j (b ord0 j - a ord0 j))%:E.
Proof.
elim: k a b => [|k IH] a b ab.
  rewrite big_ord0 /= /dirac indicE mem_set // => i j; by case: j.
rewrite big_ord_recl EFinM /=.
pose tail (v : 'rV[R]_k.+1) : 'rV[R]_k := \row_j v ord0 (lift ord0 j).
have -> : \prod_(i < k) (b ord0 (lift ord0 i) - a ord0 (lift ord0 i))
        = \prod_j (tail b ord0 j - tail a ord0 j) :> R.
  by apply: eq_bigr => j _; rewrite !mxE.
rewrite -leb_oc // -IH; last by move=> i j; rewrite !mxE.
rewrite /pushforward (_ : _ @^-1` _ =
  `]a ord0 ord0, b ord0 ord0]%classic `*` box (tail a) (tail b)).
  by rewrite product_measure2E //; [exact: measurable_itv|exact: measurable_box].
apply/seteqP; split => -[x v] /=.
  move=> h; split; first by have := h ord0 ord0; rewrite cons_row0 /= in_itv.
  by move=> i j; have := h ord0 (lift ord0 j); rewrite cons_rowS !mxE (ord1 i).
move=> [] /=; rewrite in_itv /= => h0 h i j; rewrite (ord1 i).
case: (unliftP ord0 j) => [l ->|->]; last by rewrite cons_row0.
by have := h ord0 l; rewrite cons_rowS !mxE.
Qed.

Lemma leb_row_sigma_finite k : sigma_finite setT (leb_row R k).
Proof.
exists (@cube R 1 k) => [|N]; first exact: cubes_cover.
by split; [exact: measurable_cube|rewrite leb_row_box ?ltry //; exact: cube_corners].
Qed.

(* The two orders of integration build the same product. *)
Lemma leb_rowS k (A : set 'rV[R]_k.+1) : measurable A ->
  leb_row R k.+1 A =
  product_measure1 [the measure _ _ of @leb R] (@leb_row_sigma_finite k) (@cons_row R k @^-1` A).
Proof.
move=> mA /=; rewrite /pushforward.
apply/esym/(product_measure_unique (@leb_sigma_finite R)) => //.
- by move=> A1 A2 mA1 mA2 /=; rewrite product_measure2E.
- exact: measurable_cons_preimage.
Qed.

End Rows.

Section Matrices.
Variables (R : realType) (m n : nat).

(* The measure of a box is the product of its sides, when no corner of it is above the
   opposite one. *)
(*@ LEBESGUE-BOX *)
Theorem leb_matrix_box (a b : 'M[R]_(m, n)) : (forall i j, (a i j <= b i j)%R) ->
  leb_matrix (box a b) = (\prod_i \prod_j (b i j - a i j))%:E.
Proof.
move=> ab; rewrite /leb_matrix /pushforward.
rewrite (_ : _ @^-1` _ = box (mxvec a) (mxvec b)); last first.
  apply/seteqP; split => v /= h i j.
    by case/mxvec_indexP: j => k l; rewrite (ord1 i) !mxvecE; have := h k l; rewrite mxE.
  by rewrite mxE; have := h ord0 (mxvec_index i j); rewrite !mxvecE.
rewrite leb_row_box; last first.
  by move=> i j; case/mxvec_indexP: j => k l; rewrite (ord1 i) !mxvecE.
congr (_%:E); rewrite (reindex _ (curry_mxvec_bij m n)) /= pair_bigA /=.
by apply: eq_bigr => -[i j] _ /=; rewrite !mxvecE.
Qed.

Lemma leb_matrix_sigma_finite : sigma_finite setT (@leb_matrix R m n).
Proof.
exists (@cube R m n) => [|N]; first exact: cubes_cover.
by split; [exact: measurable_cube|rewrite leb_matrix_box ?ltry //; exact: cube_corners].
Qed.

End Matrices.
