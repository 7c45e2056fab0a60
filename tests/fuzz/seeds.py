#!/usr/bin/env python3
"""Seeds for the fuzzers: seeds.py TENFOLD MODELS FOLDER writes FOLDER/onnx_import, plan_load, plan_run, graph_text, arrays and images.

MODELS is a folder or an archive of ONNX models; the small ones are taken. Plans are built from some of them, for the CPU and for the
null device: whole, and as metadata sections, behind the byte by which the fuzzers of plans choose how to read them; and the graphs of
their portable sections. Arrays and images are those of the unit tests of src/formats.
"""

import base64
import os
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
except ImportError:   # then without the operators of CONTRIB
    onnx = None

LARGEST_MODEL, LARGEST_PLAN, PLANS = 4000, 12000, 150
AS_IS, SIGNED, METADATA, NAMES = 0, 1, 2, 3
NULL, CPU = 0, 4


def section(plan, expected):
    """The bytes of a section; src/execution/plan/format.h has the layout."""
    (count,) = struct.unpack_from('<I', plan, 12)
    for entry in range(32, 32 + 32 * count, 32):
        number, _, offset, size = struct.unpack_from('<IIQQ', plan, entry)
        if number == expected:
            return plan[offset : offset + size]
    return b''


def small_models(source):
    """Name and bytes of each."""
    if os.path.isdir(source):
        for path in sorted(pathlib.Path(source).rglob('*.onnx')):
            if path.stat().st_size <= LARGEST_MODEL:
                yield f'{path.parent.name}_{path.stem}', path.read_bytes()
        return
    with tarfile.open(source) as archive:
        for member in archive:
            if member.name.endswith('/model.onnx') and member.size <= LARGEST_MODEL:
                yield member.name.split('/')[-2], archive.extractfile(member).read()


# Operators of ONNX Runtime's, which no model of the suite has: floats are inputs, other arrays constants, None is left out.
CONTRIB = {
    'Attention': ([(1, 3, 4), (4, 12), (12,), [[1, 1, 0]]], {'num_heads': 2, 'qkv_hidden_sizes': [4, 4, 4]}),
    'DynamicQuantizeMatMul': ([(2, 4), np.int8([[1], [2], [3], [4]]), (1,), np.int8([0])], {}),
    'EmbedLayerNormalization': ([[[1, 0]], None, (3, 4), (5, 4), None, (4,), (4,)], {'epsilon': 1e-5}),
    'FusedConv': ([(1, 1, 4, 4), (1, 1, 2, 2)], {'activation': 'Clip', 'activation_params': [0.0, 6.0]}),
    'FusedGemm': ([(2, 3), (3, 2)], {'activation': 'LeakyRelu', 'activation_alpha': 0.1}),
    'FusedMatMul': ([(3, 1, 2), (3, 1, 2)], {'transBatchA': 1, 'transB': 1, 'alpha': 2.0}),
    'MatMulNBits': ([(1, 16), np.zeros((2, 1, 8), np.uint8), (2,), np.uint8([8, 8])], {'K': 16, 'N': 2, 'bits': 4, 'block_size': 16}),
    'MultiHeadAttention': ([(1, 2, 4)] * 3 + [None, None, None] + [(1, 2, 3, 2)] * 2, {'num_heads': 2, 'unidirectional': 1}),
    'QLinearConcat': ([(), np.uint8(3), np.uint8([[1, 2]]), (), np.uint8(0)], {'axis': 1}),
    'SkipLayerNormalization': ([(1, 2, 4), (1, 2, 4), (4,), None, (4,)], {'epsilon': 1e-5}),
} if onnx else {}


def contrib_models():
    """Name and bytes of each."""
    for op, (operands, attributes) in CONTRIB.items():
        inputs, constants, names = [], [], []
        for i, operand in enumerate(operands):
            names.append('' if operand is None else f'x{i}')
            if isinstance(operand, tuple):
                inputs.append(helper.make_tensor_value_info(names[-1], onnx.TensorProto.FLOAT, operand))
            elif operand is not None:
                constants.append(numpy_helper.from_array(operand if hasattr(operand, 'dtype') else np.int32(operand), names[-1]))
        node = helper.make_node(op, names, ['y'], domain='com.microsoft', **attributes)
        graph = helper.make_graph([node], 'g', inputs, [helper.make_empty_tensor_value_info('y')], constants)
        opsets = [helper.make_opsetid('', 20), helper.make_opsetid('com.microsoft', 1)]
        yield f'contrib_{op}', helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


LEAST, GREATEST = -(2**63), 2**63 - 1


def extreme_models():
    """Small models whose integers are the least and the greatest, as constants and as inputs: what a fuzzer changes from there on."""
    for op, operands in {
        'Range': [0, LEAST, -1],
        'Slice': [[1, 2, 3], [LEAST], [GREATEST], [0], [GREATEST]],
        'Pad': [[1, 2, 3], [LEAST, 1]],
        'Div': [LEAST, -1],
        'Mod': [LEAST, -1],
        'Tile': [[1, 2], [GREATEST]],
    }.items():
        for given in range(-1, len(operands)):   # the operand that is an input
            names = [f'x{i}' for i in range(len(operands))]
            arrays = [np.int64(operand) for operand in operands]
            inputs, constants = [], []
            for i, array in enumerate(arrays):
                if i == given:
                    inputs.append(helper.make_tensor_value_info(names[i], onnx.TensorProto.INT64, array.shape))
                else:
                    constants.append(numpy_helper.from_array(np.asarray(array), names[i]))
            node, result = helper.make_node(op, names, ['y']), helper.make_empty_tensor_value_info('y')
            graph = helper.make_graph([node], 'g', inputs, [result], constants)
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 20)], ir_version=10)
            yield f'extreme_{op}_{given}', model.SerializeToString()


def files_of_formats():
    """Fuzzer and bytes of each file in the headers that tools/write_format_cases.py writes, told by its first bytes."""
    formats = pathlib.Path(__file__).resolve().parent.parent.parent / 'src' / 'formats'
    for header in ('arrays', 'images'):
        for text in re.findall(r'(?:"[A-Za-z0-9+/]{16,}=*"\s*)+', (formats / header / 'cases_for_tests.h').read_text()):
            data = base64.b64decode(re.sub(r'["\s]', '', text))
            if data.startswith((b'\x93NUMPY', b'PK')):
                yield 'arrays', data
            elif data.startswith(b'\x89PNG'):
                yield 'images', data


def main(tenfold, source, folder):
    for number, (fuzzer, data) in enumerate(files_of_formats()):
        os.makedirs(os.path.join(folder, fuzzer), exist_ok=True)
        with open(os.path.join(folder, fuzzer, f'format_{number}'), 'wb') as f:
            f.write(data)
    models, plans, runs, texts = (os.path.join(folder, name) for name in ('onnx_import', 'plan_load', 'plan_run', 'graph_text'))
    for path in (models, plans, runs, texts):
        os.makedirs(path, exist_ok=True)
    for name, data in (*small_models(source), *contrib_models(), *(extreme_models() if onnx else ())):
        with open(os.path.join(models, name), 'wb') as f:
            f.write(data)
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, 'plan')
        names = sorted(os.listdir(models))
        for name in names[:: max(1, len(names) // PLANS)]:
            for device, mark in (('null', NULL), ('cpu', CPU)):
                done = subprocess.run(
                    [
                        tenfold,
                        'exec',
                        f'--onnx={models}/{name}',
                        f'--saveEngine={path}',
                        '--skipInference',
                        f'--device={device}',
                        '--builderOptimizationLevel=0',
                        '--noBuilderCache',
                    ],
                    capture_output=True,
                )
                if done.returncode:
                    continue  # not every model of the suite can be a plan
                with open(path, 'rb') as f:
                    plan = f.read()
                for number, text in enumerate(section(plan, 3).split(b'\ngraph\n')[1:]):
                    with open(os.path.join(texts, f'{name}-{number}'), 'wb') as f:
                        f.write(text)
                for form, data in ((METADATA, section(plan, 1)), (NAMES, section(plan, 10)), (SIGNED, plan), (AS_IS, plan)):
                    if len(data) <= LARGEST_PLAN:
                        for place in (plans, runs) if device == 'cpu' else (plans,):
                            with open(os.path.join(place, f'{name}-{device}-{form}'), 'wb') as f:
                                f.write(bytes([form | mark]) + data)
    print(f'{len(os.listdir(models))} models and {len(os.listdir(plans))} plans')


if __name__ == '__main__':
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
