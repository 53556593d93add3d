(* The projection on the ball of a norm exists and is measurable.

   N is any norm on m x n matrices. For every r >= 0 and every A there is one matrix of
   norm at most r that is nearest to A in Frobenius norm (a minimum on a compact set; the
   variational inequality of Projections follows by convexity). As a function of (r, A) it
   is measurable: for r = 1 it is nonexpansive, hence continuous, and for r > 0 it is
   r times the projection of A/r on the unit ball.

   With the nuclear norm this is step 3 of DN25's Algorithm 2. So the theorems of
   Algorithm2, which hold for every measurable third step, hold for the algorithm itself,
   and the measurability is not an assumption. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue AdditiveNoise Norms LipschitzMaps Compactness.
From covassay Require Import MatrixNorms Projections Squeeze Algorithm2.
From covassay Require Euclidean.
Import numFieldNormedType.Exports.

(* ---------------------------------------------------------------------------- *)
(* Matrices                                                                     *)

Section Ball.
Variables (R : realType) (m n : nat) (N : Norms.norm R m n).
Implicit Types (A B P Q C : 'M[R]_(m, n)) (r t : R).

Lemma frob_dot_row A B : frob_dot A B = Euclidean.dot (mxvec A)^T (mxvec B)^T.
Proof.
rewrite frob_dotE /Euclidean.dot exchange_big /= pair_bigA /=.
rewrite (reindex _ (curry_mxvec_bij m n)) /=; apply: eq_bigr => -[i j] _ /=.
by rewrite !mxE !mxvecE.
Qed.

Let row_triangle (x y : 'rV[R]_(m * n)) : N (vec_mx (x + y)) <= N (vec_mx x) + N (vec_mx y).
Proof. by rewrite linearD /= norm_triangle. Qed.

Let row_scale a (x : 'rV[R]_(m * n)) : N (vec_mx (a *: x)) = `|a| * N (vec_mx x).
Proof. by rewrite linearZ /= norm_scale. Qed.

Let row_definite (x : 'rV[R]_(m * n)) : N (vec_mx x) = 0 -> x = 0.
Proof. by move/norm_definite => x0; rewrite -[x]vec_mxK x0 linear0. Qed.

Lemma nearest A : exists2 P, N P <= 1 &
  forall B, N B <= 1 -> frob_dot (A - P) (A - P) <= frob_dot (A - B) (A - B).
Proof.
have [p Np min] := nearest_row (Norms.Norm row_triangle row_scale row_definite)
  (euclidean_row R (m * n)) (mxvec A).
exists (vec_mx p) => // B NB; rewrite !frob_dot_row -Euclidean.norm_le.
have := min (mxvec B); rewrite /= mxvecK => /(_ NB).
by rewrite !linearB /= vec_mxK.
Qed.

(* the nearest point satisfies the variational inequality *)
Lemma projection_exists A : exists P, projection (fun B => N B <= 1) A P.
Proof.
have [P NP min] := nearest A; exists P; split=> // C NC.
apply: (@le_of_small R _ 0 (frob_dot (C - P) (C - P) / 2%:R)) => t t0 t1; rewrite add0r.
have NB : N ((1 - t) *: P + t *: C) <= 1.
  apply: le_trans (norm_triangle _ _ _) _; rewrite !norm_scale.
  rewrite !ger0_norm ?(ltW t0) ?subr_ge0 ?(ltW t1) //.
  have s0 : 0 <= 1 - t by rewrite subr_ge0 ltW.
  apply: le_trans (ler_add (ler_wpmul2l s0 NP) (ler_wpmul2l (ltW t0) NC)) _.
  by rewrite !mulr1 subrK.
have := min _ NB.
have -> : A - ((1 - t) *: P + t *: C) = (A - P) + (- t) *: (C - P).
  by apply/matrixP => i j; rewrite !mxE; move: (A i j) (P i j) (C i j) => x y z; ring.
rewrite [X in _ <= X]frob_sqrD -addrA ler_addl !frob_dotL.
move: (frob_dot (A - P) (C - P)) (frob_dot (C - P) (C - P)) => a b.
rewrite -[X in 0 <= X]addr0 => le; rewrite -subr_ge0 -(pmulr_rge0 _ t0) -(pmulr_lge0 _ (ltr0n R 2)).
apply: le_trans le _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
by rewrite mulr2n; field.
Qed.

Definition unit_projection A := xget 0 [set P | projection (fun B => N B <= 1) A P].

Lemma unit_projectionP A : projection (fun B => N B <= 1) A (unit_projection A).
Proof.
have [P PP] := projection_exists A.
exact: (xgetPex 0 (ex_intro [set P | projection (fun B => N B <= 1) A P] P PP)).
Qed.

Lemma unit_projection_measurable : measurable_fun setT unit_projection.
Proof.
apply: (lipschitz_measurable ltr01) => A B; rewrite expr1n mul1r.
exact: projection_nonexpansive (unit_projectionP A) (unit_projectionP B).
Qed.

(* ---------------------------------------------------------------------------- *)
(* Every radius                                                                 *)

Definition positive_inverse r : R := if 0 < r then r^-1 else 0.

Lemma positive_inverse_measurable : measurable_fun setT positive_inverse.
Proof.
apply: (measurability (RGenOInfty.measurableE R)) => // _ [_ [a ->] <-]; rewrite setTI.
have [a0|a0] := ltP a 0.
  rewrite (_ : _ @^-1` _ = setT) //; apply/seteqP; split=> r //= _; rewrite in_itv /= andbT.
  by rewrite /positive_inverse; case: ifP => // r0; apply: lt_trans a0 _; rewrite invr_gt0.
rewrite (_ : _ @^-1` _ = `]0, +oo[%classic `&` (setT `&` (fun r => a * r) @^-1` `]-oo, 1[%classic)).
  apply: measurableI; first exact: measurable_itv.
  by apply: measurable_funrM => //; [exact: measurable_fun_id | exact: measurable_itv].
apply/seteqP; split=> r /=; rewrite !in_itv /= !andbT /positive_inverse.
  case: ifP => [r0|_ a1]; first by rewrite -ltr_pdivl_mulr // div1r.
  by move: (lt_le_trans a1 a0); rewrite ltxx.
by case=> r0 [_]; rewrite r0 -ltr_pdivl_mulr // div1r.
Qed.

Definition ball_projection (rA : R * 'M[R]_(m, n)) : 'M[R]_(m, n) :=
  rA.1 *: unit_projection (positive_inverse rA.1 *: rA.2).

(*@ BALL-PROJECTION *)
Theorem ball_projectionP r A : 0 <= r ->
  projection (fun B => N B <= r) A (ball_projection (r, A)).
Proof.
rewrite le_eqVlt /ball_projection /= => /predU1P[<-|r0].
  rewrite scale0r; split=> [|C C0]; first by rewrite norm0.
  have -> : C = 0 by apply: norm_definite; apply/eqP; rewrite eq_le norm_ge0 andbT; exact: C0.
  by rewrite !subr0 frob_dotE big1 // => j _; rewrite big1 // => i _; rewrite mxE mulr0.
rewrite /positive_inverse r0; have [NP var] := unit_projectionP (r^-1 *: A).
move: (unit_projection _) NP var => P NP var.
have rV : r != 0 by rewrite gt_eqF.
split=> [|C NC]; first by rewrite norm_scale gtr0_norm // ler_pimulr // ltW.
have NC1 : N (r^-1 *: C) <= 1.
  by rewrite norm_scale gtr0_norm ?invr_gt0 // mulrC ler_pdivr_mulr // mul1r.
have split B : B - r *: P = r *: (r^-1 *: B - P) by rewrite scalerBr scalerA mulfV // scale1r.
rewrite !split frob_dotZl frob_dotZr !pmulr_rle0 //.
exact: var.
Qed.

(*@ BALL-PROJECTION-MEASURABLE *)
Theorem ball_projection_measurable : measurable_fun setT ball_projection.
Proof.
have mr : measurable_fun setT (fun rA : R * 'M[R]_(m, n) => positive_inverse rA.1).
  apply: (measurable_fun_comp positive_inverse_measurable); exact: measurable_fun_fst.
have mA : measurable_fun setT (fun rA : R * 'M[R]_(m, n) => positive_inverse rA.1 *: rA.2).
  apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
  apply: measurable_funM => //.
  by apply: (measurable_fun_comp (measurable_entry i j)); exact: measurable_fun_snd.
apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
apply: measurable_funM; first exact: measurable_fun_fst.
apply: (measurable_fun_comp (measurable_entry i j)).
exact: (measurable_fun_comp unit_projection_measurable mA).
Qed.

End Ball.

(* ---------------------------------------------------------------------------- *)
(* Algorithm 2 with its third step                                              *)

Section Algorithm2.
Variables (R : realType) (n d : nat) (eps : R).
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < eps).

(* Publish the projection of A on the nuclear ball of radius r. *)
Definition nuclear_ball_projection : R * 'M[R]_d -> 'M[R]_d := ball_projection (nuclear R d).

(* Algorithm 2 with the projection on the nuclear ball as its third step. The premises are
   n >= 1 and eps > 0. *)
(*@ DN25.Alg2-COMPLETE *)
Theorem algorithm2_complete_dp :
  dp (@adjacent R n d) (eps / 2%:R) (algorithm2 n_gt0 nuclear_ball_projection eps_gt0).
Proof. by apply: algorithm2_dp_joint; exact: ball_projection_measurable. Qed.

Theorem algorithm2_complete_tight_dp :
  dp (@adjacent R n d) eps (algorithm2_tight n_gt0 nuclear_ball_projection eps_gt0).
Proof. by apply: algorithm2_tight_dp; exact: ball_projection_measurable. Qed.

End Algorithm2.
