(* Programs that decide by fair bits: what they do on given bits, and their law.

   A program returns a value, reads one bit, goes on with the result of another program,
   or repeats a program until it gives a result.  `gives p w a` says that p, run on the
   string of bits w, gives a, and has read no bit beyond w.  `fraction p k S` is the share
   of the 2^k strings of k bits on which p gives an element of S.  The program has the law
   mu if for EVERY set S this share tends to mu(S), the sum of mu over S, as k grows.
   If mu(all) = 1, the share of strings on which p gives anything tends to 1; that is, on
   fair and independent bits p ends with probability 1.

   `execute n p w` computes what p does on w if every loop makes at most n rounds: the
   value, and the bits that were not read.  PROVED: it does not depend on n, once it is
   a value.

   Assumed: nothing. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum finmap.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop.
From mathcomp.classical Require Import mathcomp_extra.
From mathcomp Require Import reals ereal signed topology normedtype sequences esum.
From covassay Require Import DiscreteLaplace.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldNormedType.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* ---------------------------------------------------------------------------- *)
(* Programs                                                                     *)

Inductive program : Type -> Type :=
| Return A : A -> program A
| Bit : program bool
| Bind A B : program A -> (A -> program B) -> program B
| Loop S A : (S -> program (S + A)) -> S -> program A.  (* inl: the next state; inr: the result *)

(* Decisions on bits, one after the other. *)
Inductive tree (A : Type) : Type :=
| Stuck : tree A
| Done : A -> tree A
| Flip : (bool -> tree A) -> tree A.
Arguments Stuck {A}.

Fixpoint graft A B (t : tree A) (k : A -> tree B) : tree B :=
  match t with
  | Stuck => Stuck
  | Done a => k a
  | Flip next => Flip (fun b => graft (next b) k)
  end.

(* At most n rounds. *)
Fixpoint iterate S A (n : nat) (body : S -> tree (S + A)) (s : S) : tree A :=
  if n is m.+1 then
    graft (body s) (fun r => match r with inl s' => iterate m body s' | inr a => Done a end)
  else Stuck.

(* The program in which every loop makes at most n rounds. *)
Fixpoint unroll (n : nat) A (p : program A) : tree A :=
  match p in program A return tree A with
  | Return _ a => Done a
  | Bit => Flip (fun b => Done b)
  | Bind _ _ p k => graft (unroll n p) (fun a => unroll n (k a))
  | Loop _ _ body s => iterate n (fun s => unroll n (body s)) s
  end.

(* The value, and the bits that were not read. *)
Fixpoint read A (t : tree A) (w : seq bool) : option (A * seq bool) :=
  match t with
  | Stuck => None
  | Done a => Some (a, w)
  | Flip next => if w is b :: w' then read (next b) w' else None
  end.

Definition execute (n : nat) A (p : program A) (w : seq bool) := read (unroll n p) w.

Definition gives A (p : program A) (w : seq bool) (a : A) : Prop :=
  exists n rest, execute n p w = Some (a, rest).

Definition fraction (R : realType) A (p : program A) (k : nat) (S : set A) : R :=
  #|[pred w : k.-tuple bool | `[< exists2 a, S a & gives p w a >]]|%:R / 2%:R ^+ k.

Definition has_law (R : realType) (A : choiceType) (p : program A) (mu : A -> R) : Prop :=
  forall S : set A,
    (fun k => (fraction R p k S)%:E) --> mass mu S.

(* With probability 1. *)
Definition terminates (R : realType) A (p : program A) : Prop :=
  (fun k => fraction R p k setT) --> (1 : R).

(* Repeat until there is a result. *)
Definition until A (p : program (option A)) : program A :=
  Loop (fun _ : unit => Bind p (fun r => Return (if r is Some a then inr a else inl tt))) tt.

(* ---------------------------------------------------------------------------- *)
(* More rounds decide more                                                      *)

Inductive extends A : tree A -> tree A -> Prop :=
| ext_stuck t : extends Stuck t
| ext_done a : extends (Done a) (Done a)
| ext_flip f g : (forall b, extends (f b) (g b)) -> extends (Flip f) (Flip g).

Lemma extends_refl A (t : tree A) : extends t t.
Proof. by elim: t => [|a|f IH]; constructor. Qed.

Lemma extends_graft A B (t t' : tree A) (k k' : A -> tree B) :
  extends t t' -> (forall a, extends (k a) (k' a)) -> extends (graft t k) (graft t' k').
Proof. by move=> tt' kk'; elim: tt' => [u|a|f g _ IH] //=; constructor. Qed.

Lemma extends_iterate S A m n (f g : S -> tree (S + A)) s : (m <= n)%N ->
  (forall s, extends (f s) (g s)) -> extends (iterate m f s) (iterate n g s).
Proof.
move=> mn fg; elim: m n mn s => [|m IH] [|n] //= mn s; try exact: ext_stuck.
apply: extends_graft; first exact: fg.
by case=> [s'|a]; [exact: IH|exact: extends_refl].
Qed.

Lemma extends_unroll A (p : program A) m n : (m <= n)%N -> extends (unroll m p) (unroll n p).
Proof.
move=> mn; elim: p => {A} [A a||A B p IHp k IHk|S A body IH s] /=.
- exact: extends_refl.
- exact: extends_refl.
- exact: extends_graft.
- exact: extends_iterate.
Qed.

Lemma extends_read A (t t' : tree A) w r : extends t t' -> read t w = Some r -> read t' w = Some r.
Proof. by move=> e; elim: e w => [u|a|f g _ IH] [|b w] //=; exact: IH. Qed.

(* The bound on the rounds does not change a result. *)
(*@ FAIR-BITS-ROUNDS *)
Theorem execute_rounds A (p : program A) m n w r :
  (m <= n)%N -> execute m p w = Some r -> execute n p w = Some r.
Proof. by move=> mn; exact: extends_read (extends_unroll p mn). Qed.

Lemma gives_unique A (p : program A) w a b : gives p w a -> gives p w b -> a = b.
Proof.
move=> [m [r Ea]] [n [s Eb]].
have := execute_rounds (leq_maxl m n) Ea; rewrite (execute_rounds (leq_maxr m n) Eb).
by case.
Qed.

(* ---------------------------------------------------------------------------- *)
(* Mean values                                                                  *)

Section Mean.
Variable R : realType.

(* The mean value of f at the result, 0 where there is none. *)
Fixpoint mean A (t : tree A) (f : A -> R) : R :=
  match t with
  | Stuck => 0
  | Done a => f a
  | Flip next => (mean (next true) f + mean (next false) f) / 2%:R
  end.

Lemma mean_graft A B (t : tree A) (k : A -> tree B) f :
  mean (graft t k) f = mean t (fun a => mean (k a) f).
Proof. by elim: t => //= next IH; rewrite !IH. Qed.

Lemma mean_eq A (t : tree A) f g : f =1 g -> mean t f = mean t g.
Proof. by move=> fg; elim: t => //= next IH; rewrite !IH. Qed.

Lemma mean_le A (t : tree A) f g : (forall a, f a <= g a) -> mean t f <= mean t g.
Proof. by move=> fg; elim: t => //= next IH; rewrite ler_wpmul2r ?invr_ge0 ?ler0n // ler_add. Qed.

Lemma mean_ge0 A (t : tree A) f : (forall a, 0 <= f a) -> 0 <= mean t f.
Proof. by move=> f0; elim: t => //= next IH; rewrite mulr_ge0 ?invr_ge0 ?ler0n // addr_ge0. Qed.

Lemma meanZ A (t : tree A) c f : mean t (fun a => c * f a) = c * mean t f.
Proof. by elim: t => [|a|next IH] //=; rewrite ?mulr0 // !IH -mulrDr mulrA. Qed.

Lemma meanD A (t : tree A) f g : mean t (fun a => f a + g a) = mean t f + mean t g.
Proof. by elim: t => [|a|next IH] //=; rewrite ?addr0 // !IH -mulrDl addrACA. Qed.

Lemma mean0 A (t : tree A) : mean t (fun=> 0) = 0.
Proof. by rewrite -[RHS](mul0r (mean t (fun=> 0))) -meanZ; apply: mean_eq => a; rewrite mul0r. Qed.

Lemma mean_sum A (t : tree A) (I : Type) (r : seq I) (f : I -> A -> R) :
  mean t (fun a => \sum_(i <- r) f i a) = \sum_(i <- r) mean t (f i).
Proof.
elim: r => [|i r IH].
  by rewrite big_nil -[RHS](mean0 t); apply: mean_eq => a; rewrite big_nil.
by rewrite big_cons -IH -meanD; apply: mean_eq => a; rewrite big_cons.
Qed.

Lemma mean_extends A (t t' : tree A) f : extends t t' -> (forall a, 0 <= f a) ->
  mean t f <= mean t' f.
Proof.
move=> e f0; elim: e => [u|a|g h _ IH] /=; [exact: mean_ge0|by []|].
by rewrite ler_wpmul2r ?invr_ge0 ?ler0n // ler_add.
Qed.

(* Only finitely many results. *)
Fixpoint results A (t : tree A) : seq A :=
  match t with
  | Stuck => [::]
  | Done a => [:: a]
  | Flip next => results (next true) ++ results (next false)
  end.

Lemma mean_results (A : eqType) (t : tree A) f g : {in results t, f =1 g} -> mean t f = mean t g.
Proof.
elim: t => [|a|next IH] //= fg; first by apply: fg; rewrite mem_head.
by rewrite !IH // => a ta; apply: fg; rewrite mem_cat ta ?orbT.
Qed.

Lemma cvg_add (u v : nat -> R) (a b : R) : u --> a -> v --> b -> (fun n => u n + v n) --> a + b.
Proof. by move=> ua vb; exact: (@cvgD _ _ _ _ _ u v a b ua vb). Qed.

Lemma cvg_scale (c : R) (u : nat -> R) (a : R) : u --> a -> (fun n => c * u n) --> c * a.
Proof. by move=> ua; exact: (@cvgMr _ _ _ _ u c a ua). Qed.

Lemma cvg_mean A (t : tree A) (f : nat -> A -> R) g :
  (forall a, (fun n => f n a) --> g a) -> (fun n => mean t (f n)) --> mean t g.
Proof.
move=> fg; elim: t => [|a|next IH] /=; [exact: cvg_cst|exact: fg|].
rewrite mulrC; under eq_fun do rewrite mulrC; apply: cvg_scale.
by apply: cvg_add; exact: IH.
Qed.

(* ---------------------------------------------------------------------------- *)
(* Limits                                                                       *)

Lemma growing_le (u : nat -> R) (l : R) :
  (forall m n, (m <= n)%N -> u m <= u n) -> u --> l -> forall n, u n <= l.
Proof.
move=> nd ul n; have cu : cvg u by apply/cvg_ex; exists l.
by rewrite -(cvg_lim _ ul) //; apply: nondecreasing_cvg_le.
Qed.

Lemma cvg_le (u v : nat -> R) (a b : R) :
  u --> a -> v --> b -> (forall n, u n <= v n) -> a <= b.
Proof. by move=> ua vb uv; apply: (ler_cvg_to ua vb); exact: nearW. Qed.

(* A bound and a number of rounds that grow together. *)
Lemma cvg_diagonal (u : nat -> nat -> R) (v : nat -> R) (l : R) :
  (forall m m' n n', (m <= m')%N -> (n <= n')%N -> u m n <= u m' n') ->
  (forall m, u m --> v m) -> v --> l -> (fun n => u n n) --> l.
Proof.
move=> mono uv vl.
have u_le m n : u m n <= v m by apply: growing_le (uv m) n => i j ij; exact: mono.
have v_nd i j : (i <= j)%N -> v i <= v j.
  by move=> ij; apply: cvg_le (uv i) (uv j) _ => n; exact: mono.
have v_le m : v m <= l by exact: growing_le vl m.
apply/cvgrPdist_lt => e e0.
have e2 : 0 < e / 2%:R by rewrite divr_gt0 ?ltr0n.
have /cvgrPdist_lt /(_ _ e2)[M _ HM] := vl.
have /cvgrPdist_lt /(_ _ e2)[N _ HN] := uv M.
exists (maxn M N) => // n /=; rewrite geq_max => /andP[Mn Nn].
rewrite ger0_norm ?subr_ge0; last exact: le_trans (u_le n n) (v_le n).
have h1 := HM M (leqnn M); have h2 := HN n Nn; rewrite /= in h1 h2.
rewrite ger0_norm ?subr_ge0 ?v_le // in h1; rewrite ger0_norm ?subr_ge0 ?u_le // in h2.
have h3 := mono M n n n Mn (leqnn n).
rewrite [e]splitr; apply: le_lt_trans (ltr_add h1 h2).
by rewrite addrA subrK ler_add2l ler_opp2.
Qed.

(* The mean value of f at the result of p is l, 0 counted where p does not end. *)
Definition expects A (p : program A) (f : A -> R) (l : R) : Prop :=
  (fun n => mean (unroll n p) f) --> l.

Lemma expects_unique A (p : program A) f l l' : expects p f l -> expects p f l' -> l = l'.
Proof. by move=> pl pl'; rewrite -(cvg_lim _ pl) // -(cvg_lim _ pl'). Qed.

Lemma expects_eq A (p : program A) f g l : f =1 g -> expects p f l -> expects p g l.
Proof. by move=> /funext ->. Qed.

Lemma expects_return A (a : A) f : expects (Return a) f (f a).
Proof. exact: cvg_cst. Qed.

Lemma expects_bit f : expects Bit f ((f true + f false) / 2%:R).
Proof. exact: cvg_cst. Qed.

Lemma expectsZ A (p : program A) (c : R) f l :
  expects p f l -> expects p (fun a => c * f a) (c * l).
Proof.
by move=> pl; rewrite /expects; under eq_fun do rewrite meanZ; exact: cvg_scale.
Qed.

Arguments expectsZ {A p} c {f l}.

Lemma expectsD A (p : program A) f g l m :
  expects p f l -> expects p g m -> expects p (fun a => f a + g a) (l + m).
Proof. by move=> pl pm; rewrite /expects; under eq_fun do rewrite meanD; exact: cvg_add. Qed.

Lemma expects0 A (p : program A) : expects p (fun=> 0) 0.
Proof. by rewrite /expects (_ : (fun n => _) = (fun=> 0)); [exact: cvg_cst|apply/funext => n; exact: mean0]. Qed.

Lemma expects_sum A (p : program A) (I : Type) (r : seq I) (f : I -> A -> R) l :
  (forall i, expects p (f i) (l i)) ->
  expects p (fun a => \sum_(i <- r) f i a) (\sum_(i <- r) l i).
Proof.
move=> pl; elim: r => [|i r IH].
  by rewrite big_nil; apply: expects_eq (expects0 p) => a; rewrite big_nil.
rewrite big_cons; apply: expects_eq (expectsD (pl i) IH) => a.
by rewrite big_cons.
Qed.

Lemma expects_bind A B (p : program A) (k : A -> program B) f g l : (forall b, 0 <= f b) ->
  (forall a, expects (k a) f (g a)) -> expects p g l -> expects (Bind p k) f l.
Proof.
move=> f0 kg pl; rewrite /expects /=; under eq_fun do rewrite mean_graft.
apply: (@cvg_diagonal (fun m n => mean (unroll m p) (fun a => mean (unroll n (k a)) f)) _ l _ _ pl).
  move=> m m' n n' mm' nn'; apply: le_trans (mean_extends (extends_unroll p mm') _).
    by apply: mean_le => a; exact: mean_extends (extends_unroll _ nn') f0.
  by move=> a; exact: mean_ge0.
by move=> m; apply: cvg_mean => a; exact: kg.
Qed.

(* What a loop expects after one more round, if it expects g of the next state. *)
Definition after S A (g : S -> R) (f : A -> R) (r : S + A) : R :=
  match r with inl s => g s | inr a => f a end.

Lemma expects_loop S A (body : S -> program (S + A)) s f (g : nat -> S -> R) l :
  (forall a, 0 <= f a) -> (forall s, g 0%N s = 0) ->
  (forall m s, expects (body s) (after (g m) f) (g m.+1 s)) ->
  (fun m => g m s) --> l -> expects (Loop body s) f l.
Proof.
move=> f0 g0 step gl.
pose u m n s := mean (iterate m (fun s => unroll n (body s)) s) f.
have ext m m' n n' s' : (m <= m')%N -> (n <= n')%N -> u m n s' <= u m' n' s'.
  move=> mm' nn'; apply: mean_extends => //; apply: extends_iterate => // t.
  exact: extends_unroll.
apply: (@cvg_diagonal (fun m n => u m n s) (fun m => g m s)) => //.
  by move=> m m' n n'; exact: ext.
move=> m; elim: m s {gl} => [|m IH] s; first by rewrite g0; exact: cvg_cst.
rewrite /u /=; under eq_fun do rewrite mean_graft.
pose h n (r : S + A) : R := after (u m n) f r.
rewrite (_ : (fun n => _) = (fun n => mean (unroll n (body s)) (h n))); last first.
  by apply/funext => n; apply: mean_eq => -[].
apply: (@cvg_diagonal (fun i n => mean (unroll i (body s)) (h n))
  (fun i => mean (unroll i (body s)) (after (g m) f))) (step m s) => //.
  move=> i i' n n' ii' nn'; apply: le_trans (mean_extends (extends_unroll _ ii') _).
    by apply: mean_le => -[t|a] //=; exact: ext.
  by case=> [t|a] /=; [exact: mean_ge0|exact: f0].
by move=> i; apply: cvg_mean => -[t|a] /=; [exact: IH|exact: cvg_cst].
Qed.

Lemma expects_ge0 A (p : program A) f l : (forall a, 0 <= f a) -> expects p f l -> 0 <= l.
Proof.
move=> f0 pl; apply: le_trans (_ : mean (unroll 0 p) f <= l); first exact: mean_ge0.
by apply: growing_le pl 0%N => m n mn; exact: mean_extends (extends_unroll _ mn) f0.
Qed.

Lemma mean_le_expects A (p : program A) f l n : (forall a, 0 <= f a) -> expects p f l ->
  mean (unroll n p) f <= l.
Proof.
by move=> f0 pl; apply: growing_le pl n => i j ij; exact: mean_extends (extends_unroll _ ij) f0.
Qed.

(* p ends with probability 1. *)
Definition ends A (p : program A) : Prop := expects p (fun=> 1) 1.

Lemma ends_return A (a : A) : ends (Return a).
Proof. exact: expects_return. Qed.

Lemma ends_bind A B (p : program A) (k : A -> program B) :
  ends p -> (forall a, ends (k a)) -> ends (Bind p k).
Proof. by move=> pe ke; apply: (expects_bind (g := fun=> 1)). Qed.

(* If a round gives nothing with probability c, the loop gives what a round gives, if it
   gives something. *)
Lemma expects_until A (p : program (option A)) f l c : (forall a, 0 <= f a) -> c < 1 ->
  expects p (fun r => if r is Some a then f a else 0) l ->
  expects p (fun r => if r is Some _ then 0 else 1) c ->
  expects (until p) f (l / (1 - c)).
Proof.
move=> f0 c1 pl pc.
have l0 : 0 <= l by apply: expects_ge0 pl; case.
have c0 : 0 <= c by apply: expects_ge0 pc; case.
pose g m (_ : unit) : R := series (geometric l c) m.
have g0 m s : 0 <= g m s by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?exprn_ge0.
apply: (expects_loop (g := g)) => //.
- by move=> s; rewrite /g /series /= big_geq.
- move=> m s; have gS : g m.+1 s = l + g m s * c.
    rewrite /g /series /= big_nat_recl // mulr1 mulr_suml; congr (_ + _).
    by apply: eq_bigr => i _; rewrite exprSr mulrA.
  rewrite gS; apply: (expects_bind (g := fun r => after (g m) f (if r is Some a then inr a else inl tt))).
  - by case=> [t|a] /=; [exact: g0|exact: f0].
  - by move=> r; exact: expects_return.
  have := expectsD pl (expectsZ (g m s) pc); apply: expects_eq => -[a|] /=.
    by rewrite mulr0 addr0.
  by rewrite mulr1 add0r; case: s {gS}.
- by have := @cvg_geometric_series R l c; rewrite ger0_norm // => /(_ c1).
Qed.

(* ---------------------------------------------------------------------------- *)
(* From the probabilities of single results to those of all sets                *)

Section Masses.
Variables (A : choiceType) (B : Type) (p : program B) (h : B -> option A) (mu : A -> R).
Hypothesis p_mu : forall a, expects p (fun r => (h r == Some a)%:R) (mu a).

Let part (f : A -> R) (r : B) : R := if h r is Some a then f a else 0.

Let mu_ge0 a : 0 <= mu a. Proof. by apply: (expects_ge0 _ (@p_mu a)) => r; rewrite ler0n. Qed.

Let mean_part (f : A -> R) (t : tree B) (s : seq A) : uniq s ->
  {subset pmap h (results t) <= s} ->
  mean t (part f) = mean t (fun r => \sum_(a <- s) f a * (h r == Some a)%:R).
Proof.
move=> us; elim: t => [|r|next IH] //=; last first.
  by rewrite pmap_cat => ts; rewrite !IH // => a ta; apply: ts; rewrite mem_cat ta ?orbT.
rewrite /part; case: (h r) => [a|] /= ts; last by rewrite big1 // => b _; rewrite mulr0.
rewrite (bigD1_seq a) ?ts ?mem_head //= eqxx mulr1 big1 ?addr0 // => b.
by rewrite eq_sym => /negPf ba; rewrite (_ : (Some a == Some b) = (a == b)) // ba mulr0.
Qed.

Lemma expects_masses f l : (forall a, 0 <= f a) ->
  \esum_(a in setT) (mu a * f a)%:E = l%:E -> expects p (part f) l.
Proof.
move=> f0 sum_l; have part0 r : 0 <= part f r by rewrite /part; case: (h r).
have finite_le (s : seq A) : uniq s -> \sum_(a <- s) mu a * f a <= l.
  move=> us; rewrite -lee_fin -sum_l -sumEFin fsbig_seq //.
  by apply: ereal_sup_ub; exists [set` s].
have mean_l n : mean (unroll n p) (part f) <= l.
  pose s := undup (pmap h (results (unroll n p))).
  have us : uniq s by exact: undup_uniq.
  rewrite (mean_part f us); last by move=> a; rewrite mem_undup.
  rewrite mean_sum; apply: le_trans (finite_le s us); apply: ler_sum => a _.
  rewrite meanZ mulrC ler_wpmul2r //; apply: mean_le_expects (@p_mu a) => r.
  by rewrite ler0n.
have nd : nondecreasing_seq (fun n => mean (unroll n p) (part f)).
  by move=> i j ij; exact: mean_extends (extends_unroll _ ij) part0.
have cv : cvg (fun n => mean (unroll n p) (part f)).
  by apply: nondecreasing_is_cvg => //; exists l => _ [n _ <-].
have [L pL] : exists L : R, expects p (part f) L by move: cv => /cvg_ex.
suff -> : l = L by [].
apply/eqP; rewrite eq_le; apply/andP; split; last first.
  by apply: cvg_le pL (@cvg_cst _ l _ _ _) mean_l.
rewrite -lee_fin -sum_l; apply: ub_ereal_sup => _ [F [finF _] <-].
rewrite fsbig_finite //= sumEFin lee_fin.
have H := expects_sum (r := enum_fset (fset_set F)) (fun a => expectsZ (f a) (@p_mu a)).
have -> : \sum_(a <- fset_set F) mu a * f a = \sum_(a <- fset_set F) f a * mu a.
  by apply: eq_bigr => a _; rewrite mulrC.
apply: cvg_le H pL _ => n; apply: mean_le => r.
rewrite /part; case: (h r) => [a|]; last by rewrite big1 // => b _; rewrite mulr0.
rewrite (eq_bigr (fun b => if b == a then f a else 0)); last first.
  move=> b _; rewrite (_ : (Some a == Some b) = (b == a)); last by rewrite eq_sym.
  by case: eqP => [->|_]; rewrite ?mulr1 ?mulr0.
rewrite -big_mkcond /=; case: (boolP (a \in fset_set F)) => aF.
  by rewrite -big_filter filter_pred1_uniq ?fset_uniq // big_seq1.
rewrite big_seq_cond big1 ?f0 // => b /andP[bF /eqP ba].
by rewrite -ba bF in aF.
Qed.

End Masses.

(* Rounds that give a with probability c mu(a) are repeated to give a with probability mu(a). *)
Theorem until_masses (A : choiceType) (p : program (option A)) (c : R) (mu : A -> R) :
  0 < c -> ends p -> \esum_(a in setT) (mu a)%:E = 1%E ->
  (forall a, expects p (fun r => (r == Some a)%:R) (c * mu a)) ->
  forall a, expects (until p) (fun b => (b == a)%:R) (mu a).
Proof.
move=> c0 pe mu1 pm a.
have mu0 b : 0 <= mu b.
  by rewrite -(@pmulr_rge0 _ c) //; apply: expects_ge0 (pm b) => r; rewrite ler0n.
have some : expects p (fun r => if r is Some _ then 1 else 0) c.
  have := @expects_masses A _ p id (fun a => c * mu a) pm (fun=> 1) c (fun=> ler01).
  apply; rewrite -[in RHS](mulr1 c) EFinM -mu1 -esum_scale //.
  by apply: eq_esum => b _; rewrite mulr1 EFinM.
have none : expects p (fun r => if r is Some _ then 0 else 1) (1 - c).
  have := expectsD pe (expectsZ (-1) some); rewrite mulN1r; apply: expects_eq.
  by case=> [b|]; rewrite ?mulr1 ?mulr0 ?subrr ?addr0.
have c1 : 1 - c < 1 by rewrite ltr_subl_addr ltr_addl.
have -> : mu a = c * mu a / (1 - (1 - c)).
  by rewrite opprB addrC subrK mulrAC divff ?mul1r // gt_eqF.
apply: expects_until => //.
have := pm a; by apply: expects_eq => -[b|].
Qed.

(* ---------------------------------------------------------------------------- *)
(* Strings of bits                                                              *)

Lemma sum_strings k (F : seq bool -> R) :
  \sum_(w : k.+1.-tuple bool) F w
  = \sum_(w : k.-tuple bool) F (true :: w) + \sum_(w : k.-tuple bool) F (false :: w).
Proof.
pose push (x : bool * k.-tuple bool) := [tuple of x.1 :: x.2].
have push_bij : bijective push.
  exists (fun w => (thead w, [tuple of behead w])) => [[b w]|w].
    by rewrite /push theadE; congr (_, _); exact: val_inj.
  by rewrite /push /= -tuple_eta.
rewrite (reindex push) /=; last exact: onW_bij.
by rewrite -(pair_bigA _ (fun b (w : k.-tuple bool) => F (b :: w))) big_bool.
Qed.

(* The mean value of f at the result, over all strings of k bits. *)
Definition over_strings A (t : tree A) k (f : A -> R) : R :=
  (\sum_(w : k.-tuple bool) if read t w is Some (a, _) then f a else 0) / 2%:R ^+ k.

Lemma over_strings_done A (a : A) k f : over_strings (Done a) k f = f a.
Proof.
by rewrite /over_strings /= sumr_const card_tuple card_bool -(mulr_natr (f a)) natrX mulfK.
Qed.

Lemma over_strings_stuck A k (f : A -> R) : over_strings Stuck k f = 0.
Proof. by rewrite /over_strings /= big1 ?mul0r. Qed.

Lemma over_strings_flip A (next : bool -> tree A) k f : over_strings (Flip next) k.+1 f
  = (over_strings (next true) k f + over_strings (next false) k f) / 2%:R.
Proof.
rewrite /over_strings (sum_strings k (fun w => if read (Flip next) w is Some (a, _) then f a else 0)).
by rewrite /= exprSr invfM -mulrDl mulrA.
Qed.

Lemma over_strings_le A (t : tree A) k f : (forall a, 0 <= f a) -> over_strings t k f <= mean t f.
Proof.
move=> f0; elim: t k => [|a|next IH] [|k] /=; rewrite ?over_strings_stuck ?over_strings_done //.
  rewrite /over_strings big1 ?mul0r; last by move=> w _; rewrite (tuple0 w).
  by rewrite mulr_ge0 ?invr_ge0 ?ler0n // addr_ge0 // mean_ge0.
by rewrite over_strings_flip ler_wpmul2r ?invr_ge0 ?ler0n // ler_add.
Qed.

Lemma over_strings_eq A (t : tree A) f :
  exists K, forall k, (K <= k)%N -> over_strings t k f = mean t f.
Proof.
elim: t => [|a|next IH] /=.
- by exists 0%N => k _; rewrite over_strings_stuck.
- by exists 0%N => k _; rewrite over_strings_done.
have [[K HK] [L HL]] := (IH true, IH false).
exists (maxn K L).+1 => -[|k] //; rewrite ltnS geq_max => /andP[Kk Lk].
by rewrite over_strings_flip HK // HL.
Qed.

Section Fraction.
Variables (A : Type) (p : program A) (S : set A).
Notation member := (fun a => (`[< S a >])%:R : R).

Lemma fractionE k : fraction R p k S
  = (\sum_(w : k.-tuple bool) (`[< exists2 a, S a & gives p w a >])%:R) / 2%:R ^+ k.
Proof.
rewrite /fraction; congr (_ / _); rewrite -sum1_card natr_sum big_mkcond /=.
by apply: eq_bigr => w _; rewrite inE; case: ifP.
Qed.

Lemma over_strings_fraction n k : over_strings (unroll n p) k member <= fraction R p k S.
Proof.
rewrite fractionE ler_wpmul2r ?invr_ge0 ?exprn_ge0 ?ler0n //; apply: ler_sum => w _.
case E: (read _ _) => [[a r]|]; last by rewrite ler0n.
rewrite ler_nat; case: asboolP => // Sa; rewrite lt0n; case: asboolP => // -[].
by exists a => //; exists n, r.
Qed.

Lemma fraction_over_strings k : exists n, fraction R p k S <= over_strings (unroll n p) k member.
Proof.
have /choice[N HN] (w : k.-tuple bool) : exists n, (exists2 a, S a & gives p w a) ->
    exists a r, S a /\ execute n p w = Some (a, r).
  have [[a Sa [n [r E]]]|no] := pselect (exists2 a, S a & gives p w a).
    by exists n => _; exists a, r.
  by exists 0%N.
exists (\max_w N w)%N; rewrite fractionE ler_wpmul2r ?invr_ge0 ?exprn_ge0 ?ler0n //.
apply: ler_sum => w _; case: asboolP => [/HN[a [r [Sa E]]]|_].
  have := execute_rounds (leq_bigmax w) E; rewrite /execute => ->.
  by rewrite ler_nat lt0n; case: asboolP.
by case: (read _ _) => [[a r]|] //; rewrite ler0n.
Qed.

Lemma fraction_cvg l : expects p member l -> (fun k => fraction R p k S) --> l.
Proof.
move=> pl; have member0 a : 0 <= member a by rewrite ler0n.
apply/cvgrPdist_lt => e e0.
have /cvgrPdist_lt /(_ _ e0)[n _ Hn] := pl.
have [K HK] := over_strings_eq (unroll n p) member.
exists K => // k /= Kk; have [m Hm] := fraction_over_strings k.
have up : fraction R p k S <= l.
  apply: le_trans Hm _; apply: le_trans (over_strings_le _ _ member0) _.
  exact: mean_le_expects.
have low := over_strings_fraction n k; rewrite HK // in low.
have := Hn n (leqnn n); rewrite /= ger0_norm ?subr_ge0 ?mean_le_expects //.
rewrite ger0_norm ?subr_ge0 //; apply: le_lt_trans; exact: ler_sub.
Qed.

End Fraction.

(* The probabilities of single results determine the law. *)
Theorem masses_law (A : choiceType) (p : program A) (mu : A -> R) :
  (forall a, expects p (fun b => (b == a)%:R) (mu a)) -> has_law p mu.
Proof.
move=> pm S; pose f (a : A) : R := (`[< S a >])%:R.
have f0 a : 0 <= f a by rewrite ler0n.
have mu0 a : 0 <= mu a by apply: (expects_ge0 _ (pm a)) => b; rewrite ler0n.
pose l := \esum_(a in setT) (mu a * f a)%:E.
have massE : mass mu S = l.
  rewrite /mass esum_mkcond; apply: eq_esum => a _; rewrite /f; case: asboolP => Sa.
    by rewrite mem_set // mulr1.
  by rewrite memNset // mulr0.
have l1 : (l <= 1)%E.
  apply: ub_ereal_sup => _ [F [finF _] <-]; rewrite fsbig_finite //= sumEFin lee_fin.
  have H := expects_sum (r := enum_fset (fset_set F)) (fun a => expectsZ (f a) (pm a)).
  rewrite (eq_bigr (fun a => f a * mu a)); last by move=> a _; rewrite mulrC.
  apply: cvg_le H (@cvg_cst _ 1 _ _ _) _ => n.
  apply: (@le_trans _ _ (mean (unroll n p) (fun=> 1))).
    apply: mean_le => b; rewrite (eq_bigr (fun a => if a == b then f b else 0)); last first.
      by move=> a _; rewrite eq_sym; case: eqP => [->|_]; rewrite ?mulr1 ?mulr0.
    rewrite -big_mkcond /=; case: (boolP (b \in fset_set F)) => bF.
      by rewrite -big_filter filter_pred1_uniq ?fset_uniq // big_seq1 /f; case: asboolP; rewrite ?ler01.
    rewrite big_seq_cond big1 ?ler01 // => a /andP[aF /eqP ab].
    by rewrite ab (negPf bF) in aF.
  by elim: (unroll n p) => [|b|next IH] /=; rewrite ?ler01 // ler_pdivr_mulr ?ltr0n // mul1r -[2%:R]/(1 + 1) ler_add.
have lfin : l = (fine l)%:E.
  rewrite fineK // ge0_fin_numE; first exact: le_lt_trans l1 (ltry 1).
  by apply: esum_ge0 => a _; rewrite lee_fin mulr_ge0.
have cv : (fun k => fraction R p k S) --> fine l.
  by apply: fraction_cvg; exact: (@expects_masses A A p Some mu pm f (fine l) f0 lfin).
rewrite massE lfin; apply: (@cvg_comp _ _ _ _ (@EFin R)); first exact: cv.
by [].
Qed.

Lemma ends_terminates A (p : program A) : ends p -> terminates R p.
Proof.
move=> pe; apply: fraction_cvg; apply: expects_eq pe => a.
by rewrite asboolT.
Qed.

End Mean.
