"""Results of tenfold segment equal windows over the whole array in memory, by sliding_window_inference()."""
import os
import unittest

import numpy as np
from segment_case import ROI, SegmentCase, image, network

import tenfold


class Results(SegmentCase):
    def setUp(self):
        super().setUp()
        self.array = image(2, 30, 21, 17)
        self.source = self.save('x.npy', self.array)

    def found(self, *flags, **options):
        self.segment(self.source, 'y.npy', '--overwrite', *flags, **options)
        return np.load(self.path('y.npy'))

    def test_windows(self):
        for flags, options in (((), {}), (('--mode=constant', '--overlap=0.6'), {'mode': 'constant', 'overlap': 0.6}),
                               (('--overlap=0,0.5,0.25', '--sigmaScale=0.2', '--swBatch=3'),
                                {'overlap': (0, 0.5, 0.25), 'sigma_scale': 0.2})):
            self.near_all(self.found(*flags), self.by_hand(self.array, **options))

    def test_labels(self):
        expected = self.by_hand(self.array)
        labels = self.found('--reduce=argmax')
        self.assertEqual(labels.dtype, np.uint8)
        np.testing.assert_array_equal(labels, expected.argmax(0))
        self.assertEqual(self.found('--reduce=argmax', '--outputType=int32').dtype, np.int32)
        mask = self.found('--reduce=threshold:1000')
        np.testing.assert_array_equal(mask, expected >= 1000)
        soft = self.found('--normalize=scale:1e-5', '--activation=softmax')
        np.testing.assert_allclose(soft.sum(0), 1, rtol=1e-5)

    def test_each_axis_may_be_swept(self):
        plain = self.found('--sweep=z')
        for axis in 'yx':
            found = self.found(f'--sweep={axis}')
            self.near_all(found, plain)

    def test_images_smaller_than_the_window(self):
        small = self.array[:, :5, :, :4]
        for flags, options in (((), {}), (('--padding=reflect',), {'padding_mode': 'reflect'}), (('--cval=9',), {'cval': 9})):
            self.segment(self.save('s.npy', small), 'y.npy', '--overwrite', *flags)
            self.near_all(np.load(self.path('y.npy')), self.by_hand(small, **options))

    def test_several_networks_give_their_mean(self):
        other = self.save_model('n.onnx', network(seed=2))
        expected = (self.by_hand(self.array) + self.by_hand(self.array, self.engine(network(seed=2)))) / 2
        self.near_all(self.found(models=[self.model, other]), expected)
        plan = self.path('p.plan')
        self.engine(network(seed=2)).save(plan)
        self.near_all(self.found(f'--loadEngine={plan}'), expected)

    def test_mirrored_windows(self):
        engine = self.engine()

        def mirrored(x):
            flips = [(), (2,), (4,), (2, 4)]
            return sum(np.flip(engine(np.ascontiguousarray(np.flip(x, flip))), flip) for flip in flips) / 4
        self.near_all(self.found('--mirror=0,2', '--sweep=y'), self.by_hand(self.array, mirrored))

    def test_time_and_channels(self):
        movie = image(3, 4, 12, 21, 17, seed=4)
        summary = self.segment(self.save('t.npy', movie), 't_y.npy', '--channel=3,1', '--time=1:3')
        self.assertEqual([summary['axes'], summary['shape']], ['tczyx', [2, 3, 12, 21, 17]])
        for found, frame in zip(np.load(self.path('t_y.npy')), movie[1:3]):
            self.near_all(found, self.by_hand(frame[[3, 1]]))
        self.segment(self.path('t.npy'), 't_one.npy', '--channel=3,1', '--time=2')
        self.near_all(np.load(self.path('t_one.npy')), self.by_hand(movie[2][[3, 1]]))

    def test_networks_of_planes_take_volumes(self):
        flat = self.save_model('f.onnx', network(roi=(8, 6), channels=1))
        volume = image(5, 21, 17, seed=5)
        self.segment(self.save('v.npy', volume), 'v_y.npy', models=[flat])
        engine = self.engine(network(roi=(8, 6), channels=1), 1, (8, 6))
        expected = np.stack([self.by_hand(plane[None], engine, (8, 6)) for plane in volume], 1)
        self.near_all(np.load(self.path('v_y.npy')), expected)
        self.segment(self.save('p.npy', volume[0]), 'p_y.npy', models=[flat])
        self.near_all(np.load(self.path('p_y.npy')), expected[:, 0])

    def test_a_dynamic_network_takes_the_window_of_roi(self):
        dynamic = self.save_model('d.onnx', network(dynamic=True))
        engine = self.engine(network(dynamic=True), roi=(10, 21, 9))
        self.near_all(self.found('--roi=10,0,9', models=[dynamic]), self.by_hand(self.array, engine, (10, 21, 9)))

    def test_an_engine_of_a_fixed_batch(self):
        fixed = self.save_model('b.onnx', network(batch=8))
        self.near_all(self.found(models=[fixed]), self.by_hand(self.array))

    def test_types_of_images(self):
        for dtype in ('bool', 'uint8', 'int8', 'int64', 'uint32', 'float16', 'float64'):
            array = (self.array % 100).astype(dtype)
            self.segment(self.save('k.npy', array), 'y.npy', '--overwrite')
            self.near_all(np.load(self.path('y.npy')), self.by_hand(array.astype(np.float32)))

    def test_the_summary(self):
        found = self.segment(self.source, 'y.npy')
        self.assertEqual([found['planes'], found['windows'], found['bytes_read'], found['sweep']],
                         [30, len(tenfold._native.SlidingWindow((30, 21, 17), ROI)), self.array.nbytes, 'z'])
        self.assertEqual(set(found['seconds']), {'all', 'reading', 'waiting_for_input', 'network', 'stitching', 'writing'})
        self.assertGreater(found['seconds']['network'], 0)
        self.assertGreater(found['peak_memory'], 1 << 20)

    def test_the_old_output_is_replaced_when_asked(self):
        self.save('y.npy', np.zeros(3))
        self.fails(2, 'y.npy: it is there already', self.words(self.source, 'y.npy'))
        self.assertEqual(self.found().shape, (3, 30, 21, 17))
        self.assertEqual(sorted(os.listdir(self.folder)), ['m.onnx', 'x.npy', 'y.npy'])


class Normalized(SegmentCase):
    def check(self, array, flags, expected):
        self.segment(self.save('x.npy', array), 'y.npy', '--overwrite', *(f'--normalize={one}' for one in flags))
        self.near_all(np.load(self.path('y.npy')), self.by_hand(expected))

    def test_steps(self):
        x = image(2, 13, 21, 17)
        f = x.astype(np.float32)
        self.check(x, ['scale:0.25'], f * 0.25)
        self.check(x, ['clip:1000,30000', 'mean:5000,std:100'], (np.clip(f, 1000, 30000) - 5000) / 100)
        self.check(x, ['clip:1000,30000|mean:5000,std:100'], (np.clip(f, 1000, 30000) - 5000) / 100)

    def test_statistics_are_those_of_numpy(self):
        for dtype in ('uint8', 'int16', 'uint16', 'float32', 'int32'):
            x = image(2, 13, 21, 17, dtype='float64')
            x = ((x - (0.5 if dtype in ('int16', 'int32', 'float32') else 0)) ** 3 * 250 * (1 if dtype == 'uint8' else 200)).astype(dtype)
            f = x.astype(np.float64)
            mean, std = (getattr(f, name)(axis=(1, 2, 3), keepdims=True) for name in ('mean', 'std'))
            self.check(x, ['zscore'], (f - mean) / std)
            low, high = np.percentile(f, (1, 99.8), axis=(1, 2, 3), keepdims=True)
            self.check(x, ['percentile:1,99.8'], (f - low) / (high - low))
            clipped = np.clip((f - low) / (high - low), 0, 1)
            mean, std = (getattr(clipped, name)(axis=(1, 2, 3), keepdims=True) for name in ('mean', 'std'))
            self.check(x, ['percentile:1,99.8', 'clip:0,1', 'zscore'], (clipped - mean) / std)

    def test_each_time_point_has_its_own(self):
        movie = image(2, 2, 13, 21, 17) // np.array([1, 4], 'uint16').reshape(2, 1, 1, 1, 1)
        self.segment(self.save('x.npy', movie), 'y.npy', '--normalize=zscore')
        for found, frame in zip(np.load(self.path('y.npy')), movie.astype(np.float64)):
            mean, std = (getattr(frame, name)(axis=(1, 2, 3), keepdims=True) for name in ('mean', 'std'))
            self.near_all(found, self.by_hand((frame - mean) / std))

    def test_a_constant_channel_becomes_zeros(self):
        x = image(2, 13, 21, 17, dtype='float32')
        x[1] = 7
        summary = self.segment(self.save('x.npy', x), 'y.npy', '--normalize=zscore')
        self.assertEqual(summary['constant_channels'], [1])
        f = (x - x.mean((1, 2, 3), keepdims=True, dtype=np.float64)) / np.array([x[0].std(dtype=np.float64), 1]).reshape(2, 1, 1, 1)
        self.near_all(np.load(self.path('y.npy')), self.by_hand(f))


if __name__ == '__main__':
    unittest.main()
