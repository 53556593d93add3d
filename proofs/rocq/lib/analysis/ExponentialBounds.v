(* Four inequalities for the exponential function, over the real numbers.

   - 1 + x <= e^x, and ln x <= x - 1;
   - Bernoulli: alpha t <= t^alpha + alpha - 1 for alpha >= 1 and t > 0;
   - t^alpha lies below its chord between a and b (it is convex);
   - cosh x e^(-x^2/2) does not grow for x >= 0.

   They are what the files on zero-concentrated privacy need.  The first and the
   last come from the sign of a derivative, the others from the first.  Nothing is
   assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum interval.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets functions.
From mathcomp.analysis Require Import reals topology normedtype sequences derive realfun exp.
From mathcomp.algebra_tactics Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports numFieldNormedType.Exports.
Local Open Scope ring_scope.

Section Bounds.
Variable R : realType.
Implicit Types (a b c t u x y alpha : R) (f df : R -> R).

(* A function with a nonnegative derivative does not decrease on [0, oo). *)
Lemma nondecreasing f df : (forall x, is_derive x 1 f (df x)) ->
  (forall x, 0 <= x -> 0 <= df x) -> forall x y, 0 <= x -> x <= y -> f x <= f y.
Proof.
move=> D pos x y x0 xy; rewrite -subr_ge0.
have cf : {within `[x, y], continuous f}.
  apply: continuous_subspaceT => z.
  by apply: differentiable_continuous; apply/derivable1_diffP; case: (D z).
have [c] := MVT_segment xy (fun z _ => D z) cf.
rewrite in_itv /= => /andP[xc _] ->.
by rewrite mulr_ge0 ?subr_ge0 //; apply: pos; apply: le_trans xc.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The tangent at zero                                                          *)

Definition exp_neg x : R := expR (- x).

Lemma is_derive_exp_neg x : is_derive x 1 exp_neg (- exp_neg x).
Proof.
have D := is_derive1_comp (is_derive_expR (- x)) (is_deriveNid x 1).
by apply: is_derive_eq D _; rewrite mulrN1.
Qed.

Lemma expR_ge1D x : 1 + x <= expR x.
Proof.
have [x0|x0] := leP 0 x; first exact: expR_ge1Dx.
have D z : is_derive z 1 (exp_neg + id) (- exp_neg z + 1).
  by apply: is_deriveD; exact: is_derive_exp_neg.
have pos z : 0 <= z -> 0 <= - exp_neg z + 1.
  by move=> z0; rewrite addrC subr_ge0 /exp_neg -expR0 ler_expR oppr_le0.
have y0 : 0 <= - x by rewrite oppr_ge0 ltW.
have := nondecreasing D pos (lexx 0) y0.
rewrite -![(exp_neg + id) _]/(exp_neg _ + _) /exp_neg oppr0 expR0 addr0 opprK.
by rewrite ler_subr_addr.
Qed.

Lemma ln_le x : 0 < x -> ln x <= x - 1.
Proof. by move=> x0; rewrite ler_subr_addl -{2}[x]lnK ?posrE // expR_ge1D. Qed.

(* The tangent at any point. *)
Lemma expR_tangent x y : expR x * (1 + (y - x)) <= expR y.
Proof.
have -> : expR y = expR x * expR (y - x) by rewrite -expRD addrC subrK.
by rewrite ler_pmul2l ?expR_gt0 ?expR_ge1D.
Qed.

(* ---------------------------------------------------------------------------- *)
(* Powers                                                                       *)

Lemma bernoulli alpha t : 1 <= alpha -> 0 < t -> alpha * t <= t `^ alpha + (alpha - 1).
Proof.
move=> a1 t0; have a0 : 0 < alpha by apply: lt_le_trans a1.
rewrite /exp_fun; set u := ln t; have -> : t = expR u by rewrite lnK.
have h1 := expR_tangent u (alpha * u).
have h0 : (alpha - 1) * (expR u * (1 + (0 - u))) <= alpha - 1.
  rewrite -[X in _ <= X]mulr1 ler_wpmul2l ?subr_ge0 // -[X in _ <= X]expR0.
  exact: expR_tangent.
apply: le_trans (ler_add h1 h0); rewrite le_eqVlt; apply/orP/or_introl/eqP.
by move: (expR u) => e; ring.
Qed.

Lemma powerM alpha a b : 0 < a -> 0 < b -> (a * b) `^ alpha = a `^ alpha * b `^ alpha.
Proof. by move=> a0 b0; rewrite /exp_fun lnM ?posrE // mulrDr expRD. Qed.

Lemma power_tangent alpha x y : 1 <= alpha -> 0 < x -> 0 < y ->
  x `^ alpha * (1 + alpha * (y / x - 1)) <= y `^ alpha.
Proof.
move=> a1 x0 y0; have yx : 0 < y / x by rewrite divr_gt0.
have -> : y `^ alpha = (y / x) `^ alpha * x `^ alpha by rewrite -powerM // divfK // gt_eqF.
rewrite mulrC.
rewrite ler_pmul2r ?exp_fun_gt0 //.
have := bernoulli a1 yx; move: (_ `^ _) => p; rewrite -subr_ge0 => h; rewrite -subr_ge0.
by apply: le_trans h _; rewrite le_eqVlt; apply/orP/or_introl/eqP; ring.
Qed.

Lemma power_chord alpha a b x : 1 <= alpha -> 0 < a -> a <= x -> x <= b ->
  (b - a) * x `^ alpha <= (b - x) * a `^ alpha + (x - a) * b `^ alpha.
Proof.
move=> a1 a0 ax xb; have x0 : 0 < x by apply: lt_le_trans ax.
have b0 : 0 < b by apply: lt_le_trans xb.
have ha : (b - x) * (x `^ alpha * (1 + alpha * (a / x - 1))) <= (b - x) * a `^ alpha.
  by rewrite ler_wpmul2l ?subr_ge0 // power_tangent.
have hb : (x - a) * (x `^ alpha * (1 + alpha * (b / x - 1))) <= (x - a) * b `^ alpha.
  by rewrite ler_wpmul2l ?subr_ge0 // power_tangent.
apply: le_trans (ler_add ha hb); rewrite le_eqVlt; apply/orP/or_introl/eqP.
by move: (x `^ alpha) => p; field; rewrite gt_eqF.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The hyperbolic cosine                                                        *)

Definition twice_cosh x : R := expR x + expR (- x).
Definition twice_sinh x : R := expR x - expR (- x).

Lemma is_derive_twice_cosh x : is_derive x 1 twice_cosh (twice_sinh x).
Proof.
rewrite (_ : twice_cosh = expR + exp_neg) //.
by apply: is_deriveD; exact: is_derive_exp_neg.
Qed.

Lemma is_derive_twice_sinh x : is_derive x 1 twice_sinh (twice_cosh x).
Proof.
rewrite (_ : twice_sinh = expR - exp_neg) //.
apply: is_derive_eq (is_deriveB (is_derive_expR x) (is_derive_exp_neg x)) _.
by rewrite opprK.
Qed.

Lemma twice_sinh_ge0 x : 0 <= x -> 0 <= twice_sinh x.
Proof. by move=> x0; rewrite subr_ge0 ler_expR -subr_ge0 opprK addr_ge0. Qed.

Lemma sinh_le x : 0 <= x -> twice_sinh x <= x * twice_cosh x.
Proof.
move=> x0; rewrite -subr_ge0.
have D z : is_derive z 1 (id * twice_cosh - twice_sinh) (z * twice_sinh z).
  have D1 := is_deriveM (is_derive_id z 1) (is_derive_twice_cosh z).
  apply: is_derive_eq (is_deriveB D1 (is_derive_twice_sinh z)) _.
  by rewrite /GRing.scale /= mulr1 addrK.
have pos z : 0 <= z -> 0 <= z * twice_sinh z by move=> z0; rewrite mulr_ge0 ?twice_sinh_ge0.
have := nondecreasing D pos (lexx 0) x0.
rewrite -![(id * _ - _) _]/(_ * _ - _) mul0r sub0r.
by rewrite {1}/twice_sinh oppr0 subrr oppr0.
Qed.

(* e^(-x^2/2) *)
Definition bell x : R := expR (- (x ^+ 2 / 2%:R)).

Lemma is_derive_bell x : is_derive x 1 bell (- (x * bell x)).
Proof.
have Dq : is_derive x 1 ((- 2%:R^-1) \*: (id ^+ 2) : R -> R) (- x).
  apply: is_derive_eq (is_deriveZ _ (is_deriveX 1 (is_derive_id x 1))) _.
  by rewrite /GRing.scale /= expr1; field.
have -> : bell = expR \o ((- 2%:R^-1) \*: (id ^+ 2)).
  apply/funext => z; rewrite /bell /= exprfctE; congr (expR _).
  have -> : - (z ^+ 2 / 2%:R) = - 2%:R^-1 * z ^+ 2 by field.
  by [].
apply: is_derive_eq (is_derive1_comp (is_derive_expR _) Dq) _.
by rewrite mulrN mulrC.
Qed.

Lemma cosh_bell_le x y : 0 <= x -> x <= y -> twice_cosh y * bell y <= twice_cosh x * bell x.
Proof.
move=> x0 xy; rewrite -ler_opp2.
have D z : is_derive z 1 (- (twice_cosh * bell)) ((z * twice_cosh z - twice_sinh z) * bell z).
  apply: is_derive_eq (is_deriveN (is_deriveM (is_derive_twice_cosh z) (is_derive_bell z))) _.
  by rewrite /GRing.scale /=; move: (twice_cosh z) (twice_sinh z) (bell z) => p q r; ring.
have pos z : 0 <= z -> 0 <= (z * twice_cosh z - twice_sinh z) * bell z.
  by move=> z0; rewrite mulr_ge0 ?(ltW (expR_gt0 _)) // subr_ge0 sinh_le.
exact: nondecreasing D pos x y x0 xy.
Qed.

Lemma cosh_growth x y : 0 <= x -> x <= y ->
  twice_cosh y <= twice_cosh x * expR ((y ^+ 2 - x ^+ 2) / 2%:R).
Proof.
move=> x0 xy; have b0 : 0 < bell y by apply: expR_gt0.
rewrite -(ler_pmul2r b0) -mulrA; apply: le_trans (cosh_bell_le x0 xy) _.
rewrite /bell -expRD; have -> // : (y ^+ 2 - x ^+ 2) / 2%:R + - (y ^+ 2 / 2%:R) = - (x ^+ 2 / 2%:R).
by field.
Qed.

End Bounds.
