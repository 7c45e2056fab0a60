#!/usr/bin/env python3
"""Expected numbers of a test, by ONNX Runtime: write_golden.py [--seed N] [--outputs 0,2] DOMAIN OP OPSET 'OPERANDS ATTRIBUTES'

Operands and attributes are in the text form of cases: f32[2,3]{1,2,3,4,5,6} is a literal, f32[2,3] becomes one of random eighths in
[-2, 2], i64[2] one of 0 to 3, and _ is an operand that is left out; axis=1, perm=[1,0], alpha=0.5, mode="edge" are attributes. It prints
the line for kCases of src/onnx/onnx_ops/onnx_ops_test.cpp. DOMAIN "" is ai.onnx.

    tools/write_golden.py com.microsoft FastGelu 1 'f32[2,3] f32[3]'
    tools/write_golden.py --check src/onnx/onnx_ops/onnx_ops_test.cpp      computes every line anew, and tells which differ

On a CPU without VNNI ONNX Runtime's sums of 8-bit products may saturate: QAttention and MatMulIntegerToFloat then differ from their lines.
"""
import argparse
import re
import sys

import numpy as np
import onnxruntime as ort
from onnx import ValueInfoProto, helper

TYPES = {'f32': 'float32', 'f64': 'float64', 'f16': 'float16', 'i64': 'int64', 'i32': 'int32', 'i16': 'int16', 'i8': 'int8', 'u8': 'uint8',
         'u16': 'uint16', 'u32': 'uint32', 'u64': 'uint64', 'bool': 'bool'}
TOKEN = re.compile(r'\s*(?:(_)(?=\s|$)|(\w+)\[([\d,\s]*)\](?:\{([^}]*)\})?|(\w+)=("(?:[^"]*)"|\[[^\]]*\]|[^\s]+))')


def tensor(dtype, shape, literal, random):
    extents = [int(d) for d in shape.split(',') if d.strip()]
    if literal is not None:
        numbers = [float(x) if x.strip() not in ('true', 'false') else x.strip() == 'true' for x in literal.split(',') if x.strip()]
        return np.array(numbers).astype(TYPES[dtype]).reshape(extents)
    if dtype[0] == 'f':
        return (random.integers(-16, 17, extents) / 8).astype(TYPES[dtype])
    return random.integers(0, 2 if dtype == 'bool' else 4, extents).astype(TYPES[dtype])


def attribute(text):
    if text[0] == '"':
        return text[1:-1]
    if text[0] == '[':
        return [attribute(x.strip()) for x in text[1:-1].split(',') if x.strip()]
    return float(text) if re.search(r'[.e]', text) else int(text)


def parsed(problem, random):
    operands, attributes, at = [], {}, 0
    problem = problem.strip()
    while at < len(problem):
        m = TOKEN.match(problem, at)
        if not m:
            sys.exit(f'write_golden.py: cannot read {problem[at:at + 40]!r}')
        at = m.end()
        if m[1]:
            operands.append(None)
        elif m[2]:
            if m[2] not in TYPES:
                raise NotImplementedError(f'type {m[2]}')
            operands.append(tensor(m[2], m[3], m[4], random))
        else:
            attributes[m[5]] = attribute(m[6])
    return operands, attributes


def text(value, digits=7):
    name = next(short for short, numpy in TYPES.items() if numpy == str(value.dtype))
    return f'{name}[{",".join(map(str, value.shape))}]{{{",".join(f"{float(x):.{digits}g}" for x in value.ravel())}}}'


def computed(domain, op, opset, operands, attributes, outputs):
    names = [f'x{i}' if x is not None else '' for i, x in enumerate(operands)]
    results = [f'y{i}' if i in outputs else '' for i in range(max(outputs) + 1)]
    node = helper.make_node(op, names, results, domain=domain, **attributes)
    value = lambda name, x: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
    graph = helper.make_graph([node], 'g', [value(n, x) for n, x in zip(names, operands) if x is not None],
                              [ValueInfoProto(name=r) for r in results if r])   # of types that follow
    opsets = [helper.make_opsetid(domain, opset)] + ([helper.make_opsetid('', 17)] if domain else [])
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])
    return session.run(None, {n: x for n, x in zip(names, operands) if x is not None})


LINE = re.compile(r'\{"([\w.]*)", "(\w+)", (\d+), \{([\d, ]+)\},\s*R"\((.*?)\)",\s*R"\((.*?)\)", ([\d.e-]+)\}', re.S)


def check(path):
    """Every line of kCases that ONNX Runtime computes; the others are told."""
    wrong = left = same = 0
    random = np.random.default_rng(0)
    with open(path) as file:
        lines = LINE.findall(file.read())
    for domain, op, opset, outputs, problem, results, tolerance in lines:
        try:
            operands, attributes = parsed(problem, random)
            expected = computed(domain, op, int(opset), operands, attributes, [int(o) for o in outputs.split(',')])
            have = parsed(results, random)[0]
        except Exception as error:   # a type or an operator that ONNX Runtime has not on a CPU
            print(f'{op}: not computed: {str(error).splitlines()[0][:100]}')
            left += 1
            continue
        near = len(expected) == len(have) and all(
            w.shape == h.shape and np.allclose(w.astype(np.float64), h.astype(np.float64), rtol=1e-5, atol=max(1e-6, float(tolerance)))
            for w, h in zip(expected, have))
        if not near:
            print(f'{op}: {problem.strip()[:80]} ...\n  has   {results.strip()[:100]}\n  wants {" ".join(map(text, expected))[:100]}')
        same, wrong = same + near, wrong + (not near)
    print(f'{same} lines are what ONNX Runtime {ort.__version__} computes, {wrong} are not, {left} it does not compute')
    sys.exit(1 if wrong or not same else 0)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--check', metavar='FILE')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--outputs', default='0')
    p.add_argument('node', nargs='*', metavar='DOMAIN OP OPSET PROBLEM')
    a = p.parse_args()
    if a.check:
        check(a.check)
    if len(a.node) != 4:
        p.error('DOMAIN, OP, OPSET and the operands with their attributes are wanted')
    domain, op, opset, problem = a.node
    operands, attributes = parsed(problem, np.random.default_rng(a.seed))
    outputs = [int(o) for o in a.outputs.split(',')]
    results = computed(domain, op, int(opset), operands, attributes, outputs)
    spelled = TOKEN.sub(lambda m: m[0] if m[5] else '', problem).split()
    line = ' '.join([*('_' if x is None else text(x) for x in operands), *spelled])
    print(f'    {{"{domain}", "{op}", {opset}, {{{", ".join(map(str, outputs))}}},\n     R"({line})",\n'
          f'     R"({" ".join(map(text, results))})", 1e-5}},')


if __name__ == '__main__':
    main()
