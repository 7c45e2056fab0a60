#!/usr/bin/env python3
"""Long checks of `tenfold serve` under load, one after another, with a verdict for each.

    serve_check.py BUILD [--only NAME,...] [--short] [--keep VERDICTS.json] [--list]

Each check is a file of tests/serve_checks, or another test with a long form of its own, which is run where its file is there. --short takes
seconds, for CI: fewer requests, and no limits on times but wide ones. script/serve-check calls this and writes the page of verdicts.
"""
import argparse
import datetime
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'tests'), str(ROOT / 'bench')]
from serve_common import commit, machine

CHECKS = ('mixing', 'overload', 'drops', 'timeouts', 'stop', 'growth', 'h2load', 'reload')
# Tests that have a long form: FILE TENFOLD --full. The last one's last line is what is told.
OTHERS = {'network': ['tests/net_faults_test.py'], 'loads': ['tests/serve_loads_test.py'],
          'supervisor': ['tests/supervisor_test.py', 'tests/next_worker_test.py', 'tests/shutdown_test.py']}
# Tests of clients that need an interpreter of their own (`script/bootstrap clients`, `script/bootstrap kserve`): FILE TENFOLD.
CLIENTS = {'kserve': ('tests/kserve_client_test.py', 'build/kserve'), 'schemathesis': ('tests/schemathesis_test.py', 'build/clients')}


def run_check(name, build, short):
    from serve_checks.common import Context
    module = importlib.import_module(f'serve_checks.{name}')
    with tempfile.TemporaryDirectory() as folder:
        try:
            return True, module.check(Context(build, folder, short))
        except AssertionError as error:
            return False, str(error)
        except Exception:
            traceback.print_exc()
            return False, traceback.format_exc(limit=-1).strip().splitlines()[-1]


def run_other(name, build, short):
    path, folder = CLIENTS.get(name) or (None, None)
    python, more = (str(ROOT / folder / 'bin/python'), []) if folder else (sys.executable, [] if short else ['--full'])
    for test in [path] if path else OTHERS[name]:
        done = subprocess.run([python, str(ROOT / test), str(pathlib.Path(build, 'cli/tenfold')), *more], capture_output=True, text=True)
        lines = (done.stdout + done.stderr).strip().splitlines()
        if done.returncode != 0:
            print('\n'.join(lines[-40:]))
            return False, f'{test}: {lines[-1] if lines else ""}'
    return True, lines[-1] if lines else ''


def absent(name):
    """Why a test with a file of its own cannot run; nothing where it can."""
    path, folder = CLIENTS.get(name) or (None, None)
    for test in [path] if path else OTHERS[name]:
        if not (ROOT / test).exists():
            return f'there is no {test}'
    if folder and not (ROOT / folder / 'bin/python').exists():
        return f'there is no {folder}, which script/bootstrap {folder.removeprefix("build/")} makes'
    return ''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', nargs='?', type=os.path.abspath)
    parser.add_argument('--only', default='')
    parser.add_argument('--short', action='store_true')
    parser.add_argument('--keep', type=pathlib.Path, help='adds the verdicts to this file')
    parser.add_argument('--list', action='store_true')
    args = parser.parse_args()
    names = [*CHECKS, *OTHERS, *CLIENTS]
    if args.list:
        print('\n'.join(names))
        return 0
    chosen = [name for name in args.only.split(',') if name] or [n for n in names if n in CHECKS or not args.short]
    if unknown := set(chosen) - set(names):
        parser.error(f'no such checks: {", ".join(sorted(unknown))}; there are {", ".join(names)}')
    if not args.build:
        parser.error('which build folder?')
    bad = 0
    for name in chosen:
        if name not in CHECKS and (why := absent(name)):
            print(f'{name}: left out, {why}', flush=True)
            continue
        begun, load = time.monotonic(), os.getloadavg()[0]
        good, said = run_check(name, args.build, args.short) if name in CHECKS else run_other(name, args.build, args.short)
        seconds = round(time.monotonic() - begun)
        bad += not good
        print(f'{name}: {"passed" if good else "FAILED"}, {seconds} s: {said}', flush=True)
        if args.keep and not args.short:
            verdicts = json.loads(args.keep.read_text()) if args.keep.exists() else {}
            verdicts[name] = {'good': good, 'said': said, 'seconds': seconds, 'load_before': round(load, 1), 'commit': commit(),
                              'machine': machine(), 'date': datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d %H:%M')}
            args.keep.write_text(json.dumps(verdicts, indent=1) + '\n')
    return min(bad, 1)


if __name__ == '__main__':
    sys.exit(main())
