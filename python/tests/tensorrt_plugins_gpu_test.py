"""TensorRT's plug-ins on a GPU: CuPy by address, torch on the current stream, Triton as PTX. Skips where there is no GPU."""
import unittest
from typing import Tuple

import numpy as np
from gpu_case import ON_GPU, cupy, torch
from tensorrt_case import parsed
from tensorrt_plugins_case import PADS, RANGE, Plugged, WrapV3, WrapV3Creator, wrap_model, wrapped

import tenfold
import tenfold.tensorrt as trt
import tenfold.tensorrt.plugin as trtp
from tenfold.tensorrt.plugin import _decorators

try:
    import triton
    import triton.language as tl

    @triton.jit
    def add_kernel(x, n, y, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
except ImportError:
    triton = None


def on_device(address, desc):
    count = int(np.prod(desc.dims))
    memory = cupy.cuda.UnownedMemory(address, 4 * count, None)
    return cupy.ndarray(tuple(desc.dims), cupy.float32, cupy.cuda.MemoryPointer(memory, 0))


class OnGpu(WrapV3):
    """Tactic 1: CuPy; 2: torch, which takes CuPy's array and launches on the current stream."""

    calls = 0

    def enqueue(self, input_desc, output_desc, inputs, outputs, workspace, stream):
        OnGpu.calls += 1
        x, y = on_device(inputs[0], input_desc[0]), on_device(outputs[0], output_desc[0])
        if self.tactic == 1:
            with cupy.cuda.ExternalStream(stream):
                y[...] = cupy.pad(x, [(0, 0), (0, 0), (PADS[2], PADS[3]), (PADS[0], PADS[1])], 'wrap')
        else:
            cupy.copyto(y, cupy.asarray(torch.nn.functional.pad(torch.as_tensor(x, device='cuda'), [1, 1, 2, 0], mode='circular')))

    def clone(self):
        made = OnGpu()
        made.__dict__.update(self.__dict__)
        return made


class Creator(WrapV3Creator):
    tactics = [1, 2]

    def create_plugin(self, name, fc, phase):
        made = OnGpu(fc, phase)
        made.get_valid_tactics = lambda: self.tactics
        return made


@unittest.skipUnless(ON_GPU and torch and cupy, tenfold.why_no_gpu() or 'needs torch and CuPy')
class Gpu(Plugged):
    def setUp(self):
        super().setUp()
        self.addCleanup(_decorators._known.clear)

    def check(self, plan, truth, name='y', shapes=((1, 2, 5, 6), (3, 2, 5, 6), (2, 2, 5, 6), (3, 2, 5, 6))):
        context = self.loaded(plan).create_execution_context()
        stream = torch.cuda.Stream()
        for n, shape in enumerate(shapes):
            x = torch.randn(shape, device='cuda')
            context.set_input_shape('x', shape)
            expected = truth(x.cpu().numpy())
            y = torch.empty(expected.shape, device='cuda')
            context.set_tensor_address('x', x.data_ptr())
            context.set_tensor_address(name, y.data_ptr())
            torch.cuda.synchronize()
            for _ in range(4):   # plain, recorded, replayed
                y.zero_()
                torch.cuda.synchronize()
                self.assertTrue(context.execute_async_v3(stream.cuda_stream), self.logger.errors)
                stream.synchronize()
                np.testing.assert_allclose(y.cpu().numpy(), expected, rtol=1e-6)

    def test_cupy_by_address_and_torch(self):
        for tactic in (1, 2):
            with self.subTest(tactic):
                self.registry._creators.clear()
                creator = Creator()
                creator.tactics = [tactic]
                self.registry.register_creator(creator, '')
                self.check(self.plan(parsed(self.logger, wrap_model(pads=PADS)), x=RANGE), lambda x: np.maximum(wrapped(x, PADS), 0))
        self.assertFalse(self.logger.errors)

    def test_quick_plugins(self):
        @trtp.register('sample::grown')
        def describe(x: trtp.TensorDesc, amount: float) -> trtp.TensorDesc:
            return x.like()

        @trtp.impl('sample::grown')
        def compute(x: trtp.Tensor, amount: float, outputs: Tuple[trtp.Tensor], stream: int) -> None:
            torch.add(torch.as_tensor(x, device='cuda'), amount, out=torch.as_tensor(outputs[0], device='cuda'))
        self.check(self.quick_plan(lambda x: trtp.op.sample.grown(x, amount=1.0)), lambda x: x + np.float32(1))

    @unittest.skipUnless(triton, 'needs Triton')
    def test_compiled_kernels(self):
        @trtp.register('sample::compiled')
        def describe(x: trtp.TensorDesc, block: int) -> trtp.TensorDesc:
            return x.like()

        @trtp.aot_impl('sample::compiled')
        def compiled(x: trtp.TensorDesc, block: int, outputs: Tuple[trtp.TensorDesc], tactic: int):
            source = triton.compiler.ASTSource(fn=add_kernel, signature={'x': '*fp32', 'n': 'i32', 'y': '*fp32', 'BLOCK': 'constexpr'},
                                               constexprs={'BLOCK': block})
            kernel = triton.compile(source)
            n = x.shape_expr.numel()
            launch = trtp.KernelLaunchParams()
            launch.grid_x, launch.block_x = trtp.cdiv(n, block), kernel.metadata.num_warps * 32
            launch.shared_mem = kernel.metadata.shared
            extra = trtp.SymIntExprs(1)
            extra[0] = trtp.SymInt32(n)
            return kernel.metadata.name, kernel.asm['ptx'], launch, extra
        self.check(self.quick_plan(lambda x: trtp.op.sample.compiled(x, block=128)), lambda x: x + np.float32(1))

    def quick_plan(self, func):
        network = trt.Builder(self.logger).create_network()
        layer = network.add_plugin(func(network.add_input('x', trt.float32, (-1, 2, 5, 6))))
        layer.get_output(0).name = 'y'
        network.mark_output(layer.get_output(0))
        return self.plan(network, x=RANGE)


if __name__ == '__main__':
    unittest.main()
