"""The command line on a real GPU: lists of devices, flags of runs and their opposites, exported times, the summary, memory, NVTX ranges.
Part of the bundle that script/gpu-check makes; gpu_check.py --cli calls it."""
import json, os, re, statistics, subprocess, time

import numpy as np

from gpu_common import HERE, TENFOLD, cosine, remember, saved, spec


class Wrong(Exception):
    pass


def want(condition, what):
    if not condition:
        raise Wrong(what)


class Runs:
    """mlp256, built once in fp16 and run in many ways: few microseconds a run, so that each flag shows."""

    def __init__(self, a):
        import make_models
        self.folder, self.log = a.models, os.path.join(a.out, 'cli.log')
        self.model = os.path.join(a.models, 'mlp256.onnx')
        self.plan = os.path.join(a.models, 'cli.plan')
        values = make_models.inputs('mlp256', batch=1)
        self.words = [spec(values), saved(a.models, 'cli', values)]
        self.run(f'--onnx={self.model}', '--device=cuda:0', '--fp16', f'--saveEngine={self.plan}', '--skipInference')

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, code=0, env=None):
        done = subprocess.run([TENFOLD, 'exec', *self.words, *words], capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, **(env or {})))
        with open(self.log, 'a') as f:
            f.write(' '.join(words) + '\n' + done.stderr + done.stdout)
        want(done.returncode == code, f'{" ".join(words)}: exit code {done.returncode}, not {code}: {done.stderr[-300:]}')
        return done.stdout + done.stderr

    def timed(self, *flags):
        """Text, output and exported times of the plan."""
        text = self.run(f'--loadEngine={self.plan}', '--device=cuda:0', '--duration=0.3', f"--exportOutput={self.path('cli.npz')}",
                        f"--exportTimes={self.path('cli.json')}", *flags)
        with np.load(self.path('cli.npz')) as arrays, open(self.path('cli.json')) as f:
            return text, next(iter(dict(arrays).values())), json.load(f)


def median(text, line):
    found = re.search(rf'^.*\b{line}: .*?median = ([0-9.e+-]+) ms', text, re.M)
    want(found, f'no line "{line}" in the summary')
    return float(found.group(1))


def devices(runs):
    """--device=cuda:0,cpu and the like: the first that works answers, and the report says which."""
    once, outputs = ['--iterations=1', '--duration=0', '--warmUp=0', '--builderOptimizationLevel=0'], {}
    for listed, answers in (('cuda:0,cpu', 'cuda:0'), ('cuda:7,cuda:0', 'cuda:0'), ('cuda:7,cpu', 'cpu'), ('cpu,cuda:0', 'cpu')):
        text = runs.run(f'--onnx={runs.model}', f'--device={listed}', f"--saveEngine={runs.path('list.plan')}",
                        f"--exportOutput={runs.path('list.npz')}", '--noTF32', *once)
        want(f"Answers come from '{answers}'" in text, f'{listed}: the answers do not come from {answers}')
        want(('cuda:7' not in listed) or "'cuda:7' does not work" in text, f'{listed}: nothing is said of cuda:7')
        loaded = runs.run(f"--loadEngine={runs.path('list.plan')}", f'--device={listed}', *once)
        want(f"Answers come from '{answers}'" in loaded, f'{listed}: a loaded plan does not answer from {answers}')
        with np.load(runs.path('list.npz')) as arrays:
            outputs[listed] = next(iter(dict(arrays).values()))
    least = min(cosine(x, outputs['cpu,cuda:0']) for x in outputs.values())
    want(least > 0.999999, f'devices differ: cosine {least}')
    text = runs.run(f'--onnx={runs.model}', '--device=cuda:7', *once, code=1)
    want("there is no device 'cuda:7'" in text, 'cuda:7 alone is not refused by name')
    return f'four lists, plans saved for each device and loaded; cosine of the answers {least:.7f}'


def flags(runs):
    """Each flag, its opposite, and the last of both; what it changes, and that answers stay the same."""
    usual, output, times = runs.timed()
    for words, setting in ((['--useCudaGraph'], 'CUDA graph = used'), (['--noCudaGraph'], 'CUDA graph = none'),
                           (['--noCudaGraph', '--useCudaGraph'], 'CUDA graph = used'), (['--useSpinWait'], 'spin-wait = always'),
                           (['--noSpinWait'], 'spin-wait = none'), (['--noSpinWait', '--useSpinWait'], 'spin-wait = always'),
                           (['--noDataTransfers'], 'data transfers = none'), (['--includeDataTransfers'], 'data transfers = always'),
                           (['--noDataTransfers', '--includeDataTransfers'], 'data transfers = always')):
        text, again, _ = runs.timed(*words)
        want(setting in text, f'{words}: the settings do not say "{setting}"')
        want(np.array_equal(output, again), f'{words}: other answers')
        if words == ['--noCudaGraph']:
            steps = median(text, 'Enqueue Time')
        if words == ['--noSpinWait']:
            asleep = median(text, 'Latency')
        if words == ['--noDataTransfers']:
            without = sum(median(text, f'{way} Latency') for way in ('H2D', 'D2H'))
    graph, latency = median(usual, 'Enqueue Time'), median(usual, 'Latency')
    copies = sum(median(usual, f'{way} Latency') for way in ('H2D', 'D2H'))
    want(steps > graph, f'asking for steps takes {steps} ms, for a graph {graph}')
    want(asleep > latency, f'asleep {asleep} ms, awake {latency}')
    want(without < copies, f'copies take {copies} ms, left out {without}')
    return (f'median us: latency {latency * 1e3:.1f}, asleep {asleep * 1e3:.1f}; enqueue {graph * 1e3:.1f}, step by step '
            f'{steps * 1e3:.1f}; copies {copies * 1e3:.1f}, left out {without * 1e3:.1f}')


def times(runs):
    """--exportTimes and the summary: parts in order, and the time of asking is not the latency."""
    text, _, exported = runs.timed()
    names = ['startEnqMs', 'endEnqMs', 'startH2dMs', 'endH2dMs', 'startComputeMs', 'endComputeMs', 'startD2hMs', 'endD2hMs', 'h2dMs',
             'computeMs', 'd2hMs', 'latencyMs']
    want(len(exported) >= 10 and list(exported[0]) == names, f'fields {list(exported[0])}')
    for t in exported:
        in_order = [t[n] for n in names[2:8]]
        want(in_order == sorted(in_order) and t['startEnqMs'] <= t['endEnqMs'], f'times out of order: {t}')
    middle = {n: statistics.median(t[n] for t in exported) for n in ('h2dMs', 'computeMs', 'd2hMs', 'latencyMs')}
    want(all(value > 0 for value in middle.values()), f'no time at all: {middle}')
    want(sum(middle[n] for n in ('h2dMs', 'computeMs', 'd2hMs')) < middle['latencyMs'], f'parts are more than the whole: {middle}')
    compute, enqueue, latency = (median(text, line) for line in ('GPU Compute Time', 'Enqueue Time', 'Latency'))
    want(enqueue < latency, f'enqueue {enqueue} ms, latency {latency} ms')
    want(abs(compute - middle['computeMs']) < 0.3 * compute, f'the summary has {compute} ms, the file {middle["computeMs"]}')
    return f"median us: h2d {middle['h2dMs'] * 1e3:.1f}, compute {middle['computeMs'] * 1e3:.1f}, d2h {middle['d2hMs'] * 1e3:.1f}"


def ranges(runs):
    """NVTX: what a profiler hears when it is asked for, and nothing otherwise."""
    log = runs.path('nvtx.log')
    env = dict(NVTX_INJECTION64_PATH=os.path.join(HERE, 'nvtx_listener.so'), NVTX_LISTENER_LOG=log)
    heard = {}
    for name, words in (('none', []), ('runs', ['--profilingVerbosity=detailed']),
                        ('steps', ['--profilingVerbosity=detailed', '--noCudaGraph'])):
        if os.path.exists(log):
            os.remove(log)
        runs.run(f'--loadEngine={runs.plan}', '--device=cuda:0', '--iterations=5', '--duration=0', '--warmUp=0', *words, env=env)
        heard[name] = open(log).read().splitlines() if os.path.exists(log) else []
    want(not heard['none'], 'ranges that nobody asked for')
    outer, inner = ([line for line in heard['steps'] if line.startswith(' ') == nested] for nested in (False, True))
    want(len([line for line in heard['runs'] if not line.startswith(' ')]) >= 5, f'of five runs {len(heard["runs"])} ranges')
    want(len(outer) >= 5 and len(set(outer)) == 1, f'runs are called {set(outer)}')
    want(len(inner) >= len(outer), f'{len(inner)} steps in {len(outer)} runs')
    return f'{len(outer)} runs of "{outer[0]}", {len(inner)} steps, the first "{inner[0].strip()}"'


def memory(runs):
    """--monitorMemory: what was taken, in parts."""
    text = runs.run(f'--loadEngine={runs.plan}', '--device=cuda:0', '--iterations=3', '--duration=0', '--warmUp=0', '--monitorMemory',
                    '--json')
    printed = json.loads(next(line for line in text.splitlines() if line.startswith('{')))
    rest = printed['device_bytes'] - printed['weight_bytes'] - printed['arena_bytes']
    want(0 <= printed['library_workspace_bytes'] <= printed['arena_bytes'],
         f'workspaces of libraries: {printed["library_workspace_bytes"]}')
    want(0 <= rest <= 64e6, f'{rest} bytes beyond weights and arena')
    want('of which workspaces of libraries' in text, 'no parts are named')
    return f'{rest / 1e6:.1f} MB beyond weights and arena'


def budget(runs):
    """--best --max-error on the small CNN, which has pooling: plans in both kinds of 8 bits are tried, one within the bound is taken."""
    import make_models
    values, data = make_models.inputs('smallcnn', batch=60), runs.path('budget.npz')
    np.savez(data, **values)
    done = subprocess.run([TENFOLD, 'exec', f"--onnx={runs.path('smallcnn.onnx')}", '--device=cuda:0', '--best', '--max-error=0.2',
                           f'--data={data}', spec({name: array[:1] for name, array in values.items()}), '--skipInference',
                           '--builderOptimizationLevel=1'], capture_output=True, text=True, timeout=120)
    with open(runs.log, 'a') as f:
        f.write(done.stderr + done.stdout)
    want(done.returncode == 0, f'exit code {done.returncode}: {done.stderr[-300:]}')
    plans = [line for line in done.stdout.splitlines() if ' %' in line]
    for word in ('i8 ', 'f8e4m3fn ', 'f16 '):
        want(any(word in line for line in plans), f'no plan in {word}was tried')
    taken = [line for line in plans if line.startswith('*')]
    want(len(taken) == 1 and 'over the budget' not in taken[0], f'taken: {taken}')
    return f'{len(plans)} plans; {" ".join(taken[0].split())}'


CHECKS = {'--best --max-error: 16 bits and both kinds of 8': budget,
          '--device=cuda:0,cpu and other lists, one device missing': devices,
          '--useCudaGraph, --useSpinWait, --noDataTransfers and their opposites': flags,
          '--exportTimes and the summary: copies, computing, enqueueing': times,
          '--profilingVerbosity=detailed: NVTX ranges of runs and steps': ranges,
          '--monitorMemory: weights, arenas, workspaces, the rest': memory}


def check(a):
    """True if the command line does on a GPU what it says."""
    good, runs = True, None
    for what, one in CHECKS.items():
        start = time.time()
        try:
            runs = runs or Runs(a)
            detail, right = one(runs), True
        except Exception as e:   # whatever it is, the other checks go on
            detail, right = ' '.join(f'{type(e).__name__}: {e}'.split())[:240], False
        print(f'command line, {what}: {"passed" if right else "FAILED"}, {detail}', flush=True)
        remember(a, f'command line: {what}', right, time.time() - start, detail)
        good = good and right
    return good
