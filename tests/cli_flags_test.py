#!/usr/bin/env python3
"""What single flags of `tenfold exec` change on a CPU: cli_flags_test.py TENFOLD. Each test fails if its flag does nothing."""

import json
import os
import pathlib

import cli_case
from cli_case import FLOAT, ONCE, CliCase, helper, np, numpy_helper, save_model

TIMED = ['--iterations=1', '--duration=0', '--warmUp=0', '--builderOptimizationLevel=1']


class Flags(CliCase):
    def run_model(self, *flags, times=ONCE, **options):
        return self.tenfold('exec', f'--onnx={self.model}', "--shapes='x:0':3x6", '--noBuilderCache', *times, *flags, **options)

    def layers(self, *flags):
        out = self.path('layers.json')
        self.run_model(f'--exportLayerInfo={out}', *flags)
        return json.loads(pathlib.Path(out).read_text())['Layers']

    def test_averages(self):
        done = self.run_model('--avgRuns=2', '--iterations=6')
        self.assertEqual(done.stdout.count('Average on 2 runs'), 3)
        self.assertNotIn('Average on', self.run_model('--iterations=6').stdout)
        self.assertNotIn('Average on', self.run_model('--verbose', '--iterations=10').stdout)
        self.assertIn('percentile(50%)', self.run_model('--percentile=50').stdout)

    def test_verbose_tells_passes_candidates_and_memory(self):
        reported, plain = (self.run_model(*flags, '--builderOptimizationLevel=1').stderr for flags in (['--verbose'], []))
        for words in ('[V] pass fuse_epilogue changed the graph, which has 1 node now', '[V] problem of step ', 'candidates can run',
                      ' us, chosen', '[V] memory: ', '[V] memory of program 0: '):
            self.assertIn(words, reported)
        self.assertNotIn('[V]', plain)

    def test_what_does_nothing_on_a_cpu_says_so(self):
        reported = [line for line in self.run_model('--fp16').stderr.splitlines() if 'fp16' in line]
        self.assertEqual(len(reported), 1, reported)
        self.assertIn('fp16 was allowed, but CPUs here have no fp16 arithmetic', reported[0])
        self.assertIn('[W] fp16 was allowed', reported[0])
        self.assertIn('--device=cuda:0', reported[0])
        self.assertIn('--fp32 has no effect: fp32 is the default', self.run_model('--fp32').stderr)
        self.assertIn('--best left fp8 out: CPUs have no e4m3 GEMMs', self.run_model('--best').stderr)
        self.assertNotIn('--fp16', self.run_model('--best').stderr)

    def test_messages_name_flags(self):
        said = self.tenfold('exec', '--onnx=' + self.model, *ONCE).stderr
        self.assertIn("it is fixed to 1 (give its extents: --shapes='x:0':1x6, or --minShapes, --optShapes and --maxShapes)", said)
        self.assertIn('--buildOnly is added', self.run_model('--buildOnly').stderr)
        self.refused(2, "--layerPrecisions, --layerOutputTypes: no node of the model is called 'none'", 'exec', '--onnx=' + self.model,
                     '--layerPrecisions=none:fp32', '--precisionConstraints=obey', *ONCE)
        self.refused(2, 'did you mean -o?', 'report', self.model, '--out=r.html')
        self.refused(2, "there is no device 'gpu': devices are cpu and cuda:N; Tenfold found cpu", 'exec', '--onnx=' + self.model,
                     '--device=gpu')
        self.refused(4, 'an engine of TensorRT', 'exec', '--loadEngine=' + self.write('trt.plan', b'ftrt' + bytes(4000)))
        for verb in ('inspect', 'report'):
            self.refused(3, "trt.plan' is neither a plan nor an ONNX model: it is an engine of TensorRT", verb, self.path('trt.plan'))
        self.refused(3, 'neither a plan nor an ONNX model', 'inspect', self.write('text.plan', b'no plan at all'))
        plan = self.make_plan()
        with open(plan, 'r+b') as f:
            f.seek(-1, 2)
            f.write(b'~')
        self.refused(4, 'does not match; copy it again, or build it again', 'exec', '--loadEngine=' + plan)

    def test_the_last_line_of_the_summary_is_for_people(self):
        lines = self.run_model().stdout.splitlines()
        self.assertRegex(lines[-2], r'In short: a run takes [\d.e-]+ ms \(median; .*runs a second$')

    def test_help_by_one_letter(self):
        for verb in ('exec', 'inspect', 'report', 'quantize', 'embed', 'compare', 'ops', 'devices', 'cache'):
            self.assertEqual(self.tenfold(verb, '-h').stdout, self.tenfold(verb, '--help').stdout)

    def test_building_alone(self):
        for flag in ('--buildOnly', '--skipInference'):
            self.assertNotIn('Performance summary', self.run_model(flag).stdout)

    def test_features_and_sources_of_kernels(self):
        plan = self.path('narrow.plan')
        self.run_model('--cpuFeatures=avx2', f'--saveEngine={plan}')
        self.assertRegex(self.tenfold('inspect', plan).stdout, r'device .*needs avx2\)')
        self.refused(2, "unknown CPU feature 'mmx', expected some of avx2", 'exec', f'--onnx={self.model}', '--cpuFeatures=mmx', *ONCE)
        self.assertIn('kernel ', self.run_model('--dumpLayerInfo').stdout)
        self.assertNotIn('kernel ', self.run_model('--dumpLayerInfo', '--tacticSources=reference').stdout)
        self.refused(2, "unknown source 'mkl', expected reference", 'exec', f'--onnx={self.model}', '--tacticSources=+mkl', *ONCE)

    def test_a_library_that_is_left_out_is_not_opened(self):
        """By the loader's own record, which has the search for a library that is not installed, too."""
        if 'no oneDNN: its header' in self.tenfold('devices').stdout:
            self.skipTest('built without oneDNN')
        for number, (flags, opened) in enumerate((([], False), (['--tacticSources=+onednn'], True))):
            record = {**os.environ, 'LD_DEBUG': 'libs', 'LD_DEBUG_OUTPUT': self.path(f'loader{number}')}
            self.run_model(*flags, times=TIMED, env=record)
            reported = ''.join(path.read_text() for path in pathlib.Path(self.folder).glob(f'loader{number}.*'))
            self.assertIn('libstdc++', reported)
            self.assertEqual('libdnnl' in reported, opened, flags)

    def test_sizes(self):
        for size in ('1024', '1GiB', '1gb', '1G', '1048576KiB', '1073741824B'):
            self.run_model(f'--memPoolSize=workspace:{size}')
        self.refused(2, "'1TiB' is not a size; expected MiB, or a number with B, K, M or G", 'exec', f'--onnx={self.model}',
                     '--memPoolSize=workspace:1TiB', *ONCE)

    def test_how_much_is_told_of_layers(self):
        for flag in ('--profilingVerbosity', '--nvtxVerbosity'):
            reported = {how: self.run_model('--dumpLayerInfo', f'{flag}={how}').stdout for how in ('none', 'layer_names_only', 'detailed')}
            self.assertEqual([how for how, text in reported.items() if 'MatMul' in text], ['layer_names_only', 'detailed'])
            self.assertEqual([how for how, text in reported.items() if 'constant 0' in text], ['detailed'])
            expected = f"{flag} is layer_names_only, detailed or none, not 'loud'"
            self.refused(2, expected, 'exec', f'--onnx={self.model}', f'{flag}=loud', *ONCE)

    def test_values_of_outputs(self):
        np.save(self.path('x.npy'), np.zeros((3, 6), np.float32))
        reported = self.run_model('--dumpOutput', f"--loadInputs='x:0':{self.path('x.npy')}").stdout
        self.assertRegex(reported, r'y: \(3x4\)\n.*\] (0 ){11}0\n')

    def test_progress(self):
        steps = [json.loads(line) for line in self.run_model('--progress=json').stderr.splitlines() if line.startswith('{')]
        self.assertEqual(steps[-1]['done'], steps[-1]['total'])
        self.assertNotIn('{', self.run_model('--progress=none').stderr)

    def test_types_of_results(self):
        self.run_model('--outputIOFormats=fp32:chw')
        self.run_model('--outputIOFormats=int9:chw', code=2)

    def test_precisions_that_a_cpu_does_not_have(self):
        for flag in ('--fp16', '--best'):
            self.assertIn('no fp16 arithmetic that pays', self.run_model(flag).stderr)
        for flag in ('--fp8', '--noOverflowCheck', '--noCudaGraph', '--useCudaGraph', '--noDataTransfers', '--includeDataTransfers',
                     '--noSpinWait', '--monitorMemory', '--hostMemory=pinned', '--hostMemory=pageable'):  # fmt: skip
            self.run_model(flag)
        self.assertIn("--hostMemory is pageable or pinned, not 'managed'", self.run_model('--hostMemory=managed', code=2).stderr)

    def test_types_of_layers(self):
        def said(*flags, code=0):
            return self.run_model(*flags, code=code).stderr

        layer = self.layers()[0]['Name']
        self.assertIn('types of layers are ignored: --precisionConstraints is none', said('--layerPrecisions=*:fp32'))
        prefer, obey = '--precisionConstraints=prefer', '--precisionConstraints=obey'
        self.assertNotIn('as asked for', said(prefer, '--layerPrecisions=*:fp32', '--layerOutputTypes=*:fp32'))
        reported = said(prefer, '--layerPrecisions=*:fp16')
        self.assertRegex(reported, r"layer '.*' \(MatMul\) computes in f32 on .*, not f16 as asked for: CPUs here have no fp16 arithmetic")
        reported = said(obey, '--layerPrecisions=*:int8', code=3)
        self.assertRegex(reported, r"layer '.*' \(MatMul\) computes in f32 on .*, not i8 as asked for: nothing gives its range")
        self.assertIn('no node of the model is called', said(obey, '--layerPrecisions=no_such_layer:fp32', code=2))
        self.assertIn("is not LAYER:TYPE", said('--layerPrecisions=fp32', code=2))
        self.assertIn("there is no type 'fp33'", said('--layerPrecisions=*:fp33', code=2))
        self.assertIn("there is no type ''", said('--layerOutputTypes=*:fp32+', code=2))
        self.assertIn("is none, prefer or obey, not 'always'", said('--precisionConstraints=always', code=2))
        self.assertTrue(layer)

    def test_strong_types_exclude_permissions(self):
        self.assertIn('precision flags beside --stronglyTyped are ignored', self.run_model('--stronglyTyped', '--bf16').stderr)
        self.assertNotIn('are ignored', self.run_model('--stronglyTyped').stderr)
        self.assertIn('--stronglyTyped and --best exclude each other', self.run_model('--stronglyTyped', '--best', code=2).stderr)

    def test_precision_by_the_device_says_what_it_chose(self):
        said = self.run_model('--precision=auto').stderr
        self.assertRegex(said, 'precision was chosen by the device: this CPU has .*: (fp32|bf16, by AMX)')
        narrow = self.run_model('--precision=auto', '--cpuFeatures=avx2').stderr
        self.assertIn('this CPU has neither VNNI nor AMX for int8: fp32', narrow)
        self.assertIn("--precision is auto, not 'fp16'", self.run_model('--precision=fp16', code=2).stderr)

    def test_permissions_without_use_say_why(self):
        self.assertIn('int8 without data, a cache or QuantizeLinear and DequantizeLinear', self.run_model('--int8').stderr)
        self.assertIn('--best left int8 out: ', self.run_model('--best').stderr)
        self.assertIn('--fp8 was not used: ', self.run_model('--fp8').stderr)
        self.assertRegex(self.run_model('--int8').stderr, r'Layers compute: \d+ in f32')

    def test_flags_without_effect_say_so(self):
        for flag in ('separateProfileRun', 'timeRefit', 'timeDeserialize', 'noCompilationCache', 'asyncFileReader'):
            self.assertIn(f'--{flag} has no effect: ', self.run_model(f'--{flag}').stderr)

    def test_times_that_are_not_in_the_cache(self):
        cache = f'--timingCacheFile={self.path("times")}'
        run = ['exec', f'--onnx={self.model}', "--shapes='x:0':3x6", cache, *TIMED]
        self.tenfold(*run, '--errorOnTimingCacheMiss', code=2)
        self.tenfold(*run)
        self.tenfold(*run, '--errorOnTimingCacheMiss')

    def test_a_build_has_a_time_limit(self):
        said = self.run_model('--buildTimeout=1e-9', code=1).stderr
        self.assertIn('longer than its limit of 1e-09 s (time_limit_s, --buildTimeout) and was ended while reading the model', said)
        self.run_model('--buildTimeout=600')
        self.run_model('--buildTimeout=-1', code=2)

    def test_few_candidates(self):
        w = numpy_helper.from_array(np.ones((256, 256), np.float32), 'w')   # so large that blocks of many sizes are worth a try
        product = [helper.make_node('MatMul', ['x', 'w'], ['y'])]
        model = save_model(self.path('w.onnx'), product, [('x', FLOAT, [200, 256])], [('y', FLOAT, [200, 256])], [w])

        def timed(*flags):
            cache = pathlib.Path(self.path('times'))
            self.tenfold('exec', f'--onnx={model}', f'--timingCacheFile={cache}', *TIMED[:3], *flags)
            count = sum('MatMul' in line and '[200,256]' in line for line in cache.read_text().splitlines())
            cache.unlink()
            return count

        # A busy machine makes the first candidate seem slow, and rules out the others of its kind: then fewer are timed, never more.
        for maximum in (1, 2, 3):   # of the product, over all tactics and layouts
            for _ in range(8):
                count = timed(f'--maxTactics={maximum}')
                self.assertLessEqual(count, maximum)
                if count == maximum:
                    break
            self.assertEqual(count, maximum)
        self.assertTrue(any(timed() > 3 for _ in range(8)))

    def test_repetitions_of_timing(self):
        """A build that times one launch of each candidate is done before one that times fifty."""
        w = numpy_helper.from_array(np.ones((256, 256), np.float32), 'w')
        product = [helper.make_node('MatMul', ['x', 'w'], ['y'])]
        model = save_model(self.path('w.onnx'), product, [('x', FLOAT, [256, 256])], [('y', FLOAT, [256, 256])], [w])

        def seconds(repetitions):
            done = self.tenfold('exec', f'--onnx={model}', '--noBuilderCache', '--maxTactics=2', f'--avgTiming={repetitions}', '--json',
                                '--skipInference', '--threads=1')  # fmt: skip
            return json.loads(done.stdout.splitlines()[-1])['build_s']

        self.assertLess(2 * seconds(1), seconds(50))

    def test_check_takes_the_flags_of_import_alone(self):
        self.tenfold('check', self.model, '--shapes=' + "'x:0':3x6")
        for flag in ('--bf16', '--threads=1', '--disablePasses=nonsense', '--packTokens', '--cpuFeatures=avx2'):
            self.refused(2, flag.split('=')[0], 'check', self.model, flag)

    def recurrent(self, direction):
        """y = GRU over x f32[7, 1, 3], 4 units; NumPy has its weights of one value."""
        w, r = (numpy_helper.from_array(np.full(s, 0.25, np.float32), n) for n, s in (('w', (1, 12, 3)), ('r', (1, 12, 4))))
        gru = [helper.make_node('GRU', ['x', 'w', 'r'], ['', 'y'], name='layer', hidden_size=4, direction=direction)]
        return save_model(self.path(f'{direction}.onnx'), gru, [('x', FLOAT, [7, 1, 3])], [('y', FLOAT, [1, 1, 4])], [w, r])

    def test_the_newest_row(self):
        model, x, out = self.recurrent('forward'), self.path('x.npy'), self.path('out.npz')
        rows = np.linspace(-2, 2, 21, dtype=np.float32).reshape(7, 1, 3)
        np.save(x, rows)
        flags = ['--newestRow=x:0', f'--loadInputs=x:{x}', f'--exportOutput={out}', '--dumpLayerInfo', *TIMED]
        reported = self.tenfold('exec', f'--onnx={model}', '--noTF32', *flags).stdout
        self.assertRegex(reported, 'before the newest row:\n.*GRU.*\n.*with the newest row:\n.*GRU')
        self.assertRegex(reported, 'Newest row: times begin where it is there; 1 of 2 steps come before')
        h = 0.0
        for row in rows:
            gate = 1 / (1 + np.exp(-(0.25 * row.sum() + h)))                    # 4 units of 0.25 each sum up to h
            h = (1 - gate) * np.tanh(0.25 * row.sum() + gate * h) + gate * h
        np.testing.assert_allclose(np.load(out)['y'].ravel(), np.full(4, h), atol=1e-6)
        self.refused(3, "'layer' (GRU) walks the rows of 'x' backwards", 'exec', f'--onnx={self.recurrent("reverse")}', '--newestRow=x:0')
        self.refused(2, "newest_row is 'x'", 'exec', f'--onnx={model}', '--newestRow=x', *ONCE)

    def test_weights_that_are_not_verified(self):
        values = np.random.default_rng(4).standard_normal(50000).astype(np.float32)
        add = [helper.make_node('Add', ['x', 'w'], ['y'])]
        model = save_model(self.path('w.onnx'), add, [('x', FLOAT, [1])], [('y', FLOAT, [50000])], [numpy_helper.from_array(values, 'w')])
        plan = pathlib.Path(self.make_plan('w.plan', model))
        whole = bytearray(plan.read_bytes())
        whole[whole.index(values.tobytes()[:64])] ^= 1
        plan.write_bytes(whole)
        self.refused(4, 'w.plan', 'exec', f'--loadEngine={plan}', *ONCE)
        self.tenfold('exec', f'--loadEngine={plan}', '--noWeightVerification', *ONCE)


if __name__ == '__main__':
    cli_case.main()
