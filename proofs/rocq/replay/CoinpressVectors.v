(* Releases of coinpress-mean with one step that the kernel computes, for tests of the Python code.

   With one step the law of the mechanism is that of m + sigma z, where z is standard Gaussian
   and m the mean of the rows, each shortened to length tau if it is longer.  In the rows tau is
   the radius plus gamma1, the rows of the data have rational lengths, and the noise is sqrt s
   times z, s the square of sigma.

   Assumed: nothing.  Not said: more steps than one. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Coinpress Releases.
From covassay Require Import RationalData.
From covassay Require Euclidean Sensitivity.
From mathcomp Require Import rat.

(* A stage after a law that is all mass in one point. *)
Lemma run_dirac (R : realType) e1 e2 (Y1 : measurableType e1) (Y2 : measurableType e2) (y : Y1)
    (K : stage R Y1 Y2) S : measurable S ->
  run [the {measure set Y1 -> \bar R} of dirac y] K S = K y S.
Proof.
move=> mS; rewrite /run /= /pushforward /joint /two_stage.
have E z : xsection (@snd Y1 Y2 @^-1` S) z = S.
  by apply/seteqP; split => t; rewrite /xsection /= inE.
under eq_integral do rewrite E.
rewrite integral_dirac //; first by rewrite indicE in_setT mul1e.
exact: stage_measurable.
Qed.

(* The factor of a row of length l. *)
Definition press_factor (tau l : rat) : rat := tau / Num.max tau l.
Definition pressed_entry (n : nat) (tau : rat) (l : nat -> rat) (x : seq (seq rat)) (i : nat) : rat :=
  sum_to n (fun k => press_factor tau (l k) * entry x k i) / n%:R.
Definition coinpress_square (n : nat) (rho tau : rat) : rat := (2%:R * tau) ^+ 2 / (n%:R ^+ 2 * (2%:R * rho)).
Definition coinpress_release n rho tau l x := noisy (fun i j => pressed_entry n tau l x i) (coinpress_square n rho tau).

Section Step.
Variables (R : realType) (n d : nat) (gamma1 gamma2 rho radius : {posnum R}) (rho' tau : rat).
Variables (x : seq (seq rat)) (l : nat -> rat) (n_gt0 : (0 < n)%N).
Hypotheses (rhoE : rho%:num = ratr rho') (tauE : radius%:num + gamma1%:num = ratr tau).
Hypothesis lengths : forall k : 'I_n, 0 <= l k /\ l k ^+ 2 = square_length d x k.
Notation X := (rows R n d x).

Lemma pressed_rows : pressed_mean (ratr tau) X 0 = entries_of R d 1 (fun i j => pressed_entry n tau l x i).
Proof.
rewrite /pressed_mean add0r; apply/matrixP => i j.
rewrite !mxE summxE /pressed_entry fmorph_div rmorph_nat mulrC; congr (_ / _).
rewrite sum_toE rmorph_sum; apply: eq_bigr => k _; rewrite subr0 /press mxE mxE rmorphM; congr (_ * _).
have [l0 lE] := lengths k.
have -> : Euclidean.norm (X k) = ratr (l k).
  rewrite /Euclidean.norm square_length_rows -lE rmorphX sqrtr_sqr ger0_norm // ler0q.
  exact: l0.
rewrite /press_factor fmorph_div; congr (_ / _).
by have [h|/ltW h] := leP tau (l k); [rewrite max_r //|rewrite max_l //]; rewrite ler_rat.
Qed.

Lemma coinpress_holds :
  releases (coinpress_mean gamma1 gamma2 false n_gt0 rho 1 radius X) (law (unit_gaussian R d 1))
    (fun Z => pressed_mean (radius%:num + gamma1%:num) X 0 + step_scale n gamma1 false radius rho *: Z)
    (coinpress_square n rho' tau) (coinpress_release n rho' tau l x).
Proof.
pose b0 := @step_scale_gt0 R n gamma1 false n_gt0 radius rho.
apply: additive; [|by rewrite tauE; exact: pressed_rows|exact: b0|].
  move=> S mS; have -> : coinpress_mean gamma1 gamma2 false n_gt0 rho 1 radius X S
      = step gamma1 false n_gt0 radius rho X 0 S by exact: run_dirac.
  transitivity (law (gaussian_weight d 1 b0) [set z | S (pressed_mean (radius%:num + gamma1%:num) X 0 + z)]).
    exact: erefl.
  apply: (matrix_rescale b0 (@gaussian_unit R d 1 _ b0)).
  by rewrite -[X in measurable X]setTI; exact: matrix_measurable_add.
rewrite /step_scale /clip_radius tauE rhoE expr_div_n [(n%:R * _) ^+ 2]exprMn sqr_sqrtr; last first.
  by rewrite -rhoE mulr_ge0 ?ler0n.
rewrite /coinpress_square fmorph_div rmorphX; congr (_ ^+ 2 / _); first by rewrite rmorphM rmorph_nat.
by rewrite rmorphM rmorphX rmorph_nat rmorphM rmorph_nat.
Qed.

End Step.

(* Rows of length 5 and 1/2; tau is 2/5 + 13/5. *)
Definition press_data : seq (seq rat) := [:: [:: 3%:R; 4%:R]; [:: frac 3 10; - frac 2 5]].
Definition press_lengths (k : nat) : rat := nth 0 [:: 5%:R; frac 1 2] k.

Definition coinpress_rows : seq (seq rat) :=
  [seq let tau := frac 2 5 + frac 13 5 in
       [:: 2%:R; 2%:R; rho; 0] ++ data_columns 2 2 press_data ++
       [:: frac 2 5; frac 13 5; coinpress_square 2 rho tau] ++ matrix_columns 2 1 (entry sample_noise) ++
       matrix_columns 2 1 (coinpress_release 2 rho tau press_lengths press_data sample_noise)
   | rho <- [seq rho <- [:: frac 1 2; 2%:R]
            | all (fun k => press_lengths k ^+ 2 == square_length 2 press_data k) (iota 0 2)]].
