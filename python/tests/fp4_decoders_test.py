"""tenfold.Decoder with weights of e2m1: rounded from floats, and folders of compressed-tensors, beside NumPy in f64 and ml_dtypes."""
import os
import unittest

import ml_dtypes
import numpy as np
from decoders_case import KINDS, QUICK, RandomDecoder
from embeddings_case import save_safetensors
from fp4_case import BLOCKS, Fp4Decoder, config_of, decoded, read_safetensors
from narrow_folders_case import NarrowCase, nearest

import tenfold

HEADS = ('lm_head', 'model.embed_tokens', 'transformer.wte')   # these give the logits, in int8


class Decoders(NarrowCase):
    def path_of(self, *parts):
        return self.path('_'.join(parts).replace(' ', '_'))


class Rounding(Decoders):
    def truth(self, kind, fp4):
        truth = Fp4Decoder(self.path_of(kind, fp4), kind, fp4, in_folder=False)
        head = 'lm_head.weight'
        table = next(name for name in (head, 'model.embed_tokens.weight', 'transformer.wte.weight') if name in truth.weights)
        truth.weights[head] = nearest(truth.weights[table], 8, 0)   # of the logits
        return truth

    def test_every_kind(self):
        for i, kind in enumerate(KINDS):
            fp4 = list(BLOCKS)[i % 2]
            with self.subTest(kind, fp4=fp4):
                truth = self.truth(kind, fp4)
                decoder = tenfold.Decoder(truth.folder, **QUICK, weights=fp4)
                self.check(truth, decoder)
                self.check_narrow(truth, decoder, HEADS)
                self.assertEqual(decoder.info.weights, fp4)

    def test_rounded_activations(self):
        for fp4 in BLOCKS:
            truth = self.truth('llama', fp4)
            self.check(truth, tenfold.Decoder(truth.folder, **{**QUICK, 'tf32': True}, weights=fp4), 1e-3, tokens=0)

    def test_the_plan_is_as_narrow(self):
        truth = RandomDecoder(self.path('wide'), 'llama', width=768, wide=1536)
        for fp4, bound in (('mxfp4', 0.14), ('nvfp4', 0.15)):
            path = self.path('p.plan')
            tenfold.Decoder(truth.folder, **{**QUICK, 'tf32': True}, weights=fp4).engine.save(path)
            self.assertLess(os.path.getsize(path) / os.path.getsize(truth.path('model.safetensors')), bound, fp4)


class Folders(Decoders):
    def test_compressed_tensors(self):
        for kind in ('llama', 'qwen2', 'phi3', 'mistral'):
            for fp4 in BLOCKS:
                with self.subTest(kind, fp4=fp4):
                    truth = Fp4Decoder(self.path_of(kind, fp4), kind, fp4)
                    decoder = tenfold.Decoder(truth.folder, **QUICK)
                    self.check(truth, decoder)
                    self.check_narrow(truth, decoder, HEADS)
                    self.assertEqual(decoder.info.weights, 'compressed-tensors ' + fp4)

    def test_what_is_written_is_read(self):
        for fp4 in BLOCKS:
            with self.subTest(fp4):
                given = RandomDecoder(self.path_of('given', fp4), 'llama', width=96, wide=192)
                out = self.path_of('out', fp4)
                errors = tenfold.quantize_decoder(given.folder, out, fp4)
                tensors = read_safetensors(os.path.join(out, 'model.safetensors'))
                truth = Fp4Decoder(self.path_of('truth', fp4), 'llama', fp4)   # of the same numbers
                for name in truth.layers:
                    np.testing.assert_allclose(decoded(tensors, name, fp4), truth.weights[name + '.weight'], rtol=1e-6)
                self.assertEqual(sorted(errors), sorted(truth.layers))
                for name, error in errors.items():
                    was, now = (one.weights[name + '.weight'].astype(np.float64) for one in (given, truth))
                    self.assertAlmostEqual(error, np.linalg.norm(now - was) / np.linalg.norm(was), places=5)
                self.check(truth, tenfold.Decoder(out, **QUICK))

    def test_refusals(self):
        truth = Fp4Decoder(self.path('m'), 'llama', 'nvfp4')
        name = truth.layers[0]

        def refused(error, pattern, config=None, **tensors):
            truth.save('config.json', {**truth.config, 'quantization_config': config or config_of('nvfp4')})
            changed = {**truth.stored, **{name + '.' + part: value for part, value in tensors.items()}}
            save_safetensors(truth.path('model.safetensors'), {n: value for n, value in changed.items() if value is not None})
            with self.assertRaisesRegex(error, pattern):
                tenfold.Decoder(truth.folder, **QUICK).prepare()

        refused(tenfold.Unsupported, 'groups of 32 share a scale; in nvfp4-pack-quantized 16 do', config_of('nvfp4', group_size=32))
        refused(tenfold.Unsupported, r'of 4 bits \(int\) are not read; in nvfp4-pack-quantized floats', config_of('nvfp4', type='int'))
        refused(tenfold.InvalidModel, 'is not one finite number above 0', weight_global_scale=np.array([0], np.float32))
        refused(tenfold.InvalidModel, "no tensor '.*weight_global_scale'", weight_global_scale=None)
        refused(tenfold.InvalidModel, 'weight_packed', weight_packed=truth.stored[name + '.weight_packed'][:, 1:])
        bytes_of = RandomDecoder(self.path('fp8'), 'llama')
        weights = {n: w.astype(ml_dtypes.float8_e4m3fn) if n.endswith('q_proj.weight') else w for n, w in bytes_of.weights.items()}
        save_safetensors(bytes_of.path('model.safetensors'), weights)
        with self.assertRaisesRegex(tenfold.Unsupported, 'is f8e4m3fn, which is read as the scales of nvfp4 and mxfp4 alone'):
            tenfold.Decoder(bytes_of.folder, **QUICK).prepare()
        with self.assertRaisesRegex(tenfold.Unsupported, "method is 'gptq', but nvfp4 is rounded to the nearest"):
            tenfold.quantize_decoder(bytes_of.folder, self.path('no'), 'nvfp4', method='gptq', texts=['the cat'])
        gpt2 = RandomDecoder(self.path('gpt2'), 'gpt2')
        with self.assertRaisesRegex(tenfold.Unsupported, "GPTQ's layout, which has integers"):
            tenfold.quantize_decoder(gpt2.folder, self.path('no'), 'mxfp4')


if __name__ == '__main__':
    unittest.main()
