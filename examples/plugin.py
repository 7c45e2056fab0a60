"""An operator of one's own in Python, from its definition to a model that uses it: python plugin.py snake.onnx

snake.onnx is y = com.example.Snake(x) with alpha = 0.5, for x of f32[batch,4]. With a GPU and Triton the operator runs as a kernel there.
"""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

import tenfold


@tenfold.plugins.op('com.example::Snake', alpha=1.0)
def snake(x: Any, alpha: float) -> Any:
    """Snake (Ziyin et al. 2020), obviously right: what every tactic is compared with."""
    a = np.float32(alpha)
    return x + np.sin(a * x) ** 2 / a


@snake.tactic('cpu')
def in_parts(out: Any, x: Any, alpha: float, call: tenfold.plugins.Call) -> None:
    """Rows in parallel on the engine's workers; NumPy lets go of Python's lock for large ones."""
    def row(i: int) -> None:
        np.multiply(x[i], np.float32(alpha), out=out[i])
        np.sin(out[i], out=out[i])
        np.square(out[i], out=out[i])
        np.divide(out[i], np.float32(alpha), out=out[i])
        np.add(out[i], x[i], out=out[i])
    call.workers.run(len(x), row)


try:
    import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]

    @triton.jit  # type: ignore[untyped-decorator, misc, unused-ignore]
    def snake_kernel(x: Any, out: Any, alpha: Any, n: Any, BLOCK: tl.constexpr) -> None:
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n)
        s = tl.sin(alpha * v)
        tl.store(out + i, v + s * s / alpha, mask=i < n)

    @snake.tactic('cuda', configs=lambda problem: [[256], [1024]])
    def with_triton(out: Any, x: Any, alpha: float, call: tenfold.plugins.Call) -> None:
        """Launches and no more, so that it is recorded once and replayed without Python. Both sizes of blocks are timed."""
        (block,) = call.problem.config
        snake_kernel[(triton.cdiv(x.numel(), block),)](x, out, alpha, x.numel(), BLOCK=block)
except ImportError:
    pass


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    engine = tenfold.build(sys.argv[1], profiles={'x': ([1, 4], [64, 4], [256, 4])})
    x = np.linspace(-2, 2, 256, dtype=np.float32).reshape(64, 4)
    print(engine.inspect())
    print('largest difference from the reference:', np.abs(engine(x) - snake(x, 0.5)).max())


if __name__ == '__main__':
    main()
