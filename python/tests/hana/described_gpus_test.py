"""What a GPU changes, by devices that a test describes: which one is taken, what is told, what happens where one fails."""
import types
import unittest
from unittest import mock

import tenfold
from hana_case import MINILM, TEXTS, HanaCase
from tenfold_hana import EnhancedMultiGPUManager, TensorCoreOptimizer, TensorRTEmbeddings, _devices

MB = 1 << 20
LOG = 'tenfold.hana'


def described(*gpus):
    """Patches for GPUs of (compute capability without its point, MB, free MB)."""
    cpu = types.SimpleNamespace(device='cpu', name='a CPU', features='avx2', memory_bytes=0)
    there = [types.SimpleNamespace(device=f'cuda:{i}', name=f'GPU {i}', features=f'sm_{arch}', memory_bytes=total * MB)
             for i, (arch, total, _) in enumerate(gpus)]
    free = {f'cuda:{i}': left * MB for i, (_, _, left) in enumerate(gpus)}
    return mock.patch.multiple(_devices, tenfold=mock.DEFAULT, _native=mock.DEFAULT), [cpu, *there], free


class Described(HanaCase):
    def gpus(self, *gpus):
        patch, there, free = described(*gpus)
        made = patch.start()
        self.addCleanup(patch.stop)
        made['tenfold'].devices = lambda: there
        made['tenfold'].why_no_gpu = lambda: '' if gpus else 'no driver'
        made['_native'].free_memory = free.get
        self.free = free

    def test_descriptions(self):
        self.gpus((90, 80000, 70000), (61, 8000, 100))
        self.assertEqual([(g.index, g.compute_capability, g.memory_total, g.memory_free) for g in _devices.gpus()],
                         [(0, '9.0', 80000, 70000), (1, '6.1', 8000, 100)])
        self.assertEqual([TensorCoreOptimizer(d).is_supported() for d in (None, 0, 1, 'cpu', 2)], [True, True, False, False, False])

    def test_which_is_taken(self):
        self.gpus((90, 80000, 70000), (100, 80000, 8000))
        self.assertEqual(_devices.usable_device(0, 20.0), 'cuda:0')
        for device, reason in ((1, '8000 of 80000 MB free, less than the 20 %'), (2, 'there is no such GPU')):
            with self.assertLogs(LOG, 'WARNING') as reported:
                self.assertEqual(_devices.usable_device(device, 20.0), 'cpu')
            self.assertIn(reason, reported.output[0])
        self.assertEqual(_devices.usable_device(1, 10.0), 'cuda:1')

    def test_the_manager_takes_all_or_those_named(self):
        self.gpus((90, 80000, 1000), (90, 80000, 2000), (90, 80000, 500))
        for ids, devices in ((None, [0, 1, 2]), ([2, 'cuda:0', 'cpu'], [2, 0, 'cpu']), ([1, 1], [1, 1])):
            with EnhancedMultiGPUManager(device_ids=ids) as manager:
                self.assertEqual(manager.devices, devices)
        with EnhancedMultiGPUManager(strategy='memory', monitor_interval=0) as manager:
            self.assertEqual(manager.get_best_device(), 1)
            self.free['cuda:1'] = 0
            self.assertEqual(manager.get_best_device(), 0)
        with self.assertLogs(LOG, 'WARNING') as reported, EnhancedMultiGPUManager(device_ids=[0, 9]) as manager:
            self.assertEqual(manager.devices, [0, 'cpu'])
        self.assertIn('cuda:9 cannot be used', reported.output[0])

    def test_a_build_without_memory_has_half_the_batch(self):
        self.gpus((90, 80000, 70000))
        opened = []

        def open_on(embeddings, device):
            opened.append((device, embeddings.max_batch_size))
            if embeddings.max_batch_size > 8:
                raise tenfold.OutOfMemory('5 bytes are free')
        with mock.patch.object(TensorRTEmbeddings, '_open_on', open_on), self.assertLogs(LOG, 'WARNING') as reported:
            TensorRTEmbeddings(MINILM, precision='fp16', device=0)
        self.assertEqual(opened, [('cuda:0', 32), ('cuda:0', 16), ('cuda:0', 8)])
        self.assertIn('max_batch_size is 16 now', reported.output[0])

    def test_a_gpu_that_fails_leaves_it_to_the_cpu(self):
        self.gpus((90, 80000, 70000))
        really = TensorRTEmbeddings._open_on

        def open_on(embeddings, device):
            if device != 'cpu':
                raise tenfold.DeviceError('fell off the bus')
            really(embeddings, device)
        with mock.patch.object(TensorRTEmbeddings, '_open_on', open_on), self.assertLogs(LOG, 'WARNING') as reported:
            embeddings = TensorRTEmbeddings(MINILM, precision='fp32', device=0)
            self.near_truth(embeddings.embed_documents(TEXTS))
        self.assertEqual(embeddings.device, 'cpu')
        self.assertIn('fell off the bus', reported.output[0])

    def test_a_build_that_fails_names_the_next_precision(self):
        for precision, hint in (('bf16', "; try precision='fp32'"), ('fp32', 'no such kernel')):
            with mock.patch.object(tenfold, 'build', side_effect=tenfold.Unsupported('no such kernel')), \
                    self.assertRaisesRegex(tenfold.Unsupported, f'building the {precision} engine of .*no such kernel') as raised:
                TensorRTEmbeddings(MINILM, precision=precision)
            self.assertTrue(str(raised.exception).endswith(hint), raised.exception)


if __name__ == '__main__':
    unittest.main()
