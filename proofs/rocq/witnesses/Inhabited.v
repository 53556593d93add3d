(******************************************************************************)
(* Premises that can be met. A theorem with a premise that nothing satisfies  *)
(* says nothing; the file witnesses.toml names, for every predicate in a      *)
(* premise, a lemma that establishes it and assumes nothing. Here are those   *)
(* lemmas that no other file has.                                             *)
(******************************************************************************)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint zmodp matrix.
From mathcomp.classical Require Import boolp classical_sets functions.
From mathcomp.analysis Require Import reals ereal sequences exp measure lebesgue_measure.
From covassay Require Import Euclidean MatrixNorms.
From covassay Require Sensitivity Algorithm2 Hessian Wishart KNorm Norms FiniteDP PureToZcdp.
From covassay Require Projections PsdProjection EigenvalueSensitivity Theorem6 NoiseMomentsWitness.
From covassay Require Import PureDP Lebesgue.
From covassay Require Discrete.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* the identity is its own singular value decomposition *)
Lemma svd_inhabited (R : realType) d : svd (1%:M : 'M[R]_d) 1%:M 1%:M (const_mx 1).
Proof.
have o : orthogonal_mx (1%:M : 'M[R]_d) by rewrite /orthogonal_mx trmx1 mulmx1.
split=> // [i|]; first by rewrite mxE ler01.
by rewrite diag_const_mx mul1mx trmx1 mulmx1.
Qed.

(* two data sets that differ: one record of length one, and the record 0 *)
Lemma adjacent_inhabited (R : realType) n d :
  exists X Y : Sensitivity.dataset R n.+1 d.+1, Algorithm2.adjacent X Y /\ X ord0 != Y ord0.
Proof.
pose X i : 'cV[R]_d.+1 := if i == ord0 :> 'I_n.+1 then delta_mx ord0 0 else 0.
exists X, (fun=> 0); split.
  split=> [i|i|]; rewrite ?norm0 ?ler01 //.
    by rewrite /X; case: ifP => _; rewrite ?norm_delta ?norm0 ?ler01.
  by exists ord0 => j /negbTE j0; rewrite /X j0.
by rewrite /X eqxx -norm_eq0 norm_delta oner_eq0.
Qed.

(* all the weight on one coordinate *)
Lemma simplex_inhabited (R : realType) d : Hessian.simplex (fun i : 'I_d.+1 => (i == ord0)%:R : R).
Proof.
split=> [i|]; first by rewrite ler0n.
by rewrite (bigD1 ord0) //= big1 ?addr0 // => i /negbTE ->.
Qed.

(* a log-concave function (k = 0): the constant 1 *)
Lemma log_concave_inhabited (R : realType) d :
  Hessian.strongly_log_concave 0 (fun=> 1 : R) (d := d).
Proof. by move=> v w _ _; rewrite mul0r mul0r expR0 !mulr1 expr1n. Qed.

(* the Laplace law is close to itself *)
Lemma indistinguishable_inhabited (R : realType) (events : set (set 'M[R]_1)) :
  let laplace := law (KNorm.norm_weight (Norms.l1_norm R 1 1) (@ltr01 R)) in
  Wishart.indistinguishable events 0 0 laplace laplace.
Proof. by move=> laplace S _; rewrite expR0 mul1e adde0. Qed.

(* the Laplace law on matrices *)
Definition weight_inhabited (R : realType) m n :
  weight [the measure _ _ of @leb_matrix R m n] :=
  KNorm.norm_weight (Norms.l1_norm R m n) (@ltr01 R).

(* the K-norm mechanism of the l1 norm, at eps = 1, for matrices that differ by at most 1 *)
Lemma dp_inhabited (R : realType) m n :
  dp (fun x x' : 'M[R]_(m, n) => Norms.norm_at (Norms.l1_norm R m n) (x - x') <= 1) 1
    (KNorm.knorm_mechanism (Norms.l1_norm R m n) (@ltr01 R) (@ltr01 R) id).
Proof. by apply: KNorm.knorm_mechanism_dp. Qed.

(* a second stage that draws Laplace noise, whatever the first output was *)
Definition stage_inhabited (R : realType) m n :
  stage R [the measurableType _ of 'M[R]_(m, n)] [the measurableType _ of 'M[R]_(m, n)] :=
  Algorithm2.constant_stage _
    (law_total (weight_inhabited R m n) : [the measure _ _ of law (weight_inhabited R m n)] setT = 1%E).

(* randomised response at eps = 1 *)
Lemma dp_close_inhabited (R : realType) :
  PureToZcdp.dp_close (1 : R) (FiniteDP.randomised_response 1 true)
    (FiniteDP.randomised_response 1 false).
Proof. exact: PureToZcdp.randomised_response_dp_close ler01. Qed.

(* zero lies below x x^T *)
Lemma loewner_le_inhabited (R : rcfType) d (x : 'cV[R]_d) : loewner_le 0 (x *m x^T).
Proof. by move=> u; rewrite form_outer /form mul0mx dot0r sqr_ge0. Qed.

(* the matrix diag(1, 0) *)
Lemma spectral_inhabited (R : rcfType) :
  EigenvalueSensitivity.spectral (PsdProjection.mx2 1 0 0 0 : 'M[R]_2) 1%:M
    (EigenvalueSensitivity.rv2 1 0).
Proof. exact: EigenvalueSensitivity.spectral_diag ler01. Qed.

(* the number 1, projected to the ball of radius 1/2 *)
Lemma projection_inhabited (R : realType) :
  exists p, Projections.projection (fun B : 'M[R]_1 => nuclear_norm B <= 2%:R^-1) 1%:M p.
Proof.
have t := Projections.threshold_inhabited [realFieldType of R].
exists (Projections.shrink (1%:M : 'M[R]_1) 1%:M (const_mx 2%:R^-1)).
apply: (Projections.nuclear_ball_projection (s := const_mx 1) (theta := 2%:R^-1)).
  exact: svd_inhabited.
have e (c : R) : (const_mx c : 'rV[R]_1) 0 = (fun=> c) by apply/funext => j; rewrite mxE.
by rewrite !e.
Qed.

(* four atoms *)
Lemma noise_moments_inhabited (R : realType) d :
  Theorem6.noise_moments (NoiseMomentsWitness.four_atoms R (ltn0Sn d))
    (@NoiseMomentsWitness.spectrum R d.+1).
Proof. exact: NoiseMomentsWitness.noise_moments_satisfiable. Qed.

(* types of our own that appear in premises *)
Definition dataset_inhabited (R : realType) n d : Sensitivity.dataset R n d := fun=> 0.
Definition discrete_inhabited : Discrete.discrete int := 0.

(* sets and families of sets of our own: one element of each *)
Lemma box_inhabited (R : realType) m n : box 0 (const_mx 1 : 'M[R]_(m, n)) (const_mx 1).
Proof. by move=> i j; rewrite !mxE ltr01 lexx. Qed.

Lemma entry_event_inhabited (R : realType) m n : @entry_event R m.+1 n.+1 setT.
Proof. by exists ord0, ord0, setT; [exact: measurableT|]. Qed.

Lemma within_inhabited (R : realType) d (x : nat) :
  Theorem6.within (fun=> fun _ : 'I_d => 0 : R) 0 x.
Proof. by []. Qed.
