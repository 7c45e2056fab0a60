"""Writes ticks of two symbols whose prices lie about 1, with a spike in one of them: make_ticks.py FILE [COUNT]"""
from __future__ import annotations

import sys

import _path   # noqa: F401
import numpy as np
from pattern_engine.build import write_whole


def main(path: str, count: int) -> None:
    random = np.random.default_rng(4)
    prices = {symbol: 1 + 0.1 * random.standard_normal(count) for symbol in ('EURUSD', 'EURCHF')}
    prices['EURCHF'][count // 2:count // 2 + 3] += 2
    lines = [f'{0.001 * (2 * i + k):.3f},{symbol},{series[i]:.5f},{random.integers(1, 100)}'
             for i in range(count) for k, (symbol, series) in enumerate(prices.items())]
    write_whole(path, ('ts,symbol,price,volume\n' + '\n'.join(lines) + '\n').encode())
    print(f'wrote {len(lines)} ticks to', path)


if __name__ == '__main__':
    if len(sys.argv) not in (2, 3) or not (sys.argv[2:] or ['200'])[0].isdecimal():
        sys.exit(__doc__)
    try:
        main(sys.argv[1], int((sys.argv[2:] or ['200'])[0]))
    except OSError as error:
        sys.exit(f'make_ticks: {error}')
