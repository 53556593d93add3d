(******************************************************************************)
(* How far one record moves the empirical covariance, for every n and d.      *)
(*                                                                            *)
(* A data set is n vectors of R^d. The covariance (about 0) is                *)
(* (1/n) sum_i x_i x_i^T. Two data sets are neighbours when they have the     *)
(* same n and differ in at most one record; every record has length <= 1.     *)
(* The sensitivity of a norm N is the largest value of N (cov X - cov Y).    *)
(* Each theorem says that a number is that largest value: never exceeded, and *)
(* attained by some pair of neighbours.                                       *)
(*                                                                            *)
(*   nuclear norm    2/n          (d >= 2)   1/n (d = 1)                      *)
(*   Frobenius norm  sqrt 2 / n   (d >= 2)                                    *)
(*   operator norm   1/n          (d >= 1)                                    *)
(*   trace           1/n          (d >= 1)                                    *)
(*                                                                            *)
(* The sensitivity of the vector of eigenvalues is in EigenvalueSensitivity.v; *)
(* adjacency that adds or removes a record is not treated.                    *)
(******************************************************************************)
From covassay Require Import MatrixTheory Euclidean MatrixNorms RankTwo.

Section DataSets.
Variables (R : realType) (n d : nat).

Definition dataset := 'I_n -> 'cV[R]_d.
Implicit Types X Y : dataset.

(* every record lies in the unit ball *)
Definition bounded X := forall i, norm (X i) <= 1.

(* same number of records, all equal except perhaps one *)
Definition neighbours X Y := exists i, forall j, j != i -> X j = Y j.

Definition covariance X : 'M[R]_d := n%:R^-1 *: \sum_i X i *m (X i)^T.

(* v is the largest change of the statistic C between neighbours, measured by the norm N *)
Definition is_sensitivity (C : dataset -> 'M[R]_d) (N : 'M[R]_d -> R) (v : R) :=
  (forall X Y, bounded X -> bounded Y -> neighbours X Y -> N (C X - C Y) <= v)
  /\ (exists X Y,
      [/\ bounded X, bounded Y, neighbours X Y & N (C X - C Y) = v]).

(* one replaced record changes the covariance by the rank-two matrix of RankTwo.v, over n *)
Lemma covariance_gap X Y i :
  (forall j, j != i -> X j = Y j) -> covariance X - covariance Y = n%:R^-1 *: gap (X i) (Y i).
Proof.
move=> XY; rewrite /covariance -scalerBr (bigD1 i) // [in X in _ - X](bigD1 i) //=.
have -> : \sum_(j | j != i) X j *m (X j)^T = \sum_(j | j != i) Y j *m (Y j)^T.
  by apply: eq_bigr => j ji; rewrite XY.
by rewrite opprD addrACA subrr addr0.
Qed.

(* so the sensitivity is a supremum over two vectors of the unit ball *)
Lemma is_sensitivity_gap N v :
  (forall x y : 'cV_d, norm x <= 1 -> norm y <= 1 -> N (n%:R^-1 *: gap x y) <= v) ->
  (0 < n)%N ->
  (exists x y : 'cV_d, [/\ norm x <= 1, norm y <= 1 & N (n%:R^-1 *: gap x y) = v]) ->
  is_sensitivity covariance N v.
Proof.
move=> up n0 attained; split=> [X Y bX bY [i XY]|].
  by rewrite (covariance_gap XY); apply: up; [apply: bX | apply: bY].
have [x [y [x1 y1 <-]]] := attained.
pose i0 := Ordinal n0; pose Z z : dataset := fun j => if j == i0 then z else 0.
have bZ z : norm z <= 1 -> bounded (Z z).
  by move=> z1 j; rewrite /Z; case: ifP; rewrite ?norm0 ?ler01.
have near : forall j, j != i0 -> Z x j = Z y j by rewrite /Z => j /negbTE ->.
exists (Z x), (Z y); split; [exact: bZ | exact: bZ | by exists i0 |].
by rewrite (covariance_gap near) /Z eqxx.
Qed.

End DataSets.

(* THE BOUNDS, FOR TWO VECTORS OF THE UNIT BALL *)

Section Bounds.
Variables (R : rcfType) (d : nat) (x y : 'cV[R]_d).
Hypotheses (x1 : norm x <= 1) (y1 : norm y <= 1).

Lemma spread_le2 : norm (x - y) * norm (x + y) <= 2%:R.
Proof. by apply: le_trans (spread_le x y) _; rewrite -[2%:R]/(1 + 1) ler_add // -norm_le1. Qed.

Lemma frob_gap_le : frob_norm (gap x y) <= Num.sqrt 2%:R.
Proof.
rewrite ler_wsqrtr // frob_gap ler_subl_addr.
have sq (v : 'cV[R]_d) : norm v <= 1 -> dot v v ^+ 2 <= 1.
  by rewrite norm_le1 => v1; rewrite expr_le1 ?dot_ge0.
apply: le_trans (ler_add (sq _ x1) (sq _ y1)) _.
by rewrite -[1 + 1]/(2%:R) ler_addl mulr_ge0 ?ler0n ?sqr_ge0.
Qed.

Lemma op_le_gap1 : op_le (gap x y) 1.
Proof.
move=> u; apply: le_trans (op_le_gap x y u) _.
by rewrite ler_wpmul2r ?norm_ge0 // le_maxl -!norm_le1 x1.
Qed.

Lemma trace_gap_le : `|\tr (gap x y)| <= 1.
Proof.
rewrite trace_gap ler_norml; move: x1 y1; rewrite !norm_le1 => s1 t1.
apply/andP; split; last by apply: le_trans s1; rewrite ler_subl_addr ler_addl dot_ge0.
by rewrite ler_oppl opprB; apply: le_trans t1; rewrite ler_subl_addr ler_addl dot_ge0.
Qed.

End Bounds.

(* Two orthonormal vectors, which exist when d >= 2. *)
Section Orthonormal.
Variables (R : rcfType) (d : nat) (d2 : (1 < d)%N).
Definition e1 : 'cV[R]_d := delta_mx (Ordinal (ltnW d2)) 0.
Definition e2 : 'cV[R]_d := delta_mx (Ordinal d2) 0.

Lemma norm_e1 : norm e1 = 1. Proof. exact: norm_delta. Qed.
Lemma norm_e2 : norm e2 = 1. Proof. exact: norm_delta. Qed.
Lemma dot_e12 : dot e1 e2 = 0. Proof. by rewrite dot_deltas. Qed.
Lemma dot_e11 : dot e1 e1 = 1. Proof. by rewrite dot_deltas eqxx. Qed.
Lemma dot_e22 : dot e2 e2 = 1. Proof. by rewrite dot_deltas eqxx. Qed.

Lemma spread_orthonormal : norm (e1 - e2) * norm (e1 + e2) = 2%:R.
Proof.
rewrite -/(spread e1 e2) spreadE dot_e11 dot_e22 dot_e12 expr0n mulr0 subr0.
by rewrite sqrtr_sqr ger0_norm ?addr_ge0 ?ler01.
Qed.

Lemma frob_orthonormal : frob_norm (gap e1 e2) = Num.sqrt 2%:R.
Proof. by rewrite /frob_norm frob_gap dot_e11 dot_e22 dot_e12 !expr1n expr0n mulr0 subr0. Qed.

End Orthonormal.

(* THE SENSITIVITIES *)

Section Sensitivities.
Variables (R : realType) (n d : nat).
Hypothesis n1 : (0 < n)%N.
Let invn_gt0 : 0 < n%:R^-1 :> R. Proof. by rewrite invr_gt0 ltr0n. Qed.

(* nuclear norm, d >= 2: 2/n *)
(* The premises are n >= 1 and d >= 2. *)
(*@ SENS-NUCLEAR *)
Theorem sensitivity_nuclear :
  (1 < d)%N -> is_sensitivity (@covariance R n d) (@nuclear_norm R d d) (2%:R / n%:R).
Proof.
move=> d2; apply: is_sensitivity_gap => // [x y x1 y1|].
  by rewrite nuclear_normZ ?(ltW invn_gt0) // nuclear_norm_gap mulrC ler_pmul2r // spread_le2.
exists (e1 R d2), (e2 R d2); rewrite norm_e1 norm_e2; split=> //.
by rewrite nuclear_normZ ?(ltW invn_gt0) // nuclear_norm_gap spread_orthonormal mulrC.
Qed.

(* Frobenius norm, d >= 2: sqrt 2 / n *)
(* The premises are n >= 1 and d >= 2. *)
(*@ SENS-FROBENIUS *)
Theorem sensitivity_frobenius :
  (1 < d)%N -> is_sensitivity (@covariance R n d) (@frob_norm R d d) (Num.sqrt 2%:R / n%:R).
Proof.
have abs : `|n%:R^-1| = n%:R^-1 :> R by rewrite gtr0_norm.
move=> d2; apply: is_sensitivity_gap => // [x y x1 y1|].
  by rewrite frob_normZ abs mulrC ler_pmul2r // frob_gap_le.
exists (e1 R d2), (e2 R d2); rewrite norm_e1 norm_e2; split=> //.
by rewrite frob_normZ abs frob_orthonormal mulrC.
Qed.

(* operator norm, d >= 1: 1/n, attained by replacing e1 by 0 *)
(* The premises are n >= 1 and d >= 1. *)
(*@ SENS-OPERATOR *)
Theorem sensitivity_operator :
  (0 < d)%N -> is_sensitivity (@covariance R n d) (@operator_norm R d d) n%:R^-1.
Proof.
move=> d1; apply: is_sensitivity_gap => // [x y x1 y1|].
  rewrite operator_normZ // -[X in _ <= X]mulr1 ler_pmul2l //.
  exact/operator_norm_le1/op_le_gap1.
pose e : 'cV[R]_d := delta_mx (Ordinal d1) 0; have ne : norm e = 1 by apply: norm_delta.
exists e, 0; rewrite norm0 ne ler01; split=> //.
rewrite operator_normZ // (@operator_norm_max _ _ _ _ e 1) ?mulr1 ?ne //.
  by rewrite gap_mulmx dot0l scale0r subr0 -sqr_norm ne expr1n scale1r.
by apply: op_le_gap1; rewrite ?ne ?norm0 ?ler01.
Qed.

(* trace, d >= 1: 1/n, attained by replacing e1 by 0 *)
(* The premises are n >= 1 and d >= 1. *)
(*@ SENS-TRACE *)
Theorem sensitivity_trace :
  (0 < d)%N -> is_sensitivity (@covariance R n d) (fun A : 'M[R]_d => `|\tr A|) n%:R^-1.
Proof.
have abs : `|n%:R^-1| = n%:R^-1 :> R by rewrite gtr0_norm.
move=> d1; apply: is_sensitivity_gap => // [x y x1 y1|].
  by rewrite mxtraceZ normrM abs -[X in _ <= X]mulr1 ler_pmul2l // trace_gap_le.
pose e : 'cV[R]_d := delta_mx (Ordinal d1) 0; have ne : norm e = 1 by apply: norm_delta.
exists e, 0; rewrite norm0 ne ler01; split=> //.
by rewrite mxtraceZ trace_gap dot0l subr0 -sqr_norm ne expr1n mulr1.
Qed.

End Sensitivities.

(* one dimension: nuclear norm 1/n, half of the value for d >= 2 *)
(*@ SENS-NUCLEAR-LINE *)
Theorem sensitivity_nuclear1 (R : realType) n :
  (0 < n)%N -> is_sensitivity (@covariance R n 1) (@nuclear_norm R 1 1) n%:R^-1.
Proof.
move=> n0; have i0 : 0 < n%:R^-1 :> R by rewrite invr_gt0 ltr0n.
apply: is_sensitivity_gap => // [x y x1 y1|].
  rewrite nuclear_normZ ?(ltW i0) // nuclear_norm_gap -[X in _ <= X]mulr1 ler_pmul2l //.
  rewrite -/(spread x y) spreadE.
  have -> : dot x y ^+ 2 = dot x x * dot y y by rewrite /dot !big_ord1 -!expr2 exprMn.
  rewrite (_ : _ - _ = (dot x x - dot y y) ^+ 2); last by ring.
  by rewrite sqrtr_sqr -trace_gap trace_gap_le.
pose e : 'cV[R]_1 := delta_mx 0 0; have ne : norm e = 1 by apply: norm_delta.
exists e, 0; rewrite norm0 ne ler01; split=> //.
by rewrite nuclear_normZ ?(ltW i0) // nuclear_norm_gap subr0 addr0 ne !mulr1.
Qed.
