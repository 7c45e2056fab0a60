"""What the tests of examples/pattern_engine share: its commands in a folder of their own, on the CPU."""
import os
import subprocess
import sys

from case import Case

HERE = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'examples', 'pattern_engine'))
sys.path[:0] = [HERE, os.path.join(HERE, 'scripts')]


def command(folder, *words, stdin='', **environment):
    """The exit code of a program of the example, called in `folder`, and what it prints."""
    program = [os.path.join(HERE, words[0])] if words[0].endswith('.sh') else [sys.executable, os.path.join(HERE, words[0])]
    done = subprocess.run([*program, *words[1:]], cwd=folder, capture_output=True, text=True, input=stdin, timeout=300,
                          env={**os.environ, 'TENFOLD_DEVICE': 'cpu', 'PYTHON': sys.executable, 'TRT_CI': '', **environment})
    return done.returncode, done.stdout, done.stderr


class PatternCase(Case):
    def command(self, *words, **options):
        return command(self.folder, *words, **options)

    def write(self, name, text):
        with open(self.path(name), 'w') as f:
            f.write(text)
        return self.path(name)
