"""Plans through a caller's functions: IStreamReader, IStreamReaderV2, IStreamWriter."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._enums import SeekPosition

_PIECE = 1 << 24   # bytes that are asked for at a time


class IStreamReader:
    """To be derived from: read(size) gives at most so many bytes, none at the end."""

    def __init__(self) -> None:
        pass

    def read(self, size: int) -> bytes:
        raise NotImplementedError(f'{type(self).__name__} derives from IStreamReader and has no read(size)')


class IStreamReaderV2:
    """To be derived from: read(num_bytes, stream) as above; seek(offset, where) is not asked for: plans are read from their start."""

    def __init__(self) -> None:
        pass

    def read(self, num_bytes: int, stream: int) -> bytes:
        raise NotImplementedError(f'{type(self).__name__} derives from IStreamReaderV2 and has no read(num_bytes, stream)')

    def seek(self, offset: int, where: SeekPosition) -> bool:
        raise NotImplementedError(f'{type(self).__name__} derives from IStreamReaderV2 and has no seek(offset, where)')


class IStreamWriter:
    """To be derived from: write(data) takes bytes and returns how many it has taken."""

    def __init__(self) -> None:
        pass

    def write(self, data: bytes) -> int:
        raise NotImplementedError(f'{type(self).__name__} derives from IStreamWriter and has no write(data)')


def read_all(reader: IStreamReader | IStreamReaderV2) -> bytes:
    """All that a reader gives. What it raises comes out as it is; TypeError: it gives something else than bytes."""
    plan = bytearray()
    while True:
        piece: Any = reader.read(_PIECE, 0) if isinstance(reader, IStreamReaderV2) else reader.read(_PIECE)
        try:
            size = memoryview(piece).nbytes
        except TypeError:
            raise TypeError(f'{type(reader).__name__}.read() gives bytes, got {type(piece).__name__}') from None
        if size > _PIECE:
            raise ValueError(f'{type(reader).__name__}.read() was asked for {_PIECE} bytes at most, and gave {size}')
        if not size:
            return bytes(plan)
        plan += piece


def write_all(writer: IStreamWriter, plan: bytes) -> None:
    """Until all is taken. OSError: the writer takes no more, or says nonsense."""
    rest = memoryview(plan)
    while rest:
        taken = writer.write(bytes(rest[:_PIECE]))
        if not isinstance(taken, int) or not 0 < taken <= min(len(rest), _PIECE):
            raise OSError(f'{type(writer).__name__}.write() was given {min(len(rest), _PIECE)} bytes and says that it took {taken!r}')
        rest = rest[taken:]
