(* recursive-moment: noisy second moments of rows that are evened out from round to round.

   The rows are any vectors, neighbours differ in one of them; n, d, r, kappa, m and rho are public.
   Rows longer than r are shortened to r, and all are divided by r.

   - There are T + 1 rounds, T = max (0, ceil (ln (kappa/(320 m))/(ln 7 - ln 3))).
   - Every round adds symmetric noise of scale sigma to the second moment of its rows: with the
     constants of the reconstruction sigma = 4 sqrt (T + 1)/(n sqrt (2 rho)) and variance one on and
     above the diagonal, if tight sigma = sqrt (T + 1)/(n sqrt rho) and variance 1/2 above it.
   - The sum Z of every round but the last gives the map A with the eigenvectors of Z and the
     eigenvalues sqrt (8/3)/2, for an eigenvalue of Z from 1/(10 m) on, and sqrt (8/3) for the others.
     The rows of the next round are A x, shortened to length one.
   - Released is r^2 B Z B^T, for the last Z and the product B of the inverses of the maps.

   What is spent is rho/8, or rho if tight.  The maps of the rounds so far are the state: row t of a
   matrix has the d^2 entries of the map of round t.

   Assumed: nothing.  Not said: floating point; how the noise is drawn; that half of this is spent for
   d = 1. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms SpectralMaps EigenvalueFunctions.
From covassay Require Import MatrixStages Coinpress JohnsonLindenstrauss UnitRows.
From covassay Require Euclidean MatrixNorms Sensitivity Algorithm2.

Section RecursiveMoment.
Variables (R : realType) (n d m : nat) (tight : bool) (rho kappa r : R).
Hypotheses (n_gt0 : (0 < n)%N) (rho_gt0 : 0 < rho) (r_gt0 : 0 < r).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

(* T *)
Definition further_rounds : nat :=
  absz (Num.max 0 (ceil (ln (kappa / (320%:R * m%:R)) / (ln 7%:R - ln 3%:R : R)))).
Notation K := further_rounds.+1.
Let KR_gt0 : 0 < K%:R :> R. Proof. by rewrite ltr0n. Qed.

Notation maps := 'M[R]_(K, d * d).
(* The maps of the rounds so far, and B. *)
Definition history : measurableType _ := [the measurableType _ of ('M[R]_(K, d * d) * 'M[R]_d)%type].
Notation history_and_noisy := [the measurableType _ of (history * 'M[R]_d)%type].

Definition round_ensemble : ensemble := if tight then Goe else Wigner.
Definition round_scale : R :=
  if tight then Num.sqrt (K%:R / rho) / n%:R else 4%:R * Num.sqrt (K%:R / (2%:R * rho)) / n%:R.

Lemma round_scale_gt0 : 0 < round_scale.
Proof.
by rewrite /round_scale; case: ifP => _; rewrite ?mulr_gt0 ?invr_gt0 ?sqrtr_gt0 ?divr_gt0 ?mulr_gt0 ?ltr0n.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The rows of a round                                                          *)

Definition map_of_round (H : maps) (t : nat) : 'M[R]_d := vec_mx (row (inord t) H).

(* What t maps, each followed by shortening to length one, make of x. *)
Fixpoint evened_out (H : maps) (t : nat) (x : 'cV[R]_d) : 'cV[R]_d :=
  if t is s.+1 then press 1 (map_of_round H s *m evened_out H s x) else x.

Lemma evened_out_le H t x : Euclidean.norm x <= 1 -> Euclidean.norm (evened_out H t x) <= 1.
Proof. by case: t => // s _; exact: norm_press. Qed.

Lemma measurable_map_of_round t : measurable_fun [set: history] (fun y : history => map_of_round y.1 t).
Proof.
apply: measurable_fun_matrix => i j; under eq_fun do rewrite /map_of_round mxE mxE.
by apply: (measurable_fun_comp (@measurable_entry R _ _ _ _)); exact: measurable_fun_fst.
Qed.

Lemma measurable_evened_out t x : measurable_fun [set: history] (fun y : history => evened_out y.1 t x).
Proof.
elim: t => [|t IH] /=; first exact: measurable_fun_cst.
apply: (measurable_fun_comp (measurable_press (ltr01 : 0 < 1 :> R))).
by apply: measurable_matrixM => //; exact: measurable_map_of_round.
Qed.

Definition round_moment (t : nat) (X : data) (y : history) : 'M[R]_d :=
  mapped_covariance (fun x => evened_out y.1 t (unit_row r x)) X.

Lemma measurable_round_moment t X : measurable_fun [set: history] (round_moment t X).
Proof. by apply: measurable_covariance => i; exact: measurable_evened_out. Qed.

(* ---------------------------------------------------------------------------- *)
(* What Z makes of the maps and of B                                            *)

Definition large_moment : R := (10%:R * m%:R)^-1.
Definition stretch_root : R := Num.sqrt (8%:R / 3%:R).
Definition even_out_map (Z : 'M[R]_d) : 'M[R]_d :=
  spectral_map (step_function large_moment stretch_root (stretch_root / 2%:R)) Z.
Definition back_map (Z : 'M[R]_d) : 'M[R]_d :=
  spectral_map (step_function large_moment stretch_root^-1 (stretch_root / 2%:R)^-1) Z.

(* Row t becomes the new map. *)
Definition next_history (t : nat) (yz : history * 'M[R]_d) : history :=
  (\matrix_(i, j) (if i == inord t then mxvec (even_out_map yz.2) 0 j else yz.1.1 i j),
   yz.1.2 *m back_map yz.2).

Lemma measurable_next_history t : measurable_fun [set: history_and_noisy] (next_history t).
Proof.
have m1 : measurable_fun [set: history_and_noisy] (@fst history 'M[R]_d) by exact: measurable_fun_fst.
have m2 : measurable_fun [set: history_and_noisy] (@snd history 'M[R]_d) by exact: measurable_fun_snd.
apply: measurable_pair.
  apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
  case: (i == inord t).
    have [a [b ->]] : exists a b, j = mxvec_index a b by case/mxvec_indexP: j => a b; exists a, b.
    under eq_fun do rewrite mxvecE.
    apply: (measurable_fun_comp (@measurable_entry R d d a b)).
    by apply: (measurable_spectral_map _ m2); exact: step_map.
  apply: (measurable_fun_comp (@measurable_entry R _ _ i j)).
  by apply: (measurable_fun_comp _ m1); exact: measurable_fun_fst.
apply: measurable_matrixM.
  by apply: (measurable_fun_comp _ m1); exact: measurable_fun_snd.
by apply: (measurable_spectral_map _ m2); exact: step_map.
Qed.

Definition mapped_back (yz : history * 'M[R]_d) : 'M[R]_d := r ^+ 2 *: (yz.1.2 *m yz.2 *m yz.1.2^T).

Lemma measurable_mapped_back : measurable_fun [set: history_and_noisy] mapped_back.
Proof.
have m12 : measurable_fun [set: history_and_noisy] (fun yz : history * 'M[R]_d => yz.1.2).
  by apply: (measurable_fun_comp (@measurable_fun_snd _ _ _ _)); exact: measurable_fun_fst.
apply: measurable_mxZ; apply: measurable_matrixM; last exact: (measurable_matrixT m12).
by apply: (measurable_matrixM m12); exact: measurable_fun_snd.
Qed.

(* ---------------------------------------------------------------------------- *)
(* All rounds                                                                   *)

Definition moment_round (t : nat) (X : data) : stage R history history :=
  ensemble_stage round_ensemble (measurable_next_history t) round_scale_gt0 (measurable_round_moment t X).

Definition last_round (X : data) : stage R history matrix :=
  ensemble_stage round_ensemble measurable_mapped_back round_scale_gt0
    (measurable_round_moment further_rounds X).

Definition first_history : history := (0, 1%:M).

Let moment_law (X : data) : {measure set matrix -> \bar R} :=
  run (chain moment_round (iota 0 further_rounds)
         [the {measure set history -> \bar R} of dirac first_history] X)
    (last_round X).

Let moment_total X : moment_law X setT = 1%E.
Proof. by apply: run_total; apply: chain_total; rewrite /= diracE in_setT. Qed.

Definition recursive_moment : mechanism R data matrix := Mechanism moment_total.

Definition round_cost : R := (if tight then rho else rho / 8%:R) / K%:R.

Lemma round_costE : n%:R^-1 ^+ 2 / round_scale ^+ 2 = round_cost.
Proof.
rewrite /round_cost /round_scale; move: (K%:R : R) KR_gt0 => k k0.
case: ifP => _; rewrite expr_div_n ?exprMn sqr_sqrtr.
- by field; rewrite (gt_eqF nR_gt0) (gt_eqF rho_gt0) (gt_eqF k0).
- by rewrite divr_ge0 ?(ltW k0) // ltW.
- by field; rewrite (gt_eqF nR_gt0) (gt_eqF rho_gt0) (gt_eqF k0).
by rewrite divr_ge0 ?(ltW k0) // mulr_ge0 ?ler0n // ltW.
Qed.

Lemma round_moment_change t X Y y : Sensitivity.neighbours X Y ->
  MatrixNorms.frob_dot (round_moment t X y - round_moment t Y y) (round_moment t X y - round_moment t Y y)
  <= 2%:R * n%:R^-1 ^+ 2.
Proof.
move=> XY; rewrite -[n%:R^-1]mul1r.
apply: (short_rows_change (f := fun x => evened_out y.1 t (unit_row r x)) n_gt0 _ XY) => v.
by rewrite -Euclidean.norm_le1 evened_out_le // norm_unit_row.
Qed.

Lemma moment_stage_zcdp e (Z : measurableType e) (h : history * 'M[R]_d -> Z)
    (mh : measurable_fun [set: history_and_noisy] h) t y :
  zcdp (@Sensitivity.neighbours R n d) round_cost
    (fun X => ensemble_stage round_ensemble mh round_scale_gt0 (measurable_round_moment t X) y).
Proof.
rewrite -round_costE; apply: ensemble_stage_zcdp => [|X|X Y].
- by rewrite invr_ge0 ler0n.
- exact: covariance_sym.
exact: round_moment_change.
Qed.

(* The premises are n >= 1, rho > 0 and r > 0; kappa and m are any numbers. *)
(*@ WHOLE.recursive-moment *)
Theorem recursive_moment_zcdp :
  zcdp (@Sensitivity.neighbours R n d) (if tight then rho else rho / 8%:R) (fun X => recursive_moment X).
Proof.
have -> : (if tight then rho else rho / 8%:R) = 0 + \sum_(t <- iota 0 further_rounds) round_cost + round_cost.
  rewrite big_const_seq count_predT size_iota iter_addr_0 add0r -mulrSr -(mulr_natr round_cost) /round_cost divfK //.
apply: (zcdp_run (M1 := fun X => chain moment_round (iota 0 further_rounds)
  [the {measure set history -> \bar R} of dirac first_history] X) (M2 := last_round)).
  apply: (chain_zcdp (cost := fun=> round_cost) (K := moment_round)); last exact: dirac_zcdp.
  by move=> t y; exact: moment_stage_zcdp.
by move=> y; exact: moment_stage_zcdp.
Qed.

End RecursiveMoment.
