"""tenfold.Tokenizer: arrays, pairs, batches, decoding, and what is wrong with a text."""
import json
import unittest

import numpy as np

import tenfold

SPEC = {'model': {'type': 'BPE', 'unk_token': '?', 'vocab': {'?': 0, 'a': 1, 'b': 2, 'ab': 3, '[A]': 4}, 'merges': ['a b']},
        'pre_tokenizer': {'type': 'WhitespaceSplit'}, 'added_tokens': [{'id': 4, 'content': '[A]', 'special': True}],
        'post_processor': {'type': 'BertProcessing', 'cls': ['[A]', 4], 'sep': ['[A]', 4]}}


class TokenizerTest(unittest.TestCase):
    def setUp(self):
        self.tokenizer = tenfold.Tokenizer.from_str(json.dumps(SPEC))

    def test_encodes(self):
        e = self.tokenizer.encode('ab \u00e9b')
        np.testing.assert_array_equal(e.ids, np.int32([4, 3, 0, 2, 4]))
        self.assertEqual(e.ids.dtype, np.int32)
        np.testing.assert_array_equal(e.offsets, [[0, 0], [0, 2], [3, 4], [4, 5], [0, 0]])
        np.testing.assert_array_equal(self.tokenizer.encode('a', 'b').types, [0, 0, 0, 1, 1])
        np.testing.assert_array_equal(self.tokenizer.encode('a', special_tokens=False).ids, [1])

    def test_batches(self):
        ids, mask, types = self.tokenizer.encode_batch(['ab', '', 'a b a'])
        np.testing.assert_array_equal(ids, [[4, 3, 4, 0, 0], [4, 4, 0, 0, 0], [4, 1, 2, 1, 4]])
        np.testing.assert_array_equal(mask.sum(1), [3, 2, 5])
        self.assertEqual(types.shape, (3, 5))
        self.assertEqual(self.tokenizer.encode_batch([]).ids.shape[0], 0)
        texts = [f'ab {i} b' for i in range(30000)]
        np.testing.assert_array_equal(self.tokenizer.encode_batch(texts, threads=1).ids, self.tokenizer.encode_batch(texts, threads=3).ids)

    def test_decodes(self):
        self.assertEqual(self.tokenizer.decode([4, 3, 2, 4]), 'ab b')
        self.assertEqual(self.tokenizer.decode(np.int64([4, 3]), skip_special_tokens=False), '[A] ab')
        self.assertEqual((self.tokenizer.id('ab'), self.tokenizer.id('x'), self.tokenizer.token(2), len(self.tokenizer)), (3, None, 'b', 5))

    def test_truncates_and_pads(self):
        self.tokenizer.truncate(3)
        self.tokenizer.pad(4)
        np.testing.assert_array_equal(self.tokenizer.encode('a b a').ids, [4, 1, 4, 0])

    def test_refuses(self):
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'U\\+D800.* at 2'):
            self.tokenizer.encode('ab\ud800')
        for wrong in (None, b'ab', 3):
            with self.assertRaises(TypeError):
                self.tokenizer.encode(wrong)
        with self.assertRaises(TypeError):
            self.tokenizer.encode_batch('ab')
        with self.assertRaisesRegex(tenfold.FileError, 'nowhere'):
            tenfold.Tokenizer('/nowhere')


if __name__ == '__main__':
    unittest.main()
