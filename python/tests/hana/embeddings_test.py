"""TensorRTEmbeddings: vectors beside NumPy's, files of engines, the seven variables, precisions, benchmarks, bad input."""
import json
import os
import shutil
import subprocess
import sys
import unittest
from unittest import mock

import numpy as np
import tenfold
from hana_case import MINILM, MPNET, TEXTS, HanaCase, vectors_of
from tenfold_hana import TensorRTEmbeddings, _precision
from tenfold_hana._settings import read_settings

LOG = 'tenfold'
DATA = ['how are you?', 'fine thanks.', 'red blue', 'reds.', 'are you blue?', 'you you you.']


BUILD = tenfold.build


def first_plan(*arguments, **options):
    """A build that takes all the 8 bits that are permitted, and looks for nothing quicker: so small a model is quicker in f32."""
    return BUILD(*arguments, **options | {'budget': options['budget'] | {'search_seconds': 0.01}})


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
            with self.assertLogs(LOG, 'WARNING') as told:
                self.near_truth(TensorRTEmbeddings(device='cuda:0', precision='fp32').embed_documents(TEXTS))
            self.assertIn('the CPU computes', told.output[0])

    def test_memory_that_is_short_halves_the_batch(self):
        embeddings, most = TensorRTEmbeddings(precision='fp32'), 5
        encode, sizes = embeddings._client.encode_document, []

        def short(texts):
            sizes.append(len(texts))
            if len(texts) > most:
                raise tenfold.OutOfMemory('12 bytes are free')
            return encode(texts)
        with mock.patch.object(embeddings._client, 'encode_document', short), self.assertLogs(LOG, 'WARNING') as told:
            self.near_truth(embeddings.embed_documents(TEXTS))
            embeddings.embed_documents(TEXTS)
        self.assertEqual(len(told.output), 1)
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
            with self.assertLogs(LOG, 'WARNING') as told:
                self.near_truth(TensorRTEmbeddings(MPNET, precision='fp32').embed_documents(TEXTS), MPNET)
            self.assertIn(reason, told.output[0])
        with self.assertLogs(LOG, 'WARNING') as told:   # other options
            TensorRTEmbeddings(MPNET, precision='fp32', max_workspace_size=1)
        self.assertIn('something else', told.output[0])
        self.assertIn('workspace=1048576 ', tenfold.load(self.path_of()).inspection().build_options)

    def test_the_folder_may_be_removed_at_any_time(self):
        build = tenfold.build

        def removed_meanwhile(*arguments, **options):
            engine = build(*arguments, **options)
            shutil.rmtree(self.path('engines'))
            return engine
        with mock.patch.object(tenfold, 'build', removed_meanwhile), self.assertLogs(LOG, 'WARNING') as told:
            embeddings = TensorRTEmbeddings(MPNET, precision='fp32')
        self.assertIn('the plan is not kept', told.output[0])
        self.near_truth(embeddings.embed_documents(TEXTS), MPNET)
        embeddings = TensorRTEmbeddings(MPNET, precision='fp32')
        shutil.rmtree(self.path('engines'))
        self.near_truth(embeddings.embed_documents(TEXTS), MPNET)

    def test_where_nothing_can_be_kept(self):
        with open(self.path('file'), 'w'):
            pass
        with self.assertLogs(LOG, 'WARNING') as told:
            embeddings = TensorRTEmbeddings(MPNET, precision='fp32', cache_dir=self.path('file/engines'))
        self.assertIn('not kept', told.output[0])
        self.near_truth(embeddings.embed_documents(TEXTS), MPNET)
        os.makedirs(self.path_of())   # a folder where the file would be
        with self.assertLogs(LOG, 'WARNING') as told:
            self.near_truth(TensorRTEmbeddings(MPNET, precision='fp32').embed_documents(TEXTS), MPNET)
        self.assertIn('the plan is not kept', told.output[-1])

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


class Precisions(HanaCase):
    def cosines(self, embeddings, texts):
        exact = np.array(TensorRTEmbeddings(embeddings.model_name, precision='fp32', device='cpu').embed_documents(texts))
        return (exact * np.array(embeddings.embed_documents(texts))).sum(1)

    def test_int8_is_within_its_budget_or_wider(self):
        embeddings = TensorRTEmbeddings(MINILM, precision='int8', calibration_data=DATA)
        self.assertGreater(self.cosines(embeddings, DATA[1::2]).mean(), 0.99)
        files = os.listdir(self.path('calibration'))
        self.assertIn('sentence-transformers_all-MiniLM-L6-v2_calibration.cache', files)
        with mock.patch.object(_precision, 'ERROR_BUDGET', 1e-12), self.assertLogs(LOG, 'WARNING') as told:
            wide = TensorRTEmbeddings(MINILM, precision='int8', calibration_data=DATA, force_engine_rebuild=True)
        self.assertNotEqual(wide.precision, 'int8')
        self.assertTrue(any('not within its budget' in line for line in told.output), told.output)
        self.assertGreater(self.cosines(wide, DATA).min(), 0.999)

    @mock.patch.object(tenfold, 'build', first_plan)
    def test_calibrations(self):
        cache = self.path('calibration/sentence-transformers_all-MiniLM-L6-v2_calibration.cache')
        with self.assertLogs(LOG, 'WARNING') as told:   # without data
            TensorRTEmbeddings(MINILM, precision='int8')
        self.assertTrue(any('10 built-in sentences' in line for line in told.output))
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
        with self.assertLogs(LOG, 'WARNING') as told:
            TensorRTEmbeddings(MINILM, precision='int8', calibration_data=['red red', 'red red red'])
        self.assertTrue(any('calibration_data has changed' in line for line in told.output))
        with open(cache) as file:
            text = file.read()
        self.assertNotEqual(text, first)
        with open(cache, 'w') as file:   # half-written
            file.write(text[:len(text) // 2 - 3])
        with self.assertLogs(LOG, 'WARNING') as told:
            TensorRTEmbeddings(MINILM, precision='int8', calibration_data=['red red', 'red red red'], force_engine_rebuild=True)
        self.assertTrue(any('is written anew' in line for line in told.output), told.output)
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
        self.assertAlmostEqual(four['throughput_samples_per_second'], 4e3 / four['mean_latency_ms'])
        comparison = embeddings.benchmark_precision_comparison(iterations=2)
        modes = comparison['precision_modes']
        self.assertEqual(set(modes), {'fp32', 'fp16', 'int8'})
        for mode in ('fp16', 'int8'):
            self.assertEqual(f'{mode}_vs_fp32_speedup' in comparison, 'error' not in modes[mode])
        self.assertIn(comparison['recommended_precision'], modes)
        with self.assertRaises(tenfold.InvalidArgument):
            embeddings.benchmark([0])


if __name__ == '__main__':
    unittest.main()
