#!/usr/bin/env python3
"""exec --sweep: batches one after the other, their table, and the best: cli_sweep_test.py TENFOLD"""

import json
import re

import cli_case
import numpy as np
from cli_case import FLOAT, CliCase, helper, numpy_helper, save_model

SHORTLY = ['--iterations=3', '--duration=0', '--warmUp=0', '--builderOptimizationLevel=0', '--threads=1']


class Sweep(CliCase):
    def swept(self, *arguments):
        """(the summary's JSON, rows of the table as numbers, all of stdout)"""
        out = self.tenfold('exec', *arguments, '--json', *SHORTLY).stdout
        table = out[out.index('Samples/s'):out.index('Best: batch')].splitlines()[1:]
        rows = [[float(word) for word in line.rsplit('] ', 1)[1].split()] for line in table if line.rsplit('] ', 1)[-1].strip()]
        return json.loads(out.splitlines()[-1]), rows, out

    def test_table_and_json_agree(self):
        result, rows, out = self.swept(f'--onnx={self.model}', "--sweep='x:0':4,1,32")
        sweep = result['sweep']
        self.assertEqual(sweep['input'], 'x:0')
        self.assertEqual([row['batch'] for row in sweep['batches']], [4, 1, 32])
        self.assertEqual([row[0] for row in rows], [4, 1, 32])
        for row, shown in zip(sweep['batches'], rows):
            self.assertAlmostEqual(row['samples_per_second'] / (row['batch'] * row['throughput_qps']), 1, 6)
            self.assertLessEqual(row['median_ms'], row['p99_ms'])
            self.assertAlmostEqual(shown[1] / row['median_ms'], 1, 2)
            self.assertAlmostEqual(shown[4] / row['samples_per_second'], 1, 2)
        best = max(sweep['batches'], key=lambda row: row['samples_per_second'])['batch']
        self.assertEqual(sweep['best_batch'], best)
        self.assertIn(f'Best: batch {best}, ', out)

    def test_the_best_batch_is_run_and_written(self):
        outputs = self.path('y.npz')
        result, _, _ = self.swept(f'--onnx={self.model}', '--sweep=1,64', f'--exportOutput={outputs}')
        with np.load(outputs) as arrays:
            self.assertEqual(arrays['y'].shape, (result['sweep']['best_batch'], 4))

    def test_each_batch_has_a_profile(self):
        plan = self.path('m.plan')
        _, _, out = self.swept(f'--onnx={self.model}', '--sweep=2,8', f'--saveEngine={plan}', '--dumpOptimizationProfile')
        self.assertEqual(re.findall(r'min (\w+), opt (\w+), max (\w+)', out), [('2x6',) * 3, ('8x6',) * 3])
        _, rows, _ = self.swept(f'--loadEngine={plan}', '--sweep=8,2')
        self.assertEqual([row[0] for row in rows], [8, 2])
        self.refused(2, "no profile for x:0:3x6, only for 2x6; 8x6", 'exec', f'--loadEngine={plan}', '--sweep=2,3', *SHORTLY)

    def test_ranges_that_flags_give(self):
        _, rows, out = self.swept(f'--onnx={self.model}', '--sweep=1,3,5', '--minShapes=1x6', '--maxShapes=5x6',
                                  '--dumpOptimizationProfile')
        self.assertEqual(re.findall(r'min (\w+), opt (\w+), max (\w+)', out), [('1x6', '5x6', '5x6')])
        self.assertEqual([row[0] for row in rows], [1, 3, 5])
        self.refused(2, 'no profile for x:0:6x6, only for 1x6 to 5x6', 'exec', f'--onnx={self.model}', '--sweep=6', '--minShapes=1x6',
                     '--maxShapes=5x6', *SHORTLY)

    def images(self):
        """Two inputs of one batch, and an image of any size."""
        w = numpy_helper.from_array(np.ones((2, 3, 3, 3), np.float32), 'w')
        return save_model(self.path('two.onnx'),
                          [helper.make_node('Conv', ['image', 'w'], ['c']), helper.make_node('GlobalAveragePool', ['c'], ['p']),
                           helper.make_node('Add', ['p', 'bias'], ['y'])],
                          [('image', FLOAT, ['n', 3, 'h', 'w']), ('bias', FLOAT, ['n', 2, 1, 1])], [('y', FLOAT, ['n', 2, 1, 1])], [w])

    def test_other_inputs_follow(self):
        model, outputs = self.images(), self.path('y.npz')
        for shapes in ('image:1x3x8x9', 'image:1x3x8x9,bias:1x2x1x1'):
            result, rows, _ = self.swept(f'--onnx={model}', '--sweep=image:1,2,4', f'--shapes={shapes}', f'--exportOutput={outputs}')
            self.assertEqual([row[0] for row in rows], [1, 2, 4])
            with np.load(outputs) as arrays:
                self.assertEqual(arrays['y'].shape, (result['sweep']['best_batch'], 2, 1, 1))
        self.refused(2, r"input 'image' is [n, 3, h, w]: give its other extents by --shapes=image:1x...", 'exec', f'--onnx={model}',
                     '--sweep=image:1,2', *SHORTLY)

    def test_what_is_refused(self):
        nodes = [helper.make_node('Tanh', ['x'], ['y'])]
        fixed = save_model(self.path('fixed.onnx'), nodes, [('x', FLOAT, [2, 6])], [('y', FLOAT, [2, 6])])
        for text, *flags in (
                ("its first axis is no dynamic batch; export the model with one", f'--onnx={fixed}', '--sweep=1,2'),
                ("there is no input 'z'; inputs: 'x:0'", f'--onnx={self.model}', '--sweep=z:1,2'),
                ('names no input, and there are several', f'--onnx={self.images()}', '--sweep=1,2'),
                ('--sweep takes at least 1, not 0', f'--onnx={self.model}', '--sweep=1,0'),
                ("--sweep takes a whole number, not 'two'", f'--onnx={self.model}', '--sweep=1,two'),
                ('--sweep and --loadInputs exclude each other', f'--onnx={self.model}', '--sweep=1', "--loadInputs='x:0':x.npy"),
                ('--sweep and --useProfile exclude each other', f'--onnx={self.model}', '--sweep=1', '--useProfile=0')):
            with self.subTest(text):
                self.refused(2, text, 'exec', *flags, *SHORTLY)


if __name__ == '__main__':
    cli_case.main()
