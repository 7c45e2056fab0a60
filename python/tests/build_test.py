"""From models to engines and back to files: every form of a model and of a plan, keywords, and what a model says of itself."""
import io
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import unittest

import numpy as np
from case import PROFILE, QUICK, WEIGHTS, Case, batch, onnx, tanh_engine, tanh_model, truth

import tenfold
from tenfold import _native


class Models(Case):
    def test_every_form_of_a_model_gives_the_same_answers(self):
        proto, x = tanh_model(), batch()
        onnx.save(proto, self.path('m.onnx'))
        data = proto.SerializeToString()
        for form in (self.path('m.onnx'), pathlib.Path(self.path('m.onnx')), data, bytearray(data), memoryview(b'junk' + data)[4:], proto):
            with self.subTest(type(form).__name__):
                self.near(tenfold.build(form, profiles=PROFILE, **QUICK)(x), truth(x))

    def test_every_form_of_a_plan(self):
        engine, x = tanh_engine(), batch(8)
        engine.save(self.path('m.plan'))
        engine.save(pathlib.Path(self.path('n.plan')))
        plan = bytes(engine)
        self.assertEqual(plan, pathlib.Path(self.path('m.plan')).read_bytes())
        wrapped = io.BytesIO(b'\x05\0\0\0{"a":' + plan).getbuffer()   # metadata in front, as some tools write it
        for form in (self.path('m.plan'), pathlib.Path(self.path('n.plan')), plan, wrapped[9:]):
            np.testing.assert_array_equal(tenfold.load(form)(x), engine(x))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(engine))(x), engine(x))

    def test_inputs_and_problems_are_told_without_a_build(self):
        x, y = tenfold.bindings(tanh_model())
        self.assertEqual((x.name, x.dtype, x.numpy_dtype, x.dims, x.is_input), ('x', 'f32', 'float32', ('batch', 6), True))
        self.assertEqual((y.name, y.is_input), ('y', False))
        broken = tanh_model()
        broken.graph.node[1].op_type = 'Tan5'
        onnx.save(broken, self.path('m.onnx'))
        (problem,) = tenfold.check(self.path('m.onnx'))
        with open(self.path('m.onnx'), 'rb') as f:
            self.assertEqual([str(p) for p in tenfold.check(f.read())], [str(problem)])
        self.assertEqual((problem.node, problem.op, problem.kind), ('bend', 'Tan5', 'unsupported'))
        error = self.refused((tenfold.Unsupported, NotImplementedError), 'Tan5', tenfold.build, broken, **QUICK)
        self.assertEqual((error.node, error.op, error.opset, error.kind), ('bend', 'Tan5', 21, 'unsupported'))
        self.assertEqual(len(error.problems), 1)

    def test_weights_are_read_and_refitted(self):
        onnx.save(tanh_model(), self.path('m.onnx'))
        weights = tenfold.weights(self.path('m.onnx'))
        np.testing.assert_array_equal(weights['w'], WEIGHTS)
        self.assertFalse(weights['w'].flags.writeable)
        engine = tenfold.build(self.path('m.onnx'), profiles=PROFILE, refittable=True, **QUICK)
        x = batch()
        other = engine.refit({'w': 2 * WEIGHTS})
        self.near(other(x), np.tanh(x @ (2 * WEIGHTS)))
        self.near(engine(x), truth(x))                               # the old one stays
        self.near(tenfold.refit(other, self.path('m.onnx'))(x), truth(x))
        self.refused(tenfold.InvalidArgument, "'v'", engine.refit, {'v': WEIGHTS})

    def test_retuned_engines_answer_alike(self):
        x = batch()
        self.near(tenfold.retune(tanh_engine(), optimization_level=1)(x), truth(x))

    def test_plans_tell_what_they_hold(self):
        engine = tenfold.build(tanh_model(), profiles=PROFILE, labels={'by': 'a test'}, **QUICK)
        self.assertEqual(engine.labels['by'], 'a test')
        self.assertEqual(engine.profile_shapes(0, 'x'), ((1, 6), (4, 6), (8, 6)))
        plan = tenfold.inspect(engine)
        self.assertEqual([n.name for n in plan.programs[0].nodes], ['product', 'bend'])
        self.assertTrue(plan.programs[0].steps)
        self.assertIn('MatMul', engine.inspect())
        json.loads(engine.inspect_json())
        steps = tenfold.profile(engine, batch(), runs=3)
        self.assertEqual([name for name, _ in steps], [s.name for s in plan.programs[0].steps])
        self.assertTrue(all(ms >= 0 for _, ms in steps))


class Keywords(Case):
    def test_the_table_holds_every_field_of_the_headers(self):
        for header, struct, table in (('engine.h', 'LoadOptions', _native.load_options()),):   # BuildConfig's come from build_fields.h
            text = pathlib.Path(tenfold.get_include(), 'tenfold', header).read_text()
            body = re.sub(r'//[^\n]*', '', text[text.index(f'struct {struct} {{'):])
            body = body[body.index('{') + 1:body.index('\n};')]
            fields = set()
            for statement in re.sub(r'\{[^{}]*\}', '', body).split(';'):
                declared = re.sub(r'<.*>', '', statement, flags=re.S).strip()   # "bool fp16 = false, bf16 = false"
                fields |= set(re.findall(r'(?:\s|,\s*)(\w+)\s*(?:=[^,]*)?(?=,|$)', declared))
            self.assertEqual({name for name, _ in table}, fields - {''}, struct)

    def test_unknown_names_are_told_the_nearest(self):
        self.refused(TypeError, ["'optimisation_level'", "'optimization_level'"], tenfold.build, tanh_model(), optimisation_level=2)
        self.refused(TypeError, ["'verify_weight'", "'verify_weights'"], tenfold.load, b'', verify_weight=True)
        self.refused(TypeError, ["'zzz'", 'help'], tenfold.build, tanh_model(), zzz=1)

    def test_what_people_try_first_is_told_the_way(self):
        self.refused(TypeError, ["'shapes'", 'profiles={"x": shape}'], tenfold.build, tanh_model(), shapes={'x': [1, 6]})
        words = 'it looks like an ONNX model: tenfold.build() makes an engine of it'
        self.refused(tenfold.PlanRefused, words, tenfold.load, tanh_model().SerializeToString())
        plan = tanh_engine().serialize()
        self.refused(tenfold.InvalidModel, 'a plan of Tenfold, which is loaded and not built: tenfold.load()', tenfold.build, plan)

        class Module:   # as of torch.nn
            def state_dict(self): pass
            def forward(self): pass
        self.refused(TypeError, ['torch.compile(module, backend="tenfold")', 'tenfold.torch.export'], tenfold.build, Module())
        self.assertIn('optimization_level', tenfold.build.__doc__)
        fixed = tenfold.build(tanh_model(), profiles={'x': [1, 6]}, **QUICK)
        self.refused(tenfold.InvalidArgument, ['axis 0 is fixed', 'profiles={', 'dynamic shapes'], fixed, batch(2))
        self.refused(tenfold.InvalidArgument, '2 arrays are given, the engine has 1 input', fixed, batch(1), batch(1))

    def test_values_of_other_types_are_named(self):
        for name, value, expected in (('threads', 'two', 'whole number'), ('fp16', 'yes', 'True or False'), ('labels', ['a'], 'dict'),
                                    ('threads', 2**40, '32 bits'), ('profiles', {'x': [[1], [2]]}, 'min, opt, max'),
                                    ('pack_tokens', 'maybe', "'where_equal'"), ('progress', 3, 'function'), ('timings', 'x', 'TimingCache'),
                                    ('disabled_passes', 'abc', 'sequence'), ('device', 3, 'string')):
            with self.subTest(name):
                self.refused(TypeError, [f"'{name}'", expected], tenfold.build, tanh_model(), **{name: value})
        self.refused(TypeError, "'weights'", tenfold.load, b'', weights='fast')

    def test_keywords_reach_the_build(self):
        engine = tenfold.build(tanh_model(), profiles=PROFILE, input_formats={'x': 'f64'}, output_formats={'y': np.float16}, **QUICK)
        x = batch().astype(np.float64)
        y = engine(x)
        self.assertEqual(y.dtype, np.float16)
        self.near(y, truth(x), 1e-3)
        cache = tenfold.TimingCache()
        tenfold.build(tanh_model(), profiles=PROFILE, device='cpu', optimization_level=1, timings=cache)
        self.assertGreater(len(cache), 0)
        self.assertEqual(len(tenfold.TimingCache.parse(cache.text)), len(cache))
        self.refused(tenfold.InvalidArgument, 'optimization', tenfold.build, tanh_model(), device='cpu', optimization_level=9)
        two = tenfold.build(tanh_model(), profiles=[{'x': [1, 6]}, {'x': ([2, 6], [2, 6], [8, 6])}], **QUICK)
        self.assertEqual(two.info.profiles, 2)
        self.near(two(batch(1)), truth(batch(1)))

    def test_the_environment_names_the_device(self):
        code = 'import sys; sys.path.insert(0, sys.argv[1]); import case, tenfold; tenfold.build(case.tanh_model(), profiles=case.PROFILE)'
        folder = os.path.dirname(os.path.abspath(__file__))
        for device, word in (('cpu', ''), ('tpu:7', 'tpu:7')):
            done = subprocess.run([sys.executable, '-c', code, folder], env={**os.environ, 'TENFOLD_DEVICE': device}, capture_output=True,
                                  text=True)
            self.assertEqual(done.returncode == 0, not word, done.stderr)
            self.assertIn(word, done.stderr)


class Damaged(Case):
    def test_what_is_no_model_or_plan_is_refused(self):
        self.refused(TypeError, 'int', tenfold.build, 3)
        self.refused((tenfold.FileError, OSError), '/no/such', tenfold.build, '/no/such.onnx', **QUICK)
        self.refused((tenfold.InvalidModel, ValueError), '', tenfold.build, b'not a model', **QUICK)
        self.refused((tenfold.PlanRefused, ValueError), 'plan', tenfold.load, b'not a plan')
        self.refused((tenfold.FileError, OSError), '/no/such', tenfold.load, '/no/such.plan')

    def test_cut_and_damaged_plans_are_refused(self):
        plan = bytes(tanh_engine())
        for cut in (0, 1, 8, 100, len(plan) // 2, len(plan) - 1):
            self.refused(tenfold.PlanRefused, '', tenfold.load, plan[:cut])
        damaged = bytearray(plan)
        damaged[len(plan) // 2] ^= 255
        self.refused(tenfold.PlanRefused, '', tenfold.load, damaged)

    def test_a_library_that_is_no_plugin(self):
        self.refused(tenfold.FileError, '/no/such.so', tenfold.Plugins().load, '/no/such.so')
        self.refused(tenfold.Error, '', tenfold.Plugins().load, _native.__file__)


if __name__ == '__main__':
    unittest.main()
