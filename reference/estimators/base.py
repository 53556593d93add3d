"""Define what all estimators share: parameters, budgets, bounds, input data, names, and the tags that scikit-learn asks
for.

The module imports neither scikit-learn nor a library of data frames. The module looks for scikit-learn, pandas and
polars only when scikit-learn calls `__sklearn_tags__` or a caller wants data frames.
"""

import importlib
import inspect
import sys
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from covassay.reference.domain import Matrix, require_choice
from covassay.reference.domain.box import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import ZCDP, PureDP
from covassay.reference.recommendation import CANDIDATES, Candidate, Setting, recommend
from covassay.reference.recommendation.additive import ADDITIVE
from covassay.reference.rounded import WITH_ROUNDED_FORM

LARGE_BUDGET = 10.0  # at ε = 10, one row can make an event e^10 = 22 000 times as likely
OUTPUTS = ("default", "pandas", "polars")


class PrivacyWarning(UserWarning):
    """The warning that a budget is so large that the rows are hardly protected."""


class PrivateEstimator:
    """The base class of all estimators. Every subclass stores the arguments of its constructor as attributes with the
    same names.
    """

    n_features_in_: int

    # PARAMETERS, as scikit-learn reads and copies them

    @classmethod
    def _names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name. The argument `deep` has no effect, because no parameter is an estimator
        with parameters of its own.
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, and return the estimator."""
        for name, value in params.items():
            if name not in self._names():
                raise InvalidInput(f"{name} = {value!r}: {type(self).__name__} takes {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = [
            f"{name}={value!r}" for name, value in self.get_params().items()
            if not (value is defaults[name].default or _equal(value, defaults[name].default))
        ]  # fmt: skip
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "spend_")

    def __sklearn_tags__(self) -> Any:
        tags = importlib.import_module("sklearn.utils")  # only scikit-learn calls this
        return tags.Tags(estimator_type=None, target_tags=tags.TargetTags(required=False))

    # WHAT PRIVACY NEEDS

    def _budget(self) -> PureDP | ZCDP:
        """Return the budget; exactly one of `epsilon` and `rho` must be given."""
        epsilon: Any = getattr(self, "epsilon", None)
        rho: Any = getattr(self, "rho", None)
        if (epsilon is None) == (rho is None):
            raise InvalidInput(f"epsilon = {epsilon!r}, rho = {rho!r}: give exactly one of them as the budget")
        return PureDP(epsilon) if rho is None else ZCDP(rho)

    def _warn_of(self, budget: PureDP | ZCDP) -> None:
        """Warn the user if the budget hardly protects anyone."""
        if max(budget.keywords().values()) > LARGE_BUDGET:
            warnings.warn(
                f"{budget} is large: because of one row an event may become {np.exp(LARGE_BUDGET):.0f} times as "
                "likely, or more, so that the row is hardly protected",
                PrivacyWarning,
                stacklevel=4,
            )

    def _candidate(self, rows: int, dimension: int, budget: PureDP | ZCDP, additive: bool = False) -> Candidate:
        """Return the named mechanism or, if none is named, the one that the recommendation finds best for n, d and the
        budget.

        A mechanism that searches for a clipping norm is taken only if it is named, because its predicted error assumes
        rows of equal norm. If `additive` is true, only noise that does not depend on the data is allowed, so that the
        estimate is unbiased.
        """
        name, rounded = getattr(self, "mechanism", None), bool(getattr(self, "rounded", False))
        allowed = [
            c
            for c in CANDIDATES
            if (name is None or c.mechanism == name)
            and (not rounded or c.mechanism in WITH_ROUNDED_FORM)
            and not (additive and c.law not in ADDITIVE)
            and not (name is None and c.searches)
        ]
        if name is not None:
            # check that the mechanism exists and that its claim has the notion of privacy
            mechanism(name).require_budget(budget)
            if not allowed:
                raise InvalidInput(f"mechanism = {name!r}: must be one of {_mechanisms(rounded, additive)}, or None")
        of_notion = [c for c in allowed if c.pure == isinstance(budget, PureDP)]
        if len(of_notion) == 1:
            return of_notion[0]
        try:
            return recommend(Setting(rows, dimension, budget), candidates=of_notion).best.candidate
        except InvalidInput:  # the recommendation has no prediction for the given shape or budget
            return of_notion[0]

    def _randomness(self) -> np.random.Generator | int | None:
        """Return the source of the noise, which is a generator or, for a rounded release, a seed or None."""
        state: Any = getattr(self, "random_state", None)
        if getattr(self, "rounded", False):
            if state is not None and (isinstance(state, bool) or not isinstance(state, int | np.integer)):
                raise InvalidInput("random_state: must be None or a whole number for a rounded release")
            return None if state is None else int(state)
        if isinstance(state, np.random.RandomState):
            return np.random.default_rng(state.randint(0, 2**32, size=8, dtype=np.uint64))
        try:
            return np.random.default_rng(state)
        except (TypeError, ValueError):
            raise InvalidInput(f"random_state = {state!r}: must be None, a whole number or a generator") from None

    def _box(self, columns: int) -> Box | None:
        """Return the bounds of every column, or None if a row bound is given instead. Exactly one of the bounds and the
        row bound must be given.
        """
        row_bound, bounds = getattr(self, "row_bound", None), getattr(self, "bounds", None)
        if (row_bound is None) == (bounds is None):
            raise InvalidInput(
                f"row_bound = {row_bound!r}, bounds = {bounds!r}: give one of them, chosen without looking at the "
                "data: bounds that are read from the data are not private"
            )
        return None if bounds is None else box_of(bounds, columns, getattr(self, "feature_names_in_", None))

    # INPUT DATA

    def _read(self, x: Any, *, reset: bool) -> Matrix:
        """Return X as a float64 array of rows. During a fit, also store the number of the features and their names."""
        names = names_of(x)
        matrix = as_matrix(x)
        if reset:
            self.n_features_in_ = matrix.shape[1]
            vars(self).pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = names
            return matrix
        self._require_names(names)
        if matrix.shape[1] != self.n_features_in_:
            raise InvalidInput(
                f"X has {matrix.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input"
            )
        return matrix

    def _require_names(self, names: np.ndarray[Any, Any] | None) -> None:
        """Compare the column names with those of the fit; other names raise an error, and missing names cause a
        warning.
        """
        known: np.ndarray[Any, Any] | None = getattr(self, "feature_names_in_", None)
        if names is None and known is None:
            return
        here = type(self).__name__
        if known is None:
            warnings.warn(f"X has feature names, but {here} was fitted without feature names", stacklevel=4)
        elif names is None:
            warnings.warn(
                f"X does not have valid feature names, but {here} was fitted with feature names", stacklevel=4
            )
        elif list(names) != list(known):
            raise InvalidInput(_name_difference(list(map(str, names)), list(map(str, known))))

    def _require_fitted(self) -> None:
        if self.__sklearn_is_fitted__():
            return
        message = f"This {type(self).__name__} instance is not fitted yet: call fit first"
        # users of scikit-learn expect `NotFittedError` of scikit-learn, not `InvalidInput`
        exceptions = sys.modules.get("sklearn.exceptions")
        raise InvalidInput(message) if exceptions is None else exceptions.NotFittedError(message)

    # NAMES, AND DATA FRAMES AS OUTPUT

    def _input_names(self, given: Any = None) -> np.ndarray[Any, Any]:
        """Return the names of the fitted columns: those of the data frame, or x0, x1, … if X was not a data frame."""
        known: np.ndarray[Any, Any] | None = getattr(self, "feature_names_in_", None)
        if given is not None:
            names = np.asarray(given, dtype=object)
            if known is not None and list(names) != list(known):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(names) != self.n_features_in_:
                wanted = self.n_features_in_
                raise ValueError(f"input_features should have length equal to number of features ({wanted})")
            return names
        return known if known is not None else np.array([f"x{i}" for i in range(self.n_features_in_)], dtype=object)


class FrameOutput:
    """A transformer that can return data frames, for which `set_output(transform="pandas")` works as in
    scikit-learn.
    """

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose whether `transform` returns "default" (arrays), "pandas" or "polars" data; None changes nothing."""
        if transform is not None:
            self._output = require_choice("transform", transform, OUTPUTS)
        return self

    def _framed(self, values: Matrix, names: Any, x: Any) -> Any:
        """Return the values in the container that `set_output` chose; a data frame of pandas gets the row index
        of `x`, if there is one.
        """
        sklearn = sys.modules.get("sklearn")
        usual = "default" if sklearn is None else sklearn.get_config().get("transform_output", "default")
        wanted = getattr(self, "_output", usual)
        if wanted == "default":
            return values
        return frame(values, names, wanted, index=getattr(x, "index", None))


# DATA


def frame(values: Matrix, names: Any, library: str, index: Any = None) -> Any:
    """Return a data frame of pandas or polars with the given columns."""
    require_choice("library", library, OUTPUTS[1:])
    try:
        module = importlib.import_module(library)
    except ImportError:
        raise InvalidInput(f"data frames of {library} need {library}: it is not installed") from None
    if library == "pandas":
        return module.DataFrame(values, columns=list(names), index=index)
    return module.DataFrame(values, schema=[str(name) for name in names], orient="row")


def names_of(x: Any) -> np.ndarray[Any, Any] | None:
    """Return the names of the columns of a data frame if all of them are text, and None for everything else."""
    columns = getattr(x, "columns", None)
    if columns is None:
        return None
    names = np.array(list(columns), dtype=object)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        raise TypeError(
            "Feature names are only supported if all input features have string names: columns of X mix text and "
            "other types"
        )
    return names if len(names) and all(texts) else None


def as_matrix(x: Any) -> Matrix:
    """Return X as a new float64 array (n, d). The error messages have the words that scikit-learn's tests of estimators
    require.
    """
    if hasattr(x, "tocsr") or hasattr(x, "toarray"):
        raise TypeError("Sparse data were passed, but dense data are required: give X.toarray()")
    if np.ma.isMaskedArray(x):
        raise InvalidInput("X is a masked array: must have a number in every place")
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise InvalidInput(f"X cannot be read as a matrix ({error}): must be (n, d) numbers") from None
    if array.dtype.kind in "mM":
        raise InvalidInput(f"X has entries of type {array.dtype}: must be real numbers")
    if array.dtype.kind == "c" or (array.dtype.kind == "O" and any(isinstance(v, complex) for v in array.flat)):
        raise InvalidInput("Complex data not supported: X must have real numbers")
    if array.ndim < 2:
        raise InvalidInput(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: one row per record")
    if array.ndim > 2:
        raise InvalidInput(f"Found array with dim {array.ndim}, while dim 2 is required: one row per record")
    if array.shape[0] < 1:
        raise InvalidInput(f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.shape[1] < 1:
        raise InvalidInput(f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    try:
        matrix: Matrix = np.array(array, dtype=np.float64)
    except TypeError as error:
        text = f"argument must be a string or a real number: X has an entry of another type ({error})"
        raise TypeError(text) from None
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"X has an entry that is no number, or too large ({error})") from None
    if not np.isfinite(matrix).all():
        raise InvalidInput("Input X contains NaN or inf: every entry must be a finite number")
    return matrix


def box_of(bounds: Any, columns: int, names: np.ndarray[Any, Any] | None) -> Box:
    """Return the box of the given bounds: (low, high) for all columns, a list of pairs, (minima, maxima), or a
    dictionary from names to pairs.

    A tuple of two arrays, or of a number and an array, means (minima, maxima); a list, or one array, is a list of
    pairs. For two columns, a tuple of two tuples or lists can mean pairs or (minima, maxima). Such a tuple is refused
    if both meanings give valid, but different, bounds.
    """
    if isinstance(bounds, Box):
        box = bounds
    elif isinstance(bounds, Mapping):
        if names is None:
            raise InvalidInput("bounds by name need a data frame with names")
        missing = [str(name) for name in names if name not in bounds]
        unknown = [str(name) for name in bounds if name not in set(names)]
        if missing or unknown:
            raise InvalidInput(f"bounds: must name every column; missing {missing}, unknown {unknown}")
        box = Box.of([bounds[name] for name in names])
    else:
        pairs, ends = _as_pairs(bounds), _as_ends(bounds, columns)
        if ends is None or (pairs is not None and _not_bounds(ends)):
            if pairs is None:
                raise InvalidInput("bounds: must be numbers: (low, high), a pair for every column, or (minima, maxima)")
            box = Box.of(np.tile(pairs, (columns, 1)) if pairs.shape == (2,) else pairs)
        elif pairs is None or _not_bounds(pairs) or np.array_equal(pairs, ends):
            box = Box.of(ends)
        else:
            raise InvalidInput(
                f"bounds = {bounds!r}: can be two pairs or (minima, maxima): give a list of pairs, or a tuple of arrays"
            )
    if box.dimension != columns:
        raise InvalidInput(f"bounds for {box.dimension} columns: X has {columns}")
    return box


def _as_pairs(bounds: Any) -> Matrix | None:
    """Return the bounds as numbers (low, high) or as an array of pairs, or None if the bounds have neither form."""
    if isinstance(bounds, tuple) and any(isinstance(end, np.ndarray) and end.ndim for end in bounds):
        return None
    try:
        return np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _as_ends(bounds: Any, columns: int) -> Matrix | None:
    """Return a tuple (minima, maxima) as pairs, where one of the two may be a number for all columns; return None for
    anything else.
    """
    if not (isinstance(bounds, tuple) and len(bounds) == 2):
        return None
    try:
        low, high = (np.asarray(end, dtype=np.float64) for end in bounds)
        if not low.ndim and not high.ndim:
            return None  # the tuple is (low, high) for all columns
        return np.stack([np.broadcast_to(end, (columns,)) for end in (low, high)], axis=1)
    except (TypeError, ValueError):
        return None


def _not_bounds(pairs: Matrix) -> bool:
    return pairs.ndim != 2 or pairs.shape[1] != 2 or not (pairs[:, 0] < pairs[:, 1]).all()


def _equal(value: Any, default: Any) -> bool:
    return isinstance(value, str | int | float | bool) and value == default


def _mechanisms(rounded: bool, additive: bool) -> str:
    kept = [
        c.mechanism
        for c in CANDIDATES
        if (not rounded or c.mechanism in WITH_ROUNDED_FORM) and (not additive or c.law in ADDITIVE)
    ]
    return ", ".join(dict.fromkeys(kept))


def _name_difference(names: list[str], known: list[str]) -> str:
    """Return the error message of scikit-learn for column names that differ from those of the fit."""
    lines = ["The feature names should match those that were passed during fit."]
    unseen, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    if unseen:
        lines += ["Feature names unseen at fit time:", *(f"- {name}" for name in unseen[:5])]
    if missing:
        lines += ["Feature names seen at fit time, yet now missing:", *(f"- {name}" for name in missing[:5])]
    if not unseen and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    return "\n".join(lines) + "\n"
