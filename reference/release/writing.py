"""Write a release to a file, as a whole or not at all.

Writing is atomic: either the whole file is written or none of it. When a release is written, its privacy budget is
already spent. Before a release, `require_writable` checks that the file can be written, and `require_new` that the file
replaces no earlier release.
"""

import contextlib
import csv
import io
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import SECOND_MOMENT, Output
from covassay.reference.release.messages import named, reason, require_suffix

WRITABLE = (".csv", ".json", ".npy", ".npz")
FORMULAS = ("=", "+", "-", "@")
TEMPORARY = (".covassay-", ".tmp")  # prefix and suffix of the name of a file during writing


def require_writable(path: Path | None) -> None:
    """Raise `InvalidInput` unless `write_release` can write to `path`; call the function before a release.

    The function creates and removes an empty file in the directory, because nothing else shows with certainty that a
    file can be created there. The path None, which stands for standard output, always passes.
    """
    if path is None:
        return
    path = Path(path)
    target = target_file(path)
    require_suffix(path, WRITABLE)
    try:
        _remove_leftovers(target.parent)
        with _temporary_beside(target) as (probe, _):
            probe.unlink()
    except OSError as error:
        raise InvalidInput(
            f"{named(path)} cannot be created ({reason(error)}): must be in a directory that can be written to"
        ) from None


def require_new(path: Path | None, force: bool) -> None:
    """Raise `InvalidInput` if a file is at `path`, unless `force` allows replacing it."""
    if path is not None and not force and target_file(path).exists():
        raise InvalidInput(
            f"{named(path)} exists: must be a new file, so that no release is lost (--force replaces it)"
        )


def write_release(
    path: Path | None,
    values: ArrayLike,
    columns: Sequence[str],
    provenance: Mapping[str, object],
    output: Output = SECOND_MOMENT,
    *,
    projected: ArrayLike | None = None,
    force: bool = True,
) -> None:
    """Write the output of a mechanism, without rounding, in the format of the path's suffix.

    Parameters
    ----------
    path : where to write. If anything fails, an existing file is not changed.
        - .csv: a line of column names, then a line per row. For "gaussian", the first row is the mean and the others
          are the covariance. For "rows-mean-covariance" the first row holds the number of rows and the mean, and the
          first column repeats the mean. For the outputs "number" and "level", the file has two lines: the word "number"
          or "level", and then the value.
        - .json: an object with columns, the values under the names of `output.parts`, and provenance.
        - .npy: the array alone.
        - .npz: arrays under the names of `output.parts`, columns (text) and provenance (JSON text, zero-dimensional).
        - None: the text of the .csv file, on standard output.
    values : finite, of the shape that `output` has on d columns.
    columns : the d column names. For the output "coefficients", the last name in the list is the name of the target of
        the regression. The output has no column for the target. The .json and .npz files store the name of the target
        as "target".
    provenance : entries that JSON can represent, or NumPy numbers and arrays. The .csv and .npy files do not contain
        the provenance.
    projected : the post-processed `values`, of the same shape. The .json and .npz files contain `values` and, under the
        name "projected", this matrix. The .csv and .npy files contain only one array: `projected` if it is given, and
        otherwise `values`.
    force : whether an existing file is replaced. If `force` is false, an existing file raises `InvalidInput`.

    Raises
    ------
    InvalidInput : an argument breaks a rule. Nothing has been written.
    OSError : the system failed while writing. After an error no part of the file remains.
    """
    arrays = [_require_release(given, columns, output) for given in (values, projected) if given is not None]
    if path is None:
        _print_text(_csv_text(arrays[-1], columns, output))
        return
    path = Path(path)
    require_writable(path)
    require_new(path, force)
    replace_file(target_file(path), _encoded(path.suffix.lower(), arrays, columns, provenance, output), force)


# Writing


def _require_release(values: ArrayLike, columns: Sequence[str], output: Output) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    shape = output.shape(len(columns))
    if array.shape != shape:
        raise InvalidInput(
            f"{output.kind} of shape {array.shape}: must have shape {shape}, as there are {len(columns)} column names"
        )
    if not np.isfinite(array).all():
        raise InvalidInput(f"{output.kind} contains a value that is not finite: every value must be finite")
    return array


def _encoded(
    suffix: str,
    arrays: Sequence[NDArray[np.float64]],
    columns: Sequence[str],
    provenance: Mapping[str, object],
    output: Output,
) -> bytes:
    """Return the content of a file in the format of its suffix. The argument `arrays` has the values and, if it was
    requested, their projection.
    """
    buffer = io.BytesIO()
    parts: dict[str, Any] = dict(output.parts(arrays[0]))
    if len(arrays) > 1:
        parts["projected"] = [*output.parts(arrays[1]).values()][-1]
    names = output.names(columns)
    if suffix == ".csv":
        buffer.write(_encoded_text(_csv_text(arrays[-1], columns, output)))
    elif suffix == ".json":
        buffer.write(_encoded_text(json_text({**names, **parts, "provenance": dict(provenance)}) + "\n"))
    elif suffix == ".npy":
        np.save(buffer, arrays[-1], allow_pickle=False)
    else:
        parts |= {key: np.array(value, dtype=np.str_) for key, value in names.items()}
        np.savez(buffer, **parts, provenance=np.array(json_text(dict(provenance)), dtype=np.str_))
    return buffer.getvalue()


def _csv_text(values: NDArray[np.float64], columns: Sequence[str], output: Output) -> str:
    header = output.header(columns)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    text.write(",".join(map(_header_cell, header)) + "\n")
    writer.writerows(map(repr, row) for row in np.atleast_2d(values).tolist())
    return text.getvalue()


def _header_cell(name: str) -> str:
    """Return a name as a cell of a .csv file.

    A spreadsheet would execute a cell that begins with = + - or @. A cell that a spreadsheet would execute gets an
    apostrophe and quotes.
    """
    formula = name.startswith(FORMULAS)
    text = "'" * formula + name
    return '"' + text.replace('"', '""') + '"' if formula or any(c in text for c in ',"\r\n') else text


def json_text(document: object) -> str:
    """Return `document` as JSON text; NumPy numbers and arrays become plain numbers and lists."""

    def plain(value: object) -> object:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        raise TypeError(f"a {type(value).__name__}")

    try:
        return json.dumps(document, default=plain, allow_nan=False, ensure_ascii=False, indent=2)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"provenance has an entry that JSON cannot hold ({reason(error)}): "
            f"must be finite numbers, text, lists and dictionaries"
        ) from None


def _print_text(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(_encoded_text(text, encoding).decode(encoding))
    sys.stdout.flush()


def _encoded_text(text: str, encoding: str = "utf-8") -> bytes:
    # The budget is already spent, so a character that the encoding lacks must not make the release fail.
    return text.encode(encoding, "backslashreplace")


def same_file(path: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file or folder, existing or not, under any names."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return os.path.realpath(path) == os.path.realpath(other)


def target_file(path: Path) -> Path:
    """Return the file that is replaced by writing to `path`, which is `path` itself or, if it is a link, its target."""
    try:
        target = path.resolve()
        mode = target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise InvalidInput(
                f"{named(path)} is in a directory that does not exist: must be in an existing directory"
            ) from None
        return target
    except (OSError, ValueError, RuntimeError) as error:  # a loop of links raises RuntimeError
        raise InvalidInput(f"{named(path)} cannot be written ({reason(error)}): must be a path for a file") from None
    if stat.S_ISDIR(mode):
        raise InvalidInput(f"{named(path)} is a directory: must be a file")
    if not stat.S_ISREG(mode):
        raise InvalidInput(f"{named(path)} is a device or a pipe: must be an ordinary file")
    if not os.access(target, os.W_OK):
        raise InvalidInput(f"{named(path)} is write-protected: must be a file to replace")
    return target


@contextlib.contextmanager
def _temporary_beside(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Open a new file in the folder of the target. The file is locked while it is open, which distinguishes it from
    leftovers of killed processes.

    The module tempfile is not used: it creates files that only their owner can read, and renaming a file does not
    change its permissions.
    """
    while True:
        path = target.with_name(secrets.token_hex(8).join(TEMPORARY))
        with path.open("xb") as file:
            locked = _lock(file)
            if locked and not path.exists():
                continue  # before this file was locked, another process removed it as a leftover
            try:
                yield path, file
            except BaseException:
                path.unlink(missing_ok=True)
                raise
            return


def _lock(file: BinaryIO) -> bool:
    """Try to lock an open file without waiting. Return false if another process has locked the file, or if the system
    has no locks.
    """
    try:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_leftovers(folder: Path) -> None:
    """Remove unfinished files of processes that were killed during writing."""
    for path in folder.glob("*".join(TEMPORARY)):
        with contextlib.suppress(OSError), path.open("rb") as file:
            if _lock(file):
                path.unlink()


def replace_file(target: Path, content: bytes, force: bool = True) -> None:
    """Write the file `target` with this content, in full or not at all; without `force`, write it only if it is new.

    The new file gets the permissions of the file that it replaces.
    """
    _remove_leftovers(target.parent)
    with _temporary_beside(target) as (temporary, file):
        file.write(content)
        file.flush()
        if target.exists():
            _hand_on(target.stat(), temporary)
        os.fsync(file.fileno())
        if os.name == "nt":  # Windows cannot rename an open file
            file.close()
        if not force and _linked(temporary, target):
            temporary.unlink()
        else:
            os.replace(temporary, target)


def _hand_on(before: os.stat_result, new: Path) -> None:
    """Give a new file the permissions of the file that it replaces and, as far as the system allows, the owner of that
    file.
    """
    if (new.stat().st_uid, new.stat().st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(OSError):
            os.chown(new, before.st_uid, before.st_gid)
    new.chmod(stat.S_IMODE(before.st_mode))


def _linked(temporary: Path, target: Path) -> bool:
    """Link the temporary file to its final name, and return whether the link could be made.

    Raise `InvalidInput` if another file has got the final name in the meantime.
    """
    try:
        os.link(temporary, target)
    except OSError:  # a file with the final name exists, or the file system has no links
        if target.exists():
            raise InvalidInput(f"{named(target)} was created a moment ago: must be a new file") from None
        return False
    return True
