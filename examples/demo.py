#!/usr/bin/env python3
"""The demonstration behind script/demo: a sentence encoder and a speech detector, run by Tenfold beside ONNX Runtime.

    python demo.py WORK_FOLDER [THREADS]
"""
import os
import sys
import time

import sentence_search
import side_by_side
import speech

SECONDS_PER_SLICE = 0.2


def main(folder, threads=0):
    threads = int(threads) or len(os.sched_getaffinity(0))
    start = time.monotonic()
    print(f'\n1. A sentence encoder, {threads} threads: all-MiniLM-L6-v2 searches among sentences by meaning')
    encoder = sentence_search.show(folder, threads)
    print('\n2. A speech detector: vowels made by the script, after silence, before noise and a tone\n')
    detector = speech.show(folder)
    print(f'\n3. Side by side ({threads} threads; the detector 1)\n')
    rows = [*sentence_search.table_rows(encoder), speech.table_row(folder, *detector)]
    side_by_side.print_table(rows, SECONDS_PER_SLICE)
    print(f'done in {time.monotonic() - start:.1f} s after the build; plans and inputs are in {os.path.relpath(folder)}')


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except RuntimeError as error:
        sys.exit(f'demo: {error}')
