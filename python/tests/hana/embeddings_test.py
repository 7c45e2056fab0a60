"""TensorRTEmbeddings: vectors beside NumPy's, files of engines, the seven variables, precisions, benchmarks, bad input."""
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest
from unittest import mock

import numpy as np
import tenfold
from hana_case import MINILM, MPNET, TEXTS, HanaCase, vectors_of
from tenfold_hana import TensorRTEmbeddings, _benchmark, _precision, _progress
from tenfold_hana import _tensorrt_embeddings
from tenfold_hana._devices import log
from tenfold_hana._settings import read_settings

LOG = 'tenfold'
DATA = ['how are you?', 'fine thanks.', 'red blue', 'reds.', 'are you blue?', 'you you you.']


BUILD = tenfold.build


def first_plan(*arguments, **options):
    """A build that takes all the 8 bits that are permitted, and looks for nothing quicker: so small a model is quicker in f32."""
    quick = {'budget': options['budget'] | {'search_seconds': 0.01}} if 'budget' in options else {}
    return BUILD(*arguments, **options | quick)


class Vectors(HanaCase):
    def test_they_are_those_of_numpy(self):
        for name in (MPNET, MINILM):
            embeddings = TensorRTEmbeddings(name, precision='fp32')
            rows = embeddings.embed_documents(TEXTS)
            self.assertIs(type(rows[0][0]), float)
            self.near_truth(rows, name)
            self.near_truth([embeddings.embed_query(text) for text in TEXTS], name)
            self.assertEqual(embeddings.embed_documents([]), [])
            self.assertEqual((embeddings.precision, embeddings.device), ('fp32', 'cpu'))
        self.assertIs(embeddings.preload(), embeddings)

    def test_bad_input(self):
        embeddings = TensorRTEmbeddings(precision='fp32')
        for bad in (None, 'one text', b'bytes', ['a', None], [b'a']):
            with self.assertRaisesRegex(TypeError, 'str'):
                embeddings.embed_documents(bad)
        with self.assertRaisesRegex(TypeError, 'takes a str'):
            embeddings.embed_query(None)
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'surrogates'):
            embeddings.embed_documents(['\ud800'])
        with self.assertRaisesRegex(tenfold.FileError, 'nothing is fetched'):
            TensorRTEmbeddings('nobody/nothing')
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'max_batch_size is 0'):
            TensorRTEmbeddings(max_batch_size=0)
        with self.assertRaisesRegex(tenfold.InvalidArgument, "the number of a GPU, 'cuda:0' or 'cpu'"):
            TensorRTEmbeddings(device='gpu')
        with self.assertRaisesRegex(TypeError, 'calibration_data is a sequence of str'):
            TensorRTEmbeddings(calibration_data='text')

    def test_without_a_gpu_it_says_so(self):
        if tenfold.why_no_gpu():
            with self.assertLogs(LOG, 'WARNING') as reported:
                self.near_truth(TensorRTEmbeddings(device='cuda:0', precision='fp32').embed_documents(TEXTS))
            self.assertIn('the CPU computes', reported.output[0])

    def test_memory_that_is_short_halves_the_batch(self):
        embeddings, most = TensorRTEmbeddings(precision='fp32'), 5
        encode, sizes = embeddings._client.encode_document, []

        def short(texts):
            sizes.append(len(texts))
            if len(texts) > most:
                raise tenfold.OutOfMemory('12 bytes are free')
            return encode(texts)
        with mock.patch.object(embeddings._client, 'encode_document', short), self.assertLogs(LOG, 'WARNING') as reported:
            self.near_truth(embeddings.embed_documents(TEXTS))
            embeddings.embed_documents(TEXTS)
        self.assertEqual(len(reported.output), 1)
        self.assertEqual(sizes[:4], [18, 9, 4, 4])
        self.assertEqual(max(sizes[2:]), 4)


class Files(HanaCase):
    def path_of(self, precision='fp32', name=MPNET):
        return self.path(f'engines/{name.replace("/", "_")}_{precision}.engine')

    def test_names_and_reuse(self):
        TensorRTEmbeddings(MPNET, precision='fp32')
        self.assertEqual(self.path_of(), self.path('engines/sentence-transformers_all-mpnet-base-v2_fp32.engine'))
        with mock.patch.object(tenfold, 'build', wraps=tenfold.build) as build:
            self.near_truth(TensorRTEmbeddings(MPNET, precision='fp32').embed_documents(TEXTS), MPNET)
            self.assertEqual(build.call_count, 0)
            TensorRTEmbeddings(MPNET, precision='fp32', force_engine_rebuild=True)
            os.environ['TENSORRT_ENGINE_REBUILD'] = 'true'
            self.near_truth(TensorRTEmbeddings(MPNET, precision='fp32').embed_documents(TEXTS), MPNET)
            self.assertEqual(build.call_count, 2)

    def test_what_does_not_belong_there_is_built_anew(self):
        TensorRTEmbeddings(MPNET, precision='fp32'), TensorRTEmbeddings(MINILM, precision='fp32')
        with open(self.path_of(name=MINILM), 'rb') as file:
            foreign = file.read()
        for content, reason in ((foreign, 'something else'), (foreign[:len(foreign) // 2], 'built anew'), (b'', 'built anew')):
            with open(self.path_of(), 'wb') as file:
                file.write(content)
            with self.assertLogs(LOG, 'WARNING') as reported:
                self.near_truth(TensorRTEmbeddings(MPNET, precision='fp32').embed_documents(TEXTS), MPNET)
            self.assertIn(reason, reported.output[0])
        with self.assertLogs(LOG, 'WARNING') as reported:   # other options
            TensorRTEmbeddings(MPNET, precision='fp32', max_workspace_size=1)
        self.assertIn('something else', reported.output[0])
        self.assertIn('workspace=1048576 ', tenfold.load(self.path_of()).inspection().build_options)

    def test_the_folder_may_be_removed_at_any_time(self):
        build = tenfold.build

        def removed_meanwhile(*arguments, **options):
            engine = build(*arguments, **options)
            shutil.rmtree(self.path('engines'))
            return engine
        with mock.patch.object(tenfold, 'build', removed_meanwhile), self.assertLogs(LOG, 'WARNING') as reported:
            embeddings = TensorRTEmbeddings(MPNET, precision='fp32')
        self.assertIn('the plan is not kept', reported.output[0])
        self.near_truth(embeddings.embed_documents(TEXTS), MPNET)
        embeddings = TensorRTEmbeddings(MPNET, precision='fp32')
        shutil.rmtree(self.path('engines'))
        self.near_truth(embeddings.embed_documents(TEXTS), MPNET)

    def test_where_nothing_can_be_kept(self):
        with open(self.path('file'), 'w'):
            pass
        with self.assertLogs(LOG, 'WARNING') as reported:
            embeddings = TensorRTEmbeddings(MPNET, precision='fp32', cache_dir=self.path('file/engines'))
        self.assertIn('not kept', reported.output[0])
        self.near_truth(embeddings.embed_documents(TEXTS), MPNET)
        os.makedirs(self.path_of())   # a folder where the file would be
        with self.assertLogs(LOG, 'WARNING') as reported:
            self.near_truth(TensorRTEmbeddings(MPNET, precision='fp32').embed_documents(TEXTS), MPNET)
        self.assertTrue(any('the plan is not kept' in line for line in reported.output), reported.output)

    def test_processes_share_the_folder(self):
        code = ('from tenfold_hana import TensorRTEmbeddings; '
                f'print(TensorRTEmbeddings({MPNET!r}, precision="fp32").embed_query("fine."))')
        running = [subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
        answers = [json.loads(process.communicate()[0]) for process in running]
        for answer in answers:
            self.near_truth([answer], MPNET, ['fine.'])
        self.assertEqual(os.listdir(self.path('engines')), [os.path.basename(self.path_of())])

    def test_use_tensorrt(self):
        os.environ['USE_TENSORRT'] = 'false'
        self.near_truth(TensorRTEmbeddings(MPNET).embed_documents(TEXTS), MPNET)
        self.assertFalse(os.path.exists(self.path('engines')))
        TensorRTEmbeddings(MPNET, use_tensorrt=True, precision='fp32')   # the argument is before the variable
        self.assertTrue(os.path.exists(self.path_of()))


class Variables(HanaCase):
    def test_defaults(self):
        with mock.patch.dict(os.environ, {'HOME': '/home/somebody'}, clear=True):
            s = read_settings()
        self.assertEqual((s.use_tensorrt, s.precision, s.cache_dir, s.max_workspace_size, s.engine_rebuild, s.int8_calibration,
                          s.calibration_cache), (False, 'auto', '/home/somebody/.cache/hana_trt_engines', 1024, False, False,
                                                 '/home/somebody/.cache/hana_trt_calibration'))

    def test_arguments_then_variables(self):
        for variable, text, field, value, argument in (
                ('USE_TENSORRT', 'true', 'use_tensorrt', True, False), ('TENSORRT_PRECISION', 'fp16', 'precision', 'fp16', 'int8'),
                ('TENSORRT_CACHE_DIR', '/a/b', 'cache_dir', '/a/b', '/c'),
                ('TENSORRT_MAX_WORKSPACE_SIZE', '512', 'max_workspace_size', 512, 7),
                ('TENSORRT_ENGINE_REBUILD', 'TRUE', 'engine_rebuild', True, False),
                ('TENSORRT_INT8_CALIBRATION', 'true', 'int8_calibration', True, False),
                ('TENSORRT_CALIBRATION_CACHE', '/x', 'calibration_cache', '/x', '/y')):
            os.environ[variable] = text
            self.assertEqual(getattr(read_settings(), field), value)
            self.assertEqual(getattr(read_settings(**{field: argument}), field), argument)

    def test_bad_values(self):
        for variable, text, expected in (('USE_TENSORRT', 'yes', 'true or false'),
                                         ('TENSORRT_PRECISION', 'fp8', 'auto, fp32, bf16, fp16, int8'),
                                         ('TENSORRT_MAX_WORKSPACE_SIZE', '1G', 'whole number of MB'),
                                         ('TENSORRT_MAX_WORKSPACE_SIZE', '0', 'whole number of MB'),
                                         ('TENSORRT_ENGINE_REBUILD', '2', 'true or false')):
            with mock.patch.dict(os.environ, {variable: text}), \
                    self.assertRaisesRegex(tenfold.InvalidArgument, f"{variable} is '{text}', expected .*{expected}"):
                TensorRTEmbeddings()
        with self.assertRaisesRegex(tenfold.InvalidArgument, "precision is 'half', expected"):
            TensorRTEmbeddings(precision='half')


class Effects(HanaCase):
    """What was asked for has an effect, or a line says that it has none."""

    def reported(self, level='WARNING', **options):
        with self.assertLogs(LOG, level) as reported:
            embeddings = TensorRTEmbeddings(MINILM, **options)
            log.warning('the end')   # assertLogs wants one
        return embeddings, [line for line in reported.output if 'the end' not in line]

    def test_every_variable_without_an_effect_is_named(self):
        everything = {'TENSORRT_PRECISION': 'fp16', 'TENSORRT_CACHE_DIR': self.path('engines'), 'TENSORRT_MAX_WORKSPACE_SIZE': '64',
                      'TENSORRT_ENGINE_REBUILD': 'true', 'TENSORRT_INT8_CALIBRATION': 'true',
                      'TENSORRT_CALIBRATION_CACHE': self.path('calibration')}
        with mock.patch.dict(os.environ, {'USE_TENSORRT': 'false', **everything}):
            _, reported = self.reported()
            line = next(line for line in reported if 'no effect' in line)
            for variable in everything:
                self.assertIn(variable, line)
            self.assertIn('USE_TENSORRT is false', line)
        with mock.patch.dict(os.environ, {**everything, 'TENSORRT_PRECISION': 'fp32'}):
            _, reported = self.reported()
            self.assertEqual([line for line in reported if 'no effect' in line],
                             ['WARNING:tenfold.hana:no effect: TENSORRT_INT8_CALIBRATION, TENSORRT_CALIBRATION_CACHE '
                              '(the engine is fp32, which takes no ranges)'])
        os.environ.pop('TENSORRT_CALIBRATION_CACHE')
        self.assertEqual([line for line in self.reported(precision='fp32')[1] if 'no effect' in line], [])
        _, reported = self.reported(precision='fp16', calibration_data=DATA, tf32=True)
        self.assertEqual([line.partition('no effect: ')[2].partition(' (')[0] for line in reported if 'no effect' in line],
                         ['tf32', 'calibration_data'])

    @mock.patch.object(tenfold, 'build', first_plan)
    def test_calibration_beside_an_engine_that_lies_there(self):
        for rebuild, effect in ((None, True), (None, False), (True, True)):
            _, reported = self.reported(precision='int8', int8_calibration=True, force_engine_rebuild=rebuild)
            found = [line for line in reported if 'no effect: int8_calibration (the engine that lies there' in line]
            self.assertEqual(len(found), 0 if effect else 1, reported)

    def test_settings_are_what_is_used(self):
        embeddings, _ = self.reported()   # auto
        self.assertEqual((embeddings.settings.precision, embeddings.settings.use_tensorrt), (embeddings.precision, True))
        embeddings, _ = self.reported(use_tensorrt=False, precision='fp16', int8_calibration=True)
        self.assertEqual((embeddings.settings.precision, embeddings.settings.use_tensorrt, embeddings.settings.int8_calibration),
                         ('fp32', False, False))

    def test_auto_without_texts_says_what_it_took(self):
        with mock.patch.object(_tensorrt_embeddings, 'auto_precision', lambda device, ranges: 'int8' if ranges else 'fp16'):
            _, reported = self.reported()
        self.assertIn('precision auto is fp16 on cpu, and not int8: that takes ranges from calibration_data', reported[0])

    def test_fp32_is_fp32(self):
        with mock.patch.object(tenfold, 'build', wraps=tenfold.build) as build:
            for options, rounds in ((dict(), False), (dict(tf32=True), True), (dict(tf32=True), True),
                                    (dict(precision='bf16'), True), (dict(precision='bf16', enable_tensor_cores=False), False)):
                TensorRTEmbeddings(MINILM, force_engine_rebuild=True, **{'precision': 'fp32', **options})
                self.assertEqual(build.call_args.kwargs['tf32'], rounds, options)
            build.reset_mock()
            TensorRTEmbeddings(MINILM, precision='fp32'), TensorRTEmbeddings(MINILM, precision='fp32', tf32=True)
            self.assertEqual(build.call_count, 2)   # an engine that may round is another one

    def test_a_load_tells_its_size_and_its_seconds(self):
        for what in ('built', 'loaded'):
            _, reported = self.reported('INFO', precision='fp32')
            self.assertTrue(any(re.search(what + r' \S+_fp32.engine: \d+\.\d MB in \d+\.\d\d s', line) for line in reported), reported)

    def test_long_builds_show_progress(self):
        with mock.patch.object(_progress, '_SILENT', 0.0):
            _, reported = self.reported('INFO', precision='fp32')
        self.assertTrue(any('building sentence-transformers_all-MiniLM-L6-v2_fp32.engine: ' in line for line in reported), reported)
        terminal = mock.Mock(isatty=lambda: True)
        with mock.patch.object(_progress, '_SILENT', 0.0), mock.patch('sys.stderr', terminal):
            bar = _progress.BuildProgress('x.engine')
            self.assertTrue(bar('timing', 3, 7))
            bar.end()
        self.assertEqual([call.args[0] for call in terminal.write.call_args_list], ['\r\x1b[Kbuilding x.engine: timing 3 of 7, 0 s', '\n'])


class Precisions(HanaCase):
    def cosines(self, embeddings, texts):
        exact = np.array(TensorRTEmbeddings(embeddings.model_name, precision='fp32', device='cpu').embed_documents(texts))
        return (exact * np.array(embeddings.embed_documents(texts))).sum(1)

    def test_int8_is_within_its_budget_or_wider(self):
        embeddings = TensorRTEmbeddings(MINILM, precision='int8', calibration_data=DATA)
        self.assertGreater(self.cosines(embeddings, DATA[1::2]).mean(), 0.99)
        files = os.listdir(self.path('calibration'))
        self.assertIn('sentence-transformers_all-MiniLM-L6-v2_calibration.cache', files)
        with mock.patch.object(_precision, 'ERROR_BUDGET', 1e-12), self.assertLogs(LOG, 'WARNING') as reported:
            wide = TensorRTEmbeddings(MINILM, precision='int8', calibration_data=DATA, force_engine_rebuild=True)
        self.assertNotEqual(wide.precision, 'int8')
        self.assertTrue(any('not within its budget' in line for line in reported.output), reported.output)
        self.assertGreater(self.cosines(wide, DATA).min(), 0.999)

    @mock.patch.object(tenfold, 'build', first_plan)
    def test_calibrations(self):
        cache = self.path('calibration/sentence-transformers_all-MiniLM-L6-v2_calibration.cache')
        with self.assertLogs(LOG, 'WARNING') as reported:   # without data
            TensorRTEmbeddings(MINILM, precision='int8')
        self.assertTrue(any('10 built-in sentences' in line for line in reported.output))
        self.assertFalse(os.path.exists(cache))
        embeddings = TensorRTEmbeddings(MINILM, precision='int8', calibration_data=DATA)
        self.assertEqual(embeddings.precision, 'int8')
        cosines = (vectors_of(self.models[MINILM], TEXTS) * np.array(embeddings.embed_documents(TEXTS))).sum(1)
        self.assertGreater(cosines.min(), 0.99)
        with open(cache) as file:
            first = file.read()
        with mock.patch.object(tenfold, 'build', wraps=tenfold.build) as build:
            TensorRTEmbeddings(MINILM, precision='int8')   # the cache is enough, and the engine is the same
            self.assertEqual(build.call_count, 0)
            TensorRTEmbeddings(MINILM, precision='int8', force_engine_rebuild=True)
            self.assertEqual(build.call_args.kwargs['calibration']['cache'], cache)
        with self.assertLogs(LOG, 'WARNING') as reported:
            TensorRTEmbeddings(MINILM, precision='int8', calibration_data=['red red', 'red red red'])
        self.assertTrue(any('calibration_data has changed' in line for line in reported.output))
        with open(cache) as file:
            text = file.read()
        self.assertNotEqual(text, first)
        with open(cache, 'w') as file:   # half-written
            file.write(text[:len(text) // 2 - 3])
        with self.assertLogs(LOG, 'WARNING') as reported:
            TensorRTEmbeddings(MINILM, precision='int8', calibration_data=['red red', 'red red red'], force_engine_rebuild=True)
        self.assertTrue(any('is written anew' in line for line in reported.output), reported.output)
        with open(cache) as file:
            self.assertEqual(file.read(), text)

    def test_auto_is_the_librarys(self):
        chosen = _precision.auto_precision('cpu', True)
        self.assertIn(chosen, ('int8', 'fp32'))
        self.assertIn(_precision.auto_precision('cpu', False), ('bf16', 'fp32'))
        with mock.patch.object(TensorRTEmbeddings, '_open'):   # nothing is built
            self.assertEqual(TensorRTEmbeddings(MINILM, calibration_data=DATA).requested_precision, chosen)
            self.assertEqual(TensorRTEmbeddings(MINILM, int8_calibration=True).requested_precision, chosen)
            self.assertNotEqual(TensorRTEmbeddings(MINILM).requested_precision, 'int8')

    def test_benchmarks(self):
        embeddings = TensorRTEmbeddings(MINILM, precision='fp32', calibration_data=DATA)
        results = embeddings.benchmark([1, 4], iterations=3, warmup=1)
        self.assertEqual(set(results), {'model', 'device', 'precision', 'batch_sizes', 'gpu_info', 'single_query'})
        self.assertEqual((list(results['batch_sizes']), results['device']), (['1', '4'], 'CPU'))
        four = results['batch_sizes']['4']
        self.assertLessEqual(four['min_latency_ms'], four['median_latency_ms'])
        self.assertAlmostEqual(four['throughput_samples_per_second'], 4e3 / four['median_latency_ms'])
        comparison = embeddings.benchmark_precision_comparison(iterations=2)
        modes = comparison['precision_modes']
        self.assertEqual(set(modes), {'fp32', 'fp16', 'int8'})
        for mode in ('fp16', 'int8'):
            self.assertEqual(f'{mode}_vs_fp32_speedup' in comparison, 'error' not in modes[mode])
        self.assertIn(comparison['recommended_precision'], modes)
        with self.assertRaises(tenfold.InvalidArgument):
            embeddings.benchmark([0])

    def test_benchmarks_take_turns_until_the_time_is_up(self):
        order = []
        calls = {key: lambda key=key: (order.append(key), time.sleep(0.01)) for key in 'ab'}
        with self.assertLogs(LOG, 'WARNING') as reported:
            turns = _benchmark.Turns(calls).run(1000, 1, 0.1, False)
        self.assertEqual(order, ['a', 'b'] * (len(order) // 2))
        self.assertTrue(1 <= len(turns.times['a']) == len(turns.times['b']) <= 10, turns.times)
        self.assertRegex(reported.output[0], r'ends after \d s: \d of 1000 rounds \(max_seconds is 0.1\)')

        def short():
            raise tenfold.OutOfMemory('12 bytes are free')
        turns = _benchmark.Turns({'a': calls['a'], 'short': short}).run(3, 1, 60, False)
        self.assertEqual((len(turns.times['a']), turns.errors), (3, {'short': '12 bytes are free'}))
        with mock.patch('sys.stderr', io.StringIO()) as printed:
            _benchmark.Turns(calls).run(2, 0, 60, True)
        self.assertRegex(printed.getvalue(), r'\rbenchmark: round 1 of 2, 0 s\rbenchmark: round 2 of 2, 0 s\n')

    def test_a_slow_machines_turns_do_not_turn_a_speedup_round(self):
        """Whatever slows a third of the time down hits both: the medians keep their ratio, where one behind the other would not."""
        clock = [0.0]
        calls = {name: lambda cost=cost: clock.__setitem__(0, clock[0] + cost * (9 if 2 < clock[0] < 5 else 1))
                 for name, cost in (('fast', 0.02), ('slow', 0.1))}
        with mock.patch.object(time, 'perf_counter', lambda: clock[0]):
            times = _benchmark.Turns(calls).run(60, 0, 1e9, False).times
        self.assertAlmostEqual(np.median(times['slow']) / np.median(times['fast']), 5, 3)


if __name__ == '__main__':
    unittest.main()
