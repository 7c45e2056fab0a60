#!/usr/bin/env python3
"""tenfold onnx-suite: verdicts, ways, exit codes, crashes; and the real suite where it is: cli_onnx_suite_test.py TENFOLD"""

import json
import os
import pathlib
import subprocess
import tarfile
import time

import cli_case
from cli_case import FLOAT, CliCase, TensorProto, helper, make_model, np, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get('TENFOLD_SHARED', ROOT.parent / 'shared'))
RUN_FAILED, USAGE, MODEL_INVALID, ACCURACY = 1, 2, 3, 5
CASES = 1914   # of the archive: 1,765 node, 23 simple, 117 of PyTorch, 9 light


class Suite(CliCase):
    def case(self, name, nodes, expected, x=None):
        """A case of one input x and one output y."""
        x = np.array([-1.0, 2.0, -3.0], np.float32) if x is None else x
        folder = pathlib.Path(self.path('suite'), 'node', name, 'test_data_set_0')
        folder.mkdir(parents=True)
        model = make_model(nodes, [('x', FLOAT, list(x.shape))], [('y', FLOAT, None)])
        (folder.parent / 'model.onnx').write_bytes(model.SerializeToString())
        (folder / 'input_0.pb').write_bytes(numpy_helper.from_array(x, 'x').SerializeToString())
        (folder / 'output_0.pb').write_bytes(numpy_helper.from_array(expected, 'y').SerializeToString())

    def good(self, name='test_abs'):
        self.case(name, [helper.make_node('Abs', ['x'], ['y'])], np.array([1, 2, 3], np.float32))

    def run_suite(self, *flags, code=0, folder='suite'):
        done = self.tenfold('onnx-suite', self.path(folder), '--json', *flags, code=code)
        found = json.loads(done.stdout)
        return found, {case['name']: case for case in found['cases']}

    def test_all_that_passes_ends_in_0(self):
        self.good('test_abs'), self.good('test_abs_again')
        found, cases = self.run_suite('--ways=reference,optimized,loaded')
        self.assertEqual((found['passed'], found['failed'], found['refused']), (2, 0, 0))
        ways = cases['node/test_abs']['ways']
        self.assertEqual({name: way['verdict'] for name, way in ways.items()}, {w: 'passed' for w in ('reference', 'optimized', 'loaded')})
        self.assertEqual(cases['node/test_abs']['reference_steps'], 0)
        text = self.tenfold('onnx-suite', self.path('suite')).stdout
        self.assertIn('2 passed, 0 failed, 0 refused of 2 cases on cpu', text)

    def test_a_wrong_value_a_wrong_type_and_a_refusal_are_told_apart(self):
        self.good()
        self.case('test_value', [helper.make_node('Abs', ['x'], ['y'])], np.array([1, 2, 3.004], np.float32))
        self.case('test_within', [helper.make_node('Abs', ['x'], ['y'])], np.array([1, 2, 3.002], np.float32))
        self.case('test_type', [helper.make_node('Abs', ['x'], ['y'])], np.array([1, 2, 3], np.float64))
        self.case('test_shape', [helper.make_node('Abs', ['x'], ['y'])], np.array([[1, 2, 3]], np.float32))
        self.case('test_unknown', [helper.make_node('Frobnicate', ['x'], ['y'])], np.array([1, 2, 3], np.float32))
        found, cases = self.run_suite(code=ACCURACY)
        verdicts = {name.removeprefix('node/test_'): case['verdict'] for name, case in cases.items()}
        self.assertEqual(verdicts, {'abs': 'passed', 'within': 'passed', 'value': 'failed', 'type': 'failed', 'shape': 'failed',
                                    'unknown': 'refused'})
        self.assertIn('element 2 of 3 is 3, 3.004 expected', cases['node/test_value']['why'])
        self.assertIn("type f32, f64 expected", cases['node/test_type']['why'])
        self.assertIn("there is no operator 'Frobnicate'", cases['node/test_unknown']['why'])
        self.run_suite('--filter=value', '--rtol=0.01')
        self.run_suite('--filter=unknown', code=MODEL_INVALID)
        text = self.tenfold('onnx-suite', self.path('suite'), code=ACCURACY).stdout
        self.assertIn("refused:\n     1  Frobnicate: there is no operator 'Frobnicate'", text)

    def test_listed_cases_do_not_count(self):
        self.good()
        self.case('test_unknown', [helper.make_node('Frobnicate', ['x'], ['y'])], np.array([1, 2, 3], np.float32))
        listed = self.tenfold('onnx-suite', self.path('suite'), '--list', code=MODEL_INVALID).stdout
        self.assertTrue(listed.startswith('node/test_unknown  # Frobnicate'), listed)
        self.write('expected.txt', listed.encode())
        done = self.tenfold('onnx-suite', self.path('suite'), '--expected', self.path('expected.txt'))
        self.assertIn('every case that does not pass is on the list', done.stdout)
        self.write('expected.txt', b'node/test_abs\n')
        done = self.tenfold('onnx-suite', self.path('suite'), '--expected', self.path('expected.txt'), code=MODEL_INVALID)
        self.assertIn('node/test_abs passes: take it off the list', done.stdout)
        self.assertIn('node/test_unknown does not pass, and is not on the list', done.stdout)

    def test_damaged_and_missing_data_are_failures_of_their_case(self):
        self.good(), self.good('test_damaged'), self.good('test_gone')
        node = pathlib.Path(self.path('suite'), 'node')
        (node / 'test_damaged' / 'model.onnx').write_bytes(b'no model')
        (node / 'test_gone' / 'test_data_set_0' / 'output_0.pb').unlink()
        _, cases = self.run_suite(code=RUN_FAILED)
        self.assertEqual([cases[f'node/test_{n}']['verdict'] for n in ('abs', 'damaged', 'gone')], ['passed', 'failed', 'failed'])
        self.assertIn('output_0.pb', cases['node/test_gone']['why'])

    def endless(self, name):
        """A loop of 2^50 rounds."""
        body = helper.make_graph(
            [helper.make_node('Sin', ['s'], ['t']), helper.make_node('Identity', ['go'], ['more'])], 'body',
            [helper.make_tensor_value_info('i', TensorProto.INT64, []), helper.make_tensor_value_info('go', TensorProto.BOOL, []),
             helper.make_tensor_value_info('s', FLOAT, [3])],
            [helper.make_tensor_value_info('more', TensorProto.BOOL, []), helper.make_tensor_value_info('t', FLOAT, [3])])
        rounds = helper.make_node('Constant', [], ['n'], value=numpy_helper.from_array(np.array(2**50)))
        self.case(name, [rounds, helper.make_node('Loop', ['n', '', 'x'], ['y'], body=body)], np.zeros(3, np.float32))

    def test_a_case_that_hangs_takes_no_other_with_it(self):
        self.endless('test_endless')
        for i in range(4):
            self.good(f'test_good_{i}')
        found, cases = self.run_suite('--timeout=2', '--jobs=2', code=RUN_FAILED)
        self.assertEqual((found['passed'], found['failed']), (4, 1))
        self.assertEqual(cases['node/test_endless']['died'], 'did not end within 2 s')

    def test_a_case_that_crashes_takes_no_other_with_it(self):
        """Its process is killed while it runs the model."""
        self.good()
        self.endless('test_killed')
        running = subprocess.Popen([cli_case.TENFOLD, 'onnx-suite', self.path('suite'), '--json', '--jobs=1'], stdout=subprocess.PIPE,
                                   text=True)
        tasks = pathlib.Path(f'/proc/{running.pid}/task/{running.pid}/children')
        ticks = lambda child: int(pathlib.Path(f'/proc/{child}/stat').read_text().rpartition(')')[2].split()[11])   # of its own time
        while not any(ticks(child) > 30 for child in tasks.read_text().split()):
            self.assertIsNone(running.poll(), 'it ended too early')
            time.sleep(0.02)
        children = tasks.read_text().split()
        self.assertEqual(len(children), 1)
        os.kill(int(children[0]), 11)
        cases = {c['name']: c for c in json.loads(running.communicate(timeout=60)[0])['cases']}
        self.assertEqual(running.returncode, RUN_FAILED)
        self.assertIn('ended by signal 11', cases['node/test_killed']['died'])
        self.assertEqual(cases['node/test_abs']['verdict'], 'passed')

    def test_archives_are_unpacked_and_removed(self):
        self.good()
        with tarfile.open(self.path('suite.tar.gz'), 'w:gz') as archive:
            archive.add(self.path('suite'), 'suite')
        os.mkdir(self.path('tmp'))
        done = self.tenfold('onnx-suite', self.path('suite.tar.gz'), '--json', env={**os.environ, 'TMPDIR': self.path('tmp')})
        self.assertEqual([c['name'] for c in json.loads(done.stdout)['cases']], ['suite/node/test_abs'])
        self.assertEqual(os.listdir(self.path('tmp')), [])
        self.write('no.tar', b'no archive')
        self.tenfold('onnx-suite', self.path('no.tar'), code=RUN_FAILED)

    def test_what_cannot_be_run_is_refused(self):
        self.good()
        for words, flags in (('no case has', ['--filter=nothing']), ('--ways', ['--ways=fast']), ('--expected', ['--expected=nowhere'])):
            self.refused(USAGE, words, 'onnx-suite', self.path('suite'), *flags)
        os.mkdir(self.path('empty'))
        self.refused(USAGE, 'there is no case', 'onnx-suite', self.path('empty'))
        self.refused(USAGE, 'does not exist', 'onnx-suite', self.path('nowhere'))

    def test_the_whole_suite(self):
        """Every case that once passed passes: the lists of the other two tests of the suite say which do not. Networks run there."""
        archive = SHARED / 'conformance' / 'onnx-backend-1.22.0.tar.xz'
        if not archive.exists():
            self.skipTest(f'the conformance archive is not under {SHARED}')
        lists = [(ROOT / 'tests' / f).read_text() for f in ('onnx_suite_expected.txt', 'optimized_suite_expected.txt')]
        self.write('expected.txt', '\n'.join(lists).encode())
        os.mkdir(self.path('suite'))
        subprocess.run(['tar', '-xJf', archive, '-C', self.path('suite'), '--exclude=light'], check=True)
        found, cases = self.run_suite('--expected', self.path('expected.txt'), '--ways=reference,optimized,loaded')
        self.assertEqual(len(cases), CASES - 9)
        self.assertGreaterEqual(found['passed'], 1892)


if __name__ == '__main__':
    cli_case.main()
