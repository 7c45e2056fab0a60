"""predict_step() of the Allen Institute's cyto-dl, as its wheel has it, over images in windows of tenfold.imaging.

Its module multi_task.py is run from the installed file with what it needs of torch, Lightning and MONAI put in place, so cyto-dl may be
installed without them (pip install --no-deps cyto-dl).
"""
import contextlib
import importlib.metadata
import runpy
import types
import unittest
from unittest import mock

import numpy as np
from window_engines import engine, noise

from tenfold.imaging import SlidingWindowInferer, sliding_window_inference

try:
    FILE = importlib.metadata.distribution('cyto-dl').locate_file('cyto_dl/models/im2im/multi_task.py')
except importlib.metadata.PackageNotFoundError:
    FILE = None
ROI, HEADS = (8, 6), ['a', 'y']   # of which a is of half the resolution


def modules():
    """What multi_task.py imports. MONAI's function is ours, which is all that a user changes."""
    def made(name, **names):
        module = types.ModuleType(name)
        vars(module).update(names)
        return module
    meta_tensor, nn = type('MetaTensor', (), {}), made('torch.nn', Module=object)
    return {
        'torch': made('torch', nn=nn, no_grad=contextlib.nullcontext), 'torch.nn': nn,
        'monai': made('monai'), 'monai.data': made('monai.data'), 'torchmetrics': made('torchmetrics', MeanMetric=object),
        'monai.data.meta_tensor': made('monai.data.meta_tensor', MetaTensor=meta_tensor),
        'monai.inferers': made('monai.inferers', sliding_window_inference=sliding_window_inference),
        'cyto_dl': made('cyto_dl'), 'cyto_dl.models': made('cyto_dl.models'),
        'cyto_dl.models.base_model': made('cyto_dl.models.base_model', BaseModel=object),
    }


class Batch(np.ndarray):
    """An image that came from no file."""

    meta: dict = {}


class Head:
    def run_head(self, features, batch, stage, n_postprocess, run_forward, y_hat):
        assert not run_forward and features is None and stage == 'predict'
        return {'pred': y_hat, 'images': n_postprocess}


@unittest.skipIf(FILE is None, 'cyto-dl is not installed')
class Predict(unittest.TestCase):
    def setUp(self):
        with mock.patch.dict('sys.modules', modules()):
            self.kind = runpy.run_path(str(FILE))['MultiTaskIm2Im']

    def model(self, forward, **inference):
        model = self.kind.__new__(self.kind)
        model.hparams = types.SimpleNamespace(x_key='raw', inference_args={'roi_size': ROI, 'sw_batch_size': 4, **inference})
        model.task_heads = {name: Head() for name in HEADS}
        model.inference_heads, model.forward = HEADS, forward
        return model

    def test_each_head_gets_its_whole_image(self):
        image = noise(2, 2, 30, 43)
        network = engine(names=('y', 'a'))

        def forward(windows, run_heads):
            found = network(np.asarray(windows))
            return {head: found[head] for head in run_heads}
        for inference in ({}, {'overlap': 0.5, 'mode': 'gaussian'}):
            model = self.model(forward, **inference)
            io_map, found = model.predict_step({'raw': image.view(Batch)}, 0)
            self.assertIsNone(io_map)
            expected = SlidingWindowInferer(ROI, 4, **inference)(image, network)
            self.assertEqual(sorted(found), HEADS)
            for head in HEADS:
                self.assertEqual(found[head]['images'], 2)
                np.testing.assert_allclose(found[head]['pred'], expected[head], atol=1e-6)

    def test_the_heads_that_are_asked_for_alone(self):
        asked = []

        def forward(windows, run_heads):
            asked.append(run_heads)
            return {head: windows[:, :1] for head in run_heads}
        model = self.model(forward)
        model.inference_heads = ['y']
        image = noise(1, 2, 20, 20)
        _, found = model.predict_step({'raw': image.view(Batch)}, 0)
        self.assertEqual(list(found), ['y'])
        np.testing.assert_allclose(found['y']['pred'], image[:, :1], atol=1e-6)
        self.assertTrue(all(heads == ['y'] for heads in asked))


if __name__ == '__main__':
    unittest.main()
