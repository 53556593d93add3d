(* box-gauss and box-laplace, end to end, for both kinds of neighbours.

   Column j has public bounds low_j < high_j.  Every value is brought to the nearer bound if it
   lies outside, and rows are scaled to u in [-1, 1]^d.
     1.  The sums over all rows of 1, u_j, u_j^2 - 1 and u_i u_j.
     2.  Noise on them, of one scale over the weight of each sum.  Under replace-one the number
         of rows is public and has no noise.
     3.  The number of rows; the quotients of the sums by it, and by 1 where it is less, in the
         units of the data: the mean, and the second moment less the product of the means.

   Rows are any rows.  Under replace-one neighbours are two data sets of n rows that differ in
   one; under add-remove, lists of rows of which one has a row more.  The weights are those of
   the code: gauss_weights and laplace_weights, with the loop over p in product_share.

   Assumed: nothing.  Not said: floating point; how the noise is drawn. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric GaussianMechanisms.
From covassay Require Import BoxMoments.
From covassay Require Sensitivity.

(* One list has one element more than the other. *)
Definition added_or_removed (T : Type) (X Y : seq T) : Prop :=
  exists s t x, (X = s ++ t /\ Y = s ++ x :: t) \/ (Y = s ++ t /\ X = s ++ x :: t).

Lemma added_or_removed_inhabited (R : realType) d : added_or_removed [::] [:: (0 : 'cV[R]_d)].
Proof. by exists [::], [::], 0; left. Qed.

(* ---------------------------------------------------------------------------- *)
(* From rows to sums, and from noisy sums to what is released                   *)

Section Box.
Variables (R : realType) (d : nat) (low high : 'I_d -> R).
Hypothesis bounds : forall j, low j < high j.
Notation matrix := 'M[R]_d.+1.

Definition half_width j : R := (high j - low j) / 2%:R.
Definition centre j : R := low j + half_width j.

Definition clipped (x : 'cV[R]_d) j : R := Num.min (Num.max (x j 0) (low j)) (high j).
Definition scaled (x : 'cV[R]_d) : 'cV[R]_d := \col_j ((clipped x j - centre j) / half_width j).

Lemma scaled_in_box x : in_box (scaled x).
Proof.
move=> j; have h0 : 0 < half_width j by rewrite divr_gt0 ?ltr0n // subr_gt0.
rewrite mxE normrM [X in _ * X]gtr0_norm ?invr_gt0 // ler_pdivr_mulr // mul1r.
have lo : low j <= clipped x j by rewrite /clipped le_minr le_maxr lexx orbT ltW.
have hi : clipped x j <= high j by rewrite /clipped le_minl lexx orbT.
have E : high j = centre j + half_width j by rewrite /centre /half_width; field.
have E' : low j = centre j - half_width j by rewrite /centre addrK.
rewrite ler_norml; apply/andP; split.
  by rewrite ler_subr_addl -E' lo.
by rewrite ler_subl_addl -E hi.
Qed.

(* What is computed from noisy sums. *)
Definition divisor (A : matrix) : R := Num.max (A ord0 ord0) 1.
Definition mean_of (A : matrix) j : R := A ord0 (lift ord0 j) / divisor A.
Definition covariance_of (A : matrix) i j : R :=
  A (lift ord0 i) (lift ord0 j) / divisor A + (i == j)%:R - mean_of A i * mean_of A j.

Definition estimates (A : matrix) : matrix := \matrix_(i, j)
  match unlift ord0 i, unlift ord0 j with
  | None, None => A ord0 ord0
  | Some k, None | None, Some k => centre k + half_width k * mean_of A k
  | Some k, Some l => half_width k * half_width l * covariance_of A k l
  end.

Lemma measurable_quotient i j : measurable_fun setT (fun A : matrix => A i j / divisor A).
Proof.
apply: measurable_funM; first exact: measurable_entry.
have pos (A : matrix) : 0 < divisor A by rewrite /divisor lt_maxr ltr01 orbT.
have -> : (fun A : matrix => (divisor A)^-1) = (fun A => expR (- ln (divisor A))).
  by apply/funext => A; rewrite expRN lnK // posrE.
apply: measurable_exp_opp; apply: measurable_ln_comp => //.
apply: measurable_fun_max; [exact: measurable_entry|exact: measurable_fun_cst].
Qed.

Lemma measurable_estimates : measurable_fun setT estimates.
Proof.
have cst (t : R) : measurable_fun setT (fun=> t : R) by exact: measurable_fun_cst.
apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
case: (unlift ord0 i) => [k|]; case: (unlift ord0 j) => [l|]; last exact: measurable_entry.
- apply: measurable_funrM; apply: measurable_funB; last first.
    by apply: measurable_funM; exact: measurable_quotient.
  by apply: measurable_funD => //; exact: measurable_quotient.
- by apply: measurable_funD => //; apply: measurable_funrM; exact: measurable_quotient.
- by apply: measurable_funD => //; apply: measurable_funrM; exact: measurable_quotient.
Qed.

(* ---------------------------------------------------------------------------- *)
(* Noise on the sums                                                            *)

Section Noise.
Variable w : weights R.
Notation row := 'rV[R]_(entries d.+1).
Implicit Types (z : row) (A : matrix).

(* Noise of one scale over the weight of each sum, and none without a weight. *)
Definition spread z : matrix := \matrix_(i, j) ((weight_of w i j)^-1 * z 0 (place i j)).

(* The weighted sums on and above the diagonal. *)
Definition weigh A : row := \row_l (weight_of w (entry_at l).1 (entry_at l).2 *
  A (entry_at l).1 (entry_at l).2).

Lemma weighB A B : weigh (A - B) = weigh A - weigh B.
Proof. by apply/rowP => l; rewrite !mxE mulrBr. Qed.

Lemma spreadD y z : spread (y + z) = spread y + spread z.
Proof. by apply/matrixP => i j; rewrite !mxE mulrDr. Qed.

Lemma weighted_squares_weigh A : sum_squares (weigh A) = weighted_squares w A.
Proof.
rewrite /sum_squares big_ord1 /weighted_squares.
rewrite -(sum_entries (fun i j => (weight_of w i j * A i j) ^+ 2)).
by apply: eq_bigr => l _; rewrite mxE.
Qed.

Lemma weighted_l1_weigh A : l1 (weigh A) = weighted_l1 w A.
Proof.
rewrite /l1 big_ord1 /weighted_l1 -(sum_entries (fun i j => `|weight_of w i j * A i j|)).
by apply: eq_bigr => l _; rewrite mxE.
Qed.

Lemma measurable_spread : measurable_fun setT spread.
Proof.
apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
by apply: measurable_funrM; exact: measurable_entry.
Qed.

Lemma weight_ofC (i j : 'I_d.+1) : weight_of w i j = weight_of w j i.
Proof. by rewrite /weight_of; case: eqP; case: eqP => //; rewrite eq_sym. Qed.

(* What has no weight. *)
Definition weightless (c : R) : matrix :=
  \matrix_(i, j) (if (i == ord0) && (j == ord0) && (count w == 0) then c else 0).

Lemma spread_weigh A : mean w != 0 -> square w != 0 -> product w != 0 ->
  (forall i j, A i j = A j i) -> A = weightless (A ord0 ord0) + spread (weigh A).
Proof.
move=> a0 b0 c0 sA; apply/matrixP => i j; rewrite !mxE entry_at_place.
have -> : weight_of w (ordered i j).1 (ordered i j).2 = weight_of w i j.
  by rewrite /ordered; case: ifP => // _; rewrite weight_ofC.
have -> : A (ordered i j).1 (ordered i j).2 = A i j.
  by rewrite /ordered; case: ifP => // _; rewrite sA.
rewrite mulrA; case: ifP => [/andP[/andP[/eqP -> /eqP ->] /eqP k0]|zero].
  by rewrite {1}/weight_of eqxx k0 invr0 !mul0r addr0.
rewrite add0r mulVf ?mul1r //; move: zero; rewrite /weight_of.
case: (i =P ord0) => _; case: (j =P ord0) => //= _; first by move=> /negbT.
by move=> _; case: ifP.
Qed.

Variables (X : Type) (sums : X -> matrix) (law_of : weight [the measure _ _ of @leb_matrix R 1 (entries d.+1)]).

Definition noisy x z : matrix := estimates (sums x + spread z).

Lemma measurable_noisy x : measurable_fun setT (noisy x).
Proof.
apply: measurable_fun_comp; first exact: measurable_estimates.
exact: (measurable_fun_comp (matrix_measurable_add (sums x)) measurable_spread).
Qed.

Let box_law x : {measure set [the measurableType _ of matrix] -> \bar R} :=
  [the measure _ _ of pushforward [the measure _ _ of law law_of] (measurable_noisy x)].

Let box_total x : box_law x setT = 1%E.
Proof. exact: law_total. Qed.

Definition box_release : mechanism R X [the measurableType _ of matrix] := Mechanism box_total.

(* It is computed from the noisy weighted sums, and from the number of rows if that is public. *)
Variable known : R.
Hypotheses (a0 : mean w != 0) (b0 : square w != 0) (c0 : product w != 0).
Hypotheses (sums_sym : forall x i j, sums x i j = sums x j i).
Hypothesis public : count w != 0 \/ forall x, sums x ord0 ord0 = known.

Definition from_weighted (y : row) : matrix := estimates (weightless known + spread y).

Lemma measurable_from_weighted : measurable_fun setT from_weighted.
Proof.
apply: measurable_fun_comp; first exact: measurable_estimates.
exact: (measurable_fun_comp (matrix_measurable_add (weightless known)) measurable_spread).
Qed.

Lemma box_releaseE x S : box_release x S
  = with_noise (matrices R 1 (entries d.+1)) law_of (fun x => weigh (sums x)) x (from_weighted @^-1` S).
Proof.
rewrite /= /pushforward; congr (law law_of _); apply/seteqP.
have E z : noisy x z = from_weighted (weigh (sums x) + z).
  rewrite /noisy /from_weighted spreadD addrA; congr (estimates (_ + _)).
  rewrite {1}(spread_weigh a0 b0 c0 (sums_sym x)); congr (_ + _).
  case: public => [/negbTE k0|->] //; apply/matrixP => i j; rewrite !mxE.
  by rewrite k0 andbF.
by split => z /=; rewrite E.
Qed.

Lemma box_dp (nb : X -> X -> Prop) eps :
  dp nb eps (fun x => with_noise (matrices R 1 (entries d.+1)) law_of (fun x => weigh (sums x)) x) ->
  dp nb eps (fun x => box_release x).
Proof.
move=> H x x' xx' S mS; rewrite !box_releaseE.
exact: (postprocessing measurable_from_weighted H).
Qed.

Lemma box_zcdp (nb : X -> X -> Prop) rho :
  zcdp nb rho (fun x => with_noise (matrices R 1 (entries d.+1)) law_of (fun x => weigh (sums x)) x) ->
  zcdp nb rho (fun x => box_release x).
Proof.
move=> H x x' xx'.
pose image x0 := image_law measurable_from_weighted
  (with_noise (matrices R 1 (entries d.+1)) law_of (fun x => weigh (sums x)) x0).
have E x0 S : measurable S -> image x0 S = box_release x0 S.
  by move=> _; rewrite box_releaseE.
by apply: (concentrated_eq (E x) (E x')); apply: concentrated_image; exact: H.
Qed.

End Noise.

(* ---------------------------------------------------------------------------- *)
(* The sums of both kinds of data sets                                          *)

Definition sums_of n (X : Sensitivity.dataset R n d) : matrix := \sum_i moments (scaled (X i)).
Definition sums_of_list (X : seq 'cV[R]_d) : matrix := \sum_(x <- X) moments (scaled x).

Lemma sums_of_sym n (X : Sensitivity.dataset R n d) i j : sums_of X i j = sums_of X j i.
Proof. by rewrite /sums_of !summxE; apply: eq_bigr => k _; rewrite moments_sym. Qed.

Lemma sums_of_list_sym X i j : sums_of_list X i j = sums_of_list X j i.
Proof. by rewrite /sums_of_list !summxE; apply: eq_bigr => k _; rewrite moments_sym. Qed.

Lemma sums_of_count n (X : Sensitivity.dataset R n d) : sums_of X ord0 ord0 = n%:R.
Proof.
rewrite /sums_of summxE; under eq_bigr do rewrite moments00.
by rewrite sumr_const card_ord.
Qed.

Lemma sums_of_gap n (X Y : Sensitivity.dataset R n d) : Sensitivity.neighbours X Y ->
  exists u v, [/\ in_box u, in_box v & sums_of X - sums_of Y = moments u - moments v].
Proof.
move=> [i XY]; exists (scaled (X i)), (scaled (Y i)); split; try exact: scaled_in_box.
rewrite /sums_of (bigD1 i) //= [X in _ - X](bigD1 i) //=.
have -> : \sum_(j | j != i) moments (scaled (X j)) = \sum_(j | j != i) moments (scaled (Y j)).
  by apply: eq_bigr => j ji; rewrite XY.
by rewrite opprD addrACA subrr addr0.
Qed.

Lemma sums_of_list_gap X Y : added_or_removed X Y -> exists u, in_box u /\
  (sums_of_list X - sums_of_list Y = moments u \/ sums_of_list Y - sums_of_list X = moments u).
Proof.
have more s t x : sums_of_list (s ++ x :: t) - sums_of_list (s ++ t) = moments (scaled x).
  by rewrite /sums_of_list !big_cat big_cons /= addrCA addrK.
move=> [s [t [x [[-> ->]|[-> ->]]]]]; exists (scaled x); rewrite more.
  by split; [exact: scaled_in_box|right].
by split; [exact: scaled_in_box|left].
Qed.

Lemma sum_squaresC m n (A B : 'M[R]_(m, n)) : sum_squares (A - B) = sum_squares (B - A).
Proof.
by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite !mxE -sqrrN opprB.
Qed.

End Box.

(* ---------------------------------------------------------------------------- *)
(* The weights of the code                                                      *)

Section Weights.
Variables (R : realType) (d : nat).
Let D : R := d%:R.

(* The best c^2/a^2 for Gaussian noise under replace-one: the least value over the whole
   numbers p from (d + 1)/2 to d - 1, and its t. *)
Definition share_mean : R := D * (2%:R * D + 3%:R).
Definition share_products : R := D * (D - 1).

Definition share_at (p : nat) : R :=
  let t := Num.max (Num.sqrt (share_products / (share_mean * (D - p%:R)))) (2%:R * p%:R + 1 - D)^-1 in
  if (d.+1 < 2 * p)%N then Num.min t (2%:R * p%:R - 1 - D)^-1 else t.

Definition share_step (best : R * R) (p : nat) : R * R :=
  let t := share_at p in
  let value := p%:R * (1 + t * (D - p%:R)) * (share_mean + share_products / t) in
  if value < best.2 then (t, value) else best.

Definition product_share : R :=
  if d == 1%N then 1 else
  (foldl share_step ((D - 1)^-1, D * (share_mean + share_products * (D - 1)))
     (iota (uphalf d) (d - uphalf d))).1.

Lemma product_share_gt0 : (0 < d)%N -> 0 < product_share.
Proof.
move=> d0; rewrite /product_share; case: eqP => [_|/eqP d1]; first exact: ltr01.
have start : 0 < (D - 1)^-1.
  by rewrite invr_gt0 subr_gt0 ltr1n ltn_neqAle eq_sym d1.
have at_gt0 p : (uphalf d <= p)%N -> 0 < share_at p.
  move=> dp; have t0 : 0 < (2%:R * p%:R + 1 - D)^-1.
    rewrite invr_gt0 subr_gt0 -natrM natr1 ltr_nat ltnS.
    apply: leq_trans (leq_mul (leqnn 2) dp); rewrite mul2n uphalf_half doubleD -[X in (X <= _)%N]odd_double_half.
    by rewrite leq_add2r -[X in (X <= _)%N]muln1 -muln2 leq_mul2l orbT.
  rewrite /share_at; case: ifP => [p2|_]; last by rewrite lt_maxr t0 orbT.
  rewrite lt_minr lt_maxr t0 orbT /= invr_gt0 -addrA -opprD subr_gt0 addrC natr1 -natrM ltr_nat.
  exact: p2.
move: start; set first := (D - 1)^-1; set value := D * _.
have : forall p, p \in iota (uphalf d) (d - uphalf d) -> (uphalf d <= p)%N.
  by move=> p; rewrite mem_iota => /andP[].
elim: (iota _ _) first value => [|p s IH] t v ps t0 //=.
have ps' q : q \in s -> (uphalf d <= q)%N by move=> qs; rewrite ps // inE qs orbT.
case E: (share_step (t, v) p) => [t' v']; apply: IH => //.
move: E; rewrite /share_step /=; case: ifP => _ [<- _] //.
by apply: at_gt0; rewrite ps // inE eqxx.
Qed.

Definition gauss_weights_replaced : weights R := Weights 0 1 1 (Num.sqrt product_share).

Definition gauss_weights_added : weights R :=
  let a := Num.sqrt (2%:R * (D + 1)) in let c := Num.sqrt 2%:R in
  Weights (Num.sqrt (Num.sqrt (D * (D + 3%:R)))) (Num.sqrt a)
    (Num.sqrt (a + c * (D - 1) / 2%:R)) (Num.sqrt c).

(* Cube roots of positive numbers. *)
Definition cube_root (x : R) : R := expR (ln x / 3%:R).

Definition laplace_weights_replaced : weights R :=
  let e := D - 1 + cube_root 4%:R in
  let w := 1 + 27%:R * e ^+ 3 / (2%:R * D + 2%:R) in
  let u := cube_root (w + Num.sqrt (w ^+ 2 - 1)) in
  let c := (1 + u + u^-1) / (3%:R * e) in
  Weights 0 1 (c / cube_root 2%:R) c.

Definition laplace_weights_added : weights R :=
  let a := cube_root (2%:R * (D + 1)) in let c := cube_root 2%:R in
  Weights (cube_root (D * (D + 3%:R))) a ((a + c * (D - 1)) / 2%:R) c.

Lemma cube_root_gt0 x : 0 < cube_root x.
Proof. exact: expR_gt0. Qed.

(* It is the cube root. *)
Lemma cube_rootK x : 0 < x -> cube_root x ^+ 3 = x.
Proof.
move=> x0; rewrite /cube_root -expRMm mulrCA divff ?mulr1 ?pnatr_eq0 //.
by rewrite lnK // posrE.
Qed.

Lemma cube_root_le x : 1 <= x -> cube_root x <= x.
Proof.
move=> x1; have x0 : 0 < x by apply: lt_le_trans x1.
rewrite -[X in _ <= X]lnK ?posrE // ler_expR ler_pdivr_mulr ?ltr0n // ler_pemulr ?ler1n //.
by rewrite -(@ler_expR R) expR0 lnK ?posrE.
Qed.

Hypothesis d_gt0 : (0 < d)%N.
Let D1 : 1 <= D. Proof. by rewrite ler1n. Qed.
Let D0 : 0 < D. Proof. exact: lt_le_trans ltr01 D1. Qed.

Lemma laplace_product_gt0 : 0 < product laplace_weights_replaced.
Proof.
rewrite /= divr_gt0 // ?addr_gt0 ?ltr01 ?invr_gt0 ?cube_root_gt0 //.
by rewrite mulr_gt0 ?ltr0n // ltr_paddl ?cube_root_gt0 // subr_ge0.
Qed.

End Weights.

(* ---------------------------------------------------------------------------- *)
(* The mechanisms                                                               *)

Section Mechanisms.
Variables (R : realType) (d : nat) (low high : 'I_d -> R).
Hypotheses (d_gt0 : (0 < d)%N) (bounds : forall j, low j < high j).
Let D1 : 1 <= d%:R :> R. Proof. by rewrite ler1n. Qed.
Let D0 : 0 < d%:R :> R. Proof. exact: lt_le_trans ltr01 D1. Qed.

(* The sensitivities *)
Definition gauss_sensitivity_replaced : R :=
  Num.sqrt (l2_squared_replaced d (gauss_weights_replaced R d)).
Definition gauss_sensitivity_added : R :=
  Num.sqrt (l2_squared_added d (gauss_weights_added R d)).
Definition laplace_sensitivity_replaced : R :=
  l1_sensitivity_replaced d (laplace_weights_replaced R d).
Definition laplace_sensitivity_added : R :=
  l1_sensitivity_added d (laplace_weights_added R d).

Let share_gt0 : 0 < product (gauss_weights_replaced R d).
Proof. by rewrite sqrtr_gt0 product_share_gt0. Qed.

Lemma gauss_squared_replaced_gt0 : 0 < l2_squared_replaced d (gauss_weights_replaced R d).
Proof.
have [pd _ hi] := @opposite_columns_best R d (gauss_weights_replaced R d) share_gt0.
have c20 := exprn_gt0 2 share_gt0.
rewrite /l2_squared_replaced /opposite.
move: (opposite_columns _ _) pd hi => p pd hi; have [p0|p_gt0] := posnP p.
  move: hi; rewrite p0 => -[d0|]; first by move: d_gt0; rewrite -d0.
  rewrite add0r mulr1 leNgt => /negP[]; rewrite -subr_gt0.
  rewrite [X in _ < X](_ : _ = 1 + (d%:R - 1) * product (gauss_weights_replaced R d) ^+ 2); last by rewrite /=; ring.
  by rewrite ltr_spaddl ?ltr01 // mulr_ge0 ?subr_ge0 // ltW.
rewrite mulr_gt0 ?mulr_gt0 ?ltr0n // ltr_spaddl ?exprn_gt0 ?ltr01 //.
by rewrite mulr_ge0 ?(ltW c20) // subr_ge0 ler_nat.
Qed.

Lemma gauss_sensitivity_replaced_gt0 : 0 < gauss_sensitivity_replaced.
Proof. by rewrite sqrtr_gt0 gauss_squared_replaced_gt0. Qed.

Lemma gauss_squared_added_gt0 : 0 < l2_squared_added d (gauss_weights_added R d).
Proof.
have a0 : 0 < mean (gauss_weights_added R d).
  by rewrite /= !sqrtr_gt0 mulr_gt0 ?ltr0n // addr_gt0.
rewrite /l2_squared_added ltr_spaddl //.
  by rewrite ltr_spaddr ?sqr_ge0 // mulr_gt0 // exprn_gt0.
apply: divr_ge0; last exact: ler0n.
by apply: mulr_ge0; rewrite ?subr_ge0 // mulr_ge0 ?sqr_ge0 ?ler0n.
Qed.

Lemma gauss_sensitivity_added_gt0 : 0 < gauss_sensitivity_added.
Proof. by rewrite sqrtr_gt0 gauss_squared_added_gt0. Qed.

Lemma laplace_sensitivity_replaced_gt0 : 0 < laplace_sensitivity_replaced.
Proof.
have c0 := @laplace_product_gt0 R d d_gt0.
rewrite /laplace_sensitivity_replaced /l1_sensitivity_replaced; case: ifP => _; last first.
  by rewrite mulr1 mulr_gt0 ?ltr0n.
have Q0 : 0 < product (laplace_weights_replaced R d) * (d%:R - 1) + 2%:R * square (laplace_weights_replaced R d).
  apply: ltr_paddl; first by rewrite mulr_ge0 ?(ltW c0) // subr_ge0.
  by rewrite mulr_gt0 ?ltr0n // divr_gt0 ?cube_root_gt0.
apply: divr_gt0; first by rewrite mulr_gt0 // exprn_gt0 // addr_gt0 // ltr01.
by rewrite mulr_gt0 ?ltr0n.
Qed.

Lemma laplace_sensitivity_added_gt0 : 0 < laplace_sensitivity_added.
Proof.
rewrite /laplace_sensitivity_added /l1_sensitivity_added ltr_spaddl //.
  by rewrite addr_gt0 ?cube_root_gt0 // mulr_gt0 ?cube_root_gt0.
apply: divr_ge0; last exact: ler0n.
by apply: mulr_ge0; rewrite ?subr_ge0 // mulr_ge0 ?ler0n // ltW // cube_root_gt0.
Qed.

(* box-gauss *)

(* The weights of all sums but that of 1 are not zero. *)
Definition weights_neq0 (w : weights R) : Prop := [/\ mean w != 0, square w != 0 & product w != 0].

Lemma gauss_weights_replaced_neq0 : weights_neq0 (gauss_weights_replaced R d).
Proof. by split; rewrite ?(gt_eqF share_gt0) //=; exact: oner_neq0. Qed.

Lemma gauss_weights_added_neq0 : weights_neq0 (gauss_weights_added R d).
Proof.
have A0 : 0 < Num.sqrt (2%:R * (d%:R + 1)) :> R by rewrite sqrtr_gt0 mulr_gt0 ?ltr0n // addr_gt0.
have C0 : 0 <= Num.sqrt 2%:R * (d%:R - 1) / 2%:R :> R.
  by rewrite divr_ge0 ?ler0n // mulr_ge0 ?sqrtr_ge0 // subr_ge0.
by split; rewrite /= gt_eqF // !sqrtr_gt0 ?ltr0n // ltr_paddr.
Qed.

Lemma gauss_count_added_neq0 : count (gauss_weights_added R d) != 0.
Proof. by rewrite /= gt_eqF // !sqrtr_gt0 mulr_gt0 // addr_gt0 // ltr0n. Qed.

(* How far neighbours move the weighted sums. *)
Lemma weighted_sums_move n (X Y : Sensitivity.dataset R n d) : Sensitivity.neighbours X Y ->
  sum_squares (weigh (gauss_weights_replaced R d) (sums_of low high X)
    - weigh (gauss_weights_replaced R d) (sums_of low high Y)) <= gauss_sensitivity_replaced ^+ 2.
Proof.
move=> /(sums_of_gap bounds)[u [v [u1 v1 XY]]].
rewrite -weighB XY weighted_squares_weigh sqr_sqrtr ?(ltW gauss_squared_replaced_gt0) //.
by apply: l2_replaced => //=.
Qed.

Lemma weighted_list_sums_move X Y : added_or_removed X Y ->
  sum_squares (weigh (gauss_weights_added R d) (sums_of_list low high X)
    - weigh (gauss_weights_added R d) (sums_of_list low high Y)) <= gauss_sensitivity_added ^+ 2.
Proof.
have A0 : 0 < Num.sqrt (2%:R * (d%:R + 1)) :> R by rewrite sqrtr_gt0 mulr_gt0 ?ltr0n // addr_gt0.
have C0 : 0 <= Num.sqrt 2%:R * (d%:R - 1) / 2%:R :> R.
  by rewrite divr_ge0 ?ler0n // mulr_ge0 ?sqrtr_ge0 // subr_ge0.
have bound (u : 'cV[R]_d) : in_box u -> sum_squares (weigh (gauss_weights_added R d) (moments u)) <=
    gauss_sensitivity_added ^+ 2.
  move=> u1; rewrite weighted_squares_weigh sqr_sqrtr ?(ltW gauss_squared_added_gt0) //.
  apply: l2_added => //=; rewrite !sqr_sqrtr ?sqrtr_ge0 ?(ltW A0) //.
  by rewrite addr_ge0 // ltW.
move=> /(sums_of_list_gap bounds)[u [u1 [XY|XY]]].
  by rewrite -weighB XY bound.
by rewrite sum_squaresC -weighB XY bound.
Qed.

Section Gauss.
Variable rho : R.
Hypothesis rho_gt0 : 0 < rho.

Definition box_gauss (n : nat) := box_release low high (gauss_weights_replaced R d)
  (sums_of low high (n := n))
  (gaussian_weight 1 (entries d.+1) (gaussian_scale_gt0 rho_gt0 gauss_sensitivity_replaced_gt0)).

(* The premises are d >= 1, bounds with low_j < high_j, and rho > 0. *)
(*@ WHOLE.box-gauss *)
Theorem box_gauss_zcdp (n : nat) :
  zcdp (@Sensitivity.neighbours R n d) rho (fun X => box_gauss n X).
Proof.
have [a0 b0 c0] := gauss_weights_replaced_neq0.
apply: (@box_zcdp _ _ _ _ _ _ _ _ n%:R) => //; first exact: sums_of_sym.
  by right; exact: sums_of_count.
rewrite -{1}(gaussian_scaleE rho_gt0 gauss_sensitivity_replaced_gt0).
apply: gaussian_noise_zcdp; exact: weighted_sums_move.
Qed.

Definition box_gauss_list := box_release low high (gauss_weights_added R d)
  (sums_of_list low high)
  (gaussian_weight 1 (entries d.+1) (gaussian_scale_gt0 rho_gt0 gauss_sensitivity_added_gt0)).

(* The premises are d >= 1, bounds with low_j < high_j, and rho > 0. *)
(*@ ADD-REMOVE.box-gauss *)
Theorem box_gauss_list_zcdp :
  zcdp (@added_or_removed 'cV[R]_d) rho (fun X => box_gauss_list X).
Proof.
have [a0 b0 c0] := gauss_weights_added_neq0.
apply: (@box_zcdp _ _ _ _ _ _ _ _ 0) => //; first exact: sums_of_list_sym.
  by left; exact: gauss_count_added_neq0.
rewrite -{1}(gaussian_scaleE rho_gt0 gauss_sensitivity_added_gt0).
apply: gaussian_noise_zcdp; exact: weighted_list_sums_move.
Qed.

End Gauss.

(* box-laplace *)
Section Laplace.
Variable eps : R.
Hypothesis eps_gt0 : 0 < eps.

Lemma laplace_scale_gt0 (s : R) : 0 < s -> 0 < s / eps.
Proof. by move=> s0; rewrite divr_gt0. Qed.

Definition box_laplace (n : nat) := box_release low high (laplace_weights_replaced R d)
  (sums_of low high (n := n))
  (norm_weight (l1_norm R 1 (entries d.+1)) (laplace_scale_gt0 laplace_sensitivity_replaced_gt0)).

(* The premises are d >= 1, bounds with low_j < high_j, and eps > 0. *)
(*@ WHOLE.box-laplace *)
Theorem box_laplace_dp (n : nat) :
  dp (@Sensitivity.neighbours R n d) eps (fun X => box_laplace n X).
Proof.
have c0 := @laplace_product_gt0 R d d_gt0.
have b0 : 0 < square (laplace_weights_replaced R d) by rewrite divr_gt0 ?cube_root_gt0.
apply: (@box_dp _ _ _ _ _ _ _ _ n%:R).
- exact: oner_neq0.
- by rewrite gt_eqF.
- by rewrite gt_eqF.
- exact: sums_of_sym.
- by right; exact: sums_of_count.
apply: matrix_noise_dp => X Y /(sums_of_gap bounds)[u [v [u1 v1 XY]]].
rewrite mulrCA divff ?gt_eqF // mulr1 -weighB XY /= weighted_l1_weigh.
apply: l1_replaced; rewrite ?ltr01 //.
rewrite -[square _]/(product (laplace_weights_replaced R d) / cube_root 2%:R).
move: (product _) c0 => c c0; rewrite mulrCA ler_pemulr ?(ltW c0) // ler_pdivl_mulr ?cube_root_gt0 // mul1r.
by apply: cube_root_le; rewrite ler1n.
Qed.

Definition box_laplace_list := box_release low high (laplace_weights_added R d)
  (sums_of_list low high)
  (norm_weight (l1_norm R 1 (entries d.+1)) (laplace_scale_gt0 laplace_sensitivity_added_gt0)).

(* The premises are d >= 1, bounds with low_j < high_j, and eps > 0. *)
(*@ ADD-REMOVE.box-laplace *)
Theorem box_laplace_list_dp :
  dp (@added_or_removed 'cV[R]_d) eps (fun X => box_laplace_list X).
Proof.
have C0 : 0 <= cube_root 2%:R * (d%:R - 1) :> R.
  by rewrite mulr_ge0 ?subr_ge0 // ltW // cube_root_gt0.
have b0 : 0 < square (laplace_weights_added R d).
  by rewrite /= divr_gt0 ?ltr0n // ltr_paddr ?cube_root_gt0.
apply: (@box_dp _ _ _ _ _ _ _ _ 0).
- by rewrite /= gt_eqF // cube_root_gt0.
- by rewrite gt_eqF.
- by rewrite /= gt_eqF // cube_root_gt0.
- exact: sums_of_list_sym.
- by left; rewrite /= gt_eqF // cube_root_gt0.
have bound (u : 'cV[R]_d) : in_box u -> l1 (weigh (laplace_weights_added R d) (moments u)) <=
    laplace_sensitivity_added.
  move=> u1; rewrite weighted_l1_weigh.
  by apply: l1_added => //; rewrite ?(ltW b0) // ltW // cube_root_gt0.
apply: matrix_noise_dp => X Y XY; rewrite mulrCA divff ?gt_eqF // mulr1.
case: (sums_of_list_gap bounds XY) => u [u1 [E|E]].
  by rewrite -weighB E bound.
by rewrite normC -weighB E bound.
Qed.

End Laplace.

End Mechanisms.
