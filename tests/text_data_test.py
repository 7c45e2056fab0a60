#!/usr/bin/env python3
"""Texts as samples: text_data_test.py TENFOLD. --dumpSamples shows what the model is given, beside ids that are counted by hand."""

import json

import cli_case
from cli_case import CliCase, FLOAT, helper, np, numpy_helper, save_model
from onnx import TensorProto

WORDS = {'?': 0, '[A]': 1, '[B]': 2, 'good': 3, 'morning': 4, ',': 5, 'bad': 6}
TOKENIZER = {
    'model': {'type': 'WordPiece', 'unk_token': '?', 'vocab': WORDS},
    'normalizer': {'type': 'BertNormalizer'}, 'pre_tokenizer': {'type': 'BertPreTokenizer'},
    'post_processor': {'type': 'BertProcessing', 'cls': ['[A]', 1], 'sep': ['[B]', 2]},
}


class TextData(CliCase):
    def setUp(self):
        super().setUp()
        self.tokenizer = self.write('tokenizer.json', json.dumps(TOKENIZER).encode())
        self.model = self.encoder(['batch', 'tokens'])

    def encoder(self, shape, kind=TensorProto.INT64, name='input_ids'):
        """Rows of a table, in f32, times a matrix: a product that 8 bits could stand for."""
        random = np.random.default_rng(2)
        sizes = {'table': (7, 16), 'w': (16, 16)}
        weights = [numpy_helper.from_array(random.standard_normal(s).astype(np.float32), n) for n, s in sizes.items()]
        nodes = [helper.make_node('Gather', ['table', name], ['rows']), helper.make_node('MatMul', ['rows', 'w'], ['y']),
                 helper.make_node('Cast', ['attention_mask'], ['mask'], to=FLOAT)]
        return save_model(self.path('encoder.onnx'), nodes, [(name, kind, shape), ('attention_mask', kind, shape)],
                          [('y', FLOAT, [*shape, 16]), ('mask', FLOAT, shape)], weights)

    def ids(self, path, count, *flags):
        """The ids and masks of `count` samples, of which each fills the model's shape."""
        out = self.path('samples.npz')
        self.tenfold('exec', f'--onnx={self.model}', '--int8', f'--data={path}', f'--tokenizer={self.tokenizer}', f'--dumpSamples={out}',
                     '--calibrator=minmax', f'--samples={count}', '--buildOnly', *flags, *cli_case.ONCE)
        with np.load(out) as arrays:
            return arrays['input_ids'], arrays['attention_mask']

    def test_columns_and_lines(self):
        table = self.write('t.csv', b'id,text,"a ""name"""\r\n1,"Good, morning",x\r\n2,"bad\nbad",\r\n\r\n3,good night,z\n4,,z\n')
        expected = [[1, 3, 5, 4, 2, 0], [1, 6, 6, 2, 0, 0], [1, 3, 0, 2, 0, 0], [1, 2, 0, 0, 0, 0]]
        self.model = self.encoder([1, 6])
        for path in (f'{table}:text', self.write('t.txt', b'Good, morning\r\nbad bad\n\ngood night\ngood')):
            ids, mask = self.ids(path, 4)
            if path.endswith('.txt'):
                expected[3] = [1, 3, 2, 0, 0, 0]
            np.testing.assert_array_equal(ids, expected)
            np.testing.assert_array_equal(mask, (np.cumsum(np.array(expected)[:, ::-1] != 0, axis=1)[:, ::-1] > 0).astype(int))
        self.assertEqual(self.ids(f"{self.write('n.csv', b'good,bad')}:1", 1)[0].tolist(), [[1, 6, 2, 0, 0, 0]])

    def test_types_and_batches(self):
        self.model = self.encoder([2, 3], TensorProto.INT32)
        ids, mask = self.ids(self.write('t.txt', b'good\nbad, bad\nbad\ngood\nleft over'), 2)
        self.assertEqual(ids.dtype, np.int32)
        self.assertEqual(ids.tolist(), [[1, 3, 2], [1, 6, 2], [1, 6, 2], [1, 3, 2]])   # the second text is cut

    def test_lengths_of_their_own(self):
        texts = self.write('t.txt', b'good\ngood morning\nbad, bad\n' * 20)
        shapes = [f'--{which}Shapes=input_ids:1x{n},attention_mask:1x{n}' for which, n in (('min', 3), ('opt', 4), ('max', 5))]
        done = self.tenfold('exec', f'--onnx={self.model}', '--int8', f'--data={texts}', f'--tokenizer={self.tokenizer}', *shapes,
                            '--buildOnly', *cli_case.ONCE)
        self.assertIn('on 30 other samples', done.stdout + done.stderr)

    def test_the_run_takes_the_first_sample(self):
        """Random ids would lie outside of the table; those of the sample are repeated to the run's shape."""
        texts, out = self.write('t.txt', b'good\ngood morning\n'), self.path('y.npz')
        shape = 'input_ids:2x5,attention_mask:2x5'
        done = self.tenfold('exec', f'--onnx={self.model}', '--int8', f'--data={texts}', f'--tokenizer={self.tokenizer}', '--noTF32',
                            f'--minShapes={shape.replace("2x5", "1x1")}', f'--optShapes={shape}', f'--maxShapes={shape}',
                            f'--exportOutput={out}', '--verbose', *cli_case.ONCE)
        self.assertIn("Input 'input_ids': i64[2x5], the first sample of --data, repeated or cut to this shape", done.stdout + done.stderr)
        with np.load(out) as arrays:
            y = arrays['y']
        for row in (y[0, :3], y[0, 3:], y[1, :3]):   # [A] good [B] [A] good, twice
            np.testing.assert_array_equal(row, y[0, :len(row)])
        self.assertGreater(np.abs(y[0, 0] - y[0, 1]).max(), 0.1)

    def test_what_is_wrong(self):
        texts, table = self.write('t.txt', b'good\n'), self.write('t.csv', b'a,b\n"x,1\n')
        short = self.write('s.csv', b'a,b\nx')
        other = self.write('other.json', json.dumps({'model': {'type': 'Other'}}).encode())
        start = ['exec', f'--onnx={self.model}', '--int8']
        tokenizer = f'--tokenizer={self.tokenizer}'
        for code, words, flags in (
            (2, '--tokenizer=tokenizer.json', [f'--data={texts}']),
            (2, '--tokenizer is for texts', [tokenizer]),
            (2, 'which column', [f'--data={table}', tokenizer]),
            (1, 'the quote of line 2 is not closed', [f'--data={table}:a', tokenizer]),
            (1, "no column 'c'; its titles are a, b", [f"--data={self.write('r.csv', b'a,b')}:c", tokenizer]),
            (1, 'line 2 has 1 fields', [f'--data={short}:b', tokenizer]),
            (1, 'there is no text', [f"--data={self.write('e.txt', b'')}", tokenizer]),
            (1, 'cannot be read', [f'--data={texts}', f"--tokenizer={self.path('none')}"]),
            (3, "'Other' is not supported", [f'--data={texts}', f'--tokenizer={other}']),
            (1, "u.txt' (from 0 on): the text is no UTF-8 at byte 1", [f"--data={self.write('u.txt', b'x' + bytes([255]))}", tokenizer]),
            (2, '--image is for photographs', [f'--data={texts}', tokenizer, '--image=crop:2']),
        ):
            self.refused(code, words, *start, *flags)
        for shape, kind, name, words in (([1, 2, 3], TensorProto.INT64, 'input_ids', 'not [batch, tokens]'),
                                         ([1, 6], TensorProto.INT64, 'other', "cannot be input 'other'")):
            self.model = self.encoder(shape, kind, name)
            self.refused(1, words, 'exec', f'--onnx={self.model}', '--int8', f'--data={texts}', tokenizer)


if __name__ == '__main__':
    cli_case.main()
