"""TensorRTInferenceEngine on arrays of NumPy: batches, types, devices, files, and windows; without torch."""
import contextlib
import importlib.util
import re
import sys
import unittest
from unittest import mock

import numpy as np
import tenfold
from cyto_case import DEVICE, HEADS, TREE, CytoCase, Lines, network, pictures, truth

from cyto_dl.utils.tensorrt_utils import TensorRTInferenceEngine

QUICK = dict(device=DEVICE, optimization_level=0)
NO_GPU = not any(device.device.startswith('cuda') for device in tenfold.devices())


class EngineCase(CytoCase):
    def engine(self, batches=(1, 4, 16), rank=2, extent=16, outputs=1, device=DEVICE, **options):
        shapes = [(batch, 1, *[extent] * rank) for batch in batches]
        tenfold.build(network(rank, outputs=outputs), profiles={'x': shapes}, **QUICK, **options).save(self.path('m.plan'))
        return TensorRTInferenceEngine(self.path('m.plan'), shapes[1], device)


class Batches(EngineCase):
    def test_any_number_of_inputs_in_order(self):
        """Also where the engine takes one image, or exactly four, at a time."""
        for batches in ((1, 4, 16), (1, 1, 1), (4, 4, 4), (2, 3, 3)):
            engine = self.engine(batches)
            for count in (0, 1, 4, 5, 9):
                for batch_size in (1, 4, 20):
                    inputs = [pictures(1, 16, 16, seed=i) for i in range(count)]
                    with self.subTest(batches=batches, count=count, batch_size=batch_size):
                        found = engine.batch_inference(inputs, batch_size=batch_size)
                        self.assertEqual(len(found), count)
                        for x, y in zip(inputs, found):
                            self.near(y, truth(x[None])[0])
                            self.assertEqual(y.shape, (2, 16, 16))

    def test_inputs_with_a_batch_of_their_own(self):
        inputs = [pictures(rows, 1, 16, 16, seed=rows) for rows in (1, 3, 2)] + [pictures(1, 16, 16)]
        found = self.engine().batch_inference(inputs)
        self.assertEqual([y.shape for y in found], [(1, 2, 16, 16), (3, 2, 16, 16), (2, 2, 16, 16), (2, 16, 16)])
        for x, y in zip(inputs[:3], found):
            self.near(y, truth(x))
        self.near(found[3], truth(inputs[3][None])[0])

    def test_no_call_is_larger_than_batch_size(self):
        engine = self.engine()
        sizes = []
        call = TensorRTInferenceEngine.__call__
        with mock.patch.object(TensorRTInferenceEngine, '__call__', lambda self, x: sizes.append(len(x)) or call(self, x)):
            engine.batch_inference([pictures(1, 16, 16)] * 9, batch_size=4)
        self.assertEqual(sizes, [4, 4, 1])

    def test_several_outputs(self):
        engine, x = self.engine(outputs=2), pictures(3, 1, 16, 16)
        for found in (engine(x), engine.batch_inference([x])[0], tuple(map(np.stack, zip(*engine.batch_inference(list(x)))))):
            self.assertIsInstance(found, tuple)
            for output in (0, 1):
                self.near(found[output], truth(x, output))

    def test_wrong_inputs(self):
        engine = self.engine()
        self.refused(tenfold.InvalidArgument, ['inputs[1]', '[16, 16]', '[channel, spatial...]'], engine.batch_inference,
                     [pictures(1, 16, 16), pictures(16, 16)])
        for size in (0, -1, 2.0, True):
            self.refused(tenfold.InvalidArgument, [f'batch_size={size!r}', 'at least 1'], engine.batch_inference, [], size)
        self.refused(tenfold.InvalidArgument, '17x1x16x16', engine, pictures(17, 1, 16, 16))
        self.refused(tenfold.InvalidArgument, 'elements of object', engine, np.array([None]))


class Types(EngineCase):
    def test_results_have_the_type_of_the_images(self):
        engine = self.engine()
        x = pictures(2, 1, 16, 16)
        for dtype in (np.float16, np.float32, np.float64):
            self.assertEqual(engine(x.astype(dtype)).dtype, dtype)
            self.assertEqual(engine.batch_inference([x[0].astype(dtype)])[0].dtype, dtype)
            self.near(engine(x.astype(dtype)), truth(x), 2e-2)
        for dtype in (np.uint8, np.uint16, bool):
            counts = np.abs(x * 40).astype(dtype)
            self.assertEqual(engine(counts).dtype, np.float32)
            self.near(engine(counts), truth(counts), 1e-4)

    def test_half_precision_is_decided_at_the_export(self):
        plan = self.engine(fp16=True).model_path
        with Lines() as lines:
            TensorRTInferenceEngine(plan, (1, 1, 16, 16), DEVICE, half_precision=False)
            TensorRTInferenceEngine(plan, (1, 1, 16, 16), DEVICE, half_precision=False)
        self.assertEqual(len([line for line in lines if 'half_precision=False has no effect' in line]), 1, lines)


class Devices(EngineCase):
    def test_three_runs_to_warm_up(self):
        plan = self.engine().model_path
        shapes = []
        call = tenfold.Engine.__call__
        with mock.patch.object(tenfold.Engine, '__call__', lambda self, x: shapes.append(x.shape) or call(self, x)):
            TensorRTInferenceEngine(plan, (2, 1, 16, 16), DEVICE)
        self.assertEqual(shapes, [(2, 1, 16, 16)] * 3)

    @unittest.skipUnless(NO_GPU, 'there is a GPU')
    def test_without_a_gpu_cuda_is_the_cpu_and_said_once(self):
        plan = self.engine().model_path
        with Lines() as lines:
            for device in ('cuda', 'cuda'):
                engine = TensorRTInferenceEngine(plan, (1, 1, 16, 16), device)
                self.assertEqual(engine.device, 'cpu')
                self.assertIs(engine.to('cuda').cuda().eval().to('cpu', np.float16).cpu().train(False), engine)
        self.assertEqual(len([line for line in lines if "'cuda' means the CPU" in line]), 1, lines)

    def test_wrong_devices(self):
        plan = self.engine().model_path
        self.refused(tenfold.InvalidArgument, ["'gpu'", 'cuda:0'], TensorRTInferenceEngine, plan, (1, 1, 16, 16), 'gpu')
        self.refused(tenfold.Unsupported, 'export the module again', TensorRTInferenceEngine(plan, (1, 1, 16, 16), DEVICE).train)


class Files(EngineCase):
    def test_wrong_shapes(self):
        plan = self.engine().model_path
        for shape in ((1, 1, 8, 16), (17, 1, 16, 16), (1, 16, 16), (0, 1, 16, 16)):
            self.refused(tenfold.InvalidArgument, [f'input_shape={shape}', plan, '(1 to 16, 1, 16, 16)'], TensorRTInferenceEngine, plan,
                         shape, DEVICE)

    def test_wrong_files(self):
        import zipfile
        with open(self.path('text'), 'w') as file:
            file.write('no plan')
        with zipfile.ZipFile(self.path('plain.ts'), 'w') as archive:
            archive.writestr('plain/data.pkl', b'no plan either')
        with open(self.path('plain.ts'), 'rb') as file, open(self.path('cut.ts'), 'wb') as cut:
            cut.write(file.read()[:30])
        for name, words in (('none', 'No such file'), ('text', 'not a Tenfold plan'), ('plain.ts', 'without a plan'),
                            ('cut.ts', 'damaged')):
            self.refused(tenfold.Error, [self.path(name), words], TensorRTInferenceEngine, self.path(name), (1, 1, 16, 16), DEVICE)


@unittest.skipUnless(importlib.util.find_spec('tenfold.imaging'), 'tenfold.imaging is not there')
class Windows(EngineCase):
    """The network pads each window with zeros, so that results depend on the place in the window, and on weights."""

    def whole(self, image, roi, step):
        """By NumPy: windows at these steps, each result counted alike."""
        starts = [sorted({min(at, extent - roi) for at in range(0, extent - roi + step, step)}) for extent in image.shape[2:]]
        total, count = np.zeros((len(image), len(HEADS[0]), *image.shape[2:])), np.zeros(image.shape[2:])
        for place in np.ndindex(*map(len, starts)):
            at = tuple(slice(starts[axis][i], starts[axis][i] + roi) for axis, i in enumerate(place))
            total[(..., *at)] += truth(image[(..., *at)])
            count[at] += 1
        return total / count

    def test_images_of_all_ranks(self):
        for batches in ((1, 4, 16), (1, 1, 1), (4, 4, 4)):
            engine = self.engine(batches)
            image = pictures(2, 1, 40, 27)
            expected = self.whole(image, 16, 12)
            run = lambda one, **options: engine.sliding_window_inference(one, (16, 16), mode='constant', **options)
            self.near(run(image), expected)
            self.near(run(image[0], batch_size=3), expected[0])
            self.near(run(image[1, 0], batch_size=100), expected[1])

    def test_volumes(self):
        image = pictures(1, 1, 12, 9, 8)
        engine = self.engine(rank=3, extent=8)
        self.near(engine.sliding_window_inference(image[0, 0], (8, 8, 8), overlap=0.5, mode='constant'), self.whole(image, 8, 4)[0])

    def test_types(self):
        engine = self.engine()
        for dtype, answer in ((np.float16, np.float16), (np.float32, np.float32), (np.uint8, np.float32)):
            image = np.abs(pictures(40, 27) * 20).astype(dtype)
            found = engine.sliding_window_inference(image, (16, 16), mode='constant')
            self.assertEqual(found.dtype, answer)
            self.near(found, self.whole(image[None, None].astype(np.float32), 16, 12)[0], 2e-2 if dtype == np.float16 else 1e-4)

    def test_several_outputs(self):
        image = pictures(1, 1, 40, 27)
        found = self.engine(outputs=2).sliding_window_inference(image[0, 0], (16, 16), mode='constant')
        self.near(found[0], self.whole(image, 16, 12)[0])
        self.assertEqual(found[1].shape, (40, 27))   # of one channel

    def test_wrong_images(self):
        engine = self.engine()
        self.refused(tenfold.InvalidArgument, ['[5]', '2 spatial axes'], engine.sliding_window_inference, pictures(5), (16, 16))
        self.refused(tenfold.InvalidArgument, ['batch_size=0'], engine.sliding_window_inference, pictures(20, 20), (16, 16), batch_size=0)


@unittest.skipUnless(importlib.util.find_spec('tenfold.imaging'), 'tenfold.imaging is not there')
class Page(EngineCase):
    def test_the_guides_block(self):
        """That of "Run" in docs/guides/cyto-dl.md, as it stands, but for the device where another one is tested."""
        section = (TREE / 'docs/guides/cyto-dl.md').read_text().split('\n## Run\n')[1].split('\n## ')[0]
        (block,) = re.findall(r'^```python\n(.*?)^```', section, re.M | re.S)
        tenfold.build(network(3), profiles={'x': [(1, 1, 64, 64, 64)] * 3}, **QUICK).save(self.path('unet.plan'))
        names = {'volume': pictures(70, 65, 64)}
        with contextlib.chdir(self.folder):
            exec(compile(block.replace('"cuda"', repr(DEVICE)), 'docs/guides/cyto-dl.md', 'exec'), names)
        self.assertEqual(names['labels'].shape, (2, 70, 65, 64))
        # A window that begins at the volume's own corner is alone there, and sees the same zeros around it as the whole.
        self.near(names['labels'][:, :6, 0, :60], truth(names['volume'][None, None])[0][:, :6, 0, :60], 1e-4)


class WithoutTorch(CytoCase):
    def test_torch_is_not_imported(self):
        self.assertNotIn('torch', sys.modules)


if __name__ == '__main__':
    unittest.main()
