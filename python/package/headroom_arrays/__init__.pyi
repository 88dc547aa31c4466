# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Self, SupportsIndex, overload

from typing_extensions import CapsuleType

__version__: str

class Array:
    """An array that grows at the end, and whose views stay valid."""

    def __init__(
        self,
        dtype: Any = "float64",
        *,
        shape: int | Sequence[int] = (),
        nullable: bool = False,
        max_elements: int | None = None,
        path: str | bytes | PathLike[str] | PathLike[bytes] | None = None,
        mode: Literal["x", "a", "r"] = "x",
    ) -> None: ...
    def append(self, value: Any, /) -> None:
        """Appends one element."""
    def extend(self, values: Iterable[Any], /) -> None:
        """Appends all elements of a buffer, an Arrow array or an iterable."""
    def reserve(self, count: int) -> None:
        """Asks for the memory of this many elements now."""
    def truncate(self, count: int) -> None:
        """Keeps the first elements only."""
    def shrink_to_fit(self) -> None:
        """Gives memory that holds no element back to the system."""
    def publish(self) -> None:
        """Other processes that have the file open see the elements so far."""
    def commit(self) -> None:
        """Returns when the elements so far have reached the disk: they survive a power cut. Publishes, too."""
    def refresh(self) -> None:
        """A reader takes over what the writer has published."""
    def close(self) -> None:
        """Ends the array: a file is committed and can be written to by others. Views stay valid."""
    def tolist(self) -> list[Any]:
        """The elements as a list."""
    @property
    def closed(self) -> bool: ...
    @property
    def path(self) -> str | None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def nullable(self) -> bool: ...
    @property
    def null_count(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    @property
    def max_elements(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> Any: ...
    def __setitem__(self, key: SupportsIndex | slice, value: Any) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __sizeof__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[CapsuleType, CapsuleType]: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class Table:
    """Named arrays side by side. A row is in all of them or in none."""

    def __init__(self, columns: Mapping[str, Array], *, chunk_rows: int | None = None) -> None: ...
    def append(self, row: Mapping[str, Any] | Sequence[Any]) -> None:
        """Appends a row: all of it or, where that raises, nothing."""
    def extend(self, columns: Mapping[str, Iterable[Any]] | Sequence[Iterable[Any]]) -> None:
        """Appends rows, given as columns of equal length: all of them or none."""
    def truncate(self, count: int) -> None:
        """Keeps the first rows only."""
    def publish(self) -> None:
        """Other processes see the rows so far."""
    def commit(self) -> None:
        """Returns when the rows so far have reached the disk."""
    def refresh(self) -> None:
        """A reader takes over the rows that the writer has published."""
    def close(self) -> None:
        """Closes all columns."""
    @property
    def column_names(self) -> list[str]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Array: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...

def reservations() -> list[tuple[int, int, int]]:
    """The address ranges that arrays hold now: where each begins, and how many bytes of it are reserved and committed."""
