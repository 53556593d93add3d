(* Releases of weak-ppc that the kernel computes, for tests of the Python code, and what those of
   ppc and pgce (RoundVectors.v) need.

   The law of weak-ppc is that of the matrix made of cov + b W, cov the covariance of the short
   rows.  Released is 1/sqrt c times a rational matrix, c = 84/100.  The covariance of rows A x,
   where A is 1/sqrt c times a rational matrix, is rational (estimate_rows).

   As in ProjectionVectors.v, ln (n/beta) is a rational L with 2 L = t^2.  The noise is the one that
   leads to a matrix with given eigenvectors v and eigenvalues a.

   Assumed: nothing.  Not said: other eigenvectors than these. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval rat zmodp matrix.
From covassay Require Import MeasureTheory PureDP Lebesgue AdditiveNoise Norms KNorm Mechanisms Gaussian TwoStages.
From covassay Require Import Symmetric SymmetricMechanisms GaussianMechanisms SpectralMaps EigenvalueFunctions.
From covassay Require Import MatrixStages Preconditioning Releases RationalData StageVectors.
From covassay Require Euclidean Sensitivity CoinpressVectors.
From covassay Require ProjectionVectors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.
Notation shortened := ProjectionVectors.shortened.
Notation pce_radius := ProjectionVectors.pce_radius.
Notation estimate_square := ProjectionVectors.naive_pce_scale.

(* The rows B x_k, and a product of two matrices. *)
Definition mapped (B : nat -> nat -> rat) (n : nat) (x : seq (seq rat)) : seq (seq rat) :=
  [seq [seq sum_to 2 (fun j => B i j * entry x k j) | i <- iota 0 2] | k <- iota 0 n].
Definition product_of (f g : nat -> nat -> rat) (i j : nat) : rat := sum_to 2 (fun k => f i k * g k j).

(* The covariance of the rows A x_k with |A x_k|^2 <= r2, where A is the root of e times B. *)
Definition estimate_query (e r2 : rat) (B : nat -> nat -> rat) (n : nat) x (i j : nat) : rat :=
  e * moment n (shortened n 2 (r2 / e) (mapped B n x)) i j.

(* Eigenvalues from kappa/2 on are halved (doubled in the inverse). *)
Definition floor_rat : rat := frac 84 100.
Definition large (kappa : rat) (a : nat -> rat) (i : nat) : bool := kappa / 2%:R <= Num.max (a i) 0.
Definition halved kappa a (i : nat) : rat := if large kappa a i then 2%:R^-1 else 1.
Definition doubled kappa a (i : nat) : rat := if large kappa a i then 2%:R else 1.
Definition positive (a : nat -> rat) (i : nat) : rat := Num.max (a i) 0.

Section Values.
Variables (R : realType) (v : nat -> nat -> rat) (a : nat -> rat).
Hypotheses (v_ok : orthonormal v) (a_ok : (a 1%N < a 0%N) && (0 < a 0%N)).
Notation root_c := (Num.sqrt (floor_constant R)).
Notation W := (entries_of R 2 2 (basis_entry v a)).

Lemma floor_rat_root : root_c ^+ 2 = ratr floor_rat.
Proof. by rewrite sqr_sqrtr ?divr_ge0 ?ler0n // /floor_rat fmorph_div !rmorph_nat. Qed.

Lemma root_c_neq0 : root_c != 0.
Proof. by rewrite gt_eqF // sqrtr_gt0 divr_gt0 ?ltr0n. Qed.

Lemma psd_part_basis : psd_part W = entries_of R 2 2 (basis_entry v (positive a)).
Proof.
have /andP[lt _] := a_ok; apply: spectral_map_basis => // i.
by rewrite /positive ratr_max rmorph0.
Qed.

Lemma positive_lt : positive a 1%N < positive a 0%N.
Proof.
by have /andP[lt a0] := a_ok; rewrite /positive (max_l (ltW a0)) lt_maxl lt a0.
Qed.

Lemma step_basis (kappa low high : rat) (h l2 h2 : R) : l2 = h * ratr low -> h2 = h * ratr high ->
  spectral_map (step_function (ratr kappa / 2%:R) l2 h2) (psd_part W)
  = h *: entries_of R 2 2 (basis_entry v (fun i => if large kappa a i then high else low)).
Proof.
move=> -> ->; rewrite psd_part_basis.
have <- := @spectral_map_basis R v v_ok (step_function (ratr kappa / 2%:R) (ratr low) (ratr high)) (positive a)
  (fun i => if large kappa a i then high else low) positive_lt; last first.
  move=> i; rewrite /step_function /large /positive -(rmorph_nat (ratr_rmorphism R) 2) -fmorph_div ler_rat.
  by case: (_ <= _).
rewrite -spectral_map_factor; congr (spectral_map _ _); apply/funext => t.
by rewrite /step_function; case: ifP.
Qed.

Lemma shrink_basis kappa :
  shrink (ratr kappa) W = root_c^-1 *: entries_of R 2 2 (basis_entry v (halved kappa a)).
Proof.
apply: step_basis; first by rewrite rmorph1 mulr1 div1r.
by rewrite fmorphV rmorph_nat mulrC.
Qed.

Lemma stretch_basis kappa :
  stretch (ratr kappa) W = root_c *: entries_of R 2 2 (basis_entry v (doubled kappa a)).
Proof.
apply: step_basis; first by rewrite rmorph1 mulr1 div1r invrK.
by rewrite rmorph_nat invf_div invrK.
Qed.

End Values.

Section Queries.
Variables (R : realType) (n : nat) (x : seq (seq rat)) (e r2 : rat) (h kappa beta : R).
Hypotheses (e_gt0 : 0 < e) (he : h ^+ 2 = ratr e) (r2E : squared_radius n 2 kappa beta = ratr r2).
Notation X := (rows R n 2 x).
Implicit Type B : nat -> nat -> rat.

Lemma product_ofE f g : entries_of R 2 2 f *m entries_of R 2 2 g = entries_of R 2 2 (product_of f g).
Proof.
apply/matrixP => i j; rewrite !mxE /product_of sum_toE rmorph_sum; apply: eq_bigr => k _.
by rewrite !mxE rmorphM.
Qed.

Lemma mapped_rows B (k : 'I_n) : entries_of R 2 2 B *m X k = rows R n 2 (mapped B n x) k.
Proof.
apply/colP => i; rewrite !mxE /entry /mapped (nth_map 0%N) ?size_iota // (nth_map 0%N) ?size_iota //.
rewrite !nth_iota // !add0n sum_toE rmorph_sum; apply: eq_bigr => j _.
by rewrite !mxE rmorphM.
Qed.

Lemma estimate_rows B (y : transform R 2) : y.1 = h *: entries_of R 2 2 B ->
  image_covariance kappa beta X y = entries_of R 2 2 (estimate_query e r2 B n x).
Proof.
move=> yE; have shortE (k : 'I_n) : short n kappa beta (y.1 *m X k)
    = h *: rows R n 2 (shortened n 2 (r2 / e) (mapped B n x)) k.
  rewrite yE -scalemxAl mapped_rows /short Euclidean.dotZl Euclidean.dotZr mulrA -expr2 he.
  rewrite square_length_rows r2E -rmorphM ler_rat -ler_pdivl_mull // mulrC.
  apply/colP => i; rewrite [RHS]mxE [in RHS]mxE /entry (nth_map 0%N) ?size_iota // nth_iota // add0n.
  by case: ifP => _; rewrite !mxE // nth_nil rmorph0 mulr0.
rewrite /image_covariance /mapped_covariance /Sensitivity.covariance (eq_bigr _ (fun k _ => congr1 (fun v => v *m v^T) (shortE k))).
have -> : \sum_k (h *: rows R n 2 (shortened n 2 (r2 / e) (mapped B n x)) k) *m
    (h *: rows R n 2 (shortened n 2 (r2 / e) (mapped B n x)) k)^T
    = ratr e *: \sum_k rows R n 2 (shortened n 2 (r2 / e) (mapped B n x)) k *m
        (rows R n 2 (shortened n 2 (r2 / e) (mapped B n x)) k)^T.
  rewrite scaler_sumr; apply: eq_bigr => k _.
  by rewrite linearZ /= -scalemxAl -scalemxAr scalerA -expr2 he.
rewrite scalerA mulrC -scalerA -/(Sensitivity.covariance _) covariance_rows.
by apply/matrixP => i j; rewrite !mxE -rmorphM.
Qed.

Lemma pce_scale_square (tight : bool) (rho : rat) : 0 < ratr rho :> R -> (0 < n)%N ->
  pce_scale n 2 (ratr rho) kappa beta tight ^+ 2 = ratr (estimate_square tight n rho r2).
Proof.
move=> rho0 n0; rewrite /pce_scale sqr_sqrtr; last first.
  have v0 := le_trans ler01 (variance_factor_ge1 R tight).
  by apply: divr_ge0; apply: mulr_ge0; rewrite ?sqr_ge0 ?(ltW rho0).
rewrite r2E /ProjectionVectors.naive_pce_scale fmorph_div; congr (_ / _).
  rewrite -rmorphX; move: (r2 ^+ 2) => u; rewrite rmorphM; congr (_ * _).
  by rewrite /variance_factor; case: tight; rewrite ?rmorph1 ?rmorph_nat.
by rewrite rmorphM rmorphX rmorph_nat.
Qed.

End Queries.

(* The noise of a step, and the matrix with noise. *)
Definition estimate_noise (tight : bool) (e r2 rho : rat) B n x (v : nat -> nat -> rat) (a : nat -> rat) :=
  noise_to (basis_entry v a) (estimate_query e r2 B n x) (estimate_square tight n rho r2).

Definition weak_ppc_release (v : nat -> nat -> rat) (kappa : rat) (a : nat -> rat) := basis_entry v (halved kappa a).
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

Lemma weak_ppc_holds : ln (n%:R / beta) = ratr L ->
  let r2 := pce_radius 2 kappa L t in
  let f W := shrink (ratr kappa) (short_covariance (ratr kappa) beta X
               + pce_scale n 2 (ratr rho) (ratr kappa) beta tight *: W) in
  computes (weak_ppc tight n_gt0 rho_gt0 kappa_gt0 beta_gt0 beta_lt1 X) noise f /\
  root_c *: f (Num.sqrt (ratr (estimate_square tight n rho r2))
               *: entries_of R 2 2 (noise_to (basis_entry v1 a1) (moment n (shortened n 2 r2 x)) (estimate_square tight n rho r2)))
  = entries_of R 2 2 (weak_ppc_release v1 kappa a1).
Proof.
move=> beta_L r2 f; have b0 : 0 < pce_scale n 2 (ratr rho) (ratr kappa) beta tight by exact: pce_scale_gt0.
have r2E : squared_radius n 2 (ratr kappa) beta = ratr r2 by exact: ProjectionVectors.squared_radius_rat.
split.
  apply: (image_computes (measurable_shrink (ratr kappa))).
  by apply: symmetric_computes => *; [exact: b0|exact: gaussian_unit].
rewrite /f (noise_arrives _ _ b0 (pce_scale_square r2E tight rho_gt0 n_gt0)); last first.
  exact: ProjectionVectors.short_rows.
by rewrite (shrink_basis R v1_ok a1_ok) scalerA divff ?root_c_neq0 // scale1r.
Qed.

End Releases.

(* kappa = 1, L = 2 and t = 2, so that r^2 = 10: the first row is a little too long. *)
Definition far_data : seq (seq rat) := ProjectionVectors.long_data.
Definition pair := ProjectionVectors.spectrum.
(* Eigenvalues above and below kappa/2. *)
Definition around (kappa : rat) : nat -> rat := pair (3%:R / 4%:R * kappa) (kappa / 4%:R).

(* Rows, if the premises of the lemma hold. *)
Definition spectrum_ok v (a : nat -> rat) : bool := [&& orthonormal v, a 1%N < a 0%N & 0 < a 0%N].
Definition step_rows (ok : bool) (kappa : rat) x (noises : bool -> rat -> seq rat) (release : seq rat) : seq (seq rat) :=
  [seq [:: 3%:R; 2%:R; c.2; (nat_of_bool c.1)%:R] ++ data_columns 3 2 x ++ [:: kappa; 2%:R] ++ noises c.1 c.2 ++ release
   | c <- if ok then [:: (false, 1); (true, 1); (true, frac 1 2)] else [::]].

Definition weak_ppc_rows : seq (seq rat) :=
  let kappa := 1 in let r2 := pce_radius 2 kappa 2%:R 2%:R in
  step_rows (spectrum_ok tilted (around kappa)) kappa far_data
    (fun tight rho => let s := estimate_square tight 3 rho r2 in
      s :: matrix_columns 2 2 (noise_to (basis_entry tilted (around kappa)) (moment 3 (shortened 3 2 r2 far_data)) s))
    (matrix_columns 2 2 (weak_ppc_release tilted kappa (around kappa))).
