(* Lebesgue measure does not see translations: the measure of an event and the integral
   of a nonnegative function stay the same, on the line, on rows and on matrices.

   The line: the shifted measure gives every half-open interval its length, and a measure
   is determined by that. Rows: by induction on the length, section by section. Matrices:
   those of the rows of their entries. An integral follows from the events, because it is
   the integral against the image of the measure. Nothing is assumed. *)
From covassay Require Import MeasureTheory Lebesgue.
Local Open Scope ereal_scope.

(* A map that keeps the measure of every event keeps every integral. *)
Lemma integral_preserved (R : realType) d (T : measurableType d) (mu : {measure set T -> \bar R})
    (g : T -> T) (f : T -> \bar R) :
  measurable_fun setT g -> (forall A, measurable A -> mu (g @^-1` A) = mu A) ->
  measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[mu]_x f (g x) = \int[mu]_x f x.
Proof.
move=> mg keep mf f0; rewrite -(integral_pushforward mg) //.
by apply: eq_measure_integral => A mA _; rewrite /= /pushforward /= keep.
Qed.

(* THE LINE *)

Section Line.
Variable R : realType.

Lemma measurable_fun_addr (a : R) : measurable_fun setT (fun x : R => (x + a)%R).
Proof.
apply: measurable_funD; [exact: measurable_fun_id|exact: measurable_fun_cst].
Qed.

Theorem leb_shift (a : R) A : measurable A -> leb [set x | A (x + a)%R] = leb A.
Proof.
move=> mA.
pose G := [the measurableType _ of salgebraType (R.-ocitv.-measurable)].
pose shifted := [the measure _ _ of pushforward (@lebesgue_measure R)
  (measurable_fun_addr a : @measurable_fun _ _ G G setT _)].
suff E : forall X, ocitv X -> hlength X = shifted X.
  by rewrite /leb (lebesgue_measure_unique E mA).
move=> _ [[x y] _ <-] /=.
rewrite /pushforward (_ : _ @^-1` _ = `](x - a)%R, (y - a)%R]%classic); last first.
  by apply/seteqP; split => z /=; rewrite !in_itv /= ltr_subl_addr ler_subr_addr.
rewrite /leb lebesgue_measure_itv !hlength_itv /= !lte_fin ltr_add2r.
by case: ifP => // _; rewrite -!EFinB opprB addrA subrK.
Qed.

Lemma integral_shift_line (a : R) (f : R -> \bar R) :
  measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[@leb R]_x f (x + a)%R = \int[@leb R]_x f x.
Proof.
apply: (integral_preserved (mu := [the measure _ _ of @leb R]) (measurable_fun_addr a)).
exact: leb_shift.
Qed.

End Line.

(* ROWS *)

Lemma measurable_matrix_add (R : realType) m n (a : 'M[R]_(m, n)) :
  measurable_fun setT (fun x : 'M[R]_(m, n) => x + a)%R.
Proof.
apply: measurable_fun_matrix => i j.
rewrite (_ : (fun _ => _) = (fun x : 'M[R]_(m, n) => x i j + a i j)%R).
  apply: measurable_funD; [exact: measurable_entry|exact: measurable_fun_cst].
by apply/funext => x; rewrite mxE.
Qed.

Theorem leb_row_shift (R : realType) k (a : 'rV[R]_k) A : measurable A ->
  leb_row R k [set x | A (x + a)%R] = leb_row R k A.
Proof.
elim: k a A => [|k IH] a A mA.
  by congr (leb_row R 0 _); apply/seteqP; split => x /=; rewrite (thinmx0 (x + a)%R) (thinmx0 x).
pose tail : 'rV[R]_k := \row_j a ord0 (lift ord0 j).
have consD xv : (cons_row xv + a)%R = cons_row ((xv.1 + a ord0 ord0)%R, (xv.2 + tail)%R).
  apply/rowP => j; rewrite mxE; case: (unliftP ord0 j) => [l ->|->].
    by rewrite !cons_rowS !mxE.
  by rewrite !cons_row0.
rewrite !leb_row_sections.
transitivity (\int[leb_row R k]_v section_length A (v + tail)%R).
  apply: eq_integral => v _; rewrite /section_length.
  have mAv : measurable (ysection (@cons_row R k @^-1` A) (v + tail)%R).
    by have mB := measurable_cons_preimage mA; exact: measurable_ysection.
  rewrite -(leb_shift (a ord0 ord0) mAv); congr (leb _).
  by apply/seteqP; split => x; rewrite /ysection /= !inE /= consD.
apply: (integral_preserved (measurable_matrix_add tail) (IH tail)).
- exact: measurable_section_length.
- by move=> v; exact: measure_ge0.
Qed.

(* MATRICES *)

Section Matrices.
Variables (R : realType) (m n : nat).
Implicit Types (a : 'M[R]_(m, n)) (A : set 'M[R]_(m, n)).

(* Moving an event of matrices by the matrix -a does not change its measure. *)
(*@ LEBESGUE-SHIFT *)
Theorem leb_matrix_shift a A : measurable A ->
  leb_matrix [set x | A (x + a)%R] = leb_matrix A.
Proof.
move=> mA; rewrite /leb_matrix /pushforward.
rewrite -(leb_row_shift (mxvec a) (A := vec_mx @^-1` A)).
  by congr (leb_row R _ _); apply/seteqP; split => v /=; rewrite linearD /= mxvecK.
by rewrite -[X in measurable X]setTI; exact: measurable_vec_mx.
Qed.

(* Moving a nonnegative function by it does not change its integral. *)
Lemma integral_shift a (f : 'M[R]_(m, n) -> \bar R) :
  measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[@leb_matrix R m n]_x f (x + a)%R = \int[@leb_matrix R m n]_x f x.
Proof.
apply: (integral_preserved (mu := [the measure _ _ of @leb_matrix R m n])
  (measurable_matrix_add a)).
exact: leb_matrix_shift.
Qed.

End Matrices.
