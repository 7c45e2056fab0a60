#!/usr/bin/env python3
"""tenfold generate: generate_test.py TENFOLD. Texts beside NumPy's greedy tokens; forms of output; refusals; Ctrl-C."""

import json
import os
import signal
import struct
import subprocess
import sys

import cli_case
from cli_case import CliCase

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'python', 'tests'))
from decoders_case import WORDS, RandomDecoder  # noqa: E402
from onnx_decoders_case import OnnxDecoder  # noqa: E402

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

    def test_speculation(self):
        flags = ('--prompt=' + (PROMPT + ' ') * 4, '--maxTokens=30', '--ignoreEnd')
        plain, quick = (json.loads(self.generate(*flags, '--json', *more).stdout) for more in ((), ('--speculate=4',)))
        self.assertEqual((quick['ids'], plain['guessed_tokens']), (plain['ids'], 0))
        self.assertEqual(quick['steps'] + quick['accepted_tokens'], 29)
        self.assertGreaterEqual(quick['guessed_tokens'], quick['accepted_tokens'])
        self.assertGreater(quick['guessed_tokens'], 0)
        self.assertRegex(self.generate(*flags, '--speculate=4').stderr, r'tokens a step \(\d+ of \d+ guessed\)')
        self.assertIn('speculate is 65, 0 to 64 was expected', self.generate(*flags, '--speculate=65', code=2).stderr)

    def test_an_int8_cache(self):
        flags = ('--prompt=' + PROMPT, '--maxTokens=12', '--ignoreEnd', '--json')
        self.decoder.int8_cache = True
        expected = self.decoder.greedy(IDS, 12)
        self.assertEqual(json.loads(self.generate(*flags, '--kvCacheDtype=int8').stdout)['ids'], expected)
        self.assertIn("kv_cache_dtype is 'q8'", self.generate(*flags, '--kvCacheDtype=q8', code=2).stderr)
        texts = self.write('texts.txt', (PROMPT + '\n').encode())
        said = self.generate('--evaluate=' + texts, '--reference=' + self.decoder.folder, '--kvCacheDtype=int8', '--json').stdout
        self.assertGreater(json.loads(said)['kl_divergence'], 0)   # the reference's cache is f32

    def test_an_onnx_file(self):
        decoder = OnnxDecoder(self.path('onnx'), 'gpt2')
        expected = decoder.greedy(IDS, 12)
        for model in (decoder.folder, decoder.path('model.onnx')):
            said = self.tenfold('generate', model, *QUICK, '--prompt=' + PROMPT, '--maxTokens=12', '--ignoreEnd', '--json').stdout
            self.assertEqual(json.loads(said)['ids'], expected)
        os.remove(decoder.path('tokenizer.json'))
        self.assertIn('has no tokenizer', self.tenfold('generate', decoder.folder, '--prompt=a', code=1).stderr)

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

    def test_cache_is_of_the_type_of_products(self):
        """precision=auto is bf16 on CPUs with AMX, and so are keys and values."""
        def cache_bytes(precision):
            flags = ('--benchmark', '--promptTokens=9', '--maxTokens=1', '--iterations=1', '--json', '--precision=' + precision)
            return json.loads(self.generate(*flags).stdout)['cache_bytes']
        self.assertEqual(cache_bytes('bf16') * 2, cache_bytes('fp32'))
        has_amx = 'amxbf16' in self.tenfold('devices').stdout
        self.assertEqual(cache_bytes('auto'), cache_bytes('bf16' if has_amx else 'fp32'))

    def test_chat(self):
        self.decoder.save('tokenizer_config.json', {'chat_template': '{% for m in messages %}{{ m.role | replace("user", "what") '
                                                    '| replace("system", "this") | replace("assistant", "it") }} {{ m.content }} '
                                                    '{% endfor %}{% if add_generation_prompt %}. then{% endif %}'})

        def ids(text):
            return [WORDS.index(word) for word in text.split()]

        def said(prompt, *flags, **options):
            return self.generate(*flags, '--chat', '--maxTokens=5', '--ignoreEnd', '--quiet', **options).stdout

        def expected(text):
            return json.loads(self.generate('--prompt=' + text, '--maxTokens=5', '--ignoreEnd', '--json').stdout)

        whole = expected('this yes no what the cat . then')
        self.assertEqual(whole['ids'], self.decoder.greedy(ids('this yes no what the cat . then'), 5))
        self.assertEqual(said('', '--system=yes no', '--prompt=the cat'), whole['text'] + '\n')
        self.assertEqual(said('', '--message=system:yes no', '--message=user:the cat'), whole['text'] + '\n')
        # Two lines are two turns: the second sees the first answer.
        first = expected('what the cat . then')['text']
        second = expected(f'what the cat it {first} what a dog . then')['text']
        self.assertEqual(said('', input='the cat\n\na dog\n'), f'{first}\n{second}\n')
        other = self.write('other.jinja', b'{{ messages[0].content }} ?')
        self.assertEqual(said('', '--prompt=the cat', '--chatTemplate=' + other), expected('the cat ?')['text'] + '\n')
        loops = self.write('loops.jinja', b'\n{% for i in range(99999) %}{% for i in range(99999) %}{% endfor %}{% endfor %}')
        run = self.generate('--chat', '--prompt=a', '--chatTemplate=' + loops, code=3)
        self.assertEqual(run.stdout, '')
        self.assertRegex(run.stderr, r'line 2: it takes more than \d+ steps: it does not end')
        self.assertEqual(run.stderr.count('line 2'), 1)

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
                               ('--samples and --maxTokens are for --data=TEXTS',
                                ('quantize', llama.folder, '--weights=int4', '--samples=3', '-o', out))):
            with self.subTest(pattern):
                self.assertIn(pattern, self.tenfold(*words, code=2).stderr)
        self.assertIn('exists', self.tenfold('quantize', llama.folder, '--weights=int4', '-o', out, code=1).stderr)

    def test_refusals(self):
        for pattern, flags in (('Give --prompt=TEXT', ()), ('leave --prompt', ('--benchmark', '--prompt=a')),
                               ("--precision is 'fp4'", ('--prompt=a', '--precision=fp4')),
                               ('--maxTokens takes at least 0', ('--prompt=a', '--maxTokens=-1')),
                               ('top_p is 2', ('--prompt=a', '--topP=2')), ('has no tokens', ('--prompt=',)),
                               ("--message is 'hi'; ROLE:TEXT", ('--chat', '--message=hi')),
                               ('give --chat, too', ('--prompt=a', '--system=b')),
                               ('leave --chat out', ('--benchmark', '--chat')), ('has no chat template; give', ('--prompt=a', '--chat')),
                               ('has 64 tokens at most', ('--benchmark', '--promptTokens=60', '--maxTokens=5')),
                               ('max_length is 65', ('--prompt=a', '--maxLength=65'))):
            with self.subTest(pattern):
                run = self.generate(*flags, code=2)
                self.assertIn(pattern, run.stderr)
                self.assertEqual(run.stdout, '')
        self.assertIn('is no folder', self.tenfold('generate', self.path('none'), '--prompt=a', code=1).stderr)

    def test_files_that_are_cut_or_lie(self):
        """One message that names the file, an exit code, nothing on standard output, and no plan."""
        decoder = RandomDecoder(self.path('lies'), 'llama')
        with open(decoder.path('model.safetensors'), 'rb') as file:
            whole = file.read()
        size = struct.unpack('<Q', whole[:8])[0]
        table, body = json.loads(whole[8:8 + size]), whole[8 + size:]
        q, head = 'model.layers.1.self_attn.q_proj.weight', 'lm_head.weight'

        def file_of(**changes):
            """The file with another table: `name` is the tensor, and other keywords are fields of its entry."""
            name = changes.pop('name', q)
            text = json.dumps({**table, name: {**table[name], **changes}}).encode()
            return struct.pack('<Q', len(text)) + text + body

        def without(*names):
            text, left = {}, b''
            for name, entry in table.items():
                if name not in names:
                    data = body[entry['data_offsets'][0]:entry['data_offsets'][1]]
                    text[name] = {**entry, 'data_offsets': [len(left), len(left) + len(data)]}
                    left += data
            text = json.dumps(text).encode()
            return struct.pack('<Q', len(text)) + text + left

        begin, end = table[q]['data_offsets']
        turned = [table[q]['shape'][0] // 2, table[q]['shape'][1] * 2]
        cases = [(3, 'is no safetensors file: it has 0 bytes', b''), (3, 'is no safetensors file: it has 5 bytes', whole[:5]),
                 (3, 'ends after the file', whole[:size // 2]), (3, 'is cut off or was not written whole', whole[:-1]),
                 (3, 'is cut off or was not written whole', whole + b'x'), (3, 'are the most', b'\xff' * 8 + whole[8:]),
                 (3, 'its table', whole[:8] + b'{' * size + body), (3, 'its table', whole[:8] + b'\xff' * size + body),
                 (3, f"'{q}': it takes bytes", file_of(data_offsets=[begin, end - 4])),
                 (3, 'inside the one before it', file_of(data_offsets=[begin - 4, end - 4])),
                 (3, 'more elements than can be counted', file_of(shape=[1 << 40, 1 << 40])),
                 (3, f"'{q}': it takes bytes", file_of(shape=[7])),
                 (3, "'data_offsets' has 1 numbers", file_of(data_offsets=[0])), (3, "'shape' is no list", file_of(shape=[-1, 2])),
                 (3, 'by config.json its shape is', file_of(shape=turned)),
                 (3, 'the type F8_E5M2 is not supported', file_of(dtype='F8_E5M2')),
                 (3, f"no tensor '{q}'", without(q)), (3, 'embed_tokens', without('model.embed_tokens.weight')),
                 (3, 'tie_word_embeddings is false, but the weights have no lm_head', without(head))]
        for code, pattern, data in cases:
            with self.subTest(pattern, size=len(data)):
                with open(decoder.path('model.safetensors'), 'wb') as file:
                    file.write(data)
                run = self.tenfold('generate', decoder.folder, *QUICK[1:], '--planCache=' + self.path('plans'), '--prompt=yes', code=code)
                self.assertIn(pattern, run.stderr)
                self.assertEqual(run.stderr.count('tenfold: '), 1, run.stderr)
                plans = os.listdir(self.path('plans')) if os.path.exists(self.path('plans')) else []
                self.assertEqual((run.stdout, plans), ('', []))
        # Output weights may be those of the embeddings.
        decoder.save('config.json', {**decoder.config, 'tie_word_embeddings': True})
        with open(decoder.path('model.safetensors'), 'wb') as file:
            file.write(without(head))
        self.assertNotEqual(self.tenfold('generate', decoder.folder, *QUICK, '--prompt=yes', '--maxTokens=2', '--ignoreEnd').stdout, '')

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
