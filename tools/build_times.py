#!/usr/bin/env python3
"""Where a build's time went: seconds, files and the fixed cost of a file, by target, from Ninja's log.

    build_times.py [BUILD] [--top N]

Seconds are job-seconds: two jobs side by side count twice. The fixed cost is what a file of no lines would take (least squares of seconds
over lines; of fewer than ten files, the least). A log keeps the last time of each output: after a clean build, all of one build; times of
jobs that ccache answered are those of ccache. `--top N` lists the slowest files.
"""
import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def jobs(build):
    """{output: seconds}, of the last time that it was made; outputs of earlier configurations do not count."""
    log = build / '.ninja_log'
    if not log.is_file():
        sys.exit(f'{log} is not there: build with Ninja first')
    made = set(re.findall(r'^build ((?:[^:$|]|\$.)+?)(?: \||:)', (build / 'build.ninja').read_text(), re.M))
    made = {name for names in made for name in names.split()}
    found = {}
    for line in log.read_text().splitlines()[1:]:
        begin, end, _, output, *_ = line.split('\t')
        if output in made:
            found[output] = (int(end) - int(begin)) / 1000
    return found


def target_and_source(output):
    """Of an object file; else the kind of job, and no source."""
    inside = re.match(r'(?:.*/)?CMakeFiles/([^/]+)\.dir/(.+)\.o(bj)?$', output)
    if inside:
        return inside[1], inside[2]
    if output.endswith('.gch'):
        return 'precompiled headers', ''
    return ('links' if re.search(r'\.(a|so[\d.]*)$|/[\w-]+$', output) else 'other'), ''


def lines_of(source, build):
    for path in (ROOT / source, build / source, pathlib.Path('/') / source):
        if path.is_file():
            return sum(1 for _ in path.open(errors='replace'))
    return None


def fixed_cost(files):
    """Of [(lines, seconds)]."""
    known = [(n, s) for n, s in files if n is not None]
    if len(known) < 10:
        return min((s for _, s in files), default=0)
    mean_n, mean_s = (sum(v) / len(known) for v in zip(*known))
    spread = sum((n - mean_n) ** 2 for n, _ in known)
    slope = sum((n - mean_n) * (s - mean_s) for n, s in known) / spread if spread else 0
    return max(0, mean_s - slope * mean_n)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('build', nargs='?', type=pathlib.Path, default=ROOT / 'build' / 'release')
    p.add_argument('--top', type=int, default=0, metavar='N')
    a = p.parse_args()
    targets, slowest = collections.defaultdict(list), []
    for output, seconds in jobs(a.build).items():
        target, source = target_and_source(output)
        group = 'tests' if target.endswith('_test') or '_test.cpp' in source or source.startswith('tests/') else target
        targets[group].append((lines_of(source, a.build) if source else None, seconds))
        slowest.append((seconds, source or output))
    total = sum(s for files in targets.values() for _, s in files)
    print(f'{"target":34} {"files":>6} {"seconds":>8} {"share":>6} {"a file":>7} {"fixed":>6}')
    for target, files in sorted(targets.items(), key=lambda t: -sum(s for _, s in t[1])):
        seconds = sum(s for _, s in files)
        if seconds >= 0.002 * total:
            print(f'{target:34} {len(files):6} {seconds:8.1f} {seconds / total:6.1%} {seconds / len(files):7.2f} {fixed_cost(files):6.2f}')
    print(f'{"all":34} {sum(map(len, targets.values())):6} {total:8.1f}')
    for seconds, source in sorted(slowest, reverse=True)[:a.top]:
        print(f'{seconds:8.1f} {source}')


if __name__ == '__main__':
    main()
