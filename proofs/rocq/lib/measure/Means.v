(* Functions f >= 0 with a finite expectation v, for any measure: `mean f v`.  Sums, multiples
   and constants have the expectations that one expects, a larger function has a larger one, and
   what lies below a function with a finite expectation has one.  So inequalities between
   functions become inequalities between numbers.  Nothing is assumed. *)
From covassay Require Import MeasureTheory MeasurableFunctions Expectation.

Section Means.
Context dd (T : measurableType dd) (R : realType) (P : {measure set T -> \bar R}).
Implicit Types (f g : T -> R) (u v c : R).

(* f >= 0 has the expectation v *)
Definition mean f v : Prop :=
  [/\ forall x, 0 <= f x, measurable_fun setT f & Expectation.expect P f = v%:E].

Lemma meanD f g u v : mean f u -> mean g v -> mean (fun x => f x + g x) (u + v).
Proof.
move=> [f0 mf Ef] [g0 mg Eg]; split=> [x||]; first exact: addr_ge0.
  exact: measurable_funD.
by rewrite expectD // Ef Eg.
Qed.

Lemma meanZ c f v : 0 <= c -> mean f v -> mean (fun x => c * f x) (c * v).
Proof.
move=> c0 [f0 mf Ef]; split=> [x||]; first exact: mulr_ge0.
  exact: measurable_funrM.
by rewrite expectZ // Ef.
Qed.

Lemma mean_cst c : P setT = 1%E -> 0 <= c -> mean (fun=> c) c.
Proof.
move=> P1 c0; split=> //; first exact: measurable_fun_cst.
by rewrite /Expectation.expect integral_cst // [in LHS]P1 mule1.
Qed.

Lemma mean_sum n (f : 'I_n -> T -> R) (v : 'I_n -> R) :
  (forall i, mean (f i) (v i)) -> mean (fun x => \sum_i f i x) (\sum_i v i).
Proof.
move=> M; have f0 i x : 0 <= f i x by case: (M i).
have mf i : measurable_fun setT (f i) by case: (M i).
split=> [x||]; first exact: sumr_ge0.
  exact: measurable_sum.
rewrite /Expectation.expect; under eq_integral do rewrite -sumEFin.
rewrite ge0_integral_sum //.
- by rewrite -sumEFin; apply: eq_bigr => i _; case: (M i).
- by move=> i; apply/EFin_measurable_fun.
- by move=> i x _; rewrite lee_fin.
Qed.

Lemma mean_le f g u v : mean f u -> mean g v -> (forall x, f x <= g x) -> u <= v.
Proof.
by move=> [f0 mf Ef] [g0 mg Eg] fg; have := expect_le P f0 fg mf mg; rewrite Ef Eg lee_fin.
Qed.

Lemma mean_exists f g v : mean g v -> measurable_fun setT f -> (forall x, 0 <= f x) ->
  (forall x, f x <= g x) -> exists u, mean f u.
Proof.
move=> [g0 mg Eg] mf f0 fg; have le := expect_le P f0 fg mf mg; rewrite Eg in le.
have pos : (0 <= Expectation.expect P f)%E by apply: integral_ge0 => x _; rewrite lee_fin.
exists (fine (Expectation.expect P f)); split=> //; rewrite fineK // ge0_fin_numE //.
exact: le_lt_trans le (ltry _).
Qed.
End Means.
