(* Two stages as one mechanism: their joint law is a measure, and an integral over it is
   an iterated integral.

   A stage (PureDP.v) sends a first output y to a probability K(y).  For a measure P of
   the first outputs, joint P K is the measure that two_stage describes:

      joint P K (S) = int K(y){ z | (y, z) in S } P(dy),
      int f d(joint P K) = int int f(y, z) K(y)(dz) P(dy)      for measurable f >= 0.

   run P K is the law of the second output alone.  A stage that adds noise to a function
   of the first output is `noise_stage`.  Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue AdditiveNoise.
Local Open Scope ereal_scope.

Section Joint.
Context (R : realType) d1 d2 (Y1 : measurableType d1) (Y2 : measurableType d2).
Variables (P : {measure set Y1 -> \bar R}) (K : stage R Y1 Y2).
Notation Y12 := [the measurableType _ of (Y1 * Y2)%type].

Definition joint (S : set (Y1 * Y2)) : \bar R := two_stage P K S.

Let joint0 : joint set0 = 0.
Proof.
rewrite /joint /two_stage (eq_integral (cst 0)) ?integral0 // => y _.
by rewrite xsection0 measure0.
Qed.

Let joint_ge0 S : 0 <= joint S.
Proof. by apply: integral_ge0 => y _; exact: measure_ge0. Qed.

Let joint_sigma_additive : semi_sigma_additive joint.
Proof.
move=> F mF tF mUF.
rewrite [X in _ --> X](_ : _ = \sum_(n <oo) joint (F n)).
  by apply: is_cvg_nneseries => n _; exact: joint_ge0.
rewrite /joint /two_stage -integral_nneseries //; last first.
  by move=> n; exact: stage_section_measurable.
apply: eq_integral => y _; apply/esym/cvg_lim => //=; rewrite xsection_bigcup.
apply: (measure_sigma_additive _ (trivIset_xsection tF)) => n.
exact: measurable_xsection.
Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ joint joint0 joint_ge0 joint_sigma_additive.

Lemma joint_total : P setT = 1 -> joint setT = 1.
Proof. exact: two_stage_total. Qed.

(* ---------------------------------------------------------------------------- *)
(* Integrals                                                                    *)

Section Simple.
Variable f : {nnsfun Y12 >-> R}.

Let inner y := \int[K y]_z (f (y, z))%:E.

Lemma inner_simple : inner = fun y =>
  \sum_(k \in range f) k%:E * K y (xsection (f @^-1` [set k]) y).
Proof.
apply/funext => y; rewrite /inner.
under eq_integral do rewrite fimfunE -fsumEFin //.
have mI k : measurable_fun setT (fun z : Y2 => (\1_(f @^-1` [set k]) (y, z) : R)).
  by apply/measurable_fun_prod1/measurable_fun_indic.
rewrite ge0_integral_fsum //; last 2 first.
- by move=> k; apply/EFin_measurable_fun; apply: measurable_funrM.
- by move=> k z _; rewrite EFinM nnfun_muleindic_ge0.
apply: eq_fsbigr => k; rewrite inE => -[t _ <-].
under eq_integral do rewrite EFinM.
rewrite ge0_integralM //; first last.
- by rewrite lee_fin.
- by move=> z _; rewrite lee_fin.
- exact/EFin_measurable_fun.
congr (_ * _); rewrite -[X in _ = K y X]setIT -integral_indic //; last by apply: measurable_xsection.
apply: eq_integral => z _; congr (_%:E); rewrite !indicE; congr ((nat_of_bool _)%:R).
by apply/idP/idP; rewrite /xsection !inE /= ?inE.
Qed.

Lemma measurable_inner_simple : measurable_fun setT inner.
Proof.
rewrite inner_simple; apply: emeasurable_fun_fsum => // k.
by apply: measurable_funeM; exact: stage_section_measurable.
Qed.

Lemma integral_joint_simple : \int[joint]_x (f x)%:E = \int[P]_y inner y.
Proof.
rewrite integralT_nnsfun sintegralE inner_simple ge0_integral_fsum //; last 2 first.
- by move=> k; apply: measurable_funeM; exact: stage_section_measurable.
- move=> k y _; have [k0|k0] := leP 0%R k; first by rewrite mule_ge0.
  by rewrite preimage_nnfun0 // xsection0 measure0 mule0.
apply: eq_fsbigr => k; rewrite inE => -[t _ <-].
rewrite ge0_integralM //; first exact: stage_section_measurable.
by rewrite lee_fin.
Qed.

End Simple.

Variable f : Y1 * Y2 -> \bar R.
Hypotheses (mf : measurable_fun setT f) (f0 : forall x, 0 <= f x).

Let F (g : {nnsfun Y12 >-> R}^nat) n y := \int[K y]_z (g n (y, z))%:E.

Lemma measurable_inner : measurable_fun setT (fun y => \int[K y]_z f (y, z)).
Proof.
have [g [g_nd /= g_f]] := approximation measurableT mf (fun x _ => f0 x).
apply: (emeasurable_fun_cvg (F g)) => //.
- by move=> n; exact: measurable_inner_simple.
- move=> y _; rewrite /F [in X in _ --> X](_ : (fun _ => _) =
      fun z => lim (EFin \o g ^~ (y, z))); last first.
    by rewrite funeqE => z; apply/esym/cvg_lim => //; exact: g_f.
  apply: cvg_monotone_convergence => //.
  - by move=> n; apply/EFin_measurable_fun => //; exact/measurable_fun_prod1.
  - by move=> n z _; rewrite lee_fin//; exact: fun_ge0.
  - by move=> z _ a b ab; rewrite lee_fin; exact/lefP/g_nd.
Qed.

Lemma integral_joint : \int[joint]_x f x = \int[P]_y \int[K y]_z f (y, z).
Proof.
have [g [g_nd /= g_f]] := approximation measurableT mf (fun x _ => f0 x).
have F_F y : \int[K y]_z f (y, z) = lim (F g ^~ y).
  rewrite [RHS](_ : _ = lim (fun n => \int[K y]_z (EFin \o g n) (y, z)))//.
  rewrite -monotone_convergence//; last 3 first.
    - by move=> n; exact/EFin_measurable_fun/measurable_fun_prod1.
    - by move=> n /= z _; rewrite lee_fin; exact: fun_ge0.
    - by move=> z /= _ a b; rewrite lee_fin => /g_nd/lefP; exact.
  by apply: eq_integral => z _; apply/esym/cvg_lim => //; exact: g_f.
under [RHS]eq_integral do rewrite F_F.
rewrite [LHS](_ : _ = \int[joint]_x lim (fun n => (EFin \o g n) x)); last first.
  by apply: eq_integral => x _; apply/esym/cvg_lim => //; exact: g_f.
rewrite monotone_convergence //; last 3 first.
- by move=> n; exact/EFin_measurable_fun.
- by move=> n /= x _; rewrite lee_fin; exact: fun_ge0.
- by move=> y /= _ a b; rewrite lee_fin => /g_nd/lefP; exact.
rewrite monotone_convergence //; last 3 first.
- by move=> n; exact: measurable_inner_simple.
- by move=> n y _; apply: integral_ge0 => z _ /=; rewrite lee_fin; exact: fun_ge0.
- move=> y /= _ a b ab; apply: ge0_le_integral => //.
  + by move=> z _; rewrite lee_fin; exact: fun_ge0.
  + exact/EFin_measurable_fun/measurable_fun_prod1.
  + by move=> *; rewrite lee_fin; exact: fun_ge0.
  + exact/EFin_measurable_fun/measurable_fun_prod1.
  + by move=> z _; rewrite lee_fin; move/g_nd : ab => /lefP; exact.
by congr (lim _); apply/funext => n; exact: integral_joint_simple.
Qed.

End Joint.

(* The law of h(y) when y has the law P. *)
Definition image_law (R : realType) d d' (Y : measurableType d) (Z : measurableType d') (h : Y -> Z)
    (mh : measurable_fun setT h) (P : {measure set Y -> \bar R}) : {measure set Z -> \bar R} :=
  [the measure _ _ of pushforward P mh].

(* The law of the second output. *)
Section Run.
Context (R : realType) d1 d2 (Y1 : measurableType d1) (Y2 : measurableType d2).
Variables (P : {measure set Y1 -> \bar R}) (K : stage R Y1 Y2).

Lemma measurable_second :
  measurable_fun [set: [the measurableType _ of (Y1 * Y2)%type]] (@snd Y1 Y2).
Proof. exact: measurable_fun_snd. Qed.

Definition run : {measure set Y2 -> \bar R} :=
  image_law measurable_second [the measure _ _ of joint P K].

Lemma run_total : P setT = 1 -> run setT = 1.
Proof. exact: joint_total. Qed.

End Run.

(* Adding noise to a function of the first output. *)
Section NoiseStage.
Context (R : realType) d1 (Y1 : measurableType d1) (m n : nat).
Notation Y2 := [the measurableType _ of 'M[R]_(m, n)].
Variables (w : weight [the measure _ _ of @leb_matrix R m n]) (q : Y1 -> 'M[R]_(m, n)).
Hypothesis mq : measurable_fun setT q.

Let noisy y : {measure set Y2 -> \bar R} :=
  image_law (matrix_measurable_add (q y)) [the measure _ _ of law w].

Let noisy_total y : noisy y setT = 1.
Proof. exact: law_total. Qed.

Let noisy_measurable B : measurable B -> measurable_fun setT (fun y => noisy y B).
Proof.
move=> mB; pose S : set (Y1 * 'M[R]_(m, n)) := [set yz | B (q yz.1 + yz.2)%R].
have mS : measurable S.
  have mg : measurable_fun setT (fun yz : Y1 * 'M[R]_(m, n) => (q yz.1 + yz.2)%R).
    apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
    apply: measurable_funD.
      apply: (measurable_fun_comp (@measurable_entry R m n i j)).
      by apply: (measurable_fun_comp mq); exact: measurable_fun_fst.
    by apply: (measurable_fun_comp (@measurable_entry R m n i j)); exact: measurable_fun_snd.
  by rewrite -[X in measurable X]setTI; exact: mg.
rewrite (_ : (fun y => _) = (fun y => law w (xsection S y))); last first.
  apply/funext => y; rewrite /noisy /pushforward /=; congr (law w _).
  by apply/seteqP; split => z; rewrite /xsection /= inE.
by apply: measurable_fun_xsection; [exact: law_sigma_finite|rewrite inE].
Qed.

Definition noise_stage : stage R Y1 Y2 := Stage noisy_total noisy_measurable.

End NoiseStage.
