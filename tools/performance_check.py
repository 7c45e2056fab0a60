"""script/bench --check: a machine's ratios beside those that docs/lab/performance-cpu.md keeps of it.
What fell by more than its spread is named.

    performance_check.py BENCH_FOLDER PAGE.md [TITLE]     exit code 1 where something fell, 2 where nothing can be compared
"""
import re
import statistics
import sys

from performance_rows import NAMES, ratios, read_runs
from performance_table import default_title, pairs_of

RATIO = re.compile(r'([\d.]+)(?: \(([\d.]+)-([\d.]+)\))?$')
LEAST_SPREAD = 0.02   # of a ratio: what runs of one machine differ by even where a table has a single run


def section(text, title):
    """The section's lines, or None."""
    for part in re.split(r'(?m)^(?=## )', text):
        if part.startswith(f'## {title}\n'):
            return part.splitlines()
    return None


def stored(lines):
    """{(case, threads, pair): (median, least, most)} of the tables whose columns are "ours to theirs"."""
    found, head = {}, []
    for line in lines:
        if not line.startswith('|'):
            head = []
            continue
        cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
        if not head:
            head = cells
        elif head[:2] == ['model', 'threads'] and len(cells) == len(head) and not set(cells[0]) <= {'-'}:
            for name, cell in zip(head, cells):
                if ' to ' in name and (ratio := RATIO.match(cell)):
                    middle = float(ratio[1])
                    found[cells[0], int(cells[1]), name] = middle, float(ratio[2] or middle), float(ratio[3] or middle)
    return found


def measured(table):
    """The same of a run."""
    found = {}
    for (case, threads), runs in table.items():
        for ours, rival in pairs_of(table):
            if values := ratios(runs, rival, ours):
                found[case, threads, f'{NAMES[ours]} to {NAMES[rival]}'] = statistics.median(values), min(values), max(values)
    return found


def compare(before, now):
    """Lines of what fell, and how many ratios are in both."""
    fell, both = [], sorted(before.keys() & now.keys())
    for key in both:
        (old, minimum, maximum), (new, low, high) = before[key], now[key]
        spread = max(maximum - minimum, high - low, LEAST_SPREAD * old)
        if old - new > spread:
            case, threads, pair = key
            fell.append(f'{case}, {threads} threads, {pair}: {new:.2f} ({low:.2f}-{high:.2f}), '
                        f'it was {old:.2f} ({minimum:.2f}-{maximum:.2f})')
    return fell, len(both)


def main(folder, page, title=None):
    table, about = read_runs(folder)
    title = title or default_title(about)
    with open(page) as file:
        lines = section(file.read(), title)
    if lines is None:
        print(f'{page} has no section "{title}": script/bench without --check writes it', file=sys.stderr)
        return 2
    fell, both = compare(stored(lines), measured(table))
    print('\n'.join(fell) or 'nothing fell by more than its spread', f'\n{both} ratios of "{title}" were compared, {len(fell)} fell')
    return 2 if both == 0 else int(bool(fell))


if __name__ == '__main__':
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
