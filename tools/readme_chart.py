#!/usr/bin/env python3
"""README's chart, docs/performance.svg: bars to ONNX Runtime, OpenVINO and torch.compile on eight models, from the kept measurements.

    readme_chart.py            draws it from docs/lab/performance-cpu.md and the CPU table of docs/guides/torch.md
    readme_chart.py --check    whether it is what they say
"""
import re
import sys

from performance_page import EIGHT, NAMES, ROOT, SHORT, Section

CHART, TORCH = ROOT / 'docs/performance.svg', ROOT / 'docs/guides/torch.md'
ENGINES = ('ONNX Runtime', 'OpenVINO', 'torch.compile')
IN_TORCH = {'minilm-l6-s128-b1': 'minilm', 'bert-base-s128-b1': 'bert', 'resnet50-b1': 'resnet50', 'mobilenet_v2-b1': 'mobilenet_v2'}
LEFT, TOP, BAR, GAP, UNIT, WIDTH = 170, 64, 11, 12, 235, 720
STYLE = '''text { font: 12px system-ui, sans-serif; fill: #1f2328 } .small { font-size: 10.5px; fill: #59636e }
.e0 { fill: #4269d0 } .e1 { fill: #d97f0e } .e2 { fill: #3b8f5d } .line { stroke: #59636e; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small { fill: #9198a1 } .line { stroke: #9198a1 }
.e0 { fill: #7f9cf5 } .e1 { fill: #efb118 } .e2 { fill: #6cc58f } }'''


def inductor():
    """Times of batch 1 without rounding by our name of the model, inductor's (the better of with and without freezing) by ours."""
    text = TORCH.read_text()
    table = re.search(r'commit ([0-9a-f]{8}), torch ([\d.]+)\).*?\n(\| module \| batch \| tenfold .*?)\n\n', text, re.S)
    times = {cells[0]: [float(c) for c in cells[2:5]] for line in table[3].splitlines()[2:]
             if (cells := [c.strip() for c in line.strip('|').split('|')])[1] == '1'}
    return {case: min(times[name][1:]) / times[name][0] for case, name in IN_TORCH.items()}, table[1], table[2]


def bars(section, torch):
    for case in EIGHT:
        ours = [section.ratio(case, 2, f'to {engine}') for engine in ENGINES[:2]]
        yield NAMES[case].removesuffix(', 128 tokens'), [*ours, torch.get(case)]


def drawn():
    section, (torch, commit, version) = Section(SHORT), inductor()
    parts, y = [], TOP
    for name, ratios in bars(section, torch):
        parts.append(f'<text x="{LEFT - 10}" y="{y + 1.5 * BAR + 4:.0f}" text-anchor="end">{name}</text>')
        for i, ratio in enumerate(ratios):
            at = y + i * BAR
            if ratio is None:
                parts.append(f'<text class="small" x="{LEFT + 4}" y="{at + 9}">{ENGINES[i]} not measured</text>')
                continue
            parts.append(f'<rect class="e{i}" x="{LEFT}" y="{at}" width="{ratio * UNIT:.0f}" height="{BAR - 1}"/>')
            end = max(ratio, 1 if ratio > 0.9 else 0) * UNIT   # beside the line at 1, not on it
            parts.append(f'<text class="small" x="{LEFT + end + 4:.0f}" y="{at + 9}">{ratio:.2f}'
                         f'{" (Tenfold is slower)" if ratio < 1 else ""}</text>')
        y += 3 * BAR + GAP
    parts.append(f'<line class="line" x1="{LEFT + UNIT}" x2="{LEFT + UNIT}" y1="{TOP - 6}" y2="{y - GAP + 4}"/>')
    parts.append(f'<text class="small" x="{LEFT + UNIT}" y="{TOP - 10}" text-anchor="middle">1 = as fast as Tenfold</text>')
    for i, engine in enumerate(ENGINES):
        parts.append(f'<rect class="e{i}" x="{LEFT + i * 150}" y="26" width="12" height="12"/>'
                     f'<text x="{LEFT + i * 150 + 18}" y="36">{engine}</text>')
    notes = [f'{SHORT}, two threads, batch 1; fp32 by FMA (--noTF32), int8 where named.',
             f'{section.measured(with_age=False)}; medians.',
             f'torch.compile: inductor, the better of with and without freezing; torch {version}, Tenfold {commit}, least times,',
             'another CPU with AVX-512 VNNI; torch modules of the same architectures instead of the ONNX files.']
    parts += [f'<text class="small" x="10" y="{y + 8 + 15 * i}">{line}</text>' for i, line in enumerate(notes)]
    height = y + 8 + 15 * len(notes)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">\n'
            f'<title>Time of other engines divided by the time of Tenfold</title>\n<style>{STYLE}</style>\n'
            f'<text x="10" y="16">Time of the other engine divided by the time of Tenfold: longer is better for Tenfold</text>\n'
            + '\n'.join(parts) + '\n</svg>\n')


def main():
    text = drawn()
    if '--check' not in sys.argv:
        CHART.write_text(text)
    elif not CHART.exists() or CHART.read_text() != text:
        sys.exit(f'{CHART.relative_to(ROOT)} is not what the pages say: run tools/readme_chart.py')


if __name__ == '__main__':
    main()
