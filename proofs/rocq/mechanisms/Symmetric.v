(* Noise on the entries on and above the diagonal.

   A symmetric d x d matrix is known by its entries on and above the diagonal, a row of
   d (d + 1)/2 numbers.  `mirror off` writes such a row into a symmetric matrix, with the
   entries off the diagonal multiplied by off; for off <> 0 `corner off` is its inverse.

   If the row z has a law w, then `symmetric_noise` releases q(x) + mirror off z: noise
   that is itself symmetric.  For off = 1 and density exp(-N(mirror z)/b) this is the law
   with density exp(-N(Z)/b) on the symmetric matrices, with respect to Lebesgue measure
   in the entries on and above the diagonal.

   Nothing is assumed. *)
From covassay Require Import MechanismTheory.

(* The pairs i <= j, and their number. *)
Definition triangle (d : nat) := {p : 'I_d * 'I_d | (p.1 <= p.2)%N}.
Definition entries (d : nat) : nat := #|{: triangle d}|.

Section Indices.
Variable d : nat.

Definition ordered (i j : 'I_d) : 'I_d * 'I_d := if (i <= j)%N then (i, j) else (j, i).

Lemma ordered_le i j : ((ordered i j).1 <= (ordered i j).2)%N.
Proof. by rewrite /ordered; case: (leqP i j) => //= /ltnW. Qed.

(* The place of entry (i, j), and of (j, i), in the row. *)
Definition place (i j : 'I_d) : 'I_(entries d) :=
  enum_rank (exist _ (ordered i j) (ordered_le i j) : triangle d).

Lemma placeC i j : place i j = place j i.
Proof.
congr enum_rank; apply: val_inj => /=; rewrite /ordered.
by case: ltngtP => // /val_inj ->.
Qed.

(* Which entry stands at a place. *)
Definition entry_at (l : 'I_(entries d)) : 'I_d * 'I_d := val (enum_val l).

Lemma entry_at_place i j : entry_at (place i j) = ordered i j.
Proof. by rewrite /entry_at enum_rankK. Qed.

Lemma place_entry_at l : place (entry_at l).1 (entry_at l).2 = l.
Proof.
rewrite -[RHS]enum_valK; congr enum_rank; apply: val_inj => /=.
by rewrite /ordered /entry_at; case: (enum_val l) => -[i j] /= ->.
Qed.

End Indices.

Section Mirror.
Variables (R : realType) (d : nat) (off : R).
Notation row := 'rV[R]_(entries d).
Implicit Types (z : row) (A : 'M[R]_d).

Definition factor (i j : 'I_d) : R := if i == j then 1 else off.

Definition mirror z : 'M[R]_d := \matrix_(i, j) (factor i j * z 0 (place i j)).

Definition corner A : row := \row_l ((factor (entry_at l).1 (entry_at l).2)^-1 *
  A (entry_at l).1 (entry_at l).2).

Lemma factorC i j : factor i j = factor j i.
Proof. by rewrite /factor eq_sym. Qed.

Lemma mirror_sym z : (mirror z)^T = mirror z.
Proof. by apply/matrixP => i j; rewrite !mxE factorC placeC. Qed.

Lemma mirrorD y z : mirror (y + z) = mirror y + mirror z.
Proof. by apply/matrixP => i j; rewrite !mxE mulrDr. Qed.

Lemma mirrorZ a z : mirror (a *: z) = a *: mirror z.
Proof. by apply/matrixP => i j; rewrite !mxE mulrCA. Qed.

Lemma measurable_mirror : measurable_fun setT mirror.
Proof.
apply: measurable_fun_matrix => i j; under eq_fun do rewrite mxE.
by apply: measurable_funrM; exact: measurable_entry.
Qed.

Hypothesis off_neq0 : off != 0.

Lemma factor_neq0 i j : factor i j != 0.
Proof. by rewrite /factor; case: ifP; rewrite ?oner_neq0. Qed.

Lemma cornerK A : A^T = A -> mirror (corner A) = A.
Proof.
move=> sA; apply/matrixP => i j; rewrite !mxE entry_at_place.
have -> : factor (ordered i j).1 (ordered i j).2 = factor i j.
  by rewrite /ordered; case: ifP => // _; rewrite factorC.
rewrite mulrA divff ?factor_neq0 // mul1r /ordered; case: ifP => //= _.
by rewrite -{1}sA mxE.
Qed.

Lemma cornerB A B : corner (A - B) = corner A - corner B.
Proof. by apply/rowP => l; rewrite !mxE mulrBr. Qed.

Lemma cornerZ a A : corner (a *: A) = a *: corner A.
Proof. by apply/rowP => l; rewrite !mxE mulrCA. Qed.

Lemma mirror_inj0 z : mirror z = 0 -> z = 0.
Proof.
move=> /matrixP z0; apply/rowP => l; have := z0 (entry_at l).1 (entry_at l).2.
rewrite !mxE place_entry_at => /eqP; rewrite mulf_eq0 (negbTE (factor_neq0 _ _)) /=.
by move=> /eqP.
Qed.

End Mirror.

(* A norm of symmetric matrices, as a norm of rows. *)
Section SymmetricNorm.
Variables (R : realType) (d : nat) (N : norm R d d).
Let at_row (z : 'rV[R]_(entries d)) := N (mirror 1 z).

Let triangle_inequality y z : at_row (y + z) <= at_row y + at_row z.
Proof. by rewrite /at_row mirrorD norm_triangle. Qed.

Let homogeneous a z : at_row (a *: z) = `|a| * at_row z.
Proof. by rewrite /at_row mirrorZ norm_scale. Qed.

Let definite z : at_row z = 0 -> z = 0.
Proof. by move=> /norm_definite; apply: mirror_inj0; exact: oner_neq0. Qed.

Definition symmetric_norm : norm R 1 (entries d) := Norm triangle_inequality homogeneous definite.

End SymmetricNorm.

(* ---------------------------------------------------------------------------- *)

Section SymmetricNoise.
Context (R : realType) (d : nat) (X : Type).
Variables (off : R) (w : weight [the measure _ _ of @leb_matrix R 1 (entries d)]).
Variable q : X -> 'M[R]_d.

(* Draw a row z from the law w; publish q(x) + mirror off z. *)
Lemma noisy_measurable x : measurable_fun setT (fun z => q x + mirror off z).
Proof.
exact: (measurable_fun_comp (matrix_measurable_add (q x)) (measurable_mirror off)).
Qed.

Let noisy_law x : {measure set 'M[R]_d -> \bar R} :=
  [the measure _ _ of pushforward [the measure _ _ of law w] (noisy_measurable x)].

Let noisy_total x : noisy_law x setT = 1%E.
Proof. exact: law_total. Qed.

Definition symmetric_noise : mechanism R X [the measurableType _ of 'M[R]_d] :=
  Mechanism noisy_total.

(* It is post-processing of noise on the row of the entries on and above the diagonal. *)
Hypotheses (off_neq0 : off != 0) (q_sym : forall x, (q x)^T = q x).

Lemma symmetric_noiseE x S : symmetric_noise x S
  = with_noise (matrices R 1 (entries d)) w (fun x => corner off (q x)) x
      (mirror off @^-1` S).
Proof.
rewrite /= /pushforward; congr (law w _); apply/seteqP.
by split => z /=; rewrite mirrorD cornerK.
Qed.

Lemma symmetric_noise_post (nb : X -> X -> Prop) eps :
  dp nb eps (fun x => with_noise (matrices R 1 (entries d)) w (fun x => corner off (q x)) x) ->
  dp nb eps (fun x => symmetric_noise x).
Proof.
move=> H x x' xx' S mS; rewrite !symmetric_noiseE.
exact: (postprocessing (measurable_mirror off) H).
Qed.

End SymmetricNoise.

(* Symmetric noise with density exp(-N(Z)/b), for a query that moves by at most eps b. *)
Lemma symmetric_norm_dp (R : realType) d (N : norm R d d) (b eps : R) (b_gt0 : 0 < b) (X : Type)
    (nb : X -> X -> Prop) (q : X -> 'M[R]_d) : (forall x, (q x)^T = q x) ->
  (forall x x', nb x x' -> N (q x - q x') <= eps * b) ->
  dp nb eps (fun x => symmetric_noise 1 (norm_weight (symmetric_norm N) b_gt0) q x).
Proof.
move=> q_sym sens; apply: (@symmetric_noise_post R d X 1 _ q (oner_neq0 R) q_sym).
apply: matrix_noise_dp => x x' xx' /=; rewrite -cornerB (cornerK (oner_neq0 R)).
  exact: sens.
by rewrite linearB /= !q_sym.
Qed.

(* The same with a norm of rows. *)
Lemma triangle_norm_dp (R : realType) d (N : norm R 1 (entries d)) (b eps : R) (b_gt0 : 0 < b)
    (X : Type) (nb : X -> X -> Prop) (q : X -> 'M[R]_d) : (forall x, (q x)^T = q x) ->
  (forall x x', nb x x' -> N (corner 1 (q x - q x')) <= eps * b) ->
  dp nb eps (fun x => symmetric_noise 1 (norm_weight N b_gt0) q x).
Proof.
move=> q_sym sens; apply: (@symmetric_noise_post R d X 1 _ q (oner_neq0 R) q_sym).
by apply: matrix_noise_dp => x x' xx'; rewrite -cornerB sens.
Qed.

(* Sums over the row are sums over the entries on and above the diagonal. *)
Lemma sum_entries (R : realType) d (f : 'I_d -> 'I_d -> R) :
  \sum_(l < entries d) f (entry_at l).1 (entry_at l).2
  = \sum_(i < d) \sum_(j < d | (i <= j)%N) f i j.
Proof.
rewrite pair_big_dep /= (reindex_omap (@val _ _ _ : triangle d -> _) insub) /=; last first.
  by move=> [i j] /= ij; rewrite insubT.
rewrite (reindex (@enum_val _ {: triangle d})) /=; last first.
  by apply: onW_bij; exact: enum_val_bij.
by apply: eq_big => [l|l _] //; rewrite valK eqxx andbT (valP (enum_val l)).
Qed.
