(* The second moment of the singular values of nuclear-Laplace noise Z, in every dimension:

      E (Q + H) = 2 d^3,   Q = sum s_i^2,   H = 2 sum_(i<j) s_i s_j/(s_i + s_j).

   With it the noise meets every premise of Theorem6.  Let N be the nuclear norm.  The map
   Z |-> Z + h E_kl Z adds h times row l to row k, so that (LebesgueRows)

      E e^(N(Z) - N(Z + h E_kl Z)) = 1 if k <> l, and (1 + h)^-d if k = l.

   Add this up over k, l, h and -h.  The left side is 2 d^2 + h^2 E (Q + H - (d - 1) N(Z)) up to
   C h^3 (RowGains: the remainder is at most C h^3 e^(3 N(Z)/4), which has a finite expectation).
   The right side is 2 d^2 + h^2 d^2 (d + 1) up to C h^3.  This holds for every small h > 0.  So
   E (Q + H) - (d - 1) E N(Z) = d^2 (d + 1), and E N(Z) = d^2.  Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueRows Norms KNorm.
From covassay Require Import LawIntegral Squeeze Algorithm2 TailIdentity MatrixNorms SingularValues.
From covassay Require Import Expansions Means NoiseMoments RowGains.
From covassay Require Theorem6 Expectation GammaMoments.

Section Noise.
Variables (R : realType) (d : nat).
Implicit Types (h : R) (k l : 'I_d).
Let noise := GammaMoments.nuclear_laplace R d.
Let w := norm_weight (nuclear R d) (@ltr01 R).
Let N (z : 'M[R]_d) : R := nuclear_norm z.
Let s := @singular_values R d.
Let Leb := [the measure _ _ of @leb_matrix R d d].

Let mN : measurable_fun setT N. Proof. exact: (norm_measurable (nuclear R d)). Qed.

Let expect_noise (f g : 'M[R]_d -> R) : measurable_fun setT f -> (forall z, 0 <= f z) ->
  (forall z, expR (- N z) * f z = g z) ->
  Expectation.expect noise f = (((normalizer w)^-1)%:E * \int[Leb]_z (g z)%:E)%E.
Proof.
move=> mf f0 fg; have Z0 := normalizer_gt0 w.
have g0 z : 0 <= g z by rewrite -fg mulr_ge0 // ltW ?expR_gt0.
have mg : measurable_fun setT g.
  by rewrite -(funext fg); apply: measurable_funM => //; exact: measurable_exp_opp.
have mfE : measurable_fun setT (fun z => (f z)%:E) by exact/EFin_measurable_fun.
rewrite /Expectation.expect /noise /GammaMoments.nuclear_laplace integral_law //.
have mgE : measurable_fun setT (fun z => (g z)%:E) by exact/EFin_measurable_fun.
rewrite -ge0_integralM_EFin //; last 2 first.
- by move=> z _; rewrite lee_fin.
- by rewrite invr_ge0 ltW.
apply: eq_integral => z _; rewrite -!EFinM -fg /= /norm_density divr1; congr (_%:E).
by rewrite mulrAC mulrC.
Qed.

Let m_row_operation k l h : measurable_fun setT (row_operation k l h : 'M[R]_d -> 'M[R]_d).
Proof.
apply: measurable_fun_matrix => i j.
rewrite (_ : (fun _ => _) = fun z : 'M[R]_d => z i j + h * \sum_r delta_mx k l i r * z r j).
  apply: measurable_funD; first exact: measurable_entry.
  by apply/measurable_funrM/measurable_sum => r; apply: measurable_funrM; exact: measurable_entry.
by apply/funext => z; rewrite /row_operation !mxE.
Qed.

(* one row operation *)
Lemma mean_gain k l h : -1 < h -> mean noise (gain k l h) ((1 + h *+ (k == l)) ^+ d)^-1.
Proof.
move=> h1; have mop := measurable_fun_comp mN (m_row_operation k l h).
have g0 z : 0 <= gain k l h z by rewrite ltW ?expR_gt0.
have mg : measurable_fun setT (gain k l h).
  by apply: measurable_exp; apply: measurable_funB.
split=> //; rewrite (@expect_noise _ (fun z => expR (- N (row_operation k l h z)))) //; last first.
  by move=> z; rewrite /gain -expRD; congr expR; rewrite addrA addNr add0r.
have mw : measurable_fun setT (fun z : 'M[R]_d => (expR (- N z))%:E).
  by apply/EFin_measurable_fun; exact: measurable_exp_opp.
have := @integral_row_operation R d d k l h h1 _ mw (fun z => ltW (expR_gt0 _)).
have -> : (\int[leb_matrix (n:=d)]_z (expR (- N z))%:E = (normalizer w)%:E)%E.
  by rewrite normalizerE; apply: eq_integral => z _; rewrite /= /norm_density divr1.
have Z0 := normalizer_gt0 w; set a := (_ ^+ d); have a0 : 0 < a.
  rewrite exprn_gt0 //; case: (k == l); last by rewrite mulr0n addr0.
  by rewrite mulr1n addrC -ltr_subl_addr sub0r.
move=> E; have -> : (\int[Leb]_z (expR (- N (row_operation k l h z)))%:E = (a^-1 * normalizer w)%:E)%E.
  by rewrite EFinM -E muleA -EFinM mulVf ?mul1e // gt_eqF.
by rewrite -EFinM mulrCA mulVf ?mulr1 // gt_eqF.
Qed.

(* the remainder has a finite expectation *)
Lemma mean_exponential : exists c, mean noise (fun z => expR (3%:R / 4%:R * N z)) c.
Proof.
have four : 0 < 4%:R :> R by rewrite ltr0n.
have fin := norm_density_lty (nuclear R d) four.
have f0 z : 0 <= expR (3%:R / 4%:R * N z) by rewrite ltW ?expR_gt0.
have mf : measurable_fun setT (fun z => expR (3%:R / 4%:R * N z)).
  by apply: measurable_exp; exact: measurable_funrM.
have E := @expect_noise _ (norm_density (nuclear R d) 4%:R) mf f0.
eexists; split=> //; rewrite E; last first.
  by move=> z; rewrite -expRD /norm_density /=; congr expR; rewrite -/(N z); field.
rewrite -(@fineK _ (\int[Leb]_z _)%E) // ge0_fin_numE //.
by apply: integral_ge0 => z _; rewrite lee_fin norm_density_ge0.
Qed.


Let m : R := (d.-1)%:R.
Let p h : R := ((1 + h) ^+ d)^-1 + ((1 - h) ^+ d)^-1.

(* all row operations, for h and - h *)
Lemma mean_gains h : 0 <= h -> h < 1 ->
  mean noise (gains h) (2%:R * d%:R ^+ 2 + d%:R * (p h - 2%:R)).
Proof.
move=> h0 h1.
have lo : -1 < - h by rewrite ltr_opp2.
have lo' : -1 < h by rewrite (lt_le_trans _ h0) // oppr_lt0 ltr01.
have -> : 2%:R * d%:R ^+ 2 + d%:R * (p h - 2%:R)
    = \sum_(k < d) \sum_(l < d) (((1 + h *+ (k == l)) ^+ d)^-1 + ((1 + - h *+ (k == l)) ^+ d)^-1).
  have E (k : 'I_d) : \sum_(l < d) (((1 + h *+ (k == l)) ^+ d)^-1 + ((1 + - h *+ (k == l)) ^+ d)^-1)
      = 2%:R * d%:R + (p h - 2%:R).
    transitivity (\sum_(l < d) (2%:R + (if l == k then p h - 2%:R else 0))).
      apply: eq_bigr => l _; rewrite eq_sym; case: (l == k); first by rewrite [RHS]addrC subrK.
      by rewrite !mulr0n !addr0 expr1n invr1.
    by rewrite big_split -big_mkcond big_pred1_eq sumr_const card_ord -[_ *+ d]mulr_natr.
  under eq_bigr do rewrite E.
  by rewrite sumr_const card_ord -[RHS]mulr_natr; move: (d%:R) (p h) => n x; ring.
by apply: mean_sum => k; apply: mean_sum => l; apply: meanD; exact: mean_gain.
Qed.

(* The identity for the noise of scale 1, in every dimension. There is no premise. *)
(*@ NOISE-IDENTITY *)
Theorem noise_identity :
  Expectation.expect noise (fun z => (square_sum (s z) + harmonic_sum (s z))%R) = (2%:R * d%:R ^+ 3)%:E.
Proof.
have s0 z : forall i, 0 <= s z i := singular_values_ge0 z.
have [P1 E1 E2 _] := GammaMoments.nuclear_laplace_moments R d.
have N0 z : 0 <= N z by exact: nuclear_norm_ge0.
have M1 : mean noise N (d%:R ^+ 2) by split.
have M2 : mean noise (fun z => N z ^+ 2) (d%:R ^+ 4 + d%:R ^+ 2).
  by split=> // [z|]; [exact: exprn_ge0|exact: measurable_fun_exprn].
have m0 : 0 <= m by exact: ler0n.
pose W z := square_sum (s z) + harmonic_sum (s z).
have mW : measurable_fun setT W.
  apply: measurable_funD; last exact: measurable_harmonic_sum.
  by apply: measurable_sum => i; apply: measurable_fun_exprn; exact: measurable_singular_values.
have W0 z : 0 <= W z by rewrite addr_ge0 ?square_sum_ge0 ?harmonic_sum_ge0.
have dom z : W z <= N z ^+ 2 + m / 2%:R * N z.
  rewrite /N -total_singular_values.
  by apply: ler_add; [exact: square_sum_le_total|exact: harmonic_sum_le].
have [x Mx] : exists x, mean noise W x.
  apply: mean_exists dom => //; apply: meanD M2 _; apply: meanZ M1; by rewrite divr_ge0 ?ler0n.
have [c Mc] := mean_exponential.
have [q [K [q1 K0 rows]]] := row_operations R d.
have [C C0 powers] := inverse_power_pair R d.
pose D := d%:R * (d%:R * (d%:R + 1)) - (x - m * d%:R ^+ 2).
have small h : 0 < h -> h * q <= 1 / 2%:R -> `|D| <= h * (K * c + d%:R * C).
  move=> hp hq; have h0 := ltW hp.
  have h2 : h <= 1 / 2%:R by apply: le_trans hq; rewrite ler_pemulr.
  have h1 : h < 1 by apply: le_lt_trans h2 _; rewrite ltr_pdivr_mulr ?ltr0n // mul1r ltr1n.
  have hh (j : nat) : 0 <= h ^+ j by rewrite exprn_ge0.
  have MT := mean_gains h0 h1; set t := 2%:R * _ + _ in MT.
  have ME := meanZ (mulr_ge0 (hh 3%N) K0) Mc.
  have MN := meanZ (mulr_ge0 (hh 2%N) m0) M1.
  have MW := meanZ (hh 2%N) Mx.
  have two : 0 <= 2%:R * d%:R ^+ 2 :> R by rewrite mulr_ge0 ?exprn_ge0 ?ler0n.
  have M0 := mean_cst P1 two.
  have up : t + h ^+ 2 * m * d%:R ^+ 2 <= 2%:R * d%:R ^+ 2 + h ^+ 2 * x + h ^+ 3 * K * c.
    apply: mean_le (meanD MT MN) (meanD (meanD M0 MW) ME) _ => z.
    have := rows z h h0 hq; rewrite ler_distl => /andP[_ le]; rewrite -subr_ge0 in le.
    rewrite -subr_ge0; apply: le_trans le _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
    by rewrite -/(W z) -/(N z) -/m; move: (gains h z) (W z) (N z) (expR _) => g w' n e; ring.
  have down : 2%:R * d%:R ^+ 2 + h ^+ 2 * x <= t + h ^+ 2 * m * d%:R ^+ 2 + h ^+ 3 * K * c.
    apply: mean_le (meanD M0 MW) (meanD (meanD MT MN) ME) _ => z.
    have := rows z h h0 hq; rewrite ler_distl => /andP[le _]; rewrite -subr_ge0 in le.
    rewrite -subr_ge0; apply: le_trans le _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
    by rewrite -/(W z) -/(N z) -/m; move: (gains h z) (W z) (N z) (expR _) => g w' n e; ring.
  have near : `|t - (2%:R * d%:R ^+ 2 + h ^+ 2 * (x - m * d%:R ^+ 2))| <= h ^+ 3 * (K * c).
    rewrite -subr_ge0 in up; rewrite -subr_ge0 in down.
    rewrite ler_distl; apply/andP; split; rewrite -subr_ge0.
      by apply: le_trans down _; rewrite le_eqVlt; apply/orP/or_introl/eqP; ring.
    by apply: le_trans up _; rewrite le_eqVlt; apply/orP/or_introl/eqP; ring.
  have pair := ler_wpmul2l (ler0n R d) (powers h h0 h2); rewrite -/(p h) in pair.
  have DE : h ^+ 2 * D = (t - (2%:R * d%:R ^+ 2 + h ^+ 2 * (x - m * d%:R ^+ 2)))
      - d%:R * (p h - (2%:R + h ^+ 2 * (d%:R * (d%:R + 1)))).
    by rewrite /D /t; move: (p h) (d%:R) m => y n m'; ring.
  have le : `|h ^+ 2 * D| <= h ^+ 3 * (K * c) + d%:R * (h ^+ 3 * C).
    rewrite DE; apply: le_trans (ler_norm_sub _ _) _; rewrite [X in _ + X]normrM (ger0_norm (ler0n R d)).
    exact: ler_add.
  rewrite -(ler_pmul2l (exprn_gt0 2 hp)) -[h ^+ 2 in X in X <= _](ger0_norm (hh 2%N)) -normrM.
  by apply: le_trans le _; rewrite le_eqVlt; apply/orP/or_introl/eqP; ring.
have D0 : D = 0.
  apply/eqP; rewrite -normr_le0; apply: (@le_of_small _ _ 0 ((K * c + d%:R * C) / (2%:R * q))) => h hp h1.
  have q0 : 0 < q := lt_le_trans ltr01 q1; have q2 : 0 < 2%:R * q by rewrite mulr_gt0 ?ltr0n.
  rewrite add0r mulrA mulrAC; apply: small; first exact: divr_gt0.
  rewrite (_ : _ * q = h / 2%:R); last by field; rewrite gt_eqF.
  by rewrite ler_wpmul2r ?invr_ge0 ?ler0n // ltW.
have mE : d%:R ^+ 2 * (m + 1) = d%:R ^+ 3 :> R.
  by rewrite /m; case: (d) => [|n]; rewrite ?expr0n ?mul0r //= -mulrSr -exprSr.
have [_ _ ->] := Mx; congr (_%:E).
rewrite (_ : x = d%:R ^+ 2 * (m + 1) + d%:R ^+ 3 - D); first by rewrite mE D0; ring.
by rewrite /D; move: (d%:R) m => n m'; ring.
Qed.

(* All the premises of Theorem6 hold for nuclear-Laplace noise of scale 1 and its singular
   values, in every dimension. There is no premise. *)
(*@ NOISE-MOMENTS *)
Theorem noise_moments : Theorem6.noise_moments noise s.
Proof. exact: noise_moments_reduced noise_identity. Qed.

End Noise.
