"""Every operator with every element type of its schema: the first case that the package onnx has for it, with operands of other types,
beside that package's reference evaluator."""
import collections
import unittest
import warnings

import numpy as np
import onnx
from case import Case, helper
from onnx.reference import ReferenceEvaluator

import tenfold.onnxruntime

with warnings.catch_warnings():   # of cases that divide by zero
    warnings.simplefilter('ignore')
    try:
        from onnx.backend.test.case.node import collect_testcases
        CASES = collect_testcases(None)
    except Exception as e:
        raise unittest.SkipTest(f'the package onnx cannot make its cases: {e}') from None

TYPES = {'float': np.float32, 'double': np.float64, 'float16': np.float16, 'bool': np.bool_,
         **{n: np.dtype(n).type for n in ('int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64')}}
INTEGERS = {n for n in TYPES if 'int' in n}
# (operator, types; None: all): why an answer is not compared, or a refusal right.
APART = {
    'Attention': (None, 'values of another type than queries and keys are refused'),
    'Bernoulli': (None, 'random'),
    'BitCast': (None, 'the case is for elements of 32 bits'),
    'BitShift': ({'int8', 'int16', 'int32', 'int64'}, 'signed integers, of opset 28, are refused'),
    'GridSample': (INTEGERS, 'the reference rounds the weights of neighbors to integers'),
    'Loop': (None, 'the body is for one type'),
    'QuantizeLinear': ({'int32'}, 'scales of i32 are refused'),
    'Scan': (None, 'the body is for one type'),
    'Shrink': ({'uint64'}, 'the reference overflows'),
}


def problems():
    """(name, variable, type, model, operands by name), each operand of the variable in the type."""
    seen = set()
    for case in CASES:
        if case.model is None or len(case.model.graph.node) != 1 or not case.data_sets:
            continue
        node, operands = case.model.graph.node[0], case.data_sets[0][0]
        opset = next((o.version for o in case.model.opset_import if o.domain == node.domain), 0)
        if node.domain not in ('', 'ai.onnx.ml') or (node.domain, node.op_type) in seen or not opset:
            continue
        if not all(isinstance(x, np.ndarray) and x.dtype.name in {np.dtype(t).name for t in TYPES.values()} for x in operands):
            continue
        seen.add((node.domain, node.op_type))
        schema = onnx.defs.get_schema(node.op_type, opset, node.domain)
        allowed = {t.type_param_str: t.allowed_type_strs for t in schema.type_constraints}
        variables = [schema.inputs[min(i, len(schema.inputs) - 1)].type_str for i, name in enumerate(node.input) if name]
        for variable in sorted({v for v in variables if v in allowed}):
            for kind in sorted({t[7:-1] for t in allowed[variable]} & set(TYPES)):
                with np.errstate(all='ignore'):
                    typed = [x.astype(TYPES[kind]) if v == variable else x for x, v in zip(operands, variables)]
                model = onnx.ModelProto()
                model.CopyFrom(case.model)
                for value, x in zip(model.graph.input, typed):
                    value.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(x.dtype)
                for value in model.graph.output:
                    value.ClearField('type')
                yield node.op_type, variable, kind, model, dict(zip([n for n in node.input if n], typed))


class Types(Case):
    def test_every_type_of_every_schema(self):
        counts = collections.Counter()
        for op, variable, kind, model, feeds in problems():
            if op in APART and (APART[op][0] is None or kind in APART[op][0]):
                counts['apart'] += 1
                continue
            with self.subTest(op, variable=variable, type=kind):
                session = tenfold.onnxruntime.InferenceSession(model.SerializeToString(), providers=['CPUExecutionProvider'], tune='never',
                                                               tf32=False)
                with self.with_system_libraries():
                    found = session.run(None, feeds)
                try:
                    with np.errstate(all='ignore'), warnings.catch_warnings():
                        warnings.simplefilter('ignore')
                        expected = ReferenceEvaluator(model).run(None, feeds)
                except Exception:   # the reference has no such type
                    counts['without a reference'] += 1
                    continue
                tolerance = 4e-3 if kind == 'float16' else 1e-3
                for ours, theirs in zip(found, expected):
                    ours, theirs = np.asarray(ours), np.asarray(theirs)
                    self.assertEqual(ours.shape, theirs.shape)
                    np.testing.assert_allclose(ours.astype(np.float64), theirs.astype(np.float64), rtol=tolerance, atol=tolerance)
                counts['compared'] += 1
        self.assertGreater(counts['compared'], 1000)
        self.assertLess(counts['without a reference'], 60)


if __name__ == '__main__':
    unittest.main()
