#!/usr/bin/env python3
"""docs/reference/performance-gpu.md and README's range, from what gpu_check.py's commands kept as JSON: nothing is written by hand.

    gpu_table.py                  writes both from docs/gpu-results
    gpu_table.py --take OUT       first takes over what a run of gpu_check.py left in OUT, record by record
    gpu_table.py --check          whether both are what docs/gpu-results says

A record says when, on what and from which commit it was measured; what has had commits to its code since says so (age.py). A row that
misses its aim says so in every table, and a ratio whose columns are of two runs does, too.
"""
import json, pathlib, sys

import age, gpu_figures, gpu_kernels
from gpu_rows import LEAST, MASKED, MOST_TUNED, PEER, ROWS

FILES = ['rows', 'results', 'masked', 'most_tuned', 'promises', 'figures', 'kernels', 'sharp']
SMALL = ('mlp256', 'smallcnn')   # a launch or two: what they take is the host's time, not the networks'
HEAD = '''# Speed on a GPU

Written by `tools/gpu_table.py` from [gpu-results](../gpu-results), which holds what `script/gpu-check`'s commands measured: each record has
its date, device and commit. `build/bundle_gpu/run OUT --all` runs all of them, each ten minutes at most; `--command NAME` one. Newest:
{newest}. Manual measurements and explanations: [gpu-notes.md](../lab/gpu-notes.md).
'''
ROW_HEAD = '''
## Rows

Event time: the median time between two CUDA events around one replay of the graph. torch.compile: `../shared/peers/gpu_peers.py`,
reduce-overhead, fp16, channels-last; its event time includes Python if that takes longer than the GPU's work (the small CNN and the MLP).
Limit: the time of ideal kernels for each operator at 745 TFLOP/s (ViT: 790) and 4.3 TB/s, without launches, as a share of the event time.
Cosine: all outputs against ONNX Runtime on the CPU in fp32, with the same inputs and masks of ones. Power and clock: medians while the plan
runs for two seconds; a lower clock at maximum power is due to the power limit. torch's were taken in the last half second before its line,
when the GPU may be idle. Two runs: both times of the ratio are from different days or commits.

| model | batch | mode | event ms | torch ms | ratio | target | limit | power, clock | torch's | to host | cosine | build s \
| card | measured | torch measured |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
'''
OWN = '''
## Own kernels alone, and memory

Own kernels: `--tacticSources=-cublas_lt,-cudnn`; the target is at most 1.5 times the time of all sources. Memory: MB of GPU memory that a
loaded plan and one context take beyond weights, arena, inputs and outputs, with libraries and with own kernels only; the target is at most
64. Workspaces: MB of the arena that cuBLASLt and cuDNN use.

| model | batch | mode | all sources ms | own kernels ms | ratio | cosine of own | MB beyond | MB beyond, own | workspaces MB \
| card | measured |
|---|---|---|---|---|---|---|---|---|---|---|---|
'''
MASKS = '''
## Sentences of mixed lengths

Padded to 128 tokens, 40 in the mean, with their real masks, compared with the same batch with masks of ones; fp16, padding is computed
(for `--packTokens`, see further figures). Milliseconds of event time.

| model | batch | ones | torch, ones | ratio | real masks | torch, real masks | ratio | card | measured |
|---|---|---|---|---|---|---|---|---|---|
'''
TUNED = '''
## torch.compile's max-autotune

Compared with reduce-overhead, as in the rows above; fp16. Its builds take minutes.

| model | batch | ours ms | reduce-overhead ms | max-autotune ms | ratio | build s | power, clock | card | measured |
|---|---|---|---|---|---|---|---|---|---|
'''


class Results:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.all = {name: self.read(name) for name in FILES}
        stamps = [r['measured'] for r in self.records() if 'measured' in r]
        self.newest = max(stamps, key=lambda s: s['date']) if stamps else None

    def read(self, name):
        path = self.folder / f'{name}.json'
        return json.loads(path.read_text()) if path.exists() else {} if name in ('promises', 'kernels') else []

    def records(self):
        for value in self.all.values():
            yield from value.values() if isinstance(value, dict) else value

    def measured(self, record):
        """Two cells: the card; and when it was, of which commit, and how many its code has had since."""
        if not record or 'measured' not in record:
            return ' | not measured'
        return f"{card(record)} | {when(record)}{age.mark(record['measured']['commit'])}"

    def by_row(self, name):
        return {(r['model'], r['batch']): r for r in self.all[name]}


def card(record):
    return record['measured']['device'].partition(', driver')[0]


def when(record):
    return f"{record['measured']['date']}, {record['measured']['commit']}"


def one_run(*records):
    """Whether these were measured on one day, one card and from one commit."""
    stamps = {(r['measured']['date'][:10], r['measured']['device'], r['measured']['commit']) for r in records if r and 'measured' in r}
    return len(stamps) == 1


def judged(value, wanted, digits=2, most=False):
    """A number beside what is wanted of it, at least or at most: one that misses says so."""
    if value is None:
        return ''
    missed = wanted not in (None, '') and (value > wanted if most else value < wanted)
    return f'{value:.{digits}f}' + (' (missed)' if missed else '')


def number(value, digits):
    return f'{value:.{digits}f}' if value is not None else ''


def ratio(other, own, wanted=None, together=True):
    """`together`: whether both were measured in one run."""
    return judged(other / own, wanted) + ('' if together else ' (two runs)') if other and own else ''


def power(r):
    if not r or 'watts' not in r:
        return ''
    return f"{r['watts']:.0f} of {r['most_watts']:.0f} W, {r['mhz']:,.0f} of {r['most_mhz']:,.0f} MHz"


def main_rows(results):
    rival, rows = results.by_row('results'), {(r['model'], r['batch'], r['mode']): r for r in results.all['rows']}
    wanted = [(*key.split(':'), 'fp16') for key in ROWS]
    keys = [(m, int(b), mode) for m, b, mode in wanted]
    for key in keys + [k for k in rows if k not in keys]:
        r, (model, batch, mode) = rows.get(key), key
        start = f'| {model} | {batch} | {mode} |'
        if not r or 'event_ms' not in r:
            yield start + f" {'failed' if r else ''} | | | | | | | | | | {results.measured(r)} | |\n"
            continue
        other = rival.get((PEER[model], batch), {}) if mode == 'fp16' else {}
        aim, limit = ROWS.get(f'{model}:{batch}', ('', None)) if mode == 'fp16' else ('', None)
        share = f"{100 * limit / r['event_ms']:.0f} %" if limit else ''
        peer = other.get('event_ms')
        yield (f"{start} {r['event_ms']:.4f} | {number(peer, 4)} | {ratio(peer, r['event_ms'], aim, one_run(r, other))} | {aim} | "
               f"{share} | {power(r)} | {power(other)} | {r['host_ms']:.4f} | {judged(r['cosine'], LEAST.get(mode), 6)} | "
               f"{r['build_s']:.1f} | {results.measured(r)} | {when(other) if other else ''} |\n")


def own_rows(results):
    for r in results.all['rows']:
        if 'native_ms' in r or 'beyond_mb' in r:
            own = judged(r['native_ms'] / r['event_ms'], 1.5, most=True) if r.get('native_ms') else (r.get('native_error') or '')[:60]
            yield (f"| {r['model']} | {r['batch']} | {r['mode']} | {r['event_ms']:.4f} | {number(r.get('native_ms'), 4)} | {own} | "
                   f"{judged(r.get('native_cosine'), LEAST.get(r['mode']), 6)} | {judged(r.get('beyond_mb'), 64, 1, most=True)} | "
                   f"{judged(r.get('beyond_native_mb'), 64, 1, most=True)} | "
                   f"{number(r.get('library_mb'), 1)} | {results.measured(r)} |\n")


def mask_rows(results):
    found = results.by_row('masked')
    for key in MASKED:
        model, batch = key.split(':')[0], int(key.split(':')[1])
        r = found.get((model, batch), {})
        cells = [model, batch]
        for mask in ('ones', 'mixed'):
            own, other = r.get(mask + '_ms'), r.get(f'torch_{mask}_ms')
            cells += [number(own, 4), number(other, 4), ratio(other, own)]
        yield '| ' + ' | '.join(map(str, cells)) + f' | {results.measured(r)} |\n'


def tuned_rows(results):
    found, rival = results.by_row('most_tuned'), results.by_row('results')
    own = {(r['model'], r['batch']): r for r in results.all['rows'] if r['mode'] == 'fp16'}
    for key in MOST_TUNED:
        model, batch = key.split(':')[0], int(key.split(':')[1])
        r, ours = found.get((model, batch), {}), own.get((model, batch), {})
        mine = ours.get('event_ms')
        reduced = rival.get((PEER[model], batch), {}).get('event_ms')
        yield (f"| {model} | {batch} | {number(mine, 4)} | {number(reduced, 4)} | {number(r.get('event_ms'), 4)} | "
               f"{ratio(r.get('event_ms'), mine, None, one_run(r, ours))} | {number(r.get('build_s'), 0)} | {power(r)} | "
               f"{results.measured(r)} |\n")


def promises(results):
    for what, output in results.all['promises'].items():
        verdict = 'passed' if output['good'] else 'FAILED'
        yield f"| {what} | {verdict}{', ' + output['detail'] if output['detail'] else ''} | " \
              f"{output['took_s']} | {results.measured(output)} |\n"


def page(folder):
    """Writes FOLDER/performance-gpu.md and gives it back."""
    results = Results(folder)
    path = pathlib.Path(folder) / 'performance-gpu.md'
    path.write_text(text_of(results))
    return path.read_text()


def text_of(results):
    newest = results.newest
    parts = [HEAD.format(newest=f"{newest['date']}, {newest['device']}, commit {newest['commit']}" if newest else 'none'), ROW_HEAD]
    parts += main_rows(results)
    parts += [OWN, *own_rows(results), MASKS, *mask_rows(results), TUNED, *tuned_rows(results)]
    parts += [gpu_figures.table(results), gpu_kernels.table(results)]
    parts += ['\n## Promises tested\n\n| what | verdict | seconds | card | measured |\n|---|---|---|---|---|\n', *promises(results)]
    return ''.join(parts)


def range_of(results):
    """The least and the largest ratio over networks of some size, and what they are of: "1.33 to 2.15 times ... (card, date, commit)".
    README has no ages."""
    rival, found = results.by_row('results'), []
    for r in results.all['rows']:
        other = rival.get((PEER[r['model']], r['batch']), {})
        if r['mode'] == 'fp16' and r['model'] not in SMALL and 'event_ms' in other and 'event_ms' in r:
            found.append((other['event_ms'] / r['event_ms'], r, other))
    if not found:
        return 'not measured'
    own, peers = ({(card(r), when(r)[:10], r['measured']['commit']) for r in side} for side in ([r for _, r, _ in found],
                                                                                               [o for *_, o in found]))
    reported = '; '.join(f'{device}, {date}, commit {commit}' for device, date, commit in sorted(own))
    if own != peers:
        reported += ",\ntorch's times of " + ' and '.join(f'{date}, commit {commit}' for _, date, commit in sorted(peers))
    ratios = [value for value, *_ in found]
    return f'{min(ratios):.2f} to {max(ratios):.2f}\n({reported})\n'


def readme_with(text, results):
    """README.md with the range between its marks."""
    start, end = '<!-- from tools/gpu_table.py -->', '<!-- end of range -->'
    before, rest = text.split(start, 1)
    return before + start + range_of(results) + end + rest.split(end, 1)[1]


def take(out, folder):
    """Takes over the records of a run, each in the place of the one that it measured again."""
    new, old = Results(out), Results(folder)
    for name in FILES:
        if not (pathlib.Path(out) / f'{name}.json').exists():
            continue
        kept, found = old.all[name], new.all[name]
        if isinstance(found, dict):
            kept.update(found)
        elif name == 'sharp':
            kept = found
        elif name == 'figures':
            again = {f['part'] for f in found}
            kept = [f for f in kept if f['part'] not in again] + found
        else:
            same = lambda r: (r['model'], r['batch'], r.get('mode') if name == 'rows' else '')
            again = {same(r) for r in found}
            kept = [r for r in kept if same(r) not in again] + found
        (pathlib.Path(folder) / f'{name}.json').write_text(json.dumps(kept, indent=1) + '\n')


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    folder, readme, target = root / 'docs' / 'gpu-results', root / 'README.md', root / 'docs' / 'reference' / 'performance-gpu.md'
    if '--take' in sys.argv:
        folder.mkdir(exist_ok=True)
        take(sys.argv[sys.argv.index('--take') + 1], folder)
    results = Results(folder)
    wanted = {target: text_of(results), readme: readme_with(readme.read_text(), results)}
    checks = '--check' in sys.argv   # ages grow with every commit: they are right when the page is written
    wrong = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text and
             not (checks and age.without_marks(path.read_text()) == age.without_marks(text))]
    if checks:
        for path in wrong:
            print(f'{path.relative_to(root)} is not what docs/gpu-results says: tools/gpu_table.py writes it')
        return 1 if wrong else 0
    for path in wrong:
        path.write_text(wanted[path])
    return 0


if __name__ == '__main__':
    sys.exit(main())
