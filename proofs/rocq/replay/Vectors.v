(******************************************************************************)
(* Numbers that the kernel evaluates, for tests of the Python code.           *)
(*                                                                            *)
(* Each list of rows is computed by a function over the rational numbers, by  *)
(* vm_compute, and exported to proofs/vectors.json. Beside it stands a lemma  *)
(* that ties the function to the theorems: either the function is the one in  *)
(* the theorem, taken at the rationals, and commutes with the embedding ratr  *)
(* of the rationals in the reals, or the theorem holds with its values.       *)
(* vectors.toml names the columns and the lemmas.                             *)
(******************************************************************************)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint intdiv rat matrix.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals ereal sequences exp measure.
From mathcomp.algebra_tactics Require Import ring.
From covassay Require Euclidean Sensitivity CentredSensitivity Algorithm2 TailIdentity Theorem6 Theorem6Tail.
From covassay Require PsdProjection MatrixNorms LogVandermonde Hessian SparseVector.
From covassay Require Rounding DiscreteLaplace.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Definition q (m n : nat) : rat := m%:R / n%:R.
Arguments q : simpl never.

Lemma ratr_q (R : numFieldType) m n : ratr (q m n) = m%:R / n%:R :> R.
Proof. by rewrite /q fmorph_div !rmorph_nat. Qed.

(* DN25, ALGORITHM 2 *)

Definition budget_points : seq (rat * rat) := [:: (1, 1); (q 1 2, 3%:R); (2%:R, 10%:R)].
Definition length_points : seq (rat * rat) :=
  [:: (1, 1); (1, 0); (q 1 2, q 1 3); (q 1 5, q 4 5)].

Definition composition_rows : seq (seq rat) :=
  [seq [:: p.1; p.2; Algorithm2.budget_composition p.1 p.2] | p <- budget_points].
Definition joint_rows : seq (seq rat) :=
  [seq [:: p.1; p.2; l.1; l.2; Algorithm2.budget_joint p.1 p.2 l.1 l.2]
   | p <- budget_points, l <- length_points].
Definition tight_rows : seq (seq rat) :=
  [seq [:: p.1; p.2; l.1; l.2; Algorithm2.budget_tight p.1 p.2 l.1 l.2]
   | p <- budget_points, l <- length_points].

Lemma budget_tight_rat (R : realFieldType) (eps n s t : rat) :
  ratr (Algorithm2.budget_tight eps n s t)
  = Algorithm2.budget_tight (ratr eps) (ratr n) (ratr s) (ratr t) :> R.
Proof.
rewrite /Algorithm2.budget_tight rmorphD !fmorph_div rmorphD !rmorphM !rmorph_nat.
have -> (a : rat) : ratr_rmorphism R `|a| = `|ratr a| :> R by exact: ratr_norm.
by rewrite rmorphB.
Qed.

(* SENSITIVITIES *)

Definition nuclear_sensitivity (n : nat) : rat := q 2 n.
Definition nuclear_rows : seq (seq rat) := [seq [:: n%:R; nuclear_sensitivity n] | n <- iota 1 5].

Lemma nuclear_sensitivity_holds (R : realType) n d : (0 < n)%N -> (1 < d)%N ->
  Sensitivity.is_sensitivity (@Sensitivity.covariance R n d) (@MatrixNorms.nuclear_norm R d d)
    (ratr (nuclear_sensitivity n)).
Proof.
move=> n0 d2; rewrite /nuclear_sensitivity /q fmorph_div !rmorph_nat.
exact: Sensitivity.sensitivity_nuclear.
Qed.

(* the square of 3 sqrt 3 (n - 1)/n^2 *)
Definition centred_sensitivity_squared (n : nat) : rat := q (27 * n.-1 ^ 2) (n ^ 4).
Definition centred_rows : seq (seq rat) :=
  [seq [:: n%:R; centred_sensitivity_squared n] | n <- iota 1 6].

Lemma centred_sensitivity_holds (R : realType) n d : (0 < n)%N -> (1 < d)%N ->
  exists2 v, Sensitivity.is_sensitivity (@CentredSensitivity.centred_covariance R n d)
               (@MatrixNorms.nuclear_norm R d d) v
           & 0 <= v /\ v ^+ 2 = ratr (centred_sensitivity_squared n).
Proof.
move=> n0 d2; exists (3%:R * Num.sqrt 3%:R * ((n.-1)%:R / n%:R ^+ 2)).
  exact: CentredSensitivity.sensitivity_centred.
split; first by rewrite !mulr_ge0 ?invr_ge0 ?sqrtr_ge0 ?exprn_ge0 ?ler0n.
rewrite /centred_sensitivity_squared /q fmorph_div !rmorph_nat !exprMn exprVn.
rewrite (sqr_sqrtr (ler0n R 3)) natrM !natrX -exprM mulrA; congr (_ / _).
by congr (_ * _); ring.
Qed.

(* DN25, SECOND MOMENT AND THEOREM 6 *)

(* between these two lies E |Z|_F^2 of nuclear-Laplace noise of scale 1 in d dimensions *)
Definition moment_low (d : nat) : rat := q 3 2 * d%:R ^+ 3 + d%:R ^+ 2 / 2%:R.
Definition moment_high (d : nat) : rat := 2%:R * d%:R ^+ 3.
Definition moment_rows : seq (seq rat) :=
  [seq [:: d%:R; moment_low d; moment_high d] | d <- iota 1 6].

(* E Q = E (2 R + W), with E R = d^2 and W between 3/2 and 2 times (d - 1) R *)
Lemma moment_bounds_hold (R : realType) d (s : 'I_d -> R) : (0 < d)%N ->
  LogVandermonde.separated s -> (forall i, 0 < s i) -> TailIdentity.total s = d%:R ^+ 2 ->
  ratr (moment_low d) <= 2%:R * TailIdentity.total s + TailIdentity.field_slope s
    <= ratr (moment_high d).
Proof.
case: d s => // d s _ sep s0 t; have := TailIdentity.field_slope_bounds sep s0; rewrite t.
move=> /andP[lo up]; have lowE : ratr (moment_low d.+1) = 3%:R / 2%:R * d.+1%:R ^+ 3 + d.+1%:R ^+ 2 / 2%:R :> R.
  by rewrite /moment_low /q rmorphD rmorphM 2!fmorph_div 2!rmorphX !rmorph_nat.
have highE : ratr (moment_high d.+1) = 2%:R * d.+1%:R ^+ 3 :> R.
  by rewrite /moment_high rmorphM rmorphX !rmorph_nat.
have dE : d.+1%:R = d%:R + 1 :> R by rewrite mulrSr.
rewrite lowE highE; apply/andP; split.
  apply: le_trans (ler_add (lexx _) lo); rewrite le_eqVlt; apply/orP/or_introl/eqP.
  by rewrite /= dE; move: (d%:R) => n; field.
apply: le_trans (ler_add (lexx _) up) _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
by rewrite /= dE; move: (d%:R) => n; ring.
Qed.

(* the critical constant (7 + sqrt 33)/8 is the root of this polynomial that is at least 7/8 *)
Definition critical_polynomial (c : rat) : rat := 4%:R * c ^+ 2 - 7%:R * c + 1.
Definition critical_rows : seq (seq rat) :=
  [seq [:: c; critical_polynomial c] | c <- [:: 0; 1; q 7 8; q 11 10; q 3 2; q 8 5; 2%:R]].

Lemma critical_below (R : realType) (c : rat) : q 7 8 <= c ->
  (0 <= critical_polynomial c) = (Theorem6.critical R <= ratr c).
Proof.
move=> c78; have c0 : 7%:R / 8%:R <= ratr c :> R.
  by rewrite -(ler_rat R) /q fmorph_div !rmorph_nat in c78.
have e : ratr (critical_polynomial c)
    = 4%:R * (ratr c - Theorem6.critical R) * (ratr c + Theorem6.critical R - 7%:R / 4%:R) :> R.
  rewrite /critical_polynomial rmorphD rmorphB [X in X - _]rmorphM [X in _ - X]rmorphM.
  rewrite rmorphX !rmorph_nat rmorph1.
  have root := Theorem6.critical_root R; move: (Theorem6.critical R) root => a root.
  apply/eqP; rewrite -subr_eq0; apply/eqP.
  transitivity (4%:R * a ^+ 2 - (7%:R * a - 1)); last by rewrite root subrr.
  by field.
have p : 0 < ratr c + Theorem6.critical R - 7%:R / 4%:R.
  have s0 : 0 < Num.sqrt 33%:R :> R by rewrite sqrtr_gt0 ltr0n.
  rewrite (_ : _ - _ = (ratr c - 7%:R / 8%:R) + Num.sqrt 33%:R / 8%:R); last first.
    by rewrite /Theorem6.critical; move: (Num.sqrt _) => t; field.
  by rewrite ltr_paddl ?subr_ge0 // divr_gt0 ?ltr0n.
rewrite -(ler0q R) e pmulr_lge0 // pmulr_rge0 ?ltr0n //.
by rewrite subr_ge0.
Qed.

(* P (|Z| > C d) is at least this, for every C up to the critical constant *)
Definition tail_bound (d : nat) : rat := (384%:R * d%:R ^+ 4)^-1.
Definition tail_rows : seq (seq rat) := [seq [:: d%:R; tail_bound d] | d <- iota 1 3].

Lemma ratr_inverse (R : numFieldType) k d :
  ratr (k%:R * d%:R ^+ 4)^-1 = (k%:R * d%:R ^+ 4)^-1 :> R.
Proof. by rewrite fmorphV rmorphM rmorphX !rmorph_nat. Qed.

Lemma tail_bound_holds dd (T : measurableType dd) (R : realType) (P : {measure set T -> \bar R})
    d (s : T -> 'I_d -> R) (C : R) :
  Theorem6.noise_moments P s -> (0 < d)%N -> C <= Theorem6.critical R ->
  ((ratr (tail_bound d))%:E <= P (~` Theorem6.within s (C * d%:R))%classic)%E.
Proof.
by move=> moments d0 Cle; rewrite /tail_bound ratr_inverse; apply: Theorem6Tail.tail_probability.
Qed.

(* DN25, THE HESSIAN *)

(* sum_(i<j) (e_i + e_j)(e_i + e_j)^T is this multiple of the identity, and the matrix of ones *)
Definition pairs_diagonal (d : nat) : rat := d%:R - 2%:R.
(* on the simplex the Hessian is at least this multiple of the identity *)
Definition simplex_curvature (d : nat) : rat := 2%:R * (d.-1)%:R.
Definition hessian_rows : seq (seq rat) :=
  [seq [:: d%:R; pairs_diagonal d; simplex_curvature d] | d <- iota 1 5].

Lemma hessian_constants_hold (R : realType) d (w : 'I_d -> R) (h : 'cV[R]_d) : (0 < d)%N ->
  LogVandermonde.separated w -> Hessian.simplex w ->
  Euclidean.form (\sum_(i < d) \sum_(j < d | (i < j)%N)
      (Hessian.unit_vector R i + Hessian.unit_vector R j) *m (Hessian.unit_vector R i + Hessian.unit_vector R j)^T) h
  = Euclidean.form ((ratr (pairs_diagonal d))%:M + Hessian.ones R d *m (Hessian.ones R d)^T) h
  /\ Euclidean.loewner_le (ratr (simplex_curvature d))%:M (Hessian.hessian w).
Proof.
move=> d0 sep sw; rewrite /pairs_diagonal /simplex_curvature rmorphB rmorphM !rmorph_nat.
by split; [apply: Hessian.pair_forms | apply: Hessian.hessian_ge_simplex].
Qed.

(* KLSU19, THE COUNTEREXAMPLE TO POSITIVE PARTS *)

Definition psd_A : seq rat := [:: q 66 25; 0; 0; 0].
Definition psd_Z : seq rat := [:: q 81 25; q 4 5; q 4 5; - q 3 5].
Definition psd_P : seq rat := [:: q 85 26; q 17 26; q 17 26; q 17 130].
Definition psd_N : seq rat := [:: q 19 650; - q 95 650; - q 95 650; q 475 650].
Definition psd_rows : seq (seq rat) := [:: psd_A; psd_Z; psd_P; psd_N].

Definition of_entries (R : rcfType) (l : seq rat) : 'M[R]_2 :=
  PsdProjection.mx2 (ratr (nth 0 l 0)) (ratr (nth 0 l 1)) (ratr (nth 0 l 2)) (ratr (nth 0 l 3)).

Lemma psd_entries (R : rcfType) :
  [/\ PsdProjection.cexA R = of_entries R psd_A, PsdProjection.cexZ R = of_entries R psd_Z,
      PsdProjection.cexP R = of_entries R psd_P & PsdProjection.cexN R = of_entries R psd_N].
Proof.
have eq4 (a b c e a' b' c' e' : R) : a = a' -> b = b' -> c = c' -> e = e' ->
    PsdProjection.mx2 a b c e = PsdProjection.mx2 a' b' c' e' by move=> -> -> -> ->.
have zero : 0 = ratr 0 :> R by rewrite rmorph0.
have pos m n : m%:R / n%:R = ratr (q m n) :> R by rewrite ratr_q.
have neg m n : - (m%:R / n%:R) = ratr (- q m n) :> R by rewrite rmorphN /= ratr_q.
split.
- by apply: eq4; [exact: pos | exact: zero | exact: zero | exact: zero].
- by apply: eq4; [exact: pos | exact: pos | exact: pos | exact: neg].
- by apply: eq4; [exact: pos | exact: pos | exact: pos | exact: pos].
- by apply: eq4; [exact: pos | exact: neg | exact: neg | exact: pos].
Qed.

(* THE SPARSE VECTOR *)

(* the price of moving the threshold by a and the query that answers by b *)
Definition svt_cost (eps a b : rat) : rat := eps / 2%:R * `|a| + eps / 4%:R * `|b|.
Definition svt_rows : seq (seq rat) :=
  [seq [:: e; m.1; m.2; svt_cost e m.1 m.2]
   | e <- [:: 1; q 1 3], m <- [:: (1, 2%:R); (1, 1); (0, 1)]].

Lemma svt_cost_holds (R : realType) k (eps a b : rat) (e0 : 0 < ratr eps :> R) (T : R)
    (Q Q' : 'I_k -> R) o :
  (forall j, Q' j <= Q j + ratr a) -> (forall j, Q j + ratr a <= Q' j + ratr b) ->
  (SparseVector.paper_svt e0 T Q o <= (expR (ratr (svt_cost eps a b)))%:E * SparseVector.paper_svt e0 T Q' o)%E.
Proof.
move=> low high; apply: (@SparseVector.svt_step R k _ _ _ _ T Q Q' o (ratr a) (ratr b)) => //.
have -> : ratr (svt_cost eps a b) = ratr eps / 2%:R * `|ratr a| + ratr eps / 4%:R * `|ratr b| :> R.
  rewrite /svt_cost rmorphD [X in X + _]rmorphM [X in _ + X]rmorphM !fmorph_div !rmorph_nat.
  by congr (_ * _ + _ * _); exact: ratr_norm.
exact: lexx.
Qed.

(* ROUNDING TO A GRID *)

(* the k for which k g is nearest to t; the larger one at a tie *)
Definition nearest_rational (g t : rat) : int := let x := t / g + q 1 2 in (numq x %/ denq x)%Z.
Definition rounding_points : seq (rat * rat) :=
  [:: (1, q 1 2); (1, - q 1 2); (1, q 3 2); (1, - q 3 2); (q 1 4, q 3 8); (q 1 4, - q 3 8);
      (q 1 8, q 1 3); (q 1 8, - q 1 3); (q 1 64, q 22 7); (2%:R, q 29 10)].
Definition rounding_rows : seq (seq rat) :=
  [seq [:: p.1; p.2; (nearest_rational p.1 p.2)%:~R] | p <- rounding_points].

Lemma nearest_rational_holds (R : realType) (g t : rat) : 0 < g ->
  Rounding.nearest (ratr g : R) (ratr t) = nearest_rational g t.
Proof.
move=> g0; have g0R : 0 < ratr g :> R by rewrite ltr0q.
rewrite /nearest_rational; set x := t / g + _; set k := (_ %/ _)%Z.
have d0 : 0 < (denq x)%:~R :> rat by rewrite ltr0z.
have xE : x = (numq x)%:~R / (denq x)%:~R by rewrite divq_num_den.
have lo : k%:~R <= x.
  rewrite xE ler_pdivl_mulr // -intrM ler_int.
  by apply: lez_floor; rewrite gt_eqF.
have up : x < k%:~R + 1.
  rewrite {1}xE ltr_pdivr_mulr // -[1]/(1%:~R) -intrD -intrM ltr_int.
  exact: ltz_ceil.
apply/(Rounding.nearestP g0R).
have gE : t = x * g - g / 2%:R by rewrite /x /q; field; rewrite gt_eqF.
have -> : - (ratr g / 2%:R) = ratr (- (g / 2%:R)) :> R.
  by rewrite rmorphN fmorph_div rmorph_nat.
have -> : ratr g / 2%:R = ratr (g / 2%:R) :> R by rewrite fmorph_div rmorph_nat.
rewrite -(ratr_int R k) -rmorphM -rmorphB ler_rat ltr_rat gE.
have -> : x * g - g / 2%:R - k%:~R * g = (x - k%:~R) * g - g / 2%:R by ring.
rewrite ler_subr_addl ltr_subl_addl subrr; apply/andP; split.
  by rewrite mulr_ge0 ?subr_ge0 // ltW.
have -> : g / 2%:R + g / 2%:R = g by field.
by rewrite gtr_pmull // ltr_subl_addl.
Qed.

(* THE DISCRETE LAPLACE LAW *)

(* the probability of k, for the scale t with e^(-1/t) = ratio *)
Definition dlaplace_rational (ratio : rat) (k : int) : rat :=
  (1 - ratio) / (1 + ratio) * ratio ^+ `|k|%N.
Definition dlaplace_points : seq int := [:: 0; 1; -1; 2%:Z; - 3%:Z].
Definition dlaplace_rows : seq (seq rat) :=
  [seq [:: r; k%:~R; dlaplace_rational r k] | r <- [:: q 1 2; q 2 3; q 1 5], k <- dlaplace_points].

Lemma dlaplace_rational_holds (R : realType) (t : R) (ratio : rat) (k : int) :
  expR (- t^-1) = ratr ratio -> DiscreteLaplace.dlaplace t k = ratr (dlaplace_rational ratio k).
Proof.
move=> e; rewrite DiscreteLaplace.dlaplaceE e /dlaplace_rational.
by rewrite rmorphM fmorph_div rmorphB rmorphD rmorphX rmorph1.
Qed.
