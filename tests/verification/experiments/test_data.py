"""Test the code that loads published data sets. Small files are read correctly, damaged files give a clear error, and
the rows stay within their bounds.
"""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.verification.experiments.data import bundled, files, idx, news, uci

ADULT = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    "United-States, <=50K\n"
    "50, ?, 83311, Masters, 14, Divorced, ?, Husband, Black, Female, 0, 0, 13, Cuba, >50K\n"
)
AIRFOIL = "800\t0\t0.3048\t71.3\t0.00266337\t126.201\n1000\t22.2\t0.3048\t71.3\t0.00266337\t125.201\n"
ARTICLE = " ".join(["public", "finance", "of", "the", "union"] * 5)
NEWS = f"{ARTICLE}\nA second paragraph.\n\ntoo short\n\n{ARTICLE} again\n"


def idx_bytes(entries: np.ndarray) -> bytes:
    shape = b"".join(length.to_bytes(4, "big") for length in entries.shape)
    return bytes([0, 0, 8, entries.ndim]) + shape + entries.astype(np.uint8).tobytes()


IMAGES = np.arange(5 * 2 * 3).reshape(5, 2, 3) * 8
LABELS = np.array([0, 1, 2, 0, 9])


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_adult_has_105_columns_in_the_unit_ball(tmp_path: Path) -> None:
    rows = uci.adult(written(tmp_path / "adult.data", ADULT))
    assert rows.shape == (2, 105)
    assert (np.linalg.norm(rows, axis=1) <= 1).all()
    # In the first row, each of the eight categorical fields has a known category, for which one column is not zero.
    assert np.count_nonzero(np.isclose(rows[0], 1 / np.sqrt(14))) == 8
    assert np.count_nonzero(np.isclose(rows[1], 1 / np.sqrt(14))) == 6  # two categories are unknown
    assert rows[0, 0] == pytest.approx((2 * 39 / 100 - 1) / np.sqrt(14))


def test_both_parts_of_adult_are_read_from_a_folder(tmp_path: Path) -> None:
    written(tmp_path / "adult.data", ADULT)
    written(tmp_path / "adult.test", f"{uci.HEADING}\n" + ADULT.replace("50K\n", "50K.\n") + "\n")
    assert uci.adult(tmp_path).shape == (4, 105)


def test_airfoil_is_scaled_by_its_bounds(tmp_path: Path) -> None:
    """The test fails if rows are scaled by the minimum and maximum of the data, which would not be private."""
    rows = uci.airfoil(written(tmp_path / "airfoil_self_noise.dat", AIRFOIL))
    assert rows.shape == (2, 6)
    assert rows[0, 0] == pytest.approx((2 * 800 / 20_000 - 1) / np.sqrt(6))
    assert (np.linalg.norm(rows, axis=1) <= 1).all()


@pytest.mark.parametrize("compressed", [False, True])
def test_images_are_read_plain_and_compressed(compressed: bool, tmp_path: Path) -> None:
    """The test fails if pixels are in the wrong order, or if images get the labels of other images."""
    for name, entries in ((idx.IMAGES, IMAGES), (idx.LABELS, LABELS)):
        content = idx_bytes(entries)
        written(tmp_path / (name + ".gz" * compressed), gzip.compress(content) if compressed else content)
    rows = idx.images(tmp_path)
    assert np.array_equal(rows, IMAGES.reshape(5, 6) / (255 * np.sqrt(6)))
    assert np.array_equal(idx.images_of(tmp_path, 0), rows[[0, 3]])
    with pytest.raises(InvalidInput, match="no image of the digit 7"):
        idx.images_of(tmp_path, 7)


def test_short_articles_are_left_out_and_words_are_hashed(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    path = written(tmp_path / "news.gz", gzip.compress(NEWS.encode()))
    assert len(news.articles(path)) == 2
    unit, largest = news.counts(path, 32, True), news.counts(path, 32, False)
    assert unit.shape == largest.shape == (2, 32)
    assert np.allclose(np.linalg.norm(unit, axis=1), 1)
    assert np.linalg.norm(largest, axis=1).max() == pytest.approx(1)


DAMAGED: dict[str, tuple[Callable[[Path], object], str | bytes, str]] = {
    "adult, a column is missing": (uci.adult, ADULT.replace("39, ", ""), "line 1 has 14 fields: must have 15"),
    "adult, cut off": (uci.adult, ADULT[:-30], "line 2 has 10 fields: must have 15"),
    "adult, cut off in the last field": (uci.adult, ADULT[:-3], "line 2 ends in '>5': must end in <=50K or >50K"),
    "adult, unknown category": (uci.adult, ADULT.replace("Cuba", "Atlantis"), "line 2, native-country is 'Atlantis'"),
    "adult, no number": (uci.adult, ADULT.replace("77516", "many"), "line 1, fnlwgt: 'many' must be a finite number"),
    "adult, empty": (uci.adult, "", "holds no records"),
    "adult, binary": (uci.adult, b"\xff\xfe\x00", "is not text"),
    "airfoil, wrong columns": (uci.airfoil, "1 2 3\n", "line 1 has 3 fields: must have 6"),
    "airfoil, no number": (uci.airfoil, AIRFOIL.replace("22.2", "nan"), "line 2: 'nan' must be a finite number"),
    "airfoil, empty": (uci.airfoil, "\n", "holds no records"),
    "images, cut off": (
        idx.images,
        idx_bytes(IMAGES)[:-1],
        "has 29 bytes of entries: must have 30, for the shape 5 × 2",
    ),
    "images, too long": (idx.images, idx_bytes(IMAGES) + b"0", "has 31 bytes of entries"),
    "images, labels in their place": (
        idx.images,
        idx_bytes(LABELS),
        "must be an IDX file of unsigned bytes with 3 axes",
    ),
    "images, header cut off": (idx.images, idx_bytes(IMAGES)[:9], "must be an IDX file"),
    "images, none": (idx.images, idx_bytes(IMAGES[:0]), "holds no images"),
    "images, gzip cut off": (idx.images, gzip.compress(idx_bytes(IMAGES))[:-9], "cannot be decompressed"),
    "images, gzip damaged": (idx.images, b"\x1f\x8b" + b"\x00" * 30, "cannot be decompressed"),
    "news, no empty lines": (news.articles, NEWS.replace("\n\n", "\n"), "has 1 articles"),
    "news, binary": (news.articles, b"\xff\xfe\x00", "is not text"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_one_clear_error(name: str, tmp_path: Path) -> None:
    load, content, message = DAMAGED[name]
    with pytest.raises(InvalidInput, match=message.replace("(", r"\(")) as raised:
        load(written(tmp_path / "file", content))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("load", [uci.adult, uci.airfoil, idx.images, news.articles])
def test_a_missing_file_is_one_clear_error(load: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no such file"):
        load(tmp_path / "nowhere")


def test_labels_must_fit_the_images(tmp_path: Path) -> None:
    written(tmp_path / idx.IMAGES, idx_bytes(IMAGES))
    written(tmp_path / idx.LABELS, idx_bytes(LABELS[:4]))
    with pytest.raises(InvalidInput, match="has 5 images and 4 labels"):
        idx.images_of(tmp_path, 0)
    with pytest.raises(InvalidInput, match="must be a folder with"):
        idx.images_of(tmp_path / idx.IMAGES, 0)


@pytest.mark.parametrize(("name", "bounds"), [("wine", bundled.WINE), ("breast_cancer", bundled.BREAST_CANCER)])
def test_the_stated_bounds_are_not_too_small(name: str, bounds: tuple[tuple[float, float], ...]) -> None:
    """The test fails if a value of a data set is outside of the stated bounds, because clipping would change it."""
    pytest.importorskip("sklearn")
    raw = bundled.raw(name)
    low, high = np.array(bounds).T
    assert ((raw >= low) & (raw <= high)).all()


def test_bundled_rows_lie_in_the_unit_ball() -> None:
    pytest.importorskip("sklearn")
    for rows in (bundled.wine(), bundled.wine_by_largest_norm(), bundled.breast_cancer(), bundled.digits()):
        assert np.linalg.norm(rows, axis=1).max() <= 1 + 1e-12


def test_data_must_be_given_by_a_known_name_and_be_there(tmp_path: Path) -> None:
    path = written(tmp_path / "a", "")
    assert files.given([f"adult={path}"]) == {"adult": path}
    for item in ("adult", f"iris={path}", f"adult={path}x"):
        with pytest.raises(InvalidInput, match="--data"):
            files.given([item])
    assert files.missing("adult", {}) == "needs --data adult=PATH"
    assert files.missing("adult", {"adult": path}) == files.missing("", {}) == ""
