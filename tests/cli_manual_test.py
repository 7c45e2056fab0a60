#!/usr/bin/env python3
"""help, version, manual pages and completions of shells: cli_manual_test.py TENFOLD. Shells and groff judge what is written for them."""

import os
import re
import shutil
import subprocess

import cli_case
from cli_case import CliCase

USAGE = 2
VERBS = ['exec', 'inspect', 'report', 'check', 'quantize', 'embed', 'segment', 'serve', 'latency', 'compare', 'ops', 'devices', 'doctor']
ALL = {'exec': '--help=all', 'latency': '--help=all'}


class Manual(CliCase):
    def flags_of(self, verb):
        """As the full help of the verb lists them."""
        text = self.tenfold(verb, ALL.get(verb, '--help')).stdout
        return sorted(set(re.findall(r'^  (--?[A-Za-z][\w-]*)', text, re.MULTILINE)))

    def test_help_and_version(self):
        for verb in VERBS:
            self.assertEqual(self.tenfold('help', verb).stdout, self.tenfold(verb, '--help').stdout)
        for words in (['help'], ['-h']):
            self.assertEqual(self.tenfold(*words).stdout, self.tenfold('--help').stdout)
        reported = self.tenfold('--version').stdout
        self.assertRegex(reported, r'^tenfold \d+\.\d+\.\d+\n$')
        for words in (['version'], ['-v'], ['exec', '--version']):
            self.assertEqual(self.tenfold(*words).stdout, reported)
        link = self.path('trtexec')
        os.symlink(cli_case.TENFOLD, link)
        self.assertEqual(self.tenfold('--version', program=[link]).stdout, reported)
        self.refused(USAGE, "unknown verb 'exce'; did you mean 'tenfold exec'?", 'help', 'exce')
        self.refused(USAGE, 'bash, zsh or fish, not \'tcsh\'', 'completion', 'tcsh')
        self.refused(USAGE, "unknown verb 'exce'", 'manual', 'exce')

    def test_pages_have_every_flag(self):
        groff = shutil.which('groff')
        pages = {verb: self.tenfold('manual', verb).stdout for verb in VERBS}
        for verb, page in pages.items():
            for flag in self.flags_of(verb):
                self.assertIn('.B ' + flag.replace('-', r'\-'), page, (verb, flag))
        pages['tenfold'] = self.tenfold('manual').stdout
        for verb in VERBS:
            self.assertIn(rf'tenfold\-{verb}', pages['tenfold'])
        if not groff:
            self.skipTest('groff is not installed')
        for verb, page in pages.items():
            command = [groff, '-man', '-Tascii', '-ww', '-Wbreak', '-P-c']
            done = subprocess.run(command, input=page, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ''), verb)
            if verb != 'tenfold':
                words = re.sub(r' +', ' ', re.sub(r'.\x08', '', done.stdout))
                self.assertIn(f'tenfold-{verb} - ', words)
                self.assertIn('SYNOPSIS', words)

    def completed(self, script, *words):
        """What bash offers for the last of the words; it divides them at '='."""
        parts = [part for word in words for part in re.split(r'(=)', word) if part or word == '']
        if words[-1].endswith('=') and parts[-1] != '=':
            parts.append('')
        quoted = ' '.join("'" + p.replace("'", "'\\''") + "'" for p in parts)
        code = (f'source {script}; COMP_WORDS=(tenfold {quoted}); COMP_CWORD={len(parts)}; _tenfold; printf "%s\\n" "${{COMPREPLY[@]}}"')
        done = subprocess.run(['bash', '--norc', '-c', code], capture_output=True, text=True, timeout=60, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ''), words)
        return done.stdout.split()

    def test_bash(self):
        script = self.write('bash', self.tenfold('completion', 'bash').stdout.encode())
        self.assertEqual(self.completed(script, 'qu'), ['quantize'])
        self.assertLessEqual(set(VERBS), set(self.completed(script, '')))
        self.assertEqual(self.completed(script, 'help', 'lat'), ['latency'])
        for verb in VERBS:
            found = self.completed(script, verb, '-')
            self.assertLessEqual(set(self.flags_of(verb)), {f.rstrip('=') for f in found}, verb)   # some helps leave rare flags out
            self.assertLess(len(found), 200)
        self.assertEqual(self.completed(script, 'quantize', '--typ'), ['--type='])
        self.assertEqual(self.completed(script, 'quantize', '--type='), ['int8', 'fp8', 'int4', 'mixed'])
        self.assertEqual(self.completed(script, 'quantize', '--type=int'), ['int8', 'int4'])
        self.assertEqual(self.completed(script, 'exec', '--onnx=m'), ['m.onnx'])
        self.assertEqual(self.completed(script, 'check', 'm.'), ['m.onnx'])

    def test_other_shells_read_theirs(self):
        for shell in ('zsh', 'fish'):
            text = self.tenfold('completion', shell).stdout
            for verb in VERBS:
                for flag in self.flags_of(verb):
                    self.assertIn(flag if shell == 'zsh' else f" -{'l' if flag.startswith('--') else 's'} {flag.lstrip('-')} ", text)
            if shutil.which(shell):
                subprocess.run([shell, '-n', self.write(shell, text.encode())], check=True, timeout=60)


if __name__ == '__main__':
    cli_case.main()
