(* What row operations do to the density e^-N(Z) of nuclear-Laplace noise, N the nuclear norm.

   E_kl is the matrix with a single one, in row k and column l.  Let s be the singular values of
   Z, m = d - 1, Q = sum s_i^2 and H = 2 sum_(i<j) s_i s_j/(s_i + s_j).  For small h >= 0,

      sum_kl (e^(N(Z) - N(Z + h E_kl Z)) + e^(N(Z) - N(Z - h E_kl Z)))
         = 2 d^2 + h^2 (Q + H - m N(Z)),   up to C h^3 e^(3 N(Z)/4),

   where C, and how small h must be, depend on d only.  With Z = U diag(s) V^T the norm of
   Z + h E_kl Z is the norm of diag(s) + h A diag(s) with A = U^T E_kl U.  NuclearExpansion.v
   expands it, for A and for -A, ExponentialPairs.v expands the exponential of it, and RowSums.v
   has the sums over k and l.  Nothing is assumed. *)
From covassay Require Import MeasureTheory PairSums TailIdentity ExponentialPairs.
From covassay Require Import Euclidean MatrixNorms SingularValues MatrixEntries.
From covassay Require Import NuclearBelow NuclearExpansion RowSums.

Section Pointwise.
Variables (R : realType) (d : nat).
Implicit Types (z : 'M[R]_d) (h : R) (k l : 'I_d).

Definition row_operation k l h z := z + h *: (delta_mx k l *m z).
Definition gain k l h z : R := expR (nuclear_norm z - nuclear_norm (row_operation k l h z)).

(* over all k and l, for h and - h *)
Definition gains h z : R := \sum_k \sum_l (gain k l h z + gain k l (- h) z).

Lemma row_operation_norm z : exists2 U, orthogonal_mx U & forall k l h,
  nuclear_norm (row_operation k l h z)
  = nuclear_norm (diag_mx (\row_i singular_values z i)
                  + h *: (turned U k l *m diag_mx (\row_i singular_values z i))).
Proof.
have [U [V [oU oV s0 zE]]] := svd_exists z; exists U => // k l h.
rewrite -[RHS](nuclear_orthogonal _ oU oV); congr nuclear_norm.
have rowE : \row_i singular_values z i = singular_row z by apply/rowP => i; rewrite mxE.
rewrite rowE /row_operation; move: (diag_mx _) zE => S ->.
rewrite mulmxDr mulmxDl -scalemxAr -scalemxAl /turned; congr (_ + _ *: _).
by rewrite !mulmxA (orthogonal_mxT oU) mul1mx.
Qed.

Let first_orderN (s : 'I_d -> R) A : first_order s (- A) = - first_order s A.
Proof. by rewrite /first_order -sumrN; apply: eq_bigr => i _; rewrite mxE mulNr. Qed.

Let second_orderN (s : 'I_d -> R) A : second_order s (- A) = second_order s A.
Proof.
congr (_ / _); apply: eq_bigr => i _; apply: eq_bigr => j _.
by rewrite !mxE !mulNr -opprD sqrrN.
Qed.

(* how large u is, and how far from the terms of its expansion *)
Let sizes (c e r f g h u : R) (q := c + e + 1) : 0 <= h -> h <= 1 -> 0 <= r -> 0 <= c -> 0 <= e ->
  `|f| <= r -> `|g| <= e * r -> `|u - (h * f + h ^+ 2 * g)| <= h ^+ 3 * (c * r) ->
  [/\ `|u| <= h * (q * r), `|u - h * f| <= h ^+ 2 * (q * r) &
      `|u - (h * f + h ^+ 2 * g)| <= h ^+ 3 * (q * r)].
Proof.
move=> h0 h1 r0 c0 e0 fr gr le; have cr : 0 <= c * r by rewrite mulr_ge0.
have er : 0 <= e * r by rewrite mulr_ge0.
have h21 : h ^+ 2 <= h by rewrite expr2 ler_pimulr.
have h32 : h ^+ 3 <= h ^+ 2 by rewrite exprS ler_pimull ?exprn_ge0.
have mid : `|u - h * f| <= h ^+ 2 * ((c + e) * r).
  rewrite (_ : u - h * f = (u - (h * f + h ^+ 2 * g)) + h ^+ 2 * g); last by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite [(c + e) * r]mulrDl mulrDr; apply: ler_add.
    by apply: le_trans le _; rewrite ler_wpmul2r.
  by rewrite normrM ger0_norm ?exprn_ge0 // ler_wpmul2l ?exprn_ge0.
have qr : (c + e) * r <= q * r by rewrite ler_wpmul2r // ler_addl ler01.
split.
- rewrite (_ : u = (u - h * f) + h * f); last by ring.
  apply: le_trans (ler_norm_add _ _) _; rewrite /q [(_ + 1) * r]mulrDl mul1r mulrDr; apply: ler_add.
    by apply: le_trans mid _; rewrite ler_wpmul2r // mulr_ge0 // addr_ge0.
  by rewrite normrM ger0_norm // ler_wpmul2l.
- by apply: le_trans mid _; rewrite ler_wpmul2l ?exprn_ge0.
apply: le_trans le _; rewrite ler_wpmul2l ?exprn_ge0 //; apply: le_trans qr.
by rewrite ler_wpmul2r // ler_addl.
Qed.

Theorem row_operations : exists q K : R, [/\ 1 <= q, 0 <= K & forall z h, 0 <= h -> h * q <= 1 / 2%:R ->
  `|gains h z - (2%:R * d%:R ^+ 2 + h ^+ 2 * (square_sum (singular_values z) + harmonic_sum (singular_values z)
                                   - (d.-1)%:R * nuclear_norm z))|
  <= h ^+ 3 * (K * expR (3%:R / 4%:R * nuclear_norm z))].
Proof.
have [C expansion] := nuclear_expansion R d.
pose q := `|C| + d%:R + 1; have q1 : 1 <= q by rewrite ler_addr addr_ge0 ?ler0n.
exists q, (d%:R ^+ 2 * (5%:R * (12%:R * q) ^+ 3 *+ 2)); split => [//||z h h0 hq].
  by rewrite mulr_ge0 ?exprn_ge0 ?ler0n // mulrn_wge0 // mulr_ge0 ?exprn_ge0 ?mulr_ge0 ?ler0n // (le_trans ler01).
have [U oU normE] := row_operation_norm z.
set s := singular_values z in normE *; have s0 : forall i, 0 <= s i := singular_values_ge0 z.
have rE : \sum_i s i = nuclear_norm z.
  by have [U' [V' svdz]] := svd_exists z; rewrite (nuclear_norm_svd svdz).
have r0 : 0 <= nuclear_norm z by rewrite nuclear_norm_ge0.
have h1 : h <= 1.
  apply: le_trans (ler_pemulr h0 q1) _; apply: le_trans hq _.
  by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler1n.
have near k l : `|gain k l h z + gain k l (- h) z - (2%:R + h ^+ 2 *
    (first_order s (turned U k l) ^+ 2 - 2%:R * second_order s (turned U k l)))|
    <= h ^+ 3 * (bound q (nuclear_norm z) *+ 2).
  have A1 := turned_le1 oU k l; have nE := normE k l; set A := turned U k l in A1 nE *.
  have B1 : entries_le 1 (- A) by exact: entries_leN.
  have fr := first_order_le s0 A1; have gr := second_order_le s0 A1.
  have up := expansion s A h s0 A1 h0 h1; have down := expansion s (- A) h s0 B1 h0 h1.
  rewrite mulNmx scalerN -scaleNr first_orderN second_orderN in down.
  rewrite -nE rE in up; rewrite -nE rE in down.
  rewrite rE in fr gr.
  have Cr : h ^+ 3 * (C * nuclear_norm z) <= h ^+ 3 * (`|C| * nuclear_norm z).
    by rewrite ler_wpmul2l ?exprn_ge0 // ler_wpmul2r // ler_norm.
  have e0 : 0 <= d%:R :> R by exact: ler0n.
  have gainE b : gain k l b z = expR (- (nuclear_norm (row_operation k l b z) - nuclear_norm z)) by rewrite opprB.
  rewrite !gainE; move: (nuclear_norm (row_operation k l h z)) up => N1 up.
  move: (nuclear_norm (row_operation k l (- h) z)) down => N2 down.
  move: (nuclear_norm z) (first_order s A) (second_order s A) r0 fr gr Cr up down => r f g r0 fr gr Cr up down.
  have c0 := normr_ge0 C.
  have [u1 u2 u3] : [/\ `|N1 - r| <= h * (q * r), `|N1 - r - h * f| <= h ^+ 2 * (q * r) &
      `|N1 - r - (h * f + h ^+ 2 * g)| <= h ^+ 3 * (q * r)].
    by apply: sizes => //; apply: le_trans Cr; rewrite -addrA -opprD addrA.
  have [v1 v2 v3] : [/\ `|N2 - r| <= h * (q * r), `|N2 - r - h * - f| <= h ^+ 2 * (q * r) &
      `|N2 - r - (h * - f + h ^+ 2 * g)| <= h ^+ 3 * (q * r)].
    by apply: sizes => //; rewrite ?normrN //; apply: le_trans Cr; rewrite -addrA -opprD addrA.
  apply: exp_pair => //; rewrite ?mulrN ?opprK // in v2 v3 *.
    by apply: le_trans fr _; rewrite ler_pemull.
  by rewrite [h ^+ 2 * g - _]addrC.
have mainE : 2%:R * d%:R ^+ 2 + h ^+ 2 * (square_sum s + harmonic_sum s - (d.-1)%:R * nuclear_norm z)
    = \sum_k \sum_l (2%:R + h ^+ 2 *
      (first_order s (turned U k l) ^+ 2 - 2%:R * second_order s (turned U k l))).
  under [RHS]eq_bigr do rewrite big_split sumr_const card_ord -mulr_sumr sumrB -mulr_sumr.
  rewrite big_split sumr_const card_ord -mulr_sumr sumrB -mulr_sumr /=.
  rewrite (first_order_sum s oU) (second_order_sum oU s0) /total rE; congr (_ + _ * _); last by ring.
  by rewrite -mulrnA -[RHS]mulr_natr natrM expr2.
rewrite /gains mainE -sumrB; under eq_bigr do rewrite -sumrB.
apply: le_trans (ler_norm_sum _ _ _) _.
have -> : h ^+ 3 * (d%:R ^+ 2 * (5%:R * (12%:R * q) ^+ 3 *+ 2) * expR (3%:R / 4%:R * nuclear_norm z))
    = d%:R * (d%:R * (h ^+ 3 * (bound q (nuclear_norm z) *+ 2))).
  by rewrite /bound; move: (expR _) (_ ^+ 3) (_ ^+ 3) => a b c; ring.
apply: sum_const_le => k; apply: le_trans (ler_norm_sum _ _ _) _.
by apply: sum_const_le => l; exact: near.
Qed.
End Pointwise.
