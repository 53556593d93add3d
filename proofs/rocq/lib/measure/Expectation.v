(* The expectation of a nonnegative function, and rules for it: of a sum, of a multiple,
   of a larger function and of the indicator of an event. They are the library's rules for
   integrals, without the embedding of R in the extended real line. Nothing is assumed. *)
From covassay Require Import MeasureTheory.

(* The expectation of a nonnegative function. *)
Definition expect dd (T : measurableType dd) (R : realType) (P : {measure set T -> \bar R})
  (f : T -> R) : \bar R := (\int[P]_x (f x)%:E)%E.

Section Expectation.
Context dd (T : measurableType dd) (R : realType) (P : {measure set T -> \bar R}).
Implicit Types f g : T -> R.
Local Notation expect := (expect P).

Let measE f : measurable_fun setT f -> measurable_fun setT (fun x => (f x)%:E).
Proof. by move=> mf; apply/EFin_measurable_fun. Qed.

Lemma expectD f g : (forall x, 0 <= f x) -> (forall x, 0 <= g x) ->
  measurable_fun setT f -> measurable_fun setT g ->
  expect (fun x => f x + g x) = (expect f + expect g)%E.
Proof.
move=> f0 g0 mf mg; rewrite /expect -ge0_integralD //.
- by move=> x _; rewrite lee_fin.
- exact: measE.
- by move=> x _; rewrite lee_fin.
- exact: measE.
Qed.

Lemma expectZ k f : 0 <= k -> (forall x, 0 <= f x) -> measurable_fun setT f ->
  expect (fun x => k * f x) = (k%:E * expect f)%E.
Proof.
move=> k0 f0 mf; rewrite /expect -ge0_integralM_EFin //; last exact: measE.
by move=> x _; rewrite lee_fin.
Qed.

Lemma expect_le f g : (forall x, 0 <= f x) -> (forall x, f x <= g x) ->
  measurable_fun setT f -> measurable_fun setT g -> (expect f <= expect g)%E.
Proof.
move=> f0 fg mf mg; apply: ge0_le_integral => //.
- by move=> x _; rewrite lee_fin.
- exact: measE.
- by move=> x _; rewrite lee_fin (le_trans (f0 x)).
- exact: measE.
- by move=> x _; rewrite lee_fin.
Qed.

Lemma expect_indic B : measurable B -> expect (\1_B : T -> R) = P B.
Proof. by move=> mB; rewrite /expect integral_indic // setIT. Qed.

End Expectation.
