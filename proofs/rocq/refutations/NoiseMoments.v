(* The premises of Theorem6 for nuclear-Laplace noise and its singular values, in every
   dimension, from one identity.

   Theorem6 takes five moments of d measurable functions s_1, ..., s_d >= 0.  For the noise Z
   itself and its singular values all of this is proved here but

       E (sum s_i^2 + 2 sum_(i<j) s_i s_j/(s_i + s_j)) = 2 d^3.

   NoiseIdentity.v proves this identity.  Here it is a premise, and nothing is assumed. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval zmodp matrix.
From covassay Require Import MeasureTheory PureDP Lebesgue TailIdentity MatrixNorms SingularValues.
From covassay Require Theorem6 Expectation GammaMoments.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope. Local Open Scope ereal_scope.

Section NuclearLaplace.
Variables (R : realType) (d : nat).
Let noise := GammaMoments.nuclear_laplace R d.
Let s := @singular_values R d.

(* The sum of the singular values is the nuclear norm. *)
Lemma total_singular_values z : total (s z) = nuclear_norm z.
Proof. by have [U [V svdz]] := svd_exists z; rewrite (nuclear_norm_svd svdz). Qed.

Lemma measurable_harmonic_sum :
  measurable_fun setT (fun Z : 'M[R]_d => harmonic_sum (@singular_values R d Z)).
Proof.
have ms i := @measurable_singular_values R d i.
have m : measurable_fun setT (fun Z : 'M[R]_d => \sum_(i < d) \sum_(j < d) (i < j)%:R *
    (singular_values Z i * singular_values Z j / (singular_values Z i + singular_values Z j)))%R.
  apply: MeasurableFunctions.measurable_sum => i; apply: MeasurableFunctions.measurable_sum => j.
  apply: measurable_funrM.
  apply: measurable_funM; first exact: measurable_funM.
  by apply: (measurable_fun_comp (@measurable_inverse R)); exact: measurable_funD.
rewrite (_ : (fun _ => _) = fun Z => (2%:R * (\sum_(i < d) \sum_(j < d) (i < j)%:R *
  (singular_values Z i * singular_values Z j / (singular_values Z i + singular_values Z j))))%R).
  exact: measurable_funrM.
apply/funext => Z; rewrite /harmonic_sum mulr_natl; congr (_ *+ 2)%R; apply: eq_bigr => i _.
by rewrite big_mkcond; apply: eq_bigr => j _; case: ltnP; rewrite ?mul1r ?mul0r.
Qed.

(*@ NOISE-MOMENTS-REDUCED *)
Theorem noise_moments_reduced :
  Expectation.expect noise (fun z => (square_sum (s z) + harmonic_sum (s z))%R) = (2%:R * d%:R ^+ 3)%:E ->
  Theorem6.noise_moments noise s.
Proof.
move=> identity; have [P1 E1 E2 E4] := GammaMoments.nuclear_laplace_moments R d.
split => //.
- exact: measurable_singular_values.
- exact: measurable_harmonic_sum.
- exact: singular_values_ge0.
- by under [X in Expectation.expect _ X]eq_fun do rewrite total_singular_values -[nuclear_norm _]expr1.
- by under [X in Expectation.expect _ X]eq_fun do rewrite total_singular_values.
- by under [X in Expectation.expect _ X]eq_fun do rewrite total_singular_values; rewrite E4.
Qed.

End NuclearLaplace.
