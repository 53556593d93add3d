(******************************************************************************)
(* Adding Wishart noise W to a covariance is not differentially private.      *)
(*                                                                            *)
(* W is positive definite, so Y - S is positive semidefinite for every output *)
(* Y = S + W on the data with covariance S. On the neighbour with covariance  *)
(* S - v v^T / n this fails exactly when v^T W^-1 v > n. If that has          *)
(* probability p, the release is not (epsilon, delta)-private for any         *)
(* delta < p, whatever epsilon is. For the mechanism calibrated to epsilon    *)
(* the law of v^T W^-1 v is that of (2 n epsilon/3)/chi^2_2 for unit v (named *)
(* assumption A-WISHART-QUADRATIC), so p = P (chi^2_2 < 2 epsilon/3), and the *)
(* last theorem computes this as 1 - exp (- epsilon/3). In dimension one      *)
(* nothing is assumed: WishartWitness.v.                                      *)
(******************************************************************************)
From mathcomp Require Import all_ssreflect ssralg ssrnum interval zmodp matrix.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets functions.
From mathcomp.analysis Require Import reals ereal sequences exp measure lebesgue_measure.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Import Euclidean.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope. Local Open Scope classical_set_scope.

(* THE EVENT *)

Section Event.
Variables (R : rcfType) (d : nat) (W : 'M[R]_d) (v : 'cV[R]_d) (n : R).
Hypotheses (psdW : psd W) (unitW : W \in unitmx) (n0 : 0 < n).

(* W - v v^T / n is positive semidefinite exactly when v^T W^-1 v <= n *)
(* The premises are a positive semidefinite and invertible W and n > 0. *)
(*@ WISHART-EVENT *)
Theorem wishart_event : psd (W - n^-1 *: (v *m v^T)) <-> form (invmx W) v <= n.
Proof.
have [sW W0] := psdW; pose z := invmx W *m v.
have Wz : W *m z = v by rewrite /z mulmxA mulmxV // mul1mx.
pose t := form (invmx W) v; have tE : t = dot v z by [].
have fz : form W z = t by rewrite /form Wz dotC.
have value u : form (W - n^-1 *: (v *m v^T)) u = form W u - n^-1 * dot v u ^+ 2.
  by rewrite formB formZ form_outer.
split=> [[_ /(_ z)]|tn].
  rewrite value fz -tE -/t => h; rewrite leNgt; apply/negP => nt; move: h; apply/negP.
  rewrite -ltNge subr_lt0 mulrC ltr_pdivl_mulr // expr2 ltr_pmul2l //.
  exact: lt_trans n0 nt.
split; first by rewrite /symmetric trD trN linearZ /= sW symmetric_outer.
move=> u; rewrite value; set b := dot v u.
have bE : dot z (W *m u) = b by rewrite dot_sym // Wz.
have := W0 (u - (b / n) *: z).
have -> : form W (u - (b / n) *: z) = form W u - (b / n * b) *+ 2 + (b / n) ^+ 2 * t.
  rewrite -fz /form mulmxBr -scalemxAr !dotL bE (dot_sym u z sW) (dotC (W *m u) z) bE.
  by move: (dot u (W *m u)) (dot z (W *m z)) (b / n) => p q k; ring.
move=> h; apply: le_trans h _; rewrite -addrA ler_add2l.
have : (b / n) ^+ 2 * t <= (b / n) ^+ 2 * n by rewrite ler_wpmul2l // sqr_ge0.
move=> h; apply: le_trans (ler_add (lexx _) h) _.
rewrite le_eqVlt; apply/orP/or_introl/eqP; field.
by rewrite gt_eqF.
Qed.

End Event.

(* WHAT AN EVENT OF PROBABILITY ZERO COSTS *)

Section Privacy.
Variables (R : realType) (Y : Type) (events : set (set Y)).

(* (epsilon, delta)-privacy of the laws P, Q of two neighbours, for the events of the class *)
Definition indistinguishable (eps delta : R) (P Q : set Y -> \bar R) :=
  forall S, events S -> (P S <= (expR eps)%:E * Q S + delta%:E)%E.

(*@ DP-ZERO-EVENT *)
Theorem zero_event (eps delta p : R) (P Q : set Y -> \bar R) (S : set Y) :
  events S -> Q S = 0%E -> P S = p%:E -> indistinguishable eps delta P Q -> p <= delta.
Proof. by move=> eS Q0 Pp /(_ S eS); rewrite Q0 Pp mule0 add0e lee_fin. Qed.

End Privacy.

Section Mechanism.
Variables (R : realType) (dd : measure_display) (Omega : measurableType dd).
Variables (P : {measure set Omega -> \bar R}) (d : nat) (W : Omega -> 'M[R]_d).

(* the law of S + W *)
Definition release (S : 'M[R]_d) (E : set 'M[R]_d) : \bar R := P [set w | E (S + W w)].

Variables (events : set (set 'M[R]_d)) (S : 'M[R]_d) (v : 'cV[R]_d) (n p : R).
Hypotheses (psdW : forall w, psd (W w)) (unitW : forall w, W w \in unitmx) (n0 : 0 < n).
Hypothesis observable : events [set y | ~ psd (y - S)].
Hypothesis tail : P [set w | n < form (invmx (W w)) v] = p%:E.

(* The premises are that every value W(w) of the noise is positive semidefinite and
   invertible, that n > 0, that the set of the y with y - S not positive semidefinite is an
   event, and that v^T W^-1 v exceeds n with probability p. *)
(*@ WISHART-REFUTED *)
Theorem wishart_not_private (eps delta : R) :
  indistinguishable events eps delta (release (S - n^-1 *: (v *m v^T))) (release S) -> p <= delta.
Proof.
apply: (zero_event observable).
  rewrite /release (_ : [set _ | _] = set0) ?measure0 //.
  by apply/seteqP; split=> w //=; rewrite addrC addKr => /(_ (psdW w)).
have e w : S - n^-1 *: (v *m v^T) + W w - S = W w - n^-1 *: (v *m v^T).
  by rewrite addrAC [S - _ - S]addrAC subrr sub0r addrC.
rewrite /release -tail; congr (P _); apply/seteqP; split=> w /=; rewrite e.
  move=> np; rewrite ltNge; apply/negP => le; apply: np.
  by apply/(wishart_event v (psdW w) (unitW w) n0).
move=> lt /(wishart_event v (psdW w) (unitW w) n0) le.
by move: lt; rewrite ltNge le.
Qed.

End Mechanism.

(* THE PROBABILITY *)

Section ChiSquare.
Variable R : realType.

(* chi^2_2 is the exponential law of mean 2: - 2 ln (1 - x) for x uniform on [0, 1] *)
Definition chi2_of_uniform (x : R) : R := - (2%:R * ln (1 - x)).

(* P (chi^2_2 < t) = 1 - exp (- t/2); at t = 2 epsilon/3 this is 1 - exp (- epsilon/3) *)
(*@ WISHART-PROBABILITY *)
Theorem chi2_probability (t : R) : 0 < t ->
  lebesgue_measure [set x | 0 <= x < 1 /\ chi2_of_uniform x < t]
  = (1 - expR (- (t / 2%:R)))%:E.
Proof.
move=> t0; set q := 1 - _.
have q0 : 0 <= q by rewrite subr_ge0 ltW // expR_lt1 oppr_lt0 divr_gt0 ?ltr0n.
have q1 : q < 1 by rewrite ltr_subl_addr ltr_addl expR_gt0.
rewrite (_ : [set _ | _] = `[0, q[).
  rewrite lebesgue_measure_itv hlength_itv /= lte_fin; move: q0.
  rewrite le_eqVlt => /orP[/eqP <-|->]; first by rewrite ltxx.
  by rewrite oppr0 adde0.
have key x : x < 1 -> (chi2_of_uniform x < t) = (x < q).
  move=> x1; have y0 : 0 < 1 - x by rewrite subr_gt0.
  rewrite /chi2_of_uniform ltr_oppl (_ : - t = 2%:R * - (t / 2%:R)); last by field.
  rewrite ltr_pmul2l ?ltr0n // -ltr_expR lnK // /q.
  by rewrite ltr_subr_addl -ltr_subr_addr.
apply/seteqP; split=> x /=; rewrite in_itv /=.
  by move=> [/andP[-> x1]]; rewrite key.
move=> /andP[x0 xq]; have x1 : x < 1 by apply: lt_trans q1.
by rewrite x0 x1 key.
Qed.

End ChiSquare.
