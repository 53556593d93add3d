(* Nearest points of closed convex sets of matrices exist.

   A set here is an intersection of half-spaces { B | <C_i, B> <= c_i }, for any family of them.  If it
   is not empty, every A has a nearest point in it, in Frobenius norm: a minimum on a compact part of
   the set.  The variational inequality of Projections.v follows by convexity.  The positive
   semidefinite matrices are such a set, and so are those of trace at most one.

   So the theorems of GaussianMechanisms and JohnsonLindenstrauss, which hold for every map to nearest
   points, are about something.

   Nothing is assumed. *)
From covassay Require Import MechanismTheory MatrixNorms Projections Squeeze Compactness BallProjection.
From covassay Require Import GaussianMechanisms.
From covassay Require Euclidean LipschitzMaps.
Import numFieldNormedType.Exports.

Lemma linear_continuous (R : realType) k (c : 'rV[R]_k.+1) :
  continuous (fun x : 'rV[R]_k.+1 => \sum_i c 0 i * x 0 i).
Proof.
move=> x U /nbhs_ballP [e /= e0 h]; pose s := \sum_i `|c 0 i|.
have s0 : 0 <= s by apply: sumr_ge0.
have l0 : 0 < s + 1 by rewrite ltr_spaddr.
apply/nbhs_ballP; exists (e / (s + 1)); first by rewrite /= divr_gt0.
move=> y xy; apply: h; rewrite /ball /= -sumrB.
apply: (@le_lt_trans _ _ (\sum_i `|c 0 i| * (e / (s + 1)))).
  apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => i _.
  by rewrite -mulrBr normrM ler_wpmul2l // ltW //; exact: xy.
rewrite -mulr_suml -/s mulrCA -[X in _ < X]mulr1 ltr_pmul2l // ltr_pdivr_mulr // mul1r.
by rewrite ltr_addl.
Qed.

Section HalfSpaces.
Variables (R : realType) (m n : nat) (K : 'M[R]_(m, n) -> Prop).
Implicit Types (A B P C : 'M[R]_(m, n)).

Definition half_spaces := exists (I : Type) (C : I -> 'M[R]_(m, n)) (c : I -> R),
  forall B, K B <-> forall i, frob_dot (C i) B <= c i.

Hypotheses (K_half : half_spaces) (K_some : exists B, K B).

Lemma half_spaces_convex B C t : K B -> K C -> 0 <= t -> t <= 1 -> K ((1 - t) *: B + t *: C).
Proof.
have [I [D [c KE]]] := K_half; move=> /KE KB /KE KC t0 t1; apply/KE => i.
rewrite frob_dotDr !frob_dotZr.
have -> : c i = (1 - t) * c i + t * c i by rewrite mulrBl mul1r subrK.
by rewrite ler_add ?ler_wpmul2l ?subr_ge0.
Qed.

Let nearest_row k (f : 'M[R]_(m, n) -> 'rV[R]_k) (g : 'rV[R]_k -> 'M[R]_(m, n)) A :
  cancel f g -> cancel g f -> (forall B C, f (B - C) = f B - f C) -> (forall B C, frob_dot B C = \sum_i f B 0 i * f C 0 i) ->
  exists2 P, K P & forall B, K B -> frob_dot (A - P) (A - P) <= frob_dot (A - B) (A - B).
Proof.
case: k f g => [|k] f g fK gK fB fE.
  have [B KB] := K_some; exists B => // C _.
  by rewrite !fE !big_ord0.
have [I [D [c KE]]] := K_half; have [B0 KB0] := K_some.
pose N := euclidean_row R k.+1; pose a := f A; pose r := N (a - f B0).
pose S := [set x : 'rV[R]_k.+1 | N (a - x) <= r] `&`
  \bigcap_(i in setT) [set x : 'rV[R]_k.+1 | \sum_j f (D i) 0 j * x 0 j <= c i].
have SK x : S x <-> N (a - x) <= r /\ K (g x).
  split=> [[Nx Hx]|[Nx /KE Hx]]; split=> //.
    by apply/KE => i; rewrite fE gK; exact: Hx.
  by move=> i _ /=; rewrite -[x in X in X <= _]gK -fE; exact: Hx.
have [l l0 hl] := norm_lower N.
have compact_S : compact S.
  have box : compact [set x : 'rV[R]_k.+1 | forall i, `[a 0 i - r / l, a 0 i + r / l]%classic (x ord0 i)].
    by apply: (@rV_compact _ _ (fun i => `[a 0 i - r / l, a 0 i + r / l]%classic)) => i; exact: segment_compact.
  apply: (subclosed_compact _ box).
    apply: closedI.
      apply: (closed_comp (D := [set t : R | t <= r])); last exact: closed_le.
      by move=> x _; exact: LipschitzMaps.distance_continuous.
    apply: closed_bigI => i _.
    apply: (closed_comp (D := [set t : R | t <= c i])); last exact: closed_le.
    by move=> x _; exact: linear_continuous.
  move=> x [Nx _] i /=; rewrite in_itv /= -ler_distl distrC ler_pdivl_mulr // mulrC.
  apply: le_trans Nx; apply: le_trans (hl _); rewrite ler_pmul2l //.
  by have := l1_ge_entry (a - x) 0 i; rewrite !mxE.
have S0 : S !=set0 by exists (f B0); apply/SK; rewrite fK.
have [p /SK [Np Kp] min] := attains_min compact_S S0 (@LipschitzMaps.distance_continuous _ _ _ N a).
have linear B C : frob_dot (B - C) (B - C) = N (f B - f C) ^+ 2.
  rewrite /N /= Euclidean.sqr_norm /Euclidean.dot fE; apply: eq_bigr => i _.
  by rewrite fB !mxE.
have ordered B C E : N (f B - f C) <= N (f B - f E) ->
    frob_dot (B - C) (B - C) <= frob_dot (B - E) (B - E).
  by move=> le; rewrite !linear ler_expn2r ?nnegrE ?norm_ge0.
exists (g p) => // B KB; apply: ordered; rewrite gK; have [Br|rB] := leP (N (a - f B)) r.
  by apply: min; apply/SK; rewrite fK.
exact: le_trans Np (ltW rB).
Qed.

Lemma nearest_exists A :
  exists2 P, K P & forall B, K B -> frob_dot (A - P) (A - P) <= frob_dot (A - B) (A - B).
Proof.
apply: (nearest_row A (@mxvecK R m n) (@vec_mxK R m n)) => B C; first exact: linearB.
by rewrite frob_dot_row /Euclidean.dot; apply: eq_bigr => i _; rewrite !mxE.
Qed.

(* The nearest point satisfies the variational inequality. *)
Lemma half_spaces_projection A : exists P, projection K A P.
Proof.
have [P KP min] := nearest_exists A; exists P; split=> // C KC.
apply: (@le_of_small R _ 0 (frob_dot (C - P) (C - P) / 2%:R)) => t t0 t1; rewrite add0r.
have := min _ (half_spaces_convex KP KC (ltW t0) (ltW t1)).
have -> : A - ((1 - t) *: P + t *: C) = (A - P) + (- t) *: (C - P).
  by apply/matrixP => i j; rewrite !mxE; move: (A i j) (P i j) (C i j) => x y z; ring.
rewrite [X in _ <= X]frob_sqrD -addrA ler_addl !frob_dotL.
move: (frob_dot (A - P) (C - P)) (frob_dot (C - P) (C - P)) => a b.
rewrite -[X in 0 <= X]addr0 => le; rewrite -subr_ge0 -(pmulr_rge0 _ t0) -(pmulr_lge0 _ (ltr0n R 2)).
apply: le_trans le _; rewrite le_eqVlt; apply/orP/or_introl/eqP.
by rewrite mulr2n; field.
Qed.

Definition nearest_point A : 'M[R]_(m, n) := xget 0 [set P | projection K A P].

Lemma nearest_pointP A : projection K A (nearest_point A).
Proof.
have [P PP] := half_spaces_projection A.
exact: (xgetPex 0 (ex_intro [set P | projection K A P] P PP)).
Qed.

End HalfSpaces.

(* ---------------------------------------------------------------------------- *)
(* Positive semidefinite matrices                                               *)

Section Psd.
Variables (R : realType) (d : nat).
Implicit Types B : 'M[R]_d.

Let normal (i : 'I_d * 'I_d + 'cV[R]_d) : 'M[R]_d :=
  match i with inl ij => delta_mx ij.1 ij.2 - delta_mx ij.2 ij.1 | inr u => - (u *m u^T) end.

Let dot_delta_mx B i j : frob_dot (delta_mx i j) B = B i j.
Proof.
rewrite frob_dotE (bigD1 j) //= (bigD1 i) //= mxE !eqxx mul1r big1 => [|k ki]; last first.
  by rewrite mxE (negbTE ki) mul0r.
rewrite big1 ?addr0 // => k kj; rewrite big1 // => l _.
by rewrite mxE (negbTE kj) andbF mul0r.
Qed.

Let psdE B : Euclidean.psd B <-> forall i, frob_dot (normal i) B <= 0.
Proof.
split=> [[sB B0] [[i j]|u] /=|H].
- rewrite frob_dotDl frob_dotNl !dot_delta_mx subr_le0 -[in X in _ <= X]sB mxE.
  exact: lexx.
- by rewrite frob_dotNl frob_dotC frob_dot_outer oppr_le0; exact: B0.
split=> [|u].
  apply/matrixP => i j; rewrite mxE; apply/eqP; rewrite eq_le.
  have := H (inl (j, i)); have := H (inl (i, j)); rewrite /= !frob_dotDl !frob_dotNl !dot_delta_mx.
  by rewrite !subr_le0 => -> ->.
by have := H (inr u); rewrite /= frob_dotNl frob_dotC frob_dot_outer oppr_le0.
Qed.

Lemma psd_half_spaces : half_spaces (@Euclidean.psd R d).
Proof. by exists ('I_d * 'I_d + 'cV[R]_d)%type, normal, (fun=> 0); exact: psdE. Qed.

Lemma psd_trace_half_spaces : half_spaces (@psd_trace_ball R d).
Proof.
exists (option ('I_d * 'I_d + 'cV[R]_d)%type), (fun i => if i is Some j then normal j else 1%:M),
  (fun i => if i is Some _ then 0 else 1) => B.
have tr1 : frob_dot 1%:M B = \tr B by rewrite /frob_dot trmx1 mul1mx.
split=> [[Bpsd tB] [j|]|H]; [by move/psdE: Bpsd; apply|by rewrite tr1|].
by split; [apply/psdE => j; exact: (H (Some j))|rewrite -tr1; exact: (H None)].
Qed.

Let zero_psd : @Euclidean.psd R d 0.
Proof.
split=> [|u]; first by rewrite /Euclidean.symmetric trmx0.
by rewrite /Euclidean.form mul0mx Euclidean.dot0r.
Qed.

(* The maps to the nearest positive semidefinite matrix, and to that of trace at most one. *)
Definition nearest_psd := nearest_point (@Euclidean.psd R d).
Definition nearest_psd_trace := nearest_point (@psd_trace_ball R d).

Lemma nearest_psdP (A : 'M[R]_d) : projection (@Euclidean.psd R d) A (nearest_psd A).
Proof. by apply: nearest_pointP; [exact: psd_half_spaces|exists 0]. Qed.

Lemma nearest_psd_traceP (A : 'M[R]_d) : projection (@psd_trace_ball R d) A (nearest_psd_trace A).
Proof.
apply: nearest_pointP; first exact: psd_trace_half_spaces.
by exists 0; split; rewrite ?mxtrace0 ?ler01.
Qed.

End Psd.
