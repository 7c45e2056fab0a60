#!/usr/bin/env python3
"""tenfold generate: generate_test.py TENFOLD. Texts beside NumPy's greedy tokens; forms of output; refusals; Ctrl-C."""

import json
import os
import signal
import subprocess
import sys

import cli_case
from cli_case import CliCase

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'python', 'tests'))
from decoders_case import WORDS, RandomDecoder  # noqa: E402

QUICK = ('--noPlanCache', '--builderOptimizationLevel=0', '--threads=1', '--precision=fp32')
PROMPT = 'the cat sat on a mat'
IDS = [WORDS.index(word) for word in PROMPT.split()]


class Generate(CliCase):
    def setUp(self):
        super().setUp()
        self.decoder = RandomDecoder(self.path('gpt2'), 'gpt2')

    def generate(self, *flags, **options):
        return self.tenfold('generate', self.decoder.folder, *QUICK, *flags, **options)

    def test_forms(self):
        expected = self.decoder.greedy(IDS, 12)
        result = json.loads(self.generate('--prompt=' + PROMPT, '--maxTokens=12', '--ignoreEnd', '--json').stdout)
        self.assertEqual((result['ids'], result['finish'], result['prompt_tokens']), (expected, 'max_tokens', len(IDS)))
        plain = self.generate('--prompt=' + PROMPT, '--maxTokens=12', '--ignoreEnd')
        self.assertEqual(plain.stdout, result['text'] + '\n')
        self.assertRegex(plain.stderr, r'prompt: 6 tokens in .* tokens/s; new: 12 tokens, .* ended: max_tokens')
        file = self.write('p.txt', PROMPT.encode())
        self.assertEqual(self.generate('--promptFile=' + file, '--maxTokens=12', '--ignoreEnd', '--quiet').stdout, plain.stdout)

    def test_several_texts_at_once(self):
        lines = self.generate('--prompt=' + PROMPT, '--prompt=yes', '--maxTokens=9', '--ignoreEnd', '--json').stdout.splitlines()
        self.assertEqual([json.loads(line)['ids'] for line in lines],
                         [self.decoder.greedy(ids, 9) for ids in (IDS, [WORDS.index('yes')])])

    def test_sampling_by_seeds(self):
        def drawn(seed):
            return self.generate('--prompt=yes', '--maxTokens=9', '--temperature=9', f'--seed={seed}', '--quiet').stdout
        self.assertEqual(drawn(1), drawn(1))
        self.assertNotEqual(drawn(1), drawn(2))

    def test_benchmark(self):
        said = json.loads(self.generate('--benchmark', '--promptTokens=9', '--maxTokens=5', '--iterations=1', '--json').stdout)
        self.assertGreater(min(said['prompt_ms'], said['step_ms'], said['weight_bytes']), 0)
        self.assertRegex(self.generate('--benchmark', '--promptTokens=9', '--maxTokens=5').stdout, 'prompt of 9: .* 5 steps behind it')

    def test_narrow_weights(self):
        """Rounded as they are read, and from a folder that tenfold quantize writes: int8 of these weights changes no token."""
        llama, out = RandomDecoder(self.path('llama'), 'llama', width=48, wide=96), self.path('out')
        flags = ('--prompt=' + PROMPT, '--maxTokens=9', '--ignoreEnd', '--json')
        expected = llama.greedy(IDS, 9)
        rounded = self.tenfold('generate', llama.folder, *QUICK, *flags, '--weights=int8:g16').stdout
        self.assertEqual(json.loads(rounded)['ids'], expected)
        said = self.tenfold('quantize', llama.folder, '--weights=int8:g16', '-o', out).stdout
        self.assertRegex(said, r'model.layers.2.mlp.up_proj +relative error 0\.00')
        self.assertIn(f'21 layers have weights of int8:g16 in {out}\n', said)
        self.assertEqual(json.loads(self.tenfold('generate', out, *QUICK, *flags).stdout)['ids'], expected)
        for pattern, words in (("weights is 'int3'", ('generate', llama.folder, '--prompt=a', '--weights=int3')),
                               ('-o OUT', ('quantize', llama.folder, '--weights=int4')),
                               ('with --weights=int4:g32, that of a language model is rounded', ('quantize', llama.folder, '-o', out)),
                               ('--samples=3 is for ONNX files', ('quantize', llama.folder, '--weights=int4', '--samples=3', '-o', out))):
            with self.subTest(pattern):
                self.assertIn(pattern, self.tenfold(*words, code=2).stderr)
        self.assertIn('exists', self.tenfold('quantize', llama.folder, '--weights=int4', '-o', out, code=1).stderr)

    def test_refusals(self):
        for pattern, flags in (('Give --prompt=TEXT', ()), ('leave --prompt', ('--benchmark', '--prompt=a')),
                               ("--precision is 'fp4'", ('--prompt=a', '--precision=fp4')),
                               ('--maxTokens takes at least 0', ('--prompt=a', '--maxTokens=-1')),
                               ('top_p is 2', ('--prompt=a', '--topP=2')), ('has no tokens', ('--prompt=',)),
                               ('has 64 tokens at most', ('--benchmark', '--promptTokens=60', '--maxTokens=5')),
                               ('max_length is 65', ('--prompt=a', '--maxLength=65'))):
            with self.subTest(pattern):
                run = self.generate(*flags, code=2)
                self.assertIn(pattern, run.stderr)
                self.assertEqual(run.stdout, '')
        self.assertIn('is no folder', self.tenfold('generate', self.path('none'), '--prompt=a', code=1).stderr)

    def test_ctrl_c_keeps_what_there_is(self):
        decoder = RandomDecoder(self.path('long'), 'llama')
        decoder.save('config.json', {**decoder.config, 'max_position_embeddings': 1 << 20})
        words = ['generate', decoder.folder, *QUICK, '--prompt=yes', '--ignoreEnd', '--maxLength=1000000', '--maxTokens=900000',
                 '--promptChunk=8']
        run = subprocess.Popen([cli_case.TENFOLD, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = run.stdout.read(20)   # it writes as it goes
        run.send_signal(signal.SIGINT)
        rest, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT, errors)
        self.assertTrue((first + rest).endswith(b'\n'))
        self.assertIn(b'ended: cancelled', errors)


if __name__ == '__main__':
    cli_case.main()
