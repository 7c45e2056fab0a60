"""What tenfold.imaging refuses: each message names the argument, what was expected and what to do."""
import unittest

import numpy as np

import tenfold
from tenfold import imaging
from tenfold.imaging import sliding_window_inference

IMAGE = np.ones((1, 1, 9, 9), np.float32)
REFUSED = [   # arguments beside (inputs, roi_size, sw_batch_size, predictor), and the message
    ({'roi_size': 4.0}, r'roi_size=4\.0; expected whole numbers'),
    ({'roi_size': (4, '5')}, r"roi_size=\(4, '5'\); expected whole numbers"),
    ({'roi_size': (4, 4, 4)}, r'roi_size=\(4, 4, 4\) has 3 values; expected one for all .* these 2'),
    ({'inputs': IMAGE[0, 0]}, r'inputs are \[9, 9\]; expected \[batch, channel, spatial\.\.\.\]'),
    ({'inputs': np.ones((1, 0, 9, 9), np.float32)}, r'inputs are \[1, 0, 9, 9\]; expected at least one channel'),
    ({'inputs': IMAGE.astype(complex)}, r'inputs is a ndarray of complex128; expected an array of real numbers'),
    ({'inputs': None}, r'inputs is a NoneType of object; expected an array'),
    ({'inputs': 'image.tif'}, r'inputs is a str of .*; expected an array'),
    ({'sw_batch_size': 0}, r'sw_batch_size=0; expected a whole number of at least 1'),
    ({'sw_batch_size': 2.5}, r'sw_batch_size=2\.5; expected'),
    ({'overlap': 1}, r'overlap=1; expected at least 0 and less than 1'),
    ({'overlap': (0.5, -0.1)}, r'overlap=\(0\.5, -0\.1\); expected'),
    ({'overlap': float('nan')}, r'overlap=nan; expected'),
    ({'overlap': 'half'}, r"overlap='half'; expected a number"),
    ({'mode': 'gausian'}, r"mode='gausian'; expected one of 'constant', 'gaussian'"),
    ({'mode': None}, r"mode=None; expected one of 'constant', 'gaussian'"),
    ({'mode': 'gaussian', 'sigma_scale': 0}, r'sigma_scale 0: expected more than 0'),
    ({'padding_mode': 'edge'}, r"padding_mode='edge'; expected one of 'constant', 'reflect'"),
    ({'padding_mode': 'reflect', 'cval': 3, 'roi_size': 12}, r"cval=3 is the value of padding_mode='constant'"),
    ({'padding_mode': 'reflect', 'roi_size': 40}, r'reflect: an extent of 9 cannot be padded by 16, at most by 8'),
    ({'device': 'cuda:0'}, r"device='cuda:0', but inputs is a ndarray, .*; leave it out, or give a torch tensor"),
    ({'buffer_steps': 1, 'buffer_dim': 2}, r'buffer_dim=2; expected -2 to 1'),
    ({'roi_weight_map': np.ones((4, 5))}, r'roi_weight_map: \[4, 5\]; expected \[4, 4\]'),
    ({'roi_weight_map': -np.ones((4, 4))}, r'roi_weight_map: a value is negative'),
    ({'roi_weight_map': np.zeros((4, 4))}, r'weights: .* sum to zero'),
    ({'condition': np.ones((2, 1, 9, 9))}, r'condition is \[2, 1, 9, 9\], inputs are \[1, 1, 9, 9\]; expected as many'),
    ({'predictor': 7}, r'predictor is a int; expected a function, a tenfold\.Engine or an Ensemble'),
    ({'predictor': lambda x: None}, r'predictor returned a NoneType; expected an array'),
    ({'predictor': lambda x: ()}, r'predictor returned an empty tuple; expected an array'),
    ({'predictor': lambda x: (x, None)}, r'output 1 of predictor is a NoneType; expected an array'),
    ({'predictor': lambda x: {'a': x, 1: x}}, r'a dict whose keys cannot be sorted .*; name all outputs by strings'),
    ({'predictor': lambda x: x[:1]}, r'output 0 of predictor is \[1, 1, 4, 4\] for 2 windows; expected \[windows'),
    ({'predictor': lambda x: x[..., 0]}, r'output 0 is \[2x1x4\], expected \[windows, channel, 2 spatial'),
    ({'process_fn': lambda outputs, *_: (outputs, np.ones((3, 3)))}, r'weights of process_fn: \[3, 3\]; expected'),
]


class Refused(unittest.TestCase):
    def test_arguments(self):
        for changed, message in REFUSED:
            with self.subTest(message):
                given = {'inputs': IMAGE, 'roi_size': 4, 'sw_batch_size': 2, 'predictor': lambda x, **_: x, **changed}
                with self.assertRaisesRegex(tenfold.InvalidArgument, message):
                    sliding_window_inference(**given)

    def test_outputs_that_change(self):
        answers = iter(({'a': 0}, {'b': 0}))
        with self.assertRaisesRegex(tenfold.InvalidArgument, r"outputs \['b'\], for the windows before \['a'\]"):
            sliding_window_inference(IMAGE, 4, 2, lambda x: dict.fromkeys(next(answers), x))
        several = iter((1, 2))
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'gave 2 outputs, in the first call 1'):
            sliding_window_inference(IMAGE, 4, 2, lambda x: [x] * next(several))

    def test_what_a_predictor_raises(self):
        def failing(x):
            raise KeyError('mine')

        with self.assertRaisesRegex(KeyError, 'mine'):
            sliding_window_inference(IMAGE, 4, 2, failing)

    def test_inferers(self):
        for make, message in ((lambda: imaging.SlidingWindowInferer(4, mode='what'), r"mode='what'; expected one of"),
                              (lambda: imaging.SliceInferer(3, (4, 4)), r'spatial_dim=3; expected 0, 1 or 2'),
                              (lambda: imaging.SliceInferer(0, (4, 4))(IMAGE, abs), 'expected two extents, and'),
                              (lambda: imaging.SliceInferer(0, 4)(IMAGE[None], abs), 'expected two extents')):
            with self.subTest(message), self.assertRaisesRegex(tenfold.InvalidArgument, message):
                make()
        with self.assertRaisesRegex(AttributeError, 'tenfold.imaging has no attribute'):
            imaging.PatchInferer


if __name__ == '__main__':
    unittest.main()
