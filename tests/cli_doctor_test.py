#!/usr/bin/env python3
"""`tenfold doctor`: cli_doctor_test.py TENFOLD. The system's own files and Python's view of it are the truth."""

import json
import os
import platform
import re
import shutil

import cli_case
from cli_case import CliCase


class Doctor(CliCase):
    def checks(self, code=0, **environment):
        done = self.tenfold('doctor', '--json', env={**os.environ, **environment}, code=code)
        return {check['topic']: check for check in json.loads(done.stdout)['checks']}

    def test_tells_what_a_report_needs(self):
        checks = self.checks(XDG_CACHE_HOME=self.path('cache'))
        for part in (platform.release(), platform.libc_ver()[1]):
            self.assertIn(part, checks['tenfold']['found'])
        self.assertIn(f"{len(os.sched_getaffinity(0))} threads", checks['processor']['found'])
        with open('/proc/meminfo') as file:
            total = int(re.search(r'MemTotal: +(\d+)', file.read())[1]) / 2**20
        self.assertIn(f' of {total:.1f} GiB free', checks['memory']['found'])
        self.assertIn(f"0 in {self.path('cache')}/tenfold/plans", checks['plans kept']['found'])
        room = float(re.search(r'disk has (\S+) GiB', checks['plans kept']['found'])[1])
        self.assertAlmostEqual(room, shutil.disk_usage(self.path('.')).free / 2**30, delta=8)
        self.assertEqual(checks['self-test cpu']['verdict'], 'ok')

    def test_says_what_to_do(self):
        self.write('file', b'')
        kept = self.checks(XDG_CACHE_HOME=self.path('file'))['plans kept']
        self.assertEqual(kept['verdict'], 'missing')
        self.assertIn('XDG_CACHE_HOME', kept['what_to_do'])
        os.mkdir(self.path('bad'))
        self.write('bad/libz.so.1', b'no library')
        zlib = self.checks(LD_LIBRARY_PATH=self.path('bad'))['libz.so.1']
        self.assertEqual((zlib['verdict'], zlib['what_to_do']), ('missing', 'apt-get install zlib1g'))

    def test_a_gpu_that_cuda_does_not_open(self):
        folder = os.environ.get('TENFOLD_FAKE_NVML')
        if not folder:
            self.skipTest('TENFOLD_FAKE_NVML names no folder')
        gpu = self.checks(code=1, LD_LIBRARY_PATH=folder)['GPU']
        self.assertEqual(gpu['verdict'], 'fails')
        self.assertIn('libcuda.so.1', gpu['what_to_do'])

    def test_for_people(self):
        output = self.tenfold('doctor').stdout
        self.assertRegex(output, r'(?m)^ok   self-test cpu +a product and a softmax differ from f64 by \d\.\de-\d\d')
        self.refused(2, "takes no 'all'", 'doctor', 'all')


if __name__ == '__main__':
    cli_case.main()
