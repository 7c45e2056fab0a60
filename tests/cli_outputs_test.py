#!/usr/bin/env python3
"""What the program `tenfold` tells and writes: tables, JSON, arrays, layers, ranges for profilers: cli_outputs_test.py TENFOLD"""

import json
import os
import pathlib
import re

import cli_case
from cli_case import BATCH, FLOAT, ONCE, CliCase, TensorProto, helper, np, numpy_helper, save_model


class Outputs(CliCase):
    def test_compare_tells_of_rounded_weights(self):
        # Enough numbers that the build may round them, at a level that takes the first tactic there is.
        w = np.random.default_rng(3).standard_normal((300, 400)).astype(np.float32)
        product = [helper.make_node('MatMul', ['x', 'w'], ['y'])]
        weight = numpy_helper.from_array(w, 'w')
        model = save_model(self.path('w.onnx'), product, [('x', FLOAT, [2, 300])], [('y', FLOAT, [2, 400])], [weight])
        for flag in ((), ('--noTF32',)):
            self.tenfold('exec', f'--onnx={model}', f'--saveEngine={self.path("w.plan")}', *flag, *ONCE)
            steps = self.tenfold('inspect', self.path('w.plan')).stdout
            reported = self.tenfold('compare', self.path('w.plan'), '--reference', '--tolerance=1e-4').stderr
            rounds = re.search('_f24|_s16|_s24|_split', steps) is not None
            self.assertEqual('rounded' in reported, rounds, steps + reported)
            self.assertFalse(rounds and flag)

    def test_compare_names_the_first_layer_that_differs(self):
        nodes = [helper.make_node('MatMul', ['x', 'w'], ['a']), helper.make_node('Softmax', ['a'], ['b']),
                 helper.make_node('MatMul', ['b', 'u'], ['c']), helper.make_node('Softmax', ['c'], ['y'])]
        u = np.random.default_rng(2).standard_normal((4, 4)).astype(np.float32)
        models = []
        for k in range(2):
            weights = [numpy_helper.from_array(self.weights, 'w'), numpy_helper.from_array(u * (1 + k), 'u')]
            models.append(save_model(self.path(f'layers{k}.onnx'), nodes, [('x', FLOAT, [3, 6])], [('y', FLOAT, [3, 4])], weights))
        other = json.loads(self.tenfold('compare', *models, '--json').stdout)
        self.assertEqual(other['firstDifference']['name'], 'c')
        self.assertEqual(other['comparedLayers'], 4)
        same = json.loads(self.tenfold('compare', models[0], '--reference', '--json').stdout)
        self.assertIsNone(same['firstDifference'])
        self.assertEqual(same['comparedLayers'], 4)
        self.assertIn('first layer that differs: ', self.tenfold('compare', *models).stdout)

    def test_passes_are_switched_off_and_dumped_by_name(self):
        def dumped(*flags):
            folder = self.path('dump' + str(len(flags)))
            self.tenfold('exec', f'--onnx={self.model}', "--shapes='x:0':2x6", '--skipInference', f'--dumpPasses={folder}', *flags, *ONCE)
            return {name[3:-4]: pathlib.Path(folder, name).read_text() for name in os.listdir(folder)}
        plain, without = dumped(), dumped('--disablePasses=fuse_epilogue')
        self.assertIn('Tanh', plain['import'])
        self.assertIn('tanh', plain['fuse_epilogue'])
        self.assertNotIn('fuse_epilogue', without)
        self.refused(2, 'fuse_attention', 'exec', f'--onnx={self.model}', '--disablePasses=fuse_everything', *ONCE)
        self.assertIn('--disablePasses', self.tenfold('exec', '--help=all').stdout)

    def test_types_that_numpy_lacks(self):
        kinds = {
            'f64': (TensorProto.DOUBLE, np.float64),
            'f16': (TensorProto.FLOAT16, np.float16),
            'bf16': (TensorProto.BFLOAT16, np.uint16),
            'i64': (TensorProto.INT64, np.int64),
            'u8': (TensorProto.UINT8, np.uint8),
            'b': (TensorProto.BOOL, np.bool_),
            'f8': (TensorProto.FLOAT8E4M3FN, np.uint8),
            'i4': (TensorProto.INT4, np.int8),
        }
        nodes = [helper.make_node('Cast', ['x'], [name], to=kind) for name, (kind, _) in kinds.items()]
        model = save_model(self.path('c.onnx'), nodes, [('x', FLOAT, [5])], [(name, kind, [5]) for name, (kind, _) in kinds.items()])
        x = np.array([0, 1, 2, 3, 6], np.float32)
        np.save(self.path('x.npy'), x)
        out = self.path('o.npz')
        self.tenfold('exec', f'--onnx={model}', f'--loadInputs=x:{self.path("x.npy")}', f'--exportOutput={out}', *ONCE)
        with np.load(out) as arrays:
            for name, (_, dtype) in kinds.items():
                self.assertEqual(arrays[name].dtype, dtype, name)
            for name in ('f64', 'f16', 'i64', 'u8', 'i4'):
                np.testing.assert_array_equal(arrays[name].astype(np.float32), x, name)
            np.testing.assert_array_equal(arrays['b'], x != 0)
            np.testing.assert_array_equal((arrays['bf16'].astype(np.uint32) << 16).view(np.float32), x)
            np.testing.assert_array_equal(arrays['f8'], [0x00, 0x38, 0x40, 0x44, 0x4C])
            stored = dict(arrays)
        back = save_model(
            self.path('b.onnx'),
            [helper.make_node('Cast', [name], ['y_' + name], to=FLOAT) for name in kinds],
            [(name, kind, [5]) for name, (kind, _) in kinds.items()],
            [('y_' + name, FLOAT, [5]) for name in kinds],
        )
        self.tenfold(
            'exec',
            f'--onnx={back}',
            '--loadInputs=' + ','.join(f'{name}:{out}' for name in kinds),
            '--exportOutput=' + self.path('r.npz'),
            *ONCE,
        )
        with np.load(self.path('r.npz')) as arrays:
            for name in stored:
                np.testing.assert_array_equal(arrays['y_' + name], (x != 0) if name == 'b' else x, name)

    def test_trtexec_form(self):
        link = self.path('trtexec')
        os.symlink(cli_case.TENFOLD, link)
        files = {flag: self.path(flag + '.json') for flag in ('exportTimes', 'exportProfile', 'exportLayerInfo', 'exportOutput')}
        done = self.tenfold(
            f'--onnx={self.model}',
            '--iterations=20',
            '--duration=0',
            '--warmUp=0',
            '--percentile=50,99',
            '--infStreams=2',
            '--dumpProfile',
            *(f'--{flag}={path}' for flag, path in files.items()),
            program=[link],
        )
        for text in (
            '=== Performance summary ===',
            'Throughput: ',
            'Latency: min = ',
            'percentile(50%) = ',
            'GPU Compute Time: min',   # by which scripts of trtexec read it
            'Total Host Walltime: ',
            '&&&& PASSED TensorRT.trtexec',
            '=== Profile (',
        ):
            self.assertIn(text, done.stdout)
        read = {flag: json.loads(pathlib.Path(path).read_text()) for flag, path in files.items()}
        self.assertEqual(len(read['exportTimes']), 40)
        self.assertTrue(all(t['endComputeMs'] >= t['startComputeMs'] for t in read['exportTimes']))
        self.assertEqual(read['exportProfile'][0], {'count': 20})
        self.assertGreater(len(read['exportLayerInfo']['Layers']), 0)
        self.assertEqual(read['exportOutput'][0]['dimensions'], '1x4')

    def test_a_timeline(self):
        """What chrome://tracing and Perfetto ask: complete events in microseconds that lie inside each other or behind each other."""
        trace, times, profile = (self.path(name) for name in ('trace.json', 'times.json', 'profile.json'))
        self.tenfold('exec', f'--onnx={self.model}', '--iterations=7', '--duration=0', '--warmUp=0', '--infStreams=2',
                     f'--exportTrace={trace}', f'--exportTimes={times}', f'--exportProfile={profile}')
        events = json.loads(pathlib.Path(trace).read_text())['traceEvents']
        names = {(e['pid'], e['tid']): e['args']['name'] for e in events if e['name'] == 'thread_name'}
        self.assertEqual(sorted(names.values()), ['steps', 'stream 0', 'stream 1'])
        tracks = {}
        for event in events:
            if event['ph'] == 'X':
                tracks.setdefault(names[event['pid'], event['tid']], []).append((event['ts'], event['ts'] + event['dur'], event))
        for name, spans in tracks.items():
            inside = []
            for start, end, event in sorted(spans, key=lambda span: (span[0], -span[1])):
                while inside and inside[-1] <= start + 1e-3:
                    inside.pop()
                self.assertTrue(not inside or end <= inside[-1] + 1e-3, f'{name}: {event}')
                inside.append(end)
        runs = sorted((s, e) for name in ('stream 0', 'stream 1') for s, e, event in tracks[name] if event['cat'] == 'run')
        reported = json.loads(pathlib.Path(times).read_text())
        self.assertEqual(len(runs), 14)
        np.testing.assert_allclose([s for s, _ in runs], [1e3 * t['startEnqMs'] for t in reported], rtol=1e-9)
        np.testing.assert_allclose([e - s for s, e in runs], [1e3 * t['latencyMs'] for t in reported], rtol=1e-6)
        layers = json.loads(pathlib.Path(profile).read_text())[1:]
        self.assertEqual([e['name'] for *_, e in tracks['steps']], [layer['name'] for layer in layers])

    def test_ranges_for_a_profiler(self):
        listener, log = os.environ.get('TENFOLD_NVTX_LISTENER', ''), self.path('heard')
        if not os.path.exists(listener):
            self.skipTest('TENFOLD_NVTX_LISTENER names no library')
        env = dict(os.environ, NVTX_INJECTION64_PATH=listener, NVTX_LISTENER_LOG=log)
        run = ('exec', f'--onnx={self.model}', '--iterations=3', '--duration=0', '--warmUp=0', '--builderOptimizationLevel=0')
        self.tenfold(*run, env=env)
        self.assertFalse(os.path.exists(log), 'ranges that nobody asked for')
        self.tenfold(*run, '--profilingVerbosity=detailed', env=env)
        heard = pathlib.Path(log).read_text().splitlines()
        outer = [line for line in heard if not line.startswith(' ')]
        self.assertEqual(len(outer), 3)
        self.assertEqual(len(set(outer)), 1)
        self.assertGreaterEqual(len(heard), 2 * len(outer), 'every run has a step')

    def test_json_line(self):
        last = self.tenfold('exec', f'--onnx={self.model}', '--threads=1', '--json', *ONCE).stdout.splitlines()[-1]
        result = json.loads(last)
        self.assertEqual(
            list(result),
            [
                'model',
                'device',
                'threads',
                'first_run_ms',
                'median_ms',
                'p99_ms',
                'gpu_compute_ms',
                'throughput_qps',
                'streams',
                'build_s',
                'load_ms',
                'weight_bytes',
                'arena_bytes',
                'library_workspace_bytes',
                'peak_rss_bytes',
                'notes',
            ],
        )
        self.assertEqual(result['threads'], 1)
        self.assertGreater(result['median_ms'], 0)

    def test_names_of_the_model(self):
        """Which nodes a step computes, and where a tensor is: in words, in JSON, in a profile; told of a plan as of its model."""
        model = save_model(
            self.path('names.onnx'),
            [helper.make_node('MatMul', ['x', 'w'], ['p'], name='product'), helper.make_node('Identity', ['p'], ['i'], name='nothing'),
             helper.make_node('Tanh', ['i'], ['t']), helper.make_node('Softmax', ['t'], ['y'], name='end')],
            [('x', FLOAT, BATCH)], [('y', FLOAT, ['batch', 4])], [numpy_helper.from_array(self.weights, 'w')])
        plan = self.path('names.plan')
        self.tenfold('exec', '--onnx=' + model, '--saveEngine=' + plan, '--skipInference', *ONCE)
        for source in (model, plan):
            find = lambda name: self.tenfold('inspect', source, '--find=' + name).stdout
            self.assertRegex(find('product'), r"^node 'product' is computed by step \d+ '")
            self.assertEqual(find('nothing'), "node 'nothing' has no step of its own: remove_identity\n")
            self.assertRegex(find('Tanh -> t'), r"^node 'Tanh -> t' is computed by step \d")
            self.assertRegex(find('y'), r"^tensor 'y': result 0 of step \d+ '.*', binding 1\n")
            self.assertRegex(find('x'), r"^tensor 'x': operand 0 of step 0 '.*', binding 0\n")
            self.assertRegex(find('p') + find('i'), r"^tensor 'p': (inside|result 0 of) step \d")
            self.assertRegex(find('w'), r"^tensor 'w': operand 1 of step \d+ '.*', constant ")
            text = self.tenfold('inspect', source).stdout
            self.assertRegex(text, r'(?m)^ +computes product')
            self.assertRegex(text, r'(?m)^  no step of its own \(remove_identity\): nothing$')
            layers = json.loads(self.tenfold('inspect', source, '--json').stdout)
            reported = [name for layer in layers['Layers'] for name in layer['Metadata'].split('\x1f')]
            self.assertEqual(sorted(reported), ['[ONNX Layer: Tanh -> t]', '[ONNX Layer: end]', '[ONNX Layer: product]'])
            products = [layer['Precision'] for layer in layers['Layers'] if 'product' in layer['Metadata']]
            self.assertEqual(products, [{'Compute': 'f32', 'Sum': 'f32', 'Storage': 'f32'}])
            self.assertRegex(text, r'(?m)^ +types in f32, sums in f32, gives f32$')
            self.assertEqual(layers['Removed'], [{'Node': 'nothing', 'By': 'remove_identity', 'Profile': 0}])
            self.assertEqual(layers['Layers'][-1]['Outputs'][0]['Tensors'], ['y'])
        self.refused(2, "no node and no tensor named 'z'", 'inspect', plan, '--find=z')
        profile = self.path('profile.json')
        out = self.tenfold('exec', '--loadEngine=' + plan, '--dumpProfile', '--exportProfile=' + profile, *ONCE).stdout
        self.assertRegex(out, r'\(product')
        with open(profile) as f:
            self.assertIn('product', [name for layer in json.load(f)[1:] for name in layer['nodes']])

    def test_inspect_and_lists(self):
        why = self.tenfold('inspect', self.model, '--why').stdout
        self.assertRegex(why, r'\* \w+.*us')
        self.assertIn('MatMul', self.tenfold('inspect', self.model).stdout)
        self.assertIn('Layers', json.loads(self.tenfold('inspect', self.model, '--json').stdout))
        operators = json.loads(self.tenfold('ops', '--json').stdout)
        self.assertIn('MatMul', {o['name'] for o in operators if o['domain'] == 'ai.onnx'})
        self.assertEqual(json.loads(self.tenfold('devices', '--json').stdout)[0]['device'], 'cpu')
        for verb in ('exec', 'inspect', 'report', 'quantize', 'embed', 'compare', 'ops', 'devices'):
            self.assertLess(len(self.tenfold(verb, '--help').stdout.splitlines()), 54, verb)

    def test_verbs_that_build_take_the_flags_of_exec(self):
        build = ['--noTF32', '--bf16', '--int8', "--minShapes='x:0':1x6", "--maxShapes='x:0':4x6", '--builderOptimizationLevel=1']
        plan = self.make_plan('n.plan', self.model, *build)
        self.assertRegex(self.tenfold('inspect', self.model, '--why', *build).stdout, r'\[batch,6\]')
        self.assertIn('min 1x6', self.tenfold('exec', '--loadEngine=' + plan, '--dumpOptimizationProfile', *ONCE).stdout)
        steps = lambda source, *flags: json.loads(self.tenfold('inspect', source, '--json', *flags).stdout)['Layers']
        untimed = [*build[:-1], '--builderOptimizationLevel=0']   # two builds that are timed may unfuse differently
        self.assertEqual([s['Name'] for s in steps(self.make_plan('u.plan', self.model, *untimed))],
                         [s['Name'] for s in steps(self.model, *untimed)])
        self.tenfold('compare', self.model, plan, *build, "--shapes='x:0':2x6", '--tolerance=1e-2')
        self.tenfold('report', self.model, '-o', self.path('r.html'), '--skipInference', *build)
        for verb in (['inspect', self.model], ['compare', self.model, plan], ['report', self.model, '--json']):
            self.refused(2, "there is no device", *verb, '--device=gpu')
            self.refused(2, 'did you mean --noTF32?', *verb, '--notf32')
        self.assertIn('--noTF32 has no effect: the plan', self.tenfold('inspect', plan, '--noTF32').stderr)

    def test_a_comparison_with_itself_says_so(self):
        plan = self.make_plan()
        output = self.tenfold('compare', plan, self.model).stderr
        self.assertIn("m.onnx' was built here, so Tenfold was compared with Tenfold", output)
        self.assertIn('--reference', output)
        self.assertNotIn('Tenfold was compared', self.tenfold('compare', plan, '--reference').stderr)

    def test_the_only_input_needs_no_name(self):
        np.save(self.path('x.npy'), np.zeros((3, 6), np.float32))
        for flag in ('--shapes=3x6', '--loadInputs=' + self.path('x.npy'), '--minShapes=1x6 --maxShapes=3x6 --optShapes=3x6'):
            output = self.tenfold('exec', '--onnx=' + self.model, *flag.split(), *ONCE).stderr
            self.assertIn("Input 'x:0': f32[3x6]", output)
            self.assertNotIn('fixed to 1', output)
        plan = self.make_plan('p.plan', self.model, "--minShapes='x:0':1x6", "--maxShapes='x:0':4x6")
        self.assertIn('f32[2x6]', self.tenfold('exec', '--loadEngine=' + plan, '--shapes=2x6', *ONCE).stderr)
        self.assertIn('f32[3x6]', self.tenfold('exec', '--loadEngine=' + plan, '--loadInputs=' + self.path('x.npy'), *ONCE).stderr)
        pair = save_model(self.path('pair.onnx'), [helper.make_node('Add', ['a', 'b'], ['y'])], [('a', FLOAT, ['n']), ('b', FLOAT, ['n'])],
                          [('y', FLOAT, ['n'])])
        for flag in ('--shapes=3', '--loadInputs=' + self.path('x.npy')):
            self.refused(2, flag + " names no input, and there are several: 'a', 'b'", 'exec', '--onnx=' + pair, flag, *ONCE)
        self.refused(2, "for 'image', but the model's inputs are: x:0", 'exec', '--onnx=' + self.model, '--shapes=image:1x6', *ONCE)

    def test_inspect_says_what_was_asked_for(self):
        plain, asked = self.make_plan(), self.make_plan('n.plan', self.model, '--noTF32', '--bf16', '--threads=1')
        self.assertRegex(self.tenfold('inspect', asked).stdout, r'(?m)^options  bf16, no tf32, optimization level 0, threads 1$')
        self.assertRegex(self.tenfold('inspect', plain).stdout, r'(?m)^options  optimization level 0, threads \d+$')
        self.assertEqual(self.tenfold('inspect', plain).stdout.count('x:0  f32['), 1)
        why = self.tenfold('inspect', self.model, '--why').stdout
        self.assertIn('! a constant', why)
        self.assertIn("in brackets the kernel's parameters", why)

    def test_reference_kernels_that_were_asked_for_are_no_news(self):
        self.assertNotIn('reference kernel', self.tenfold('compare', self.model, '--reference').stderr)

    def test_nothing_in_common_is_a_failure(self):
        other = save_model(self.path('other.onnx'), [helper.make_node('Abs', ['a'], ['b'])], [('a', FLOAT, [2])], [('b', FLOAT, [2])])
        self.assertIn('nothing could be compared: no tensor name in common', self.tenfold('compare', self.model, other, code=5).stdout)


if __name__ == '__main__':
    cli_case.main()
