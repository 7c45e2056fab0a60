"""tenfold.imaging's inferers beside those of MONAI 1.6.1, by hand and in a bundle."""
import unittest

import monai_case
from monai_case import MODULES, MonaiCase, Network, noise

from tenfold import imaging

NAMES = ('SlidingWindowInferer', 'SlidingWindowInfererAdapt', 'SliceInferer')


class Inferers(MonaiCase):
    def each(self, name, image, *options, keywords=None, **named):
        """(result, calls of the network, inferer) of ours and of MONAI's."""
        for module in MODULES:
            network, inferer = Network(), getattr(module, name)(*options, **named)
            yield inferer(image.clone(), network, **(keywords or {})), network.calls, inferer

    def test_sliding_windows(self):
        from monai.utils import BlendMode, PytorchPadMode
        image = noise(2, 1, 19, 14, 9)
        options = ({}, {'mode': 'gaussian', 'overlap': 0.6}, {'mode': BlendMode.GAUSSIAN, 'sw_batch_size': 3},
                   {'padding_mode': PytorchPadMode.REFLECT}, {'cache_roi_weight_map': True, 'mode': 'gaussian'},
                   {'buffer_steps': 2, 'buffer_dim': 0}, {'with_coord': True}, {'cpu_thresh': 10},
                   {'sw_device': 'cpu', 'device': 'cpu'})
        for named in options:
            for name in NAMES[:2]:
                with self.subTest(name=name, **named):
                    ours, theirs = self.each(name, image, (8, 16, 5), keywords={'scale': 3}, **named)
                    self.near(ours[0], theirs[0])
                    if 'buffer_steps' not in named:   # MONAI then goes along that axis first
                        self.assertEqual(ours[1], theirs[1])
                    self.assertEqual(ours[2].roi_weight_map is not None, 'cache_roi_weight_map' in named)

    def test_keywords_of_a_call(self):
        inferers = [module.SlidingWindowInferer((8,), 2, device='meta') for module in MODULES]
        self.near(*(one(noise(1, 1, 20), Network(), device='cpu', buffer_steps=1, buffer_dim=0) for one in inferers))

    def test_no_weights_to_keep(self):
        for module in MODULES:
            with self.assertWarnsRegex(UserWarning, 'cache_roi_weight_map'):
                self.assertIsNone(module.SlidingWindowInferer((8, -1), cache_roi_weight_map=True).roi_weight_map)

    def test_slices(self):
        image = noise(2, 2, 7, 9, 8)
        for axis in range(3):
            for keywords in ({}, {'condition': noise(2, 2, 7, 9, 8, seed=6)}):
                with self.subTest(axis=axis, **dict.fromkeys(keywords)):
                    ours, theirs = self.each('SliceInferer', image, axis, (4, 5), 3, 0.5, 'gaussian', keywords=keywords)
                    self.near(ours[0], theirs[0])
                    for (shape, args, names), expected in zip(ours[1], theirs[1], strict=True):
                        self.assertEqual((shape, len(args), names), (expected[0], len(expected[1]), expected[2]))

    def test_outputs_of_slices(self):
        for structure in (lambda y: {'b': y * 1, 'a': y + 1}, lambda y: (y * 1, y + 1), lambda y: [y * 1]):
            def network(x, structure=structure):
                return structure(Network()(x))

            ours, theirs = (module.SliceInferer(1, (4, 5), 3)(noise(1, 1, 5, 9, 8), network) for module in MODULES)
            self.assertIs(type(ours), type(theirs))
            if isinstance(ours, dict):
                self.assertEqual(list(ours), list(theirs))
                ours, theirs = ours.values(), theirs.values()
            for y, expected in zip(ours, theirs, strict=True):
                self.near(y, expected)

    def test_a_bundle(self):
        from monai.bundle import ConfigParser
        options = {'roi_size': [8, 8], 'sw_batch_size': 2}
        parser = ConfigParser({name: {'_target_': f'tenfold.imaging.{name}', **options} for name in NAMES})
        for name in NAMES:
            self.assertIs(type(parser.get_parsed_content(name)), getattr(imaging, name))
        image = noise(1, 1, 20, 20)
        expected = monai_case.monai.inferers.SlidingWindowInferer([8, 8], 2)(image, Network())
        self.near(parser.get_parsed_content(NAMES[0])(image, Network()), expected)


if __name__ == '__main__':
    unittest.main()
