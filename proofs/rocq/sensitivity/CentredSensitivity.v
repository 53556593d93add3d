(******************************************************************************)
(* The covariance about the sample mean: how far one record moves it in the   *)
(* nuclear norm, for every n >= 1 and d >= 2.                                 *)
(*                                                                            *)
(* If the record a is replaced by b and the other n - 1 records have mean m,  *)
(* the centred covariance changes by                                          *)
(*   ((n-1)/n^2) ((a-m)(a-m)^T - (b-m)(b-m)^T),                               *)
(* whose nuclear norm is ((n-1)/n^2) |a - b| |a + b - 2m|. For records in the *)
(* unit ball the largest value is 3 sqrt 3 (n-1)/n^2, attained when a, b, m   *)
(* are the corners of an equilateral triangle on the unit circle.             *)
(* It exceeds the 2/n of the uncentred covariance for n >= 2. Data sets,      *)
(* neighbours and sensitivity are those of Sensitivity.v.                     *)
(******************************************************************************)
From covassay Require Import MatrixTheory Euclidean MatrixNorms RankTwo Sensitivity.

(* THREE POINTS OF THE UNIT BALL *)

(* the largest value of (2 - q) (2 + q)^3 is 27, at q = 1 *)
Lemma quartic_le (R : realFieldType) (q : R) : 0 <= q -> (4%:R - q ^+ 2) * (q + 2%:R) ^+ 2 <= 27%:R.
Proof.
move=> q0; rewrite -subr_ge0.
rewrite [X in 0 <= X](_ : _ = (q - 1) ^+ 2 * (q ^+ 2 + 6%:R * q + 11%:R)); last by ring.
apply: mulr_ge0; first exact: sqr_ge0.
rewrite addr_ge0 ?ler0n // addr_ge0 ?sqr_ge0 //.
by rewrite mulr_ge0 ?ler0n.
Qed.

Section Triangle.
Variables (R : rcfType) (d : nat).

(* parallelogram law *)
Lemma parallelogram (x y : 'cV[R]_d) :
  norm (x - y) ^+ 2 + norm (x + y) ^+ 2 = (dot x x + dot y y) *+ 2.
Proof. by rewrite !sqr_norm !dotL (dotC y x); ring. Qed.

(*@ CENTRED-TRIANGLE *)
Theorem triangle_le (x y m : 'cV[R]_d) : norm x <= 1 -> norm y <= 1 -> norm m <= 1 ->
  norm (x - y) * norm (x + y - m *+ 2) <= 3%:R * Num.sqrt 3%:R.
Proof.
move=> x1 y1 m1; set p := norm (x - y); set q := norm (x + y).
have p0 : 0 <= p by apply: norm_ge0.
have q0 : 0 <= q by apply: norm_ge0.
have r3 : 0 <= 3%:R * Num.sqrt 3%:R :> R by rewrite mulr_ge0 ?ler0n ?sqrtr_ge0.
have far : norm (x + y - m *+ 2) <= q + 2%:R.
  apply: le_trans (norm_triangle _ _) _; rewrite ler_add2l normN -scaler_nat normZ.
  by rewrite ger0_norm ?ler0n // -[X in _ <= X]mulr1 ler_wpmul2l ?ler0n.
have pq : p ^+ 2 <= 4%:R - q ^+ 2.
  rewrite ler_subr_addr parallelogram (_ : 4%:R = (1 + 1) *+ 2); last by ring.
  rewrite ler_pmuln2r //.
  by rewrite ler_add // -norm_le1.
clearbody p q; apply: le_trans (ler_wpmul2l p0 far) _.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?r3 ?(mulr_ge0 p0) ?(addr_ge0 q0) ?ler0n //.
rewrite !exprMn (sqr_sqrtr (ler0n R 3)).
apply: le_trans (ler_wpmul2r (sqr_ge0 _) pq) _; apply: le_trans (quartic_le q0) _.
by rewrite le_eqVlt; apply/orP/or_introl/eqP; ring.
Qed.

(* the equilateral triangle a, b, m *)
Variable d2 : (1 < d)%N.
Let root3 : R := Num.sqrt 3%:R.
Let root3_sqr : root3 ^+ 2 = 3%:R. Proof. by rewrite sqr_sqrtr ?ler0n. Qed.
Definition corner_a : 'cV[R]_d := 2%:R^-1 *: e1 R d2 + (root3 / 2%:R) *: e2 R d2.
Definition corner_b : 'cV[R]_d := 2%:R^-1 *: e1 R d2 - (root3 / 2%:R) *: e2 R d2.
Definition corner_m : 'cV[R]_d := - e1 R d2.

Let dot21 : dot (e2 R d2) (e1 R d2) = 0. Proof. by rewrite dotC dot_e12. Qed.
Let dots := (dotDl, dotDr, dotNl, dotNr, dotZl, dotZr, dot_e11 R d2, dot_e22 R d2,
             dot_e12 R d2, dot21).

Lemma norm_corner_a : norm corner_a = 1.
Proof.
rewrite /norm /corner_a !dots [X in Num.sqrt X](_ : _ = (1 + root3 ^+ 2) / 4%:R); last by field.
by rewrite root3_sqr -[1 + 3%:R]/(4%:R) divff ?pnatr_eq0 // sqrtr1.
Qed.

Lemma norm_corner_b : norm corner_b = 1.
Proof.
rewrite /norm /corner_b !dots [X in Num.sqrt X](_ : _ = (1 + root3 ^+ 2) / 4%:R); last by field.
by rewrite root3_sqr -[1 + 3%:R]/(4%:R) divff ?pnatr_eq0 // sqrtr1.
Qed.

Lemma norm_corner_m : norm corner_m = 1.
Proof. by rewrite normN norm_e1. Qed.

Lemma triangle_attained :
  norm (corner_a - corner_b) * norm (corner_a + corner_b - corner_m *+ 2) = 3%:R * Num.sqrt 3%:R.
Proof.
have -> : corner_a - corner_b = root3 *: e2 R d2.
  by apply/matrixP=> i j; rewrite !mxE; field.
have -> : corner_a + corner_b - corner_m *+ 2 = 3%:R *: e1 R d2.
  by rewrite -scaler_nat; apply/matrixP=> i j; rewrite !mxE; field.
by rewrite !normZ norm_e1 norm_e2 !mulr1 mulrC !ger0_norm ?ler0n ?sqrtr_ge0.
Qed.

End Triangle.

(* THE CENTRED COVARIANCE *)

(* with n = k + 1 records, the means (a + k m)/n and (b + k m)/n before and after *)
Lemma centred_gap_algebra (F : fieldType) d (k : F) (a b m : 'cV[F]_d) : k + 1 != 0 ->
  (k + 1)^-1 *: gap a b
  - (((k + 1)^-1 *: (a + k *: m)) *m ((k + 1)^-1 *: (a + k *: m))^T
     - ((k + 1)^-1 *: (b + k *: m)) *m ((k + 1)^-1 *: (b + k *: m))^T)
  = k / (k + 1) ^+ 2 *: gap (a - m) (b - m).
Proof.
move=> nz; rewrite /gap !(trD, trN, trZ).
rewrite !(mulmxDl, mulmxDr, mulNmx, mulmxN, =^~ scalemxAl, =^~ scalemxAr).
move: (a *m a^T) (b *m b^T) (m *m m^T) (a *m m^T) (m *m a^T) (b *m m^T) (m *m b^T).
move=> aa bb mm am ma bm mb; apply/matrixP=> i j; rewrite !mxE.
move: (aa i j) (bb i j) (mm i j) (am i j) (ma i j) (bm i j) (mb i j) => p q r s t u v.
by field.
Qed.

Section Centred.
Variables (R : realType) (n d : nat).
Implicit Types X Y : 'I_n -> 'cV[R]_d.

Definition mean X : 'cV[R]_d := n%:R^-1 *: \sum_i X i.

Definition centred_covariance X : 'M[R]_d :=
  n%:R^-1 *: \sum_i (X i - mean X) *m (X i - mean X)^T.

(* the mean of the records other than i *)
Definition mean_others X i : 'cV[R]_d := (n.-1)%:R^-1 *: \sum_(j | j != i) X j.

Lemma norm_sum (I : finType) (P : pred I) (F : I -> 'cV[R]_d) :
  norm (\sum_(j | P j) F j) <= \sum_(j | P j) norm (F j).
Proof.
elim/big_rec2: _ => [|j x y _ le]; first by rewrite norm0.
by apply: le_trans (norm_triangle _ _) _; rewrite ler_add2l.
Qed.

Lemma card_others (i : 'I_n) : #|[pred j | j != i]| = n.-1.
Proof. by rewrite -[X in _ = X.-1](card_ord n) -(cardC1 i); apply: eq_card => j; rewrite !inE. Qed.

Lemma norm_mean_others X i : bounded X -> norm (mean_others X i) <= 1.
Proof.
move=> bX; rewrite normZ ger0_norm ?invr_ge0 ?ler0n //.
have [->|n0] := posnP n.-1; first by rewrite invr0 mul0r ler01.
rewrite ler_pdivr_mull ?ltr0n // mulr1; apply: le_trans (norm_sum _ _) _.
apply: le_trans (ler_sum _ (fun j _ => bX j)) _.
by rewrite sumr_const card_others.
Qed.

(* Konig-Huygens: (1/n) sum x x^T minus the mean times its transpose *)
Lemma centred_covarianceE X : (0 < n)%N ->
  centred_covariance X = covariance X - mean X *m (mean X)^T.
Proof.
move=> n0; have nz : n%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have sumE : \sum_i X i = n%:R *: mean X by rewrite scalerA divff // scale1r.
have expand i : (X i - mean X) *m (X i - mean X)^T
    = X i *m (X i)^T - X i *m (mean X)^T - mean X *m (X i)^T + mean X *m (mean X)^T.
  by rewrite linearB /= mulmxBl !mulmxBr opprB addrA addrAC.
have left : \sum_i X i *m (mean X)^T = n%:R *: (mean X *m (mean X)^T).
  by rewrite -mulmx_suml sumE -scalemxAl.
have right : \sum_i mean X *m (X i)^T = n%:R *: (mean X *m (mean X)^T).
  by rewrite -mulmx_sumr -raddf_sum /= sumE linearZ /= -scalemxAr.
have const : \sum_(i < n) mean X *m (mean X)^T = n%:R *: (mean X *m (mean X)^T).
  by rewrite sumr_const card_ord scaler_nat.
rewrite /centred_covariance (eq_bigr _ (fun i _ => expand i)) !big_split /= !sumrN.
by rewrite left right const subrK scalerBr scalerA mulVf // scale1r.
Qed.

(*@ CENTRED-CHANGE *)
Theorem centred_covariance_gap X Y i : (0 < n)%N -> (forall j, j != i -> X j = Y j) ->
  centred_covariance X - centred_covariance Y
  = (n.-1)%:R / n%:R ^+ 2 *: gap (X i - mean_others X i) (Y i - mean_others X i).
Proof.
move=> n0 XY; have nz : n%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
pose S := \sum_(j | j != i) X j.
have meanX : mean X = n%:R^-1 *: (X i + S) by rewrite /mean (bigD1 i).
have meanY : mean Y = n%:R^-1 *: (Y i + S).
  by rewrite /mean (bigD1 i) //=; congr (_ *: (_ + _)); apply: eq_bigr => j ji; rewrite XY.
have SE : S = (n.-1)%:R *: mean_others X i.
  have [z|p] := posnP n.-1; last by rewrite scalerA divff ?scale1r // pnatr_eq0 -lt0n.
  have only (k : 'I_n) : val k = 0%N by apply/eqP; rewrite -leqn0 -z -ltnS (prednK n0) ltn_ord.
  rewrite z scale0r /S big_pred0 // => j; apply/negbTE; rewrite negbK.
  by apply/eqP/val_inj; rewrite !only.
have swap (p q r t : 'M[R]_d) : p - q - (r - t) = p - r - (q - t).
  by apply/matrixP=> k l; rewrite !mxE; ring.
rewrite !centred_covarianceE // swap (covariance_gap XY).
have nE : n%:R = (n.-1)%:R + 1 :> R by rewrite -[in LHS](prednK n0) mulrSr.
by rewrite meanX meanY SE nE in nz *; apply: centred_gap_algebra.
Qed.

(* For n >= 1 and d >= 2 the largest nuclear norm of C(X) - C(Y), over data sets in the unit
   ball that differ in at most one record, is exactly 3 sqrt 3 (n-1)/n^2. C divides by n, and
   for n = 1 the value is 0. *)
(*@ SENS-CENTRED *)
Theorem sensitivity_centred : (0 < n)%N -> (1 < d)%N ->
  is_sensitivity centred_covariance (@nuclear_norm R d d)
    (3%:R * Num.sqrt 3%:R * ((n.-1)%:R / n%:R ^+ 2)).
Proof.
move=> n0 d2; have k0 : 0 <= (n.-1)%:R / n%:R ^+ 2 :> R by rewrite divr_ge0 ?ler0n ?sqr_ge0.
have value X Y i : (forall j, j != i -> X j = Y j) ->
    nuclear_norm (centred_covariance X - centred_covariance Y)
    = norm (X i - Y i) * norm (X i + Y i - mean_others X i *+ 2) * ((n.-1)%:R / n%:R ^+ 2).
  move=> XY; rewrite (centred_covariance_gap n0 XY) nuclear_normZ // nuclear_norm_gap mulrC.
  have -> : X i - mean_others X i - (Y i - mean_others X i) = X i - Y i.
    by rewrite opprB addrA subrK.
  have -> : X i - mean_others X i + (Y i - mean_others X i) = X i + Y i - mean_others X i *+ 2.
    by rewrite addrACA -opprD -mulr2n.
  by [].
split=> [X Y bX bY [i XY]|].
  by rewrite (value _ _ i) // ler_wpmul2r // triangle_le ?norm_mean_others.
pose i0 := Ordinal n0.
pose Z z : 'I_n -> 'cV[R]_d := fun j => if j == i0 then z else corner_m R d2.
have bZ z : norm z <= 1 -> bounded (Z z).
  by move=> z1 j; rewrite /Z; case: ifP; rewrite ?norm_corner_m.
have near z z' : forall j, j != i0 -> Z z j = Z z' j by rewrite /Z => j /negbTE ->.
exists (Z (corner_a R d2)), (Z (corner_b R d2)).
split; [by apply: bZ; rewrite norm_corner_a | by apply: bZ; rewrite norm_corner_b | |].
  by exists i0; apply: near.
have Zi z : Z z i0 = z by rewrite /Z eqxx.
rewrite (value _ _ i0); last exact: near.
rewrite !Zi.
have [->|p] := posnP n.-1; first by rewrite mul0r !mulr0.
suff -> : mean_others (Z (corner_a R d2)) i0 = corner_m R d2 by rewrite triangle_attained.
rewrite /mean_others (eq_bigr (fun=> corner_m R d2)) => [|j /negbTE ji]; last by rewrite /Z ji.
by rewrite sumr_const card_others -scaler_nat scalerA mulVf ?scale1r // pnatr_eq0 -lt0n.
Qed.

End Centred.
