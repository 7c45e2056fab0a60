#!/usr/bin/env python3
"""Files with Q/DQ from plain ones: quantize_test.py TENFOLD. ONNX Runtime and onnx's checker judge them, and nothing else may have changed.

MobileNet-v2 is tried where ../shared (or TENFOLD_SHARED) has it.
"""

import re

import cli_case
from cli_case import CliCase, ONCE, np, numpy_helper, onnx

import accuracy_test
from float_form import float_form
from quantize_case import QuantizeCase, everything, ort, relative, runs, weights, without_placed

READERS = ('any', 'ort', 'openvino')
with open('/proc/cpuinfo') as cpus:
    EXACT = '_vnni' in cpus.read()   # else ONNX Runtime's integer products saturate on x86, by much in small ones


class Quantize(QuantizeCase):
    def test_files_run_in_onnx_runtime_near_the_floats(self):
        for opset in (13, 17):
            plain = everything(opset)
            path = self.save(plain)
            want = runs(path, self.feed(self.samples[:20]))[0]
            for reader in READERS:
                self.quantize(path, f'--for={reader}', '--calibrator=minmax')
                for optimized in (False, True):
                    got = runs(self.path('q.onnx'), self.feed(self.samples[:20]), optimized)
                    if not optimized or EXACT:
                        self.assertLess(relative(got[0], want), 0.06, (reader, optimized))
                    self.assertGreater(relative(got[0], want), 1e-4, 'these are no 8 bits')
                    np.testing.assert_array_equal(got[1], weights(12, 12, seed=7))
                reported = float(re.search(r"error of 'y', on 30 other samples: ([\d.e-]+)", self.said)[1])
                real = relative(np.concatenate([runs(self.path('q.onnx'), self.feed(x[None]), False)[0] for x in self.samples[1::2]]),
                                np.concatenate([runs(path, self.feed(x[None]))[0] for x in self.samples[1::2]]))
                self.assertAlmostEqual(reported, real, delta=0.05 * real)

    def test_what_is_not_quantized_stays_as_it_is(self):
        plain = everything()
        path = self.save(plain)
        for reader in READERS:
            model = self.quantize(path, f'--for={reader}', '--corrections=none')
            self.assertEqual(without_placed(model, plain), plain)
            self.assertIn('8 of 10 layers', self.said)
            self.assertIn('in bodies of If, Loop or Scan', self.said)
            names = {i.name for i in model.graph.initializer}
            self.assertTrue({'wm', 'wb'} <= names, 'an output, and what a body reads')
            self.assertFalse({'w1', 'w2', 'w3', 'wg', 'wt'} & names, 'nobody reads these any more')
            self.assertEqual(sum(i.data_type == onnx.TensorProto.INT8 and len(i.dims) > 1 for i in model.graph.initializer), 7)

    def test_the_rules_of_each_reader(self):
        path = self.save(everything())
        for reader in READERS:
            model = self.quantize(path, f'--for={reader}')
            values = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
            made = {o: n for n in model.graph.node for o in n.output}
            zeros = [values[n.input[2]] for n in model.graph.node if n.op_type == 'QuantizeLinear']
            types = {z.dtype.name for z in zeros}
            self.assertEqual(types, {'any': {'int8'}, 'ort': {'uint8'}, 'openvino': {'int8', 'uint8'}}[reader])
            if reader != 'ort':
                self.assertEqual({int(z) for z in zeros}, {0})
            for name in ('first', 'gemm'):
                bias = next(n for n in model.graph.node if n.name == name).input[2]
                if reader != 'ort':
                    self.assertIn(bias, values)
                    continue
                b, s = (values[i] for i in made[bias].input[:2])
                x, w = (made[i].input[1] for i in next(n for n in model.graph.node if n.name == name).input[:2])
                self.assertEqual(b.dtype, np.int32)
                np.testing.assert_allclose(s, values[x] * values[w], rtol=1e-6)

    def answers(self, plan, x):
        np.save(self.path('x.npy'), x)
        np.save(self.path('c.npy'), np.array(True))
        out = self.path('out.npz')
        self.tenfold('exec', f'--loadEngine={plan}', f"--loadInputs=x:{self.path('x.npy')},cond:{self.path('c.npy')}",
                     f'--exportOutput={out}', *ONCE)
        return np.load(out)['y']

    def plan(self, model, *flags):
        plan = self.path('n.plan')
        shapes = [f'--{which}Shapes=x:{n}x8x12x12' for which, n in (('min', 1), ('opt', 1), ('max', 30))]
        self.tenfold('exec', f'--onnx={model}', f'--saveEngine={plan}', '--buildOnly', '--builderOptimizationLevel=0', *shapes, *flags)
        return plan

    def test_our_plan_of_the_file_is_that_of_the_plain_one(self):
        data = f"--data={self.path('data.npz')}"
        without_bias = everything()
        for n in without_bias.graph.node:
            if n.op_type in ('Conv', 'Gemm'):
                del n.input[2:]
        # i32 biases of the file are no f32 ones: what they move a little is then rounded to another step, layer by layer.
        for model, calibrator, maximum in ((without_bias, 'minmax', 1e-3), (without_bias, 'percentile', 1e-3),
                                           (everything(), 'minmax', 1e-2)):
            path = self.save(model)
            want = self.answers(self.plan(path, '--int8', data, f'--calibrator={calibrator}', '--corrections=none'), self.samples[:20])
            self.quantize(path, '--for=ort', f'--calibrator={calibrator}', '--corrections=none')
            plan = self.plan(self.path('q.onnx'))
            self.assertLess(relative(self.answers(plan, self.samples[:20]), want), maximum)
            steps = self.tenfold('inspect', plan).stdout
            self.assertGreaterEqual(steps.count('ConvInteger'), 4, steps)

    def test_our_plans_of_all_files_compute_what_they_say(self):
        path = self.save(everything())
        for reader in READERS:
            self.quantize(path, f'--for={reader}')
            want = runs(self.path('q.onnx'), self.feed(self.samples[:20]), optimized=False)[0]
            self.assertLess(relative(self.answers(self.plan(self.path('q.onnx')), self.samples[:20]), want), 1e-3, reader)


class MobileNet(CliCase):
    def test_photographs(self):
        pictures, _ = accuracy_test.Accuracy().photographs()
        onnx.save(float_form(onnx.load(accuracy_test.shared('models', 'mobilenet_v2_int8_qdq.onnx'))), self.path('f.onnx'))
        even, judged = pictures[0::2], pictures[1::2]
        np.save(self.path('data.npy'), np.repeat(even, 2, axis=0))   # so that all of them give ranges

        def answers(name, optimized=True):
            options = ort.SessionOptions()
            options.log_severity_level = 3
            if not optimized:
                options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = ort.InferenceSession(self.path(name), options, providers=['CPUExecutionProvider'])
            return np.concatenate([session.run(None, {'image': x[None]})[0] for x in judged])
        want = answers('f.onnx')
        for reader, maximum, name in (('any', 0.19, 'percentile'), ('ort', 0.12, 'percentile')):
            self.tenfold('quantize', self.path('f.onnx'), f"--data={self.path('data.npy')}", '--samples=200', '-o', self.path('q.onnx'),
                         f'--for={reader}', f'--calibrator={name}')
            onnx.checker.check_model(self.path('q.onnx'), full_check=True)
            for optimized in (False, True):   # as the file is defined; by ONNX Runtime's kernels for integers
                got = answers('q.onnx', optimized)
                error, same = relative(got, want), (got.argmax(1) == want.argmax(1)).mean()
                print(f'MobileNet-v2, --for={reader}, {name}, optimized {optimized}: relative l2 {error:.4f}, same first class {same:.0%}',
                      flush=True)
                if not optimized or EXACT:
                    self.assertLess(error, maximum)
                    self.assertGreaterEqual(same, 0.92)   # one photograph is one point


if __name__ == '__main__':
    cli_case.main()
