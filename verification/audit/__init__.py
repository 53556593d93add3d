"""Audit whether an implementation does what its mechanism says.

An audit finds a violation or finds none, and never certifies. The check of the noise distribution takes three steps.

1. `knowledge/NAME.py` makes scenarios for the mechanism NAME; a scenario is a data set with tests of the outputs on it.
   If noise is added to a query, `knowledge/known.py` adds tests of the entries of the noise.
2. `questions/law/distribution.py` gives each scenario to `engine/law.py`, which makes draws (`engine/sampling.py`) and
   applies the tests of `verification/statistics` to them.
3. Before any draw, `run.py` sets a level aside for the question about the law. `budget.py` decides by Holm's procedure
   which p-values of the question refute the claim.

The statement `from covassay.verification import audit` imports a function, which runs an audit and has the same name as
this package: see `covassay.verification`.
"""
