(* Measurable functions that are made of measurable functions: finite sums and products,
   quotients by a number, exponentials. The library has sums and products of two.  And
   functions of pairs: the projections, and the integral of a product. Nothing is assumed. *)
From covassay Require Import MeasureTheory.

Section Functions.
Context (R : realType) d (T : measurableType d).
Implicit Types (f g h : T -> R) (c : R).

(* an operation that keeps functions measurable, applied to finitely many *)
Let measurable_big (op : R -> R -> R) (x0 : R) (I : Type) (r : seq I) (f : I -> T -> R) :
  (forall g h, measurable_fun setT g -> measurable_fun setT h ->
    measurable_fun setT (fun x => op (g x) (h x))) ->
  (forall i, measurable_fun setT (f i)) ->
  measurable_fun setT (fun x => \big[op/x0]_(i <- r) f i x).
Proof.
move=> mop mf; elim: r => [|i r IH].
  by under eq_fun do rewrite big_nil; exact: measurable_fun_cst.
by under eq_fun do rewrite big_cons; exact: mop.
Qed.

Lemma measurable_sum (I : Type) (r : seq I) (f : I -> T -> R) :
  (forall i, measurable_fun setT (f i)) -> measurable_fun setT (fun x => \sum_(i <- r) f i x).
Proof. by apply: measurable_big => g h; exact: measurable_funD. Qed.

Lemma measurable_prod (I : Type) (r : seq I) (f : I -> T -> R) :
  (forall i, measurable_fun setT (f i)) -> measurable_fun setT (fun x => \prod_(i <- r) f i x).
Proof. by apply: measurable_big => g h; exact: measurable_funM. Qed.

Lemma measurable_fun_div f c : measurable_fun setT f -> measurable_fun setT (fun x => f x / c).
Proof.
move=> mf; rewrite (_ : (fun _ => _) = (fun x => c^-1 * f x)); first exact: measurable_funrM.
by apply/funext => x; rewrite mulrC.
Qed.

Lemma measurable_exp f : measurable_fun setT f -> measurable_fun setT (fun x => expR (f x)).
Proof.
by apply: measurable_fun_comp; apply: continuous_measurable_fun; exact: continuous_expR.
Qed.

(* as in the density of noise *)
Lemma measurable_exp_opp f : measurable_fun setT f -> measurable_fun setT (fun x => expR (- f x)).
Proof.
move=> mf; apply: measurable_exp; under eq_fun do rewrite -mulN1r.
exact: measurable_funrM.
Qed.

End Functions.

Section Pairs.
Context d1 d2 (Y1 : measurableType d1) (Y2 : measurableType d2).

Lemma measurable_fun_fst : measurable_fun [set: Y1 * Y2] fst.
Proof. exact: (proj1 ((prod_measurable_funP id).1 (@measurable_fun_id _ _ _))). Qed.

Lemma measurable_fun_snd : measurable_fun [set: Y1 * Y2] snd.
Proof. exact: (proj2 ((prod_measurable_funP id).1 (@measurable_fun_id _ _ _))). Qed.

Context (R : realType).
Variables (mu1 : {measure set Y1 -> \bar R}) (mu2 : {measure set Y2 -> \bar R}).
Hypothesis sf2 : sigma_finite setT mu2.
Let mu12 := [the measure _ _ of product_measure1 mu1 sf2].
Local Open Scope ereal_scope.

(* Tonelli for a product of two functions of one variable each. *)
Lemma integral_product (u : Y1 -> R) (v : Y2 -> R) :
  measurable_fun setT u -> measurable_fun setT v ->
  (forall y, 0 <= u y)%R -> (forall z, 0 <= v z)%R ->
  \int[mu12]_x (u x.1 * v x.2)%:E = \int[mu1]_y (u y)%:E * \int[mu2]_z (v z)%:E.
Proof.
move=> mu mv u0 v0; rewrite fubini_tonelli1 //; last 2 first.
- apply/EFin_measurable_fun; apply: measurable_funM.
    by apply: (measurable_fun_comp mu); exact: measurable_fun_fst.
  by apply: (measurable_fun_comp mv); exact: measurable_fun_snd.
- by move=> x; rewrite lee_fin mulr_ge0.
rewrite muleC -ge0_integralM //.
- apply: eq_integral => y _; rewrite /fubini_F /= muleC.
  rewrite -ge0_integralM_EFin //.
  + by move=> z _; rewrite lee_fin.
  + exact/EFin_measurable_fun.
- exact/EFin_measurable_fun.
- by move=> y _; rewrite lee_fin.
- by apply: integral_ge0 => z _; rewrite lee_fin.
Qed.

End Pairs.
