(* The expectation of a nonnegative function under a law with a density is its integral
   against the density.

   The law of a weight w (PureDP) gives an event the integral of w/normalizer over it. So
   the statement holds for the indicator of an event, hence for simple functions, which are
   finite sums of multiples of them, and hence, by monotone convergence, for the limit of an
   increasing sequence of simple functions, which is every nonnegative measurable function.
   Nothing is assumed. *)
From covassay Require Import MeasureTheory PureDP.
Local Open Scope ereal_scope.

Section LawIntegral.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Variable w : weight mu.
Let dens (y : Y) : \bar R := (w y / normalizer w)%:E.
Let dens0 y : 0 <= dens y. Proof. exact: density_ge0. Qed.
Let mdens : measurable_fun setT dens. Proof. exact: density_measurable. Qed.

(* indicators of events *)
Let integral_law_indic (E : set Y) : measurable E ->
  \int[mu]_y (dens y * (\1_E y)%:E) = law w E.
Proof.
move=> mE; rewrite /law [RHS]integral_mkcond; apply: eq_integral => y _.
by rewrite /patch indicE; case: ifPn => _; rewrite ?mule1 ?mule0.
Qed.

(* simple functions *)
Let integral_law_nnsfun (h : {nnsfun Y >-> R}) :
  \int[law w]_y (h y)%:E = \int[mu]_y (dens y * (h y)%:E).
Proof.
under [LHS]eq_integral do rewrite fimfunE -fsumEFin//.
rewrite [LHS]ge0_integral_fsum//; last 2 first.
- by move=> r; exact/EFin_measurable_fun/measurable_funrM/measurable_fun_indic.
- by move=> r y _; rewrite EFinM nnfun_muleindic_ge0.
under [RHS]eq_integral.
  move=> y _; rewrite fimfunE -fsumEFin// ge0_mule_fsumr; last first.
    by move=> r; rewrite EFinM nnfun_muleindic_ge0.
  over.
rewrite [RHS]ge0_integral_fsum//; last 2 first.
- move=> r; apply: emeasurable_funM => //.
  exact/EFin_measurable_fun/measurable_funrM/measurable_fun_indic.
- by move=> r y _; rewrite EFinM mule_ge0// nnfun_muleindic_ge0.
apply: eq_fsbigr => r rh; have [y _ hy] := [elaborate set_mem rh].
have r0 : (0 <= r)%R by rewrite -hy.
have mr : measurable (h @^-1` [set r]) by exact: measurable_sfunP.
under [RHS]eq_integral do rewrite EFinM muleCA.
rewrite ge0_integralM_EFin//; last 2 first.
- by move=> z _; rewrite mule_ge0 // lee_fin.
- apply: emeasurable_funM => //; exact/EFin_measurable_fun/measurable_fun_indic.
rewrite integral_law_indic //; under eq_integral do rewrite EFinM.
rewrite ge0_integralM_EFin// ?integral_indic ?setIT //.
- by move=> z _; rewrite lee_fin.
- exact/EFin_measurable_fun/measurable_fun_indic.
Qed.

(* all nonnegative measurable functions *)
Lemma integral_law (f : Y -> \bar R) : measurable_fun setT f -> (forall y, 0 <= f y) ->
  \int[law w]_y f y = \int[mu]_y (dens y * f y).
Proof.
move=> mf f0; have [f_ [ndf f_f]] := approximation measurableT mf (fun y _ => f0 y).
have mono y : {homo (fun k => (f_ k y)%:E) : i j / (i <= j)%N >-> i <= j}.
  by move=> i j /ndf /lefP; rewrite lee_fin.
have mfk k : measurable_fun setT (fun y => (f_ k y)%:E) by exact/EFin_measurable_fun.
transitivity (lim (fun k => \int[law w]_y (f_ k y)%:E)).
  rewrite -monotone_convergence//=.
  - by apply: eq_integral => y _; apply/esym/cvg_lim => //; exact: f_f.
  - by move=> k y _; rewrite lee_fin.
transitivity (lim (fun k => \int[mu]_y (dens y * (f_ k y)%:E))).
  by congr (lim _); apply/funext => k; exact: integral_law_nnsfun.
rewrite -monotone_convergence//=.
- apply: eq_integral => y _; apply: cvg_lim => //; apply: ereal_cvgrM => //.
  exact: f_f.
- by move=> k; exact: emeasurable_funM.
- by move=> k y _; rewrite mule_ge0 // lee_fin.
- by move=> y _ i j /(mono y) le; exact: lee_wpmul2l.
Qed.

End LawIntegral.
