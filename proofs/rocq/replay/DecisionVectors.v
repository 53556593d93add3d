(* Answers of exponential, above-threshold, private-radius and bingham that the kernel computes,
   for tests of the Python code.

   - above-threshold and private-radius: n, d, the budget, an option, the data, noise of scale
     one and the number of the answer.  The lemmas say that the probability of an answer is that
     of `answers`, a set of noises that have their scale already, and that this set has the
     noise of the row, multiplied by its scales, for that answer and for no other.  The noise of
     the rows lies one per cent on either side of where the answer changes.
   - exponential: eta (g(u) - g(0)), of which exp is how much more probable feature u is than
     feature 0.
   - bingham: the matrix M for which a unit vector u has density exp (u^T M u).

   Assumed: nothing. *)
From covassay Require Import MechanismTheory SparseVector FiniteMechanisms Sphere RationalData.
From covassay Require Euclidean Sensitivity.
From mathcomp Require Import rat.

(* The first of k queries that reaches the threshold with its noise, or k. *)
Definition first_index (k : nat) (T : rat) (Q : nat -> rat) (z0 : rat) (z : nat -> rat) : nat :=
  find (fun j => T + z0 <= Q j + z j) (iota 0 k).

(* The noise of the threshold, then that of the queries. *)
Definition noise_row (R : realType) k (z0 : R) (z : 'I_k -> R) : 'rV[R]_k.+1 :=
  \row_l (if unlift ord0 l is Some j then z j else z0).

Lemma first_index_answers (R : realType) k (T : rat) (Q : nat -> rat) (z0 : rat) (z : nat -> rat) o :
  answers (ratr T) (fun j : 'I_k => ratr (Q j) : R) o (noise_row (ratr z0) (fun j => ratr (z j)))
  <-> o = insub (first_index k T Q z0 z).
Proof.
pose p j := T + z0 <= Q j + z j.
have aboveE (j : 'I_k) : above (ratr T) (fun j : 'I_k => ratr (Q j) : R) j
    (noise_row (ratr z0) (fun j => ratr (z j))) <-> p j.
  by rewrite /above !mxE unlift_none liftK -!rmorphD ler_rat.
have nth_le j : (j < k)%N -> nth 0%N (iota 0 k) j = j by move=> jk; rewrite nth_iota.
have before j : (j < first_index k T Q z0 z)%N -> (j < k)%N -> ~~ p j.
  by move=> /(before_find 0%N) + jk; rewrite nth_le // => /negbT.
split.
  case: o => [i [/aboveE pi low]|none].
    have e : first_index k T Q z0 z = i.
      apply/eqP; rewrite eqn_leq; apply/andP; split; rewrite leqNgt; apply/negP => lt.
        by move: (before _ lt (ltn_ord i)); rewrite pi.
      have fk : (first_index k T Q z0 z < k)%N by apply: ltn_trans lt (ltn_ord i).
      apply: (low (Ordinal fk) lt); apply/aboveE; rewrite /= /p.
      have hp : has (fun j => T + z0 <= Q j + z j) (iota 0 k) by rewrite has_find size_iota.
      by have := nth_find 0%N hp; rewrite nth_le.
    by rewrite e valK.
  rewrite insubF //; apply/negbTE; rewrite /first_index -[X in (_ < X)%N](size_iota 0 k) -has_find.
  apply/hasPn => j; rewrite mem_iota add0n => /andP[_ jk]; apply/negP => pj.
  by apply: (none (Ordinal jk)); apply/aboveE.
move=> ->; case: insubP => [i ik ie|]; last first.
  rewrite -leqNgt => le j /aboveE; apply/negP; apply: before => //.
  exact: leq_trans (ltn_ord j) le.
split; last by move=> j ji /aboveE; apply/negP; apply: before => //; rewrite -ie.
apply/aboveE; rewrite /p ie; have hp : has (fun j => T + z0 <= Q j + z j) (iota 0 k).
  by rewrite has_find size_iota.
by have := nth_find 0%N hp; rewrite nth_le.
Qed.

(* ---------------------------------------------------------------------------- *)
(* above-threshold                                                              *)

(* sum_k x_ku^2 *)
Definition energy_entry (n : nat) (x : seq (seq rat)) (u : nat) : rat :=
  sum_to n (fun k => entry x k u ^+ 2).

Lemma energy_rows (R : realType) n d x (u : 'I_d) :
  energy (rows R n d x) u = ratr (energy_entry n x u).
Proof.
by rewrite /energy /energy_entry sum_toE rmorph_sum; apply: eq_bigr => k _; rewrite mxE rmorphX.
Qed.

(* The rates of the two noises; the noise of scale one is divided by them. *)
Definition threshold_rate (eps : rat) : rat := eps / 2%:R.
Definition query_rate (tight : bool) (eps : rat) : rat := eps / (if tight then 2%:R else 4%:R).

Lemma threshold_rateE (R : realType) (eps : rat) : rate1 (ratr eps : R) = ratr (threshold_rate eps).
Proof. by rewrite fmorph_div rmorph_nat. Qed.

Lemma query_rateE (R : realType) (eps : rat) tight :
  rate2 (ratr eps : R) tight = ratr (query_rate tight eps).
Proof. by case: tight; rewrite /rate2 fmorph_div rmorph_nat. Qed.

(* The answer to queries Q of the noise z, of scale one; z 0 is for the threshold. *)
Definition svt_answer (tight : bool) (eps : rat) (k : nat) (T : rat) (Q : nat -> rat) (z : nat -> rat) : nat :=
  first_index k T Q (z 0%N / threshold_rate eps) (fun j => z j.+1 / query_rate tight eps).

(* This noise, with its scales. *)
Definition scaled_noise (R : realType) (tight : bool) (eps : rat) k (z : nat -> rat) : 'rV[R]_k.+1 :=
  noise_row (ratr (z 0%N) / rate1 (ratr eps)) (fun j => ratr (z j.+1) / rate2 (ratr eps) tight).

Lemma svt_answers (R : realType) tight (eps : rat) k (T : rat) (Q : 'I_k -> R) (Qr : nat -> rat) z o :
  (forall j, Q j = ratr (Qr j)) ->
  answers (ratr T) Q o (scaled_noise R tight eps k z) <-> o = insub (svt_answer tight eps k T Qr z).
Proof.
move=> QE; have -> : Q = fun j => ratr (Qr j) by apply/funext.
have -> : scaled_noise R tight eps k z = noise_row (ratr (z 0%N / threshold_rate eps))
    (fun j => ratr (z j.+1 / query_rate tight eps)).
  rewrite /scaled_noise threshold_rateE query_rateE -fmorph_div; congr (noise_row _ _).
  by apply/funext => j; rewrite -fmorph_div.
exact: first_index_answers.
Qed.

Definition energy_threshold (share : rat) (n d : nat) : rat := share * n%:R / d%:R.
Definition above_threshold_answer (tight : bool) (eps share : rat) (n d : nat) x (z : nat -> rat) : nat :=
  svt_answer tight eps d (energy_threshold share n d) (energy_entry n x) z.

Lemma above_threshold_holds (R : realType) n d (tight : bool) (eps share : rat) x
    (eps_gt0 : 0 < ratr eps :> R) (z : nat -> rat) (o : option 'I_d) :
  let T := ratr share * n%:R / d%:R in
  above_threshold eps_gt0 tight (ratr share) (rows R n d x) o
  = svt_noise (rate1_gt0 eps_gt0) (rate2_gt0 eps_gt0 tight) (answers T (energy (rows R n d x)) o) /\
  (answers T (energy (rows R n d x)) o (scaled_noise R tight eps d z)
   <-> o = insub (above_threshold_answer tight eps share n d x z)).
Proof.
move=> T; split=> //.
have -> : T = ratr (energy_threshold share n d) by rewrite fmorph_div rmorphM !rmorph_nat.
by apply: svt_answers => u; exact: energy_rows.
Qed.

(* The noise with which a query q just reaches the threshold, and a share t of it more. *)
Definition edge (tight : bool) (eps T q z0 t : rat) : rat :=
  let e := query_rate tight eps * (T + z0 / threshold_rate eps - q) in e + t * `|e|.

Definition svt_rows_of (tight : bool) (eps T z0 : rat) (Q : nat -> rat)
    (answer : (nat -> rat) -> nat) (start : seq rat) : seq (seq rat) :=
  [seq let z := nth 0 [:: z0; edge tight eps T (Q 0%N) z0 t.1; edge tight eps T (Q 1%N) z0 t.2] in
       start ++ [:: z 0%N; z 1%N; z 2%N; (answer z)%:R]
   | t <- [:: (frac 1 100, 0); (- frac 1 100, frac 1 100); (- frac 1 100, - frac 1 100)]].

(* In these data the features have different energies, all below the threshold. *)
Definition energy_data : seq (seq rat) :=
  [:: [:: frac 1 2; - frac 1 2]; [:: frac 1 2; frac 1 2]; [:: 0; 1]].

Definition above_threshold_rows : seq (seq rat) :=
  flatten [seq let T := energy_threshold c.2 3 2 in
    svt_rows_of c.1.1 c.1.2 T (frac 1 2) (energy_entry 3 energy_data)
      (above_threshold_answer c.1.1 c.1.2 c.2 3 2 energy_data)
      ([:: 3%:R; 2%:R; c.1.2; (c.1.1 : nat)%:R] ++ data_columns 3 2 energy_data ++ [:: c.2])
  | c <- [:: (false, 1, 1); (true, 1, 1); (false, frac 1 2, frac 3 2); (true, 2%:R, frac 3 2)]].

(* ---------------------------------------------------------------------------- *)
(* private-radius: the radii are precision 2^j, at most one; the threshold is n - slack *)

Definition public_radius (precision : rat) (j : nat) : rat := Num.min 1 (precision * 2%:R ^+ j).
Definition rows_within_entry (precision : rat) (n d : nat) x (j : nat) : rat :=
  sum_to n (fun k => ((square_length d x k <= public_radius precision j ^+ 2) : nat)%:R).
Definition private_radius_answer (tight : bool) (eps precision slack : rat) (k n d : nat) x z : nat :=
  svt_answer tight eps k (n%:R - slack) (rows_within_entry precision n d x) z.

Section Radius.
Variables (R : realType) (n d k : nat) (tight : bool) (eps precision slack : rat) (x : seq (seq rat)).
Hypotheses (eps_gt0 : 0 < ratr eps :> R) (precision_gt0 : 0 < precision).
Notation radius := (fun j : 'I_k => Num.min 1 (ratr precision * 2%:R ^+ j) : R).

Lemma rows_within_rows j :
  rows_within radius (rows R n d x) j = ratr (rows_within_entry precision n d x j).
Proof.
rewrite /rows_within /rows_within_entry sum_toE rmorph_sum; apply: eq_bigr => i _.
rewrite rmorph_nat; congr (nat_of_bool _)%:R; rewrite /within.
have r0 : 0 <= public_radius precision j.
  by rewrite /public_radius le_minr ler01 mulr_ge0 ?exprn_ge0 ?ler0n // ltW.
have rE : Num.min 1 (ratr precision * 2%:R ^+ j) = ratr (public_radius precision j) :> R.
  rewrite /public_radius; have pE : ratr precision * 2%:R ^+ j = ratr (precision * 2%:R ^+ j) :> R.
    by rewrite rmorphM rmorphX rmorph_nat.
  rewrite pE; have [h|/ltW h] := leP 1 (precision * 2%:R ^+ j).
    by rewrite min_l ?rmorph1 // -(rmorph1 (ratr_rmorphism R)) ler_rat.
  by rewrite min_r // -(rmorph1 (ratr_rmorphism R)) ler_rat.
rewrite rE -(@ler_pexpn2r _ 2) ?nnegrE ?Euclidean.norm_ge0 ?ler0q // Euclidean.sqr_norm.
by rewrite square_length_rows -rmorphX ler_rat.
Qed.

Lemma private_radius_holds (z : nat -> rat) (o : option 'I_k) :
  let T := n%:R - ratr slack in
  private_radius eps_gt0 radius tight T (rows R n d x) o
  = svt_noise (rate1_gt0 eps_gt0) (rate2_gt0 eps_gt0 tight)
      (answers T (rows_within radius (rows R n d x)) o) /\
  (answers T (rows_within radius (rows R n d x)) o (scaled_noise R tight eps k z)
   <-> o = insub (private_radius_answer tight eps precision slack k n d x z)).
Proof.
move=> T; split=> //.
have -> : T = ratr (n%:R - slack) by rewrite rmorphB rmorph_nat.
by apply: svt_answers => j; exact: rows_within_rows.
Qed.

End Radius.

(* Two rows of length at most 1/2, one of length 1; the radii are 1/2 and 1, so 2 and 3 rows are within. *)
Definition radius_data : seq (seq rat) :=
  [:: [:: frac 1 4; frac 1 4]; [:: frac 1 2; 0]; [:: 0; 1]].

Definition private_radius_rows : seq (seq rat) :=
  flatten [seq svt_rows_of c.1.1 c.1.2 (3%:R - c.2) 8%:R (rows_within_entry (frac 1 2) 3 2 radius_data)
      (private_radius_answer c.1.1 c.1.2 (frac 1 2) c.2 2 3 2 radius_data)
      ([:: 3%:R; 2%:R; c.1.2; (c.1.1 : nat)%:R] ++ data_columns 3 2 radius_data ++ [:: frac 1 2; c.2])
  | c <- [:: (false, 8%:R, frac 3 2); (true, 8%:R, frac 9 4); (false, 2%:R, 6%:R)]].

(* ---------------------------------------------------------------------------- *)
(* exponential                                                                  *)

Definition log_odds (n : nat) (eps : rat) (x : seq (seq rat)) (u v : nat) : rat :=
  eps / 2%:R * (energy_entry n x u - energy_entry n x v).

Lemma log_odds_hold (R : realType) n d (eps : rat) x (u v : 'I_d) :
  exponential (ratr eps : R) (rows R n d x) u
  = expR (ratr (log_odds n eps x u v)) * exponential (ratr eps) (rows R n d x) v.
Proof.
rewrite /exponential mulrA -expRD; congr (expR _ / _).
rewrite !energy_rows /log_odds /eta rmorphM fmorph_div rmorphB rmorph_nat.
by rewrite -mulrDr subrK.
Qed.

Definition exponential_rows : seq (seq rat) :=
  [seq [:: 3%:R; 2%:R; eps; 0] ++ data_columns 3 2 energy_data ++ [:: log_odds 3 eps energy_data 1 0]
   | eps <- [:: frac 1 2; 1; 3%:R]].

(* ---------------------------------------------------------------------------- *)
(* bingham: option 1 for "tight"                                                *)

Definition bingham_entry (tight : bool) (n : nat) (eps : rat) x (i j : nat) : rat :=
  eps / (if tight then 2%:R else 4%:R) * sum_to n (fun k => entry x k i * entry x k j).

Lemma bingham_matrix (R : realType) n d (tight : bool) (eps : rat) x :
  bingham_exponent (ratr eps) tight *: scatter (rows R n d x)
  = entries_of R d d (bingham_entry tight n eps x).
Proof.
apply/matrixP => i j; rewrite !mxE summxE /bingham_entry rmorphM; congr (_ * _).
  by rewrite /bingham_exponent; case: tight; rewrite fmorph_div rmorph_nat.
by rewrite sum_toE rmorph_sum; apply: eq_bigr => k _; rewrite mxE big_ord1 !mxE /= rmorphM.
Qed.

Lemma bingham_holds (R : realType) n d (tight : bool) (eps : rat) x (eps_gt0 : 0 < ratr eps :> R) :
  (bingham n d eps_gt0 tight (rows R n d x) = law (bingham_weight eps_gt0 tight (rows R n d x)) :> (set _ -> _)) /\
  forall u, bingham_weight eps_gt0 tight (rows R n d x) u
    = expR (Euclidean.form (entries_of R d d (bingham_entry tight n eps x)) (direction u)).
Proof.
split=> [|u]; first exact: erefl.
by rewrite -bingham_matrix Euclidean.formZ; exact: erefl.
Qed.

Definition bingham_rows : seq (seq rat) :=
  [seq [:: 3%:R; 2%:R; c.2; (nat_of_bool c.1)%:R] ++ data_columns 3 2 sample_rows ++
       matrix_columns 2 2 (bingham_entry c.1 3 c.2 sample_rows)
   | c <- [:: (false, 1); (true, 1); (true, frac 1 2)]].
