#!/usr/bin/env python3
"""Tokens a second with and without speculation: decoder_speculation.py FOLDER [--precision=bf16] [--guesses=4,8].

The text is forced by changing logits, so that it repeats itself as much as it is meant to: a phrase of 40 tokens again and again, with a
token of chance after every 5, 10 or 20 of it; the phrase alone; and tokens of chance alone. Each way in turns, medians of three rounds.
"""
import argparse
import statistics
import time

import numpy as np

import tenfold

PROMPT, NEW = 160, 160


def texts(vocabulary):
    random = np.random.default_rng(0)
    phrase = random.integers(3, vocabulary, 40).tolist()
    for name, every in (('the phrase alone', 0), ('chance after 20', 20), ('chance after 10', 10), ('chance after 5', 5)):
        ids = []
        while len(ids) < PROMPT + NEW + 1:
            for i, token in enumerate(phrase):
                ids.append(token)
                if every and i % every == every - 1:
                    ids.append(int(random.integers(3, vocabulary)))
        yield name, ids
    yield 'chance alone', random.integers(3, vocabulary, PROMPT + NEW + 1).tolist()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument('folder')
    arguments.add_argument('--precision', default='bf16', choices=('fp32', 'tf32', 'bf16'))
    arguments.add_argument('--guesses', default='4,8', type=lambda text: [int(one) for one in text.split(',')])
    arguments.add_argument('--threads', default=2, type=int)
    a = arguments.parse_args()
    options = dict(threads=a.threads, tf32=a.precision != 'fp32', bf16=a.precision == 'bf16', max_length=1024)
    decoders = {count: tenfold.Decoder(a.folder, speculate=count, **options) for count in (0, *a.guesses)}
    for decoder in decoders.values():
        decoder.generate([1] * PROMPT, max_tokens=4, ignore_end=True)
    for name, ids in texts(decoders[0].info.vocabulary):
        def force(sequence, so_far, logits, ids=ids):
            logits[ids[len(so_far)]] = 1e9

        rates, accepted = {count: [] for count in decoders}, {}
        for _ in range(3):
            for count, decoder in decoders.items():
                before, begin = decoder.counts, time.perf_counter()
                result = decoder.generate(ids[:PROMPT], max_tokens=NEW, ignore_end=True, on_logits=force)
                after = decoder.counts
                assert result.ids == ids[PROMPT:PROMPT + NEW], time.perf_counter() - begin
                rates[count].append((NEW - 1) / (after['step_s'] - before['step_s']))
                accepted[count] = (NEW - 1) / (after['steps'] - before['steps'])
        plain = statistics.median(rates[0])
        print(f'{name}: {plain:.1f} tokens/s without', *(
            f'; {count} guesses: {statistics.median(rates[count]):.1f} ({statistics.median(rates[count]) / plain:.2f}), '
            f'{accepted[count]:.2f} tokens a step' for count in a.guesses), sep='', flush=True)


if __name__ == '__main__':
    main()
