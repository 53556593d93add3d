"""diffprivlib, models.LinearRegression(fit_intercept=True): the share ε/(d + 1) of the budget is spent twice.

The script needs numpy, scipy and diffprivlib. The exit status is 1 while the fault is there, and 0 when it is
corrected.

The mean of X and the mean of y get ε/(d + 1) each, and the coefficients get εd/(d + 1). The script adds up the budgets
of all draws of noise in one call of `fit`. By sequential composition the budgets should add up to at most ε. Item 2 of
issue 104 reports the fault.
"""

import sys

import numpy as np
from diffprivlib.mechanisms import Laplace, LaplaceFolded, LaplaceTruncated
from diffprivlib.models import LinearRegression

EPSILON, spent = 1.0, []
for family in (Laplace, LaplaceFolded, LaplaceTruncated):
    if "randomise" in vars(family):

        def noted(self, value, own=family.randomise, family=family):
            """Record the budget, and draw the noise. If the method of a parent class is called too, the budget is still
            recorded once.
            """
            if type(self) is family:
                spent.append(self.epsilon)
            return own(self, value)

        family.randomise = noted

wrong = False
for d in (1, 2, 3, 5):
    spent.clear()
    x = np.random.default_rng(d).uniform(-1, 0, (20, d))
    model = LinearRegression(epsilon=EPSILON, bounds_X=([-1] * d, [0] * d), bounds_y=(0, 1), random_state=1)
    model.fit(x, np.linspace(0, 1, 20))
    total = sum(spent)
    print(f"d = {d}: noise is drawn {len(spent)} times, and the budgets add up to {total:.6f}; epsilon = {EPSILON:g}")
    wrong |= total > EPSILON * (1 + 1e-9)
print("FAULT: fit spends more than its epsilon" if wrong else "no fault is seen")
sys.exit(int(wrong))
