"""Calls of a predictor on batches of windows, and the blending of what it returns."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from tenfold import _native
from tenfold.errors import InvalidArgument
from tenfold.imaging._arguments import weight_map
from tenfold.imaging._arrays import host_array
from tenfold.imaging._images import Images
from tenfold.imaging._outputs import flatten


@dataclasses.dataclass
class Calls:
    """One inference. `options`: keywords of which `windows` were made."""

    windows: Any
    options: dict[str, Any]
    images: Images
    condition: Images | None
    predictor: Callable[..., Any]
    process_fn: Callable[..., Any] | None
    with_coord: bool
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    _stitcher: Any = None
    _keys: list[Any] | None = None

    def run(self, batch: int, draw: Callable[[int, int], bool] | None) -> tuple[list[Any] | None, list[Any]]:
        """The outputs' keys or None, and NumPy's arrays."""
        total = len(self.windows) * self.images.shape[0]
        for first in range(0, total, batch):
            count = min(batch, total - first)
            self._add(count, *self._predict(first, count))
            if draw:
                draw(first + count, total)
        return self._keys, self._stitcher.finish()

    def _predict(self, first: int, count: int) -> tuple[tuple[Any, ...], Any]:
        """The arrays of a batch, and its own weights or None."""
        data = self.images.windows(self.windows, first, count)
        kwargs = dict(self.kwargs)
        if self.condition is not None:
            kwargs['condition'] = self.condition.windows(self.windows, first, count)
        where = ([self._slices(one) for one in range(first, first + count)],) if self.with_coord else ()
        keys, arrays = flatten(self.predictor(data, *where, *self.args, **kwargs))
        if self._stitcher is not None and keys != self._keys:
            raise InvalidArgument(f'predictor returned the outputs {keys}, for the windows before {self._keys}; '
                                  'expected the same in all calls')
        self._keys = keys
        if self.process_fn is None:
            return arrays, None
        given = self.options.get('weights')
        weights = self.images.weights(self.windows.weights() if given is None else given)
        arrays, weights = self.process_fn(arrays, data, weights)
        return flatten(arrays)[1], weight_map(weights, list(self.windows.roi), 'weights of process_fn')

    def _add(self, count: int, arrays: tuple[Any, ...], weights: Any) -> None:
        for i, array in enumerate(arrays):
            if tuple(array.shape[:1]) != (count,):
                raise InvalidArgument(f'output {i} of predictor is {list(array.shape)} for {count} windows; expected '
                                      '[windows, channel, spatial...]')
        if self._stitcher is None:
            self._stitcher = _native.WindowStitcher(self._dividing(weights), self.images.shape[0])
        self._stitcher.add([host_array(array, f'output {i} of predictor') for i, array in enumerate(arrays)], weights)

    def _dividing(self, weights: Any) -> Any:
        """The same windows with the weights of the first call, which divide all voxels, as MONAI has it."""
        if weights is None:
            return self.windows
        options = {**self.options, 'weights': weights}
        return _native.SlidingWindow(self.windows.image_shape, self.windows.roi, **options)

    def _slices(self, window: int) -> list[slice]:
        image, at = divmod(window, len(self.windows))
        places = zip(self.windows.place(at), self.windows.roi)
        return [slice(image, image + 1), slice(None), *(slice(start, start + extent) for start, extent in places)]
