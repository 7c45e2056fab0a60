#!/usr/bin/env python3
"""Networks of MONAI beside ONNX Runtime and OpenVINO on a CPU: medians of interleaved runs, and ratios to the better of the two.

    monai_networks.py [--rows unet,segresnet,dynunet,swinunetr] [--threads 2] [--runs 21] [--size 64]

Volumes of one channel, batch 1, random weights, f32 that nobody rounds (tf32=False; OpenVINO's f32). It wants monai, einops, torch,
onnxruntime, openvino and the wheel. A row says how far the results lie from ONNX Runtime's, relative to the largest value.
"""
import argparse
import io
import statistics
import time
import warnings

import numpy as np
import onnxruntime
import openvino
import torch
from monai.networks import nets

import tenfold

ROWS = {
    'unet': lambda: nets.UNet(3, 1, 2, channels=(16, 32, 64, 128), strides=(2, 2, 2), num_res_units=2),
    'segresnet': lambda: nets.SegResNet(3, 8, 1, 2),
    'dynunet': lambda: nets.DynUNet(3, 1, 2, [3, 3, 3], [1, 2, 2], [2, 2], filters=[16, 32, 64], res_block=True),
    'swinunetr': lambda: nets.SwinUNETR(1, 2, feature_size=12),
}


def exported(row, x):
    torch.manual_seed(0)
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        torch.onnx.export(ROWS[row]().eval(), (torch.from_numpy(x),), file, dynamo=False, opset_version=17, input_names=['x'])
    return file.getvalue()


def engines(model, x, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options)
    config = {'INFERENCE_NUM_THREADS': threads, 'PERFORMANCE_HINT': 'LATENCY', 'INFERENCE_PRECISION_HINT': 'f32'}
    core = openvino.Core()
    request = core.compile_model(core.read_model(model), 'CPU', config).create_infer_request()
    engine = tenfold.build(model, tf32=False, device='cpu', threads=threads)
    return {'tenfold': lambda: engine(x), 'onnxruntime': lambda: session.run(None, {'x': x})[0],
            'openvino': lambda: request.infer({'x': x})[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rows', default=','.join(ROWS))
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--runs', type=int, default=21)
    parser.add_argument('--size', type=int, default=64)
    a = parser.parse_args()
    x = np.random.default_rng(0).standard_normal((1, 1) + 3 * (a.size,)).astype(np.float32)
    print('| network | tenfold ms | ONNX Runtime ms | OpenVINO ms | ratio to the better | distance |\n|---|---|---|---|---|---|')
    for row in a.rows.split(','):
        runs = engines(exported(row, x), x, a.threads)
        results = {name: np.array(run()) for name, run in runs.items()}
        times = {name: [] for name in runs}
        for _ in range(a.runs):
            for name, run in runs.items():
                start = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - start)
        ours, *peers = (1e3 * statistics.median(t) for t in times.values())
        truth = results['onnxruntime']
        distance = np.abs(results['tenfold'] - truth).max() / np.abs(truth).max()
        print(f'| {row} | {ours:.1f} | {peers[0]:.1f} | {peers[1]:.1f} | {min(peers) / ours:.2f} | {distance:.1e} |', flush=True)


if __name__ == '__main__':
    main()
