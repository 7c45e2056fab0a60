#!/usr/bin/env python3
"""The demonstration behind script/demo: a sentence encoder and a speech detector, run by Tenfold beside ONNX Runtime.

    python demo.py WORK_FOLDER [THREADS]
"""
from __future__ import annotations

import os
import sys
import time

import sentence_search
import side_by_side
import speech

import tenfold

SECONDS_PER_SLICE = 0.2


def main(folder: str, given: str = '0') -> None:
    threads = int(given) or len(os.sched_getaffinity(0))
    start = time.monotonic()
    print(f'\n1. A sentence encoder, {threads} threads: all-MiniLM-L6-v2 searches among sentences by meaning')
    print('   (weights of sentence-transformers, Apache-2.0, pinned by their SHA-256; the detector is Silero VAD, MIT)')
    encoder = sentence_search.show(folder, threads)
    print('\n2. A speech detector: vowels made by the script, after silence, before noise and a tone\n')
    detector = speech.show(folder)
    print(f'\n3. Side by side ({threads} threads; the detector 1)\n')
    side_by_side.print_table([*sentence_search.table_rows(encoder), detector], SECONDS_PER_SLICE)
    print(f'done in {time.monotonic() - start:.1f} s after the build; plans and inputs are in {os.path.relpath(folder)}')


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (RuntimeError, tenfold.Error) as error:
        sys.exit(f'demo: {error}')
