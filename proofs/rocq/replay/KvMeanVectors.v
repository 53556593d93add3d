(* Releases of kv-mean and naive-pme that the kernel computes, for tests of the Python code.

   The law of the mechanism is that of what is computed from two independent Gaussian noises of
   scale one: the counts of the bins plus b Z give the centres, and released are the means of the
   clipped values plus t N.  In the rows ln (8 n d/beta) is r^2/2 for a rational r, so that the
   clipping width is rational; Z is the root of b^2 times a rational matrix, N that of t^2.  The
   noise of the counts lies half a per cent on either side of where the largest bin changes.

   Assumed: nothing. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval rat zmodp matrix.
From covassay Require Import MeasureTheory PureDP Lebesgue AdditiveNoise Norms KNorm Mechanisms Gaussian TwoStages.
From covassay Require Import KvMean Releases RationalData StageVectors.
From covassay Require Sensitivity.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* Bin k of 2 B + 1, counted from 0, holds v with k - B - 1/2 < v/sigma <= k - B + 1/2. *)
Definition holds_value (B : nat) (sigma : rat) (k : nat) (v : rat) : bool :=
  let t := v / sigma - 2%:R^-1 in (k%:R - B%:R - 1 < t) && (t <= k%:R - B%:R).
Definition bin_count (B : nat) (sigma : rat) (n : nat) x (j k : nat) : rat :=
  sum_to n (fun i => (holds_value B sigma k (entry x i j))%:R).

(* The first of the largest of m counts. *)
Definition first_of_largest (m : nat) (c : nat -> rat) (k : nat) : bool :=
  all (fun l => if (l < k)%N then c l < c k else c l <= c k) (iota 0 m).
Definition bin_centre (B : nat) (sigma : rat) (c : nat -> rat) : rat :=
  let m := (2 * B).+1 in sigma * (sum_to m (fun k => if first_of_largest m c k then k%:R else 0) - B%:R).

Definition clipped (c w v : rat) : rat := Num.min (Num.max v (c - w)) (c + w).
Definition clipped_average (n : nat) (w : rat) x (c : nat -> rat) (j : nat) : rat :=
  sum_to n (fun i => clipped (c j) w (entry x i j)) / n%:R.

(* The squares of the scales of both noises, for the width w. *)
Definition count_square (d : nat) (rho : rat) : rat := 2%:R / (rho / d%:R).
Definition mean_square (n d : nat) (rho w : rat) : rat := (w / n%:R) ^+ 2 * (2%:R ^+ 2 / (rho / d%:R)).
Definition width (sigma r : rat) : rat := sigma * (2%:R + r).

Definition histogram_release (B n d : nat) (rho sigma r : rat) x (z l : nat -> nat -> rat) (j : nat) : rat :=
  let counts j k := bin_count B sigma n x j k + count_square d rho * z j k in
  clipped_average n (width sigma r) x (fun j => bin_centre B sigma (counts j)) j
  + mean_square n d rho (width sigma r) * l j 0%N.
(* The same for both mechanisms; each has a name of its own. *)
Definition kv_mean_release := histogram_release.
Definition naive_pme_release (B n d : nat) (rho root r : rat) := histogram_release B n d rho root r.

Section Release.
Variables (R : realType) (n d B : nat) (rho sigma mean_bound r : rat) (beta root : R) (x : seq (seq rat)).
Hypotheses (n_gt0 : (0 < n)%N) (d_gt0 : (0 < d)%N) (rho_gt0 : 0 < ratr rho :> R).
Hypotheses (root_gt0 : 0 < root) (rootE : root = ratr sigma) (r_ge0 : 0 <= r).
Hypotheses (r_log : 2%:R * ln (8%:R * n%:R / (beta / d%:R)) = ratr r ^+ 2).
Hypothesis B_last : B%:R - 1 < mean_bound / sigma <= B%:R.
Notation X := (rows R n d x).
Notation bound := (ratr mean_bound : R).
Notation last := (last_bin root bound).

Lemma ceil_eq (t : rat) (m : int) : (ceil (ratr t : R) == m) = (m%:~R - 1 < t) && (t <= m%:~R).
Proof.
rewrite eq_le andbC -ceil_ge_int -(ratr_int R) ler_rat; congr andb.
rewrite -[m in LHS](subrK 1) addrC lez_add1r -ceil_lt_int -(ratr_int R) ltr_rat.
by rewrite rmorphB.
Qed.

Lemma last_binE : last = B.
Proof.
rewrite /last_bin; have /eqP -> : ceil (bound / root) == B%:Z; last by [].
by rewrite rootE -fmorph_div ceil_eq.
Qed.

Lemma in_binE (k : 'I_(2 * last).+1) v : in_bin k (ratr v) = holds_value B sigma k v.
Proof.
rewrite /in_bin; move: (nat_of_ord k) => k'; rewrite last_binE eq_sym -subr_eq eq_sym rootE.
have -> : ratr v / ratr sigma - 2%:R^-1 = ratr (v / sigma - 2%:R^-1) :> R.
  by rewrite rmorphB fmorph_div fmorphV rmorph_nat.
by rewrite ceil_eq rmorphB.
Qed.

Notation H := (entries_of R d (2 * last).+1).

Lemma histogram_rows : histogram root bound X = H (bin_count B sigma n x).
Proof.
apply/matrixP => j k; rewrite !mxE /bin_count sum_toE rmorph_sum; apply: eq_bigr => i _.
by rewrite mxE in_binE rmorph_nat.
Qed.

Lemma first_largestE (c : nat -> nat -> rat) (j : 'I_d) (k : 'I_(2 * last).+1) :
  first_largest (H c) j k = first_of_largest (2 * last).+1 (c j) k.
Proof.
apply/forallP/allP => h l.
  rewrite mem_iota add0n => /andP[_ lm]; have := h (Ordinal lm).
  by rewrite !mxE ltr_rat ler_rat.
by have := h l; rewrite mem_iota add0n ltn_ord !mxE ltr_rat ler_rat; apply.
Qed.

Lemma centreE (c : nat -> nat -> rat) j : centre (H c) j = ratr (bin_centre B sigma (c j)).
Proof.
rewrite /centre /bin_centre -last_binE rmorphM rmorphB rmorph_nat; congr (_ * (_ - _)); first exact: rootE.
rewrite sum_toE rmorph_sum; apply: eq_bigr => k _; rewrite first_largestE.
by case: ifP => _; rewrite ?rmorph_nat ?rmorph0.
Qed.

Lemma half_widthE : half_width n d root beta = ratr (width sigma r).
Proof.
rewrite /half_width r_log sqrtr_sqr ger0_norm ?ler0q // rootE.
by rewrite /width rmorphM rmorphD rmorph_nat.
Qed.

Lemma clipped_rows (c : nat -> nat -> rat) : clipped_mean beta X (H c)
  = entries_of R d 1 (fun j _ => clipped_average n (width sigma r) x (fun j => bin_centre B sigma (c j)) j).
Proof.
apply/matrixP => j l; rewrite !mxE /clipped_average fmorph_div rmorph_nat mulrC; congr (_ / _).
rewrite sum_toE rmorph_sum; apply: eq_bigr => i _; rewrite centreE half_widthE mxE /clip /clipped.
by rewrite [RHS]/= ratr_min ratr_max rmorphB rmorphD.
Qed.

Lemma share_gt0 : 0 < ratr rho / d%:R :> R. Proof. by rewrite divr_gt0 ?ltr0n. Qed.
Lemma shareE : ratr rho / d%:R = ratr (rho / d%:R) :> R. Proof. by rewrite fmorph_div rmorph_nat. Qed.

Lemma count_scale_square : count_scale d (ratr rho : R) ^+ 2 = ratr (count_square d rho).
Proof.
rewrite /count_scale sqr_sqrtr; last by rewrite divr_ge0 ?ler0n // ltW // share_gt0.
by rewrite shareE /count_square [RHS]fmorph_div rmorph_nat.
Qed.

Lemma mean_scale_square :
  mean_scale n d (ratr rho) root beta ^+ 2 = ratr (mean_square n d rho (width sigma r)).
Proof.
rewrite /mean_scale half_widthE exprMn sqr_sqrtr; last by rewrite divr_ge0 ?sqr_ge0 // ltW // share_gt0.
by rewrite shareE /mean_square [RHS]rmorphM rmorphX [in RHS]fmorph_div [X in _ = _ * X]fmorph_div rmorphX !rmorph_nat.
Qed.

Lemma histogram_holds (z l : nat -> nat -> rat) :
  let f N := clipped_mean beta X (histogram root bound X + count_scale d (ratr rho) *: N.1)
             + mean_scale n d (ratr rho) root beta *: N.2 in
  computes (kv_mean bound beta n_gt0 d_gt0 rho_gt0 root_gt0 X)
    (both [the measure _ _ of law (unit_gaussian R d (2 * last).+1)] [the measure _ _ of law (unit_gaussian R d 1)]) f /\
  f (Num.sqrt (ratr (count_square d rho)) *: H z,
     Num.sqrt (ratr (mean_square n d rho (width sigma r))) *: entries_of R d 1 l)
  = entries_of R d 1 (fun j _ => histogram_release B n d rho sigma r x z l j).
Proof.
move=> f; split; last first.
  rewrite /f /= -mean_scale_square -count_scale_square !sqrtr_sqr.
  rewrite !gtr0_norm ?count_scale_gt0 ?mean_scale_gt0 // !scalerA -!expr2.
  rewrite mean_scale_square count_scale_square histogram_rows.
  have -> : H (bin_count B sigma n x) + ratr (count_square d rho) *: H z
      = H (fun j k => bin_count B sigma n x j k + count_square d rho * z j k).
    by apply/matrixP => j k; rewrite !mxE rmorphD rmorphM.
  rewrite clipped_rows; apply/matrixP => j k.
  by rewrite !mxE ord1 /histogram_release rmorphD rmorphM.
have first : computes (noisy_counts n root bound d_gt0 rho_gt0 X) (law (unit_gaussian R d (2 * last).+1))
    (fun Z => histogram root bound X + count_scale d (ratr rho) *: Z).
  by apply: matrix_computes => [|z']; [exact: count_scale_gt0|exact: gaussian_unit].
have second c : computes (noisy_mean bound beta n_gt0 d_gt0 rho_gt0 root_gt0 X c) (law (unit_gaussian R d 1))
    (fun N => clipped_mean beta X c + mean_scale n d (ratr rho) root beta *: N).
  by apply: noise_stage_computes => [|z']; [exact: mean_scale_gt0|exact: gaussian_unit].
exact: (run_computes (measurable_noisy _ _) first second).
Qed.

End Release.

Lemma kv_mean_holds (R : realType) n d B (rho sigma mean_bound r : rat) (beta : R) x (n_gt0 : (0 < n)%N)
    (d_gt0 : (0 < d)%N) (rho_gt0 : 0 < ratr rho :> R) (sigma_gt0 : 0 < ratr sigma :> R) z l :
  0 <= r -> 2%:R * ln (8%:R * n%:R / (beta / d%:R)) = ratr r ^+ 2 ->
  B%:R - 1 < mean_bound / sigma <= B%:R ->
  let X := rows R n d x in let m := (2 * last_bin (ratr sigma) (ratr mean_bound : R)).+1 in
  let f N := clipped_mean beta X (histogram (ratr sigma) (ratr mean_bound) X + count_scale d (ratr rho) *: N.1)
             + mean_scale n d (ratr rho) (ratr sigma) beta *: N.2 in
  computes (kv_mean (ratr mean_bound) beta n_gt0 d_gt0 rho_gt0 sigma_gt0 X)
    (both [the measure _ _ of law (unit_gaussian R d m)] [the measure _ _ of law (unit_gaussian R d 1)]) f /\
  f (Num.sqrt (ratr (count_square d rho)) *: entries_of R d m z,
     Num.sqrt (ratr (mean_square n d rho (width sigma r))) *: entries_of R d 1 l)
  = entries_of R d 1 (fun j _ => kv_mean_release B n d rho sigma r x z l j).
Proof. by move=> r0 rL last; exact: histogram_holds. Qed.

(* The deviation is the root of kappa, which is rational here. *)
Lemma naive_pme_holds (R : realType) n d B (rho kappa root mean_bound r : rat) (beta : R) x (n_gt0 : (0 < n)%N)
    (d_gt0 : (0 < d)%N) (rho_gt0 : 0 < ratr rho :> R) (kappa_gt0 : 0 < ratr kappa :> R) z l :
  0 <= root -> root ^+ 2 = kappa -> 0 <= r -> 2%:R * ln (8%:R * n%:R / (beta / d%:R)) = ratr r ^+ 2 ->
  B%:R - 1 < mean_bound / root <= B%:R ->
  let X := rows R n d x in let sigma := Num.sqrt (ratr kappa) in
  let m := (2 * last_bin sigma (ratr mean_bound : R)).+1 in
  let f N := clipped_mean beta X (histogram sigma (ratr mean_bound) X + count_scale d (ratr rho) *: N.1)
             + mean_scale n d (ratr rho) sigma beta *: N.2 in
  computes (naive_pme (ratr mean_bound) beta n_gt0 d_gt0 rho_gt0 kappa_gt0 X)
    (both [the measure _ _ of law (unit_gaussian R d m)] [the measure _ _ of law (unit_gaussian R d 1)]) f /\
  f (Num.sqrt (ratr (count_square d rho)) *: entries_of R d m z,
     Num.sqrt (ratr (mean_square n d rho (width root r))) *: entries_of R d 1 l)
  = entries_of R d 1 (fun j _ => naive_pme_release B n d rho root r x z l j).
Proof.
move=> root0 rootE r0 rL last; apply: histogram_holds => //.
by rewrite -rootE rmorphX sqrtr_sqr ger0_norm // ler0q.
Qed.

(* Of five bins, bin p holds two values and bin q none; q becomes the largest at noise 2/s. *)
Definition bin_noise (s t : rat) (p q : seq nat) (j k : nat) : rat :=
  if k == nth 0%N q j then 2%:R / s * (1 + t) else 0.
Definition bins_ok (n d : nat) (sigma mean_bound r : rat) x (p q : seq nat) : bool :=
  [&& 0 <= r, 2%:R - 1 < mean_bound / sigma <= 2%:R &
      all (fun j => (bin_count 2 sigma n x j (nth 0%N p j) == 2%:R) && (bin_count 2 sigma n x j (nth 0%N q j) == 0))
        (iota 0 d)].

Definition bin_rows (release : nat -> nat -> nat -> rat -> rat -> rat -> seq (seq rat) -> (nat -> nat -> rat) ->
    (nat -> nat -> rat) -> nat -> rat) (given sigma mean_bound : rat) x : seq (seq rat) :=
  [seq let n := 3%N in let d := c.1.1 in let rho := c.1.2 in let r := 3%:R in
       let s := count_square d rho in let z := bin_noise s c.2 [:: 3; 1]%N [:: 0; 4]%N in
       let l j (_ : nat) := frac 1 4 - j%:R / 2%:R in
       [:: n%:R; d%:R; rho; 0] ++ data_columns n d x ++ [:: given; mean_bound; r; s] ++
       [seq if (j < d)%N then z j k else 0 | j <- iota 0 2, k <- iota 0 5] ++
       mean_square n d rho (width sigma r) :: [seq if (j < d)%N then l j 0%N else 0 | j <- iota 0 2] ++
       [seq if (j < d)%N then release 2%N n d rho sigma r x z l j else 0 | j <- iota 0 2]
   | c <- [seq (e, t) | e <- [seq e <- [:: (2, frac 1 2); (1, 2%:R)]%N | bins_ok 3 e.1 sigma mean_bound 3%:R x [:: 3; 1]%N [:: 0; 4]%N],
             t <- [:: frac 1 200; - frac 1 200]]].

Definition bin_data : seq (seq rat) :=
  [:: [:: frac 3 10; 5%:R]; [:: frac 2 5; - frac 1 4]; [:: frac 1 4; - frac 3 10]].
Definition kv_mean_rows : seq (seq rat) := bin_rows kv_mean_release (frac 1 2) (frac 1 2) (frac 9 10) bin_data.
Definition naive_pme_rows : seq (seq rat) :=
  bin_rows naive_pme_release 4%:R 2%:R 3%:R [seq [seq 4%:R * v | v <- u] | u <- bin_data].
