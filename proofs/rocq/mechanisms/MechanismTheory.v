(* What the files on mechanisms have in common: pure differential privacy, Lebesgue
   measure, additive noise, norms and the noise that they shape, and releases. *)

From covassay Require Export MeasureTheory MeasurableFunctions PureDP Lebesgue LebesgueBox LebesgueShift.
From covassay Require Export LebesgueOpen LebesgueProduct AdditiveNoise Norms KNorm Mechanisms.
