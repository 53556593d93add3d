(* Rounding the output of a mechanism to a grid.

   - `nearest g t` is the integer k for which k g is nearest to t; of two nearest
     multiples it is the larger one.  This is floor(t/g + 1/2), and it is the k with
     -g/2 <= t - k g < g/2.
   - Rounding is measurable, for a number and for all entries of a matrix.  So an
     eps-DP mechanism stays eps-DP when its output is rounded to a grid that does not
     depend on the data, for every set of integer matrices; and whatever is computed
     from these integers is eps-DP too.

   The theorems hold for every g > 0.  The code takes powers of two.

   Assumed: nothing.  Not said: that a program computes the rounded value (this is
   Theorem 2 of proofs/paper/rounded-releases.md); anything about zCDP. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue Discrete.
From mathcomp Require Import countalg.

Section Rounding.
Variables (R : realType) (g : R).
Hypothesis g_gt0 : 0 < g.

Definition nearest (t : R) : discrete int := floor (t / g + 1 / 2%:R).

(* What is nearest: t - k g lies in [-g/2, g/2), so ties go to the larger multiple. *)
(* The premise is a grid g > 0. *)
(*@ ROUNDING-NEAREST *)
Theorem nearestP (t : R) (k : int) :
  nearest t = k <-> - (g / 2%:R) <= t - k%:~R * g < g / 2%:R.
Proof.
have lo : (k%:~R <= t / g + 1 / 2%:R) = (- (g / 2%:R) <= t - k%:~R * g).
  rewrite -ler_subl_addr ler_pdivl_mulr // -[LHS]subr_ge0 -[RHS]subr_ge0.
  by congr (0 <= _); field.
have up : (t / g + 1 / 2%:R < k%:~R + 1) = (t - k%:~R * g < g / 2%:R).
  rewrite -ltr_subr_addr ltr_pdivr_mulr // -[LHS]subr_gt0 -[RHS]subr_gt0.
  by congr (0 < _); field.
rewrite -lo -up.
have -> : (nearest t = k) <-> (Rfloor (t / g + 1 / 2%:R) = k%:~R).
  by rewrite RfloorE; split=> [<-|/eqP] //; rewrite eqr_int => /eqP.
exact: range1zP.
Qed.

(* No multiple is nearer. *)
Lemma nearest_is_nearest (t : R) (k : int) :
  `|t - (nearest t)%:~R * g| <= `|t - k%:~R * g|.
Proof.
have /nearestP/andP[] : nearest t = nearest t by [].
set j := nearest t => lo up; have [->//|ne] := eqVneq k j.
have far : g <= `|(k - j)%:~R * g|.
  rewrite normrM (gtr0_norm g_gt0) ler_pmull // -intr_norm -[1]/(1%:~R) ler_int.
  by rewrite -gtz0_ge1 normr_gt0 subr_eq0.
have near : `|t - j%:~R * g| <= g / 2%:R by rewrite ler_norml lo ltW.
have : g <= `|t - j%:~R * g| + `|t - k%:~R * g|.
  apply: le_trans far _.
  rewrite (_ : _ * g = (t - j%:~R * g) - (t - k%:~R * g)); last by rewrite mulrzBr; ring.
  exact: ler_norm_sub.
have gg : g / 2%:R + g / 2%:R = g by field.
move=> sum; apply: (le_trans near); rewrite -(ler_add2l (g / 2%:R)) gg.
by apply: (le_trans sum); rewrite ler_add2r.
Qed.

Lemma measurable_nearest : measurable_fun setT nearest.
Proof.
apply: measurable_fun_discrete => k.
rewrite (_ : mkset _ = `[k%:~R * g - g / 2%:R, k%:~R * g + g / 2%:R[%classic).
  exact: measurable_itv.
apply/seteqP; split=> t; rewrite /= in_itv /=.
  by move=> /nearestP; rewrite ler_subr_addl ltr_subl_addl.
by move=> tk; apply/nearestP; rewrite ler_subr_addl ltr_subl_addl.
Qed.

Variables m n : nat.

(* Every entry of a matrix. *)
Definition nearest_matrix (y : 'M[R]_(m, n)) : discrete (integers m n) :=
  \matrix_(i, j) nearest (y i j).

(* The premise is a grid g > 0. *)
(*@ ROUNDING-MEASURABLE *)
Theorem measurable_nearest_matrix : measurable_fun setT nearest_matrix.
Proof.
apply: measurable_fun_discrete => k.
rewrite (_ : mkset _ = \bigcap_(i : 'I_m) \bigcap_(j : 'I_n)
    ((fun y : 'M[R]_(m, n) => y i j) @^-1` (nearest @^-1` [set k i j]))).
  apply: fin_bigcap_measurable => // i _; apply: fin_bigcap_measurable => // j _.
  rewrite -[X in measurable X]setTI; apply: measurable_entry => //.
  by rewrite -[X in measurable X]setTI; exact: measurable_nearest.
apply/seteqP; split=> y /=.
  by move=> <- i _ j _ /=; rewrite mxE.
by move=> h; apply/matrixP => i j; rewrite mxE; exact: (h i I j I).
Qed.

(* Rounding the output of a mechanism.  S runs over all sets of integer matrices. *)
(* The premises are a grid g > 0 and eps-DP of M. *)
(*@ ROUNDING-DP *)
Theorem rounding_dp (X : Type) (nb : X -> X -> Prop) (eps : R)
    (M : X -> set 'M[R]_(m, n) -> \bar R) :
  dp nb eps M -> dp nb eps (fun x S => M x (nearest_matrix @^-1` S)).
Proof. exact: postprocessing measurable_nearest_matrix. Qed.

(* Whatever is computed from the integers, by any map into any space. *)
(* The premises are a grid g > 0 and eps-DP of M. *)
(*@ ROUNDING-THEN-ANYTHING *)
Theorem rounding_then_dp (X : Type) (nb : X -> X -> Prop) (eps : R)
    (M : X -> set 'M[R]_(m, n) -> \bar R) d (Z : measurableType d)
    (h : discrete (integers m n) -> Z) :
  dp nb eps M -> dp nb eps (fun x S => M x ((h \o nearest_matrix) @^-1` S)).
Proof.
move=> MP; apply: (postprocessing (h := h \o nearest_matrix) _ MP).
apply: measurable_fun_comp; last exact: measurable_nearest_matrix.
exact: measurable_fun_from_discrete.
Qed.

(* A matrix and a number, as in Algorithm 2 of DN25: both are rounded. *)
(* The premises are a grid g > 0 and eps-DP of M. *)
(*@ ROUNDING-PAIR-DP *)
Theorem rounding_pair_dp (X : Type) (nb : X -> X -> Prop) (eps : R)
    (M : X -> set ('M[R]_(m, n) * R) -> \bar R) :
  dp nb eps M ->
  dp nb eps (fun x S => M x ((fun ar => (nearest_matrix ar.1, nearest ar.2)) @^-1` S)).
Proof.
apply: postprocessing; apply/prod_measurable_funP; split.
  by apply: (measurable_fun_comp measurable_nearest_matrix); exact: measurable_fun_fst.
by apply: (measurable_fun_comp measurable_nearest); exact: measurable_fun_snd.
Qed.

End Rounding.
