(* What the files on real matrices have in common: the parts of the library that they
   use, and the settings and the scope in which they are written. A file that imports
   this one needs no header of its own. *)

From mathcomp Require Export all_ssreflect ssralg ssrnum zmodp matrix.
From mathcomp.analysis Require Export reals.
From mathcomp.algebra_tactics Require Export ring.
#[export] Set Implicit Arguments.
#[export] Unset Strict Implicit.
#[export] Unset Printing Implicit Defensive.
Export GRing.Theory Num.Theory Order.TTheory.
Open Scope ring_scope.
