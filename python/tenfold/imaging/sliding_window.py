"""sliding_window_inference() of MONAI 1.6.1: the same arguments, order and defaults."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold import _native
from tenfold._progress_bar import progress_bar
from tenfold.errors import InvalidArgument
from tenfold.imaging import _arguments as check
from tenfold.imaging._images import Images, host_array, readable
from tenfold.imaging._outputs import flatten, pack


def sliding_window_inference(
    inputs: Any, roi_size: Any, sw_batch_size: int, predictor: Callable[..., Any], overlap: Any = 0.25, mode: Any = 'constant',
    sigma_scale: Any = 0.125, padding_mode: Any = 'constant', cval: float = 0.0, sw_device: Any = None, device: Any = None,
    progress: bool = False, roi_weight_map: Any = None, process_fn: Callable[..., Any] | None = None, buffer_steps: int | None = None,
    buffer_dim: int = -1, with_coord: bool = False, *args: Any, **kwargs: Any,
) -> Any:
    """Runs `predictor` on overlapping windows of `inputs` and blends what it returns.

    inputs: [batch, channel, spatial...] with 1 to 4 spatial axes: a torch tensor, a MetaTensor, an array of NumPy or DLPack. Integers
        come to the predictor as float32.
    roi_size: the window, one extent or one for each axis; 0, -1 and None are the extent of `inputs`. Images that are smaller are padded.
    sw_batch_size: windows of one call of the predictor.
    predictor: a function of (windows, *args, **kwargs), or a tenfold.Engine; then no Python runs between windows. It returns an array
        [windows, channel, spatial...], or a sequence or a dict of them, of any channel counts and resolutions.
    overlap: the part of a window that it shares with the next, for all axes or for each.
    mode: 'constant': all voxels of a window count alike. 'gaussian': those near its center count more, by sigma_scale * roi_size.
    roi_weight_map: weights [roi_size...] in place of those of `mode`.
    process_fn: of (outputs, windows, weights); returns the two that are used for these windows, (outputs, weights). The weights of the
        first call divide all voxels.
    with_coord: the predictor's second argument is a list with the slices of each window in the padded images.
    sw_device, device: torch's devices of windows and of results. progress: draws a bar on stderr.
    buffer_steps, buffer_dim: are checked and change nothing, because sums exist only for one window's extent of the first axis.
    condition: a keyword: an array of as many images of the same extents; its windows go to the predictor under this name.

    Results have the type of `inputs`, and its meta; no gradients go through. Sums are float32. A dict has sorted keys.
    """
    images = Images(inputs, 'inputs', sw_device, device)
    image = check.spatial_shape(images.shape)
    roi = check.window_extents(roi_size, image)
    batch = check.window_count(sw_batch_size)
    check.check_buffer(buffer_steps, buffer_dim, len(image))
    padded = any(r > extent for r, extent in zip(roi, image))
    options = dict(overlap=check.overlaps(overlap, len(image)), padding_mode=check.padding(padding_mode, cval, padded), cval=float(cval))
    if roi_weight_map is None:
        options.update(mode=check.choice('mode', mode, check.MODES), sigma_scale=check.numbers('sigma_scale', sigma_scale, len(image)))
    else:
        options['weights'] = check.weight_map(roi_weight_map, roi, 'roi_weight_map')
    count = images.shape[0]
    if count == 0:   # one image of zeros tells how many channels there are
        images = images.one_of_zeros()
    windows = _native.SlidingWindow(image, roi, **options)
    condition = _condition_of(kwargs.pop('condition', None), images, count, sw_device)
    if isinstance(predictor, _native.Engine) and process_fn is None:
        _refuse_beside_engine(condition=condition is not None, with_coord=with_coord, args=bool(args), kwargs=bool(kwargs))
        keys, arrays = _run_engine(windows, images, predictor, batch, progress)
    else:
        if not callable(predictor):
            raise InvalidArgument(f'predictor is a {type(predictor).__name__}; expected a function of windows, or a tenfold.Engine')
        keys, arrays = _Calls(windows, options, images, condition, predictor, process_fn, with_coord, args, kwargs).run(batch, progress)
    return pack(keys, [images.result(array if count else array[:0]) for array in arrays])


def _condition_of(given: Any, images: Images, count: int, sw_device: Any) -> Images | None:
    if given is None:
        return None
    condition = Images(given, 'condition', sw_device)
    if condition.shape[:1] + condition.shape[2:] != (count, *images.shape[2:]):
        raise InvalidArgument(f'condition is {list(condition.shape)}, inputs are {[count, *images.shape[1:]]}; expected as many images of '
                              'the same spatial extents')
    return condition if count else condition.one_of_zeros()


def _refuse_beside_engine(**given: bool) -> None:
    for name, there in given.items():
        if there:
            raise InvalidArgument(f'{name} is given, but predictor is an engine, which takes windows alone; expected a function that calls '
                                  'the engine with what it needs')


def _run_engine(windows: Any, images: Images, engine: Any, batch: int, progress: bool) -> tuple[list[str] | None, list[Any]]:
    names = [binding.name for binding in engine.bindings if not binding.is_input]
    arrays = _native.infer(windows, images.host, engine, batch, progress=progress_bar(progress, 'windows'))
    if len(names) == 1:
        return None, arrays
    by_name = dict(sorted(zip(names, arrays)))
    return list(by_name), list(by_name.values())


class _Calls:
    """Calls of a predictor on batches of windows, and the blending of what it returns."""

    def __init__(self, windows: Any, options: dict[str, Any], images: Images, condition: Images | None, predictor: Any, process_fn: Any,
                 with_coord: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._windows, self._options, self._images, self._condition = windows, options, images, condition
        self._predictor, self._process_fn, self._with_coord, self._args, self._kwargs = predictor, process_fn, with_coord, args, kwargs
        self._stitcher: Any = None
        self._keys: list[Any] | None = None

    def run(self, batch: int, progress: bool) -> tuple[list[Any] | None, list[Any]]:
        total = len(self._windows) * self._images.shape[0]
        draw = progress_bar(progress, 'windows')
        for first in range(0, total, batch):
            count = min(batch, total - first)
            self._add(first, count, *self._predict(first, count))
            if draw:
                draw(first + count, total)
        return self._keys, self._stitcher.finish()

    def _predict(self, first: int, count: int) -> tuple[tuple[Any, ...], Any]:
        """The arrays of a batch, and its own weights or None."""
        data = self._images.windows(self._windows, first, count)
        kwargs = dict(self._kwargs)
        if self._condition is not None:
            kwargs['condition'] = self._condition.windows(self._windows, first, count)
        where = ([self._slices(one) for one in range(first, first + count)],) if self._with_coord else ()
        keys, arrays = flatten(self._predictor(data, *where, *self._args, **kwargs))
        if self._stitcher is not None and keys != self._keys:
            raise InvalidArgument(f'predictor returned the outputs {keys}, for the windows before {self._keys}; expected the same for all')
        self._keys = keys
        if self._process_fn is None:
            return arrays, None
        given = self._options.get('weights', self._windows.weights())
        arrays, weights = self._process_fn(arrays, data, self._images.weights(given))
        return flatten(arrays)[1], check.weight_map(weights, list(self._windows.roi), 'weights of process_fn')

    def _add(self, first: int, count: int, arrays: tuple[Any, ...], weights: Any) -> None:
        for i, array in enumerate(arrays):
            if array.shape[:1] != (count,):
                raise InvalidArgument(f'output {i} of predictor is {list(array.shape)} for {count} windows; expected {count} along axis 0')
        if self._stitcher is None:
            self._stitcher = _native.WindowStitcher(self._dividing(weights), self._images.shape[0])
        self._stitcher.add([readable(host_array(a, f'output {i}'), f'output {i}') for i, a in enumerate(arrays)], weights)

    def _dividing(self, weights: Any) -> Any:
        """The same windows with the weights of the first call, which divide all voxels."""
        if weights is None:
            return self._windows
        return _native.SlidingWindow(self._windows.image_shape, self._windows.roi, **{**self._options, 'weights': weights})

    def _slices(self, window: int) -> list[slice]:
        image, at = divmod(window, len(self._windows))
        return [slice(image, image + 1), slice(None),
                *(slice(start, start + r) for start, r in zip(self._windows.place(at), self._windows.roi))]
