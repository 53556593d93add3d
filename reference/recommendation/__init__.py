"""This package recommends which mechanism to use: it predicts the error of every mechanism from public facts, and ranks
them.

    >>> from covassay.reference.privacy import PureDP
    >>> from covassay.reference.recommendation import Setting, recommend
    >>> recommend(Setting(rows=10_000, dimension=8, budget=PureDP(1.0))).best.candidate.mechanism
    'k-norm'

Nothing here reads data. The public facts are the number of rows n, the dimension d, the budget and, if it is known
publicly, the trace of the second moment. Mechanisms are compared only with mechanisms of the same notion of privacy.

    setting.py     the facts, and the regime that they are in
    candidates.py  the mechanisms that are compared, with the options of each, and what is left out, with reasons
    additive.py    the error of noise that does not depend on the data: exact where there is a formula
    measured.py    constants and tables that were measured, with the run that measured each of them
    ranking.py     predictions, ranked
"""

from covassay.reference.recommendation.candidates import CANDIDATES, Candidate
from covassay.reference.recommendation.ranking import Prediction, Recommendation, recommend
from covassay.reference.recommendation.setting import Setting, model_spectrum

__all__ = ["CANDIDATES", "Candidate", "Prediction", "Recommendation", "Setting", "model_spectrum", "recommend"]
