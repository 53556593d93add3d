(* The discrete Laplace covariance, as a program on fair bits.

   From the integers C on and above the diagonal, row by row, the program draws as many
   independent discrete Laplace numbers, in this order, and gives the sums.  On fair bits
   it ends with probability 1, and what it releases has exactly the law of the mechanism
   of DiscreteLaplaceCovariance.v, of which WHOLE.discrete-laplace-covariance proves
   privacy.

   Assumed: nothing.  Not said: that the bits of a machine are fair; how the rows become
   integers; how C is computed. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval matrix.
From mathcomp.zify Require Import zify ssrZ.
From covassay Require Import MeasureTheory PureDP Lebesgue Norms Mechanisms Discrete DiscreteLaplace.
From covassay Require Import DiscreteLaplaceCovariance Symmetric SymmetricMechanisms Triangle.
From covassay Require Import FairBits Samplers SamplerLaws.
From covassay Require Euclidean Sensitivity.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* So many independent numbers of scale t/s. *)
Fixpoint laplace_numbers (t s : positive) (k : nat) : program (seq Z) :=
  if k is k'.+1 then
    Bind (discrete_laplace t s) (fun z => Bind (laplace_numbers t s k') (fun zs => Return (z :: zs)))
  else Return [::].

(* C + Z. *)
Definition noisy_integers (t s : positive) (C : seq Z) : program (seq Z) :=
  Bind (laplace_numbers t s (size C)) (fun zs => Return [seq Z.add (nth Z0 C l) (nth Z0 zs l) | l <- iota 0 (size C)]).

Section Numbers.
Variables (R : realType) (t s : positive).
Notation law := (fun k : int => dlaplace ((Pos.to_nat t)%:R / (Pos.to_nat s)%:R : R) k).

Lemma laplace_numbers_ends k : ends R (laplace_numbers t s k).
Proof.
elim: k => [|k IH]; first exact: ends_return.
apply: ends_bind => [|z]; first exact: discrete_laplace_ends.
by apply: ends_bind => [|zs]; [exact: IH|exact: ends_return].
Qed.

Lemma laplace_numbers_masses k (g : nat -> Z) :
  expects (laplace_numbers t s k)
    (fun zs => (all (fun l => nth Z0 zs l == g l) (iota 0 k))%:R)
    (\prod_(0 <= l < k) law (int_of_Z (g l))).
Proof.
elim: k g => [|k IH] g.
  by rewrite big_geq //; exact: (@expects_return R _ [::] (fun zs => (all _ (iota 0 0))%:R)).
rewrite big_nat_recl //; set p : R := \prod_(0 <= l < k) _.
pose f (zs : seq Z) : R := (all (fun l => nth Z0 zs l == g l) (iota 0 k.+1))%:R.
pose h (z : Z) : R := p * (z == g 0%N)%:R.
apply: (expects_bind (g := h)); first by move=> zs; rewrite ler0n.
  move=> z; apply: (expects_bind (g := fun zs => f (z :: zs))).
  - by move=> zs; rewrite ler0n.
  - by move=> zs; exact: expects_return.
  have E zs : f (z :: zs) = (z == g 0%N)%:R * (all (fun l => nth Z0 zs l == g l.+1) (iota 0 k))%:R.
    rewrite /f /= (iotaDl 1 0) all_map -natrM mulnb; congr (_ && _)%:R.
  apply: (expects_eq (f := fun zs => (z == g 0%N)%:R *
    (all (fun l => nth Z0 zs l == g l.+1) (iota 0 k))%:R)); first by move=> zs; rewrite E.
  by rewrite /h mulrC; apply: expectsZ; exact: (IH (fun l => g l.+1)).
rewrite mulrC; apply: expectsZ; exact: discrete_laplace_masses.
Qed.

End Numbers.

Section Covariance.
Variables (R : realType) (n d b : nat) (eps : R) (lattice : 'cV[R]_d -> 'cV[int]_d).
Hypothesis eps_gt0 : 0 < eps.
Variables t s : positive.
Hypothesis scaleE : (Pos.to_nat t)%:R / (Pos.to_nat s)%:R = integer_scale d b eps.
Notation data := (Sensitivity.dataset R n d).

(* The entries of C on and above the diagonal. *)
Definition integer_entries (X : data) : seq Z :=
  [seq Z_of_int (int_corner (products lattice X) 0 l) | l <- enum 'I_(entries d)].

(* Their symmetric matrix, in units of 1/(n 4^b). *)
Definition released_matrix (zs : seq Z) : 'M[R]_d :=
  in_units R n b (int_mirror (\row_l int_of_Z (nth Z0 zs l))).

Let N := entries d.
Let row_of (zs : seq Z) : 'M[int]_(1, N) := \row_l int_of_Z (nth Z0 zs l).

Lemma released_sums X zs (C := integer_entries X) :
  released_matrix [seq Z.add (nth Z0 C l) (nth Z0 zs l) | l <- iota 0 (size C)]
  = released b lattice X (row_of zs).
Proof.
rewrite /released_matrix /released -{1}(int_cornerK lattice X) -int_mirrorD.
have sz : size C = N by rewrite size_map size_enum_ord.
congr (in_units _ _ _ (int_mirror _)); apply/rowP => l; rewrite !mxE.
rewrite (nth_map 0%N) ?size_iota ?sz // nth_iota // add0n (_ : nth Z0 C l = Z_of_int (int_corner (products lattice X) 0 l)).
  have addE (x y : Z) : int_of_Z (Z.add x y) = int_of_Z x + int_of_Z y by lia.
  by rewrite addE Z_of_intK !mxE.
by rewrite /C (nth_map l) ?size_enum_ord // nth_ord_enum.
Qed.

Lemma row_masses (z : 'M[int]_(1, N)) :
  expects (laplace_numbers t s N) (fun zs => (Some (row_of zs) == Some z)%:R)
    (dlaplace_matrix (integer_scale d b eps) z).
Proof.
pose g l := if insub l is Some i then Z_of_int (z 0 i) else Z0 : Z.
have gE (i : 'I_N) : g i = Z_of_int (z 0 i) by rewrite /g valK.
have := @laplace_numbers_masses R t s N g.
rewrite big_mkord /dlaplace_matrix big_ord1 -scaleE.
rewrite (eq_bigr (fun j => dlaplace ((Pos.to_nat t)%:R / (Pos.to_nat s)%:R) (z 0 j))); last first.
  by move=> j _; rewrite gE Z_of_intK.
apply: expects_eq => zs; congr (nat_of_bool _)%:R.
have -> : (Some (row_of zs) == Some z) = (row_of zs == z) by [].
apply/idP/idP => [/allP H|/eqP zE]; last first.
  apply/allP => l; rewrite mem_iota add0n => /andP[_ lN].
  by rewrite -[l]/(val (Ordinal lN)) gE -zE mxE int_of_ZK.
apply/eqP/rowP => l; rewrite mxE; have := H l; rewrite mem_iota add0n ltn_ord => /(_ isT) /eqP ->.
by rewrite gE Z_of_intK.
Qed.

(* The premises are eps > 0 and a scale t/s = S/eps, as a fraction. *)
(*@ DISCRETE-LAPLACE-COVARIANCE-SAMPLER *)
Theorem noisy_integers_law (X : data) :
  (forall A : set 'M[R]_d,
    (fun k => (fraction R (noisy_integers t s (integer_entries X)) k
                 [set zs | A (released_matrix zs)])%:E)
    --> discrete_laplace_covariance n b lattice eps_gt0 X A)
  /\ terminates R (noisy_integers t s (integer_entries X)).
Proof.
have sz : size (integer_entries X) = N by rewrite size_map size_enum_ord.
split; last first.
  apply: ends_terminates; apply: ends_bind => [|zs]; last exact: ends_return.
  exact: laplace_numbers_ends.
move=> A; pose mu := @dlaplace_matrix R (integer_scale d b eps) 1 N.
pose f (z : 'M[int]_(1, N)) : R := (`[< A (released b lattice X z) >])%:R.
have f0 z : 0 <= f z by rewrite ler0n.
have mu0 z : 0 <= mu z by rewrite ltW // dlaplace_matrix_gt0 // -scaleE scale_gt0.
have massE : mass mu [set z | A (released b lattice X z)] = \esum_(z in setT) (mu z * f z)%:E.
  rewrite /mass esum_mkcond; apply: eq_esum => z _; rewrite /f; case: asboolP => Az.
    by rewrite mem_set // mulr1.
  by rewrite memNset // mulr0.
have l1 : (\esum_(z in setT) (mu z * f z)%:E <= 1)%E.
  rewrite -(dlaplace_matrix_total _ 1 N (t := integer_scale d b eps)) -?scaleE ?scale_gt0 //.
  apply: le_esum => z _; rewrite scaleE lee_fin ler_pimulr //.
  by rewrite /f; case: asboolP => _; rewrite ?ler01.
have l0 : (0 <= \esum_(z in setT) (mu z * f z)%:E)%E.
  by apply: esum_ge0 => z _; rewrite lee_fin mulr_ge0.
have lfin : \esum_(z in setT) (mu z * f z)%:E = (fine (\esum_(z in setT) (mu z * f z)%:E))%:E.
  by rewrite fineK // ge0_fin_numE //; apply: (le_lt_trans l1); rewrite ltry.
have cv : (fun k => fraction R (noisy_integers t s (integer_entries X)) k
    [set zs | A (released_matrix zs)]) --> fine (\esum_(z in setT) (mu z * f z)%:E).
  apply: fraction_cvg; rewrite /noisy_integers sz.
  apply: (expects_bind (g := fun zs => f (row_of zs))).
  - by move=> zs; rewrite ler0n.
  - move=> zs; rewrite /f -released_sums sz.
    exact: (@expects_return R _ _ (fun zs => (`[< A (released_matrix zs) >])%:R)).
  exact: (@expects_masses R _ _ _ (fun zs => Some (row_of zs)) mu row_masses f _ f0 lfin).
rewrite (_ : discrete_laplace_covariance n b lattice eps_gt0 X A
  = mass mu [set z | A (released b lattice X z)]) // massE lfin.
apply: (@cvg_comp _ _ _ _ (@EFin R)); first exact: cv.
by [].
Qed.

End Covariance.
