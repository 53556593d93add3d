(* The norm of K-norm noise has the moments of a Gamma law.

   Let Z be an m x n matrix with density proportional to exp (-N(z)/scale), N any norm.
   Then for every k

      E N(Z)^k = scale^k p (p + 1) ... (p + k - 1),     p = m n,

   as if N(Z)/scale had the law Gamma (p). For the nuclear norm and m = n = d these are
   the first three premises of Theorem6: E R = d^2, E R^2 = d^4 + d^2 and
   E R^4 = d^2 (d^2 + 1) (d^2 + 2) (d^2 + 3). For d = 1 all of its premises hold, for
   the noise itself.

   The proof needs no volume of a ball and no polar coordinates. Let
   F_k(c) = int N^k exp (-c N).
   1. A change of scale gives c^(p+k) F_k(c) = F_k(1).
   2. The tangents of the exponential put F_(k+1)(1) between (F_k(1) - F_k(1 + h))/h and
      (F_k(1 - h) - F_k(1))/h, for every h in (0, 1).
   3. So F_(k+1)(1) = (p + k) F_k(1) (Squeeze), and F_k(1) is a product times F_0(1).
   4. The expectation is F_k over F_0, at c = 1/scale (LawIntegral).

   Nothing is assumed. Not said: that N(Z) has the Gamma law itself. *)
From covassay Require Import MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueScale.
From covassay Require Import Norms KNorm ExponentialBounds LawIntegral Squeeze Algorithm2.
From covassay Require Import TailIdentity.
From covassay Require Theorem6 Expectation.
Local Open Scope ereal_scope.

(* ---------------------------------------------------------------------------- *)
(* The moments                                                                  *)

Section Moments.
Variables (R : realType) (m n : nat) (N : norm R m n).
Let p := (m * n)%N.
Let Leb := [the measure _ _ of @leb_matrix R m n].
Implicit Types (k : nat) (c h : R) (z : 'M[R]_(m, n)).

Let term k c z : R := (N z ^+ k * expR (- (c * N z)))%R.
Let F k c : \bar R := \int[Leb]_z (term k c z)%:E.

Let term_ge0 k c z : (0 <= term k c z)%R.
Proof. exact: mulr_ge0 (exprn_ge0 _ (norm_ge0 N z)) (ltW (expR_gt0 _)). Qed.

Let term_measurable k c : measurable_fun setT (term k c).
Proof.
apply: measurable_funM; first by apply: measurable_fun_exprn; exact: norm_measurable.
by apply: measurable_exp_opp; apply: measurable_funrM; exact: norm_measurable.
Qed.

Let mterm k c : measurable_fun setT (fun z => (term k c z)%:E).
Proof. by apply/EFin_measurable_fun; exact: term_measurable. Qed.

Let F_ge0 k c : 0 <= F k c.
Proof. by apply: integral_ge0 => z _; rewrite lee_fin term_ge0. Qed.

(* a change of scale *)
Let F_scale k c : (0 < c)%R -> (c ^+ (p + k))%:E * F k c = F k 1.
Proof.
move=> c0; rewrite /F -(@integral_scale R c c0 m n (fun z => (term k 1 z)%:E)) //; last first.
  by move=> z; rewrite lee_fin term_ge0.
rewrite exprD EFinM -muleA; congr (_ * _).
rewrite -ge0_integralM_EFin //; first last.
- exact/exprn_ge0/ltW.
- by move=> z _; rewrite lee_fin term_ge0.
apply: eq_integral => z _; rewrite -EFinM /term norm_scale gtr0_norm // exprMn mul1r.
by rewrite mulrA.
Qed.

Let FE k c (a : R) : (0 < c)%R -> F k 1 = a%:E -> F k c = (a / c ^+ (p + k))%:E.
Proof.
move=> c0 Fa; have cp : (c ^+ (p + k) != 0)%R by rewrite gt_eqF // exprn_gt0.
have -> : F k c = ((c ^+ (p + k))^-1)%:E * ((c ^+ (p + k))%:E * F k c).
  by rewrite muleA -EFinM mulVf // mul1e.
by rewrite F_scale // Fa -EFinM mulrC.
Qed.

(* the tangents of the exponential *)
Let term_tangent k h z : (term k 1 z + h * term k.+1 1 z <= term k (1 - h) z)%R.
Proof.
rewrite /term exprS; have r0 := norm_ge0 N z; move: (N z) r0 => r r0.
have -> : (- ((1 - h) * r) = - (1 * r) + h * r)%R by ring.
rewrite expRD -subr_ge0 [X in (0 <= X)%R](_ : _ = r ^+ k * (expR (- (1 * r))
    * (expR (h * r) - (1 + h * r))))%R; last by ring.
by rewrite !mulr_ge0 ?exprn_ge0 ?(ltW (expR_gt0 _)) // subr_ge0 expR_ge1D.
Qed.

Let F_sum k c h : (0 <= h)%R ->
  F k c + h%:E * F k.+1 1 = \int[Leb]_z (term k c z + h * term k.+1 1 z)%:E.
Proof.
move=> h0; rewrite /F -ge0_integralM_EFin //; last by move=> z _; rewrite lee_fin term_ge0.
rewrite -ge0_integralD //; first last.
- exact: measurable_funeM.
- by move=> z _; rewrite mule_ge0 // lee_fin ?term_ge0.
- by move=> z _; rewrite lee_fin term_ge0.
Qed.

Let F_sum_measurable k c h : measurable_fun setT (fun z => (term k c z + h * term k.+1 1 z)%:E).
Proof.
by apply/EFin_measurable_fun; apply: measurable_funD => //; exact: measurable_funrM.
Qed.

Let F_sum_ge0 k c h z : (0 <= h)%R -> 0 <= (term k c z + h * term k.+1 1 z)%:E.
Proof.
move=> h0; rewrite lee_fin; apply: addr_ge0; first exact: term_ge0.
by apply: mulr_ge0 => //; exact: term_ge0.
Qed.

Let F_up k h : (0 < h)%R -> F k 1 + h%:E * F k.+1 1 <= F k (1 - h).
Proof.
move=> /ltW h0; rewrite F_sum //; apply: ge0_le_integral => // z _.
- exact: F_sum_ge0.
- by rewrite lee_fin term_ge0.
by rewrite lee_fin term_tangent.
Qed.

Let F_lo k h : (0 < h)%R -> F k 1 <= F k (1 + h) + h%:E * F k.+1 1.
Proof.
move=> /ltW h0; rewrite F_sum //; apply: ge0_le_integral => // z _.
- by rewrite lee_fin term_ge0.
- exact: F_sum_ge0.
have := term_tangent k (- h) z; rewrite opprK mulNr lee_fin => le.
by rewrite -ler_subl_addr.
Qed.

Let F_step k (a : R) : F k 1 = a%:E -> F k.+1 1 = ((p + k)%:R * a)%:E.
Proof.
move=> Fa; have half : (0 < 1 / 2 :> R)%R by rewrite divr_gt0.
have a0 : (0 <= a)%R by rewrite -lee_fin -Fa.
have [b Fb] : exists b, F k.+1 1 = b%:E.
  suff : F k.+1 1 \is a fin_num by case: (F k.+1 1) => // r _; exists r.
  rewrite ge0_fin_numE //; have := @F_up k (1 / 2) half.
  rewrite (FE (c := (1 - 1 / 2)%R) _ Fa); last first.
    by rewrite subr_gt0 ltr_pdivr_mulr // mul1r ltr1n.
  case: (F k.+1 1) (F_ge0 k.+1 1) => [r|//|//] _; first by rewrite ltry.
  by rewrite gt0_muley ?lte_fin // Fa addey.
rewrite Fb; congr (_%:E).
have b0 : (0 <= b)%R by rewrite -lee_fin -Fb.
apply: squeeze => // h h0 h1.
  have c0 : (0 < 1 - h)%R by rewrite subr_gt0.
  have := F_up k h0; rewrite (FE c0 Fa) Fa Fb -EFinM -EFinD lee_fin.
  by rewrite addrC ler_pdivl_mulr ?exprn_gt0 // mulrC.
have c0 : (0 < 1 + h)%R by rewrite addr_gt0.
have := F_lo k h0; rewrite (FE c0 Fa) Fa Fb -EFinM -EFinD lee_fin.
by rewrite -ler_subl_addr ler_pdivl_mulr ?exprn_gt0 // mulrC.
Qed.

Let F_prod k (a : R) : F 0 1 = a%:E -> F k 1 = ((\prod_(j < k) (p + j)%:R) * a)%:E.
Proof.
move=> Fa; elim: k => [|k IH]; first by rewrite big_ord0 mul1r.
by rewrite (F_step IH) big_ord_recr /= mulrA [(_%:R * _)%R]mulrC.
Qed.

Variable scale : R.
Hypothesis scale_gt0 : (0 < scale)%R.
Let noise := law (norm_weight N scale_gt0).

(* The k-th moment of N(Z), for noise Z with the density proportional to exp (-N/scale) on the
   m x n matrices, with respect to Lebesgue measure. The premise of the section is
   scale > 0. *)
(*@ GAMMA-MOMENTS *)
Theorem norm_moments k :
  \int[noise]_z (N z ^+ k)%:E = (scale ^+ k * \prod_(j < k) (p + j)%:R)%:E.
Proof.
pose w := norm_weight N scale_gt0; pose c := (scale^-1)%R.
have c0 : (0 < c)%R by rewrite invr_gt0.
have wE z : w z = term 0 c z by rewrite /w /= /norm_density /term expr0 mul1r mulrC.
have F0 : F 0 c = (normalizer w)%:E.
  by rewrite normalizerE; apply: eq_integral => z _; rewrite wE.
have Z0 := normalizer_gt0 w.
have [a Fa] : exists a, F 0 1 = a%:E.
  by exists (c ^+ (p + 0) * normalizer w)%R; rewrite -(F_scale 0 c0) F0.
have Za : normalizer w = (a / c ^+ p)%R.
  by apply: EFin_inj; rewrite -F0 (FE c0 Fa) addn0.
have mNk : measurable_fun setT (fun z => (N z ^+ k)%:E).
  by apply/EFin_measurable_fun/measurable_fun_exprn; exact: norm_measurable.
rewrite /noise integral_law //; last by move=> z; rewrite lee_fin exprn_ge0 // norm_ge0.
transitivity (\int[Leb]_z (((normalizer w)^-1)%:E * (term k c z)%:E)).
  apply: eq_integral => z _; rewrite -!EFinM -/w wE /term expr0 mul1r; congr (_%:E).
  by rewrite mulrAC -mulrA mulrCA mulrC -mulrA; ring.
rewrite ge0_integralM_EFin //; last 2 first.
- by move=> z _; rewrite lee_fin term_ge0.
- by rewrite invr_ge0 ltW.
rewrite -/(F k c) (FE c0 (F_prod k Fa)) -EFinM; congr (_%:E).
have cp : (c ^+ p != 0)%R by rewrite gt_eqF // exprn_gt0.
have ck : (c ^+ k != 0)%R by rewrite gt_eqF // exprn_gt0.
have a0 : (a != 0)%R.
  by apply: contraTneq Z0 => a0; rewrite Za a0 mul0r ltxx.
have -> : (scale ^+ k = (c ^+ k)^-1)%R by rewrite -exprVn invrK.
rewrite Za exprD; move: (c ^+ p)%R (c ^+ k)%R cp ck (\prod_(j < k) _)%R => x y x0 y0 q.
by field; rewrite x0 y0 a0.
Qed.

End Moments.

(* ---------------------------------------------------------------------------- *)
(* Nuclear-Laplace noise                                                        *)

Section NuclearLaplace.
Variables (R : realType) (d : nat).

(* The noise of scale 1. *)
Definition nuclear_laplace : {measure set 'M[R]_d -> \bar R} :=
  [the measure _ _ of law (norm_weight (nuclear R d) (@ltr01 R))].

Local Notation E k := (Expectation.expect nuclear_laplace (fun z => (nuclear_norm z ^+ k)%R)).

Let moment k : E k = (\prod_(j < k) (d * d + j)%:R)%:E.
Proof. by rewrite /Expectation.expect (norm_moments (nuclear R d)) expr1n mul1r. Qed.

(* The first three premises of Theorem6, for the noise itself, in every dimension: it is a
   probability, and the nuclear norm has the moments d^2, d^4 + d^2 and
   d^2 (d^2 + 1) (d^2 + 2) (d^2 + 3) of orders 1, 2 and 4. There is no premise. *)
(*@ NUCLEAR-LAPLACE-MOMENTS *)
Theorem nuclear_laplace_moments :
  [/\ nuclear_laplace setT = 1,
      E 1 = (d%:R ^+ 2)%:E, E 2 = (d%:R ^+ 4 + d%:R ^+ 2)%:E &
      E 4 = (d%:R ^+ 2 * (d%:R ^+ 2 + 1) * (d%:R ^+ 2 + 2%:R) * (d%:R ^+ 2 + 3%:R))%:E].
Proof.
have dE j : ((d * d + j)%:R = d%:R ^+ 2 + j%:R :> R)%R by rewrite natrD natrM expr2.
split; first exact: law_total.
- by rewrite moment big_ord_recr big_ord0 /= dE addr0 mul1r.
- by rewrite moment !big_ord_recr big_ord0 /= !dE; congr (_%:E); ring.
- by rewrite moment !big_ord_recr big_ord0 /= !dE; congr (_%:E); ring.
Qed.

End NuclearLaplace.

(* All the premises of Theorem6 (noise_moments) hold for the noise itself when d = 1, where
   the one singular value is the nuclear norm. There is no premise. *)
(*@ NOISE-MOMENTS-LINE *)
Theorem noise_moments_line (R : realType) :
  Theorem6.noise_moments (nuclear_laplace R 1) (fun z (_ : 'I_1) => nuclear_norm z).
Proof.
have totalE (z : 'M[R]_1) : total (fun _ : 'I_1 => nuclear_norm z) = nuclear_norm z.
  by rewrite /total big_ord1.
have squareE (z : 'M[R]_1) : square_sum (fun _ : 'I_1 => nuclear_norm z) = (nuclear_norm z ^+ 2)%R.
  by rewrite /square_sum big_ord1.
have harmonicE (z : 'M[R]_1) : harmonic_sum (fun _ : 'I_1 => nuclear_norm z) = 0%R.
  by rewrite /harmonic_sum big_ord1 big1 ?mul0rn // => j; rewrite (ord1 j).
have [P1 E1 E2 E4] := nuclear_laplace_moments R 1.
split => //.
- by move=> _; exact: (norm_measurable (nuclear R 1)).
- by under eq_fun do rewrite harmonicE; exact: measurable_fun_cst.
- by move=> z _; exact: (norm_ge0 (nuclear R 1)).
- by under [X in Expectation.expect _ X]eq_fun do rewrite totalE -[nuclear_norm _]expr1.
- by under [X in Expectation.expect _ X]eq_fun do rewrite totalE.
- by under [X in Expectation.expect _ X]eq_fun do rewrite totalE; rewrite E4.
under [X in Expectation.expect _ X]eq_fun do rewrite squareE harmonicE addr0.
by rewrite E2; congr (_%:E); ring.
Qed.
