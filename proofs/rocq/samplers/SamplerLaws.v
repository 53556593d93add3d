(* The samplers of Samplers.v have their laws, exactly, and end with probability 1.

   has_law p mu: for every set S, the share of the strings of k bits on which p gives an
   element of S tends to mu(S), as k grows (FairBits.v).  Integers of the programs are
   those of Coq (N, positive, Z), which are binary.

   The proof has the steps of proofs/paper/discrete-laplace-covariance.md, Theorem 2, and
   discrete-gaussian-covariance.md, Theorem 2.

   Assumed: nothing. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop.
From mathcomp.classical Require Import mathcomp_extra.
From mathcomp Require Import reals ereal signed topology normedtype sequences esum exp.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.zify Require Import zify ssrZ.
From covassay Require Import DiscreteLaplace DiscreteGaussian FairBits Samplers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldNormedType.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* ---------------------------------------------------------------------------- *)
(* Uniform integers                                                             *)

Section Uniform.
Variable R : realType.
Implicit Types (f : N -> R).

Lemma sum_pairs n (F : nat -> R) :
  \sum_(0 <= i < 2 * n) F i = \sum_(0 <= i < n) (F (2 * i)%N + F (2 * i).+1).
Proof.
elim: n => [|n IH]; first by rewrite !big_geq.
by rewrite mulnS addnC addn2 !big_nat_recr //= IH addrA.
Qed.

Lemma bits_expects k f : (forall v, 0 <= f v) ->
  expects (bits k) f ((\sum_(0 <= i < 2 ^ k) f (N.of_nat i)) / 2%:R ^+ k).
Proof.
elim: k f => [|k IH] f f0 /=.
  by rewrite expn0 big_nat1 divr1; exact: expects_return.
pose g b := (\sum_(0 <= i < 2 ^ k)
  f (if b then N.succ_double (N.of_nat i) else N.double (N.of_nat i))) / 2%:R ^+ k.
have -> : (\sum_(0 <= i < 2 ^ k.+1) f (N.of_nat i)) / 2%:R ^+ k.+1 = (g true + g false) / 2%:R.
  rewrite /g -mulrDl -big_split /= expnS sum_pairs exprSr invfM mulrA; congr (_ / _ / _).
  by apply: eq_bigr => i _; rewrite addrC; congr (f _ + f _); lia.
apply: (expects_bind (g := g)) => //; last exact: expects_bit.
move=> b; apply: (expects_bind (g := fun v => f (if b then N.succ_double v else N.double v))) => //.
  by move=> v; exact: expects_return.
exact: IH.
Qed.

Notation real := (fun m : positive => (Pos.to_nat m)%:R : R).

Lemma pos_neq0 (m : positive) : (Pos.to_nat m)%:R != 0 :> R.
Proof. by rewrite pnatr_eq0; lia. Qed.

Lemma width_enough (m : positive) : (Pos.to_nat m <= 2 ^ N.size_nat (Pos.pred_N m))%N.
Proof.
have H (n : N) : (N.to_nat n < 2 ^ N.size_nat n)%N.
  case: n => [|n] //; elim: n => [n IH|n IH|] //=; rewrite expnS.
    by move: IH => /=; lia.
  by move: IH => /=; lia.
by have := H (Pos.pred_N m); lia.
Qed.

(* The mean over 0, ..., m - 1. *)
Lemma below_expects m f : (forall v, 0 <= f v) ->
  expects (below m) f ((\sum_(0 <= i < Pos.to_nat m) f (N.of_nat i)) / (Pos.to_nat m)%:R).
Proof.
move=> f0; pose w := N.size_nat (Pos.pred_N m); pose M := Pos.to_nat m.
have Mw : (M <= 2 ^ w)%N by exact: width_enough.
have w0 : 2%:R ^+ w != 0 :> R by rewrite expf_neq0 // pnatr_eq0.
have M0 : M%:R != 0 :> R by exact: pos_neq0.
pose c : R := 1 - M%:R / 2%:R ^+ w.
have -> : (\sum_(0 <= i < M) f (N.of_nat i)) / M%:R
    = (\sum_(0 <= i < M) f (N.of_nat i)) / 2%:R ^+ w / (1 - c).
  by rewrite /c opprB addrC subrK invf_div mulrA divfK.
have split (F : nat -> R) : \sum_(0 <= i < 2 ^ w) F i
    = \sum_(0 <= i < M) F i + \sum_(M <= i < 2 ^ w) F i by rewrite -big_cat_nat.
apply: expects_until => //.
- by rewrite ltr_subl_addr ltr_addl divr_gt0 ?exprn_gt0 ?ltr0n //; lia.
- pose F v : R := if N.ltb v (Npos m) then f v else 0.
  apply: (expects_bind (g := F)).
  + by case.
  + by move=> v; rewrite /F; have := @expects_return R _ (if N.ltb v (Npos m) then Some v else None)
      (fun r => if r is Some a then f a else 0); case: ifP.
  have -> : \sum_(0 <= i < M) f (N.of_nat i) = \sum_(0 <= i < 2 ^ w) F (N.of_nat i).
    rewrite split [X in _ + X]big_nat_cond [X in _ + X]big1 ?addr0.
      by apply: eq_big_nat => i iM; rewrite /F ifT //; lia.
    by move=> i /andP[iM _]; rewrite /F ifF //; lia.
  by apply: bits_expects => v; rewrite /F; case: ifP.
- pose F v : R := if N.ltb v (Npos m) then 0 else 1.
  apply: (expects_bind (g := F)).
  + by case.
  + by move=> v; rewrite /F; have := @expects_return R _ (if N.ltb v (Npos m) then Some v else None)
      (fun r => if r is Some a then 0 else 1); case: ifP.
  have -> : c = (\sum_(0 <= i < 2 ^ w) F (N.of_nat i)) / 2%:R ^+ w.
    rewrite split big_nat_cond big1 ?add0r; last by move=> i /andP[iM _]; rewrite /F ifT //; lia.
    rewrite (eq_big_nat _ _ (F2 := fun=> 1)); last by move=> i iM; rewrite /F ifF //; lia.
    by rewrite sumr_const_nat natrB // mulrBl natrX divff.
  by apply: bits_expects => v; rewrite /F; case: ifP.
Qed.

Lemma below_ends m : ends R (below m).
Proof.
have := @below_expects m (fun=> 1) (fun=> ler01).
by rewrite sumr_const_nat subn0 divff // pos_neq0.
Qed.

(* ---------------------------------------------------------------------------- *)
(* Decisions                                                                    *)

(* True with probability c. *)
Definition comes_true (p : program bool) (c : R) : Prop :=
  forall f : bool -> R, (forall b, 0 <= f b) -> expects p f (c * f true + (1 - c) * f false).

Lemma chance_ends p q : ends R (chance p q).
Proof. by apply: ends_bind => [|v]; [exact: below_ends|exact: ends_return]. Qed.

Lemma chance_true p q : (N.to_nat p <= Pos.to_nat q)%N ->
  comes_true (chance p q) ((N.to_nat p)%:R / (Pos.to_nat q)%:R).
Proof.
move=> pq f f0; pose g (v : N) := f (N.ltb v p).
apply: (expects_bind (g := g)) => //; first by move=> v; exact: expects_return.
set c := _ / _; suff E : c * f true + (1 - c) * f false
    = (\sum_(0 <= i < Pos.to_nat q) g (N.of_nat i)) / (Pos.to_nat q)%:R by rewrite E; apply: below_expects => v; exact: f0.
rewrite (big_cat_nat _ (n := N.to_nat p)) //=.
have -> : \sum_(0 <= i < N.to_nat p) g (N.of_nat i) = \sum_(0 <= i < N.to_nat p) f true.
  by apply: eq_big_nat => i ip; congr f; lia.
have -> : \sum_(N.to_nat p <= i < Pos.to_nat q) g (N.of_nat i)
    = \sum_(N.to_nat p <= i < Pos.to_nat q) f false.
  by apply: eq_big_nat => i ip; congr f; lia.
rewrite !sumr_const_nat subn0 -!(mulr_natr (f _)) natrB // /c.
by have := pos_neq0 q; move: (_%:R) (_%:R) => x y y0; field.
Qed.

End Uniform.

(* ---------------------------------------------------------------------------- *)
(* Exponentials                                                                 *)

Section Exponential.
Variable R : realType.

Lemma comes_true_ends (p : program bool) (c : R) : comes_true p c -> ends R p.
Proof.
by move=> pc; have := pc (fun=> 1) (fun=> ler01); rewrite !mulr1 addrC subrK.
Qed.

Section Small.
Variables (p : N) (q : positive).
Hypothesis pq : (N.to_nat p <= Pos.to_nat q)%N.
Let x : R := (N.to_nat p)%:R / (Pos.to_nat q)%:R.

(* W i = x^i/i!, the probability that the first i decisions are true. *)
Let W (i : nat) : R := x ^+ i / i`!%:R.

Let WS i : W i * (x / i.+1%:R) = W i.+1.
Proof. by rewrite /W exprSr factS mulnC natrM invfM mulrACA. Qed.

Let x0 : 0 <= x. Proof. by rewrite divr_ge0 ?ler0n. Qed.

Variable f : bool -> R.
Hypothesis f0 : forall b, 0 <= f b.

Let odd_k (k : positive) := N.odd (Npos k).

(* After at most m more decisions. *)
Fixpoint small_rounds (m : nat) (k : positive) : R :=
  if m is m'.+1 then
    x / (Pos.to_nat k)%:R * small_rounds m' (Pos.succ k)
      + (1 - x / (Pos.to_nat k)%:R) * f (odd_k k)
  else 0.

Let k_of j := Pos.of_succ_nat j.

Let small_rounds_ge0 m k : 0 <= small_rounds m k.
Proof.
elim: m k => //= m IH k.
have x1 : x / (Pos.to_nat k)%:R <= 1.
  rewrite ler_pdivr_mulr ?ltr0n; last by lia.
  rewrite mul1r /x ler_pdivr_mulr ?ltr0n; last by lia.
  by rewrite -natrM ler_nat; nia.
by rewrite addr_ge0 // mulr_ge0 ?subr_ge0 // divr_ge0 ?ler0n.
Qed.

Let small_roundsE m j : W j * small_rounds m (k_of j)
  = \sum_(j <= i < j + m) f (~~ odd i) * (W i - W i.+1).
Proof.
elim: m j => [|m IH] j /=; first by rewrite addn0 big_geq // mulr0.
have kj : Pos.to_nat (k_of j) = j.+1 by rewrite /k_of; lia.
rewrite kj addnS big_ltn; last by lia.
have -> : odd_k (k_of j) = ~~ odd j.
  by rewrite /odd_k /k_of; elim: j {IH kj} => //= j <-; case: (Pos.of_succ_nat j).
rewrite -addSn -IH -(WS j) /k_of /=; set y := x / _; set S := small_rounds _ _.
by move: (f _) (W j) => a b; ring.
Qed.

Lemma small_expects l : (fun m => \sum_(0 <= i < m) f (~~ odd i) * (W i - W i.+1)) --> l ->
  expects (chance_exp_small p q) f l.
Proof.
move=> ml; apply: (expects_loop (g := small_rounds)) => //.
  move=> m k; pose h (b : bool) := if b then small_rounds m (Pos.succ k) else f (odd_k k).
  apply: (expects_bind (g := h)).
  - by case=> [k'|b] /=.
  - by move=> b; rewrite /h; have := @expects_return R _ (if b then inl (Pos.succ k) else inr (odd_k k))
      (after (small_rounds m) f); case: b.
  have := @chance_true R p (k * q) _ h; rewrite /= /h.
  have -> : (N.to_nat p)%:R / (Pos.to_nat (k * q))%:R = x / (Pos.to_nat k)%:R.
    rewrite (_ : Pos.to_nat (k * q) = Pos.to_nat q * Pos.to_nat k)%N; last by lia.
    by rewrite natrM invfM mulrA.
  apply; first by nia.
  by case.
have E m : small_rounds m 1 = \sum_(0 <= i < m) f (~~ odd i) * (W i - W i.+1).
  by have := small_roundsE m 0; rewrite /W expr0 divr1 mul1r.
by under eq_fun do rewrite E.
Qed.

End Small.

Lemma cvg_exp_coeff (x : R) : (fun m => x ^+ m / m`!%:R) --> (0 : R).
Proof. by have := (@cvg_series_cvg_0 _ _ _ (@is_cvg_series_exp_coeff R x)). Qed.

Lemma small_true p q : (N.to_nat p <= Pos.to_nat q)%N ->
  comes_true (chance_exp_small p q) (expR (- ((N.to_nat p)%:R / (Pos.to_nat q)%:R)) : R).
Proof.
move=> pq f f0; apply: small_expects => //; set x : R := _ / _.
pose W (i : nat) : R := x ^+ i / i`!%:R.
pose V (i : nat) : R := (- x) ^+ i / i`!%:R.
have VE i : V i = if odd i then - W i else W i.
  by rewrite /V exprNn -signr_odd; case: (odd i); rewrite ?expr1 ?mulN1r ?mulNr ?mul1r.
pose X m : R := \sum_(0 <= i < m) V i.
have sumE m : \sum_(0 <= i < m) f (~~ odd i) * (W i - W i.+1)
   = (f true - f false) * (X m + (V m - W m) / 2%:R) + f false * (1 - W m).
  elim: m => [|m IH].
    by rewrite big_geq // /X big_geq // /V /W !expr0 fact0 divr1; field.
  rewrite big_nat_recr //= IH /X big_nat_recr //= !VE /=.
  by case: (odd m) => /=; move: (\sum_(_ <= _ < _) _) (W m) (W m.+1) (f true) (f false) => a b c d e; field.
under eq_fun do rewrite sumE.
have W0 : W --> (0 : R) by exact: cvg_exp_coeff.
have V0 : V --> (0 : R) by exact: cvg_exp_coeff.
have XE : X --> expR (- x) by exact: is_cvg_series_exp_coeff.
have -> : expR (- x) * f true + (1 - expR (- x)) * f false
  = (f true - f false) * (expR (- x) + 2%:R^-1 * (0 + (-1) * 0)) + f false * (1 + (-1) * 0).
  by move: (expR _) (f true) (f false) => a b c; field.
apply: cvg_add; apply: cvg_scale; apply: cvg_add => //.
- rewrite (_ : (fun m => _) = (fun m => 2%:R^-1 * (V m + (-1) * W m))).
    by apply: cvg_scale; apply: cvg_add => //; exact: cvg_scale.
  by apply/funext => m; rewrite mulrC mulN1r.
- exact: cvg_cst.
- rewrite (_ : (fun m => _) = (fun m => (-1) * W m)); first exact: cvg_scale.
  by apply/funext => m; rewrite mulN1r.
Qed.

End Exponential.

Section Laplace.
Variable R : realType.
Notation size_of := (fun m : positive => (Pos.to_nat m)%:R : R).

Let E (p : N) (q : positive) : R := expR (- ((N.to_nat p)%:R / (Pos.to_nat q)%:R)).

Lemma chance_exp_true p q : comes_true (chance_exp p q) (E p q).
Proof.
move=> f f0.
pose value p := E p q * f true + (1 - E p q) * f false.
pose g := fix g (m : nat) (p : N) : R := if m is m'.+1 then
  if N.ltb (Npos q) p then E 1 1 * g m' (p - Npos q)%num + (1 - E 1 1) * f false else value p
  else 0.
have E0 p' q' : 0 <= E p' q' by rewrite ltW ?expR_gt0.
have E1 p' q' : E p' q' <= 1.
  by rewrite /E -[X in _ <= X](@expR0 R) ler_expR oppr_le0 divr_ge0 ?ler0n.
have g0 m s : 0 <= g m s.
  elim: m s => //= m IH s; case: ifP => _; rewrite /value addr_ge0 // mulr_ge0 // subr_ge0 //.
apply: (expects_loop (g := g)) => //.
- move=> m s /=; case: ifP => qs.
    pose h (b : bool) := if b then g m (s - Npos q)%num else f false.
    apply: (expects_bind (g := h)); first by case=> [s'|b] /=.
      by move=> b; rewrite /h; have := @expects_return R _ (if b then inl (s - Npos q)%num else inr false)
        (after (g m) f); case: b.
    by have := @small_true R 1 1 _ h; apply => //; case=> /=.
  apply: (expects_bind (g := f)); first by case=> [s'|b] /=.
    by move=> b; exact: expects_return.
  by apply: small_true => //; lia.
- apply: (@cvg_near_cst _ R); exists (N.to_nat p).+1 => // m /= pm.
  suff : (N.to_nat p < m)%N -> g m p = value p by apply.
  elim: m p {pm} => // m IH p pm /=; case: ifP => // qp.
  rewrite IH /value; last by lia.
  have -> : E p q = E 1 1 * E (p - Npos q)%num q.
    rewrite /E -[N.to_nat 1]/1%N divr1 -expRD; congr expR; rewrite N2Nat.inj_sub.
    have -> : N.to_nat (Npos q) = Pos.to_nat q by [].
    rewrite -[(N.to_nat p - Pos.to_nat q)%coq_nat]/(N.to_nat p - Pos.to_nat q)%N natrB; last by lia.
    by have := pos_neq0 R q; move: (_%:R) (_%:R) => x y y0; field.
  by move: (E _ _) (E _ _) (f true) (f false) => a b c d; ring.
Qed.

(* ---------------------------------------------------------------------------- *)
(* The geometric law                                                            *)

Let e1 : R := expR (-1).

Let e1_ge0 : 0 <= e1. Proof. by rewrite ltW ?expR_gt0. Qed.
Let e1_lt1 : e1 < 1. Proof. by rewrite /e1 expR_lt1 oppr_lt0. Qed.

Lemma geometric_expects f l : (forall v, 0 <= f v) ->
  (fun m => \sum_(0 <= i < m) (1 - e1) * e1 ^+ i * f (N.of_nat i)) --> l ->
  expects geometric f l.
Proof.
move=> f0 ml.
pose g m (v : N) : R := \sum_(0 <= i < m) (1 - e1) * e1 ^+ i * f (N.of_nat i + v)%num.
have g0 m s : 0 <= g m s.
  by apply: sumr_ge0 => i _; rewrite !mulr_ge0 ?exprn_ge0 // subr_ge0 ltW.
apply: (expects_loop (g := g)) => //.
- by move=> s; rewrite /g big_geq.
- move=> m s; pose h (b : bool) := if b then g m (N.succ s) else f s.
  apply: (expects_bind (g := h)); first by case=> [s'|b] /=.
    by move=> b; rewrite /h; have := @expects_return R _ (if b then inl (N.succ s) else inr s)
      (after (g m) f); case: b.
  have -> : g m.+1 s = E 1 1 * h true + (1 - E 1 1) * h false.
    have -> : E 1 1 = e1 by rewrite /E divr1.
    rewrite /g /h big_nat_recl // expr0 mulr1 addrC; congr (_ + _).
    rewrite /g mulr_sumr; apply: eq_bigr => i _; rewrite exprS.
    rewrite (_ : N.of_nat i.+1 + s = N.of_nat i + N.succ s)%num; last by lia.
    by move: (e1 ^+ i) (f _) => a b; ring.
  by apply: chance_exp_true; case=> /=.
- rewrite (_ : (fun m => g m 0%num) = (fun m => \sum_(0 <= i < m) (1 - e1) * e1 ^+ i * f (N.of_nat i))) //.
  by apply/funext => m; apply: eq_bigr => i _; rewrite N.add_0_r.
Qed.

Lemma geometric_ends : ends R geometric.
Proof.
apply: geometric_expects => //.
rewrite (_ : (fun m => _) = series (sequences.geometric (1 - e1) e1)); last first.
  by apply/funext => m; apply: eq_bigr => i _; rewrite mulr1.
have := @cvg_geometric_series R (1 - e1) e1; rewrite ger0_norm // => /(_ e1_lt1).
by rewrite divff // gt_eqF // subr_gt0.
Qed.

End Laplace.

Section Laplace.
Variable R : realType.
Let E (p : N) (q : positive) : R := expR (- ((N.to_nat p)%:R / (Pos.to_nat q)%:R)).
Let e1 : R := expR (-1).

Let e1_ge0 : 0 <= e1. Proof. by rewrite ltW ?expR_gt0. Qed.
Let e1_lt1 : e1 < 1. Proof. by rewrite /e1 expR_lt1 oppr_lt0. Qed.

Lemma sum_blocks T M (F : nat -> R) :
  \sum_(0 <= x < T * M) F x = \sum_(0 <= i < M) \sum_(0 <= n < T) F (n + T * i)%N.
Proof.
elim: M => [|M IH]; first by rewrite muln0 !big_geq.
rewrite big_nat_recr //= -IH mulnS addnC (big_cat_nat _ (n := (T * M)%N)) ?leq_addr //=.
congr (_ + _); rewrite -{1}[(T * M)%N]add0n big_addn addnC addnK //.
Qed.

Variables t s : positive.
Let T := Pos.to_nat t.
Let S := Pos.to_nat s.
Let q : R := expR (- T%:R^-1).

Let T_gt0 : (0 < T)%N. Proof. by rewrite /T; lia. Qed.
Let S_gt0 : (0 < S)%N. Proof. by rewrite /S; lia. Qed.

Let q_ge0 : 0 <= q. Proof. by rewrite ltW ?expR_gt0. Qed.

Let qX n : q ^+ n = expR (- (n%:R / T%:R)).
Proof. by rewrite /q -expRMm mulrN. Qed.

Let qT : q ^+ T = e1.
Proof. by rewrite qX divff // pnatr_eq0 -lt0n. Qed.

Let size_of (n i : nat) : N := ((N.of_nat n + Npos t * N.of_nat i) / Npos s)%num.

Let size_ofE n i : N.to_nat (size_of n i) = ((n + T * i) %/ S)%N.
Proof.
rewrite /size_of; set a := (N.of_nat n + _)%num; set d := (a / _)%num.
have s0 : Npos s <> N0 by [].
have := N.div_mod a _ s0; have := N.mod_lt a _ s0; rewrite -/d; set r := (a mod _)%num => rS aE.
have -> : (n + T * i = N.to_nat d * S + N.to_nat r)%N by rewrite /T /S /a in aE *; nia.
by rewrite divnMDl // divn_small ?addn0 // /S; lia.
Qed.

(* The probability of the size k is proportional to q^(S k). *)
Definition size_constant : R := (1 - e1) / T%:R * \sum_(0 <= j < S) q ^+ j.

Lemma size_constant_gt0 : 0 < size_constant.
Proof.
rewrite /size_constant mulr_gt0 //.
  by rewrite divr_gt0 ?subr_gt0 ?ltr0n.
rewrite -(prednK S_gt0) big_nat_recl // expr0 ltr_spaddl ?ltr01 //.
by apply: sumr_ge0 => j _; rewrite exprn_ge0.
Qed.

Lemma attempt_size_mass k :
  expects (attempt_size t s) (fun r => (r == Some k)%:R) (size_constant * (q ^+ S) ^+ N.to_nat k).
Proof.
pose K := N.to_nat k; pose M := (S * K.+1)%N.
pose hit (n i : nat) : R := (size_of n i == k)%:R.
pose h n : R := \sum_(0 <= i < M) (1 - e1) * e1 ^+ i * hit n i.
have hitE n i : hit n i = (((n + T * i) %/ S)%N == K)%:R.
  by rewrite /hit -size_ofE /K (inj_eq (f := N.to_nat) N2Nat.inj).
have h0 n : 0 <= h n.
  by apply: sumr_ge0 => i _; rewrite !mulr_ge0 ?exprn_ge0 ?ler0n // subr_ge0 ltW.
pose g (u : N) : R := E u t * h (N.to_nat u).
apply: (expects_bind (g := g)).
- by move=> r; rewrite ler0n.
- move=> u; have -> : g u = E u t * h (N.to_nat u) + (1 - E u t) * 0 by rewrite mulr0 addr0.
  apply: (expects_bind (g := fun b : bool => if b then h (N.to_nat u) else 0)).
  + by move=> r; rewrite ler0n.
  + case; last exact: (@expects_return R _ None (fun r => (r == Some k)%:R)).
    pose v_hit (v : N) : R := (((u + Npos t * v) / Npos s)%num == k)%:R.
    apply: (expects_bind (g := v_hit)).
    * by move=> r; rewrite ler0n.
    * by move=> v; exact: (@expects_return R _ (Some _) (fun r => (r == Some k)%:R)).
    apply: geometric_expects; first by move=> v; rewrite ler0n.
    apply: (@cvg_near_cst _ R); exists M => // m /= Mm.
    have vE i : v_hit (N.of_nat i) = hit (N.to_nat u) i by rewrite /v_hit /hit /size_of N2Nat.id.
    rewrite (big_cat_nat _ (n := M)) //= [X in _ + X]big_nat_cond [X in _ + X]big1 ?addr0.
      by apply: eq_bigr => i _; rewrite vE.
    move=> i /andP[/andP[Mi _] _]; rewrite vE hitE.
    suff -> : (((N.to_nat u + T * i) %/ S)%N == K) = false by rewrite mulr0.
    apply/negbTE; rewrite neq_ltn; apply/orP; right.
    rewrite leq_divRL // mulnC; apply: leq_trans Mi _; apply: leq_trans (leq_addl _ _).
    by rewrite leq_pmull.
  + apply: (@chance_exp_true R u t (fun b : bool => if b then h (N.to_nat u) else 0)).
    by case.
have g0 u : 0 <= g u by rewrite mulr_ge0 // ltW ?expR_gt0.
suff <- : (\sum_(0 <= n < T) g (N.of_nat n)) / T%:R = size_constant * (q ^+ S) ^+ K.
  exact: below_expects.
pose F x : R := (1 - e1) * q ^+ x * ((x %/ S)%N == K)%:R.
have -> : \sum_(0 <= n < T) g (N.of_nat n) = \sum_(0 <= x < T * M) F x.
  rewrite sum_blocks exchange_big /=; apply: eq_bigr => n _.
  rewrite /g /h mulr_sumr; apply: eq_bigr => i _; rewrite /F hitE Nat2N.id.
  by rewrite exprD exprM qT qX /E Nat2N.id -/T; move: (expR _) (e1 ^+ i) => a b; ring.
have -> : (T * M = S * (T * K.+1))%N by rewrite /M mulnCA.
rewrite sum_blocks.
have block i n : (n < S)%N -> ((n + S * i) %/ S)%N = i.
  by move=> nS; rewrite addnC mulnC divnMDl // divn_small // addn0.
have FE i : \sum_(0 <= n < S) F (n + S * i)%N
    = if i == K then (1 - e1) * q ^+ (S * i) * \sum_(0 <= n < S) q ^+ n else 0.
  rewrite mulr_sumr; case: eqP => [->|iK].
    apply: eq_big_nat => n /= nS; rewrite /F block // eqxx mulr1.
    by rewrite exprD mulrA mulrAC.
  rewrite big_nat_cond big1 // => n /andP[/= nS _]; rewrite /F block //.
  by case: eqP => // _; rewrite mulr0.
under eq_bigr do rewrite FE.
have K_in : K \in index_iota 0 (T * K.+1) by rewrite mem_index_iota /= leq_pmull.
rewrite -big_mkcond -big_filter filter_pred1_uniq ?iota_uniq // big_seq1.
by rewrite /size_constant -exprM; move: (\sum_(_ <= _ < _) _) (q ^+ _) => a b; ring.
Qed.

End Laplace.

Section Laplace.
Variable R : realType.

Lemma chance_exp_ends p q : ends R (chance_exp p q).
Proof. exact: comes_true_ends (@chance_exp_true R p q). Qed.

Lemma attempt_laplace_ends t s : ends R (attempt_laplace t s).
Proof.
apply: ends_bind => [|[n|]]; last exact: ends_return.
  apply: ends_bind => [|u]; first exact: below_ends.
  apply: ends_bind => [|[]]; [exact: chance_exp_ends| |exact: ends_return].
  by apply: ends_bind => [|v]; [exact: geometric_ends|exact: ends_return].
by apply: ends_bind => [|b]; [exact: chance_ends|exact: ends_return].
Qed.

Section Scale.
Variables t s : positive.
Let T := Pos.to_nat t.
Let S := Pos.to_nat s.
Let q : R := expR (- T%:R^-1).

Lemma attempt_laplace_mass z : expects (attempt_laplace t s) (fun r => (r == Some z)%:R)
  (2%:R^-1 * (size_constant R t s * (q ^+ S) ^+ N.to_nat (Z.abs_N z))).
Proof.
pose g (r : option N) : R := 2%:R^-1 * (r == Some (Z.abs_N z))%:R.
apply: (expects_bind (g := g)).
- by move=> r; rewrite ler0n.
- case=> [n|]; last by rewrite /g mulr0; exact: (@expects_return R _ None (fun r => (r == Some z)%:R)).
  pose r negative := if negative && N.eqb n 0 then None
    else Some (if negative then - Z.of_N n else Z.of_N n)%Z.
  pose f negative : R := (r negative == Some z)%:R.
  apply: (expects_bind (g := f)); first by move=> o; rewrite ler0n.
    by move=> b; exact: (@expects_return R _ (r b) (fun o => (o == Some z)%:R)).
  have f0 b : 0 <= f b by rewrite ler0n.
  have := @chance_true R 1 2 isT f f0; rewrite -[N.to_nat 1]/1%N -[Pos.to_nat 2]/2%N.
  have -> : g (Some n) = 1%:R / 2%:R * f true + (1 - 1%:R / 2%:R) * f false; last by [].
  have -> : 1 - 1%:R / 2%:R = 2%:R^-1 :> R by field.
  rewrite mul1r -mulrDr -natrD /g /f /r; congr (_ * _%:R).
  case: n {g f0 f r} => [|n] /=.
    by case: z.
  by case: z => [|z|z] //=; rewrite ?addn0 ?add0n; congr nat_of_bool.
by apply: expectsZ; exact: attempt_size_mass.
Qed.

Lemma scale_gt0 : 0 < T%:R / S%:R :> R.
Proof. by rewrite divr_gt0 ?ltr0n /T /S; lia. Qed.

Notation law := (fun z : Z => dlaplace (T%:R / S%:R : R) (int_of_Z z)).

Lemma dlaplace_Z_total : \esum_(z in setT) (law z)%:E = 1%E.
Proof.
have bij : set_bij [set: Z] [set: int] int_of_Z.
  split=> // [z w _ _|k _]; first by move=> /(can_inj int_of_ZK).
  by exists (Z_of_int k) => //; rewrite Z_of_intK.
by rewrite -(dlaplace_total scale_gt0) /mass (reindex_esum _ _ _ _ bij).
Qed.

Lemma discrete_laplace_masses z :
  expects (discrete_laplace t s) (fun b => (b == z)%:R) (law z).
Proof.
pose Q := q ^+ S; have q1 : q < 1.
  by rewrite /q expR_lt1 oppr_lt0 invr_gt0 ltr0n /T; lia.
have QE : Q = expR (- (T%:R / S%:R)^-1).
  by rewrite /Q /q -expRMm invf_div mulrN.
have Q1 : Q < 1 by rewrite QE expR_lt1 oppr_lt0 invr_gt0 scale_gt0.
pose K := (1 - Q) / (1 + Q); have K0 : 0 < K by rewrite divr_gt0 ?subr_gt0 // addr_gt0 // QE expR_gt0.
pose c := 2%:R^-1 * size_constant R t s / K.
apply: (@until_masses R _ _ c (fun z => law z)).
- by rewrite divr_gt0 // mulr_gt0 ?invr_gt0 ?ltr0n // size_constant_gt0.
- exact: attempt_laplace_ends.
- exact: dlaplace_Z_total.
move=> w; have -> : c * law w = 2%:R^-1 * (size_constant R t s * Q ^+ N.to_nat (Z.abs_N w)).
  rewrite dlaplaceE -QE -/K /c (_ : `|int_of_Z w|%N = N.to_nat (Z.abs_N w)); last by case: w => //= p; lia.
  rewrite mulrA divfK ?gt_eqF //. by rewrite -mulrA.
exact: attempt_laplace_mass.
Qed.

Lemma discrete_laplace_ends : ends R (discrete_laplace t s).
Proof.
have := @expects_masses R _ _ (discrete_laplace t s) Some (fun z => law z).
move=> /(_ discrete_laplace_masses (fun=> 1) 1 (fun=> ler01)); apply.
by rewrite -dlaplace_Z_total; apply: eq_esum => z _; rewrite mulr1.
Qed.

(*@ DISCRETE-LAPLACE-SAMPLER *)
Theorem discrete_laplace_law :
  has_law (discrete_laplace t s)
    (fun z => dlaplace ((Pos.to_nat t)%:R / (Pos.to_nat s)%:R : R) (int_of_Z z))
  /\ terminates R (discrete_laplace t s).
Proof.
split; last exact: ends_terminates discrete_laplace_ends.
by apply: masses_law => z; exact: discrete_laplace_masses.
Qed.

End Scale.
End Laplace.

Section Accept.
Variables (R : realType) (a b t : positive).
Let A : R := (Pos.to_nat a)%:R.
Let B : R := (Pos.to_nat b)%:R.
Let T : R := (Pos.to_nat t)%:R.

Let A0 : A != 0. Proof. exact: pos_neq0. Qed.
Let B0 : B != 0. Proof. exact: pos_neq0. Qed.
Let T0 : T != 0. Proof. exact: pos_neq0. Qed.

(* The probability of accepting y, and the two exponents together. *)
Definition accept (y : Z) : R := expR (- ((N.to_nat (Z.abs_N (Z.abs y * Zpos t * Zpos b - Zpos a) ^ 2)%num)%:R
  / (Pos.to_nat (2 * a * b * t ^ 2))%:R)).

Let absE (z : Z) : (`|int_of_Z z| : int)%:~R = (N.to_nat (Z.abs_N z))%:R :> R.
Proof. by rewrite -abszE -pmulrn (_ : `|int_of_Z z|%N = N.to_nat (Z.abs_N z)) //; case: z => //= p; lia. Qed.

Let square_numerator (y : Z) :
  (N.to_nat (Z.abs_N (Z.abs y * Zpos t * Zpos b - Zpos a) ^ 2)%num)%:R
  = ((N.to_nat (Z.abs_N y))%:R * T * B - A) ^+ 2 :> R.
Proof.
set w := (Z.abs y * Zpos t * Zpos b - Zpos a)%Z.
have -> : (N.to_nat (Z.abs_N y))%:R * T * B - A = (int_of_Z w)%:~R :> R.
  rewrite /T /B /A -!natrM !pmulrn -rmorphB; congr (_%:~R).
  by apply: (can_inj Z_of_intK); rewrite int_of_ZK /w; lia.
rewrite -[_ ^+ 2]ger0_norm ?sqr_ge0 // normrX -intr_norm absE -natrX; congr (_%:R).
by rewrite N.pow_2_r N2Nat.inj_mul -mulnn.
Qed.

Lemma acceptE (y : Z) : dlaplace (T / (Pos.to_nat 1)%:R) (int_of_Z y) * accept y
  = (expR (T / (Pos.to_nat 1)%:R)^-1 - 1) / (expR (T / (Pos.to_nat 1)%:R)^-1 + 1) * expR (- (A / B / (2%:R * T ^+ 2)))
    * dgaussian_weight (A / B) (int_of_Z y).
Proof.
rewrite /dlaplace /accept square_numerator -[Pos.to_nat 1]/1%N.
have -> : (Pos.to_nat (2 * a * b * t ^ 2))%:R = 2%:R * A * B * T ^+ 2 :> R.
  rewrite (_ : 2 * a * b * t ^ 2 = 2 * a * b * (t * t))%positive; last by rewrite /Pos.pow /= Pos.mul_1_r.
  by rewrite /A /B /T !Pos2Nat.inj_mul !multE !natrM expr2.
rewrite -!mulrA -!expRD; congr (_ * (_ * expR _)).
have -> : (int_of_Z y)%:~R ^+ 2 = (N.to_nat (Z.abs_N y))%:R ^+ 2 :> R.
  by rewrite -[LHS]ger0_norm ?sqr_ge0 // normrX -intr_norm absE.
rewrite absE; move: (N.to_nat _)%:R A B T A0 B0 T0 => x c d e c0 d0 e0.
by field; rewrite c0 d0 e0.
Qed.

End Accept.

Section Gaussian.
Variables (R : realType) (a b : positive).
Notation A := ((Pos.to_nat a)%:R : R).
Notation B := ((Pos.to_nat b)%:R : R).
Notation t := (gaussian_scale a b).
Notation T := ((Pos.to_nat t)%:R : R).
Notation accept := (accept R a b t).
Notation law := (fun z : Z => dgaussian (A / B) (int_of_Z z)).

Lemma variance_gt0 : 0 < A / B.
Proof. by rewrite divr_gt0 // lt0r pos_neq0 ler0n. Qed.

Lemma dgaussian_Z_total : \esum_(z in setT) (law z)%:E = 1%E.
Proof.
have bij : set_bij [set: Z] [set: int] int_of_Z.
  split=> // [z w _ _|k _]; first by move=> /(can_inj int_of_ZK).
  by exists (Z_of_int k) => //; rewrite Z_of_intK.
by rewrite -(dgaussian_total variance_gt0) /mass (reindex_esum _ _ _ _ bij).
Qed.

Lemma discrete_gaussian_masses z :
  expects (discrete_gaussian a b) (fun r => (r == z)%:R) (law z).
Proof.
have [_ G0] := dgaussian_sum variance_gt0; set G := fine _ in G0.
have GE y : G * law y = dgaussian_weight (A / B) (int_of_Z y) by exact: dgaussian_weightE variance_gt0 _.
pose K := (expR (T / (Pos.to_nat 1)%:R)^-1 - 1) / (expR (T / (Pos.to_nat 1)%:R)^-1 + 1) * expR (- (A / B / (2%:R * T ^+ 2))).
have e1 : 1 < expR (T / (Pos.to_nat 1)%:R)^-1 by rewrite expR_gt1 invr_gt0 divr_gt0 // ?ltr01 // lt0r pos_neq0 ler0n.
have K0 : 0 < K by rewrite mulr_gt0 ?expR_gt0 // divr_gt0 ?subr_gt0 // addr_gt0 // expR_gt0.
apply: (@until_masses R _ _ (K * G) (fun z => law z)).
- by rewrite mulr_gt0.
- apply: ends_bind => [|y]; first exact: discrete_laplace_ends.
  by apply: ends_bind => [|go]; [exact: chance_exp_ends|exact: ends_return].
- exact: dgaussian_Z_total.
move=> y; have -> : K * G * law y = accept y * dlaplace (T / (Pos.to_nat 1)%:R) (int_of_Z y).
  by rewrite -mulrA GE mulrC [RHS]mulrC acceptE mulrC.
pose g (x : Z) : R := accept y * (x == y)%:R.
apply: (expects_bind (g := g)); first by move=> r; rewrite ler0n.
  move=> x; pose f (go : bool) : R := ((if go then Some x else None) == Some y)%:R.
  apply: (expects_bind (g := f)); first by move=> r; rewrite ler0n.
    by move=> go; exact: (@expects_return R _ (if go then Some x else None) (fun r => (r == Some y)%:R)).
  have -> : g x = accept x * f true + (1 - accept x) * f false.
    rewrite /f /g (_ : (Some x == Some y) = (x == y)) // (_ : (None == Some y) = false) // mulr0 addr0.
    by case: eqP => [->//|_]; rewrite !mulr0.
  by apply: chance_exp_true => go; rewrite ler0n.
by apply: expectsZ; exact: discrete_laplace_masses.
Qed.

Lemma discrete_gaussian_ends : ends R (discrete_gaussian a b).
Proof.
have := @expects_masses R _ _ (discrete_gaussian a b) Some (fun z => law z).
move=> /(_ discrete_gaussian_masses (fun=> 1) 1 (fun=> ler01)); apply.
by rewrite -dgaussian_Z_total; apply: eq_esum => z _; rewrite mulr1.
Qed.

(*@ DISCRETE-GAUSSIAN-SAMPLER *)
Theorem discrete_gaussian_law :
  has_law (discrete_gaussian a b)
    (fun z => dgaussian ((Pos.to_nat a)%:R / (Pos.to_nat b)%:R : R) (int_of_Z z))
  /\ terminates R (discrete_gaussian a b).
Proof.
split; last exact: ends_terminates discrete_gaussian_ends.
by apply: masses_law => z; exact: discrete_gaussian_masses.
Qed.

End Gaussian.

(* ---------------------------------------------------------------------------- *)
(* The laws of the decisions                                                    *)

Canonical N_choiceType := Eval hnf in ChoiceType N (CanChoiceMixin N2Nat.id).

Section Decisions.
Variable R : realType.

Lemma comes_true_law (p : program bool) (c : R) : comes_true p c ->
  has_law p (fun b => if b then c else 1 - c) /\ terminates R p.
Proof.
move=> pc; split; last exact: ends_terminates (comes_true_ends pc).
apply: masses_law => b; have := pc (fun r => (r == b)%:R) (fun r => ler0n _ _).
by case: b; rewrite /= mulr1 mulr0 ?addr0 ?add0r.
Qed.

(*@ UNIFORM-SAMPLER *)
Theorem below_law (m : positive) :
  has_law (below m) (fun v => if N.ltb v (Npos m) then (Pos.to_nat m)%:R^-1 else 0 : R)
  /\ terminates R (below m).
Proof.
split; last exact: ends_terminates (@below_ends R m).
apply: masses_law => v; pose f (r : N) : R := (r == v)%:R.
have E (i : nat) : f (N.of_nat i) = if i == N.to_nat v then 1 else 0.
  rewrite /f (_ : (N.of_nat i == v) = (i == N.to_nat v)); first by case: eqP.
  by apply/eqP/eqP; lia.
have := @below_expects R m f (fun r => ler0n _ _).
under eq_bigr do rewrite E.
rewrite -big_mkcond -big_filter; case: ifP => vm.
  by rewrite filter_pred1_uniq ?iota_uniq ?mem_index_iota ?big_seq1 ?mul1r //; lia.
rewrite (_ : [seq _ <- _ | _] = [::]) ?big_nil ?mul0r //.
by apply/eqP; rewrite -[_ == _]negbK -has_filter; apply/hasPn => i; rewrite mem_index_iota; lia.
Qed.

(* The premise is a probability p/q, at most 1. *)
(*@ CHANCE-SAMPLER *)
Theorem chance_law (p : N) (q : positive) : (N.to_nat p <= Pos.to_nat q)%N ->
  has_law (chance p q) (fun b => let c := (N.to_nat p)%:R / (Pos.to_nat q)%:R : R in
                                 if b then c else 1 - c)
  /\ terminates R (chance p q).
Proof. by move=> pq; exact: (comes_true_law (@chance_true R p q pq)). Qed.

(*@ CHANCE-EXP-SAMPLER *)
Theorem chance_exp_law (p : N) (q : positive) :
  has_law (chance_exp p q) (fun b => let c := expR (- ((N.to_nat p)%:R / (Pos.to_nat q)%:R)) : R in
                                     if b then c else 1 - c)
  /\ terminates R (chance_exp p q).
Proof. exact: (comes_true_law (@chance_exp_true R p q)). Qed.

End Decisions.
