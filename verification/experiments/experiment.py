"""Define experiments. The cells, results, plots and comparisons of an experiment follow from one declaration.

An experiment has panels. A panel varies one quantity over a grid, and at every point of the grid and for every
repetition it draws one data set, runs every method on it and measures the errors. A cell is one data set together with
the methods that are run on it. All randomness of a cell follows from the seed and from the cell's name, so a cell gives
the same result at any time, on any machine and in any order.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.projections import spectral_interval
from covassay.verification.experiments.findings import PaperClaim
from covassay.verification.shared_rows import SharedRows
from covassay.verification.statistics.streams import stream

Scale = Literal["small", "paper"]
SCALES: tuple[Scale, ...] = ("small", "paper")
REPETITIONS: Mapping[Scale, int] = {"small": 5, "paper": 50}
Setting = Mapping[str, float]  # the quantities at one point of a grid, such as n, d and rho
Files = Mapping[str, Path]  # these are the paths of data sets from the user


@dataclass(frozen=True)
class Sample:
    """The rows of one data set, and the quantity to estimate from them."""

    rows: Matrix
    truth: Matrix


@dataclass(frozen=True)
class Method:
    """One line of a plot, which is a mechanism of the registry with its options, or a function.

    label : the name of the method, which is the same in every panel.
    mechanism : the name of the mechanism, or "" if the method is given by `function`.
    function : a function of (rows, setting, rng) that returns an estimate; None if the method is the mechanism named by
        `mechanism`. Methods without a mechanism of the registry, such as the zero matrix, have a function.
    rounded : whether the eigenvalues of the symmetric part of the output are clipped to [0, 1] afterwards.
    ours : whether the method is one of ours and not of the paper.
    largest_dimension : the largest dimension in which the method is run. In higher dimensions the method takes too
        long.
    """

    label: str
    mechanism: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    function: Callable[[Matrix, Setting, np.random.Generator], Matrix] | None = None
    rounded: bool = False
    ours: bool = False
    largest_dimension: float = math.inf

    def estimate(
        self, rows: Matrix, setting: Setting, rng: np.random.Generator, shared: SharedRows | None = None
    ) -> Matrix:
        """Return the output of the method on the given rows. If a quantity of the setting is a parameter of the
        mechanism, it is passed to the mechanism.

        The argument `shared` holds the same rows in a form that several methods can use.
        """
        if self.function is not None:
            output = self.function(rows, setting, rng)
        else:
            about = mechanism(self.mechanism)
            known = {name: value for name, value in setting.items() if name in about.declared}
            output = about.sample(rows if shared is None else shared, rng, **{**known, **self.options})
        return spectral_interval((output + output.T) / 2, 0.0, 1.0) if self.rounded else output


Measure = Callable[[Matrix, Sample], float]


@dataclass(frozen=True)
class Curve:
    """A theoretical curve in a plot, with its label and its value as a function of the setting."""

    label: str
    values: Callable[[Setting], float]


@dataclass(frozen=True)
class Panel:
    """One plot, with the varied quantity and its grid, the data, the methods, and the measures of error.

    name : the name of the panel, unique within the experiment.
    data : a function of (setting, rng, files) that returns the data set of a cell.
    varied : the quantity on the abscissa.
    grids, fixed : the values of the varied quantity, and the other quantities, at each scale.
    needs : "scikit-learn" or the name of a data set that the user must give, if the data need one; otherwise "".
    """

    name: str
    title: str
    data: Callable[[Setting, np.random.Generator, Files], Sample]
    varied: str
    grids: Mapping[str, Sequence[float]]
    fixed: Mapping[str, Setting]
    methods: Sequence[Method]
    measures: Mapping[str, Measure]
    curves: Sequence[Curve] = ()
    needs: str = ""
    axis: str = ""
    log: tuple[bool, bool] = (True, True)

    def settings(self, scale: Scale) -> list[Setting]:
        """Return the settings at the points of the panel's grid."""
        return [{**self.fixed[scale], self.varied: value} for value in self.grids[scale]]


@dataclass(frozen=True)
class Cell:
    """One data set of one panel, for one point of the grid and one repetition."""

    panel: str
    value: float
    repetition: int


@dataclass(frozen=True)
class Row:
    """One measured error."""

    panel: str
    value: float
    method: str
    measure: str
    repetition: int
    error: float


@dataclass(frozen=True)
class Experiment:
    """An experiment, with its name, the figure or theorem that it is about, and the claims that the paper makes about
    it.

    notes : remarks for the reader of the plot.
    claims : the paper's statements about the figure, in a form that the results can contradict.
    """

    name: str
    title: str
    source: str
    panels: Sequence[Panel]
    claims: Sequence[PaperClaim] = ()
    notes: Sequence[str] = ()

    def panel(self, name: str) -> Panel:
        """Return the panel with the given name."""
        return next(panel for panel in self.panels if panel.name == name)

    def cells(self, panels: Sequence[str], scale: Scale, repetitions: int) -> Iterator[Cell]:
        """Yield the cells of the given panels. A cell is one repetition at one point of the grid of a panel.

        The first repetition at all points of all grids comes before the second repetition at any point, and so on. If a
        run is stopped early, all points of the grids therefore have nearly the same number of repetitions.
        """
        for repetition in range(repetitions):
            for name in panels:
                for value in self.panel(name).grids[scale]:
                    yield Cell(name, value, repetition)

    def run(self, cell: Cell, scale: Scale, seed: int, files: Files) -> list[Row]:
        """Return the errors of all methods on the data set of one cell."""
        panel = self.panel(cell.panel)
        setting = {**panel.fixed[scale], panel.varied: cell.value}

        def rng(purpose: str) -> np.random.Generator:
            labels = (self.name, cell.panel, repr(cell.value), cell.repetition, purpose)
            return np.random.default_rng(stream(seed, *labels))

        sample = panel.data(setting, rng("data"), files)
        shared = SharedRows.of(sample.rows)
        rows = []
        for method in panel.methods:
            if sample.rows.shape[1] > method.largest_dimension:
                continue
            try:
                output = method.estimate(sample.rows, setting, rng(f"method {method.label}"), shared)
            except InvalidInput as error:
                raise InvalidInput(f"{self.name}, panel {cell.panel}, {method.label}: {error}") from None
            rows += [
                Row(cell.panel, cell.value, method.label, name, cell.repetition, float(measure(output, sample)))
                for name, measure in panel.measures.items()
            ]
        return rows
