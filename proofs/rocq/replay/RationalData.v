(* Data sets, noise and releases in rational numbers, for numbers that the kernel evaluates.

   vm_compute does not evaluate matrices, but functions on lists of rational numbers.  Here are
   the functions, and lemmas that they compute what stands in the theorems: `moment` is the
   covariance of the data set `rows`, and `noisy` a query with noise of a given scale.

   The scale b of the noise is mostly no rational number, but its square s is.  So the noise of
   scale one is taken as sqrt s times a rational matrix z, and q + b sqrt s z = q + s z.

   `releases` says of a whole mechanism that its law is that of f(Z), where Z has the law of
   noise of scale one, and that f of such noise is the matrix that was evaluated.

   Assumed: nothing. *)
From covassay Require Import MeasureTheory PureDP Lebesgue Releases.
From covassay Require Euclidean Sensitivity.
From mathcomp Require Import rat.

Definition frac (m n : nat) : rat := m%:R / n%:R.
Definition entry (x : seq (seq rat)) (i j : nat) : rat := nth 0 (nth [::] x i) j.
Definition sum_to (k : nat) (f : nat -> rat) : rat := foldr (fun i s => f i + s) 0 (iota 0 k).

Lemma sum_toE k f : sum_to k f = \sum_(i < k) f i.
Proof.
rewrite -(big_mkord xpredT f) /index_iota subn0 /sum_to.
by elim: (iota 0 k) => [|i r IH]; rewrite ?big_nil ?big_cons //= IH.
Qed.

(* |x_k|^2 *)
Definition square_length (d : nat) (x : seq (seq rat)) (k : nat) : rat :=
  sum_to d (fun i => entry x k i ^+ 2).
(* sum_k x_ki x_kj / n *)
Definition moment (n : nat) (x : seq (seq rat)) (i j : nat) : rat :=
  sum_to n (fun k => entry x k i * entry x k j) / n%:R.

Section Real.
Variable R : realType.
Implicit Types f : nat -> nat -> rat.

Definition rows n d (x : seq (seq rat)) : Sensitivity.dataset R n d :=
  fun k => \col_i ratr (entry x k i).
Definition entries_of m n f : 'M[R]_(m, n) := \matrix_(i, j) ratr (f i j).
Arguments rows : clear implicits.
Arguments entries_of : clear implicits.

Lemma covariance_rows n d x : Sensitivity.covariance (rows n d x) = entries_of d d (moment n x).
Proof.
apply/matrixP => i j; rewrite !mxE summxE /moment fmorph_div rmorph_nat mulrC; congr (_ / _).
rewrite sum_toE rmorph_sum; apply: eq_bigr => k _.
by rewrite mxE big_ord1 !mxE /= rmorphM.
Qed.

Lemma square_length_rows n d x (k : 'I_n) :
  Euclidean.dot (rows n d x k) (rows n d x k) = ratr (square_length d x k).
Proof.
by rewrite /square_length sum_toE rmorph_sum; apply: eq_bigr => l _; rewrite !mxE rmorphX expr2.
Qed.

(* A release q + b z, for a scale b whose square is s. *)
Definition noisy (q : nat -> nat -> rat) (s : rat) (z : seq (seq rat)) (i j : nat) : rat :=
  q i j + s * entry z i j.

Definition releases m n p r (M : set 'M[R]_(p, r) -> \bar R) (U : set 'M[R]_(m, n) -> \bar R)
    (f : 'M[R]_(m, n) -> 'M[R]_(p, r)) (s : rat) (out : seq (seq rat) -> nat -> nat -> rat) :=
  computes M U f /\
  forall z, f (Num.sqrt (ratr s) *: entries_of m n (entry z)) = entries_of p r (out z).

Lemma additive m n (M U : set 'M[R]_(m, n) -> \bar R) (A : 'M[R]_(m, n)) (b : R) (s : rat) q :
  computes M U (fun Z => A + b *: Z) -> A = entries_of m n q -> 0 < b -> b ^+ 2 = ratr s ->
  releases M U (fun Z => A + b *: Z) s (noisy q s).
Proof.
move=> MU AE b0 bs; split=> // z.
have -> : Num.sqrt (ratr s) = b by rewrite -bs sqrtr_sqr gtr0_norm.
by apply/matrixP => i j; rewrite scalerA -expr2 bs AE !mxE /noisy rmorphD rmorphM.
Qed.

Lemma ratr_square_div (a : R) (s c : rat) : a ^+ 2 = ratr s -> (a / ratr c) ^+ 2 = ratr (s / c ^+ 2).
Proof. by move=> E; rewrite expr_div_n E fmorph_div rmorphX. Qed.

End Real.
Arguments rows : clear implicits.
Arguments entries_of : clear implicits.

(* What a row shows: 3 x 2 numbers of the data and 2 x 2 of a matrix, zero where there is none. *)
Definition data_columns (n d : nat) (x : seq (seq rat)) : seq rat :=
  [seq if (k < n)%N && (i < d)%N then entry x k i else 0 | k <- iota 0 3, i <- iota 0 2].
Definition matrix_columns (p r : nat) (f : nat -> nat -> rat) : seq rat :=
  [seq if (i < p)%N && (j < r)%N then f i j else 0 | i <- iota 0 2, j <- iota 0 2].

Definition sample_rows : seq (seq rat) :=
  [:: [:: frac 3 5; frac 4 5]; [:: frac 1 2; - frac 1 2]; [:: - frac 1 2; frac 1 4]].
Definition sample_noise : seq (seq rat) := [:: [:: frac 1 4; - frac 1 2]; [:: - frac 1 2; frac 3 4]].
Definition sample_square : seq (seq rat) := [:: [:: frac 1 4; - frac 1 2]; [:: 1; frac 3 4]].

(* n, d and the budget. *)
Definition cases : seq (nat * nat * rat) := [:: (3, 2, frac 1 2); (2, 2, frac 1 1); (3, 1, frac 2 1)]%N.

(* The rows of a mechanism with noise z of p x r numbers, of square scale s. *)
Definition release_rows (p r : nat -> nat) (option : rat) (z : seq (seq rat))
    (s : nat -> nat -> rat -> rat)
    (out : nat -> nat -> rat -> seq (seq rat) -> seq (seq rat) -> nat -> nat -> rat) :
    seq (seq rat) :=
  [seq let n := c.1.1 in let d := c.1.2 in
       [:: n%:R; d%:R; c.2; option] ++ data_columns n d sample_rows ++
       s n d c.2 :: matrix_columns (p d) (r d) (entry z) ++
       matrix_columns (p d) (r d) (out n d c.2 sample_rows z) | c <- cases].
Definition square_rows := release_rows id id.
Definition vector_rows := release_rows (fun=> 1%N) id.
