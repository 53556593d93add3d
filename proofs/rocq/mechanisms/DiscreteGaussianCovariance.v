(* discrete-gaussian-covariance, end to end.

   Data: n rows of any length; neighbours differ in one row; n, d, b, r and rho are public.
     1.  Every row becomes a row q of integers with |q|^2 <= 4^b, by a public map of its own;
         C = sum q q^T.
     2.  Z is symmetric, its entries on and above the diagonal are independent integers, and
         P(Z_ij = z) is proportional to e^(-z^2/(2 sigma^2)), sigma^2 = S^2/(2 rho), where
         S^2 = 2 16^b, or 16^b for d = 1.
     3.  Publish r^2 (C + Z)/(n 4^b).

   The theorem holds for every map of rows to such integers.  One of them is given:
   `clipped_truncation` shortens a row to length r, divides it by r, multiplies it by 2^b and rounds
   the entries toward zero.

   Assumed: nothing.  Not said: how the noise is drawn; that the released numbers are rounded to
   binary64, which is a function of the integers. *)
From covassay Require Import MechanismTheory Discrete TwoStages Gaussian Zcdp.
From covassay Require Import DiscreteLaplace DiscreteGaussian DiscreteLaplaceCovariance DiscreteGaussianShift.
From covassay Require Import Symmetric SymmetricMechanisms GaussianMechanisms UnitRows.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity.
From mathcomp Require Import countalg.

(* Integer rows: clipped to length r, in units of r/2^b, rounded toward zero. *)
Definition clipped_truncation (R : realType) (d b : nat) (r : R) (x : 'cV[R]_d) : 'cV[int]_d :=
  truncate b (unit_row r x).

Lemma clipped_truncation_short (R : realType) (d b : nat) (r : R) (x : 'cV[R]_d) :
  \sum_i clipped_truncation b r x i 0 ^+ 2 <= 4%:R ^+ b.
Proof. exact: truncate_short. Qed.

Lemma frob_gap_le_line (R : realType) (d : nat) (x y : 'cV[R]_d) : (d <= 1)%N ->
  Euclidean.norm x <= 1 -> Euclidean.norm y <= 1 ->
  MatrixNorms.frob_dot (RankTwo.gap x y) (RankTwo.gap x y) <= 1.
Proof.
case: d x y => [|[|d]] // x y _ x1 y1; rewrite MatrixNorms.frob_dotE.
  by rewrite big_ord0 ler01.
have := l1_gap_line (isT : (1 <= 1)%N) x1 y1; rewrite /l1 !big_ord1 => le.
by rewrite -expr2 -real_normK ?num_real // expr2 -[X in _ <= X]mulr1 ler_pmul.
Qed.

Section Mechanism.
Variables (R : realType) (n d b : nat) (r rho : R) (lattice : 'cV[R]_d -> 'cV[int]_d).
Hypothesis rho_gt0 : 0 < rho.
Hypothesis lattice_short : forall x, \sum_i lattice x i 0 ^+ 2 <= 4%:R ^+ b.
Notation data := (Sensitivity.dataset R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation entries_of X := (int_corner (products lattice X)).

(* S^2 and sigma^2 = S^2/(2 rho). *)
Definition squared_sensitivity : R := (if (1 < d)%N then 2%:R else 1) * 16%:R ^+ b.
Definition integer_variance : R := squared_sensitivity / (2%:R * rho).

Lemma squared_sensitivity_gt0 : 0 < squared_sensitivity.
Proof. by rewrite mulr_gt0 ?exprn_gt0 ?ltr0n //; case: ifP; rewrite ?ltr0n ?ltr01. Qed.

Lemma integer_variance_gt0 : 0 < integer_variance.
Proof. by rewrite divr_gt0 ?squared_sensitivity_gt0 // mulr_gt0 ?ltr0n. Qed.

Definition released_gaussian (X : data) (z : 'M[int]_(1, entries d)) :
    [the measurableType _ of 'M[R]_d] := r ^+ 2 *: released b lattice X z.

Let release_law X : {measure set [the measurableType _ of 'M[R]_d] -> \bar R} :=
  countable_measure (released_gaussian X) (@dgaussian_row_ge0 R _ (entries d) integer_variance_gt0).

Let release_total X : release_law X setT = 1%E.
Proof.
rewrite -(@dgaussian_row_total R _ (entries d) integer_variance_gt0) /= /countable_law.
by rewrite preimage_setT.
Qed.

Definition discrete_gaussian_covariance : mechanism R data [the measurableType _ of 'M[R]_d] :=
  Mechanism release_total.

(* One row moves the integers on and above the diagonal by at most S, in Euclidean length. *)
Lemma products_squares X Y : neighbours X Y ->
  int_squares R (entries_of X - entries_of Y) <= squared_sensitivity.
Proof.
move=> /(products_gap lattice_short) [x [y [x1 y1 gapE]]].
pose A : 'M[R]_d := map_mx intr (products lattice X - products lattice Y).
have sA : A^T = A.
  by apply/matrixP => i j; rewrite !mxE products_sym [products lattice Y j i]products_sym.
have -> : int_squares R (entries_of X - entries_of Y) = sum_squares (corner 1 A).
  rewrite /int_squares /sum_squares big_ord1; apply: eq_bigr => l _.
  by rewrite !mxE /factor if_same invr1 mul1r.
apply: le_trans (sum_squares_corner sA _) _; first by rewrite invr1 expr1n ler1n.
rewrite /A gapE MatrixNorms.frob_dotZl MatrixNorms.frob_dotZr mulrA -exprMn -natrM mulrC.
rewrite /squared_sensitivity ler_pmul2r ?exprn_gt0 ?ltr0n //.
case: ifP => [_|/negbT]; last by rewrite -leqNgt => d1; exact: frob_gap_le_line.
rewrite -MatrixNorms.sqr_frob_norm -[X in _ <= X]sqr_sqrtr ?ler0n //.
rewrite ler_expn2r ?nnegrE ?sqrtr_ge0 ?MatrixNorms.frob_norm_ge0 //.
exact: Sensitivity.frob_gap_le.
Qed.

(* The premises are rho > 0 and a map of the records to integer vectors whose squared length
   is at most 4^b. *)
(*@ WHOLE.discrete-gaussian-covariance *)
Theorem discrete_gaussian_covariance_zcdp :
  zcdp neighbours rho (fun X => discrete_gaussian_covariance X).
Proof.
move=> X Y XY.
pose h (z : discrete (integers 1 (entries d))) : [the measurableType _ of 'M[R]_d] :=
  r ^+ 2 *: in_units R n b (int_mirror z).
have mh : measurable_fun setT h by exact: measurable_fun_from_discrete.
have E x S : measurable S -> image_law mh (dgaussian_at integer_variance_gt0 (entries_of x)) S
    = discrete_gaussian_covariance x S.
  move=> _; rewrite /= /countable_law /image_law /pushforward /= /countable_law; congr (mass _ _).
  apply/seteqP; split => z; rewrite /preimage /= /released_gaussian /released /h.
    by rewrite int_mirrorD int_cornerK.
  by rewrite int_mirrorD int_cornerK.
apply: (concentrated_eq (E X) (E Y)); apply: concentrated_image.
have v0 : 0 < 2%:R * integer_variance by rewrite pmulr_rgt0 ?ltr0n // integer_variance_gt0.
apply: dgaussian_row_concentrated; rewrite ler_pdivr_mulr //.
apply: le_trans (products_squares XY) _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
by rewrite /integer_variance; field; rewrite gt_eqF.
Qed.

End Mechanism.
