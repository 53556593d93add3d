(* The sparse vector technique as a law on numbers, and as a stage; the clipping levels of the code.

   - `first_index f w` is the first j below k with f_j(w) >= 0, and k if there is none.  It is
     measurable, so the answers of the sparse vector technique are a probability on the numbers up to
     k, and a stage if the queries depend on an earlier output.
   - If all queries move in one direction by at most one, the loss lies in an interval of length
     c1 + 2 c2, where 1/c1 and 1/c2 are the scales of the noise on the threshold and on the queries.
   - If they also move by amounts that do not decrease, the loss is at most max (c1, c2).
   - The levels of clipped-cov, adaptive-cov and adaptive-cov-pure: c_j rows have a length in
     (2^-j, 2^(1-j)], and B_k = (1/n) sum_(j <= k) c_j (4^(1-j) - 4^-k) bounds the bias of clipping to
     2^-k.  In the unit ball one row moves all n B_k in one direction, by at most one and by amounts
     that do not decrease in k.

   Nothing is assumed. *)
From covassay Require Import MechanismTheory TwoStages SparseVector MatrixStages Zcdp BoundedRange.
From covassay Require Euclidean Sensitivity Algorithm2.

(* ---------------------------------------------------------------------------- *)
(* Laws on numbers                                                              *)

Section Numbers.
Context (R : realType) e (W : measurableType e).

Lemma nat_indistinguishable (M M' : {measure set W -> \bar R}) (f f' : W -> nat)
    (mf : measurable_fun setT f) (mf' : measurable_fun setT f') (k : nat) (c : R) :
  (forall w, (f w <= k)%N) -> (forall w, (f' w <= k)%N) ->
  (forall m, (m <= k)%N -> (M [set w | f w = m] <= (expR c)%:E * M' [set w | f' w = m])%E) ->
  indistinguishable c (image_law mf M) (image_law mf' M').
Proof.
move=> fk fk' H S _.
have E (N : {measure set W -> \bar R}) (h : W -> nat) (mh : measurable_fun setT h) :
    (forall w, (h w <= k)%N) -> N (h @^-1` S)
    = (\sum_(m \in S `&` `I_k.+1) N [set w | h w = m])%E.
  move=> hk; rewrite -measure_fin_bigcup //.
  - congr (N _); apply/seteqP; split => w /=.
      by move=> Shw; exists (h w) => //; split=> //=; rewrite ltnS.
    by case=> m [Sm _] /= ->.
  - exact: finite_setIr.
  - by apply/trivIsetP => i j _ _ ij; rewrite -subset0 => w [/= wi wj]; move: ij; rewrite -wi -wj eqxx.
  move=> m _; rewrite -[X in measurable X]setTI.
  by apply: (mh measurableT [set m]).
rewrite /image_law /= /pushforward (E _ _ mf fk) (E _ _ mf' fk').
rewrite ge0_mule_fsumr; last by move=> m; exact: measure_ge0.
apply: lee_fsum; first exact: finite_setIr.
by move=> m [_ /= mk]; apply: H; rewrite -ltnS.
Qed.

Variables (k : nat) (f : 'I_k -> W -> R).
Hypothesis mf : forall j, measurable_fun setT (f j).

Definition first_index (w : W) : nat := find (fun j => 0 <= f j w) (enum 'I_k).

Lemma first_index_le w : (first_index w <= k)%N.
Proof. by rewrite -[X in (_ <= X)%N](size_enum_ord k) find_size. Qed.

Lemma measurable_first_index : measurable_fun setT first_index.
Proof.
rewrite /first_index; elim: (enum 'I_k) => [|j s IH] /=; first exact: measurable_fun_cst.
apply: measurable_fun_ifT; [|exact: measurable_fun_cst|].
  apply: (measurable_fun_bool true).
  rewrite (_ : _ @^-1` _ = f j @^-1` `[0, +oo[%classic).
    by rewrite -[X in measurable X]setTI; apply: mf => //; exact: measurable_itv.
  by apply/seteqP; split => w /=; rewrite in_itv /= andbT.
by apply: (measurable_fun_comp (f := succn)).
Qed.

Lemma first_indexE w m : (m <= k)%N -> first_index w = m <->
  (if insub m is Some i then 0 <= f i w /\ forall j : 'I_k, (j < i)%N -> ~ 0 <= f j w
   else forall j, ~ 0 <= f j w).
Proof.
move=> mk; set p := fun j : 'I_k => 0 <= f j w.
have nthE (i0 j : 'I_k) : nth i0 (enum 'I_k) j = j by rewrite nth_ord_enum.
case: insubP => [i _ im|]; last first.
  rewrite -leqNgt => km; have -> : m = k by apply/eqP; rewrite eqn_leq mk.
  split=> [fk j pj|none].
    have : has p (enum 'I_k) by apply/hasP; exists j => //; rewrite mem_enum.
    by rewrite has_find size_enum_ord -/(first_index w) fk ltnn.
  apply/eqP; rewrite eqn_leq first_index_le /= -{1}(size_enum_ord k) leqNgt -has_find.
  by apply/negP => /hasP[j _]; exact: none.
have i_enum : (i < size (enum 'I_k))%N by rewrite size_enum_ord.
rewrite -im /=; split=> [fi|[pi below]].
  have hp : has p (enum 'I_k) by rewrite has_find size_enum_ord -/(first_index w) fi.
  split=> [|j ji]; first by have := nth_find i hp; rewrite -/(first_index w) fi nthE.
  have := before_find j (_ : (j < find p (enum 'I_k))%N); rewrite -/(first_index w) fi => /(_ ji).
  by rewrite nthE => /negbT/negP.
apply/eqP; rewrite eqn_leq; apply/andP; split.
  rewrite leqNgt; apply/negP => /(before_find i); rewrite nthE.
  by rewrite /p pi.
rewrite leqNgt; apply/negP => lt.
have fk : (first_index w < k)%N by exact: ltn_trans lt (ltn_ord i).
have hp : has p (enum 'I_k) by rewrite has_find size_enum_ord.
have := nth_find i hp; rewrite -/(first_index w).
have -> : nth i (enum 'I_k) (first_index w) = Ordinal fk by rewrite -[first_index w]/(val (Ordinal fk)) nth_ord_enum.
exact: below.
Qed.

End Numbers.
(* ---------------------------------------------------------------------------- *)
(* The answers of the sparse vector technique                                   *)

(* The numbers, of which every set is an event. *)
Definition numbers : measurableType _ := Datatypes_nat__canonical__measure_Measurable.

Section Search.
Variables (R : realType) (k : nat) (c1 c2 T : R).
Hypotheses (c1_gt0 : 0 < c1) (c2_gt0 : 0 < c2).
Notation noises := [the measurableType _ of 'rV[R]_k.+1].

Implicit Types Q : 'I_k -> R.

Definition search_noise : {measure set noises -> \bar R} :=
  [the measure _ _ of law (norm_weight (svt_norm k c1_gt0 c2_gt0) (ltr01 : 0 < 1 :> R))].

(* How far noisy query j lies above the noisy threshold. *)
Definition margin Q (j : 'I_k) (z : 'rV[R]_k.+1) : R :=
  (Q j + z ord0 (lift ord0 j)) - (T + z ord0 ord0).

Lemma measurable_margin Q j : measurable_fun setT (margin Q j).
Proof.
by apply: measurable_funB; apply: measurable_funD; [exact: measurable_fun_cst|exact: measurable_entry
  |exact: measurable_fun_cst|exact: measurable_entry].
Qed.

Definition level_law Q : {measure set numbers -> \bar R} :=
  image_law (measurable_first_index (measurable_margin Q)) search_noise.

Lemma level_law_total Q : level_law Q setT = 1%E.
Proof. exact: law_total. Qed.

Lemma level_event Q m : (m <= k)%N ->
  [set z | first_index (margin Q) z = m] = answers T Q (insub m).
Proof.
move=> mk; apply/seteqP; split => z /=; rewrite (first_indexE _ _ mk).
  case: insubP => [i _ _|_] /=; rewrite /above.
    case=> ai below; split; first by rewrite -subr_ge0.
    by move=> j ji; rewrite -subr_ge0; exact: below.
  by move=> none j; rewrite -subr_ge0; exact: none.
case: insubP => [i _ _|_] /=; rewrite /above.
  case=> ai below; split; first by rewrite subr_ge0.
  by move=> j ji; rewrite subr_ge0; exact: below.
by move=> none j; rewrite subr_ge0; exact: none.
Qed.

(* The probability of a number is that of the answer. *)
Lemma level_lawE Q m : (m <= k)%N -> level_law Q [set m] = svt c1_gt0 c2_gt0 T Q (insub m).
Proof. by move=> mk; rewrite /level_law /= /pushforward /svt -(level_event Q mk). Qed.

Lemma level_law_le Q Q' (c : R) :
  (forall o, svt c1_gt0 c2_gt0 T Q o <= (expR c)%:E * svt c1_gt0 c2_gt0 T Q' o)%E ->
  indistinguishable c (level_law Q) (level_law Q').
Proof.
move=> H; apply: (@nat_indistinguishable _ _ _ _ _ _ _ _ _ k) => [w|w|m mk]; try exact: first_index_le.
by rewrite !(level_event _ mk); exact: H.
Qed.

Definition near_one_way Q Q' :=
  (forall j, Q j <= Q' j <= Q j + 1) \/ (forall j, Q' j <= Q j <= Q' j + 1).

Lemma near_one_way_sym Q Q' : near_one_way Q Q' -> near_one_way Q' Q.
Proof. by case=> H; [right|left]. Qed.

Let rise Q Q' : (forall j, Q j <= Q' j <= Q j + 1) -> indistinguishable (c1 + c2) (level_law Q) (level_law Q').
Proof. by move=> H; apply: level_law_le => o; apply: svt_one_direction; left. Qed.

Let fall Q Q' : (forall j, Q' j <= Q j <= Q' j + 1) -> indistinguishable c2 (level_law Q) (level_law Q').
Proof.
move=> H; apply: level_law_le => o; apply: (@svt_step _ _ _ _ _ _ _ _ _ _ 0 1) => [j|j|].
- by rewrite addr0; have /andP[] := H j.
- by rewrite addr0; have /andP[] := H j.
by rewrite normr0 mulr0 add0r normr1 mulr1.
Qed.

(* Queries that move one way: under pure privacy, and under zCDP. *)
Lemma level_law_dp Q Q' : near_one_way Q Q' -> indistinguishable (c1 + c2) (level_law Q) (level_law Q').
Proof. by move=> H; apply: level_law_le => o; exact: svt_one_direction. Qed.

Lemma level_law_concentrated Q Q' : near_one_way Q Q' ->
  concentrated ((c1 + 2%:R * c2) ^+ 2 / 8%:R) (level_law Q) (level_law Q').
Proof.
have pos : 0 < c1 + 2%:R * c2 by rewrite addr_gt0 ?mulr_gt0 ?ltr0n.
case=> H.
  have e : c1 + 2%:R * c2 = (c1 + c2) + c2 by rewrite mulr_natl mulr2n addrA.
  rewrite e in pos *; apply: (bounded_range_concentrated (level_law_total Q) (level_law_total Q') pos).
    exact: rise.
  exact: fall.
have e : c1 + 2%:R * c2 = c2 + (c1 + c2) by ring.
rewrite e in pos *; apply: (bounded_range_concentrated (level_law_total Q) (level_law_total Q') pos).
  exact: fall.
exact: rise.
Qed.

(* Queries that move one way, by amounts that do not decrease. *)
Definition increasing_moves Q Q' :=
  forall i j : 'I_k, (i <= j)%N -> `|Q' i - Q i| <= `|Q' j - Q j|.

Lemma level_law_monotone Q Q' : near_one_way Q Q' -> increasing_moves Q Q' ->
  indistinguishable (Num.max c1 c2) (level_law Q) (level_law Q').
Proof.
move=> near inc; apply: level_law_le => o.
have carry (a b : R) : (forall j : 'I_k, (if o is Some i then (j <= i)%N else true) -> Q' j <= Q j + a) ->
    (if o is Some i then Q i + a <= Q' i + b else true) ->
    c1 * `|a| + c2 * `|b| <= Num.max c1 c2 ->
    (svt c1_gt0 c2_gt0 T Q o <= (expR (Num.max c1 c2))%:E * svt c1_gt0 c2_gt0 T Q' o)%E.
  move=> low high; apply: svt_carry.
  have stay (j : 'I_k) z : Some j != o -> (if o is Some i then (j <= i)%N else true) ->
      ~ above T Q j z -> ~ above T Q' j (move a b o + z).
    move=> jo ji; apply: contra_not; rewrite /above !mxE unlift_none liftK (negbTE jo) add0r.
    rewrite addrCA => h; rewrite -(ler_add2l a); apply: (le_trans h).
    by rewrite addrA (addrC a) ler_add2r; exact: low.
  case: o low high stay => [i|] low high stay z /=; last by move=> h j; apply: stay => //; exact: h.
  case=> ai below; split=> [|j ji].
    rewrite /above !mxE unlift_none liftK eqxx addrCA.
    apply: (@le_trans _ _ (a + (Q i + z ord0 (lift ord0 i)))); first by rewrite ler_add2l.
    by rewrite addrA (addrC a) [X in _ <= X]addrA ler_add2r.
  apply: stay; [|exact: ltnW|exact: below].
  by apply: contraTneq ji => -[->]; rewrite ltnn.
case: near => H.
  have up j : `|Q' j - Q j| = Q' j - Q j by rewrite ger0_norm // subr_ge0; have /andP[] := H j.
  have up0 j : 0 <= Q' j - Q j by rewrite -up.
  have up1 j : Q' j - Q j <= 1 by rewrite ler_subl_addl; have /andP[] := H j.
  pose a := if o is Some i then Q' i - Q i else 1.
  have [a0 a1] : 0 <= a /\ a <= 1 by rewrite /a; case: (o) => [i|]; rewrite ?ler01.
  refine (carry a 0 _ _ _).
  - rewrite /a; case: (o) => [i|] j ji; last by have /andP[] := H j.
    rewrite -ler_subl_addl; have := inc _ _ ji; by rewrite !up.
  - by rewrite /a; case: (o) => // i; rewrite addr0 addrC subrK.
  rewrite normr0 mulr0 addr0 ger0_norm // le_maxr; apply/orP; left.
  by rewrite ler_pimulr // ltW.
have down j : `|Q' j - Q j| = Q j - Q' j by rewrite distrC ger0_norm // subr_ge0; have /andP[] := H j.
pose b := if o is Some i then Q i - Q' i else 0.
have [b0 b1] : 0 <= b /\ b <= 1.
  rewrite /b; case: (o) => [i|]; rewrite ?lexx ?ler01 // subr_ge0 ler_subl_addl.
  by have /andP[] := H i.
refine (carry 0 b _ _ _).
- by move=> j _; rewrite addr0; have /andP[] := H j.
- by rewrite /b; case: (o) => // i; rewrite addr0 addrC subrK.
rewrite normr0 mulr0 add0r ger0_norm // le_maxr; apply/orP; right.
by rewrite ler_pimulr // ltW.
Qed.

(* ---------------------------------------------------------------------------- *)
(* A stage, for queries that depend on an earlier output                        *)

Context e (Y : measurableType e).
Variables (q : 'I_k -> Y -> R).
Hypothesis mq : forall j, measurable_fun setT (q j).

Let margin_at (j : 'I_k) (yz : Y * 'rV[R]_k.+1) : R := margin (q^~ yz.1) j yz.2.

Lemma measurable_margin_at j :
  measurable_fun [set: [the measurableType _ of (Y * 'rV[R]_k.+1)%type]] (margin_at j).
Proof.
have mz i : measurable_fun [set: [the measurableType _ of (Y * 'rV[R]_k.+1)%type]]
    (fun yz : Y * 'rV[R]_k.+1 => yz.2 ord0 i).
  by apply: (measurable_fun_comp (@measurable_entry R 1 k.+1 ord0 i)); exact: measurable_fun_snd.
apply: measurable_funB; apply: measurable_funD => //; last exact: measurable_fun_cst.
by apply: (measurable_fun_comp (mq j)); exact: measurable_fun_fst.
Qed.

Definition level_stage : stage R Y numbers :=
  stage_image (measurable_first_index measurable_margin_at)
    (Algorithm2.constant_stage Y (law_total _ : search_noise setT = 1%E)).

Lemma level_stageE y S : level_stage y S = level_law (q^~ y) S.
Proof. by []. Qed.

End Search.

(* ---------------------------------------------------------------------------- *)
(* Levels of clipping                                                           *)

Section Levels.
Variables (R : realType) (n d : nat).
Notation data := (Sensitivity.dataset R n d).
Implicit Types X Y : data.

(* How many rows are longer than 2^-j, and how many have a length in (2^-j, 2^(1-j)]. *)
Definition longer X (j : nat) : R := \sum_(i < n) ((2%:R^-1 ^+ j < Euclidean.norm (X i))%R)%:R.
Definition bin_count X (j : nat) : R := longer X j - longer X j.-1.

(* n B_k *)
Definition bias_bound X (k : nat) : R :=
  \sum_(j < k) bin_count X j.+1 * (4%:R^-1 ^+ j - 4%:R^-1 ^+ k).

Let weight (j : nat) : R := 4%:R^-1 ^+ j - 4%:R^-1 ^+ j.+1.

Let weight_ge0 j : 0 <= weight j.
Proof.
rewrite subr_ge0 exprS ler_pimull ?exprn_ge0 ?invr_ge0 ?ler0n //.
by rewrite invf_le1 ?ltr0n // ler1n.
Qed.

Let weight_sum k : \sum_(j < k) weight j <= 1.
Proof.
suff -> : \sum_(j < k) weight j = 1 - 4%:R^-1 ^+ k.
  by rewrite ger_addl oppr_le0 exprn_ge0 ?invr_ge0 ?ler0n.
elim: k => [|k IH]; first by rewrite big_ord0 expr0 subrr.
by rewrite big_ord_recr /= IH /weight addrA subrK.
Qed.

Let telescope (g : nat -> R) k : \sum_(j < k) (g j.+1 - g j) = g k - g 0%N.
Proof.
elim: k => [|k IH]; first by rewrite big_ord0 subrr.
by rewrite big_ord_recr /= IH addrC addrA subrK.
Qed.

Let abel (g : nat -> R) k : g 0%N = 0 ->
  \sum_(j < k) (g j.+1 - g j) * (4%:R^-1 ^+ j - 4%:R^-1 ^+ k) = \sum_(j < k) g j.+1 * weight j.
Proof.
move=> g0; elim: k => [|k IH]; first by rewrite !big_ord0.
rewrite [RHS]big_ord_recr /= -IH.
have -> : g k.+1 * weight k = \sum_(j < k.+1) (g j.+1 - g j) * weight k.
  by rewrite -mulr_suml telescope g0 subr0.
rewrite [X in _ = _ + X]big_ord_recr big_ord_recr /= addrA -big_split /=.
congr (_ + _); apply: eq_bigr => j _; rewrite -mulrDr; congr (_ * _).
by rewrite /weight addrA subrK.
Qed.

Let longer_zero X : Sensitivity.bounded X -> longer X 0 = 0.
Proof.
by move=> bX; rewrite /longer big1 // => i _; rewrite expr0 ltNge bX.
Qed.

Lemma bias_boundE X k : Sensitivity.bounded X ->
  bias_bound X k = \sum_(j < k) longer X j.+1 * weight j.
Proof. by move=> bX; rewrite /bias_bound abel // longer_zero. Qed.

(* One row, in the unit ball, moves them one way. *)
Lemma bias_bound_moves (K : nat) X Y (b : 'I_K -> R) : Algorithm2.adjacent X Y ->
  near_one_way (fun j : 'I_K => bias_bound X j - b j) (fun j => bias_bound Y j - b j) /\
  increasing_moves (fun j : 'I_K => bias_bound X j - b j) (fun j => bias_bound Y j - b j).
Proof.
move=> [bX bY [i XY]].
pose over (x : 'cV[R]_d) (j : nat) : R := ((2%:R^-1 ^+ j < Euclidean.norm x)%R)%:R.
pose moves (x y : 'cV[R]_d) k := \sum_(j < k) (over y j.+1 - over x j.+1) * weight j.
have gap k : bias_bound Y k - bias_bound X k = moves (X i) (Y i) k.
  rewrite !bias_boundE // -sumrB; apply: eq_bigr => j _; rewrite -mulrBl; congr (_ * _).
  rewrite /longer (bigD1 i) //= [X in _ - X](bigD1 i) //=.
  have -> : \sum_(l | l != i) ((2%:R^-1 ^+ j.+1 < Euclidean.norm (X l))%R)%:R
      = \sum_(l | l != i) ((2%:R^-1 ^+ j.+1 < Euclidean.norm (Y l))%R)%:R :> R.
    by apply: eq_bigr => l li; rewrite XY.
  by rewrite opprD addrACA subrr addr0.
have movesN x y k : moves y x k = - moves x y k.
  by rewrite /moves -sumrN; apply: eq_bigr => j _; rewrite -mulNr opprB.
have terms x y : Euclidean.norm x <= Euclidean.norm y -> forall j,
    0 <= (over y j - over x j) <= 1.
  move=> xy j; rewrite /over; case: (boolP (_ < Euclidean.norm x)) => hx.
    by rewrite (lt_le_trans hx xy) subrr lexx ler01.
  by rewrite subr0 ler0n lern1 leq_b1.
have facts x y : Euclidean.norm x <= Euclidean.norm y ->
    (forall k, 0 <= moves x y k <= 1) /\ (forall k l, (k <= l)%N -> moves x y k <= moves x y l).
  move=> xy; split=> [k|k l kl].
    rewrite sumr_ge0 /= => [|j _]; last by have /andP[p _] := terms _ _ xy j.+1; rewrite mulr_ge0.
    apply: le_trans (weight_sum k); apply: ler_sum => j _.
    by have /andP[_ p] := terms _ _ xy j.+1; rewrite ler_pimull.
  rewrite /moves -!(big_mkord xpredT (fun j => (over y j.+1 - over x j.+1) * weight j)).
  rewrite [X in _ <= X](big_cat_nat _ _ _ (leq0n k) kl) /= ler_addl sumr_ge0 // => j _.
  by have /andP[p _] := terms _ _ xy j.+1; rewrite mulr_ge0.
have shift k (c : R) : bias_bound Y k - c - (bias_bound X k - c) = moves (X i) (Y i) k.
  by rewrite opprB addrA subrK gap.
have [xy|/ltW yx] := leP (Euclidean.norm (X i)) (Euclidean.norm (Y i)).
  have [range inc] := facts _ _ xy; split.
    by left=> j /=; rewrite -subr_ge0 -(ler_subl_addl (bias_bound Y j - b j)) shift; exact: range.
  move=> p q pq /=; rewrite !shift !ger0_norm; try by have /andP[] := range p; have /andP[] := range q.
  exact: inc.
have [range inc] := facts _ _ yx; split.
  right=> j /=; rewrite -subr_ge0 -(ler_subl_addl (bias_bound X j - b j)).
  have -> : bias_bound X j - b j - (bias_bound Y j - b j) = moves (Y i) (X i) j.
    by rewrite movesN -(shift _ (b j)); ring.
  exact: range.
move=> p q pq /=; rewrite !shift (movesN (Y i) (X i) p) (movesN (Y i) (X i) q) !normrN.
by rewrite !ger0_norm; [exact: inc|have /andP[] := range q|have /andP[] := range p].
Qed.

End Levels.
