"""Read MNIST in its published format IDX, either uncompressed or compressed with gzip.

An IDX file begins with two zero bytes, the type (8 for unsigned bytes), the number of axes, and the length of every
axis as four bytes, highest byte first; then the entries follow.
"""

import gzip
import math
import zlib
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
UNSIGNED_BYTE = 8
BRIGHTEST = 255


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if the file is a gzip file."""
    if not path.is_file():
        raise InvalidInput(f"{path}: there is no such file")
    content = path.read_bytes()
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        raise InvalidInput(f"{path}: cannot be decompressed ({error})") from None


def read(path: Path, axes: int) -> NDArray[np.uint8]:
    """Return the unsigned bytes of an IDX file with the given number of axes."""
    content = read_bytes(path)
    begin = 4 + 4 * axes
    if content[:4] != bytes([0, 0, UNSIGNED_BYTE, axes]) or len(content) < begin:
        raise InvalidInput(f"{path}: must be an IDX file of unsigned bytes with {axes} axes")
    shape = [int.from_bytes(content[4 + 4 * axis : 8 + 4 * axis], "big") for axis in range(axes)]
    if len(content) != begin + math.prod(shape):
        raise InvalidInput(
            f"{path}: has {len(content) - begin} bytes of entries: must have {math.prod(shape)}, for the shape "
            f"{' × '.join(map(str, shape))}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=begin).reshape(shape)


def _in(folder: Path, name: str) -> Path:
    """Return the path of the file `name` in the folder, or of its compressed form. If the path leads to a file, return
    the path itself.
    """
    if not folder.is_dir():
        return folder
    plain = folder / name
    return plain if plain.exists() else plain.with_name(f"{name}.gz")


@cache
def images(path: Path) -> Matrix:
    """Return the images of a folder or a file as rows, with pixels divided by 255 and by the square root of d, as in
    DLY22.
    """
    pixels = read(_in(path, IMAGES), 3)
    if pixels.size == 0:
        raise InvalidInput(f"{path}: holds no images")
    flat = pixels.reshape(len(pixels), -1)
    return flat / (BRIGHTEST * math.sqrt(flat.shape[1]))


@cache
def images_of(path: Path, digit: int) -> Matrix:
    """Return the images of one digit in a folder that also has the labels."""
    if not path.is_dir():
        raise InvalidInput(f"{path}: must be a folder with {IMAGES} and {LABELS}")
    labels, rows = read(_in(path, LABELS), 1), images(path)
    if len(labels) != len(rows):
        raise InvalidInput(
            f"{path}: has {len(rows)} images and {len(labels)} labels: must have a label for every image"
        )
    chosen: Matrix = rows[labels == digit]
    if not len(chosen):
        raise InvalidInput(f"{path}: holds no image of the digit {digit}")
    return chosen
