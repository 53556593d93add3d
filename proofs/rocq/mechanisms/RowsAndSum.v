(* A noisy number of rows beside a noisy sum over the rows, for rows that come and go.

   A data set is a list of rows of any length; neighbours are two lists of which one has a row more
   than the other.  Every row is shortened to length r if it is longer, and divided by r.  Released
   are, each with noise of its own,

   - the number of rows;
   - r^2 times the sum over the rows x of x x^T, or of (x_1^2, ..., x_d^2).

   One row moves the first by 1.  It moves the second by at most 1 in the nuclear and in the Frobenius
   norm, by d in the sum of the absolute values of all entries and by (d + 1)/2 in that of the
   triangle, and by 1 in those of (x_1^2, ..., x_d^2).  The budget is divided, eps0 + eps1 or
   rho0 + rho1; the theorems hold for every division.

   Assumed: nothing.  Not said: floating point; how the noise is drawn. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric Triangle.
From covassay Require Import SymmetricMechanisms GaussianMechanisms JohnsonLindenstrauss UnitRows MatrixStages.
From covassay Require Import BoxMoments BoxMechanisms.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity Algorithm2.

(* ---------------------------------------------------------------------------- *)
(* Two releases together, independent of each other                             *)

Section Both.
Context (R : realType) (X : Type) e1 e2 (Y1 : measurableType e1) (Y2 : measurableType e2).
Variables (M1 : mechanism R X Y1) (M2 : mechanism R X Y2).

Let stage_of x : stage R Y1 Y2 := Algorithm2.constant_stage Y1 (release_total M2 x).

Let both_law x : {measure set [the measurableType _ of (Y1 * Y2)%type] -> \bar R} :=
  [the measure _ _ of joint (M1 x) (stage_of x)].

Let both_total x : both_law x setT = 1%E.
Proof. exact: (joint_total _ (release_total M1 x)). Qed.

Definition both : mechanism R X [the measurableType _ of (Y1 * Y2)%type] := Mechanism both_total.

Lemma both_dp (nb : X -> X -> Prop) (a b : R) :
  dp nb a (fun x => M1 x) -> dp nb b (fun x => M2 x) -> dp nb (a + b) (fun x => both x).
Proof. by move=> H1 H2; apply: (adaptive_composition (M2 := stage_of)) => // y. Qed.

Lemma both_zcdp (nb : X -> X -> Prop) (a b : R) :
  zcdp nb a (fun x => M1 x) -> zcdp nb b (fun x => M2 x) -> zcdp nb (a + b) (fun x => both x).
Proof. by move=> H1 H2; apply: (zcdp_composition (M2 := stage_of)) => // y. Qed.

End Both.

(* ---------------------------------------------------------------------------- *)
(* Sums over rows that come and go                                              *)

Section Rows.
Variables (R : realType) (d : nat) (r : R).
Hypothesis r_gt0 : 0 < r.
Notation rows := (seq 'cV[R]_d).
Notation nb := (@added_or_removed 'cV[R]_d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Notation row := [the measurableType _ of 'M[R]_(1, d)].
Notation real := [the measurableType _ of (R : Type)].
Notation number := [the measurableType _ of 'M[R]_1].

Definition count_of (X : rows) : R := (size X)%:R.
Definition sum_over (V : zmodType) (f : 'cV[R]_d -> V) (X : rows) : V := \sum_(x <- X) f (unit_row r x).

(* x x^T, and the squares of the entries of x. *)
Definition outer (x : 'cV[R]_d) : 'M[R]_d := x *m x^T.
Definition squares (x : 'cV[R]_d) : 'rV[R]_d := \row_j x j 0 ^+ 2.

Lemma count_move X Y : nb X Y -> `|count_of X - count_of Y| = 1.
Proof.
have more s t x : count_of (s ++ x :: t) = count_of (s ++ t) + 1.
  by rewrite /count_of !size_cat /= addnS -natr1.
move=> [s [t [x [[-> ->]|[-> ->]]]]]; rewrite more.
  by rewrite opprD addrA subrr sub0r normrN1.
by rewrite addrAC subrr add0r normr1.
Qed.

Lemma sum_move (V : zmodType) (f : 'cV[R]_d -> V) X Y : nb X Y ->
  exists2 u, Euclidean.norm u <= 1 & sum_over f X - sum_over f Y = f u \/ sum_over f Y - sum_over f X = f u.
Proof.
have more s t x : sum_over f (s ++ x :: t) - sum_over f (s ++ t) = f (unit_row r x).
  by rewrite /sum_over !big_cat big_cons /= addrCA addrK.
move=> [s [t [x XY]]]; exists (unit_row r x); first exact: norm_unit_row.
by case: XY => [[-> ->]|[-> ->]]; [right|left]; exact: more.
Qed.

Lemma norm_sum_move k l (N : norm R k l) (f : 'cV[R]_d -> 'M[R]_(k, l)) (s : R) X Y :
  (forall u, Euclidean.norm u <= 1 -> N (f u) <= s) -> nb X Y -> N (sum_over f X - sum_over f Y) <= s.
Proof. by move=> le /(sum_move f)[u u1 [E|E]]; [|rewrite normC]; rewrite E le. Qed.

Lemma squares_sum_move k l (f : 'cV[R]_d -> 'M[R]_(k, l)) (s : R) X Y :
  (forall u, Euclidean.norm u <= 1 -> sum_squares (f u) <= s) -> nb X Y ->
  sum_squares (sum_over f X - sum_over f Y) <= s.
Proof. by move=> le /(sum_move f)[u u1 [E|E]]; [|rewrite sum_squaresC]; rewrite E le. Qed.

Lemma outer_sym x : (outer x)^T = outer x.
Proof. by rewrite /outer trmx_mul trmxK. Qed.

Lemma sum_outer_sym X : (sum_over outer X)^T = sum_over outer X.
Proof. by rewrite /sum_over raddf_sum; apply: eq_bigr => x _; exact: outer_sym. Qed.

(* ---------------------------------------------------------------------------- *)
(* How far one row moves them                                                   *)

Section OneRow.
Variable u : 'cV[R]_d.
Hypothesis u1 : Euclidean.norm u <= 1.

Let squared : \sum_j u j 0 ^+ 2 <= 1.
Proof. by move: u1; rewrite Euclidean.norm_le1 /Euclidean.dot => h; under eq_bigr do rewrite expr2. Qed.

Lemma nuclear_outer : MatrixNorms.nuclear_norm (outer u) <= 1.
Proof. by rewrite RankTwo.nuclear_norm_outer -Euclidean.norm_le1. Qed.

Let entry i j : outer u i j = u i 0 * u j 0.
Proof. by rewrite !mxE big_ord1 !mxE. Qed.

Let abs_sum : (\sum_j `|u j 0|) ^+ 2 <= d%:R.
Proof.
have := @finite_cauchy_schwarz R _ xpredT (fun=> 1) (fun j => `|u j 0|).
under eq_bigr do rewrite mul1r.
move=> h; apply: le_trans h _; rewrite -[X in _ <= X]mulr1; apply: ler_pmul.
- by rewrite sumr_ge0 // => j _; rewrite expr1n.
- by rewrite sumr_ge0 // => j _; exact: sqr_ge0.
- by under eq_bigr do rewrite expr1n; rewrite sumr_const card_ord.
by under eq_bigr do rewrite real_normK ?num_real //.
Qed.

Lemma l1_outer : l1 (outer u) <= d%:R.
Proof.
apply: le_trans abs_sum; rewrite le_eqVlt; apply/orP; left; apply/eqP.
rewrite expr2 mulr_suml; apply: eq_bigr => i _; rewrite mulr_sumr; apply: eq_bigr => j _.
by rewrite entry normrM.
Qed.

Lemma triangle_outer : triangle_sum (outer u) <= (d%:R + 1) / 2%:R.
Proof.
have sym i j : `|outer u j i| = `|outer u i j| by rewrite !entry mulrC.
have double := pairs_double sym.
have E : triangle_sum (outer u) = \sum_i `|outer u i i| + pairs (fun i j => `|outer u i j|).
  rewrite /triangle_sum /pairs -big_split; apply: eq_bigr => i _ /=.
  rewrite (bigD1 i) //=; congr (_ + _); apply: eq_bigl => j.
  by rewrite [RHS]ltn_neqAle andbC -val_eqE eq_sym.
have diagonal : \sum_i `|outer u i i| <= 1.
  by apply: le_trans squared; apply: ler_sum => i _; rewrite entry -expr2 ger0_norm ?sqr_ge0.
have := l1_outer; rewrite /l1 double => all.
rewrite ler_pdivl_mulr ?ltr0n // E mulrDl mulr_natr mulr2n -addrA [X in _ <= X]addrC.
by apply: ler_add => //; rewrite mulrC.
Qed.

Lemma l1_squares : l1 (squares u) <= 1.
Proof.
by apply: le_trans squared; rewrite /l1 big_ord1; apply: ler_sum => j _; rewrite mxE ger0_norm ?sqr_ge0.
Qed.

Lemma sum_squares_squares : sum_squares (squares u) <= 1.
Proof.
rewrite /sum_squares big_ord1; apply: le_trans squared; apply: ler_sum => j _; rewrite mxE expr2.
rewrite ler_pimull ?sqr_ge0 //; apply: le_trans squared; rewrite (bigD1 j) //= ler_addl sumr_ge0 // => i _.
exact: sqr_ge0.
Qed.

Lemma frobenius_outer : MatrixNorms.frob_dot (outer u) (outer u) <= 1.
Proof.
rewrite /outer MatrixNorms.frob_dot_outer Euclidean.outer_mulmx Euclidean.dotZr -expr2.
by rewrite expr_le1 // ?Euclidean.dot_ge0 // -Euclidean.norm_le1.
Qed.

End OneRow.

(* ---------------------------------------------------------------------------- *)
(* What is released                                                             *)

Section Release.
Context (k l : nat) e (Y : measurableType e).
Variables (M1 : mechanism R rows Y) (M2 : mechanism R rows [the measurableType _ of 'M[R]_(k, l)]).
Notation pair := (Y * 'M[R]_(k, l))%type.

Let in_units (y : pair) : pair := (y.1, r ^+ 2 *: y.2).

Let measurable_in_units : measurable_fun [set: [the measurableType _ of pair]] in_units.
Proof.
apply: measurable_pair; first exact: measurable_fun_fst.
by apply: measurable_mxZ; exact: measurable_fun_snd.
Qed.

Definition rows_and_sum : mechanism R rows [the measurableType _ of pair] :=
  publish (both M1 M2) measurable_in_units.

Lemma rows_and_sum_dp (a b : R) :
  dp nb a (fun X => M1 X) -> dp nb b (fun X => M2 X) -> dp nb (a + b) (fun X => rows_and_sum X).
Proof. by move=> H1 H2; apply: publish_dp; exact: both_dp. Qed.

Lemma rows_and_sum_zcdp (a b : R) :
  zcdp nb a (fun X => M1 X) -> zcdp nb b (fun X => M2 X) -> zcdp nb (a + b) (fun X => rows_and_sum X).
Proof. by move=> H1 H2; apply: zcdp_postprocessing; exact: both_zcdp. Qed.

End Release.

(* ---------------------------------------------------------------------------- *)
(* Pure differential privacy                                                    *)

Section Pure.
Variables eps0 eps1 : R.
Hypotheses (eps0_gt0 : 0 < eps0) (eps1_gt0 : 0 < eps1).
Notation eps := (eps0 + eps1).

(* s/eps. *)
Definition sum_scale (s e : R) : R := s / e.

Lemma sum_scale_gt0 s e : 0 < s -> 0 < e -> 0 < sum_scale s e.
Proof. exact: divr_gt0. Qed.

Lemma sum_scaleE s : eps1 * sum_scale s eps1 = s.
Proof. by rewrite /sum_scale mulrCA divff ?mulr1 // gt_eqF. Qed.

Definition laplace_count : mechanism R rows real :=
  with_noise (line R) (laplace_weight (sum_scale_gt0 ltr01 eps0_gt0)) count_of.

Lemma laplace_count_dp : dp nb eps0 (fun X => laplace_count X).
Proof.
apply: line_noise_dp => X Y XY; rewrite count_move // /sum_scale mulrCA divff ?mulr1 //.
by rewrite gt_eqF.
Qed.

(* nuclear-laplace *)
Definition nuclear_laplace_added := rows_and_sum laplace_count
  (with_noise (matrices R d d) (norm_weight (Algorithm2.nuclear R d) (sum_scale_gt0 ltr01 eps1_gt0))
    (sum_over outer)).

(* The premises are eps0 > 0, eps1 > 0 and r > 0. *)
(*@ ADD-REMOVE.nuclear-laplace *)
Theorem nuclear_laplace_added_dp : dp nb eps (fun X => nuclear_laplace_added X).
Proof.
apply: rows_and_sum_dp; first exact: laplace_count_dp.
apply: matrix_noise_dp => X Y; rewrite sum_scaleE; apply: norm_sum_move; exact: nuclear_outer.
Qed.

(* nuclear-laplace-symmetric *)
Definition nuclear_laplace_symmetric_added := rows_and_sum laplace_count
  (symmetric_noise 1
    (norm_weight (symmetric_norm (Algorithm2.nuclear R d)) (sum_scale_gt0 ltr01 eps1_gt0)) (sum_over outer)).

(* The premises are eps0 > 0, eps1 > 0 and r > 0. *)
(*@ ADD-REMOVE.nuclear-laplace-symmetric *)
Theorem nuclear_laplace_symmetric_added_dp : dp nb eps (fun X => nuclear_laplace_symmetric_added X).
Proof.
apply: rows_and_sum_dp; first exact: laplace_count_dp.
apply: symmetric_norm_dp; first exact: sum_outer_sym.
by move=> X Y; rewrite sum_scaleE; apply: norm_sum_move; exact: nuclear_outer.
Qed.

(* laplace *)
Definition laplace_added := rows_and_sum laplace_count
  (with_noise (matrices R 1 d) (norm_weight (l1_norm R 1 d) (sum_scale_gt0 ltr01 eps1_gt0)) (sum_over squares)).

(* The premises are eps0 > 0, eps1 > 0 and r > 0. *)
(*@ ADD-REMOVE.laplace *)
Theorem laplace_added_dp : dp nb eps (fun X => laplace_added X).
Proof.
apply: rows_and_sum_dp; first exact: laplace_count_dp.
apply: matrix_noise_dp => X Y; rewrite sum_scaleE; apply: norm_sum_move; exact: l1_squares.
Qed.

(* entrywise-laplace and lap-cov *)
Section Entrywise.
Hypothesis d_gt0 : (0 < d)%N.
Variable c : calibration.

Definition triangle_sensitivity : R := if c is Paper then d%:R else (d%:R + 1) / 2%:R.

Lemma triangle_sensitivity_gt0 : 0 < triangle_sensitivity.
Proof.
rewrite /triangle_sensitivity; case: c; first by rewrite ltr0n.
by rewrite divr_gt0 ?ltr0n // addr_gt0 ?ltr0n.
Qed.

Lemma triangle_sensitivity_ge : (d%:R + 1) / 2%:R <= triangle_sensitivity.
Proof.
rewrite /triangle_sensitivity; case: c => //.
by rewrite ler_pdivr_mulr ?ltr0n // mulr_natr mulr2n ler_add2l ler1n.
Qed.

Let d_gt0R : 0 < d%:R :> R. Proof. by rewrite ltr0n. Qed.

(* lap-cov *)
Definition lap_cov_added := rows_and_sum laplace_count
  (symmetric_noise 1
    (norm_weight (l1_norm R 1 (entries d)) (sum_scale_gt0 triangle_sensitivity_gt0 eps1_gt0)) (sum_over outer)).

(* The premises are d >= 1, eps0 > 0, eps1 > 0 and r > 0, for either calibration. *)
(*@ ADD-REMOVE.lap-cov *)
Theorem lap_cov_added_dp : dp nb eps (fun X => lap_cov_added X).
Proof.
apply: rows_and_sum_dp; first exact: laplace_count_dp.
apply: triangle_norm_dp; first exact: sum_outer_sym.
move=> X Y; rewrite sum_scaleE /= l1_corner => /(sum_move outer)[u u1 [E|E]].
  by rewrite E; apply: le_trans triangle_sensitivity_ge; exact: triangle_outer.
rewrite -opprB E; apply: le_trans triangle_sensitivity_ge; apply: le_trans (triangle_outer u1).
by apply: ler_sum => i _; apply: ler_sum => j _; rewrite mxE normrN.
Qed.

(* entrywise-laplace: noise on all entries, or on the triangle *)
Definition entrywise_laplace_added (full : bool) :
    mechanism R rows [the measurableType _ of (R * 'M[R]_d)%type] :=
  if full then rows_and_sum laplace_count
    (with_noise (matrices R d d) (norm_weight (l1_norm R d d) (sum_scale_gt0 d_gt0R eps1_gt0)) (sum_over outer))
  else lap_cov_added.

(* The premises are d >= 1, eps0 > 0, eps1 > 0 and r > 0, for either calibration, with noise on all
   entries or on the triangle. *)
(*@ ADD-REMOVE.entrywise-laplace *)
Theorem entrywise_laplace_added_dp (full : bool) : dp nb eps (fun X => entrywise_laplace_added full X).
Proof.
case: full; last exact: lap_cov_added_dp.
apply: rows_and_sum_dp; first exact: laplace_count_dp.
apply: matrix_noise_dp => X Y; rewrite sum_scaleE; apply: norm_sum_move; exact: l1_outer.
Qed.

End Entrywise.

End Pure.

(* ---------------------------------------------------------------------------- *)
(* Zero-concentrated differential privacy                                       *)

Section Concentrated.
Variables rho0 rho1 : R.
Hypotheses (rho0_gt0 : 0 < rho0) (rho1_gt0 : 0 < rho1).
Notation rho := (rho0 + rho1).

Definition gaussian_count : mechanism R rows number :=
  with_noise (matrices R 1 1) (gaussian_weight 1 1 (gaussian_scale_gt0 rho0_gt0 ltr01))
    (fun X => const_mx (count_of X)).

Lemma gaussian_count_zcdp : zcdp nb rho0 (fun X => gaussian_count X).
Proof.
rewrite -{1}(gaussian_scaleE rho0_gt0 (@ltr01 R)); apply: gaussian_noise_zcdp => X Y XY.
by rewrite /sum_squares !big_ord1 !mxE -real_normK ?num_real // count_move.
Qed.

(* gaussian *)
Definition gaussian_added := rows_and_sum gaussian_count
  (with_noise (matrices R 1 d) (gaussian_weight 1 d (gaussian_scale_gt0 rho1_gt0 ltr01)) (sum_over squares)).

(* The premises are rho0 > 0, rho1 > 0 and r > 0. *)
(*@ ADD-REMOVE.gaussian *)
Theorem gaussian_added_zcdp : zcdp nb rho (fun X => gaussian_added X).
Proof.
apply: rows_and_sum_zcdp; first exact: gaussian_count_zcdp.
rewrite -{1}(gaussian_scaleE rho1_gt0 (@ltr01 R)); apply: gaussian_noise_zcdp => X Y XY.
by rewrite expr1n; apply: squares_sum_move XY; exact: sum_squares_squares.
Qed.

(* gauss-cov *)
Definition gauss_cov_added (e : ensemble) := rows_and_sum gaussian_count
  (symmetric_noise (off_diagonal R e) (gaussian_weight 1 (entries d) (gaussian_scale_gt0 rho1_gt0 ltr01))
    (sum_over outer)).

(* The premises are rho0 > 0, rho1 > 0 and r > 0; the ensemble is either of the two. *)
(*@ ADD-REMOVE.gauss-cov *)
Theorem gauss_cov_added_zcdp (e : ensemble) : zcdp nb rho (fun X => gauss_cov_added e X).
Proof.
apply: rows_and_sum_zcdp; first exact: gaussian_count_zcdp.
apply: symmetric_noise_zcdp; [exact: off_diagonal_neq0|exact: sum_outer_sym|].
rewrite -{1}(gaussian_scaleE rho1_gt0 (@ltr01 R)); apply: gaussian_noise_zcdp => X Y.
rewrite expr1n -cornerB => /(sum_move outer)[u u1 E].
apply: le_trans (_ : MatrixNorms.frob_dot (outer u) (outer u) <= 1); last exact: frobenius_outer.
have -> : sum_squares (corner (off_diagonal R e) (sum_over outer X - sum_over outer Y))
    = sum_squares (corner (off_diagonal R e) (outer u)).
  case: E => [->|<-] //; rewrite -opprB.
  by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite !mxE mulrN sqrrN.
by apply: sum_squares_corner; [exact: outer_sym|exact: off_diagonal_le].
Qed.

End Concentrated.

End Rows.
