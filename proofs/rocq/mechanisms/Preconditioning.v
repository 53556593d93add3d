(* weak-ppc, ppc and pgce: preconditioning by the large eigenvectors of noisy covariances.

   The rows are any vectors, neighbours differ in one of them, all else is public.

   - An estimate, as in naive-pce: rows with |x|^2 > r^2 count as zero rows, symmetric Gaussian
     noise of variance 2 r^4/(n^2 rho) or ("tight") r^4/(n^2 rho) is added to the covariance, and
     negative eigenvalues become 0.
   - weak-ppc: the symmetric matrix with the eigenvectors of the estimate and the eigenvalues
     1/(2 sqrt c), for an eigenvalue of the estimate from kappa/2 on, and 1/sqrt c for the others;
     c = 0.84.
   - ppc: T = max (0, ceil (ln (kappa/1000)/ln (1/0.69))) rounds.  Round t multiplies A by the
     matrix of weak-ppc for the rows A x_i, with rho/T, beta/T and kappa_t = 0.69^(t-1) kappa.
   - pgce: ppc with rho/2 and beta/2; then the estimate S for the rows A x_i with rho/2, beta/2 and
     1000; A^-1 S A^-T is released.

   What is spent is rho divided by the factor of the variance: rho/2, or rho if tight.

   Assumed: nothing.  Not said: floating point; how the noise is drawn; that half of it is spent
   for d = 1. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms EigenvalueSensitivity.
From covassay Require Import SpectralMaps EigenvalueFunctions MatrixStages.
From covassay Require Coinpress Euclidean MatrixNorms Projections Sensitivity.

Section Preconditioning.
Variables (R : realType) (n d : nat) (tight : bool).
Hypothesis n_gt0 : (0 < n)%N.
Notation data := (Sensitivity.dataset R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.
Let factor_gt0 : 0 < variance_factor R tight.
Proof. exact: lt_le_trans ltr01 (variance_factor_ge1 R tight). Qed.

(* A and A^-1. *)
Definition transform : measurableType _ := [the measurableType _ of ('M[R]_d * 'M[R]_d)%type].
Notation transform_and_noisy := [the measurableType _ of (transform * 'M[R]_d)%type].

Definition identity_transform : transform := (1%:M, 1%:M).

(* ---------------------------------------------------------------------------- *)
(* The noisy covariance of the rows A x_i                                       *)

Section Estimate.
Variables (rho kappa beta : R).
Hypotheses (rho_gt0 : 0 < rho) (kappa_gt0 : 0 < kappa) (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).

Lemma measurable_short : measurable_fun setT (@short R n d kappa beta).
Proof.
have md : measurable_fun setT (fun x : 'M[R]_(d, 1) => Euclidean.dot x x).
  by apply: measurable_sum => i; apply: measurable_funM; exact: measurable_entry.
apply: measurable_fun_ifT; [|exact: measurable_fun_id|exact: measurable_fun_cst].
apply: (measurable_fun_bool true).
rewrite (_ : _ @^-1` _ = (fun x => Euclidean.dot x x) @^-1` `]-oo, squared_radius n d kappa beta]%classic).
  by rewrite -[X in measurable X]setTI; apply: md => //; exact: measurable_itv.
by apply/seteqP; split => x /=; rewrite in_itv.
Qed.

Definition image_covariance (X : data) (y : transform) : 'M[R]_d :=
  mapped_covariance (fun v => short n kappa beta (y.1 *m v)) X.

Lemma measurable_image_covariance X : measurable_fun [set: transform] (image_covariance X).
Proof.
apply: measurable_covariance => i.
rewrite (_ : (fun y => _) = @short R n d kappa beta \o (fun y : transform => y.1 *m X i)) //.
apply: measurable_fun_comp; first exact: measurable_short.
by apply: measurable_matrixM; [exact: measurable_fun_fst|exact: measurable_fun_cst].
Qed.

Section Stage.
Context e (Z : measurableType e) (h : transform * 'M[R]_d -> Z).
Hypothesis mh : measurable_fun [set: transform_and_noisy] h.

(* h of (A, A^-1) and the noisy covariance of the rows A x_i. *)
Definition estimate_stage (X : data) : stage R transform Z :=
  symmetric_stage mh (pce_scale_gt0 d n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 tight)
    (measurable_image_covariance X).

Lemma estimate_cost :
  (squared_radius n d kappa beta / n%:R) ^+ 2 / pce_scale n d rho kappa beta tight ^+ 2
  = rho / variance_factor R tight.
Proof.
have r0 := squared_radius_gt0 d n_gt0 kappa_gt0 beta_gt0 beta_lt1.
rewrite /pce_scale sqr_sqrtr; last first.
  by apply: divr_ge0; apply: mulr_ge0; rewrite ?sqr_ge0 ?(ltW factor_gt0) ?(ltW rho_gt0).
rewrite expr_div_n; field.
by rewrite (gt_eqF rho_gt0) (gt_eqF factor_gt0) (gt_eqF r0) (gt_eqF nR_gt0).
Qed.

Lemma estimate_stage_zcdp y :
  zcdp neighbours (rho / variance_factor R tight) (fun X => estimate_stage X y).
Proof.
rewrite -estimate_cost; apply: symmetric_stage_zcdp => [|X|X Y XY].
- by rewrite divr_ge0 ?ler0n // ltW // squared_radius_gt0.
- exact: covariance_sym.
apply: (short_rows_change (f := fun v => short n kappa beta (y.1 *m v)) n_gt0 _ XY) => v.
exact: short_le.
Qed.

End Stage.

End Estimate.

(* ---------------------------------------------------------------------------- *)
(* From the noisy covariance to a preconditioner                                *)

Definition floor_constant : R := 84%:R / 100%:R.
Definition progress : R := 69%:R / 100%:R.
Definition smallest_kappa : R := 10%:R ^+ 3.

Lemma smallest_kappa_gt0 : 0 < smallest_kappa.
Proof. by rewrite exprn_gt0 ?ltr0n. Qed.

(* Negative eigenvalues become 0. *)
Definition psd_part (W : 'M[R]_d) : 'M[R]_d := spectral_map (@positive_part R) W.

(* Eigenvalues 1/(2 sqrt c) and 1/sqrt c, and the inverse. *)
Definition shrink (kappa : R) (W : 'M[R]_d) : 'M[R]_d :=
  spectral_map (step_function (kappa / 2%:R) (1 / Num.sqrt floor_constant)
    (2%:R^-1 / Num.sqrt floor_constant)) (psd_part W).
Definition stretch (kappa : R) (W : 'M[R]_d) : 'M[R]_d :=
  spectral_map (step_function (kappa / 2%:R) (1 / Num.sqrt floor_constant)^-1
    (2%:R^-1 / Num.sqrt floor_constant)^-1) (psd_part W).

Lemma measurable_psd_part : measurable_fun setT psd_part.
Proof. exact: positive_part_map. Qed.

Lemma measurable_shrink kappa : measurable_fun setT (shrink kappa).
Proof. by apply: (measurable_spectral_map _ measurable_psd_part); exact: step_map. Qed.

Lemma measurable_stretch kappa : measurable_fun setT (stretch kappa).
Proof. by apply: (measurable_spectral_map _ measurable_psd_part); exact: step_map. Qed.

Let measurable_first : measurable_fun [set: transform_and_noisy] (@fst transform 'M[R]_d).
Proof. exact: measurable_fun_fst. Qed.

Let measurable_noisy : measurable_fun [set: transform_and_noisy] (@snd transform 'M[R]_d).
Proof. exact: measurable_fun_snd. Qed.

Let measurable_inverse :
  measurable_fun [set: transform_and_noisy] (fun yz : transform * 'M[R]_d => yz.1.2).
Proof. by apply: (measurable_fun_comp _ measurable_first); exact: measurable_fun_snd. Qed.

(* ---------------------------------------------------------------------------- *)
(* weak-ppc                                                                     *)

Section Weak.
Variables (rho kappa beta : R).
Hypotheses (rho_gt0 : 0 < rho) (kappa_gt0 : 0 < kappa) (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).

Definition weak_ppc (X : data) :=
  image_law (measurable_shrink kappa)
    (symmetric_noise 1
       (gaussian_weight 1 (entries d)
          (pce_scale_gt0 d n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 tight))
       (@short_covariance R n d kappa beta) X).

Lemma weak_ppc_total X : weak_ppc X setT = 1%E.
Proof. exact: release_total. Qed.

(* The premises are n >= 1, rho > 0, kappa > 0 and 0 < beta < 1. *)
(*@ WHOLE.weak-ppc *)
Theorem weak_ppc_zcdp :
  zcdp neighbours (rho / variance_factor R tight) (fun X => weak_ppc X).
Proof.
apply: zcdp_postprocessing; rewrite -(estimate_cost rho_gt0 kappa_gt0 beta_gt0 beta_lt1).
apply: (@symmetric_gaussian_zcdp _ _ _ _ _ Wigner) => [|X|X Y].
- by rewrite divr_ge0 ?ler0n // ltW // squared_radius_gt0.
- exact: covariance_sym.
by apply: (short_rows_change (f := @short R n d kappa beta) n_gt0) => v; exact: short_le.
Qed.

End Weak.

(* ---------------------------------------------------------------------------- *)
(* ppc                                                                          *)

Section Rounds.
Variables (rho kappa beta : R).
Hypotheses (rho_gt0 : 0 < rho) (kappa_gt0 : 0 < kappa) (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).

Definition rounds : nat :=
  absz (Num.max 0 (ceil (ln (kappa / smallest_kappa) / ln (1 / progress)))).

(* kappa_t, for t counted from 0. *)
Definition kappa_of_round (t : nat) : R := progress ^+ t * kappa.

Lemma kappa_of_round_gt0 t : 0 < kappa_of_round t.
Proof. by rewrite mulr_gt0 // exprn_gt0 // divr_gt0 ?ltr0n. Qed.

(* The share of one of s + 1 rounds. *)
Definition share (budget : R) (s : nat) : R := budget / s.+1%:R.

Lemma share_gt0 b s : 0 < b -> 0 < share b s.
Proof. by move=> b0; rewrite divr_gt0 ?ltr0n. Qed.

Lemma share_lt1 b s : b < 1 -> share b s < 1.
Proof.
by move=> b1; rewrite ltr_pdivr_mulr ?ltr0n // mul1r; apply: lt_le_trans b1 _; rewrite ler1n.
Qed.

Definition next_transform (t : nat) (yz : transform * 'M[R]_d) : transform :=
  (shrink (kappa_of_round t) yz.2 *m yz.1.1, yz.1.2 *m stretch (kappa_of_round t) yz.2).

Lemma measurable_next_transform t : measurable_fun [set: transform_and_noisy] (next_transform t).
Proof.
apply: measurable_pair; apply: measurable_matrixM.
- exact: (measurable_fun_comp (measurable_shrink (kappa_of_round t)) measurable_noisy).
- by apply: (measurable_fun_comp _ measurable_first); exact: measurable_fun_fst.
- exact: measurable_inverse.
- exact: (measurable_fun_comp (measurable_stretch (kappa_of_round t)) measurable_noisy).
Qed.

(* Round t of s + 1. *)
Definition ppc_round (s t : nat) (X : data) : stage R transform transform :=
  estimate_stage (share_gt0 s rho_gt0) (kappa_of_round_gt0 t) (share_gt0 s beta_gt0)
    (share_lt1 s beta_lt1) (measurable_next_transform t) X.

(* The law of A and A^-1 after all rounds. *)
Definition precondition (X : data) : {measure set transform -> \bar R} :=
  let start := [the {measure set transform -> \bar R} of dirac identity_transform] in
  if rounds is s.+1 then chain (ppc_round s) (iota 0 s.+1) start X else start.

Lemma precondition_total X : precondition X setT = 1%E.
Proof.
rewrite /precondition; case: rounds => [|s]; first by rewrite /= diracE in_setT.
by apply: chain_total; rewrite /= diracE in_setT.
Qed.

Lemma precondition_zcdp : zcdp neighbours (rho / variance_factor R tight) precondition.
Proof.
rewrite /precondition; case: rounds => [|s].
  move=> X Y XY; apply: (@concentrated_le _ _ _ 0); last exact: Coinpress.dirac_zcdp XY.
  by rewrite divr_ge0 ?(ltW rho_gt0) ?(ltW factor_gt0).
have := @chain_zcdp _ _ _ _ neighbours nat (fun=> share rho s / variance_factor R tight)
  (ppc_round s) _ (iota 0 s.+1) 0
  (fun=> [the {measure set transform -> \bar R} of dirac identity_transform]).
rewrite big_const_seq count_predT size_iota iter_addr_0 add0r.
have -> : (share rho s / variance_factor R tight) *+ s.+1 = rho / variance_factor R tight.
  rewrite -mulr_natr mulrAC /share divfK // pnatr_eq0 //.
apply; last exact: Coinpress.dirac_zcdp.
by move=> t y; exact: estimate_stage_zcdp.
Qed.

Lemma measurable_transform : measurable_fun [set: transform] (@fst 'M[R]_d 'M[R]_d).
Proof. exact: measurable_fun_fst. Qed.

Definition ppc (X : data) := image_law measurable_transform (precondition X).

Lemma ppc_total X : ppc X setT = 1%E.
Proof. exact: precondition_total. Qed.

(* The premises are n >= 1, rho > 0, kappa > 0 and 0 < beta < 1. *)
(*@ WHOLE.ppc *)
Theorem ppc_zcdp : zcdp neighbours (rho / variance_factor R tight) ppc.
Proof. by apply: zcdp_postprocessing; exact: precondition_zcdp. Qed.

End Rounds.

(* ---------------------------------------------------------------------------- *)
(* pgce                                                                         *)

Section Pgce.
Variables (rho kappa beta : R).
Hypotheses (rho_gt0 : 0 < rho) (kappa_gt0 : 0 < kappa) (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).

Definition half (budget : R) : R := budget / 2%:R.

Lemma half_gt0 b : 0 < b -> 0 < half b.
Proof. by move=> b0; rewrite divr_gt0 ?ltr0n. Qed.

Lemma half_lt1 b : b < 1 -> half b < 1.
Proof.
by move=> b1; rewrite ltr_pdivr_mulr ?ltr0n // mul1r; apply: lt_trans b1 _; rewrite ltr1n.
Qed.

Definition back_transform (yz : transform * 'M[R]_d) : 'M[R]_d :=
  yz.1.2 *m psd_part yz.2 *m yz.1.2^T.

Lemma measurable_back_transform : measurable_fun [set: transform_and_noisy] back_transform.
Proof.
apply: measurable_matrixM; last exact: (measurable_matrixT measurable_inverse).
apply: (measurable_matrixM measurable_inverse).
exact: (measurable_fun_comp measurable_psd_part measurable_noisy).
Qed.

Definition pgce (X : data) : {measure set matrix -> \bar R} :=
  run (precondition (half_gt0 rho_gt0) kappa_gt0 (half_gt0 beta_gt0) (half_lt1 beta_lt1) X)
    (estimate_stage (half_gt0 rho_gt0) smallest_kappa_gt0 (half_gt0 beta_gt0) (half_lt1 beta_lt1)
       measurable_back_transform X).

Lemma pgce_total X : pgce X setT = 1%E.
Proof. by apply: run_total; exact: precondition_total. Qed.

(* The premises are n >= 1, rho > 0, kappa > 0 and 0 < beta < 1. *)
(*@ WHOLE.pgce *)
Theorem pgce_zcdp : zcdp neighbours (rho / variance_factor R tight) pgce.
Proof.
have -> : rho / variance_factor R tight
    = half rho / variance_factor R tight + half rho / variance_factor R tight.
  by rewrite /half; field; rewrite gt_eqF.
apply: zcdp_run; first exact: precondition_zcdp.
by move=> y; exact: estimate_stage_zcdp.
Qed.

End Pgce.

End Preconditioning.
