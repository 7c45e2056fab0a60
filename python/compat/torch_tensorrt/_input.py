"""Input: the type of an input, and the shapes that it may have."""
from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import torch


class dtype(enum.Enum):   # noqa: N801 (the name is Torch-TensorRT's)
    """Element types by Torch-TensorRT's names."""
    unknown = 'unknown'
    b = bool = torch.bool
    i8 = int8 = torch.int8
    u8 = uint8 = torch.uint8
    i32 = int32 = int = torch.int32
    i64 = int64 = long = torch.int64
    f16 = fp16 = half = float16 = torch.float16
    bf16 = bfloat16 = torch.bfloat16
    f32 = fp32 = float = float32 = torch.float32
    f64 = fp64 = double = float64 = torch.float64


def torch_dtype(given: Any) -> torch.dtype:
    """A type by any of its names."""
    if isinstance(given, torch.dtype):
        return given
    if isinstance(given, dtype) and given is not dtype.unknown:
        return given.value
    raise TypeError(f'a type is torch.float16, torch_tensorrt.dtype.half or their like, got {given!r}')


class Input:
    """Input(shape), or Input(min_shape=, opt_shape=, max_shape=): the least, usual and largest shape."""

    def __init__(self, shape: Sequence[int] | None = None, *, min_shape: Sequence[int] | None = None,
                 opt_shape: Sequence[int] | None = None, max_shape: Sequence[int] | None = None, dtype: Any = torch.float32,
                 format: Any = torch.contiguous_format, name: str = '', **rest: Any) -> None:
        if rest:
            raise TypeError(f'Input has no argument {next(iter(rest))!r}')
        if format not in (torch.contiguous_format, torch.channels_last):
            raise ValueError(f'Input(format={format!r}): torch.contiguous_format or torch.channels_last')
        ranged = [min_shape, opt_shape, max_shape]
        if (shape is None) == all(s is None for s in ranged) or (shape is None and None in ranged):
            raise ValueError('Input takes shape, or all of min_shape, opt_shape and max_shape')
        given = [shape] * 3 if shape is not None else ranged
        self.min_shape, self.opt_shape, self.max_shape = (tuple(int(n) for n in s) for s in given)
        if not len(self.min_shape) == len(self.opt_shape) == len(self.max_shape) or not all(
                0 <= a <= b <= c for a, b, c in zip(self.min_shape, self.opt_shape, self.max_shape, strict=True)):
            raise ValueError(f'Input: shapes must grow from min_shape over opt_shape to max_shape, got {self.min_shape}, {self.opt_shape}, '
                             f'{self.max_shape}')
        self.dtype, self.format, self.name = torch_dtype(dtype), format, name

    @staticmethod
    def from_tensor(tensor: torch.Tensor) -> Input:
        return Input(tuple(tensor.shape), dtype=tensor.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.opt_shape

    def example(self, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
        made = torch.ones(self.opt_shape, dtype=dtype, device=device)
        return made.contiguous(memory_format=self.format) if made.dim() == 4 else made
