#!/usr/bin/env python3
"""Models of one node, at sizes that models of the field have, for operators which the reference models lean on little:

    bench/operator_models.py FOLDER                                        writes them, FOLDER/OPERATOR_CASE.onnx
    tenfold compare FOLDER --to=onnxruntime --noTF32 --json >rows.json     times them
    bench/operator_models.py --table rows.json                             the table of docs/reference/operator-speed.md

Where a size is from stands beside it."""
import json
import math
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
RANDOM = np.random.default_rng(0)
CASES = {}


def case(name, node, inputs, weights=(), opset=20):
    """node: (operator, attributes); inputs: shapes, float unless (type, shape); weights: arrays behind them."""
    assert name not in CASES, name
    operator, attributes = node
    typed = [i if isinstance(i[-1], tuple) else (F32, i) for i in inputs]
    names = [f'x{n}' for n in range(len(typed))]
    arrays = [None if w is None else numpy_helper.from_array(np.asarray(w), f'w{n}') for n, w in enumerate(weights)]
    all_names = names + ['' if a is None else a.name for a in arrays]
    outputs = attributes.pop('outputs', ['y'])
    made = helper.make_node(operator, all_names, outputs, **attributes)
    info = helper.make_tensor_value_info
    graph = helper.make_graph([made], name, [info(n, t, list(s)) for n, (t, s) in zip(names, typed, strict=True)],
                              [helper.make_empty_tensor_value_info(o) for o in outputs], [a for a in arrays if a is not None])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=10)
    CASES[name] = onnx.shape_inference.infer_shapes(model)


def weight(*shape):
    return (RANDOM.standard_normal(shape) / math.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32)


def index(high, *shape):
    return RANDOM.integers(0, high, shape)


def resizes():
    up = lambda *s: np.array(s, np.float32)
    for mode, more in (('nearest', {}), ('linear', {}), ('cubic', {})):
        for how in ('half_pixel', 'align_corners', 'asymmetric'):
            case(f'Resize_{mode}_{how}_2x', ('Resize', dict(mode=mode, coordinate_transformation_mode=how, **more)),
                 [(1, 64, 64, 64)], [None, up(1, 1, 2, 2)])   # a decoder's step of U-Net or FPN
    case('Resize_nearest_floor_yolo', ('Resize', dict(mode='nearest', coordinate_transformation_mode='asymmetric', nearest_mode='floor')),
         [(1, 256, 20, 20)], [None, up(1, 1, 2, 2)])            # YOLO's neck
    case('Resize_linear_to_image', ('Resize', dict(mode='linear')),
         [(1, 21, 65, 65)], [None, up(1, 1, 8, 8)])   # DeepLab's head
    case('Resize_linear_down_antialias', ('Resize', dict(mode='linear', antialias=1)),
         [(1, 3, 512, 512)], [None, up(1, 1, .4375, .4375)])
    case('Resize_linear_3d', ('Resize', dict(mode='linear')),
         [(1, 32, 24, 24, 24)], [None, up(1, 1, 2, 2, 2)])   # 3-D U-Net


def sampling():
    for mode in ('linear', 'nearest', 'cubic'):
        case(f'GridSample_{mode}', ('GridSample', dict(mode=mode)), [(1, 32, 64, 64), (1, 64, 64, 2)])
    case('GridSample_3d', ('GridSample', dict(mode='linear')),
         [(1, 8, 24, 24, 24), (1, 24, 24, 24, 3)])   # registration
    regions = (RANDOM.random((100, 4)) * 300 + [0, 0, 300, 300]).astype(np.float32)
    case('RoiAlign', ('RoiAlign', dict(output_height=7, output_width=7, sampling_ratio=2, spatial_scale=.0625)),
         [(1, 256, 50, 50)], [regions, np.zeros(100, np.int64)])   # Mask R-CNN


def choosing():
    case('TopK_detector', ('TopK', dict(outputs=['v', 'i'])), [(1, 8400)], [np.array([300])])       # YOLO's candidates
    case('TopK_classes', ('TopK', dict(outputs=['v', 'i'])), [(32, 1000)], [np.array([5])])
    case('TopK_words', ('TopK', dict(outputs=['v', 'i'])), [(1, 32000)], [np.array([50])])          # sampling
    boxes = RANDOM.random((1, 1000, 4)).astype(np.float32)
    boxes[..., 2:] = boxes[..., :2] + .1
    case('NonMaxSuppression', ('NonMaxSuppression', {}), [],
         [boxes, RANDOM.random((1, 4, 1000)).astype(np.float32), np.array([100]), np.float32([.5]), np.float32([.25])])
    CASES['NonMaxSuppression'] = scores_as_input(CASES['NonMaxSuppression'])
    case('ArgMax_mask', ('ArgMax', dict(axis=1, keepdims=0)), [(1, 21, 256, 256)])                 # segmentation
    case('Where_mask', ('Where', {}), [(BOOL, (1, 1, 128, 128)), (1, 12, 128, 128)], [np.float32(-1e9)])   # attention
    case('Where_chain', ('Where', {}), [(BOOL, (64, 1024)), (64, 1024), (64, 1024)])


def scores_as_input(model):
    """Where all is constant nothing is timed."""
    weights = {w.name: w for w in model.graph.initializer}
    scores = weights['w1']
    model.graph.initializer.remove(scores)
    model.graph.input.append(helper.make_tensor_value_info('w1', F32, list(scores.dims)))
    return model


def gathering():
    case('Gather_rows', ('Gather', dict(axis=0)), [(1024, 256)], [index(1024, 512)])
    case('Gather_inner', ('Gather', dict(axis=1)), [(64, 512)], [index(512, 128)])
    case('GatherElements', ('GatherElements', dict(axis=1)),
         [(8, 1024, 4)], [index(1024, 8, 300, 4)])        # DETR's boxes
    case('GatherND', ('GatherND', dict(batch_dims=1)), [(8, 1024, 64)], [index(1024, 8, 100, 1)])
    case('ScatterElements', ('ScatterElements', dict(axis=1)), [(8, 1024)], [index(1024, 8, 256), weight(8, 256)])
    case('ScatterElements_add', ('ScatterElements', dict(axis=0, reduction='add')),
         [(1024, 64)], [index(1024, 4096, 64), weight(4096, 64)])
    case('ScatterND', ('ScatterND', {}), [(512, 256)], [index(512, 128, 1), weight(128, 256)])      # a cache's rows
    case('Einsum_attention', ('Einsum', dict(equation='bhqd,bhkd->bhqk')), [(1, 12, 128, 64), (1, 12, 128, 64)])
    case('Einsum_outer', ('Einsum', dict(equation='bi,bj->bij')), [(32, 128), (32, 128)])
    case('Einsum_project', ('Einsum', dict(equation='bqhd,hdo->bqo')), [(1, 128, 12, 64)], [weight(12, 64, 768)])


def convolutions():
    case('ConvTranspose_2d_s2', ('ConvTranspose', dict(strides=[2, 2], kernel_shape=[2, 2])),
         [(1, 128, 32, 32)], [weight(128, 64, 2, 2)])
    case('ConvTranspose_2d_k4', ('ConvTranspose', dict(strides=[2, 2], pads=[1] * 4, kernel_shape=[4, 4])),
         [(1, 128, 16, 16)], [weight(128, 64, 4, 4)])
    case('ConvTranspose_3d', ('ConvTranspose', dict(strides=[2] * 3, kernel_shape=[2] * 3)),
         [(1, 64, 12, 12, 12)], [weight(64, 32, 2, 2, 2)])
    case('ConvTranspose_1d', ('ConvTranspose', dict(strides=[8], pads=[4, 4], kernel_shape=[16])),
         [(1, 256, 64)], [weight(256, 128, 16)])   # HiFi-GAN
    case('Conv_grouped', ('Conv', dict(group=32, pads=[1] * 4, kernel_shape=[3, 3])),
         [(1, 128, 56, 56)], [weight(128, 4, 3, 3)])   # ResNeXt
    case('Conv_depthwise_7', ('Conv', dict(group=96, pads=[3] * 4, kernel_shape=[7, 7])),
         [(1, 96, 56, 56)], [weight(96, 1, 7, 7)])   # ConvNeXt
    case('Conv_1d_dilated', ('Conv', dict(dilations=[4], pads=[4, 4], kernel_shape=[3])),
         [(1, 128, 1000)], [weight(128, 128, 3)])   # TCN
    case('Conv_3d', ('Conv', dict(pads=[1] * 6, kernel_shape=[3] * 3)),
         [(1, 32, 24, 24, 24)], [weight(32, 32, 3, 3, 3)])
    case('DepthToSpace', ('DepthToSpace', dict(blocksize=2, mode='CRD')), [(1, 256, 64, 64)])      # super resolution
    case('SpaceToDepth', ('SpaceToDepth', dict(blocksize=2)), [(1, 16, 128, 128)])
    case('MaxPool_3d', ('MaxPool', dict(kernel_shape=[2] * 3, strides=[2] * 3)), [(1, 32, 48, 48, 48)])
    case('AveragePool_2d', ('AveragePool', dict(kernel_shape=[3, 3], pads=[1] * 4)), [(1, 64, 56, 56)])
    for mode in ('reflect', 'edge', 'constant', 'wrap'):
        case(f'Pad_{mode}', ('Pad', dict(mode=mode)), [(1, 32, 64, 64)], [np.array([0, 0, 3, 3, 0, 0, 3, 3])])


def norms():
    case('InstanceNorm_2d', ('InstanceNormalization', {}), [(1, 64, 128, 128)], [weight(64), weight(64)])      # style transfer
    case('InstanceNorm_3d', ('InstanceNormalization', {}), [(1, 32, 32, 32, 32)], [weight(32), weight(32)])    # nnU-Net
    case('GroupNorm_2d', ('GroupNormalization', dict(num_groups=32)),
         [(1, 320, 32, 32)], [weight(320), weight(320)], 21)   # diffusion
    case('GroupNorm_3d', ('GroupNormalization', dict(num_groups=8)),
         [(1, 32, 32, 32, 32)], [weight(32), weight(32)], 21)
    case('LayerNorm', ('LayerNormalization', {}), [(1, 128, 768)], [weight(768), weight(768)])
    case('LpNormalization', ('LpNormalization', dict(axis=-1)), [(64, 384)])
    case('Softmax_rows', ('Softmax', dict(axis=-1)), [(1, 12, 128, 128)])
    case('Softmax_channels', ('Softmax', dict(axis=1)), [(1, 21, 128, 128)])
    case('CumSum', ('CumSum', {}), [(32, 1024)], [np.array(1)])
    case('CumSum_outer', ('CumSum', {}), [(256, 128)], [np.array(0)])
    case('DFT_real', ('DFT', dict(axis=1)), [(32, 512, 1)], opset=17)                              # speech
    case('ReduceSum_inner', ('ReduceSum', dict(keepdims=0)), [(64, 56, 56)], [np.array([1, 2])])
    case('ReduceMax_outer', ('ReduceMax', dict(keepdims=0)), [(256, 1024)], [np.array([0])])
    case('ReduceMean_middle', ('ReduceMean', dict(keepdims=0)), [(8, 128, 384)], [np.array([1])])   # mean pooling
    case('ReduceL2', ('ReduceL2', dict(keepdims=1)), [(64, 1024)], [np.array([1])])


def movement():
    case('Transpose_nhwc', ('Transpose', dict(perm=[0, 2, 3, 1])), [(1, 64, 56, 56)])
    case('Transpose_heads', ('Transpose', dict(perm=[0, 2, 1, 3])), [(1, 128, 12, 64)])
    case('Transpose_last', ('Transpose', dict(perm=[1, 0])), [(768, 768)])
    case('Concat_channels', ('Concat', dict(axis=1)), [(1, 64, 64, 64), (1, 64, 64, 64)])
    case('Concat_last', ('Concat', dict(axis=-1)), [(1, 8400, 64), (1, 8400, 80)])
    case('Split_heads', ('Split', dict(axis=-1, num_outputs=3, outputs=['a', 'b', 'c'])), [(1, 128, 2304)])
    case('Slice_step', ('Slice', {}), [(1, 3, 256, 256)], [np.array([0, 0]), np.array([256, 256]), np.array([2, 3]), np.array([2, 2])])
    case('Tile', ('Tile', {}), [(1, 64, 1, 64)], [np.array([1, 1, 64, 1])])
    case('Expand', ('Expand', {}), [(1, 8, 1, 128, 64)], [np.array([1, 8, 4, 128, 64])])           # grouped queries
    case('OneHot', ('OneHot', {}), [(I64, (64,))], [np.array(1000), np.float32([0, 1])])
    case('Trilu', ('Trilu', dict(upper=0)), [(12, 128, 128)])
    case('Gelu', ('Gelu', {}), [(128, 3072)])
    case('Erf', ('Erf', {}), [(128, 3072)])
    case('HardSwish', ('HardSwish', {}), [(1, 96, 56, 56)])
    case('Mish', ('Mish', {}), [(1, 64, 80, 80)])
    case('PRelu', ('PRelu', {}), [(1, 64, 112, 112)], [weight(64, 1, 1)])
    case('Clip', ('Clip', {}), [(1, 96, 112, 112)], [np.float32(0), np.float32(6)])
    case('Pow_square', ('Pow', {}), [(128, 768)], [np.float32(2)])
    case('Mod', ('Mod', dict(fmod=1)), [(128, 768)], [np.float32(3)])
    case('Cast_f16', ('Cast', dict(to=TensorProto.FLOAT16)), [(128, 768)])
    case('NonZero', ('NonZero', {}), [(BOOL, (8, 1024))])
    case('Dequantize_rows', ('DequantizeLinear', dict(axis=0)),
         [(TensorProto.INT8, (768, 768))], [np.abs(weight(768)), np.zeros(768, np.int8)])
    case('Quantize_rows', ('QuantizeLinear', dict(axis=1)),
         [(128, 768)], [np.abs(weight(768)) + 1e-3, np.zeros(768, np.int8)])


def write(folder):
    for make in (resizes, sampling, choosing, gathering, convolutions, norms, movement):
        make()
    os.makedirs(folder, exist_ok=True)
    for name, model in CASES.items():
        onnx.save(model, os.path.join(folder, name + '.onnx'))
    print(f'{len(CASES)} models')


def table(path):
    with open(path) as file:
        report = json.load(file)
    rows = [(os.path.basename(m['path']).removesuffix('.onnx'), m['whole'], m['problem']) for m in report['models']]
    timed = sorted((row for row in rows if row[1]), key=lambda row: row[1]['ratio'])
    mean = math.exp(sum(math.log(row[1]['ratio']) for row in timed) / len(timed))
    print(f'{len(timed)} rows, geometric mean {mean:.2f}, {sum(row[1]["ratio"] < 1 for row in timed)} slower than ONNX Runtime '
          f'{report["onnxruntime"]}; {report["threads"]} threads\n')
    print('| model | Tenfold, us | ONNX Runtime, us | ratio |\n|---|---|---|---|')
    for name, times, _ in timed:
        bold = '**' if times['ratio'] < 1 else ''
        print(f'| {name} | {times["us"]:.1f} | {times["onnxruntimeUs"]:.1f} | {bold}{times["ratio"]:.2f}{bold} |')
    for name, _, problem in rows:
        if problem:
            print(f'| {name} | {problem} | | |')


if __name__ == '__main__':
    if len(sys.argv) == 3 and sys.argv[1] == '--table':
        table(sys.argv[2])
    elif len(sys.argv) == 2 and not sys.argv[1].startswith('-'):
        write(sys.argv[1])
    else:
        sys.exit(__doc__)
