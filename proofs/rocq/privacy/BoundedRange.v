(* A privacy loss of bounded range costs little under zCDP, for laws on any measurable space.

   If P(S) <= e^u Q(S) and Q(S) <= e^v P(S) for every event S, the privacy loss lies in an interval of
   length u + v, and P and Q are ((u + v)^2/8)-concentrated (Cesar, Rogers 2020).  With u = v = eps
   this is eps^2/2, the cost of eps-DP; a smaller sum costs less.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP TwoStages Zcdp ExponentialBounds HoeffdingBound.
From covassay Require LawIntegral.
Local Open Scope ereal_scope.

Section Linear.
Context (R : realType) d (Y : measurableType d) (M : {measure set Y -> \bar R}).
Variables (f phi psi : Y -> R) (k0 k1 k2 x y : R).
Hypotheses (M1 : M setT = 1) (mphi : measurable_fun setT phi) (mpsi : measurable_fun setT psi).
Hypotheses (k0_ge0 : (0 <= k0)%R) (k1_ge0 : (0 <= k1)%R) (k2_ge0 : (0 <= k2)%R).
Hypotheses (phi0 : forall t, (0 <= phi t)%R) (psi0 : forall t, (0 <= psi t)%R).
Hypotheses (f0 : forall t, (0 <= f t)%R) (fE : forall t, (f t = k0 + k1 * psi t - k2 * phi t)%R).
Hypotheses (phix : \int[M]_t (phi t)%:E = x%:E) (psiy : \int[M]_t (psi t)%:E = y%:E).

Lemma integral_linear : \int[M]_t (f t)%:E = (k0 + k1 * y - k2 * x)%:E.
Proof.
have mf : measurable_fun setT f.
  rewrite (_ : f = (fun t => k0 + k1 * psi t - k2 * phi t)%R); last exact/funext.
  apply: measurable_funB; last exact: measurable_funrM.
  by apply: measurable_funD; [exact: measurable_fun_cst|exact: measurable_funrM].
have E1 : \int[M]_t ((f t)%:E + (k2 * phi t)%:E) = \int[M]_t (f t)%:E + (k2 * x)%:E.
  rewrite ge0_integralD //.
  - congr (_ + _); rewrite EFinM -phix -ge0_integralM_EFin //.
    + by move=> t _; rewrite lee_fin.
    + exact/EFin_measurable_fun.
  - by move=> t _; rewrite lee_fin.
  - exact/EFin_measurable_fun.
  - by move=> t _; rewrite lee_fin mulr_ge0.
  - exact/EFin_measurable_fun/measurable_funrM.
have E2 : \int[M]_t ((f t)%:E + (k2 * phi t)%:E) = (k0 + k1 * y)%:E.
  rewrite (eq_integral (fun t => k0%:E + (k1 * psi t)%:E)) => [|t _]; last first.
    by rewrite -!EFinD fE subrK.
  rewrite ge0_integralD //.
  - rewrite EFinD EFinM -psiy -ge0_integralM_EFin //.
    + congr (_ + _); rewrite (_ : (fun=> k0%:E) = cst k0%:E) // integral_cst // M1 mule1 //.
    + by move=> t _; rewrite lee_fin.
    + exact/EFin_measurable_fun.
  - exact: measurable_fun_cst.
  - by move=> t _; rewrite lee_fin mulr_ge0.
  - exact/EFin_measurable_fun/measurable_funrM.
move: E1; rewrite E2 => /esym; move: (\int[M]_t (f t)%:E) => [r||] //.
by rewrite -EFinD => -[<-]; rewrite addrK.
Qed.

End Linear.

Section Mean.
Context (R : realType) d (Y : measurableType d) (M : {measure set Y -> \bar R}).
Hypothesis M1 : M setT = 1.

Lemma exponential_mean_real (c b : R) g : bounded_function b g ->
  exists x : R, exponential_mean M c g = x%:E.
Proof.
move=> bg; have [mg gb] := bg; set I := exponential_mean M c g.
have I0 : 0 <= I by apply: integral_ge0 => t _; exact: exponential_ge0.
have Ib : I <= (expR (`|c| * b))%:E.
  apply: (@le_trans _ _ (\int[M]_t (cst (expR (`|c| * b))%:E) t)); last first.
    by rewrite integral_cst // M1 mule1.
  apply: ge0_le_integral => //.
  - by move=> t _; exact: exponential_ge0.
  - exact: (bounded_measurable c bg).
  - by move=> t _; exact: exponential_ge0.
  - exact: measurable_fun_cst.
  move=> t _; rewrite lee_fin ler_expR; apply: le_trans (ler_norm _) _.
  by rewrite normrM ler_wpmul2l.
by exists (fine I); rewrite fineK // ge0_fin_numE //; exact: le_lt_trans Ib (ltry _).
Qed.

End Mean.

Section BoundedRange.
Context (R : realType) d (Y : measurableType d) (P Q : {measure set Y -> \bar R}) (u v : R).
Hypotheses (P1 : P setT = 1) (Q1 : Q setT = 1) (uv : (0 < u + v)%R).
Hypotheses (PQ : indistinguishable u P Q) (QP : indistinguishable v Q P).

Theorem bounded_range_concentrated : concentrated ((u + v) ^+ 2 / 8%:R) P Q.
Proof.
have u0 : (0 <= u)%R.
  by have := PQ measurableT; rewrite P1 Q1 mule1 lee_fin -{1}(@expR0 R) ler_expR.
have v0 : (0 <= v)%R.
  by have := QP measurableT; rewrite P1 Q1 mule1 lee_fin -{1}(@expR0 R) ler_expR.
move=> alpha bd g alpha1 bg Qpsi1.
set rho := ((u + v) ^+ 2 / 8%:R)%R.
have al0 : (0 < alpha)%R by exact: lt_trans alpha1.
have aln : alpha != 0%R by rewrite gt_eqF.
have e0 (x : R) : (0 <= expR x)%R by rewrite ltW // expR_gt0.
pose a := expR (- v); pose b := expR u.
have a0 : (0 < a)%R by exact: expR_gt0.
have b0 : (0 < b)%R by exact: expR_gt0.
have a1 : (a <= 1)%R by rewrite -(@expR0 R) ler_expR oppr_le0.
have b1 : (1 <= b)%R by rewrite -(@expR0 R) ler_expR.
have ab : (a < b)%R by rewrite ltr_expR -subr_gt0 opprK.
have bE : b = (a * expR (u + v))%R by rewrite -expRD addrC addrK.
pose C := expR ((alpha - 1) * rho).
pose A := (C * expR (- ((alpha - 1) * alpha * rho)) / alpha)%R.
pose B := (C * (alpha - 1) / alpha)%R.
have C0 : (0 <= C)%R by exact: e0.
have A0 : (0 <= A)%R by rewrite divr_ge0 ?mulr_ge0 ?(ltW al0).
have B0 : (0 <= B)%R by rewrite divr_ge0 ?mulr_ge0 ?subr_ge0 // ltW.
pose phi t := expR ((alpha - 1) * g t); pose psi t := expR (alpha * g t).
have mphi : measurable_fun setT phi by exact/EFin_measurable_fun/(bounded_measurable _ bg).
have mpsi : measurable_fun setT psi by exact/EFin_measurable_fun/(bounded_measurable _ bg).
(* r phi <= A r^alpha + B psi for every ratio r > 0 *)
have young r t : (0 < r)%R -> (r * phi t <= A * r `^ alpha + B * psi t)%R.
  move=> r0; pose s := (alpha * ln r - (alpha - 1) * alpha * rho)%R.
  have -> : (r * phi t = C * expR (s / alpha + (alpha * g t) * (alpha - 1) / alpha))%R.
    rewrite -[in LHS](lnK (r0 : r \is Num.pos)) /phi /C -!expRD; congr expR; rewrite /s; field.
    exact: aln.
  have -> : (A * r `^ alpha + B * psi t
      = C * (expR s / alpha + expR (alpha * g t) * (alpha - 1) / alpha))%R.
    rewrite /A /B /psi /exp_fun /s expRD.
    move: (C) (expR (alpha * ln r)) (expR (- _)) (expR (alpha * g t)) => c e1 e2 e3.
    by field; exact: aln.
  by rewrite ler_wpmul2l // exp_mean_le.
have [x Px] := exponential_mean_real P1 (alpha - 1) bg.
have [y Qy] := exponential_mean_real Q1 (alpha - 1) bg.
have [z Pz] := exponential_mean_real P1 alpha bg.
have [w Qw] := exponential_mean_real Q1 alpha bg.
move: (Qpsi1); rewrite Qw lee_fin => w1.

rewrite Px lee_fin.
pose f r t := (A * r `^ alpha + B * psi t - r * phi t)%R.
have f0 r t : (0 < r)%R -> (0 <= f r t)%R by move=> r0; rewrite subr_ge0 young.
have mf r : measurable_fun setT (f r).
  apply: measurable_funB; last exact: measurable_funrM.
  by apply: measurable_funD; [exact: measurable_fun_cst|exact: measurable_funrM].
have IE (N : {measure set Y -> \bar R}) (p q r : R) : N setT = 1 -> (0 < r)%R ->
    exponential_mean N (alpha - 1) g = p%:E -> exponential_mean N alpha g = q%:E ->
    \int[N]_t (f r t)%:E = (A * r `^ alpha + B * q - r * p)%:E.
  move=> N1 r0 Np Nq; have k0 : (0 <= A * r `^ alpha)%R by rewrite mulr_ge0 // ltW // exp_fun_gt0.
  exact: (integral_linear N1 mphi mpsi k0 B0 (ltW r0) (fun t => e0 _) (fun t => e0 _)
    (fun t => f0 r t r0) (fun=> erefl) Np Nq).
have le1 : (a * (A * b `^ alpha + B * w - b * y) <= A * b `^ alpha + B * z - b * x)%R.
  have := indistinguishable_integral (f := fun t => (f b t)%:E) QP.
  rewrite (IE Q _ _ b Q1 b0 Qy Qw) (IE P _ _ b P1 b0 Px Pz) -EFinM lee_fin => H.
  rewrite -(ler_pmul2l (expR_gt0 v)) mulrA -expRD subrr expR0 mul1r; apply: H.
    exact/EFin_measurable_fun.
  by move=> t; rewrite lee_fin f0.
have le2 : (A * a `^ alpha + B * z - a * x <= b * (A * a `^ alpha + B * w - a * y))%R.
  have := indistinguishable_integral (f := fun t => (f a t)%:E) PQ.
  rewrite (IE Q _ _ a Q1 a0 Qy Qw) (IE P _ _ a P1 a0 Px Pz) -EFinM lee_fin; apply.
    exact/EFin_measurable_fun.
  by move=> t; rewrite lee_fin f0.
have ba : (0 < b - a)%R by rewrite subr_gt0.
rewrite -(ler_pmul2l ba) -/C.
apply: (@le_trans _ _ (A * ((b - 1) * a `^ alpha + (1 - a) * b `^ alpha) + (b - a) * B * w)%R).
  have := ler_add le1 le2; move: (a `^ alpha) (b `^ alpha) => p q.
  rewrite -subr_ge0 => H; rewrite -subr_ge0; apply: le_trans H _.
  by rewrite le_eqVlt; apply/orP/or_introl/eqP; ring.
have moment := bounded_range_moment (ltW alpha1) a0 a1 b1 ab bE.
apply: le_trans (ler_add (ler_wpmul2l A0 moment) (ler_wpmul2l _ w1)) _.
  by rewrite mulr_ge0 // ltW.
rewrite le_eqVlt; apply/orP/or_introl/eqP; rewrite mulr1 /A /B -/rho expRN.
have := expR_gt0 ((alpha - 1) * alpha * rho)%R; move: (expR _) (C) => e c e00.
by field; rewrite aln gt_eqF.
Qed.

End BoundedRange.

(* eps-DP both ways costs eps^2/2. *)
Lemma dp_zcdp (R : realType) d (Y : measurableType d) (X : Type) (nb : X -> X -> Prop) (eps : R)
    (M : X -> {measure set Y -> \bar R}) : (0 < eps)%R -> (forall x, M x setT = 1) ->
  (forall x y, nb x y -> nb y x) -> dp nb eps (fun x => M x) -> zcdp nb (eps ^+ 2 / 2%:R) M.
Proof.
move=> e0 M1 sym H x y xy.
have -> : (eps ^+ 2 / 2%:R = (eps + eps) ^+ 2 / 8%:R)%R by field.
apply: bounded_range_concentrated => //; first by rewrite addr_gt0.
  exact: H.
exact: H (sym _ _ xy).
Qed.
