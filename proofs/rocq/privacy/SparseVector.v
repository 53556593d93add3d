(* The sparse vector technique (AboveThreshold), with real noise.

   Given k queries Q_0, ..., Q_(k-1) and a threshold T, add Laplace noise of scale
   2/eps to the threshold and of scale 4/eps to every query; answer the first index
   whose noisy query reaches the noisy threshold, or "none".  The k+1 noises are
   independent: together they have density proportional to
       exp( - (eps/2) |z_0| - (eps/4) sum_j |z_(j+1)| ).

   Proved, for each of the k+1 answers and every eps > 0:
   - if every query moves by at most one, the probability of the answer moves by a
     factor of at most e^eps (Dwork and Roth, Theorem 3.23);
   - if all queries move in the same direction, Q_j <= Q'_j <= Q_j + 1 for all j, then
     P_Q(answer) <= e^(3 eps/4) P_Q'(answer) and P_Q'(answer) <= e^(eps/4) P_Q(answer).
   Q and Q' are the values of the queries on two neighbours; T, k and eps are the same
   for both and do not depend on the data.  An answer is an option: Some j, or None.
   The answers are finitely many, so these bounds add up to the same bound for every
   set of answers (svt_set).  The scales of the two noises are any numbers until the last
   section, which has those above.

   Assumed: nothing.  Not said: anything about more than one positive answer. *)
From covassay Require Import MeasureTheory PureDP Lebesgue AdditiveNoise Norms KNorm.

(* If a shift by s carries the event A into B, the probability of A is at most
   e^(N(s)/scale) times that of B. *)
Lemma law_carry (R : realType) m n (N : norm R m n) (scale : R) (scale_gt0 : 0 < scale)
    (A B : set 'M[R]_(m, n)) (s : 'M[R]_(m, n)) :
  measurable A -> measurable B -> (forall z, A z -> B (s + z)) ->
  (law (norm_weight N scale_gt0) A <=
   (expR (N s / scale))%:E * law (norm_weight N scale_gt0) B)%E.
Proof.
move=> mA mB AB; set w := norm_weight N scale_gt0.
have mC : measurable [set z | B (s + z)].
  by rewrite -[X in measurable X]setTI; exact: (measurable_add (matrices R m n) s).
apply: (@le_trans _ _ (law w [set z | B (s + z)])).
  by apply: le_measure; rewrite ?inE.
have -> : law w [set z | B (s + z)] = law (shift_weight (matrices R m n) w s) B.
  exact: (law_shift (matrices R m n)).
apply: (@law_ratio R _ _ _ _ (shift_weight (matrices R m n) w s) w) => //.
  exact: normalizer_shift.
move=> y; rewrite /= /shift_density /= /norm_density -expRD ler_expR.
rewrite ler_subr_addl -mulrBl ler_pmul2r ?invr_gt0 // ler_subl_addr.
exact: norm_sub.
Qed.

Section SparseVector.
(* The noise of the threshold has scale 1/c1, that of the queries 1/c2. *)
Variables (R : realType) (k : nat) (c1 c2 : R).
Hypotheses (c1_gt0 : 0 < c1) (c2_gt0 : 0 < c2).

(* The exponent of the noise: coordinate 0 is the threshold, j+1 is query j. *)
Definition svt_norm_at (z : 'rV[R]_k.+1) : R :=
  c1 * `|z ord0 ord0| + c2 * \sum_(j < k) `|z ord0 (lift ord0 j)|.

Lemma svt_triangle x y : svt_norm_at (x + y) <= svt_norm_at x + svt_norm_at y.
Proof.
rewrite /svt_norm_at addrACA -!mulrDr; apply: ler_add.
  by rewrite ler_pmul2l // mxE ler_norm_add.
rewrite ler_pmul2l // -big_split ler_sum // => j _ /=.
by rewrite mxE ler_norm_add.
Qed.

Lemma svt_scale a x : svt_norm_at (a *: x) = `|a| * svt_norm_at x.
Proof.
have sumE : \sum_(j < k) `|(a *: x) ord0 (lift ord0 j)|
    = `|a| * \sum_(j < k) `|x ord0 (lift ord0 j)|.
  by rewrite mulr_sumr; apply: eq_bigr => j _; rewrite mxE normrM.
rewrite /svt_norm_at sumE mxE normrM mulrDr.
by congr (_ + _); rewrite mulrCA.
Qed.

Lemma svt_definite x : svt_norm_at x = 0 -> x = 0.
Proof.
move=> /eqP; rewrite paddr_eq0; last 2 first.
- by rewrite mulr_ge0 // ltW.
- by rewrite mulr_ge0 ?sumr_ge0 // ltW.
move=> /andP[]; rewrite mulf_eq0 (gt_eqF c1_gt0) /= normr_eq0 => /eqP x0.
rewrite mulf_eq0 (gt_eqF c2_gt0) /= psumr_eq0 // => /allP xj; apply/rowP => j; rewrite mxE.
case: (unliftP ord0 j) => [l ->|->] //.
by have := xj l (mem_index_enum _); rewrite /= normr_eq0 => /eqP.
Qed.

Definition svt_norm : norm R 1 k.+1 := Norm svt_triangle svt_scale svt_definite.

(* The joint law of the k+1 noises. *)
Definition svt_noise : set 'rV[R]_k.+1 -> \bar R := law (norm_weight svt_norm (ltr01 : 0 < 1 :> R)).

Variable T : R.
Implicit Types Q : 'I_k -> R.

(* Noisy query j reaches the noisy threshold. *)
Definition above Q (j : 'I_k) (z : 'rV[R]_k.+1) : Prop :=
  T + z ord0 ord0 <= Q j + z ord0 (lift ord0 j).

(* The noises for which the answer is "index i", or "none". *)
Definition answers Q (o : option 'I_k) : set 'rV[R]_k.+1 :=
  if o is Some i then [set z | above Q i z /\ forall j : 'I_k, (j < i)%N -> ~ above Q j z]
  else [set z | forall j, ~ above Q j z].

Definition svt Q (o : option 'I_k) : \bar R := svt_noise (answers Q o).

Lemma measurable_above Q j : measurable (above Q j).
Proof.
pose f (z : 'rV[R]_k.+1) := (Q j + z ord0 (lift ord0 j)) - (T + z ord0 ord0).
have mf : measurable_fun setT f.
  apply: measurable_funB; apply: measurable_funD;
    by [exact: measurable_fun_cst|exact: measurable_entry].
rewrite (_ : above Q j = setT `&` f @^-1` `[0, +oo[%classic).
  by apply: mf => //; exact: measurable_itv.
by apply/seteqP; split => z; rewrite /f setTI /= in_itv /= andbT subr_ge0.
Qed.

Lemma measurable_answers Q o : measurable (answers Q o).
Proof.
have mn (P : 'I_k -> Prop) : measurable [set z | forall j, P j -> ~ above Q j z].
  rewrite (_ : mkset _ = \bigcap_(j in [set j | P j]) ~` above Q j).
    apply: fin_bigcap_measurable => // j _; apply: measurableC; exact: measurable_above.
  by apply/seteqP; split => z h j Pj; exact: h.
case: o => [i|] /=; last first.
  rewrite (_ : mkset _ = [set z | forall j, True -> ~ above Q j z]) //.
  by apply/seteqP; split => z h j; [move=> _|]; exact: h.
by apply: measurableI; [exact: measurable_above|exact: mn].
Qed.

(* Move the threshold by a and query i by b. *)
Definition move (a b : R) (i : option 'I_k) : 'rV[R]_k.+1 :=
  \row_j (if unlift ord0 j is Some l then (if Some l == i then b else 0) else a).

Lemma move_threshold a b i : move a b i ord0 ord0 = a.
Proof. by rewrite mxE unlift_none. Qed.

Lemma move_query a b i j : move a b i ord0 (lift ord0 j) = if Some j == i then b else 0.
Proof. by rewrite mxE liftK. Qed.

Lemma norm_move a b i :
  svt_norm (move a b i) <= c1 * `|a| + c2 * `|b|.
Proof.
rewrite /= /svt_norm_at move_threshold ler_add2l ler_pmul2l //.
case: i => [i|]; last by rewrite big1 // => j _; rewrite move_query normr0.
rewrite (bigD1 i) //= move_query eqxx big1 ?addr0 // => j /negbTE ji.
by rewrite move_query (_ : (Some j == Some i) = false) ?normr0.
Qed.

Lemma svt_carry Q Q' o a b (c : R) :
  (forall z, answers Q o z -> answers Q' o (move a b o + z)) ->
  c1 * `|a| + c2 * `|b| <= c ->
  (svt Q o <= (expR c)%:E * svt Q' o)%E.
Proof.
move=> QQ' ab; apply: le_trans.
  exact: (@law_carry R 1 k.+1 svt_norm 1 ltr01 _ _ (move a b o)
    (measurable_answers Q o) (measurable_answers Q' o) QQ').
rewrite divr1 lee_wpmul2r ?measure_ge0 // lee_fin ler_expR.
by apply: le_trans ab; exact: norm_move.
Qed.

(* Raise the threshold by a and the query that answers by b. *)
Lemma svt_step Q Q' o a b (c : R) :
  (forall j, Q' j <= Q j + a) -> (forall j, Q j + a <= Q' j + b) ->
  c1 * `|a| + c2 * `|b| <= c ->
  (svt Q o <= (expR c)%:E * svt Q' o)%E.
Proof.
move=> low high; apply: svt_carry.
have stay j z : Some j != o -> ~ above Q j z -> ~ above Q' j (move a b o + z).
  move=> jo; apply: contra_not; rewrite /above !mxE unlift_none liftK (negbTE jo) add0r.
  rewrite addrCA => h; rewrite -(ler_add2l a); apply: (le_trans h).
  by rewrite addrA (addrC a) ler_add2r.
case: o stay => [i|] stay z /=; last by move=> h j; apply: stay => //; exact: h.
case=> ai below; split=> [|j ji].
  rewrite /above !mxE unlift_none liftK eqxx addrCA.
  apply: (@le_trans _ _ (a + (Q i + z ord0 (lift ord0 i)))); first by rewrite ler_add2l.
  by rewrite addrA (addrC a) [X in _ <= X]addrA ler_add2r.
apply: stay; last exact: below.
by apply: contraTneq ji => -[->]; rewrite ltnn.
Qed.

(* A bound for every answer is a bound for every set of answers. *)
Lemma svt_set Q Q' (c : R) (S : pred (option 'I_k)) :
  (forall o, svt Q o <= (expR c)%:E * svt Q' o)%E ->
  (\sum_(o | S o) svt Q o <= (expR c)%:E * \sum_(o | S o) svt Q' o)%E.
Proof.
move=> H; rewrite ge0_sume_distrr; last by move=> o _; exact: measure_ge0.
by apply: lee_sum => o _; exact: H.
Qed.

(* The energies: query j falls by down j >= 0 and rises by up j >= 0, and both sum to at most
   one.  Lower the queries before the answer, and raise the one that answers. *)
Lemma svt_energies Q Q' o (up down : 'I_k -> R) :
  (forall j, Q' j = Q j + up j - down j) -> (forall j, 0 <= up j) -> (forall j, 0 <= down j) ->
  \sum_j up j <= 1 -> \sum_j down j <= 1 ->
  (svt Q o <= (expR (2%:R * c2))%:E * svt Q' o)%E.
Proof.
move=> QQ up0 down0 up1 down1.
pose shift : 'rV[R]_k.+1 := \row_l (if unlift ord0 l is Some j then
  (if Some j == o then down j else - up j) else 0).
have shift0 : shift ord0 ord0 = 0 by rewrite mxE unlift_none.
have shiftS j : shift ord0 (lift ord0 j) = if Some j == o then down j else - up j.
  by rewrite mxE liftK.
apply: le_trans.
  apply: (@law_carry R 1 k.+1 svt_norm 1 ltr01 _ _ shift
    (measurable_answers Q o) (measurable_answers Q' o)).
  have stay j z : Some j != o -> ~ above Q j z -> ~ above Q' j (shift + z).
    move=> /negbTE jo; apply: contra_not; rewrite /above mxE [X in _ <= _ + X]mxE shift0 shiftS jo add0r.
    move=> h; apply: (le_trans h); rewrite QQ addrA ler_add2r.
    by rewrite addrAC addrK ger_addl oppr_le0.
  case: o @shift shift0 shiftS stay => [i|] shift shift0 shiftS stay z /=; last first.
    by move=> h j; apply: stay => //; exact: h.
  case=> ai below; split=> [|j ji]; last first.
    apply: stay; last exact: below.
    by apply: contraTneq ji => -[->]; rewrite ltnn.
  move: ai; rewrite /above mxE [X in _ -> _ <= _ + X]mxE shift0 shiftS eqxx add0r => ai.
  apply: (le_trans ai); rewrite QQ addrA ler_add2r subrK ler_addl.
  exact: up0.
rewrite divr1 lee_wpmul2r ?measure_ge0 // lee_fin ler_expR /= /svt_norm_at shift0 normr0 mulr0 add0r.
rewrite mulrC ler_pmul2r //; apply: (@le_trans _ _ (\sum_j (up j + down j))).
  apply: ler_sum => j _; rewrite shiftS; case: ifP => _.
    by rewrite ger0_norm // ler_addr.
  by rewrite normrN ger0_norm // ler_addl.
by rewrite big_split /= -[2%:R]/(1 + 1) ler_add.
Qed.

(* The same queries, in one direction: they rise by at most one, or fall by at most one. *)
Lemma svt_one_direction Q Q' o :
  (forall j, Q j <= Q' j <= Q j + 1) \/ (forall j, Q' j <= Q j <= Q' j + 1) ->
  (svt Q o <= (expR (c1 + c2))%:E * svt Q' o)%E.
Proof.
case=> near.
  apply: (@svt_step _ _ _ 1 1) => [j|j|]; last by rewrite normr1 !mulr1.
    by have /andP[] := near j.
  by rewrite ler_add2r; have /andP[] := near j.
apply: (@svt_step _ _ _ 0 1) => [j|j|]; rewrite ?addr0; try by have /andP[] := near j.
by rewrite normr0 mulr0 add0r normr1 mulr1 ler_addr ltW.
Qed.

End SparseVector.

(* The scales of the paper, 2/eps for the threshold and 4/eps for the queries. *)
Section Paper.
Variables (R : realType) (k : nat) (eps : R).
Hypothesis eps_gt0 : 0 < eps.
Let half_gt0 : 0 < eps / 2%:R. Proof. by rewrite divr_gt0. Qed.
Let quarter_gt0 : 0 < eps / 4%:R. Proof. by rewrite divr_gt0. Qed.
Variable T : R.
Implicit Types Q : 'I_k -> R.

Definition paper_svt Q o := svt half_gt0 quarter_gt0 T Q o.

(* Every query moves by at most one. *)
(* The other premise is eps > 0. *)
(*@ SVT-DP *)
Theorem svt_dp Q Q' o : (forall j, `|Q j - Q' j| <= 1) ->
  (paper_svt Q o <= (expR eps)%:E * paper_svt Q' o)%E.
Proof.
move=> QQ'; have near j : Q' j - 1 <= Q j <= Q' j + 1 by rewrite -ler_distl.
apply: (@svt_step R k _ _ _ _ _ _ _ _ 1 2%:R) => [j|j|].
- by have /andP[lo _] := near j; rewrite -ler_subl_addr.
- by have /andP[_ hi] := near j; rewrite -[2%:R]/(1 + 1) addrA ler_add2r.
rewrite normr1 ger0_norm //.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.

(* All queries move up by at most one, from Q to Q'. *)
(* The other premise is eps > 0. *)
(*@ SVT-MONOTONE-DP *)
Theorem svt_monotone_dp Q Q' o : (forall j, Q j <= Q' j <= Q j + 1) ->
  (paper_svt Q o <= (expR (3%:R / 4%:R * eps))%:E * paper_svt Q' o)%E /\
  (paper_svt Q' o <= (expR (3%:R / 4%:R * eps))%:E * paper_svt Q o)%E.
Proof.
move=> up; split.
  apply: (@svt_step R k _ _ _ _ _ _ _ _ 1 1) => [j|j|]; first by have /andP[] := up j.
    by rewrite ler_add2r; have /andP[] := up j.
  by rewrite normr1 le_eqVlt; apply/orP; left; apply/eqP; field.
apply: (@svt_step R k _ _ _ _ _ _ _ _ 0 1) => [j|j|]; rewrite ?addr0; try by have /andP[] := up j.
have -> : 3%:R / 4%:R * eps = eps / 4%:R + eps / 2%:R by field.
by rewrite normr0 mulr0 add0r normr1 mulr1 ler_addl ltW.
Qed.

(* Moving down, the price is a quarter. *)
(* The premises are those of the theorem before. *)
(*@ SVT-MONOTONE-DOWN *)
Theorem svt_monotone_down Q Q' o : (forall j, Q j <= Q' j <= Q j + 1) ->
  (paper_svt Q' o <= (expR (eps / 4%:R))%:E * paper_svt Q o)%E.
Proof.
move=> up; apply: (@svt_step R k _ _ _ _ _ _ _ _ 0 1) => [j|j|]; rewrite ?addr0; try by have /andP[] := up j.
by rewrite normr0 mulr0 add0r normr1 mulr1.
Qed.

End Paper.
