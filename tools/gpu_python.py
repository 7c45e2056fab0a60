#!/usr/bin/env python3
"""The Python package on a machine with a GPU: its tests and figures, with no network and nothing installed.

    run OUT [--only TEST,...] [--no-tests] [--no-figures] [--jobs 4] [--rounds 9] [--seconds 540]
    run OUT --torch PART [--seconds 540]    torch's backend alone, in parts of ten minutes at most: tests (its GPU tests, and what a call
                                            takes over an empty backend), rows (bench/torch_compile_gpu.py), first (first calls) or onnx
                                            (each architecture beside its ONNX export; called again, it goes on with the rows left)

Keeps in OUT: python_tests.json (a record for each test file), python_figures.json and .md, a log for each, torch_PART.log. Ends with 1
where something failed. Part of the bundle that script/gpu-check --python makes; --only names files of python/tests without _test.py.
"""
import argparse, os, re, shutil, site, subprocess, sys, tempfile, time, venv, zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpu_common import HERE, keep, shell, stamp

TESTS = Path(HERE) / 'tree' / 'python' / 'tests'
# Tests whose engines follow TENFOLD_DEVICE; those named *gpu_test choose the GPU themselves, all others are the CPU's.
ON_THE_GPU = ('bodies', 'scripts', 'seeds', 'tensorrt_layers', 'tensorrt_image_layers', 'tensorrt_attention_layers',
              'tensorrt_more_layers', 'tensorrt_loops', 'tensorrt_made_networks', 'sizes')
CALLS = ('tree/bench/torch_compile.py', '--device', 'cuda')
PARTS_OF_TORCH = {'tests': (('tree/python/tests/torch_backend/gpu_test.py',), ('tree/python/tests/torch_backend/sizes_test.py',),
                            ('tree/python/tests/torch_backend/captures_test.py',), (*CALLS, '--overhead')),
                  'rows': (('tree/bench/torch_compile_gpu.py', '--seconds', '1.5', '--jobs', '6'),),
                  'onnx': (('tree/bench/torch_compile_onnx.py', '--limit', '480', '--keep', '{out}/torch_onnx.jsonl'),),
                  'first': ((*CALLS, '--first', '--rows', 'resnet50:1,minilm:1,bert:1'),)}
ALONE = ('gpu',)   # tests that read how much of the GPU's memory is free, which is everybody's


def unpack(wheel, folder):
    """A wheel's files as pip would install them; zip files keep who may run a program where unzip does not look."""
    with zipfile.ZipFile(wheel) as archive:
        for item in archive.infolist():
            path = archive.extract(item, folder)
            if item.external_attr >> 16 & 0o100:
                os.chmod(path, 0o755)


def install(folder, *wheels):
    """The python of a new environment with these wheels, that sees all which this Python sees. No pip and no network are needed."""
    venv.EnvBuilder(symlinks=True).create(folder)
    there = os.path.join(folder, 'lib', f'python{sys.version_info.major}.{sys.version_info.minor}', 'site-packages')
    seen = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    with open(os.path.join(there, 'around.pth'), 'w') as f:
        f.writelines(f'import site; site.addsitedir({path!r})\n' for path in seen)
    for name in wheels:
        (wheel,) = Path(HERE).glob(name)
        unpack(wheel, there)
    python, program = os.path.join(folder, 'bin', 'python'), os.path.join(folder, 'bin', 'tenfold')
    with open(program, 'w') as f:   # pyproject.toml's script
        f.write(f'#!{python}\nfrom tenfold._program import main\nmain()\n')
    os.chmod(program, 0o755)
    return python


def record(name, device, code, text, seconds):
    """What unittest said."""
    found = dict(failures=0, errors=0, skipped=0)
    for what in found:
        if output := re.findall(rf'{what}=(\d+)', text):
            found[what] = int(output[-1])
    reasons = sorted(set(re.findall(r"skipped '(.*)'$", text, re.M) + re.findall(r'skipped "(.*)"$', text, re.M)))
    ran = len(re.findall(r'^(?:.* \.\.\. )?(?:ok|FAIL|ERROR)$', text, re.M))
    return dict(stamp(), test=name, device=device or 'cpu', code=code, ran=ran, seconds=round(seconds, 1), left_out=reasons, **found)


def told(r):
    verdict = f"FAILED, exit {r['code']}" if r['code'] not in (0, 5) else 'passed' if r['ran'] else 'nothing ran'
    left = f", {r['skipped']} left out: {'; '.join(r['left_out'])}" if r['skipped'] else ''
    return f"{r['test']} on {r['device']}: {verdict}, {r['ran']} ran in {r['seconds']} s{left}"


def tests(a, python, with_shim):
    """Each test file in a process of its own, from a folder of its own; records of all."""
    files = [(path.stem.removesuffix('_test'), path) for path in sorted(TESTS.glob('*_test.py'))]
    files.append(('shim', TESTS / 'shim' / 'shim_test.py'))
    if unknown := set(a.only) - {name for name, _ in files}:
        sys.exit(f'--only: there is no {", ".join(sorted(unknown))}; there are {", ".join(name for name, _ in files)}')
    end = time.time() + a.seconds

    def one(job):
        name, path = job
        device = 'cuda:0' if name in ON_THE_GPU else 'cuda' if name.endswith('_gpu') or name == 'gpu' else ''
        environment = dict(os.environ, **({'TENFOLD_DEVICE': device} if name in ON_THE_GPU else {}))
        with tempfile.TemporaryDirectory() as folder:
            command = ['env', '-C', folder, with_shim if name == 'shim' else python, str(path), '-v']
            code, text, seconds = shell(command, os.path.join(a.out, f'python_{name}.log'), max(end - time.time(), 5), environment)
        made = record(name, device, code, text, seconds)
        print(told(made), flush=True)
        if code not in (0, 5):
            print('\n'.join('    ' + line[:200] for line in text.splitlines()[-25:]), flush=True)
        return made
    wanted = [job for job in files if not a.only or job[0] in a.only]
    first = [one(job) for job in wanted if job[0] in ALONE]
    with ThreadPoolExecutor(a.jobs) as pool:
        return first + list(pool.map(one, [job for job in wanted if job[0] not in ALONE]))


def figures(a, python):
    (wheel,) = Path(HERE).glob('tenfold-*.whl')
    command = [python, os.path.join(HERE, 'python_figures.py'), '--rounds', str(a.rounds), '--wheel', str(wheel), '--json',
               os.path.join(a.out, 'python_figures.json')]
    code, text, seconds = shell(command, os.path.join(a.out, 'python_figures.md'), a.seconds)
    print(f'figures: {"passed" if code == 0 else f"FAILED, exit {code}"}, {seconds:.0f} s\n{text}', flush=True)
    return code == 0


def torch_backend(a, python):
    """One part. True: all went well."""
    end, well = time.monotonic() + a.seconds, True
    with open(os.path.join(a.out, f'torch_{a.torch}.log'), 'w') as log:
        for command in ([word.replace('{out}', a.out) for word in c] for c in PARTS_OF_TORCH[a.torch]):
            left = max(1, end - time.monotonic())   # what found no time fails
            print('$', *command, file=log, flush=True)
            try:
                done = subprocess.run([python, os.path.join(HERE, command[0]), *command[1:]], stdout=log, stderr=log, timeout=left)
                well = well and done.returncode == 0
                print(f'{" ".join(command)}: exit code {done.returncode}', flush=True)
            except subprocess.TimeoutExpired:
                well = False
                print(f'{" ".join(command)}: no time was left', flush=True)
    return well


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('out')
    p.add_argument('--only', type=lambda text: text.split(','), default=[])
    p.add_argument('--no-tests', action='store_true')
    p.add_argument('--no-figures', action='store_true')
    p.add_argument('--torch', choices=tuple(PARTS_OF_TORCH))
    p.add_argument('--jobs', type=int, default=4)
    p.add_argument('--rounds', type=int, default=9)
    p.add_argument('--seconds', type=int, default=540, help='in which all tests have to end, and then the figures')
    a = p.parse_args()
    os.makedirs(a.out, exist_ok=True)
    work = tempfile.mkdtemp()
    try:
        python = install(os.path.join(work, 'plain'), 'tenfold-*.whl')
        with_shim = install(os.path.join(work, 'with_shim'), 'tenfold-*.whl', 'tenfold_shim-*.whl')
        output = subprocess.run([python, '-c', 'import tenfold; print(tenfold.__version__, tenfold.devices())'], cwd=work,
                              capture_output=True, text=True)
        print(f'Python {sys.version.split()[0]}: {output.stdout or output.stderr}', flush=True)
        if output.returncode:
            sys.exit(1)
        if a.torch:
            sys.exit(not torch_backend(a, python))
        well = True
        if not a.no_tests:
            records = tests(a, python, with_shim)
            keep(a, 'python_tests.json', records)
            well = all(r['code'] in (0, 5) for r in records)
            print(f"tests: {sum(r['ran'] for r in records)} ran in {len(records)} files, {sum(r['skipped'] for r in records)} left out, "
                  f"{'all passed' if well else 'SOME FAILED'}", flush=True)
        if not a.no_figures:
            well = figures(a, python) and well   # after the tests: nothing else runs then
    finally:
        shutil.rmtree(work)
    sys.exit(not well)


if __name__ == '__main__':
    main()
