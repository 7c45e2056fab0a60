"""The report: what rows.json, promises.json, figures.json, kernels.json and results.json (of the peers) in OUT hold, as Markdown."""
import os, subprocess, time

import gpu_figures, gpu_kernels
from gpu_common import kept
from gpu_rows import PEER, ROWS

HEAD = '''# Speed on a GPU

Written by `script/gpu-check`. {day}, {machine} (name, driver, SM clock at the end, SM clock at most).
'''
ROW_HEAD = '''
Event time: between two events around one replay of the graph, median. torch.compile: `../shared/peers/gpu_peers.py`, reduce-overhead, fp16,
channels-last, same run. Limit: an ideal kernel for each operator at 745 TFLOP/s (ViT: 790) and 4.3 TB/s, without launches, as a share of
the event time. Cosine: all outputs against ONNX Runtime on the CPU in fp32, the same inputs.

| model | batch | mode | event ms | torch.compile ms | ratio | wanted | limit | host to host ms | cosine | build s |
|---|---|---|---|---|---|---|---|---|---|---|
'''
OWN = '''
## Own kernels alone, and memory

Own kernels: `--tacticSources=-cublas_lt,-cudnn`; at most 1.5 times the time of all sources is wanted. Memory: MB that a loaded plan and one
context take of the GPU beyond weights, arena, inputs and outputs, libraries included, and with own kernels alone; at most 64 is wanted.
Workspaces: MB of the arena that cuBLASLt and cuDNN work in.

| model | batch | mode | all sources ms | own kernels ms | ratio | cosine of own | MB beyond | MB beyond, own | workspaces MB |
|---|---|---|---|---|---|---|---|---|---|
'''


def cell(row, key, digits):
    return f'{row[key]:.{digits}f}' if row.get(key) is not None else ''


def main_row(r, rival):
    start = f"| {r['model']} | {r['batch']} | {r['mode']} |"
    if 'event_ms' not in r:
        return start + ' failed | | | | | | | |\n'
    fp16 = r['mode'] == 'fp16'
    other = rival.get((PEER[r['model']], r['batch'])) if fp16 else None
    wanted, limit = ROWS.get(f"{r['model']}:{r['batch']}", ('', None)) if fp16 else ('', None)
    ratio, rival_ms = (f"{other / r['event_ms']:.2f}", f'{other:.4f}') if other else ('', '')
    share = f"{100 * limit / r['event_ms']:.0f} %" if limit else ''
    return (f"{start} {r['event_ms']:.4f} | {rival_ms} | {ratio} | {wanted} | {share} | {r['host_ms']:.4f} | {r['cosine']:.6f} | "
            f"{r['build_s']:.1f} |\n")


def own_row(r):
    ratio = f"{r['native_ms'] / r['event_ms']:.2f}" if r.get('native_ms') else (r.get('native_error') or '')[:60]
    return (f"| {r['model']} | {r['batch']} | {r['mode']} | {r['event_ms']:.4f} | {cell(r, 'native_ms', 4)} | {ratio} | "
            f"{cell(r, 'native_cosine', 6)} | {cell(r, 'beyond_mb', 1)} | {cell(r, 'beyond_native_mb', 1)} | "
            f"{cell(r, 'library_mb', 1)} |\n")


def write_promises(f, a):
    promises = kept(a, 'promises.json', {})
    if promises:
        f.write('\n## Promises tested\n\n| what | verdict | seconds |\n|---|---|---|\n')
    for what, said in promises.items():
        verdict = 'passed' if said['good'] else 'FAILED'
        f.write(f"| {what} | {verdict}{', ' + said['detail'] if said['detail'] else ''} | {said['took_s']} |\n")


def write(a):
    """Writes the report and gives it back."""
    query = ['nvidia-smi', '--query-gpu=name,driver_version,clocks.sm,clocks.max.sm', '--format=csv,noheader']
    try:
        machine = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    except OSError:
        machine = 'a machine without nvidia-smi'
    rows, rival = kept(a, 'rows.json', []), {(r['model'], r['batch']): r['event_ms'] for r in kept(a, 'results.json', [])}
    path = os.path.join(a.out, 'performance-gpu.md')
    with open(path, 'w') as f:
        f.write(HEAD.format(day=time.strftime('%Y-%m-%d'), machine=machine))
        if rows:
            f.write(ROW_HEAD)
            f.writelines(main_row(r, rival) for r in rows)
        if any('native_ms' in r or 'beyond_mb' in r for r in rows):
            f.write(OWN)
            f.writelines(own_row(r) for r in rows if 'event_ms' in r)
        gpu_figures.write(f, a)
        gpu_kernels.write(f, a)
        write_promises(f, a)
    with open(path) as f:
        return f.read()
