(* Half spaces under Gaussian laws of matrices.

   normal_tail u is the probability that a standard normal number is larger than u.  For independent
   Gaussian entries Z of standard deviation sigma, and a matrix a <> 0,

      P(<a, Z> > t) = normal_tail (t/(|a|_F sigma)):

   turning two coordinates after the other leaves a multiple of a single one (LebesgueTurn.v).

   Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueBox LebesgueProduct LebesgueRows.
From covassay Require Import LebesgueShift LebesgueTurn AdditiveNoise KNorm Gaussian.
Local Open Scope ereal_scope.

(* ---------------------------------------------------------------------------- *)
(* A linear form of independent Gaussian numbers                                *)

Section LinearForm.
Variables (R : realType) (k : nat) (v : R) (F : R -> R).
Hypotheses (mF : measurable_fun setT F) (F0 : forall u, (0 <= F u)%R).
Implicit Types x a : 'rV[R]_k.

Definition gauss_row x : R := expR (- (dot_row x x / v)).

Definition form_integral a : \bar R := \int[leb_row R k]_x (F (dot_row a x) * gauss_row x)%:E.

Lemma measurable_dot_row a : measurable_fun setT (dot_row a).
Proof. by apply: measurable_sum => l; apply: measurable_funrM; exact: measurable_entry. Qed.

Lemma measurable_form a : measurable_fun setT (fun x => F (dot_row a x) * gauss_row x)%R.
Proof.
apply: measurable_funM; first exact: (measurable_fun_comp mF (measurable_dot_row a)).
apply: measurable_exp_opp; apply: measurable_fun_div; rewrite /dot_row.
by apply: measurable_sum => l; apply: measurable_funM; exact: measurable_entry.
Qed.

Lemma form_integral_turn a (i j : 'I_k) (c s : R) : i != j -> (0 < c)%R -> (c ^+ 2 + s ^+ 2 = 1)%R ->
  form_integral a = form_integral (turn i j c (- s) a).
Proof.
move=> ij c0 cs; rewrite /form_integral -(integral_turn ij c0 cs).
- by apply: eq_integral => x _; rewrite (turn_back _ _ _ _ ij) /gauss_row (turn_square ij cs).
- by apply/EFin_measurable_fun; exact: measurable_form.
by move=> x; rewrite lee_fin mulr_ge0 // ltW // expR_gt0.
Qed.

(* It is as good as a multiple of one coordinate. *)
Lemma one_axis a : (0 < k)%N -> exists i (r : R), (r ^+ 2 = dot_row a a)%R /\
  form_integral a = form_integral (r *: delta_mx ord0 i).
Proof.
move=> k0; have [m] := ubnP #|[pred l | a ord0 l != 0%R]|; elim: m a => // m IH a am.
case: (pickP [pred l | a ord0 l != 0%R]) => [i /= ai|none]; last first.
  have a0 : a = 0%R by apply/rowP => l; have := none l; rewrite /= mxE => /eqP.
  exists (Ordinal k0), 0%R; rewrite scale0r a0 expr0n /=; split=> //.
  by rewrite /dot_row big1 // => l _; rewrite mxE mul0r.
case: (pickP [pred l | (l != i) && (a ord0 l != 0%R)]) => [j /= /andP[ji aj]|only]; last first.
  have z l : l != i -> a ord0 l = 0%R by move=> li; have := only l; rewrite /= li => /eqP.
  have E : a = (a ord0 i *: delta_mx ord0 i)%R.
    apply/rowP => l; rewrite !mxE eqxx /=; have [->|li] := eqVneq l i; first by rewrite mulr1.
    by rewrite mulr0 z.
  exists i, (a ord0 i); split; last by rewrite -E.
  by rewrite /dot_row (bigD1 i) //= big1 ?addr0 ?expr2 // => l li; rewrite z // mul0r.
have ij : i != j by rewrite eq_sym.
pose p := a ord0 i; pose q := a ord0 j; pose h := Num.sqrt (p ^+ 2 + q ^+ 2).
have p2 : (0 < p ^+ 2)%R by rewrite lt_def sqr_ge0 sqrf_eq0 ai.
have hh : (h ^+ 2 = p ^+ 2 + q ^+ 2)%R by rewrite sqr_sqrtr // addr_ge0 ?sqr_ge0.
have h0 : (0 < h)%R by rewrite sqrtr_gt0 ltr_paddr ?sqr_ge0.
pose c := (`|p| / h)%R; pose s := (c * (q / p))%R.
have c0 : (0 < c)%R by rewrite divr_gt0 // normr_gt0.
have cs : (c ^+ 2 + s ^+ 2 = 1)%R.
  have c2 : (c ^+ 2 = p ^+ 2 / (p ^+ 2 + q ^+ 2))%R by rewrite /c expr_div_n real_normK ?num_real // hh.
  have s2 : (s ^+ 2 = c ^+ 2 * (q / p) ^+ 2)%R by rewrite {1}/s [LHS]exprMn.
  rewrite s2 c2.
  have hn : (p ^+ 2 + q ^+ 2 != 0)%R by rewrite -hh expf_neq0 // gt_eqF.
  by clear -ai hn; field; rewrite ai hn.
pose a' := turn i j c (- s) a.
have a'j : a' ord0 j = 0%R.
  by rewrite /a' turnj /s -/p -/q mulNr -mulrA divfK // addNr.
have /IH [i' [r [rE FE]]] : (#|[pred l | a' ord0 l != 0%R]| < m)%N.
  rewrite -ltnS; apply: leq_trans am; rewrite ltnS [X in (_ < X)%N](cardD1 j) inE aj add1n ltnS.
  apply: subset_leq_card; apply/fintype.subsetP => l; rewrite !inE.
  have [->|lj] := eqVneq l j; first by rewrite a'j eqxx.
  have [->|li] := eqVneq l i; first by rewrite ai.
  by rewrite /a' turn_others ?lj.
exists i', r; split; last by rewrite -FE; exact: form_integral_turn.
by rewrite rE /a' turn_square // sqrrN.
Qed.

End LinearForm.

(* ---------------------------------------------------------------------------- *)
(* Half spaces                                                                  *)

Section Line.
Variables (R : realType) (v : R).
Hypothesis v_gt0 : (0 < v)%R.

Definition gauss_line (x : R) : R := expR (- (x ^+ 2 / v)).

Lemma gauss_line_ge0 x : (0 <= gauss_line x)%R. Proof. by rewrite ltW // expR_gt0. Qed.

Lemma measurable_gauss_line : measurable_fun setT gauss_line.
Proof.
by apply: measurable_exp_opp; apply: measurable_fun_div; apply: measurable_fun_exprn; exact: measurable_fun_id.
Qed.

Lemma gauss_line_lty : \int[@leb R]_x (gauss_line x)%:E < +oo.
Proof.
have e0 : (0 <= expR v)%R by rewrite ltW // expR_gt0.
have le x : (gauss_line x <= expR v * exp_line 2 x)%R.
  rewrite /gauss_line /exp_line -expRD ler_expR -[(x ^+ 2)%R]real_normK ?num_real //.
  rewrite -subr_ge0 [X in (0 <= X)%R](_ : _ = (`|x| - v) ^+ 2 / v)%R.
    by rewrite divr_ge0 ?sqr_ge0 // ltW.
  by move: `|x|%R => t; field; rewrite gt_eqF.
apply: (@le_lt_trans _ _ (\int[@leb R]_x ((expR v)%:E * (exp_line 2 x)%:E))).
  apply: ge0_le_integral => //.
  - by move=> x _; rewrite lee_fin gauss_line_ge0.
  - by apply/EFin_measurable_fun; exact: measurable_gauss_line.
  - by move=> x _; rewrite mule_ge0 // lee_fin exp_line_ge0.
  - by apply: measurable_funeM; apply/EFin_measurable_fun; exact: measurable_exp_line.
  by move=> x _; rewrite -EFinM lee_fin.
rewrite ge0_integralM_EFin //.
- by rewrite lte_mul_pinfty ?lee_fin // exp_line_lty.
- by move=> x _; rewrite lee_fin exp_line_ge0.
- by apply/EFin_measurable_fun; exact: measurable_exp_line.
Qed.

(* The indicator of the numbers above t. *)
Definition above (t u : R) : R := \1_(`]t, +oo[%classic) u.

Lemma aboveE t u : above t u = (t < u)%R%:R.
Proof. by rewrite /above indicE mem_setE in_itv /= andbT. Qed.

Lemma measurable_above t : measurable_fun setT (above t).
Proof. by apply: measurable_fun_indic; exact: measurable_itv. Qed.

Lemma above_ge0 t u : (0 <= above t u)%R. Proof. by rewrite aboveE ler0n. Qed.

(* How much lies where r x is above t. *)
Definition mass_above (t r : R) : \bar R := \int[@leb R]_x (above t (r * x) * gauss_line x)%:E.

Lemma measurable_mass (t r : R) : measurable_fun setT (fun x => above t (r * x) * gauss_line x)%R.
Proof.
apply: measurable_funM; last exact: measurable_gauss_line.
apply: (measurable_fun_comp (measurable_above t)).
by apply: measurable_funrM; exact: measurable_fun_id.
Qed.

Lemma mass_above_ge0 (t r : R) : 0 <= mass_above t r.
Proof. by apply: integral_ge0 => x _; rewrite lee_fin mulr_ge0 ?above_ge0 ?gauss_line_ge0. Qed.

Lemma mass_above_lty (t r : R) : mass_above t r < +oo.
Proof.
apply: le_lt_trans gauss_line_lty; apply: ge0_le_integral => //.
- by move=> x _; rewrite lee_fin mulr_ge0 ?above_ge0 ?gauss_line_ge0.
- by apply/EFin_measurable_fun; exact: measurable_mass.
- by move=> x _; rewrite lee_fin gauss_line_ge0.
- by apply/EFin_measurable_fun; exact: measurable_gauss_line.
move=> x _; rewrite lee_fin aboveE.
by case: (_ < _)%R; rewrite ?mul1r ?mul0r ?gauss_line_ge0.
Qed.

Lemma mass_above_abs (t r : R) : mass_above t r = mass_above t `|r|.
Proof.
have [r0|r0] := leP 0%R r; first by rewrite ger0_norm.
rewrite ltr0_norm // /mass_above -[RHS]integral_reflect.
- by apply: eq_integral => x _; rewrite mulrNN /gauss_line sqrrN.
- by apply/EFin_measurable_fun; exact: measurable_mass.
by move=> x; rewrite lee_fin mulr_ge0 ?above_ge0 ?gauss_line_ge0.
Qed.

End Line.

(* In units of sigma. *)
Lemma mass_above_scale (R : realType) (sigma t r : R) : (0 < sigma)%R -> (0 < r)%R ->
  mass_above (2%:R * sigma ^+ 2) t r = sigma%:E * mass_above 2%:R (t / (r * sigma)) 1.
Proof.
move=> s0 r0; rewrite /mass_above -(integral_affine_line 0%R s0).
- congr (_ * _); apply: eq_integral => x _; congr (_%:E); rewrite addr0 !aboveE mul1r; congr (_ * _)%R.
    rewrite ltr_pdivr_mulr ?mulr_gt0 //; have -> : (r * (sigma * x) = x * (r * sigma))%R by ring.
    by [].
  rewrite /gauss_line exprMn; congr (expR (- _))%R; field.
  by rewrite gt_eqF.
- by apply/EFin_measurable_fun; apply: measurable_mass.
by move=> x; rewrite lee_fin mulr_ge0 ?above_ge0 ?gauss_line_ge0.
Qed.

Lemma gauss_line_scale (R : realType) (sigma : R) : (0 < sigma)%R ->
  \int[@leb R]_x (gauss_line (2%:R * sigma ^+ 2) x)%:E = sigma%:E * \int[@leb R]_x (gauss_line 2%:R x)%:E.
Proof.
move=> s0; rewrite -(integral_affine_line 0%R s0).
- congr (_ * _); apply: eq_integral => x _; congr (_%:E); rewrite /gauss_line addr0 exprMn.
  by congr (expR (- _))%R; field; rewrite gt_eqF.
- by apply/EFin_measurable_fun; exact: measurable_gauss_line.
by move=> x; rewrite lee_fin gauss_line_ge0.
Qed.

Section HalfSpace.
Variables (R : realType) (k : nat) (v : R).
Hypothesis v_gt0 : (0 < v)%R.
Notation C := (fine (\int[@leb R]_x (gauss_line v x)%:E)).

Let CE : \int[@leb R]_x (gauss_line v x)%:E = C%:E.
Proof.
rewrite fineK // ge0_fin_numE ?gauss_line_lty //.
by apply: integral_ge0 => x _; rewrite lee_fin gauss_line_ge0.
Qed.

Let massE t r : mass_above v t r = (fine (mass_above v t r))%:E.
Proof. by rewrite fineK // ge0_fin_numE ?mass_above_lty // mass_above_ge0. Qed.

Let gauss_rowE (x : 'rV[R]_k) : gauss_row v x = (\prod_l gauss_line v (x ord0 l))%R.
Proof.
rewrite /gauss_row /dot_row mulr_suml -sumrN (big_morph _ (@expRD R) (@expR0 R)).
by apply: eq_bigr => l _; rewrite /gauss_line expr2.
Qed.

Lemma row_total : \int[leb_row R k]_x (gauss_row v x)%:E = (C ^+ k)%:E.
Proof.
have [_ E] := integral_row_prod (k := k) (u := fun _ => gauss_line v) (I := fun=> C)
  (fun _ => measurable_gauss_line v) (fun _ => gauss_line_ge0 v) (fun _ => CE).
rewrite -[in RHS](card_ord k) -prodr_const -E; apply: eq_integral => x _.
by rewrite gauss_rowE.
Qed.

Lemma axis_mass (i : 'I_k) t r : form_integral v (above t) (r *: delta_mx ord0 i)
  = (fine (mass_above v t r) * C ^+ k.-1)%:E.
Proof.
pose u (l : 'I_k) (x : R) : R := (if l == i then above t (r * x) * gauss_line v x else gauss_line v x)%R.
have mu l : measurable_fun setT (u l).
  by rewrite /u; case: eqP => _; [exact: measurable_mass|exact: measurable_gauss_line].
have u0 l x : (0 <= u l x)%R.
  by rewrite /u; case: eqP => _; rewrite ?mulr_ge0 ?above_ge0 ?gauss_line_ge0.
have uI l : \int[@leb R]_x (u l x)%:E = (if l == i then fine (mass_above v t r) else C)%:E.
  by rewrite /u; case: eqP => _; [exact: massE|exact: CE].
have [_ E] := integral_row_prod (k := k) mu u0 uI.
have -> : (fine (mass_above v t r) * C ^+ k.-1 = \prod_l (if l == i then fine (mass_above v t r) else C))%R.
  rewrite (bigD1 i) //= eqxx; congr (_ * _)%R.
  rewrite (eq_bigr (fun=> C)) => [|l /negbTE -> //].
  by rewrite prodr_const cardC1 card_ord.
rewrite -E; apply: eq_integral => x _; congr (_%:E).
have -> : dot_row (r *: delta_mx ord0 i) x = (r * x ord0 i)%R.
  rewrite /dot_row (bigD1 i) //= big1 ?addr0 => [|l li]; first by rewrite !mxE !eqxx mulr1.
  by rewrite !mxE (negbTE li) andbF mulr0 mul0r.
rewrite gauss_rowE (bigD1 i) //= [in RHS](bigD1 i) //= mulrA; congr (_ * _)%R.
  by rewrite /u eqxx.
by apply: eq_bigr => l /negbTE li; rewrite /u li.
Qed.

End HalfSpace.

Section Matrix.
Variables (R : realType) (m n : nat).
Implicit Types a z : 'M[R]_(m, n).

Definition dot_mx a z : R := (\sum_i \sum_j a i j * z i j)%R.

Definition size_mx a : R := Num.sqrt (sum_squares a).

Let sum_vec (G : 'I_(m * n) -> R) : (\sum_k G k = \sum_i \sum_j G (mxvec_index i j))%R.
Proof.
rewrite (reindex _ (curry_mxvec_bij m n)) /= pair_bigA /=.
by apply: eq_bigr => -[i j] _.
Qed.

Let dot_vec a (x : 'rV[R]_(m * n)) : dot_row (mxvec a) x = dot_mx a (vec_mx x).
Proof.
rewrite /dot_row sum_vec; apply: eq_bigr => i _; apply: eq_bigr => j _.
by rewrite mxvecE mxE.
Qed.

Let square_vec (x : 'rV[R]_(m * n)) : dot_row x x = sum_squares (vec_mx x).
Proof.
rewrite /dot_row sum_vec; apply: eq_bigr => i _; apply: eq_bigr => j _.
by rewrite mxE expr2.
Qed.

Lemma dot_mxx a : dot_mx a a = sum_squares a.
Proof. by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite expr2. Qed.

Lemma measurable_dot_mx a : measurable_fun setT (dot_mx a).
Proof.
apply: measurable_sum => i; apply: measurable_sum => j; apply: measurable_funrM.
exact: measurable_entry.
Qed.

Lemma sum_squares_gt0 a : a != 0%R -> (0 < sum_squares a)%R.
Proof.
move=> a0; have ge0 : (0 <= sum_squares a)%R by apply: sumr_ge0 => i _; apply: sumr_ge0 => j _; exact: sqr_ge0.
rewrite lt_def ge0 andbT; apply: contra a0 => /eqP s0; apply/eqP/matrixP => i j; rewrite mxE.
have zero : (\sum_l a i l ^+ 2 = 0)%R.
  by apply: (psumr_eq0P (fun i _ => sumr_ge0 _ (fun l _ => sqr_ge0 (a i l))) s0).
by apply/eqP; rewrite -sqrf_eq0; apply/eqP; apply: (psumr_eq0P (fun l _ => sqr_ge0 (a i l)) zero).
Qed.

Lemma size_mx_gt0 a : a != 0%R -> (0 < size_mx a)%R.
Proof. by move=> a0; rewrite sqrtr_gt0 sum_squares_gt0. Qed.

Lemma vec_integral (f : 'M[R]_(m, n) -> \bar R) : measurable_fun setT f -> (forall z, 0 <= f z) ->
  \int[@leb_matrix R m n]_z f z = \int[leb_row R (m * n)]_x f (vec_mx x).
Proof.
move=> mf f0; rewrite (_ : \int[_]_z _ =
  \int[pushforward (leb_row R (m * n)) (@measurable_vec_mx R m n)]_z f z) //.
by rewrite integral_pushforward.
Qed.

Section HalfSpace.
Variables (sigma : R) (sigma_gt0 : (0 < sigma)%R).
Notation w := (gaussian_weight m n sigma_gt0).
Notation v := (2%:R * sigma ^+ 2)%R.
Notation total s := (fine (\int[@leb R]_x (gauss_line s x)%:E)).

Let v_gt0 : (0 < v)%R. Proof. by rewrite mulr_gt0 ?exprn_gt0 ?ltr0n. Qed.
Let two_gt0 : (0 < 2%:R :> R)%R. Proof. by rewrite ltr0n. Qed.

Lemma normalizer_total : normalizer w = (total v ^+ (m * n))%R.
Proof.
apply: EFin_inj; rewrite normalizerE -(row_total _ v_gt0) vec_integral.
- by apply: eq_integral => x _; rewrite /gauss_row square_vec.
- exact: weight_measurableE.
by move=> z; rewrite lee_fin weight_ge0.
Qed.

Let totalE s : (0 < s)%R -> (total s)%:E = \int[@leb R]_x (gauss_line s x)%:E.
Proof.
move=> s0; rewrite fineK // ge0_fin_numE; first exact: gauss_line_lty.
by apply: integral_ge0 => x _; rewrite lee_fin gauss_line_ge0.
Qed.

Let massE (s t r : R) : (0 < s)%R -> (fine (mass_above s t r))%:E = mass_above s t r.
Proof.
move=> s0; rewrite fineK // ge0_fin_numE; first exact: mass_above_lty.
exact: mass_above_ge0.
Qed.

Lemma total_scale : total v = (sigma * total 2%:R)%R.
Proof.
by apply: EFin_inj; rewrite EFinM (totalE v_gt0) (totalE two_gt0); exact: gauss_line_scale.
Qed.

Lemma mass_scale t r : (0 < r)%R ->
  fine (mass_above v t r) = (sigma * fine (mass_above 2%:R (t / (r * sigma)) 1))%R.
Proof.
move=> r0; apply: EFin_inj; rewrite EFinM (massE _ _ v_gt0) (massE _ _ two_gt0).
exact: mass_above_scale.
Qed.

Lemma measurable_half_space a t : measurable [set z | (t < dot_mx a z)%R].
Proof.
rewrite (_ : [set z | _] = dot_mx a @^-1` `]t, +oo[%classic).
  by rewrite -[X in measurable X]setTI; apply: measurable_dot_mx => //; exact: measurable_itv.
by apply/seteqP; split => z; rewrite /= in_itv /= andbT.
Qed.

Lemma half_space_line a t : a != 0%R -> law w [set z | (t < dot_mx a z)%R]
  = (fine (mass_above 2%:R (t / (size_mx a * sigma)) 1) / total 2%:R)%:E.
Proof.
move=> a0; have h0 := size_mx_gt0 a0.
have k0 : (0 < m * n)%N.
  rewrite lt0n; apply: contra a0 => /eqP mn; rewrite -[a]mxvecK; apply/eqP.
  suff -> : mxvec a = 0%R by rewrite linear0.
  by apply/rowP => l; have := ltn_ord l; rewrite {2}mn.
rewrite lawE; last exact: measurable_half_space.
rewrite integral_mkcond (_ : \int[_]_z _ = form_integral v (above t) (mxvec a)); last first.
  rewrite /form_integral (eq_integral (fun z => (above t (dot_mx a z) * w z)%:E)); last first.
    move=> z _; rewrite /patch aboveE; case: (boolP (t < dot_mx a z)%R) => h.
      by rewrite mem_set // mul1r.
    by rewrite memNset ?mul0r //=; apply/negP.
  rewrite vec_integral.
  - by apply: eq_integral => x _; rewrite dot_vec /gauss_row square_vec.
  - apply/EFin_measurable_fun; apply: measurable_funM; last exact: weight_measurable.
    by apply: (measurable_fun_comp (measurable_above t)); exact: measurable_dot_mx.
  - by move=> z; rewrite lee_fin mulr_ge0 ?above_ge0 ?weight_ge0.
have [i [r [rE ->]]] := one_axis v (measurable_above t) (above_ge0 t) (mxvec a) k0.
have rn : `|r|%R = size_mx a.
  by rewrite /size_mx -dot_mxx -[X in dot_mx _ X]mxvecK -dot_vec -rE sqrtr_sqr.
rewrite axis_mass // mass_above_abs // rn -EFinM normalizer_total mass_scale // total_scale.
congr (_%:E); have N0 := normalizer_gt0 w; rewrite normalizer_total total_scale in N0.
have T0 : (total 2%:R != 0 :> R)%R.
  by apply: contraTneq N0 => ->; rewrite mulr0 expr0n eqn0Ngt k0 ltxx.
have -> : ((sigma * total 2%:R) ^+ (m * n) = sigma * total 2%:R * (sigma * total 2%:R) ^+ (m * n).-1)%R.
  by rewrite -exprS prednK.
have P0 : ((sigma * total 2%:R) ^+ (m * n).-1 != 0)%R by rewrite expf_neq0 // mulf_neq0 // gt_eqF.
have cancel (s M T P : R) : (s != 0 -> T != 0 -> P != 0 -> (s * T * P)^-1 * (s * M * P) = M / T)%R.
  by move=> s0 t0 p0; field; rewrite s0 t0 p0.
by apply: cancel => //; rewrite gt_eqF.
Qed.

End HalfSpace.

End Matrix.

(* The probability that a standard normal number is larger than u. *)
Definition normal_tail (R : realType) (u : R) : R :=
  fine (law (gaussian_weight 1 1 (ltr01 : (0 < 1 :> R)%R)) [set z | (u < z ord0 ord0)%R]).

Lemma normal_tailE (R : realType) (u : R) : normal_tail u
  = (fine (mass_above 2%:R u 1) / fine (\int[@leb R]_x (gauss_line 2%:R x)%:E))%R.
Proof.
pose e : 'M[R]_(1, 1) := const_mx 1%R.
have e0 : e != 0%R by apply/eqP => /matrixP/(_ ord0 ord0)/eqP; rewrite !mxE oner_eq0.
have e1 : size_mx e = 1%R by rewrite /size_mx /sum_squares !big_ord1 mxE expr1n sqrtr1.
transitivity (fine (law (gaussian_weight 1 1 (ltr01 : (0 < 1 :> R)%R)) [set z | (u < dot_mx e z)%R])).
  congr (fine (law _ _)); apply/seteqP; split => z /=; by rewrite /dot_mx !big_ord1 mxE mul1r.
by rewrite half_space_line // e1 mul1r divr1.
Qed.

Lemma half_space (R : realType) m n (sigma : R) (sigma_gt0 : (0 < sigma)%R) (a : 'M[R]_(m, n)) t :
  a != 0%R -> law (gaussian_weight m n sigma_gt0) [set z | (t < dot_mx a z)%R]
  = (normal_tail (t / (size_mx a * sigma)))%:E.
Proof. by move=> a0; rewrite half_space_line // normal_tailE. Qed.

