#!/usr/bin/env python3
"""The command line on a terminal: cli_terminal_test.py TENFOLD. stderr, or all of it, is a pseudo-terminal of several widths."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import cli_case
from cli_case import FLOAT, CliCase, helper, np, numpy_helper, save_model

WIDTHS = (0, 1, 2, 5, 12, 20, 40, 80, 300)


def on_terminal(arguments, columns, environment=None, all_streams=False):
    """The exit code, what stood on the terminal, and what came through the pipe of the standard output."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24 if columns else 0, columns, 0, 0))
    process = subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=theirs if all_streams else subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, 'TERM': 'xterm', **(environment or {})},
    )
    os.close(theirs)
    seen = b''
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:   # the last that had it open is gone
            break
        if not part:
            break
        seen += part
    os.close(ours)
    out = b'' if all_streams else process.communicate(timeout=120)[0]
    return process.wait(timeout=120), seen.decode(), out.decode()


def bars(seen):
    """Everything that was drawn to be taken back: what follows an erased line, up to the next carriage return or line."""
    return [text for text in re.findall(r'\r\x1b\[K([^\r\n]*)', seen) if text and not text.startswith(('[', 'tenfold:', '&&&&'))]


class Terminal(CliCase):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(2)
        nodes, weights, ends = [], [], []
        for layer in range(12):   # products of one input are merged, and may be taken apart again while they are timed
            for part in 'qkv':
                name = f'{part}{layer}'
                weights.append(numpy_helper.from_array(random.standard_normal((48, 48)).astype(np.float32), f'w{name}'))
                nodes += [helper.make_node('MatMul', ['x' if layer == 0 else f's{layer - 1}', f'w{name}'], [f'p{name}']),
                          helper.make_node('Tanh', [f'p{name}'], [name])]  # fmt: skip
                ends.append(name)
            nodes.append(helper.make_node('Sum', ends[-3:], [f's{layer}']))
        self.deep = save_model(self.path('deep.onnx'), nodes, [('x', FLOAT, [64, 48])], [('s11', FLOAT, [64, 48])], weights)

    def build(self, columns, *flags, **options):
        plan = self.path(f'{columns}.plan')
        arguments = [cli_case.TENFOLD, 'exec', f'--onnx={self.deep}', f'--saveEngine={plan}', '--skipInference', *flags]
        code, seen, out = on_terminal(arguments, columns, **options)
        self.assertEqual(code, 0, f'{columns} columns\n{seen}\n{out}')
        self.assertTrue(os.path.exists(plan), f'{columns} columns: the plan was not saved')
        return seen

    def test_builds_at_every_width(self):
        for columns in WIDTHS:
            seen = self.build(columns)
            drawn = bars(seen)
            if columns == 0 or columns > 20:
                self.assertTrue(drawn, f'{columns} columns: no bar\n{seen!r}')
            for text in drawn:
                self.assertLess(len(text), columns or 80, f'{columns} columns: the bar fills the line')
                counts = re.search(r'(\d+)/(\d+)$', text)
                if counts:
                    self.assertLessEqual(int(counts[1]), int(counts[2]))
            last = seen.rstrip('\r\n').splitlines()[-1]
            self.assertRegex(last, r'^\S*\[[^]]*\] \[I\] ', 'the bar is gone at the end')

    def test_log_lines_stand_alone(self):
        for all_streams in (False, True):
            seen = self.build(80, '--verbose', all_streams=all_streams)
            for line in seen.replace('\r\n', '\n').split('\n'):
                if '] [' in line and line.strip():
                    shown = line.split('\x1b[K')[-1]
                    self.assertRegex(shown, r'^\[\d\d/', f'a log line begins behind a bar: {line!r}')

    def test_an_error_stands_alone(self):
        arguments = [cli_case.TENFOLD, 'exec', f'--onnx={self.deep}', '--errorOnTimingCacheMiss', '--skipInference', '--noBuilderCache']
        code, seen, _ = on_terminal(arguments, 60)
        self.assertEqual(code, 2, seen)
        self.assertIn('tenfold: ', [line.split('\x1b[K')[-1][:9] for line in seen.replace('\r\n', '\n').split('\n')])

    def test_terminals_that_take_nothing_back(self):
        self.assertNotIn('\x1b', self.build(80, environment={'TERM': 'dumb'}))
        self.assertNotIn('\x1b', self.build(80, '--progress=none'))
        self.assertRegex(self.build(80, '--progress=json'), r'{"phase":"tune","done":1,"total":\d+}')


if __name__ == '__main__':
    cli_case.main()
