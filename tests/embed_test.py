#!/usr/bin/env python3
"""tenfold embed: embed_test.py TENFOLD. Vectors beside NumPy's; forms of files; a run that goes on where one was killed."""

import json
import os
import subprocess
import sys

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

    def test_resume_gives_the_same_bytes(self):
        texts = self.write('t.txt', b''.join(b'red %s\n' % (b'fine ' * (i % 7)) for i in range(9000)))
        for kind in ('npy', 'jsonl'):
            self.embed(texts, f'whole.{kind}')
            with open(self.path(f'whole.{kind}'), 'rb') as file:
                whole = file.read()
            cut = len(whole) * 3 // 4
            how = '\n'.join([self.encoder.folder, texts, '', '', 'fp32', 'cpu', str(WIDTH), '40', '0', ''])
            self.write(f'again.{kind}.part', whole[:cut])
            self.write(f'again.{kind}.part.how', how.encode())
            self.assertRegex(self.embed(texts, f'again.{kind}', '--resume').stdout, '^9000 vectors .* 4904 texts')
            with open(self.path(f'again.{kind}'), 'rb') as file:
                self.assertEqual(file.read(), whole)
            self.assertFalse(os.path.exists(self.path(f'again.{kind}.part')))

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
        texts = self.write('t.txt', b'fine\n' * 5000 + b'\xff\n')
        done = self.run_embed('exec "$0" embed "$@"', texts)   # what was written stays, for --resume
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('behind the first 4096 texts: text 904', done.stderr)

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
        ):
            self.refused(code, words, 'embed', *arguments, *(QUICK if len(arguments) > 1 else ()))


if __name__ == '__main__':
    cli_case.main()
