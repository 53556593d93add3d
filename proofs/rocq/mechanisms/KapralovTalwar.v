(* kapralov-talwar: k rounds of a private direction, a private value and deflation, end to end.

   The rows lie in the unit ball, neighbours differ in one row; n, d, k and eps are public.
   C = sum_j x_j x_j^T, and the total T is 0 at first.  Each round
     1.  draws a unit vector u with density proportional to exp(eta u^T (C - T) u) with respect to
         the uniform law on the sphere, eta = eps/(4k);
     2.  takes l = u^T (C - T) u + b Laplace(1), clipped to [0, n], b = 2k/eps;
     3.  adds l u u^T to T.
   After k rounds T/n is released.  The code subtracts from C what is here added to T.

   As in Sphere.v, u is written as the direction of a vector; the Laplace variable is the entry of a
   1 x 1 matrix.  The theorem holds for every k >= 1, so also for the k that the code takes.

   Assumed: nothing.  Not said: floating point; how the noise is drawn.  AnyRows.v has rows of any
   length. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Sphere Stages.
From covassay Require Import SpectralMaps JohnsonLindenstrauss.
From covassay Require Euclidean RankTwo Sensitivity Algorithm2.

Section Deflation.
Variables (R : realType) (n d k : nat) (eps : R).
Hypotheses (n_gt0 : (0 < n)%N) (k_gt0 : (0 < k)%N) (eps_gt0 : 0 < eps).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation total := [the measurableType _ of 'M[R]_d].
Notation vector := [the measurableType _ of 'M[R]_(d, 1)].
Notation number := [the measurableType _ of 'M[R]_(1, 1)].
Implicit Types (X Y : data) (T : 'M[R]_d) (u : 'M[R]_(d, 1)).
Let kR_gt0 : 0 < k%:R :> R. Proof. by rewrite ltr0n. Qed.

Definition direction_exponent : R := eps / (4%:R * k%:R).
Definition value_scale : R := 2%:R * k%:R / eps.

Lemma direction_exponent_gt0 : 0 < direction_exponent.
Proof. by rewrite divr_gt0 // mulr_gt0 ?ltr0n. Qed.

Lemma value_scale_gt0 : 0 < value_scale.
Proof. by rewrite divr_gt0 // mulr_gt0 ?ltr0n. Qed.

(* u^T (C - T) u *)
Definition residual_form X (Tu : 'M[R]_d * 'M[R]_(d, 1)) : R :=
  Euclidean.form (scatter X - Tu.1) (direction Tu.2).

Lemma measurable_residual_form X :
  measurable_fun [set: [the measurableType _ of ('M[R]_d * 'M[R]_(d, 1))%type]] (residual_form X).
Proof.
have mT : measurable_fun setT (fun Tu : 'M[R]_d * 'M[R]_(d, 1) => scatter X - Tu.1).
  by apply: measurable_mxB; [exact: measurable_fun_cst|exact: measurable_fun_fst].
have mu : measurable_fun setT (fun Tu : 'M[R]_d * 'M[R]_(d, 1) => direction Tu.2).
  exact: (measurable_fun_comp (@measurable_direction R d) (@measurable_fun_snd _ _ _ _)).
have mv := measurable_matrixM (measurable_matrixT mu) (measurable_matrixM mT mu).
have := measurable_mx_entry 0 0 mv; congr (measurable_fun setT _); apply/funext => Tu.
by rewrite /residual_form /Euclidean.form Euclidean.dotE mxE mulr1n.
Qed.

(* 1. *)
Let exponent X (Tu : 'M[R]_d * 'M[R]_(d, 1)) : R := direction_exponent * residual_form X Tu.

Let measurable_exponent X : measurable_fun setT (exponent X).
Proof. by apply: measurable_funrM; exact: measurable_residual_form. Qed.

Let exponent_le X T u : `|exponent X (T, u)| <= direction_exponent * l1 (scatter X - T).
Proof.
rewrite normrM gtr0_norm ?direction_exponent_gt0 // ler_pmul2l ?direction_exponent_gt0 //.
exact: form_direction_le.
Qed.

Definition direction_stage X : stage R total vector :=
  density_stage (uniform_sphere_total R d) (measurable_exponent X) (exponent_le X).

(* 2. *)
Let value X (Tu : 'M[R]_d * 'M[R]_(d, 1)) : 'M[R]_(1, 1) := (residual_form X Tu)%:M.

Let measurable_value X : measurable_fun setT (value X).
Proof.
apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE !fintype.ord1 eqxx mulr1n.
exact: measurable_residual_form.
Qed.

Definition value_stage X : stage R [the measurableType _ of ('M[R]_d * 'M[R]_(d, 1))%type] number :=
  noise_stage (norm_weight (l1_norm R 1 1) value_scale_gt0) (measurable_value X).

(* 3. *)
Definition deflate (Tul : 'M[R]_d * 'M[R]_(d, 1) * 'M[R]_(1, 1)) : 'M[R]_d :=
  let u := direction Tul.1.2 in
  Tul.1.1 + Num.min (Num.max (Tul.2 0 0) 0) n%:R *: (u *m u^T).

Lemma measurable_deflate : measurable_fun setT deflate.
Proof.
have m1 : measurable_fun setT (fun t : 'M[R]_d * 'M[R]_(d, 1) * 'M[R]_(1, 1) => t.1).
  exact: measurable_fun_fst.
have mu : measurable_fun setT (fun t : 'M[R]_d * 'M[R]_(d, 1) * 'M[R]_(1, 1) => direction t.1.2).
  apply: (measurable_fun_comp (@measurable_direction R d)).
  exact: (measurable_fun_comp (@measurable_fun_snd _ _ _ _) m1).
have mo := measurable_matrixM mu (measurable_matrixT mu).
apply: measurable_matrixD; first exact: (measurable_fun_comp (@measurable_fun_fst _ _ _ _) m1).
apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
apply: measurable_funM; last exact: (measurable_mx_entry i j mo).
under eq_fun do rewrite -[Num.min _ _]opprK oppr_min -mulN1r.
apply: measurable_funrM; apply: measurable_fun_max; last exact: measurable_fun_cst.
under eq_fun do rewrite -mulN1r.
apply: measurable_funrM; apply: measurable_fun_max; last exact: measurable_fun_cst.
exact: (measurable_fun_comp (@measurable_entry R 1 1 0 0) (@measurable_fun_snd _ _ _ _)).
Qed.

Definition round X : stage R total total :=
  chain (direction_stage X) (map_stage (value_stage X) measurable_deflate).

(* The law of T after so many rounds, when that of the first T is P. *)
Fixpoint rounds (j : nat) (P : {measure set total -> \bar R}) X : {measure set total -> \bar R} :=
  if j is j'.+1 then rounds j' (run P (round X)) X else P.

(* The same is subtracted from the C of both. *)
Lemma residual_change X Y Tu : adjacent X Y -> `|residual_form X Tu - residual_form Y Tu| <= 1.
Proof.
move=> XY; rewrite /residual_form !Euclidean.formB opprB addrA subrK.
by apply: form_scatter_change => //; exact: norm_direction.
Qed.

Lemma direction_stage_dp T : dp adjacent (direction_exponent *+ 2) (fun X => direction_stage X T).
Proof.
have e0 := direction_exponent_gt0.
apply: (@exponential_mechanism_dp R _ _ (uniform_sphere R d) data adjacent
  (fun X u => - residual_form X (T, u)) direction_exponent^-1 direction_exponent
  (fun X => density_weight (uniform_sphere_total R d) (measurable_exponent X) (exponent_le X) T)).
- by rewrite invr_gt0.
- by move=> X u; rewrite /= invrK mulNr opprK mulrC.
by move=> X Y u XY; rewrite divff ?gt_eqF // opprK addrC distrC; exact: residual_change.
Qed.

Lemma value_stage_dp Tu : dp adjacent value_scale^-1 (fun X => value_stage X Tu).
Proof.
have H := @matrix_noise_dp R 1 1 (l1_norm R 1 1) value_scale value_scale^-1 value_scale_gt0 data
  adjacent (fun X => value X Tu).
have {}H : dp adjacent value_scale^-1 (fun X => with_noise (matrices R 1 1)
    (norm_weight (l1_norm R 1 1) value_scale_gt0) (fun X => value X Tu) X).
  apply: H => X Y XY; rewrite mulVf ?gt_eqF ?value_scale_gt0 // /= /l1 !big_ord1 !mxE eqxx !mulr1n.
  exact: residual_change.
exact: H.
Qed.

Lemma round_dp T : dp adjacent (eps / k%:R) (fun X => round X T).
Proof.
have -> : eps / k%:R = direction_exponent *+ 2 + value_scale^-1.
  rewrite -mulr_natl /direction_exponent /value_scale; field.
  by rewrite (gt_eqF kR_gt0) (gt_eqF eps_gt0).
apply: chain_dp; first exact: direction_stage_dp.
by move=> u; apply: map_stage_dp; exact: value_stage_dp.
Qed.

Lemma rounds_dp j (e : R) (P : data -> {measure set total -> \bar R}) : dp adjacent e (fun X => P X) ->
  dp adjacent (e + (eps / k%:R) *+ j) (fun X => rounds j (P X) X).
Proof.
elim: j e P => [|j IH] e P HP; first by rewrite mulr0n addr0.
rewrite mulrS addrA; apply: (IH _ (fun X => run (P X) (round X))).
by apply: run_dp => // T; exact: round_dp.
Qed.

Let start : {measure set total -> \bar R} := [the {measure set total -> \bar R} of dirac (0 : 'M[R]_d)].

Let rounds_total j (P : {measure set total -> \bar R}) X : P setT = 1%E -> rounds j P X setT = 1%E.
Proof. by elim: j P => [|j IH] P P1 //=; apply: IH; exact: run_total. Qed.

Let measurable_share : measurable_fun [set: total] (fun T : 'M[R]_d => n%:R^-1 *: T : total).
Proof. by apply: measurable_mxZ; exact: measurable_fun_id. Qed.

Let deflation_law X : {measure set total -> \bar R} := image_law measurable_share (rounds k start X).

Let deflation_total X : deflation_law X setT = 1%E.
Proof. by apply: rounds_total; rewrite /= /dirac indicE in_setT. Qed.

Definition kapralov_talwar : mechanism R data total := Mechanism deflation_total.

(* The premises are k >= 1 and eps > 0. *)
Theorem kapralov_talwar_dp : dp adjacent eps (fun X => kapralov_talwar X).
Proof.
have H : dp adjacent eps (fun X => rounds k start X).
  have := @rounds_dp k 0 (fun=> start); rewrite add0r -mulr_natr divfK ?gt_eqF //; apply.
  by move=> X Y _; exact: indistinguishable_refl.
by move=> X Y XY S mS; exact: (postprocessing measurable_share H XY mS).
Qed.

End Deflation.
