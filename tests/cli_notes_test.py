#!/usr/bin/env python3
"""What builds and loads tell of slow steps and of precisions that could not be had: cli_notes_test.py TENFOLD."""

import json

import cli_case
from cli_case import FLOAT, ONCE, CliCase, helper, save_model


class Notes(CliCase):
    def setUp(self):
        super().setUp()
        # An operator that has no kernel but the reference kernel, and one that has others.
        nodes = [helper.make_node('Unique', ['x'], ['d'], name='slow'), helper.make_node('Relu', ['d'], ['y'], name='quick')]
        self.slow = save_model(self.path('slow.onnx'), nodes, [('x', FLOAT, [12])], [('y', FLOAT, ['n'])])

    def notes(self, *arguments):
        done = self.tenfold(*arguments, '--json')
        return done, json.loads(done.stdout.splitlines()[-1])['notes']

    def test_a_build_and_a_load_tell_of_reference_kernels(self):
        plan = self.path('slow.plan')
        for source in (['--onnx=' + self.slow, '--saveEngine=' + plan], ['--loadEngine=' + plan]):
            done, notes = self.notes('exec', *source, *ONCE)
            self.assertIn("1 step runs on a reference kernel: 'slow' (Unique)", done.stderr)
            self.assertEqual([(n['kind'], n['step']) for n in notes], [('reference_kernel', 'slow')])
            self.assertIn('runs on the reference kernel of Unique', notes[0]['text'])

    def test_steps_that_were_kept_from_their_kernels_are_a_warning_with_the_reason(self):
        done, notes = self.notes('exec', '--onnx=' + self.slow, '--tacticSources=reference', *ONCE)
        self.assertRegex(done.stderr, r"\[W\] 2 steps run on reference kernels: 'slow' \(Unique\), 'quick' \(Relu\)")
        quick = [n for n in notes if n['step'] == 'quick'][0]
        self.assertEqual(quick['severity'], 'warning')
        self.assertIn('its source is switched off', quick['text'])

    def test_a_precision_that_could_not_be_had(self):
        done, notes = self.notes('exec', '--onnx=' + self.model, "--shapes='x:0':2x6", '--best', *ONCE)
        kinds = [n for n in notes if n['kind'] == 'precision']
        self.assertIn('no fp16 arithmetic that pays', kinds[0]['text'])
        self.assertIn('no fp16 arithmetic that pays', done.stderr)
        _, notes = self.notes('exec', '--onnx=' + self.model, "--shapes='x:0':2x6", *ONCE)
        self.assertEqual(notes, [])

    def test_a_build_that_times_tells_of_their_share(self):
        plan, once = self.path('slow.plan'), ['--iterations=1', '--duration=0', '--warmUp=0']
        done, notes = self.notes('exec', '--onnx=' + self.slow, '--saveEngine=' + plan, *once)
        self.assertRegex(notes[0]['text'], r'on one thread it takes (\d+ %|less than 1 %) of a run\'s time \(')
        self.assertRegex(done.stderr, r"reference kernels run on one thread, and take (\d+ %|less than 1 %) of a run's time: 'slow' ")
        profile = self.path('profile.json')
        out = self.tenfold('exec', '--loadEngine=' + plan, '--dumpProfile', '--exportProfile=' + profile, *ONCE).stdout
        self.assertRegex(out, r'(?m)slow.*\[reference kernel, one thread\]$')
        self.assertRegex(out, r'(?m) On reference kernels$')
        with open(profile) as f:
            self.assertEqual({layer['name']: layer['reference'] for layer in json.load(f)[1:]}, {'slow': True, 'quick': False})

    def test_inspect_shows_them(self):
        plan = self.make_plan('slow.plan', self.slow)
        self.assertRegex(self.tenfold('inspect', plan).stdout, r"Notes\n  info: step 'slow' \(Unique\) runs on the reference kernel")
        self.assertEqual(json.loads(self.tenfold('inspect', plan, '--json').stdout)['Notes'][0]['step'], 'slow')
        self.assertEqual(json.loads(self.tenfold('inspect', self.slow, '--json').stdout)['Notes'][0]['step'], 'slow')


if __name__ == '__main__':
    cli_case.main()
