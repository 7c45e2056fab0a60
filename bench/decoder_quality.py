#!/usr/bin/env python3
"""Perplexity and KL divergence of a decoder's folder in narrow forms, as a table: decoder_quality.py TENFOLD FOLDER TRAIN.txt TEST.txt.

Weights are calibrated on TRAIN.txt and judged on TEST.txt, beside the folder in f32. bench/train_small_gpt2.py makes a folder and both.
"""
import argparse
import json
import os
import subprocess
import tempfile

METHODS = ('rtn', 'gptq', 'awq')


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ('tenfold', 'folder', 'train', 'test'):
        arguments.add_argument(name)
    arguments.add_argument('--forms', default='int8,int4:g32,int4:g64,int4:g128')
    arguments.add_argument('--samples', default=4000, type=int)
    a = arguments.parse_args()

    def tenfold(*words):
        return json.loads(subprocess.run([a.tenfold, *words, '--json', '--threads=1'], check=True, stdout=subprocess.PIPE).stdout)

    def judged(folder, precision='fp32'):
        got = tenfold('generate', folder, '--evaluate=' + a.test, '--reference=' + a.folder, '--precision=' + precision, '--quiet',
                      '--noPlanCache', '--builderOptimizationLevel=0')
        return f"{got['perplexity']:.3f} | {got['kl_divergence']:.5f} | {100 * got['same_token']:.1f}", got

    cells, got = judged(a.folder)
    print(f"{got['tokens']} tokens of {got['texts']} texts; calibrated on every second text of {a.train}\n")
    print('| weights | method | error of results (RTN = 1) | perplexity | KL divergence | same token, % |\n|---|---|---|---|---|---|')
    print(f'| f32 | | | {cells} |')
    print(f"| bf16, activations too | | | {judged(a.folder, 'bf16')[0]} |", flush=True)
    for form in a.forms.split(','):
        for method in METHODS:
            with tempfile.TemporaryDirectory() as scratch:
                out = os.path.join(scratch, 'narrow')
                said = tenfold('quantize', a.folder, '--weights=' + form, '--method=' + method, '--data=' + a.train,
                               f'--samples={a.samples}', '-o', out)
                ratios = [layer['output_error'] / layer['output_error_rtn'] for layer in said['layers'] if layer['output_error_rtn'] > 0]
                print(f'| {form} | {method} | {sum(ratios) / max(len(ratios), 1):.2f} | {judged(out)[0]} |', flush=True)


if __name__ == '__main__':
    main()
