#!/usr/bin/env python3
"""What checks packages, on this build: packages_test.py TENFOLD. The packages themselves: script/packages, not in CI."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import report_skips

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tests' / 'packages'))
import sbom_check

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
BUILD = PROGRAM.parent.parent


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, 'package')
        self.folder.mkdir()

    def bill(self, **environment):
        out = self.folder.parent / 'bill.json'
        subprocess.run([sys.executable, ROOT / 'tools/sbom.py', '--build', BUILD, '--name', 'tenfold', '--version', '0.1.0', '--purl',
                        'pkg:generic/tenfold@0.1.0', self.folder, out], check=True, env={**os.environ, **environment})
        return out.read_text()

    @unittest.skipUnless((BUILD / 'build.ninja').exists() and shutil.which('ninja'), 'Ninja has not built this')
    def test_a_bill_of_materials_names_what_is_inside(self):
        shutil.copy(PROGRAM, self.folder)
        text = self.bill(SOURCE_DATE_EPOCH='1000000000')
        self.assertEqual(list(sbom_check.faults_of(text)), [])
        bill = json.loads(text)
        how = {each['name']: each['properties'][0]['value'] for each in bill['components']}
        self.assertEqual((how['nlohmann-json'], how['libstdc++']), ('compiled in', 'linked, not inside'))
        self.assertNotIn('boost', how)   # which the server has
        self.assertEqual(bill['metadata']['timestamp'], '2001-09-09T01:46:40Z')
        self.assertEqual(self.bill(SOURCE_DATE_EPOCH='1000000000'), text)
        for break_it in (lambda bill: bill['components'][0].pop('licenses'), lambda bill: bill['components'][0].pop('version'),
                         lambda bill: bill['dependencies'][0]['dependsOn'].append('nobody'),
                         lambda bill: bill['components'].append(bill['components'][0])):
            broken = json.loads(text)
            break_it(broken)
            self.assertEqual(len(list(sbom_check.faults_of(json.dumps(broken)))), 1)

    @unittest.skipUnless(shutil.which('objdump') and os.path.exists('/bin/bash'), 'no objdump, or no bash to look into')
    def test_a_library_that_other_distributions_lack_is_found(self):
        shutil.copy('/bin/bash', self.folder)   # which needs libtinfo
        done = subprocess.run([ROOT / 'tests/packages/symbols.py', self.folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn('bash: needs libtinfo.so.6, which is not in the folder', done.stderr)
        shutil.copy(os.path.realpath('/lib/x86_64-linux-gnu/libtinfo.so.6'), self.folder / 'libtinfo.so.6')
        done = subprocess.run([ROOT / 'tests/packages/symbols.py', self.folder], capture_output=True, text=True)
        self.assertIn('bash: needs libtinfo.so.6', done.stderr)   # there, but no path of the file leads to it

    def test_an_empty_folder_is_no_package(self):
        done = subprocess.run([ROOT / 'tests/packages/symbols.py', self.folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)


if __name__ == '__main__':
    report_skips.run()
