(* Lebesgue measure and rotations.

   - integral_turn: turning the coordinates i and j of rows,

         (x_i, x_j) to (c x_i - s x_j, s x_i + c x_j),   c > 0,  c^2 + s^2 = 1,

     preserves the integral of every nonnegative measurable function.  The turn is two shears and
     two changes of scale of one coordinate (LebesgueRows.v).  It preserves lengths, and the turn
     back is its adjoint.
   - integral_reflect: on the line, so does the change of sign.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions Lebesgue LebesgueBox LebesgueShift LebesgueRows.
Local Open Scope ereal_scope.

(* ---------------------------------------------------------------------------- *)
(* Rotations of two coordinates                                                 *)

Section Turn.
Variables (R : realType) (k : nat) (i j : 'I_k).
Implicit Types x a : 'rV[R]_k.

Definition turn (c s : R) x : 'rV[R]_k :=
  \row_l if l == j then (s * x ord0 i + c * x ord0 j)%R
         else if l == i then (c * x ord0 i - s * x ord0 j)%R else x ord0 l.

Definition dot_row a x : R := (\sum_l a ord0 l * x ord0 l)%R.

Hypothesis ij : i != j.
Variables c s : R.
Hypotheses (c_gt0 : (0 < c)%R) (cs : (c ^+ 2 + s ^+ 2 = 1)%R).

Lemma integral_turn (f : 'rV[R]_k -> \bar R) : measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[leb_row R k]_x f (turn c s x) = \int[leb_row R k]_x f x.
Proof.
move=> mf f0; have c0 : (0 < c^-1)%R by rewrite invr_gt0.
pose g1 x := (s / c * x ord0 i)%R; pose g2 x := (- s * x ord0 j)%R.
have m1 : measurable_fun setT g1 by apply: measurable_funrM; exact: measurable_entry.
have m2 : measurable_fun setT g2 by apply: measurable_funrM; exact: measurable_entry.
have i1 x t : g1 (upd j x t) = g1 x by rewrite /g1 mxE (negbTE ij).
have i2 x t : g2 (upd i x t) = g2 x by rewrite /g2 mxE eq_sym (negbTE ij).
pose f1 x := f (upd j x (c^-1 * x ord0 j + g1 x)%R).
have mf1 : measurable_fun setT f1.
  apply: (measurable_fun_comp mf); apply: measurable_upd; apply: measurable_funD => //.
  by apply: measurable_funrM; exact: measurable_entry.
rewrite -(integral_upd c0 m1 i1 mf f0) -(integral_upd c_gt0 m2 i2 mf1 (fun x => f0 _)) muleA -EFinM.
rewrite mulVf ?gt_eqF // mul1e; apply: eq_integral => x _; congr f; apply/rowP => l.
have key u w : (c^-1 * w + s / c * (c * u + - s * w) = s * u + c * w)%R.
  by rewrite -{1}[w]mul1r -cs; field; rewrite gt_eqF.
rewrite !mxE /g1 /g2 !mxE eqxx [j == i]eq_sym (negbTE ij).
by case: eqP => _; rewrite ?key //; case: eqP => // _; rewrite mulNr.
Qed.

Let split_two (g : 'I_k -> R) : (\sum_l g l = g j + (g i + \sum_(l | (l != j) && (l != i)) g l))%R.
Proof. by rewrite (bigD1 j) // (bigD1 i) //= ij. Qed.

Lemma turn_others x l : (l != j) && (l != i) -> turn c s x ord0 l = x ord0 l.
Proof. by move=> /andP[/negbTE lj /negbTE li]; rewrite mxE lj li. Qed.

Lemma turnj x : turn c s x ord0 j = (s * x ord0 i + c * x ord0 j)%R.
Proof. by rewrite mxE eqxx. Qed.

Lemma turni x : turn c s x ord0 i = (c * x ord0 i - s * x ord0 j)%R.
Proof. by rewrite mxE (negbTE ij) eqxx. Qed.

Lemma turn_square x : dot_row (turn c s x) (turn c s x) = dot_row x x.
Proof.
rewrite /dot_row !split_two turnj turni; under eq_bigr => l lij do rewrite turn_others //.
rewrite !addrA; congr (_ + _)%R.
transitivity ((c ^+ 2 + s ^+ 2) * (x ord0 j * x ord0 j + x ord0 i * x ord0 i))%R; last by rewrite cs mul1r.
by move: (x ord0 i) (x ord0 j) => u w; ring.
Qed.

End Turn.

Lemma turn_back (R : realType) k (i j : 'I_k) (c s : R) (a x : 'rV[R]_k) : i != j ->
  dot_row a (turn i j c s x) = dot_row (turn i j c (- s) a) x.
Proof.
move=> ij; rewrite /dot_row (bigD1 j) // (bigD1 i) //= [RHS](bigD1 j) // [in RHS](bigD1 i) //=.
rewrite !turnj !(turni ij).
rewrite !addrA; congr (_ + _)%R; last by apply: eq_bigr => l lij; rewrite !turn_others.
by move: (x ord0 i) (x ord0 j) (a ord0 i) (a ord0 j) => u w p q; ring.
Qed.

(* Lebesgue measure does not see reflections. *)
Section Reflection.
Variable R : realType.

Lemma measurable_fun_oppr : measurable_fun setT (fun x : R => (- x)%R).
Proof. by under eq_fun do rewrite -mulN1r; apply: measurable_funrM; exact: measurable_fun_id. Qed.

Lemma leb_reflect (A : set R) : measurable A -> leb [set x | A (- x)%R] = leb A.
Proof.
move=> mA.
pose G := [the measurableType _ of salgebraType (R.-ocitv.-measurable)].
pose reflected := [the measure _ _ of pushforward (@lebesgue_measure R)
  (measurable_fun_oppr : @measurable_fun _ _ G G setT _)].
suff E : forall X, ocitv X -> hlength X = reflected X.
  by rewrite /leb (lebesgue_measure_unique E mA).
move=> _ [[x y] _ <-] /=.
rewrite /pushforward (_ : _ @^-1` _ = `[(- y)%R, (- x)%R[%classic); last first.
  by apply/seteqP; split => z /=; rewrite !in_itv /= ltr_oppr ler_oppl andbC.
rewrite /leb lebesgue_measure_itv !hlength_itv /= !lte_fin ltr_opp2.
by case: ifP => // _; rewrite -!EFinB opprK addrC.
Qed.

Lemma integral_reflect (f : R -> \bar R) : measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[@leb R]_x f (- x)%R = \int[@leb R]_x f x.
Proof.
apply: (integral_preserved (mu := [the measure _ _ of @leb R]) measurable_fun_oppr).
exact: leb_reflect.
Qed.

End Reflection.
