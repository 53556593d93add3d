(* adaptive-cov and adaptive-cov-pure: a private clipping length, and the better of two mechanisms.

   The rows are any vectors, neighbours differ in one of them; n, d, r, the budget and all other
   parameters are public.  Rows longer than r are shortened to r, and all are divided by r.

   0. With a private radius: the sparse vector technique finds the first of the radii that so many rows
      do not exceed; the rows are shortened to it and divided by it.
   1. t = tr of the covariance plus noise, and U = min (1, max (10^-16, t + margin)).
   2. N_k = min (4^-k g, 2^-k a + 4^-k h), with a = c sqrt U.
   3. The sparse vector technique finds the first k = 0, ..., K with n (B_k - N_k) >= 0 up to noise,
      K = min (n d, 79), or K + 1; tau = min (1, 2^(1-k)).
   4. If 4^-k g <= 2^-k a + 4^-k h the first mechanism is run on the rows clipped to tau and divided by
      it, else the second.  Eigenvalues are clipped to [0, 1].  Released is this times (tau r)^2, and
      times the square of the radius of step 0.

   - adaptive-cov: Gaussian noise on t at rho/8, searches at eps_0 = sqrt rho/2, gauss-cov and
     separate-cov at rho_1.  It spends 29/32 rho, or 26/32 rho with a radius, and rho if tight.
   - adaptive-cov-pure: Laplace noise on t at eps/8, lap-cov and separate-cov-pure at eps_1.  It spends
     15/16 eps, or 29/32 eps with a radius, and eps if tight; that the last step may spend less than
     eps_1 is not counted.

   The theorems hold for all numbers g, c, h and margin, all thresholds of step 0 and all positive radii,
   so also for those that the code computes.

   Assumed: nothing.  Not said: floating point; how the noise is drawn; that less is spent for d = 1. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms FiniteMechanisms SeparateCov.
From covassay Require Import EigenvalueFunctions SpectralMaps MatrixStages Stages JohnsonLindenstrauss.
From covassay Require Import GaussianLearner UnitRows Rebuild LevelSearch ClippedCovariance.
From covassay Require Sensitivity Algorithm2 Euclidean RankTwo.

(* Eigenvalues below 0 become 0, those above 1 become 1. *)
Section Interval.
Variables (R : realType) (d : nat).

Definition unit_interval (t : R) : R := Num.min (Num.max t 0) 1.

Lemma unit_interval_lipschitz s t : `|unit_interval s - unit_interval t| <= 1 * `|s - t|.
Proof.
have E u : unit_interval u = 1 - positive_part (1 - positive_part u).
  rewrite /unit_interval /positive_part -{1}[1]opprK; set m := Num.max u 0.
  by have [le|lt] := leP m 1; [rewrite max_l ?subr_ge0 // opprB addrC subrK min_l ?opprK
    |rewrite max_r ?subr_le0 ?(ltW lt) // subr0 min_r ?opprK // ltW].
rewrite !E opprD addrACA subrr add0r opprK addrC; apply: le_trans (positive_part_lipschitz _ _) _.
rewrite ler_wpmul2l ?ler01 // opprB [X in `|X|]addrC addrA subrK; apply: le_trans (positive_part_lipschitz _ _) _.
by rewrite mul1r.
Qed.

Lemma measurable_unit_interval : measurable_fun setT (@spectral_map R d unit_interval).
Proof. exact: (lipschitz_map ltr01 unit_interval_lipschitz). Qed.

End Interval.

(* ---------------------------------------------------------------------------- *)
(* The steps 1 to 4, with any noise on the trace and any two mechanisms         *)

Section Search.
Variables (R : realType) (n d : nat).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Notation number := [the measurableType _ of 'M[R]_(1, 1)].
Notation number_level := [the measurableType _ of (number * numbers)%type].
Variables (w : weight [the measure _ _ of @leb_matrix R 1 1]) (margin g c h : R).
Variables (c1 c2 : R) (M1 M2 : mechanism R data matrix).
Hypotheses (c1_gt0 : 0 < c1) (c2_gt0 : 0 < c2).

(* 1. *)
Definition trace_of (X : data) : 'M[R]_(1, 1) := (\tr (Sensitivity.covariance X))%:M.
Definition noisy_trace := with_noise (matrices R 1 1) w trace_of.
Definition smallest_trace : R := (10%:R ^+ 16)^-1.
Definition trace_bound (t : 'M[R]_(1, 1)) : R := Num.min 1 (Num.max smallest_trace (t 0 0 + margin)).

(* 2. *)
Definition first_bound (k : nat) : R := 4%:R^-1 ^+ k * g.
Definition second_bound (k : nat) (t : 'M[R]_(1, 1)) : R :=
  2%:R^-1 ^+ k * (c * Num.sqrt (trace_bound t)) + 4%:R^-1 ^+ k * h.
Definition smaller_bound (k : nat) (t : 'M[R]_(1, 1)) : R := Num.min (first_bound k) (second_bound k t).

(* 3. *)
Definition level_query (X : data) (k : 'I_(last_level n d).+1) (t : 'M[R]_(1, 1)) : R :=
  bias_bound X k - n%:R * smaller_bound k t.

Lemma measurable_min e (T : measurableType e) (u v : T -> R) : measurable_fun setT u ->
  measurable_fun setT v -> measurable_fun setT (fun x => Num.min (u x) (v x)).
Proof.
move=> mu mv; rewrite (_ : (fun x => _) = (fun x => 0 - Num.max (0 - u x) (0 - v x))).
  apply: measurable_funB; first exact: measurable_fun_cst.
  by apply: measurable_fun_max; apply: measurable_funB => //; exact: measurable_fun_cst.
by apply/funext => x; rewrite !sub0r oppr_max !opprK.
Qed.

Lemma measurable_trace_bound : measurable_fun [set: number] trace_bound.
Proof.
apply: measurable_min; first exact: measurable_fun_cst.
apply: measurable_fun_max; first exact: measurable_fun_cst.
by apply: measurable_funD; [exact: measurable_entry|exact: measurable_fun_cst].
Qed.

Lemma measurable_root : measurable_fun setT (@Num.sqrt R).
Proof. by apply: continuous_measurable_fun; exact: sqrt_continuous. Qed.

Lemma measurable_second_bound k : measurable_fun [set: number] (second_bound k).
Proof.
apply: measurable_funD; last exact: measurable_fun_cst.
do 2 apply: measurable_funrM.
exact: (measurable_fun_comp measurable_root measurable_trace_bound).
Qed.

Lemma measurable_level_query X k : measurable_fun [set: number] (level_query X k).
Proof.
apply: measurable_funB; first exact: measurable_fun_cst.
apply: measurable_funrM; apply: measurable_min; first exact: measurable_fun_cst.
exact: measurable_second_bound.
Qed.

Definition level_search (X : data) : stage R number numbers :=
  level_stage 0 c1_gt0 c2_gt0 (measurable_level_query X).

(* 4. *)
Definition rounded (M : mechanism R data matrix) : mechanism R data matrix :=
  publish M (@measurable_unit_interval R d).

Definition first_is_better (tk : 'M[R]_(1, 1) * nat) : bool := first_bound tk.2 <= second_bound tk.2 tk.1.

Lemma measurable_first_is_better : measurable_fun [set: number_level] first_is_better.
Proof.
apply: (measurable_fun_bool true).
have m1 : measurable_fun [set: number_level] (@fst 'M[R]_(1, 1) nat) by exact: measurable_fun_fst.
have m2 : measurable_fun [set: number_level] (@snd 'M[R]_(1, 1) nat) by exact: measurable_fun_snd.
have mn (u : nat -> R) : measurable_fun [set: number_level] (fun tk : 'M[R]_(1, 1) * nat => u tk.2).
  by apply: (measurable_fun_comp (f := u : numbers -> R) _ m2).
pose f (tk : 'M[R]_(1, 1) * nat) := second_bound tk.2 tk.1 - first_bound tk.2.
have mf : measurable_fun [set: number_level] f.
  apply: measurable_funB; last exact: (mn first_bound).
  apply: measurable_funD; last exact: (mn (fun k => 4%:R^-1 ^+ k * h)).
  apply: measurable_funM; first exact: (mn (fun k => 2%:R^-1 ^+ k)).
  apply: measurable_funrM; apply: (measurable_fun_comp measurable_root).
  exact: (measurable_fun_comp measurable_trace_bound m1).
rewrite (_ : _ @^-1` _ = f @^-1` `[0, +oo[%classic).
  by rewrite -[X in measurable X]setTI; apply: mf => //; exact: measurable_itv.
by apply/seteqP; split => tk /=; rewrite in_itv /= andbT /f subr_ge0.
Qed.

Let final_law X (tk : 'M[R]_(1, 1) * nat) : {measure set matrix -> \bar R} :=
  if first_is_better tk then at_level (rounded M1) tk.2 X else at_level (rounded M2) tk.2 X.

Let final_total X tk : final_law X tk setT = 1%E.
Proof. by rewrite /final_law; case: ifP => _; exact: release_total. Qed.

Let final_measurable X B : measurable B -> measurable_fun [set: number_level] (fun tk => final_law X tk B).
Proof.
move=> mB; have m2 : measurable_fun [set: number_level] (@snd 'M[R]_(1, 1) nat) by exact: measurable_fun_snd.
have mn (M : mechanism R data matrix) :
    measurable_fun [set: number_level] (fun tk : 'M[R]_(1, 1) * nat => at_level M tk.2 X B).
  by apply: (measurable_fun_comp (f := (fun k => at_level M k X B) : numbers -> \bar R) _ m2).
rewrite (_ : (fun tk => _) = (fun tk : 'M[R]_(1, 1) * nat =>
    if first_is_better tk then at_level (rounded M1) tk.2 X B else at_level (rounded M2) tk.2 X B)).
  apply: measurable_fun_ifT; [exact: measurable_first_is_better|exact: mn|exact: mn].
by apply/funext => tk; rewrite /final_law; case: ifP.
Qed.

Definition final_stage (X : data) : stage R number_level matrix :=
  Stage (final_total X) (final_measurable X).

Let search_law (X : data) : {measure set matrix -> \bar R} :=
  run (noisy_trace X) (Stages.chain (level_search X) (final_stage X)).

Let search_total X : search_law X setT = 1%E.
Proof. by apply: run_total; exact: release_total. Qed.

Definition adaptive_search : mechanism R data matrix := Mechanism search_total.

Lemma trace_change X Y : adjacent X Y -> `|trace_of X 0 0 - trace_of Y 0 0| <= n%:R^-1.
Proof.
move=> [bX bY [i XY]]; rewrite !mxE !mulr1n -raddfB /= (Sensitivity.covariance_gap XY) mxtraceZ normrM.
rewrite ger0_norm ?invr_ge0 ?ler0n // ler_pimulr ?invr_ge0 ?ler0n //.
exact: Sensitivity.trace_gap_le.
Qed.

Lemma level_query_moves X Y t : adjacent X Y ->
  near_one_way (level_query X ^~ t) (level_query Y ^~ t) /\
  increasing_moves (level_query X ^~ t) (level_query Y ^~ t).
Proof.
by move=> XY; exact: (bias_bound_moves (fun k : 'I_(last_level n d).+1 => n%:R * smaller_bound k t) XY).
Qed.

Lemma adaptive_search_zcdp (rt rf : R) :
  zcdp adjacent rt (fun X => noisy_trace X) ->
  zcdp adjacent rf (fun X => M1 X) -> zcdp adjacent rf (fun X => M2 X) ->
  zcdp adjacent (rt + ((c1 + 2%:R * c2) ^+ 2 / 8%:R + rf)) (fun X => adaptive_search X).
Proof.
move=> Ht H1 H2.
apply: (zcdp_run (M1 := fun X => noisy_trace X)
  (M2 := fun X => Stages.chain (level_search X) (final_stage X))) => // t.
apply: stages_zcdp => [X Y XY|k].
  have E Z S (mS : measurable S) : level_law 0 c1_gt0 c2_gt0 (level_query Z ^~ t) S = level_search Z t S by [].
  apply: (concentrated_eq (E X) (E Y)); apply: level_law_concentrated.
  by have [] := level_query_moves t XY.
have HR (M : mechanism R data matrix) : zcdp adjacent rf (fun X => M X) ->
    zcdp adjacent rf (fun X => at_level (rounded M) k X).
  by move=> H; apply: at_level_zcdp; apply: zcdp_postprocessing.
move=> X Y XY; rewrite /= /final_law; case: ifP => _; exact: HR.
Qed.

Lemma adaptive_search_dp (et es ef : R) :
  dp adjacent et (fun X => noisy_trace X) ->
  (forall Q Q' : 'I_(last_level n d).+1 -> R, near_one_way Q Q' -> increasing_moves Q Q' ->
     indistinguishable es (level_law 0 c1_gt0 c2_gt0 Q) (level_law 0 c1_gt0 c2_gt0 Q')) ->
  dp adjacent ef (fun X => M1 X) -> dp adjacent ef (fun X => M2 X) ->
  dp adjacent (et + (es + ef)) (fun X => adaptive_search X).
Proof.
move=> Ht Hs H1 H2.
apply: (run_dp (P := fun X => noisy_trace X)
  (K := fun X => Stages.chain (level_search X) (final_stage X))) => // t.
apply: chain_dp => [X Y XY|k].
  by have [near inc] := level_query_moves t XY; exact: (Hs _ _ near inc).
have HR (M : mechanism R data matrix) : dp adjacent ef (fun X => M X) ->
    dp adjacent ef (fun X => at_level (rounded M) k X).
  by move=> H; apply: at_level_dp; exact: publish_dp.
move=> X Y XY; rewrite /= /final_law; case: ifP => _; exact: HR.
Qed.

End Search.
(* ---------------------------------------------------------------------------- *)
(* Step 0                                                                       *)

Section Radius.
Variables (R : realType) (n d J : nat) (radii : 'I_J -> R) (T c1 c2 : R).
Hypotheses (radii_gt0 : forall j, 0 < radii j) (c1_gt0 : 0 < c1) (c2_gt0 : 0 < c2).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Variable M : mechanism R data matrix.

(* The radius of an answer; 1 if there is none. *)
Definition found_radius (k : nat) : R := if insub k is Some j then radii j else 1.

Lemma found_radius_gt0 k : 0 < found_radius k.
Proof. by rewrite /found_radius; case: insubP => // _; exact: ltr01. Qed.

Definition radius_search (X : data) : {measure set numbers -> \bar R} :=
  level_law T c1_gt0 c2_gt0 (@rows_within R n d J radii X).

Definition within_found (X : data) : stage R numbers matrix :=
  number_stage (fun k => release_total (any_rows (found_radius k) M) X).

Let radius_law (X : data) : {measure set matrix -> \bar R} := run (radius_search X) (within_found X).

Let radius_total X : radius_law X setT = 1%E.
Proof. by apply: run_total; exact: level_law_total. Qed.

Definition with_radius : mechanism R data matrix := Mechanism radius_total.

Lemma rows_within_moves X Y : adjacent X Y ->
  near_one_way (@rows_within R n d J radii X) (rows_within radii Y).
Proof.
move=> [_ _ [i XY]].
have split (Z : data) j : rows_within radii Z j
    = (within (radii j) (Z i))%:R + \sum_(l | l != i) (within (radii j) (Z l))%:R.
  by rewrite /rows_within (bigD1 i).
have rest j : \sum_(l | l != i) (within (radii j) (X l))%:R
    = \sum_(l | l != i) (within (radii j) (Y l))%:R :> R.
  by apply: eq_bigr => l li; rewrite XY.
have step (a b : bool) (s : R) : (a -> b) -> a%:R + s <= b%:R + s <= a%:R + s + 1.
  case: a b => [] [] //= ab; rewrite ?(mulr0n, mulr1n) ?add0r ?lexx ?ler_addl ?ler_addr ?ler01 //.
    by have := ab isT.
  by rewrite addrC lexx.
have [xy|/ltW yx] := leP (Euclidean.norm (Y i)) (Euclidean.norm (X i)); [left|right] => j.
  by rewrite !split rest; apply: step; exact: le_trans.
by rewrite !split rest; apply: step; exact: le_trans.
Qed.

Lemma with_radius_zcdp (rf : R) : zcdp adjacent rf (fun X => M X) ->
  zcdp adjacent ((c1 + 2%:R * c2) ^+ 2 / 8%:R + rf) (fun X => with_radius X).
Proof.
move=> H; apply: (zcdp_run (M1 := radius_search) (M2 := within_found)) => [X Y XY|k X Y [_ _ XY]].
  by apply: level_law_concentrated; exact: rows_within_moves.
exact: (any_rows_zcdp (found_radius_gt0 k) H XY).
Qed.

Lemma with_radius_dp (ef : R) : dp adjacent ef (fun X => M X) ->
  dp adjacent (c1 + c2 + ef) (fun X => with_radius X).
Proof.
move=> H; apply: (run_dp (P := radius_search) (K := within_found)) => [X Y XY|k X Y [_ _ XY]].
  by apply: level_law_dp; exact: rows_within_moves.
exact: (any_rows_dp (found_radius_gt0 k) H XY).
Qed.

End Radius.

(* ---------------------------------------------------------------------------- *)
(* adaptive-cov                                                                 *)

Section Adaptive.
Variables (R : realType) (n d J : nat) (r : R) (radii : 'I_J -> R) (T margin g c h : R).
Hypotheses (n_gt0 : (0 < n)%N) (d_gt0 : (0 < d)%N) (r_gt0 : 0 < r) (radii_gt0 : forall j, 0 < radii j).
Variables (private tight : bool).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

Section Concentrated.
Variables (rho : R) (e : ensemble).
Hypothesis rho_gt0 : 0 < rho.

(* eps_0, the budget of a search. *)
Definition adaptive_epsilon : R := Num.sqrt rho / 2%:R.

Lemma adaptive_epsilon_gt0 : 0 < adaptive_epsilon.
Proof. by rewrite divr_gt0 ?sqrtr_gt0 ?ltr0n. Qed.

(* rho_1 *)
Definition adaptive_final : R :=
  (if tight then if private then 26%:R / 32%:R else 27%:R / 32%:R
   else if private then 5%:R / 8%:R else 3%:R / 4%:R) * rho.

Lemma adaptive_final_gt0 : 0 < adaptive_final.
Proof. by rewrite mulr_gt0 //; do 2 case: ifP => _; rewrite divr_gt0 ?ltr0n. Qed.

Lemma eighth_gt0 : 0 < rho / 8%:R.
Proof. by rewrite divr_gt0 ?ltr0n. Qed.

(* 1/(n sqrt (2 rho/8)) *)
Let row_share_gt0 : 0 < n%:R^-1 :> R. Proof. by rewrite invr_gt0. Qed.
Definition trace_noise := gaussian_weight 1 1 (gaussian_scale_gt0 eighth_gt0 row_share_gt0).

Let c1_gt0 := rate1_gt0 adaptive_epsilon_gt0.
Let c2_gt0 := rate2_gt0 adaptive_epsilon_gt0 false.

Definition adaptive_steps : mechanism R data matrix :=
  adaptive_search trace_noise margin g c h
    (base_mechanism d e n_gt0 Gauss adaptive_final_gt0) (base_mechanism d e n_gt0 Separate adaptive_final_gt0)
    c1_gt0 c2_gt0.

Definition adaptive_cov : mechanism R data matrix :=
  any_rows r (if private then with_radius radii T c1_gt0 c2_gt0 adaptive_steps else adaptive_steps).

(* What is spent. *)
Definition adaptive_cost : R :=
  if tight then rho else (if private then 26%:R / 32%:R else 29%:R / 32%:R) * rho.

Let search_cost : (rate1 adaptive_epsilon + 2%:R * rate2 adaptive_epsilon false) ^+ 2 / 8%:R = rho / 32%:R.
Proof.
have -> : rate1 adaptive_epsilon + 2%:R * rate2 adaptive_epsilon false = adaptive_epsilon.
  by rewrite /rate1 /rate2; field.
by rewrite /adaptive_epsilon expr_div_n sqr_sqrtr ?(ltW rho_gt0) //; field.
Qed.

Lemma trace_noise_zcdp : zcdp adjacent (rho / 8%:R) (fun X => @noisy_trace R n d trace_noise X).
Proof.
rewrite -{1}(gaussian_scaleE eighth_gt0 row_share_gt0); apply: gaussian_noise_zcdp => X Y XY.
rewrite /sum_squares !big_ord1 !mxE -real_normK ?num_real // ler_expn2r ?nnegrE ?normr_ge0 ?(ltW row_share_gt0) //.
by have := trace_change XY; rewrite !mxE.
Qed.

(* The premises are n >= 1, rho > 0, r > 0 and positive radii; g, c, h, the margin and the threshold T of
   step 0 are any numbers. *)
(*@ WHOLE.adaptive-cov *)
Theorem adaptive_cov_zcdp : zcdp neighbours adaptive_cost (fun X => adaptive_cov X).
Proof.
apply: (any_rows_zcdp r_gt0).
have H : zcdp adjacent (rho / 8%:R + (rho / 32%:R + adaptive_final)) (fun X => adaptive_steps X).
  rewrite -search_cost; apply: adaptive_search_zcdp; first exact: trace_noise_zcdp.
    exact: base_mechanism_zcdp.
  exact: base_mechanism_zcdp.
have cost : adaptive_cost = (if private then rho / 32%:R else 0) + (rho / 8%:R + (rho / 32%:R + adaptive_final)).
  by rewrite /adaptive_cost /adaptive_final; case: (private); case: (tight); field.
rewrite cost; case: (private); last by rewrite add0r.
by rewrite -{1}search_cost; exact: with_radius_zcdp.
Qed.

End Concentrated.

(* ---------------------------------------------------------------------------- *)
(* adaptive-cov-pure                                                            *)

Section Pure.
Variable eps : R.
Hypothesis eps_gt0 : 0 < eps.

(* eps/8, the budget of the radius and of the trace. *)
Definition share : R := eps / 8%:R.

Lemma share_gt0 : 0 < share.
Proof. by rewrite divr_gt0 ?ltr0n. Qed.

(* eps_1, and the budget of the search. *)
Definition pure_final : R := (if private then 5%:R else 6%:R) / 8%:R * eps.
Definition pure_search_epsilon : R := if tight then 2%:R * share else share.

Lemma pure_final_gt0 : 0 < pure_final.
Proof. by rewrite mulr_gt0 //; case: ifP => _; rewrite divr_gt0 ?ltr0n. Qed.

Lemma pure_search_epsilon_gt0 : 0 < pure_search_epsilon.
Proof. by rewrite /pure_search_epsilon; case: ifP => _; rewrite ?mulr_gt0 ?share_gt0 ?ltr0n. Qed.

Definition trace_laplace := norm_weight (l1_norm R 1 1) (noise_scale_gt0 n_gt0 share_gt0 (@ltr01 R)).

Definition pure_calibration : calibration := if tight then Tight else Paper.

Let c1_gt0 := rate1_gt0 pure_search_epsilon_gt0.
Let c2_gt0 := rate2_gt0 pure_search_epsilon_gt0 tight.

Definition separate_pure_at (b : R) (b_gt0 : 0 < b) : mechanism R data matrix :=
  Mechanism (separate_cov_pure_total n_gt0 (@measurable_rebuild R d) pure_calibration b_gt0 d_gt0).

Definition pure_steps : mechanism R data matrix :=
  adaptive_search trace_laplace margin g c h
    (lap_cov n_gt0 pure_final_gt0 d_gt0 pure_calibration) (separate_pure_at pure_final_gt0) c1_gt0 c2_gt0.

Definition adaptive_cov_pure : mechanism R data matrix :=
  any_rows r (if private
    then with_radius radii T (rate1_gt0 share_gt0) (rate2_gt0 share_gt0 tight) pure_steps
    else pure_steps).

(* What is spent. *)
Definition pure_cost : R :=
  if tight then eps else (if private then 29%:R / 32%:R else 15%:R / 16%:R) * eps.

Lemma trace_laplace_dp : dp adjacent share (fun X => @noisy_trace R n d trace_laplace X).
Proof.
apply: (@matrix_noise_dp R 1 1 (l1_norm R 1 1) _ share (noise_scale_gt0 n_gt0 share_gt0 (@ltr01 R))
  data adjacent (@trace_of R n d)) => X Y XY.
rewrite (scaleE n_gt0 share_gt0) mulr1 /= /l1 !big_ord1.
by have := trace_change XY; rewrite !mxE.
Qed.

(* The premises are n >= 1, d >= 1, eps > 0, r > 0 and positive radii; g, c, h, the margin and the
   threshold T of step 0 are any numbers. *)
(*@ WHOLE.adaptive-cov-pure *)
Theorem adaptive_cov_pure_dp : dp neighbours pure_cost (fun X => adaptive_cov_pure X).
Proof.
apply: (any_rows_dp r_gt0).
pose es := Num.max (rate1 pure_search_epsilon) (rate2 pure_search_epsilon tight).
have H : dp adjacent (share + (es + pure_final)) (fun X => pure_steps X).
  apply: adaptive_search_dp; first exact: trace_laplace_dp.
  - by move=> Q Q'; exact: level_law_monotone.
  - exact: lap_cov_dp.
  by apply: (separate_cov_pure_dp n_gt0 (@measurable_rebuild R d) pure_calibration pure_final_gt0 d_gt0);
    exact: rebuildP.
have esE : es = if tight then share else share / 2%:R.
  have s0 := share_gt0; rewrite /es /rate1 /rate2 /pure_search_epsilon; case: (tight).
    by rewrite maxxx mulrAC divff ?mul1r // pnatr_eq0.
  by rewrite max_l // ler_pmul2l // ler_pinv ?inE ?unitfE ?pnatr_eq0 ?ltr0n // ler_nat.
have cost : pure_cost = (if private then rate1 share + rate2 share tight else 0) + (share + (es + pure_final)).
  rewrite esE /pure_cost /pure_final /rate1 /rate2 /share.
  by case: (private); case: (tight); field.
rewrite cost; case: (private); last by rewrite add0r.
exact: with_radius_dp.
Qed.

End Pure.

End Adaptive.
