(* How far one row moves the eigenvalues, one by one, in l1 and in l2.

   Adding x x^T to a symmetric matrix raises every eigenvalue, in total by |x|^2.  So two
   matrices G + x x^T and G + y y^T, with |x|^2 and |y|^2 at most b, have eigenvalues that differ
   by at most b each, by at most 2b in l1, and by at most b sqrt 2 in l2.

   Nothing is assumed. *)
From covassay Require Import MeasureTheory EigenvalueSensitivity SpectralMaps.
From covassay Require Euclidean Sensitivity.

Section Rise.
Variables (R : realType) (d : nat) (G : 'M[R]_d) (b : R).
Hypothesis G_sym : G^T = G.
Implicit Types x y : 'cV[R]_d.

Definition raised x : 'M[R]_d := G + x *m x^T.
Definition rise x i : R := eigenvalues (raised x) 0 i - eigenvalues G 0 i.

Let raised_sym x : (raised x)^T = raised x.
Proof. by rewrite /raised linearD /= G_sym Euclidean.symmetric_outer. Qed.

Let G_spectral : spectral G (eigenvectors G) (eigenvalues G).
Proof. by have := eighP G; rewrite sym_part_id. Qed.

Let raised_spectral x : spectral (raised x) (eigenvectors (raised x)) (eigenvalues (raised x)).
Proof. by have := eighP (raised x); rewrite (sym_part_id (raised_sym x)). Qed.

Lemma rise_ge0 x i : 0 <= rise x i.
Proof.
rewrite subr_ge0; apply: (weyl_monotone G_spectral (raised_spectral x)) => u.
by rewrite Euclidean.formD ler_addl Euclidean.form_outer sqr_ge0.
Qed.

Lemma rise_sum x : \sum_i rise x i = Euclidean.dot x x.
Proof.
rewrite -(eigenvalue_rise G_spectral (raised_spectral x) erefl).
by apply: eq_bigr => i _; rewrite ger0_norm // rise_ge0.
Qed.

Variables (x y : 'cV[R]_d).
Hypotheses (x_le : Euclidean.dot x x <= b) (y_le : Euclidean.dot y y <= b).

Lemma rise_le z i : Euclidean.dot z z <= b -> rise z i <= b.
Proof.
move=> zb; apply: le_trans zb; rewrite -rise_sum (bigD1 i) //= ler_addl.
by apply: sumr_ge0 => j _; exact: rise_ge0.
Qed.

Lemma change_rise i :
  eigenvalues (raised x) 0 i - eigenvalues (raised y) 0 i = rise x i - rise y i.
Proof. by rewrite /rise opprB addrA subrK. Qed.

Lemma eigenvalue_change_each i :
  `|eigenvalues (raised x) 0 i - eigenvalues (raised y) 0 i| <= b.
Proof.
rewrite change_rise; have := rise_le i x_le; have := rise_le i y_le.
have := rise_ge0 x i; have := rise_ge0 y i; move: (rise x i) (rise y i) => s t t0 s0 tb sb.
rewrite ler_norml; apply/andP; split; last by rewrite ler_subl_addr (le_trans sb) // ler_addl.
by rewrite ler_oppl opprB ler_subl_addr (le_trans tb) // ler_addl.
Qed.

Lemma eigenvalue_change_l1 :
  \sum_i `|eigenvalues (raised x) 0 i - eigenvalues (raised y) 0 i| <= 2%:R * b.
Proof.
apply: (@le_trans _ _ (\sum_i (rise x i + rise y i))).
  apply: ler_sum => i _; rewrite change_rise; apply: le_trans (ler_norm_sub _ _) _.
  by rewrite !ger0_norm ?rise_ge0.
by rewrite big_split /= !rise_sum mulr_natl mulr2n ler_add.
Qed.

Lemma eigenvalue_change_l2 :
  \sum_i (eigenvalues (raised x) 0 i - eigenvalues (raised y) 0 i) ^+ 2 <= 2%:R * b ^+ 2.
Proof.
have sq z : Euclidean.dot z z <= b -> \sum_i rise z i ^+ 2 <= b ^+ 2.
  move=> zb; have b0 : 0 <= b by apply: le_trans zb; exact: Euclidean.dot_ge0.
  apply: (@le_trans _ _ (\sum_i b * rise z i)).
    by apply: ler_sum => i _; rewrite expr2 ler_wpmul2r ?rise_ge0 // rise_le.
  by rewrite -mulr_sumr rise_sum expr2 ler_wpmul2l.
apply: (@le_trans _ _ (\sum_i (rise x i ^+ 2 + rise y i ^+ 2))).
  apply: ler_sum => i _; rewrite change_rise.
  have := rise_ge0 x i; have := rise_ge0 y i; move: (rise x i) (rise y i) => s t t0 s0.
  rewrite -subr_ge0 [X in 0 <= X](_ : _ = 2%:R * (s * t)); last by ring.
  by rewrite !mulr_ge0 ?ler0n.
by rewrite big_split /= mulr_natl mulr2n ler_add ?sq.
Qed.

End Rise.
