#!/usr/bin/env python3
"""Files that cannot be written, or not wholly: saving_test.py TENFOLD. What was there before stays, and nothing else is left behind."""

import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

import cli_case
from cli_case import FLOAT, ONCE, CliCase, TensorProto, helper, save_model

RUN_FAILED = 1


class Saving(CliCase):
    def big_model(self, size):
        """Adds `size` bytes of weights, which do not compress."""
        weights = TensorProto(name='w', data_type=FLOAT, dims=[size // 4], raw_data=os.urandom(size))
        add = helper.make_node('Add', ['x', 'w'], ['y'])
        return save_model(self.path('big.onnx'), [add], [('x', FLOAT, [1])], [('y', FLOAT, None)], [weights])

    def test_places_that_cannot_be_written(self):
        os.mkdir(self.path('folder'))
        for expected, path in (
            ('No such file', self.path('no/such.plan')),
            ('it is a folder', self.path('folder')),
            ('No space left', '/dev/full'),
        ):
            self.refused(RUN_FAILED, expected, 'exec', f'--onnx={self.model}', f'--saveEngine={path}', '--noBuilderCache', *ONCE)

    def test_such_a_place_is_told_before_the_build(self):
        for flag in ('saveEngine', 'exportOutput', 'exportTimes', 'exportProfile', 'exportTrace', 'exportLayerInfo'):
            path = self.path('no/such.json')
            done = self.refused(RUN_FAILED, f"cannot write '{path}'", 'exec', f'--onnx={self.model}', f'--{flag}={path}', *ONCE)
            self.assertNotIn('Engine built', done.stdout)

    def test_a_timing_cache_that_cannot_be_written_is_a_warning(self):
        for path in (self.path('no/such/cache'), self.folder, '/dev/full'):
            done = self.tenfold('exec', f'--onnx={self.model}', f'--timingCacheFile={path}', *ONCE)
            self.assertRegex(done.stderr, r'\[W\] .*' + path)
        thesis = self.write('thesis', b'my thesis\n')   # which no cache is: it is moved aside, and told
        done = self.tenfold('exec', f'--onnx={self.model}', f'--timingCacheFile={thesis}', *ONCE)
        self.assertRegex(done.stderr, r'\[W\] .*thesis.damaged')
        self.assertEqual(pathlib.Path(thesis + '.damaged').read_bytes(), b'my thesis\n')

    def test_a_limit_on_file_sizes(self):
        big = self.big_model(160000)
        self.write('p', b'old')
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        run = ['exec', f'--onnx={big}', '--noBuilderCache', f'--saveEngine={self.path("p")}', *ONCE]
        self.refused(RUN_FAILED, 'File too large', *run, preexec_fn=limit)
        self.assertEqual(pathlib.Path(self.path('p')).read_bytes(), b'old')

    def test_full_disk(self):
        disk = self.path('disk')
        os.mkdir(disk)
        # A small disk of our own, which goes away with its name space; the old file must be all that is on it afterwards.
        in_small_disk = [
            'unshare',
            '-m',
            'sh',
            '-c',
            f'mount -t tmpfs -o size=96k none {disk} || exit 99; echo old >{disk}/p; head -c 99999 /dev/zero >{disk}/rest 2>/dev/null; '
            f'"$@" || code=$?; '
            f'rm {disk}/rest; [ "$(ls -A {disk}) $(cat {disk}/p)" = "p old" ] || exit 98; exit $code',
            'sh',
        ]
        if subprocess.run([*in_small_disk, 'true'], capture_output=True).returncode:
            self.skipTest('mounting a small disk needs root')
        big = self.big_model(160000)
        run, program = ['exec', f'--onnx={big}', *ONCE], [*in_small_disk, cli_case.TENFOLD]
        for flag, name in (
            ('saveEngine', 'p'),
            ('exportOutput', 'o.npz'),
            ('exportOutput', 'o.json'),
            ('exportTimes', 'p'),
            ('exportProfile', 'p'),
            ('exportTrace', 'p'),
            ('exportLayerInfo', 'p'),
        ):
            with self.subTest(flag):
                self.refused(RUN_FAILED, 'No space left', *run, '--noBuilderCache', f'--{flag}={disk}/{name}', program=program)
        done = self.tenfold(*run, f'--timingCacheFile={disk}/times', program=program)
        self.assertRegex(done.stderr, r'\[W\] .*No space left')

    def test_killed_in_the_middle(self):
        size = 48 << 20
        big = self.big_model(size)
        os.mkdir(self.path('out'))
        plan = self.write('out/p.plan', b'the old file')
        caught = 0
        for _ in range(40):
            process = subprocess.Popen(
                [
                    cli_case.TENFOLD,
                    'exec',
                    f'--onnx={big}',
                    f'--saveEngine={plan}',
                    '--skipInference',
                    '--noBuilderCache',
                    '--builderOptimizationLevel=0',
                ],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while process.poll() is None and not self.is_writing(process.pid):
                time.sleep(0.0005)
            process.send_signal(signal.SIGKILL)
            if process.wait() != -signal.SIGKILL:
                self.write('out/p.plan', b'the old file')  # it was faster
                continue
            if pathlib.Path(plan).read_bytes() == b'the old file':
                caught += 1
            left = [name for name in os.listdir(self.path('out')) if not re.fullmatch(r'p\.plan\.\d+\.\d+\.tmp', name)]
            self.assertEqual(left, ['p.plan'])
            if caught == 3:
                break
        self.assertEqual(caught, 3, 'no save was caught in the middle')
        self.tenfold('exec', f'--onnx={big}', f'--saveEngine={plan}', '--skipInference', '--noBuilderCache', '--builderOptimizationLevel=0')
        self.assertGreater(os.path.getsize(plan), size)
        self.assertEqual(os.listdir(self.path('out')), ['p.plan'], 'the next save removes what a kill left')

    def test_links_planted_in_a_folder_that_others_write(self):
        """Reports go through no link that somebody else made where a temporary file may come to lie."""
        secret = self.write('secret', b'not to be overwritten')
        script = 'import os, sys\nfor end in (".part" + str(os.getpid()), f".{os.getpid()}.0.tmp"):\n' \
                 f'    for name in ("t.json", "p.json", "l.json", "o.json"): os.symlink({secret!r}, {self.folder!r} + "/" + name + end)\n' \
                 'os.execv(sys.argv[1], sys.argv[1:])'  # fmt: skip
        program = [sys.executable, '-c', script, cli_case.TENFOLD]
        flags = {'exportTimes': 't', 'exportProfile': 'p', 'exportLayerInfo': 'l', 'exportOutput': 'o'}
        for name in flags.values():
            self.write(f'{name}.json', b'old')
        self.tenfold('exec', f'--onnx={self.model}', "--shapes='x:0':2x6", *ONCE, '--dumpProfile',
                     *(f'--{flag}={self.path(name)}.json' for flag, name in flags.items()), program=program)  # fmt: skip
        self.assertEqual(pathlib.Path(secret).read_bytes(), b'not to be overwritten')
        for name in flags.values():
            self.assertNotEqual(pathlib.Path(self.path(f'{name}.json')).read_bytes(), b'old')

    def test_a_report_is_written_where_a_link_points(self):
        target = self.write('target.json', b'old')
        os.symlink('target.json', self.path('link.json'))
        self.tenfold('exec', f'--onnx={self.model}', "--shapes='x:0':2x6", f'--exportTimes={self.path("link.json")}', *ONCE)
        self.assertTrue(os.path.islink(self.path('link.json')))
        self.assertTrue(pathlib.Path(target).read_text().startswith('['))

    def is_writing(self, pid):
        """Has it a file of the folder open for some bytes already?"""
        try:
            for fd in os.listdir(f'/proc/{pid}/fd'):
                path = f'/proc/{pid}/fd/{fd}'
                if os.readlink(path).startswith(self.path('out')) and os.stat(path).st_size > 0:
                    return True
        except OSError:
            pass
        return False


if __name__ == '__main__':
    cli_case.main()
