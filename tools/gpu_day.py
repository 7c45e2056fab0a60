#!/usr/bin/env python3
"""A day with a GPU: all GPU tests first, then what is timed, the ONNX suite and the sanitizers, part by part.

    run OUT [--seconds 570] [--only PART,...] [--again] [--list]

Each part ends in ten minutes at most, and no part begins that may not end in --seconds: call it again, on the same OUT, for what is left.
A part that passed at this bundle's commit is not run again, except with --again. OUT/verdicts.json keeps a verdict for each part: whether
it passed, what failed by name, seconds, date, device and commit. `script/gpu-check --take OUT` takes them over into docs/gpu-results and
writes docs/reference/gpu-verdicts.md. Part of the bundle that script/gpu-check --day PYTHON makes.
"""
import argparse, os, re, subprocess, sys, time

from gpu_common import HERE, failures, keep, kept, smi, stamp

NATIVE, PYTHON = (os.path.join(HERE, name, 'run') for name in ('bundle_gpu', 'bundle_python'))
# Name, program, its words, and the seconds that it takes at most on a machine with 16 processors.
PARTS = (
    ('tests', NATIVE, ['--command', 'tests'], 480),
    ('python tests', PYTHON, ['--no-figures', '--jobs', '8', '--seconds', '420'], 430),
    ('torch tests', PYTHON, ['--torch', 'tests', '--seconds', '240'], 250),
    ('torch rows', PYTHON, ['--torch', 'rows', '--seconds', '560'], 565),
    ('torch beside ONNX', PYTHON, ['--torch', 'onnx', '--seconds', '560'], 565),
    ('suite', NATIVE, ['--command', 'suite'], 300),
    ('initcheck of a detection network', NATIVE, ['--command', 'detection'], 180),
    *((f'{tool} {first}-{first + 3}', NATIVE,
       ['--no-rows', '--no-sweep', '--no-tests', '--sanitize', tool, '--sanitize-shares', f'{first}-{first + 3}'], 210)
      for tool in ('memcheck', 'initcheck', 'racecheck') for first in (1, 5, 9, 13)),
)


def run(a, name, program, words, limit):
    start = time.time()
    out = os.path.join(a.out, re.sub(r'\W+', '_', name))
    os.makedirs(out, exist_ok=True)
    log = os.path.join(a.out, re.sub(r'\W+', '_', name) + '.log')
    with open(log, 'w') as f:
        try:
            code = subprocess.run([program, out, *words], stdout=f, stderr=subprocess.STDOUT, timeout=limit).returncode
        except subprocess.TimeoutExpired:
            code = f'more than {limit} s'
    text = open(log, errors='replace').read()
    failed = failures(text)
    print(f'{name}: {"passed" if code == 0 else f"FAILED, {code}"}, {time.time() - start:.0f} s' + ''.join(f'\n    {f}' for f in failed),
          flush=True)
    if code:
        print('\n'.join('    | ' + line[:200] for line in text.splitlines()[-a.tail:]), flush=True)
    return dict(good=code == 0, failed=failed, seconds=round(time.time() - start, 1), measured=stamp())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('out')
    p.add_argument('--seconds', type=int, default=570)
    p.add_argument('--only', type=lambda text: text.split(','), default=[])
    p.add_argument('--again', action='store_true')
    p.add_argument('--list', action='store_true')
    p.add_argument('--tail', type=int, default=25, help='lines of output shown of a part that failed')
    a = p.parse_args()
    if a.list:
        print('\n'.join(f'{name}: at most {limit} s' for name, _, _, limit in PARTS))
        return 0
    if unknown := set(a.only) - {name for name, *_ in PARTS}:
        sys.exit(f'--only: there is no {", ".join(sorted(unknown))}; --list names the parts')
    if not smi('name'):
        sys.exit('there is no GPU here')   # tests would only be skipped
    os.makedirs(a.out, exist_ok=True)
    end, commit, left, bad = time.time() + a.seconds, stamp()['commit'], [], []
    verdicts = kept(a, 'verdicts.json', {})
    for name, program, words, limit in PARTS:
        known = verdicts.get(name)
        if (a.only and name not in a.only) or not os.path.exists(program):
            continue
        if known and known['good'] and known['measured']['commit'] == commit and not a.again:
            continue
        if time.time() + limit > end:
            left.append(name)
            continue
        verdicts[name] = run(a, name, program, words, limit)
        bad += [] if verdicts[name]['good'] else [name]
        keep(a, 'verdicts.json', verdicts)
    if left:
        print(f'no time was left for: {", ".join(left)}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
