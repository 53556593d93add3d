(* Whole mechanisms with symmetric noise on the covariance, for every measurable event.

   The rows lie in the unit ball, neighbours differ in one row, n and d are public, and
   every scale is the one that the code computes.

   - nuclear-laplace-symmetric: density exp(-nuclear norm of Z), scale 2/(n eps).
   - centred-covariance: the covariance about the mean, the same noise, scale
     3 sqrt 3 (n-1)/(n^2 eps), in dimension one 4 (n-1)/(n^2 eps), for n >= 2.  For n = 1
     this covariance is zero whatever the data are (centred_one).
   - entrywise-laplace: noise on all entries or on those on and above the diagonal, with
     the scale of the paper, 2d/(n eps), or the sensitivity over n eps ("tight").
   - lap-cov: noise on and above the diagonal, scale sqrt 2 d/(n eps), or tight.
   - k-norm: the five norms, each with its sensitivity over eps.

   Assumed: nothing.  Not said: floating point; how the noise is drawn.  AnyRows.v has
   rows of any length. *)
From covassay Require Import MechanismTheory Symmetric Triangle.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity CentredSensitivity Algorithm2.

(* ---------------------------------------------------------------------------- *)
(* The norms                                                                    *)

Section Bodies.
Variables (R : realType) (d : nat).
Implicit Types A B : 'M[R]_d.
Notation row := 'rV[R]_(entries d).

(* (nuclear norm + |trace|)/2: the larger of the sums of the positive eigenvalues and of
   the negative ones, without sign. *)
Definition covariance_norm_at A : R := (MatrixNorms.nuclear_norm A + `|\tr A|) / 2%:R.

Lemma covariance_norm_triangle A B :
  covariance_norm_at (A + B) <= covariance_norm_at A + covariance_norm_at B.
Proof.
rewrite /covariance_norm_at -mulrDl ler_pmul2r ?invr_gt0 ?ltr0n // addrACA.
by rewrite ler_add ?MatrixNorms.nuclear_norm_triangle // mxtraceD ler_norm_add.
Qed.

Lemma covariance_norm_scale a A : covariance_norm_at (a *: A) = `|a| * covariance_norm_at A.
Proof.
by rewrite /covariance_norm_at Algorithm2.nuclear_scale mxtraceZ normrM -mulrDr mulrA.
Qed.

Lemma covariance_norm_definite A : covariance_norm_at A = 0 -> A = 0.
Proof.
move=> /eqP; rewrite mulf_eq0 invr_eq0 pnatr_eq0 orbF paddr_eq0 ?normr_ge0 //.
  by move=> /andP[/eqP A0 _]; exact: Algorithm2.nuclear_definite.
exact: MatrixNorms.nuclear_norm_ge0.
Qed.

Definition covariance_norm : norm R d d :=
  Norm covariance_norm_triangle covariance_norm_scale covariance_norm_definite.

(* Frobenius. *)
Lemma frobenius_triangle A B :
  MatrixNorms.frob_norm (A + B) <= MatrixNorms.frob_norm A + MatrixNorms.frob_norm B.
Proof.
pose v (A : 'M[R]_d) : 'cV[R]_(d * d) := (mxvec A)^T.
have E C : MatrixNorms.frob_norm C = Euclidean.norm (v C).
  congr Num.sqrt; rewrite MatrixNorms.frob_dotE exchange_big /Euclidean.dot /=.
  rewrite (reindex _ (curry_mxvec_bij d d)) /= pair_bigA /=.
  by apply: eq_bigr => -[i j] _; rewrite !mxE !mxvecE.
by rewrite !E /v linearD linearD /= Euclidean.norm_triangle.
Qed.

Lemma frobenius_scale a A : MatrixNorms.frob_norm (a *: A) = `|a| * MatrixNorms.frob_norm A.
Proof. exact: MatrixNorms.frob_normZ. Qed.

Lemma frobenius_definite A : MatrixNorms.frob_norm A = 0 -> A = 0.
Proof.
move=> A0; have := MatrixNorms.sqr_frob_norm A; rewrite A0 expr0n MatrixNorms.frob_dotE /=.
move=> /esym/eqP; rewrite psumr_eq0 => [/allP s0|j _]; last first.
  by rewrite sumr_ge0 // => i _; rewrite -expr2 sqr_ge0.
apply/matrixP => i j; rewrite mxE; have := s0 j (mem_index_enum _).
rewrite psumr_eq0 => [/allP /(_ i (mem_index_enum _))|k _]; last by rewrite -expr2 sqr_ge0.
by rewrite /= mulf_eq0 orbb => /eqP.
Qed.

Definition frobenius : norm R d d :=
  Norm frobenius_triangle frobenius_scale frobenius_definite.

(* The largest absolute value of an entry. *)
Definition largest_at A : R := \big[Num.max/0]_(p : 'I_d * 'I_d) `|A p.1 p.2|.

Lemma largest_ge A i j : `|A i j| <= largest_at A.
Proof. exact: (le_bigmax _ (fun p : 'I_d * 'I_d => `|A p.1 p.2|) (i, j)). Qed.

Lemma largest_le A k : 0 <= k -> (forall i j, `|A i j| <= k) -> largest_at A <= k.
Proof. by move=> k0 Ak; apply/bigmax_leP; split=> // -[i j] _; exact: Ak. Qed.

Lemma largest_ge0 A : 0 <= largest_at A.
Proof. by have /bigmax_leP[] := lexx (largest_at A). Qed.

Lemma largest_triangle A B : largest_at (A + B) <= largest_at A + largest_at B.
Proof.
apply: largest_le => [|i j]; first by rewrite addr_ge0 ?largest_ge0.
by rewrite mxE; apply: le_trans (ler_norm_add _ _) _; rewrite ler_add ?largest_ge.
Qed.

Lemma largest_scale a A : largest_at (a *: A) = `|a| * largest_at A.
Proof.
have le b C : largest_at (b *: C) <= `|b| * largest_at C.
  apply: largest_le => [|i j]; first by rewrite mulr_ge0 ?largest_ge0.
  by rewrite mxE normrM ler_wpmul2l ?largest_ge.
apply/eqP; rewrite eq_le le /=; have [->|a0] := eqVneq a 0.
  by rewrite normr0 mul0r largest_ge0.
have := le a^-1 (a *: A); rewrite scalerA mulVf // scale1r normrV ?unitfE //.
by rewrite ler_pdivl_mull ?normr_gt0.
Qed.

Lemma largest_definite A : largest_at A = 0 -> A = 0.
Proof. by apply: definite_of_entries => i j; exact: largest_ge. Qed.

Definition largest : norm R d d := Norm largest_triangle largest_scale largest_definite.

End Bodies.

(* ---------------------------------------------------------------------------- *)
(* The mechanisms                                                               *)

Section Mechanisms.
Variables (R : realType) (n d : nat) (eps : R).
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < eps).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation covariance := (@Sensitivity.covariance R n d).
Notation noise_scale := (noise_scale n eps).
Notation scale_gt0 := (noise_scale_gt0 n_gt0 eps_gt0).
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

Lemma covariance_sym (X : data) : (covariance X)^T = covariance X.
Proof.
rewrite /Sensitivity.covariance linearZ /= raddf_sum /=; congr (_ *: _).
by apply: eq_bigr => i _; exact: Euclidean.symmetric_outer.
Qed.

(* A norm of the change that is at most s for two vectors of the unit ball. *)
Lemma covariance_change (N : norm R d d) (s : R) :
  (forall x y : 'cV_d, Euclidean.norm x <= 1 -> Euclidean.norm y <= 1 ->
     N (RankTwo.gap x y) <= s) ->
  forall X Y, adjacent X Y -> N (covariance X - covariance Y) <= eps * noise_scale s.
Proof.
move=> H X Y [bX bY [i XY]]; rewrite (scaleE n_gt0 eps_gt0) (Sensitivity.covariance_gap XY).
by rewrite norm_scale gtr0_norm ?invr_gt0 // ler_pmul2l ?invr_gt0 // H.
Qed.

Definition nuclear_laplace_symmetric := symmetric_noise 1
  (norm_weight (symmetric_norm (Algorithm2.nuclear R d)) (scale_gt0 (ltr0n R 2))) covariance.

(* The premises are n >= 1 and eps > 0. *)
Theorem nuclear_laplace_symmetric_dp : dp adjacent eps (fun X => nuclear_laplace_symmetric X).
Proof.
apply: symmetric_norm_dp; first exact: covariance_sym.
by apply: covariance_change => x y x1 y1; rewrite /= RankTwo.nuclear_norm_gap Sensitivity.spread_le2.
Qed.

(* Laplace noise on the entries on and above the diagonal, with any scale s/(n eps) from the
   sensitivity of these entries on. *)
Section Triangle.
Variables (s : R) (s_gt0 : 0 < s).

Definition triangle_laplace :=
  symmetric_noise 1 (norm_weight (l1_norm R 1 (entries d)) (scale_gt0 s_gt0)) covariance.

Lemma l1_corner (A : 'M[R]_d) : l1 (corner 1 A) = triangle_sum A.
Proof.
rewrite /l1 big_ord1 /triangle_sum -sum_entries; apply: eq_bigr => l _.
by rewrite mxE /factor if_same invr1 mul1r.
Qed.

Lemma triangle_laplace_dp : triangle_l1 R d <= s ->
  dp adjacent eps (fun X => triangle_laplace X).
Proof.
move=> ls; apply: triangle_norm_dp; first exact: covariance_sym.
move=> X Y [bX bY [i XY]]; rewrite (scaleE n_gt0 eps_gt0) (Sensitivity.covariance_gap XY).
rewrite cornerZ /= l1_scale gtr0_norm ?invr_gt0 // ler_pmul2l ?invr_gt0 // l1_corner.
by apply: le_trans ls; exact: triangle_sum_gap_le.
Qed.

End Triangle.

Lemma triangle_l1_gt0 : 0 < triangle_l1 R d.
Proof.
by rewrite /triangle_l1; case: ifP => _ //; rewrite divr_gt0 ?sqrtr_gt0 ?ltr0n.
Qed.

(* Which s stands in the scale s/(n eps). *)
Inductive calibration := Paper | Tight.
Definition calibration_inhabited : calibration := Paper.

(* lap-cov: sqrt 2 d, in dimension one too, or the sensitivity. *)
Definition lap_cov_numerator (c : calibration) : R :=
  if c is Paper then Num.sqrt 2%:R * d%:R else triangle_l1 R d.

(* entrywise-laplace: 2 d, or the sensitivity of the entries that get noise. *)
Definition entrywise_numerator (c : calibration) (full : bool) : R :=
  if c is Paper then 2%:R * d%:R else if full then entry_sensitivity R d else triangle_l1 R d.

Hypothesis d_gt0 : (0 < d)%N.
Let dR_gt0 : 0 < d%:R :> R. Proof. by rewrite ltr0n. Qed.
Let root2 : 1 < Num.sqrt 2%:R :> R.
Proof. by rewrite -[X in X < _]sqrtr1 ltr_sqrt ?ltr0n // ltr1n. Qed.

Lemma lap_cov_numerator_gt0 c : 0 < lap_cov_numerator c.
Proof. by case: c; [rewrite mulr_gt0 ?sqrtr_gt0 ?ltr0n|exact: triangle_l1_gt0]. Qed.

Lemma entry_sensitivity_gt0 : 0 < entry_sensitivity R d.
Proof. by rewrite /entry_sensitivity; case: ifP => _ //; rewrite mulr_gt0 ?sqrtr_gt0 ?ltr0n. Qed.

Lemma entrywise_numerator_gt0 c full : 0 < entrywise_numerator c full.
Proof.
case: c; first by rewrite mulr_gt0 ?ltr0n.
by case: full; [exact: entry_sensitivity_gt0|exact: triangle_l1_gt0].
Qed.

(* 4 s^2 = (d + 2)^2 + 4 floor (d^2/4) <= 8 d^2. *)
Lemma triangle_l1_le : triangle_l1 R d <= Num.sqrt 2%:R * d%:R.
Proof.
rewrite /triangle_l1; case: ifP => [d2|/negbT]; last first.
  rewrite -leqNgt => d1; have -> : d = 1%N by apply/eqP; rewrite eqn_leq d1.
  by rewrite mulr1 ltW.
rewrite ler_pdivr_mulr ?ltr0n // mulrAC.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?sqrtr_ge0 ?mulr_ge0 ?sqrtr_ge0 ?ler0n //.
rewrite exprMn [(_ * 2%:R) ^+ 2]exprMn !sqr_sqrtr ?ler0n // -!natrX -!natrM ler_nat.
have le1 : (4 * (d ^ 2 %/ 4) <= d ^ 2)%N by rewrite mulnC leq_trunc_div.
have le2 : ((d + 2) ^ 2 <= (2 * d) ^ 2)%N by rewrite leq_sqr mul2n -addnn leq_add2l.
apply: leq_trans (leq_add le2 le1) _; by rewrite expnMn -mulSnr leq_mul2r orbT.
Qed.

(* lap-cov *)
Definition lap_cov (c : calibration) := triangle_laplace (lap_cov_numerator_gt0 c).

(* The premises are n >= 1, d >= 1 and eps > 0, for either calibration. *)
Theorem lap_cov_dp (c : calibration) : dp adjacent eps (fun X => lap_cov c X).
Proof. by apply: triangle_laplace_dp; case: c => //; exact: triangle_l1_le. Qed.

(* entrywise-laplace *)
Definition entrywise (c : calibration) (full : bool) :
    mechanism R data [the measurableType _ of 'M[R]_d] :=
  if full then entrywise_laplace d n_gt0 eps_gt0 (entrywise_numerator_gt0 c full)
  else triangle_laplace (entrywise_numerator_gt0 c full).

(* The premises are n >= 1, d >= 1 and eps > 0, for either calibration, with noise on all
   entries or on the triangle. *)
Theorem entrywise_dp (c : calibration) (full : bool) : dp adjacent eps (fun X => entrywise c full X).
Proof.
rewrite /entrywise; case: full.
  by apply: entrywise_laplace_dp; case: c => //; exact: entry_sensitivity_paper.
apply: triangle_laplace_dp; case: c => //; apply: le_trans triangle_l1_le _.
rewrite ler_pmul2r // -(@ler_pexpn2r _ 2) ?nnegrE ?sqrtr_ge0 ?ler0n // sqr_sqrtr ?ler0n //.
by rewrite -natrX ler_nat.
Qed.

(* k-norm *)
Inductive body := Schatten1 | Covariance | L1 | L2 | Linf.
Definition body_inhabited : body := Schatten1.

(* n times the sensitivity of the covariance. *)
Definition body_sensitivity (b : body) : R :=
  if (d <= 1)%N then 1 else
  match b with
  | Schatten1 => 2%:R | Covariance => 1 | L1 => triangle_l1 R d
  | L2 => Num.sqrt 2%:R | Linf => 1
  end.

Definition body_norm (b : body) : norm R 1 (entries d) :=
  match b with
  | Schatten1 => symmetric_norm (Algorithm2.nuclear R d)
  | Covariance => symmetric_norm (covariance_norm R d)
  | L1 => l1_norm R 1 (entries d)
  | L2 => symmetric_norm (frobenius R d)
  | Linf => symmetric_norm (largest R d)
  end.

Lemma body_sensitivity_gt0 b : 0 < body_sensitivity b.
Proof.
rewrite /body_sensitivity; case: ifP => _; first exact: ltr01.
by case: b; rewrite ?ltr01 ?ltr0n ?sqrtr_gt0 ?triangle_l1_gt0 ?ltr0n.
Qed.

Definition k_norm (b : body) :=
  symmetric_noise 1 (norm_weight (body_norm b) (scale_gt0 (body_sensitivity_gt0 b))) covariance.

(* In dimension one every norm is at most the absolute value of the entry. *)
Lemma gap_line (x y : 'cV[R]_d) : (d <= 1)%N -> Euclidean.norm x <= 1 -> Euclidean.norm y <= 1 ->
  exists2 t : R, `|t| <= 1 & RankTwo.gap x y = t%:M.
Proof.
move=> d1 x1 y1; exists (RankTwo.gap x y (Ordinal d_gt0) (Ordinal d_gt0)).
  apply: le_trans (l1_gap_line d1 x1 y1); exact: l1_ge_entry.
apply/matrixP => i j; rewrite [RHS]mxE.
have e (k : 'I_d) : k = Ordinal d_gt0.
  by apply/val_inj => /=; apply/eqP; rewrite -leqn0 -ltnS (leq_trans (ltn_ord k)).
by rewrite (e i) (e j) eqxx.
Qed.

Lemma body_norm_gap b (x y : 'cV[R]_d) : Euclidean.norm x <= 1 -> Euclidean.norm y <= 1 ->
  body_norm b (corner 1 (RankTwo.gap x y)) <= body_sensitivity b.
Proof.
move=> x1 y1; set G := RankTwo.gap x y.
have mK : mirror 1 (corner 1 G) = G by rewrite (cornerK (oner_neq0 R)) //; exact: RankTwo.symmetric_gap.
have op1 : MatrixNorms.nuclear_norm G <= if (d <= 1)%N then 1 else 2%:R.
  case: ifP => d1; last by rewrite RankTwo.nuclear_norm_gap Sensitivity.spread_le2.
  have [t t1] := gap_line d1 x1 y1; rewrite -/G => GE.
  rewrite GE -scalemx1 Algorithm2.nuclear_scale MatrixNorms.nuclear_norm1.
  have -> : d = 1%N by apply/eqP; rewrite eqn_leq d1.
  by rewrite mulr1.
have tr1 := Sensitivity.trace_gap_le x1 y1.
rewrite /body_sensitivity; case: b => /=; rewrite ?mK.
- by [].
- rewrite /covariance_norm_at; case: ifP op1 => d1 op1.
    rewrite ler_pdivr_mulr ?ltr0n // mul1r -[2%:R]/(1 + 1); exact: ler_add.
  (* max (positive part, negative part) of a rank-two change *)
  rewrite ler_pdivr_mulr ?ltr0n // mul1r RankTwo.nuclear_norm_gap RankTwo.trace_gap.
  have := x1; have := y1; rewrite !Euclidean.norm_le1.
  have := RankTwo.spread_le x y; rewrite /RankTwo.spread.
  move: (Euclidean.dot x x) (Euclidean.dot y y) => p q le q1 p1.
  apply: le_trans (ler_add le (lexx _)) _; have [qp|/ltW pq] := leP q p.
    rewrite ger0_norm ?subr_ge0 // [X in X <= _](_ : _ = p + p); last by ring.
    by rewrite -[2%:R]/(1 + 1) ler_add.
  rewrite ler0_norm ?subr_le0 // [X in X <= _](_ : _ = q + q); last by ring.
  by rewrite -[2%:R]/(1 + 1) ler_add.
- rewrite l1_corner; apply: le_trans (triangle_sum_gap_le x1 y1) _.
  by case: ifP => // d1; rewrite /triangle_l1 ltnNge d1.
- case: ifP => d1; last exact: Sensitivity.frob_gap_le.
  have [t t1] := gap_line d1 x1 y1; rewrite -/G => GE; rewrite GE -scalemx1 MatrixNorms.frob_normZ.
  have -> : MatrixNorms.frob_norm (1%:M : 'M[R]_d) = 1; last by rewrite mulr1.
  rewrite /MatrixNorms.frob_norm /MatrixNorms.frob_dot trmx1 mulmx1 mxtrace1.
  have -> : d = 1%N by apply/eqP; rewrite eqn_leq d1.
  by rewrite sqrtr1.
rewrite if_same; apply: largest_le => // i j.
by apply: MatrixNorms.contraction_entry; exact: Sensitivity.op_le_gap1.
Qed.

(* The premises are n >= 1, d >= 1 and eps > 0, for each of the five bodies. *)
Theorem k_norm_dp (b : body) : dp adjacent eps (fun X => k_norm b X).
Proof.
apply: triangle_norm_dp; first exact: covariance_sym.
move=> X Y [bX bY [i XY]]; rewrite (scaleE n_gt0 eps_gt0) (Sensitivity.covariance_gap XY).
rewrite cornerZ norm_scale gtr0_norm ?invr_gt0 // ler_pmul2l ?invr_gt0 //.
exact: body_norm_gap.
Qed.

(* centred-covariance *)
Section Centred.
Hypothesis n_gt1 : (1 < n)%N.
Notation centred_covariance := (@CentredSensitivity.centred_covariance R n d).

(* n^2/(n - 1) times the sensitivity, and the scale. *)
Definition centred_numerator : R := if (1 < d)%N then 3%:R * Num.sqrt 3%:R else 4%:R.
Definition centred_scale : R := centred_numerator * ((n.-1)%:R / n%:R ^+ 2) / eps.

Let share_gt0 : 0 < (n.-1)%:R / n%:R ^+ 2 :> R.
Proof. by rewrite divr_gt0 ?exprn_gt0 // ltr0n -subn1 subn_gt0. Qed.

Lemma centred_scale_gt0 : 0 < centred_scale.
Proof.
rewrite /centred_scale divr_gt0 // mulr_gt0 //.
by rewrite /centred_numerator; case: ifP; rewrite ?mulr_gt0 ?sqrtr_gt0 ?ltr0n.
Qed.

Definition centred_laplace := symmetric_noise 1
  (norm_weight (symmetric_norm (Algorithm2.nuclear R d)) centred_scale_gt0) centred_covariance.

Lemma nuclear_gap_line (x y : 'cV[R]_d) : (d <= 1)%N -> Euclidean.norm x <= 1 ->
  Euclidean.norm y <= 1 -> MatrixNorms.nuclear_norm (RankTwo.gap x y) <= 1.
Proof.
move=> d1 x1 y1; have [t t1 ->] := gap_line d1 x1 y1.
rewrite -scalemx1 Algorithm2.nuclear_scale MatrixNorms.nuclear_norm1.
have -> : d = 1%N by apply/eqP; rewrite eqn_leq d1.
by rewrite mulr1.
Qed.

Lemma centred_sym (X : data) : (centred_covariance X)^T = centred_covariance X.
Proof.
rewrite /CentredSensitivity.centred_covariance linearZ /= raddf_sum /=; congr (_ *: _).
by apply: eq_bigr => i _; exact: Euclidean.symmetric_outer.
Qed.

(* The premises are n >= 2, d >= 1 and eps > 0. *)
Theorem centred_laplace_dp : dp adjacent eps (fun X => centred_laplace X).
Proof.
apply: symmetric_norm_dp; first exact: centred_sym.
have -> : eps * centred_scale = centred_numerator * ((n.-1)%:R / n%:R ^+ 2).
  by rewrite /centred_scale mulrC divfK // gt_eqF.
move=> X Y [bX bY XY] /=; rewrite /centred_numerator; case: ifP => [d2|/negbT].
  by have [up _] := CentredSensitivity.sensitivity_centred R n_gt0 d2; exact: up.
rewrite -leqNgt => d1; have [i near] := XY.
rewrite (CentredSensitivity.centred_covariance_gap n_gt0 near).
rewrite MatrixNorms.nuclear_normZ ?(ltW share_gt0) // mulrC ler_pmul2r //.
set m := CentredSensitivity.mean_others X i.
have m1 : Euclidean.norm m <= 1 by apply: CentredSensitivity.norm_mean_others.
have half (v : 'cV[R]_d) : Euclidean.norm v <= 1 -> Euclidean.norm (2%:R^-1 *: (v - m)) <= 1.
  move=> v1; rewrite Euclidean.normZ ger0_norm ?invr_ge0 ?ler0n // ler_pdivr_mull ?ltr0n // mulr1.
  apply: le_trans (Euclidean.norm_triangle _ _) _; rewrite Euclidean.normN.
  by rewrite -[2%:R]/(1 + 1) ler_add.
have double (v w : 'cV[R]_d) : RankTwo.gap v w = 4%:R *: RankTwo.gap (2%:R^-1 *: v) (2%:R^-1 *: w).
  apply/matrixP => k l; rewrite !mxE !big_ord1 !mxE.
  by move: (v k 0) (v l 0) (w k 0) (w l 0) => a b c e; field.
rewrite double MatrixNorms.nuclear_normZ ?ler0n // -[X in _ <= X]mulr1 ler_pmul2l ?ltr0n //.
by apply: nuclear_gap_line => //; exact: half.
Qed.

End Centred.

End Mechanisms.

(* One row is its own mean. *)
Lemma centred_one (R : realType) d (X : Sensitivity.dataset R 1 d) :
  CentredSensitivity.centred_covariance X = 0.
Proof.
rewrite CentredSensitivity.centred_covarianceE // /Sensitivity.covariance /CentredSensitivity.mean.
by rewrite !big_ord1 invr1 !scale1r subrr.
Qed.
