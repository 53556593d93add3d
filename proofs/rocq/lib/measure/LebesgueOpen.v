(* Open sets of matrices are events, and continuous functions of a matrix are measurable.

   An open set U is the union of those cells that lie in U, where a cell is the set of the
   matrices whose entries differ by less than 1/(k + 1) from rational numbers. Each cell is
   an event, and there are countably many: that is all. Nothing is assumed. *)
From covassay Require Import MeasureTheory Lebesgue.
From mathcomp Require Import rat.
Local Open Scope ereal_scope.

Section Open.
Variables (R : realType) (m n : nat).

Lemma open_measurable_matrix (U : set 'M[R]_(m, n)) : open U -> measurable U.
Proof.
move=> oU.
pose cell (q : 'M[rat]_(m, n)) (k : nat) : set 'M[R]_(m, n) :=
  [set x | forall i j, (`|ratr (q i j) - x i j| < k.+1%:R^-1)%R].
pose F (N : nat) : set 'M[R]_(m, n) :=
  if unpickle N is Some (q, k) then
    (if `[< cell q k `<=` U >] then cell q k else set0) else set0.
have mcell q k : measurable (cell q k).
  rewrite (_ : cell q k = \bigcap_(i : 'I_m) \bigcap_(j : 'I_n)
     [set x : 'M[R]_(m, n) |
       `](ratr (q i j) - k.+1%:R^-1)%R, (ratr (q i j) + k.+1%:R^-1)%R[%classic (x i j)]).
    apply: fin_bigcap_measurable => // i _; apply: fin_bigcap_measurable => // j _.
    rewrite -[X in measurable X]setTI; apply: measurable_entry => //.
    exact: measurable_itv.
  apply/seteqP; split => x /= h i.
    by move=> _ j _ /=; rewrite in_itv /= -ltr_distl distrC.
  by move=> j; have := h i I j I; rewrite /= in_itv /= -ltr_distl distrC.
rewrite (_ : U = \bigcup_N F N).
  apply: bigcupT_measurable => N; rewrite /F.
  by case: unpickle => [[q k]|//]; case: asboolP.
apply/seteqP; split => [x Ux|x [N _]]; last first.
  by rewrite /F; case: unpickle => [[q k]|//]; case: asboolP => // h /h.
have /nbhs_ballP [e /= e0 xeU] : nbhs x U by apply: open_nbhs_nbhs.
have [k ke] : exists k : nat, (k.+1%:R^-1 < e / 2)%R.
  exists (Num.bound (e / 2)^-1).
  have e20 : (0 < e / 2)%R by rewrite divr_gt0.
  rewrite -[X in (_ < X)%R]invrK ltf_pinv ?posrE ?invr_gt0 ?ltr0n //.
  apply: lt_le_trans (archi_boundP _) _; first by rewrite invr_ge0 ltW.
  by rewrite ler_nat.
have near_rat (y : R) : exists q : rat, (`|ratr q - y| < k.+1%:R^-1)%R.
  have yk : (y - k.+1%:R^-1 < y + k.+1%:R^-1)%R.
    by rewrite ltr_subl_addr -addrA ltr_addl addr_gt0 ?invr_gt0 ?ltr0n.
  have [q qy] := rat_in_itvoo yk; exists q.
  by move: qy; rewrite in_itv /= ltr_distl.
pose q : 'M[rat]_(m, n) := \matrix_(i, j) xget 0%R [set p | (`|ratr p - x i j| < k.+1%:R^-1)%R].
have qx i j : (`|ratr (q i j) - x i j| < k.+1%:R^-1)%R.
  rewrite mxE; have [p pE] := near_rat (x i j).
  by have := xgetPex 0%R (ex_intro [set p | (`|ratr p - x i j| < k.+1%:R^-1)%R] p pE).
exists (pickle (q, k)) => //; rewrite /F pickleK.
case: asboolP => //; case=> y /= hy; apply: xeU => i j /=.
rewrite /ball /= (_ : (x i j - y i j)%R = (- (ratr (q i j) - x i j) + (ratr (q i j) - y i j))%R).
  apply: le_lt_trans (ler_norm_add _ _) _; rewrite normrN.
  apply: lt_trans (ltr_add (qx i j) (hy i j)) _.
  by rewrite [X in (_ < X)%R](splitr e) ltr_add.
by rewrite opprB addrA subrK.
Qed.

(* The preimages of the open intervals, which generate the events of the line, are open. *)
Lemma continuous_measurable_matrix (f : 'M[R]_(m, n) -> R) :
  continuous f -> measurable_fun setT f.
Proof.
move=> /continuousP cf; apply: (measurability (RGenOpens.measurableE R)).
move=> _ [_ [a [b ->]] <-]; rewrite setTI.
by apply: open_measurable_matrix; apply: cf; exact: interval_open.
Qed.

End Open.
