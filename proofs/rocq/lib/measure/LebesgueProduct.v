(* Tonelli: the integral of a product of nonnegative functions, one of each entry, is the
   product of their integrals over the line.

   Rows: by induction on the length, with the product of the line and shorter rows as the
   measure on rows. Matrices: as rows of their entries. It is stated for functions whose
   integrals are finite, which are given by their values I. Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions Lebesgue LebesgueBox.
Local Open Scope ereal_scope.

Section ProductIntegral.
Variable R : realType.

(* the product is measurable, and its integral is the product of the integrals *)
Lemma integral_row_prod k (u : 'I_k -> R -> R) (I : 'I_k -> R) :
  (forall j, measurable_fun setT (u j)) -> (forall j t, (0 <= u j t)%R) ->
  (forall j, \int[@leb R]_t (u j t)%:E = (I j)%:E) ->
  measurable_fun setT (fun x : 'rV[R]_k => \prod_j u j (x ord0 j))%R /\
  \int[leb_row R k]_x (\prod_j u j (x ord0 j))%:E = (\prod_j I j)%:E.
Proof.
elim: k u I => [|k IH] u I mu u0 uI.
  have E (x : 'rV[R]_0) : (\prod_j u j (x ord0 j) = 1)%R by rewrite big_ord0.
  rewrite (eq_integral (cst 1%E)); last by move=> x _; rewrite E.
  rewrite integral_cst //= /dirac indicE in_setT mul1e big_ord0; split => //.
  by under eq_fun do rewrite E; exact: measurable_fun_cst.
pose u' (j : 'I_k) := u (lift ord0 j).
have [mprod IHk] := IH u' (fun j => I (lift ord0 j))
  (fun j => mu _) (fun j => u0 _) (fun j => uI _).
pose f (x : 'rV[R]_k.+1) := (\prod_j u j (x ord0 j))%R.
have fE xv : f (cons_row xv) = (u ord0 xv.1 * \prod_j u' j (xv.2 ord0 j))%R.
  by rewrite /f big_ord_recl cons_row0; congr (_ * _)%R; apply: eq_bigr => j _; rewrite cons_rowS.
have mf : measurable_fun setT f.
  rewrite (_ : f = (fun x : 'rV[R]_k.+1 => u ord0 (x ord0 ord0) *
      \prod_j u' j ((\row_j x ord0 (lift ord0 j) : 'rV[R]_k) ord0 j)))%R; last first.
    apply/funext => x; rewrite /f big_ord_recl; congr (_ * _)%R.
    by apply: eq_bigr => j _; rewrite mxE.
  apply: measurable_funM.
    by apply: (measurable_fun_comp (mu ord0)); exact: measurable_entry.
  apply: (measurable_fun_comp mprod); apply: measurable_fun_matrix => i j.
  under eq_fun do rewrite mxE.
  exact: measurable_entry.
split=> //.
have f0 x : 0 <= (f x)%:E by rewrite lee_fin prodr_ge0.
rewrite integral_pushforward //; last exact/EFin_measurable_fun.
pose mu1 := [the measure _ _ of product_measure1 [the measure _ _ of @leb R]
  (@leb_row_sigma_finite R k)].
rewrite (eq_measure_integral mu1); last first.
  move=> A mA _; apply/esym/(product_measure_unique (@leb_sigma_finite R)) => //.
  by move=> A1 A2 mA1 mA2 /=; rewrite product_measure2E.
rewrite (eq_integral (fun xv : R * 'rV[R]_k =>
  (u ord0 xv.1 * \prod_j u' j (xv.2 ord0 j))%:E)); last first.
  by move=> xv _; rewrite /= -fE.
rewrite (integral_product [the measure _ _ of @leb R] (@leb_row_sigma_finite R k)
  (u := u ord0) (v := fun v : 'rV[R]_k => \prod_j u' j (v ord0 j))%R) //.
- by rewrite IHk uI -EFinM big_ord_recl.
- by move=> v; apply: prodr_ge0 => j _; exact: u0.
Qed.

Lemma measurable_matrix_prod m n (u : 'I_m -> 'I_n -> R -> R) :
  (forall i j, measurable_fun setT (u i j)) ->
  measurable_fun setT (fun x : 'M[R]_(m, n) => \prod_i \prod_j u i j (x i j))%R.
Proof.
move=> mu; apply: measurable_prod => i; apply: measurable_prod => j.
by apply: (measurable_fun_comp (mu i j)); exact: measurable_entry.
Qed.

(* The entries of a matrix, counted from 0 to m n - 1. *)
Lemma integral_matrix_prod m n (u : 'I_m -> 'I_n -> R -> R) (I : 'I_m -> 'I_n -> R) :
  (forall i j, measurable_fun setT (u i j)) -> (forall i j t, (0 <= u i j t)%R) ->
  (forall i j, \int[@leb R]_t (u i j t)%:E = (I i j)%:E) ->
  \int[@leb_matrix R m n]_x (\prod_i \prod_j u i j (x i j))%:E
  = (\prod_i \prod_j I i j)%:E.
Proof.
move=> mu u0 uI.
pose row_fun (T : Type) (v : 'I_m -> 'I_n -> T) (k : 'I_(m * n)) :=
  let ij := enum_val (cast_ord (esym (mxvec_cast m n)) k) in v ij.1 ij.2.
have row_funE (T : Type) (v : 'I_m -> 'I_n -> T) i j : row_fun T v (mxvec_index i j) = v i j.
  by rewrite /row_fun /mxvec_index cast_ordK enum_rankK.
have prodE (F : 'I_(m * n) -> R) : \prod_k F k = \prod_i \prod_j F (mxvec_index i j) :> R.
  rewrite (reindex _ (curry_mxvec_bij m n)) /= pair_bigA /=.
  by apply: eq_bigr => -[i j] _.
have [mf E] := integral_row_prod (u := row_fun _ u) (I := row_fun _ I)
  (fun k => mu _ _) (fun k => u0 _ _) (fun k => uI _ _).
have -> : \prod_i \prod_j I i j = \prod_k row_fun _ I k :> R.
  by rewrite prodE; apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite row_funE.
rewrite -E.
pose f (x : 'M[R]_(m, n)) := (\prod_i \prod_j u i j (x i j))%R.
have mfx : measurable_fun setT f.
  rewrite (_ : f = (fun x => \prod_k row_fun _ u k (mxvec x ord0 k))%R); last first.
    apply/funext => x; rewrite prodE; apply: eq_bigr => i _; apply: eq_bigr => j _.
    by rewrite row_funE mxvecE.
  apply: (measurable_fun_comp mf); apply: measurable_fun_matrix => i k.
  case/mxvec_indexP: k => k l; rewrite (ord1 i).
  under eq_fun do rewrite mxvecE.
  exact: measurable_entry.
rewrite (_ : \int[_]_x _ =
  \int[pushforward (leb_row R (m * n)) (@measurable_vec_mx R m n)]_x (f x)%:E) //.
rewrite integral_pushforward //; last 2 first.
- exact/EFin_measurable_fun.
- by move=> x; rewrite lee_fin prodr_ge0 // => i _; rewrite prodr_ge0.
apply: eq_integral => x _ /=; congr (_%:E); rewrite prodE.
by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite row_funE mxE.
Qed.

End ProductIntegral.
