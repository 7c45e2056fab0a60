"""sliding_window_inference() of MONAI 1.6.1: the same arguments, order and defaults."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold import _native
from tenfold._progress_bar import progress_bar
from tenfold.errors import InvalidArgument
from tenfold.imaging import _arguments as check
from tenfold.imaging._calls import Calls
from tenfold.imaging._images import Images, open_images
from tenfold.imaging._outputs import pack
from tenfold.imaging.devices import Devices
from tenfold.imaging.ensemble import engines_of


def sliding_window_inference(
    inputs: Any,
    roi_size: Any,
    sw_batch_size: int,
    predictor: Callable[..., Any],
    overlap: Any = 0.25,
    mode: Any = 'constant',
    sigma_scale: Any = 0.125,
    padding_mode: Any = 'constant',
    cval: float = 0.0,
    sw_device: Any = None,
    device: Any = None,
    progress: bool = False,
    roi_weight_map: Any = None,
    process_fn: Callable[..., Any] | None = None,
    buffer_steps: int | None = None,
    buffer_dim: int = -1,
    with_coord: bool = False,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Runs `predictor` on overlapping windows of `inputs` and blends what it returns.

    inputs: [batch, channel, spatial...] with 1 to 4 spatial axes, of torch, MONAI (MetaTensor), NumPy or DLPack.
    roi_size: the window, one extent or one for each axis. 0, -1 and None stand for that of `inputs`. Smaller images are
        padded by padding_mode and cval.
    sw_batch_size: windows of one call of the predictor.
    predictor: a function of (windows, *args, **kwargs), a tenfold.Engine, an Ensemble of several or Devices; between windows of
        engines no Python runs. It returns an array [windows, channel, spatial...], or a sequence or a dict of them.
        Channels and resolutions may differ. Windows of integer images are float32.
    overlap: the part of a window that it shares with the next, for all axes or for each.
    mode: 'constant': all voxels of a window count alike. 'gaussian': those near its center count more; the standard
        deviation is sigma_scale * roi_size.
    roi_weight_map: weights [roi_size...] in place of those of `mode`.
    process_fn: a function of (outputs, windows, weights) that returns (outputs, weights), which are used for these
        windows. The weights of the first call divide all voxels.
    with_coord: the predictor's second argument is a list of each window's slices in the padded images.
    sw_device, device: torch's devices of windows and of results. Tensors on the GPU of an engine stay there.
    progress: draws a line on stderr.
    buffer_steps, buffer_dim: change nothing. Sums exist for one window's extent of the first axis, whatever they say.
    condition: a keyword: as many images of the same spatial extents. Their windows go to the predictor by this name.

    Results have the type of `inputs` (float32 for integers and MetaTensors), and its meta. Sums are float32. Gradients
    do not go through. A dict has sorted keys.
    """
    engines = engines_of(predictor) if process_fn is None else ()
    images = open_images(inputs, 'inputs', sw_device, device, engines)
    image = check.spatial_shape(images.shape)
    rank, count = len(image), images.shape[0]
    roi = check.window_extents(roi_size, image)
    batch = check.window_count(sw_batch_size)
    check.check_buffer(buffer_steps, buffer_dim, rank)
    options: dict[str, Any] = {'overlap': check.overlaps(overlap, rank), 'cval': cval}
    options['padding_mode'] = check.padding(padding_mode, cval, any(extent > n for extent, n in zip(roi, image)))
    if roi_weight_map is not None:
        options['weights'] = check.weight_map(roi_weight_map, roi, 'roi_weight_map')
    else:
        options['mode'] = check.choice('mode', mode, check.MODES)
        options['sigma_scale'] = check.numbers('sigma_scale', sigma_scale, rank)
    if count == 0:   # how many channels there are, one image of zeros tells
        images = images.one_of_zeros()
    windows = _native.SlidingWindow(image, roi, **options)
    condition = _condition_of(kwargs.pop('condition', None), images, count, sw_device)
    draw = progress_bar(progress, 'windows')
    if engines:
        _refuse_beside_engine(condition=condition is not None, with_coord=with_coord, args=args, kwargs=kwargs)
        keys, arrays = _run_engines(windows, images, engines, isinstance(predictor, Devices), batch, draw)
    else:
        if not callable(predictor):
            raise InvalidArgument(f'predictor is a {type(predictor).__name__}; expected a function, a tenfold.Engine or an Ensemble')
        calls = Calls(windows, options, images, condition, predictor, process_fn, with_coord, args, kwargs)
        keys, arrays = calls.run(batch, draw)
    return pack(keys, [images.result(array if count else array[:0]) for array in arrays])


def _condition_of(given: Any, images: Images, count: int, sw_device: Any) -> Images | None:
    if given is None:
        return None
    condition = open_images(given, 'condition', sw_device)
    if (*condition.shape[:1], *condition.shape[2:]) != (count, *images.shape[2:]):
        raise InvalidArgument(f'condition is {list(condition.shape)}, inputs are {[count, *images.shape[1:]]}; '
                              'expected as many images of the same spatial extents')
    return condition if count else condition.one_of_zeros()


def _refuse_beside_engine(**given: Any) -> None:
    for name, there in given.items():
        if there:
            raise InvalidArgument(f'{name}: given, but predictor is an engine, which takes windows alone; expected a '
                                  'function that calls the engine with what it needs')


def _run_engines(windows: Any, images: Images, engines: tuple[Any, ...], devices: bool, batch: int,
                 draw: Callable[[int, int], bool] | None) -> tuple[list[str] | None, list[Any]]:
    names = [binding.name for binding in engines[0].bindings if not binding.is_input]
    arrays = _native.infer(windows, images.host, engines, batch, progress=draw, devices=devices)
    if len(names) == 1:
        return None, arrays
    by_name = dict(sorted(zip(names, arrays)))
    return list(by_name), list(by_name.values())
