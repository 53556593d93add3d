(* The K-norm mechanism and the exponential mechanism, for every measurable event.

   K-norm mechanism (Hardt and Talwar): publish q(x) + Z where Z is an m x n matrix
   with density proportional to exp(-N(z)/scale), N any norm.  If neighbours move
   the query by at most Delta in the norm N and scale = Delta/eps, the mechanism is
   eps-DP.  The normalizer of the density is PROVED finite and non-zero, and the
   law of the sum is PROVED to be the translated density; neither is assumed.
   Rows and columns are the matrices with m = 1 or n = 1, so this covers R^k.

   Instance: the Laplace law on the line.  Laplace noise on every entry is the case
   N = l1_norm (Norms.v).  That the law of a sum is the translated density is proved
   in AdditiveNoise.v.  A weight (PureDP.v) is a density before normalization, of
   finite and non-zero mass; its law divides by that mass.

   Exponential mechanism: the density is proportional to exp(-cost(x, y)/scale) with
   respect to any measure; if neighbours move the cost by at most c scale, it is
   (2c)-DP.

   Assumed: nothing. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueBox LebesgueProduct AdditiveNoise Norms.
Local Open Scope ereal_scope.

(* ---------------------------------------------------------------------------- *)
(* exp(-c |t|) has a finite integral                                            *)

Section ExponentialLine.
Variable R : realType.

(* The two intervals at distance k to k+1 from zero. *)
Let ring_set (k : nat) : set R :=
  `[(- k.+1%:R)%R, (- k%:R)%R]%classic `|` `[k%:R, k.+1%:R]%classic.

Let ring_measurable k : measurable (ring_set k).
Proof. by apply: measurableU; exact: measurable_itv. Qed.

Let ring_measure k : leb (ring_set k) <= 2%:E.
Proof.
have side (a : R) : leb `[a, (a + 1)%R]%classic = 1.
  by rewrite /leb lebesgue_measure_itv hlength_itv /= lte_fin ltr_addl ltr01 -EFinB addrC addKr.
pose A : set R := `[(- k.+1%:R)%R, (- k%:R)%R]%classic.
pose B : set R := `[k%:R, k.+1%:R]%classic.
have mA : measurable A by exact: measurable_itv.
have mB : measurable B by exact: measurable_itv.
have -> : ring_set k = A `|` (B `\` A).
  apply/seteqP; split => x; last by case=> [|[]]; [left|right].
  by case=> h; [left|have [|] := pselect (A x); [left|right]].
have -> : leb (A `|` (B `\` A)) = leb A + leb (B `\` A).
  apply: (@measureU _ _ _ [the measure _ _ of @leb R]) => //; first exact: measurableD.
  by apply/seteqP; split => x // -[Ax [_ /(_ Ax)]].
have A1 : leb A = 1.
  by rewrite -(side (- k.+1%:R)%R) /A; congr (leb `[_, _]%classic); rewrite -natr1 opprD addrNK.
have B1 : leb B = 1 by rewrite -(side k%:R) /B natr1.
rewrite A1 (_ : 2%:E = 1 + 1)%E; last by rewrite -EFinD.
by rewrite lee_add2l // -B1 le_measure ?inE //; first [exact: measurableD|exact: subDsetl].
Qed.

Let ring_cover (t : R) : exists2 k : nat, ring_set k t & (k%:R <= `|t|)%R.
Proof.
have ex : exists n : nat, (`|t| <= n%:R)%R.
  by exists (Num.bound `|t|); rewrite ltW // archi_boundP.
case: (ex_minnP ex) => [[|k]] tk min.
  have -> : t = 0%R by apply/eqP; rewrite -normr_le0.
  by exists 0%N; [right; rewrite /= in_itv /= lexx ler01|rewrite normr0].
have kt : (k%:R <= `|t|)%R.
  by rewrite leNgt; apply/negP => /ltW/min; rewrite ltnn.
exists k => //; have [t0|t0] := leP 0%R t.
  by right; rewrite /= in_itv /= -[t]ger0_norm // kt tk.
by left; rewrite /= in_itv /= ler_oppl ler_oppr -ltr0_norm // kt tk.
Qed.

Definition exp_line (c : R) (t : R) : R := expR (- (c * `|t|)).

Lemma exp_line_ge0 c t : (0 <= exp_line c t)%R.
Proof. by rewrite ltW // expR_gt0. Qed.

Lemma measurable_exp_line c : measurable_fun setT (exp_line c).
Proof.
rewrite (_ : exp_line c = expR \o (fun t => (- c) * `|t|)%R); last first.
  by apply/funext => t; rewrite /exp_line /= mulNr.
apply: measurable_fun_comp.
  by apply: continuous_measurable_fun; exact: continuous_expR.
by apply: measurable_funrM; exact: measurable_fun_normr.
Qed.

Lemma exp_line_lty (c : R) : (0 < c)%R -> \int[@leb R]_t (exp_line c t)%:E < +oo.
Proof.
move=> c0; pose q := expR (- c).
have q0 : (0 < q)%R by exact: expR_gt0.
have q1 : (q < 1)%R by rewrite /q -expR0 ltr_expR oppr_lt0.
have qk k : (q ^+ k = expR (- (c * k%:R)))%R by rewrite -expRMm mulrN mulrC.
pose u k t : \bar R := (q ^+ k)%:E * (\1_(ring_set k) t)%:E.
have qk0 k : (0 <= q ^+ k)%R by rewrite exprn_ge0 // ltW.
have i0 k t : 0 <= (\1_(ring_set k) t)%:E :> \bar R by rewrite lee_fin indicE ler0n.
have u0 k t : 0 <= u k t by apply: mule_ge0; rewrite ?lee_fin.
have mi k : measurable_fun setT (fun t => (\1_(ring_set k) t)%:E : \bar R).
  exact/EFin_measurable_fun/measurable_fun_indic.
have mu k : measurable_fun setT (u k) by apply: measurable_funeM.
apply: (@le_lt_trans _ _ (\int[@leb R]_t \sum_(k <oo) u k t)).
  apply: ge0_le_integral => //.
  - by move=> t _; rewrite lee_fin exp_line_ge0.
  - by apply/EFin_measurable_fun; exact: measurable_exp_line.
  - by move=> t _; apply: nneseries_ge0.
  - by apply: ge0_emeasurable_fun_sum.
  move=> t _; have [k kt le] := ring_cover t.
  apply: le_trans (nneseries_lim_ge k.+1 (fun n _ => u0 n t)).
  rewrite big_nat_recr //= -[X in X <= _]add0e lee_add ?sume_ge0 //.
  rewrite /u indicE mem_set // mule1 lee_fin qk ler_expR ler_opp2.
  by rewrite ler_wpmul2l // ltW.
rewrite integral_nneseries //; apply: (@le_lt_trans _ _ (2 / (1 - q))%:E); last exact: ltry.
have Iu k : \int[@leb R]_t u k t <= (2 * q ^+ k)%:E.
  rewrite ge0_integralM_EFin // integral_indic // setIT mulrC EFinM.
  by apply: lee_wpmul2l; [rewrite lee_fin|exact: ring_measure].
apply: lime_le.
  by apply: is_cvg_nneseries => k _; exact: integral_ge0.
apply: nearW => n.
have le : \sum_(0 <= k < n) \int[@leb R]_t u k t <= \sum_(0 <= k < n) (2 * q ^+ k)%:E.
  by apply: lee_sum => k _; exact: Iu.
apply: le_trans le _; rewrite sumEFin lee_fin.
have := congr1 (fun s => s n) (@geometric_seriesE R 2 q (negbT (lt_eqF q1))).
rewrite /series /= big_mkord => ->.
rewrite ler_pmul2r ?invr_gt0 ?subr_gt0 // -[X in (_ <= X)%R]mulr1.
by rewrite ler_pmul2l // ler_subl_addr ler_addl.
Qed.

End ExponentialLine.

(* ---------------------------------------------------------------------------- *)
(* The normalizer of exp(-N/scale) is finite and not zero, for every norm N      *)

Section NormWeight.
Variables (R : realType) (m n : nat) (N : norm R m n) (scale : R).
Hypothesis scale_gt0 : (0 < scale)%R.

Definition norm_density (z : 'M[R]_(m, n)) : R := expR (- (N z / scale)).

Lemma norm_density_ge0 z : (0 <= norm_density z)%R.
Proof. by rewrite ltW // expR_gt0. Qed.

Lemma norm_density_measurable : measurable_fun setT norm_density.
Proof.
by apply: measurable_exp_opp; apply: measurable_fun_div; exact: norm_measurable.
Qed.

(* On the unit box the density is bounded below. *)
(* The premise is scale > 0; the norm is any norm. *)
(*@ KNORM-NORMALIZER-POSITIVE *)
Lemma norm_density_pos : 0 < \int[@leb_matrix R m n]_z (norm_density z)%:E.
Proof.
pose B := box (0%R : 'M[R]_(m, n)) (const_mx 1%R).
pose low := expR (- (norm_const N * (m * n)%:R / scale)).
have mB : measurable B by exact: measurable_box.
have low0 : (0 < low)%R by exact: expR_gt0.
apply: (@lt_le_trans _ _ (\int[@leb_matrix R m n]_(z in B) low%:E)).
  have B1 : leb_matrix B = 1.
    rewrite /B leb_matrix_box; last by move=> i j; rewrite !mxE.
    by rewrite big1 // => i _; rewrite big1 // => j _; rewrite !mxE subr0.
  by rewrite integral_cst //= B1 mule1 lte_fin.
apply: (@le_trans _ _ (\int[@leb_matrix R m n]_(z in B) (norm_density z)%:E)).
  apply: ge0_le_integral => //.
  - by move=> z _; rewrite lee_fin ltW.
  - exact: measurable_fun_cst.
  - by move=> z _; rewrite lee_fin norm_density_ge0.
  - apply/EFin_measurable_fun; apply: measurable_funTS; exact: norm_density_measurable.
  move=> z zB; rewrite lee_fin ler_expR ler_opp2 ler_pmul2r ?invr_gt0 //.
  apply: le_trans (norm_le_l1 _ _) _; apply: ler_wpmul2l; first exact: norm_const_ge0.
  have -> : ((m * n)%:R = \sum_(i < m) \sum_(j < n) 1 :> R)%R.
    by rewrite !big_const_ord !iter_addr_0 -mulrnA mulnC.
  rewrite /l1 ler_sum // => i _; rewrite ler_sum // => j _.
  by have := zB i j; rewrite !mxE => /andP[z0 z1]; rewrite ger0_norm // ltW.
apply: subset_integral => //.
  by apply/EFin_measurable_fun; exact: norm_density_measurable.
by move=> z _; rewrite lee_fin norm_density_ge0.
Qed.

(* The norm dominates the entries, and the entries factor. *)
(* The premise is scale > 0; the norm is any norm. *)
(*@ KNORM-NORMALIZER-FINITE *)
Lemma norm_density_lty : \int[@leb_matrix R m n]_z (norm_density z)%:E < +oo.
Proof.
have [c c0 hc] := norm_lower N; pose b := (c / scale)%R.
have b0 : (0 < b)%R by rewrite divr_gt0.
pose I := fine (\int[@leb R]_t (exp_line b t)%:E).
have IE : \int[@leb R]_t (exp_line b t)%:E = I%:E.
  rewrite fineK // ge0_fin_numE ?exp_line_lty // integral_ge0 // => t _.
  by rewrite lee_fin exp_line_ge0.
have mu (i : 'I_m) (j : 'I_n) := measurable_exp_line (R := R) b.
have u0 (i : 'I_m) (j : 'I_n) := @exp_line_ge0 R b.
have E := integral_matrix_prod mu u0 (fun _ _ => IE).
apply: le_lt_trans (ltry (\prod_(i < m) \prod_(j < n) I)%R); rewrite -E.
apply: ge0_le_integral => //.
- by move=> z _; rewrite lee_fin norm_density_ge0.
- by apply/EFin_measurable_fun; exact: norm_density_measurable.
- move=> z _; rewrite lee_fin prodr_ge0 // => i _; apply: prodr_ge0 => j _.
  exact: exp_line_ge0.
- apply/EFin_measurable_fun.
  by apply: (measurable_matrix_prod (u := fun _ _ => exp_line b)) => i j; exact: mu.
move=> z _; rewrite lee_fin.
have -> : (\prod_i \prod_j exp_line b (z i j) = expR (- (b * l1 z)))%R.
  rewrite /l1 mulr_sumr -sumrN (big_morph _ (@expRD R) (@expR0 R)).
  apply: eq_bigr => i _; rewrite mulr_sumr -sumrN (big_morph _ (@expRD R) (@expR0 R)).
  by apply: eq_bigr.
rewrite ler_expR ler_opp2 /b mulrAC ler_pmul2r ?invr_gt0 //.
Qed.

Definition norm_weight : weight [the measure _ _ of @leb_matrix R m n] :=
  Weight norm_density_ge0 norm_density_measurable norm_density_pos norm_density_lty.

End NormWeight.

(* ---------------------------------------------------------------------------- *)
(* The mechanisms                                                               *)

Section KNormMechanism.
Variables (R : realType) (m n : nat) (N : norm R m n).
Variables (Delta eps : R).
Hypotheses (Delta_gt0 : (0 < Delta)%R) (eps_gt0 : (0 < eps)%R).

Lemma scale_gt0 : (0 < Delta / eps)%R. Proof. exact: divr_gt0. Qed.

(* Publish q(x) + Z, Z with density proportional to exp(-eps N(z) / Delta). *)
Definition knorm_mechanism (X : Type) (q : X -> 'M[R]_(m, n)) (x : X) :
    set 'M[R]_(m, n) -> \bar R :=
  add_noise (matrices R m n) (norm_weight N scale_gt0) q x.

(* The premises are Delta > 0, eps > 0 and a query that moves by at most Delta in the norm
   N between neighbours. *)
(*@ KNORM-DP *)
Theorem knorm_mechanism_dp (X : Type) (nb : X -> X -> Prop) (q : X -> 'M[R]_(m, n)) :
  (forall x x', nb x x' -> N (q x - q x')%R <= Delta)%R ->
  dp nb eps (knorm_mechanism q).
Proof.
move=> sens; apply: add_noise_dp => x x' xx' y /=.
rewrite /norm_density -expRD ler_expR ler_subr_addl -mulrBl.
have sc0 := scale_gt0.
rewrite ler_pdivr_mulr // mulrCA divff ?gt_eqF // mulr1 ler_subl_addr.
rewrite (_ : y - q x' = (y - q x) + (q x - q x'))%R; last by rewrite addrA subrK.
by apply: le_trans (norm_triangle _ _ _) _; rewrite addrC ler_add2r sens.
Qed.

End KNormMechanism.

(* The Laplace law on the line: density proportional to exp(-|t| / scale). *)
Section Laplace.
Variables (R : realType) (scale : R).
Hypothesis scale_gt0 : (0 < scale)%R.
Let c0 : (0 < scale^-1)%R. Proof. by rewrite invr_gt0. Qed.

Lemma laplace_pos : 0 < \int[@leb R]_t (exp_line scale^-1 t)%:E.
Proof.
have B1 : leb `]0%R, 1%R]%classic = 1 :> \bar R by rewrite leb_oc // subr0.
apply: (@lt_le_trans _ _ (\int[@leb R]_(t in `]0%R, 1%R]%classic) (expR (- scale^-1))%:E)).
  rewrite integral_cst //=; last exact: measurable_itv.
  by rewrite B1 mule1 lte_fin expR_gt0.
apply: (@le_trans _ _ (\int[@leb R]_(t in `]0%R, 1%R]%classic) (exp_line scale^-1 t)%:E)).
  apply: ge0_le_integral => //; try exact: measurable_itv.
  - by move=> t _; rewrite lee_fin ltW // expR_gt0.
  - exact: measurable_fun_cst.
  - by move=> t _; rewrite lee_fin exp_line_ge0.
  - by apply/EFin_measurable_fun; apply: measurable_funTS; exact: measurable_exp_line.
  move=> t; rewrite /= in_itv /= => /andP[t0 t1]; rewrite lee_fin /exp_line ler_expR ler_opp2.
  rewrite ger0_norm; last exact: ltW.
  by rewrite -[X in (_ <= X)%R]mulr1 ler_wpmul2l // ltW.
apply: subset_integral => //; try exact: measurable_itv.
  by apply/EFin_measurable_fun; exact: measurable_exp_line.
by move=> t _; rewrite lee_fin exp_line_ge0.
Qed.

Definition laplace_weight : weight [the measure _ _ of @leb R] :=
  Weight (@exp_line_ge0 R scale^-1) (measurable_exp_line (scale^-1)) laplace_pos (exp_line_lty c0).

End Laplace.

Section LaplaceMechanism.
Variables (R : realType) (Delta eps : R).
Hypotheses (Delta_gt0 : (0 < Delta)%R) (eps_gt0 : (0 < eps)%R).

(* Publish q(x) + Z, Z with density proportional to exp(-eps |z| / Delta). *)
Definition laplace_mechanism (X : Type) (q : X -> R) (x : X) : set R -> \bar R :=
  add_noise (line R) (laplace_weight (scale_gt0 Delta_gt0 eps_gt0)) q x.

(* The premises are Delta > 0, eps > 0 and a query that moves by at most Delta between
   neighbours. *)
(*@ LAPLACE-DP *)
Theorem laplace_mechanism_dp (X : Type) (nb : X -> X -> Prop) (q : X -> R) :
  (forall x x', nb x x' -> `|q x - q x'| <= Delta)%R ->
  dp nb eps (laplace_mechanism q).
Proof.
move=> sens; apply: add_noise_dp => x x' xx' y /=.
have sc0 := scale_gt0 Delta_gt0 eps_gt0.
rewrite /exp_line -expRD ler_expR ler_subr_addl -mulrBr mulrC.
rewrite ler_pdivr_mulr // mulrCA divff ?gt_eqF // mulr1 ler_subl_addr.
rewrite (_ : y - q x' = (y - q x) + (q x - q x'))%R; last by rewrite addrA subrK.
by apply: le_trans (ler_norm_add _ _) _; rewrite addrC ler_add2r sens.
Qed.

End LaplaceMechanism.

(* The exponential mechanism: any space of outputs, any measure, any cost, as long
   as the density exp(-cost/scale) has a finite non-zero mass for every input. *)
(*@ EXPONENTIAL-DP *)
Theorem exponential_mechanism_dp (R : realType) d (Y : measurableType d)
    (mu : {measure set Y -> \bar R}) (X : Type) (nb : X -> X -> Prop)
    (cost : X -> Y -> R) (scale c : R) (w : X -> weight mu) :
  (0 < scale)%R ->
  (forall x y, w x y = expR (- (cost x y / scale)))%R ->
  (forall x x' y, nb x x' -> `|cost x y - cost x' y| <= c * scale)%R ->
  dp nb (c *+ 2) (fun x => law (w x)).
Proof.
move=> s0 wE sens x x' xx'.
have le u v : (forall y, cost v y - cost u y <= c * scale)%R ->
    forall y, (w u y <= expR c * w v y)%R.
  move=> uv y; rewrite !wE -expRD ler_expR ler_subr_addl -mulrBl ler_pdivr_mulr //.
apply: law_ratio2; apply: le => y.
  by apply: le_trans (ler_norm _) _; rewrite distrC sens.
by apply: le_trans (ler_norm _) _; rewrite sens.
Qed.

(* The premises can be met: the K-norm density is an exponential mechanism whose cost
   is the distance to the query. *)
Lemma exponential_mechanism_witness (R : realType) m n (N : norm R m n) (scale c : R)
    (scale_gt0 : (0 < scale)%R) (X : Type) (nb : X -> X -> Prop) (q : X -> 'M[R]_(m, n)) :
  (forall x x', nb x x' -> N (q x - q x') <= c * scale)%R ->
  let cost x y := N (y - q x)%R in
  let w x := shift_weight (matrices R m n) (norm_weight N scale_gt0) (q x) in
  (forall x y, w x y = expR (- (cost x y / scale)))%R /\
  (forall x x' y, nb x x' -> `|cost x y - cost x' y| <= c * scale)%R.
Proof.
move=> sens cost w; split=> // x x' y xx'; apply: le_trans (sens _ _ xx').
have key a b : (N (y - a) <= N (y - b) + N (a - b))%R.
  rewrite normC (_ : a - y = (a - b) + (b - y))%R; last by rewrite addrA subrK.
  by apply: le_trans (norm_triangle _ _ _) _; rewrite addrC [X in (X + _)%R]normC.
rewrite /cost ler_norml; apply/andP; split; last by rewrite ler_subl_addl key.
by rewrite ler_subr_addl ler_subl_addr [N (q x - _)%R]normC key.
Qed.
