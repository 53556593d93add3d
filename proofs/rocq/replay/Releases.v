(* From the law of a mechanism to what its code computes.

   The code draws noise of scale one, from a law that does not depend on the data, and
   computes a release from the data and the noise.  A whole mechanism is defined by its law,
   with noise that has its scale already.  This file shows that the two are the same:

       M(X)(S) = U { z | release X z in S }   for every measurable S,

   where U is the law of noise of scale one.  `computes M U f` says so, for f = release X.

   - noise with density exp(-N(z)/b) is b times noise with density exp(-N(z)), for every norm;
     the same for Laplace noise on the line and for Gaussian noise;
   - so each mechanism that adds such noise to a query q computes q(X) + b z;
   - the symmetric ones compute q(X) + b W with a symmetric W;
   - what is computed from a release needs no noise of its own.

   Assumed: nothing.  Not said: floating point; how the noise of scale one is drawn. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Symmetric LebesgueScale.

(* The law M is that of f(z), where z has the law U. *)
Definition computes (R : realType) e e' (Y : measurableType e) (Z : measurableType e')
    (M : set Y -> \bar R) (U : set Z -> \bar R) (f : Z -> Y) :=
  forall S, measurable S -> M S = U [set z | S (f z)].

(* ---------------------------------------------------------------------------- *)
(* A density that is stretched by g                                             *)

Section Rescale.
Context (R : realType) e (Y : measurableType e) (mu : {measure set Y -> \bar R}).
Variables (g : Y -> Y) (c : R) (k : nat).
Hypotheses (c_gt0 : 0 < c) (mg : measurable_fun setT g).
Hypothesis stretch : forall A, measurable A -> ((c ^+ k)%:E * mu (g @^-1` A) = mu A)%E.

Lemma law_rescale (w w1 : weight mu) : (forall z, w (g z) = w1 z) ->
  computes (law w) (law w1) g.
Proof.
move=> ww S mS; have mgS : measurable (g @^-1` S).
  by rewrite -[X in measurable X]setTI; exact: mg.
have ck0 : c ^+ k != 0 by rewrite expf_neq0 // gt_eqF.
have total : normalizer w = c ^+ k * normalizer w1.
  apply: EFin_inj; rewrite EFinM !normalizerE -(integral_rescale c_gt0 mg stretch).
  - by congr (_ * _)%E; apply: eq_integral => z _; rewrite ww.
  - exact: weight_measurableE.
  - by move=> z; rewrite lee_fin weight_ge0.
rewrite -[X in law w1 X]/(g @^-1` S) !lawE // total.
rewrite (integral_mkcond S) (integral_mkcond (g @^-1` S)).
rewrite -(integral_rescale c_gt0 mg stretch).
- rewrite muleA -EFinM invfM mulrAC mulVf // mul1r; congr (_ * _)%E.
  apply: eq_integral => z _; rewrite /patch ww.
  by have -> : (g z \in S) = (z \in g @^-1` S) by apply/idP/idP; rewrite !inE.
- by apply/(measurable_restrict _ mS) => //; exact: weight_measurableE.
- by move=> y; apply: erestrict_ge0 => z _; rewrite lee_fin weight_ge0.
Qed.

End Rescale.

Section Noise.
Variable R : realType.

Lemma matrix_rescale m n (c : R) (w w1 : weight [the measure _ _ of @leb_matrix R m n]) :
  0 < c -> (forall z, w (c *: z) = w1 z) -> computes (law w) (law w1) (fun z => c *: z).
Proof.
move=> c0; apply: (law_rescale c0 (@measurable_scale R c m n)).
by move=> A; exact: leb_matrix_scale.
Qed.

Lemma line_rescale (c : R) (w w1 : weight [the measure _ _ of @leb R]) :
  0 < c -> (forall z, w (c * z) = w1 z) -> computes (law w) (law w1) (fun z => c * z).
Proof.
move=> c0; apply: (law_rescale (k := 1) c0 (@measurable_scale_line R c)).
by move=> A; exact: leb_scale.
Qed.

(* Noise of scale one. *)
Definition unit_noise m n (N : norm R m n) := norm_weight N (@ltr01 R).
Definition unit_laplace := laplace_weight (@ltr01 R).
Definition unit_gaussian m n := gaussian_weight m n (@ltr01 R).

Lemma norm_unit m n (N : norm R m n) (b : R) (b_gt0 : 0 < b) z :
  norm_weight N b_gt0 (b *: z) = unit_noise N z.
Proof.
by rewrite /= /norm_density norm_scale gtr0_norm // divr1 mulrC mulKf // gt_eqF.
Qed.

Lemma laplace_unit (b : R) (b_gt0 : 0 < b) z : laplace_weight b_gt0 (b * z) = unit_laplace z.
Proof.
by rewrite /= /exp_line normrM gtr0_norm // invr1 mul1r mulKf // gt_eqF.
Qed.

Lemma gaussian_unit m n (b : R) (b_gt0 : 0 < b) z :
  gaussian_weight m n b_gt0 (b *: z) = unit_gaussian m n z.
Proof.
rewrite /= /gaussian_density; congr (expR (- _)).
have -> : sum_squares (b *: z) = b ^+ 2 * sum_squares z.
  rewrite /sum_squares mulr_sumr; apply: eq_bigr => i _; rewrite mulr_sumr.
  by apply: eq_bigr => j _; rewrite mxE exprMn.
by rewrite expr1n mulr1; field; rewrite gt_eqF.
Qed.

(* ---------------------------------------------------------------------------- *)
(* Noise on a query                                                             *)

Variables (X : Type) (x : X).

Lemma matrix_computes m n (q : X -> 'M[R]_(m, n)) (b : R)
    (w w1 : weight [the measure _ _ of @leb_matrix R m n]) :
  0 < b -> (forall z, w (b *: z) = w1 z) ->
  computes (with_noise (matrices R m n) w q x) (law w1) (fun z => q x + b *: z).
Proof.
move=> b0 ww S mS; rewrite /= /pushforward (matrix_rescale b0 ww) //.
by rewrite -[X in measurable X]setTI; exact: (matrix_measurable_add (q x)).
Qed.

Lemma line_computes (q : X -> R) (b : R) (w w1 : weight [the measure _ _ of @leb R]) :
  0 < b -> (forall z, w (b * z) = w1 z) ->
  computes (with_noise (line R) w q x) (law w1) (fun z => q x + b * z).
Proof.
move=> b0 ww S mS; rewrite /= /pushforward (line_rescale b0 ww) //.
by rewrite -[X in measurable X]setTI; exact: (line_measurable_add (q x)).
Qed.

(* A symmetric matrix whose entries on and above the diagonal have the law w; those off the
   diagonal are multiplied by off. *)
Definition symmetric_law d (off : R) (w : weight [the measure _ _ of @leb_matrix R 1 (entries d)]) :
    {measure set [the measurableType _ of 'M[R]_d] -> \bar R} :=
  image_law (measurable_mirror off) [the measure _ _ of law w].

Lemma symmetric_computes d (q : X -> 'M[R]_d) (off b : R)
    (w w1 : weight [the measure _ _ of @leb_matrix R 1 (entries d)]) :
  0 < b -> (forall z, w (b *: z) = w1 z) ->
  computes (symmetric_noise off w q x) (symmetric_law off w1) (fun Z => q x + b *: Z).
Proof.
move=> b0 ww S mS; rewrite /= /pushforward (matrix_rescale b0 ww).
  by congr (law w1 _); apply/seteqP; split => z /=; rewrite mirrorZ.
by rewrite -[X in measurable X]setTI; exact: (noisy_measurable off q x).
Qed.

End Noise.

(* A step that is computed from a release. *)
Lemma image_computes (R : realType) e e' e'' (Y : measurableType e) (Z : measurableType e')
    (V : measurableType e'') (M : {measure set Y -> \bar R}) (U : set Z -> \bar R) (f : Z -> Y)
    (h : Y -> V) (mh : measurable_fun setT h) :
  computes M U f -> computes (image_law mh M) U (h \o f).
Proof.
move=> Mf S mS; rewrite /= /pushforward Mf //.
by rewrite -[X in measurable X]setTI; exact: mh.
Qed.
