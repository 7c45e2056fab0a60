"""SlidingWindowInferer, SlidingWindowInfererAdapt and SliceInferer of MONAI 1.6.1: the same arguments, order and defaults."""
from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable
from typing import Any

from tenfold import _native
from tenfold.errors import InvalidArgument
from tenfold.imaging import _arguments as check
from tenfold.imaging._outputs import flatten, pack
from tenfold.imaging.sliding_window import sliding_window_inference

_log = logging.getLogger('tenfold')


class SlidingWindowInferer:
    """Keeps the arguments of sliding_window_inference(): inferer(inputs, network, *args, **kwargs), where the rest goes to the network.

    cache_roi_weight_map: computes the weights once, if roi_size has no entry of the image's extent. cpu_thresh: images of more voxels
    than that come back on the CPU. The keywords device, buffer_steps and buffer_dim of a call are taken in place of the inferer's.
    """

    def __init__(
        self, roi_size: Any, sw_batch_size: int = 1, overlap: Any = 0.25, mode: Any = 'constant', sigma_scale: Any = 0.125,
        padding_mode: Any = 'constant', cval: float = 0.0, sw_device: Any = None, device: Any = None, progress: bool = False,
        cache_roi_weight_map: bool = False, cpu_thresh: int | None = None, buffer_steps: int | None = None, buffer_dim: int = -1,
        with_coord: bool = False,
    ) -> None:
        self.roi_size, self.sw_batch_size, self.overlap, self.sigma_scale = roi_size, sw_batch_size, overlap, sigma_scale
        self.mode = check.choice('mode', mode, check.MODES)
        self.padding_mode, self.cval = check.choice('padding_mode', padding_mode, check.PADDINGS), cval
        self.sw_device, self.device, self.progress, self.cpu_thresh = sw_device, device, progress, cpu_thresh
        self.buffer_steps, self.buffer_dim, self.with_coord = buffer_steps, buffer_dim, with_coord
        self.roi_weight_map = self._weights_of_roi() if cache_roi_weight_map else None

    def _weights_of_roi(self) -> Any:
        given = self.roi_size.tolist() if hasattr(self.roi_size, 'tolist') else self.roi_size
        if not isinstance(given, (list, tuple)) or not all(one is not None and one > 0 for one in given):
            warnings.warn(f'cache_roi_weight_map=True, but no weights are kept: roi_size={given!r} has no extent for each axis', stacklevel=3)
            return None
        roi = [check.by_axis('roi_size', one, 1, int, 'whole numbers')[0] for one in given]
        scale = check.numbers('sigma_scale', self.sigma_scale, len(roi))
        return _native.SlidingWindow(roi, roi, mode=self.mode, sigma_scale=scale).weights()

    def __call__(self, inputs: Any, network: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self._run(inputs, network, {}, args, kwargs)

    def _run(self, inputs: Any, network: Callable[..., Any], other: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`other`: arguments of sliding_window_inference() in place of the inferer's."""
        own = dict(roi_size=self.roi_size, overlap=self.overlap, sigma_scale=self.sigma_scale, roi_weight_map=self.roi_weight_map,
                   with_coord=self.with_coord, **{name: kwargs.pop(name, getattr(self, name)) for name in ('device', 'buffer_steps', 'buffer_dim')})
        own.update(other)
        if own['device'] is None and self._is_large(inputs):
            own['device'] = 'cpu'
        return sliding_window_inference(
            inputs, own['roi_size'], self.sw_batch_size, network, own['overlap'], self.mode, own['sigma_scale'], self.padding_mode, self.cval,
            self.sw_device, own['device'], self.progress, own['roi_weight_map'], None, own['buffer_steps'], own['buffer_dim'],
            own['with_coord'], *args, **kwargs)

    def _is_large(self, inputs: Any) -> bool:
        return self.cpu_thresh is not None and math.prod(inputs.shape[2:]) > self.cpu_thresh


class SlidingWindowInfererAdapt(SlidingWindowInferer):
    """As SlidingWindowInferer; where a GPU has no room for the result, it comes back on the CPU, and so do later ones of that size.

    Windows are blended in the host's memory anyway, so that there is no buffer to shrink.
    """

    def __call__(self, inputs: Any, network: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.device is not None or not getattr(inputs, 'is_cuda', False) or self._is_large(inputs):
            return super().__call__(inputs, network, *args, **kwargs)
        try:
            return super().__call__(inputs, network, *args, **kwargs)
        except RuntimeError as error:
            if 'OutOfMemory' not in type(error).__name__:
                raise
            _log.warning('SlidingWindowInfererAdapt: %s: results of images of %d voxels and more come to the CPU', error,
                         math.prod(inputs.shape[2:]))
        self.cpu_thresh = math.prod(inputs.shape[2:]) - 1
        return super().__call__(inputs, network, *args, **kwargs)


class SliceInferer(SlidingWindowInferer):
    """Runs a network of 2-D images on the slices of volumes across `spatial_dim`, 0, 1 or 2; roi_size has two extents, those of a slice.

    The network is called with (slices, *args, **kwargs); with a condition as (slices, condition, ...); with_coord puts the list of
    coordinates in front of that, in the volume's axes. A tenfold.Engine takes all slices as a batch of images.
    """

    def __init__(self, spatial_dim: int = 0, *args: Any, **kwargs: Any) -> None:
        if spatial_dim not in (0, 1, 2):
            raise InvalidArgument(f'spatial_dim={spatial_dim!r}; expected 0, 1 or 2: the axis of a volume across which slices lie')
        self.spatial_dim = spatial_dim
        super().__init__(*args, **kwargs)
        self.orig_roi_size = tuple(self.roi_size) if hasattr(self.roi_size, '__iter__') else (self.roi_size,)

    def __call__(self, inputs: Any, network: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if len(self.orig_roi_size) != 2 or len(inputs.shape) != 5:
            raise InvalidArgument(f'roi_size={self.orig_roi_size}, inputs are {list(inputs.shape)}; expected two extents, and volumes '
                                  '[batch, channel, 3 spatial axes]')
        if isinstance(network, _native.Engine):
            return self._run_slices(inputs, network, args, kwargs)
        other: dict[str, Any] = {'roi_size': self._with_axis(self.orig_roi_size, 1)}
        if self.roi_weight_map is not None:
            other['roi_weight_map'] = self.roi_weight_map.reshape(self._with_axis(self.roi_weight_map.shape, 1))

        def wrapped(slices: Any, *given: Any, **options: Any) -> Any:
            return self.network_wrapper(network, slices, *given, **options)

        return self._run(inputs, wrapped, other, args, kwargs)

    def _with_axis(self, values: Any, one: Any) -> list[Any]:
        return [*values[:self.spatial_dim], one, *values[self.spatial_dim:]]

    def network_wrapper(self, network: Callable[..., Any], x: Any, *args: Any, condition: Any = None, **kwargs: Any) -> Any:
        """The network on [windows, channel, 2 axes], and its outputs with three axes."""
        axis = self.spatial_dim + 2
        first = [x.squeeze(axis)]
        if self.with_coord:
            first.append(args[0])
            args = args[1:]
        if condition is not None:
            first.append(condition.squeeze(axis))
        outputs = network(*first, *args, **kwargs)
        keys, arrays = flatten(outputs)
        shaped = [array.reshape(*array.shape[:axis], 1, *array.shape[axis:]) for array in arrays]
        return dict(zip(keys, shaped)) if keys is not None else shaped

    def _run_slices(self, inputs: Any, engine: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Slices as images of their own."""
        axis = self.spatial_dim + 2
        batch, slices = inputs.shape[0], inputs.shape[axis]
        images = _moved(inputs, axis, 1)
        images = images.reshape(batch * slices, *images.shape[2:])
        two = {name: self._without_axis(getattr(self, name)) for name in ('overlap', 'sigma_scale')}
        keys, arrays = flatten(self._run(images, engine, {'roi_size': self.orig_roi_size, **two}, args, kwargs))
        return pack(keys, [_moved(array.reshape(batch, slices, *array.shape[1:]), 1, axis) for array in arrays])

    def _without_axis(self, values: Any) -> Any:
        if not isinstance(values, (list, tuple)) or len(values) != 3:
            return values
        return [value for axis, value in enumerate(values) if axis != self.spatial_dim]


def _moved(array: Any, source: int, to: int) -> Any:
    """An axis moved, of NumPy's arrays or torch's tensors."""
    if hasattr(array, 'movedim'):
        return array.movedim(source, to)
    import numpy as np
    return np.moveaxis(array, source, to)
