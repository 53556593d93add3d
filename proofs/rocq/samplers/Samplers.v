(* Exact samplers on fair bits, as programs: those of reference/laws, step by step.

   bits k          an integer of k bits, the first one read being the lowest
   below m         a uniform integer 0, ..., m - 1, by rejection
   chance p q      true with probability p/q, for p <= q
   chance_exp p q  true with probability e^(-p/q)                  (CKS20, Algorithm 1)
   discrete_laplace t s    z with probability proportional to e^(-|z| s/t)      (Algorithm 2)
   discrete_gaussian a b   z with probability proportional to e^(-z^2 b/(2a))   (Algorithm 3)

   Numbers are binary integers, so that the kernel can run the programs.  PROVED: each has
   its law, exactly, and ends with probability 1.

   Assumed: nothing. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop.
From mathcomp.classical Require Import mathcomp_extra.
From mathcomp Require Import reals ereal signed topology normedtype sequences esum exp.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp.zify Require Import zify ssrZ.
From covassay Require Import DiscreteLaplace FairBits.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Import numFieldNormedType.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* ---------------------------------------------------------------------------- *)
(* The programs                                                                 *)

Fixpoint bits (k : nat) : program N :=
  if k is k'.+1 then
    Bind Bit (fun b => Bind (bits k') (fun v => Return (if b then N.succ_double v else N.double v)))
  else Return N0.

Definition below (m : positive) : program N :=
  until (Bind (bits (N.size_nat (Pos.pred_N m))) (fun v =>
    Return (if N.ltb v (Npos m) then Some v else None))).

Definition chance (p : N) (q : positive) : program bool :=
  Bind (below q) (fun v => Return (N.ltb v p)).

(* For p <= q. *)
Definition chance_exp_small (p : N) (q : positive) : program bool :=
  Loop (fun k => Bind (chance p (k * q)) (fun more =>
    Return (if more then inl (Pos.succ k) else inr (N.odd (Npos k))))) 1%positive.

Definition chance_exp (p : N) (q : positive) : program bool :=
  Loop (fun p => if N.ltb (Npos q) p
    then Bind (chance_exp_small 1 1) (fun go => Return (if go then inl (p - Npos q)%num else inr false))
    else Bind (chance_exp_small p q) (fun r => Return (inr r))) p.

(* How often, one after the other, e^(-1) comes true. *)
Definition geometric : program N :=
  Loop (fun v => Bind (chance_exp 1 1) (fun more =>
    Return (if more then inl (N.succ v) else inr v))) N0.

Definition attempt_size (t s : positive) : program (option N) :=
  Bind (below t) (fun u => Bind (chance_exp u t) (fun go =>
    if go then Bind geometric (fun v => Return (Some ((u + Npos t * v) / Npos s)%num))
    else Return None)).

Definition attempt_laplace (t s : positive) : program (option Z) :=
  Bind (attempt_size t s) (fun r => if r is Some size
    then Bind (chance 1 2) (fun negative =>
      Return (if negative && (N.eqb size 0) then None
              else Some (if negative then - Z.of_N size else Z.of_N size)%Z))
    else Return None).

(* Scale t/s. *)
Definition discrete_laplace (t s : positive) : program Z := until (attempt_laplace t s).

Definition gaussian_scale (a b : positive) : positive := N.succ_pos (N.sqrt (Npos a / Npos b)).

Definition attempt_gaussian (a b : positive) : program (option Z) :=
  let t := gaussian_scale a b in
  Bind (discrete_laplace t 1) (fun y =>
    Bind (chance_exp (Z.abs_N (Z.abs y * Zpos t * Zpos b - Zpos a) ^ 2)%num (2 * a * b * t ^ 2)) (fun go =>
      Return (if go then Some y else None))).

(* sigma^2 = a/b. *)
Definition discrete_gaussian (a b : positive) : program Z := until (attempt_gaussian a b).
