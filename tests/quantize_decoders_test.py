#!/usr/bin/env python3
"""tenfold quantize of decoders' ONNX files: quantize_decoders_test.py TENFOLD. ONNX Runtime runs what is written."""
import collections
import json
import os
import sys

import cli_case
from cli_case import CliCase, np, onnx

import accuracy_test

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'python', 'tests'))
from calibrated_case import ids_of, sentences  # noqa: E402
from onnx_decoders_case import OnnxDecoder, Stepwise  # noqa: E402

EXACT = ('--noPlanCache', '--builderOptimizationLevel=0', '--threads=1', '--precision=fp32')
TEXTS = sentences(60)


@cli_case.unittest.skipUnless(accuracy_test.ort, 'ONNX Runtime is not installed')
class Decoders(CliCase):
    def quantized(self, decoder, name, *flags):
        """The folder beside the file that was written, and what was said."""
        out = self.path(name)
        os.makedirs(out)
        for file in ('config.json', 'tokenizer.json'):
            os.symlink(decoder.path(file), os.path.join(out, file))
        run = self.tenfold('quantize', decoder.path('model.onnx'), *flags, '-o', os.path.join(out, 'model.onnx'))
        return out, run.stdout

    def judged(self, decoder, folder):
        """ONNX Runtime's greedy tokens and logits."""
        original, decoder.folder = decoder.folder, folder
        try:
            return Stepwise(decoder).greedy(ids_of(TEXTS[0]), 12)
        finally:
            decoder.folder = original

    def test_matmul_nbits(self):
        texts = self.write('t.txt', '\n'.join(TEXTS).encode())
        for kind, form in (('llama', 'concat'), ('gpt2', 'sliced')):
            with self.subTest(kind):
                decoder = OnnxDecoder(self.path(kind), kind, form, width=48, wide=96)
                errors = {}
                _, expected = self.judged(decoder, decoder.folder)
                for method, flags in (('nearest', ()), ('gptq', ('--data=' + texts, '--tokenizer=' + decoder.folder))):
                    out, said = self.quantized(decoder, f'{kind} {method}', '--weights=int4:g16', *flags)
                    self.assertIn('weights: by ' + ('nearest' if method == 'nearest' else ''), said)
                    kinds = collections.Counter(n.op_type for n in onnx.load(os.path.join(out, 'model.onnx')).graph.node)
                    self.assertEqual(kinds['MatMulNBits'], 13 if kind == 'gpt2' else 22)
                    self.assertEqual(kinds['MatMul'], 6 if kind == 'gpt2' else 12)   # those of attention, and of rotation
                    tokens, logits = self.judged(decoder, out)
                    errors[method] = np.linalg.norm(logits[0] - expected[0]) / np.linalg.norm(expected[0])
                    run = self.tenfold('generate', out, *EXACT, '--prompt=' + TEXTS[0], '--maxTokens=12', '--ignoreEnd', '--json')
                    self.assertEqual(json.loads(run.stdout)['ids'], tokens)
                self.assertLess(errors['gptq'], errors['nearest'])
                self.assertIn('on 30 other samples', said)

    def test_evaluation(self):
        """Perplexity and divergence of ONNX files, too."""
        texts = self.write('t.txt', '\n'.join(TEXTS).encode())
        decoder = OnnxDecoder(self.path('m'), 'llama', 'concat', width=48, wide=96)
        out, _ = self.quantized(decoder, 'q', '--weights=int8:g16')
        said = json.loads(self.tenfold('generate', out, *EXACT, '--quiet', '--evaluate=' + texts, '--reference=' + decoder.folder,
                                       '--json').stdout)
        losses = []
        for text in TEXTS:
            ids, x = ids_of(text), decoder.logits(ids_of(text))
            x = x - x.max(-1, keepdims=True)
            losses.extend(np.log(np.exp(x).sum(-1))[:-1] - x[np.arange(len(ids) - 1), ids[1:]])
        self.assertAlmostEqual(said['reference_perplexity'] / np.exp(np.mean(losses)), 1, delta=1e-4)
        self.assertEqual(said['tokens'], len(losses))
        self.assertLess(said['kl_divergence'], 0.01)

    def test_refusals(self):
        decoder = OnnxDecoder(self.path('m'), 'llama', 'grouped', width=48, wide=96)
        texts = self.write('t.txt', '\n'.join(TEXTS).encode())
        words = ('quantize', decoder.path('model.onnx'), '-o', self.path('q.onnx'))
        for code, pattern, flags in ((2, "--weights of an ONNX file is 'int4'; int4:gN", ('--weights=int4',)),
                                     (2, 'leave --nbits, --type and --group out', ('--weights=int4:g16', '--nbits=4')),
                                     (2, 'powers of two from 16 on', ('--weights=int4:g48',)),
                                     (1, "texts cannot be input 'past_key_values.0.key'",   # its file does not say how large heads are
                                      ('--weights=int4:g16', '--data=' + texts, '--tokenizer=' + decoder.folder))):
            with self.subTest(pattern):
                self.assertIn(pattern, self.tenfold(*words, *flags, code=code).stderr)
                self.assertFalse(os.path.exists(self.path('q.onnx')))


if __name__ == '__main__':
    cli_case.main()
