(* Whole mechanisms with Gaussian noise, under zCDP.

   n, d and all other parameters but the rows are public, neighbours differ in one row, and
   every scale is the one that the code computes.

   - gaussian: the diagonal of the covariance, noise of standard deviation
     Delta/sqrt (2 rho), Delta = sqrt 2/n, in dimension one 1/n.
   - gauss-cov: the covariance, symmetric noise of scale 1/(n sqrt rho); "wigner" has
     variance one on and above the diagonal, "goe" one on it and 1/2 above it.
   - projection-mechanism: gauss-cov, then the nearest positive semidefinite matrix of trace
     at most one.
   - naive-pce: rows with |x|^2 > r^2 count as zero rows, noise of variance
     2 r^4/(n^2 rho) or ("tight") r^4/(n^2 rho), then the nearest positive semidefinite matrix.

   In the first three the rows lie in the unit ball; naive-pce takes any rows.  AnyRows.v and
   Unconditional.v have rows of any length.  The theorems hold for every map to nearest points
   (`projection` of Projections.v), which is measurable, as is proved here; Unconditional.v has one.

   Assumed: nothing.  Not said: floating point; how the noise is drawn. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity Algorithm2 Projections.
From covassay Require BallProjection.

(* ---------------------------------------------------------------------------- *)
(* Symmetric Gaussian noise                                                     *)

Lemma symmetric_noise_zcdp (R : realType) d (X : Type) (nb : X -> X -> Prop) (rho off : R)
    (w : weight [the measure _ _ of @leb_matrix R 1 (entries d)]) (q : X -> 'M[R]_d) :
  off != 0 -> (forall x, (q x)^T = q x) ->
  zcdp nb rho (fun x => with_noise (matrices R 1 (entries d)) w (fun x => corner off (q x)) x) ->
  zcdp nb rho (fun x => symmetric_noise off w q x).
Proof.
move=> off0 q_sym H x x' xx'.
pose image x0 := image_law (measurable_mirror off)
  (with_noise (matrices R 1 (entries d)) w (fun x => corner off (q x)) x0).
have E x0 S : measurable S -> image x0 S = symmetric_noise off w q x0 S.
  by move=> _; rewrite (symmetric_noiseE w off0 q_sym).
apply: (concentrated_eq (E x) (E x')).
by apply: concentrated_image; exact: H.
Qed.

Section SumSquares.
Variables (R : realType) (d : nat).
Implicit Types A : 'M[R]_d.

Lemma sum_squares_scale m n (a : R) (A : 'M[R]_(m, n)) : sum_squares (a *: A) = a ^+ 2 * sum_squares A.
Proof.
rewrite /sum_squares mulr_sumr; apply: eq_bigr => i _; rewrite mulr_sumr.
by apply: eq_bigr => j _; rewrite mxE exprMn.
Qed.

(* The entries on and above the diagonal, those off it multiplied by at most sqrt 2. *)
Lemma sum_squares_corner (off : R) A : A^T = A -> off^-1 ^+ 2 <= 2%:R ->
  sum_squares (corner off A) <= MatrixNorms.frob_dot A A.
Proof.
move=> sA off2; have sym i j : A j i = A i j by rewrite -{1}sA mxE.
have -> : sum_squares (corner off A)
    = \sum_(i < d) \sum_(j < d | (i <= j)%N) ((factor off i j)^-1 * A i j) ^+ 2.
  rewrite /sum_squares big_ord1 -(sum_entries (fun i j => ((factor off i j)^-1 * A i j) ^+ 2)).
  by apply: eq_bigr => l _; rewrite mxE.
pose up := \sum_(i < d) \sum_(j < d | (i < j)%N) A i j ^+ 2.
have up' : \sum_(i < d) \sum_(j < d | (j < i)%N) A i j ^+ 2 = up.
  rewrite (exchange_big_dep xpredT) //=.
  by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite sym.
have -> : MatrixNorms.frob_dot A A = \sum_i A i i ^+ 2 + up + up.
  rewrite MatrixNorms.frob_dotE exchange_big /= -{2}up' /up -!big_split /=.
  apply: eq_bigr => i _; rewrite (bigD1 i) //= -expr2 -addrA; congr (_ + _).
  rewrite (bigID (fun j : 'I_d => (i < j)%N)) /=; congr (_ + _).
    apply: eq_big => [j|j _]; last by rewrite expr2.
    by apply: andb_idl => ij; rewrite -val_eqE /= neq_ltn ij orbT.
  apply: eq_big => [j|j _]; last by rewrite expr2.
  by rewrite -leqNgt [RHS]ltn_neqAle -val_eqE.
rewrite -addrA -mulr2n -mulr_natl /up mulr_sumr -big_split ler_sum // => i _ /=.
rewrite (bigD1 i) //= {1}/factor eqxx invr1 mul1r ler_add2l mulr_sumr.
rewrite (eq_bigl (fun j : 'I_d => (i < j)%N)) => [|j]; last first.
  by rewrite [RHS]ltn_neqAle andbC -val_eqE eq_sym.
apply: ler_sum => j ij; rewrite exprMn ler_wpmul2r ?sqr_ge0 // /factor.
by case: eqP ij => // ->; rewrite ltnn.
Qed.

End SumSquares.

(* A map to nearest points is measurable, because it does not increase distances. *)
Section Nearest.
Variables (R : realType) (m n : nat) (K : 'M[R]_(m, n) -> Prop) (p : 'M[R]_(m, n) -> 'M[R]_(m, n)).
Hypothesis p_nearest : forall A, Projections.projection K A (p A).

Lemma nearest_measurable : measurable_fun setT p.
Proof.
apply: (LipschitzMaps.lipschitz_measurable ltr01) => A B; rewrite expr1n mul1r.
exact: Projections.projection_nonexpansive (p_nearest A) (p_nearest B).
Qed.

End Nearest.

Section Mechanisms.
Variables (R : realType) (n d : nat) (rho : R).
Hypotheses (n_gt0 : (0 < n)%N) (rho_gt0 : 0 < rho).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation covariance := (@Sensitivity.covariance R n d).
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

(* Delta/sqrt (2 rho). *)
Definition gaussian_scale (Delta : R) : R := Delta / Num.sqrt (2%:R * rho).

Lemma gaussian_scale_gt0 Delta : 0 < Delta -> 0 < gaussian_scale Delta.
Proof. by move=> D0; rewrite divr_gt0 // sqrtr_gt0 mulr_gt0 ?ltr0n. Qed.

Lemma gaussian_scaleE Delta : 0 < Delta ->
  Delta ^+ 2 / (2%:R * gaussian_scale Delta ^+ 2) = rho.
Proof.
move=> D0; have r0 : 0 < 2%:R * rho by rewrite mulr_gt0 ?ltr0n.
rewrite /gaussian_scale expr_div_n sqr_sqrtr ?ltW //; field.
by rewrite (gt_eqF D0) (gt_eqF rho_gt0).
Qed.

(* gaussian *)
Definition moments_change : R := Num.sqrt (if (1 < d)%N then 2%:R else 1) / n%:R.

Lemma moments_change_gt0 : 0 < moments_change.
Proof. by rewrite divr_gt0 // sqrtr_gt0; case: ifP; rewrite ?ltr0n ?ltr01. Qed.

Definition gaussian :=
  with_noise (matrices R 1 d) (gaussian_weight 1 d (gaussian_scale_gt0 moments_change_gt0))
    (@second_moments R n d).

(* How far neighbours move the second moments of the features. *)
Lemma second_moments_move X Y : adjacent X Y ->
  sum_squares (second_moments X - second_moments Y) <= moments_change ^+ 2.
Proof.
move=> [bX bY [i XY]].
have -> : second_moments X - second_moments Y
    = n%:R^-1 *: \row_j RankTwo.gap (X i) (Y i) j j.
  have /matrixP e := Sensitivity.covariance_gap XY.
  rewrite /second_moments; move: (covariance X) (covariance Y) (RankTwo.gap _ _) e => A B G e.
  by apply/rowP => j; have := e j j; rewrite !mxE.
rewrite sum_squares_scale /moments_change expr_div_n mulrC exprVn ler_pmul2r ?invr_gt0 ?exprn_gt0 //.
rewrite sqr_sqrtr; last by case: ifP.
rewrite /sum_squares big_ord1; apply: le_trans (l1_diagonal_le (bX i) (bY i)).
apply: ler_sum => j _; rewrite mxE.
have le1 : `|RankTwo.gap (X i) (Y i) j j| <= 1.
  by apply: MatrixNorms.contraction_entry; exact: Sensitivity.op_le_gap1.
rewrite -real_normK ?num_real // -[X in _ <= X]mulr1 expr2.
by apply: ler_pmul.
Qed.

(* The premises are n >= 1 and rho > 0. *)
Theorem gaussian_zcdp : zcdp adjacent rho (fun X => gaussian X).
Proof.
rewrite -{1}(gaussian_scaleE moments_change_gt0); apply: gaussian_noise_zcdp.
exact: second_moments_move.
Qed.

(* gauss-cov *)
Inductive ensemble := Wigner | Goe.
Definition ensemble_inhabited : ensemble := Wigner.

(* By how much a standard normal entry off the diagonal is multiplied. *)
Definition off_diagonal (e : ensemble) : R := if e is Wigner then 1 else (Num.sqrt 2%:R)^-1.

Lemma off_diagonal_neq0 e : off_diagonal e != 0.
Proof. by case: e; rewrite /= ?oner_neq0 // invr_eq0 gt_eqF // sqrtr_gt0 ltr0n. Qed.

Lemma off_diagonal_le e : (off_diagonal e)^-1 ^+ 2 <= 2%:R.
Proof. by case: e; rewrite /= ?invrK ?sqr_sqrtr ?ler0n // invr1 expr1n ler1n. Qed.

(* 1/(n sqrt rho). *)
Definition matrix_scale : R := (n%:R * Num.sqrt rho)^-1.

Lemma matrix_scale_gt0 : 0 < matrix_scale.
Proof. by rewrite invr_gt0 mulr_gt0 ?sqrtr_gt0. Qed.

Definition gauss_cov (e : ensemble) :=
  symmetric_noise (off_diagonal e) (gaussian_weight 1 (entries d) matrix_scale_gt0) covariance.

(* A query that moves by at most s sqrt 2 in Frobenius norm, noise of scale sigma. *)
Lemma symmetric_gaussian_zcdp (X : Type) (nb : X -> X -> Prop) (q : X -> 'M[R]_d) e
    (sigma : R) (sigma_gt0 : 0 < sigma) (s : R) : 0 <= s -> (forall x, (q x)^T = q x) ->
  (forall x y, nb x y -> MatrixNorms.frob_dot (q x - q y) (q x - q y) <= 2%:R * s ^+ 2) ->
  zcdp nb (s ^+ 2 / sigma ^+ 2)
    (fun x => symmetric_noise (off_diagonal e) (gaussian_weight 1 (entries d) sigma_gt0) q x).
Proof.
move=> s0 q_sym sens; apply: symmetric_noise_zcdp => //; first exact: off_diagonal_neq0.
have -> : s ^+ 2 / sigma ^+ 2 = (Num.sqrt 2%:R * s) ^+ 2 / (2%:R * sigma ^+ 2).
  by rewrite exprMn sqr_sqrtr ?ler0n //; field; rewrite gt_eqF.
apply: gaussian_noise_zcdp => x y xy; rewrite -cornerB exprMn sqr_sqrtr ?ler0n //.
apply: le_trans (sens _ _ xy); apply: sum_squares_corner; last exact: off_diagonal_le.
by rewrite linearB /= !q_sym.
Qed.

(* How far neighbours move the covariance. *)
Lemma covariance_move X Y : adjacent X Y ->
  MatrixNorms.frob_dot (covariance X - covariance Y) (covariance X - covariance Y) <= 2%:R * n%:R^-1 ^+ 2.
Proof.
move=> [bX bY [i XY]]; rewrite (Sensitivity.covariance_gap XY).
rewrite MatrixNorms.frob_dotZl MatrixNorms.frob_dotZr mulrA -expr2 mulrC.
rewrite ler_pmul2r ?exprn_gt0 ?invr_gt0 // -MatrixNorms.sqr_frob_norm.
rewrite -[X in _ <= X]sqr_sqrtr ?ler0n // ler_expn2r ?nnegrE ?sqrtr_ge0 ?MatrixNorms.frob_norm_ge0 //.
exact: Sensitivity.frob_gap_le.
Qed.

(* The premises are n >= 1 and rho > 0; the ensemble is either of the two. *)
Theorem gauss_cov_zcdp (e : ensemble) : zcdp adjacent rho (fun X => gauss_cov e X).
Proof.
have -> : rho = n%:R^-1 ^+ 2 / matrix_scale ^+ 2.
  rewrite /matrix_scale !exprVn invrK exprMn sqr_sqrtr ?ltW //; field.
  by rewrite gt_eqF.
apply: symmetric_gaussian_zcdp; first by rewrite invr_ge0 ltW.
  exact: covariance_sym.
exact: covariance_move.
Qed.

(* projection-mechanism *)
Definition psd_trace_ball (A : 'M[R]_d) : Prop := Euclidean.psd A /\ \tr A <= 1.

Section Projection.
Variable p : 'M[R]_d -> 'M[R]_d.
Hypothesis p_nearest : forall A, Projections.projection psd_trace_ball A (p A).

Definition projection_mechanism (e : ensemble) (X : data) :=
  image_law (nearest_measurable p_nearest) (gauss_cov e X).

(* The premises are n >= 1, rho > 0 and a map p to nearest points of the positive
   semidefinite matrices of trace at most 1. *)
Theorem projection_mechanism_zcdp (e : ensemble) :
  zcdp adjacent rho (fun X => projection_mechanism e X).
Proof. by apply: zcdp_postprocessing; exact: gauss_cov_zcdp. Qed.

End Projection.

End Mechanisms.

(* ---------------------------------------------------------------------------- *)
(* naive-pce: any rows; a row that is too long counts as a zero row              *)

Section NaivePce.
Variables (R : realType) (n d : nat) (rho kappa beta : R).
Hypotheses (n_gt0 : (0 < n)%N) (rho_gt0 : 0 < rho) (kappa_gt0 : 0 < kappa).
Hypotheses (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).
Notation data := (Sensitivity.dataset R n d).
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

(* r^2 = kappa (d + 2 sqrt (d L) + 2 L), L = ln (n/beta). *)
Definition log_term : R := ln (n%:R / beta).
Definition squared_radius : R :=
  kappa * (d%:R + 2%:R * Num.sqrt (d%:R * log_term) + 2%:R * log_term).

Lemma squared_radius_gt0 : 0 < squared_radius.
Proof.
have L0 : 0 < log_term.
  rewrite ln_gt0 // ltr_pdivl_mulr // mul1r; apply: lt_le_trans beta_lt1 _.
  by rewrite ler1n.
rewrite mulr_gt0 // ltr_paddl ?addr_ge0 ?ler0n ?mulr_ge0 ?sqrtr_ge0 ?ler0n //.
by rewrite mulr_gt0 ?ltr0n.
Qed.

Definition short (x : 'cV[R]_d) : 'cV[R]_d :=
  if Euclidean.dot x x <= squared_radius then x else 0.

Definition short_covariance (X : data) : 'M[R]_d :=
  @Sensitivity.covariance R n d (fun i => short (X i)).

(* sigma^2 = c r^4/(n^2 rho), c = 1 ("tight") or 2. *)
Definition variance_factor (tight : bool) : R := if tight then 1 else 2%:R.
Definition pce_scale (tight : bool) : R :=
  Num.sqrt (variance_factor tight * squared_radius ^+ 2 / (n%:R ^+ 2 * rho)).

Lemma variance_factor_ge1 tight : 1 <= variance_factor tight.
Proof. by case: tight; rewrite /= ?ler1n. Qed.

Let factor_gt0 tight : 0 < variance_factor tight.
Proof. exact: lt_le_trans ltr01 (variance_factor_ge1 tight). Qed.

Let variance_gt0 tight : 0 < variance_factor tight * squared_radius ^+ 2 / (n%:R ^+ 2 * rho).
Proof.
apply: divr_gt0; apply: mulr_gt0 => //; first by rewrite exprn_gt0 // squared_radius_gt0.
by rewrite exprn_gt0.
Qed.

Lemma pce_scale_gt0 tight : 0 < pce_scale tight.
Proof. by rewrite sqrtr_gt0. Qed.

Variable p : 'M[R]_d -> 'M[R]_d.
Hypothesis p_nearest : forall A, Projections.projection (@Euclidean.psd R d) A (p A).

Definition naive_pce (tight : bool) (X : data) :=
  image_law (nearest_measurable p_nearest)
    (symmetric_noise 1 (gaussian_weight 1 (entries d) (pce_scale_gt0 tight)) short_covariance X).

Lemma short_le x : Euclidean.dot (short x) (short x) <= squared_radius.
Proof. by rewrite /short; case: ifP => // _; rewrite Euclidean.dot0l ltW // squared_radius_gt0. Qed.

(* The premises are n >= 1, rho > 0, kappa > 0, 0 < beta < 1 and a map p to nearest
   positive semidefinite matrices. *)
Theorem naive_pce_zcdp (tight : bool) :
  zcdp (@Sensitivity.neighbours R n d) rho (fun X => naive_pce tight X).
Proof.
apply: zcdp_postprocessing.
have r0 := ltW squared_radius_gt0.
pose s := squared_radius / n%:R; have s0 : 0 <= s by rewrite divr_ge0 // ltW.
have budget : s ^+ 2 / pce_scale tight ^+ 2 <= rho.
  rewrite /pce_scale sqr_sqrtr; last exact: ltW (variance_gt0 tight).
  rewrite /s expr_div_n.
  have -> : squared_radius ^+ 2 / n%:R ^+ 2 / (variance_factor tight * squared_radius ^+ 2 / (n%:R ^+ 2 * rho))
      = rho / variance_factor tight.
    field; rewrite (gt_eqF rho_gt0) (gt_eqF (factor_gt0 tight)) (gt_eqF squared_radius_gt0).
    by rewrite (gt_eqF nR_gt0).
  by rewrite ler_pdivr_mulr // ler_pmulr // variance_factor_ge1.
move=> X Y XY; apply: (concentrated_le budget); move: X Y XY.
apply: (@symmetric_gaussian_zcdp _ _ _ _ _ Wigner) => // [X|X Y [i XY]].
  exact: covariance_sym.
have gapE : short_covariance X - short_covariance Y
    = n%:R^-1 *: RankTwo.gap (short (X i)) (short (Y i)).
  by apply: Sensitivity.covariance_gap => j ji; rewrite XY.
rewrite gapE MatrixNorms.frob_dotZl MatrixNorms.frob_dotZr mulrA -expr2.
have -> : 2%:R * s ^+ 2 = n%:R^-1 ^+ 2 * (2%:R * squared_radius ^+ 2).
  by rewrite /s expr_div_n exprVn; move: (n%:R ^- 2) (squared_radius ^+ 2) => a b; ring.
rewrite ler_pmul2l ?exprn_gt0 ?invr_gt0 // RankTwo.frob_gap; have := short_le (X i); have := short_le (Y i).
have := Euclidean.dot_ge0 (short (X i)); have := Euclidean.dot_ge0 (short (Y i)).
set a := Euclidean.dot (short (X i)) _; set b := Euclidean.dot (short (Y i)) (short (Y i)).
move=> b0 a0 br ar; apply: (@le_trans _ _ (a ^+ 2 + b ^+ 2)).
  by rewrite ger_addl oppr_le0 mulr_ge0 ?sqr_ge0 ?ler0n.
by rewrite mulr_natl mulr2n ler_add // ler_expn2r ?nnegrE.
Qed.

End NaivePce.
