(* Releases of ppc and pgce as functions of rational numbers.

   - ppc with two rounds: A = 1/c B2 B1 for rational B1, B2 and c = 84/100.
   - pgce with one round and the last estimate S: c B1^-1 S B1^-1.

   The laws are those of what is computed from two independent noises W of scale one.  kappa/1000 is
   between powers of 100/69, so that the number of rounds is known (rounds_rat).

   Assumed: nothing.  Not said: other numbers of rounds; other eigenvectors than these.  No numbers
   are evaluated here: kappa is above 1000, which is too large for arithmetic on unary numbers. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval rat zmodp matrix.
From covassay Require Import MeasureTheory PureDP Lebesgue AdditiveNoise Norms KNorm Mechanisms Gaussian TwoStages.
From covassay Require Import Symmetric SymmetricMechanisms GaussianMechanisms SpectralMaps EigenvalueFunctions.
From covassay Require Import MatrixStages Preconditioning Releases RationalData StageVectors PreconditioningVectors.
From covassay Require Euclidean Sensitivity CoinpressVectors.
From covassay Require ProjectionVectors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.
(* 1/c B2 B1, and c B1^-1 S B1^-1 for a psd matrix S. *)
Definition ppc_release (v1 v2 : nat -> nat -> rat) (kappa1 kappa2 : rat) (a1 a2 : nat -> rat) (i j : nat) : rat :=
  floor_rat^-1 * product_of (basis_entry v2 (halved kappa2 a2)) (basis_entry v1 (halved kappa1 a1)) i j.
Definition pgce_release (v1 v2 : nat -> nat -> rat) (kappa : rat) (a1 a2 : nat -> rat) (i j : nat) : rat :=
  let inverse := basis_entry v1 (doubled kappa a1) in
  floor_rat * product_of (product_of inverse (basis_entry v2 (positive a2))) inverse i j.

Section Releases.
Variables (R : realType) (n : nat) (x : seq (seq rat)) (tight : bool) (rho kappa L t : rat) (beta : R).
Hypotheses (n_gt0 : (0 < n)%N) (rho_gt0 : 0 < ratr rho :> R) (kappa_gt0 : 0 < ratr kappa :> R).
Hypotheses (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1) (t_ge0 : 0 <= t) (t_L : t ^+ 2 = 2%:R * L).
Variables (v1 v2 : nat -> nat -> rat) (a1 a2 : nat -> rat).
Hypotheses (v1_ok : orthonormal v1) (v2_ok : orthonormal v2).
Hypotheses (a1_ok : (a1 1%N < a1 0%N) && (0 < a1 0%N)) (a2_ok : (a2 1%N < a2 0%N) && (0 < a2 0%N)).
Notation X := (rows R n 2 x).
Notation root_c := (Num.sqrt (floor_constant R)).
Notation noise := (symmetric_law 1 (unit_gaussian R 1 (entries 2))).
Notation start := (identity_transform R 2).

(* The first step, from A = I; e and h^2 are 1. *)
Lemma first_rows kappa' beta' r2 : squared_radius n 2 kappa' beta' = ratr r2 :> R ->
  image_covariance kappa' beta' X start = entries_of R 2 2 (estimate_query 1 r2 axis n x).
Proof.
move=> r2E; apply: (@estimate_rows R n x 1 r2 1 _ _ ltr01 _ r2E); first by rewrite expr1n rmorph1.
rewrite scale1r; apply/matrixP => i j; rewrite !mxE /axis.
by rewrite rmorph_nat; congr (nat_of_bool _)%:R.
Qed.

Lemma image_covariance_sym kappa' beta' y :
  (image_covariance kappa' beta' X y)^T = image_covariance kappa' beta' X y.
Proof. exact: covariance_sym. Qed.

(* ppc with two rounds. *)
Definition inverse_progress : rat := 69%:R^-1 * 100%:R.
Definition excess (k : rat) : rat := k / 1000%:R.

Lemma inverse_progressE : 1 / progress R = ratr inverse_progress.
Proof. by rewrite /progress div1r invf_div rmorphM fmorphV !rmorph_nat mulrC. Qed.

Lemma inverse_progress_gt1 : 1 < inverse_progress.
Proof. by rewrite ltr_pdivl_mull ?ltr0n // mulr1 ltr_nat. Qed.

Lemma excessE : ratr kappa / smallest_kappa R = ratr (excess kappa).
Proof. by rewrite /smallest_kappa fmorph_div rmorph_nat -natrX. Qed.

(* T rounds, if kappa/1000 is above the (T - 1)-th power of 100/69 and not above the T-th. *)
Lemma rounds_rat (s : nat) : inverse_progress ^+ s < excess kappa <= inverse_progress ^+ s.+1 ->
  Preconditioning.rounds (ratr kappa : R) = s.+1.
Proof.
move=> /andP[low high]; rewrite /Preconditioning.rounds excessE inverse_progressE.
have c1 := inverse_progress_gt1; move: inverse_progress (excess kappa) low high c1 => c k low high c1.
have c0 : 0 < c := lt_trans ltr01 c1.
have k0 : 0 < k by apply: lt_trans low; rewrite exprn_gt0.
have l0 : 0 < ln (ratr c : R) by rewrite ln_gt0 // -(rmorph1 (ratr_rmorphism R)) ltr_rat.
have powE m : m%:R * ln (ratr c : R) = ln (ratr (c ^+ m)).
  by rewrite mulr_natl -lnX ?ltr0q // rmorphX.
have /eqP -> : ceil (ln (ratr k : R) / ln (ratr c)) == s.+1%:Z; last by rewrite max_r.
rewrite eq_le -ceil_ge_int intS lez_add1r -ceil_lt_int -intS.
rewrite ler_pdivr_mulr // ltr_pdivl_mulr // !powE.
by rewrite ler_ln ?ltr_ln ?posrE ?ltr0q ?exprn_gt0 // ler_rat ltr_rat high.
Qed.

(* kappa_t, for t counted from 0. *)
Definition kappa_rat (s : nat) : rat := (69%:R / 100%:R) ^+ s * kappa.

Lemma kappa_ratE s : kappa_of_round (ratr kappa : R) s = ratr (kappa_rat s).
Proof. by rewrite /kappa_of_round /progress /kappa_rat rmorphM rmorphX fmorph_div !rmorph_nat. Qed.

Lemma radius_ratE s beta' : ln (n%:R / beta') = ratr L ->
  squared_radius n 2 (kappa_of_round (ratr kappa) s) beta' = ratr (pce_radius 2 (kappa_rat s) L t) :> R.
Proof. by move=> beta_L; rewrite kappa_ratE; exact: ProjectionVectors.squared_radius_rat. Qed.

(* The first round of T = s + 1, at budgets rho' and beta'. *)
Section FirstRound.
Variables (rho' : rat) (r : R) (beta' : R) (s : nat).
Hypotheses (r_gt0 : 0 < r) (beta'_gt0 : 0 < beta') (beta'_lt1 : beta' < 1).
Hypotheses (rE : share r s = ratr rho') (beta'_L : ln (n%:R / share beta' s) = ratr L).
Notation step i := (ppc_round tight n_gt0 r_gt0 kappa_gt0 beta'_gt0 beta'_lt1 s i X).
Notation query i := (image_covariance (kappa_of_round (ratr kappa) i) (share beta' s) X).
Notation scale i := (pce_scale n 2 (share r s) (kappa_of_round (ratr kappa) i) (share beta' s) tight).
Notation radius i := (pce_radius 2 (kappa_rat i) L t).
Notation square i := (estimate_square tight n rho' (radius i)).

Definition after_first (W : 'M[R]_2) : transform R 2 := next_transform (ratr kappa) 0 (start, query 0%N start + scale 0%N *: W).

Lemma measurable_after_first : measurable_fun setT after_first.
Proof.
exact: (measurable_fun_comp (measurable_second_argument (measurable_next_transform (ratr kappa) 0) start)
  (measurable_noisy _ _)).
Qed.

Lemma round_computes i y : computes (step i y) noise
  (fun W => next_transform (ratr kappa) i (y, query i y + scale i *: W)).
Proof. by apply: symmetric_stage_computes; exact: covariance_sym. Qed.

Lemma first_computes :
  computes (run [the {measure set transform R 2 -> \bar R} of dirac start] (step 0%N)) noise after_first.
Proof.
move=> S mS; apply: etrans (CoinpressVectors.run_dirac start (step 0%N) mS) _.
exact: (round_computes 0 start mS).
Qed.

Lemma round_scale_square i : 0 < scale i /\ scale i ^+ 2 = ratr (square i).
Proof.
split.
  exact: (pce_scale_gt0 2 n_gt0 (share_gt0 s r_gt0) (kappa_of_round_gt0 kappa_gt0 i) (share_gt0 s beta'_gt0)
    (share_lt1 s beta'_lt1) tight).
have := share_gt0 s r_gt0; rewrite rE => r0; exact: (pce_scale_square (radius_ratE i beta'_L) tight r0 n_gt0).
Qed.

Definition first_noise : nat -> nat -> rat :=
  noise_to (basis_entry v1 a1) (estimate_query 1 (radius 0%N) axis n x) (square 0%N).

Lemma after_first_value : after_first (Num.sqrt (ratr (square 0%N)) *: entries_of R 2 2 first_noise)
  = (root_c^-1 *: entries_of R 2 2 (basis_entry v1 (halved (kappa_rat 0) a1)),
     root_c *: entries_of R 2 2 (basis_entry v1 (doubled (kappa_rat 0) a1))).
Proof.
have [b0 bs] := round_scale_square 0.
rewrite /after_first (noise_arrives _ (first_rows (radius_ratE 0 beta'_L)) b0 bs) /next_transform /=.
by rewrite mulmx1 mul1mx kappa_ratE (shrink_basis R v1_ok a1_ok) (stretch_basis R v1_ok a1_ok).
Qed.

End FirstRound.

Lemma inverse_root_c : root_c^-1 ^+ 2 = ratr floor_rat^-1.
Proof.
rewrite exprVn; move: (floor_rat_root R); move: floor_rat => q ->.
by apply/esym; exact: fmorphV.
Qed.

(* ppc with two rounds. *)
Lemma ppc_holds : inverse_progress ^+ 1 < excess kappa <= inverse_progress ^+ 2 ->
  ln (n%:R / share beta 1) = ratr L ->
  let query i := image_covariance (kappa_of_round (ratr kappa) i) (share beta 1) X in
  let b i := pce_scale n 2 (share (ratr rho) 1) (kappa_of_round (ratr kappa) i) (share beta 1) tight in
  let s i := estimate_square tight n (rho / 2%:R) (pce_radius 2 (kappa_rat i) L t) in
  let y W := next_transform (ratr kappa) 0 (start, query 0%N start + b 0%N *: W) in
  let f Z := (next_transform (ratr kappa) 1 (y Z.1, query 1%N (y Z.1) + b 1%N *: Z.2)).1 in
  computes (ppc tight n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 X) (both noise noise) f /\
  f (Num.sqrt (ratr (s 0%N)) *: entries_of R 2 2 (first_noise (rho / 2%:R) ),
     Num.sqrt (ratr (s 1%N)) *: entries_of R 2 2 (noise_to (basis_entry v2 a2)
       (estimate_query floor_rat^-1 (pce_radius 2 (kappa_rat 1) L t) (basis_entry v1 (halved (kappa_rat 0) a1)) n x) (s 1%N)))
  = entries_of R 2 2 (ppc_release v1 v2 (kappa_rat 0) (kappa_rat 1) a1 a2).
Proof.
move=> excess2 beta_L query b s y f; have rE : share (ratr rho : R) 1 = ratr (rho / 2%:R).
  by rewrite /share fmorph_div rmorph_nat.
split.
  have E : precondition tight n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 X
      = run (run [the {measure set transform R 2 -> \bar R} of dirac start]
          (ppc_round tight n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 1 0 X))
          (ppc_round tight n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 1 1 X).
    by rewrite /precondition (rounds_rat excess2).
  have two := run_computes (measurable_after_first (ratr rho) beta 1)
    (first_computes 1 rho_gt0 beta_gt0 beta_lt1) (round_computes 1 rho_gt0 beta_gt0 beta_lt1 1).
  move=> S mS; have mT : measurable ((@fst 'M[R]_2 'M[R]_2) @^-1` S : set (transform R 2)).
    by rewrite -[X in measurable X]setTI; exact: measurable_transform.
  by have := two _ mT; rewrite -E.
pose Y : transform R 2 := (root_c^-1 *: entries_of R 2 2 (basis_entry v1 (halved (kappa_rat 0) a1)),
  root_c *: entries_of R 2 2 (basis_entry v1 (doubled (kappa_rat 0) a1))).
have yE : y (Num.sqrt (ratr (s 0%N)) *: entries_of R 2 2 (first_noise (rho / 2%:R))) = Y
  := after_first_value rho_gt0 beta_gt0 beta_lt1 rE beta_L.
pose g (c : transform R 2) (N : 'M[R]_2) := (next_transform (ratr kappa) 1 (c, query 1%N c + b 1%N *: N)).1.
apply: etrans (congr1 (fun c => g c _) yE) _; rewrite /g.
have [b0 bs] := round_scale_square rho_gt0 beta_gt0 beta_lt1 rE beta_L 1.
have c0 : 0 < floor_rat^-1 by rewrite invr_gt0 divr_gt0 ?ltr0n.
have query1 := @estimate_rows R n x _ _ _ _ _ c0 inverse_root_c (radius_ratE 1 beta_L)
  (basis_entry v1 (halved (kappa_rat 0) a1)) Y erefl.
rewrite (noise_arrives _ query1 b0 bs) /next_transform /= kappa_ratE (shrink_basis R v2_ok a2_ok).
rewrite -scalemxAl -scalemxAr scalerA product_ofE -expr2 inverse_root_c.
by apply/matrixP => i j; rewrite !mxE -rmorphM.
Qed.

(* pgce with one round: both steps have half of the budgets. *)
Notation halfb := (Preconditioning.half beta).
Notation quarter := (share halfb 0).
Notation half_rho := (Preconditioning.half (ratr rho : R)).
Lemma pgce_holds : inverse_progress ^+ 0 < excess kappa <= inverse_progress ^+ 1 -> ln (n%:R / halfb) = ratr L ->
  let kappa1 := kappa_of_round (ratr kappa) 0 in let kappa2 := smallest_kappa R in
  let b1 := pce_scale n 2 (share half_rho 0) kappa1 quarter tight in
  let b2 := pce_scale n 2 half_rho kappa2 halfb tight in
  let y W := next_transform (ratr kappa) 0 (start, image_covariance kappa1 quarter X start + b1 *: W) in
  let f Z := back_transform (y Z.1, image_covariance kappa2 halfb X (y Z.1) + b2 *: Z.2) in
  let s i := estimate_square tight n (rho / 2%:R) (pce_radius 2 i L t) in
  computes (pgce tight n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 X) (both noise noise) f /\
  f (Num.sqrt (ratr (s (kappa_rat 0))) *: entries_of R 2 2 (first_noise (rho / 2%:R)),
     Num.sqrt (ratr (s 1000%:R)) *: entries_of R 2 2 (noise_to (basis_entry v2 a2)
       (estimate_query floor_rat^-1 (pce_radius 2 1000%:R L t) (basis_entry v1 (halved (kappa_rat 0) a1)) n x) (s 1000%:R)))
  = entries_of R 2 2 (pgce_release v1 v2 (kappa_rat 0) a1 a2).
Proof.
move=> excess1 beta_L kappa1 kappa2 b1 b2 y f s.
have h0 := half_gt0 rho_gt0; have g0 := half_gt0 beta_gt0; have g1 := half_lt1 beta_lt1.
have halfE : half_rho = ratr (rho / 2%:R) by rewrite /Preconditioning.half fmorph_div rmorph_nat.
have rE : share half_rho 0 = ratr (rho / 2%:R) by rewrite /share divr1.
have bE : ln (n%:R / quarter) = ratr L by rewrite /share divr1.
split.
  have E : precondition tight n_gt0 (half_gt0 rho_gt0) kappa_gt0 (half_gt0 beta_gt0) (half_lt1 beta_lt1) X
      = run [the {measure set transform R 2 -> \bar R} of dirac start]
          (ppc_round tight n_gt0 (half_gt0 rho_gt0) kappa_gt0 (half_gt0 beta_gt0) (half_lt1 beta_lt1) 0 0 X).
    by rewrite /precondition (rounds_rat excess1).
  have last c : computes (estimate_stage tight n_gt0 (half_gt0 rho_gt0) (smallest_kappa_gt0 R) (half_gt0 beta_gt0)
      (half_lt1 beta_lt1) (@measurable_back_transform R 2) X c) noise
      (fun W => back_transform (c, image_covariance kappa2 halfb X c + b2 *: W)).
    by apply: symmetric_stage_computes; exact: covariance_sym.
  rewrite /pgce E.
  exact: (run_computes (measurable_after_first half_rho halfb 0)
    (first_computes 0 (half_gt0 rho_gt0) (half_gt0 beta_gt0) (half_lt1 beta_lt1)) last).
pose Y : transform R 2 := (root_c^-1 *: entries_of R 2 2 (basis_entry v1 (halved (kappa_rat 0) a1)),
  root_c *: entries_of R 2 2 (basis_entry v1 (doubled (kappa_rat 0) a1))).
have yE : y (Num.sqrt (ratr (s (kappa_rat 0))) *: entries_of R 2 2 (first_noise (rho / 2%:R))) = Y
  := after_first_value h0 g0 g1 rE bE.
pose g (c : transform R 2) (N : 'M[R]_2) := back_transform (c, image_covariance kappa2 halfb X c + b2 *: N).
apply: etrans (congr1 (fun c => g c _) yE) _; rewrite /g.
have b0 : 0 < b2 := pce_scale_gt0 2 n_gt0 h0 (smallest_kappa_gt0 R) g0 g1 tight.
have kE : kappa2 = ratr 1000%:R by rewrite rmorph_nat /kappa2 /smallest_kappa -natrX.
have r2E : squared_radius n 2 kappa2 halfb = ratr (pce_radius 2 1000%:R L t).
  by rewrite kE; exact: ProjectionVectors.squared_radius_rat.
have c0 : 0 < floor_rat^-1 by rewrite invr_gt0 divr_gt0 ?ltr0n.
have query2 := @estimate_rows R n x _ _ _ _ _ c0 inverse_root_c r2E (basis_entry v1 (halved (kappa_rat 0) a1)) Y erefl.
have bs : b2 ^+ 2 = ratr (s 1000%:R).
  have r0 : 0 < ratr (rho / 2%:R) :> R by rewrite -halfE.
  by rewrite /b2 halfE; exact: (pce_scale_square r2E tight r0 n_gt0).
rewrite (noise_arrives _ query2 b0 bs) /back_transform /= (psd_part_basis R v2_ok a2_ok).
have -> (h : R) (A B : 'M[R]_2) : (h *: A) *m B *m (h *: A)^T = h ^+ 2 *: (A *m B *m A^T).
  by rewrite linearZ /= -!scalemxAl -scalemxAr scalerA.
have -> : (entries_of R 2 2 (basis_entry v1 (doubled (kappa_rat 0) a1)))^T
    = entries_of R 2 2 (basis_entry v1 (doubled (kappa_rat 0) a1)).
  by apply/matrixP => i j; rewrite !mxE; congr ratr; rewrite /basis_entry !sum_toE; apply: eq_bigr => l _; rewrite [v1 _ _ * _]mulrC.
rewrite !product_ofE floor_rat_root.
by apply/matrixP => i j; rewrite !mxE -rmorphM.
Qed.

End Releases.
