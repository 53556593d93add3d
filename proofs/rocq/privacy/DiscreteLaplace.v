(* The discrete Laplace mechanism: integer noise added to an integer query.

   The noise is the integer k with probability
       (e^(1/t) - 1) / (e^(1/t) + 1) e^(-|k|/t),
   where t > 0 is its scale; the noise of a matrix has independent entries.  That the
   probabilities add up to one is PROVED, on the integers and on the integer matrices.

   The mechanism publishes q(x) + Z, where q(x) is an integer or an integer matrix.  If
   neighbours move q by at most Delta in the sum of the absolute values of its entries,
   and Delta/t <= eps, then it is eps-DP, for every set of outputs.  If some neighbours
   move q by exactly Delta, then it is eps-DP for no eps below Delta/t.

   Assumed: nothing.  Not said: how the noise is drawn. *)
From mathcomp Require Import all_ssreflect ssralg countalg ssrnum ssrint interval matrix.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop.
From mathcomp.classical Require Import mathcomp_extra.
From HB Require Import structures.
From mathcomp Require Import reals ereal signed topology normedtype sequences esum measure.
From mathcomp Require Import realfun exp.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import PureDP Discrete.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* ---------------------------------------------------------------------------- *)
(* Sums over countable sets                                                     *)

Section Sums.
Variable R : realType.

Lemma esum_le_scale (T : choiceType) (S : set T) (c : R) (f : T -> \bar R) :
  0 <= c -> (forall y, (0 <= f y)%E) ->
  (\esum_(y in S) (c%:E * f y) <= c%:E * \esum_(y in S) f y)%E.
Proof.
move=> c0 f0; apply: ub_ereal_sup => _ [F [finF FS] <-].
rewrite -ge0_mule_fsumr //; apply: lee_wpmul2l; first by rewrite lee_fin.
by apply: ereal_sup_ub; exists F.
Qed.

Lemma esum_scale (T : choiceType) (S : set T) (c : R) (f : T -> \bar R) :
  0 < c -> (forall y, (0 <= f y)%E) ->
  (\esum_(y in S) (c%:E * f y) = c%:E * \esum_(y in S) f y)%E.
Proof.
move=> c0 f0; have cc : (c%:E * (c^-1)%:E = 1)%E by rewrite -EFinM divff // gt_eqF.
apply/eqP; rewrite eq_le esum_le_scale ?(ltW c0) //=.
have cf y : (0 <= c%:E * f y)%E by rewrite mule_ge0 // lee_fin ltW.
have ci : 0 <= c^-1 by rewrite invr_ge0 ltW.
have := esum_le_scale S ci cf.
rewrite (eq_esum (b := f)); last by move=> y _; rewrite muleA (muleC _ c%:E) cc mul1e.
move=> le; apply: (@le_trans _ _ (c%:E * ((c^-1)%:E * \esum_(y in S) (c%:E * f y)))%E).
  by apply: lee_wpmul2l => //; rewrite lee_fin ltW.
by rewrite muleA cc mul1e.
Qed.

(* A geometric series. *)
Lemma esum_geometric (a q : R) : 0 <= a -> 0 <= q < 1 ->
  \esum_(k in [set: nat]) (a * q ^+ k)%:E = (a / (1 - q))%:E.
Proof.
move=> a0 /andP[q0 q1].
have -> : [set: nat] = [set k | xpredT k] by apply/seteqP; split.
rewrite -nneseries_esum; last by move=> k _; rewrite lee_fin mulr_ge0 ?exprn_ge0.
have cv : series (geometric a q) --> (a * (1 - q)^-1).
  by apply: cvg_geometric_series; rewrite ger0_norm.
apply: (@cvg_lim _ (@ereal_hausdorff R)).
rewrite (_ : (fun n => _) = EFin \o series (geometric a q)); last first.
  by apply/funext => n /=; rewrite sumEFin /series /= .
apply: (@cvg_comp _ _ _ _ (@EFin R)); first exact: cv.
by [].
Qed.

End Sums.

(* ---------------------------------------------------------------------------- *)
(* The law of the noise                                                         *)

Section Noise.
Variables (R : realType) (t : R).

(* The probability of the integer k. *)
Definition dlaplace (k : int) : R :=
  (expR t^-1 - 1) / (expR t^-1 + 1) * expR (- (`|k|%:~R / t)).

(* The probability of a matrix with independent entries. *)
Definition dlaplace_matrix m n (z : 'M[int]_(m, n)) : R := \prod_i \prod_j dlaplace (z i j).

(* The law of the noise: the probabilities of the elements of S, added up. *)
Definition mass (T : choiceType) (p : T -> R) (S : set T) : \bar R := \esum_(z in S) (p z)%:E.

Let q : R := expR (- t^-1).

(* The same in powers of q = e^(-1/t). *)
Lemma dlaplaceE k : dlaplace k = (1 - q) / (1 + q) * q ^+ `|k|%N.
Proof.
have e0 : expR t^-1 != 0 by rewrite gt_eqF // expR_gt0.
have e1 : expR t^-1 + 1 != 0 by rewrite gt_eqF // addr_gt0 // expR_gt0.
rewrite /dlaplace -abszE /q -expRMm mulrN; congr (_ * _).
by rewrite expRN; field; rewrite e0 e1.
Qed.

Hypothesis t_gt0 : 0 < t.

Let q_gt0 : 0 < q. Proof. exact: expR_gt0. Qed.

Let q_lt1 : q < 1. Proof. by rewrite /q -expR0 ltr_expR oppr_lt0 invr_gt0. Qed.

Let const_ge0 : 0 <= (1 - q) / (1 + q).
Proof. by apply: divr_ge0; rewrite ?subr_ge0 ?(ltW q_lt1) // addr_ge0 // ltW. Qed.

Lemma dlaplace_gt0 k : 0 < dlaplace k.
Proof.
by rewrite dlaplaceE mulr_gt0 ?exprn_gt0 // divr_gt0 ?subr_gt0 // addr_gt0.
Qed.

Lemma dlaplace_matrix_gt0 m n (z : 'M[int]_(m, n)) : 0 < dlaplace_matrix z.
Proof. by apply: prodr_gt0 => i _; apply: prodr_gt0 => j _; exact: dlaplace_gt0. Qed.

(* The premise is a scale t > 0. *)
(*@ DISCRETE-LAPLACE-TOTAL *)
Theorem dlaplace_total : mass dlaplace setT = 1%E.
Proof.
have p0 k : (0 <= (dlaplace k)%:E)%E by rewrite lee_fin ltW // dlaplace_gt0.
rewrite /mass (esumID (range Posz)); last by move=> k _; exact: p0.
have -> : [set: int] `&` ~` range Posz = range Negz.
  apply/seteqP; split=> [[k|k] [_ nk]|_ [k _ <-]]; [by case: nk; exists k|by exists k|].
  by split=> // -[].
rewrite setTI !esum_image; last 2 first.
- by move=> j k _ _ [].
- by move=> j k _ _ [].
rewrite (eq_esum (b := fun k => ((1 - q) / (1 + q) * q ^+ k)%:E)); last first.
  by move=> k _; rewrite dlaplaceE.
rewrite [X in (_ + X)%E](eq_esum (b := fun k => ((1 - q) / (1 + q) * q * q ^+ k)%:E)); last first.
  by move=> k _; congr (_%:E); rewrite dlaplaceE -[RHS]mulrA -exprS.
have q01 : 0 <= q < 1 by rewrite ltW.
rewrite !(esum_geometric _ q01) //; last by apply: mulr_ge0 => //; exact: ltW.
rewrite -EFinD; congr (_%:E).
have n1 : 1 - q != 0 by rewrite gt_eqF // subr_gt0.
have n2 : 1 + q != 0 by rewrite gt_eqF // addr_gt0.
by field; rewrite n1 n2.
Qed.

(* Independent entries, by induction over their number. *)
Let int_row k (xv : int * 'rV[int]_k) : 'rV[int]_k.+1 :=
  \row_j (if unlift ord0 j is Some i then xv.2 ord0 i else xv.1).

Let int_row_bij k : set_bij setT setT (@int_row k).
Proof.
split=> // [[x v] [y w] _ _ /rowP e|v _] /=.
  have := e ord0; rewrite !mxE unlift_none => /= ->; congr (_, _).
  by apply/rowP => j; have := e (lift ord0 j); rewrite !mxE liftK.
exists (v ord0 ord0, \row_j v ord0 (lift ord0 j)) => //.
by apply/rowP => j; rewrite mxE; case: unliftP => [i ->|->] //=; rewrite mxE.
Qed.

Let row_total k : mass (fun v : 'rV[int]_k => \prod_j dlaplace (v ord0 j)) setT = 1%E.
Proof.
elim: k => [|k IH].
  rewrite (_ : setT = [set (0 : 'rV[int]_0)]) /mass ?esum_set1 ?big_ord0 ?lee_fin //.
  by apply/seteqP; split=> // v _; apply/rowP => -[].
have d0 j : 0 <= dlaplace j by rewrite ltW // dlaplace_gt0.
rewrite /mass (reindex_esum setT setT _ _ (@int_row_bij k)).
rewrite (_ : setT = [set: int] `*`` (fun=> [set: 'rV[int]_k])); last by apply/seteqP; split.
pose f (x : int) (v : 'rV[int]_k) := (dlaplace x * \prod_j dlaplace (v ord0 j))%:E.
rewrite (eq_esum (b := fun xv => f xv.1 xv.2)).
  rewrite -esum_esum; last by move=> x v; rewrite lee_fin mulr_ge0 // prodr_ge0.
  rewrite -[RHS]dlaplace_total; apply: eq_esum => x _.
  under eq_esum do rewrite /f EFinM.
  rewrite esum_scale ?dlaplace_gt0 //; first by rewrite [X in (_ * X)%E]IH mule1.
  by move=> v; rewrite lee_fin prodr_ge0.
move=> [x v] _; rewrite big_ord_recl /int_row !mxE unlift_none /=; congr (_ * _)%:E.
by apply: eq_bigr => j _; rewrite mxE liftK.
Qed.

(* The premise is a scale t > 0. *)
(*@ DISCRETE-LAPLACE-MATRIX-TOTAL *)
Theorem dlaplace_matrix_total m n : mass (@dlaplace_matrix m n) setT = 1%E.
Proof.
rewrite -(row_total (m * n)) /mass.
have bij : set_bij setT setT (@mxvec int m n).
  split=> // [A B _ _|v _]; first exact: (can_inj mxvecK).
  by exists (vec_mx v) => //; rewrite vec_mxK.
rewrite (reindex_esum setT setT _ _ bij); apply: eq_esum => z _; congr (_%:E).
rewrite (reindex _ (curry_mxvec_bij m n)) /= /dlaplace_matrix pair_bigA /=.
by apply: eq_bigr => -[i j] _; rewrite mxvecE.
Qed.

End Noise.

(* ---------------------------------------------------------------------------- *)
(* The mechanism                                                                *)

(* Noise whose probabilities fall by the factor e^(-N/t), where N is the length of a
   difference of outputs. *)
Section Shift.
Variables (R : realType) (T : countZmodType) (t : R) (N : T -> int) (p : T -> R).
Hypotheses (p_gt0 : 0 < p 0) (pE : forall z, p z = p 0 * expR (- ((N z)%:~R / t))).
Hypothesis t_gt0 : 0 < t.
Hypothesis N_triangle : forall a b y, N (y - b) <= N (y - a) + N (a - b).

Let p_ge0 z : (0 <= (p z)%:E)%E.
Proof. by rewrite lee_fin pE mulr_ge0 ?ltW ?expR_gt0. Qed.

(* The law of a + Z. *)
Lemma mass_shift (a : T) (S : set T) :
  mass p [set z | S (a + z)] = \esum_(y in S) (p (y - a))%:E.
Proof.
rewrite /mass (reindex_esum S [set z | S (a + z)] (fun y => y - a)) //.
split=> [y Sy|y w _ _|z Sz] /=; first by rewrite addrC subrK.
  by move=> /addIr.
by exists (a + z) => //; rewrite addrAC subrr add0r.
Qed.

Lemma mass_shift_dp X (nb : X -> X -> Prop) (query : X -> T) (Delta : int) (eps : R) :
  (forall x x', nb x x' -> N (query x - query x') <= Delta) -> Delta%:~R / t <= eps ->
  dp nb eps (fun x (S : set (discrete T)) => mass p [set z | S (query x + z)]).
Proof.
move=> sens De x x' xx' S _; rewrite !mass_shift -esum_scale ?expR_gt0 //.
apply: le_esum => y _; rewrite -EFinM lee_fin [p (y - _)]pE [p (y - query x')]pE.
rewrite mulrCA ler_pmul2l // -expRD ler_expR ler_subr_addl.
apply: le_trans De; rewrite -mulrBl ler_pmul2r ?invr_gt0 //.
apply: (@le_trans _ _ (N (query x - query x'))%:~R); last by rewrite ler_int sens.
by rewrite ler_subl_addl -intrD ler_int N_triangle.
Qed.

Lemma mass_shift_tight X (nb : X -> X -> Prop) (query : X -> T) (eps : R) (x x' : X) :
  nb x x' -> dp nb eps (fun x (S : set (discrete T)) => mass p [set z | S (query x + z)]) ->
  (N (query x - query x'))%:~R / t <= eps.
Proof.
move=> xx' /(_ x x' xx' [set query x] I); rewrite !mass_shift !esum_set1 //.
rewrite subrr -EFinM lee_fin [p (_ - _)]pE mulrCA ler_pmulr // -expRD -expR0 ler_expR.
by rewrite subr_ge0.
Qed.

End Shift.

Section Mechanism.
Variables (R : realType) (t : R).
Hypothesis t_gt0 : 0 < t.

(* Publish q(x) + Z. *)
Definition discrete_laplace (X : Type) (q : X -> int) (x : X) (S : set (discrete int)) : \bar R :=
  mass (dlaplace t) [set z | S (q x + z)].

Let dlaplace0E k : dlaplace t k = dlaplace t 0 * expR (- (`|k|%:~R / t)).
Proof. by rewrite /dlaplace normr0 mul0r oppr0 expR0 mulr1. Qed.

Let int_triangle (a b y : int) : `|y - b| <= `|y - a| + `|a - b|.
Proof. by rewrite -(subrKA a y (- b)) ler_norm_add. Qed.

(* The premises are a scale t > 0, an integer query that moves by at most Delta between
   neighbours, and Delta/t <= eps. *)
(*@ DISCRETE-LAPLACE-DP *)
Theorem discrete_laplace_dp X (nb : X -> X -> Prop) (q : X -> int) (Delta : int) (eps : R) :
  (forall x x', nb x x' -> `|q x - q x'| <= Delta) -> Delta%:~R / t <= eps ->
  dp nb eps (discrete_laplace q).
Proof.
exact: (@mass_shift_dp R [countZmodType of int] t _ _ (dlaplace_gt0 t_gt0 0) dlaplace0E t_gt0
  int_triangle).
Qed.

(* No smaller eps will do. *)
(* The premises are a scale t > 0, neighbours x and x', and eps-DP of the release. *)
(*@ DISCRETE-LAPLACE-TIGHT *)
Theorem discrete_laplace_tight X (nb : X -> X -> Prop) (q : X -> int) (eps : R) x x' :
  nb x x' -> dp nb eps (discrete_laplace q) -> `|q x - q x'|%:~R / t <= eps.
Proof.
exact: (@mass_shift_tight R [countZmodType of int] t _ _ (dlaplace_gt0 t_gt0 0) dlaplace0E).
Qed.

Variables m n : nat.

(* The sum of the absolute values of the entries. *)
Definition entry_sum (z : 'M[int]_(m, n)) : int := \sum_i \sum_j `|z i j|.

(* Publish q(x) + Z, where Z has independent entries. *)
Definition discrete_laplace_matrix (X : Type) (q : X -> 'M[int]_(m, n)) (x : X)
    (S : set (discrete (integers m n))) : \bar R :=
  mass (@dlaplace_matrix R t m n) [set z | S (q x + z)].

Let matrixE (z : 'M[int]_(m, n)) :
  dlaplace_matrix t z = dlaplace_matrix t (0 : 'M[int]_(m, n)) * expR (- ((entry_sum z)%:~R / t)).
Proof.
have expS (I : finType) (f : I -> R) : expR (- (\sum_i f i)) = \prod_i expR (- f i).
  by rewrite -sumrN (big_morph _ (@expRD R) (@expR0 R)).
rewrite /dlaplace_matrix /entry_sum rmorph_sum /= mulr_suml expS -big_split.
apply: eq_bigr => i _ /=; rewrite rmorph_sum /= mulr_suml expS -big_split.
by apply: eq_bigr => j _ /=; rewrite dlaplace0E mxE.
Qed.

Let entry_triangle (a b y : 'M[int]_(m, n)) :
  entry_sum (y - b) <= entry_sum (y - a) + entry_sum (a - b).
Proof.
rewrite /entry_sum -big_split ler_sum // => i _ /=.
by rewrite -big_split ler_sum // => j _ /=; rewrite !mxE int_triangle.
Qed.

(* The premises are a scale t > 0, a query of integer matrices whose entries move by at
   most Delta in total between neighbours, and Delta/t <= eps. *)
(*@ DISCRETE-LAPLACE-MATRIX-DP *)
Theorem discrete_laplace_matrix_dp X (nb : X -> X -> Prop) (q : X -> 'M[int]_(m, n))
    (Delta : int) (eps : R) :
  (forall x x', nb x x' -> entry_sum (q x - q x') <= Delta) -> Delta%:~R / t <= eps ->
  dp nb eps (discrete_laplace_matrix q).
Proof.
exact: (@mass_shift_dp R (integers m n) t _ _
  (dlaplace_matrix_gt0 t_gt0 (0 : 'M[int]_(m, n))) matrixE t_gt0 entry_triangle).
Qed.

(* No smaller eps will do. The premises are a scale t > 0, neighbours x and x', and eps-DP
   of the release. *)
(*@ DISCRETE-LAPLACE-MATRIX-TIGHT *)
Theorem discrete_laplace_matrix_tight X (nb : X -> X -> Prop) (q : X -> 'M[int]_(m, n)) (eps : R)
    x x' :
  nb x x' -> dp nb eps (discrete_laplace_matrix q) -> (entry_sum (q x - q x'))%:~R / t <= eps.
Proof.
exact: (@mass_shift_tight R (integers m n) t _ _
  (dlaplace_matrix_gt0 t_gt0 (0 : 'M[int]_(m, n))) matrixE).
Qed.

End Mechanism.
