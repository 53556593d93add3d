(* What the files on measures and integrals have in common: the parts of the
   library that they use. *)

From mathcomp Require Export all_ssreflect ssralg ssrnum ssrint interval.
From mathcomp.classical Require Export boolp classical_sets functions cardinality fsbigop.
From mathcomp.classical Require Export mathcomp_extra.
From HB Require Export structures.
From mathcomp Require Export reals ereal signed topology normedtype sequences esum measure.
From mathcomp Require Export lebesgue_measure numfun lebesgue_integral realfun exp.
From mathcomp.algebra_tactics Require Export ring.
