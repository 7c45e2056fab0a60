"""Frames from a pipe, in order: y4m (YUV4MPEG2), or raw ones of a size and type that the caller says. One is decoded ahead of its use."""
from __future__ import annotations

import queue
import sys
import threading
from typing import Any, BinaryIO, Iterator

import numpy as np

from tenfold.imaging.files._errors import refuse, refuse_argument

CHROMA = {'420': (2, 2), '422': (2, 1), '444': (1, 1), '411': (4, 1), 'mono': None}   # columns and rows of a frame for one of its chroma
IN_FLIGHT = 2


class FrameReader:
    """Iterates over frames: (y, x), or (c, y, x) with c of red, green, blue. `shape` and `dtype` are of one frame."""

    def __init__(self, stream: BinaryIO, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], layout: _Layout | None):
        self.name, self.shape, self.dtype = name, shape, dtype
        self._stream, self._layout = stream, layout

    def __iter__(self) -> Iterator[np.ndarray]:
        ready: queue.Queue[Any] = queue.Queue(IN_FLIGHT - 1)
        stop = threading.Event()

        def put(item: Any) -> bool:
            while not stop.is_set():
                try:
                    ready.put(item, timeout=0.1)
                    return True
                except queue.Full:
                    continue
            return False

        def run() -> None:
            try:
                number = 0
                while (frame := self._next(number)) is not None and put(frame):
                    number += 1
                put(None)
            except BaseException as error:
                put(error)
        threading.Thread(target=run, daemon=True).start()
        try:
            while (frame := ready.get()) is not None:
                if isinstance(frame, BaseException):
                    raise frame
                yield frame
        finally:
            stop.set()

    def _next(self, number: int) -> np.ndarray | None:
        if self._layout:
            head = self._stream.readline(256)
            if not head:
                return None
            if not head.startswith(b'FRAME') or not head.endswith(b'\n'):
                refuse(self.name, f'frame {number} begins with {head[:16]!r}', 'expected FRAME, as y4m has: the stream is cut or damaged')
        size = self._layout.size if self._layout else int(np.prod(self.shape)) * self.dtype.itemsize
        data = self._stream.read(size)
        if not data and not self._layout:
            return None
        if len(data) < size:
            refuse(self.name, f'cut: frame {number} has {len(data):,} bytes', f'expected {size:,} for each frame: check size and type')
        return self._layout.decode(data) if self._layout else np.frombuffer(data, self.dtype).reshape(self.shape)


class _Layout:
    """Of a frame of y4m: a plane of luma, two of chroma, of 8 bits; BT.601, limited range, as y4m has without a word to the contrary."""

    def __init__(self, width: int, height: int, chroma: tuple[int, int] | None):
        self.width, self.height, self._chroma = width, height, chroma
        self._small = None if chroma is None else (-(-height // chroma[1]), -(-width // chroma[0]))
        self.size = width * height + (2 * self._small[0] * self._small[1] if self._small else 0)

    def decode(self, data: bytes) -> np.ndarray:
        values = np.frombuffer(data, np.uint8)
        luma = values[:self.width * self.height].reshape(self.height, self.width)
        if self._small is None or self._chroma is None:
            return luma
        planes = values[luma.size:].reshape(2, *self._small)
        blue, red = (plane.repeat(self._chroma[1], 0).repeat(self._chroma[0], 1)[:self.height, :self.width].astype(np.float32) - 128
                     for plane in planes)
        light = (luma.astype(np.float32) - 16) * (255 / 219)
        red, blue = red * (255 / 224), blue * (255 / 224)
        rgb = np.stack([light + 1.402 * red, light - 0.344136 * blue - 0.714136 * red, light + 1.772 * blue])
        return np.clip(np.rint(rgb), 0, 255).astype(np.uint8)


def open_frames(stream: BinaryIO | None = None, shape: tuple[int, ...] | None = None, dtype: Any = None) -> FrameReader:
    """`stream`: standard input where it is not given. With `shape` and `dtype` raw frames come, else y4m."""
    name, stream = ('-', sys.stdin.buffer) if stream is None else (getattr(stream, 'name', '<stream>'), stream)
    if (shape is None) != (dtype is None):
        refuse_argument(name, 'raw frames without a shape or a type', 'give both, or neither for y4m')
    if shape is not None:
        kind = np.dtype(dtype)
        if kind.kind not in 'buif' or len(shape) not in (2, 3) or any(int(extent) < 1 for extent in shape):
            refuse_argument(name, f'raw frames of {kind}{list(shape)}', 'expected numbers, (y, x) or (c, y, x)')
        return FrameReader(stream, str(name), tuple(int(extent) for extent in shape), kind, None)
    head = stream.readline(1024)
    if not head.startswith(b'YUV4MPEG2 ') or not head.endswith(b'\n'):
        refuse(name, 'empty' if not head else f'it begins with {head[:16]!r}',
               'expected y4m (ffmpeg -f yuv4mpegpipe -), or give size and type of raw frames')
    fields = {field[:1]: field[1:] for field in head.decode('ascii', 'replace').split()[1:]}
    try:
        width, height = int(fields['W']), int(fields['H'])
    except (KeyError, ValueError):
        refuse(name, f'a header without width and height: {head!r}', 'expected W and H with numbers')
    chroma = fields.get('C', '420jpeg')
    base = next((known for known in CHROMA if chroma.startswith(known)), None)
    if base is None or 'p1' in chroma[3:] or chroma.startswith(('444alpha', 'mono1')) or width < 1 or height < 1:
        refuse(name, f'{width} x {height} in {chroma}',
               f'expected 8 bits in one of {", ".join(CHROMA)}: convert by ffmpeg -pix_fmt yuv420p')
    layout = _Layout(width, height, CHROMA[base])
    return FrameReader(stream, str(name), (height, width) if base == 'mono' else (3, height, width), np.dtype(np.uint8), layout)
