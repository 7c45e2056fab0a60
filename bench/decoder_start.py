#!/usr/bin/env python3
"""From the start of a process to a decoder's first token, beside llama.cpp, in turns; files are in the system's cache.

    decoder_start.py FOLDER [--tenfold=PROGRAM] [--weights=int4:g32] [--gguf=q4_0] [--plans=DIR] [--threads=2] [--rounds=5]

FOLDER: of bench/decoder_models.py, with FOLDER/q4_0.gguf by bench/decoder_gguf.py. Ours is the whole process `tenfold generate`, whose plan
lies in the cache DIR (the first run makes it). llama.cpp's is the time behind the imports of its Python package: load, prompt, one token.
Prints medians in seconds, and the most memory of each process in MB.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import time

PROMPT = 6   # tokens


def ours(a):
    words = [a.tenfold, 'generate', a.folder, f'--weights={a.weights}', '--precision=bf16', '--maxLength=1024',
             '--prompt=' + 'a b ' * (PROMPT // 2), '--maxTokens=1', f'--planCache={a.plans}', f'--threads={a.threads}']
    begin = time.perf_counter()
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = run.stderr.read()
    _, status, used = os.wait4(run.pid, 0)
    if status:
        sys.exit(said.decode())
    return time.perf_counter() - begin, used.ru_maxrss / 1e3


def theirs(a):
    run = subprocess.run([sys.executable, __file__, a.folder, '--inside', f'--gguf={a.gguf}', f'--threads={a.threads}'], check=True,
                         capture_output=True, text=True)
    return tuple(float(word) for word in run.stdout.split()[-2:])


def inside(a):
    import llama_cpp
    begin = time.perf_counter()
    model = llama_cpp.Llama(model_path=os.path.join(a.folder, a.gguf + '.gguf'), n_threads=a.threads, n_threads_batch=a.threads, n_ctx=1024,
                            verbose=False)
    model.eval([1, 2] * (PROMPT // 2))
    model.sample(temp=0)
    print(time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('folder')
    for flag, usual in (('tenfold', 'build/release/cli/tenfold'), ('weights', 'int4:g32'), ('gguf', 'q4_0'),
                        ('plans', 'build/bench/decoder-plans')):
        parser.add_argument('--' + flag, default=usual)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--inside', action='store_true', help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.inside:
        return inside(a)
    ours(a), theirs(a)
    rounds = [(ours(a), theirs(a)) for _ in range(a.rounds)]
    for name, side in (('tenfold', 0), ('llama.cpp', 1)):
        seconds, memory = zip(*(one[side] for one in rounds))
        print(f'{name:10} {statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f}), {max(memory):.0f} MB')


if __name__ == '__main__':
    main()
