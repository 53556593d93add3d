"""Select the data of a table: the columns, whether there is a header, and the delimiter of cells.

The choices in a selection are public. The choices are made by name, before the data are read; the budget does not cover
a choice that depends on the data.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from covassay.reference.errors import InvalidInput, guess
from covassay.reference.release.messages import shown

STREAM_LIMIT = 2**33  # the limit on the bytes of a stream prevents an endless stream from filling the disk
TAB_WORDS = ("tab", "\\t")
PART_OF_A_NUMBER = frozenset("0123456789+-.eE_")


@dataclass(frozen=True)
class Selection:
    """The selection of columns, and the way in which text is read.

    columns : the columns to read, by name, in this order; None reads all of them.
    drop : the columns to leave out, by name; all others are read.
    header : whether the first line of text has names; None recognises this by a cell that is not a number.
    delimiter : the character between two cells of text; None means a comma, and a tab in a .tsv file.
    allow_copies : whether files of equal content describe different people, so that each of them counts.
    stream_limit : the largest number of bytes that are read from a stream, also after decompression.

    Raises
    ------
    InvalidInput : both `columns` and `drop` are given, one of them is empty or names a column twice, or `delimiter`
        cannot separate numbers, or `stream_limit` is no whole number above 0.
    """

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] | None = None
    header: bool | None = None
    delimiter: str | None = None
    allow_copies: bool = False
    stream_limit: int = STREAM_LIMIT

    def __post_init__(self) -> None:
        if self.columns is not None and self.drop is not None:
            raise InvalidInput("--columns excludes --drop: give one of them")
        for option, names in (("--columns", self.columns), ("--drop", self.drop)):
            if names is not None:
                object.__setattr__(self, option[2:], _require_distinct(option, names))
        if not isinstance(self.stream_limit, int) or self.stream_limit < 1:
            raise InvalidInput(f"--stream-limit {self.stream_limit}: must be a whole number of bytes, at least 1")
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _require_delimiter(self.delimiter))

    @property
    def names(self) -> tuple[str, ...] | None:
        """Return the columns that the selection names, to be read or to be left out."""
        return self.drop if self.columns is None else self.columns

    def require_no_text_options(self, name: str) -> None:
        """Raise `InvalidInput` if an option was given that applies only to text."""
        for option, value in (("--header or --no-header", self.header), ("--delimiter", self.delimiter)):
            if value is not None:
                raise InvalidInput(f"{option} is for text files (.csv, .tsv): {name} is not one")

    def indices(self, place: str, columns: Sequence[str], index: Sequence[str] = ()) -> tuple[int, ...]:
        """Return the positions of the selected columns in `columns`, in the order in which they are read.

        The argument `index` names the columns of a row index, which has a number or a name for each row. The columns of
        an index are read only if the selection names them in `columns`.
        """
        for name in self.names or ():
            if name not in columns:
                option = "--drop" if self.columns is None else "--columns"
                hint = guess(name, columns, shown)
                raise InvalidInput(
                    f"{option} {shown(name)}: {hint}must be a column of {place}, which has no such column"
                )
        if self.columns is not None:
            return tuple(columns.index(name) for name in self.columns)
        left = tuple(j for j, name in enumerate(columns) if name not in (*(self.drop or ()), *index))
        if not left and self.drop:
            raise InvalidInput(f"--drop names every column of {place}: must leave one")
        if not left:
            raise InvalidInput(f"{place} has no column but a row index: must have at least one (--columns reads it)")
        return left


def _require_distinct(option: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"{option} {shown(str(names))}: must be a list of names")
    found = tuple(" ".join(name.split()) for name in names)
    if not found or not all(found):
        raise InvalidInput(
            f"{option} {shown(','.join(found))}: must name at least one column, and no name may be empty"
        )
    for name in found:
        if found.count(name) > 1:
            raise InvalidInput(f"{option} names {shown(name)} twice: must name a column once")
    return found


def _require_delimiter(text: str) -> str:
    delimiter = "\t" if text in TAB_WORDS else text
    if len(delimiter) != 1 or delimiter in "\"'\r\n\0" or delimiter in PART_OF_A_NUMBER or delimiter.isalnum():
        raise InvalidInput(
            f"--delimiter {shown(text)}: must be one character that is no part of a number or a quote, or the word tab"
        )
    return delimiter
