(* Measurable functions that are made of measurable functions: finite sums and products,
   quotients by a number, exponentials. The library has sums and products of two. Nothing
   is assumed. *)
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
