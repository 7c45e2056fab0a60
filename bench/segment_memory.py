#!/usr/bin/env python3
"""Peak memory of `tenfold segment` over an OME-Zarr of 4 GiB, and of twice its length.

    PYTHONPATH=PACKAGE python bench/segment_memory.py [--memory 512M] [--sizes 4,8] [--folder /tmp] [--threads 2]

Needs zarr and onnx. Volumes of u16 are 512 x 512 wide, in chunks of 64 x 128 x 128, and repeat a few planes, so that
they take little of the disk. The network is one convolution of two classes; its labels go to another OME-Zarr. Peaks are
what the system says of the process when it ends (ru_maxrss), all of Python and the engine included.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import zarr
from onnx import TensorProto, helper, numpy_helper

SECTION, CHUNK, ROI = 512, (64, 128, 128), 64


def write_network(path):
    weights = np.random.default_rng(0).standard_normal((2, 1, 3, 3, 3)).astype(np.float32)
    dims = [ROI] * 3
    graph = helper.make_graph(
        [helper.make_node('Conv', ['x', 'w'], ['y'], kernel_shape=[3] * 3, pads=[1] * 6)], 'classes',
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, ['n', 1, *dims])],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, ['n', 2, *dims])], [numpy_helper.from_array(weights, 'w')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def write_volume(path, planes):
    group = zarr.create_group(path, zarr_format=3)
    axes = [{'name': name, 'type': 'space', 'unit': 'micrometer'} for name in 'zyx']
    scale = [{'type': 'scale', 'scale': [1.0, 1.0, 1.0]}]
    group.attrs['ome'] = {'version': '0.5', 'multiscales': [{
        'name': 'volume', 'axes': axes, 'datasets': [{'path': '0', 'coordinateTransformations': scale}]}]}
    array = group.create_array('0', shape=(planes, SECTION, SECTION), chunks=CHUNK, dtype='uint16',
                               dimension_names=list('zyx'))
    z, y, x = np.ogrid[:CHUNK[0], :SECTION, :SECTION]
    some = ((z * 3 + y // 8 * 5 + x // 8 * 7) % 251).astype(np.uint16)
    for first in range(0, planes, CHUNK[0]):
        array[first:first + CHUNK[0]] = some[:planes - first]


def run(folder, network, gib, a):
    planes = int(gib * (1 << 30)) // (SECTION * SECTION * 2)
    volume, labels = folder / f'{gib}.ome.zarr', folder / f'{gib}-labels.ome.zarr'
    write_volume(volume, planes)
    command = [sys.executable, '-m', 'tenfold.imaging.segment', f'--onnx={network}', f'--input={volume}',
               f'--output={labels}', f'--roi={ROI}', '--reduce=argmax', f'--memory={a.memory}', f'--threads={a.threads}',
               '--json']
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        sys.exit(f'{command} ended with {status}')
    summary = json.loads(printed.splitlines()[-1])
    print(f'| {gib} GiB, {planes} planes | {usage.ru_maxrss / 1024:.0f} MiB | {seconds:.0f} s | {summary} |', flush=True)
    shutil.rmtree(volume)
    shutil.rmtree(labels)
    return usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--memory', default='512M')
    parser.add_argument('--sizes', default='4,8', help='GiB')
    parser.add_argument('--folder', default=None)
    parser.add_argument('--threads', type=int, default=2)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=a.folder) as made:
        folder = pathlib.Path(made)
        write_network(folder / 'network.onnx')
        print('| volume | peak | time | summary |\n|---|---|---|---|')
        peaks = [run(folder, folder / 'network.onnx', float(size), a) for size in a.sizes.split(',')]
    print('growth:', ', '.join(f'{peak - peaks[0]:.0f} MiB' for peak in peaks[1:]))


if __name__ == '__main__':
    main()
