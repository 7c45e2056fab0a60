#!/usr/bin/env python3
"""Sliding windows on a GPU: this package from host memory to labels in host memory, beside the engine alone and beside MONAI.

    imaging_gpu.py [--rows volume,classes,networks] [--runs 5] [--batch 8] [--size 512] [--json FILE]

volume    MONAI's UNet (16-32-64-128), 2 classes, fp16, u16 images of --size^3, roi 64^3, overlap 0.25, Gaussian, argmax: beyond windows x
          engine time, and beside MONAI with torch.compile (fp16, channels last), whose images and labels are on the GPU all the time
classes   100 classes, 384x384x256, roi 128^3, argmax: the GPU's memory, and the time beside MONAI's
networks  the networks of the seed's table beside eager torch in fp32: 2-D 256^2, DynUNet (16-32-64) 64^3; fp16, and int8 calibrated

Networks give fp16, as MONAI's do. Needs torch, onnx and MONAI. Medians of interleaved runs.
"""
import argparse
import io
import json
import statistics
import threading
import time
import warnings

import numpy as np
import torch
from monai.inferers import sliding_window_inference
from monai.networks import nets

import tenfold
from tenfold import _native

RESULTS = {}


def keep(row, **figures):
    RESULTS[row] = figures
    print(row, json.dumps(figures), flush=True)


def exported(model, x):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        torch.onnx.export(model.cpu().float().eval(), (x,), file, dynamo=False, opset_version=17, input_names=['x'], output_names=['y'],
                          dynamic_axes={'x': {0: 'n'}, 'y': {0: 'n'}})
    return file.getvalue()


def built(model, shape, batch, **options):
    shapes = ((1, *shape), (batch, *shape), (batch, *shape))
    return tenfold.build(exported(model, torch.zeros(1, *shape)), device='cuda', profiles={'x': shapes}, output_formats={'y': 'f16'},
                         **options)


def engine_seconds(engine, shape, batch, calls=30):
    """Of a call, where inputs and outputs stay on the GPU."""
    context = tenfold.Context(engine)
    x = torch.zeros(batch, *shape, device='cuda')
    context.set_shape('x', x.shape)
    y = torch.empty(context.shape('y'), device='cuda', dtype=torch.float16)
    context.bind('x', x), context.bind('y', y)
    context.prepare()
    stream = torch.cuda.Stream()
    for _ in range(5):
        context.enqueue(stream)
    stream.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        context.enqueue(stream)
    stream.synchronize()
    return (time.perf_counter() - begin) / calls


def timed(call):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    result = call()
    torch.cuda.synchronize()
    return time.perf_counter() - begin, result


def alternate(calls, runs):
    times, results = {name: [] for name in calls}, {}
    for _ in range(runs + 1):
        for name, call in calls.items():
            seconds, results[name] = timed(call)
            times[name].append(seconds)
    return {name: statistics.median(of[1:]) for name, of in times.items()}, results


class Memory:
    """The most of the GPU that was in use, by looking again and again."""

    def __enter__(self):
        torch.cuda.empty_cache()
        self.before, self.least, self.end = torch.cuda.mem_get_info()[0], 1 << 62, False
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.end:
            self.least = min(self.least, torch.cuda.mem_get_info()[0])
            time.sleep(0.001)

    def __exit__(self, *_):
        self.end = True
        self.thread.join()
        self.gib = (self.before - self.least) / 2**30


def compiled(model):
    model = model.cuda().half().eval().to(memory_format=torch.channels_last_3d)
    return torch.compile(model)


def monai_labels(x, roi, batch, model):
    def predict(windows):
        return model(windows.to(memory_format=torch.channels_last_3d))

    def call():
        with torch.no_grad():
            y = sliding_window_inference(x, roi, batch, predict, 0.25, 'gaussian')
            return y.argmax(1, keepdim=True).to(torch.uint8)
    return call


def unet(classes):
    torch.manual_seed(0)
    return nets.UNet(3, 1, classes, channels=(16, 32, 64, 128), strides=(2, 2, 2), num_res_units=2)


def volume(runs, batch, size):
    roi, shape = (64, 64, 64), (size,) * 3
    images = np.random.default_rng(0).integers(0, 4096, (1, 1, *shape), np.uint16)
    engine = built(unet(2), (1, *roi), batch, fp16=True)
    windows = _native.SlidingWindow(shape, roi, 0.25, 'gaussian')
    on_gpu = torch.from_numpy(images.astype(np.float32)).cuda().half()
    model = compiled(unet(2))
    with Memory() as memory:
        _native.infer(windows, images, engine, batch, reduce='argmax')
    times, results = alternate({'ours': lambda: _native.infer(windows, images, engine, batch, reduce='argmax')[0],
                                'on_gpu': lambda: _native.infer(windows, on_gpu, engine, batch, reduce='argmax')[0],
                                'monai': monai_labels(on_gpu, roi, batch, model)}, runs)
    alone = engine_seconds(engine, (1, *roi), batch) * -(-len(windows) // batch)
    equal = float((results['ours'][0, 0] == results['monai'][0, 0].cpu().numpy()).mean())
    keep('volume', size=size, batch=batch, windows=len(windows), engine_ms=alone * 1e3, ours_ms=times['ours'] * 1e3,
         beyond=times['ours'] / alone - 1, on_gpu_ms=times['on_gpu'] * 1e3,
         monai_ms=times['monai'] * 1e3, beside_monai=times['monai'] / times['ours'], equal_labels=equal,
         gib=memory.gib)


def classes(runs, batch, size):
    roi, shape = (128, 128, 128), (384, 384, 256)
    images = np.random.default_rng(0).integers(0, 4096, (1, 1, *shape), np.uint16)
    engine = built(unet(100), (1, *roi), 1, fp16=True)
    windows = _native.SlidingWindow(shape, roi, 0.25, 'gaussian')
    with Memory() as ours:
        _native.infer(windows, images, engine, 1, reduce='argmax')
    on_gpu, model = torch.from_numpy(images.astype(np.float32)).cuda().half(), compiled(unet(100))
    theirs = monai_labels(on_gpu, roi, 1, model)
    theirs()
    with Memory() as monai:
        theirs()
    times, _ = alternate({'ours': lambda: _native.infer(windows, images, engine, 1, reduce='argmax')[0], 'monai': theirs}, runs)
    keep('classes', gib=ours.gib, monai_gib=monai.gib, ours_ms=times['ours'] * 1e3, monai_ms=times['monai'] * 1e3,
         beside_monai=times['monai'] / times['ours'])


NETWORKS = {
    'label-free 256^2': (lambda: nets.UNet(2, 1, 1, channels=(32, 64, 128, 256), strides=(2, 2, 2), num_res_units=2), (1, 256, 256)),
    'segmentation 64^3': (lambda: nets.DynUNet(3, 1, 2, [3, 3, 3], [1, 2, 2], [2, 2], filters=[16, 32, 64], res_block=True),
                          (1, 64, 64, 64)),
}


def networks(runs, batch, size):
    for name, (make, shape) in NETWORKS.items():
        torch.manual_seed(0)
        model = make().eval()
        samples = [{'x': np.random.default_rng(i).standard_normal((1, *shape)).astype(np.float32)} for i in range(8)]
        engines = {'fp16': built(model, shape, 1, fp16=True),
                   'int8': built(model, shape, 1, fp16=True, int8=True, calibration=samples)}
        ours = {kind: engine_seconds(engine, shape, 1, 200) for kind, engine in engines.items()}
        x = torch.zeros(1, *shape, device='cuda')
        eager = model.cuda()
        with torch.no_grad():
            for _ in range(10):
                eager(x)
            seconds, _ = timed(lambda: [eager(x) for _ in range(100)])
        keep(name, eager_ms=seconds * 10, **{f'{kind}_ms': of * 1e3 for kind, of in ours.items()},
             **{f'{kind}_beside_eager': seconds / 100 / of for kind, of in ours.items()})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--rows', default='volume,classes,networks')
    p.add_argument('--runs', type=int, default=5)
    p.add_argument('--batch', type=int, default=11, help='divides 1331 windows: torch.compile compiles anew for a rest')
    p.add_argument('--size', type=int, default=512)
    p.add_argument('--json')
    a = p.parse_args()
    torch.backends.cudnn.benchmark = True
    keep('machine', gpu=torch.cuda.get_device_name(), torch=torch.__version__)
    for row in a.rows.split(','):
        try:
            {'volume': volume, 'classes': classes, 'networks': networks}[row](a.runs, a.batch, a.size)
        except Exception as error:   # the other rows are worth their time
            keep(row, error=f'{type(error).__name__}: {error}')
    if a.json:
        with open(a.json, 'w') as file:
            json.dump(RESULTS, file, indent=1)


if __name__ == '__main__':
    main()
