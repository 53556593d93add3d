(******************************************************************************)
(* The matrix D = x x^T - y y^T: what replacing one record y by another, x,   *)
(* adds to the sum of all record * record^T.                                  *)
(*                                                                            *)
(* With s = <x,x>, t = <y,y>, c = <x,y> and for every dimension d:            *)
(*   the characteristic polynomial is X^(d-2) (X^2 - (s - t) X - (st - c^2)), *)
(*   the eigenvalues are 0 (d - 2 times) and (s - t +- g)/2,                  *)
(*   the nuclear norm is g = |x - y| |x + y| = sqrt ((s + t)^2 - 4 c^2),      *)
(*   the squared Frobenius norm is s^2 + t^2 - 2 c^2,                         *)
(*   the operator norm is at most max (s, t), and the trace is s - t.         *)
(* The nuclear norm is that of MatrixNorms.v, the dual of the operator norm;  *)
(* its value does not rest on the eigenvalues. Nothing is assumed.            *)
(******************************************************************************)
From covassay Require Import MatrixTheory Euclidean MatrixNorms.
From mathcomp Require Import poly mxpoly.

Definition gap (R : comRingType) d (x y : 'cV[R]_d) : 'M[R]_d := x *m x^T - y *m y^T.

Lemma gap_polar (R : comRingType) d (x y : 'cV[R]_d) :
  (x - y) *m (x + y)^T + (x + y) *m (x - y)^T = gap x y *+ 2.
Proof.
rewrite /gap !linearD !linearN /= !(mulmxDl, mulmxDr, mulNmx, mulmxN).
move: (x *m x^T) (y *m y^T) (x *m y^T) (y *m x^T) => p q r r'.
by apply/matrixP=> i j; rewrite !mulr2n !mxE; ring.
Qed.

(* THE CHARACTERISTIC POLYNOMIAL *)

Section Sylvester.
Variables (R : comRingType) (n m : nat) (U : 'M[R]_(n, m)) (W : 'M[R]_(m, n)).

(* det (X - U W) and det (X - W U) differ by a power of X: both are the determinant of the *)
(* block matrix [[X, U], [W, 1]], up to that power *)
Lemma char_poly_mulmxC : 'X^m * char_poly (U *m W) = 'X^n * char_poly (W *m U).
Proof.
pose u := map_mx polyC U; pose w := map_mx polyC W.
have eU : char_poly_mx (U *m W) = 'X%:M - u *m w by rewrite /char_poly_mx map_mxM.
have eW : char_poly_mx (W *m U) = 'X%:M - w *m u by rewrite /char_poly_mx map_mxM.
pose M := block_mx ('X%:M : 'M_n) u w (1%:M : 'M_m).
have right : M *m block_mx 1%:M 0 (- w) 1%:M = block_mx (char_poly_mx (U *m W)) u 0 1%:M.
  by rewrite mulmx_block eU !mulmx1 !mulmx0 !add0r mul1mx mulmxN subrr.
have left : block_mx 1%:M 0 (- w) ('X%:M) *m M = block_mx 'X%:M u 0 (char_poly_mx (W *m U)).
  rewrite mulmx_block eW !mul1mx !mul0mx !addr0 !mulmx1 mulNmx scalar_mxC addNr.
  by rewrite mulNmx addrC.
have := congr1 determinant right; have := congr1 determinant left.
rewrite !det_mulmx !det_ublock !det_lblock !det1 !det_scalar !mul1r !mulr1.
by rewrite /char_poly => <- <-.
Qed.

End Sylvester.

(* the determinant of a matrix of four numbers *)
Lemma det_block1 (R : comRingType) (a b c e : R) :
  \det (block_mx (a%:M : 'M_1) b%:M c%:M (e%:M : 'M_1)) = a * e - b * c.
Proof.
pose l : 'I_(1 + 1) := lshift 1 ord0; pose r : 'I_(1 + 1) := rshift 1 ord0.
have det2 (A : 'M[R]_(1 + 1)) : \det A = A l l * A r r - A l r * A r l.
  rewrite (expand_det_row _ ord0) !big_ord_recl big_ord0 addr0 /cofactor !det_mx11 !mxE.
  have one (k : 'I_1) : lift ord0 k = r by apply/val_inj; rewrite (ord1 k).
  have zero (k : 'I_1) : lift r k = l by apply/val_inj; rewrite (ord1 k).
  rewrite !one !zero (_ : ord0 = l); last exact/val_inj.
  by rewrite expr0 mul1r expr1 mulN1r mulrN.
by rewrite det2 block_mxEul block_mxEur block_mxEdl block_mxEdr !mxE !eqxx !mulr1n.
Qed.

Section CharPoly.
Variables (R : comRingType) (d : nat) (x y : 'cV[R]_d).
Let s := dot x x.  Let t := dot y y.  Let c := dot x y.

(* multiplied by X^2, because d may be below 2 *)
(*@ RANKTWO-CHARPOLY *)
Theorem char_poly_gap :
  'X^2 * char_poly (gap x y) = 'X^d * ('X^2 - (s - t)%:P * 'X - (s * t - c ^+ 2)%:P).
Proof.
have -> : gap x y = row_mx x y *m col_mx x^T (- y^T) by rewrite mul_row_col mulmxN.
rewrite (char_poly_mulmxC (row_mx x y)); congr (_ * _).
have -> : col_mx x^T (- y^T) *m row_mx x y = block_mx s%:M c%:M (- c)%:M (- t)%:M.
  by rewrite mul_col_row !mulNmx !dotE (dotC y x) !raddfN.
have neg (a : {poly R}) : - a%:M = (- a)%:M :> 'M_1 by rewrite raddfN.
have add (a b : {poly R}) : a%:M + b%:M = (a + b)%:M :> 'M_1 by rewrite raddfD.
rewrite /char_poly /char_poly_mx map_block_mx !map_scalar_mx (scalar_mx_block 1 1).
rewrite opp_block_mx add_block_mx !neg !add0r !add det_block1 /=.
rewrite !(polyCN, polyCB, polyCM, polyC_exp).
by move: s%:P t%:P c%:P 'X => a b e X; ring.
Qed.

End CharPoly.

(* THE EIGENVALUES *)

(* monic polynomials with the same roots, counted with multiplicity *)
Lemma prod_XsubC_perm (F : fieldType) (rs ts : seq F) :
  \prod_(l <- rs) ('X - l%:P) = \prod_(l <- ts) ('X - l%:P) -> perm_eq rs ts.
Proof.
elim: rs ts => [|a rs IH] ts e.
  move: (congr1 (fun P : {poly F} => size P) e); rewrite !size_prod_XsubC => -[].
  by case: ts {e}.
have ain : a \in ts by rewrite -root_prod_XsubC -e root_prod_XsubC inE eqxx.
have pt := perm_to_rem ain; rewrite perm_sym (perm_trans pt) // perm_cons perm_sym.
apply: IH; move: e; rewrite (perm_big _ pt) !big_cons /= => /mulfI; apply.
by rewrite polyXsubC_eq0.
Qed.

Section Spectrum.
Variables (R : rcfType) (d : nat) (x y : 'cV[R]_d).
Let s := dot x x.  Let t := dot y y.  Let c := dot x y.

(* |x - y| |x + y| = sqrt ((s + t)^2 - 4 c^2) *)
Definition spread : R := norm (x - y) * norm (x + y).

Lemma sqr_spread : spread ^+ 2 = (s + t) ^+ 2 - 4%:R * c ^+ 2.
Proof. by rewrite exprMn !sqr_norm !dotL (dotC y x) -/s -/t -/c; ring. Qed.

Lemma spread_ge0 : 0 <= spread. Proof. by rewrite mulr_ge0 ?norm_ge0. Qed.

Lemma spreadE : spread = Num.sqrt ((s + t) ^+ 2 - 4%:R * c ^+ 2).
Proof. by rewrite -sqr_spread sqrtr_sqr ger0_norm ?spread_ge0. Qed.

Definition eigen_pos : R := (s - t + spread) / 2%:R.
Definition eigen_neg : R := (s - t - spread) / 2%:R.

(* |s - t| <= spread <= s + t *)
Lemma spread_ge : `|s - t| <= spread.
Proof.
rewrite spreadE -sqrtr_sqr ler_wsqrtr // -subr_ge0.
rewrite [X in 0 <= X](_ : _ = (s * t - c ^+ 2) * 4%:R); last by ring.
by rewrite mulr_ge0 ?ler0n // subr_ge0 dot_sqr_le.
Qed.

Lemma spread_le : spread <= s + t.
Proof.
rewrite spreadE -[X in _ <= X]ger0_norm ?addr_ge0 ?dot_ge0 // -sqrtr_sqr ler_wsqrtr //.
by rewrite ler_subl_addr ler_addl mulr_ge0 ?ler0n ?sqr_ge0.
Qed.

Lemma eigen_pos_ge0 : 0 <= eigen_pos.
Proof.
rewrite divr_ge0 ?ler0n // addrC -ler_subl_addr sub0r.
by case: (ler_normlP _ _ spread_ge).
Qed.

Lemma eigen_neg_le0 : eigen_neg <= 0.
Proof.
rewrite pmulr_lle0 ?invr_gt0 ?ltr0n // subr_le0.
by case: (ler_normlP _ _ spread_ge).
Qed.

(* the eigenvalues with multiplicity: d - 2 zeros and the two above *)
(*@ RANKTWO-SPECTRUM *)
Theorem spectrum_gap (rs : seq R) :
  char_poly (gap x y) = \prod_(l <- rs) ('X - l%:P) ->
  perm_eq ([:: 0; 0] ++ rs) (nseq d 0 ++ [:: eigen_pos; eigen_neg]).
Proof.
move=> e; apply: prod_XsubC_perm; rewrite !big_cat -e big_nseq subr0 iter_mulr_1 /=.
rewrite !big_cons !big_nil subr0 !mulr1 -expr2 char_poly_gap -/s -/t -/c; congr (_ * _).
have sum : eigen_pos + eigen_neg = s - t by rewrite /eigen_pos /eigen_neg; field.
have prod : eigen_pos * eigen_neg = - (s * t - c ^+ 2).
  have -> : eigen_pos * eigen_neg = ((s - t) ^+ 2 - spread ^+ 2) / 4%:R.
    by rewrite /eigen_pos /eigen_neg; field.
  by rewrite sqr_spread; field.
rewrite -sum -[s * t - _]opprK -prod !(rmorphD, rmorphN, rmorphM) /=.
by move: eigen_pos%:P eigen_neg%:P 'X => a b X; ring.
Qed.

(* so the eigenvalues have absolute sum |x - y| |x + y| *)
(*@ RANKTWO-TRACE-NORM *)
Theorem sum_abs_eigenvalues (rs : seq R) :
  char_poly (gap x y) = \prod_(l <- rs) ('X - l%:P) ->
  \sum_(l <- rs) `|l| = norm (x - y) * norm (x + y).
Proof.
move=> /spectrum_gap pe.
have -> : \sum_(l <- rs) `|l| = \sum_(l <- [:: 0; 0] ++ rs) `|l|.
  by rewrite !big_cons normr0 !add0r.
rewrite (perm_big _ pe) big_cat /=.
rewrite [X in X + _]big1_seq ?add0r; last by move=> l /andP[_ /nseqP[-> _]]; rewrite normr0.
rewrite !big_cons big_nil addr0 ger0_norm ?eigen_pos_ge0 // ler0_norm ?eigen_neg_le0 //.
by rewrite /eigen_pos /eigen_neg -/spread; field.
Qed.

(* the premise of the two theorems holds: for d >= 2 the polynomial does split *)
Lemma char_poly_gap_splits k : d = k.+2 ->
  char_poly (gap x y) = \prod_(l <- nseq k 0 ++ [:: eigen_pos; eigen_neg]) ('X - l%:P).
Proof.
move=> dk; have X2 : 'X^2 != 0 :> {poly R} by rewrite expf_neq0 ?polyX_eq0.
apply: (mulfI X2); rewrite char_poly_gap -/s -/t -/c.
have sum : eigen_pos + eigen_neg = s - t by rewrite /eigen_pos /eigen_neg; field.
have prod : eigen_pos * eigen_neg = - (s * t - c ^+ 2).
  have -> : eigen_pos * eigen_neg = ((s - t) ^+ 2 - spread ^+ 2) / 4%:R.
    by rewrite /eigen_pos /eigen_neg; field.
  by rewrite sqr_spread; field.
rewrite big_cat big_nseq subr0 iter_mulr_1 /= mulrA -exprD (_ : (2 + k)%N = d) //.
rewrite !big_cons big_nil mulr1 -sum -[s * t - _]opprK -prod !(rmorphD, rmorphN, rmorphM) /=.
by congr (_ * _); move: eigen_pos%:P eigen_neg%:P 'X => a b X; ring.
Qed.

(* THE OTHER NORMS *)

Lemma symmetric_gap : symmetric (gap x y).
Proof. by rewrite /symmetric linearB /= !symmetric_outer. Qed.

Lemma form_gap u : form (gap x y) u = dot x u ^+ 2 - dot y u ^+ 2.
Proof. by rewrite formB !form_outer. Qed.

Lemma trace_gap : \tr (gap x y) = s - t.
Proof. by rewrite linearB /= !(mxtrace_mulC _ _^T) !dotE !mxtrace_scalar !mulr1n. Qed.

Lemma gap_mulmx u : gap x y *m u = dot x u *: x - dot y u *: y.
Proof. by rewrite mulmxBl !outer_mulmx. Qed.

Lemma frob_dot_gap M : frob_dot M (gap x y) = dot x (M *m x) - dot y (M *m y).
Proof. by rewrite frob_dotDr frob_dotNr !frob_dot_outer. Qed.

(* |D|_F^2 = s^2 + t^2 - 2 c^2 *)
(*@ RANKTWO-FROBENIUS *)
Theorem frob_gap : frob_dot (gap x y) (gap x y) = s ^+ 2 + t ^+ 2 - 2%:R * c ^+ 2.
Proof.
rewrite frob_dot_gap !gap_mulmx !dotL (dotC y x) -/s -/t -/c.
by ring.
Qed.

(* |D u| <= max (s, t) |u| *)
(*@ RANKTWO-OPERATOR *)
Theorem op_le_gap : op_le (gap x y) (Num.max s t).
Proof.
apply: sym_op_le => [|u]; first exact: symmetric_gap.
rewrite form_gap.
have le (v : 'cV[R]_d) : dot v v <= Num.max s t -> dot v u ^+ 2 <= Num.max s t * dot u u.
  by move=> h; apply: le_trans (dot_sqr_le _ _) _; rewrite ler_wpmul2r ?dot_ge0.
have lx : dot x u ^+ 2 <= Num.max s t * dot u u by apply: le; rewrite le_maxr lexx.
have ly : dot y u ^+ 2 <= Num.max s t * dot u u by apply: le; rewrite le_maxr lexx orbT.
rewrite ler_norml ler_subl_addr ler_oppl opprB ler_subl_addr.
apply/andP; split.
  by apply: le_trans ly _; rewrite ler_addl sqr_ge0.
by apply: le_trans lx _; rewrite ler_addl sqr_ge0.
Qed.

End Spectrum.

(* THE NUCLEAR NORM *)

Section Nuclear.
Variables (R : rcfType) (d : nat) (x y : 'cV[R]_d).
Let a := x - y.  Let b := x + y.

(* 2 <M, D> = <a, M b> + <b, M a> *)
Lemma frob_dot_gap_polar (M : 'M[R]_d) :
  frob_dot M (gap x y) *+ 2 = dot a (M *m b) + dot b (M *m a).
Proof. by rewrite -mulr_natl -frob_dotZr scaler_nat -gap_polar frob_dotDr !frob_dot_outer. Qed.

(* a contraction gains at most |a| |b| on each of the two terms *)
Lemma frob_dot_gap_le (M : 'M[R]_d) : contraction M -> frob_dot M (gap x y) <= norm a * norm b.
Proof.
move=> cM; rewrite -(ler_pmuln2r (isT : (0 < 2)%N)) frob_dot_gap_polar mulr2n.
apply: ler_add; apply: le_trans (dot_le _ _) _; last rewrite mulrC.
  by rewrite ler_wpmul2l ?norm_ge0 ?contractionP.
by rewrite ler_wpmul2r ?norm_ge0 ?contractionP.
Qed.

(* the reflection that swaps the directions of a and b gains exactly that *)
Lemma frob_dot_gap_attained :
  exists2 H : 'M[R]_d, contraction H & frob_dot H (gap x y) = norm a * norm b.
Proof.
pose u := norm b *: a; pose v := norm a *: b.
have uv : dot u u = dot v v by rewrite !(dotZl, dotZr) -!sqr_norm; ring.
pose H := reflection (u - v).
have Hu : H *m u = v by apply: reflection_swap.
have Hv : H *m v = u by rewrite -Hu mulmxA reflectionK mul1mx.
exists H; first exact/contraction_orthogonal/reflection_orthogonal.
apply/eqP; rewrite -(eqr_pmuln2r (isT : (0 < 2)%N)) frob_dot_gap_polar.
have -> : dot b (H *m a) = dot a (H *m b).
  by rewrite dotC dot_mulmxl reflection_sym.
suff -> : dot a (H *m b) = norm a * norm b by rewrite mulr2n.
have [ab0|ab0] := eqVneq (norm a * norm b) 0.
  rewrite ab0; move/eqP: ab0; rewrite mulf_eq0 !norm_eq0 => /orP[]/eqP ->.
    by rewrite dot0l.
  by rewrite mulmx0 dot0r.
apply: (mulfI ab0); transitivity (dot u (H *m v)).
  by rewrite /u /v -scalemxAr dotZl dotZr mulrA (mulrC (norm b)).
by rewrite Hv /u !(dotZl, dotZr) -!sqr_norm; ring.
Qed.

End Nuclear.

(* |D|_* = |x - y| |x + y| *)
(*@ RANKTWO-NUCLEAR *)
Theorem nuclear_norm_gap (R : realType) d (x y : 'cV[R]_d) :
  nuclear_norm (gap x y) = norm (x - y) * norm (x + y).
Proof.
have [H cH He] := frob_dot_gap_attained x y.
by apply: nuclear_norm_max cH He _ => N; apply: frob_dot_gap_le.
Qed.

(* a value: with y = 0, the matrix x x^T has nuclear norm |x|^2 *)
Lemma nuclear_norm_outer (R : realType) d (x : 'cV[R]_d) : nuclear_norm (x *m x^T) = dot x x.
Proof.
have := nuclear_norm_gap x 0.
by rewrite /gap mul0mx !subr0 addr0 -expr2 sqr_norm.
Qed.
