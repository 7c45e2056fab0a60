"""Copies of deploy/ that are broken on purpose, which checks must refuse."""

import contextlib
import pathlib
import shutil
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
LEFT_OUT = 77  # the exit code of a part that cannot run here


@contextlib.contextmanager
def broken(file, old, new):
    """A copy of deploy/ in whose file the first `old` is `new`."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "deploy")
        shutil.copytree(DEPLOY, copy)
        text = (copy / file).read_text()
        if old not in text:
            raise AssertionError(f"deploy/{file} has no {old!r} that could be broken")
        (copy / file).write_text(text.replace(old, new, 1))
        yield copy


def run(problems, faults):
    """The exit code of a check: problems(folder) gives lines, none for deploy/ itself, and for each fault (file, old, new, word) one with
    the word."""
    failed = list(problems(DEPLOY))
    for file, old, new, word in faults:
        with broken(file, old, new) as folder:
            found = list(problems(folder))
        if not any(word in line for line in found):
            failed.append(f"{file} with {new!r} in place of {old!r} passes, or is refused for another reason: {found}")
    print("\n".join(failed) if failed else f"deploy/ is as it should be, and {len(faults)} broken copies are refused")
    return 1 if failed else 0
