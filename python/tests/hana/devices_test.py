"""Several devices: workers on the CPU in place of GPUs, strategies, a device that fails, the pipeline; all beside one device's vectors."""
import json
import threading
import time
import unittest

import numpy as np
import tenfold
from hana_case import MINILM, MPNET, TEXTS, HanaCase
from tenfold_hana import (
    EnhancedMultiGPUManager, HanaTensorRTMultiGPUEmbeddings, MultiGPUEmbeddings, TensorCoreOptimizer, TensorRTEmbeddings,
)
from tenfold_hana._multi_gpu import pieces_of
from tenfold_hana._workers import current_worker


class Manager(unittest.TestCase):
    def manager(self, *devices, **options):
        manager = EnhancedMultiGPUManager(device_ids=devices or ['cpu', 'cpu', 'cpu'], **options)
        self.addCleanup(manager.close)
        return manager

    def test_order_is_kept_by_every_strategy(self):
        for strategy in ('auto', 'round_robin', 'memory', 'utilization'):
            manager = self.manager(strategy=strategy)
            squares = manager.batch_process(lambda some: [x * x for x in some], range(100), batch_size=7)
            self.assertEqual(squares, [x * x for x in range(100)])
            self.assertEqual((manager.get_status()['total_tasks_completed'], manager.get_best_device()), (15, 'cpu'))

    def test_who_has_nothing_to_do_takes_others_work(self):
        manager, gate = self.manager('cpu', 'cpu', strategy='round_robin'), threading.Event()
        blocked = manager.submit_task(gate.wait, (10,))
        ids = [manager.submit_task(current_worker) for _ in range(9)]   # half of them joined the queue of the one that waits
        self.assertEqual(len(set(manager.results_of(ids, timeout=5))), 1)
        gate.set()
        self.assertTrue(manager.wait_for_task(blocked).result)

    def test_priorities_preferences_callbacks_timeouts(self):
        manager, gate, reported = self.manager('cpu'), threading.Event(), []
        first = manager.submit_task(gate.wait, (10,))
        ids = [manager.submit_task(reported.append, (i,), priority=i, task_id=str(i), device_preference='cpu') for i in (1, 3, 2)]
        late = manager.submit_task(lambda: 1, timeout=0.01, callback=reported.append)
        time.sleep(0.05)
        gate.set()
        manager.results_of([first, *ids])
        self.assertEqual(reported[:3], [3, 2, 1])
        result = manager.wait_for_task(late)
        self.assertFalse(result.success)
        self.assertIsInstance(result.error, TimeoutError)
        self.assertIs(reported[3], result)
        self.assertIsNone(manager.wait_for_task(manager.submit_task(time.sleep, (0.2,)), timeout=0.01))

    def test_a_device_that_fails_gives_its_work_back(self):
        manager, lost = self.manager(strategy='round_robin'), []

        def work(some):
            if current_worker() == 1:
                lost.append(some)
                raise tenfold.DeviceError('fell off the bus')
            time.sleep(0.001)
            return some
        with self.assertLogs('tenfold.hana', 'WARNING') as reported:
            self.assertEqual(manager.batch_process(work, range(60), batch_size=2), list(range(60)))
        self.assertEqual((len(lost), len(reported.output)), (1, 1))
        self.assertEqual([d['is_available'] for d in manager.get_status()['devices']], [True, False, True])

    def test_callbacks_of_a_lost_devices_tasks_may_ask_the_manager(self):
        gate, reported = threading.Event(), []

        def fails_on_the_first():
            gate.wait(10)
            if current_worker() == 0:
                raise tenfold.DeviceError('fell off the bus')

        def ask(result):
            asking = threading.Thread(target=manager.get_status, daemon=True)
            asking.start()
            asking.join(10)
            reported.append((type(result.error), asking.is_alive()))
        with EnhancedMultiGPUManager(device_ids=['cpu', 'cpu']) as manager:
            ids = [manager.submit_task(fails_on_the_first) for _ in range(2)]   # both workers wait
            while manager.get_status()['queue_sizes'] != {0: 0, 1: 0}:
                time.sleep(0.001)
            pinned = manager.submit_task(print, device_preference='cpu', callback=ask)   # behind the first worker's
            gate.set()
            manager.results_of(ids)
            self.assertIsInstance(manager.wait_for_task(pinned).error, tenfold.DeviceError)
            end = time.monotonic() + 30
            while not reported and time.monotonic() < end:   # the callback comes behind the result
                time.sleep(0.001)
        self.assertEqual(reported, [(tenfold.DeviceError, False)])

    def test_what_a_task_raises_is_raised(self):
        manager = self.manager('cpu')
        with self.assertRaises(ZeroDivisionError):
            manager.batch_process(lambda some: 1 / 0, [1])
        with self.assertRaisesRegex(tenfold.DeviceError, 'gone'):   # of the last device
            manager.batch_process(lambda some: (_ for _ in ()).throw(tenfold.DeviceError('gone')), [1])

    def test_bad_input(self):
        with self.assertRaisesRegex(tenfold.InvalidArgument, "strategy is 'fastest', expected one of auto"):
            EnhancedMultiGPUManager(strategy='fastest')
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'device_ids is empty'):
            EnhancedMultiGPUManager(device_ids=[])
        manager = self.manager('cpu')
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'there is no task'):
            manager.wait_for_task('x')
        with self.assertRaisesRegex(tenfold.DeviceError, 'cuda:99'):
            manager.submit_task(print, device_preference='cuda:99')
        with self.assertRaisesRegex(tenfold.InvalidArgument, "stages are for strategy='pipeline'"):
            manager.configure_pipeline([{'name': n, 'device_id': 0} for n in ('tokenization', 'embedding', 'pooling')])
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'tokenization, embedding, pooling'):
            self.manager('cpu', strategy='pipeline').configure_pipeline([{'name': 'embedding', 'device_id': 0}])
        manager.close()
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'closed'):
            manager.submit_task(print)

    def test_disabled(self):
        manager = self.manager('cpu', enabled=False)
        self.assertEqual(manager.wait_for_task(manager.submit_task(max, (1, 2))).result, 2)
        self.assertEqual(manager.batch_process(lambda some: some, [1, 2, 3]), [1, 2, 3])

    def test_pieces_have_about_equal_work(self):
        texts = ['x' * (i % 50 + 1) for i in range(500)]
        pieces = pieces_of(texts, 600)
        self.assertEqual(sorted(i for piece in pieces for i in piece), list(range(500)))
        self.assertLess(max(sum(len(texts[i]) + 8 for i in piece) for piece in pieces), 601)
        self.assertEqual(pieces_of([]), [])
        self.assertEqual(pieces_of(['x' * 1000], 10), [[0]])


class SeveralDevices(HanaCase):
    def test_vectors_are_those_of_one(self):
        base = TensorRTEmbeddings(MINILM, precision='fp32')
        for strategy in ('auto', 'round_robin', 'memory', 'utilization'):
            with EnhancedMultiGPUManager(strategy=strategy, device_ids=['cpu', 'cpu']) as manager:
                embeddings = MultiGPUEmbeddings(base, manager)
                self.near_truth(embeddings.embed_documents(TEXTS * 40), texts=TEXTS * 40)
                self.assertGreater(manager.get_status()['total_tasks_submitted'], 5)
                self.assertEqual(embeddings.embed_documents([]), [])
                self.near_truth([embeddings.embed_query('fine.')], texts=['fine.'])
                with self.assertRaisesRegex(TypeError, 'text 1 is a NoneType'):
                    embeddings.embed_documents(['a', None])

    def test_any_embeddings(self):
        from langchain_core.embeddings import DeterministicFakeEmbedding
        base = DeterministicFakeEmbedding(size=5)
        with EnhancedMultiGPUManager(device_ids=['cpu', 'cpu']) as manager:
            self.assertEqual(MultiGPUEmbeddings(base, manager).embed_documents(TEXTS), base.embed_documents(TEXTS))
        with self.assertRaisesRegex(TypeError, 'expected Embeddings'):
            MultiGPUEmbeddings('all-MiniLM-L6-v2')

    def test_pipeline(self):
        for name in (MINILM, MPNET):
            manager = EnhancedMultiGPUManager(strategy='pipeline', device_ids=['cpu'])
            with self.assertRaisesRegex(tenfold.InvalidArgument, 'configure_pipeline'):
                MultiGPUEmbeddings(TensorRTEmbeddings(name, precision='fp32'), manager)
            manager.configure_pipeline(stages=[{'name': n, 'device_id': 'cpu'} for n in ('tokenization', 'embedding', 'pooling')])
            embeddings = MultiGPUEmbeddings(TensorRTEmbeddings(name, precision='fp32'), manager)
            self.near_truth(embeddings.embed_documents(TEXTS * 40), name, TEXTS * 40)
            with self.assertRaises(tenfold.InvalidArgument):
                embeddings.embed_documents(['fine.', '\ud800'])
            manager.close()

    def test_all_gpus(self):
        embeddings = HanaTensorRTMultiGPUEmbeddings(MINILM, use_fp16=False, device_ids=['cpu', 'cpu'])
        self.near_truth(embeddings.embed_documents(TEXTS))
        self.assertEqual(embeddings.precision, 'fp32')
        self.assertEqual(embeddings.benchmark([1], 2, 0)['device'], 'CPU')
        self.assertEqual(TensorCoreOptimizer(device=0).is_supported(), any(d.features.startswith('sm_') for d in tenfold.devices()))

    def test_stats(self):
        with EnhancedMultiGPUManager(device_ids=['cpu'], stats_interval=0.02, stats_file=self.path('stats.json')) as manager:
            manager.batch_process(list, range(4))
            time.sleep(0.2)
            with open(self.path('stats.json')) as file:
                self.assertEqual(json.load(file)['total_tasks_completed'], 4)


if __name__ == '__main__':
    np.seterr(all='raise')
    unittest.main()
