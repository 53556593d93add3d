(* discrete-laplace-covariance, end to end.

   Data: n rows of any length; neighbours differ in one row; n, d, b and eps are public.
     1.  Every row becomes a row q of integers with |q|^2 <= 4^b, by a public map of its own;
         C = sum q q^T.
     2.  Z is symmetric, its entries on and above the diagonal are independent integers, and
         P(Z_ij = z) is proportional to e^(-|z|/t), t = S/eps, S = floor (4^b s), where s is the
         bound of Triangle.v on how far one row of the unit ball moves these entries.
     3.  Publish (C + Z)/(n 4^b).

   The theorem holds for every map of rows to such integers.  One of them, truncation toward
   zero of 2^b x for the rows of the unit ball, is given (truncate_short).

   Assumed: nothing.  Not said: how the noise is drawn; that the released numbers are rounded to
   binary64, which is a function of the integers. *)
From covassay Require Import MechanismTheory Discrete.
From covassay Require Import DiscreteLaplace Symmetric SymmetricMechanisms Triangle.
From covassay Require Euclidean RankTwo Sensitivity.
From mathcomp Require Import countalg.

(* ---------------------------------------------------------------------------- *)
(* The law of h(z), where z has probabilities p                                 *)

Section CountableLaw.
Context (R : realType) (T : choiceType) d (Y : measurableType d).
Variables (p : T -> R) (h : T -> Y).
Hypothesis p_ge0 : forall z, 0 <= p z.

Definition countable_law (S : set Y) : \bar R := mass p (h @^-1` S).

Let countable_law0 : countable_law set0 = 0%E.
Proof. by rewrite /countable_law preimage_set0 /mass esum_set0. Qed.

Let countable_law_ge0 S : (0 <= countable_law S)%E.
Proof. by apply: esum_ge0 => z _; rewrite lee_fin. Qed.

Let countable_law_sigma_additive : semi_sigma_additive countable_law.
Proof.
move=> F _ tF _.
have -> : countable_law (\bigcup_n F n) = (\sum_(n <oo) countable_law (F n))%E.
  rewrite nneseries_esum //; rewrite /countable_law /mass preimage_bigcup.
  rewrite (_ : [set x | xpredT x] = setT); last by apply/seteqP; split.
  have tG : trivIset setT (fun n => h @^-1` F n).
    by move=> i j _ _ [z []]; move: (tF i j I I) => tij Fi Fj; apply: tij; exists (h z).
  have q0 z : (0 <= (p z)%:E)%E by rewrite lee_fin.
  exact: (@esum_bigcupT R T setT _ _ tG q0).
by apply: is_cvg_nneseries => n _.
Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ countable_law countable_law0
  countable_law_ge0 countable_law_sigma_additive.

Definition countable_measure : {measure set Y -> \bar R} := [the measure _ _ of countable_law].

End CountableLaw.

(* ---------------------------------------------------------------------------- *)
(* Integer rows                                                                 *)

Section Truncation.
Variables (R : realType) (d b : nat).

(* Toward zero. *)
Definition toward_zero (t : R) : int := if 0 <= t then floor `|t| else - floor `|t|.

Lemma toward_zero_sqr t : ((toward_zero t)%:~R : R) ^+ 2 <= t ^+ 2.
Proof.
have -> : ((toward_zero t)%:~R : R) ^+ 2 = (floor `|t|)%:~R ^+ 2.
  by rewrite /toward_zero; case: ifP => // _; rewrite mulrNz sqrrN.
rewrite -[t ^+ 2]real_normK ?num_real // ler_expn2r ?nnegrE ?ler0z ?floor_ge0 //.
exact: floor_le.
Qed.

Definition truncate (x : 'cV[R]_d) : 'cV[int]_d :=
  if Euclidean.norm x <= 1 then \col_i toward_zero (2%:R ^+ b * x i 0) else 0.

Lemma truncate_short x : \sum_i truncate x i 0 ^+ 2 <= 4%:R ^+ b.
Proof.
rewrite /truncate; case: ifP => [x1|_]; last first.
  by rewrite big1 ?exprn_ge0 // => i _; rewrite mxE expr0n.
rewrite -(ler_int R) rmorph_sum /=; apply: (@le_trans _ _ (4%:R ^+ b * \sum_i x i 0 ^+ 2)).
  rewrite mulr_sumr; apply: ler_sum => i _; rewrite mxE rmorphX /=.
  have E : (2%:R ^+ b) ^+ 2 = 4%:R ^+ b :> R by rewrite -exprM mulnC exprM -natrX.
  by apply: le_trans (toward_zero_sqr _) _; rewrite exprMn E.
rewrite rmorphX /= -[X in _ <= X]mulr1 ler_wpmul2l ?exprn_ge0 ?ler0n //.
have -> : \sum_i x i 0 ^+ 2 = Euclidean.dot x x by apply: eq_bigr => i _; rewrite expr2.
by rewrite -Euclidean.norm_le1.
Qed.

End Truncation.

(* ---------------------------------------------------------------------------- *)
(* The mechanism                                                                *)

Section Mechanism.
Variables (R : realType) (n d b : nat) (eps : R) (lattice : 'cV[R]_d -> 'cV[int]_d).
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < eps).
Hypothesis lattice_short : forall x, \sum_i lattice x i 0 ^+ 2 <= 4%:R ^+ b.
Notation data := (Sensitivity.dataset R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).

(* C *)
Definition products (X : data) : 'M[int]_d := \sum_k lattice (X k) *m (lattice (X k))^T.

(* S = floor (4^b s) and t = S/eps. *)
Definition integer_sensitivity : int := floor (4%:R ^+ b * triangle_l1 R d).
Definition integer_scale : R := integer_sensitivity%:~R / eps.

Lemma integer_sensitivity_gt0 : 0 < integer_sensitivity.
Proof.
rewrite -[integer_sensitivity]add0r -lez_addr1 add0r; apply: (@le_trans _ _ (1 : int)) => //.
rewrite /integer_sensitivity -floor_ge_int.
have s1 : 1 <= triangle_l1 R d.
  rewrite /triangle_l1; case: ifP => d1; last exact: lexx.
  rewrite ler_pdivl_mulr ?ltr0n // mul1r.
  rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?sqrtr_ge0 ?ler0n // sqr_sqrtr ?ler0n // -natrX ler_nat.
  by apply: leq_trans (leq_addr _ _); rewrite leq_exp2r // leq_addl.
apply: (le_trans s1); rewrite ler_pemull //; first exact: le_trans ler01 s1.
by rewrite exprn_ege1 // ler1n.
Qed.

Lemma integer_scale_gt0 : 0 < integer_scale.
Proof. by rewrite divr_gt0 // ltr0z integer_sensitivity_gt0. Qed.

(* A row of integers as a symmetric matrix, and the entries on and above the diagonal. *)
Definition int_mirror (z : 'rV[int]_(entries d)) : 'M[int]_d := \matrix_(i, j) z 0 (place i j).
Definition int_corner (A : 'M[int]_d) : 'M[int]_(1, entries d) :=
  \row_l A (entry_at l).1 (entry_at l).2.

(* In units of 1/(n 4^b). *)
Definition in_units (A : 'M[int]_d) : 'M[R]_d := (n%:R * 4%:R ^+ b)^-1 *: map_mx intr A.

Let noise_ge0 (z : 'M[int]_(1, entries d)) : 0 <= dlaplace_matrix integer_scale z.
Proof. by rewrite ltW // dlaplace_matrix_gt0 // integer_scale_gt0. Qed.

Definition released (X : data) (z : 'M[int]_(1, entries d)) :
    [the measurableType _ of 'M[R]_d] := in_units (products X + int_mirror z).

Let release_law X : {measure set [the measurableType _ of 'M[R]_d] -> \bar R} :=
  countable_measure (released X) noise_ge0.

Let release_total X : release_law X setT = 1%E.
Proof.
rewrite -(dlaplace_matrix_total integer_scale_gt0 1 (entries d)) /= /countable_law.
by rewrite preimage_setT.
Qed.

Definition discrete_laplace_covariance : mechanism R data [the measurableType _ of 'M[R]_d] :=
  Mechanism release_total.

Lemma products_sym X i j : products X i j = products X j i.
Proof.
rewrite /products !summxE; apply: eq_bigr => k _; rewrite !mxE.
by apply: eq_bigr => m _; rewrite !mxE mulrC.
Qed.

Lemma int_mirrorD y z : int_mirror (y + z) = int_mirror y + int_mirror z.
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

Lemma int_cornerK X : int_mirror (int_corner (products X)) = products X.
Proof.
apply/matrixP => i j; rewrite !mxE entry_at_place /ordered.
by case: ifP => //= _; rewrite products_sym.
Qed.

(* The change of one row, as that of a row of the unit ball. *)
Lemma products_gap X Y : neighbours X Y -> exists x y : 'cV[R]_d,
  [/\ Euclidean.norm x <= 1, Euclidean.norm y <= 1
    & map_mx intr (products X - products Y) = 4%:R ^+ b *: RankTwo.gap x y].
Proof.
move=> [i XY].
pose v (x : 'cV[R]_d) : 'cV[R]_d := (2%:R ^+ b)^-1 *: map_mx intr (lattice x).
have p0 : 2%:R ^+ b != 0 :> R by rewrite expf_neq0 // pnatr_eq0.
have short x : Euclidean.norm (v x) <= 1.
  rewrite Euclidean.norm_le1 Euclidean.dotZl Euclidean.dotZr mulrA -invfM -exprD addnn -mul2n exprM.
  rewrite ler_pdivr_mull ?exprn_gt0 ?ltr0n // mulr1 -natrX.
  have := lattice_short x; rewrite -(ler_int R) rmorphX rmorph_sum /=; apply: le_trans.
  by rewrite le_eqVlt /Euclidean.dot; apply/orP/or_introl/eqP/eq_bigr => k _; rewrite !mxE rmorphX expr2.
exists (v (X i)), (v (Y i)); split=> //.
have -> : products X - products Y
    = lattice (X i) *m (lattice (X i))^T - lattice (Y i) *m (lattice (Y i))^T.
  rewrite /products (bigD1 i) //= [X in _ - X](bigD1 i) //=.
  have -> : \sum_(j | j != i) lattice (X j) *m (lattice (X j))^T
      = \sum_(j | j != i) lattice (Y j) *m (lattice (Y j))^T.
    by apply: eq_bigr => j ji; rewrite XY.
  by rewrite opprD addrACA subrr addr0.
have outer x : map_mx intr (lattice x *m (lattice x)^T) = 4%:R ^+ b *: (v x *m (v x)^T).
  rewrite map_mxM -map_trmx /v linearZ /= -scalemxAl -scalemxAr !scalerA.
  rewrite (_ : _ * _ = 1) ?scale1r //.
  have -> : 4%:R ^+ b = 2%:R ^+ b * 2%:R ^+ b :> R by rewrite -exprMn -natrM.
  by move: (2%:R ^+ b : R) p0 => a a0; field.
by rewrite map_mxB !outer /RankTwo.gap scalerBr.
Qed.

(* One row moves the integers on and above the diagonal by at most S in total. *)
Lemma products_change X Y : neighbours X Y ->
  entry_sum (int_corner (products X) - int_corner (products Y)) <= integer_sensitivity.
Proof.
move=> /products_gap [x [y [x1 y1 gapE]]]; rewrite /integer_sensitivity -floor_ge_int.
have -> : (entry_sum (int_corner (products X) - int_corner (products Y)))%:~R
    = triangle_sum (map_mx (intr : int -> R) (products X - products Y)).
  rewrite -l1_corner /entry_sum /l1 rmorph_sum; apply: eq_bigr => k _ /=.
  rewrite rmorph_sum; apply: eq_bigr => m _ /=.
  by rewrite intr_norm !mxE /factor if_same invr1 mul1r.
rewrite gapE.
have -> (a : R) (A : 'M[R]_d) : 0 <= a -> triangle_sum (a *: A) = a * triangle_sum A.
  move=> a0; rewrite /triangle_sum mulr_sumr; apply: eq_bigr => k _; rewrite mulr_sumr.
  by apply: eq_bigr => m _; rewrite mxE normrM ger0_norm.
  by rewrite ler_pmul2l ?exprn_gt0 ?ltr0n // triangle_sum_gap_le.
by rewrite exprn_ge0 ?ler0n.
Qed.

(* The premises are eps > 0 and a map of the records to integer vectors whose squared
   length is at most 4^b. *)
(*@ WHOLE.discrete-laplace-covariance *)
Theorem discrete_laplace_covariance_dp : dp neighbours eps (fun X => discrete_laplace_covariance X).
Proof.
move=> X Y XY S mS.
pose h (z : discrete (integers 1 (entries d))) : 'M[R]_d := in_units (int_mirror z).
have E x : discrete_laplace_covariance x S
    = discrete_laplace_matrix integer_scale (fun x => int_corner (products x)) x (h @^-1` S).
  rewrite /= /countable_law /discrete_laplace_matrix; congr (mass _ _).
  apply/seteqP; split => z; rewrite /preimage /= /released /h.
    by rewrite int_mirrorD int_cornerK.
  by rewrite int_mirrorD int_cornerK.
have le : integer_sensitivity%:~R / integer_scale <= eps.
  by rewrite /integer_scale invf_div mulrCA divff ?mulr1 // gt_eqF // ltr0z integer_sensitivity_gt0.
have H := @discrete_laplace_matrix_dp R integer_scale integer_scale_gt0 1 (entries d) data neighbours
  (fun x => int_corner (products x)) integer_sensitivity eps products_change le.
have mT : measurable (h @^-1` S) by [].
by have := H X Y XY _ mT; rewrite -(E X) -(E Y).
Qed.

End Mechanism.
