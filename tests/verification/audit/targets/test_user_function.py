"""Test audits of a user's function in a plain file. The file is in a folder that also has a folder `verification`."""

import subprocess
import sys
from pathlib import Path

import pytest

CORRECT = '''
import numpy as np


def haar(d, rng):
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return q * np.sign(np.diag(r))


def singular_values(d, rng):
    """Metropolis-free and slow: rejection is hopeless, so the user draws exactly for d <= 2 and borrows beyond."""
    from covassay.reference.laws.nuclear_laplace import sample_spectrum

    return sample_spectrum(d, rng, 1)[0]


def release(x, *, epsilon, rng):
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    x = x / np.maximum(1.0, norms)  # CLIP
    n, d = x.shape
    scale = 2 / (n * epsilon)  # SCALE
    s = singular_values(d, rng)  # SHAPE
    return x.T @ x / n + scale * (haar(d, rng) * s) @ haar(d, rng).T
'''
BROKEN = {
    "halved-scale": (("scale = 2 / (n * epsilon)", "scale = 1 / (n * epsilon)"), "half the calibrated scale"),
    "gamma-shape": (
        ("s = singular_values(d, rng)", "s = singular_values(d, rng); s *= rng.gamma(d * (d + 1) / 2) / s.sum()"),
        "Gamma shape d(d+1)/2 in place of d²",
    ),
    "unclipped": (("x = x / np.maximum(1.0, norms)", "pass"), "rows of norm 50"),
    "global-seed": (("n, d = x.shape", "n, d = x.shape; rng = np.random.default_rng(0)"), "the target fixes its seed"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "verification").mkdir()
    (tmp_path / "verification" / "__init__.py").write_text("raise RuntimeError('shadowed')\n")
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "__init__.py").write_text("raise RuntimeError('shadowed')\n")
    return tmp_path


def run_audit(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    (folder / "mymodule.py").write_text(source)
    command = Path(sys.executable).with_name("covassay")
    arguments = ["audit", "mymodule:release", "--mechanism", "nuclear-laplace", "--epsilon", "1", "--samples", "200",
                 "--jobs", "1"]  # fmt: skip
    return subprocess.run([command, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.thorough
def test_a_correct_function_is_not_refuted(project: Path) -> None:
    """The test fails if an audit refutes a correct function of a user."""
    done = run_audit(project, CORRECT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "NOT REFUTED" in done.stdout
    assert "not a certificate" in done.stdout


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in BROKEN])
def test_a_broken_function_is_caught_and_the_mistake_is_named(project: Path, name: str) -> None:
    (old, new), named = BROKEN[name]
    assert old in CORRECT
    done = run_audit(project, CORRECT.replace(old, new))
    assert done.returncode == 1, done.stdout + done.stderr
    assert named in " ".join(done.stdout.split())
    assert "Replay\n  covassay audit mymodule:release --mechanism nuclear-laplace --epsilon 1" in done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("import numpy as np\n\n", "import sys\nimport numpy as np\nsys.exit(0)\n", id="at import"),
        pytest.param("    norms = np", "    raise SystemExit(0)\n    norms = np", id="in every draw"),
    ],
)
def test_a_function_that_ends_the_process_cannot_be_audited(project: Path, old: str, new: str) -> None:
    """The test fails if an audit ends with exit status 0 because the target calls sys.exit(0)."""
    assert old in CORRECT
    done = run_audit(project, CORRECT.replace(old, new, 1))
    assert done.returncode == 3, done.stdout + done.stderr
    assert "raised SystemExit: 0" in done.stderr


@pytest.mark.thorough
def test_a_function_that_ends_the_process_after_some_draws_is_refuted(project: Path) -> None:
    source = "DRAWS = []\n" + CORRECT.replace(
        "    norms = np", "    DRAWS.append(1)\n    if len(DRAWS) > 5:\n        raise SystemExit(0)\n    norms = np", 1
    )
    done = run_audit(project, source)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "exit: SystemExit" in " ".join(done.stdout.split())
