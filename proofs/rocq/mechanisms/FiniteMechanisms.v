(* Whole mechanisms with finitely many answers.

   The rows lie in the unit ball, neighbours differ in one row, n, d and all other
   parameters are public.

   - exponential: feature u of d with probability proportional to exp((eps/2) g(u)), g(u)
     = sum_k x_ku^2.
   - above-threshold: the first feature whose noisy energy reaches a noisy threshold, or
     none; scales 2/eps for the threshold and 4/eps for the energies, or ("tight") 2/eps.
   - private-radius: the first of given radii such that the noisy number of rows that are not
     longer reaches a noisy threshold, or none; the same scales.

   Assumed: nothing.  Not said: floating point; how the noise is drawn; in private-radius, how
   the public radii and the threshold are chosen.  AnyRows.v has rows of any length. *)
From covassay Require Import MechanismTheory SparseVector Discrete.
From covassay Require Euclidean RankTwo Sensitivity Algorithm2.

Section Mechanisms.
Variables (R : realType) (n d : nat) (eps : R).
Hypotheses (n_gt0 : (0 < n)%N) (eps_gt0 : 0 < eps).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).

(* sum_k x_ku^2 *)
Definition energy (X : data) (u : 'I_d) : R := \sum_k X k u 0 ^+ 2.

Lemma energy_change (X Y : data) i u : (forall j, j != i -> X j = Y j) ->
  energy Y u = energy X u + Y i u 0 ^+ 2 - X i u 0 ^+ 2.
Proof.
move=> XY; rewrite /energy (bigD1 i) //= [in RHS](bigD1 i) //=.
have -> : \sum_(k | k != i) X k u 0 ^+ 2 = \sum_(k | k != i) Y k u 0 ^+ 2.
  by apply: eq_bigr => k ki; rewrite XY.
by move: (\sum_(k | k != i) _) (Y i u 0) (X i u 0) => s a b; ring.
Qed.

Lemma unit_squares (v : 'cV[R]_d) : Euclidean.norm v <= 1 -> \sum_u v u 0 ^+ 2 <= 1.
Proof. by rewrite Euclidean.norm_le1 /Euclidean.dot; under [X in _ -> X <= _]eq_bigr do rewrite expr2. Qed.

(* ---------------------------------------------------------------------------- *)
(* exponential                                                                  *)

Definition eta : R := eps / 2%:R.

(* The probability of feature u. *)
Definition exponential (X : data) (u : 'I_d) : R :=
  expR (eta * energy X u) / \sum_v expR (eta * energy X v).

Lemma exponential_total X : (0 < d)%N -> \sum_u exponential X u = 1.
Proof.
move=> d0; rewrite /exponential -mulr_suml divff // gt_eqF //.
rewrite (bigD1 (Ordinal d0)) //= ltr_paddr ?expR_gt0 //.
by apply: sumr_ge0 => v _; rewrite ltW // expR_gt0.
Qed.

(* The premises are eps > 0 and adjacent data sets X and Y. *)
Theorem exponential_dp (X Y : data) (S : pred 'I_d) : adjacent X Y ->
  \sum_(u | S u) exponential X u <= expR eps * \sum_(u | S u) exponential Y u.
Proof.
move=> [bX bY [i XY]].
have eta0 : 0 <= eta by rewrite divr_ge0 ?ltW.
have sq (v : 'cV[R]_d) u : Euclidean.norm v <= 1 -> v u 0 ^+ 2 <= 1.
  move=> /unit_squares; apply: le_trans; rewrite (bigD1 u) //= ler_addl.
  by apply: sumr_ge0 => j _; exact: sqr_ge0.
have up u : expR (eta * energy X u) <= expR eta * expR (eta * energy Y u).
  rewrite -expRD ler_expR -[X in X + _]mulr1 -mulrDr ler_wpmul2l // (energy_change u XY).
  rewrite -subr_ge0; have -> : 1 + (energy X u + Y i u 0 ^+ 2 - X i u 0 ^+ 2) - energy X u
      = (1 - X i u 0 ^+ 2) + Y i u 0 ^+ 2 by move: (energy X u) => g; ring.
  by rewrite addr_ge0 ?sqr_ge0 // subr_ge0; exact: sq.
have down u : expR (eta * energy Y u) <= expR eta * expR (eta * energy X u).
  rewrite -expRD ler_expR -[X in X + _]mulr1 -mulrDr ler_wpmul2l // (energy_change u XY).
  rewrite -subr_ge0; have -> : 1 + energy X u - (energy X u + Y i u 0 ^+ 2 - X i u 0 ^+ 2)
      = (1 - Y i u 0 ^+ 2) + X i u 0 ^+ 2 by move: (energy X u) => g; ring.
  by rewrite addr_ge0 ?sqr_ge0 // subr_ge0; exact: sq.
have pos Z u : 0 < expR (eta * energy Z u) by exact: expR_gt0.
rewrite mulr_sumr; apply: ler_sum => u _; rewrite /exponential.
have d0 : (0 < d)%N by apply: leq_ltn_trans (ltn_ord u).
have sum_gt0 Z : 0 < \sum_v expR (eta * energy Z v).
  rewrite (bigD1 (Ordinal d0)) //= ltr_paddr ?expR_gt0 //.
  by apply: sumr_ge0 => v _; rewrite ltW.
have two : expR eps = expR eta * expR eta by rewrite -expRD /eta -mulrDl -mulr2n -mulr_natr mulfK ?pnatr_eq0.
have tot : \sum_v expR (eta * energy Y v) <= expR eta * \sum_v expR (eta * energy X v).
  by rewrite mulr_sumr; apply: ler_sum => v _; exact: down.
have cross (a b s t e : R) : 0 < s -> 0 < t -> a * t <= (e * b) * (e * s) -> a / s <= e * e * (b / t).
  move=> s0 t0 le; rewrite ler_pdivr_mulr // -[X in _ <= X]mulrA -[b / t * s]mulrAC [X in _ <= X]mulrA.
  rewrite ler_pdivl_mulr //; apply: le_trans le _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
rewrite two; apply: cross => //; apply: ler_pmul => //; first exact: ltW.
by apply: ltW.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The sparse vector technique with the scales of the code                      *)

Definition rate1 : R := eps / 2%:R.
Definition rate2 (tight : bool) : R := eps / (if tight then 2%:R else 4%:R).

Lemma rate1_gt0 : 0 < rate1. Proof. by rewrite divr_gt0. Qed.
Lemma rate2_gt0 tight : 0 < rate2 tight. Proof. by rewrite divr_gt0 //; case: tight. Qed.

Lemma rate2_le tight : rate2 tight <= eps / 2%:R.
Proof.
case: tight; rewrite /rate2 // ler_pmul2l // ler_pinv ?inE ?unitfE ?pnatr_eq0 ?ltr0n //.
by rewrite ler_nat.
Qed.

(* The answer is one of k indices, or none.  The probability of each: noise of scale
   1/rate1 on the threshold, of scale 1/rate2 on every query. *)
Definition first_above k (tight : bool) (T : R) (Q : 'I_k -> R) (o : option 'I_k) : \bar R :=
  svt rate1_gt0 (rate2_gt0 tight) T Q o.

(* above-threshold: the threshold is share n/d. *)
Definition above_threshold (tight : bool) (share : R) (X : data) (o : option 'I_d) : \bar R :=
  first_above tight (share * n%:R / d%:R) (energy X) o.

(* The premises are eps > 0 and adjacent data sets X and Y. *)
Theorem above_threshold_dp (tight : bool) (share : R) (X Y : data) (S : pred (option 'I_d)) :
  adjacent X Y ->
  (\sum_(o | S o) above_threshold tight share X o
   <= (expR eps)%:E * \sum_(o | S o) above_threshold tight share Y o)%E.
Proof.
move=> [bX bY [i XY]]; apply: svt_set => o.
apply: (@le_trans _ _ ((expR (2%:R * rate2 tight))%:E * above_threshold tight share Y o)%E).
  apply: (@svt_energies _ _ _ _ _ _ _ _ _ _ (fun u => Y i u 0 ^+ 2) (fun u => X i u 0 ^+ 2)).
  - by move=> u; exact: energy_change.
  - by move=> u; exact: sqr_ge0.
  - by move=> u; exact: sqr_ge0.
  - exact: unit_squares.
  - exact: unit_squares.
rewrite lee_wpmul2r ?measure_ge0 // lee_fin ler_expR.
apply: le_trans (ler_wpmul2l _ (rate2_le tight)) _; rewrite ?ler0n //.
by rewrite mulrC divfK ?pnatr_eq0.
Qed.

Definition within (r : R) (x : 'cV[R]_d) : bool := Euclidean.norm x <= r.

(* private-radius: how many rows are at most r_j long. *)
Definition rows_within k (radius : 'I_k -> R) (X : data) (j : 'I_k) : R :=
  \sum_i (within (radius j) (X i))%:R.

Definition private_radius k (radius : 'I_k -> R) (tight : bool) (T : R) (X : data)
    (o : option 'I_k) : \bar R :=
  first_above tight T (rows_within radius X) o.

(* The premises are eps > 0 and adjacent data sets X and Y; the radii and the threshold are
   any numbers. *)
Theorem private_radius_dp k (radius : 'I_k -> R) (tight : bool) (T : R) (X Y : data)
    (S : pred (option 'I_k)) : adjacent X Y ->
  (\sum_(o | S o) private_radius radius tight T X o
   <= (expR eps)%:E * \sum_(o | S o) private_radius radius tight T Y o)%E.
Proof.
move=> [bX bY [i XY]]; apply: svt_set => o.
apply: (@le_trans _ _ ((expR (rate1 + rate2 tight))%:E * private_radius radius tight T Y o)%E).
  apply: svt_one_direction.
  have split (Z : data) j : rows_within radius Z j
      = (within (radius j) (Z i))%:R + \sum_(l | l != i) (within (radius j) (Z l))%:R.
    by rewrite /rows_within (bigD1 i).
  have rest j : \sum_(l | l != i) (within (radius j) (X l))%:R
      = \sum_(l | l != i) (within (radius j) (Y l))%:R :> R.
    by apply: eq_bigr => l li; rewrite XY.
  have step (a b : bool) (s : R) : (a -> b) -> a%:R + s <= b%:R + s <= a%:R + s + 1.
    case: a b => [] [] //= h; rewrite ?(mulr0n, mulr1n) ?add0r ?lexx ?ler_addl ?ler_addr ?ler01 //.
      by have := h isT.
    by rewrite addrC lexx.
  have [xy|/ltW yx] := leP (Euclidean.norm (Y i)) (Euclidean.norm (X i)); [left|right] => j.
    by rewrite !split rest; apply: step; exact: le_trans.
  by rewrite !split rest; apply: step; exact: le_trans.
rewrite lee_wpmul2r ?measure_ge0 // lee_fin ler_expR.
apply: le_trans (ler_add (lexx _) (rate2_le tight)) _.
by rewrite /rate1 -mulrDl -mulr2n -mulr_natr mulfK ?pnatr_eq0.
Qed.

End Mechanisms.
