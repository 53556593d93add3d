(* Releases of discrete-laplace-covariance that the kernel computes, for tests of the Python code.

   The probability of a set S of releases is that of { z | released X z in S }, where z is a row of
   independent integers with P(z) proportional to e^(-|z|/t).  Rows of the unit ball become integers
   by truncation toward zero of 2^b x.  A row of numbers has the scale t and, for a symmetric matrix
   z of integers, the release.

   Assumed: nothing.  Not said: rows outside the unit ball; the rounding to binary64. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval rat intdiv zmodp matrix.
From covassay Require Import MeasureTheory PureDP Lebesgue Norms Mechanisms Discrete DiscreteLaplace.
From covassay Require Import DiscreteLaplaceCovariance Symmetric SymmetricMechanisms Triangle.
From covassay Require Import RationalData ReleaseVectors.
From covassay Require Euclidean Sensitivity.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* The whole part, and truncation toward zero. *)
Definition whole (t : rat) : int := (numq t %/ denq t)%Z.
Definition truncated (t : rat) : int := if 0 <= t then whole t else - whole (- t).

Definition lattice_entry (b : nat) x (k i : nat) : int := truncated (2%:R ^+ b * entry x k i).
Definition product_entry (n b : nat) x (i j : nat) : rat :=
  sum_to n (fun k => (lattice_entry b x k i * lattice_entry b x k j)%:~R).
Definition discrete_release (n b : nat) x (z : nat -> nat -> int) (i j : nat) : rat :=
  (product_entry n b x i j + (z i j)%:~R) / (n%:R * 4%:R ^+ b).

(* S is the whole part of the root of 16^b s^2, for s the sensitivity in l1 of Triangle.v. *)
Definition sensitivity_ok (d b S : nat) : bool :=
  let v := 16%:R ^+ b * triangle_square d in (S%:R ^+ 2 <= v) && (v < S.+1%:R ^+ 2).
Definition discrete_scale (S : nat) (eps : rat) : rat := S%:R / eps.

Section Release.
Variables (R : realType) (n d b S : nat) (eps : rat) (x : seq (seq rat)).
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < ratr eps :> R) (S_ok : sensitivity_ok d b S).
Hypothesis short : forall k : 'I_n, square_length d x k <= 1.
Notation X := (rows R n d x).
Notation lattice := (@truncate R d b).

Lemma floor_eq (v : R) (m : int) : m%:~R <= v -> v < (m + 1)%:~R -> floor v = m.
Proof.
move=> low high; apply/eqP; rewrite eq_le -ltz_addr1 -floor_lt_int high.
by rewrite -floor_ge_int low.
Qed.

Lemma floor_whole (t : rat) : floor (ratr t : R) = whole t.
Proof.
have d0 : 0 < (denq t)%:~R :> rat by rewrite ltr0z.
have E : ratr t = ratr ((numq t)%:~R / (denq t)%:~R) :> R by rewrite divq_num_den.
rewrite E; apply: floor_eq; rewrite -(ratr_int R).
  by rewrite ler_rat ler_pdivl_mulr // -intrM ler_int lez_floor // denq_neq0.
by rewrite ltr_rat ltr_pdivr_mulr // -intrM ltr_int ltz_ceil.
Qed.

Lemma truncatedE (t : rat) : toward_zero (ratr t : R) = truncated t.
Proof.
rewrite /toward_zero /truncated ler0q; case: leP => t0.
  by rewrite ger0_norm ?ler0q // floor_whole.
by rewrite ltr0_norm ?ltrq0 // -rmorphN floor_whole.
Qed.

Lemma lattice_rows (k : 'I_n) : lattice (X k) = \col_i lattice_entry b x k i.
Proof.
rewrite /truncate Euclidean.norm_le1 square_length_rows.
have -> : ratr (square_length d x k) <= 1 :> R by rewrite -(rmorph1 (ratr_rmorphism R)) ler_rat.
apply/colP => i; rewrite !mxE /lattice_entry -truncatedE; congr toward_zero.
by rewrite rmorphM rmorphX rmorph_nat.
Qed.

(* The integers z on and above the diagonal, as a row. *)
Definition integer_row (z : nat -> nat -> int) : 'M[int]_(1, entries d) :=
  \row_l z (entry_at l).1 (entry_at l).2.

Lemma discrete_value (z : nat -> nat -> int) : (forall i j, z i j = z j i) ->
  released b lattice X (integer_row z) = entries_of R d d (discrete_release n b x z).
Proof.
move=> z_sym; apply/matrixP => i j; rewrite /released /in_units !mxE /discrete_release fmorph_div mulrC.
congr (_ / _); last by rewrite rmorphM rmorphX !rmorph_nat.
rewrite entry_at_place rmorphD rmorphD /=; congr (_ + _); last first.
  rewrite ratr_int; congr (_%:~R); rewrite /ordered; case: ifP => //= _; exact: z_sym.
rewrite /products summxE rmorph_sum /product_entry sum_toE rmorph_sum; apply: eq_bigr => k _.
by rewrite lattice_rows !mxE big_ord1 !mxE /= ratr_int.
Qed.

Lemma integer_sensitivityE : integer_sensitivity R d b = S%:Z.
Proof.
have /andP[low high] := S_ok; pose v : R := 4%:R ^+ b * triangle_l1 R d.
have v0 : 0 <= v.
  rewrite /v mulr_ge0 ?exprn_ge0 ?ler0n // /triangle_l1.
  by case: ifP => _; rewrite ?ler01 // divr_ge0 ?sqrtr_ge0 ?ler0n.
have v2 : v ^+ 2 = ratr (16%:R ^+ b * triangle_square d).
  rewrite exprMn triangle_squareE [RHS]rmorphM; congr (_ * _).
  by rewrite [RHS]rmorphX rmorph_nat -[16%N]/(4 ^ 2)%N natrX -!exprM mulnC.
apply: floor_eq; rewrite -/v.
  by rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?ler0z // v2 -[_%:~R]/(S%:R) -(rmorph_nat (ratr_rmorphism R)) -rmorphX ler_rat.
have -> : (S%:Z + 1)%:~R = S.+1%:R :> R by rewrite -[S.+1]addn1 natrD rmorphD.
by rewrite -(@ltr_pexpn2r _ 2) ?nnegrE ?ler0n // v2 -(rmorph_nat (ratr_rmorphism R)) -rmorphX ltr_rat.
Qed.

Lemma discrete_holds (z : nat -> nat -> int) : (forall i j, z i j = z j i) ->
  [/\ forall A, discrete_laplace_covariance n b lattice eps_gt0 X A
        = mass (fun y : 'M[int]_(1, entries d) => dlaplace_matrix (integer_scale d b (ratr eps)) y)
            [set y | A (released b lattice X y)],
      integer_scale d b (ratr eps : R) = ratr (discrete_scale S eps) &
      released b lattice X (integer_row z) = entries_of R d d (discrete_release n b x z)].
Proof.
move=> z_sym; split; last exact: discrete_value.
  by move=> A.
by rewrite /integer_scale integer_sensitivityE /discrete_scale fmorph_div rmorph_nat.
Qed.

End Release.

Definition integers (i j : nat) : int := if (i == 0%N) && (j == 0%N) then 3 else if (i == 1%N) && (j == 1%N) then - 2%:Z else 5.
Definition discrete_rows : seq (seq rat) :=
  [seq let n := 3%N in
       [:: n%:R; c.1.1%:R; c.2; c.1.2.1%:R] ++ data_columns n c.1.1 sample_rows ++
       discrete_scale c.1.2.2 c.2 :: matrix_columns c.1.1 c.1.1 (fun i j => (integers i j)%:~R) ++
       matrix_columns c.1.1 c.1.1 (discrete_release n c.1.2.1 sample_rows integers)
   | c <- [seq (e, eps) | e <- [seq e <- [:: (2, (2, 35)); (1, (2, 16)); (2, (1, 8))]%N
                                  | sensitivity_ok e.1 e.2.1 e.2.2 && all (fun k => square_length e.1 sample_rows k <= 1) (iota 0 3)],
             eps <- [:: frac 1 2; 2%:R]]].
