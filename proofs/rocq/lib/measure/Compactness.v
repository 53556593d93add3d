(* Minima on compact sets, and nearest points of the unit ball of a norm, for rows.

   - `attains_min`: a continuous function has a minimum on a compact set;
   - `unit_ball_compact`: the unit ball of every norm on rows is compact;
   - `nearest_row`: so every row has a nearest point in it, for any other norm.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory Norms LipschitzMaps.
From covassay Require Euclidean.
Import numFieldNormedType.Exports.

(* A continuous function has a minimum on a compact set. *)
Lemma attains_min (R : realType) (T : topologicalType) (A : set T) (f : T -> R) :
  compact A -> A !=set0 -> continuous f -> exists2 x, A x & forall y, A y -> f x <= f y.
Proof.
move=> cA [x0 Ax0] cf; pose g x := - f x; pose S := g @` A.
have cg : continuous g by move=> x; apply: continuousN; exact: cf.
have cS : compact S.
  by apply: continuous_compact => //; apply: continuous_subspaceT => x; exact: cg.
have S0 : S !=set0 by exists (g x0), x0.
have uS : has_ubound S.
  have [M [_ SM]] := compact_bounded cS; exists (M + 1) => y Sy.
  by apply: le_trans (ler_norm _) (SM _ _ y Sy); rewrite ltr_addl.
have [x Ax gx] : S (sup S).
  apply: (compact_closed _ cS); first exact: norm_hausdorff.
  exact: closure_sup.
exists x => // y Ay; rewrite -ler_opp2 -/(g y) -/(g x) gx.
by apply: sup_upper_bound => //; exists y.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The Euclidean norm of a row                                                  *)

Section Row.
Variables (R : realType) (k : nat).
Implicit Types x y : 'rV[R]_k.

Let e x : R := Euclidean.norm x^T.

Let e_triangle x y : e (x + y) <= e x + e y.
Proof. by rewrite /e linearD /=; exact: Euclidean.norm_triangle. Qed.

Let e_scale a x : e (a *: x) = `|a| * e x.
Proof. by rewrite /e linearZ /=; exact: Euclidean.normZ. Qed.

Let e_definite x : e x = 0 -> x = 0.
Proof.
move/eqP; rewrite Euclidean.norm_eq0 => /eqP x0.
by apply: trmx_inj; rewrite x0 trmx0.
Qed.

Definition euclidean_row : Norms.norm R 1 k := Norms.Norm e_triangle e_scale e_definite.

End Row.

Lemma unit_ball_compact (R : realType) k (N : Norms.norm R 1 k.+1) :
  compact [set x : 'rV[R]_k.+1 | N x <= 1].
Proof.
have [c c0 hc] := norm_lower N.
have box : compact [set x : 'rV[R]_k.+1 | forall i, `[- c^-1, c^-1]%classic (x ord0 i)].
  by apply: (@rV_compact _ _ (fun=> `[- c^-1, c^-1]%classic)) => _; exact: segment_compact.
apply: (subclosed_compact _ box).
  apply: (closed_comp (D := [set t : R | t <= 1])); last exact: closed_le.
  by move=> x _; exact: norm_continuous.
move=> x xA i /=; rewrite in_itv /= -ler_norml -(ler_pmul2l c0) mulfV ?gt_eqF //.
by apply: le_trans xA; apply: le_trans (hc x); rewrite ler_pmul2l // l1_ge_entry.
Qed.

(* The nearest point of the unit ball, for rows. *)
Lemma nearest_row (R : realType) k (N E : Norms.norm R 1 k) (a : 'rV[R]_k) :
  exists2 p, N p <= 1 & forall q, N q <= 1 -> E (a - p) <= E (a - q).
Proof.
case: k N E a => [|k] N E a.
  exists 0; first by rewrite norm0.
  by move=> q _; rewrite (thinmx0 (a - 0)) (thinmx0 (a - q)).
have A0 : [set x : 'rV[R]_k.+1 | N x <= 1] !=set0 by exists 0; rewrite /= norm0.
have [p Np min] := attains_min (@unit_ball_compact _ _ N) A0 (@distance_continuous _ _ _ E a).
by exists p.
Qed.
