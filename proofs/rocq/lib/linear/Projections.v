(******************************************************************************)
(* Projections in the Frobenius norm.                                         *)
(*                                                                            *)
(* p is the projection of x onto a convex set K when p is in K and            *)
(* <x - p, c - p> <= 0 for every c in K. Then p is a nearest point of K, and  *)
(* two projections are no farther apart than the points they come from.       *)
(* Soft thresholding u_i = max (v_i - theta, 0) with the multiplier theta is  *)
(* the projection onto {w >= 0, sum w <= r}, and doing it to the singular     *)
(* values of M is the projection of M onto the nuclear-norm ball of radius r. *)
(* The proof of the last uses the duality of the norms, not von Neumann's     *)
(* trace inequality. Finding theta and the singular value decomposition are   *)
(* premises.                                                                  *)
(******************************************************************************)
From covassay Require Import MatrixTheory Euclidean MatrixNorms.

Section Convex.
Variables (R : rcfType) (m d : nat) (K : 'M[R]_(m, d) -> Prop).
Implicit Types x y p q c : 'M[R]_(m, d).

Definition projection x p := K p /\ forall c, K c -> frob_dot (x - p) (c - p) <= 0.

Lemma frob_sqrD x y : frob_dot (x + y) (x + y) = frob_dot x x + frob_dot x y *+ 2 + frob_dot y y.
Proof. by rewrite !frob_dotL (frob_dotC y x) mulr2n !addrA. Qed.

(*@ PROJECTION-NEAREST *)
Theorem projection_nearest x p c : projection x p -> K c ->
  frob_dot (x - p) (x - p) <= frob_dot (x - c) (x - c).
Proof.
move=> [_ var] /var le; have -> : x - c = (x - p) + (p - c) by rewrite addrA subrK.
rewrite [X in _ <= X]frob_sqrD -addrA ler_addl addr_ge0 ?frob_dot_ge0 // mulrn_wge0 //.
by rewrite -[p - c]opprB frob_dotNr oppr_ge0.
Qed.

(*@ PROJECTION-LIPSCHITZ *)
Theorem projection_nonexpansive x y p q : projection x p -> projection y q ->
  frob_dot (p - q) (p - q) <= frob_dot (x - y) (x - y).
Proof.
move=> [Kp varp] [Kq varq].
have -> : x - y = (p - q) + ((x - p) - (y - q)).
  by apply/matrixP=> i j; rewrite !mxE; ring.
rewrite [X in _ <= X]frob_sqrD -addrA ler_addl addr_ge0 ?frob_dot_ge0 // mulrn_wge0 //.
rewrite frob_dotC frob_dotDl frob_dotNl subr_ge0; apply: le_trans (varq _ Kp) _.
by rewrite -[p - q]opprB frob_dotNr oppr_ge0 varp.
Qed.

End Convex.

(* SOFT THRESHOLDING *)

Section Simplex.
Variables (R : realFieldType) (d : nat) (v u : 'I_d -> R) (theta r : R).

(* the conditions of Karush, Kuhn and Tucker *)
Definition threshold :=
  [/\ 0 <= theta, forall i, u i = Num.max (v i - theta) 0, \sum_i u i <= r
    & theta * (r - \sum_i u i) = 0].

Hypothesis kkt : threshold.

Lemma threshold_ge0 i : 0 <= u i.
Proof. by have [_ uE _ _] := kkt; rewrite uE le_maxr lexx orbT. Qed.

(* <v - u, w - u> <= 0 for every w of the set *)
(* The premises are that u is v shrunk by theta so that its sum is at most r (threshold:
   u_i = max(v_i - theta, 0), theta >= 0, and the sum is r unless theta = 0), and that w is
   a point of the set: w_i >= 0 with a sum of at most r. *)
(*@ SIMPLEX-PROJECTION *)
Theorem simplex_projection (w : 'I_d -> R) : (forall i, 0 <= w i) -> \sum_i w i <= r ->
  \sum_i (v i - u i) * (w i - u i) <= 0.
Proof.
have [t0 uE ur slack] := kkt; move=> w0 wr.
apply: le_trans (_ : \sum_i theta * (w i - u i) <= _).
  apply: ler_sum => i _; rewrite uE; have [le|lt] := lerP (v i - theta) 0.
    by rewrite !subr0 ler_wpmul2r // -subr_le0.
  by rewrite opprB addrC subrK.
rewrite -mulr_sumr sumrB.
apply: le_trans (_ : theta * (r - \sum_i u i) <= _); last by rewrite slack.
by rewrite ler_wpmul2l // ler_add2r.
Qed.

End Simplex.

(* THE NUCLEAR-NORM BALL *)

Section NuclearBall.
Variables (R : realType) (d : nat) (M U V : 'M[R]_d) (s u : 'rV[R]_d) (theta r : R).
Hypotheses (svdM : svd M U V s) (kkt : threshold (s 0) (u 0) theta r).

Lemma residual_le i : 0 <= s 0 i - u 0 i <= theta.
Proof.
have [t0 uE _ _] := kkt; have [_ _ s0 _] := svdM; rewrite uE.
have [le|lt] := lerP (s 0 i - theta) 0; first by rewrite subr0 s0 /= -subr_le0.
by rewrite opprB addrC subrK t0 lexx.
Qed.

Lemma residual_slack i : (s 0 i - u 0 i) * u 0 i = theta * u 0 i.
Proof.
have [_ uE _ _] := kkt; rewrite uE.
have [le|lt] := lerP (s 0 i - theta) 0; first by rewrite !mulr0.
by rewrite opprB [_ + (_ - _)]addrC subrK.
Qed.

(* the singular vectors stay, the singular values are thresholded *)
Definition shrink : 'M[R]_d := U *m diag_mx u *m V^T.

(* The premises are a singular value decomposition M = U diag(s) V^T and that u is s shrunk
   by theta so that its sum is at most r (threshold). *)
(*@ DN25.NuclearBall-PROJECTION *)
Theorem nuclear_ball_projection : projection (fun B => nuclear_norm B <= r) M shrink.
Proof.
have [t0 uE ur slack] := kkt; have [oU oV s0 ME] := svdM.
have svdP : svd shrink U V u by split=> // i; apply: (threshold_ge0 kkt).
split=> [|B Br]; first by rewrite (nuclear_norm_svd svdP).
have res : M - shrink = U *m diag_mx (s - u) *m V^T.
  have -> : diag_mx (s - u) = diag_mx s - diag_mx u.
    by apply/matrixP=> i j; rewrite !mxE mulrnBl.
  by rewrite ME /shrink mulmxBr mulmxBl.
have op : op_le (M - shrink) theta.
  move=> x; rewrite res -!mulmxA orthogonal_norm //.
  rewrite -(orthogonal_norm x (orthogonal_mx_tr oV)); move: (V^T *m x) => y.
  rewrite -(ger0_norm t0) -normZ norm_le; apply: ler_sum => i _.
  rewrite mul_diag_mx !mxE -!expr2 !exprMn ler_wpmul2r ?sqr_ge0 //.
  by have /andP[lo up] := residual_le i; rewrite ler_sqr ?nnegrE.
rewrite frob_dotDr frob_dotNr subr_le0.
apply: le_trans (frob_dot_le_nuclear B t0 op) _.
apply: le_trans (ler_wpmul2l t0 Br) _.
rewrite [shrink in X in _ <= X]/shrink frob_dot_svd res.
rewrite (eq_bigr (fun i => theta * u 0 i)) => [|i _]; last first.
  by rewrite !mulmxA oU mul1mx -mulmxA oV mulmx1 -residual_slack !mxE eqxx mulr1n.
by rewrite -mulr_sumr -subr_ge0 -mulrBr -opprB mulrN slack oppr0.
Qed.

End NuclearBall.

(* the premises hold: the identity matrix of order 1 and the ball of radius 1/2 *)
Lemma threshold_inhabited (R : realFieldType) :
  @threshold R 1 (fun=> 1) (fun=> 2%:R^-1) (2%:R^-1) (2%:R^-1).
Proof.
have h : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
have e : 1 - 2%:R^-1 = 2%:R^-1 :> R by field.
by split=> // [i||]; rewrite ?big_ord1 ?subrr ?mulr0 // e; apply/esym/max_idPl.
Qed.

(* and those of the projection on the nuclear-norm ball, in every dimension *)
Lemma nuclear_ball_inhabited (R : realType) d :
  let s : 'rV[R]_d := const_mx 1 in let u : 'rV[R]_d := const_mx 2%:R^-1 in
  svd (1%:M : 'M[R]_d) 1%:M 1%:M s /\ threshold (s 0) (u 0) 2%:R^-1 (d%:R / 2%:R).
Proof.
have h : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
have e : 1 - 2%:R^-1 = 2%:R^-1 :> R by field.
have sumE : \sum_i (const_mx 2%:R^-1 : 'rV[R]_d) 0 i = d%:R / 2%:R.
  by rewrite (eq_bigr (fun=> 2%:R^-1)) ?sumr_const ?card_ord ?mulr_natl // => i _; rewrite mxE.
have o : orthogonal_mx (1%:M : 'M[R]_d) by rewrite /orthogonal_mx trmx1 mulmx1.
move=> s u; split.
  split=> // [i|]; first by rewrite /s mxE ler01.
  by rewrite trmx1 mulmx1 mul1mx diag_const_mx.
split=> // [i||]; rewrite /u ?sumE ?subrr ?mulr0 // /s !mxE e.
by apply/esym/max_idPl.
Qed.
