"""A folder of images of one size as frames, (t, y, x) or (t, c, y, x) for colors, in the order of their names."""
from __future__ import annotations

import collections
import os
import re
import threading
from typing import Any

import numpy as np

from tenfold.imaging.files._errors import need, refuse
from tenfold.imaging.files._source import Stored

IMAGES = ('.png', '.jpg', '.jpeg', '.bmp', '.tif', '.tiff', '.pgm', '.ppm')
KEPT = 4   # frames: a region of part of a frame reads the others' parts of the same frames next


def images_in(path: str) -> list[str]:
    """By number where names have numbers: frame_10 comes behind frame_9."""
    def natural(name: str) -> list[Any]:
        return [int(part) if part.isdigit() else part.lower() for part in re.split(r'(\d+)', name)]
    return sorted((name for name in os.listdir(path) if name.lower().endswith(IMAGES)), key=natural)


def decode(path: str) -> np.ndarray:
    """(y, x) or (c, y, x), in the file's own type: 16 bits stay 16 bits."""
    if path.lower().endswith(('.tif', '.tiff')):
        frame = np.asarray(need('tifffile', path).imread(path))
    else:
        with need('PIL.Image', path).open(path) as image:
            if image.mode in ('P', 'CMYK', 'YCbCr'):
                image = image.convert('RGB')
            frame = np.asarray(image)
    if frame.ndim not in (2, 3):
        refuse(path, f'a frame of shape {list(frame.shape)}', 'expected one image in each file; open a stack by itself')
    return frame if frame.ndim == 2 or frame.shape[-1] > 4 else frame.transpose(2, 0, 1)


class Frames:
    """Decoded frames by number, with the next one decoded ahead: two are in flight."""

    def __init__(self, folder: str, names: list[str], first: np.ndarray):
        self._folder, self._names, self._like = folder, names, first
        self._lock, self._ready = threading.Lock(), collections.OrderedDict([(0, first)])
        self._ahead: tuple[int, threading.Thread] | None = None

    def _load(self, number: int) -> np.ndarray:
        path = os.path.join(self._folder, self._names[number])
        try:
            frame = decode(path)
        except OSError as error:
            refuse(path, f'not readable ({error})', 'it may be cut: copy it again, or remove it', cause=error)
        if frame.shape != self._like.shape or frame.dtype != self._like.dtype:
            refuse(path, f'{frame.dtype}{list(frame.shape)}, the first frame is {self._like.dtype}{list(self._like.shape)}',
                   'frames of one folder have one size and type')
        return frame

    def _keep(self, number: int, frame: np.ndarray) -> None:
        self._ready[number] = frame
        while len(self._ready) > KEPT:
            self._ready.popitem(last=False)

    def _load_ahead(self, number: int) -> None:
        try:
            frame = self._load(number)
        except Exception:
            return   # whoever asks for it reads it again, and gets the message
        with self._lock:
            self._keep(number, frame)

    def get(self, number: int) -> np.ndarray:
        if self._ahead and self._ahead[0] == number:
            self._ahead[1].join()
        with self._lock:
            frame = self._ready.get(number)
        if frame is None:
            frame = self._load(number)
            with self._lock:
                self._keep(number, frame)
        following = number + 1
        if following < len(self._names) and following not in self._ready and not (self._ahead and self._ahead[1].is_alive()):
            self._ahead = following, threading.Thread(target=self._load_ahead, args=(following,), daemon=True)
            self._ahead[1].start()
        return frame

    def read(self, parts: tuple[slice, ...]) -> np.ndarray:
        return np.stack([self.get(number)[parts[1:]] for number in range(parts[0].start, parts[0].stop)])


def open_folder(path: str, level: int, scene: int) -> Stored:
    names = images_in(path)
    if not names:
        refuse(path, 'a folder without images, and not Zarr', f'expected files named {", ".join(IMAGES)}, or zarr.json, .zarray or .zgroup')
    try:
        first = decode(os.path.join(path, names[0]))
    except OSError as error:
        refuse(os.path.join(path, names[0]), f'not readable ({error})', 'it may be cut: copy it again, or remove it', cause=error)
    return Stored(path, (len(names), *first.shape), first.dtype, Frames(path, names, first).read, 'tyx' if first.ndim == 2 else 'tcyx',
                  (1, *first.shape), files=tuple(os.path.join(path, name) for name in names))
