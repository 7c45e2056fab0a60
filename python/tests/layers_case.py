"""What tests of layers share: a network, arrays as its inputs, and its results as it is built and run."""
import numpy as np
import onnxruntime
from case import Case, TensorProto, helper, model
from tensorrt_case import Lines

import tenfold.tensorrt as trt

RANDOM = np.random.default_rng(3)
IMAGE = RANDOM.standard_normal((2, 4, 7, 6)).astype(np.float32)
ROWS = RANDOM.standard_normal((3, 5)).astype(np.float32)


def runtime(op, inputs, count=1, opset=21, **attributes):
    """What ONNX Runtime computes for one node."""
    names = [f'i{n}' if x is not None else '' for n, x in enumerate(inputs)]
    proto = model([helper.make_node(op, names, [f'o{n}' for n in range(count)], **attributes)],
                  [(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in zip(names, inputs) if n],
                  [(f'o{n}', TensorProto.FLOAT, None) for n in range(count)], opset=opset)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=['CPUExecutionProvider'])
    found = session.run(None, {n: x for n, x in zip(names, inputs) if n})
    return found[0] if count == 1 else found


class Layers(Case):
    def setUp(self):
        super().setUp()
        self.logger = Lines()
        self.builder = trt.Builder(self.logger)
        self.network = self.builder.create_network()

    def input(self, array, name='x', shape=None):
        kinds = {np.dtype(trt.nptype(k)): k for k in (trt.float32, trt.int32, trt.int64, trt.bool, trt.int8, trt.uint8)}
        tensor = self.network.add_input(name, kinds[array.dtype], array.shape if shape is None else shape)
        self.arrays = {**getattr(self, 'arrays', {}), name: np.array(array, order='C')}
        return tensor

    def results(self, *layers):
        """Of the layers' first results, or of tensors, as the built network computes them."""
        tensors = [t if isinstance(t, trt.ITensor) else t.get_output(0) for t in layers]
        for tensor in tensors:
            self.network.mark_output(tensor)
        config = self.builder.create_builder_config()
        config.builder_optimization_level = 0
        config.clear_flag(trt.BuilderFlag.TF32)
        if any(-1 in t.shape for t in (self.network.get_input(i) for i in range(self.network.num_inputs))):
            profile = self.builder.create_optimization_profile()
            for name, x in self.arrays.items():
                profile.set_shape(name, x.shape, x.shape, x.shape)
            config.add_optimization_profile(profile)
        engine = self.builder.build_engine_with_config(self.network, config)
        self.assertIsNotNone(engine, self.logger.errors)
        given = {name: x for name, x in getattr(self, 'arrays', {}).items() if name in list(engine)}
        found = engine._engine(given)
        return [found[t.name] if isinstance(found, dict) else found for t in tensors]

    def check(self, layer, expected, tolerance=1e-5):
        (found,) = self.results(layer)
        self.assertEqual(found.shape, np.shape(expected))
        self.assertEqual(tuple(layer.get_output(0).shape), found.shape)
        self.near(found, expected, tolerance)
        return found
