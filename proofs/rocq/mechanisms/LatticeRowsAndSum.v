(* The mechanisms on a lattice for rows that come and go: a noisy number of rows and a noisy sum.

   A data set is a list of rows of any length; neighbours are two lists of which one has a row more
   than the other.  Every row becomes a row q of integers with |q|^2 <= 4^b, by a public map of its
   own.  Released are the number of rows plus Z_0, and r^2/4^b times C + Z, C = sum q q^T, where Z is
   symmetric and its entries on and above the diagonal are independent integers.

   - discrete-laplace-covariance: discrete Laplace numbers of scale 1/eps0 and S/eps1, where
     S = floor (4^b (d + 1)/2), which is 4^b (d + 1)/2 for b >= 1.
   - discrete-gaussian-covariance: discrete Gaussian numbers with sigma^2 = 1/(2 rho0) and
     16^b/(2 rho1).

   The theorems hold for every division of the budget and every map of rows to such integers.

   Assumed: nothing.  Not said: how the noise is drawn; that the released numbers are rounded to
   binary64, which is a function of the integers. *)
From covassay Require Import MechanismTheory Discrete TwoStages Gaussian Zcdp Symmetric Triangle.
From covassay Require Import DiscreteLaplace DiscreteGaussian DiscreteLaplaceCovariance DiscreteGaussianShift.
From covassay Require Import SymmetricMechanisms GaussianMechanisms BoxMechanisms RowsAndSum.
From covassay Require Euclidean MatrixNorms.
From mathcomp Require Import countalg.

(* ---------------------------------------------------------------------------- *)
(* Integer noise on a query, and a function of the sum                          *)

Section IntegerNoise.
Context (R : realType) (X : Type) (k : nat) e (Y : measurableType e).
Variables (q : X -> 'M[int]_(1, k)) (h : 'M[int]_(1, k) -> Y).
Notation row := (discrete (integers 1 k)).

Section Laplace.
Variable t : R.
Hypothesis t_gt0 : 0 < t.

Let noise_ge0 (z : 'M[int]_(1, k)) : 0 <= dlaplace_matrix t z.
Proof. by rewrite ltW // dlaplace_matrix_gt0. Qed.

Let laplace_law x : {measure set Y -> \bar R} := countable_measure (fun z => h (q x + z)) noise_ge0.

Let laplace_total x : laplace_law x setT = 1%E.
Proof. by rewrite -(dlaplace_matrix_total t_gt0 1 k) /= /countable_law preimage_setT. Qed.

Definition integer_laplace : mechanism R X Y := Mechanism laplace_total.

Lemma integer_laplace_dp (nb : X -> X -> Prop) (Delta : int) (eps : R) :
  (forall x x', nb x x' -> entry_sum (q x - q x') <= Delta) -> Delta%:~R / t <= eps ->
  dp nb eps (fun x => integer_laplace x).
Proof.
move=> sens le x x' xx' S mS; have mT : measurable ((h : row -> Y) @^-1` S) by [].
exact: (discrete_laplace_matrix_dp t_gt0 sens le xx' mT).
Qed.

End Laplace.

Section Gauss.
Variable v : R.
Hypothesis v_gt0 : 0 < v.

Let measurable_h : measurable_fun setT (h : row -> Y).
Proof. exact: measurable_fun_from_discrete. Qed.

Let gauss_law x : {measure set Y -> \bar R} := image_law measurable_h (dgaussian_at v_gt0 (q x)).

Let gauss_total x : gauss_law x setT = 1%E.
Proof. by rewrite -(@dgaussian_row_total R v k v_gt0) /= /image_law /pushforward /= /countable_law !preimage_setT. Qed.

Definition integer_gauss : mechanism R X Y := Mechanism gauss_total.

Lemma integer_gauss_zcdp (nb : X -> X -> Prop) (rho : R) :
  (forall x x', nb x x' -> int_squares R (q x - q x') <= 2%:R * v * rho) ->
  zcdp nb rho (fun x => integer_gauss x).
Proof.
move=> sens x x' xx'; apply: concentrated_image; apply: dgaussian_row_concentrated.
by rewrite ler_pdivr_mulr ?mulr_gt0 ?ltr0n // mulrC sens.
Qed.

End Gauss.

End IntegerNoise.

(* ---------------------------------------------------------------------------- *)
(* The queries                                                                  *)

Section Lattice.
Variables (R : realType) (d b : nat) (r : R) (lattice : 'cV[R]_d -> 'cV[int]_d).
Hypothesis lattice_short : forall x, \sum_i lattice x i 0 ^+ 2 <= 4%:R ^+ b.
Notation rows := (seq 'cV[R]_d).
Notation nb := (@added_or_removed 'cV[R]_d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Notation number := [the measurableType _ of 'M[R]_1].

Definition integer_count (X : rows) : 'M[int]_1 := const_mx (size X)%:Z.
Definition row_products (x : 'cV[R]_d) : 'M[int]_d := lattice x *m (lattice x)^T.
Definition list_products (X : rows) : 'M[int]_d := \sum_(x <- X) row_products x.
Definition triangle_of (X : rows) : 'M[int]_(1, entries d) := int_corner (list_products X).

(* What is computed from the noisy integers. *)
Definition as_number (z : 'M[int]_1) : 'M[R]_1 := map_mx intr z.
Definition as_matrix (z : 'M[int]_(1, entries d)) : 'M[R]_d :=
  (r ^+ 2 / 4%:R ^+ b) *: map_mx intr (int_mirror z).

Lemma integer_count_move X Y : nb X Y ->
  integer_count X - integer_count Y = 1%:M \/ integer_count X - integer_count Y = - 1%:M.
Proof.
have more s t (x : 'cV[R]_d) : (size (s ++ x :: t))%:Z = (size (s ++ t))%:Z + 1.
  by rewrite !size_cat /= addnS -addn1 PoszD.
move=> [s [t [x [[-> ->]|[-> ->]]]]]; [right|left]; apply/matrixP => i j.
  by rewrite !ord1 !mxE more opprD addrA subrr sub0r.
by rewrite !ord1 !mxE more addrAC subrr add0r.
Qed.

Lemma triangle_move X Y : nb X Y -> exists x,
  triangle_of X - triangle_of Y = int_corner (row_products x) \/
  triangle_of X - triangle_of Y = - int_corner (row_products x).
Proof.
have more s t x : triangle_of (s ++ x :: t) - triangle_of (s ++ t) = int_corner (row_products x).
  rewrite /triangle_of /list_products !big_cat big_cons /=; apply/rowP => l.
  by rewrite !mxE addrCA addrK.
move=> [s [t [x [[-> ->]|[-> ->]]]]]; exists x; first by right; rewrite -(more s t) opprB.
by left; rewrite more.
Qed.

(* A row as one of the unit ball. *)
Let unit_of (x : 'cV[R]_d) : 'cV[R]_d := (2%:R ^+ b)^-1 *: map_mx intr (lattice x).

Let p0 : 2%:R ^+ b != 0 :> R. Proof. by rewrite expf_neq0 // pnatr_eq0. Qed.

Let unit_short x : Euclidean.norm (unit_of x) <= 1.
Proof.
rewrite Euclidean.norm_le1 Euclidean.dotZl Euclidean.dotZr mulrA -invfM -exprD addnn -mul2n exprM.
rewrite ler_pdivr_mull ?exprn_gt0 ?ltr0n // mulr1 -natrX.
have := lattice_short x; rewrite -(ler_int R) rmorphX rmorph_sum /=; apply: le_trans.
by rewrite le_eqVlt /Euclidean.dot; apply/orP/or_introl/eqP/eq_bigr => k _; rewrite !mxE rmorphX expr2.
Qed.

Let products_unit x : map_mx intr (row_products x) = 4%:R ^+ b *: outer (unit_of x).
Proof.
rewrite /row_products map_mxM -map_trmx /outer /unit_of linearZ /= -scalemxAl -scalemxAr !scalerA.
rewrite (_ : _ * _ = 1) ?scale1r //.
have -> : 4%:R ^+ b = 2%:R ^+ b * 2%:R ^+ b :> R by rewrite -exprMn -natrM.
by move: (2%:R ^+ b : R) p0 => a a0; field.
Qed.

Let corner_unit x l : ((int_corner (row_products x) 0 l)%:~R : R) = 4%:R ^+ b * corner 1 (outer (unit_of x)) 0 l.
Proof.
have /matrixP/(_ (entry_at l).1 (entry_at l).2) := products_unit x.
by rewrite [in X in X -> _]mxE [X in _ = X -> _]mxE !mxE /factor if_same invr1 mul1r.
Qed.

Lemma row_squares x : int_squares R (int_corner (row_products x)) <= 16%:R ^+ b.
Proof.
have -> : int_squares R (int_corner (row_products x))
    = 16%:R ^+ b * sum_squares (corner 1 (outer (unit_of x))).
  have E : (4%:R ^+ b) ^+ 2 = 16%:R ^+ b :> R by rewrite -exprM mulnC exprM -natrX.
  rewrite /int_squares /sum_squares big_ord1 mulr_sumr; apply: eq_bigr => l _.
  by rewrite corner_unit exprMn E.
rewrite ler_pimulr ?exprn_ge0 ?ler0n //; apply: le_trans (frobenius_outer (unit_short x)).
by apply: sum_squares_corner; [exact: outer_sym|rewrite invr1 expr1n ler1n].
Qed.

(* S = floor (4^b (d + 1)/2). *)
Definition sum_sensitivity : int := floor (4%:R ^+ b * ((d%:R + 1) / 2%:R) : R).

Lemma row_entries x : entry_sum (int_corner (row_products x)) <= sum_sensitivity.
Proof.
rewrite /sum_sensitivity -floor_ge_int /entry_sum big_ord1 rmorph_sum /=.
apply: (@le_trans _ _ (4%:R ^+ b * triangle_sum (outer (unit_of x)))); last first.
  by rewrite ler_pmul2l ?exprn_gt0 ?ltr0n // triangle_outer.
rewrite -l1_corner /l1 big_ord1 mulr_sumr; apply: ler_sum => l _.
by rewrite intr_norm corner_unit normrM ger0_norm // exprn_ge0 // ler0n.
Qed.

Lemma entry_sumN (k : nat) (z : 'M[int]_(1, k)) : entry_sum (- z) = entry_sum z.
Proof. by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite mxE normrN. Qed.

Lemma int_squaresN (k : nat) (z : 'M[int]_(1, k)) : int_squares R (- z) = int_squares R z.
Proof. by apply: eq_bigr => l _; rewrite mxE rmorphN sqrrN. Qed.

(* ---------------------------------------------------------------------------- *)
(* The mechanisms                                                               *)

Section Laplace.
Variables eps0 eps1 : R.
Hypotheses (d_gt0 : (0 < d)%N) (eps0_gt0 : 0 < eps0) (eps1_gt0 : 0 < eps1).

Lemma sum_sensitivity_gt0 : 0 < sum_sensitivity.
Proof.
rewrite -[sum_sensitivity]add0r -lez_addr1 add0r; apply: (@le_trans _ _ (1 : int)) => //.
rewrite /sum_sensitivity -floor_ge_int; apply: (@le_trans _ _ (4%:R ^+ b * 1 : R)).
  by rewrite mulr1 exprn_ege1 // ler1n.
rewrite ler_pmul2l ?exprn_gt0 ?ltr0n // ler_pdivl_mulr ?ltr0n // mul1r -natr1 ler_add2r ler1n.
exact: d_gt0.
Qed.

(* Delta/eps. *)
Definition added_scale (Delta : int) (eps : R) : R := Delta%:~R / eps.

Lemma added_scale_gt0 Delta eps : 0 < Delta -> 0 < eps -> 0 < added_scale Delta eps.
Proof. by move=> D0 e0; rewrite divr_gt0 // ltr0z. Qed.

Let one_gt0 : 0 < (1 : int). Proof. by []. Qed.

Lemma added_scaleE Delta eps : 0 < Delta -> 0 < eps -> Delta%:~R / added_scale Delta eps <= eps.
Proof.
move=> D0 e0; rewrite /added_scale invf_div mulrCA divff ?mulr1 // gt_eqF // ltr0z //.
Qed.

Definition discrete_laplace_added : mechanism R rows [the measurableType _ of ('M[R]_1 * 'M[R]_d)%type] :=
  both (integer_laplace integer_count (as_number : _ -> number) (added_scale_gt0 one_gt0 eps0_gt0))
    (integer_laplace triangle_of (as_matrix : _ -> matrix) (added_scale_gt0 sum_sensitivity_gt0 eps1_gt0)).

(* The premises are d >= 1, eps0 > 0, eps1 > 0 and a map of the rows to integer vectors whose squared
   length is at most 4^b. *)
(*@ ADD-REMOVE.discrete-laplace-covariance *)
Theorem discrete_laplace_added_dp : dp nb (eps0 + eps1) (fun X => discrete_laplace_added X).
Proof.
apply: both_dp.
  apply: (integer_laplace_dp _ _ _ (added_scaleE one_gt0 eps0_gt0)).
  move=> X Y /integer_count_move[->|->]; rewrite ?entry_sumN /entry_sum !big_ord1 mxE //.
apply: (integer_laplace_dp _ _ _ (added_scaleE sum_sensitivity_gt0 eps1_gt0)).
by move=> X Y /triangle_move[x [->|->]]; rewrite ?entry_sumN row_entries.
Qed.

End Laplace.

Section Gauss.
Variables rho0 rho1 : R.
Hypotheses (rho0_gt0 : 0 < rho0) (rho1_gt0 : 0 < rho1).

(* Delta^2/(2 rho). *)
Definition added_variance (squared rho : R) : R := squared / (2%:R * rho).

Lemma added_variance_gt0 squared rho : 0 < squared -> 0 < rho -> 0 < added_variance squared rho.
Proof. by move=> s0 r0; rewrite divr_gt0 // mulr_gt0 ?ltr0n. Qed.

Lemma added_varianceE squared rho : 0 < rho -> 2%:R * added_variance squared rho * rho = squared.
Proof. by move=> r0; rewrite /added_variance; field; rewrite gt_eqF. Qed.

Let sixteen_gt0 : 0 < 16%:R ^+ b :> R. Proof. by rewrite exprn_gt0 // ltr0n. Qed.

Definition discrete_gaussian_added : mechanism R rows [the measurableType _ of ('M[R]_1 * 'M[R]_d)%type] :=
  both (integer_gauss integer_count (as_number : _ -> number) (added_variance_gt0 ltr01 rho0_gt0))
    (integer_gauss triangle_of (as_matrix : _ -> matrix) (added_variance_gt0 sixteen_gt0 rho1_gt0)).

(* The premises are rho0 > 0, rho1 > 0 and a map of the rows to integer vectors whose squared length
   is at most 4^b. *)
(*@ ADD-REMOVE.discrete-gaussian-covariance *)
Theorem discrete_gaussian_added_zcdp : zcdp nb (rho0 + rho1) (fun X => discrete_gaussian_added X).
Proof.
apply: both_zcdp.
  apply: integer_gauss_zcdp => X Y /integer_count_move[->|->]; rewrite added_varianceE //;
    by rewrite ?int_squaresN /int_squares big_ord1 mxE expr1n.
apply: integer_gauss_zcdp => X Y /triangle_move[x [->|->]]; rewrite added_varianceE //.
  exact: row_squares.
by rewrite int_squaresN row_squares.
Qed.

End Gauss.

End Lattice.
