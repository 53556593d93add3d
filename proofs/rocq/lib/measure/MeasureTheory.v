(* What the files on measures and integrals have in common: the parts of the library
   that they use, and the settings and scopes in which they are written. A file that
   imports this one needs no header of its own. *)

From mathcomp Require Export all_ssreflect ssralg ssrnum ssrint interval zmodp matrix.
From mathcomp.classical Require Export boolp classical_sets functions cardinality fsbigop.
From mathcomp.classical Require Export mathcomp_extra.
From HB Require Export structures.
From mathcomp Require Export reals ereal signed topology normedtype sequences esum measure.
From mathcomp Require Export lebesgue_measure numfun lebesgue_integral realfun exp.
From mathcomp.algebra_tactics Require Export ring.
#[export] Set Implicit Arguments.
#[export] Unset Strict Implicit.
#[export] Unset Printing Implicit Defensive.
Export Order.TTheory GRing.Theory Num.Def Num.Theory.
Export numFieldTopology.Exports.
Open Scope classical_set_scope.
Open Scope ring_scope.
