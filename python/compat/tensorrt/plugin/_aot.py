"""Kernels that a quick plug-in gives as PTX, with how they are launched: what aot_impl returns. They run on a GPU without Python's part:
the launch is recorded with the others."""
from __future__ import annotations

import ctypes
from typing import Any

from tenfold.tensorrt._names import Named
from tenfold.tensorrt.plugin._tensors import ShapeExpr


class SymIntExpr(ShapeExpr):
    """A whole number that the kernel gets: an extent, or an expression of extents."""

    _argument: Any = ctypes.c_int32


class SymInt8(SymIntExpr):
    """Of 8 bits."""

    _argument = ctypes.c_int8


class SymInt16(SymIntExpr):
    """Of 16 bits."""

    _argument = ctypes.c_int16


class SymInt32(SymIntExpr):
    """Of 32 bits, as other numbers and extents are."""


class SymExprs(list):   # type: ignore[type-arg]
    """Numbers that the kernel gets behind the operands and before the results. Made of their count."""

    def __init__(self, length: int = 0) -> None: super().__init__([None] * length)

    @classmethod
    def from_tuple(cls, exprs: Any) -> SymExprs:
        made = cls()
        made.extend(exprs)
        return made


SymIntExprs = SymExprs


class KernelLaunchParams(Named):
    """Numbers, or expressions of extents."""

    _words = ('grid_x', 'grid_y', 'grid_z', 'block_x', 'block_y', 'block_z', 'shared_mem')

    def __init__(self, grid_x: Any = 1, grid_y: Any = 1, grid_z: Any = 1, block_x: Any = 1, block_y: Any = 1, block_z: Any = 1,
                 shared_mem: Any = 0) -> None:
        self._of = dict(zip(self._words, (grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_mem)))

    def _numbers(self) -> list[int]: return [number_of(self._of[word]) for word in self._words]


for _word in KernelLaunchParams._words:
    setattr(KernelLaunchParams, _word, property(lambda self, w=_word: self._of[w], lambda self, v, w=_word: self._of.update({w: v})))


def number_of(given: Any) -> int: return given.constant_value() if isinstance(given, ShapeExpr) else int(given)


class Kernel:
    """A loaded kernel. It belongs to the context that is current when it is made and launched."""

    _MOST_UNASKED = 2   # addresses that a compiler may add behind the arguments; they stay null

    def __init__(self, name: str, code: str | bytes) -> None:
        from tenfold.pycuda._gpu import _call
        self._call, self._module, self._function = _call, ctypes.c_void_p(), ctypes.c_void_p()
        text = code.encode() if isinstance(code, str) else bytes(code)
        _call('cuModuleLoadData', ctypes.byref(self._module), ctypes.c_char_p(text + b'\0'))
        _call('cuModuleGetFunction', ctypes.byref(self._function), self._module, name.encode())

    def launch(self, parameters: KernelLaunchParams, inputs: list[int], extra: Any, outputs: list[int], stream: int) -> None:
        *grid_and_block, shared = parameters._numbers()
        if shared > 48 * 1024:
            self._call('cuFuncSetAttribute', self._function, 8, shared)   # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        values: list[Any] = [ctypes.c_void_p(a) for a in inputs]
        values += [getattr(e, '_argument', ctypes.c_int32)(number_of(e)) for e in extra or ()]
        values += [ctypes.c_void_p(a) for a in outputs] + [ctypes.c_void_p()] * self._MOST_UNASKED
        places = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        self._call('cuLaunchKernel', self._function, *(ctypes.c_uint(n) for n in grid_and_block), ctypes.c_uint(shared),
                   ctypes.c_void_p(stream), places, None)

    def __del__(self) -> None:
        if getattr(self, '_module', None):
            ctypes.CDLL('libcuda.so.1').cuModuleUnload(self._module)
