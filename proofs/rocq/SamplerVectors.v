(* Draws that the kernel makes from given bits, for tests of the Python code.

   A row has the number of a sampler, its two parameters p and q, the result, and the
   bits: words of ten bits, of which the lowest is read first.  Numbers are given by their
   sign and their digits in base 1000, the lowest first.  Its last entry says how many bits
   were not read.

   0  below q    1  chance p q    2  chance_exp p q
   3  discrete_laplace p q    4  discrete_gaussian p q

   `covariance_rows` has the scale t/s, the integers C on and above the diagonal, the bits,
   what the program releases, and how many bits were not read.

   Assumed: nothing. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect ssralg ssrint rat.
From covassay Require Import FairBits Samplers SampledCovariance.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Definition rounds : nat := 1000.

Definition sampler (kind : nat) (p q : positive) : program Z :=
  match kind with
  | 0 => Bind (below q) (fun v => Return (Z.of_N v))
  | 1 => Bind (chance (Npos p) q) (fun b => Return (Z.b2z b))
  | 2 => Bind (chance_exp (Npos p) q) (fun b => Return (Z.b2z b))
  | 3 => discrete_laplace p q
  | _ => discrete_gaussian p q
  end.

(* Knuth's linear congruential generator: the highest ten bits of 64. *)
Fixpoint words (count : nat) (x : N) : seq N :=
  if count is count'.+1 then
    let y := ((6364136223846793005 * x + 1442695040888963407) mod 2 ^ 64)%num in
    N.shiftr y 54 :: words count' y
  else [::].

Definition word_bits (x : N) : seq bool := [seq N.testbit x (N.of_nat i) | i <- iota 0 10].

Definition digit (x : N) : rat := ratz (nat_of_bin x).
Fixpoint digits (count : nat) (x : N) : seq rat :=
  if count is count'.+1 then digit (x mod 1000) :: digits count' (x / 1000) else [::].

Definition signed (count : nat) (z : Z) : seq rat :=
  ratz (if Z.ltb z 0 then -1 else 1)%R :: digits count (Z.abs_N z).

Definition draw_row (kind : nat) (p q : positive) (seed : N) : seq (seq rat) :=
  let given := words 100 seed in
  if execute rounds (sampler kind p q) (flatten (map word_bits given)) is Some (z, rest) then
    [:: ratz kind :: digits 9 (Npos p) ++ digits 9 (Npos q) ++ signed 9 z ++ map digit given
          ++ [:: ratz (size rest)]]
  else [::].

Definition draws : seq (nat * (positive * positive)) :=
  [:: (0%N, (1, 1)); (0%N, (1, 2)); (0%N, (1, 3)); (0%N, (1, 1000)); (0%N, (1, 1000000000039));
      (1%N, (1, 2)); (1%N, (2, 3)); (1%N, (5, 5)); (1%N, (1000000000000000, 3000000000000001));
      (2%N, (1, 3)); (2%N, (1, 1)); (2%N, (5, 2)); (2%N, (700000000000000, 999999999999999));
      (3%N, (1, 3)); (3%N, (1, 1)); (3%N, (37, 4)); (3%N, (8796093022208, 1));
      (3%N, (10000000000000000000000000, 7));
      (4%N, (1, 3)); (4%N, (5, 2)); (4%N, (40, 1)); (4%N, (10000000000000000000000000, 7))]%positive.

Definition draw_rows : seq (seq rat) :=
  flatten [seq draw_row d.1 d.2.1 d.2.2 seed | d <- draws, seed <- [:: 1; 2; 3]%num].

Definition covariance_row (t s : positive) (C : seq Z) (seed : N) : seq (seq rat) :=
  let given := words 100 seed in
  if execute rounds (noisy_integers t s C) (flatten (map word_bits given)) is Some (y, rest) then
    [:: digits 2 (Npos t) ++ digits 2 (Npos s) ++ flatten (map (signed 1) C) ++ map digit given
          ++ flatten (map (signed 2) y) ++ [:: ratz (size rest)]]
  else [::].

(* The scales of epsilon 1/2 and 2 for two features and b = 2: S = 35. *)
Definition covariance_rows : seq (seq rat) :=
  flatten [seq covariance_row ts.1 ts.2 [:: Zpos 21; Zpos 4; Zpos 13] seed
          | ts <- [:: (70, 1); (35, 2)]%positive, seed <- [:: 1; 2; 3; 4]%num].
