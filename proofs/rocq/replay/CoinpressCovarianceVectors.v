(* Releases of coinpress-covariance with one step that the kernel computes, for tests of the Python
   code.

   With one step the law is that of u times the positive part of cov + sigma W, where W is symmetric
   Gaussian of scale one and cov the covariance of the rows x/sqrt u, each shortened to length gamma
   if it is longer.  In the rows ln (n/beta) is a rational L with 2 L = t^2, so that gamma^2 is
   rational; W leads to a matrix with the eigenvectors (3, 4)/5 and (-4, 3)/5.

   Assumed: nothing.  Not said: more steps than one, whose offset needs roots of several numbers;
   the constants "code". *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval rat zmodp matrix.
From covassay Require Import MeasureTheory PureDP Lebesgue AdditiveNoise Norms KNorm Mechanisms Gaussian TwoStages.
From covassay Require Import Symmetric SymmetricMechanisms Coinpress SpectralMaps EigenvalueFunctions MatrixStages.
From covassay Require Import CoinpressCovariance Releases RationalData StageVectors.
From covassay Require Euclidean Sensitivity CoinpressVectors ProjectionVectors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* gamma^2, the square of the factor of row k over sqrt u, and the covariance. *)
Definition squared_gamma (L t : rat) : rat := 2%:R + 2%:R * t + 2%:R * L.
Definition squared_factor (g u : rat) x (k : nat) : rat := g / (u * Num.max g (square_length 2 x k / u)).
Definition pressed_moment (g u : rat) (n : nat) x (i j : nat) : rat :=
  sum_to n (fun k => squared_factor g u x k * (entry x k i * entry x k j)) / n%:R.
Definition step_square (n : nat) (g rho : rat) : rat := g ^+ 2 / (n%:R ^+ 2 * rho).
Definition coinpress_covariance_release (u : rat) (a : nat -> rat) (i j : nat) : rat :=
  u * basis_entry tilted (fun l => Num.max (a l) 0) i j.

Section Step.
Variables (R : realType) (n : nat) (rho u : {posnum R}) (rho' u' L t : rat) (beta : R) (x : seq (seq rat)).
Hypotheses (n_gt0 : (0 < n)%N) (d_gt0 : (0 < 2)%N) (beta_gt0 : 0 < beta) (beta_lt1 : beta < 1).
Hypotheses (rhoE : rho%:num = ratr rho') (uE : u%:num = ratr u').
Hypotheses (beta_L : ln (n%:R / step_beta beta 0) = ratr L) (t_ge0 : 0 <= t) (t_L : t ^+ 2 = 2%:R * L).
Notation X := (rows R n 2 x).
Notation g := (squared_gamma L t).
Notation squared := (squared_length n 2 beta false 0).
Notation gamma := (row_length n 2 beta false 0).
Notation start := (first_state 2 u).

Lemma squared_gammaE : squared = ratr g.
Proof.
rewrite /squared_length /row_log /= beta_L; have -> : Num.sqrt (2%:R * ratr L) = ratr t :> R.
  have -> : 2%:R * ratr L = ratr t ^+ 2 :> R by rewrite -rmorphX t_L rmorphM rmorph_nat.
  by rewrite sqrtr_sqr ger0_norm // ler0q.
by rewrite /squared_gamma [RHS]rmorphD [in RHS]rmorphD [X in _ = _ + X + _]rmorphM [X in _ = _ + X]rmorphM !rmorph_nat.
Qed.

Lemma press_outer (tau : R) (v : 'cV[R]_2) : 0 < tau ->
  press tau v *m (press tau v)^T
  = (tau ^+ 2 / Num.max (tau ^+ 2) (Euclidean.dot v v)) *: (v *m v^T).
Proof.
move=> t0; rewrite /press linearZ /= -scalemxAl -scalemxAr scalerA -expr2 expr_div_n -Euclidean.sqr_norm.
congr (_ / _ *: _); have [h|h] := leP tau (Euclidean.norm v).
  by rewrite max_r // ler_expn2r ?nnegrE ?Euclidean.norm_ge0 ?(ltW t0).
by rewrite max_l // ler_expn2r ?nnegrE ?Euclidean.norm_ge0 ?(ltW t0) // ltW.
Qed.

Lemma pressed_rows : pressed_covariance beta false 0 X start = entries_of R 2 2 (pressed_moment g u' n x).
Proof.
have g0 : 0 < squared by exact: squared_length_gt0.
have u0 : 0 < u%:num := [gt0 of u%:num].
apply/matrixP => i j; rewrite /pressed_covariance /mapped_covariance /Sensitivity.covariance !mxE summxE.
rewrite /pressed_moment fmorph_div rmorph_nat mulrC; congr (_ / _).
rewrite sum_toE rmorph_sum; apply: eq_bigr => k _.
rewrite press_outer ?row_length_gt0 // /row_length sqr_sqrtr ?(ltW g0) //.
rewrite /= -scalemxAl mul1mx Euclidean.dotZl Euclidean.dotZr mulrA -expr2 exprVn sqr_sqrtr ?(ltW u0) //.
rewrite square_length_rows linearZ /= -scalemxAl -scalemxAr !scalerA -mulrA -expr2 exprVn sqr_sqrtr ?(ltW u0) //.
rewrite !mxE big_ord1 !mxE squared_gammaE uE /squared_factor.
have -> : (ratr u')^-1 * ratr (square_length 2 x k) = ratr (square_length 2 x k / u') :> R.
  by rewrite fmorph_div mulrC.
rewrite -ratr_max -fmorph_div -fmorphV -!rmorphM; congr ratr; congr (_ * _).
by rewrite invfM mulrA mulrAC.
Qed.

Lemma coinpress_covariance_holds (a : nat -> rat) : a 1%N < a 0%N ->
  let b := covariance_scale n 2 beta false 0 (last_budget rho 0) in let s := step_square n g rho' in
  let f W := estimate (start, pressed_covariance beta false 0 X start + b *: W) in
  computes (coinpress_covariance rho u false 0 n_gt0 d_gt0 beta_gt0 beta_lt1 X)
    (symmetric_law 1 (unit_gaussian R 1 (entries 2))) f /\
  f (Num.sqrt (ratr s) *: entries_of R 2 2 (noise_to (basis_entry tilted a) (pressed_moment g u' n x) s))
  = entries_of R 2 2 (coinpress_covariance_release u' a).
Proof.
move=> lt b s f; split.
  have last : computes (last_step rho false 0 n_gt0 d_gt0 beta_gt0 beta_lt1 X start)
      (symmetric_law 1 (unit_gaussian R 1 (entries 2))) f.
    by apply: symmetric_stage_computes; exact: covariance_sym.
  move=> S mS; apply: etrans (CoinpressVectors.run_dirac start (last_step rho false 0 n_gt0 d_gt0 beta_gt0 beta_lt1 X) mS) _.
  exact: last.
have b0 : 0 < b := covariance_scale_gt0 false 0 n_gt0 d_gt0 beta_gt0 beta_lt1 (last_budget rho 0).
have bs : b ^+ 2 = ratr s.
  have r0 : 0 <= ratr rho' :> R by rewrite -rhoE ltW.
  rewrite /b /covariance_scale squared_gammaE (_ : last_budget rho 0 = rho) // rhoE expr_div_n [(n%:R * _) ^+ 2]exprMn sqr_sqrtr //.
  by rewrite /s /step_square fmorph_div rmorphX rmorphM rmorphX rmorph_nat.
rewrite /f (noise_arrives _ pressed_rows b0 bs) /estimate /= -scalemxAl mul1mx linearZ /= trmx1.
rewrite -scalemxAr mulmx1 scalerA -expr2 sqr_sqrtr // uE.
rewrite (@spectral_map_basis R tilted tilted_orthonormal _ a (fun l => Num.max (a l) 0) lt) => [|i]; last first.
  by rewrite ratr_max rmorph0.
by apply/matrixP => i j; rewrite !mxE -rmorphM.
Qed.

End Step.

(* u = 4, L = 2, t = 2, so that gamma^2 = 10; |x|^2/4 is 25 for the first row, and at most 10 for the others. *)
Definition wide_data : seq (seq rat) := [:: [:: 6%:R; 8%:R]; [:: 2%:R; - 1]; [:: 0; 3%:R]].
Definition coinpress_covariance_rows : seq (seq rat) :=
  let g := squared_gamma 2%:R 2%:R in let u := 4%:R in
  [seq let s := step_square c.1.1 g c.1.2 in
       [:: c.1.1%:R; 2%:R; c.1.2; 0] ++ data_columns c.1.1 2 wide_data ++ [:: u; 2%:R; s] ++
       matrix_columns 2 2 (noise_to (basis_entry tilted c.2) (pressed_moment g u c.1.1 wide_data) s) ++
       matrix_columns 2 2 (coinpress_covariance_release u c.2)
   | c <- [seq c <- [:: (3%N, 1, ProjectionVectors.spectrum 3%:R 1); (2%N, frac 1 2, ProjectionVectors.spectrum 2%:R (- 1))]
          | orthonormal tilted && (c.2 1%N < c.2 0%N)]].
