(* DN25, Theorem 6: what it says, and the premises under which it is refuted.

   It says that |Z| <= 1.1 rho d with probability at least 1 - 2 exp (- d^(1/3) / c), for
   nuclear-Laplace noise Z of scale rho in d dimensions and a constant c. We refute it from
   the moments of the singular values of Z, with every constant C up to
   (7 + sqrt 33)/8 = 1.593... in place of 1.1, and every c > 0 (the truth is pi).

   Take rho = 1. Let s_1, ..., s_d >= 0 be the singular values, on any probability space,
   R = sum s_i, Q = sum s_i^2 and H = 2 sum_(i<j) s_i s_j/(s_i + s_j). The premises, in the
   record noise_moments, are that s_i and H are measurable and that

     E R = d^2,   E R^2 = d^4 + d^2,   E R^4 <= d^2 (d^2 + 1) (d^2 + 2) (d^2 + 3),
     E (Q + H) = 2 d^3.

   The first line is proved for the noise in GammaMoments, the second in NoiseIdentity. (It
   is also integration by parts of the field (s_i^2) against the density
   exp (-R) prod |s_i^2 - s_j^2|, whose integrand is TAIL-IDENTITY; that is not used.) So
   the noise meets the premises in every dimension, and Theorem6Noise has the refutation
   without them. A law with four atoms meets them too (NoiseMomentsWitness).

   The proof goes on in Theorem6Moments (an inequality between the moments and the
   probability of |Z| > M), Theorem6Tail (P (|Z| > C d) >= 1/(384 d^4)) and Theorem6Refuted
   (this exceeds 2 exp (- d^(1/3) / c) for every large d). This file has the definitions and
   the few facts on numbers that belong to them. *)
From covassay Require Import MeasureTheory Expectation PairSums TailIdentity.

(* THE PREMISES *)

Section Premises.
Context dd (T : measurableType dd) (R : realType) (P : {measure set T -> \bar R}).
Variables (d : nat) (s : T -> 'I_d -> R).

Record noise_moments : Prop := NoiseMoments {
  is_probability : P setT = 1%E;
  measurable_s : forall i, measurable_fun setT (fun x => s x i);
  measurable_harmonic : measurable_fun setT (fun x => harmonic_sum (s x));
  s_ge0 : forall x i, 0 <= s x i;
  moment1 : expect P (fun x => total (s x)) = (d%:R ^+ 2)%:E;
  moment2 : expect P (fun x => total (s x) ^+ 2) = (d%:R ^+ 4 + d%:R ^+ 2)%:E;
  moment4 : (expect P (fun x => (total (s x) ^+ 4)%R)
             <= (d%:R ^+ 2 * (d%:R ^+ 2 + 1) * (d%:R ^+ 2 + 2%:R) * (d%:R ^+ 2 + 3%:R))%:E)%E;
  by_parts : expect P (fun x => square_sum (s x) + harmonic_sum (s x)) = (2%:R * d%:R ^+ 3)%:E }.

(* The event |Z| <= M: no singular value exceeds M. *)
Definition within (M : R) : set T := [set x | forall i, s x i <= M].

End Premises.

(* THE CRITICAL CONSTANT *)

Section Critical.
Variable R : realType.

(* the larger root of 4 a^2 - 7 a + 1 *)
Definition critical : R := (7%:R + Num.sqrt 33%:R) / 8%:R.

Lemma critical_root : 4%:R * critical ^+ 2 = 7%:R * critical - 1.
Proof.
have r : Num.sqrt 33%:R ^+ 2 = 33%:R :> R by rewrite sqr_sqrtr ?ler0n.
apply/eqP; rewrite -subr_eq0; apply/eqP.
transitivity ((Num.sqrt 33%:R ^+ 2 - 33%:R) / 16%:R : R); last by rewrite r subrr mul0r.
by rewrite /critical; move: (Num.sqrt 33%:R) => t; field.
Qed.

Lemma critical_ge1 : 1 <= critical.
Proof.
rewrite /critical ler_pdivl_mulr ?ltr0n // mul1r.
rewrite (_ : 8%:R = 7%:R + 1); last by ring.
by rewrite ler_add2l -[X in X <= _]sqrtr1 ler_wsqrtr // ler1n.
Qed.

(* the printed constant 1.1 is below it *)
Lemma printed_constant_below : 11%:R / 10%:R <= critical.
Proof.
rewrite /critical ler_pdivl_mulr ?ltr0n //.
apply: (@le_trans _ _ (7%:R + 2%:R)).
  rewrite -subr_ge0 (_ : _ - _ = 1 / 5%:R); last by field.
  by rewrite divr_ge0 ?ler0n ?ler01.
rewrite ler_add2l -[X in X <= _]ger0_norm ?ler0n // -sqrtr_sqr ler_wsqrtr //.
by rewrite -natrX ler_nat.
Qed.

End Critical.

(* THE PRINTED PROBABILITY *)

Section Printed.
Variable R : realType.

(* The cube root of d, and the failure probability 2 exp (- d^(1/3)/c) of the printed theorem. *)
Definition cube_root (d : nat) : R := d%:R `^ (3%:R^-1).
Definition printed_failure (c : R) (d : nat) : R := 2%:R * expR (- (cube_root d / c)).

Lemma cube_root_cube d : (0 < d)%N -> cube_root d ^+ 3 = d%:R.
Proof.
move=> d0; rewrite /cube_root /exp_fun -expRMm mulrA divff ?pnatr_eq0 // mul1r.
by rewrite lnK // posrE ltr0n.
Qed.

End Printed.
