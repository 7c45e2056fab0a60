"""The inferers of MONAI 1.6.1 that slide windows: the same arguments, order and defaults."""
from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable
from typing import Any

from tenfold import _native
from tenfold.imaging import _arguments as check
from tenfold.imaging.sliding_window import sliding_window_inference

_log = logging.getLogger('tenfold')


class SlidingWindowInferer:
    """Keeps the arguments of sliding_window_inference(): inferer(inputs, network, *args, **kwargs).

    cache_roi_weight_map: computes the weights once, where roi_size has all extents.
    cpu_thresh: results of images of more voxels than that come to the CPU, unless a device is given.

    The keywords device, buffer_steps and buffer_dim of a call replace those of the inferer.
    """

    def __init__(
        self,
        roi_size: Any,
        sw_batch_size: int = 1,
        overlap: Any = 0.25,
        mode: Any = 'constant',
        sigma_scale: Any = 0.125,
        padding_mode: Any = 'constant',
        cval: float = 0.0,
        sw_device: Any = None,
        device: Any = None,
        progress: bool = False,
        cache_roi_weight_map: bool = False,
        cpu_thresh: int | None = None,
        buffer_steps: int | None = None,
        buffer_dim: int = -1,
        with_coord: bool = False,
    ) -> None:
        self.roi_size, self.sw_batch_size, self.overlap = roi_size, sw_batch_size, overlap
        self.mode, self.sigma_scale = check.choice('mode', mode, check.MODES), sigma_scale
        self.padding_mode, self.cval = check.choice('padding_mode', padding_mode, check.PADDINGS), cval
        self.sw_device, self.device, self.progress, self.cpu_thresh = sw_device, device, progress, cpu_thresh
        self.buffer_steps, self.buffer_dim, self.with_coord = buffer_steps, buffer_dim, with_coord
        self.roi_weight_map = self._weights_of_roi() if cache_roi_weight_map else None

    def _weights_of_roi(self) -> Any:
        extents = check.fixed_extents(self.roi_size)
        if extents is None:
            warnings.warn(f'cache_roi_weight_map=True, but nothing is kept: roi_size={self.roi_size!r} has not an '
                          'extent for each axis', stacklevel=3)
            return None
        scale = check.numbers('sigma_scale', self.sigma_scale, len(extents))
        return _native.SlidingWindow(extents, extents, mode=self.mode, sigma_scale=scale).weights()

    def __call__(self, inputs: Any, network: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self._run(inputs, network, {}, args, kwargs)

    def _run(self, inputs: Any, network: Callable[..., Any], other: dict[str, Any], args: tuple[Any, ...],
             kwargs: dict[str, Any]) -> Any:
        """`other`: arguments of sliding_window_inference() in place of the inferer's."""
        own = {name: other.get(name, getattr(self, name)) for name in
               ('roi_size', 'overlap', 'sigma_scale', 'roi_weight_map')}
        device, buffer_steps, buffer_dim = (kwargs.pop(name, getattr(self, name)) for name in
                                            ('device', 'buffer_steps', 'buffer_dim'))
        if device is None and self._is_large(inputs):
            device = 'cpu'
        return sliding_window_inference(
            inputs, own['roi_size'], self.sw_batch_size, network, own['overlap'], self.mode, own['sigma_scale'],
            self.padding_mode, self.cval, self.sw_device, device, self.progress, own['roi_weight_map'], None,
            buffer_steps, buffer_dim, self.with_coord, *args, **kwargs)

    def _is_large(self, inputs: Any) -> bool:
        return self.cpu_thresh is not None and math.prod(inputs.shape[2:]) > self.cpu_thresh


class SlidingWindowInfererAdapt(SlidingWindowInferer):
    """As SlidingWindowInferer; where a GPU has no room for the results, they come to the CPU, now and for later images
    of that size.

    Windows are blended in the host's memory in any case, so there is no buffer on the GPU to shrink.
    """

    def __call__(self, inputs: Any, network: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        fixed = self.device is not None or 'device' in kwargs or self._is_large(inputs)
        try:
            return super().__call__(inputs, network, *args, **kwargs)
        except RuntimeError as error:
            if fixed or not getattr(inputs, 'is_cuda', False) or 'OutOfMemory' not in type(error).__name__:
                raise
            voxels = math.prod(inputs.shape[2:])
            _log.warning('%s; results of %d voxels and more come to the CPU from now on', error, voxels)
        self.cpu_thresh = voxels - 1
        return super().__call__(inputs, network, *args, **kwargs)
