(* The premises of Wishart can be met: in dimension one, with the law of the paper.

   There W is a positive number, (3/(2 n epsilon)) chi^2_2, and everything that Wishart
   asks for is proved here: the release adds a positive definite W, the event is
   measurable, and its probability is 1 - exp (- epsilon/3). So on the line the release
   is not (epsilon', delta)-private for any delta below that, whatever epsilon' is.

   The seed is uniform on [0, 1[ and W is its image under the quantile function, as in
   Wishart. At the seed 0, of probability zero, W would be 0; another number stands there. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum interval zmodp matrix.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets functions.
From mathcomp.analysis Require Import reals ereal sequences exp measure lebesgue_measure.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import Euclidean PureDP Lebesgue Wishart.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope. Local Open Scope classical_set_scope.

Section OneDimension.
Variable R : realType.

(* a 1 x 1 matrix is positive semidefinite when its entry is not negative *)
Lemma psd_scalar (M : 'M[R]_1) : psd M <-> 0 <= M 0 0.
Proof.
have formE u : form M u = M 0 0 * u 0 0 ^+ 2.
  by rewrite /form /dot big_ord1 !mxE big_ord1 expr2 mulrCA.
split=> [[_ /(_ 1)]|M0]; first by rewrite formE mxE eqxx expr1n mulr1.
split=> [|u]; last by rewrite formE mulr_ge0 ?sqr_ge0.
by apply/matrixP=> i j; rewrite mxE !ord1.
Qed.

Variables (n eps : R).
Hypotheses (n0 : 0 < n) (eps0 : 0 < eps).
Let t : R := 2%:R * eps / 3%:R.
Let t0 : 0 < t. Proof. by rewrite divr_gt0 ?mulr_gt0 ?ltr0n. Qed.

(* a uniform seed *)
Let unit_interval : set R := `[0, 1[.
Let m_unit : measurable unit_interval. Proof. exact: measurable_itv. Qed.
Definition uniform : {measure set R -> \bar R} :=
  [the measure _ _ of mrestr [the measure _ _ of @leb R] m_unit].

Lemma uniform_total : uniform setT = 1%E.
Proof.
rewrite /= /mrestr setTI /leb lebesgue_measure_itv hlength_itv /= lte_fin ltr01.
by rewrite oppr0 adde0.
Qed.

(* chi^2_2, and the 1 x 1 Wishart matrix *)
Definition chi2 (w : R) : R := if 0 < w < 1 then chi2_of_uniform w else t / 2%:R.
Definition wishart (w : R) : 'M[R]_1 := (chi2 w / (t * n))%:M.

Lemma chi2_gt0 w : 0 < chi2 w.
Proof.
rewrite /chi2; case: ifP => [/andP[w0 w1]|_]; last by rewrite divr_gt0 ?ltr0n.
rewrite /chi2_of_uniform -mulrN mulr_gt0 ?ltr0n // oppr_gt0 -ltr_expR lnK ?posrE ?subr_gt0 //.
by rewrite expR0 ltr_subl_addr ltr_addl.
Qed.

Lemma wishart_gt0 w : 0 < chi2 w / (t * n).
Proof. by apply: divr_gt0; [exact: chi2_gt0 | exact: mulr_gt0]. Qed.

Lemma psd_wishart w : psd (wishart w).
Proof. by apply/psd_scalar; rewrite mxE eqxx mulr1n ltW // wishart_gt0. Qed.

Lemma unit_wishart w : wishart w \in unitmx.
Proof. by rewrite unitmxE det_scalar1 unitfE gt_eqF // wishart_gt0. Qed.

(* the event of Wishart is that chi^2_2 is small *)
Lemma wishart_tail_event w : (n < form (invmx (wishart w)) 1) = (chi2 w < t).
Proof.
rewrite /wishart invmx_scalar form_scalar /dot big_ord1 mxE eqxx !mulr1.
rewrite invf_div ltr_pdivl_mulr ?chi2_gt0 // mulrC ltr_pmul2r //.
Qed.

Lemma wishart_tail :
  uniform [set w | n < form (invmx (wishart w)) 1] = (1 - expR (- (eps / 3%:R)))%:E.
Proof.
have -> : eps / 3%:R = t / 2%:R by rewrite /t; field.
rewrite -(chi2_probability t0) /= /mrestr /leb; congr (lebesgue_measure _).
apply/seteqP; split=> w; rewrite /unit_interval /= in_itv /= wishart_tail_event /chi2.
  case=> + /andP[w0 w1]; rewrite w0 w1 andbT; case: ifP => // /negbT; rewrite -leNgt => w_le.
  have -> : w = 0 by apply/eqP; rewrite eq_le w_le.
  by rewrite /chi2_of_uniform subr0 ln1 mulr0 oppr0.
case=> /andP[w0 w1] lt; rewrite w0 w1 andbT; split=> //.
by case: ifP => // _; rewrite ltr_pdivr_mulr ?ltr0n // mulr_natr mulr2n ltr_addl.
Qed.

(* the event is measurable *)
Lemma wishart_observable (S : 'M[R]_1) : measurable [set y : 'M[R]_1 | ~ psd (y - S)].
Proof.
rewrite (_ : [set _ | _] = setT `&` (fun y : 'M[R]_1 => y 0 0) @^-1` `]-oo, S 0 0[).
  by apply: measurable_entry => //; exact: measurable_itv.
apply/seteqP; split=> y /=; rewrite in_itv /=.
  move=> np; split=> //; rewrite ltNge; apply/negP => le; apply: np; apply/psd_scalar.
  by rewrite !mxE subr_ge0.
by case=> _ lt /psd_scalar; rewrite !mxE subr_ge0 leNgt lt.
Qed.

(* The premises are n > 0 and eps > 0. *)
(*@ WISHART-LINE *)
Theorem wishart_line_not_private (S : 'M[R]_1) (eps' delta : R) :
  Wishart.indistinguishable measurable eps' delta
    (release uniform wishart (S - n^-1 *: (1 *m 1^T))) (release uniform wishart S) ->
  1 - expR (- (eps / 3%:R)) <= delta.
Proof.
exact: (wishart_not_private psd_wishart unit_wishart n0 (wishart_observable S) wishart_tail).
Qed.

End OneDimension.
