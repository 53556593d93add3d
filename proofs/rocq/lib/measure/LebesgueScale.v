(* Lebesgue measure and a change of scale: for c > 0, events A and functions f >= 0,

      c^(m n) |{x | c x in A}| = |A|,      c^(m n) int f(c x) dx = int f(x) dx,

   on the line and on the m x n matrices. Nothing is assumed. *)
From covassay Require Import MeasureTheory Lebesgue.
Local Open Scope ereal_scope.

Section Scale.
Variables (R : realType) (c : R).
Hypothesis c_gt0 : (0 < c)%R.

Let power_ge0 k : (0 <= c ^+ k)%R. Proof. exact/exprn_ge0/ltW. Qed.

(* From events to integrals: k copies of the image of mu under g are mu. *)
Lemma integral_rescale d (T : measurableType d) (mu : {measure set T -> \bar R}) (g : T -> T)
    k (f : T -> \bar R) :
  measurable_fun setT g ->
  (forall A, measurable A -> (c ^+ k)%:E * mu (g @^-1` A) = mu A) ->
  measurable_fun setT f -> (forall x, 0 <= f x) ->
  (c ^+ k)%:E * \int[mu]_x f (g x) = \int[mu]_x f x.
Proof.
move=> mg scale mf f0; rewrite -(integral_pushforward mg) //.
rewrite -(@ge0_integral_mscale _ _ _ _ setT measurableT (NngNum (power_ge0 k))) //.
by apply: eq_measure_integral => A mA _; rewrite /= /mscale /pushforward /= scale.
Qed.

(* The line. *)
Lemma measurable_scale_line : measurable_fun setT (fun x : R => c * x)%R.
Proof. by apply: measurable_funrM; exact: measurable_fun_id. Qed.

Lemma leb_scale A : measurable A -> (c ^+ 1)%:E * leb [set x | A (c * x)%R] = leb A.
Proof.
move=> mA; pose G := [the measurableType _ of salgebraType (R.-ocitv.-measurable)].
pose scaled := [the measure _ _ of mscale (NngNum (power_ge0 1)) [the measure _ _ of
  pushforward (@lebesgue_measure R)
    (measurable_scale_line : @measurable_fun _ _ G G setT _)]].
suff E : forall X, ocitv X -> hlength X = scaled X.
  by rewrite /leb (lebesgue_measure_unique E mA).
move=> _ [[x y] _ <-] /=.
rewrite /mscale /= /pushforward (_ : _ @^-1` _ = `](x / c)%R, (y / c)%R]%classic); last first.
  by apply/seteqP; split => z /=; rewrite !in_itv /= ltr_pdivr_mulr // ler_pdivl_mulr // mulrC.
rewrite lebesgue_measure_itv !hlength_itv /= !lte_fin ltr_pmul2r ?invr_gt0 //.
case: ifP => _; last by rewrite mule0.
by rewrite -!EFinB -EFinM -mulrBl expr1 mulrC divfK // gt_eqF.
Qed.

Lemma measurable_scale m n : measurable_fun setT (fun x : 'M[R]_(m, n) => c *: x).
Proof.
apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
by apply: measurable_funrM; exact: measurable_entry.
Qed.

(* Rows, by recursion on the length. *)
Lemma leb_row_scale k (A : set 'rV[R]_k) : measurable A ->
  (c ^+ k)%:E * leb_row R k [set x | A (c *: x)] = leb_row R k A.
Proof.
elim: k A => [|k IH] A mA.
  rewrite expr0 mul1e; congr (leb_row R 0 _).
  by apply/seteqP; split => x /=; rewrite (thinmx0 (c *: x)) (thinmx0 x).
have mcA : measurable [set x | A (c *: x)].
  by rewrite -[X in measurable X]setTI; exact: measurable_scale.
have consZ xv : c *: cons_row xv = cons_row ((c * xv.1)%R, c *: xv.2).
  apply/rowP => j; rewrite mxE; case: (unliftP ord0 j) => [l ->|->].
    by rewrite !cons_rowS !mxE.
  by rewrite !cons_row0.
have lengthZ v : section_length A (c *: v) = c%:E * section_length [set x | A (c *: x)] v.
  have mAv : measurable (ysection (@cons_row R k @^-1` A) (c *: v)).
    by have mB := measurable_cons_preimage mA; exact: measurable_ysection.
  rewrite /section_length -(leb_scale mAv) expr1; congr (_ * leb _).
  by apply/seteqP; split => x; rewrite /ysection /= !inE /= consZ.
rewrite !leb_row_sections -[RHS](integral_rescale (@measurable_scale 1 k) IH); last 2 first.
- exact: measurable_section_length.
- by move=> v; exact: measure_ge0.
have c0 : (0 <= c)%R := ltW c_gt0.
rewrite exprSr EFinM -muleA; congr (_ * _); rewrite -ge0_integralM_EFin //; last first.
  exact: measurable_section_length.
by apply: eq_integral => v _; rewrite lengthZ.
Qed.

(* Matrices. *)
(* The premises are c > 0 and an event A. *)
(*@ LEBESGUE-SCALE *)
Theorem leb_matrix_scale m n (A : set 'M[R]_(m, n)) : measurable A ->
  (c ^+ (m * n))%:E * leb_matrix [set x | A (c *: x)] = leb_matrix A.
Proof.
move=> mA; rewrite /leb_matrix /pushforward -(leb_row_scale (A := vec_mx @^-1` A)).
  by congr (_ * leb_row R _ _); apply/seteqP; split => v /=; rewrite linearZ.
by rewrite -[X in measurable X]setTI; exact: measurable_vec_mx.
Qed.

Theorem integral_scale m n (f : 'M[R]_(m, n) -> \bar R) :
  measurable_fun setT f -> (forall x, 0 <= f x) ->
  (c ^+ (m * n))%:E * \int[@leb_matrix R m n]_x f (c *: x) = \int[@leb_matrix R m n]_x f x.
Proof.
move=> mf f0.
exact: (integral_rescale (mu := [the measure _ _ of @leb_matrix R m n]) (@measurable_scale m n)
  (@leb_matrix_scale m n)).
Qed.

End Scale.
