"""tensorrt.plugin: a plug-in is a function that describes its results, and one that computes them.

    import tenfold.tensorrt.plugin as trtp

    @trtp.register("sample::add")
    def describe(x: trtp.TensorDesc, amount: float) -> trtp.TensorDesc:
        return x.like()

    @trtp.impl("sample::add")
    def compute(x: trtp.Tensor, amount: float, outputs: tuple[trtp.Tensor], stream: int) -> None:
        torch.add(torch.as_tensor(x, device="cuda"), amount, out=torch.as_tensor(outputs[0], device="cuda"))

    layer = network.add_plugin(trtp.op.sample.add(x, amount=1.0))

Attributes are int, float, str, bool, bytes, or NumPy arrays of one dim. On the CPU, np.asarray() takes a Tensor.
"""
from __future__ import annotations

from tenfold.tensorrt.plugin._aot import KernelLaunchParams, SymExprs, SymInt8, SymInt16, SymInt32, SymIntExpr, SymIntExprs
from tenfold.tensorrt.plugin._autotune import AutoTuneCombination
from tenfold.tensorrt.plugin._decorators import aot_impl, autotune, impl, op, register
from tenfold.tensorrt.plugin._tensors import (
    Shape, ShapeExpr, ShapeExprs, SizeTensorDesc, SizeTensorShapeExpr, Tensor, TensorDesc, cdiv, from_shape_expr, max, min, size_tensor,
)

__all__ = [
    'AutoTuneCombination', 'KernelLaunchParams', 'Shape', 'ShapeExpr', 'ShapeExprs', 'SizeTensorDesc', 'SizeTensorShapeExpr', 'SymExprs',
    'SymInt16', 'SymInt32', 'SymInt8', 'SymIntExpr', 'SymIntExprs', 'Tensor', 'TensorDesc', 'aot_impl', 'autotune', 'cdiv',
    'from_shape_expr', 'impl', 'max', 'min', 'op', 'register', 'size_tensor',
]
