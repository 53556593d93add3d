(* Draws that the kernel makes from given bits, for tests of the Python code.

   A row has the number of a sampler, its two parameters p and q, the bits, and the
   result.  Bits are words of ten, of which the lowest is read first.  Numbers are given by their
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

(* The result, and the bits that were not read. *)
Definition draw (kind : nat) (p q : positive) (w : seq bool) := execute rounds (sampler kind p q) w.
Definition noisy_draw (t s : positive) (C : seq Z) (w : seq bool) := execute rounds (noisy_integers t s C) w.

Lemma draw_holds kind p q w z rest :
  draw kind p q w = Some (z, rest) -> gives (sampler kind p q) w z.
Proof. by exists rounds, rest. Qed.

Lemma noisy_draw_holds t s C w y rest :
  noisy_draw t s C w = Some (y, rest) -> gives (noisy_integers t s C) w y.
Proof. by exists rounds, rest. Qed.

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

Definition given : seq (seq N) := [seq words 100 seed | seed <- [:: 1; 2; 3; 4]%num].
Definition string (g : seq N) : seq bool := flatten (map word_bits g).

(* One row, if the bits are enough. *)
Definition row A (before : seq rat) (g : seq N) (shown : A -> seq rat) (answer : option (A * seq bool)) :
    seq (seq rat) :=
  if answer is Some (z, rest) then [:: before ++ map digit g ++ shown z ++ [:: ratz (size rest)]] else [::].

Definition draws : seq (nat * (positive * positive)) :=
  [:: (0%N, (1, 1)); (0%N, (1, 2)); (0%N, (1, 3)); (0%N, (1, 1000)); (0%N, (1, 1000000000039));
      (1%N, (1, 2)); (1%N, (2, 3)); (1%N, (5, 5)); (1%N, (1000000000000000, 3000000000000001));
      (2%N, (1, 3)); (2%N, (1, 1)); (2%N, (5, 2)); (2%N, (700000000000000, 999999999999999));
      (3%N, (1, 3)); (3%N, (1, 1)); (3%N, (37, 4)); (3%N, (8796093022208, 1));
      (3%N, (10000000000000000000000000, 7));
      (4%N, (1, 3)); (4%N, (5, 2)); (4%N, (40, 1)); (4%N, (10000000000000000000000000, 7))]%positive.

Definition draw_rows : seq (seq rat) :=
  flatten [seq row (ratz (Posz d.1) :: digits 9 (Npos d.2.1) ++ digits 9 (Npos d.2.2)) g (signed 9)
                   (draw d.1 d.2.1 d.2.2 (string g)) | d <- draws, g <- given].

(* The scales of epsilon 1/2 and 2 for two features and b = 2, where S = 35, and C. *)
Definition scales : seq (positive * positive) := [:: (70, 1); (35, 2)]%positive.
Definition sums : seq Z := [:: Zpos 21; Zpos 4; Zpos 13].

Definition covariance_rows : seq (seq rat) :=
  flatten [seq row (digits 2 (Npos ts.1) ++ digits 2 (Npos ts.2) ++ flatten (map (signed 1) sums)) g
                   (fun y => flatten (map (signed 2) y)) (noisy_draw ts.1 ts.2 sums (string g))
          | ts <- scales, g <- given].
