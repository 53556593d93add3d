(******************************************************************************)
(* Projecting a symmetric matrix onto the positive semidefinite cone.         *)
(*                                                                            *)
(* P is the positive part of Z and N its negative part (jordan Z P N) when    *)
(* both are positive semidefinite, P N = 0 and Z = P - N, as for eigenvalues  *)
(* clipped at 0. Let A be                                                     *)
(* positive semidefinite with |(Z - A) u| <= delta |u| for all u. Then        *)
(*   - delta I <= P - A <= (2/sqrt 3) delta I     (Loewner order),            *)
(* and a rational example in the plane shows that the factor 1 is not enough. *)
(* Nor is any factor below 2/sqrt 3: a family of examples in the plane        *)
(* approaches it. For the Frobenius norm, where the factor is 1, see          *)
(* Projections.v.                                                             *)
(******************************************************************************)
From covassay Require Import MatrixTheory Euclidean MatrixNorms.
From mathcomp Require Import mxalgebra.

Section PositivePart.
Variables (R : rcfType) (d : nat).
Implicit Types Z P N A : 'M[R]_d.

Definition jordan Z P N := [/\ psd P, psd N, P *m N = 0 & Z = P - N].

(* every vector is the sum of a vector of the range of P and one of its kernel *)
Lemma range_kernel P (u : 'cV[R]_d) : symmetric P -> exists w q, u = P *m w + q /\ P *m q = 0.
Proof.
move=> sP; have disjoint : (P :&: kermx P)%MS = 0.
  apply/eqP/rowV0P => v; rewrite sub_capmx => /andP[/submxP[w vE] /sub_kermxP vP].
  apply: trmx_inj; apply/eqP; rewrite trmx0 -dot_eq0; apply/eqP.
  have e : v^T = P *m w^T by rewrite vE trmx_mul sP.
  by rewrite {1}e dot_mulmxl sP -[P *m _]trmxK trmx_mul trmxK sP vP trmx0 dot0r.
have full : row_full (P + kermx P)%MS.
  rewrite /row_full -(eqn_add2r (\rank (P :&: kermx P)%MS)) mxrank_sum_cap disjoint mxrank0.
  by rewrite mxrank_ker addn0 subnKC ?rank_leq_row.
have /sub_addsmxP[[a b] /= e] : (u^T <= P + kermx P)%MS by apply: submx_full.
exists a^T, (b *m kermx P)^T; split.
  by apply: trmx_inj; rewrite e trD trmx_mul !trmxK sP.
by apply: trmx_inj; rewrite trmx_mul trmxK sP trmx0 -mulmxA mulmx_ker mulmx0.
Qed.

Variables (Z P N A : 'M[R]_d) (delta : R).
Hypotheses (ZPN : jordan Z P N) (psdA : psd A) (near : op_le (Z - A) delta).

Lemma form_op_le (E : 'M[R]_d) u : op_le E delta -> - (delta * dot u u) <= form E u.
Proof.
move=> Ed; rewrite ler_oppl; apply: le_trans (ler_norm _) _; rewrite normrN.
apply: le_trans (cauchy_schwarz _ _) _.
apply: le_trans (ler_wpmul2l (norm_ge0 u) (Ed u)) _.
by rewrite -sqr_norm mulrCA -expr2.
Qed.

(* The premises are Z = P - N with positive semidefinite P and N and P N = 0 (jordan), and
   |Z - A| <= delta in operator norm. A may be any matrix. *)
(*@ PSD-LOWER *)
Theorem psd_projection_ge : loewner_le (- delta)%:M (P - A).
Proof.
have [_ [_ N0] _ ZE] := ZPN; move=> u.
rewrite form_scalar mulNr; apply: le_trans (form_op_le u near) _.
by rewrite ZE !formB ler_add2r ler_subl_addr ler_addl.
Qed.

(* The premises are Z = P - N with positive semidefinite P and N and P N = 0 (jordan), a
   positive semidefinite A, and |Z - A| <= delta in operator norm. *)
(*@ PSD-UPPER *)
Theorem psd_projection_le : loewner_le (P - A) (2%:R / Num.sqrt 3%:R * delta)%:M.
Proof.
have [[sP P0] [sN N0] PN ZE] := ZPN; have [sA A0] := psdA.
move=> u; have [w [q [uE Pq]]] := range_kernel u sP; set p := P *m w in uE.
have Np : N *m p = 0.
  by rewrite /p mulmxA -[N *m P]trmxK trmx_mul sP sN PN trmx0 mul0mx.
have pq : dot p q = 0 by rewrite /p dot_mulmxl sP Pq dot0r.
pose E := Z - A; have nearE : op_le E delta := near.
have sE : symmetric E.
  by rewrite /symmetric /E ZE !trD !trN sP sN sA.
have Ep : E *m p = P *m p - A *m p by rewrite /E ZE !mulmxBl Np subr0.
(* u^T (P - A) u <= p^T E (p + 2 q), since A is positive semidefinite on q *)
have step : form (P - A) u <= dot (E *m p) (p + q *+ 2).
  have Aq := A0 q; rewrite -subr_ge0; apply: le_trans Aq _.
  rewrite le_eqVlt; apply/orP/or_introl/eqP.
  have qPp : dot (P *m p) q = 0 by rewrite dot_mulmxl sP Pq dot0r.
  rewrite /form Ep uE mulmxBl !mulmxDr Pq addr0 mulr2n !dotL.
  rewrite (dotC q (P *m p)) qPp (dot_sym p q sA) (dotC q (A *m p)) (dotC (P *m p) p).
  rewrite (dotC (A *m p) p).
  move: (dot p (P *m p)) (dot p (A *m p)) (dot (A *m p) q) (dot q (A *m q)) => a b c e.
  by ring.
have delta0 : 0 <= delta * norm p by apply: le_trans (nearE p); apply: norm_ge0.
apply: le_trans step _; apply: le_trans (dot_le _ _) _.
apply: le_trans (ler_wpmul2r (norm_ge0 _) (nearE p)) _; rewrite form_scalar.
have uu : dot u u = dot p p + dot q q by rewrite uE !dotL (dotC q p) pq; ring.
(* |p| |p + 2 q| <= (2/sqrt 3) |u|^2 *)
have main : norm p * norm (p + q *+ 2) <= 2%:R / Num.sqrt 3%:R * dot u u.
  rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?norm_ge0 ?dot_ge0 ?invr_ge0 ?sqrtr_ge0 ?ler0n //.
  rewrite !exprMn !sqr_norm exprVn (sqr_sqrtr (ler0n R 3)) uu mulr2n !dotL (dotC q p) pq.
  move: (dot p p) (dot q q) => a b; rewrite -subr_ge0.
  rewrite (_ : _ - _ = (a - b *+ 2) ^+ 2 / 3%:R); first by rewrite divr_ge0 ?sqr_ge0 ?ler0n.
  by field.
have dl : 0 <= delta * norm u by apply: le_trans (nearE u); apply: norm_ge0.
have [u0|u0] := eqVneq u 0.
  have /eqP : dot p p + dot q q = 0 by rewrite -uu u0 dot0l.
  rewrite paddr_eq0 ?dot_ge0 // => /andP[]; rewrite dot_eq0 => /eqP p0 _.
  by rewrite p0 norm0 mulr0 mul0r u0 dot0l mulr0.
move: dl; rewrite pmulr_lge0 ?norm_gt0 // => dl.
rewrite [X in _ <= X](_ : _ = delta * (2%:R / Num.sqrt 3%:R * dot u u)).
  by rewrite -[delta * _ * _]mulrA; apply: (ler_wpmul2l dl main).
by rewrite mulrA [delta * _]mulrC.
Qed.

End PositivePart.

(* THE FACTOR 1 IS NOT ENOUGH *)

(* A = diag (66/25, 0) is positive semidefinite, Z - A is a reflection, of operator norm 1, and *)
(* the positive part P of Z has (1,1) (P - A) (1,1)^T = 1344/650 > 2 = |(1,1)|^2.               *)
Section Counterexample.
Variable R : rcfType.

Definition mx2 (a b c e : R) : 'M[R]_2 :=
  \matrix_(i, j) if i == 0 then (if j == 0 then a else b) else (if j == 0 then c else e).
Definition cv2 (a b : R) : 'cV[R]_2 := \col_i if i == 0 then a else b.

Lemma mx2_cv2 a b c e x y : mx2 a b c e *m cv2 x y = cv2 (a * x + b * y) (c * x + e * y).
Proof.
by apply/colP=> i; rewrite !mxE !big_ord_recl big_ord0 !mxE /= addr0; case: (i == 0).
Qed.

Lemma dot_cv2 a b x y : dot (cv2 a b) (cv2 x y) = a * x + b * y.
Proof. by rewrite /dot !big_ord_recl big_ord0 !mxE /= addr0. Qed.

Lemma cv2_eta (u : 'cV[R]_2) : u = cv2 (u 0 0) (u 1 0).
Proof.
apply/colP=> i; rewrite !mxE; case: (eqVneq i 0) => [->|i0] //.
by congr (u _ _); apply/val_inj; case: i i0 => [[|[]]].
Qed.

Lemma mx2_sub a b c e a' b' c' e' :
  mx2 a b c e - mx2 a' b' c' e' = mx2 (a - a') (b - b') (c - c') (e - e').
Proof. by apply/matrixP=> i j; rewrite !mxE; case: ifP; case: ifP. Qed.

Lemma mx2_mul a b c e a' b' c' e' : mx2 a b c e *m mx2 a' b' c' e'
  = mx2 (a * a' + b * c') (a * b' + b * e') (c * a' + e * c') (c * b' + e * e').
Proof.
apply/matrixP=> i j; rewrite !mxE !big_ord_recl big_ord0 !mxE /= addr0.
by case: (i == 0); case: (j == 0).
Qed.

Lemma symmetric_mx2 a b e : symmetric (mx2 a b b e).
Proof. by apply/matrixP=> i j; rewrite !mxE; case: (i == 0); case: (j == 0). Qed.

(* a matrix [[a, b], [b, e]] with a > 0 and a e = b^2 + r, r >= 0, is positive semidefinite *)
Lemma psd_mx2 a b e : 0 < a -> b ^+ 2 <= a * e -> psd (mx2 a b b e).
Proof.
move=> a0 bae; split=> [|u]; first exact: symmetric_mx2.
rewrite (cv2_eta u) /form mx2_cv2 dot_cv2; move: (u 0 0) (u 1 0) => x y.
rewrite -(pmulr_rge0 _ a0).
rewrite (_ : a * _ = (a * x + b * y) ^+ 2 + (a * e - b ^+ 2) * y ^+ 2); last by ring.
by rewrite addr_ge0 ?sqr_ge0 // mulr_ge0 ?sqr_ge0 // subr_ge0.
Qed.

Let f (p q : nat) : R := p%:R / q%:R.
Definition cexA := mx2 (f 66 25) 0 0 0.
Definition cexZ := mx2 (f 81 25) (f 4 5) (f 4 5) (- f 3 5).
Definition cexP := mx2 (f 85 26) (f 17 26) (f 17 26) (f 17 130).
Definition cexN := mx2 (f 19 650) (- f 95 650) (- f 95 650) (f 475 650).

(* Refuted (KLSU19, proof of Lemma 3.6): projecting on the positive semidefinite cone can only
   decrease the distance to A in operator norm. Here |Z - A| <= 1, P is the positive part of Z,
   and not P - A <= I. That P is the nearest positive semidefinite matrix is not proved here. *)
(*@ KLSU19.PSD-OPERATOR-REFUTED *)
Theorem psd_projection_factor : [/\ psd cexA, jordan cexZ cexP cexN, op_le (cexZ - cexA) 1 &
  ~ loewner_le (cexP - cexA) (1%:M)].
Proof.
have pos p q : (0 < p)%N -> (0 < q)%N -> 0 < f p q by move=> *; rewrite divr_gt0 ?ltr0n.
split.
- by apply: psd_mx2; rewrite ?pos // expr0n mulr0.
- split.
  + by apply: psd_mx2; rewrite ?pos // le_eqVlt; apply/orP/or_introl/eqP; rewrite /f; field.
  + by apply: psd_mx2; rewrite ?pos // le_eqVlt; apply/orP/or_introl/eqP; rewrite /f; field.
  + rewrite mx2_mul /f; apply/matrixP=> i j; rewrite !mxE.
    by case: (i == 0); case: (j == 0); field.
  + rewrite /cexZ mx2_sub /f; apply/matrixP=> i j; rewrite !mxE.
    by case: (i == 0); case: (j == 0); field.
- move=> u; rewrite mul1r norm_le (cv2_eta u) mx2_sub mx2_cv2 !dot_cv2.
  move: (u 0 0) (u 1 0) => x y; rewrite le_eqVlt; apply/orP/or_introl/eqP.
  by rewrite /f; field.
move=> /(_ (cv2 1 1)); rewrite form_scalar /form mx2_sub mx2_cv2 !dot_cv2 !mulr1 !mul1r.
apply/negP; rewrite -ltNge -subr_gt0 [X in 0 < X](_ : _ = 22%:R / 325%:R).
  by rewrite divr_gt0 ?ltr0n.
by rewrite /f; field.
Qed.

(* NO SMALLER FACTOR IS ENOUGH *)

(* With a = 1/sqrt 3, k = sqrt 2/sqrt 3 and 0 < h <= a: P = diag (a + k^2/h, 0),              *)
(* N = diag (0, a - h), and Z - A is the reflection [[a, k], [k, -a]]. The vector (sqrt 2, 1) *)
(* shows that a factor below 2 a - h/3 fails, and h may be as small as one likes.             *)
(*@ PSD-SHARP *)
Theorem psd_projection_sharp (c : R) : c < 2%:R / Num.sqrt 3%:R ->
  exists Z P N A : 'M[R]_2,
    [/\ psd A, jordan Z P N, op_le (Z - A) 1 & ~ loewner_le (P - A) c%:M].
Proof.
pose a := (Num.sqrt 3%:R)^-1 : R; pose b := Num.sqrt 2%:R : R; pose k := b * a.
have a0 : 0 < a by rewrite invr_gt0 sqrtr_gt0 ltr0n.
have a2 : a ^+ 2 = 3%:R^-1 by rewrite exprVn sqr_sqrtr ?ler0n.
have b2 : b ^+ 2 = 2%:R by rewrite sqr_sqrtr ?ler0n.
have ak : a ^+ 2 + k ^+ 2 = 1 by rewrite exprMn a2 b2; field.
rewrite -/a => ca; pose g := 3%:R / 2%:R * (2%:R * a - c); pose h := Num.min a g.
have g0 : 0 < g by rewrite mulr_gt0 ?divr_gt0 ?ltr0n // subr_gt0.
have h0 : 0 < h by rewrite lt_minr a0.
have ha : h <= a by rewrite le_minl lexx.
have hg : h <= g by rewrite le_minl lexx orbT.
clearbody h; clear a2; have k2 : 0 <= k ^+ 2 / h by rewrite divr_ge0 ?sqr_ge0 // ltW.
have diag_psd x y : 0 <= x -> 0 <= y -> psd (mx2 x 0 0 y).
  move=> x0 y0; split=> [|u]; first exact: symmetric_mx2.
  rewrite (cv2_eta u) /form mx2_cv2 dot_cv2; move: (u 0 0) (u 1 0) => p q.
  rewrite (_ : _ + _ = x * p ^+ 2 + y * q ^+ 2); last by ring.
  by rewrite addr_ge0 // mulr_ge0 // sqr_ge0.
exists (mx2 (a + k ^+ 2 / h) 0 0 (h - a)), (mx2 (a + k ^+ 2 / h) 0 0 0), (mx2 0 0 0 (a - h)),
  (mx2 (k ^+ 2 / h) (- k) (- k) h).
split.
- split=> [|u]; first exact: symmetric_mx2.
  rewrite (cv2_eta u) /form mx2_cv2 dot_cv2; move: (u 0 0) (u 1 0) => x y.
  rewrite (_ : _ + _ = (k * x - h * y) ^+ 2 / h); last by field; rewrite gt_eqF.
  by rewrite divr_ge0 ?sqr_ge0 // ltW.
- split; first by apply: diag_psd => //; rewrite addr_ge0 // ltW.
  + by apply: diag_psd => //; rewrite subr_ge0.
  + by rewrite mx2_mul !(mulr0, mul0r, addr0); apply/matrixP=> i j; rewrite !mxE; do !case: ifP.
  + by rewrite mx2_sub !(subr0, sub0r) opprB.
- move=> u; rewrite mul1r norm_le (cv2_eta u) mx2_sub mx2_cv2 !dot_cv2.
  move: (u 0 0) (u 1 0) => x y; rewrite le_eqVlt; apply/orP/or_introl/eqP.
  transitivity ((a ^+ 2 + k ^+ 2) * (x * x + y * y)); last by rewrite ak mul1r.
  by ring.
move=> /(_ (cv2 b 1)); rewrite form_scalar /form mx2_sub mx2_cv2 !dot_cv2.
apply/negP; rewrite -ltNge -subr_gt0 [X in 0 < X](_ : _ = 6%:R * a - h - 3%:R * c).
  rewrite subr_gt0 ltr_subr_addl; apply: le_lt_trans (ler_add hg (lexx _)) _.
  rewrite -subr_gt0 [X in 0 < X](_ : _ = g); first exact: g0.
  by rewrite /g; field.
transitivity ((a + 2%:R * a) * b ^+ 2 - h - c * (b ^+ 2 + 1)); last by rewrite b2; ring.
by rewrite /k; ring.
Qed.

End Counterexample.
