(* Finite probability, p-values, and Holm's procedure.

   A distribution is a finite list of outcomes with their probabilities.  The outcomes may be
   of any type.  A p-value is a function p of the outcome; it is super-uniform if
   P(p <= t) <= t for every t >= 0.

   - `upper_tail_valid`: the probability of a statistic at least as large as the one that was
     seen is a super-uniform p-value;
   - `holm_valid`: Holm's procedure rejects a true hypothesis with probability at most alpha,
     however the p-values depend on one another;
   - `weighted_valid`: of several p-values any may be chosen by the same draws if it is divided
     by its weight, and the weights add up to at most one (k p-values: the weights 1/k);
   - `fubini`: independent draws may be taken in either order.

   Assumed: nothing. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Distributions.
Variable R : realFieldType.

Record distribution (T : Type) := Distribution {
  atoms :> seq (R * T);
  weights_ge0 : all (fun a => 0 <= a.1) atoms;
  weights_sum1 : \sum_(a <- atoms) a.1 = 1 }.

Section Means.
Variables (T : Type) (D : distribution T).
Implicit Types (f g : T -> R) (A B : pred T).

Definition mean f : R := \sum_(a <- D) a.1 * f a.2.

(* The probability of an event. *)
Definition pr A : R := mean (fun w => (A w)%:R).

Lemma mean_mono f g : (forall w, f w <= g w) -> mean f <= mean g.
Proof.
rewrite /mean => fg; elim: (atoms D) (weights_ge0 D) => [|a l IH] /=; first by rewrite !big_nil.
by case/andP=> a0 l0; rewrite !big_cons ler_add ?IH // ler_wpmul2l.
Qed.

Lemma eq_mean f g : f =1 g -> mean f = mean g.
Proof. by move=> fg; apply: eq_bigr => a _; rewrite fg. Qed.

Lemma mean_add f g : mean (fun w => f w + g w) = mean f + mean g.
Proof. by rewrite /mean -big_split; apply: eq_bigr => a _; rewrite mulrDr. Qed.

Lemma mean_scale c f : mean (fun w => c * f w) = c * mean f.
Proof. by rewrite /mean mulr_sumr; apply: eq_bigr => a _; rewrite mulrCA. Qed.

Lemma mean_const c : mean (fun=> c) = c.
Proof. by rewrite /mean -mulr_suml weights_sum1 mul1r. Qed.

Lemma mean_ge0 f : (forall w, 0 <= f w) -> 0 <= mean f.
Proof. by move=> f0; rewrite -(mean_const 0) mean_mono. Qed.

Lemma mean_gt0 f : (forall w, 0 < f w) -> 0 < mean f.
Proof.
rewrite /mean => f0; have := @ltr01 R; rewrite -(weights_sum1 D).
elim: (atoms D) (weights_ge0 D) => [|a l IH] /=; first by rewrite !big_nil.
case/andP=> a0 l0; rewrite !big_cons.
have tail0 : 0 <= \sum_(b <- l) b.1 * f b.2.
  elim: (l) l0 => [|b m IHm] /=; first by rewrite big_nil.
  by case/andP=> b0 m0; rewrite big_cons addr_ge0 ?IHm // mulr_ge0 // ltW.
have [a_pos _|a_neg] := ltrP 0 a.1; first by rewrite ltr_paddr // mulr_gt0.
by rewrite (le_anti (introT andP (conj a_neg a0))) mul0r !add0r; exact: IH.
Qed.

Lemma mean_sum (I : Type) (r : seq I) (P : pred I) (F : I -> T -> R) :
  mean (fun w => \sum_(i <- r | P i) F i w) = \sum_(i <- r | P i) mean (F i).
Proof. by rewrite /mean exchange_big /=; apply: eq_bigr => a _; rewrite mulr_sumr. Qed.

Lemma pr_mono A B : (forall w, A w -> B w) -> pr A <= pr B.
Proof.
by move=> AB; apply: mean_mono => w; have := AB w; case: (A w) => [->|_]; rewrite ?ler0n.
Qed.

Lemma eq_pr A B : A =1 B -> pr A = pr B.
Proof. by move=> AB; apply: eq_mean => w; rewrite AB. Qed.

Lemma pr_ge0 A : 0 <= pr A.
Proof. by apply: mean_ge0 => w; rewrite ler0n. Qed.

Lemma pr_le1 A : pr A <= 1.
Proof. by rewrite -[X in _ <= X](mean_const 1) mean_mono // => w; rewrite lern1 leq_b1. Qed.

Lemma pr_true : pr xpredT = 1.
Proof. exact: mean_const. Qed.

Lemma pr_not A : pr (fun w => ~~ A w) = 1 - pr A.
Proof.
apply/eqP; rewrite eq_sym subr_eq -mean_add -[X in X == _](mean_const 1).
by apply/eqP/eq_mean => w; case: (A w); rewrite ?add0r ?addr0.
Qed.

Lemma pr_or A B : pr (fun w => A w || B w) <= pr A + pr B.
Proof.
by rewrite /pr -mean_add mean_mono // => w; rewrite -natrD ler_nat;
  case: (A w); case: (B w).
Qed.

Lemma pr_exists (I : finType) (J : pred I) (A : I -> pred T) :
  pr (fun w => [exists i in J, A i w]) <= \sum_(i in J) pr (A i).
Proof.
rewrite /pr -(mean_sum _ _ (fun i w => (A i w)%:R)) mean_mono // => w.
have s0 : 0 <= \sum_(i in J) (A i w)%:R :> R by apply: sumr_ge0 => i _; rewrite ler0n.
case: existsP => [[i /andP[Ji Ai]]|_] //=.
by rewrite (bigD1 i) //= Ai ler_addl; apply: sumr_ge0 => j _; rewrite ler0n.
Qed.

(* Markov's inequality. *)
Lemma markov f c : (forall w, 0 <= f w) -> 0 <= c -> c * pr (fun w => c <= f w) <= mean f.
Proof.
move=> f0 c0; rewrite -mean_scale; apply: mean_mono => w.
by case: (lerP c (f w)) => cf /=; rewrite ?mulr1 ?mulr0.
Qed.

(* ---------------------------------------------------------------------------- *)
(* P-values                                                                     *)

Definition super_uniform (p : T -> R) := forall t, 0 <= t -> pr (fun w => p w <= t) <= t.

(* Levels of 1 and above say nothing. *)
Lemma super_uniform_below1 p :
  (forall t, 0 <= t -> t < 1 -> pr (fun w => p w <= t) <= t) -> super_uniform p.
Proof.
move=> H t t0; have [t1|t1] := ltrP t 1; first exact: H.
exact: le_trans (pr_le1 _) t1.
Qed.

(* A larger p-value is a p-value: to round up is safe. *)
Lemma super_uniform_le p p' : (forall w, p w <= p' w) -> super_uniform p -> super_uniform p'.
Proof.
by move=> pp' H t t0; apply: le_trans (H t t0); apply: pr_mono => w; exact: le_trans.
Qed.

Lemma super_uniform_one : super_uniform (fun=> 1).
Proof.
by apply: super_uniform_below1 => t t0 t1; rewrite /pr mean_const (lt_geF t1).
Qed.

Lemma upper_tail_valid (S : T -> nat) (n : nat) : (forall w, S w <= n)%N ->
  super_uniform (fun w => pr (fun w' => S w <= S w')%N).
Proof.
move=> Sn t t0; pose small i := (pr (fun w' => i <= S w')%N <= t).
case: (pickP (fun i : 'I_n.+1 => small i)) => [i0 small0|none]; last first.
  rewrite (@eq_pr _ xpred0) ?/pr ?mean_const // => w.
  by have := none (Ordinal (Sn w : S w < n.+1)%N).
pose i := [arg min_(i < i0 | small i) i]%N.
have [small_i least] : small i /\ forall j : 'I_n.+1, small j -> (i <= j)%N.
  by rewrite /i; case: arg_minnP.
apply: le_trans small_i; apply: pr_mono => w small_w.
exact: (least (Ordinal (Sn w : S w < n.+1)%N)).
Qed.

Lemma weighted_valid (I : finType) (w : I -> R) (p : I -> T -> R) (c : T -> I) :
  (forall i, 0 < w i) -> \sum_i w i <= 1 -> (forall i, super_uniform (p i)) ->
  super_uniform (fun y => p (c y) y / w (c y)).
Proof.
move=> w0 w1 H t t0.
apply: (@le_trans _ _ (pr (fun y => [exists i in xpredT, p i y <= w i * t]))).
  by apply: pr_mono => y le; apply/existsP; exists (c y); rewrite /= mulrC -ler_pdivr_mulr.
apply: le_trans (pr_exists _ _) _.
apply: (@le_trans _ _ (\sum_i w i * t)).
  by apply: ler_sum => i _; apply: H; rewrite mulr_ge0 // ltW.
by rewrite -mulr_suml -[X in _ <= X]mul1r ler_wpmul2r.
Qed.

(* ---------------------------------------------------------------------------- *)
(* Holm's procedure                                                             *)

Section Holm.
Variables (I : finType) (p : I -> T -> R) (alpha : R).

(* How many p-values are at least as large as the j-th. *)
Definition as_large (w : T) (j : I) : nat := #|[pred l | p j w <= p l w]|.

(* Without sorting: i is rejected if every p_j <= p_i is at most alpha over as_large j. *)
Definition holm_rejects (i : I) (w : T) : bool :=
  [forall j, (p j w <= p i w) ==> (p j w <= alpha / (as_large w j)%:R)].

Theorem holm_valid (true_null : pred I) : 0 <= alpha ->
  (forall i, true_null i -> super_uniform (p i)) ->
  pr (fun w => [exists i in true_null, holm_rejects i w]) <= alpha.
Proof.
move=> alpha0 H; have [none|some] := posnP #|true_null|.
  rewrite (@eq_pr _ xpred0) ?/pr ?mean_const // => w; apply/negbTE/existsPn => i.
  by rewrite (card0_eq none).
have n0 : 0 < #|true_null|%:R :> R by rewrite ltr0n.
have s0 : 0 <= alpha / #|true_null|%:R by rewrite divr_ge0 // ltW.
apply: (@le_trans _ _
  (pr (fun w => [exists i in true_null, p i w <= alpha / #|true_null|%:R]))).
  apply: pr_mono => w /existsP[i /andP[Ti /forallP rej]].
  pose j := [arg min_(k < i | k \in true_null) p k w]%O.
  have [Tj least] : j \in true_null /\ forall k, k \in true_null -> p j w <= p k w.
    by rewrite /j; case: Order.TotalTheory.arg_minP.
  apply/existsP; exists j; rewrite Tj /=.
  have /implyP/(_ (least _ Ti))/le_trans := rej j; apply.
  rewrite ler_wpmul2l // lef_pinv ?posrE ?ltr0n ?ler_nat //.
    by apply: subset_leq_card; apply/subsetP => k Tk; exact: least.
  by apply/card_gt0P; exists j; rewrite inE.
apply: le_trans (pr_exists _ _) _.
apply: (@le_trans _ _ (\sum_(i in true_null) alpha / #|true_null|%:R)).
  by apply: ler_sum => i Ti; exact: H.
by rewrite sumr_const -[_ *+ _]mulr_natr mulfVK // gt_eqF.
Qed.

End Holm.
End Means.

(* ---------------------------------------------------------------------------- *)
(* Distributions from others                                                    *)

(* Independent draws may be taken in either order. *)
Lemma fubini (T U : Type) (D : distribution T) (E : distribution U) (f : T -> U -> R) :
  mean D (fun x => mean E (f x)) = mean E (fun y => mean D (fun x => f x y)).
Proof.
rewrite /mean; under eq_bigr do rewrite mulr_sumr.
rewrite exchange_big; apply: eq_bigr => b _; rewrite mulr_sumr.
by apply: eq_bigr => a _; rewrite mulrCA.
Qed.

Program Definition point (T : Type) (x : T) : distribution T := @Distribution T [:: (1, x)] _ _.
Next Obligation. by rewrite ler01. Qed.
Next Obligation. by rewrite big_seq1. Qed.

Lemma mean_point T (x : T) f : mean (point x) f = f x.
Proof. by rewrite /mean big_seq1 mul1r. Qed.

(* First x from D, then an outcome from K x. *)
Definition then_atoms (T U : Type) (D : distribution T) (K : T -> distribution U) : seq (R * U) :=
  flatten [seq [seq (a.1 * b.1, b.2) | b <- K a.2] | a <- D].

Lemma sum_then (T U : Type) (D : distribution T) (K : T -> distribution U) (F : U -> R) :
  \sum_(c <- then_atoms D K) c.1 * F c.2 = mean D (fun x => mean (K x) F).
Proof.
rewrite /then_atoms big_flatten big_map; apply: eq_bigr => a _.
by rewrite big_map mulr_sumr; apply: eq_bigr => b _; rewrite mulrA.
Qed.

Lemma then_ge0 T U (D : distribution T) (K : T -> distribution U) :
  all (fun c => 0 <= c.1) (then_atoms D K).
Proof.
rewrite /then_atoms; elim: (atoms D) (weights_ge0 D) => [|a l IH] //= /andP[a0 l0].
rewrite all_cat IH // andbT; elim: (atoms (K a.2)) (weights_ge0 (K a.2)) => [|b m IHm] //=.
by case/andP=> b0 m0; rewrite mulr_ge0 ?IHm.
Qed.

Lemma then_sum1 T U (D : distribution T) (K : T -> distribution U) :
  \sum_(c <- then_atoms D K) c.1 = 1.
Proof.
transitivity (\sum_(c <- then_atoms D K) c.1 * 1); first by apply: eq_bigr => c _; rewrite mulr1.
rewrite (sum_then D K (fun=> 1)); apply: etrans (mean_const D 1).
by apply: eq_mean => x; exact: mean_const.
Qed.

Definition and_then T U (D : distribution T) (K : T -> distribution U) : distribution U :=
  Distribution (then_ge0 D K) (then_sum1 D K).

Lemma mean_then T U (D : distribution T) (K : T -> distribution U) f :
  mean (and_then D K) f = mean D (fun x => mean (K x) f).
Proof. exact: sum_then. Qed.

(* n independent draws. *)
Fixpoint draws (T : Type) (D : distribution T) (n : nat) : distribution (seq T) :=
  if n is n'.+1 then and_then D (fun x => and_then (draws D n') (fun s => point (x :: s)))
  else point [::].

Section Draws.
Variables (T : Type) (D : distribution T).

Lemma mean_draws0 f : mean (draws D 0) f = f [::].
Proof. exact: mean_point. Qed.

Lemma mean_drawsS n f :
  mean (draws D n.+1) f = mean D (fun x => mean (draws D n) (fun s => f (x :: s))).
Proof.
rewrite /= mean_then; apply: eq_mean => x; rewrite mean_then.
by apply: eq_mean => s; rewrite mean_point.
Qed.

(* A function of n draws is looked at only on lists of n. *)
Lemma eq_draws n f g : (forall s, size s = n -> f s = g s) -> mean (draws D n) f = mean (draws D n) g.
Proof.
elim: n f g => [|n IH] f g fg; first by rewrite !mean_draws0 fg.
by rewrite !mean_drawsS; apply: eq_mean => x; apply: IH => s sn; rewrite fg //= sn.
Qed.

Lemma draws_mono n f g : (forall s, size s = n -> f s <= g s) ->
  mean (draws D n) f <= mean (draws D n) g.
Proof.
elim: n f g => [|n IH] f g fg; first by rewrite !mean_draws0 fg.
by rewrite !mean_drawsS; apply: mean_mono => x; apply: IH => s sn; rewrite fg //= sn.
Qed.

Lemma draws_cat m n f : mean (draws D (m + n)) f =
  mean (draws D m) (fun s => mean (draws D n) (fun t => f (s ++ t))).
Proof.
elim: m f => [|m IH] f; first by rewrite mean_draws0.
by rewrite addSn !mean_drawsS; apply: eq_mean => x; rewrite IH.
Qed.

Lemma draws_prod n (f : T -> R) : mean (draws D n) (fun s => \prod_(x <- s) f x) = mean D f ^+ n.
Proof.
elim: n => [|n IH]; first by rewrite mean_draws0 big_nil.
rewrite mean_drawsS exprS -IH mulrC -mean_scale; apply: eq_mean => x.
by rewrite mulrC -mean_scale; apply: eq_mean => s; rewrite big_cons.
Qed.

End Draws.
End Distributions.

Arguments draws {R T} D n.
Arguments point {R T} x.
