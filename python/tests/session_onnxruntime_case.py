"""Sessions of ONNX Runtime and of tenfold.onnxruntime side by side: answers, warnings and kinds of errors are ONNX Runtime's."""
import importlib
import warnings

import numpy as np
import onnxruntime
from case import Case, TensorProto, helper, model, numpy_helper, onnx
from onnxruntime.capi import onnxruntime_pybind11_state as their_errors

import tenfold
import tenfold.onnxruntime

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64
BOTH = (onnxruntime, tenfold.onnxruntime)
CPU = ['CPUExecutionProvider']
ERRORS = importlib.import_module('tenfold.onnxruntime.capi.onnxruntime_pybind11_state')


def node(op, inputs=('x',), outputs=('y',), **attributes):
    return helper.make_node(op, list(inputs), list(outputs), **attributes)


def relu(shape=(4,), dtype=FLOAT, op='Relu'):
    shape = None if shape is None else list(shape)
    return model([node(op)], [('x', dtype, shape)], [('y', dtype, shape)])


def clip(version):
    """Its least value is an initializer that is an input, too."""
    proto = model([node('Clip', ['x', 'lo'])], [('x', FLOAT, [6]), ('lo', FLOAT, [])], [('y', FLOAT, [6])],
                  [numpy_helper.from_array(np.float32(-.1), 'lo')])
    proto.ir_version = version
    return proto


def biased(external=False):
    proto = model([node('Add', ['x', 'w'])], [('x', FLOAT, [4])], [('y', FLOAT, [4])],
                  [numpy_helper.from_array(np.ones(4, np.float32), 'w')])
    if external:
        onnx.external_data_helper.set_external_data(proto.graph.initializer[0], 'w.bin', 0, 16)
        proto.graph.initializer[0].ClearField('raw_data')
        proto.graph.initializer[0].data_location = TensorProto.EXTERNAL
    return proto


def session(module, proto, options=None, providers=CPU, **keywords):
    if module is tenfold.onnxruntime:
        keywords |= dict(tune='never', tf32=False)
    return module.InferenceSession(proto.SerializeToString(), options, providers, **keywords)


def reported(function):
    """What it gives or raises, and the categories of what it warns of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        try:
            result = function()
        except Exception as error:
            result = error
    return result, [w.category for w in seen]


class Beside(Case):
    def same(self, function, *what, error=None):
        """function(module, ...) ends alike under both. `error`: of ONNX Runtime's names, which both raise."""
        (theirs, warned), (ours, also) = (reported(lambda module=module: function(module, *what)) for module in BOTH)
        self.assertEqual(also, warned)
        if error is None:
            for one in (theirs, ours):
                if isinstance(one, Exception):
                    raise one
            self.equal(ours, theirs)
            return ours
        for result, names in ((theirs, their_errors), (ours, ERRORS)):
            self.assertIsInstance(result, getattr(names, error) if isinstance(error, str) else error, result)
        return ours

    def equal(self, ours, theirs):
        if isinstance(theirs, np.ndarray):
            self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
            np.testing.assert_array_equal(ours, theirs)
        elif isinstance(theirs, (list, tuple)):
            self.assertEqual(len(ours), len(theirs))
            for pair in zip(ours, theirs):
                self.equal(*pair)
        else:
            self.assertEqual(ours, theirs)


__all__ = ['BOTH', 'Beside', 'CPU', 'ERRORS', 'FLOAT', 'INT', 'biased', 'clip', 'node', 'relu', 'session', 'their_errors']
