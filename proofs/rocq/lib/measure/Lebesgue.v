(* Lebesgue measure on R, on R^k and on the m x n matrices: the definitions.

   The library has Lebesgue measure on R only. Here it is extended to matrices, hence to
   rows and columns, in four steps:

   - the line: `leb` is the library's measure on the library's events;
   - events of matrices: the smallest sigma-algebra that has "the (i, j) entry lies in B"
     for all i, j and all events B of the line. A map into matrices is measurable when
     each entry is, and a box is an event;
   - rows, by recursion on the length: there is one row of length 0, of measure 1; a row
     of length k + 1 is a number and a row of length k, and `leb_row` is the product;
   - matrices: `leb_matrix` is the measure of their m n entries, written in a row.

   What these measures do is in the files after this one: LebesgueBox (a box has the
   product of its sides as its measure), LebesgueShift (translations change nothing),
   LebesgueScale (a factor c counts c^(m n)), LebesgueOpen (continuous functions are
   measurable) and LebesgueProduct (Tonelli). Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions.
Local Open Scope ereal_scope.

(* THE LINE *)

Section Line.
Variable R : realType.

(* The library's Lebesgue measure, on the library's events of R. *)
Definition leb (A : set R) : \bar R := lebesgue_measure A.

Let leb0 : leb set0 = 0. Proof. exact: measure0. Qed.
Let leb_ge0 A : 0 <= leb A. Proof. exact: measure_ge0. Qed.
Let leb_sigma_additive : semi_sigma_additive leb.
Proof. exact: (@measure_semi_sigma_additive _ _ _ (@lebesgue_measure R)). Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ leb leb0 leb_ge0 leb_sigma_additive.

(* a half-open interval has its length as its measure *)
Lemma leb_oc (a b : R) : (a <= b)%R -> leb `]a, b]%classic = (b - a)%:E.
Proof.
move=> ab; rewrite /leb lebesgue_measure_itv hlength_itv /= lte_fin.
have [->|ne] := eqVneq a b; first by rewrite ltxx subrr.
by rewrite lt_neqAle ne ab EFinB.
Qed.

(* the intervals ]-n, n] cover the line *)
Lemma leb_sigma_finite : sigma_finite setT leb.
Proof.
exists (fun n : nat => `](- n%:R)%R, n%:R]%classic) => [|n].
  apply/seteqP; split => // x _; exists (Num.bound `|x|) => //=.
  have := archi_boundP (normr_ge0 x); rewrite ltr_norml in_itv /=.
  by move=> /andP[-> /ltW].
split; first exact: measurable_itv.
by rewrite leb_oc ?ltry // -subr_ge0 opprK addr_ge0.
Qed.

End Line.

(* EVENTS OF MATRICES *)

Section MatrixEvents.
Variables (R : realType) (m n : nat).

(* "The (i, j) entry lies in B", for every entry and every event B of the line. *)
Definition entry_event : set (set 'M[R]_(m, n)) :=
  [set A | exists i j, exists2 B, measurable B & A = [set x : 'M[R]_(m, n) | B (x i j)]].

(* The events of matrices: the smallest sigma-algebra with all of those. *)
HB.instance Definition _ := @isMeasurable.Build (sigma_display entry_event)
  'M[R]_(m, n) (Pointed.class _) <<s entry_event >>
  (@sigma_algebra0 _ setT entry_event) (@sigma_algebraC _ entry_event)
  (@sigma_algebra_bigcup _ setT entry_event).

(* Each entry is a measurable function of the matrix. *)
Lemma measurable_entry i j : measurable_fun setT (fun x : 'M[R]_(m, n) => x i j).
Proof.
move=> _ B mB; rewrite setTI; apply: sub_sigma_algebra.
by exists i, j, B.
Qed.

(* A map into matrices is measurable when each entry is. *)
Lemma measurable_fun_matrix d (T : measurableType d) (f : T -> 'M[R]_(m, n)) :
  (forall i j, measurable_fun setT (fun t => f t i j)) -> measurable_fun setT f.
Proof.
move=> mf; apply: (@measurability _ _ _ _ _ _ entry_event) => //.
move=> _ [_ [i [j [B mB ->]]] <-].
by have := mf i j measurableT B mB.
Qed.

(* The half-open box with corners a and b. *)
Definition box (a b : 'M[R]_(m, n)) : set 'M[R]_(m, n) :=
  [set x | forall i j, (a i j < x i j <= b i j)%R].

Lemma measurable_box a b : measurable (box a b).
Proof.
rewrite (_ : box a b = \bigcap_(i : 'I_m) \bigcap_(j : 'I_n)
   [set x : 'M[R]_(m, n) | `]a i j, b i j]%classic (x i j)]); last first.
  apply/seteqP; split => x /= h i; first by move=> _ j _ /=; rewrite in_itv /=.
  by move=> j; have := h i I j I; rewrite /= in_itv.
apply: fin_bigcap_measurable => // i _; apply: fin_bigcap_measurable => // j _.
rewrite -[X in measurable X]setTI; apply: measurable_entry => //.
exact: measurable_itv.
Qed.

End MatrixEvents.

(* ROWS *)

Section Rows.
Variable R : realType.

(* The row whose first entry is x and whose other entries are those of v. *)
Definition cons_row k (xv : R * 'rV[R]_k) : 'rV[R]_k.+1 :=
  \row_j (if unlift ord0 j is Some i then xv.2 ord0 i else xv.1).

Lemma cons_row0 k (xv : R * 'rV[R]_k) : cons_row xv ord0 ord0 = xv.1.
Proof. by rewrite mxE unlift_none. Qed.

Lemma cons_rowS k (xv : R * 'rV[R]_k) i : cons_row xv ord0 (lift ord0 i) = xv.2 ord0 i.
Proof. by rewrite mxE liftK. Qed.

(* Putting a number before a row is measurable. *)
Lemma measurable_cons_row k : measurable_fun setT (@cons_row k).
Proof.
apply: measurable_fun_matrix => i j; case: (unliftP ord0 j) => [l ->|->].
  rewrite (_ : (fun _ => _) = (fun v : 'rV[R]_k => v ord0 l) \o snd).
    apply: measurable_fun_comp; [exact: measurable_entry|exact: measurable_fun_snd].
  by apply/funext => xv; rewrite (ord1 i) cons_rowS.
rewrite (_ : (fun _ => _) = fst); first exact: measurable_fun_fst.
by apply/funext => xv; rewrite (ord1 i) cons_row0.
Qed.

(* There is one row of length 0; a row of length k+1 is a number and a row. *)
Fixpoint leb_row k : {measure set 'rV[R]_k -> \bar R} :=
  if k is k'.+1 then
    [the measure _ _ of pushforward
      [the measure _ _ of product_measure2 (@leb_sigma_finite R) (leb_row k')]
      (@measurable_cons_row k')]
  else [the measure _ _ of dirac (0%R : 'rV[R]_0)].

(* A set of rows of length k+1, as a set of pairs; it is an event. *)
Lemma measurable_cons_preimage k (A : set 'rV[R]_k.+1) :
  measurable A -> measurable (@cons_row k @^-1` A).
Proof. by move=> mA; rewrite -[X in measurable X]setTI; exact: measurable_cons_row. Qed.

(* Its measure is the integral of the lengths of its sections. *)
Definition section_length k (A : set 'rV[R]_k.+1) (v : 'rV[R]_k) : \bar R :=
  leb (ysection (@cons_row k @^-1` A) v).

Lemma leb_row_sections k (A : set 'rV[R]_k.+1) :
  leb_row k.+1 A = \int[leb_row k]_v section_length A v.
Proof. by []. Qed.

Lemma measurable_section_length k (A : set 'rV[R]_k.+1) :
  measurable A -> measurable_fun setT (section_length A).
Proof.
move=> mA; apply: measurable_fun_ysection; first exact: leb_sigma_finite.
by rewrite inE; exact: measurable_cons_preimage.
Qed.

End Rows.

(* MATRICES *)

Section Matrices.
Variables (R : realType) (m n : nat).

(* Reading a row of m n numbers as a matrix is measurable. *)
Lemma measurable_vec_mx : measurable_fun setT (@vec_mx R m n).
Proof.
apply: measurable_fun_matrix => i j.
rewrite (_ : (fun _ => _) = (fun v : 'rV[R]_(m * n) => v ord0 (mxvec_index i j))).
  exact: measurable_entry.
by apply/funext => v; rewrite mxE.
Qed.

(* The measure of an event of matrices is that of the rows that are read as its elements. *)
Definition leb_matrix (A : set 'M[R]_(m, n)) : \bar R :=
  pushforward (leb_row R (m * n)) measurable_vec_mx A.

Let pf := [the measure _ _ of pushforward (leb_row R (m * n)) measurable_vec_mx].
Let leb_matrix0 : leb_matrix set0 = 0. Proof. exact: (@measure0 _ _ _ pf). Qed.
Let leb_matrix_ge0 A : 0 <= leb_matrix A. Proof. exact: (@measure_ge0 _ _ _ pf). Qed.
Let leb_matrix_sigma_additive : semi_sigma_additive leb_matrix.
Proof. exact: (@measure_semi_sigma_additive _ _ _ pf). Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ leb_matrix
  leb_matrix0 leb_matrix_ge0 leb_matrix_sigma_additive.

End Matrices.
