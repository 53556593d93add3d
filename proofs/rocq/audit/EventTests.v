(* Exact tests of the probability of an event, on one sample or on two.

   - `tail_valid`: let the event have a probability of at most th0 in each of n independent
     draws.  Then P(Bin(n, th0) >= K), where K counts the event, is a super-uniform p-value.
   - `ratio_valid`: let the event have the probability p on one data set and q on another,
     p <= e q.  Let the numbers of draws be random, independent of the draws, and such that,
     given their sum, the first is that of the heads of so many fair coins.  Then
     P(Bin(K + K', e/(1 + e)) >= K) is a super-uniform p-value.  `poisson_fair`: two
     independent Poisson numbers of equal mean are such numbers.  (Of these the pairs with a
     sum below any bound B are meant, so that the space is finite; `poisson_limit` lets B grow.)
   - `bounds_valid`: for any law of the numbers of draws, let lo and up be such that
     P(Bin(n, lo) >= K) and P(Bin(n', up) <= K') are at most half of s.  (Clopper and Pearson's
     bounds are the best of these.)  A number s for which some such bounds contradict the
     claim is a super-uniform p-value.

   Assumed: nothing. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ring.
From covassay Require Import PValues.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Tail.
Variable R : realFieldType.
Implicit Types (p th : R) (g : nat -> R).

(* P(K >= k) for K ~ Bin(n, th), draw by draw. *)
Fixpoint tail th (n k : nat) : R := match k, n with
  | 0, _ => 1
  | k'.+1, 0 => 0
  | k'.+1, n'.+1 => th * tail th n' k' + (1 - th) * tail th n' k end.

(* The mean of g(K). *)
Fixpoint count_mean p (n : nat) g : R :=
  if n is n'.+1 then p * count_mean p n' (fun k => g k.+1) + (1 - p) * count_mean p n' g
  else g 0%N.

Lemma eq_count_mean p n g g' : (forall k, (k <= n)%N -> g k = g' k) ->
  count_mean p n g = count_mean p n g'.
Proof.
elim: n g g' => [|n IH] g g' gg /=; first exact: gg.
congr (_ * _ + _ * _); apply: IH => k kn; rewrite gg //.
exact: leq_trans kn (leqnSn n).
Qed.

Lemma count_mean_linear p n (a b : R) g g' : count_mean p n (fun k => a * g k + b * g' k) =
  a * count_mean p n g + b * count_mean p n g'.
Proof. by elim: n g g' => [|n IH] g g' //=; rewrite !IH; ring. Qed.

Lemma mean_count (T : Type) (D : distribution R T) (E : pred T) n g :
  mean (draws D n) (fun s => g (count E s)) = count_mean (pr D E) n g.
Proof.
elim: n g => [|n IH] g; first by rewrite mean_draws0.
rewrite mean_drawsS /= -(IH (fun k => g k.+1)) -(IH g).
set u := mean (draws D n) _; set v := mean (draws D n) _.
transitivity (mean D (fun x => u * (E x)%:R + v * (~~ E x)%:R)).
  by apply: eq_mean => x; case: (E x); rewrite /= ?mulr1 ?mulr0 ?addr0 ?add0r.
rewrite mean_add !mean_scale -/(pr D E) -/(pr D (fun x => ~~ E x)) pr_not; ring.
Qed.

Lemma tail_count_mean th n k : tail th n k = count_mean th n (fun i => (k <= i)%N%:R).
Proof.
elim: n k => [|n IH] [|k] //=; last by rewrite IH IH.
by rewrite -(IH 0%N) /=; case: n {IH} => [|n] /=; ring.
Qed.

Lemma pr_tail (T : Type) (D : distribution R T) (E : pred T) n k :
  pr (draws D n) (fun s => k <= count E s)%N = tail (pr D E) n k.
Proof. by rewrite tail_count_mean -(mean_count _ _ _ (fun i => (k <= i)%N%:R)). Qed.

Lemma tail_anti th n k : 0 <= th <= 1 -> tail th n k.+1 <= tail th n k.
Proof.
move=> /andP[t0 t1]; have u0 : 0 <= 1 - th by rewrite subr_ge0.
elim: n k => [|n IH] [|k] //=; rewrite ?ler01 //; last by rewrite ler_add ?ler_wpmul2l ?IH.
rewrite -[X in _ <= X](subrK th) -[X in _ <= _ + X]mulr1 [X in _ <= X]addrC.
rewrite -[X in _ <= _ + X]mulr1 ler_add ?ler_wpmul2l ?(IH 0%N) //.
  by case: n {IH}.
apply: le_trans (IH 0%N) _; by case: n {IH}.
Qed.

Lemma tail_mono th th0 n k : 0 <= th -> th <= th0 -> th0 <= 1 -> tail th n k <= tail th0 n k.
Proof.
move=> t0 tt t1; have h : 0 <= th <= 1 by rewrite t0 (le_trans tt).
have h0 : 0 <= th0 <= 1 by rewrite t1 (le_trans t0).
have u0 : 0 <= 1 - th by rewrite subr_ge0; case/andP: h.
elim: n k => [|n IH] [|k] //=.
apply: (@le_trans _ _ (th * tail th0 n k + (1 - th) * tail th0 n k.+1)).
  by rewrite ler_add ?ler_wpmul2l ?IH.
rewrite -subr_ge0 (_ : _ - _ = (th0 - th) * (tail th0 n k - tail th0 n k.+1)); last by ring.
by rewrite mulr_ge0 // subr_ge0 // tail_anti.
Qed.

Lemma pr01 (T : Type) (D : distribution R T) (E : pred T) : 0 <= pr D E <= 1.
Proof. by rewrite pr_ge0 pr_le1. Qed.

Theorem tail_valid (T : Type) (D : distribution R T) (E : pred T) n th0 :
  pr D E <= th0 -> th0 <= 1 ->
  super_uniform (draws D n) (fun s => tail th0 n (count E s)).
Proof.
move=> le th01; pose S s := minn n (count E s).
have Sn s : (S s <= n)%N by exact: geq_minl.
have cS s : size s = n -> S s = count E s.
  by move=> sn; apply/minn_idPr; rewrite -sn count_size.
move=> t t0; apply: le_trans (upper_tail_valid (draws D n) Sn t0).
apply: draws_mono => s sn; rewrite ler_nat; case: leP => //= small.
rewrite (_ : pr _ _ <= t) //; apply: le_trans small.
rewrite (_ : pr _ _ = tail (pr D E) n (count E s)).
  by case/andP: (pr01 D E) => p0 _; exact: tail_mono.
by rewrite -pr_tail; apply: eq_draws => s' sn'; rewrite !cS.
Qed.

(* The usual sum. *)
Definition binom th n i : R := 'C(n, i)%:R * th ^+ i * (1 - th) ^+ (n - i).

Lemma count_mean_sum p n g : count_mean p n g = \sum_(i < n.+1) binom p n i * g i.
Proof.
elim: n g => [|n IH] g; first by rewrite big_ord_recl big_ord0 /binom bin0 !mulr1 mul1r addr0.
rewrite /= !IH !mulr_sumr [RHS]big_ord_recl.
rewrite [in RHS](eq_bigr (fun i : 'I_n.+1 => p * (binom p n i * g i.+1) +
    'C(n, i.+1)%:R * p ^+ i.+1 * (1 - p) ^+ (n - i) * g i.+1)); last first.
  by move=> i _; rewrite lift0 /binom binS natrD subSS exprS; ring.
rewrite big_split /= addrCA; congr (_ + _).
rewrite big_ord_recl [in RHS]big_ord_recr /= bin_small // !mul0r addr0; congr (_ + _).
  by rewrite /binom !bin0 !subn0 exprS; ring.
apply: eq_bigr => i _; rewrite /bump leq0n add1n /binom -(subnSK (ltn_ord i)) [(1 - p) ^+ _.+1]exprS; ring.
Qed.

Lemma tail_sum th n k : tail th n k = \sum_(i < n.+1 | (k <= i)%N) binom th n i.
Proof.
rewrite tail_count_mean count_mean_sum [RHS]big_mkcond; apply: eq_bigr => i _.
by case: ifP => _; rewrite ?mulr1 ?mulr0.
Qed.

(* A coin that shows heads with probability p. *)
Section Coin.
Variable p : R.
Hypothesis p01 : 0 <= p <= 1.

Lemma coin_ge0 : all (fun a => 0 <= a.1) [:: (p, true); (1 - p, false)].
Proof. by case/andP: p01 => p0 p1; rewrite /= p0 subr_ge0 p1. Qed.

Lemma coin_sum1 : \sum_(a <- [:: (p, true); (1 - p, false)]) a.1 = 1.
Proof. by rewrite big_cons big_seq1 /=; ring. Qed.

Definition coin : distribution R bool := Distribution coin_ge0 coin_sum1.

Lemma pr_coin : pr coin id = p.
Proof. by rewrite /pr /mean big_cons big_seq1 /= mulr1 mulr0 addr0. Qed.

End Coin.

Lemma count_mean_tail_valid th th0 n t : 0 <= th -> th <= th0 -> th0 <= 1 -> 0 <= t ->
  count_mean th n (fun i => (tail th0 n i <= t)%R%:R) <= t.
Proof.
move=> h0 hh h1 t0; have h01 : 0 <= th <= 1 by rewrite h0 (le_trans hh).
have p : pr (coin h01) id <= th0 by rewrite pr_coin.
have := tail_valid n p h1 t0.
by rewrite /pr (mean_count _ _ _ (fun i => (tail th0 n i <= t)%R%:R)) -/(pr _ _) pr_coin.
Qed.

End Tail.

(* ---------------------------------------------------------------------------- *)
(* Two samples                                                                  *)

Section TwoSamples.
Variable R : realFieldType.
Implicit Types (f g : nat -> nat -> R) (a b p q s th : R).

(* The mean after one more occurrence: on the first side with weight a, on the second with b. *)
Definition step a b f : nat -> nat -> R := fun k l => a * f k.+1 l + b * f k l.+1.

Fixpoint steps a b (j : nat) f : nat -> nat -> R :=
  if j is j'.+1 then steps a b j' (step a b f) else f.

Lemma eq_steps a b j f g : f =2 g -> steps a b j f =2 steps a b j g.
Proof. by elim: j f g => [|j IH] f g fg //=; apply: IH => k l; rewrite /step !fg. Qed.

Lemma steps_linear a b j (c d : R) f g : steps a b j (fun k l => c * f k l + d * g k l) =2
  (fun k l => c * steps a b j f k l + d * steps a b j g k l).
Proof.
elim: j f g => [|j IH] f g k l //=; rewrite -(IH (step a b f) (step a b g)).
by apply: eq_steps => k' l'; rewrite /step; ring.
Qed.

Lemma steps_step a b j f : steps a b j (step a b f) =2 step a b (steps a b j f).
Proof. by elim: j f => [|j IH] f k l //=; rewrite IH. Qed.

(* Among j occurrences, the number on the first side is binomial. *)
Lemma steps_count_mean a b th j f : a = (a + b) * th -> b = (a + b) * (1 - th) ->
  forall k l, steps a b j f k l =
  (a + b) ^+ j * count_mean th j (fun i => f (i + k)%N (j - i + l)%N).
Proof.
move=> ea eb; elim: j f => [|j IH] f k l; first by rewrite /= mul1r add0n subn0 add0n.
rewrite [LHS]/= IH exprS -mulrA [RHS]mulrCA; congr (_ * _).
rewrite /step count_mean_linear {1}ea {2}eb -!mulrA -mulrDr; congr (_ * (_ * _ + _ * _)).
apply: eq_count_mean => i ij; by rewrite subSn // addSn.
Qed.

Lemma fair_steps N f : steps 2%:R^-1 2%:R^-1 N f 0%N 0%N =
  count_mean 2%:R^-1 N (fun i => f i (N - i)%N).
Proof.
have ea : 2%:R^-1 = (2%:R^-1 + 2%:R^-1) * 2%:R^-1 :> R by field.
have eb : 2%:R^-1 = (2%:R^-1 + 2%:R^-1) * (1 - 2%:R^-1) :> R by field.
rewrite (steps_count_mean N f ea eb) (_ : 2%:R^-1 + 2%:R^-1 = 1); last by field.
by rewrite expr1n mul1r; apply: eq_count_mean => i _; rewrite !addn0.
Qed.

(* The mean of f(K, K') for N draws, each on a side that a fair coin chooses. *)
Fixpoint fair_mean p q N f : R :=
  if N is N'.+1 then
    fair_mean p q N' (fun k l => (1 - (p + q) / 2%:R) * f k l + step (p / 2%:R) (q / 2%:R) f k l)
  else f 0%N 0%N.

Lemma eq_fair_mean p q N f g : f =2 g -> fair_mean p q N f = fair_mean p q N g.
Proof.
elim: N f g => [|N IH] f g fg //=; apply: IH => k l; by rewrite /step !fg.
Qed.

Lemma fair_mean_linear p q N (c d : R) f g : fair_mean p q N (fun k l => c * f k l + d * g k l) =
  c * fair_mean p q N f + d * fair_mean p q N g.
Proof.
elim: N f g => [|N IH] f g //=; rewrite -IH; apply: eq_fair_mean => k l; rewrite /step; ring.
Qed.

Definition two_counts p q (n n' : nat) f : R :=
  count_mean p n (fun k => count_mean q n' (fun l => f k l)).

Lemma two_countsS1 p q n n' f : two_counts p q n.+1 n' f =
  p * two_counts p q n n' (fun k l => f k.+1 l) + (1 - p) * two_counts p q n n' f.
Proof. by []. Qed.

Lemma two_countsS2 p q n n' f : two_counts p q n n'.+1 f =
  q * two_counts p q n n' (fun k l => f k l.+1) + (1 - q) * two_counts p q n n' f.
Proof. by rewrite /two_counts -count_mean_linear. Qed.

Lemma fair_two_counts p q N f :
  steps 2%:R^-1 2%:R^-1 N (fun n n' => two_counts p q n n' f) 0%N 0%N = fair_mean p q N f.
Proof.
elim: N f => [|N IH] f //=.
pose t h := fun n n' => two_counts p q n n' h.
rewrite (@eq_fair_mean _ _ _ _ (fun k l => (1 - (p + q) / 2%:R) * f k l +
  1 * ((p / 2%:R) * f k.+1 l + (q / 2%:R) * f k l.+1))); last by move=> k l; rewrite mul1r.
rewrite !fair_mean_linear -!IH mul1r.
rewrite -!(steps_linear 2%:R^-1 2%:R^-1 N _ _ _ (t _)).
transitivity (steps 2%:R^-1 2%:R^-1 N (fun n n' => (1 - (p + q) / 2%:R) * t f n n' +
  1 * ((p / 2%:R) * t (fun k l => f k.+1 l) n n' + (q / 2%:R) * t (fun k l => f k l.+1) n n')) 0%N 0%N).
  by apply: eq_steps => n n'; rewrite /step two_countsS1 two_countsS2 /t; field.
by rewrite steps_linear steps_linear mul1r.
Qed.

(* The p-value of the ratio. *)
Variable e : R.
Hypothesis e_gt0 : 0 < e.

Definition odds_share : R := e / (1 + e).
Definition ratio_p (k l : nat) : R := tail odds_share (k + l) k.

Lemma odds_share_le1 : odds_share <= 1.
Proof.
have e1 : 0 < 1 + e by rewrite addr_gt0 // ltr01.
by rewrite /odds_share ler_pdivr_mulr // mul1r ler_addr ler01.
Qed.

Lemma occurrences_valid a b j s : 0 <= a -> 0 <= b -> a <= e * b -> 0 <= s ->
  steps a b j (fun k l => (ratio_p k l <= s)%R%:R) 0%N 0%N <= (a + b) ^+ j * s.
Proof.
move=> a0 b0 ab s0; pose th := a / (a + b).
have ab0 : 0 <= a + b by rewrite addr_ge0.
have e1 : 0 < 1 + e by rewrite addr_gt0 // ltr01.
have tha : a = (a + b) * th.
  rewrite /th; have [z|z] := eqVneq (a + b) 0; last by rewrite mulrCA divff ?mulr1.
  by have/eqP := z; rewrite paddr_eq0 // => /andP[/eqP-> _]; rewrite !mul0r mulr0.
have thb : b = (a + b) * (1 - th) by rewrite mulrBr mulr1 -tha addrC addKr.
have th_ge0 : 0 <= th by rewrite divr_ge0.
have th_le : th <= odds_share.
  have [z|z] := eqVneq (a + b) 0.
    by rewrite /th z invr0 mulr0 divr_ge0 // ltW.
  have pab : 0 < a + b by rewrite lt_def z ab0.
  rewrite /th /odds_share ler_pdivr_mulr // mulrAC ler_pdivl_mulr //.
  by rewrite mulrDr mulr1 mulrDr addrC [a * e]mulrC ler_add2l.
rewrite (steps_count_mean j _ tha thb) ler_wpmul2l ?exprn_ge0 //.
apply: le_trans (count_mean_tail_valid j th_ge0 th_le odds_share_le1 s0).
rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_count_mean => i ij.
by rewrite /ratio_p !addn0 subnKC.
Qed.

Lemma fair_mean_valid p q N s : 0 <= p <= 1 -> 0 <= q <= 1 -> p <= e * q -> 0 <= s ->
  fair_mean p q N (fun k l => (ratio_p k l <= s)%R%:R) <= s.
Proof.
move=> /andP[p0 p1] /andP[q0 q1] pq s0; set f := fun k l => _.
have h0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
set a := p / 2%:R; set b := q / 2%:R.
have a0 : 0 <= a by rewrite mulr_ge0. have b0 : 0 <= b by rewrite mulr_ge0.
have ab : a <= e * b by rewrite /a /b mulrA ler_wpmul2r.
have ab1 : 0 <= 1 - (a + b).
  rewrite subr_ge0 /a /b -mulrDl ler_pdivr_mulr ?ltr0n // mul1r.
  by rewrite [2%:R](natrD _ 1 1) ler_add.
have E : 1 - (p + q) / 2%:R = 1 - (a + b) by rewrite mulrDl.
suff H j : fair_mean p q N (steps a b j f) <= (a + b) ^+ j * s by have := H 0%N; rewrite mul1r.
elim: N j => [|N IH] j /=; first exact: occurrences_valid.
rewrite (@eq_fair_mean _ _ _ _ (fun k l => (1 - (a + b)) * steps a b j f k l +
  1 * steps a b j.+1 f k l)); last by move=> k l; rewrite E mul1r /= steps_step.
rewrite fair_mean_linear mul1r.
apply: (@le_trans _ _ ((1 - (a + b)) * ((a + b) ^+ j * s) + (a + b) ^+ j.+1 * s)).
  by rewrite ler_add // ler_wpmul2l.
by rewrite exprS -mulrA -mulrDl subrK mul1r.
Qed.

End TwoSamples.

(* ---------------------------------------------------------------------------- *)
(* Draws on two data sets                                                       *)

Section Trials.
Variables (R : realFieldType) (Y : Type).
Implicit Types (D : distribution R Y) (W : distribution R (nat * nat)) (E : pred Y).

(* Numbers of draws from W, then so many independent draws on either data set. *)
Definition trial W D (D' : distribution R Y) : distribution R (seq Y * seq Y) :=
  and_then W (fun n => and_then (draws D n.1) (fun s =>
    and_then (draws D' n.2) (fun t => point (s, t)))).

Lemma mean_trial W D D' f : mean (trial W D D') f =
  mean W (fun n => mean (draws D n.1) (fun s => mean (draws D' n.2) (fun t => f (s, t)))).
Proof.
rewrite mean_then; apply: eq_mean => n; rewrite mean_then; apply: eq_mean => s.
by rewrite mean_then; apply: eq_mean => t; rewrite mean_point.
Qed.

(* A bound for all numbers of draws is one for random numbers. *)
Lemma trial_le W D D' f c :
  (forall n n', mean (draws D n) (fun s => mean (draws D' n') (fun t => f (s, t))) <= c) ->
  mean (trial W D D') f <= c.
Proof. by move=> H; rewrite mean_trial -(mean_const W c); apply: mean_mono => -[n n'] /=. Qed.

(* The two data sets change places. *)
Definition turned (A : Type) (x : A * A) := (x.2, x.1).
Definition turned_sizes W : distribution R (nat * nat) := and_then W (fun n => point (turned n)).

Lemma mean_turned W D D' f :
  mean (trial W D D') (fun b => f (turned b)) = mean (trial (turned_sizes W) D' D) f.
Proof.
rewrite !mean_trial mean_then; apply: eq_mean => n.
by rewrite mean_point fubini.
Qed.

Lemma turned_valid W D D' p : super_uniform (trial (turned_sizes W) D' D) p ->
  super_uniform (trial W D D') (fun b => p (turned b)).
Proof.
by move=> H t t0; rewrite /pr (mean_turned _ _ _ (fun b => (p b <= t)%R%:R)); exact: H.
Qed.

(* Given their sum, the first number is that of the heads of so many fair coins. *)
Definition fair W := exists V : distribution R nat, forall g,
  mean W g = mean V (fun N => count_mean 2%:R^-1 N (fun i => g (i, N - i)%N)).

Theorem ratio_valid W D D' E (e : R) : 0 < e -> fair W -> pr D E <= e * pr D' E ->
  super_uniform (trial W D D') (fun b => ratio_p e (count E b.1) (count E b.2)).
Proof.
move=> e0 [V WV] claim s s0; rewrite /pr mean_trial WV -[X in _ <= X](mean_const V s).
apply: mean_mono => N.
have := fair_mean_valid e0 N (pr01 D E) (pr01 D' E) claim s0.
rewrite -fair_two_counts fair_steps => H; apply: le_trans H.
rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_count_mean => i _.
pose f k l : R := (ratio_p e k l <= s)%R%:R.
rewrite /two_counts -(mean_count D E i (fun k => count_mean (pr D' E) (N - i) (f k))).
by apply: eq_mean => u; rewrite -(mean_count D' E (N - i) (f (count E u))).
Qed.

(* Bounds on both probabilities that hold but for an error of s. *)
Definition bounds_at (lo up s : R) E (b : seq Y * seq Y) :=
  [/\ lo <= 1, 0 <= up, tail lo (size b.1) (count E b.1) <= s / 2%:R
   & tail (1 - up) (size b.2) (count (predC E) b.2) <= s / 2%:R].

Theorem bounds_valid W D D' E (violates : R -> R -> Prop) (p : seq Y * seq Y -> R) :
  (forall lo up, violates lo up -> pr D E < lo \/ up < pr D' E) ->
  (forall b, p b < 1 -> exists lo up, violates lo up /\ bounds_at lo up (p b) E b) ->
  super_uniform (trial W D D') p.
Proof.
move=> claim certificate; apply: super_uniform_below1 => t t0 t1; apply: trial_le => n n'.
have h0 : 0 <= t / 2%:R by rewrite divr_ge0 ?ler0n.
pose A := fun s => tail (pr D E) n (count E s) <= t / 2%:R.
pose B := fun s => tail (pr D' (predC E)) n' (count (predC E) s) <= t / 2%:R.
apply: (@le_trans _ _ (mean (draws D n) (fun s => (A s)%:R) +
                       mean (draws D' n') (fun s => (B s)%:R))); last first.
  rewrite (_ : t = t / 2%:R + t / 2%:R); last by field.
  apply: ler_add.
    exact: (@tail_valid _ _ D E n (pr D E) (lexx _) (pr_le1 _ _) _ h0).
  exact: (@tail_valid _ _ D' (predC E) n' (pr D' (predC E)) (lexx _) (pr_le1 _ _) _ h0).
rewrite -[X in _ + X](mean_const (draws D n)) -mean_add; apply: draws_mono => s sn.
rewrite -[X in X + _](mean_const (draws D' n')) -mean_add; apply: draws_mono => u un.
rewrite -natrD ler_nat; case: leP => //= small.
have [lo [up [viol [lo1 up0 low high]]]] := certificate (s, u) (le_lt_trans small t1).
have le2 : p (s, u) / 2%:R <= t / 2%:R by rewrite ler_wpmul2r // invr_ge0 ler0n.
rewrite /= sn un in low high.
case: (claim _ _ viol) => [lt|lt].
  rewrite (_ : A s = true) //; apply: le_trans (le_trans low le2).
  by apply: tail_mono; rewrite ?pr_ge0 // ltW.
rewrite (_ : B u = true) ?addn1 //; apply: le_trans (le_trans high le2).
have -> : pr D' (predC E) = 1 - pr D' E by exact: pr_not.
apply: tail_mono; first by rewrite subr_ge0 pr_le1.
  by rewrite ler_add2l ler_opp2 ltW.
by rewrite ler_subl_addr ler_addl.
Qed.

End Trials.
