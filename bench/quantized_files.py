#!/usr/bin/env python3
"""MobileNet-v2 in 8 bits as a file: who runs whose, and how near the f32 model: quantized_files.py TENFOLD [--others PYTHON]

Files that `tenfold quantize` writes for each --for run in ONNX Runtime, in OpenVINO and in Tenfold; so do those of ONNX Runtime's own
quantizer, of NNCF and of ModelOpt. The 100 even photographs of ../shared (or TENFOLD_SHARED) give ranges, the odd ones judge, by ONNX
Runtime in f32. PYTHON has openvino and nncf (pip install openvino nncf onnx onnxruntime), which script/bootstrap does not install; without
it their rows are left out. So are those of ModelOpt where PYTHON lacks it (pip install nvidia-modelopt[onnx], which brings torch; its
quantizer of ONNX files needs no GPU).
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests'))
import accuracy_test  # noqa: E402
from calibrated_photographs import SHAPE, Reader  # noqa: E402
from float_form import float_form  # noqa: E402

OPENVINO = '''import sys, numpy as np, openvino as ov
model = ov.Core().compile_model(sys.argv[1], 'CPU')
np.save('out.npy', np.concatenate([model({'image': x[None]})[0] for x in np.load('judged.npy')]))'''
NNCF = '''import numpy as np, onnx, nncf
data = nncf.Dataset([{'image': x[None]} for x in np.load('even.npy')])
onnx.save(nncf.quantize(onnx.load('floats.onnx'), data, subset_size=100, preset=nncf.QuantizationPreset.MIXED), 'nncf.onnx')'''

MODELOPT = '''import sys, numpy as np
from modelopt.onnx.quantization import quantize
mode, method = sys.argv[1:]
quantize('floats.onnx', quantize_mode=mode, calibration_data={'image': np.load('even.npy')}, calibration_method=method,
         output_path=f'modelopt_{mode}.onnx', calibration_eps=['cpu'], high_precision_dtype='fp32')'''


def answers_of_onnxruntime(path, optimized):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    return np.concatenate([session.run(None, {'image': x[None]})[0] for x in np.load('judged.npy')])


def answers_of_openvino(python, path):
    subprocess.run([python, '-c', OPENVINO, path], check=True, capture_output=True)
    return np.load('out.npy')


def answers_of_tenfold(tenfold, path):
    shapes = [f'--{which}Shapes=image:{n}x{SHAPE}' for which, n in (('min', 1), ('opt', 10), ('max', 10))]
    subprocess.run([tenfold, 'exec', f'--onnx={path}', '--saveEngine=m.plan', '--buildOnly', '--builderOptimizationLevel=0', *shapes],
                   check=True, capture_output=True)
    got, judged = [], np.load('judged.npy')
    for i in range(0, len(judged), 10):
        np.save('in.npy', judged[i:i + 10])
        subprocess.run([tenfold, 'exec', '--loadEngine=m.plan', '--loadInputs=image:in.npy', '--exportOutput=out.npz', '--iterations=1',
                        '--duration=0', '--warmUp=0'], check=True, capture_output=True)
        got.append(np.load('out.npz')['scores'])
    return np.concatenate(got)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('tenfold', type=os.path.abspath)
    p.add_argument('--others', type=os.path.abspath, metavar='PYTHON')
    a = p.parse_args()
    pictures, _ = accuracy_test.Accuracy().photographs()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        onnx.save(float_form(onnx.load(accuracy_test.shared('models', 'mobilenet_v2_int8_qdq.onnx'))), 'floats.onnx')
        np.save('even.npy', pictures[0::2]), np.save('judged.npy', pictures[1::2])
        np.save('data.npy', np.repeat(pictures[0::2], 2, axis=0))   # so that all of them give ranges
        expected = answers_of_onnxruntime('floats.onnx', True)
        files = []
        for name, flags in (('any', []), ('ort', []), ('ort, --reduceRange', ['--reduceRange']), ('openvino', []),
                            ('openvino, --reduceRange', ['--reduceRange'])):
            path = f'ours{len(files)}.onnx'
            subprocess.run([a.tenfold, 'quantize', 'floats.onnx', '--data=data.npy', '--samples=200', '--calibrator=percentile', '-o', path,
                            '--for=' + name.split(',')[0], *flags], check=True, capture_output=True)
            files.append((f'`--for={name}`', path))
        from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
        quantize_static('floats.onnx', 'ort.onnx', Reader(pictures[0::2]), activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                        quant_format=QuantFormat.QDQ)
        files.append(('ONNX Runtime, min-max', 'ort.onnx'))
        if a.others:
            subprocess.run([a.others, '-c', NNCF], check=True, capture_output=True)
            files.append(('NNCF, mixed preset', 'nncf.onnx'))
        for mode, method in (('int8', 'entropy'), ('fp8', 'max')) if a.others else ():
            done = subprocess.run([a.others, '-c', MODELOPT, mode, method], capture_output=True, text=True)
            if done.returncode == 0:
                files.append((f'ModelOpt, {mode}, {method}', f'modelopt_{mode}.onnx'))
            else:
                print(f'ModelOpt, {mode}: left out: {(done.stderr.strip().splitlines() or ["no reason given"])[-1]}')
        print('| file by | as defined | ONNX Runtime | OpenVINO | Tenfold |\n|---|---|---|---|---|')
        for name, path in files:
            cells = []
            for run in (lambda: answers_of_onnxruntime(path, False), lambda: answers_of_onnxruntime(path, True),
                        (lambda: answers_of_openvino(a.others, path)) if a.others else None, lambda: answers_of_tenfold(a.tenfold, path)):
                if run is None:
                    cells.append('-')
                    continue
                try:
                    got = run()
                except Exception as error:   # ONNX Runtime's optimizer refuses graphs of e4m3, OpenVINO some files
                    cells.append(f'refused ({type(error).__name__})')
                    continue
                cells.append(f'{np.linalg.norm(got - expected) / np.linalg.norm(expected):.3f}, '
                             f'{(got.argmax(1) == expected.argmax(1)).mean():.0%}')
            print(f'| {name} | {" | ".join(cells)} |', flush=True)
        os.chdir('/')


if __name__ == '__main__':
    main()
