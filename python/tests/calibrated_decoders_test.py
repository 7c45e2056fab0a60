"""tenfold.quantize_decoder with texts: GPTQ beside NumPy's in f64, errors on texts held out, AWQ's factors, perplexity and divergence."""
import os
import unittest

import numpy as np
from calibrated_case import KINDS_OF_LAYERS, Watched, floats_of, gptq, ids_of, layers_of, output_error, sentences
from case import Case
from decoders_case import QUICK
from embeddings_case import save_safetensors
from narrow_folders_case import NarrowDecoder, awq

import tenfold

TEXTS = sentences(80)
USED, HELD_OUT = [ids_of(text) for text in TEXTS[::2]], [ids_of(text) for text in TEXTS[1::2]]


def layer_number(name):
    return int(next(part for part in name.split('.') if part.isdigit()))


class Calibrated(Case):
    def quantized(self, kind, method, bits=4, group=16, texts=TEXTS, **more):
        """The decoder in floats, the folder that was written, and what was told."""
        truth, out = Watched(self.path('from'), kind, width=48, wide=96), self.path(f'{kind} {method} {bits}')
        form = f'int{bits}' + (f':g{group}' if group else '')
        return truth, out, tenfold.quantize_decoder(truth.folder, out, form, method=method, texts=texts, threads=1, **more)

    def each_layer(self, truth, out, bits):
        """Layer by layer, with those in front rounded: names, floats, values, scales, and what both halves of the texts give."""
        layers, others = layers_of(out, bits)
        for name, array in others.items():
            truth.weights[name] = array
        names = sorted(truth.names(), key=layer_number)
        for number in range(layer_number(names[-1]) + 1):
            own = [name for name in names if layer_number(name) == number]
            used, held_out = truth.inputs(USED), truth.inputs(HELD_OUT)
            for name in own:
                yield name, truth.matrix(name), *layers[name], used[name], held_out[name]
            for name in own:
                truth.set_matrix(name, floats_of(*layers[name], bits))

    def test_gptq_is_that_of_numpy(self):
        for kind, bits, group in (('llama', 4, 16), ('gpt2', 4, 48), ('qwen2', 8, 0), ('phi3', 4, 0)):
            with self.subTest(kind, bits=bits, group=group):
                truth, out, told = self.quantized(kind, 'gptq', bits, group)
                scale_type = np.float16 if kind == 'gpt2' else np.float32
                for name, w, values, scales, used, held_out in self.each_layer(truth, out, bits):
                    expected, expected_scales = gptq(w, used, bits, group or w.shape[1], scale_type)
                    self.assertLess((scales != expected_scales).mean(), 0.02, name)   # ties of two scales
                    self.assertGreater((values == expected).mean(), 0.97, name)
                    got = output_error(w, floats_of(values, scales, bits), used)
                    self.assertLess(got / output_error(w, floats_of(expected, expected_scales, bits), used), 1.01, name)
                    error = output_error(w, floats_of(values, scales, bits), held_out)
                    self.assertAlmostEqual(told.output_errors[name] / error, 1, delta=2e-3, msg=name)

    def test_errors_on_texts_held_out_are_less_than_those_of_plain_rounding(self):
        for kind in KINDS_OF_LAYERS:
            _, _, plain = self.quantized(kind, 'rtn')
            self.assertEqual(plain.output_errors, plain.nearest_output_errors)
            for method, share in (('gptq', 0.75), ('awq', 0.9)):
                with self.subTest(kind, method=method):
                    _, _, told = self.quantized(kind, method)
                    for name, error in told.output_errors.items():
                        self.assertLess(error, told.nearest_output_errors[name], name)
                    ratio = np.mean(list(told.output_errors.values())) / np.mean(list(plain.output_errors.values()))
                    self.assertLess(ratio, share)
                    self.assertLess(told.evaluation.kl_divergence, plain.evaluation.kl_divergence)
                    self.assertEqual(list(plain), list(told))

    def test_awq_moves_factors_and_changes_nothing_else(self):
        """With 8 bits rounding is small: a factor that did not come back would be seen."""
        for kind in (*KINDS_OF_LAYERS, 'linear', 'llama 3'):
            with self.subTest(kind):
                truth, out, told = self.quantized(kind, 'awq', 8, 0)
                _, others = layers_of(out, 8)
                moved = [name for name, array in others.items() if not np.array_equal(array, truth.weights[name])]
                norms = [name for name in moved if 'norm' in name or 'ln_' in name]
                self.assertGreater(len(norms), 3)
                self.assertEqual([name for name in moved if name not in norms and not name.endswith('bias')], [])
                errors, expected = {}, [truth.logits(ids)[-1] for ids in HELD_OUT[:12]]
                for method in ('awq', 'rtn'):
                    _, folder, _ = (truth, out, told) if method == 'awq' else self.quantized(kind, 'rtn', 8, 0)
                    decoder = tenfold.Decoder(folder, **QUICK)
                    got = [decoder.start().append([ids])[0] for ids in HELD_OUT[:12]]
                    errors[method] = np.linalg.norm(np.subtract(got, expected)) / np.linalg.norm(expected)
                self.assertLess(errors['awq'], 2 * errors['rtn'])
                self.assertLess(told.evaluation.kl_divergence, 0.01)

    def test_awq_errors_are_of_the_results(self):
        truth, out, told = self.quantized('llama', 'awq')
        layers, others = layers_of(out, 4)
        name = 'model.layers.0.self_attn.q_proj'
        norm = 'model.layers.0.input_layernorm.weight'
        factors = truth.weights[norm] / others[norm]
        self.assertGreater(factors.max() / factors.min(), 1.01)
        x = truth.inputs(HELD_OUT)[name]
        error = output_error(truth.matrix(name), floats_of(*layers[name], 4) / factors, x)
        self.assertAlmostEqual(told.output_errors[name] / error, 1, delta=2e-3)

    def test_perplexity_and_divergence(self):
        for kind in ('gpt2', 'mistral'):
            with self.subTest(kind):
                truth, out, told = self.quantized(kind, 'gptq')
                logs, reference, divergence, same = [], [], [], []
                floats = [truth.logits(ids) for ids in HELD_OUT]
                layers, _ = layers_of(out, 4)
                for name, one in layers.items():
                    truth.set_matrix(name, floats_of(*one, 4))
                for ids, p in zip(HELD_OUT, floats):
                    q = truth.logits(ids)
                    p, q = (x - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)) - x.max(-1, keepdims=True)
                            for x in (p[:-1], q[:-1]))
                    rows = np.arange(len(p))
                    logs.extend(-q[rows, ids[1:]]), reference.extend(-p[rows, ids[1:]])
                    divergence.extend((np.exp(p) * (p - q)).sum(-1)), same.extend(p.argmax(-1) == q.argmax(-1))
                expected = tenfold.Evaluation(
                    texts=len(HELD_OUT), short_texts=0, cut_texts=0, tokens=len(logs), perplexity=np.exp(np.mean(logs)),
                    reference_perplexity=np.exp(np.mean(reference)), kl_divergence=np.mean(divergence), same_token=np.mean(same))
                counts = ('texts', 'short_texts', 'cut_texts', 'tokens')
                figures = [name for name in expected._fields if name not in counts]
                decoder, before = (tenfold.Decoder(folder, **QUICK, speculate=7) for folder in (out, truth.folder))
                for got in (told.evaluation, decoder.evaluate(TEXTS[1::2], before)):
                    for name in counts:
                        self.assertEqual(getattr(got, name), getattr(expected, name), name)
                    for name in figures:
                        np.testing.assert_allclose(getattr(got, name), getattr(expected, name), rtol=1e-4, err_msg=name)
                alone = decoder.evaluate([*TEXTS[1::2], 'cat', ''])
                self.assertEqual((alone.texts, alone.short_texts, alone.cut_texts, alone.tokens), (len(HELD_OUT), 2, 0, len(logs)))
                self.assertAlmostEqual(alone.perplexity / expected.perplexity, 1, delta=1e-4)
                cut = decoder.evaluate(TEXTS[1:2], max_tokens=3)
                self.assertEqual((cut.tokens, cut.cut_texts), (min(2, len(HELD_OUT[0]) - 1), int(len(HELD_OUT[0]) > 3)))

    def test_gpt2_without_texts(self):
        truth, out = Watched(self.path('from'), 'gpt2', width=48), self.path('to')
        told = tenfold.quantize_decoder(truth.folder, out, 'int4:g16')
        self.assertIsNone(told.evaluation)
        layers, _ = layers_of(out, 4)
        self.assertEqual(sorted(layers), sorted(truth.names()))
        for name, (values, scales) in layers.items():
            w = truth.matrix(name)
            parts = w.reshape(len(w), -1, 16)
            steps = np.rint(parts / scales[..., None])
            np.testing.assert_array_equal(values, np.clip(steps, -8, 7).reshape(w.shape).astype(int) + 8)
            np.testing.assert_allclose(scales, np.abs(parts).max(-1) / 7.5, rtol=1e-3)
            self.assertAlmostEqual(told[name], np.linalg.norm(floats_of(values, scales, 4) - w) / np.linalg.norm(w), delta=1e-6)
            truth.set_matrix(name, floats_of(values, scales, 4))
        ids = ids_of(TEXTS[0])
        expected, got = truth.logits(ids)[-1], tenfold.Decoder(out, **QUICK).start().append([ids])[0]
        self.assertLess(np.abs(got - expected).max() / np.abs(expected).max(), 1e-5)

    def test_samples_and_tokens(self):
        _, out, told = self.quantized('llama', 'gptq', samples=10, max_tokens=5)
        self.assertEqual((told.evaluation.texts, told.evaluation.tokens), (5, sum(min(len(ids), 5) - 1 for ids in HELD_OUT[:5])))
        _, same, again = self.quantized('mistral', 'gptq', texts=[*TEXTS[:10], 'cat'])
        self.assertEqual(again.evaluation.texts, 5)
        long = ' '.join(['the cat sat on a mat'] * 20)   # more than the model has places for
        _, _, cut = self.quantized('qwen2', 'gptq', texts=[long, long])
        self.assertEqual(cut.evaluation.tokens, 63)

    def test_half_precision(self):
        """Scales are of the folder's type, and steps are chosen for these."""
        truth = Watched(self.path('half'), 'llama', width=48, wide=96)
        halves = {name: w.astype(np.float16) for name, w in truth.weights.items()}
        save_safetensors(truth.path('model.safetensors'), halves)
        truth.weights = {name: w.astype(np.float32) for name, w in halves.items()}
        out = self.path('narrow')
        tenfold.quantize_decoder(truth.folder, out, 'int4:g16', method='gptq', texts=TEXTS, threads=1)
        for name, w, values, scales, used, _ in self.each_layer(truth, out, 4):
            expected, expected_scales = gptq(w, used, 4, 16, np.float16)
            self.assertLess((scales != expected_scales).mean(), 0.02, name)
            self.assertGreater((values == expected).mean(), 0.97, name)

    def test_refusals(self):
        truth, out = Watched(self.path('m'), 'llama', width=48, wide=96), self.path('out')

        def refused(error, pattern, folder=truth.folder, **options):
            with self.assertRaisesRegex(error, pattern) as raised:
                tenfold.quantize_decoder(folder, out, 'int4:g16', **options)
            self.assertNotIn('\n', str(raised.exception))
            self.assertEqual([name for name in os.listdir(self.path('.')) if name.startswith('out')], [])

        refused(tenfold.InvalidArgument, "method is 'best'; rtn, gptq or awq was expected", method='best')
        refused(tenfold.InvalidArgument, "method is 'gptq', which needs texts", method='gptq')
        refused(tenfold.InvalidArgument, '1 of the 3 texts have two tokens or more, and two are needed', method='gptq',
                texts=['the cat', 'cat', ''])
        refused(TypeError, 'texts is one string: a list of texts is expected', method='gptq', texts='the cat')
        refused(tenfold.InvalidArgument, 'samples is 1, 2 or more was expected', method='awq', texts=TEXTS, samples=1)
        refused(tenfold.InvalidArgument, 'max_tokens is 0', method='awq', texts=TEXTS, max_tokens=0)
        done = NarrowDecoder(self.path('done'), 'llama', awq, symmetric=False)
        refused(tenfold.Unsupported, 'quantized already', done.folder, method='gptq', texts=TEXTS)
        truth.weights['model.layers.1.mlp.up_proj.weight'][5, 5] = np.nan
        save_safetensors(truth.path('model.safetensors'), truth.weights)
        refused(tenfold.InvalidModel, 'no finite numbers', method='gptq', texts=TEXTS)
        decoder = tenfold.Decoder(Watched(self.path('n'), 'llama').folder, **QUICK)
        tenfold.quantize_decoder(self.path('n'), out + os.sep, 'int8')
        self.assertEqual([name for name in os.listdir(self.path('.')) if name.startswith('out')], ['out'])
        with self.assertRaisesRegex(TypeError, 'texts is one string'):
            decoder.evaluate('the cat')
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'none of the 2 texts has two tokens'):
            decoder.evaluate(['cat', ''])


if __name__ == '__main__':
    unittest.main()
