"""Replace the random generators of numpy and Python while a target runs, by generators whose draws are recorded.

The generator that a target is given is replaced, and so is every `Generator` and `RandomState` that the target makes.
Numpy's legacy functions, the functions of `random`, `random.Random`, `SystemRandom` and `secrets`, and `os.urandom` are
also replaced. Functions that a module imported earlier under another name are not replaced, nor are generators of other
libraries and processes. If a target draws from a generator that is not replaced, two runs with the same recorded draws
differ, which `exact_loss` notices. A generator that is copied, or set back to an earlier state, draws the same numbers
again. The draws are recorded in a `Tape`. If the target uses the state of a generator in a way that cannot be recorded,
the attribute `trouble` of the tape says so. Outside of a run, every replaced function works as usual.
"""

import contextlib
import os
import random
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from covassay.verification.audit.recorded.tape import Stream, Tape

REAL_GENERATOR = np.random.Generator
REAL_STATE = np.random.RandomState
REAL_DEFAULT = np.random.default_rng
_PLACE = "place on the tape"  # the name of an entry in the state of a bit generator
BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
# these laws of numpy are no location and scale families, so draws are recorded with their arguments
WHOLE = (
    "beta", "binomial", "chisquare", "dirichlet", "f", "geometric", "hypergeometric", "logseries", "multinomial",
    "multivariate_hypergeometric", "negative_binomial", "noncentral_chisquare", "noncentral_f", "pareto", "poisson",
    "power", "standard_cauchy", "standard_t", "triangular", "vonmises", "wald", "weibull", "zipf",
)  # fmt: skip
LEGACY = (
    "beta", "binomial", "bytes", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma", "geometric", "gumbel",
    "hypergeometric", "laplace", "logistic", "lognormal", "logseries", "multinomial", "multivariate_normal",
    "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation", "poisson", "power",
    "rand", "randint", "randn", "random", "random_sample", "ranf", "rayleigh", "sample", "seed", "shuffle",
    "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular",
    "uniform", "vonmises", "wald", "weibull", "zipf",
)  # fmt: skip
# these two generators make all draws that are not recorded; they are never reset, so a repeated run gets other numbers
_UNRECORDED, _UNRECORDED_LEGACY = np.random.PCG64(), np.random.MT19937()
_tape: Tape | None = None
_standing = 0


def tape_of_run() -> Tape | None:
    """Return the tape of the run that is in progress."""
    return _tape


@contextlib.contextmanager
def running(tape: Tape) -> Iterator[Tape]:
    """Let the replaced generators draw from this tape in the `with` block."""
    global _tape
    before, _tape = _tape, tape
    try:
        yield tape
    finally:
        _tape = before


def key_of(value: Any) -> Hashable:
    """Return an argument of a law, or a seed, in a form that can be compared."""
    if isinstance(value, np.random.SeedSequence):
        return "SeedSequence", repr(value.entropy), repr(value.spawn_key)
    if isinstance(value, np.random.BitGenerator):
        with unwatched():
            return type(value).__name__, repr(value.state)
    if isinstance(value, np.ndarray | list | tuple):
        array = np.asarray(value)
        return array.shape, array.tobytes() if array.dtype != object else repr(value)
    return repr(value.item() if isinstance(value, np.generic) else value)


@contextlib.contextmanager
def unwatched() -> Iterator[None]:
    """Allow code in the `with` block to read and set states of generators without a record on the tape."""
    global _tape
    before, _tape = _tape, None
    try:
        yield
    finally:
        _tape = before


def _watched(real: Any, *args: Any, **named: Any) -> Any:
    """Call the real function. If a run is in progress, note on its tape that the state of a generator was used."""
    if _tape is not None:
        _tape.trouble = _tape.trouble or "the state of a generator is read, set or copied"
    with unwatched():
        return real(*args, **named)


def _seeded(kind: str, seed: Any) -> Stream:
    """Return the stream of draws for a generator with this seed, and record the seed on the tape.

    Generators with the same bit generator share one stream of draws.
    """
    if seed is None:
        return Stream()
    if isinstance(seed, np.random.BitGenerator) and _tape is not None and id(seed) in _tape.shared:
        return _tape.shared[id(seed)][1]
    key = kind, key_of(seed)
    stream = Stream(key)
    if _tape is not None:
        _tape.seeds.append(repr(key)[:300])
        if isinstance(seed, np.random.BitGenerator):
            _shared(seed, stream)
    return stream


def _shared(bits: np.random.BitGenerator, stream: Stream) -> None:
    assert _tape is not None
    _tape.enter(stream)
    _tape.shared[id(bits)] = bits, stream


def _common_shape(size: Any, *values: Any) -> Any:
    if size is None and any(np.ndim(value) for value in values):
        return np.broadcast_shapes(*(np.shape(value) for value in values))
    return size


def _filled(value: Any, dtype: Any, out: Any) -> Any:
    if out is not None:
        out[...] = value
        return out
    return value if np.dtype(dtype) == np.float64 else np.asarray(value, dtype=dtype)[()]


class _Laws:
    """Methods of a generator that draw from the tape, with numpy's names and laws. `self` is also a numpy generator,
    which makes the draws if there is no tape.
    """

    _stream: Stream

    def _unit(self, family: str, size: Any, make: Callable[[np.random.Generator, Any], Any], *parameters: Any) -> Any:
        assert _tape is not None
        names = tuple(key_of(p) for p in parameters)
        return _tape.draw(self._stream, family, names, size, lambda g: make(g, size))

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        size = np.shape(out) if out is not None else size
        return _filled(self._unit("normal", size, lambda g, s: g.standard_normal(s)), dtype, out)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return np.asarray(loc) + np.asarray(scale) * self.standard_normal(_common_shape(size, loc, scale))

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        return np.exp(self.normal(mean, sigma, size))

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        size = _common_shape(size, loc, scale)
        return np.asarray(loc) + np.asarray(scale) * self._unit("laplace", size, lambda g, s: g.laplace(size=s))

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        size = _common_shape(size, loc, scale)
        return np.asarray(loc) + np.asarray(scale) * self._unit("logistic", size, lambda g, s: g.logistic(size=s))

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        size = _common_shape(size, loc, scale)
        return np.asarray(loc) + np.asarray(scale) * self._unit("gumbel", size, lambda g, s: g.gumbel(size=s))

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
    ) -> Any:
        size = np.shape(out) if out is not None else size
        return _filled(self._unit("exponential", size, lambda g, s: g.standard_exponential(s)), dtype, out)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return np.asarray(scale) * self.standard_exponential(_common_shape(size, scale))

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        return np.asarray(scale) * np.sqrt(2 * self.standard_exponential(_common_shape(size, scale)))

    def standard_gamma(self, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        size = np.shape(out) if out is not None else _common_shape(size, shape)
        return _filled(self._unit("gamma", size, lambda g, s: g.standard_gamma(shape, s), shape), dtype, out)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        return np.asarray(scale) * self.standard_gamma(shape, _common_shape(size, shape, scale))

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        size = np.shape(out) if out is not None else size
        return _filled(self._unit("uniform", size, lambda g, s: g.random(s)), dtype, out)

    random_sample = ranf = sample = random

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return np.asarray(low) + np.subtract(high, low) * self.random(_common_shape(size, low, high))

    def rand(self, *shape: int) -> Any:
        return self.random(shape or None)

    def randn(self, *shape: int) -> Any:
        return self.standard_normal(shape or None)

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, **options: Any) -> Any:
        z = self.standard_normal((*(() if size is None else np.atleast_1d(size)), len(mean)))
        values, vectors = np.linalg.eigh(np.asarray(cov, dtype=float))
        return np.asarray(mean) + z @ (vectors * np.sqrt(np.maximum(values, 0))).T

    # DRAWS THAT MAY DECIDE: WHOLE NUMBERS, ORDERS, BYTES

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        size = _common_shape(size, low, 0 if high is None else high)
        names = low, high, np.dtype(dtype).name, endpoint
        return self._unit("integers", size, lambda g, s: g.integers(low, high, s, dtype, endpoint), *names)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        return self.integers(low, high, size, dtype)

    def bytes(self, length: int) -> bytes:
        drawn: bytes = self._unit("bytes", None, lambda g, s: g.bytes(length), length)
        return drawn

    def permutation(self, x: Any, axis: int = 0) -> Any:
        count = int(x) if np.ndim(x) == 0 else np.shape(x)[axis]
        order = self._unit("permutation", None, lambda g, s: g.permutation(count), count)
        return order if np.ndim(x) == 0 else np.take(np.asarray(x), order, axis)

    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        places = np.arange(np.size(x)).reshape(np.shape(x))
        order = self._unit("permutation", None, lambda g, s: g.permuted(places, axis=axis), np.shape(x), axis)
        found = np.asarray(x).reshape(-1)[order]
        return found if out is None else _filled(found, np.float64, out)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        count = len(x) if axis == 0 else np.shape(x)[axis]
        order = self._unit("permutation", None, lambda g, s: g.permutation(count), count)
        x[:] = np.take(x, order, axis) if isinstance(x, np.ndarray) else [x[i] for i in order]

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        count = int(a) if np.ndim(a) == 0 else np.shape(a)[axis]
        names = count, size, replace, p
        places = self._unit("choice", None, lambda g, s: g.choice(count, size, replace, p), *names)
        return places if np.ndim(a) == 0 else np.take(np.asarray(a), places, axis)


def _whole(name: str) -> Callable[..., Any]:
    def law(self: Any, *args: Any, **named: Any) -> Any:
        assert _tape is not None
        keys = *(key_of(a) for a in args), *((k, key_of(v)) for k, v in sorted(named.items()))
        probabilities = args[:1] or (named.get("p"),)
        simple = name == "geometric" and np.ndim(probabilities[0]) == 0
        size = named.get("size", args[1] if len(args) > 1 else None) if simple else None
        if simple:
            keys = (float(probabilities[0]),)
        return _tape.draw(self._stream, name, keys, size, lambda g: getattr(g, name)(*args, **named))

    return law


for _name in WHOLE:
    setattr(_Laws, _name, _whole(_name))


def _with_or_without_tape(name: str, real: Any) -> Callable[..., Any]:
    stand_in = getattr(_Laws, name)

    def method(self: Any, *args: Any, **named: Any) -> Any:
        return (real if _tape is None else stand_in)(self, *args, **named)

    method.__name__ = name
    return method


class _Instances(type):
    """A metaclass whose `isinstance` also accepts numpy's own generators."""

    real: type

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.real)


class StandGenerator(_Laws, REAL_GENERATOR, metaclass=_Instances):  # type: ignore[misc]
    """A `numpy.random.Generator` that draws from the tape."""

    real = REAL_GENERATOR

    def __init__(self, bit_generator: Any = None, stream: Stream | None = None) -> None:
        super().__init__(_UNRECORDED if bit_generator is None else bit_generator)
        self._stream = stream or _seeded("Generator", bit_generator)

    def spawn(self, n_children: int) -> list["StandGenerator"]:  # type: ignore[override]
        """Return child generators that also draw from the tape."""
        return [StandGenerator(stream=Stream()) for _ in range(n_children)]

    @property
    def bit_generator(self) -> Any:
        """Return the bit generator, whose state is a position on the tape."""
        if _tape is None:
            return REAL_GENERATOR.bit_generator.__get__(self)
        bits = next((b for b, stream in _tape.shared.values() if stream is self._stream), None)
        if bits is None:
            with unwatched():
                bits = _WATCHING["PCG64"](int(_UNRECORDED.random_raw()))
            _shared(bits, self._stream)
        return bits

    def __deepcopy__(self, memo: Any) -> "StandGenerator":
        if _tape is not None:
            _tape.enter(self._stream)
        return StandGenerator(stream=self._stream.twin())

    def __reduce__(self) -> Any:
        return _watched(REAL_GENERATOR.__reduce__, self)


class StandState(_Laws, REAL_STATE, metaclass=_Instances):  # type: ignore[misc]
    """A `numpy.random.RandomState` that draws from the tape."""

    real = REAL_STATE

    def __init__(self, seed: Any = None) -> None:
        REAL_STATE.__init__(self, _UNRECORDED_LEGACY if _tape is not None else seed)
        self._stream = _seeded("RandomState", seed)

    def seed(self, seed: Any = None) -> None:
        """Continue with the stream of draws for the given seed."""
        if _tape is None:
            REAL_STATE.seed(self, seed)
        self._stream = _seeded("RandomState", seed)

    def get_state(self, legacy: bool = True) -> Any:
        """Return the state of the generator, which the tape does not record."""
        return _watched(REAL_STATE.get_state, self, legacy)

    def set_state(self, state: Any) -> None:
        """Set the state of the generator, which the tape does not record."""
        _watched(REAL_STATE.set_state, self, state)

    def __reduce__(self) -> Any:
        return _watched(REAL_STATE.__reduce__, self)


def _watching(real: Any) -> Any:
    """Return a subclass of a bit generator that notices when its state is read or set."""

    class Watching(real):  # type: ignore[misc]
        @property
        def state(self) -> Any:
            with unwatched():
                state = real.state.__get__(self)
            place = None if _tape is None else _tape.shared.get(id(self))
            if place is not None:
                return {**state, _PLACE: (place[1], place[1].position)}
            return state if _tape is None else _watched(lambda: state)

        @state.setter
        def state(self, value: Any) -> None:
            place = value.get(_PLACE) if isinstance(value, dict) else None
            if _tape is not None and place is not None and place[0].tape is _tape and id(self) in _tape.shared:
                _tape.shared[id(self)][1].set_back(*place)
                return
            _watched(lambda: real.state.__set__(self, value))

        def jumped(self, *args: Any) -> Any:
            return _watched(real.jumped, self, *args)

        def __reduce__(self) -> Any:
            return _watched(real.__reduce__, self)

    Watching.__name__ = Watching.__qualname__ = real.__name__
    return Watching


_WATCHING = {name: _watching(getattr(np.random, name)) for name in BIT_GENERATORS}

for _cls, _real in ((StandGenerator, REAL_GENERATOR), (StandState, REAL_STATE)):
    for _name in [n for n in vars(_Laws) if not n.startswith("_")]:
        if hasattr(_real, _name):
            setattr(_cls, _name, _with_or_without_tape(_name, getattr(_real, _name)))


def handed_generator() -> np.random.Generator:
    """Return the generator that a target is given in a run."""
    return StandGenerator(stream=Stream())


def _default_rng(seed: Any = None) -> Any:
    if isinstance(seed, REAL_GENERATOR) or _tape is None:
        return REAL_DEFAULT(seed)
    return StandGenerator(stream=_seeded("default_rng", seed))


class _Sequence(np.random.SeedSequence):
    """A `SeedSequence` that takes its entropy from a recorded draw if no entropy is given during a run."""

    def __init__(self, entropy: Any = None, **options: Any) -> None:
        if entropy is None and _tape is not None:
            entropy = int.from_bytes(_bytes(16))
        super().__init__(entropy, **options)


# PYTHON'S OWN GENERATORS

_OWN = Stream()


def _bytes(count: int) -> bytes:
    assert _tape is not None
    drawn: bytes = _tape.draw(_OWN, "bytes", (count,), None, lambda g: g.bytes(count))
    return drawn


def _stream_of(owner: Any) -> Stream:
    stream: Stream = getattr(owner, "_covassay_stream", _OWN)
    return stream


def _unit(owner: Any, family: str) -> float:
    assert _tape is not None
    make = {
        "uniform": lambda g: g.random(),
        "normal": lambda g: g.standard_normal(),
        "exponential": lambda g: g.standard_exponential(),
    }[family]
    return float(_tape.draw(_stream_of(owner), family, (), None, make))


def _bits(owner: Any, k: int) -> int:
    assert _tape is not None
    count = (k + 7) // 8
    drawn = _tape.draw(_stream_of(owner), "bytes", (count, k), None, lambda g: g.bytes(count))
    return int.from_bytes(drawn) >> (-k % 8)


def _gauss(owner: Any, mu: float = 0.0, sigma: float = 1.0) -> float:
    return mu + sigma * _unit(owner, "normal")


def _exponential(owner: Any, lambd: float = 1.0) -> float:
    return _unit(owner, "exponential") / lambd


def _seed(owner: Any, a: Any = None, version: int = 2) -> None:
    vars(owner)["_covassay_stream"] = _seeded("Random", a)


PYTHON: dict[str, Callable[..., Any]] = {
    "random": lambda owner: _unit(owner, "uniform"),
    "getrandbits": _bits,
    "gauss": _gauss,
    "normalvariate": _gauss,
    "expovariate": _exponential,
    "seed": _seed,
}


class _Replaced:
    """Attributes of modules that are replaced for the time of a run."""

    def __init__(self) -> None:
        self._saved: list[tuple[Any, str, Any, bool]] = []

    def put(self, owner: Any, name: str, new: Any) -> None:
        self._saved.append((owner, name, getattr(owner, name), name in vars(owner)))
        setattr(owner, name, new)

    def put_back(self) -> None:
        for owner, name, old, own in reversed(self._saved):
            if own:
                setattr(owner, name, old)
            else:
                delattr(owner, name)


def _method(name: str, real: Any) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **named: Any) -> Any:
        return real(self, *args, **named) if _tape is None else PYTHON[name](self, *args, **named)

    return method


def _function(name: str, real: Any) -> Callable[..., Any]:
    def function(*args: Any, **named: Any) -> Any:
        return real(*args, **named) if _tape is None else PYTHON[name](random._inst, *args, **named)

    return function


def _legacy(state: StandState, name: str, real: Any) -> Callable[..., Any]:
    def function(*args: Any, **named: Any) -> Any:
        return real(*args, **named) if _tape is None else getattr(state, name)(*args, **named)

    return function


def _noticed(real: Any) -> Callable[..., Any]:
    return lambda *args, **named: _watched(real, *args, **named)


def _urandom(real: Any) -> Callable[[int], bytes]:
    return lambda count: real(count) if _tape is None else _bytes(count)


@contextlib.contextmanager
def standing() -> Iterator[None]:
    """Replace all generators in the `with` block, and restore them at its end. Blocks may be nested."""
    global _standing
    _standing += 1
    if _standing > 1:
        try:
            yield
        finally:
            _standing -= 1
        return
    replaced = _Replaced()
    state = StandState()
    try:
        for name in LEGACY:
            replaced.put(np.random, name, _legacy(state, name, getattr(np.random, name)))
        for name, new in {
            "RandomState": StandState,
            "Generator": StandGenerator,
            "default_rng": _default_rng,
            "SeedSequence": _Sequence,
            **_WATCHING,
        }.items():
            replaced.put(np.random, name, new)
        for name in ("get_state", "set_state"):
            replaced.put(np.random, name, _noticed(getattr(np.random, name)))
        for name in ("getstate", "setstate"):
            replaced.put(random, name, _noticed(getattr(random, name)))
            replaced.put(random.Random, name, _noticed(getattr(random.Random, name)))
        replaced.put(np.random.mtrand, "_rand", state)
        for name in PYTHON:
            replaced.put(random, name, _function(name, getattr(random, name)))
            replaced.put(random.Random, name, _method(name, getattr(random.Random, name)))
            if name in vars(random.SystemRandom):
                replaced.put(random.SystemRandom, name, _method(name, getattr(random.SystemRandom, name)))
        real = os.urandom
        replaced.put(os, "urandom", _urandom(real))
        replaced.put(random, "_urandom", _urandom(real))
        yield
    finally:
        replaced.put_back()
        _standing -= 1
