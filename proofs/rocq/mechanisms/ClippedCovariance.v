(* clipped-cov: the covariance of rows that are clipped to a public or a private length.

   The rows are any vectors, neighbours differ in one of them; n, d, r, rho and all other parameters are
   public.  Rows longer than r are shortened to r, and all are divided by r.

   - The length tau is public; or the sparse vector technique with eps_0 = sqrt (rho/2) finds the first
     k = 0, ..., K with n (B_k - 4^-k nu) >= 0 up to Laplace noise of scale 2/eps_0 on the threshold
     and 4/eps_0 on the queries, K = min (n d, 79), or K + 1; tau = min (1, 2^(1-k)).
   - The rows are clipped to tau and divided by it, M is run on them at rho_1, and its answer is
     multiplied by (tau r)^2.  M is gauss-cov or separate-cov (Rebuild.v).
   - rho_1 is rho for a public length; for a private one 3/4 rho, or 15/16 rho if tight.

   The theorem holds for every number nu, so also for the bound on the noise that the code computes.
   What is spent is rho for a public length; for a private one 13/16 rho, or rho if tight.

   Assumed: nothing.  Not said: floating point; how the noise is drawn; that less is spent for d = 1. *)
From covassay Require Import MechanismTheory Gaussian TwoStages Zcdp Symmetric.
From covassay Require Import SymmetricMechanisms GaussianMechanisms FiniteMechanisms SeparateCov.
From covassay Require Import UnitRows Rebuild LevelSearch.
From covassay Require Sensitivity Algorithm2.

(* A stage after a number: any family of probabilities. *)
Section FromNumbers.
Context (R : realType) e (Z : measurableType e) (f : nat -> {measure set Z -> \bar R}).
Hypothesis f1 : forall k, f k setT = 1%E.

Lemma number_stage_measurable B : measurable B -> measurable_fun [set: numbers] (fun k => f k B).
Proof. by []. Qed.

Definition number_stage : stage R numbers Z := @Stage R _ _ numbers Z f f1 number_stage_measurable.

End FromNumbers.

Section Levels.
Variables (R : realType) (n d : nat).
Notation data := (Sensitivity.dataset R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].

(* min (1, 2^(1-k)) *)
Definition clip_level (k : nat) : R := if k is j.+1 then 2%:R^-1 ^+ j else 1.

Lemma clip_level_gt0 k : 0 < clip_level k.
Proof. by case: k => [|k]; rewrite /clip_level ?exprn_gt0 ?invr_gt0 ?ltr0n ?ltr01. Qed.

(* M on the rows clipped to the length of level k. *)
Definition at_level (M : mechanism R data matrix) (k : nat) : mechanism R data matrix :=
  any_rows (clip_level k) M.

Lemma at_level_zcdp (M : mechanism R data matrix) (rho : R) k :
  zcdp (@Algorithm2.adjacent R n d) rho (fun X => M X) ->
  zcdp (@Algorithm2.adjacent R n d) rho (fun X => at_level M k X).
Proof. by move=> H X Y [_ _ XY]; exact: (any_rows_zcdp (clip_level_gt0 k) H XY). Qed.

Lemma at_level_dp (M : mechanism R data matrix) (eps : R) k :
  dp (@Algorithm2.adjacent R n d) eps (fun X => M X) ->
  dp (@Algorithm2.adjacent R n d) eps (fun X => at_level M k X).
Proof. by move=> H X Y [_ _ XY]; exact: (any_rows_dp (clip_level_gt0 k) H XY). Qed.

(* K, which is public. *)
Definition last_level : nat := minn (d * n) 79.

End Levels.

Section ClippedCov.
Variables (R : realType) (n d : nat) (rho r : R) (e : ensemble).
Hypotheses (n_gt0 : (0 < n)%N) (rho_gt0 : 0 < rho) (r_gt0 : 0 < r).
Notation data := (Sensitivity.dataset R n d).
Notation adjacent := (@Algorithm2.adjacent R n d).
Notation neighbours := (@Sensitivity.neighbours R n d).
Notation matrix := [the measurableType _ of 'M[R]_d].

Inductive base := Gauss | Separate.
Definition base_inhabited : base := Gauss.

(* M at the budget b. *)
Definition base_mechanism (m : base) (b : R) (b_gt0 : 0 < b) : mechanism R data matrix :=
  if m is Gauss then gauss_cov d n_gt0 b_gt0 e
  else Mechanism (separate_cov_total n_gt0 (@measurable_rebuild R d) e b_gt0).

Lemma base_mechanism_zcdp m (b : R) (b_gt0 : 0 < b) :
  zcdp adjacent b (fun X => base_mechanism m b_gt0 X).
Proof.
case: m; first exact: gauss_cov_zcdp.
by apply: (@separate_cov_zcdp R n d n_gt0 _ (@measurable_rebuild R d) b e b_gt0); exact: rebuildP.
Qed.

(* With a public length. *)
Definition clipped_cov_public (m : base) (tau : R) : mechanism R data matrix :=
  any_rows r (any_rows tau (base_mechanism m rho_gt0)).

(* With a private length. *)
Variables (m : base) (tight : bool) (nu : R).

Definition final_budget : R := if tight then 15%:R / 16%:R * rho else 3%:R / 4%:R * rho.

Lemma final_budget_gt0 : 0 < final_budget.
Proof. by rewrite /final_budget; case: ifP => _; rewrite mulr_gt0 ?divr_gt0 ?ltr0n. Qed.

(* eps_0 *)
Definition search_epsilon : R := Num.sqrt (rho / 2%:R).

Lemma search_epsilon_gt0 : 0 < search_epsilon.
Proof. by rewrite sqrtr_gt0 divr_gt0 ?ltr0n. Qed.

(* n (B_k - 4^-k nu) *)
Definition clipping_query (X : data) (k : 'I_(last_level n d).+1) : R :=
  bias_bound X k - n%:R * (4%:R^-1 ^+ k * nu).

Definition clipping_search (X : data) : {measure set numbers -> \bar R} :=
  level_law 0 (rate1_gt0 search_epsilon_gt0) (rate2_gt0 search_epsilon_gt0 false) (clipping_query X).

Definition base_at (X : data) : stage R numbers matrix :=
  number_stage (fun k => release_total (at_level (base_mechanism m final_budget_gt0) k) X).

Let private_law (X : data) : {measure set matrix -> \bar R} := run (clipping_search X) (base_at X).

Let private_total X : private_law X setT = 1%E.
Proof. by apply: run_total; exact: level_law_total. Qed.

Definition clipped_cov_private : mechanism R data matrix := any_rows r (Mechanism private_total).

Definition clipped_cov (tau : option R) : mechanism R data matrix :=
  if tau is Some t then clipped_cov_public m t else clipped_cov_private.

(* What is spent, for a public tau or a private one (None). *)
Definition clipped_cov_cost (tau : option R) : R :=
  if tau is Some _ then rho else if tight then rho else 13%:R / 16%:R * rho.

Lemma clipping_search_zcdp : zcdp adjacent (rho / 16%:R) clipping_search.
Proof.
have -> : rho / 16%:R = (rate1 search_epsilon + 2%:R * rate2 search_epsilon false) ^+ 2 / 8%:R.
  have -> : rate1 search_epsilon + 2%:R * rate2 search_epsilon false = search_epsilon.
    by rewrite /rate1 /rate2; field.
  by rewrite /search_epsilon sqr_sqrtr ?divr_ge0 ?ler0n ?(ltW rho_gt0) //; field.
move=> X Y XY; apply: level_law_concentrated.
by have [] := bias_bound_moves (fun k : 'I_(last_level n d).+1 => n%:R * (4%:R^-1 ^+ k * nu)) XY.
Qed.

(* The premises are n >= 1, rho > 0, r > 0, and tau > 0 if it is public; nu is any number. *)
(*@ WHOLE.clipped-cov *)
Theorem clipped_cov_zcdp (tau : option R) : (forall t, tau = Some t -> 0 < t) ->
  zcdp neighbours (clipped_cov_cost tau) (fun X => clipped_cov tau X).
Proof.
case: tau => [t|] tau0.
  have t0 : 0 < t by exact: tau0.
  apply: (any_rows_zcdp r_gt0) => X Y [_ _ XY].
  exact: (any_rows_zcdp t0 (@base_mechanism_zcdp m rho rho_gt0) XY).
apply: (any_rows_zcdp r_gt0).
have -> : clipped_cov_cost None = rho / 16%:R + final_budget.
  by rewrite /clipped_cov_cost /final_budget; case: (tight); field.
apply: (zcdp_run (M1 := clipping_search) (M2 := base_at)); first exact: clipping_search_zcdp.
by move=> k; apply: at_level_zcdp; exact: base_mechanism_zcdp.
Qed.

End ClippedCov.
