"""Sliding windows over torch's tensors on a GPU, where engine, images and results stay there. The truth is the host's sweep."""
import unittest

import numpy as np
from case import QUICK, Case, TensorProto, helper, model, numpy_helper
from gpu_case import ON_GPU, torch

import tenfold
from tenfold.imaging import SlidingWindowInferer, sliding_window_inference

ROI = (12, 8, 10)


def network():
    """A convolution that pads, and a factor for each voxel: both depend on the place in the window."""
    rng = np.random.default_rng(1)
    weights = {'w': rng.standard_normal((3, 2, 3, 3, 3)), 'mask': rng.standard_normal((3, *ROI))}
    nodes = [helper.make_node('Conv', ['x', 'w'], ['c'], pads=[1] * 6), helper.make_node('Mul', ['c', 'mask'], ['y'])]
    return model(nodes, [('x', TensorProto.FLOAT, ['n', 2, *ROI])], [('y', TensorProto.FLOAT, ['n', 3, *ROI])],
                 [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()])


def engine(device):
    shapes = tuple((batch, 2, *ROI) for batch in (1, 4, 4))
    return tenfold.build(network(), profiles={'x': shapes}, **{**QUICK, 'tf32': False, 'device': device})


@unittest.skipUnless(ON_GPU and torch, 'there is no GPU, or no torch')
class OnTheGpu(Case):
    def test_tensors_stay_there(self):
        here, there = engine('cpu'), engine('cuda:0')
        for dtype in (torch.float32, torch.float16, torch.uint8):
            x = (torch.rand(2, 2, 30, 21, 17) * 200).to(dtype)
            expected = sliding_window_inference(x, ROI, 4, here, 0.5, 'gaussian')
            for given in (x.cuda(), x.cuda().transpose(0, 1).contiguous().transpose(0, 1)):
                found = sliding_window_inference(given, ROI, 4, there, 0.5, 'gaussian')
                self.assertEqual((found.device.type, found.dtype), ('cuda', expected.dtype))
                scale = expected.float().abs().max()
                self.near(found.cpu().float() / scale, expected.float() / scale, 1e-3 if dtype == torch.float16 else 1e-5)

    def test_from_the_host_and_to_it(self):
        there, x = engine('cuda:0'), torch.rand(1, 2, 30, 21, 17)
        expected = sliding_window_inference(x, ROI, 4, engine('cpu'), 0.5, 'gaussian')
        self.near(sliding_window_inference(x, ROI, 4, there, 0.5, 'gaussian'), expected.numpy())
        self.near(SlidingWindowInferer(ROI, 4, 0.5, 'gaussian', device='cpu')(x.cuda(), there), expected.numpy())

    def test_what_the_gpu_has_no_kernel_for(self):
        there, x = engine('cuda:0'), torch.rand(1, 2, 30, 21, 17)
        found = sliding_window_inference(x.double().cuda(), ROI, 4, there, 0.5, 'gaussian')
        expected = sliding_window_inference(x.double(), ROI, 4, engine('cpu'), 0.5, 'gaussian')
        self.assertEqual((found.device.type, found.dtype), ('cuda', torch.float64))
        self.near(found.cpu(), expected.numpy())

    def test_work_of_the_caller_comes_first(self):
        there, x = engine('cuda:0'), torch.rand(1, 2, 30, 21, 17)
        expected = sliding_window_inference(x, ROI, 4, there, 0.5, 'gaussian')
        with torch.cuda.stream(torch.cuda.Stream()):
            large = torch.rand(8000, 8000, device='cuda')
            for _ in range(20):
                large = large @ large * 1e-4
            given = x.cuda(non_blocking=True) + 0 * large[0, 0].nan_to_num()
            found = sliding_window_inference(given, ROI, 4, there, 0.5, 'gaussian')
        self.near(found.cpu(), expected.numpy())


if __name__ == '__main__':
    unittest.main()
