(* Releases of output-perturbation that the kernel computes, for tests of the Python code.

   The law is that of w + b V, where w are the ridge coefficients and V has density exp(-|V|).  The
   rows have two columns, one feature and the target.  For the penalty alpha of a row the roots in
   the sensitivity are rational: `largest` is W and `root` is the root of W^2 + 1.

   Assumed: nothing.  Not said: more features; other penalties. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval rat zmodp matrix.
From covassay Require Import MeasureTheory PureDP Lebesgue AdditiveNoise Norms KNorm Mechanisms.
From covassay Require Import SymmetricMechanisms Sphere OutputPerturbation Releases RationalData.
From covassay Require Euclidean Sensitivity.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* w = M_ay/(M_aa + 2 alpha), for one feature. *)
Definition ridge_coefficient (n : nat) (alpha : rat) x : rat := moment n x 0 1 / (moment n x 0 0 + 2%:R * alpha).
(* The square of 1/W: 2 alpha, or ("tight") 4 (2 alpha)(1 + 2 alpha). *)
Definition inverse_square (tight : bool) (alpha : rat) : rat :=
  if tight then 4%:R * (2%:R * alpha * (1 + 2%:R * alpha)) else 2%:R * alpha.
Definition roots_ok (tight : bool) (alpha largest root : rat) : bool :=
  [&& 0 < largest, 0 < root, largest ^+ 2 * inverse_square tight alpha == 1 & root ^+ 2 == largest ^+ 2 + 1].
Definition ridge_noise_scale (tight : bool) (n : nat) (alpha eps largest root : rat) : rat :=
  ((if tight then 0 else largest) + root) / (2%:R * alpha * n%:R) / eps.
Definition output_perturbation_release tight n alpha eps largest root x (z : nat -> nat -> rat) (i j : nat) : rat :=
  ridge_coefficient n alpha x + ridge_noise_scale tight n alpha eps largest root * z i j.

Section Ridge.
Variables (R : realType) (n : nat) (alpha eps largest root : rat) (x : seq (seq rat)) (tight : bool).
Hypotheses (n_gt0 : (0 < n)%N) (alpha_gt0 : 0 < ratr alpha :> R) (eps_gt0 : 0 < ratr eps :> R).
Hypothesis ok : roots_ok tight alpha largest root.
Notation X := (rows R n (1 + 1) x).
Notation c := (if tight then Tight else Paper).

Lemma largest_normE : largest_norm (ratr alpha : R) c = ratr largest.
Proof.
have /and4P[l0 _ /eqP l2 _] := ok.
have lR : 0 < ratr largest :> R by rewrite ltr0q.
have E (a : R) : 0 <= a -> ratr largest ^+ 2 * a = 1 -> (Num.sqrt a)^-1 = ratr largest.
  move=> a0 la; have ra : 0 < Num.sqrt a.
    rewrite sqrtr_gt0 lt_def a0 andbT; apply/eqP => az; move: la; rewrite az mulr0 => /esym/eqP.
    by rewrite oner_eq0.
  apply: (mulIf (x := Num.sqrt a)); first by rewrite gt_eqF.
  have p0 : 0 <= ratr largest * Num.sqrt a := mulr_ge0 (ltW lR) (ltW ra).
  rewrite mulVf ?gt_eqF //; apply/esym/eqP; rewrite -(@eqr_expn2 _ 2) ?ler01 //.
  by rewrite exprMn sqr_sqrtr // la expr1n.
have l1 : ratr largest ^+ 2 * ratr (inverse_square tight alpha) = 1 :> R.
  by rewrite -rmorphX -rmorphM l2 rmorph1.
have a0 : 0 <= ratr (inverse_square tight alpha) :> R.
  rewrite ler0q /inverse_square; have p0 : 0 < alpha by rewrite -(ltr0q R).
  have q0 : 0 < 2%:R * alpha by rewrite mulr_gt0.
  by case: (tight); rewrite ?ltW // mulr_gt0 // mulr_gt0 // addr_gt0.
rewrite -(E _ a0 l1) /largest_norm /inverse_square; case: (tight).
  rewrite !(rmorphM, rmorphD, rmorph_nat, rmorph1); congr _^-1.
  by rewrite [in RHS]sqrtrM ?ler0n // -[4%:R]/((2 * 2)%:R) natrM -expr2 sqrtr_sqr ger0_norm ?ler0n.
by rewrite rmorphM rmorph_nat.
Qed.

Lemma coefficientsE : OutputPerturbation.coefficients (ratr alpha) (Sensitivity.covariance X)
  = entries_of R 1 1 (fun _ _ => ridge_coefficient n alpha x).
Proof.
rewrite covariance_rows; set M := entries_of _ _ _ _.
have a0 : 0 < alpha by rewrite -(ltr0q R).
have e0 : 0 <= moment n x 0 0.
  rewrite /moment divr_ge0 ?ler0n // sum_toE sumr_ge0 // => k _; by rewrite -expr2 sqr_ge0.
have d0 : moment n x 0 0 + 2%:R * alpha != 0 by rewrite gt_eqF // ltr_paddl // mulr_gt0.
have HE : ulsubmx M + (2%:R * ratr alpha)%:M = (ratr (moment n x 0 0 + 2%:R * alpha))%:M.
  apply/matrixP => i j; rewrite !ord1 !mxE eqxx !mulr1n rmorphD rmorphM rmorph_nat; congr (_ + _).
rewrite /OutputPerturbation.coefficients HE invmx_scalar mul_scalar_mx.
by apply/matrixP => i j; rewrite !ord1 !mxE /ridge_coefficient [RHS]fmorph_div mulrC.
Qed.

Lemma ridge_scaleE : ridge_scale n (ratr alpha) (ratr eps : R) c
  = ratr (ridge_noise_scale tight n alpha eps largest root).
Proof.
have /and4P[_ r0 _ /eqP r2] := ok.
rewrite /ridge_scale /sensitivity /gradient_change largest_normE.
have -> : Num.sqrt (ratr largest ^+ 2 + 1) = ratr root :> R.
  have -> : ratr largest ^+ 2 + 1 = ratr root ^+ 2 :> R by rewrite -!rmorphX r2 rmorphD rmorph1.
  by rewrite sqrtr_sqr gtr0_norm // ltr0q.
rewrite /ridge_noise_scale !fmorph_div rmorphD !rmorphM !rmorph_nat; congr ((_ + _) / _ / _).
by case: (tight); rewrite ?rmorph0.
Qed.

Lemma output_perturbation_holds (z : nat -> nat -> rat) :
  let f V := OutputPerturbation.coefficients (ratr alpha) (Sensitivity.covariance X)
             + ridge_scale n (ratr alpha) (ratr eps) c *: V in
  computes (output_perturbation 1 n_gt0 alpha_gt0 eps_gt0 c X) (law (unit_noise (length R 1))) f /\
  f (entries_of R 1 1 z) = entries_of R 1 1 (output_perturbation_release tight n alpha eps largest root x z).
Proof.
move=> f; split.
  by apply: matrix_computes => *; [exact: ridge_scale_gt0|exact: norm_unit].
rewrite /f coefficientsE ridge_scaleE; apply/matrixP => i j.
by rewrite !mxE /output_perturbation_release rmorphD rmorphM.
Qed.

End Ridge.

(* 2 alpha = 16/9 and W = 3/4, or ("tight") 2 alpha = 1/3 and W = 3/4; the root is 5/4. *)
Definition output_perturbation_rows : seq (seq rat) :=
  [seq let n := c.2.1 in let eps := c.2.2 in
       [:: n%:R; 2%:R; eps; (nat_of_bool c.1.1)%:R] ++ data_columns n 2 sample_rows ++
       [:: c.1.2; frac 1 4; output_perturbation_release c.1.1 n c.1.2 eps (frac 3 4) (frac 5 4) sample_rows (fun _ _ => frac 1 4) 0 0]
   | c <- [seq (a, e) | a <- [seq a <- [:: (false, frac 8 9); (true, frac 1 6)] | roots_ok a.1 a.2 (frac 3 4) (frac 5 4)],
             e <- [:: (3%N, frac 1 2); (2%N, 2%:R)]]].
