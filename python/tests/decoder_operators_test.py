"""Operators of com.microsoft that decoders are exported with, beside ONNX Runtime: heads that share keys, positions, tables of few bits."""
import itertools
import unittest

import numpy as np
from case import TensorProto, helper
from microsoft_case import RANDOM, MicrosoftCase, floats


class DecoderOperators(MicrosoftCase):
    def attend(self, batch, rows, past, heads, shared, size, *, capacity=0, packed=False, turned=0, lengths=None, bias=False, sink=False,
               **attributes):
        widths = [(heads + 2 * shared) * size] if packed else [heads * size, shared * size, shared * size]
        operands = [(n, floats(batch, rows, w)) for n, w in zip('qkv', widths)]
        operands += [('', None)] * (3 - len(operands))
        operands += [(n, floats(batch, shared, capacity or past, size)) for n in ('past_k', 'past_v')]
        lengths = np.array(lengths or [past + rows] * batch, np.int32)
        operands += [('lengths', lengths - 1), ('longest', np.array(lengths.max()))]
        operands += [(n, floats(64, turned // 2) if turned else None) for n in ('cosines', 'sines')] + [('', None)]
        operands += [('bias', floats(1, heads, rows, past + rows) if bias else None), ('sink', floats(heads) if sink else None)]
        if turned:
            attributes['do_rotary'] = 1

        def valid(i, result):   # behind the length of a sentence anything may stand
            ends = lengths if i else np.minimum(lengths, rows)
            return np.concatenate([(result[b, :, :end] if i else result[b, :end]).ravel() for b, end in enumerate(ends)])

        while operands[-1][1] is None:
            operands.pop()
        self.compare('GroupQueryAttention', operands, 3, valid=valid, num_heads=heads, kv_num_heads=shared, **attributes)

    def test_prompts_and_steps(self):
        self.attend(1, 4, 0, 4, 2, 8)
        self.attend(2, 1, 5, 4, 2, 8)
        self.attend(1, 3, 5, 4, 1, 8)
        self.attend(2, 5, 0, 4, 2, 16, packed=True, turned=16)
        self.attend(2, 1, 7, 4, 2, 16, packed=True, turned=16, capacity=20)

    def test_sentences_of_their_own_lengths(self):
        self.attend(2, 1, 9, 4, 2, 16, lengths=[10, 5], capacity=16, turned=16)
        self.attend(2, 4, 0, 4, 2, 16, lengths=[4, 2], turned=16)

    def test_what_changes_scores(self):
        self.attend(1, 6, 0, 4, 2, 8, local_window_size=3)
        self.attend(1, 1, 9, 4, 2, 8, local_window_size=3)
        self.attend(1, 6, 0, 4, 4, 8, softcap=2.0)
        self.attend(2, 1, 6, 4, 2, 8, bias=True)
        self.attend(2, 1, 6, 4, 2, 8, smooth_softmax=1)
        self.attend(2, 4, 0, 4, 2, 8, sink=True)
        self.attend(1, 1, 7, 4, 2, 32, turned=16, rotary_interleaved=1)

    def test_positions(self):
        for shape, positions, half, attributes in (
                ((2, 3, 16), RANDOM.integers(0, 20, (2, 3)), 4, {}), ((2, 3, 16), np.array([3]), 4, {'interleaved': 1}),
                ((2, 2, 3, 8), RANDOM.integers(0, 20, (2, 3)), 4, {}),
                ((1, 3, 16), np.array([3]), 2, {'rotary_embedding_dim': 4, 'num_heads': 2})):
            with self.subTest(shape=shape, **attributes):
                self.compare('RotaryEmbedding', [('x', floats(*shape)), ('p', positions), ('c', floats(32, half)), ('s', floats(32, half))],
                             **attributes)

    def test_tables_of_few_bits(self):
        kinds = (('u8', 8), ('u8', 4), ('u8', 2), ('i4', 4), ('u4', 4))
        for (name, bits), rank, with_zero in itertools.product(kinds, (1, 2), (False, True)):
            with self.subTest(name=name, bits=bits, rank=rank, with_zero=with_zero):
                rows, columns, block = 10, 64, 16
                kind = {'u8': TensorProto.UINT8, 'i4': TensorProto.INT4, 'u4': TensorProto.UINT4}[name]
                bytes_of = lambda count: RANDOM.integers(0, 256, (rows, count * bits // 8)).astype(np.uint8)
                table = lambda n, count: helper.make_tensor(n, kind, [rows, count * bits // 8 if name == 'u8' else count],
                                                            bytes_of(count).tobytes(), raw=True)
                scales = helper.make_tensor('s', TensorProto.FLOAT, [rows, columns // block], np.abs(floats(rows, columns // block)) + 0.1)
                operands = [('t', True), ('i', RANDOM.integers(0, rows, (2, 3)[:rank])), ('s', True)]
                self.compare('GatherBlockQuantized', operands + [('z', True)] * with_zero, gather_axis=0, quantize_axis=1, bits=bits,
                             initializers=[table('t', columns), scales] + [table('z', columns // block)] * with_zero, block_size=block)


if __name__ == '__main__':
    unittest.main()
