(* A quadratic form has a maximum on the unit sphere, and there it has an eigenvector.

   1. The form v^T A v is a polynomial in the entries of v, hence continuous, and the unit
      sphere is compact: the form has a maximum l, at a vector u.
   2. So v^T (l - A) v >= 0 for every v, with equality at u. A positive semidefinite form
      vanishes only on the kernel of its matrix: hence (l - A) u = 0.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory Euclidean.
From covassay Require Norms Compactness Squeeze.
Import numFieldNormedType.Exports.

(* a finite sum of continuous functions is continuous *)
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

(* There is a unit vector u with v^T A v <= (u^T A u) |v|^2 for all v. *)
Lemma form_attains_max : exists2 u, dot u u = 1 & forall v, form A v <= form A u * dot v v.
Proof.
pose E := Compactness.euclidean_row R k.+1.
pose S := [set x : 'rV[R]_k.+1 | Norms.norm_at E x = 1].
have cS : compact S.
  apply: (subclosed_compact _ (@Compactness.unit_ball_compact _ _ E)); last first.
    by move=> x Sx; have : Norms.norm_at E x <= 1 by rewrite (Sx : Norms.norm_at E x = 1).
  apply: (closed_comp (D := [set 1 : R])); last exact: closed_eq.
  by move=> x _; exact: Norms.norm_continuous.
have S0 : S !=set0.
  by exists (delta_mx 0 0); rewrite /S /= trmx_delta norm_delta.
have [u Su max] := Compactness.attains_min cS S0 opposite_continuous.
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
set v := M *m e; apply: (@Squeeze.le_of_small R _ 0 (form M v / 2%:R)) => t t0 _.
rewrite add0r; have := M0 (e - t *: v).
have -> : form M (e - t *: v) = form M e - t * (dot v v *+ 2) + t ^+ 2 * form M v.
  rewrite /form mulmxBr -scalemxAr !dotL (dot_sym e v sM) (dotC v (M *m e)) -/v.
  by move: (dot e v) (dot v v) (dot v (M *m v)) => a b c; ring.
rewrite Me sub0r => le; rewrite -subr_ge0 -(pmulr_rge0 _ t0) -(pmulr_lge0 _ (ltr0n R 2)).
apply: le_trans le _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
by rewrite mulr2n; move: (form M v) (dot v v) => b c; field.
Qed.

(* A symmetric matrix of size at least 1 has an eigenvector whose eigenvalue bounds the form. *)
Lemma greatest_eigenvalue (R : realType) k (A : 'M[R]_k.+1) : symmetric A -> exists u l,
  [/\ dot u u = 1, A *m u = l *: u & forall v, form A v <= l * dot v v].
Proof.
move=> sA; have [u uu max] := form_attains_max A; exists u, (form A u); split=> //.
apply/esym/eqP; rewrite -subr_eq0 -mul_scalar_mx -mulmxBl; apply/eqP/psd_kernel.
  split; first by rewrite /symmetric linearB /= tr_scalar_mx sA.
  by move=> v; rewrite Euclidean.formB form_scalar subr_ge0 max.
by rewrite Euclidean.formB form_scalar uu mulr1 subrr.
Qed.
