"""tenfold.Decoder with weights of 4 and 8 bits: rounded from floats, and folders of GPTQ, AWQ and compressed-tensors, beside f64."""
import os
import unittest

import numpy as np
from decoders_case import KINDS, QUICK, RandomDecoder
from embeddings_case import save_safetensors
from narrow_folders_case import LINEAR, NarrowCase, NarrowDecoder, awq, compressed, gptq, int_quantized, nearest

import tenfold


class Rounding(NarrowCase):
    def truth(self, kind, bits, group):
        truth = RandomDecoder(self.path(f'{kind} {bits} {group}'.replace(' ', '_')), kind)
        truth.layers = []
        for full, w in list(truth.weights.items()):
            name = full.removesuffix('.weight')
            if name != full and (LINEAR.match(name) or name == 'lm_head'):
                head = name == 'lm_head' and bits == 4
                turned = w.T if truth.type == 'gpt2' else w
                rounded = nearest(turned, 8 if head else bits, 0 if head else group)
                truth.weights[full] = rounded.T if truth.type == 'gpt2' else rounded
                truth.layers.append(name)
        return truth

    def test_every_kind(self):
        for kind in KINDS:
            with self.subTest(kind):
                truth = self.truth(kind, 4, 16)
                tied = 'lm_head.weight' not in truth.weights
                if tied:   # the table of embeddings stays in floats, the product of the logits does not
                    table = next(name for name in truth.weights if name.endswith(('embed_tokens.weight', 'wte.weight')))
                    truth.weights['lm_head.weight'] = nearest(truth.weights[table], 8, 0)
                self.check(truth, tenfold.Decoder(truth.folder, **QUICK, weights='int4:g16'))

    def test_forms(self):
        for bits, group, text in ((4, 0, 'int4'), (8, 0, 'int8'), (8, 32, 'int8:g32'), (4, 32, 'int4:g32')):
            with self.subTest(text):
                truth = self.truth('llama', bits, group)
                decoder = tenfold.Decoder(truth.folder, **QUICK, weights=text)
                self.check(truth, decoder)
                self.check_narrow(truth, decoder)
                self.assertEqual(decoder.info.weights, text)

    def test_rounded_activations(self):
        truth = self.truth('llama', 4, 16)
        self.check(truth, tenfold.Decoder(truth.folder, **{**QUICK, 'tf32': True}, weights='int4:g16'), 1e-3)
        self.check(truth, tenfold.Decoder(truth.folder, **{**QUICK, 'bf16': True}, weights='int4:g16'), 0.1, tokens=0)

    def test_half_precision_folders(self):
        truth = self.truth('llama', 4, 16)
        folder = RandomDecoder(self.path('half'), 'llama')
        halves = {name: w.astype(np.float16) for name, w in folder.weights.items()}
        halves['model.layers.0.mlp.up_proj.weight'][0, :16] *= np.float16(1e-6)   # denormal
        save_safetensors(folder.path('model.safetensors'), halves)
        for name, w in halves.items():
            wide = w.astype(np.float32)
            head = name == 'lm_head.weight'
            linear = name.removesuffix('.weight') in truth.layers
            truth.weights[name] = nearest(wide, 8 if head else 4, 0 if head else 16) if linear else wide
        self.check(truth, tenfold.Decoder(folder.folder, **QUICK, weights='int4:g16'))

    def test_plans_are_kept_apart(self):
        truth = self.truth('llama', 4, 16)
        options = {**QUICK, 'plan_cache': self.path('plans')}
        sizes = []
        for weights in ('int4:g16', 'int4:g32', '', 'int4:g16'):
            decoder = tenfold.Decoder(truth.folder, **options, weights=weights)
            decoder.prepare()
            sizes.append(len([name for name in os.listdir(self.path('plans')) if name.endswith('.plan')]))
        self.assertEqual(sizes, [1, 2, 3, 3])
        self.check(truth, decoder)

    def test_the_plan_is_as_narrow(self):
        truth = RandomDecoder(self.path('wide'), 'llama', width=768, wide=1536)
        sizes = {}
        for weights in ('', 'int8', 'int4:g128', 'int4:g32'):
            path = self.path('p.plan')
            tenfold.Decoder(truth.folder, **QUICK, weights=weights).engine.save(path)
            sizes[weights] = os.path.getsize(path) / os.path.getsize(truth.path('model.safetensors'))
        for weights, bound in (('int8', 0.27), ('int4:g128', 0.14), ('int4:g32', 0.17)):
            self.assertLess(sizes[weights], bound, sizes)
        self.assertGreater(sizes[''], 0.99)


class Folders(NarrowCase):
    def test_gptq(self):
        for i, more in enumerate((dict(), dict(symmetric=False), dict(ordered=True), dict(symmetric=False, ordered=True, version=2),
                                  dict(bits=8, symmetric=False), dict(group=-1), dict(head=True, bits=8, group=48), dict(group=32))):
            with self.subTest(**more):
                truth = NarrowDecoder(self.path(f'm{i}'), 'llama', gptq, **more)
                decoder = tenfold.Decoder(truth.folder, **QUICK)
                self.check(truth, decoder)
                self.check_narrow(truth, decoder)

    def test_gptq_of_gpt2(self):
        for ordered in (False, True):
            truth = NarrowDecoder(self.path(f'm{ordered}'), 'gpt2', gptq, symmetric=False, ordered=ordered)
            decoder = tenfold.Decoder(truth.folder, **QUICK)
            self.check(truth, decoder)
            self.check_narrow(truth, decoder)

    def test_awq(self):
        for i, (kind, more) in enumerate((('llama', dict(symmetric=False)), ('qwen2', dict(symmetric=False, group=48)),
                                          ('mistral', dict(symmetric=True, group=-1)), ('phi3', dict(symmetric=False)))):
            with self.subTest(kind, **more):
                truth = NarrowDecoder(self.path(f'm{i}'), kind, awq, **more)
                decoder = tenfold.Decoder(truth.folder, **QUICK)
                self.check(truth, decoder)
                self.check_narrow(truth, decoder)
        self.assertEqual(decoder.info.weights, 'awq int4:g16')

    def test_compressed_tensors(self):
        for i, (layout, more) in enumerate((
                (compressed, dict()), (compressed, dict(symmetric=False)), (compressed, dict(symmetric=False, bytes_of_zeros=True)),
                (compressed, dict(ordered=True)), (compressed, dict(bits=8, group=-1, symmetric=False)), (compressed, dict(group=-1)),
                (int_quantized, dict(bits=8, group=-1)), (int_quantized, dict(bits=8, symmetric=False)))):
            with self.subTest(layout.__name__, **more):
                truth = NarrowDecoder(self.path(f'm{i}'), 'qwen2' if i % 2 else 'mistral', layout, **more)
                decoder = tenfold.Decoder(truth.folder, **QUICK)
                self.check(truth, decoder)
                self.check_narrow(truth, decoder)

    def test_some_layers_are_floats(self):
        truth = NarrowDecoder(self.path('m'), 'llama', awq, symmetric=False)
        name = 'model.layers.1.mlp.up_proj'
        floats = {f'{name}.weight': truth.weights[name + '.weight'].astype(np.float32)}
        stored = {n: a for n, a in truth.stored.items() if not n.startswith(name + '.')}
        save_safetensors(truth.path('model.safetensors'), {**stored, **floats})
        self.check(truth, tenfold.Decoder(truth.folder, **QUICK))


class Written(NarrowCase):
    """Folders that quantize_decoder writes, read by Decoder and by NumPy."""

    def halves(self, kind, dtype):
        truth = RandomDecoder(self.path('from'), kind, width=48, wide=96)
        stored = {name: w.astype(dtype) for name, w in truth.weights.items()}
        stored['model.layers.0.mlp.down_proj.weight'][0, :32] = 0
        stored['model.layers.0.mlp.down_proj.weight'][1, :32] *= dtype(1e-5)   # denormal scales in f16
        save_safetensors(truth.path('model.safetensors'), stored)
        truth.weights = {name: w.astype(np.float32) for name, w in stored.items()}
        return truth

    def test_folders(self):
        cases = (('llama', np.float16, 4, 16), ('qwen2', np.float32, 4, 48), ('phi3', np.float16, 8, 0), ('mistral', np.float32, 8, 16))
        for i, (kind, dtype, bits, group) in enumerate(cases):
            with self.subTest(kind, bits=bits, group=group):
                truth, out = self.halves(kind, dtype), self.path(f'to{i}')
                errors = tenfold.quantize_decoder(truth.folder, out, f'int{bits}' + (f':g{group}' if group else ''))
                names = [name.removesuffix('.weight') for name in truth.weights]
                truth.layers = sorted(name for name in names if LINEAR.match(name))
                self.assertEqual(sorted(errors), truth.layers)
                half = np.float32(1 << bits - 1)
                for name in truth.layers:
                    w = truth.weights[name + '.weight']
                    parts = w.reshape(len(w), -1, group or w.shape[1])
                    scale = (np.abs(parts).max(-1, keepdims=True) / (half - np.float32(0.5))).astype(dtype).astype(np.float32)
                    steps = np.rint(np.divide(parts, scale, out=np.zeros_like(parts), where=scale != 0))
                    rounded = (np.clip(steps, -half, half - 1).astype(np.float64) * scale).reshape(w.shape)
                    error = np.sqrt(((rounded - w) ** 2).sum() / (w.astype(np.float64) ** 2).sum())
                    self.assertAlmostEqual(errors[name], error, delta=1e-6)
                    truth.weights[name + '.weight'] = rounded
                decoder = tenfold.Decoder(out, **QUICK)
                self.check(truth, decoder)
                self.check_narrow(truth, decoder)

    def test_nothing_is_half_written(self):
        truth, out = self.halves('llama', np.float32), self.path('to')
        for pattern, error, weights in (('groups of 80 do not divide the 96 inputs', tenfold.InvalidArgument, 'int4:g80'),
                                        ("weights is 'int5'", tenfold.InvalidArgument, 'int5')):
            with self.assertRaisesRegex(error, pattern):
                tenfold.quantize_decoder(truth.folder, out, weights)
            self.assertFalse(os.path.exists(out))
        truth.weights['model.layers.1.mlp.up_proj.weight'][5, 5] = np.inf
        save_safetensors(truth.path('model.safetensors'), truth.weights)
        with self.assertRaisesRegex(tenfold.InvalidModel, 'model.layers.1.mlp.up_proj.weight.*no finite numbers'):
            tenfold.quantize_decoder(truth.folder, out, 'int4:g16')
        self.assertFalse(os.path.exists(out))
        with self.assertRaisesRegex(tenfold.FileError, 'exists'):
            tenfold.quantize_decoder(truth.folder, self.path('.'), 'int4')
        gpt2 = RandomDecoder(self.path('gpt2'), 'gpt2')
        with self.assertRaisesRegex(tenfold.InvalidArgument, "groups of 32 do not divide the 24 inputs of 'transformer.h.0.attn.c_attn'"):
            tenfold.quantize_decoder(gpt2.folder, out)
        done = NarrowDecoder(self.path('done'), 'llama', gptq)
        with self.assertRaisesRegex(tenfold.Unsupported, 'quantized already .gptq int4:g16'):
            tenfold.quantize_decoder(done.folder, out)


class Faults(NarrowCase):
    def refused(self, error, pattern, folder, **options):
        with self.assertRaisesRegex(error, pattern) as raised:
            tenfold.Decoder(folder, **QUICK, **options).prepare()
        self.assertNotIn('\n', str(raised.exception).strip())

    def test_options(self):
        truth = RandomDecoder(self.path('m'), 'llama')
        for text in ('int3', 'int4:32', 'int4:g', 'int4:g24', 'int4:g0', 'int4:g-16', 'int4:g16x', 'fp4:g16', 'int4:', 'int4g32',
                     'int4:g99999999999999999999'):
            self.refused(tenfold.InvalidArgument, f"weights is '{text}'; int4 or int8 was expected.*int4:g32", truth.folder, weights=text)
        with self.assertRaisesRegex(tenfold.Unsupported, "weights is 'int4' and tf32 is false, but the device is cuda"):
            tenfold.Decoder(truth.folder, **{**QUICK, 'device': 'cuda'}, weights='int4')
        w = {name: a.copy() for name, a in truth.weights.items()}
        w['model.layers.2.mlp.up_proj.weight'][3, 3] = np.nan
        save_safetensors(truth.path('model.safetensors'), w)
        self.refused(tenfold.InvalidModel, "'model.layers.2.mlp.up_proj.weight' has values that are no finite numbers", truth.folder,
                     weights='int4:g16')

    def test_configurations(self):
        for layout, pattern, error, change in (
                (gptq, 'bits', tenfold.InvalidModel, dict(bits=None)),
                (gptq, "GPTQ's weights of 3 bits are not read; 4 and 8 are", tenfold.Unsupported, dict(bits=3)),
                (gptq, "checkpoint_format: 'marlin' is not read; gptq and gptq_v2 are", tenfold.Unsupported,
                 dict(checkpoint_format='marlin')),
                (gptq, 'dynamic: layers with bits or groups of their own', tenfold.Unsupported, dict(dynamic={'+:.*up': {'bits': 8}})),
                (gptq, 'groups of 8 inputs share a scale; multiples of 16', tenfold.Unsupported, dict(group_size=8)),
                (gptq, "q_proj.g_idx' gives groups other sizes than 32", tenfold.Unsupported, dict(group_size=32)),
                (awq, "q_proj.qzeros' .* by config.json its shape is i32 2x6", tenfold.InvalidModel, dict(group_size=32)),
                (gptq, "quant_method 'bitsandbytes' describes are not read; gptq, awq and compressed-tensors are", tenfold.Unsupported,
                 dict(quant_method='bitsandbytes')),
                (awq, "version: 'gemv' is not read; gemm is", tenfold.Unsupported, dict(version='GEMV')),
                (awq, "AWQ's weights of 8 bits are not read", tenfold.Unsupported, dict(bits=8)),
                (compressed, "format: 'float-quantized' of compressed-tensors is not read", tenfold.Unsupported,
                 dict(format='float-quantized')),
                (compressed, 'config_groups', tenfold.InvalidModel, dict(config_groups=None)),
                (compressed, r'weights of 8 bits \(float\) are not read; integers of 4 and 8 are', tenfold.Unsupported,
                 dict(config_groups={'g': {'weights': {'num_bits': 8, 'type': 'float'}}})),
                (compressed, 'transform_config is not read', tenfold.Unsupported, dict(transform_config={'config_groups': {'a': 1}}))):
            with self.subTest(pattern):
                truth = NarrowDecoder(self.path(layout.__name__), 'llama', layout, symmetric=False)
                given = {**truth.config['quantization_config'], **change}
                truth.save('config.json', {**truth.config, 'quantization_config': given})
                self.refused(error, pattern, truth.folder)

    def test_folders(self):
        truth = NarrowDecoder(self.path('m'), 'llama', gptq)
        self.refused(tenfold.InvalidArgument, "weights is 'int4:g32', but those of the folder are quantized already .*'gptq'", truth.folder,
                     weights='int4:g32')
        name = 'model.layers.0.self_attn.q_proj'
        for pattern, error, part, array in (
                ("g_idx' gives groups other sizes than 16", tenfold.Unsupported, 'g_idx', np.zeros(48, np.int32)),
                ("qweight' .* is i32\\[5x48\\], but by config.json its shape is i32 6x48", tenfold.InvalidModel, 'qweight',
                 np.zeros((5, 48), np.int32)),
                ("qweight' .* is f32\\[6x48\\]", tenfold.InvalidModel, 'qweight', np.zeros((6, 48), np.float32)),
                ("scales' .* is i32", tenfold.InvalidModel, 'scales', np.zeros((3, 48), np.int32)),
                (f"have no tensor '{name}.qzeros'", tenfold.InvalidModel, 'qzeros', None)):
            with self.subTest(pattern):
                changed = {**truth.stored, f'{name}.{part}': array}
                save_safetensors(truth.path('model.safetensors'), {n: a for n, a in changed.items() if a is not None})
                self.refused(error, pattern, truth.folder)
        packed = NarrowDecoder(self.path('c'), 'llama', compressed, symmetric=False, bytes_of_zeros=True)
        for pattern, part, array in (("weight_shape' says 48x64", 'weight_shape', np.array([48, 64], np.int64)),
                                     ("has a zero point of 9, which no weight of 4 bits is", 'weight_zero_point',
                                      np.full((48, 3), 9, np.int8)),
                                     ('groups of 10', 'weight_scale', np.ones((48, 5), np.float16)),
                                     ('groups of 0', 'weight_scale', np.ones((48, 0), np.float16))):
            with self.subTest(pattern):
                save_safetensors(packed.path('model.safetensors'), {**packed.stored, f'{name}.{part}': array})
                self.refused((tenfold.InvalidModel, tenfold.Unsupported), pattern, packed.folder)


if __name__ == '__main__':
    unittest.main()
