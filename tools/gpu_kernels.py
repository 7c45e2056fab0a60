"""What Nsight Compute reads of the kernels of rows that miss their aim: where the time is, and what each kernel is bound by. Part of the
bundle that script/gpu-check makes; gpu_check.py --kernels calls it.

ncu runs every kernel alone, several times, with cold caches and without the others that lie beside it: times are longer than in a graph.
"""
import csv, os, shutil
from glob import glob

from gpu_common import TENFOLD, keep, kept, saved, shell, spec, stamp

# Milliseconds that were aimed at, for the rows that miss them.
AIMS = {('minilm-l6', 1): 0.09, ('minilm-l6', 32): 0.24, ('minilm-l6', 128): 0.73, ('bert-base', 1): 0.26, ('bert-base', 32): 1.25,
        ('bert-base', 128): 4.9, ('resnet50', 1): 0.17, ('resnet50', 32): 0.72, ('resnet50', 128): 2.5, ('vit-b16', 1): 0.28,
        ('unet3d', 1): 0.30}
SECTIONS = ['SpeedOfLight', 'Occupancy', 'LaunchStats', 'ComputeWorkloadAnalysis', 'WarpStateStats']
MOST_LAUNCHES, SHOWN = 40, 5   # a kernel takes ncu a third of a second; layers come again


def find_ncu():
    return shutil.which('ncu') or next(iter(sorted(glob('/usr/local/cuda*/bin/ncu') + glob('/opt/nvidia/nsight-compute/*/ncu'),
                                                   reverse=True)), None)


def read(a, ncu, name, batch):
    """The CSV that ncu writes of the first kernels of a plan, named by their steps."""
    import gpu_rows
    values = gpu_rows.feeds(name, batch)
    inputs, shapes = saved(a.models, f'{name}-b{batch}', values), spec(values)
    plan, tag = os.path.join(a.models, f'{name}-b{batch}-fp16.plan'), f'ncu-{name}-b{batch}'
    if not os.path.exists(plan):
        shell([TENFOLD, 'exec', f"--onnx={os.path.join(a.models, name + '.onnx')}", '--device=cuda:0', '--fp16', shapes, inputs,
               f'--saveEngine={plan}', f'--timingCacheFile={a.out}/timing.cache', '--skipInference'],
              os.path.join(a.out, tag + '-build.log'))
    path = os.path.join(a.out, tag + '.csv')
    command = ['timeout', '-k', '5', '60', ncu, '--clock-control', 'none', '--nvtx', '--print-nvtx-rename', 'kernel', '--csv',
               '--page', 'raw', '--log-file', path, '--launch-count', str(MOST_LAUNCHES)]
    for section in SECTIONS:
        command += ['--section', section]
    shell([*command, TENFOLD, 'exec', f'--loadEngine={plan}', '--device=cuda:0', shapes, inputs, '--noCudaGraph', '--iterations=1',
           '--duration=0', '--warmUp=0', '--profilingVerbosity=detailed'], os.path.join(a.out, tag + '.log'), 70)
    return path


def number(text):
    try:
        return float(text.replace(',', ''))
    except (ValueError, AttributeError):
        return None


MICRO = {'ns': 1e-3, 'nsecond': 1e-3, 'us': 1, 'usecond': 1, 'ms': 1e3, 'msecond': 1e3, 's': 1e6, 'second': 1e6}
STALL = 'smsp__average_warps_issue_stalled_'


def launch_of(row, at, units):
    """What the table wants of one line; None if it is no kernel's."""
    def value(name):
        return number(row[at[name]]) if name in at and at[name] < len(row) else None
    duration = value('gpu__time_duration.sum')
    if duration is None:
        return None
    stalls = {n[len(STALL):].split('_per_')[0]: value(n) or 0 for n in at
              if n.startswith(STALL) and 'selected' not in n and 'not_issued' not in n}
    return dict(name=row[at['Kernel Name']], grid=row[at['Grid Size']] if 'Grid Size' in at else '',
                us=duration * MICRO.get(units[at['gpu__time_duration.sum']], 1),
                sm=value('sm__throughput.avg.pct_of_peak_sustained_elapsed'),
                dram=value('gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed'),
                tensor=value('sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed'),
                registers=value('launch__registers_per_thread'), waves=value('launch__waves_per_multiprocessor'),
                occupancy=value('sm__warps_active.avg.pct_of_peak_sustained_active'),
                stall=max(stalls, key=stalls.get) if stalls else '')


def launches(path):
    """One dictionary for each kernel that ncu saw, of one run."""
    with open(path, newline='') as f:
        rows = list(csv.reader(line for line in f if line.startswith('"')))
    if len(rows) < 3:
        return []
    at = {name: i for i, name in enumerate(rows[0])}
    found = [one for one in (launch_of(row, at, rows[1]) for row in rows[2:]) if one]
    return found[:second_run(found)]


def second_run(found):
    """Where the first three kernels come again."""
    form = [(one['name'], one['grid']) for one in found]
    return next((i for i in range(3, len(form) - 2) if form[i:i + 3] == form[:3]), len(form))


def alike(launch):
    """What layers of the same form share: the step's name without its numbers, and the launch."""
    return ''.join(c for c in launch['name'] if not c.isdigit()), launch['grid'], launch['registers']


def summary(found):
    """The kinds of kernels that take most, with the numbers of the longest of each."""
    groups = {}
    for one in found:
        groups.setdefault(alike(one), []).append(one)
    total, kinds = sum(one['us'] for one in found), []
    for members in groups.values():
        kinds.append(dict(max(members, key=lambda one: one['us']), times=len(members), share=sum(one['us'] for one in members) / total))
    return dict(kernels=len(found), total_us=total, kinds=sorted(kinds, key=lambda kind: -kind['share'])[:SHOWN])


def measure(a, rows):
    ncu = find_ncu() if rows else None
    if rows and not ncu:
        print('ncu is not here: kernels were not read')
        return
    for name, batch in rows:
        try:
            found = launches(read(a, ncu, name, batch))
        except OSError as e:
            found, why = [], str(e)
        else:
            why = 'ncu said nothing'
        if not found:
            print(f'ncu {name} {batch}: {why}; see ncu-{name}-b{batch}.log', flush=True)
            continue
        keep(a, 'kernels.json', dict(kept(a, 'kernels.json', {}), **{f'{name}:{batch}': dict(summary(found), measured=stamp())}))


def percent(value):
    return '' if value is None else f'{value:.0f}'


def table(results):
    """What measure() kept, as Markdown."""
    every = results.all['kernels']
    if not every:
        return '\n## What ncu says\n\nNot measured.\n'
    out = ('\n## What ncu says\n\nThe first kernels of a run, each alone with cold caches (`--clock-control none`). The kinds that take '
           'most time: their number, and of the longest its time; SM, tensor pipes and memory in percent of their peaks; registers per '
           'thread, warps in percent of the maximum, waves of blocks, and the main stall reason of its warps.\n\n'
           '| row | kernels | kind | share | us | SM | tensor | DRAM | registers | warps | waves | waits for | card | measured |\n'
           '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n')
    for row, output in every.items():
        for i, kind in enumerate(output['kinds']):
            first = f"{row} | {output['kernels']}, {output['total_us']:.0f} us" if i == 0 else ' | '
            out += (f"| {first} | {kind['times']} x {kind['name'][:60]} | {100 * kind['share']:.0f} % | {kind['us']:.1f} | "
                    f"{percent(kind['sm'])} | {percent(kind['tensor'])} | {percent(kind['dram'])} | {percent(kind['registers'])} | "
                    f"{percent(kind['occupancy'])} | {kind['waves'] if kind['waves'] is not None else ''} | {kind['stall']} | "
                    f"{results.measured(output)} |\n")
    return out
