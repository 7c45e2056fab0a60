"""Types of single layers from Python: what is obeyed, what is noted, and what such a request may do wrong."""
import re
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from case import PROFILE, QUICK, Case, tanh_model

import tenfold

OPTIONS = dict(device='cpu', profiles=PROFILE, **{k: v for k, v in QUICK.items() if k != 'device'})


def built(**layer_types):
    return tenfold.build(tanh_model(), layer_types=layer_types, **OPTIONS)


def two_products(a, b):
    network = tenfold.Network()
    x = network.input('x', 'f32', [64, 512])
    hidden = network.add('Relu', network.add('MatMul', x, network.constant(a)))
    network.output(network.add('MatMul', hidden, network.constant(b)), 'y')
    return network


class LayerTypes(Case):
    def test_what_cannot_be_had_is_noted_or_refused(self):
        engine = built(precisions={'*': 'f16'})
        self.assertTrue(any('not f16 as asked for' in note.text for note in engine.notes), engine.notes)
        self.refused(tenfold.Unsupported, 'not f16 as asked for', built, constraints='obey', precisions={'*': 'f16'})
        built(constraints='none', precisions={'*': 'f16'})
        built(constraints='obey', precisions={'*': 'f32'}, output_types={'*': ['f32']})

    def test_wrong_requests_are_refused(self):
        self.refused(ValueError, 'no node of the model', built, precisions={'no such layer': 'f32'})
        for wrong in (dict(precisions={'*': 'float33'}), dict(constraints='always'), dict(layers={}), dict(output_types={'*': 3})):
            self.refused(TypeError, "'layer_types' takes", built, **wrong)

    def test_the_device_may_choose(self):
        for given in (dict(auto_precision=True), dict(precision='auto')):
            notes = tenfold.build(tanh_model(), **given, **OPTIONS).notes
            self.assertTrue(any(note.text.startswith('precision was chosen by the device: this CPU has') for note in notes), notes)

    def test_precision_in_one_word(self):
        self.refused(ValueError, "precision is 'fp61', expected one of 'fp32', 'fp16', 'bf16', 'auto'", tenfold.build, tanh_model(),
                     precision='fp61', **OPTIONS)
        self.refused(TypeError, "'precision' and 'bf16' say the same", tenfold.build, tanh_model(), precision='bf16', bf16=False, **OPTIONS)
        self.assertIn('bf16', tenfold.build(tanh_model(), precision='bf16', **OPTIONS).inspect().split('options', 1)[1].split('\n', 1)[0])

    @unittest.skipUnless(any('amxbf16' in d.features for d in tenfold.devices()), 'this CPU has no AMX for bf16')
    def test_what_bf16_takes_and_costs_is_told(self):
        """Two products of 512 x 1024, whose error on typical inputs NumPy measures in f64."""
        rng = np.random.default_rng(7)
        a, b = (rng.standard_normal(shape).astype(np.float32) / 16 for shape in ((512, 1024), (1024, 512)))
        x = rng.standard_normal((64, 512)).astype(np.float32)
        engine = tenfold.build(two_products(a, b), precision='auto', typical_inputs=[{'x': x}], device='cpu', optimization_level=1)
        notes = [note.text for note in engine.notes]
        taken = [text for text in notes if re.search(r'(bf16|fp32) was taken: a run takes \S+ ms with bf16 and \S+ ms in fp32', text)]
        self.assertEqual(len(taken), 1, notes)
        told = [float(m[1]) for text in notes if (m := re.match(r"bf16 changes the outputs by (\S+) % \('y'\), relative l2 on the first "
                                                                'typical inputs', text))]
        self.assertEqual(len(told), int(taken[0].startswith('bf16')), notes)
        expected = np.maximum(x.astype(float) @ a, 0) @ b
        error = 100 * np.linalg.norm(engine(x) - expected) / np.linalg.norm(expected)
        for percent in told:
            self.assertAlmostEqual(percent / error, 1, delta=0.06)   # two digits
        self.assertLess(error, 1)


class Fourier(Case):
    """Sums of Fourier transforms cancel: no permission rounds them."""

    def check(self, op, operands, x, expected, dims=None, **attributes):
        constants = [numpy_helper.from_array(value, name) for name, value in operands.items() if value is not None]
        node = helper.make_node(op, ['x', *(name if value is not None else '' for name, value in operands.items())], ['y'], **attributes)
        graph = helper.make_graph([node], 'fourier', [helper.make_tensor_value_info('x', TensorProto.FLOAT, dims or x.shape)],
                                  [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 20)], ir_version=10)
        device = 'cuda:0' if any(d.device.startswith('cuda') for d in tenfold.devices()) else 'cpu'
        for given in ({}, dict(bf16=True), dict(fp16=True)):
            for level in (0, 2):
                y = tenfold.build(model, device=device, optimization_level=level, profiles={'x': x.shape} if dims else None, **given)(x)
                got = y[..., 0] + 1j * y[..., 1]
                self.assertLess(np.linalg.norm(got - expected) / np.linalg.norm(expected), 1e-6, (op, device, given, level))

    def test_no_permission_rounds_them(self):
        x = np.random.default_rng(3).standard_normal((4, 1024, 1)).astype(np.float32) + 100   # a large mean, which cancels in other bins
        exact = x[..., 0].astype(float)
        self.check('DFT', {'length': None, 'axis': np.array(1)}, x, np.fft.fft(exact))
        pair = np.concatenate([x, x[:, ::-1] / 3], -1)   # real and imaginary parts, whose products are subtracted
        self.check('DFT', {'length': None, 'axis': np.array(1)}, pair, np.fft.fft(pair[..., 0] + 1j * pair[..., 1].astype(float)),
                   dims=['b', 'n', 2])
        window = np.hanning(256).astype(np.float32)
        frames = np.stack([exact[:, i:i + 256] for i in range(0, 1024 - 255, 64)], 1)
        self.check('STFT', {'step': np.array(64), 'window': window, 'length': np.array(256)}, x, np.fft.rfft(frames * window), onesided=1)


if __name__ == '__main__':
    unittest.main()
