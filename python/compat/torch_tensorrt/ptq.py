"""Calibrators of the data that a loader gives."""
from __future__ import annotations

import enum
import os
from collections.abc import Iterable, Sequence
from typing import Any

import torch


class CalibrationAlgo(enum.Enum):
    ENTROPY_CALIBRATION = 'entropy'
    ENTROPY_CALIBRATION_2 = 'entropy2'
    LEGACY_CALIBRATION = 'percentile'
    MINMAX_CALIBRATION = 'minmax'

    @property
    def method(self) -> str:
        return self.value.removesuffix('2')


class DataLoaderCalibrator:
    """Ranges for 8 bits from the batches of a loader. `cache_file` holds them afterwards; it is read with `use_cache`, or where the
    loader gives nothing."""

    def __init__(self, dataloader: Iterable[Any], cache_file: str | os.PathLike[str] = '', use_cache: bool = False,
                 algo_type: CalibrationAlgo = CalibrationAlgo.ENTROPY_CALIBRATION_2, device: Any = None) -> None:
        if not isinstance(algo_type, CalibrationAlgo):
            raise TypeError(f'algo_type is one of torch_tensorrt.ptq.CalibrationAlgo, got {algo_type!r}')
        self.loader, self.cache_file, self.use_cache, self.algo_type = dataloader, os.fspath(cache_file), use_cache, algo_type
        self._batches: list[list[torch.Tensor]] | None = None

    def batches(self) -> list[list[torch.Tensor]]:
        """All batches, which a loader gives once."""
        if self._batches is None:
            self._batches = [[as_host(t) for t in (batch if isinstance(batch, (list, tuple)) else [batch])] for batch in self.loader]
        return self._batches

    def options(self, names: Sequence[str]) -> dict[str, Any]:
        """The field `calibration` of a build whose inputs have these names."""
        cached = self.cache_file and os.path.exists(self.cache_file)
        if cached and (self.use_cache or not self.batches()):
            return {'cache': self.cache_file}
        if cached:
            os.remove(self.cache_file)
        if not self.batches():
            raise ValueError('the calibrator has neither data nor a cache')

        def sample(index: int) -> dict[str, torch.Tensor] | None:
            if index >= len(self.batches()):
                return None
            batch = self.batches()[index]
            if len(batch) < len(names):
                raise ValueError(f'batch {index} of the calibrator has {len(batch)} tensors, the module takes {len(names)}')
            return dict(zip(names, batch, strict=False))          # what follows is a label
        return {'sample': sample, 'samples': len(self.batches()), 'method': self.algo_type.method, 'cache': self.cache_file}


def as_host(array: Any) -> torch.Tensor:
    return torch.as_tensor(array).detach().cpu().contiguous()


class CacheCalibrator(DataLoaderCalibrator):
    """The ranges of a cache alone."""

    def __init__(self, cache_file: str | os.PathLike[str], algo_type: CalibrationAlgo = CalibrationAlgo.ENTROPY_CALIBRATION_2) -> None:
        super().__init__([], cache_file, True, algo_type)
