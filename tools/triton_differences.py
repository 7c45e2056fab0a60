#!/usr/bin/env python3
"""Sends the same requests, half of them wrong, to `tenfold serve` and to a Triton with libtriton_tenfold.so, which serve the same models.

    triton_differences.py TENFOLD TRITON_SH TRITON_DIR [--write=docs/reference/triton-differences.md] [--all]

TRITON_SH and TRITON_DIR: a script that starts a real Triton (`TRITON_SH serve TRITON_DIR REPOSITORY FLAG...`), and where it is unpacked,
with the backend beside it. It needs grpcio and tritonclient (`script/bootstrap clients`). The requests are files of tools/triton_requests;
reasons.py has why a difference is right. Exit code 1: tensors differ, or a difference has no reason. --all prints what is alike, too.
"""

import datetime
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench")]
import serve_common  # noqa: E402
from triton_requests import binary, control, grpc_calls, json_bodies, models, parameters, paths, reasons  # noqa: E402
from triton_requests.ask import CLOSED, Answer  # noqa: E402
from triton_requests.compare import alike, other_numbers, shown  # noqa: E402

FAMILIES = (json_bodies, binary, parameters, paths, grpc_calls, control)
FLAGS = ("--model-control-mode=explicit", "--strict-readiness=false", "--exit-on-error=false")
PAGE = """# Where tenfold serve differs from Triton

`tools/triton_differences.py` sends the same requests to `tenfold serve` and to Triton 2.51 with `libtriton_tenfold.so`, which serve
the same models, and writes this page ({date}).

{count} requests, of which one of the two refuses {wrong}. {same} are answered alike: with the same status, and the same tensors, words
or members. Every inference that both answer has the same tensors. The others differ for one of these reasons:
"""


class Triton:
    """A Triton that is started anew when a request has ended it."""

    def __init__(self, *arguments):
        self.arguments = arguments
        self.server = serve_common.Triton(*arguments)

    def send(self, ask):
        answer = ask.send(self.server)
        if answer.value != CLOSED and answer.status != "UNAVAILABLE":
            return answer
        try:
            code = self.server.process.wait(5)
        except subprocess.TimeoutExpired:
            return answer
        self.server = serve_common.Triton(*self.arguments)
        return Answer(0, f"the server ended, by signal {-code}" if code < 0 else f"the server ended with {code}")


class Asked:
    def __init__(self, ask, ours, triton):
        self.ask = ask
        self.ours, self.triton = ask.send(ours), triton.send(ask)
        self.alike = alike(ask, self.ours, self.triton)
        self.wrong = not (self.ours.good and self.triton.good)
        self.reason = None if self.alike else reasons.find(ask, self.ours, self.triton)

    def row(self):
        return f"| {self.ask.name} | {shown(self.ask, self.ours, self.triton)} | {shown(self.ask, self.triton, self.ours)} |"


def page(asked):
    same = [one for one in asked if one.alike]
    lines = [PAGE.format(date=datetime.date.today(), count=len(asked), wrong=sum(one.wrong for one in asked), same=len(same))]
    for title, why in reasons.TEXTS.items():
        rows = [one.row() for one in asked if one.reason == title]
        if rows:
            lines += [f"## {title}\n\n{why}\n", "| request | tenfold serve | Triton |\n|---|---|---|", *rows, ""]
    return "\n".join(lines)


def main():
    options = dict((arg[2:] + "=").split("=", 1) for arg in sys.argv[1:] if arg.startswith("--"))
    program, script, triton = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        repository, loaded = models.write(folder)
        flags = [*FLAGS, *(f"--load-model={one}" for one in loaded)]
        ours = serve_common.Tenfold(program, None, folder / "ours.log", f"--model-repository={repository}", "--device=cpu",
                                    f"--plan-cache-dir={folder}/plans", *flags)  # fmt: skip
        theirs = Triton(script, triton, repository, folder / "triton.log", *flags)
        try:
            with ours:
                asked = [Asked(ask, ours, theirs) for family in FAMILIES for ask in family.asks()]
        finally:
            theirs.server.stop()
    text = page(asked)
    if "write" in options:
        pathlib.Path(options["write"].rstrip("=")).write_text(text)
    unexplained = [one.row() for one in asked if not one.alike and not one.reason]
    numbers = [one.ask.name for one in asked if one.reason != reasons.MEMBERS and other_numbers(one.ask, one.ours, one.triton)]
    if "all" in options:
        print("\n".join(("= " if one.alike else "# ") + f"{one.reason} {one.row()}" for one in asked))
    print(f"{len(asked)} requests, {sum(one.wrong for one in asked)} wrong, {sum(one.alike for one in asked)} alike")
    if unexplained or numbers:
        sys.exit("\n".join(["no reason:", *unexplained, f"tensors differ: {numbers}"]))


if __name__ == "__main__":
    main()
