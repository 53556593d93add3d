(******************************************************************************)
(* The potential V(w) = - sum_(i<j) ln |w_i^2 - w_j^2| of the spectrum of     *)
(* nuclear-Laplace noise, and its first two derivatives along straight lines. *)
(*                                                                            *)
(* Wherever the squares w_i^2 are distinct, in every direction h:             *)
(*   d/dt V(w + t h)     = - sum_(i<j) ( (h_i - h_j)/(w_i - w_j)              *)
(*                                     + (h_i + h_j)/(w_i + w_j) )            *)
(*   d^2/dt^2 V(w + t h) = sum_(i<j) ( ((h_i - h_j)/(w_i - w_j))^2            *)
(*                                   + ((h_i + h_j)/(w_i + w_j))^2 ).         *)
(* These are derivatives in the sense of analysis (limits of quotients), over *)
(* the real numbers. Nothing is assumed.                                      *)
(******************************************************************************)
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.classical Require Import mathcomp_extra boolp classical_sets functions.
From mathcomp.analysis Require Import reals topology normedtype derive realfun exp.
From mathcomp.algebra_tactics Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Import numFieldTopology.Exports numFieldNormedType.Exports.
Local Open Scope ring_scope.

Section LogAbs.
Variable R : realType.
Implicit Types (f : R -> R) (t : R).

Definition ln_abs (x : R) : R := ln `|x|.

Lemma ln_absE x : ln_abs x = 2%:R^-1 * ln (x ^+ 2).
Proof.
rewrite /ln_abs; have [->|x0] := eqVneq x 0.
  by rewrite normr0 expr0n ln0 // mulr0.
by rewrite -real_normK ?num_real // lnX ?normr_gt0 // -[ln _ *+ 2]mulr_natl mulKf ?pnatr_eq0.
Qed.

(* the derivative of ln |f| is f'/f *)
Lemma is_derive_ln_abs f t (df : R) : f t != 0 ->
  is_derive t 1 f df -> is_derive t 1 (fun s => ln_abs (f s)) (df / f t).
Proof.
move=> ft0 dfP.
have -> : (fun s => ln_abs (f s)) = 2%:R^-1 \*: (@ln R \o (f ^+ 2)).
  by apply/funext => s; rewrite ln_absE.
have sq0 : 0 < (f ^+ 2) t by rewrite exprfctE exprn_even_gt0.
have dln := is_derive1_ln sq0; have dsq := is_deriveX 1 dfP.
apply: is_derive_eq (is_deriveZ 2%:R^-1 (is_derive1_comp dln dsq)) _.
rewrite exprfctE expr1; rewrite /GRing.scale /=; field.
exact: ft0.
Qed.

Lemma is_derive_affine (a b t : R) : is_derive t 1 (fun s => a + s * b) b.
Proof.
have -> : (fun s => a + s * b) = cst a + (b \*: id) by apply/funext => s; rewrite /= mulrC.
by apply: is_derive_eq; rewrite add0r /GRing.scale /= mulr1.
Qed.

Lemma is_derive_bigsum I (r : seq I) (P : pred I) (f : I -> R -> R) (df : I -> R) t :
  (forall i, P i -> is_derive t 1 (f i) (df i)) ->
  is_derive t 1 (fun s => \sum_(i <- r | P i) f i s) (\sum_(i <- r | P i) df i).
Proof.
move=> dfP; elim: r => [|i r IH].
  rewrite big_nil (_ : (fun _ => _) = cst 0); first exact: is_derive_cst.
  by apply/funext => s; rewrite big_nil.
rewrite big_cons; have [Pi|nPi] := boolP (P i).
  rewrite (_ : (fun _ => _) = f i + (fun s => \sum_(i <- r | P i) f i s)).
    exact: is_deriveD (dfP i Pi) IH.
  by apply/funext => s; rewrite big_cons Pi.
rewrite (_ : (fun _ => _) = (fun s => \sum_(i <- r | P i) f i s)) //.
by apply/funext => s; rewrite big_cons (negbTE nPi).
Qed.

End LogAbs.

Section Potential.
Variables (R : realType) (d : nat).
Implicit Types (w h : 'I_d -> R).

(* no square occurs twice: the points where V is finite *)
Definition separated w := forall i j : 'I_d, (i < j)%N -> w i ^+ 2 != w j ^+ 2.

Definition potential w : R :=
  - \sum_(i < d) \sum_(j < d | (i < j)%N) ln_abs (w i ^+ 2 - w j ^+ 2).

(* the point w + t h *)
Definition shifted w h (t : R) : 'I_d -> R := fun i => w i + t * h i.

(* the two derivatives, as functions of the point and the direction *)
Definition slope w h : R :=
  - \sum_(i < d) \sum_(j < d | (i < j)%N)
      ((h i - h j) / (w i - w j) + (h i + h j) / (w i + w j)).

Definition curvature w h : R :=
  \sum_(i < d) \sum_(j < d | (i < j)%N)
    (((h i - h j) / (w i - w j)) ^+ 2 + ((h i + h j) / (w i + w j)) ^+ 2).

Lemma separated_diff w (i j : 'I_d) : separated w -> (i < j)%N ->
  (w i - w j != 0) /\ (w i + w j != 0).
Proof.
move=> sep ij; have := sep i j ij; rewrite -(subr_eq0 (w i ^+ 2)) subr_sqr mulf_eq0 negb_or.
by move=> /andP.
Qed.

(* along w + t h the differences and the sums are affine functions of t *)
Let diff w h (i j : 'I_d) (t : R) := (w i - w j) + t * (h i - h j).
Let sum w h (i j : 'I_d) (t : R) := (w i + w j) + t * (h i + h j).
Let diffE w h i j t : shifted w h t i - shifted w h t j = diff w h i j t.
Proof. by rewrite /shifted /diff; ring. Qed.
Let sumE w h i j t : shifted w h t i + shifted w h t j = sum w h i j t.
Proof. by rewrite /shifted /sum; ring. Qed.

(*@ VANDERMONDE-SLOPE *)
Theorem is_derive_potential w h (t : R) : separated (shifted w h t) ->
  is_derive t 1 (fun s => potential (shifted w h s)) (slope (shifted w h t) h).
Proof.
move=> sep; rewrite /potential /slope.
apply: is_deriveN; apply: is_derive_bigsum => i _; apply: is_derive_bigsum => j ij.
have [m p] := separated_diff sep ij; rewrite diffE in m; rewrite sumE in p.
have fE s : shifted w h s i ^+ 2 - shifted w h s j ^+ 2 = (diff w h i j * sum w h i j) s.
  by rewrite subr_sqr diffE sumE.
rewrite (_ : (fun _ => _) = (fun s => ln_abs ((diff w h i j * sum w h i j) s))); last first.
  by apply/funext => s; rewrite fE.
have dd : is_derive t 1 (diff w h i j) (h i - h j) by apply: is_derive_affine.
have ds : is_derive t 1 (sum w h i j) (h i + h j) by apply: is_derive_affine.
apply: is_derive_eq (is_derive_ln_abs _ (is_deriveM dd ds)) _; first by rewrite mulf_neq0.
rewrite diffE sumE /GRing.scale /= -[(_ * _) t]/(diff w h i j t * sum w h i j t).
by move: (diff w h i j t) (sum w h i j t) m p => a b a0 b0; field; rewrite a0 b0.
Qed.

(*@ VANDERMONDE-CURVATURE *)
Theorem is_derive_slope w h (t : R) : separated (shifted w h t) ->
  is_derive t 1 (fun s => slope (shifted w h s) h) (curvature (shifted w h t) h).
Proof.
move=> sep; rewrite /slope /curvature.
rewrite -[X in is_derive _ _ _ X]opprK -sumrN.
apply: is_deriveN; apply: is_derive_bigsum => i _; rewrite -sumrN.
apply: is_derive_bigsum => j ij.
have [m p] := separated_diff sep ij; rewrite diffE in m; rewrite sumE in p.
have dd : is_derive t 1 (diff w h i j) (h i - h j) by apply: is_derive_affine.
have ds : is_derive t 1 (sum w h i j) (h i + h j) by apply: is_derive_affine.
have vd := is_deriveV m dd; have vs := is_deriveV p ds.
rewrite (_ : (fun _ => _) = (h i - h j) \*: (fun s => (diff w h i j s)^-1)
    + (h i + h j) \*: (fun s => (sum w h i j s)^-1)); last first.
  by apply/funext => s; rewrite diffE sumE.
apply: is_derive_eq (is_deriveD (is_deriveZ _ vd) (is_deriveZ _ vs)) _.
rewrite diffE sumE /GRing.scale /=.
by move: (diff w h i j t) (sum w h i j t) m p => a b a0 b0; field; rewrite a0 b0.
Qed.

(* the premise holds at some point: w_i = i, t = 0 *)
Lemma separated_inhabited : separated (fun i : 'I_d => i%:R).
Proof.
move=> i j ij; rewrite eqr_expn2 ?ler0n // eqr_nat neq_ltn ij //.
Qed.

End Potential.
