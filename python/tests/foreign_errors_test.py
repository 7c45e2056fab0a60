"""Every error that leaves the package is a tenfold.Error: names that are no UTF-8, damaged files, what is out of bounds."""
import unittest

import numpy as np

import case
import tenfold


def renamed(model, name, by):
    """The model's bytes with other ones in the place of a name of the same length, which the package onnx would not write."""
    data = model.SerializeToString()
    assert len(name) == len(by) and name in data
    return data.replace(name, by)


class ForeignErrors(case.Case):
    def test_names_of_a_model_are_utf8(self):
        model = case.model([case.helper.make_node('Tanh', ['iii'], ['ooo'], name='nnn')], [('iii', 1, ['ddd', 2])],
                           [('ooo', 1, ['ddd', 2])])
        for name in (b'iii', b'ooo', b'nnn', b'ddd'):
            for by in (b'\xff\xfe\xfd', b'a\xc3(', b'\xed\xa0\x80'):
                with self.subTest(name=name, by=by):
                    data = renamed(model, name, by)
                    for call in (lambda: tenfold.build(data, **case.QUICK), lambda: tenfold.check(data), lambda: tenfold.bindings(data),
                                 lambda: tenfold.Network.read(data)):
                        with self.assertRaises(tenfold.InvalidModel) as raised:
                            problems = call()
                            if isinstance(problems, list) and problems:   # check() returns them
                                raise tenfold.InvalidModel(str(problems[0]))
                        self.assertIn('is no UTF-8', str(raised.exception))

    def test_damaged_plans_raise_nothing_else(self):
        plan = case.tanh_engine().serialize()
        head = bytes(plan)
        random = np.random.default_rng(3)
        for _ in range(200):
            data = bytearray(head)
            for _ in range(3):
                data[random.integers(len(data))] = 0xff
            try:
                tenfold.load(bytes(data))
            except tenfold.Error:
                pass

    def test_messages_may_quote_any_bytes(self):
        json = '{"model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0}}, "normalizer": {"type": "Replace", "content": "", ' \
               '"pattern": {"Regex": "%s"}}}' % ('\\\\uab\u20ac')   # the message quotes four bytes, which end inside of a character
        with self.assertRaises(tenfold.Unsupported) as raised:
            tenfold.Tokenizer.from_str(json)
        self.assertIn('hexadecimal digits', str(raised.exception))

    def test_a_time_limit_ends_a_build(self):
        with self.assertRaises(tenfold.Cancelled) as raised:
            tenfold.build(case.tanh_model(), time_limit_s=1e-9, **case.QUICK)
        self.assertIn('while reading the model', str(raised.exception))
        with self.assertRaises(tenfold.InvalidArgument):
            tenfold.build(case.tanh_model(), time_limit_s=-1, **case.QUICK)
        tenfold.build(case.tanh_model(), time_limit_s=600, **case.QUICK)

    def test_tokenizers(self):
        vocab = '"model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "a": 1}}'
        for pattern in (r'[\\u', r'\\u', r'\\p', '(?', '[', r'[[:'):
            with self.subTest(pattern=pattern):
                json = '{%s, "normalizer": {"type": "Replace", "pattern": {"Regex": "%s"}, "content": ""}}' % (vocab, pattern)
                try:
                    tenfold.Tokenizer.from_str(json).encode('text')
                except tenfold.Error:
                    pass
        rules = ','.join(['{"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaa"}'] * 9)
        tokenizer = tenfold.Tokenizer.from_str('{%s, "normalizer": {"type": "Sequence", "normalizers": [%s]}}' % (vocab, rules))
        with self.assertRaises(tenfold.Unsupported) as raised:
            tokenizer.encode('aaaaaaaaaa')
        self.assertIn('normalizer.normalizers[', str(raised.exception))
        with self.assertRaises(tenfold.InvalidModel):
            tenfold.Tokenizer.from_str('[' * 1_000_000)


if __name__ == '__main__':
    unittest.main()
