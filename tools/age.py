"""How old a measurement is: how many commits its code has had since. What prints a table marks its rows by this; nobody does by hand."""
import functools
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
GPU = ('src/backends/cuda', 'src/compiler/passes', 'src/compiler/tune')
CPU = ('src/backends/cpu', 'src/compiler/passes', 'src/compiler/tune')
MARK = re.compile(r', stale: \d+ commits? to its code since')   # what --check leaves out of the comparison: it grows by itself


@functools.cache
def commits_since(commit, folders=GPU):
    """To these folders; None where the history, or the commit, is not here."""
    done = subprocess.run(['git', 'rev-list', '--count', f'{commit}..HEAD', '--', *folders], cwd=ROOT, capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else None


def mark(commit, folders=GPU):
    """", stale: 90 commits to its code since", or nothing."""
    count = commits_since(commit.split()[0], folders) if commit else None
    return f", stale: {count} commit{'s' if count > 1 else ''} to its code since" if count else ''


def without_marks(text):
    return MARK.sub('', text)
