"""Audit whether an implementation does what its mechanism says.

An audit finds a violation or finds none, and never certifies. A p-value of the question about the law arises as
follows.

1. `knowledge/NAME.py` makes scenarios for the mechanism NAME: a data set, and tests of the outputs on it. If noise is
   added to a query, `knowledge/known.py` adds tests of the entries of the noise.
2. `questions/law/distribution.py` gives each scenario to `engine/law.py`, which draws (`engine/sampling.py`) and runs
   the tests, functions of `verification/statistics`.
3. `run.py` set a level aside for the question before any draw. `budget.py` decides its p-values by Holm's procedure.

`from covassay.verification import audit` gives the function that runs an audit, and not this package: see
`covassay.verification`.
"""
