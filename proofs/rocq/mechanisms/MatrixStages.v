(* Stages with symmetric Gaussian noise, and post-processing that sees the first output too.

   A stage (PureDP.v) sends a first output y to a probability.  `stage_image h K` draws z from
   K(y) and returns h(y, z).  `symmetric_stage` adds symmetric noise to a query that depends on
   y and returns h(y, noisy query).  Both keep the bound of zCDP.

   A law of outputs moves through a list of stages one after the other; the costs add up.

   Nothing is assumed. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms SpectralMaps.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity.

Lemma measurable_pair d d1 d2 (T : measurableType d) (T1 : measurableType d1) (T2 : measurableType d2)
    (f : T -> T1) (g : T -> T2) : measurable_fun setT f -> measurable_fun setT g ->
  measurable_fun setT (fun t => (f t, g t)).
Proof. by move=> mf mg; apply/prod_measurable_funP; split. Qed.

Lemma measurable_spectral_map (R : realType) e (T : measurableType e) d (f : R -> R)
    (g : T -> 'M[R]_d) : measurable_map d f -> measurable_fun setT g ->
  measurable_fun setT (fun t => spectral_map f (g t)).
Proof. by move=> mf mg; apply: (measurable_fun_comp mf mg). Qed.

Section StageImage.
Context (R : realType) d1 d2 d3 (Y1 : measurableType d1) (Y2 : measurableType d2) (Z : measurableType d3).
Notation Y12 := [the measurableType _ of (Y1 * Y2)%type].
Variables (h : Y1 * Y2 -> Z) (mh : measurable_fun [set: Y12] h).

Lemma measurable_second_argument y : measurable_fun setT (fun z : Y2 => h (y, z)).
Proof. exact: measurable_fun_prod1. Qed.

Variable K : stage R Y1 Y2.

Let after y : {measure set Z -> \bar R} := image_law (measurable_second_argument y) (K y).

Let after_total y : after y setT = 1%E.
Proof. exact: stage_total. Qed.

Let after_measurable B : measurable B -> measurable_fun setT (fun y => after y B).
Proof.
move=> mB; have mS : measurable (h @^-1` B : set Y12).
  by rewrite -[X in measurable X]setTI; exact: mh.
rewrite (_ : (fun y => _) = (fun y => K y (xsection (h @^-1` B) y))).
  exact: stage_section_measurable.
apply/funext => y; rewrite /after /image_law /pushforward /=; congr (K y _).
by apply/seteqP; split => z; rewrite /xsection /= inE.
Qed.

Definition stage_image : stage R Y1 Z := Stage after_total after_measurable.

End StageImage.

Lemma stage_image_zcdp (R : realType) d1 d2 d3 (Y1 : measurableType d1) (Y2 : measurableType d2)
    (Z : measurableType d3) (h : Y1 * Y2 -> Z)
    (mh : measurable_fun [set: [the measurableType _ of (Y1 * Y2)%type]] h)
    (X : Type) (nb : X -> X -> Prop) (rho : R) (K : X -> stage R Y1 Y2) y :
  zcdp nb rho (fun x => K x y) -> zcdp nb rho (fun x => stage_image mh (K x) y).
Proof. by move=> H x x' xx'; apply: concentrated_image; exact: H. Qed.

(* ---------------------------------------------------------------------------- *)

Section SymmetricStage.
Context (R : realType) e1 e2 (Y : measurableType e1) (Z : measurableType e2) (d : nat).
Notation Ym := [the measurableType _ of (Y * 'M[R]_d)%type].
Variables (h : Y * 'M[R]_d -> Z) (mh : measurable_fun [set: Ym] h).
Variables (sigma : R) (sigma_gt0 : 0 < sigma).
Variables (q : Y -> 'M[R]_d) (mq : measurable_fun setT q).

Lemma measurable_corner : measurable_fun setT (fun y => corner 1 (q y)).
Proof.
apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
by apply: measurable_funrM; exact: (measurable_fun_comp (@measurable_entry R d d _ _) mq).
Qed.

Lemma measurable_mirrored :
  measurable_fun [set: [the measurableType _ of (Y * 'rV[R]_(entries d))%type]]
    (fun yz => h (yz.1, mirror 1 yz.2)).
Proof.
apply: (measurable_fun_comp mh); apply: measurable_pair; first exact: measurable_fun_fst.
apply: (measurable_fun_comp (@measurable_mirror R d 1)); exact: measurable_fun_snd.
Qed.

(* h(y, q(y) + sigma W), W symmetric with independent N(0, 1) on and above the diagonal. *)
Definition symmetric_stage : stage R Y Z :=
  stage_image measurable_mirrored
    (noise_stage (gaussian_weight 1 (entries d) sigma_gt0) measurable_corner).

End SymmetricStage.

Lemma symmetric_stage_zcdp (R : realType) e1 e2 (Y : measurableType e1) (Z : measurableType e2) d
    (h : Y * 'M[R]_d -> Z)
    (mh : measurable_fun [set: [the measurableType _ of (Y * 'M[R]_d)%type]] h)
    (sigma : R) (sigma_gt0 : 0 < sigma) (X : Type) (nb : X -> X -> Prop)
    (q : X -> Y -> 'M[R]_d) (mq : forall x, measurable_fun setT (q x)) (s : R) y : 0 <= s ->
  (forall x, (q x y)^T = q x y) ->
  (forall x x', nb x x' -> MatrixNorms.frob_dot (q x y - q x' y) (q x y - q x' y) <= 2%:R * s ^+ 2) ->
  zcdp nb (s ^+ 2 / sigma ^+ 2) (fun x => symmetric_stage mh sigma_gt0 (mq x) y).
Proof.
move=> s0 q_sym sens; apply: stage_image_zcdp.
have -> : s ^+ 2 / sigma ^+ 2 = (Num.sqrt 2%:R * s) ^+ 2 / (2%:R * sigma ^+ 2).
  by rewrite exprMn sqr_sqrtr ?ler0n //; field; rewrite gt_eqF.
move=> x x' xx'; apply: gaussian_concentrated; rewrite -cornerB exprMn sqr_sqrtr ?ler0n //.
apply: le_trans (sens _ _ xx'); apply: sum_squares_corner; last by rewrite invr1 expr1n ler1n.
by rewrite linearB /= !q_sym.
Qed.

(* What is drawn when the query is symmetric. *)
Lemma symmetric_stageE (R : realType) e1 e2 (Y : measurableType e1) (Z : measurableType e2) d
    (h : Y * 'M[R]_d -> Z)
    (mh : measurable_fun [set: [the measurableType _ of (Y * 'M[R]_d)%type]] h) (sigma : R) (sigma_gt0 : 0 < sigma)
    (q : Y -> 'M[R]_d) (mq : measurable_fun setT q) y S : (q y)^T = q y ->
  symmetric_stage mh sigma_gt0 mq y S
  = symmetric_noise 1 (gaussian_weight 1 (entries d) sigma_gt0) (fun=> q y) tt
      [set A | S (h (y, A))].
Proof.
move=> q_sym; rewrite /= /image_law /pushforward /=; congr (law _ _).
by apply/seteqP; split => z /=; rewrite mirrorD (cornerK (oner_neq0 R)).
Qed.

(* Rows that a map of single rows has made short: replacing one moves their covariance by at
   most sqrt 2 r^2/n, where r^2 bounds the squared length. *)
Definition mapped_covariance (R : realType) (n d : nat) (f : 'cV[R]_d -> 'cV[R]_d)
    (X : Sensitivity.dataset R n d) : 'M[R]_d :=
  @Sensitivity.covariance R n d (fun i => f (X i)).

Lemma short_rows_change (R : realType) (n d : nat) (f : 'cV[R]_d -> 'cV[R]_d) (r2 : R)
    (X Y : Sensitivity.dataset R n d) : (0 < n)%N ->
  (forall v, Euclidean.dot (f v) (f v) <= r2) -> Sensitivity.neighbours X Y ->
  MatrixNorms.frob_dot (mapped_covariance f X - mapped_covariance f Y)
    (mapped_covariance f X - mapped_covariance f Y) <= 2%:R * (r2 / n%:R) ^+ 2.
Proof.
move=> n0 short [i XY]; have nR : 0 < n%:R :> R by rewrite ltr0n.
have gapE : mapped_covariance f X - mapped_covariance f Y = n%:R^-1 *: RankTwo.gap (f (X i)) (f (Y i)).
  by apply: Sensitivity.covariance_gap => j ji; rewrite XY.
rewrite gapE MatrixNorms.frob_dotZl MatrixNorms.frob_dotZr mulrA -expr2.
have -> : 2%:R * (r2 / n%:R) ^+ 2 = n%:R^-1 ^+ 2 * (2%:R * r2 ^+ 2).
  by rewrite expr_div_n exprVn; move: (n%:R ^- 2) (r2 ^+ 2) => a b; ring.
rewrite ler_pmul2l ?exprn_gt0 ?invr_gt0 // RankTwo.frob_gap; have := short (X i); have := short (Y i).
have := Euclidean.dot_ge0 (f (X i)); have := Euclidean.dot_ge0 (f (Y i)).
set a := Euclidean.dot (f (X i)) _; set b := Euclidean.dot (f (Y i)) (f (Y i)).
move=> b0 a0 br ar; apply: (@le_trans _ _ (a ^+ 2 + b ^+ 2)).
  by rewrite ger_addl oppr_le0 mulr_ge0 ?sqr_ge0 ?ler0n.
by rewrite mulr_natl mulr2n ler_add // ler_expn2r ?nnegrE // (le_trans a0).
Qed.

Lemma measurable_covariance (R : realType) e (T : measurableType e) (n d : nat)
    (w : 'I_n -> T -> 'M[R]_(d, 1)) : (forall i, measurable_fun setT (w i)) ->
  measurable_fun setT (fun t => @Sensitivity.covariance R n d (fun i => w i t)).
Proof.
move=> mw; apply: measurable_fun_matrix => k l; under eq_fun do rewrite mxE summxE.
apply: measurable_funrM; apply: measurable_sum => i; under eq_fun do rewrite mxE.
apply: measurable_sum => j; apply: measurable_funM.
  exact: (measurable_fun_comp (@measurable_entry R d 1 _ _) (mw i)).
under eq_fun do rewrite mxE.
exact: (measurable_fun_comp (@measurable_entry R d 1 _ _) (mw i)).
Qed.

(* Stages one after the other. *)
Section Chain.
Context (R : realType) e (Y : measurableType e) (X : Type) (nb : X -> X -> Prop).
Variables (I : Type) (cost : I -> R) (K : I -> X -> stage R Y Y).

(* The law of the last output, when that of the first is P. *)
Fixpoint chain (rounds : seq I) (P : {measure set Y -> \bar R}) (x : X) :
    {measure set Y -> \bar R} :=
  if rounds is i :: rest then chain rest (run P (K i x)) x else P.

Lemma chain_total rounds (P : {measure set Y -> \bar R}) x :
  P setT = 1%E -> chain rounds P x setT = 1%E.
Proof. by elim: rounds P => //= i rounds IH P P1; apply: IH; exact: run_total. Qed.

Hypothesis K_zcdp : forall i y, zcdp nb (cost i) (fun x => K i x y).

Lemma chain_zcdp rounds (rho0 : R) (P : X -> {measure set Y -> \bar R}) : zcdp nb rho0 P ->
  zcdp nb (rho0 + \sum_(i <- rounds) cost i) (fun x => chain rounds (P x) x).
Proof.
elim: rounds rho0 P => [|i rounds IH] rho0 P HP; first by rewrite big_nil addr0.
rewrite big_cons addrA; apply: IH.
by apply: zcdp_run => // y; exact: K_zcdp.
Qed.

End Chain.
