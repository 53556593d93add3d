"""diffpriv-pure (0.1.0): the noise of `private_count` is never negative, so the output is always an upper bound on the
count.

The function is documented as "shifted geometric for pure ε-DP integer counts". With one-sided geometric noise, the
smaller of two neighbouring counts gives outputs that the larger never gives, whatever ε is.
"""

import random
import sys

from diffpriv_pure import private_count

EPSILON, DRAWS = 1.0, 5_000

random.seed(1)
of_zero = sum(private_count(0, EPSILON) == 0 for _ in range(DRAWS))
of_one = sum(private_count(1, EPSILON) == 0 for _ in range(DRAWS))
print(f"the output is 0 in {of_zero} of {DRAWS} draws for a count of 0, and in {of_one} for a count of 1")
if of_one == 0 and of_zero > DRAWS / 2:
    print("FAULT: an output of 0 shows with certainty that the count is 0; pure ε-DP allows a factor e^ε")
    sys.exit(1)
print("no fault found")
