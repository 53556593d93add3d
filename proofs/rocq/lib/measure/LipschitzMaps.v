(* A map between matrices that multiplies Euclidean distances by at most a constant is
   measurable.

   Each entry of the image moves by at most the constant times the distance in l1, because
   the Frobenius norm lies between the largest entry and the sum of all; so each entry is
   continuous, hence measurable. The projection on a convex set (constant 1) and functions
   of the eigenvalues are such maps. Nothing is assumed. *)
From covassay Require Import MeasureTheory Lebesgue LebesgueOpen Norms.
From covassay Require MatrixNorms.
Import numFieldNormedType.Exports.

(* the distance to a point, in any norm *)
Lemma distance_continuous (R : realType) m n (E : Norms.norm R m n) (a : 'M[R]_(m, n)) :
  continuous (fun x => E (a - x)).
Proof.
move=> x U /(@norm_continuous _ _ _ E (a - x)) /nbhs_ballP [e e0 h].
apply/nbhs_ballP; exists e => // y xy; apply: h => i j.
rewrite /ball /= !mxE; have -> : a i j - x i j - (a i j - y i j) = - (x i j - y i j) by ring.
by rewrite normrN; exact: xy.
Qed.

(* the square root of the sum of the squares is at most the sum of the absolute values *)
Lemma frob_dot_le_l1 (R : realType) m n (A : 'M[R]_(m, n)) :
  MatrixNorms.frob_dot A A <= l1 A ^+ 2.
Proof.
rewrite MatrixNorms.frob_dotE exchange_big expr2 /l1 mulr_suml ler_sum // => i _.
rewrite mulr_suml ler_sum // => j _; rewrite -expr2 -real_normK ?num_real // expr2.
by rewrite ler_wpmul2l // l1_ge_entry.
Qed.

Section Lipschitz.
Variables (R : realType) (m n k l : nat) (f : 'M[R]_(m, n) -> 'M[R]_(k, l)) (c : R).
Hypothesis c_gt0 : 0 < c.
Hypothesis lipschitz : forall A B, MatrixNorms.frob_dot (f A - f B) (f A - f B)
  <= c ^+ 2 * MatrixNorms.frob_dot (A - B) (A - B).

Let entry_le A B i j : `|f A i j - f B i j| <= c * l1 (A - B).
Proof.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?l1_ge0 ?(ltW c_gt0) // exprMn.
apply: le_trans (ler_wpmul2l (sqr_ge0 c) (frob_dot_le_l1 _)).
apply: le_trans (lipschitz A B).
rewrite real_normK ?num_real // MatrixNorms.frob_dotE (bigD1 j) //= (bigD1 i) //= !mxE -expr2 -addrA.
rewrite ler_addl addr_ge0 ?sumr_ge0 // => [p _|p _]; first by rewrite -expr2 sqr_ge0.
by rewrite sumr_ge0 // => q _; rewrite -expr2 sqr_ge0.
Qed.

Lemma lipschitz_measurable : measurable_fun setT f.
Proof.
apply: measurable_fun_matrix => i j; apply: continuous_measurable_matrix => A U.
move=> /nbhs_ballP [e /= e0 eU]; have l0 : l1 (A - A) = 0.
  by rewrite subrr; exact: (norm0 (l1_norm R m n)).
have ec : 0 < e / c by rewrite divr_gt0.
have near_A : nbhs A [set B | ball (l1 (A - A)) (e / c) (l1 (A - B))].
  exact: (@distance_continuous _ _ _ (l1_norm R m n) A A _
    (nbhsx_ballx (l1 (A - A)) (PosNum ec))).
suff : nbhs A [set B | U (f B i j)] by [].
apply: filterS near_A => B; rewrite /= /ball /= l0 sub0r normrN ger0_norm ?l1_ge0 // => AB.
by apply: eU; apply: le_lt_trans (entry_le A B i j) _; rewrite mulrC -ltr_pdivl_mulr.
Qed.

End Lipschitz.
