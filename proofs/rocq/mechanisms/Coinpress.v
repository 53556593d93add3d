(* coinpress-mean: the noisy mean of clipped rows, in a ball that each step shrinks.

   The rows are any vectors, neighbours differ in one of them, all else is public.  The first
   centre is 0.  Each step brings every row into the ball of radius tau about the centre c,
   takes as the new c the mean of these rows plus Gaussian noise of standard deviation
   2 tau/(n sqrt (2 rho_j)), and as the new r the number gamma2 sqrt (1/n + sigma^2).  Here tau
   is r + gamma1, or ("code") the smaller of that and sqrt (r^2 + 6 r + gamma1^2).  Of t steps
   the last spends 3/4 rho, the others share rho/4; a single one spends rho.  The last centre is
   released.

   The theorem holds for any positive gamma1, gamma2 and first r, so also for those that the
   code computes from n, d and beta.

   Assumed: nothing.  Not said: floating point; how the noise is drawn. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Sphere.
From covassay Require Euclidean Sensitivity BallProjection.

(* A law that does not depend on the data costs nothing: here, all mass in one point. *)
Lemma dirac_zcdp (R : realType) e (Y : measurableType e) (y : Y) (X : Type) (nb : X -> X -> Prop) :
  zcdp nb (0 : R) (fun _ : X => [the {measure set Y -> \bar R} of dirac y]).
Proof.
move=> x x' _ alpha b g a1 bg.
have E c : exponential_mean [the {measure set Y -> \bar R} of dirac y] c g = (expR (c * g y))%:E.
  rewrite /exponential_mean integral_dirac //; first by rewrite indicE in_setT mul1e.
  exact: (bounded_measurable c bg).
rewrite !E mulr0 expR0 !lee_fin => le.
have le0 : alpha * g y <= 0 by rewrite -ler_expR expR0.
have a0 : 0 < alpha by apply: lt_trans a1.
by rewrite -[X in _ <= X]expR0 ler_expR pmulr_rle0 ?subr_gt0 //; move: le0; rewrite pmulr_rle0.
Qed.

Section Press.
Variables (R : realType) (d : nat) (tau : R).
Hypothesis tau_gt0 : 0 < tau.
Implicit Types v : 'M[R]_(d, 1).

(* v, shortened to length tau if it is longer. *)
Definition press v : 'M[R]_(d, 1) := (tau / Num.max tau (Euclidean.norm v)) *: v.

Lemma norm_press v : Euclidean.norm (press v) <= tau.
Proof.
have m0 : 0 < Num.max tau (Euclidean.norm v) by rewrite lt_maxr tau_gt0.
rewrite Euclidean.normZ ger0_norm ?divr_ge0 ?(ltW tau_gt0) ?(ltW m0) // mulrAC ler_pdivr_mulr // ler_pmul2l //.
by rewrite le_maxr lexx orbT.
Qed.

Lemma measurable_press : measurable_fun setT press.
Proof.
apply: measurable_rescaled.
have E v : tau / Num.max tau (Euclidean.norm v)
    = tau * BallProjection.positive_inverse (Num.max tau (length R d v)).
  by rewrite /BallProjection.positive_inverse ifT //= lt_maxr tau_gt0.
under eq_fun do rewrite E; apply: measurable_funrM.
rewrite (_ : (fun v => _) = @BallProjection.positive_inverse R \o
  (fun v => Num.max tau (length R d v))) //.
apply: measurable_fun_comp; first exact: BallProjection.positive_inverse_measurable.
apply: measurable_fun_max; first exact: measurable_fun_cst.
exact: norm_measurable.
Qed.

End Press.

Section CoinpressMean.
Variables (R : realType) (n d : nat) (gamma1 gamma2 : {posnum R}) (code : bool).
Hypothesis n_gt0 : (0 < n)%N.
Notation data := (Sensitivity.dataset R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation centre := [the measurableType _ of 'M[R]_(d, 1)].
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

Definition clip_radius (r : {posnum R}) : R :=
  let far := r%:num + gamma1%:num in
  if code then Num.min far (Num.sqrt (r%:num ^+ 2 + 6%:R * r%:num + gamma1%:num ^+ 2)) else far.

Lemma clip_radius_gt0 r : 0 < clip_radius r.
Proof.
rewrite /clip_radius; case: code; last by rewrite addr_gt0.
by rewrite lt_minr addr_gt0 //= sqrtr_gt0 !addr_gt0 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
Qed.

(* sigma = 2 tau/(n sqrt (2 rho)). *)
Definition step_scale (r b : {posnum R}) : R :=
  2%:R * clip_radius r / (n%:R * Num.sqrt (2%:R * b%:num)).

Lemma step_scale_gt0 r b : 0 < step_scale r b.
Proof.
rewrite divr_gt0 ?mulr_gt0 ?clip_radius_gt0 ?ltr0n // sqrtr_gt0 mulr_gt0 ?ltr0n //.
Qed.

Lemma next_radius_gt0 r b : 0 < gamma2%:num * Num.sqrt (n%:R^-1 + step_scale r b ^+ 2).
Proof. by rewrite mulr_gt0 // sqrtr_gt0 addr_gt0 ?invr_gt0 // exprn_gt0 // step_scale_gt0. Qed.

Definition next_radius r b : {posnum R} := PosNum (next_radius_gt0 r b).

(* The mean of the rows in the ball about c. *)
Definition pressed_mean (tau : R) (X : data) (c : 'M[R]_(d, 1)) : 'M[R]_(d, 1) :=
  c + n%:R^-1 *: \sum_i press tau (X i - c).

Lemma measurable_pressed_mean (tau : R) (tau_gt0 : 0 < tau) X :
  measurable_fun setT (pressed_mean tau X).
Proof.
apply: measurable_fun_matrix => k l; under eq_fun do rewrite mxE.
apply: measurable_funD; first exact: measurable_entry.
under eq_fun do rewrite mxE; apply: measurable_funrM.
under eq_fun do rewrite summxE; apply: measurable_sum => i.
rewrite (_ : (fun c => _) = (fun v : 'M[R]_(d, 1) => press tau v k l) \o (fun c => X i - c)) //.
apply: measurable_fun_comp.
  apply: (measurable_fun_comp (@measurable_entry R d 1 k l)); exact: measurable_press.
apply: measurable_fun_matrix => a b; under eq_fun do rewrite !mxE.
by apply: measurable_funB; [exact: measurable_fun_cst|exact: measurable_entry].
Qed.

Definition step (r b : {posnum R}) (X : data) : stage R centre centre :=
  noise_stage (gaussian_weight d 1 (step_scale_gt0 r b))
    (measurable_pressed_mean (clip_radius_gt0 r) X).

(* The law of the last centre, when that of the first is P. *)
Fixpoint steps (r : {posnum R}) (budgets : seq {posnum R}) (P : {measure set centre -> \bar R})
    (X : data) : {measure set centre -> \bar R} :=
  if budgets is b :: rest then steps (next_radius r b) rest (run P (step r b X)) X else P.

Lemma budget_key (t k a : R) : 0 < t -> 0 < k -> 0 < a ->
  a = (2%:R * t / k) ^+ 2 / (2%:R * (2%:R * t / (k * Num.sqrt (2%:R * a))) ^+ 2).
Proof.
move=> t0 k0 a0; have s2 : Num.sqrt (2%:R * a) ^+ 2 = 2%:R * a by rewrite sqr_sqrtr ?mulr_ge0 ?ler0n ?ltW.
rewrite expr_div_n [(2%:R * t / (_ * _)) ^+ 2]expr_div_n [(k * _) ^+ 2]exprMn s2; field.
by rewrite (gt_eqF t0) (gt_eqF k0) (gt_eqF a0).
Qed.

Lemma step_zcdp r b c : zcdp neighbours b%:num (fun X => step r b X c).
Proof.
pose Delta := 2%:R * clip_radius r / n%:R.
have t0 := clip_radius_gt0 r.
have -> : b%:num = Delta ^+ 2 / (2%:R * step_scale r b ^+ 2).
  by apply: budget_key.
move=> X Y [i XY]; apply: gaussian_concentrated.
have -> : pressed_mean (clip_radius r) X c - pressed_mean (clip_radius r) Y c
    = n%:R^-1 *: (press (clip_radius r) (X i - c) - press (clip_radius r) (Y i - c)).
  rewrite /pressed_mean opprD addrACA subrr add0r -scalerBr; congr (_ *: _).
  rewrite (bigD1 i) //= [X in _ - X](bigD1 i) //=.
  have -> : \sum_(j | j != i) press (clip_radius r) (X j - c)
      = \sum_(j | j != i) press (clip_radius r) (Y j - c) by apply: eq_bigr => j ji; rewrite XY.
  by rewrite opprD addrACA subrr addr0.
set v := press _ _ - _.
have -> : sum_squares (n%:R^-1 *: v) = (n%:R^-1 * Euclidean.norm v) ^+ 2.
  rewrite exprMn Euclidean.sqr_norm /sum_squares /Euclidean.dot mulr_sumr; apply: eq_bigr => k _.
  by rewrite big_ord1 mxE exprMn expr2.
rewrite ler_expn2r ?nnegrE ?mulr_ge0 ?invr_ge0 ?divr_ge0 ?Euclidean.norm_ge0 ?(ltW t0) ?ler0n //.
rewrite /Delta mulrC ler_pmul2r ?invr_gt0 //.
apply: le_trans (Euclidean.norm_triangle _ _) _; rewrite Euclidean.normN.
by rewrite mulr_natl mulr2n ler_add // norm_press.
Qed.

Lemma steps_total r budgets (P : {measure set centre -> \bar R}) X :
  P setT = 1%E -> steps r budgets P X setT = 1%E.
Proof. by elim: budgets r P => [|b budgets IH] r P P1 //=; apply: IH; exact: run_total. Qed.

Lemma steps_zcdp r budgets (rho0 : R) P : zcdp neighbours rho0 P ->
  zcdp neighbours (rho0 + \sum_(b <- budgets) b%:num) (fun X => steps r budgets (P X) X).
Proof.
elim: budgets r rho0 P => [|b budgets IH] r rho0 P HP; first by rewrite big_nil addr0.
rewrite big_cons addrA; apply: IH.
by apply: zcdp_run => // c; exact: step_zcdp.
Qed.

(* The budgets of t steps. *)
Variable rho : {posnum R}.

Lemma early_gt0 (s : nat) : 0 < rho%:num / (4%:R * s.+1%:R).
Proof. by rewrite divr_gt0 // mulr_gt0 ?ltr0n. Qed.

Lemma late_gt0 : 0 < 3%:R * rho%:num / 4%:R.
Proof. by rewrite divr_gt0 ?mulr_gt0 ?ltr0n. Qed.

Definition budgets (t : nat) : seq {posnum R} :=
  if t is s.+2 then rcons (nseq s.+1 (PosNum (early_gt0 s))) (PosNum late_gt0) else [:: rho].

Lemma shares (a : R) (s : nat) : (a / (4%:R * s.+1%:R)) *+ s.+1 + 3%:R * a / 4%:R = a.
Proof.
have N0 : s.+1%:R != 0 :> R by rewrite pnatr_eq0.
by rewrite -[X in X + _]mulr_natr; move: (s.+1%:R : R) N0 => N N0; field.
Qed.

Lemma budgets_sum t : \sum_(b <- budgets t) b%:num = rho%:num.
Proof.
case: t => [|[|s]]; rewrite /budgets ?big_seq1 // -cats1 big_cat big_seq1 big_nseq.
by rewrite iter_addr_0; exact: shares.
Qed.

Definition coinpress_mean (t : nat) (radius : {posnum R}) (X : data) :
    {measure set centre -> \bar R} :=
  steps radius (budgets t) [the {measure set centre -> \bar R} of dirac (0 : 'M[R]_(d, 1))] X.

Lemma coinpress_mean_total (t : nat) (radius : {posnum R}) X : coinpress_mean t radius X setT = 1%E.
Proof. by apply: steps_total; rewrite /= diracE in_setT. Qed.

(* The premise is n >= 1; rho, gamma1, gamma2 and the radius are positive by their types. *)
(*@ WHOLE.coinpress-mean *)
Theorem coinpress_mean_zcdp (t : nat) (radius : {posnum R}) :
  zcdp neighbours rho%:num (coinpress_mean t radius).
Proof.
have := @steps_zcdp radius (budgets t) 0
  (fun=> [the {measure set centre -> \bar R} of dirac (0 : 'M[R]_(d, 1))]).
by rewrite budgets_sum add0r; apply; exact: dirac_zcdp.
Qed.

End CoinpressMean.
