"""SliceInferer of MONAI 1.6.1: a network of 2-D images on the slices of volumes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold import _native
from tenfold.errors import InvalidArgument
from tenfold.imaging._outputs import flatten, pack
from tenfold.imaging.inferers import SlidingWindowInferer


class SliceInferer(SlidingWindowInferer):
    """Slices lie across `spatial_dim`, 0, 1 or 2; roi_size has two extents, those of a window in a slice.

    The network is called with (windows, *args, **kwargs), or with a condition as (windows, condition, ...). with_coord
    puts the list of slices behind the windows; they are those in the volume. An engine takes slices as images.
    """

    def __init__(self, spatial_dim: int = 0, *args: Any, **kwargs: Any) -> None:
        if spatial_dim not in (0, 1, 2):
            raise InvalidArgument(f'spatial_dim={spatial_dim!r}; expected 0, 1 or 2: the axis across which slices lie')
        self.spatial_dim = spatial_dim
        super().__init__(*args, **kwargs)
        roi = self.roi_size.tolist() if hasattr(self.roi_size, 'tolist') else self.roi_size
        self.orig_roi_size = tuple(roi) if isinstance(roi, (list, tuple)) else (roi,)

    def __call__(self, inputs: Any, network: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if len(self.orig_roi_size) != 2 or len(inputs.shape) != 5:
            raise InvalidArgument(f'roi_size={self.orig_roi_size}, inputs are {list(inputs.shape)}; expected two '
                                  'extents, and volumes [batch, channel, 3 spatial axes]')
        if isinstance(network, _native.Engine):
            return self._run_slices(inputs, network, args, kwargs)
        other: dict[str, Any] = {'roi_size': self._with_axis(self.orig_roi_size)}
        if self.roi_weight_map is not None:
            other['roi_weight_map'] = self.roi_weight_map.reshape(self._with_axis(self.roi_weight_map.shape))

        def on_slices(windows: Any, *given: Any, **options: Any) -> Any:
            return self.network_wrapper(network, windows, *given, **options)

        return self._run(inputs, on_slices, other, args, kwargs)

    def network_wrapper(self, network: Callable[..., Any], x: Any, *args: Any, condition: Any = None,
                        **kwargs: Any) -> Any:
        """The network on windows of two axes; its outputs have three again."""
        axis = self.spatial_dim + 2
        coordinates, args = (args[:1], args[1:]) if self.with_coord else ((), args)
        conditions = () if condition is None else (condition.squeeze(axis),)
        keys, arrays = flatten(network(x.squeeze(axis), *coordinates, *conditions, *args, **kwargs))
        volumes = [array.reshape(*array.shape[:axis], 1, *array.shape[axis:]) for array in arrays]
        return pack(keys, volumes)

    def _with_axis(self, extents: Any) -> list[Any]:
        return [*extents[:self.spatial_dim], 1, *extents[self.spatial_dim:]]

    def _without_axis(self, values: Any) -> Any:
        if not isinstance(values, (list, tuple)) or len(values) != 3:
            return values
        return [value for axis, value in enumerate(values) if axis != self.spatial_dim]

    def _run_slices(self, inputs: Any, engine: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Slices as images of their own: the engine takes them without an axis between."""
        axis = self.spatial_dim + 2
        batch, slices = inputs.shape[0], inputs.shape[axis]
        images = _moved(inputs, axis, 1)
        images = images.reshape(batch * slices, *images.shape[2:])
        other = {'roi_size': self.orig_roi_size, 'overlap': self._without_axis(self.overlap),
                 'sigma_scale': self._without_axis(self.sigma_scale)}
        keys, arrays = flatten(self._run(images, engine, other, args, kwargs))
        return pack(keys, [_moved(array.reshape(batch, slices, *array.shape[1:]), 1, axis) for array in arrays])


def _moved(array: Any, source: int, to: int) -> Any:
    """An axis moved, of torch's tensors or NumPy's arrays."""
    if hasattr(array, 'movedim'):
        return array.movedim(source, to)
    import numpy as np
    return np.moveaxis(array, source, to)
