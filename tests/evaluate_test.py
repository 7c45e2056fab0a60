#!/usr/bin/env python3
"""tenfold generate --evaluate and tenfold quantize FOLDER --data: evaluate_test.py TENFOLD. Figures beside NumPy's; refusals."""
import json
import os
import re
import sys

import cli_case
import numpy as np
from cli_case import CliCase

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'python', 'tests'))
from calibrated_case import floats_of, ids_of, layers_of, sentences  # noqa: E402
from decoders_case import RandomDecoder  # noqa: E402
from onnx_decoders_case import OnnxDecoder, keep_last_row  # noqa: E402

EXACT = ('--noPlanCache', '--builderOptimizationLevel=0', '--threads=1', '--precision=fp32')
TEXTS = sentences(40)


def logs_of(decoder, text):
    x = decoder.logits(ids_of(text))[:-1]
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


class Evaluate(CliCase):
    def setUp(self):
        super().setUp()
        self.decoder = RandomDecoder(self.path('m'), 'llama', width=48, wide=96)
        self.texts = self.write('t.txt', '\n'.join(TEXTS).encode())

    def perplexity(self, texts):
        """And how many tokens."""
        losses = [-logs[np.arange(len(logs)), ids_of(text)[1:]] for text in texts for logs in [logs_of(self.decoder, text)]]
        return np.exp(np.mean(np.concatenate(losses))), len(np.concatenate(losses))

    def test_alone(self):
        expected, tokens = self.perplexity(TEXTS)
        run = self.tenfold('generate', self.decoder.folder, *EXACT, '--quiet', '--evaluate=' + self.texts, '--json')
        got = json.loads(run.stdout)
        self.assertEqual((got['texts'], got['short_texts'], got['tokens']), (40, 0, tokens))
        self.assertAlmostEqual(got['perplexity'] / expected, 1, delta=1e-4)
        self.assertNotIn('kl_divergence', got)
        table = self.write('t.csv', b'a,text\n1,the cat sat\n2,cat\n3,"on a mat"\n')
        run = self.tenfold('generate', self.decoder.folder, *EXACT, '--quiet', f'--evaluate={table}:text', '--samples=2')
        expected, tokens = self.perplexity(['the cat sat'])
        said = re.fullmatch(r'(.*): perplexity ([\d.]+) on 2 tokens of 1 texts \(1 have less than two tokens\)\n', run.stdout)
        self.assertEqual(said and said[1], self.decoder.folder, run.stdout)
        self.assertAlmostEqual(float(said[2]) / expected, 1, delta=1e-4)

    def test_onnx_files(self):
        """Also where a file gives the last token's logits alone, so that each token takes a run. Long texts are cut and counted."""
        self.decoder = OnnxDecoder(self.path('onnx'), 'gpt2')
        cut = [text for text in TEXTS[:10] if len(ids_of(text)) > 4]
        for change in (lambda path: None, keep_last_row):
            change(self.decoder.path('model.onnx'))
            run = self.tenfold('generate', self.decoder.folder, *EXACT, '--quiet', '--evaluate=' + self.texts, '--json', '--samples=10',
                               '--textTokens=4')
            got = json.loads(run.stdout)
            losses = [-logs[np.arange(len(logs)), ids_of(text)[1:]][:3] for text in TEXTS[:10] for logs in [logs_of(self.decoder, text)]]
            self.assertEqual((got['texts'], got['cut_texts']), (10, len(cut)))
            self.assertAlmostEqual(got['perplexity'] / np.exp(np.mean(np.concatenate(losses))), 1, delta=1e-4)

    def test_quantized(self):
        said = {}
        for method in ('rtn', 'gptq', 'awq'):
            out = self.path('out-' + method)
            run = self.tenfold('quantize', self.decoder.folder, '--weights=int4:g16', '--method=' + method, '--data=' + self.texts,
                               '--threads=1', '-o', out, '--json')
            said[method] = json.loads(run.stdout)
            self.assertEqual((said[method]['method'], said[method]['held_out_texts']), (method, 20))
        self.assertLess(said['gptq']['kl_divergence'], said['rtn']['kl_divergence'])
        got = json.loads(self.tenfold('generate', self.path('out-gptq'), *EXACT, '--quiet', '--evaluate=' + self.texts, '--json',
                                      '--reference=' + self.decoder.folder).stdout)
        before = [logs_of(self.decoder, text) for text in TEXTS]
        layers, _ = layers_of(self.path('out-gptq'), 4)
        for name, one in layers.items():
            self.decoder.weights[name + '.weight'] = floats_of(*one, 4)
        after = [logs_of(self.decoder, text) for text in TEXTS]
        expected = np.concatenate([(np.exp(p) * (p - q)).sum(-1) for p, q in zip(before, after)]).mean()
        self.assertAlmostEqual(got['kl_divergence'] / expected, 1, delta=1e-3)
        plain = self.tenfold('quantize', self.decoder.folder, '--weights=int4:g16', '--method=gptq', '--data=' + self.texts, '--samples=10',
                             '--maxTokens=8', '-o', self.path('out')).stdout
        self.assertRegex(plain, r'mlp.up_proj +error of results 0\.\d{4} \(rtn 0\.\d{4}\), of weights')
        self.assertRegex(plain, r'on \d+ tokens of 5 texts held out: perplexity [\d.]+, was [\d.]+ in f32; KL divergence 0\.\d+')

    def test_refusals(self):
        empty = self.write('empty.txt', b'\n\n')
        folder, out = self.decoder.folder, self.path('out')
        narrow = ('quantize', folder, '--weights=int4', '-o', out)
        onnx = self.write('m.onnx', b'')
        for code, pattern, words in ((2, '--method=gptq needs --data=TEXTS', (*narrow, '--method=gptq')),
                                     (2, '--type=int8 is for ONNX files', (*narrow, '--type=int8')),
                                     (2, "method is 'best'; rtn, gptq or awq", (*narrow, '--method=best', '--data=' + self.texts)),
                                     (1, "there is no text in", (*narrow, '--method=gptq', '--data=' + empty)),
                                     (2, 'int4:gN or int8:gN was expected', ('quantize', onnx, '--weights=int4', '-o', out)),
                                     (2, '--method, --maxTokens and --json', ('quantize', onnx, '--method=gptq', '-o', out)),
                                     (2, 'reads its own texts', ('generate', folder, '--evaluate=' + self.texts, '--prompt=a')),
                                     (2, '--speculate and --promptChunk are for new text',
                                      ('generate', folder, '--evaluate=' + self.texts, '--speculate=4')),
                                     (2, 'are for --evaluate=TEXTS', ('generate', folder, '--prompt=a', '--reference=' + folder)),
                                     (1, 'there is no text in', ('generate', folder, *EXACT, '--quiet', '--evaluate=' + empty))):
            with self.subTest(pattern):
                self.assertIn(pattern, self.tenfold(*words, code=code).stderr)
                self.assertFalse(os.path.exists(out))
        short = self.write('short.txt', b'cat\ndog\n')
        run = self.tenfold('generate', folder, *EXACT, '--quiet', '--evaluate=' + short, code=2)
        self.assertIn('none of the 2 texts has two tokens', run.stderr)


if __name__ == '__main__':
    cli_case.main()
