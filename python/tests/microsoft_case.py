"""One operator of com.microsoft as a model, beside ONNX Runtime."""
import numpy as np
import onnxruntime
from case import Case, TensorProto, helper

import tenfold.onnxruntime

RANDOM = np.random.default_rng(0)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def feeds_of(operands):
    return {name: array for name, array in operands if isinstance(array, np.ndarray)}


def one_operator(op, operands, outputs=1, initializers=(), **attributes):
    """`operands`: arrays by name; None: left out; a name alone is an initializer's."""
    names = [name if array is not None else '' for name, array in operands]
    results = [f'y{i}' for i in range(outputs)]
    node = helper.make_node(op, names, results, domain='com.microsoft', **attributes)
    graph = helper.make_graph([node], 'g', [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                                            for n, a in feeds_of(operands).items()],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in results], list(initializers))
    for output in graph.output:
        output.type.Clear()
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 20),
                                                                  helper.make_opsetid('com.microsoft', 1)]).SerializeToString()


class MicrosoftCase(Case):
    def ours(self, op, operands, *arguments, **attributes):
        session = tenfold.onnxruntime.InferenceSession(one_operator(op, operands, *arguments, **attributes),
                                                       providers=['CPUExecutionProvider'], tune='never', tf32=False)
        return session.run(None, feeds_of(operands))

    def theirs(self, op, operands, *arguments, **attributes):
        session = onnxruntime.InferenceSession(one_operator(op, operands, *arguments, **attributes), providers=['CPUExecutionProvider'])
        return session.run(None, feeds_of(operands))

    def compare(self, op, operands, outputs=1, initializers=(), valid=lambda _, result: result, **attributes):
        expected = self.theirs(op, operands, outputs, initializers, **attributes)
        found = self.ours(op, operands, outputs, initializers, **attributes)
        for i, (theirs, ours) in enumerate(zip(expected, found)):
            self.assertEqual(ours.shape, theirs.shape)
            np.testing.assert_allclose(valid(i, ours), valid(i, theirs), rtol=1e-5, atol=2e-6)
