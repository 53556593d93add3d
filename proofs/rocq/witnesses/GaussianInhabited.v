(* Why the premises of the Gaussian mechanisms are not empty: something meets each.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory Gaussian.
From covassay Require Euclidean Sensitivity GaussianMechanisms.

Lemma positive_weight_inhabited (R : realType) (m n : nat) :
  positive_weight (gaussian (m := m) (n := n) (ltr01 : 0 < 1 :> R) 0).
Proof. exact: gaussian_positive. Qed.

Lemma zcdp_laws_inhabited (R : realType) (m n : nat) :
  zcdp_laws (0 ^+ 2 / (2 * 1 ^+ 2) : R) (gaussian (m := m) (n := n) (ltr01 : 0 < 1 :> R) 0)
    (gaussian (ltr01 : 0 < 1 :> R) 0).
Proof.
apply: gaussian_zcdp; rewrite subrr expr0n /sum_squares big1 // => i _.
by rewrite big1 // => j _; rewrite mxE expr0n.
Qed.

Lemma psd_trace_ball_inhabited (R : realType) (d : nat) :
  GaussianMechanisms.psd_trace_ball (0 : 'M[R]_d).
Proof.
split; last by rewrite mxtrace0 ler01.
by have := Euclidean.psd_outer (0 : 'cV[R]_d); rewrite mul0mx.
Qed.

Lemma neighbours_inhabited (R : realType) (n d : nat) :
  @Sensitivity.neighbours R n.+1 d (fun=> 0) (fun=> 0).
Proof. by exists ord0. Qed.
