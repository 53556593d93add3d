(* block-tridiagonal: the blocks of the covariance next to its diagonal, with Gaussian noise.

   The columns are cut into q blocks of `block` columns, of which the last may be narrower.  The rows
   are any vectors; every block of a row that is longer than r is shortened to length r.  Neighbours
   differ in one row; n, d, block and r are public.  With P the map that puts zeros in place of the
   entries whose row and column lie in blocks that are neither equal nor neighbours, and C the
   covariance of the shortened rows in units of r,

     r^2 P (P(C) + sigma W),   sigma = S/(n sqrt (2 rho)),

   is released, W symmetric, N(0, 1) on the diagonal and N(0, 1/2) above it.  S^2 is 8 (q - 1) for
   q >= 2 blocks, 2 for one block of several columns, and 1 for d = 1.

   The proof.  With s, t the squared lengths of the blocks of two rows and c their scalar products,
   the squared change of P(C) is 1/n^2 times sum_b (s_b^2 + t_b^2 - 2 c_b^2)
   + 2 sum_(b < q) (s_b s_(b+1) + t_b t_(b+1) - 2 c_b c_(b+1)).  By induction on q it is at most
   8 (q - 1) + 2 - 2 c_q^2, and from two blocks on at most 8 (q - 1).

   Assumed: nothing.  Not said: floating point; how the noise is drawn; that S is attained. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms.
From covassay Require Euclidean MatrixNorms RankTwo Sensitivity.

(* ---------------------------------------------------------------------------- *)
(* Sums over pairs of blocks that are equal or neighbours                       *)

Definition near (b c : nat) : bool := ((b <= c.+1) && (c <= b.+1))%N.

Section Pairs.
Variables (R : realFieldType) (F : nat -> nat -> R).
Hypothesis F_sym : forall b c, F b c = F c b.

Lemma nearC b c : near b c = near c b. Proof. by rewrite /near andbC. Qed.

Lemma near_refl b : near b b. Proof. by rewrite /near leqnSn. Qed.

Definition near_pairs (q : nat) : R := \sum_(b < q) \sum_(c < q) if near b c then F b c else 0.

Let edge (G : nat -> R) q : \sum_(b < q.+1) (if near b q.+1 then G b else 0) = G q.
Proof.
rewrite big_ord_recr /= big1 ?add0r => [|b _]; first by rewrite /near leqnn leqW.
by rewrite /near andbC ltnS leqNgt ltn_ord.
Qed.

Lemma near_pairsS q : near_pairs q.+2 = near_pairs q.+1 + 2%:R * F q q.+1 + F q.+1 q.+1.
Proof.
rewrite /near_pairs big_ord_recr /=; under eq_bigr do rewrite big_ord_recr /=.
rewrite big_split /= (edge (F ^~ q.+1)) [X in _ + X]big_ord_recr /= near_refl.
under [X in _ + (X + _)]eq_bigr do rewrite nearC F_sym.
rewrite (edge (F ^~ q.+1)) mulr_natl mulr2n !addrA; congr (_ + _).
Qed.

End Pairs.

(* The change of one row: s, t squared lengths of blocks, c scalar products. *)
Section BlockChange.
Variables (R : realFieldType) (s t c : nat -> R).
Hypotheses (s01 : forall b, 0 <= s b <= 1) (t01 : forall b, 0 <= t b <= 1).
Hypothesis c1 : forall b, c b ^+ 2 <= 1.

Definition block_change (b b' : nat) : R := s b * s b' + t b * t b' - 2%:R * (c b * c b').

Lemma block_change_sym b b' : block_change b b' = block_change b' b.
Proof. by rewrite /block_change (mulrC (s b)) (mulrC (t b)) (mulrC (c b)). Qed.

Lemma block_change_le b b' : block_change b b' <= 2%:R - 2%:R * (c b * c b').
Proof.
have le (u : nat -> R) : (forall b, 0 <= u b <= 1) -> u b * u b' <= 1.
  by move=> u01; have /andP[p0 p1] := u01 b; have /andP[q0 q1] := u01 b'; exact: mulr_ile1.
rewrite /block_change -[X in _ <= X - _]/(1 + 1) ler_add2r.
by apply: ler_add; exact: le.
Qed.

Lemma near_pairs_one : near_pairs block_change 1 <= 2%:R - 2%:R * c 0%N ^+ 2.
Proof. by rewrite /near_pairs !big_ord1 near_refl expr2; exact: block_change_le. Qed.

Lemma near_pairs_step q : near_pairs block_change q.+1 <= 8%:R * q%:R + 2%:R - 2%:R * c q ^+ 2 ->
  near_pairs block_change q.+2 <= 8%:R * q.+1%:R.
Proof.
move=> IH; rewrite (near_pairsS block_change_sym).
have e1 := block_change_le q q.+1; have e2 := block_change_le q.+1 q.+1.
have {}e1 := ler_wpmul2l (ler0n R 2) e1.
apply: le_trans (ler_add (ler_add IH e1) e2) _; rewrite -subr_ge0 [q.+1%:R]mulrSr.
have -> : 8%:R * (q%:R + 1) - (8%:R * q%:R + 2%:R - 2%:R * c q ^+ 2 + 2%:R * (2%:R - 2%:R * (c q * c q.+1))
    + (2%:R - 2%:R * (c q.+1 * c q.+1))) = 2%:R * (c q + c q.+1) ^+ 2 by ring.
by rewrite mulr_ge0 ?sqr_ge0 ?ler0n.
Qed.

(* 8 (q - 1) for q >= 2 blocks. *)
Lemma near_pairs_le q : near_pairs block_change q.+2 <= 8%:R * q.+1%:R.
Proof.
apply: near_pairs_step; elim: q => [|q IH]; first by rewrite mulr0 add0r near_pairs_one.
apply: le_trans (near_pairs_step IH) _; rewrite -addrA ler_addl subr_ge0 -[X in _ <= X]mulr1.
by rewrite ler_wpmul2l ?ler0n.
Qed.

End BlockChange.

(* ---------------------------------------------------------------------------- *)
(* The blocks of a matrix and of a row                                          *)

Section Blocks.
Variables (R : realType) (d block : nat).
Implicit Types (x y v : 'cV[R]_d) (A : 'M[R]_d).

(* The block of a column, and the last one. *)
Definition place (j : 'I_d) : nat := (j %/ block)%N.
Definition last_block : nat := (d.-1 %/ block)%N.

Lemma place_lt (j : 'I_d) : (place j < last_block.+1)%N.
Proof.
have d0 : (0 < d)%N by apply: leq_ltn_trans (ltn_ord j).
by rewrite ltnS /place /last_block leq_div2r // -ltnS (prednK d0).
Qed.

(* A with zeros in place of the entries whose row and column lie in blocks that are neither equal nor
   neighbours. *)
Definition kept A : 'M[R]_d := \matrix_(i, j) if near (place i) (place j) then A i j else 0.

Lemma kept_sym A : A^T = A -> (kept A)^T = kept A.
Proof. by move=> sA; apply/matrixP => i j; rewrite !mxE nearC -{1}sA mxE. Qed.

Lemma keptB A B : kept (A - B) = kept A - kept B.
Proof. by apply/matrixP => i j; rewrite !mxE; case: ifP => //; rewrite subrr. Qed.

Lemma keptZ a A : kept (a *: A) = a *: kept A.
Proof. by apply/matrixP => i j; rewrite !mxE; case: ifP => //; rewrite mulr0. Qed.

(* The scalar product of two blocks. *)
Definition block_dot x y (b : nat) : R := \sum_(i | place i == b) x i 0 * y i 0.

Lemma block_dot_ge0 x b : 0 <= block_dot x x b.
Proof. by apply: sumr_ge0 => i _; rewrite -expr2 sqr_ge0. Qed.

(* Blocks of length at most 1. *)
Definition short x := forall b, block_dot x x b <= 1.

Lemma block_dot_le1 x y b : short x -> short y -> block_dot x y b ^+ 2 <= 1.
Proof.
move=> x1 y1; rewrite -real_normK ?num_real // expr_le1 // ler_norml.
have sq (e : R) : 0 <= \sum_(i | place i == b) (x i 0 + e * y i 0) ^+ 2.
  by apply: sumr_ge0 => i _; rewrite sqr_ge0.
have E (e : R) : \sum_(i | place i == b) (x i 0 + e * y i 0) ^+ 2
    = block_dot x x b + e ^+ 2 * block_dot y y b + 2%:R * e * block_dot x y b.
  rewrite /block_dot !mulr_sumr -!big_split /=; apply: eq_bigr => i _.
  by move: (x i 0) (y i 0) => u v; ring.
have := sq 1; have := sq (-1); rewrite !E expr1n sqrrN expr1n mul1r mulrN1 mulr1.
have := x1 b; have := y1 b; move: (block_dot x x b) (block_dot y y b) (block_dot x y b) => u v w v1 u1.
have two : 0 < 2%:R :> R by rewrite ltr0n.
move=> lo hi; apply/andP; split; rewrite -(ler_pmul2l two).
  rewrite mulrN1 -subr_ge0 opprK; apply: (le_trans hi).
  by rewrite addrC ler_add2l -[2%:R]/(1 + 1) ler_add.
rewrite -subr_ge0 mulr1; apply: (le_trans lo); rewrite mulNr ler_add2r.
by rewrite -[2%:R]/(1 + 1) ler_add.
Qed.

Let by_blocks (G : 'I_d -> R) :
  \sum_i G i = \sum_(b < last_block.+1) \sum_(i | place i == b) G i.
Proof.
by rewrite (partition_big (fun i => Ordinal (place_lt i)) xpredT).
Qed.

Lemma kept_gap x y : MatrixNorms.frob_dot (kept (RankTwo.gap x y)) (kept (RankTwo.gap x y))
  = near_pairs (block_change (block_dot x x) (block_dot y y) (block_dot x y)) last_block.+1.
Proof.
rewrite MatrixNorms.frob_dotE exchange_big by_blocks; apply: eq_bigr => b _.
under eq_bigr do rewrite by_blocks; rewrite exchange_big; apply: eq_bigr => c _ /=.
have gapE i j : RankTwo.gap x y i j = x i 0 * x j 0 - y i 0 * y j 0.
  by rewrite /RankTwo.gap !mxE !big_ord1 !mxE.
transitivity (\sum_(i | place i == b) \sum_(j | place j == c)
    if near b c then (x i 0 * x j 0 - y i 0 * y j 0) ^+ 2 else 0).
  apply: eq_bigr => i /eqP ib; apply: eq_bigr => j /eqP jc; rewrite [kept _ i j]mxE ib jc gapE.
  by case: ifP; rewrite ?mulr0 // expr2.
case: ifP => _; last by rewrite big1 // => i _; rewrite big1.
rewrite /block_change /block_dot !big_distrlr /= mulr_sumr -sumrN -!big_split /=.
apply: eq_bigr => i _; rewrite mulr_sumr -sumrN -!big_split /=; apply: eq_bigr => j _.
by move: (x i 0) (x j 0) (y i 0) (y j 0) => a a' e e'; ring.
Qed.

(* S^2: 8 (q - 1) for q >= 2 blocks, 2 for one block of several columns, and 1 for d = 1. *)
Definition sensitivity_squared : R :=
  if last_block is k.+1 then 8%:R * k.+1%:R else if (1 < d)%N then 2%:R else 1.

Lemma sensitivity_squared_gt0 : 0 < sensitivity_squared.
Proof.
rewrite /sensitivity_squared; case: last_block => [|k]; last by rewrite mulr_gt0 ?ltr0n.
by case: ifP; rewrite ?ltr0n ?ltr01.
Qed.

Lemma kept_gap_le x y : short x -> short y ->
  MatrixNorms.frob_dot (kept (RankTwo.gap x y)) (kept (RankTwo.gap x y)) <= sensitivity_squared.
Proof.
move=> x1 y1; rewrite kept_gap /sensitivity_squared.
have u01 v : short v -> forall b, 0 <= block_dot v v b <= 1.
  by move=> v1 b; rewrite block_dot_ge0 v1.
have c1 b : block_dot x y b ^+ 2 <= 1 by exact: block_dot_le1.
case E: last_block => [|k]; last by apply: near_pairs_le => //; exact: u01.
case: ifP => [_|/negbT].
  apply: le_trans (near_pairs_one _ (u01 _ x1) (u01 _ y1)) _.
  by rewrite ger_addl oppr_le0 mulr_ge0 ?ler0n ?sqr_ge0.
rewrite -leqNgt => d1; rewrite /near_pairs !big_ord1 near_refl.
have c2 : block_dot x y 0 ^+ 2 = block_dot x x 0 * block_dot y y 0.
  have one (i j : 'I_d) : j = i.
    have zero (l : 'I_d) : l = 0%N :> nat by apply/eqP; rewrite -leqn0 -ltnS (leq_trans (ltn_ord l)).
    by apply: val_inj; rewrite /= !zero.
  rewrite expr2 /block_dot !big_distrlr; apply: eq_bigr => i _; apply: eq_bigr => j _.
  by rewrite (one i j) /= mulrACA.
have := u01 _ x1 0%N; have := u01 _ y1 0%N; rewrite /block_change -(expr2 (block_dot x y 0)) c2.
move: (block_dot x x 0) (block_dot y y 0) => u v /andP[v0 v1] /andP[u0 u1'].
rewrite (_ : _ - _ = (u - v) ^+ 2); last by ring.
rewrite -real_normK ?num_real // expr_le1 // ler_norml; apply/andP; split.
  by rewrite ler_subr_addl; apply: le_trans u0; rewrite subr_le0.
by rewrite ler_subl_addl; apply: (le_trans u1'); rewrite ler_addr.
Qed.

(* A row whose blocks are shortened to length r, in units of r. *)
Section Shorten.
Variables (r : R) (r_gt0 : 0 < r).

Definition short_blocks x : 'cV[R]_d :=
  \col_j (x j 0 / Num.max r (Num.sqrt (block_dot x x (place j)))).

Lemma short_blocks_short x : short (short_blocks x).
Proof.
move=> b; set l := Num.max r (Num.sqrt (block_dot x x b)).
have l0 : 0 < l by rewrite lt_maxr r_gt0.
have -> : block_dot (short_blocks x) (short_blocks x) b = block_dot x x b / l ^+ 2.
  rewrite /block_dot mulr_suml; apply: eq_bigr => i /eqP ib; rewrite !mxE ib -/(block_dot x x b) -/l.
  by rewrite mulf_div expr2.
rewrite ler_pdivr_mulr ?exprn_gt0 // mul1r -[X in X <= _]sqr_sqrtr ?block_dot_ge0 //.
by rewrite ler_expn2r ?nnegrE ?sqrtr_ge0 ?(ltW l0) // /l le_maxr lexx orbT.
Qed.

End Shorten.

End Blocks.

(* ---------------------------------------------------------------------------- *)
(* The mechanism                                                                *)

Section Mechanism.
Variables (R : realType) (n d block : nat) (r rho : R).
Hypotheses (n_gt0 : (0 < n)%N) (r_gt0 : 0 < r) (rho_gt0 : 0 < rho).
Notation data := (Sensitivity.dataset R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].
Notation S2 := (sensitivity_squared R d block).
Let nR_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

(* P(C) *)
Definition near_covariance (X : data) : 'M[R]_d :=
  kept block (Sensitivity.covariance (fun i => short_blocks block r (X i))).

(* sigma *)
Definition block_scale : R := Num.sqrt (S2 / (2%:R * rho)) / n%:R.

Lemma block_scale_gt0 : 0 < block_scale.
Proof. by rewrite divr_gt0 // sqrtr_gt0 divr_gt0 ?sensitivity_squared_gt0 // mulr_gt0 ?ltr0n. Qed.

Definition noisy_blocks : mechanism R data matrix :=
  symmetric_noise (off_diagonal R Goe) (gaussian_weight 1 (entries d) block_scale_gt0) near_covariance.

Let measurable_kept : measurable_fun setT (fun A : 'M[R]_d => r ^+ 2 *: kept block A).
Proof.
apply: measurable_fun_matrix => i j.
rewrite (_ : (fun A => _) = fun A : 'M[R]_d => r ^+ 2 * if near (place block i) (place block j) then A i j else 0).
  by apply: measurable_funrM; case: (near _ _); [exact: measurable_entry|exact: measurable_fun_cst].
by apply/funext => A; rewrite !mxE.
Qed.

Let block_law (X : data) : {measure set matrix -> \bar R} := image_law measurable_kept (noisy_blocks X).

Let block_total X : block_law X setT = 1%E. Proof. exact: (release_total noisy_blocks X). Qed.

Definition block_tridiagonal : mechanism R data matrix := Mechanism block_total.

Lemma near_covariance_sym X : (near_covariance X)^T = near_covariance X.
Proof. by apply: kept_sym; exact: covariance_sym. Qed.

Lemma near_covariance_change X Y : Sensitivity.neighbours X Y ->
  MatrixNorms.frob_dot (near_covariance X - near_covariance Y) (near_covariance X - near_covariance Y)
  <= 2%:R * (Num.sqrt (S2 / 2%:R) / n%:R) ^+ 2.
Proof.
move=> [i XY]; pose short (Z : data) : data := fun i => short_blocks block r (Z i).
have gapE : near_covariance X - near_covariance Y
    = n%:R^-1 *: kept block (RankTwo.gap (short X i) (short Y i)).
  rewrite /near_covariance -keptB -keptZ -(@Sensitivity.covariance_gap R n d (short X) (short Y)) //.
  by move=> j ji; rewrite /short XY.
rewrite gapE MatrixNorms.frob_dotZl MatrixNorms.frob_dotZr mulrA -expr2.
have S0 := sensitivity_squared_gt0 R d block; have half : 0 <= S2 / 2%:R by rewrite divr_ge0 ?ler0n ?ltW.
rewrite expr_div_n (sqr_sqrtr half).
have -> : 2%:R * (S2 / 2%:R / n%:R ^+ 2) = n%:R^-1 ^+ 2 * S2 :> R by field; rewrite gt_eqF.
rewrite ler_pmul2l ?exprn_gt0 ?invr_gt0 //.
by apply: kept_gap_le; exact: short_blocks_short.
Qed.

(* The premises are n >= 1, rho > 0 and r > 0; a block is any number of columns. *)
(*@ WHOLE.block-tridiagonal *)
Theorem block_tridiagonal_zcdp :
  zcdp (@Sensitivity.neighbours R n d) rho (fun X => block_tridiagonal X).
Proof.
apply: zcdp_postprocessing; set s := Num.sqrt (S2 / 2%:R) / n%:R.
have S0 := sensitivity_squared_gt0 R d block.
have -> : rho = s ^+ 2 / block_scale ^+ 2.
  have half : 0 <= S2 / 2%:R by rewrite divr_ge0 ?ler0n ?ltW.
  have share : 0 <= S2 / (2%:R * rho) by rewrite divr_ge0 ?mulr_ge0 ?ler0n ?ltW.
  rewrite /s /block_scale !expr_div_n (sqr_sqrtr half) (sqr_sqrtr share).
  by field; rewrite !gt_eqF.
apply: symmetric_gaussian_zcdp; first by rewrite divr_ge0 ?sqrtr_ge0 ?ler0n.
  exact: near_covariance_sym.
exact: near_covariance_change.
Qed.

End Mechanism.
