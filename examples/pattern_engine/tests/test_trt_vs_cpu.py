"""Engines beside ONNX Runtime's CPU, on windows with and without spikes: TRT_CI=1 pytest tests/test_trt_vs_cpu.py -v

They run on the device that is used. With TRT_CI=1 that has to be a GPU: where there is none, this fails.
"""
import os
import sys

import numpy as np
import onnxruntime
import pytest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', part) for part in ('', 'scripts')]

from pattern_engine.trt_engine import TRTEngine, build_engine   # noqa: E402
from toy_models import make_model, spikes   # noqa: E402

from tenfold.pycuda import driver as cuda   # noqa: E402


@pytest.mark.parametrize('name', ['toy_mlp', 'toy_cnn'])
def test_trt_matches_cpu(name, tmp_path):
    if os.environ.get('TRT_CI') == '1':
        assert cuda.Device(0).compute_capability() > (0, 0), f'TRT_CI=1 wants a GPU; what is used is {cuda.Device(0).name()}'
    model, plan = str(tmp_path / 'model.onnx'), str(tmp_path / 'model.engine')
    with open(model, 'wb') as f:
        f.write(make_model(name, quiet=True).SerializeToString())
    engine = TRTEngine(build_engine(model, plan, 256 << 20))
    session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
    windows = [np.zeros((1, 1, 32), np.float32), *spikes(np.random.default_rng(6), 64)[0][:, None]]
    for window in windows:
        expected = session.run(None, {'input': window})[0]
        found = engine.infer(window)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, atol=1e-4, rtol=1e-3)
