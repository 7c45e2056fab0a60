"""python -m tenfold.export_to_tensorrt of ONNX files: its flags, files and tables, without torch."""
import json
import os
import pathlib
import unittest

import numpy as np
import tenfold
from cyto_case import DEVICE, CytoCase, pictures, truth
from tenfold.export_to_tensorrt import _flags, load_plan

KEYS = ['pytorch_latency_ms', 'tensorrt_latency_ms', 'pytorch_throughput_fps', 'tensorrt_throughput_fps', 'latency_speedup',
        'throughput_gain']
FACTS = ('Device:', 'Warm-up:', 'Shapes:', 'Precision:', 'Batch size:')


class ExportCase(CytoCase):
    def of_onnx(self, *flags, code=0, **model):
        return self.export('--onnx', self.onnx(**model), '--output', self.path('o/m.plan'), '--device', DEVICE, *flags, code=code)

    def check(self, x, tolerance=1e-3, name='o/m.plan'):
        """The plan's results, and its error."""
        found = load_plan(self.path(name))(x)
        self.near(found, truth(x), tolerance)
        return np.linalg.norm(found - truth(x)) / np.linalg.norm(truth(x))


class Flags(ExportCase):
    def test_defaults(self):
        args = _flags.parsed(['--onnx', 'm.onnx', '--output', 'm.plan'])
        _flags.complete(args, {})
        others = ('onnx', 'output', 'config', 'ckpt', 'input_shape', 'override', 'trust_checkpoint')
        self.assertEqual({name: value for name, value in vars(args).items() if name not in others},
                         dict(precision='fp16', workspace_size=4, dynamic_shapes=False, min_batch=1, max_batch=16, opt_batch=4,
                              calibration_data=None, num_calibration_samples=100, benchmark=False, benchmark_iterations=100, device='cuda'))

    def test_what_a_configuration_says_stands_behind_flags(self):
        args = _flags.parsed(['--onnx', 'm.onnx', '--output', 'm.plan', '--precision', 'fp32'])
        _flags.complete(args, {'precision': 'int8', 'max_batch_size': 32, 'opt_batch_size': 8, 'dynamic_shapes': True})
        self.assertEqual((args.precision, args.min_batch, args.opt_batch, args.max_batch, args.dynamic_shapes), ('fp32', 1, 8, 32, True))
        self.refused(tenfold.InvalidInput, ['tensorrt.max_batch', "'many'"], _flags.complete,
                     _flags.parsed(['--onnx', 'm.onnx', '--output', 'm.plan']), {'max_batch_size': 'many'})

    def test_the_usual_batch_stays_within_the_others(self):
        for flags, usual in ((['--max-batch', '2'], 2), (['--min-batch', '6'], 6), (['--opt-batch', '3'], 3), ([], 4)):
            args = _flags.parsed(['--onnx', 'm.onnx', '--output', 'm.plan', '--dynamic-shapes', *flags])
            _flags.complete(args, {})
            self.assertEqual(args.opt_batch, usual)

    def test_wrong_flags(self):
        for flags, words in ((['--output', 'o'], 'exactly one of --config FILE and --onnx FILE'),
                             (['--output', 'o', '--onnx', 'a', '--config', 'b'], 'exactly one'),
                             (['--output', 'o', '--config', 'b'], '--config needs --ckpt'), (['--onnx', 'a'], '--output'),
                             (['--output', 'o', '--onnx', 'a', '--ckpt', 'c'], '--ckpt belongs to --config'),
                             (['--output', 'o', '--onnx', 'a', '--precision', 'fp8'], 'fp8'),
                             (['--output', 'o', '--onnx', 'a', '--benchmark-iterations', '0'], '--benchmark-iterations 0')):
            self.assertIn(words, self.export(*flags, code=2))
            self.assertFalse(os.path.exists(self.path('o')))


class Plans(ExportCase):
    def test_fixed_shapes(self):
        for precision, tolerance in (('fp32', 1e-5), ('fp16', 2e-2)):
            said = self.of_onnx('--input-shape', 1, 1, 20, 24, '--precision', precision)
            self.assertIn(precision, said)
            self.check(pictures(1, 1, 20, 24), tolerance)
            self.refused(tenfold.InvalidArgument, '2x1x20x24', load_plan(self.path('o/m.plan')), pictures(2, 1, 20, 24))

    def test_the_shape_of_a_model_that_fixes_it(self):
        self.of_onnx(extent=12)
        self.check(pictures(1, 1, 12, 12))

    def test_dynamic_batches(self):
        self.of_onnx('--input-shape', 1, 1, 16, 16, '--dynamic-shapes')
        for rows in (1, 4, 16):
            self.check(pictures(rows, 1, 16, 16))
        plan = load_plan(self.path('o/m.plan'))
        self.refused(tenfold.InvalidArgument, '17x1x16x16', plan, pictures(17, 1, 16, 16))
        self.assertEqual(plan.profile_shapes(0, 'x')[1][0], 4)

    def test_volumes(self):
        self.of_onnx('--input-shape', 1, 1, 8, 10, 12, rank=3)
        self.check(pictures(1, 1, 8, 10, 12))

    def test_workspace(self):
        self.of_onnx('--input-shape', 1, 1, 16, 16, '--workspace-size', 2)
        self.assertIn(f'workspace={2 << 30} ', load_plan(self.path('o/m.plan')).inspection().build_options)

    def test_without_a_gpu_cuda_is_the_cpu(self):
        if any(device.device.startswith('cuda') for device in tenfold.devices()):
            self.skipTest('there is a GPU')
        said = self.of_onnx('--input-shape', 1, 1, 16, 16, '--device', 'cuda:3')
        self.assertEqual(said.count("'cuda:3' means the CPU"), 1, said)

    def test_wrong_input(self):
        shape = ('--input-shape', 1, 1, 16, 16)
        for flags, model, words in (
                ((), {}, ['--input-shape is needed', 'm.onnx']), (('--input-shape', 1, 1, 8, 8), {'extent': 16}, ['extent 2 is 8, and 16']),
                (('--input-shape', 1, 1, 8), {}, ['has 3 extents', 'has 4']), (('--input-shape', 1, 1, 0, 8), {}, ['at least 1']),
                ((*shape, '--dynamic-shapes'), {'batch': 1}, ['--dynamic-shapes', 'fixes its batch at 1']),
                ((*shape, '--dynamic-shapes', '--min-batch', 8, '--max-batch', 2), {}, ['--min-batch', '8, ', ', 2']),
                ((*shape, '--workspace-size', 0), {}, ['workspace size 0']), ((*shape, '--device', 'tpu'), {}, ["'tpu'"]),
                ((*shape, '--precision', 'int8'), {}, ['--calibration-data DIR', 'm.cache'])):
            said = self.of_onnx(*flags, code=1, **model)
            for word in words:
                self.assertIn(word, said)
            self.assertFalse(os.path.exists(self.path('o/m.plan')))

    def test_wrong_files(self):
        os.makedirs(self.path('folder'))
        for flags, words in ((('--onnx', 'none.onnx', '--output', 'm.plan'), '--onnx none.onnx: there is no such file'),
                             (('--onnx', 'none.onnx', '--output', 'folder'), '--output folder is a folder'),
                             (('--onnx', self.onnx(), '--output', os.path.join('m.onnx', 'm.plan')), 'cannot be written')):
            self.assertIn(words, self.export(*flags, code=1))


class Benchmarks(ExportCase):
    def test_the_file_and_the_tables(self):
        said = self.of_onnx('--input-shape', 1, 1, 16, 16, '--dynamic-shapes', '--benchmark', '--benchmark-iterations', 7)
        found = json.loads(pathlib.Path(self.path('o/m.benchmark.json')).read_text())
        self.assertEqual(list(found), KEYS)
        self.assertEqual([name for name, value in found.items() if value is None],
                         ['pytorch_latency_ms', 'pytorch_throughput_fps', 'latency_speedup', 'throughput_gain'])
        self.assertAlmostEqual(found['tensorrt_latency_ms'] * found['tensorrt_throughput_fps'], 1000, 0)
        self.assertRegex(said, r'\| Configuration +\| Latency \(ms\) +\| Throughput \(FPS\) +\| Speedup +\|')
        self.assertRegex(said, r'\| Tenfold FP16 +\| [\d.]+ +\| [\d.]+ +\| - +\|')
        self.assertRegex(said, r'Best batch size: \d+ \(1: [\d.]+ FPS, 2: .*, 4: .*, 8: .*, 16: ')
        self.assertIn('PyTorch is not timed', said)
        facts = said[said.index('Slower than expected?'):]
        self.assertEqual([fact for fact in FACTS if fact in facts], list(FACTS))
        for words in ('10 calls before the 7', 'batches of 1 to 16, tuned for 4', 'fp16 was asked for', '1 is timed'):
            self.assertIn(words, facts)

    def test_one_batch_is_not_compared(self):
        said = self.of_onnx('--input-shape', 3, 1, 16, 16, '--benchmark', '--benchmark-iterations', 3)
        self.assertIn('3 alone is possible; --dynamic-shapes', said)
        self.assertIn('fixed: 3 x 1 x 16 x 16', said)
        found = json.loads(pathlib.Path(self.path('o/m.benchmark.json')).read_text())
        self.assertAlmostEqual(found['tensorrt_latency_ms'] * found['tensorrt_throughput_fps'] / 3000, 1, 2)


class Calibration(ExportCase):
    SHAPE = ('--input-shape', 1, 1, 16, 16, '--precision', 'int8')

    def images(self, count=60, shape=(24, 20), dtype=np.uint8):
        os.makedirs(self.path('images'), exist_ok=True)
        for i in range(count):
            np.save(self.path(f'images/{i:03}.npy'), np.random.default_rng(i).integers(0, 256, shape).astype(dtype))
        return ('--calibration-data', self.path('images'))

    def test_int8(self):
        said = self.of_onnx(*self.SHAPE, *self.images())
        self.assertIn('60 images', said)
        x = pictures(1, 1, 16, 16).clip(-1, 1)
        self.assertGreater(self.check(x, 0.2), 1e-5)   # integers
        cache = pathlib.Path(self.path('o/m.cache')).read_text()
        self.assertRegex(cache, r'\ATRT-\d+-EntropyCalibration2\n(.+: [0-9a-f]+\n)+\Z')
        said = self.of_onnx(*self.SHAPE)   # the cache is enough
        self.assertIn('ranges of', said)
        self.check(x, 0.2)

    def test_a_cache_does_not_outlive_other_images(self):
        self.of_onnx(*self.SHAPE, *self.images())
        first = pathlib.Path(self.path('o/m.cache')).read_text()
        self.images(dtype=np.uint16)
        self.of_onnx(*self.SHAPE, '--calibration-data', self.path('images'))
        self.assertNotEqual(pathlib.Path(self.path('o/m.cache')).read_text(), first)

    def test_the_number_of_samples(self):
        said = self.of_onnx(*self.SHAPE, *self.images(), '--num-calibration-samples', 55)
        self.assertIn('55 images', said)
        self.assertNotIn('fewer than 50', said)
        said = self.of_onnx(*self.SHAPE, *self.images(), '--num-calibration-samples', 49)
        self.assertIn('49 calibration samples: fewer than 50', said)

    def test_volumes(self):
        self.of_onnx('--input-shape', 1, 1, 8, 8, 8, '--precision', 'int8', *self.images(12, (9, 12, 8)), rank=3)
        self.check(pictures(1, 1, 8, 8, 8).clip(-1, 1), 0.3)

    def test_a_slice_is_no_volume(self):
        said = self.of_onnx('--input-shape', 1, 1, 8, 8, 8, '--precision', 'int8', *self.images(12), rank=3, code=1)
        for words in ('000.npy has 2 dimensions', '8 x 8 x 8', 'a slice is never repeated'):
            self.assertIn(words, said)

    def test_wrong_folders(self):
        os.makedirs(self.path('empty'))
        for folder, words in (('empty', f'No images found in {self.path("empty")}'), ('none', 'there is no such folder')):
            self.assertIn(words, self.of_onnx(*self.SHAPE, '--calibration-data', self.path(folder), code=1))
        said = self.of_onnx(*self.SHAPE, *self.images(2), '--num-calibration-samples', 0, code=1)
        self.assertIn('--num-calibration-samples 0', said)
        with open(self.path('images/000.npy'), 'wb') as file:
            file.write(b'\x93NUMPY')
        said = self.of_onnx(*self.SHAPE, '--calibration-data', self.path('images'), code=1)
        self.assertIn('000.npy cannot be read as an image', said)

    def test_other_precisions_do_not_read_it(self):
        said = self.of_onnx('--input-shape', 1, 1, 16, 16, '--calibration-data', self.path('none'))
        self.assertIn('--calibration-data has no effect', said)


if __name__ == '__main__':
    unittest.main()
