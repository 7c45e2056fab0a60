#!/usr/bin/env python3
"""tenfold embed: embed_test.py TENFOLD. Vectors beside NumPy's; forms of files; a run that goes on where one was killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import cli_case
from cli_case import CliCase, np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'python', 'tests'))
from embeddings_case import TOKENS, WIDTH, RandomEncoder  # noqa: E402

QUICK = ('--noPlanCache', '--builderOptimizationLevel=0', '--threads=1', '--quiet')
TEXTS = ['how are you', 'fine', '', 'red, "blue"']


class Embed(CliCase):
    def setUp(self):
        super().setUp()
        self.encoder = RandomEncoder(self.path('bert'), 'bert')

    def embed(self, source, out, *flags):
        return self.tenfold('embed', self.encoder.folder, source, self.path(out), *QUICK, *flags)

    def test_forms(self):
        lines = self.write('t.txt', '\n'.join(TEXTS).encode())
        self.assertIn(f'4 vectors of {WIDTH}', self.embed(lines, 'a.npy').stdout)
        rows = np.load(self.path('a.npy'))
        ids = [0, *(TOKENS.index(word) for word in TEXTS[0].split()), 2]
        np.testing.assert_allclose(rows[0], self.encoder.tokens(ids, [0] * len(ids)).mean(0), atol=2e-5)
        table = self.write('t.csv', b'id,body\n1,how are you\n2,fine\n3,\n4,"red, ""blue"""\n')
        objects = self.write('t.jsonl', b'\n'.join(json.dumps({'text': t}).encode() for t in TEXTS) + b'\n')
        self.embed(table, 'b.fvecs', '--column=body')
        packed = np.fromfile(self.path('b.fvecs'), '<i4').reshape(4, WIDTH + 1)
        np.testing.assert_array_equal(packed[:, 0], WIDTH)
        np.testing.assert_array_equal(packed[:, 1:].view('<f4'), rows)
        self.embed(objects, 'c.jsonl')
        with open(self.path('c.jsonl')) as file:
            np.testing.assert_array_equal(np.float32([json.loads(line)['embedding'] for line in file]), rows)

    def many(self, name, count):
        return self.write(name, b''.join(b'red %s%s\n' % (b'fine ' * (i % 7), TOKENS[4 + i % 5].encode()) for i in range(count)))

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def killed(self, texts, out, rows):
        """Leaves OUT.part as a run does that is killed behind its last whole window: its input is a pipe that stays open."""
        pipe = self.path('pipe')
        os.mkfifo(pipe)
        run = subprocess.Popen([cli_case.TENFOLD, 'embed', self.encoder.folder, pipe, self.path(out), *QUICK], stdout=subprocess.DEVNULL)
        with open(pipe, 'wb') as end:
            end.write(self.read(texts)[:-100])   # not the end: the run would wait for more
            end.flush()
            until = time.time() + 60
            while not (os.path.exists(self.path(out + '.part.how')) and self.read(out + '.part.how').count(b'\n%d ' % rows)):
                self.assertLess(time.time(), until, 'no window was written')
                time.sleep(0.05)
            run.kill()
            run.wait()
        os.unlink(pipe)

    def test_resume_gives_the_same_bytes(self):
        texts = self.many('t.txt', 30000)
        for kind in ('npy', 'jsonl', 'fvecs'):
            self.embed(texts, f'whole.{kind}')
            self.killed('t.txt', f'again.{kind}', 27648)
            with open(self.path(f'again.{kind}.part'), 'ab') as file:
                file.write(b'half a row')
            self.assertRegex(self.embed(texts, f'again.{kind}', '--resume').stdout, '^30000 vectors .* 2352 texts')
            self.assertEqual(self.read(f'again.{kind}'), self.read(f'whole.{kind}'))
            self.assertFalse(os.path.exists(self.path(f'again.{kind}.part')) or os.path.exists(self.path(f'again.{kind}.part.how')))

    def test_resume_refuses_what_is_not_the_same(self):
        texts = self.many('t.txt', 20000)
        self.killed('t.txt', 'o.npy', 19456)
        kept = {name: self.read(name) for name in ('o.npy.part', 'o.npy.part.how')}

        def refused(words, source, *flags):
            self.refused(2, words, 'embed', self.encoder.folder, source, self.path('o.npy'), *QUICK, '--resume', *flags)
            for name, data in kept.items():
                self.assertEqual(self.read(name), data)
        other = self.write('u.txt', self.read('t.txt').replace(b'red fine', b'blue fine', 1))
        refused('the first 19456 texts are not those', other)
        refused('fewer texts', self.many('v.txt', 16000))
        refused('another model, with other flags', texts, '--normalize')
        refused('another model, with other flags', texts, '--precision=bf16')
        with open(os.path.join(self.encoder.folder, 'model.safetensors'), 'r+b') as file:   # the same path, other weights
            file.seek(-4, os.SEEK_END)
            file.write(b'\0\0\0\x3f')
        refused('another model, with other flags', texts)

    def test_a_signal_keeps_what_is_done(self):
        """The run stops at once, says where it was, and ends as the signal ends a process; no window takes long enough to lose much."""
        texts = self.many('t.txt', 200000)
        self.embed(texts, 'whole.npy')
        for number in (signal.SIGINT, signal.SIGTERM):
            run = subprocess.Popen([cli_case.TENFOLD, 'embed', self.encoder.folder, texts, self.path('o.npy'), *QUICK],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            until = time.time() + 60
            while not (os.path.exists(self.path('o.npy.part.how')) and self.read('o.npy.part.how').count(b'\n1024 ')):
                self.assertLess(time.time(), until, 'no window was written')
                time.sleep(0.01)
            run.send_signal(number)
            sent = time.time()
            reported = run.communicate()[1]
            self.assertEqual(run.returncode, -number)
            self.assertLess(time.time() - sent, 2)
            rows = int(re.search(r"the first (\d+) vectors are in '.*o\.npy\.part', and --resume continues", reported)[1])
            self.assertGreaterEqual(rows, 1024)
            self.assertLess(rows, 200000)
            self.assertEqual(int(self.read('o.npy.part.how').split(b'\n')[-2].split()[0]), rows)
            self.assertRegex(self.embed(texts, 'o.npy', '--resume').stdout, f'^200000 vectors .* {200000 - rows} texts')
            self.assertEqual(self.read('o.npy'), self.read('whole.npy'))

    def test_a_signal_while_nothing_comes(self):
        """The input is a pipe that stays open."""
        os.mkfifo(self.path('pipe'))
        run = subprocess.Popen([cli_case.TENFOLD, 'embed', self.encoder.folder, self.path('pipe'), self.path('o.npy'), *QUICK],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        with open(self.path('pipe'), 'wb') as end:
            end.write(b'fine\n')
            end.flush()
            time.sleep(2)   # it may be building its engine still, which the signal ends just so
            run.send_signal(signal.SIGINT)
            reported = run.communicate(timeout=20)[1]
        self.assertEqual(run.returncode, -signal.SIGINT)
        self.assertIn('stopped before the first vectors were there', reported)
        self.assertFalse(os.path.exists(self.path('o.npy.part')))

    def test_resume_says_that_there_is_nothing_to_go_on_with(self):
        texts = self.write('t.txt', b'fine\n')
        self.assertIn("no '" + self.path('o.npy') + ".part' with vectors", self.embed(texts, 'o.npy', '--resume').stderr)
        self.assertNotIn('.part', self.embed(texts, 'o.npy').stderr)

    def test_int8_by_texts_of_any_length(self):
        """Longer than 64 tokens, among those that give ranges and those that check; vectors beside those of fp32."""
        self.encoder = RandomEncoder(self.path('long'), 'bert', places=140)
        long = [' '.join(TOKENS[4 + (i * k) % 5] for k in range(1, n)) for i, n in enumerate((3, 70, 12, 100, 130, 6) * 10)]
        texts = self.write('t.txt', '\n'.join(long).encode())
        self.embed(texts, 'wide.npy')
        done = self.embed(texts, 'o.npy', '--precision=int8', '--minCosine=0.8')
        self.assertIn(' in int8 ', done.stdout)
        self.assertNotIn('is not known', done.stderr)
        wide, narrow = np.load(self.path('wide.npy')), np.load(self.path('o.npy'))
        cosines = (wide * narrow).sum(1) / np.linalg.norm(wide, axis=1) / np.linalg.norm(narrow, axis=1)
        self.assertGreater(cosines.mean(), 0.8)
        self.assertLess(cosines.mean(), 0.999999, 'these are the vectors of fp32')

    def test_long_lines(self):
        long = [b'red ' * 20000, b'x' * 65535, b'x' * 65536, b'', b'fine\0 how', b'red' * 70000]   # around the reader's pieces
        for end in (b'', b'\n'):
            self.embed(self.write('t.txt', b'\n'.join(long) + end), 'o.npy')
            self.assertEqual(len(np.load(self.path('o.npy'))), 6)
        with open(self.path('huge.txt'), 'wb') as file:
            file.write(b'fine\n')
            file.truncate(100 << 20)
        self.write('quote.csv', b'a,b\n1,"' + b'red\n' * (17 << 20))
        for name, *flags in (('huge.txt',), ('quote.csv', '--column=b')):
            arguments = (self.encoder.folder, self.path(name), self.path('p.npy'), *QUICK, *flags)
            self.refused(1, 'is a text of more than 64 MiB', 'embed', *arguments)

    def test_devices(self):
        texts = self.many('t.txt', 3000)
        self.embed(texts, 'one.npy')
        first = min(os.sched_getaffinity(0))
        for devices, strategy in (('cpu,cpu', 'auto'), (f'cpu:{first},cpu', 'round_robin'), ('cpu,cpu,cpu', 'utilization'),
                                  (f'cpu:{first}', 'memory'), (f'cpu,cpu:{first}', 'pipeline')):
            reported = self.embed(texts, 'more.npy', f'--device={devices}', f'--strategy={strategy}').stdout
            self.assertIn(f'on {devices.replace(",", ", ")} in fp32', reported)
            np.testing.assert_allclose(np.load(self.path('more.npy')), np.load(self.path('one.npy')), atol=1e-5)

    def test_int8_only_where_it_is_near(self):
        texts = self.many('t.txt', 600)
        self.embed(texts, 'wide.npy')
        wide = np.load(self.path('wide.npy'))
        reported = self.embed(texts, 'o.npy', '--precision=int8', '--minCosine=0.9').stdout
        narrow = np.load(self.path('o.npy'))
        cosines = (wide * narrow).sum(1) / np.linalg.norm(wide, axis=1) / np.linalg.norm(narrow, axis=1)
        self.assertRegex(reported, r"in int8 \(int8's cosine is 0\.9\d+\)")
        self.assertGreater(cosines.mean(), 0.9)
        self.assertLess(cosines.mean(), 0.999999, 'these are the vectors of fp32')
        run = self.tenfold('embed', self.encoder.folder, texts, self.path('p.npy'), *QUICK, '--precision=int8', '--minCosine=1')
        self.assertNotIn('in int8 ', run.stdout)
        self.assertIn('int8 is not accurate enough', run.stderr + run.stdout)
        np.testing.assert_allclose(np.load(self.path('p.npy')), wide, atol=0.05)

    def test_benchmark(self):
        texts = self.many('t.txt', 50)
        flags = ('--benchmark', '--batchSizes=4,1', '--iterations=5', f'--exportJson={self.path("b.json")}')
        reported = self.tenfold('embed', self.encoder.folder, texts, *QUICK, *flags).stdout.splitlines()
        self.assertEqual([line.split()[:2] for line in reported[2:]], [['fp32', '4'], ['fp32', '1']])
        with open(self.path('b.json')) as file:
            results = json.load(file)
        four = results['batch_sizes']['4']
        self.assertEqual(four['iterations'], 5)
        self.assertAlmostEqual(four['throughput_samples_per_second'] * four['mean_latency_ms'] / 4000, 1, places=6)
        self.assertGreater(four['tokens_per_second'], 2 * four['throughput_samples_per_second'])
        self.assertGreaterEqual(four['p99_latency_ms'], four['median_latency_ms'])
        self.assertEqual(results['single_query'], results['batch_sizes']['1'])
        built_in = self.tenfold('embed', self.encoder.folder, *QUICK, '--benchmark', '--iterations=1', '--batchSizes=2')
        self.assertIn('10 texts', built_in.stdout)

    def run_embed(self, command, texts):
        return subprocess.run(['bash', '-c', command, cli_case.TENFOLD, self.encoder.folder, texts, self.path('o.npy'), *QUICK],
                              capture_output=True, text=True)

    def test_the_folders_dimensions(self):
        lines = self.write('t.txt', '\n'.join(TEXTS).encode())
        self.embed(lines, 'all.npy')
        self.encoder.save('config_sentence_transformers.json', {'truncate_dim': 5})
        self.assertIn('4 vectors of 5', self.embed(lines, 'cut.npy').stdout)
        np.testing.assert_array_equal(np.load(self.path('cut.npy')), np.load(self.path('all.npy'))[:, :5])

    def test_a_bad_text_far_behind(self):
        texts = self.write('t.txt', b'fine\n' * 17000 + b'\xff\n')
        done = self.run_embed('exec "$0" embed "$@"', texts)   # what was written stays, for --resume
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('after the first 15360 texts: text 1640', done.stderr)

    def test_a_full_disk(self):
        """A file that nobody can write to the end, by a limit on sizes."""
        texts = self.write('t.txt', b'fine\n' * 9000)
        done = self.run_embed('ulimit -f 100; trap "" XFSZ; exec "$0" embed "$@"', texts)
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertIn('cannot write', done.stderr)

    def test_refusals(self):
        texts = self.write('t.txt', b'fine\n')
        model = self.encoder.folder
        for code, words, *arguments in (
            (2, 'MODEL IN OUT, 1 given', model),
            (2, '.npy, .fvecs or .jsonl', model, texts, self.path('o.txt')),
            (2, '--column=NAME is missing', model, self.write('t.csv', b'a\n'), self.path('o.npy')),
            (1, 'no column', model, self.path('t.csv'), self.path('o.npy'), '--column=b'),
            (1, 'neither a JSON string', model, self.write('t.jsonl', b'{"a": 1}\n'), self.path('o.npy')),
            (1, 'no folder', self.path('none'), texts, self.path('o.npy')),
            (2, 'vectors of', model, texts, self.path('o.npy'), '--dimensions=17'),
            (2, 'cpu:0-3 (these processors', model, texts, self.path('o.npy'), '--device=cpu,gpu'),
            (2, 'memory, utilization or pipeline', model, texts, self.path('o.npy'), '--strategy=fastest'),
            (2, 'needs two devices or more', model, texts, self.path('o.npy'), '--strategy=pipeline'),
            (2, 'fp16, bf16, int8 or auto', model, texts, self.path('o.npy'), '--precision=int4'),
            (2, '--precision=int8 and', model, texts, self.path('o.npy'), f'--calibrationTexts={texts}'),
            (2, 'MODEL [IN] with --benchmark', model, texts, self.path('o.npy'), '--benchmark'),
        ):
            self.refused(code, words, 'embed', *arguments, *(QUICK if len(arguments) > 1 else ()))
        os.mkdir(self.path('o.npy.part.how'))
        self.refused(1, 'it is a folder', 'embed', model, texts, self.path('o.npy'), *QUICK)
        self.assertFalse(os.path.exists(self.path('o.npy.part')))


if __name__ == '__main__':
    cli_case.main()
