"""Reads what script/bench measured: the judge's rows of every run, the number of timed runs, what an empty process of each peer takes."""
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys

RIVALS = ('onnxruntime', 'openvino')
AS_IT_COMES = 'openvino_default'     # OpenVINO chooses bf16 by itself where the CPU has AMX
EXACT, ROUNDED, AUTO = 'tenfold_no_tf32', 'tenfold', 'tenfold_auto_bf16'
PLANS = {EXACT: 'no_tf32', ROUNDED: 'fp32', AUTO: 'auto'}   # what script/bench_one calls them
NAMES = {'onnxruntime': 'ONNX Runtime', 'openvino': 'OpenVINO', AS_IT_COMES: 'OpenVINO as it comes', EXACT: '--noTF32', ROUNDED: 'default',
         AUTO: '--precision=auto'}
LEAST_RUNS = 10


def read_runs(folder):
    """{(case, threads): [{engine: row} for each run]}, and the facts of the first run."""
    table, about = {}, None
    for path in sorted(glob.glob(os.path.join(folder, 'rows-*.json'))):
        with open(path) as f:
            data = json.load(f)
        about = about or data
        of_run, signed = {}, 'signed' in os.path.basename(path)
        for r in data['rows']:
            if signed and '.int8' not in r['case']:
                continue
            case = r['case'] + (' (s8)' if signed else '')
            of_run.setdefault((case, r['threads']), {})[r['peer']] = r
        for key, engines in of_run.items():
            if ROUNDED in engines or EXACT in engines:
                table.setdefault(key, []).append(engines)
    return table, about


def plan_of(folder, case, threads, engine=ROUNDED):
    """The plan that script/bench_one made of a row, or None."""
    if '(s8)' in case:
        folder, case = os.path.join(folder, 'signed'), case.removesuffix(' (s8)')
    model, sequence, batch = re.fullmatch(r'(.*?)(?:-s(\d+)|-mixed)?-b(\d+)', case).groups()
    shape = re.compile(rf'_{batch}x{sequence or ""}(?!\d)' if sequence else rf'_{batch}x')
    for path in glob.glob(os.path.join(folder, f'{glob.escape(model)}-{PLANS[engine]}-t{threads}-*.plan')):
        if shape.search(os.path.basename(path)):
            return path


def plan_bytes(folder, case, threads):
    """Weights, arena and the workers' scratch of a row's plan, or None."""
    plan = plan_of(folder, case, threads)
    if not plan or not os.path.exists(plan + '.facts'):
        return None
    with open(plan + '.facts') as f:
        facts = json.load(f)
    return facts['weight_bytes'] + facts['arena_bytes'] + facts['scratch_bytes']


def timed_runs(folder, case, threads, runs):
    """The least number of timed inferences of any engine of a row: the judge counts the peers', bench/one_model ours."""
    counts = [sum(p[e]['runs'] for p in runs if e in p) for e in (*RIVALS, AS_IT_COMES) if any(e in p for p in runs)]
    for engine in PLANS:
        plan = plan_of(folder, case, threads, engine)
        if any(engine in p for p in runs) and plan and os.path.exists(plan + '.counts'):
            with open(plan + '.counts') as f:
                counts.append(sum(map(int, f)))
    return min(counts, default=0)


def few(folder, table):
    """Rows that were timed less often than a median needs."""
    return [key for key, runs in table.items() if timed_runs(folder, *key, runs) < LEAST_RUNS]


def ratios(runs, rival, ours):
    """The rival's median by ours, of each run that has both: above 1 we are faster."""
    return [p[rival]['median_ms'] / p[ours]['median_ms'] for p in runs if rival in p and ours in p]


def to_the_better(runs, ours, rivals=RIVALS):
    """The same to the faster of the rivals in that run."""
    return [min(p[r]['median_ms'] for r in rivals if r in p) / p[ours]['median_ms']
            for p in runs if ours in p and any(r in p for r in rivals)]


def median_of(runs, engine, field):
    values = [p[engine][field] for p in runs if engine in p and p[engine].get(field) is not None]
    return statistics.median(values) if values else None


def start_ms(runs, engine):
    """From the start of the process to the first answer, less the interpreter and its imports where there is one."""
    cold, imports = median_of(runs, engine, 'cold_ms'), median_of(runs, engine, 'import_ms')
    return cold if cold is None or imports is None else cold - imports


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def there(table):
    return {engine for runs in table.values() for p in runs for engine in p}


def version(table, engine):
    return next((p[engine]['version'] for runs in table.values() for p in runs if p.get(engine, {}).get('version')), None)


def import_floor_mb(peer):
    """Peak resident MB of an interpreter that imports NumPy and the peer and does nothing else; None where it is not installed."""
    program = f'import numpy, {peer}\nprint(next(l.split()[1] for l in open("/proc/self/status") if l.startswith("VmHWM")))'
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
    return int(done.stdout) / 1024 if done.returncode == 0 else None


def commit():
    """Ours, with a mark where files differ from it; TENFOLD_COMMIT where the checkout is not there."""
    if 'TENFOLD_COMMIT' in os.environ:
        return os.environ['TENFOLD_COMMIT']
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(['git', '-C', here, 'describe', '--always', '--dirty', '--abbrev=8'], capture_output=True, text=True)
    return done.stdout.strip() or 'unknown'
