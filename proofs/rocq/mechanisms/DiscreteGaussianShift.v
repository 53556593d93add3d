(* Discrete Gaussian noise is concentrated.

   - theta_le: the sum of e^(-(k - c)^2/(2v)) over the integers k is largest where c is zero.
     No Fourier series is needed: for any points s_i and numbers a_i, the sum of
     a_i a_j e^(-(s_i - s_j)^2/(2v)) is not negative, by the series of exp.  With a = 1 at many
     successive integers and a = -1 at as many integers plus c this compares the two sums.
   - dgaussian_row_concentrated: the laws of a + Z and b + Z, for rows a and b of integers and
     Z with independent discrete Gaussian entries, are as close as zCDP with
     |a - b|^2/(2v) demands (Zcdp.v).  The total mass is one.

   Assumed: nothing. *)
From covassay Require Import MechanismTheory Discrete DiscreteLaplace DiscreteGaussian.
From covassay Require Import DiscreteLaplaceCovariance PureToZcdp Gaussian Zcdp.
From mathcomp Require Import countalg finmap.
Import numFieldNormedType.Exports.

(* ---------------------------------------------------------------------------- *)
(* The kernel e^(-(s - t)^2/(2v))                                               *)

Section Kernel.
Variables (R : realType) (v : R).
Hypothesis v_gt0 : 0 < v.

Definition bump (t : R) : R := expR (- (t ^+ 2 / (2%:R * v))).

Lemma bump_gt0 t : 0 < bump t. Proof. exact: expR_gt0. Qed.

Lemma cvg_finite_sum (I : finType) (F : I -> nat -> R) (l : I -> R) :
  (forall i, F i --> l i) -> (fun n => \sum_i F i n) --> \sum_i l i.
Proof.
move=> Fl; elim: (index_enum I) => [|i s IH].
  rewrite (_ : (fun _ => _) = fun=> 0); last by apply/funext => n; rewrite big_nil.
  by rewrite big_nil; exact: (@cvg_cst R).
rewrite (_ : (fun _ => _) = (fun n => F i n + \sum_(j <- s) F j n)); last by apply/funext => n; rewrite big_cons.
rewrite big_cons.
exact: (@cvgD _ _ _ _ _ (F i) _ _ _ (Fl i) IH).
Qed.

Lemma exp_kernel_ge0 (I : finType) (b s : I -> R) : 0 <= \sum_i \sum_j b i * b j * expR (s i * s j).
Proof.
pose F n := \sum_i \sum_j b i * b j * series (exp_coeff (s i * s j)) n.
have cv : F --> \sum_i \sum_j b i * b j * expR (s i * s j).
  apply: cvg_finite_sum => i; apply: cvg_finite_sum => j.
  exact: (@cvgMr _ _ _ _ (series (exp_coeff (s i * s j))) (b i * b j) _ (@is_cvg_series_exp_coeff R _)).
suff F0 n : 0 <= F n.
  have <- := cvg_lim (@Rhausdorff R) cv.
  by apply: limr_ge; [apply/cvg_ex; eexists; exact: cv|apply: nearW].
have -> : F n = \sum_(0 <= k < n) (\sum_i b i * s i ^+ k) ^+ 2 / k`!%:R.
  rewrite /F /series /exp_coeff /=; under eq_bigr do under eq_bigr do rewrite mulr_sumr.
  under eq_bigr do rewrite exchange_big /=.
  rewrite exchange_big /=; apply: eq_bigr => k _.
  rewrite expr2 mulr_suml mulr_suml; apply: eq_bigr => i _; rewrite -mulrA mulr_suml mulr_sumr.
  by apply: eq_bigr => j _; rewrite exprMn !mulrA; congr (_ / _); rewrite -!mulrA; congr (_ * _); rewrite mulrCA.
by apply: sumr_ge0 => k _; rewrite divr_ge0 ?sqr_ge0 ?ler0n.
Qed.

Lemma bump_kernel_ge0 (I : finType) (a s : I -> R) : 0 <= \sum_i \sum_j a i * a j * bump (s i - s j).
Proof.
pose r := Num.sqrt v; have r0 : 0 < r by rewrite sqrtr_gt0.
have rr : r ^+ 2 = v by rewrite sqr_sqrtr ?ltW.
apply: (le_trans (exp_kernel_ge0 (fun i => a i * bump (s i)) (fun i => s i / r))).
rewrite le_eqVlt; apply/orP/or_introl/eqP; apply: eq_bigr => i _; apply: eq_bigr => j _.
have -> : bump (s i - s j) = bump (s i) * bump (s j) * expR (s i / r * (s j / r)).
  by rewrite /bump -!expRD; congr expR; rewrite -rr; field; rewrite gt_eqF.
by move: (bump _) (bump _) (expR _) (a i) (a j) => p q e x y; ring.
Qed.

End Kernel.

(* Sums over parts of a finite list. *)
Lemma sum_sub_seq (R : numDomainType) (T : eqType) (s1 s2 : seq T) (f : T -> R) : uniq s1 -> uniq s2 ->
  {subset s1 <= s2} -> (forall x, 0 <= f x) -> \sum_(x <- s1) f x <= \sum_(x <- s2) f x.
Proof.
move=> u1 u2 s12 f0; rewrite [X in _ <= X](bigID (mem s1)) /= -[X in X <= _]addr0.
apply: ler_add; last by apply: sumr_ge0.
rewrite -[X in _ <= X]big_filter le_eqVlt; apply/orP/or_introl/eqP/perm_big.
apply: uniq_perm => //; first exact: filter_uniq.
by move=> x; rewrite mem_filter andb_idr // => /s12.
Qed.

Lemma sum_iota (R : zmodType) (N : nat) (f : nat -> R) : \sum_(i <- iota 0 N) f i = \sum_(i < N) f i.
Proof. by rewrite -[X in iota 0 X](subn0 N) -/(index_iota 0 N) big_mkord. Qed.

Section Theta.
Variables (R : realType) (v : R).
Hypothesis v_gt0 : 0 < v.
Notation G := (fine (mass (dgaussian_weight v) setT)).

Definition theta (c : R) : \bar R := mass (fun k : int => bump v (k%:~R - c)) setT.

Lemma seq_le_G (s : seq int) : uniq s -> \sum_(k <- s) dgaussian_weight v k <= G.
Proof.
move=> us; have [E _] := dgaussian_sum v_gt0; rewrite -lee_fin -E -sumEFin.
apply: ereal_sup_ub; exists [set` s]; last by rewrite -fsbig_seq.
by split=> //; exact: finite_seq.
Qed.

(* Windows of integers. *)
Let window (N : nat) (c : R) (s : seq int) (m : nat) : uniq s -> (forall k, k \in s -> `|k| <= m%:Z) ->
  \sum_(j < N) \sum_(k <- s) bump v (k%:~R - c)
  <= \sum_(j < N) \sum_(i < N + (m + m)) bump v (i%:R - ((j + m)%:R + c)).
Proof.
move=> us sm; apply: ler_sum => j _.
pose e (k : int) : int := k + (j + m)%:Z.
have eE k : bump v (k%:~R - c) = bump v ((e k)%:~R - ((j + m)%:R + c)).
  by congr bump; rewrite /e rmorphD /= -pmulrn opprD addrA addrK.
under eq_bigr do rewrite eE; rewrite -(big_map e xpredT (fun k => bump v (k%:~R - ((j + m)%:R + c)))).
pose w := [seq Posz i | i <- iota 0 (N + (m + m))].
have -> : \sum_(i < N + (m + m)) bump v (i%:R - ((j + m)%:R + c)) = \sum_(k <- w) bump v (k%:~R - ((j + m)%:R + c)).
  by rewrite /w big_map sum_iota; apply: eq_bigr.
apply: sum_sub_seq.
- by rewrite map_inj_uniq // => x y /addIr.
- by rewrite map_inj_uniq ?iota_uniq // => x y [].
- move=> _ /mapP[k /sm km ->]; have jN := ltn_ord j.
  have e0 : 0 <= e k.
    rewrite /e PoszD; move: km; rewrite ler_norml => /andP[km _].
    by rewrite addrCA addr_ge0 // -ler_subl_addr sub0r.
  apply/mapP; exists `|e k|%N; last by rewrite gez0_abs.
  rewrite mem_iota /= add0n -ltz_nat gez0_abs // /e.
  move: km; rewrite ler_norml => /andP[_ km].
  rewrite addrC; apply: (@le_lt_trans _ _ ((j + m)%:Z + m%:Z)); first by rewrite ler_add2l.
  by rewrite -PoszD ltz_nat -addnA ltn_add2r.
- by move=> x; rewrite ltW // bump_gt0.
Qed.

Let squares (N : nat) (c : R) : \sum_(i < N) \sum_(j < N) bump v ((i%:R + c) - (j%:R + c)) <= N%:R * G.
Proof.
have -> : N%:R * G = \sum_(i < N) G by rewrite sumr_const card_ord mulr_natl.
apply: ler_sum => i _.
have -> : \sum_(j < N) bump v ((i%:R + c) - (j%:R + c)) = \sum_(k <- [seq i%:Z - Posz j | j <- iota 0 N]) dgaussian_weight v k.
  rewrite big_map sum_iota; apply: eq_bigr => j _.
  by rewrite /dgaussian_weight /bump rmorphB /= opprD addrACA subrr addr0.
by apply: seq_le_G; rewrite map_inj_uniq ?iota_uniq // => x y /addrI /oppr_inj [].
Qed.

Lemma finite_theta_le (s : seq int) (c : R) : uniq s -> \sum_(k <- s) bump v (k%:~R - c) <= G.
Proof.
move=> us; set T := \sum_(k <- s) _; pose m := (\sum_(k <- s) `|k|)%N.
have sm k : k \in s -> `|k| <= m%:Z.
  by move=> ks; rewrite -abszE lez_nat /m (big_rem k) //= leq_addr.
have key (N : nat) : 2%:R * (N%:R * T) <= (N + N + (m + m))%:R * G.
  pose M := (N + (m + m))%N.
  pose a (x : 'I_M + 'I_N) : R := if x is inl _ then 1 else - 1.
  pose p (x : 'I_M + 'I_N) : R := match x with inl i => i%:R | inr j => (j + m)%:R + c end.
  have := bump_kernel_ge0 v_gt0 a p; rewrite big_sumType /=.
  under eq_bigr do rewrite big_sumType /=; under [X in _ + X]eq_bigr do rewrite big_sumType /=.
  rewrite !big_split /=.
  have -> : \sum_(i < M) \sum_(j < M) 1 * 1 * bump v (i%:R - j%:R) = \sum_(i < M) \sum_(j < M) bump v ((i%:R + 0) - (j%:R + 0)).
    by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite !mul1r !addr0.
  have -> : \sum_(i < N) \sum_(j < N) -1 * -1 * bump v ((i + m)%:R + c - ((j + m)%:R + c))
      = \sum_(i < N) \sum_(j < N) bump v ((i%:R + (m%:R + c)) - (j%:R + (m%:R + c))).
    by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite mulrNN !mul1r !natrD !addrA.
  pose S := \sum_(j < N) \sum_(i < M) bump v (i%:R - ((j + m)%:R + c)).
  have -> : \sum_(i < M) \sum_(j < N) 1 * -1 * bump v (i%:R - ((j + m)%:R + c)) = - S.
    rewrite exchange_big /= -sumrN; apply: eq_bigr => j _; rewrite -sumrN; apply: eq_bigr => i _.
    by rewrite mul1r mulN1r.
  have -> : \sum_(j < N) \sum_(i < M) -1 * 1 * bump v ((j + m)%:R + c - i%:R) = - S.
    rewrite -sumrN; apply: eq_bigr => j _; rewrite -sumrN; apply: eq_bigr => i _.
    by rewrite mulr1 mulN1r /bump -sqrrN opprB.
  have s1 := squares M 0; have s2 := squares N (m%:R + c).
  have TS : N%:R * T <= S.
    have -> : N%:R * T = \sum_(j < N) T by rewrite sumr_const card_ord mulr_natl.
    exact: window.
  move: s1 s2 TS; move: (\sum_(i < M) _) (\sum_(i < N) _) (S) => A B D s1 s2 TS.
  rewrite (_ : A - D + (- D + B) = (A + B) - (D + D)); last by ring.
  rewrite subr_ge0 => h.
  have -> : (N + N + (m + m))%:R = M%:R + N%:R :> R by rewrite -natrD /M addnAC.
  rewrite mulrDl -[2%:R]/(1 + 1) mulrDl mul1r.
  apply: le_trans (ler_add s1 s2); apply: le_trans h; exact: ler_add.
rewrite leNgt; apply/negP => GT; have g0 : 0 < T - G by rewrite subr_gt0.
pose y := (m + m)%:R * G / (2%:R * (T - G)).
have y0 : 0 <= y.
  have [_ G0] := dgaussian_sum v_gt0.
  by rewrite divr_ge0 ?mulr_ge0 ?ler0n // ltW.
have := key (Num.bound y); have := archi_boundP y0; move: (Num.bound y) => n.
rewrite /y (natrD _ (n + n)%N) (natrD _ n n); move: (n%:R : R) ((m + m)%:R : R) => N M'; rewrite ltr_pdivr_mulr ?mulr_gt0 ?ltr0n // => lt.
rewrite leNgt => /negP; apply; rewrite mulrDl -ltr_subr_addl; apply: lt_le_trans lt _.
by rewrite le_eqVlt; apply/orP/or_introl/eqP; ring.
Qed.

Lemma theta_le c : (theta c <= G%:E)%E.
Proof.
apply: ub_ereal_sup => _ [F [finF _] <-]; rewrite fsbig_finite // sumEFin lee_fin.
by apply: finite_theta_le; exact: fset_uniq.
Qed.

Lemma theta_gt0 c : theta c = (fine (theta c))%:E /\ 0 < fine (theta c).
Proof.
have lo : ((bump v (0 - c))%:E <= theta c)%E.
  apply: ereal_sup_ub; exists [set 0] => //; by rewrite fsbig_set1.
have fin : theta c \is a fin_num.
  rewrite ge0_fin_numE; first by apply: le_lt_trans (theta_le c) (ltry _).
  by apply: le_trans lo; rewrite lee_fin ltW // bump_gt0.
rewrite fineK //; split=> //; rewrite -lte_fin fineK //; apply: lt_le_trans lo.
by rewrite lte_fin bump_gt0.
Qed.

End Theta.

(* ---------------------------------------------------------------------------- *)
(* Counting measure                                                             *)

Section Counting.
Variables (R : realType) (T : countZmodType).
Notation points := (discrete T).

Definition counting_measure : {measure set points -> \bar R} :=
  countable_measure (fun z : T => z : points) (fun _ => ler01 : 0 <= (1 : R)).

Lemma esum_numbered (G : T -> \bar R) : (forall z, (0 <= G z)%E) ->
  (\sum_(n <oo) oapp G 0 (@pickle_inv T n))%E = \esum_(z in setT) G z.
Proof.
move=> G0; have F0 n : (0 <= oapp G 0 (@pickle_inv T n))%E by case: (@pickle_inv T n).
rewrite nneseries_esum // (_ : [set x | xpredT x] = setT); last by apply/seteqP; split.
rewrite (esumID (range (fun z : T => choice.pickle z))) // setTI [X in (_ + X)%E]esum1 ?adde0.
  rewrite esum_image; last by move=> x y _ _ /(@pcan_inj _ _ _ _ (@choice.pickleK T)).
  by apply: eq_esum => z _; rewrite pickleK_inv.
move=> n [_ nr]; case E: (@pickle_inv T n) => [z|] //=; exfalso; apply: nr; exists z => //.
by have := @pickle_invK T n; rewrite E.
Qed.

Lemma integral_counting (f : T -> R) : (forall z, 0 <= f z) ->
  (\int[counting_measure]_z (f z)%:E = mass f setT)%E.
Proof.
move=> f0; pose u n (z : points) : \bar R :=
  oapp (fun k => ((f k)%:E * (\1_[set k] z)%:E)%E) 0%E (@pickle_inv T n).
have u0 n z : (0 <= u n z)%E.
  by rewrite /u; case: (@pickle_inv T n) => //= k; rewrite mule_ge0 ?lee_fin // indicE ler0n.
have uE z : (\sum_(n <oo) u n z)%E = (f z)%:E.
  rewrite (esum_numbered (G := fun k => ((f k)%:E * (\1_[set k] z)%:E)%E)); last first.
    by move=> k; rewrite mule_ge0 ?lee_fin // indicE ler0n.
  rewrite -(@esum_set1 _ _ z (fun k => (f k)%:E)) ?lee_fin // [RHS]esum_mkcond; apply: eq_esum => k _.
  rewrite indicE; case: (boolP (k \in [set z])) => [/set_mem /= ->|kz].
    by rewrite mem_set // mule1.
  by rewrite memNset ?mule0 // => zk; move: kz; rewrite zk mem_set.
rewrite (eq_integral (fun z => \sum_(n <oo) u n z)%E); last by move=> z _; rewrite uE.
rewrite integral_nneseries // /mass -(esum_numbered (G := fun z => (f z)%:E)); last first.
  by move=> z; rewrite lee_fin.
apply: eq_eseries => n _; rewrite /u; case: (@pickle_inv T n) => [k|]; last exact: integral0.
transitivity (\int[counting_measure]_z ((f k)%:E * (\1_([set k] : set points) z)%:E))%E; first by [].
rewrite ge0_integralM_EFin //; last by move=> z _; rewrite lee_fin indicE ler0n.
have -> : (\int[counting_measure]_z (\1_([set k] : set points) z)%:E = counting_measure [set k])%E.
  by rewrite integral_indic // setIT.
rewrite /= /countable_law /mass.
by rewrite (_ : _ @^-1` _ = [set k]) ?esum_set1 ?mule1 ?lee_fin.
Qed.

Lemma integral_counting_on (f : T -> R) (S : set points) : (forall z, 0 <= f z) ->
  (\int[counting_measure]_(z in S) (f z)%:E = mass f S)%E.
Proof.
move=> f0; rewrite integral_mkcond (eq_integral (fun z => (if z \in S then f z else 0)%:E)); last first.
  by move=> z _; rewrite /patch; case: ifP.
rewrite integral_counting; last by move=> z; case: ifP.
by rewrite /mass [RHS]esum_mkcond; apply: eq_esum => z _; case: ifP.
Qed.

(* A law on T as a density. *)
Variable p : T -> R.
Hypotheses (p_ge0 : forall z, 0 <= p z) (p_total : mass p setT = 1%E).

Let weight_ge0 (z : points) : 0 <= p z. Proof. exact: p_ge0. Qed.

Let weight_pos : (0 < \int[counting_measure]_z (p z)%:E)%E.
Proof. by rewrite integral_counting // p_total. Qed.

Let weight_lty : (\int[counting_measure]_z (p z)%:E < +oo)%E.
Proof. by rewrite integral_counting // p_total ltry. Qed.

Definition counting_weight : weight counting_measure :=
  @Weight _ _ _ counting_measure p weight_ge0 (measurable_fun_from_discrete p) weight_pos weight_lty.

Lemma counting_normalizer : normalizer counting_weight = 1.
Proof. by apply: EFin_inj; rewrite normalizerE integral_counting. Qed.

Lemma counting_law S : law counting_weight S = mass p S.
Proof.
rewrite /law counting_normalizer -integral_counting_on //.
by apply: eq_integral => z _; rewrite divr1.
Qed.

End Counting.

(* ---------------------------------------------------------------------------- *)
(* Independent entries                                                          *)

Section Rows.
Variable R : realType.

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

(* The sum of products is the product of sums. *)
Lemma mass_row k (p : 'I_k -> int -> R) (P : 'I_k -> R) : (forall l z, 0 < p l z) ->
  (forall l, mass (p l) setT = (P l)%:E) ->
  mass (fun v : 'rV[int]_k => \prod_l p l (v ord0 l)) setT = (\prod_l P l)%:E.
Proof.
elim: k p P => [|k IH] p P p0 pP.
  rewrite (_ : setT = [set (0 : 'rV[int]_0)]) /mass ?esum_set1 ?big_ord0 ?lee_fin //.
  by apply/seteqP; split=> // v _; apply/rowP => -[].
have q0 l z : 0 <= p l z by rewrite ltW.
have s0 (v : 'rV[int]_k) : 0 <= \prod_l p (lift ord0 l) (v ord0 l) by apply: prodr_ge0.
have {}IH := IH (fun l => p (lift ord0 l)) (fun l => P (lift ord0 l)) (fun l z => p0 _ z) (fun l => pP _).
rewrite /mass (reindex_esum setT setT _ _ (@int_row_bij k)).
rewrite (_ : setT = [set: int] `*`` (fun=> [set: 'rV[int]_k])); last by apply/seteqP; split.
pose f (x : int) (v : 'rV[int]_k) := (p ord0 x * \prod_l p (lift ord0 l) (v ord0 l))%:E.
rewrite (eq_esum (b := fun xv => f xv.1 xv.2)); last first.
  move=> [x v] _; rewrite big_ord_recl /int_row !mxE unlift_none /=; congr (_ * _)%:E.
  by apply: eq_bigr => j _; rewrite mxE liftK.
rewrite -esum_esum; last by move=> x v; rewrite lee_fin mulr_ge0.
have P0 : 0 < \prod_l P (lift ord0 l).
  apply: prodr_gt0 => l _; rewrite -lte_fin -pP.
  have lo : ((p (lift ord0 l) 0)%:E <= mass (p (lift ord0 l)) setT)%E.
    by apply: ereal_sup_ub; exists [set 0] => //; rewrite fsbig_set1.
  by apply: lt_le_trans lo; rewrite lte_fin.
rewrite (eq_esum (b := fun x => ((\prod_l P (lift ord0 l))%:E * (p ord0 x)%:E)%E)).
  rewrite esum_scale //; last by move=> x; rewrite lee_fin.
  by rewrite [X in (_ * X)%E]pP big_ord_recl mulrC EFinM.
move=> x _; under eq_esum do rewrite /f EFinM.
by rewrite esum_scale ?p0 // muleC; congr (_ * _)%E; exact: IH.
Qed.

Section Noise.
Variables (v : R) (k : nat).
Hypothesis v_gt0 : 0 < v.
Notation row := (discrete (integers 1 k)).
Implicit Types a b z : 'rV[int]_k.

(* The probability of a row of independent entries. *)
Definition dgaussian_row z : R := \prod_l dgaussian v (z ord0 l).

Lemma dgaussian_gt0 (j : int) : 0 < dgaussian v j.
Proof. by have [_ G0] := dgaussian_sum v_gt0; rewrite divr_gt0 // dgaussian_weight_gt0. Qed.

Lemma dgaussian_row_gt0 z : 0 < dgaussian_row z.
Proof. by apply: prodr_gt0 => l _; exact: dgaussian_gt0. Qed.

Lemma dgaussian_row_total : mass dgaussian_row setT = 1%E.
Proof.
have := @mass_row k (fun _ => dgaussian v) (fun=> 1) (fun _ j => dgaussian_gt0 j) (fun _ => dgaussian_total v_gt0).
by rewrite big1.
Qed.

Lemma dgaussian_row_ge0 z : 0 <= dgaussian_row z.
Proof. by rewrite ltW // dgaussian_row_gt0. Qed.

(* The law of a + Z. *)
Definition dgaussian_at a : {measure set row -> \bar R} :=
  countable_measure (fun z => a + z : row) dgaussian_row_ge0.

Let shifted a z : R := dgaussian_row (z - a).

Let shifted_mass a S : mass (shifted a) S = mass dgaussian_row [set z | S (a + z)].
Proof.
rewrite /mass (reindex_esum S [set z | S (a + z)] (fun y => y - a)) //.
split=> [y Sy|y w _ _|z Sz] /=; first by rewrite addrC subrK.
  by move=> /addIr.
by exists (a + z) => //; rewrite addrAC subrr add0r.
Qed.

Let shifted_total a : mass (shifted a) setT = 1%E.
Proof. by rewrite shifted_mass -[RHS]dgaussian_row_total; congr (mass _ _); apply/seteqP; split. Qed.

Let shifted_ge0 a z : 0 <= shifted a z. Proof. exact: dgaussian_row_ge0. Qed.

Let shifted_weight a := counting_weight (shifted_ge0 a) (shifted_total a).

Definition int_squares z : R := \sum_l ((z ord0 l)%:~R : R) ^+ 2.

Notation G := (fine (mass (dgaussian_weight v) setT)).

Lemma ln_dgaussian (j : int) : ln (dgaussian v j) = - (j%:~R ^+ 2 / (2%:R * v)) - ln G.
Proof.
have [_ G0] := dgaussian_sum v_gt0.
rewrite /dgaussian lnM ?posrE ?invr_gt0 ?dgaussian_weight_gt0 // lnV ?posrE //.
by rewrite /dgaussian_weight expK.
Qed.

Let renyi_pointwise (alpha : R) a b z :
  shifted a z `^ alpha * shifted b z `^ (1 - alpha)
  = \prod_l (expR (alpha * (alpha - 1) * (((a - b) ord0 l)%:~R ^+ 2 / (2%:R * v))) / G
      * bump v ((z ord0 l)%:~R - (alpha * (a ord0 l)%:~R + (1 - alpha) * (b ord0 l)%:~R))).
Proof.
have [_ G0] := dgaussian_sum v_gt0.
have power c beta : shifted c z `^ beta = \prod_l expR (beta * ln (dgaussian v ((z - c) ord0 l))).
  rewrite /exp_fun /shifted /dgaussian_row.
  have -> : ln (\prod_l dgaussian v ((z - c) ord0 l)) = \sum_l ln (dgaussian v ((z - c) ord0 l)).
    rewrite -[RHS]expK (big_morph _ (@expRD R) (@expR0 R)); congr (ln _).
    by apply: eq_bigr => l _; rewrite lnK // posrE dgaussian_gt0.
  by rewrite mulr_sumr (big_morph _ (@expRD R) (@expR0 R)).
rewrite !power -big_split /=; apply: eq_bigr => l _.
rewrite -expRD -[G^-1]lnK ?posrE ?invr_gt0 // lnV ?posrE // /bump -!expRD; congr expR.
rewrite !ln_dgaussian !mxE !rmorphB /=; move: (ln G) (z ord0 l)%:~R (a ord0 l)%:~R (b ord0 l)%:~R => g s t u.
by field; rewrite gt_eqF.
Qed.

Lemma dgaussian_row_concentrated (rho : R) a b : int_squares (a - b) / (2%:R * v) <= rho ->
  concentrated rho (dgaussian_at a) (dgaussian_at b).
Proof.
move=> near; have [_ G0] := dgaussian_sum v_gt0.
have E c S : measurable S -> law (shifted_weight c) S = dgaussian_at c S.
  by move=> _; rewrite counting_law shifted_mass.
apply: (concentrated_eq (E a) (E b)); apply: zcdp_of_densities.
- by move=> z; exact: dgaussian_row_gt0.
- by move=> z; exact: dgaussian_row_gt0.
- by move=> alpha; exact: measurable_fun_from_discrete.
move=> alpha a1; have a0 : 0 < alpha by apply: lt_trans a1.
pose c l : R := alpha * (a ord0 l)%:~R + (1 - alpha) * (b ord0 l)%:~R.
pose e l : R := expR (alpha * (alpha - 1) * (((a - b) ord0 l)%:~R ^+ 2 / (2%:R * v))).
pose p l (j : int) : R := e l / G * bump v (j%:~R - c l).
have p0 l j : 0 < p l j by rewrite mulr_gt0 ?divr_gt0 ?expR_gt0 ?bump_gt0.
have pP l : mass (p l) setT = (e l / G * fine (theta v (c l)))%:E.
  have [thE _] := theta_gt0 v_gt0 (c l).
  rewrite /mass /p; under eq_esum do rewrite EFinM.
  rewrite esum_scale ?divr_gt0 ?expR_gt0 //; last by move=> j; rewrite lee_fin ltW // bump_gt0.
  by rewrite [RHS]EFinM -thE.
have E1 : (\int[counting_measure R (integers 1 k)]_z (density (shifted_weight a) z `^ alpha *
      density (shifted_weight b) z `^ (1 - alpha))%:E
    = \int[counting_measure R (integers 1 k)]_z (\prod_l p l ((z : 'rV[int]_k) ord0 l))%:E)%E.
  by apply: eq_integral => z _; rewrite /density !counting_normalizer !divr1 renyi_pointwise.
apply: (@le_trans _ _ (\int[counting_measure R (integers 1 k)]_z (\prod_l p l ((z : 'rV[int]_k) ord0 l))%:E)%E).
  by rewrite -E1.
rewrite integral_counting; last by move=> z; apply: prodr_ge0 => l _; exact: ltW.
rewrite (mass_row p0 pP) lee_fin; apply: (@le_trans _ _ (\prod_l e l)).
  apply: ler_prod => l _; have [thE th0] := theta_gt0 v_gt0 (c l).
  rewrite mulr_ge0 ?divr_ge0 ?(ltW th0) ?(ltW G0) ?(ltW (expR_gt0 _)) //=.
  rewrite -mulrA ler_pimulr ?(ltW (expR_gt0 _)) // mulrC ler_pdivr_mulr // mul1r -lee_fin -thE.
  exact: theta_le.
rewrite -(big_morph _ (@expRD R) (@expR0 R)) ler_expR -mulr_sumr -mulr_suml.
rewrite [(alpha - 1) * alpha]mulrC -!mulrA ler_pmul2l // ler_pmul2l ?subr_gt0 //.
Qed.

End Noise.

End Rows.
