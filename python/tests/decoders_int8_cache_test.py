"""Caches of int8 beside NumPy in f64, which rounds keys and values in the same way: every kind, pieces, steps, forks, cuts, batches.

A value between two steps may go to the other one in f32. So single logits may be off by a step's share; the test is that the error
beside the rounded truth is a small part of what rounding changes.
"""
import re
import unittest

import decoders_caches_case
import numpy as np
from case import Case
from decoders_case import KINDS, LAYERS, QUICK, VOCABULARY, RandomDecoder
from onnx_decoders_case import OnnxDecoder

import tenfold

INT8 = {**QUICK, 'kv_cache_dtype': 'int8'}
FORMS = [('gpt2', 'concat'), ('gpt2', 'heads'), ('gpt2', 'attention'), ('llama', 'concat'), ('llama', 'scatter'), ('llama', 'attention'),
         ('llama', 'attention 24'), ('llama', 'grouped'), ('mistral', 'concat'), ('mistral', 'grouped')]
SHARE, MANY_SHARE = 0.02, 0.15   # of what rounding changes, over all; where so many values are rounded that some go to the other step
LIMIT = 0.01                     # of the largest logit, anywhere


def off(got, expected):
    return np.abs(got - expected).max() / np.abs(expected).max()


class Rounded(Case):
    def check_close(self, got, rounded, plain, share=SHARE):
        """Rows of logits beside those of the rounded and of the unrounded cache."""
        errors = np.array([off(row, want) for row, want in zip(got, rounded)])
        changes = np.array([off(row, want) for row, want in zip(plain, rounded)])
        self.assertLess(errors.max(), LIMIT)
        self.assertLess(errors.sum(), share * changes.sum())
        return changes.sum()

    def assert_reads_bytes(self, decoder):
        ops = re.findall(r'^ +\d+  .*?  (\w+)\S*  kernel', decoder.engine.inspect(), re.M)
        self.assertEqual((ops.count('AttentionInt8Cache'), ops.count('DequantizeLinear')), (2 * LAYERS, 0))

    def logits(self, truth, ids):
        truth.int8_cache = False
        plain = truth.logits(ids)
        truth.int8_cache = True
        return truth.logits(ids), plain

    def session_logits(self, decoder, ids, borders):
        session = decoder.start()
        return [session.append([ids[first:last]])[0] for first, last in zip(borders, borders[1:])]


class Truth(Rounded):
    def check(self, truth, decoder):
        places = decoder.info.max_length
        ids = np.random.default_rng(1).integers(0, VOCABULARY, places).tolist()
        borders = [0, 7, *range(8, 12), 20, *range(21, places + 1)]
        rounded, plain = self.logits(truth, ids)
        at = [last - 1 for last in borders[1:]]
        self.assertGreater(self.check_close(self.session_logits(decoder, ids, borders), rounded[at], plain[at]), 0)

    def test_every_kind(self):
        for kind in KINDS:
            with self.subTest(kind):
                truth = RandomDecoder(self.path(kind.replace(' ', '_')), kind)
                decoder = tenfold.Decoder(truth.folder, **INT8, prompt_chunk=16)
                self.assertEqual(decoder.info.kv_cache_dtype, 'int8')
                self.assertEqual(decoder.info.cache_bytes, 2 * LAYERS * truth.shared * 64 * (truth.size + 4))
                self.check(truth, decoder)

    def test_long_heads_and_contexts(self):
        """Several blocks of keys, heads that fill vectors and end inside of one, prompts that fill the kernel's tiles."""
        for size in (64, 72):
            with self.subTest(size=size):
                truth = RandomDecoder(self.path(f'long{size}'), dict(model_type='llama', heads=4, shared=2, head_dim=size), places=400)
                decoder = tenfold.Decoder(truth.folder, **INT8, speculate=4)
                ids = np.random.default_rng(2).integers(0, VOCABULARY, 400).tolist()
                rounded, plain = self.logits(truth, ids)
                borders = [0, 150, *range(151, 160), 390, 391, 400]
                at = [last - 1 for last in borders[1:]]
                self.check_close(self.session_logits(decoder, ids, borders), rounded[at], plain[at], MANY_SHARE)
                session = decoder.start()
                session.append([ids[:300]])
                self.check_close(session.append_each([ids[300:305]]), rounded[300:305], plain[300:305], MANY_SHARE)

    def test_onnx_files(self):
        for kind, form in FORMS:
            with self.subTest(kind=kind, form=form):
                truth = OnnxDecoder(self.path(f'{kind} {form}'), kind, form, places=64)
                decoder = tenfold.Decoder(truth.folder, **INT8)
                self.check(truth, decoder)
                self.assert_reads_bytes(decoder)

    def test_a_row_of_zeros(self):
        """Rows without a magnitude are zeros, not NaN."""
        truth = RandomDecoder(self.path('zeros'), 'llama')
        for i in range(LAYERS):
            truth.weights[f'model.layers.{i}.self_attn.v_proj.weight'][:] = 0
        truth.save_weights()
        ids = [1, 2, 3, 4, 5]
        got = tenfold.Decoder(truth.folder, **INT8).start().append([ids])[0]
        self.assertLess(off(got, truth.logits(ids)[-1]), 1e-5)


class Shapes(decoders_caches_case.Shapes, Case):
    """The random test of caches: lengths, batches, forks, cuts, guesses, windows."""

    keywords = {'kv_cache_dtype': 'int8'}
    lengths = decoders_caches_case.LENGTHS // 2

    def truth(self, at, kind):
        truth = RandomDecoder(self.path(f'm{at}'), kind, seed=at)
        truth.int8_cache = True
        return truth

    def check(self, rows, expected, what):
        errors = [off(row, want) for row, want in zip(rows, expected)]
        self.assertLess(max(errors, default=0), LIMIT, what)
        self.errors += errors

    def test_random_shapes_and_lengths(self):
        self.errors = []
        super().test_random_shapes_and_lengths()
        self.assertGreater(np.mean(np.array(self.errors) < 3e-5), 0.9)


class Use(Rounded):
    def test_a_prefix_is_reused_as_it_was_written(self):
        truth = RandomDecoder(self.path('m'), 'llama')
        decoder = tenfold.Decoder(truth.folder, **INT8, max_batch=2)
        prompt, more = [1, 2, 4, 6, 7, 8], [1, 2, 4, 6, 7, 8, 9, 10]
        whole = tenfold.Decoder(truth.folder, **INT8, max_batch=2).generate(more, max_tokens=30, ignore_end=True)
        decoder.generate(prompt, max_tokens=4, ignore_end=True)
        again = decoder.generate(more, max_tokens=30, ignore_end=True)
        self.assertEqual((again.ids, again.reused_tokens), (whole.ids, 6))

    def test_no_attention_unfolds_the_cache(self):
        truth = RandomDecoder(self.path('m'), 'llama')
        self.assert_reads_bytes(tenfold.Decoder(truth.folder, **INT8))

    def test_refusals(self):
        truth = RandomDecoder(self.path('m'), 'llama')
        with self.assertRaisesRegex(tenfold.InvalidArgument, "kv_cache_dtype is 'int4'; int8 or nothing was expected"):
            tenfold.Decoder(truth.folder, **{**INT8, 'kv_cache_dtype': 'int4'})
        with self.assertRaisesRegex(tenfold.Unsupported, "the device is cuda:0; keys and values of 8 bits are read by CPUs"):
            tenfold.Decoder(truth.folder, **{**INT8, 'device': 'cuda:0'})


if __name__ == '__main__':
    unittest.main()
