(* DN25, Theorem 6, is false for every large d: nuclear-Laplace noise itself, with no premise on
   its law.

   The singular values of the noise meet the premises of theorem6_refuted (NoiseIdentity).  The
   spectral norm is the largest singular value, so the event of Theorem6, that no singular value
   exceeds C d, is the event |Z| <= C d.  Nothing is assumed. *)
From covassay Require Import MeasureTheory Euclidean MatrixNorms SingularValues SpectralTheorem.
From covassay Require Import SpectralMaps Theorem6 NoiseIdentity Theorem6Refuted.
From covassay Require GammaMoments.

Section SpectralNorm.
Variables (R : realType) (d : nat).
Implicit Types z : 'M[R]_d.

Lemma singular_values_decrease z (i j : 'I_d) : (i <= j)%N -> singular_values z j <= singular_values z i.
Proof.
by move=> ij; rewrite /singular_values !mxE ler_wsqrtr //; have [_ _ dec] := eighP (z^T *m z); exact: dec.
Qed.

(* the spectral norm is the largest singular value *)
Lemma operator_norm_first (d0 : (0 < d)%N) z : operator_norm z = singular_values z (Ordinal d0).
Proof.
have [U [V [oU oV s0 zE]]] := svd_exists z; set i := Ordinal d0.
have vE (j : 'I_d) : V^T *m (V *m delta_mx j 0) = delta_mx j 0 :> 'cV[R]_d by rewrite mulmxA oV mul1mx.
apply: (@operator_norm_max _ _ _ _ (V *m delta_mx i 0)).
- by rewrite orthogonal_norm // /norm dot_deltas eqxx sqrtr1.
- rewrite {1}zE -!mulmxA orthogonal_norm // vE.
  have -> : diag_mx (singular_row z) *m delta_mx i 0 = singular_values z i *: (delta_mx i 0 : 'cV[R]_d).
    apply/colP => r; rewrite mul_diag_mx /singular_values !mxE eqxx andbT.
    by case: eqP => [->|_]; rewrite ?mulr0.
  by rewrite normZ ger0_norm ?singular_values_ge0 // /norm dot_deltas eqxx sqrtr1 mulr1.
move=> u; rewrite {1}zE -!mulmxA orthogonal_norm // -(orthogonal_norm u (orthogonal_mx_tr oV)).
move: (V^T *m u) => w; rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?norm_ge0 ?singular_values_ge0 //.
rewrite exprMn !sqr_norm /dot mulr_sumr; apply: ler_sum => j _.
rewrite mul_diag_mx mxE -!expr2 exprMn ler_wpmul2r ?sqr_ge0 // ler_sqr ?nnegrE ?singular_values_ge0 //.
exact: singular_values_decrease.
Qed.

Lemma operator_norm_le (M : R) z : (0 < d)%N ->
  (forall i, singular_values z i <= M) <-> operator_norm z <= M.
Proof.
move=> d0; rewrite (operator_norm_first d0); split=> [sM|le i]; first exact: sM.
by apply: le_trans le; apply: singular_values_decrease.
Qed.

End SpectralNorm.

(* Theorem 6 with the constants C and c is false for all large d when C <= (7 + sqrt 33)/8 and
   c > 0: there is a d0 such that for all d >= d0 nuclear-Laplace noise Z of scale 1 has
   |Z| <= C d with probability below 1 - 2 exp (- d^(1/3)/c).  |Z| is the spectral norm; d0 is not
   computed.  The premises are C <= (7 + sqrt 33)/8 and c > 0. *)
(*@ DN25.Thm6-NOISE *)
Theorem theorem6_refuted_noise (R : realType) (C c : R) : C <= critical R -> 0 < c ->
  exists d0 : nat, forall d, (d0 <= d)%N ->
    (GammaMoments.nuclear_laplace R d [set z | (operator_norm z <= C * d%:R)%R] < (1 - printed_failure c d)%:E)%E.
Proof.
move=> Cle c0; have [d1 refuted] := theorem6_refuted (fun d _ => noise_moments R d) Cle c0.
exists (maxn d1 1) => d; rewrite geq_max => /andP[dd1 d0].
rewrite (_ : [set z | _] = [set z | forall i, singular_values z i <= C * d%:R]); first exact: refuted.
by apply/seteqP; split=> z /operator_norm_le; apply.
Qed.
