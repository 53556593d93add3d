(* coinpress-covariance: the noisy covariance of clipped rows, in coordinates that each step
   improves.

   The rows are any vectors, neighbours differ in one of them, all else is public.  At first
   A = I/sqrt u.  Each step shortens the rows A x_i to length gamma, adds to their covariance
   symmetric Gaussian noise of scale gamma^2/(n sqrt rho_j), and takes the eigenvectors V and
   the eigenvalues a of the sum.  With l = max (a, 0), Z = V l V^T.  Every step but the last
   puts V (l + h)^(-1/2) V^T A in the place of A, and A^-1 V (l + h)^(1/2) V^T in that of A^-1.
   The last releases A^-1 Z A^-T.  Of t steps the last spends 3/4 rho, the others share rho/4; a
   single one spends rho.

   gamma, h and the noise scale are those that the code computes, for both of its choices of
   constants.

   Assumed: nothing.  Not said: floating point; how the noise is drawn. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp SymmetricMechanisms.
From covassay Require Import Coinpress SpectralMaps EigenvalueFunctions MatrixStages.
From covassay Require Euclidean Sensitivity.

(* The budgets of the early steps, and that of the last. *)
Section Split.
Variables (R : realType) (rho : {posnum R}) (early : nat).

Lemma budgets_size : size (budgets rho early.+1) = early.+1.
Proof. by case: early => [|s] //; rewrite /= size_rcons size_nseq. Qed.

Definition early_budgets : seq {posnum R} := take early (budgets rho early.+1).
Definition last_budget : {posnum R} := nth rho (budgets rho early.+1) early.

Lemma split_sum : \sum_(b <- early_budgets) b%:num + last_budget%:num = rho%:num.
Proof.
rewrite -(budgets_sum rho early.+1) -[X in _ = \sum_(b <- X) _](take_size) budgets_size.
by rewrite (take_nth rho) ?budgets_size // -cats1 big_cat big_seq1.
Qed.

End Split.

Section CoinpressCovariance.
Variables (R : realType) (n d : nat) (rho u : {posnum R}) (beta : R) (code : bool) (early : nat).
Hypotheses (n_gt0 : (0 < n)%N) (d_gt0 : (0 < d)%N) (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).
Notation data := (Sensitivity.dataset R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].
(* A and A^-1. *)
Definition state : measurableType _ := [the measurableType _ of ('M[R]_d * 'M[R]_d)%type].
Notation state_and_noisy := [the measurableType _ of (state * 'M[R]_d)%type].
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.
Let dR_gt0 : 0 < d%:R :> R. Proof. by rewrite ltr0n. Qed.

(* The failure probability of a step: beta/t, where t is the number of steps. *)
Definition step_beta : R := beta / early.+1%:R.

Lemma step_beta_gt0 : 0 < step_beta.
Proof. by rewrite divr_gt0 ?ltr0n. Qed.

Lemma step_beta_lt1 : step_beta < 1.
Proof.
rewrite ltr_pdivr_mulr ?ltr0n // mul1r; apply: lt_le_trans beta_lt1 _.
by rewrite ler1n.
Qed.

(* gamma^2 = d + 2 sqrt (d L) + 2 L. *)
Definition row_log : R := if code then ln 10%:R else ln (n%:R / step_beta).
Definition squared_length : R := d%:R + 2%:R * Num.sqrt (d%:R * row_log) + 2%:R * row_log.

Lemma row_log_gt0 : 0 < row_log.
Proof.
rewrite /row_log; case: code; first by rewrite ln_gt0 // ltr1n.
rewrite ln_gt0 // ltr_pdivl_mulr ?step_beta_gt0 // mul1r; apply: lt_le_trans step_beta_lt1 _.
by rewrite ler1n.
Qed.

Lemma squared_length_gt0 : 0 < squared_length.
Proof.
rewrite /squared_length -addrA ltr_paddr ?addr_ge0 ?mulr_ge0 ?sqrtr_ge0 ?ler0n //.
exact: ltW row_log_gt0.
Qed.

Definition row_length : R := Num.sqrt squared_length.

Lemma row_length_gt0 : 0 < row_length.
Proof. by rewrite sqrtr_gt0 squared_length_gt0. Qed.

(* gamma^2/(n sqrt rho_j). *)
Definition covariance_scale (b : {posnum R}) : R := squared_length / (n%:R * Num.sqrt b%:num).

Lemma covariance_scale_gt0 b : 0 < covariance_scale b.
Proof. by rewrite divr_gt0 ?squared_length_gt0 // mulr_gt0 ?sqrtr_gt0. Qed.

(* h: eta + sigma upsilon, or ("code") sqrt (d/n) + d/(2n). *)
Definition sampling_error : R :=
  Num.sqrt (d%:R / n%:R) + Num.sqrt (2%:R * ln (2%:R / step_beta) / n%:R).
Definition sampling_bound : R := 2%:R * sampling_error + sampling_error ^+ 2.
Definition spectral_noise_bound : R :=
  2%:R * Num.sqrt d%:R + Num.sqrt ((4%:R - 2%:R / d%:R) * ln (2%:R / step_beta)).
Definition offset (b : {posnum R}) : R :=
  if code then Num.sqrt (d%:R / n%:R) + d%:R / (2%:R * n%:R)
  else sampling_bound + covariance_scale b * spectral_noise_bound.

Lemma offset_gt0 b : 0 < offset b.
Proof.
have r0 : 0 < Num.sqrt (d%:R / n%:R) :> R by rewrite sqrtr_gt0 divr_gt0.
rewrite /offset; case: code; first by rewrite ltr_paddr ?divr_ge0 ?mulr_ge0 ?ler0n.
have e0 : 0 < sampling_error by rewrite ltr_paddr ?sqrtr_ge0.
rewrite ltr_paddr ?ltr_paddr ?sqr_ge0 ?mulr_gt0 ?ltr0n // mulr_ge0 ?(ltW (covariance_scale_gt0 b)) //.
by rewrite addr_ge0 ?mulr_ge0 ?sqrtr_ge0 ?ler0n.
Qed.

(* The covariance of the rows A x_i, shortened to length gamma. *)
Definition pressed_covariance (X : data) (y : state) : 'M[R]_d :=
  mapped_covariance (fun v => press row_length (y.1 *m v)) X.

Lemma measurable_pressed_covariance X : measurable_fun [set: state] (pressed_covariance X).
Proof.
apply: measurable_covariance => i.
rewrite (_ : (fun y => _) = press row_length \o (fun y : state => y.1 *m X i)) //.
apply: measurable_fun_comp; first exact: (measurable_press row_length_gt0).
by apply: measurable_matrixM; [exact: measurable_fun_fst|exact: measurable_fun_cst].
Qed.

(* What a step makes of A, A^-1 and the noisy covariance. *)
Definition next_state (b : {posnum R}) (yz : state * 'M[R]_d) : state :=
  (spectral_map (inverse_root (offset b)) yz.2 *m yz.1.1,
   yz.1.2 *m spectral_map (shifted_root (offset b)) yz.2).

Definition estimate (yz : state * 'M[R]_d) : 'M[R]_d :=
  yz.1.2 *m spectral_map (@positive_part R) yz.2 *m yz.1.2^T.

Lemma measurable_next_state b : measurable_fun [set: state_and_noisy] (next_state b).
Proof.
have m1 : measurable_fun [set: state_and_noisy] (@fst state 'M[R]_d).
  exact: measurable_fun_fst.
have m2 : measurable_fun [set: state_and_noisy] (@snd state 'M[R]_d).
  exact: measurable_fun_snd.
apply: measurable_pair; apply: measurable_matrixM.
- exact: (measurable_spectral_map (inverse_root_map (offset_gt0 b)) m2).
- by apply: (measurable_fun_comp _ m1); exact: measurable_fun_fst.
- by apply: (measurable_fun_comp _ m1); exact: measurable_fun_snd.
- exact: (measurable_spectral_map (shifted_root_map (offset_gt0 b)) m2).
Qed.

Lemma measurable_estimate : measurable_fun [set: state_and_noisy] estimate.
Proof.
have m1 : measurable_fun [set: state_and_noisy] (@fst state 'M[R]_d).
  exact: measurable_fun_fst.
have m2 : measurable_fun [set: state_and_noisy] (@snd state 'M[R]_d).
  exact: measurable_fun_snd.
have m12 : measurable_fun [set: state_and_noisy]
    (fun yz : state * 'M[R]_d => yz.1.2).
  by apply: (measurable_fun_comp _ m1); exact: measurable_fun_snd.
apply: measurable_matrixM; last exact: (measurable_matrixT m12).
apply: (measurable_matrixM m12).
exact: (measurable_spectral_map (@positive_part_map R d) m2).
Qed.

Definition covariance_step (b : {posnum R}) (X : data) : stage R state state :=
  symmetric_stage (measurable_next_state b) (covariance_scale_gt0 b) (measurable_pressed_covariance X).

Definition last_step (X : data) : stage R state matrix :=
  symmetric_stage measurable_estimate (covariance_scale_gt0 (last_budget rho early))
    (measurable_pressed_covariance X).

Definition first_state : state :=
  ((Num.sqrt u%:num)^-1 *: 1%:M, Num.sqrt u%:num *: 1%:M).

Definition coinpress_covariance (X : data) : {measure set matrix -> \bar R} :=
  run (chain covariance_step (early_budgets rho early)
         [the {measure set state -> \bar R} of dirac first_state] X) (last_step X).

Lemma coinpress_covariance_total X : coinpress_covariance X setT = 1%E.
Proof. by apply: run_total; apply: chain_total; rewrite /= diracE in_setT. Qed.

Lemma pressed_covariance_change X Y y : neighbours X Y ->
  MatrixNorms.frob_dot (pressed_covariance X y - pressed_covariance Y y)
    (pressed_covariance X y - pressed_covariance Y y) <= 2%:R * (squared_length / n%:R) ^+ 2.
Proof.
apply: (short_rows_change (f := fun v => press row_length (y.1 *m v)) n_gt0) => v.
rewrite -Euclidean.sqr_norm -[X in _ <= X]sqr_sqrtr ?(ltW squared_length_gt0) //.
by rewrite ler_expn2r ?nnegrE ?Euclidean.norm_ge0 ?sqrtr_ge0 ?(norm_press row_length_gt0).
Qed.

Lemma covariance_cost b : (squared_length / n%:R) ^+ 2 / covariance_scale b ^+ 2 = b%:num.
Proof.
have s0 := squared_length_gt0; rewrite -expr_div_n.
have -> : squared_length / n%:R / covariance_scale b = Num.sqrt b%:num.
  rewrite /covariance_scale; field.
  by rewrite (gt_eqF s0) (gt_eqF nR_gt0) gt_eqF // sqrtr_gt0.
by rewrite sqr_sqrtr.
Qed.

(* The premises are n >= 1, d >= 1 and 0 < beta < 1; rho and u are positive by their types. *)
(*@ WHOLE.coinpress-covariance *)
Theorem coinpress_covariance_zcdp : zcdp neighbours rho%:num coinpress_covariance.
Proof.
have s0 : 0 <= squared_length / n%:R by rewrite divr_ge0 ?ler0n ?(ltW squared_length_gt0).
rewrite -(split_sum rho early) -[X in X + _]add0r; apply: zcdp_run.
  apply: (chain_zcdp (cost := fun b : {posnum R} => b%:num)); last exact: dirac_zcdp.
  move=> b y; rewrite -[X in zcdp _ X](covariance_cost b).
  apply: symmetric_stage_zcdp => // [X|X Y]; [exact: covariance_sym|exact: pressed_covariance_change].
move=> y; rewrite -[X in zcdp _ X](covariance_cost (last_budget rho early)).
apply: symmetric_stage_zcdp => // [X|X Y]; [exact: covariance_sym|exact: pressed_covariance_change].
Qed.

End CoinpressCovariance.
