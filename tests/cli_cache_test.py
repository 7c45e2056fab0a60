#!/usr/bin/env python3
"""Builds that share a timing cache, on a busy machine and at once: cli_cache_test.py TENFOLD. Equal plans are the truth."""

import json
import os
import pathlib
import subprocess
import sys

import cli_case
from cli_case import FLOAT, CliCase, helper, np, numpy_helper, save_model


class PlanCache(CliCase):
    def test_shows_and_removes_plans(self):
        folder = pathlib.Path(self.path('plans'))
        folder.mkdir()
        (folder / 'torch.timings').write_text('no plan')
        for digit in 'abc':   # names of entries; 'mine' is the user's own
            self.tenfold('exec', f'--onnx={self.model}', f'--saveEngine={folder}/{digit * 16}.plan', '--skipInference',
                         '--builderOptimizationLevel=0')
        (folder / 'mine.plan').write_bytes((folder / f'{"a" * 16}.plan').read_bytes())
        size = (folder / f'{"a" * 16}.plan').stat().st_size
        for age, digit in enumerate('bca'):
            os.utime(folder / f'{digit * 16}.plan', (10**9 + age, 10**9 + age))
        shown = self.tenfold('cache', f'--planCache={folder}').stdout
        self.assertIn(f'{folder}: 3 plans, {3 * size / 2**20:.1f} MiB', shown)
        self.assertIn('beside them 2 other files', shown)
        self.assertLess(shown.index('bbbb'), shown.index('cccc'))
        left = json.loads(self.tenfold('cache', f'--planCache={folder}', f'--max-bytes={2 * size}B', '--json').stdout)
        self.assertEqual([pathlib.Path(plan['path']).name[0] for plan in left['plans']], ['c', 'a'])
        self.assertEqual(left['bytes'], 2 * size)
        self.assertIn('2 plans removed', self.tenfold('cache', f'--planCache={folder}', '--clear').stdout)
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ['mine.plan', 'torch.timings'])
        self.refused(2, "takes no 'all'", 'cache', 'all')


class TimingCache(CliCase):
    def layered_model(self):
        random = np.random.default_rng(5)
        weights = {'w': (16, 8, 3, 3), 'v': (16, 16, 3, 3), 'm': (16, 12)}
        nodes = [
            helper.make_node('Conv', ['x', 'w'], ['a'], pads=[1, 1, 1, 1]),
            helper.make_node('Relu', ['a'], ['b']),
            helper.make_node('Conv', ['b', 'v'], ['c'], pads=[1, 1, 1, 1]),
            helper.make_node('Add', ['b', 'c'], ['d']),
            helper.make_node('GlobalAveragePool', ['d'], ['e']),
            helper.make_node('Flatten', ['e'], ['f']),
            helper.make_node('MatMul', ['f', 'm'], ['y']),
        ]
        return save_model(
            self.path('layers.onnx'),
            nodes,
            [('x', FLOAT, [2, 8, 14, 14])],
            [('y', FLOAT, [2, 12])],
            [numpy_helper.from_array(random.standard_normal(s).astype(np.float32), n) for n, s in weights.items()],
        )

    def build_flags(self, model, plan):
        return ['exec', f'--onnx={model}', f'--saveEngine={self.path(plan)}', '--timingCacheFile=' + self.path('cache'), '--skipInference']

    def test_one_cache_one_plan_also_under_load(self):
        model = self.layered_model()
        self.tenfold(*self.build_flags(model, 'a.plan'))
        busy = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(2 * os.cpu_count())]
        try:
            self.tenfold(*self.build_flags(model, 'b.plan'))
        finally:
            for process in busy:
                process.kill()
                process.wait()
        a, b = (pathlib.Path(self.path(p)).read_bytes() for p in ('a.plan', 'b.plan'))
        self.assertTrue(a == b, 'the plans differ')

    def test_eight_processes_share_a_timing_cache(self):
        model = self.layered_model()
        running = [
            subprocess.Popen(
                [cli_case.TENFOLD, *self.build_flags(model, f'{i}.plan')], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            for i in range(8)
        ]
        for process in running:
            _, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, errors)
            self.assertNotIn('[W]', errors)
        cache = pathlib.Path(self.path('cache')).read_text()
        self.assertGreater(len(cache.splitlines()), 8)
        for plan in ('y.plan', 'z.plan'):
            self.assertNotIn('[W]', self.tenfold(*self.build_flags(model, plan)).stderr)
        self.assertEqual(pathlib.Path(self.path('cache')).read_text(), cache, 'the cache was complete')
        self.assertTrue(
            pathlib.Path(self.path('y.plan')).read_bytes() == pathlib.Path(self.path('z.plan')).read_bytes(), 'the plans differ'
        )
        self.assertEqual(
            sorted(os.listdir(self.folder)), sorted([f'{i}.plan' for i in [*range(8), 'y', 'z']] + ['cache', 'layers.onnx', 'm.onnx'])
        )


if __name__ == '__main__':
    cli_case.main()
