"""TensorRTInferenceEngine: an exported engine on single images, lists of them, and images larger than its window."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import tenfold
from tenfold._log import once
from tenfold.export_to_tensorrt import load_plan, resolve_device

from tenfold_cyto_dl import _arrays
from tenfold_cyto_dl._windows import sliding_window

if TYPE_CHECKING:
    from collections.abc import Sequence

_WARM_UP_RUNS = 3


class TensorRTInferenceEngine:
    """A plan, or a `.ts` file, of export_to_tensorrt(): engine(x) for a tensor of torch or an array of NumPy [batch, channel, spatial...].

    Results are of the same library, device and float type as what is given; for integers they are float32. Several outputs are a tuple.
    `input_shape`: one that the engine takes; it is run three times with it here. `device`: 'cuda' without a GPU means the CPU, which a
    warning says. `half_precision` was decided at the export: False for an engine in fp16 has no effect, and a warning says so.
    """

    def __init__(self, model_path: str | os.PathLike[str], input_shape: Sequence[int], device: Any = 'cuda',
                 half_precision: bool = True) -> None:
        self.model_path, self.input_shape, self.half_precision = os.fspath(model_path), tuple(int(n) for n in input_shape), half_precision
        self.device = resolve_device(device)
        self.engine = load_plan(self.model_path, self.device if self.device != 'cpu' and ':' in str(device) else None)
        if self.engine.info.on_gpu != (self.device != 'cpu'):
            there, asked = ('cuda', 'cpu') if self.engine.info.on_gpu else ('cpu', 'cuda')
            raise tenfold.InvalidArgument(f'{self.model_path} was exported for {there}, and device={str(device)!r} is asked for: '
                                          f'device={there!r}, or export it again with --device {asked}')
        if not half_precision and ' fp16=1' in ' ' + self.engine.inspection().build_options:
            once(f'half_precision=False has no effect: {self.model_path} was exported in fp16; --precision fp32 exports another')
        inputs = [binding for binding in self.engine.bindings if binding.is_input]
        if len(inputs) != 1:
            raise tenfold.InvalidArgument(f'{self.model_path} has {len(inputs)} inputs; expected an engine of one image')
        self._input = inputs[0]
        self._shapes = self.engine.profile_shapes(0, self._input.name)
        self._check_input_shape()
        self._warm_up()

    @property
    def _batches(self) -> tuple[int, int]:
        """The smallest and the largest batch."""
        return self._shapes[0][0], self._shapes[2][0]

    def _check_input_shape(self) -> None:
        smallest, _, largest = self._shapes
        if len(self.input_shape) != len(smallest) or not all(
                low <= extent <= high for low, extent, high in zip(smallest, self.input_shape, largest, strict=True)):
            takes = ', '.join(str(low) if low == high else f'{low} to {high}' for low, high in zip(smallest, largest, strict=True))
            raise tenfold.InvalidArgument(f'input_shape={self.input_shape} does not fit {self.model_path}, which takes ({takes})')

    def _warm_up(self) -> None:
        import numpy as np
        zeros = np.zeros(self.input_shape, self._input.numpy_dtype)
        for _ in range(_WARM_UP_RUNS):
            self.engine(zeros)

    def __call__(self, x: Any) -> Any:
        """The results for one batch."""
        found = self.engine(_arrays.for_engine(x, self._input.dtype, self.engine.info.on_gpu))
        results = [_arrays.as_given(one, x) for one in (found.values() if isinstance(found, dict) else [found])]
        return results[0] if len(results) == 1 else tuple(results)

    def batch_inference(self, inputs: Sequence[Any], batch_size: int = 4) -> list[Any]:
        """The results of many images, in their order, computed up to `batch_size` at a time, or as many as the engine takes.

        An image is [channel, spatial...], or [batch, channel, spatial...]; its results have an axis for the batch if it has one."""
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise tenfold.InvalidArgument(f'batch_size={batch_size!r}: expected a number of images, at least 1')
        rank = len(self._shapes[0])
        for i, given in enumerate(inputs):
            if given.ndim not in (rank - 1, rank):
                raise tenfold.InvalidArgument(f'inputs[{i}] has the shape {list(given.shape)}; expected [channel, spatial...], {rank - 1} '
                                              f'axes, or {rank} with a batch')
        rows = [row for given in inputs for row in (given if given.ndim == rank else given[None])]
        found = self._of_rows(rows, batch_size)
        results: list[Any] = []
        for given in inputs:
            own = [next(found) for _ in range(len(given) if given.ndim == rank else 1)]
            results.append(_arrays.stacked(own) if given.ndim == rank else own[0])
        return results

    def _of_rows(self, rows: list[Any], batch_size: int) -> Any:
        """The results of each row, in order."""
        smallest, largest = self._batches
        at = 0
        while at < len(rows):
            group = rows[at:at + min(batch_size, largest)]
            same = next((i for i, row in enumerate(group) if row.shape != group[0].shape or row.dtype != group[0].dtype), len(group))
            group = group[:same]
            at += same
            # An engine of one fixed batch gets the last row again, whose results are not used.
            found = self(_arrays.stacked(group + group[-1:] * (smallest - len(group))))
            for i in range(len(group)):
                yield tuple(one[i] for one in found) if isinstance(found, tuple) else found[i]

    def _windows(self, windows: Any) -> Any:
        """The results of a batch of windows of any size."""
        smallest, largest = self._batches
        if smallest <= len(windows) <= largest:
            return self(windows)
        return _arrays.stacked(list(self._of_rows(list(windows), largest)))

    def sliding_window_inference(self, image: Any, roi_size: Any, overlap: Any = 0.25, batch_size: int = 4, mode: str = 'gaussian') -> Any:
        """The results for an image of any size, blended from those of windows as MONAI does it: tenfold.imaging.

        `image`: [spatial...], [channel, spatial...] or [batch, channel, spatial...]; axes that it does not have, its results have not
        either, but a channel axis where there are several channels. `batch_size`: windows computed at a time."""
        return sliding_window(self.predictor(), self._shapes[2], image, roi_size, overlap, batch_size, mode)

    def predictor(self) -> Any:
        """What tenfold.imaging or MONAI calls for windows: the engine itself where it takes each batch from 1 on."""
        return self.engine if self._batches[0] <= 1 < self._batches[1] else self._windows

    # As a module of torch is asked.
    def eval(self) -> TensorRTInferenceEngine:
        return self

    def train(self, mode: bool = True) -> TensorRTInferenceEngine:
        if mode:
            raise tenfold.Unsupported('an engine is not trained: export the module again after its training')
        return self

    def to(self, *where: Any, **keywords: Any) -> TensorRTInferenceEngine:
        """Itself, on the device where it is. A type changes nothing, because results have that of the inputs."""
        for asked in (*where, keywords.get('device')):
            name = str(asked)
            if asked is not None and name.partition(':')[0] in ('cpu', 'cuda') and resolve_device(name).partition(':')[0] != \
                    self.device.partition(':')[0]:
                raise tenfold.InvalidArgument(f'{self.model_path} was exported for {self.device}: export it again with --device {name}')
        return self

    def cuda(self, device: Any = None) -> TensorRTInferenceEngine:
        return self.to('cuda' if device is None else f'cuda:{device}' if isinstance(device, int) else device)

    def cpu(self) -> TensorRTInferenceEngine:
        return self.to('cpu')

    def as_module(self) -> Any:
        """A torch.nn.Module that calls this engine: for a place that takes nothing else, such as a part of a LightningModule."""
        import torch

        class EngineModule(torch.nn.Module):
            def forward(self, x: Any) -> Any:
                return call(x)
        call = self.__call__
        return EngineModule().eval()

    def __repr__(self) -> str:
        return f'<TensorRTInferenceEngine {self.model_path!r} on {self.engine.info.device}: {self._input!r}>'
