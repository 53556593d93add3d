(* For releases of mechanisms of several steps that the kernel computes: from the law of each step
   to one function of all noises, and functions of eigenvalues in rational numbers.

   - `computes M U f` (Releases.v) says that the law M is that of f(Z), Z of the law U.  It passes
     through a first output and a stage after it (joint_computes, run_computes), through
     post-processing that sees the first output too, and through symmetric noise.
   - A matrix with rational eigenvectors v and distinct rational eigenvalues a is the one with the
     entries `basis_entry v a`.  Functions of its eigenvalues are those of a, whichever
     eigenvectors the spectral theorem gives (spectral_map_basis).

   Assumed: nothing. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval rat zmodp matrix.
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueScale AdditiveNoise Norms KNorm Mechanisms Gaussian TwoStages.
From covassay Require Import Symmetric EigenvalueSensitivity SpectralMaps MatrixStages SeparateCov Releases RationalData.
From covassay Require Euclidean Sensitivity ProjectionVectors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* ---------------------------------------------------------------------------- *)
(* From steps to one function of all noises                                     *)

(* Two independent noises. *)
Definition both (R : realType) e1 e2 (Z1 : measurableType e1) (Z2 : measurableType e2)
    (U1 : {measure set Z1 -> \bar R}) (U2 : {measure set Z2 -> \bar R}) : set (Z1 * Z2) -> \bar R :=
  two_stage U1 (fun=> U2).

Section Steps.
Context (R : realType) e1 e2 (Y1 : measurableType e1) (Y2 : measurableType e2).
Context e3 e4 (Z1 : measurableType e3) (Z2 : measurableType e4).
Variables (P : {measure set Y1 -> \bar R}) (K : stage R Y1 Y2).
Variables (U1 : {measure set Z1 -> \bar R}) (U2 : {measure set Z2 -> \bar R}).
Variables (f1 : Z1 -> Y1) (f2 : Y1 -> Z2 -> Y2).
Hypothesis mf1 : measurable_fun setT f1.
Hypotheses (P_f1 : computes P U1 f1) (K_f2 : forall y, computes (K y) U2 (f2 y)).

Lemma joint_computes : computes (joint P K) (both U1 U2) (fun z => (f1 z.1, f2 (f1 z.1) z.2)).
Proof.
move=> S mS; pose g y := K y (xsection S y).
have mg : measurable_fun setT g by exact: stage_section_measurable.
have g0 y : (0 <= g y)%E by exact: measure_ge0.
transitivity (\int[U1]_z (g \o f1) z)%E.
  apply: etrans (@integral_pushforward _ _ _ _ f1 mf1 R U1 g mg g0).
  by apply: eq_measure_integral => A mA _; exact: P_f1.
apply: eq_integral => z _; rewrite /g /= K_f2; last exact: measurable_xsection.
by congr (U2 _); apply/seteqP; split => w; rewrite /xsection /= !inE.
Qed.

(* What is computed from both outputs. *)
Lemma image_joint_computes e5 (Z : measurableType e5) (h : Y1 * Y2 -> Z)
    (mh : measurable_fun [set: [the measurableType _ of (Y1 * Y2)%type]] h) :
  computes (image_law mh [the measure _ _ of joint P K]) (both U1 U2)
    (fun z => h (f1 z.1, f2 (f1 z.1) z.2)).
Proof.
move=> S mS; apply: (joint_computes (S := h @^-1` S)).
by rewrite -[X in measurable X]setTI; exact: mh.
Qed.

Lemma run_computes : computes (run P K) (both U1 U2) (fun z => f2 (f1 z.1) z.2).
Proof.
move=> S mS; apply: joint_computes; rewrite -[X in measurable X]setTI.
exact: measurable_fun_snd.
Qed.

End Steps.

Lemma measurable_noisy (R : realType) m n (A : 'M[R]_(m, n)) (b : R) :
  measurable_fun setT (fun Z : 'M[R]_(m, n) => A + b *: Z).
Proof. exact: (measurable_fun_comp (matrix_measurable_add A) (@measurable_scale R b m n)). Qed.

(* Noise on a query that depends on the first output. *)
Lemma noise_stage_computes (R : realType) e (Y : measurableType e) m n (b : R)
    (w w1 : weight [the measure _ _ of @leb_matrix R m n]) (q : Y -> 'M[R]_(m, n))
    (mq : measurable_fun setT q) y :
  0 < b -> (forall z, w (b *: z) = w1 z) ->
  computes (noise_stage w mq y) (law w1) (fun z => q y + b *: z).
Proof. by move=> b0 ww; exact: (matrix_computes y q b0 ww). Qed.

Lemma symmetric_stage_computes (R : realType) e1 e2 (Y : measurableType e1) (Z : measurableType e2) d
    (h : Y * 'M[R]_d -> Z)
    (mh : measurable_fun [set: [the measurableType _ of (Y * 'M[R]_d)%type]] h) (b : R) (b_gt0 : 0 < b)
    (q : Y -> 'M[R]_d) (mq : measurable_fun setT q) y : (q y)^T = q y ->
  computes (symmetric_stage mh b_gt0 mq y) (symmetric_law 1 (unit_gaussian R 1 (entries d)))
    (fun W => h (y, q y + b *: W)).
Proof.
move=> q_sym S mS; apply: etrans (symmetric_stageE mh b_gt0 mq S q_sym) _.
have mT : measurable [set A | S (h (y, A))].
  by rewrite -[X in measurable X]setTI; exact: (measurable_second_argument mh y).
exact: (symmetric_computes tt (fun=> q y) 1 b_gt0 (@gaussian_unit R 1 (entries d) b b_gt0) mT).
Qed.

(* ---------------------------------------------------------------------------- *)
(* Functions of eigenvalues                                                     *)

Section Values.
Variables (R : realType) (d : nat).
Implicit Types (G V : 'M[R]_d) (a : 'rV[R]_d).

Lemma eigenvalues_unique G V a : spectral G V a -> eigenvalues G = a.
Proof.
move=> sG; have [_ GE _] := sG.
have sym : G^T = G by rewrite GE !trmx_mul trmxK tr_diag_mx mulmxA.
have := eighP G; rewrite (sym_part_id sym) => sU.
have le : Euclidean.loewner_le G G by move=> u; exact: lexx.
by apply/rowP => i; apply/eqP; rewrite eq_le (weyl_monotone sU sG le) (weyl_monotone sG sU le).
Qed.

Lemma spectral_map_value f G V a : spectral G V a -> descending a ->
  spectral_map f G = V *m diag_mx (map_mx f a) *m V^T.
Proof.
move=> sG desc; rewrite /spectral_map (eigenvalues_unique sG).
exact: (rebuilds_eigh _ sG desc).
Qed.

(* A factor of all values. *)
Lemma spectral_map_factor (c : R) f G :
  spectral_map (fun t => c * f t) G = c *: spectral_map f G.
Proof.
apply/matrixP => i j; rewrite spectral_mapE [RHS]mxE spectral_mapE mulr_sumr.
by apply: eq_bigr => k _; rewrite mulrCA !mulrA.
Qed.

End Values.

Lemma ratr_max (R : realType) (a b : rat) : ratr (Num.max a b) = Num.max (ratr a) (ratr b) :> R.
Proof. by rewrite !maxElt ltr_rat (fun_if ratr). Qed.

Lemma ratr_min (R : realType) (a b : rat) : ratr (Num.min a b) = Num.min (ratr a) (ratr b) :> R.
Proof. by rewrite !minElt ltr_rat (fun_if ratr). Qed.

(* The eigenvectors v 0 and v 1, and the eigenvalues a 0 > a 1. *)
Definition basis_entry (v : nat -> nat -> rat) (a : nat -> rat) (i j : nat) : rat :=
  sum_to 2 (fun k => a k * (v k i * v k j)).
Definition orthonormal (v : nat -> nat -> rat) : bool :=
  all (fun k => all (fun l => sum_to 2 (fun i => v k i * v l i) == (k == l)%:R) (iota 0 2)) (iota 0 2).
Definition axis (k i : nat) : rat := (k == i)%:R.
Definition tilted : nat -> nat -> rat := entry ProjectionVectors.eigenvectors.

Section Basis.
Variables (R : realType) (v : nat -> nat -> rat).
Hypothesis v_orthonormal : orthonormal v.
Implicit Types a l : nat -> rat.
Notation V := (entries_of R 2 2 (fun i k => v k i)).
Notation row a := (\row_i ratr (a i) : 'rV[R]_2).

Lemma basis_orthogonal : Euclidean.orthogonal_mx V.
Proof.
apply/matrixP => k l; rewrite !mxE.
have /allP /(_ k) := v_orthonormal; rewrite mem_iota add0n ltn_ord => /(_ isT) /allP /(_ l).
rewrite mem_iota add0n ltn_ord => /(_ isT) /eqP kl.
have -> : (k == l)%:R = ratr (k == l :> nat)%:R :> R by rewrite rmorph_nat.
rewrite -kl sum_toE rmorph_sum; apply: eq_bigr => i _.
by rewrite !mxE rmorphM.
Qed.

Lemma basis_matrix l : V *m diag_mx (row l) *m V^T = entries_of R 2 2 (basis_entry v l).
Proof.
apply/matrixP => i j; rewrite mul_mx_diag mxE [RHS]mxE /basis_entry sum_toE rmorph_sum.
by apply: eq_bigr => k _; rewrite !mxE !rmorphM [RHS]mulrCA mulrA.
Qed.

Lemma basis_descending a : a 1%N < a 0%N -> descending (row a).
Proof.
move=> lt i j; case: i => [[|[|i]] ilt] //; case: j => [[|[|j]] jlt] // _.
by rewrite !mxE ltr_rat.
Qed.

Lemma basis_spectral a : a 1%N < a 0%N ->
  spectral (entries_of R 2 2 (basis_entry v a)) V (row a).
Proof.
move=> lt; split; [exact: basis_orthogonal|by rewrite basis_matrix|].
move=> i j; rewrite leq_eqVlt => /orP[/eqP/val_inj -> //|ij].
by apply: ltW; exact: basis_descending.
Qed.

Lemma spectral_map_basis f (a g : nat -> rat) : a 1%N < a 0%N ->
  (forall i, f (ratr (a i)) = ratr (g i)) ->
  spectral_map f (entries_of R 2 2 (basis_entry v a)) = entries_of R 2 2 (basis_entry v g).
Proof.
move=> lt fg; rewrite (spectral_map_value f (basis_spectral lt)) ?basis_matrix.
  rewrite -basis_matrix; congr (_ *m diag_mx _ *m _); apply/rowP => i.
  by rewrite !mxE.
exact: basis_descending.
Qed.

End Basis.

(* Data whose covariance has the eigenvectors v and the eigenvalues a. *)
Definition same_entries (f g : nat -> nat -> rat) : bool :=
  all (fun i => all (fun j => f i j == g i j) (iota 0 2)) (iota 0 2).
Definition has_spectrum (v : nat -> nat -> rat) (a : nat -> rat) (n : nat) x : bool :=
  [&& orthonormal v, a 1%N < a 0%N & same_entries (moment n x) (basis_entry v a)].

Lemma same_entriesE (R : realType) f g : same_entries f g -> entries_of R 2 2 f = entries_of R 2 2 g.
Proof.
move=> /allP same; apply/matrixP => i j; rewrite !mxE; congr ratr; apply/eqP.
have := same i; rewrite mem_iota add0n ltn_ord => /(_ isT) /allP /(_ j).
by rewrite mem_iota add0n ltn_ord; apply.
Qed.

Lemma covariance_eigenvalues (R : realType) v a n x : has_spectrum v a n x ->
  eigenvalues (Sensitivity.covariance (rows R n 2 x)) = \row_i ratr (a i).
Proof.
move=> /and3P[ov lt same]; rewrite covariance_rows (same_entriesE R same).
exact: eigenvalues_unique (basis_spectral R ov lt).
Qed.

(* The noise of square scale s that leads from q to the matrix with entries t. *)
Definition noise_to (t q : nat -> nat -> rat) (s : rat) (i j : nat) : rat := (t i j - q i j) / s.

Lemma noise_arrives (R : realType) m n (A : 'M[R]_(m, n)) (b : R) (s : rat) q t :
  A = entries_of R m n q -> 0 < b -> b ^+ 2 = ratr s ->
  A + b *: (Num.sqrt (ratr s) *: entries_of R m n (noise_to t q s)) = entries_of R m n t.
Proof.
move=> AE b0 bs; have s0 : s != 0.
  by rewrite -(fmorph_eq0 (ratr_rmorphism R)) /= -bs expf_neq0 // gt_eqF.
have -> : Num.sqrt (ratr s) = b by rewrite -bs sqrtr_sqr gtr0_norm.
rewrite scalerA -expr2 bs AE; apply/matrixP => i j; rewrite !mxE -rmorphM -rmorphD.
by congr ratr; rewrite /noise_to mulrC divfK // addrC subrK.
Qed.

Lemma tilted_orthonormal : orthonormal tilted. Proof. by vm_compute. Qed.
Lemma axis_orthonormal : orthonormal axis. Proof. by vm_compute. Qed.
