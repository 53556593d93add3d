(* kv-mean and naive-pme: a noisy histogram finds the mean of a column, a clipped mean refines it.

   The rows are any vectors, neighbours differ in one of them, all else is public.  Every column
   has its share rho/d of the budget.

   1. The values of a column are counted in the bins ((j - 1/2) sigma, (j + 1/2) sigma], |j| <= B,
      B = ceil (R/sigma); values outside are not counted.  The counts get Gaussian noise of
      variance 2 d/rho.  c is sigma times the j of the largest count, the first if several are
      largest.
   2. w = sigma (2 + sqrt (2 ln (8 n d/beta))).  Released is the mean of the values, clipped to
      [c - w, c + w], with Gaussian noise of variance (2w/n)^2 d/rho.

   naive-pme is kv-mean with sigma = sqrt kappa.

   Assumed: nothing.  Not said: floating point; how the noise is drawn. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp.
From covassay Require Sensitivity.

(* ---------------------------------------------------------------------------- *)
(* The first of the largest entries of a row                                    *)

Section Largest.
Variables (R : realType) (d m : nat).
Implicit Types (z : 'M[R]_(d, m)) (j : 'I_d) (k : 'I_m).

Definition first_largest z j k : bool :=
  [forall l : 'I_m, if (l < k)%N then z j l < z j k else z j l <= z j k].

Lemma first_largest_unique z j k k' : first_largest z j k -> first_largest z j k' -> k = k'.
Proof.
move=> /forallP h /forallP h'; apply/val_inj; case: (ltngtP k k') => // lt.
  have := h' k; rewrite lt => a; have := h k'; rewrite ltnNge (ltnW lt) /= => b.
  by move: (lt_le_trans a b); rewrite ltxx.
have := h k'; rewrite lt => a; have := h' k; rewrite ltnNge (ltnW lt) /= => b.
by move: (lt_le_trans a b); rewrite ltxx.
Qed.

Lemma measurable_first_largest j k : measurable_fun setT (fun z => first_largest z j k).
Proof.
apply: (measurable_fun_bool true).
pose f l z : R := z j k - z j l.
have mf l : measurable_fun setT (f l) by apply: measurable_funB; exact: measurable_entry.
rewrite (_ : _ @^-1` _ = \bigcap_(l : 'I_m)
    (f l @^-1` (if (l < k)%N then `]0, +oo[%classic else `[0, +oo[%classic))).
  apply: fin_bigcap_measurable => // l _; rewrite -[X in measurable X]setTI; apply: mf => //.
  by case: ifP => _; exact: measurable_itv.
apply/seteqP; split => z /=.
  move=> /forallP h l _; have := h l; rewrite /f.
  by case: ifP => _ hl; rewrite /= in_itv /= andbT ?subr_gt0 ?subr_ge0.
move=> h; apply/forallP => l; have := h l I; rewrite /f.
by case: ifP => _; rewrite /= in_itv /= andbT ?subr_gt0 ?subr_ge0.
Qed.

End Largest.

(* ---------------------------------------------------------------------------- *)
(* kv-mean                                                                      *)

Section KvMean.
Variables (R : realType) (n d : nat) (rho sigma mean_bound beta : R).
Hypotheses (n_gt0 : (0 < n)%N) (d_gt0 : (0 < d)%N) (rho_gt0 : 0 < rho) (sigma_gt0 : 0 < sigma).
Notation data := (Sensitivity.dataset R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.
Let dR_gt0 : 0 < d%:R :> R. Proof. by rewrite ltr0n. Qed.

(* B, and the number of bins. *)
Definition last_bin : nat := absz (ceil (mean_bound / sigma)).
Notation bins := (2 * last_bin).+1.
Notation counts := [the measurableType _ of 'M[R]_(d, bins)].
Notation means := [the measurableType _ of 'M[R]_(d, 1)].

(* The bin of v, counted from -B on, is k - B. *)
Definition in_bin (k : 'I_bins) (v : R) : bool :=
  ceil (v / sigma - 2%:R^-1) + last_bin%:Z == k%:Z.

Definition histogram (X : data) : 'M[R]_(d, bins) :=
  \matrix_(j, k) \sum_i (in_bin k (X i j 0))%:R.

(* sqrt (2/(rho/d)). *)
Definition count_scale : R := Num.sqrt (2%:R / (rho / d%:R)).

Lemma count_scale_gt0 : 0 < count_scale.
Proof. by rewrite sqrtr_gt0 !divr_gt0 ?ltr0n. Qed.

Definition noisy_counts :=
  with_noise (matrices R d bins) (gaussian_weight d bins count_scale_gt0) histogram.

(* sigma times the number of the first largest bin. *)
Definition centre (z : 'M[R]_(d, bins)) (j : 'I_d) : R :=
  sigma * (\sum_(k < bins) (if first_largest z j k then k%:R else 0) - last_bin%:R).

Definition half_width : R :=
  sigma * (2%:R + Num.sqrt (2%:R * ln (8%:R * n%:R / (beta / d%:R)))).

(* v, moved into [c - w, c + w]. *)
Definition clip (c w v : R) : R := Num.min (Num.max v (c - w)) (c + w).

Definition clipped_mean (X : data) (z : 'M[R]_(d, bins)) : 'M[R]_(d, 1) :=
  \col_j (n%:R^-1 * \sum_i clip (centre z j) half_width (X i j 0)).

(* (2w/n)/sqrt (rho/d). *)
Definition mean_scale : R := half_width / n%:R * Num.sqrt (2%:R ^+ 2 / (rho / d%:R)).

Lemma half_width_gt0 : 0 < half_width.
Proof. by rewrite mulr_gt0 // ltr_paddr ?sqrtr_ge0 ?ltr0n. Qed.

Lemma mean_scale_gt0 : 0 < mean_scale.
Proof.
by rewrite mulr_gt0 ?divr_gt0 ?half_width_gt0 // sqrtr_gt0 !divr_gt0 ?exprn_gt0 ?ltr0n.
Qed.

Lemma clipE (c w v : R) : clip c w v = - Num.max (- Num.max v (c - w)) (- (c + w)).
Proof. by rewrite oppr_max !opprK. Qed.

Lemma measurable_centre j : measurable_fun setT (fun z => centre z j).
Proof.
apply: measurable_funrM; apply: measurable_funB; last exact: measurable_fun_cst.
apply: measurable_sum => k; apply: measurable_fun_ifT; try exact: measurable_fun_cst.
exact: measurable_first_largest.
Qed.

Lemma measurable_clipped_mean X : measurable_fun [set: counts] (clipped_mean X).
Proof.
apply: measurable_fun_matrix => j l; under eq_fun do rewrite mxE.
apply: measurable_funrM; apply: measurable_sum => i.
rewrite (_ : (fun z => _) = (fun z : 'M[R]_(d, bins) => (- 1) * Num.max ((- 1) * Num.max (X i j 0)
    (centre z j - half_width)) ((- 1) * (centre z j + half_width)))).
  apply: measurable_funrM; apply: measurable_fun_max; apply: measurable_funrM.
    apply: measurable_fun_max; first exact: measurable_fun_cst.
    by apply: measurable_funB; [exact: measurable_centre|exact: measurable_fun_cst].
  by apply: measurable_funD; [exact: measurable_centre|exact: measurable_fun_cst].
by apply/funext => z; rewrite clipE !mulN1r.
Qed.

Definition noisy_mean (X : data) : stage R counts means :=
  noise_stage (gaussian_weight d 1 mean_scale_gt0) (measurable_clipped_mean X).

Definition kv_mean (X : data) : {measure set means -> \bar R} := run (noisy_counts X) (noisy_mean X).

Lemma kv_mean_total X : kv_mean X setT = 1%E.
Proof. by apply: run_total; exact: release_total. Qed.

(* One value is in at most one bin. *)
Lemma bins_le1 v : \sum_(k < bins) (in_bin k v)%:R <= 1 :> R.
Proof.
have [[k inv]|none] := pselect (exists k, in_bin k v).
  rewrite (bigD1 k) //= inv big1 ?addr0 // => l lk; apply/eqP; rewrite pnatr_eq0 eqb0.
  apply: contra lk => inl; apply/eqP/val_inj => /=.
  by move/eqP: inl; move/eqP: inv => -> [].
rewrite big1 ?ler01 // => k _; apply/eqP; rewrite pnatr_eq0 eqb0; apply/negP => inv.
by apply: none; exists k.
Qed.

Lemma histogram_change X Y : neighbours X Y ->
  sum_squares (histogram X - histogram Y) <= Num.sqrt (2%:R * d%:R) ^+ 2.
Proof.
move=> [i XY]; rewrite sqr_sqrtr ?mulr_ge0 ?ler0n // /sum_squares.
apply: (@le_trans _ _ (\sum_(j < d) 2%:R)); last by rewrite sumr_const card_ord mulr_natr.
apply: ler_sum => j _.
apply: (@le_trans _ _ (\sum_(k < bins) ((in_bin k (X i j 0))%:R + (in_bin k (Y i j 0))%:R))); last first.
  by rewrite big_split /= -[2%:R]/(1 + 1) ler_add ?bins_le1.
apply: ler_sum => k _; rewrite !mxE (bigD1 i) //= [X in (_ - X) ^+ 2](bigD1 i) //=.
have -> : \sum_(l | l != i) (in_bin k (X l j 0))%:R = \sum_(l | l != i) (in_bin k (Y l j 0))%:R :> R.
  by apply: eq_bigr => l li; rewrite XY.
rewrite opprD addrACA subrr addr0.
case: (in_bin k (X i j 0)); case: (in_bin k (Y i j 0)) => /=.
- by rewrite subrr expr0n addr_ge0 ?ler01.
- by rewrite subr0 expr1n addr0.
- by rewrite sub0r sqrrN expr1n add0r.
- by rewrite subrr expr0n addr0.
Qed.

Lemma clip_change (c w v v' : R) : 0 < w -> `|clip c w v - clip c w v'| <= 2%:R * w.
Proof.
move=> w0; have le : c - w <= c + w by rewrite ler_add2l ge0_cp // ltW.
have bound u : c - w <= clip c w u <= c + w.
  by rewrite /clip le_minr le_maxr lexx orbT le le_minl lexx orbT.
have /andP[a b] := bound v; have /andP[a' b'] := bound v'.
have width : c + w - (c - w) = 2%:R * w by ring.
rewrite ler_norml -width; apply/andP; split; last exact: ler_sub.
by rewrite ler_oppl [- (clip c w v - _)]opprB; exact: ler_sub.
Qed.

Lemma mean_change X Y z : neighbours X Y ->
  sum_squares (clipped_mean X z - clipped_mean Y z)
  <= (2%:R * half_width / n%:R * Num.sqrt d%:R) ^+ 2.
Proof.
move=> [i XY]; rewrite exprMn sqr_sqrtr ?ler0n // /sum_squares.
apply: (@le_trans _ _ (\sum_(j < d) (2%:R * half_width / n%:R) ^+ 2)); last first.
  by rewrite sumr_const card_ord mulr_natr.
apply: ler_sum => j _; rewrite big_ord1 !mxE -mulrBr (bigD1 i) //= [X in _ - X](bigD1 i) //=.
have -> : \sum_(l | l != i) clip (centre z j) half_width (X l j 0)
    = \sum_(l | l != i) clip (centre z j) half_width (Y l j 0).
  by apply: eq_bigr => l li; rewrite XY.
rewrite opprD addrACA subrr addr0 -[X in X <= _]real_normK ?num_real //.
have s0 : 0 <= 2%:R * half_width / n%:R.
  by rewrite divr_ge0 ?mulr_ge0 ?ler0n // ltW // half_width_gt0.
rewrite ler_expn2r ?nnegrE ?normr_ge0 // normrM gtr0_norm ?invr_gt0 // mulrC.
by rewrite ler_pmul2r ?invr_gt0 // clip_change // half_width_gt0.
Qed.

(* The premises are n >= 1, d >= 1, rho > 0 and sigma > 0; the bound on the mean and beta
   are any numbers. *)
(*@ WHOLE.kv-mean *)
Theorem kv_mean_zcdp : zcdp neighbours rho kv_mean.
Proof.
have -> : rho = Num.sqrt (2%:R * d%:R) ^+ 2 / (2%:R * count_scale ^+ 2)
    + (2%:R * half_width / n%:R * Num.sqrt d%:R) ^+ 2 / (2%:R * mean_scale ^+ 2).
  have w0 := half_width_gt0; rewrite /count_scale /mean_scale [(_ * Num.sqrt d%:R) ^+ 2]exprMn.
  rewrite [(half_width / n%:R * _) ^+ 2]exprMn !sqr_sqrtr.
  - by field; rewrite (gt_eqF w0) (gt_eqF nR_gt0) (gt_eqF dR_gt0) (gt_eqF rho_gt0).
  - by rewrite !divr_ge0 ?ler0n ?sqr_ge0 // ltW.
  - by rewrite ler0n.
  - by rewrite !divr_ge0 ?ler0n // ltW.
  - by rewrite mulr_ge0 ?ler0n.
apply: zcdp_run; first by apply: gaussian_noise_zcdp => X Y; exact: histogram_change.
by move=> z X Y XY; apply: gaussian_concentrated; exact: mean_change.
Qed.

End KvMean.

(* ---------------------------------------------------------------------------- *)
(* naive-pme                                                                    *)

Section NaivePme.
Variables (R : realType) (n d : nat) (rho kappa mean_bound beta : R).
Hypotheses (n_gt0 : (0 < n)%N) (d_gt0 : (0 < d)%N) (rho_gt0 : 0 < rho) (kappa_gt0 : 0 < kappa).
Notation data := (Sensitivity.dataset R n d).

Lemma deviation_gt0 : 0 < Num.sqrt kappa.
Proof. by rewrite sqrtr_gt0. Qed.

Definition naive_pme (X : data) :=
  kv_mean mean_bound beta n_gt0 d_gt0 rho_gt0 deviation_gt0 X.

(* The premises are n >= 1, d >= 1, rho > 0 and kappa > 0; the bound on the mean and beta
   are any numbers. *)
(*@ WHOLE.naive-pme *)
Theorem naive_pme_zcdp : zcdp (@Sensitivity.neighbours R n d) rho (fun X => naive_pme X).
Proof. exact: kv_mean_zcdp. Qed.

End NaivePme.
