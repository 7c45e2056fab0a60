#!/usr/bin/env python3
"""Steps of a decoder with caches of several types, in turns: decoder_caches.py FOLDER [--contexts=512,4096] [--weights=int4:g32].

bench/decoder_models.py makes folders. All are in one process, with one timing cache; the median of a turn's steps, and of turns.
"""
import argparse
import os
import statistics
import tempfile
import time

import numpy as np

import tenfold

STEPS = 16   # of a turn


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument('folder')
    arguments.add_argument('--contexts', default='512,4096')
    arguments.add_argument('--weights', default='int4:g32')
    arguments.add_argument('--threads', type=int, default=2)
    arguments.add_argument('--turns', type=int, default=5)
    arguments.add_argument('--plans', default=None, help='folder of the plan cache')
    a = arguments.parse_args()
    contexts = [int(context) for context in a.contexts.split(',')]
    decoders = {}
    with tempfile.TemporaryDirectory() as scratch:
        for dtype in ('', 'int8'):
            decoder = tenfold.Decoder(a.folder, weights=a.weights, kv_cache_dtype=dtype, threads=a.threads, plan_cache=a.plans,
                                      max_length=max(contexts) + STEPS + 1, timing_cache=os.path.join(scratch, 'times'))
            decoder.prepare()
            decoders[decoder.info.kv_cache_dtype] = decoder
    ids = np.random.default_rng(0).integers(0, decoder.info.vocabulary, max(contexts)).tolist()
    sessions = {dtype: decoder.start() for dtype, decoder in decoders.items()}
    print('| context | cache | MB of it | prompt so far, s | step, ms: median (least) |\n|---|---|---|---|---|')
    prompts = dict.fromkeys(sessions, 0.0)
    for context in contexts:
        for dtype, session in sessions.items():
            begun = time.perf_counter()
            session.append([ids[len(session.ids(0)):context]])
            prompts[dtype] += time.perf_counter() - begun
        times = {dtype: [] for dtype in sessions}
        for _ in range(a.turns):
            for dtype, session in sessions.items():
                taken = []
                for token in ids[:STEPS]:
                    begun = time.perf_counter()
                    session.append([[token]])
                    taken.append(time.perf_counter() - begun)
                session.truncate(0, context)
                times[dtype].append(1e3 * statistics.median(taken[2:]))
        for dtype, taken in times.items():
            info = decoders[dtype].info
            used = info.cache_bytes * context / info.max_length / 1e6
            steps = f'{statistics.median(taken):.1f} ({min(taken):.1f})'
            print(f'| {context} | {dtype} | {used:.1f} | {prompts[dtype]:.1f} | {steps} |', flush=True)


if __name__ == '__main__':
    main()
