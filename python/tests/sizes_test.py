"""One engine at sizes in every order, through every interface: what it answers does not depend on the sizes that came before. The truth
is NumPy's. Engines run on TENFOLD_DEVICE, where that is set."""
import functools
import itertools
import os
import unittest

import numpy as np
from case import Case, TensorProto, helper, model, numpy_helper

import tenfold
import tenfold.onnxruntime
import tenfold.tensorrt as trt

try:
    import torch
except ImportError:
    torch = None

DEVICE = os.environ['TENFOLD_DEVICE']
SIZES = (1, 2, 3, 4)
PROFILE = {'x': ([1, 1, 6], [2, 2, 6], [4, 4, 6])}
BUILD = dict(device=DEVICE, optimization_level=1, tf32=False)
RNG = np.random.default_rng(2)
FIRST, SECOND = RNG.standard_normal((6, 32)).astype(np.float32), RNG.standard_normal((32, 4)).astype(np.float32)


def orders():
    """Each order of the sizes, then back, then again: so each size comes for the first, the second and the third time behind others."""
    for order in itertools.permutations(SIZES):
        yield (*order, *reversed(order), *order)


def two_layers():
    """y = softmax(relu(x @ a) @ b), x f32[batch, length, 6]."""
    nodes = [helper.make_node('MatMul', ['x', 'a'], ['t']), helper.make_node('Relu', ['t'], ['r']),
             helper.make_node('MatMul', ['r', 'b'], ['s']), helper.make_node('Softmax', ['s'], ['y'], axis=-1)]
    return model(nodes, [('x', TensorProto.FLOAT, ['batch', 'length', 6])], [('y', TensorProto.FLOAT, ['batch', 'length', 4])],
                 [numpy_helper.from_array(FIRST, 'a'), numpy_helper.from_array(SECOND, 'b')])


def truth(x):
    s = np.maximum(x.astype(np.float64) @ FIRST, 0) @ SECOND
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def data(batch, length, seed):
    return np.random.default_rng(seed).standard_normal((batch, length, 6)).astype(np.float32)


@functools.cache
def plan():
    return bytes(tenfold.build(two_layers(), profiles=PROFILE, **BUILD))


class Orders(Case):
    def in_every_order(self, make):
        """`make()` gives a function from x to y, of which each order of sizes gets one of its own."""
        for order in orders():
            run, reported = make(), []
            for seed, batch in enumerate(order):
                reported.append(batch)
                with self.subTest(batches=reported):
                    x = data(batch, 2, seed)
                    self.near(run(x), truth(x), 1e-4)

    def in_one_walk(self, run):
        """All pairs of sizes, one behind the other, of two axes that vary."""
        pairs = list(itertools.product(SIZES, SIZES))
        for seed, i in enumerate(np.random.default_rng(3).permutation(3 * len(pairs))):
            with self.subTest(sizes=pairs[i // 3], run=seed):
                x = data(*pairs[i // 3], seed)
                self.near(run(x), truth(x), 1e-4)

    def both(self, make):
        self.in_every_order(make)
        self.in_one_walk(make())


def loaded():
    return tenfold.load(plan(), device=DEVICE)


class Engines(Orders):
    def test_calls(self):
        self.both(loaded)

    def test_calls_of_one_engine(self):
        engine = loaded()
        self.both(lambda: engine)

    def test_results_where_they_are_wanted(self):
        def make():
            engine = loaded()

            def run(x):
                out = np.full((*x.shape[:2], 4), 7, np.float32)
                self.assertIs(engine(x, out=out), out)
                return out
            return run
        self.both(make)

    def test_arrays_of_the_device(self):
        def make():
            engine = loaded()

            def run(x):
                return engine(tenfold.DeviceArray.of(x, engine.device)).numpy()
            return run
        self.both(make)

    def test_the_same_memory_at_other_sizes(self):
        def make():
            engine, memory = loaded(), np.zeros(4 * 4 * 6, np.float32)

            def run(x):
                part = memory[:x.size].reshape(x.shape)
                part[:] = x
                return engine(part)
            return run
        self.both(make)

    def test_futures(self):
        def make():
            engine = loaded()
            return lambda x: engine.run_async(x).result(60)
        self.both(make)

    def test_futures_that_wait_for_none(self):
        engine, given = loaded(), [data(batch, 2, seed) for seed, batch in enumerate(itertools.chain(*orders()))]
        for x, found in zip(given, [engine.run_async(x) for x in given], strict=True):
            self.near(found.result(60), truth(x), 1e-4)

    def test_bound_contexts(self):
        def make():
            context = loaded().create_context()

            def run(x):
                context.bind('x', x)
                context.run()
                return context.outputs()['y']
            return run
        self.both(make)


class Sessions(Orders):
    def session(self):
        providers = ['CPUExecutionProvider' if DEVICE == 'cpu' else 'CUDAExecutionProvider']
        return tenfold.onnxruntime.InferenceSession(two_layers().SerializeToString(), providers=providers, tune='never', tf32=False)

    def test_runs(self):
        session = self.session()
        self.both(lambda: lambda x: session.run(None, {'x': x})[0])

    def test_io_bindings(self):
        session = self.session()

        def run(x):
            binding = session.io_binding()
            binding.bind_cpu_input('x', x), binding.bind_output('y')
            session.run_with_iobinding(binding)
            return binding.copy_outputs_to_cpu()[0]
        self.both(lambda: run)


class TensorRT(Orders):
    def make(self, execute):
        logger = trt.Logger(trt.Logger.ERROR)
        engine = trt.Runtime(logger).deserialize_cuda_engine(plan())
        context = engine.create_execution_context()
        out = tenfold.DeviceArray((4, 4, 4), 'f32', DEVICE)

        def run(x):
            given = tenfold.DeviceArray.of(x, DEVICE)
            self.assertTrue(context.set_input_shape('x', x.shape))
            self.assertTrue(execute(context, given.address, out.address))
            return out.numpy().ravel()[:x.size // 6 * 4].reshape(*x.shape[:2], 4)
        return run

    def test_on_a_stream(self):
        stream = tenfold.Stream(device=DEVICE) if DEVICE != 'cpu' else None

        def execute(context, x, y):
            context.set_tensor_address('x', x), context.set_tensor_address('y', y)
            done = context.execute_async_v3(stream.handle if stream else 0)
            if stream:
                stream.synchronize()
            return done
        self.both(lambda: self.make(execute))

    def test_and_wait(self):
        self.both(lambda: self.make(lambda context, x, y: context.execute_v2([x, y])))


@unittest.skipUnless(torch is not None and DEVICE != 'cpu' and torch.cuda.is_available(), 'no GPU, or no torch')
class TensorsOfTorch(Orders):
    def make(self):
        engine = loaded()
        return lambda x: engine(torch.from_numpy(x).to(DEVICE)).cpu()

    def test_on_the_default_stream(self):
        self.both(self.make)

    def test_on_streams_of_ones_own(self):
        with torch.cuda.stream(torch.cuda.Stream()):
            self.both(self.make)

    def test_on_streams_that_change(self):
        def make():
            engine = loaded()

            def run(x):
                with torch.cuda.stream(torch.cuda.Stream()):
                    return engine(torch.from_numpy(x).to(DEVICE)).cpu()
            return run
        self.both(make)

    def test_behind_and_before_captures(self):
        """A size that is captured between others becomes part of the caller's graph; the others' runs go on as they did."""
        engine = loaded()
        for order in orders():
            for seed, batch in enumerate(order):
                x = data(batch, 2, seed)
                given = torch.from_numpy(x).to(DEVICE)
                if seed % 3 == 2:
                    torch.cuda.synchronize()
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph):
                        found = engine(given)
                    graph.replay()
                    torch.cuda.synchronize()
                else:
                    found = engine(given)
                with self.subTest(batches=order[:seed + 1]):
                    self.near(found.cpu(), truth(x), 1e-4)


if __name__ == '__main__':
    unittest.main()
