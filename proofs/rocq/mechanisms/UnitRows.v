(* Rows of any length, brought into the unit ball, and what is done with them there.

   - unit_rows r X: every row is shortened to length r if it is longer, and divided by r.  Neighbours
     stay neighbours, and their rows then lie in the unit ball.
   - on_unit_rows r M: a mechanism M for rows of the unit ball is run on unit_rows r X.
   - any_rows r M: so it is, and its answer, a matrix, is multiplied by r^2.  Both cost what M costs.
   - ensemble_stage: after y, symmetric Gaussian noise of an ensemble is added to a query that depends
     on y, and h(y, noisy query) is published.

   Nothing is assumed. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms SpectralMaps MatrixStages.
From covassay Require Import Coinpress JohnsonLindenstrauss.
From covassay Require Euclidean MatrixNorms Sensitivity Algorithm2.

Section UnitRows.
Variables (R : realType) (n d : nat) (r : R).
Hypothesis r_gt0 : 0 < r.
Notation data := (Sensitivity.dataset R n d).

Definition unit_row (x : 'cV[R]_d) : 'cV[R]_d := r^-1 *: press r x.
Definition unit_rows (X : data) : data := fun i => unit_row (X i).

Lemma norm_unit_row x : Euclidean.norm (unit_row x) <= 1.
Proof.
rewrite Euclidean.normZ gtr0_norm ?invr_gt0 // mulrC ler_pdivr_mulr // mul1r.
exact: norm_press.
Qed.

Lemma unit_rows_adjacent X Y : Sensitivity.neighbours X Y ->
  Algorithm2.adjacent (unit_rows X) (unit_rows Y).
Proof.
move=> [i XY]; split=> [j|j|]; try exact: norm_unit_row.
by exists i => j ji; rewrite /unit_rows XY.
Qed.

Section OnUnitRows.
Context e (Y : measurableType e) (M : mechanism R data Y).

Let unit_law X : {measure set Y -> \bar R} := M (unit_rows X).

Let unit_total X : unit_law X setT = 1%E. Proof. exact: (release_total M). Qed.

Definition on_unit_rows : mechanism R data Y := Mechanism unit_total.

Lemma on_unit_rows_dp (eps : R) : dp (@Algorithm2.adjacent R n d) eps (fun X => M X) ->
  dp (@Sensitivity.neighbours R n d) eps (fun X => on_unit_rows X).
Proof. by move=> H X Y' XY; exact: (H _ _ (unit_rows_adjacent XY)). Qed.

Lemma on_unit_rows_zcdp (rho : R) : zcdp (@Algorithm2.adjacent R n d) rho (fun X => M X) ->
  zcdp (@Sensitivity.neighbours R n d) rho (fun X => on_unit_rows X).
Proof. by move=> H X Y' XY; exact: (H _ _ (unit_rows_adjacent XY)). Qed.

End OnUnitRows.

Context (m k : nat) (M : mechanism R data [the measurableType _ of 'M[R]_(m, k)]).

Let measurable_unit : measurable_fun setT (fun A : 'M[R]_(m, k) => r ^+ 2 *: A).
Proof. by apply: measurable_mxZ; exact: measurable_fun_id. Qed.

Definition any_rows : mechanism R data [the measurableType _ of 'M[R]_(m, k)] :=
  publish (on_unit_rows M) measurable_unit.

Lemma any_rows_dp (eps : R) : dp (@Algorithm2.adjacent R n d) eps (fun X => M X) ->
  dp (@Sensitivity.neighbours R n d) eps (fun X => any_rows X).
Proof. by move=> H; apply: publish_dp; exact: on_unit_rows_dp. Qed.

Lemma any_rows_zcdp (rho : R) : zcdp (@Algorithm2.adjacent R n d) rho (fun X => M X) ->
  zcdp (@Sensitivity.neighbours R n d) rho (fun X => any_rows X).
Proof. by move=> H; apply: zcdp_postprocessing; exact: on_unit_rows_zcdp. Qed.

End UnitRows.

(* ---------------------------------------------------------------------------- *)

Section EnsembleStage.
Context (R : realType) e1 e2 (Y : measurableType e1) (Z : measurableType e2) (d : nat).
Notation Ym := [the measurableType _ of (Y * 'M[R]_d)%type].
Variables (e : ensemble) (h : Y * 'M[R]_d -> Z) (mh : measurable_fun [set: Ym] h).
Variables (sigma : R) (sigma_gt0 : 0 < sigma).
Notation off := (off_diagonal R e).

Section Stage.
Variables (q : Y -> 'M[R]_d) (mq : measurable_fun setT q).

Lemma measurable_off_corner : measurable_fun setT (fun y => corner off (q y)).
Proof.
apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
by apply: measurable_funrM; exact: (measurable_fun_comp (@measurable_entry R d d _ _) mq).
Qed.

Lemma measurable_off_mirrored :
  measurable_fun [set: [the measurableType _ of (Y * 'rV[R]_(entries d))%type]]
    (fun yz => h (yz.1, mirror off yz.2)).
Proof.
apply: (measurable_fun_comp mh); apply: measurable_pair; first exact: measurable_fun_fst.
apply: (measurable_fun_comp (@measurable_mirror R d off)); exact: measurable_fun_snd.
Qed.

(* h(y, q(y) + sigma W), W of the ensemble. *)
Definition ensemble_stage : stage R Y Z :=
  stage_image measurable_off_mirrored
    (noise_stage (gaussian_weight 1 (entries d) sigma_gt0) measurable_off_corner).

(* What is drawn when the query is symmetric. *)
Lemma ensemble_stageE y S : (q y)^T = q y ->
  ensemble_stage y S
  = symmetric_noise off (gaussian_weight 1 (entries d) sigma_gt0) (fun=> q y) tt
      [set A | S (h (y, A))].
Proof.
move=> q_sym; rewrite /= /image_law /pushforward /=; congr (law _ _).
by apply/seteqP; split => z /=; rewrite mirrorD (cornerK (off_diagonal_neq0 R e)).
Qed.

End Stage.

Lemma ensemble_stage_zcdp (X : Type) (nb : X -> X -> Prop)
    (q : X -> Y -> 'M[R]_d) (mq : forall x, measurable_fun setT (q x)) (s : R) y : 0 <= s ->
  (forall x, (q x y)^T = q x y) ->
  (forall x x', nb x x' -> MatrixNorms.frob_dot (q x y - q x' y) (q x y - q x' y) <= 2%:R * s ^+ 2) ->
  zcdp nb (s ^+ 2 / sigma ^+ 2) (fun x => ensemble_stage (mq x) y).
Proof.
move=> s0 q_sym sens; apply: stage_image_zcdp.
have -> : s ^+ 2 / sigma ^+ 2 = (Num.sqrt 2%:R * s) ^+ 2 / (2%:R * sigma ^+ 2).
  by rewrite exprMn sqr_sqrtr ?ler0n //; field; rewrite gt_eqF.
move=> x x' xx'; apply: gaussian_concentrated; rewrite -cornerB exprMn sqr_sqrtr ?ler0n //.
apply: le_trans (sens _ _ xx'); apply: sum_squares_corner; last exact: off_diagonal_le.
by rewrite linearB /= !q_sym.
Qed.

End EnsembleStage.
