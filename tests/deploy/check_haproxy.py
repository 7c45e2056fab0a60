#!/usr/bin/env python3
"""Three servers behind HAProxy, by deploy/haproxy/haproxy.cfg, over HTTP and gRPC under load: one is killed, one hangs (SIGSTOP), and they
are replaced one after the other (SIGTERM, --exit-delay-secs). With the one retry of the file no request fails. Without it only requests
fail that the killed one or the one that hangs had; none while they are replaced.

    check_haproxy.py BUILD
"""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from broken import DEPLOY, LEFT_OUT, broken
from load import GrpcClient, HttpClient, Load
from servers import Server, ask, program, save_model, wait_until

DELAY = 4            # --exit-delay-secs
HANGS = 7            # seconds, more than `timeout server`
# Until HAProxy has seen what happened: its checks, and what was on its way.
SEEN = 2
RETRIES = re.compile(r"^ *retry-on .*\n", re.M)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Farm:
    """HAProxy and three servers, on free ports in place of the file's."""

    def __init__(self, folder, server, retry):
        self.folder, self.program = pathlib.Path(folder), server
        text = (DEPLOY / "haproxy/haproxy.cfg").read_text()
        names = sorted(set(re.findall(r"\b(8\d\d\d)\b", text)))
        self.ports = dict(zip(names, free_ports(len(names))))
        text = re.sub(r"\b(8\d\d\d)\b", lambda m: str(self.ports[m[1]]), text)
        if not retry:
            if not RETRIES.search(text):
                raise AssertionError("haproxy.cfg has no retry-on")
            text = RETRIES.sub("  retry-on conn-failure\n", text)   # of what was never sent
        text = text.replace("defaults\n", "defaults\n  log global\n  option httplog\n").replace(
            "global\n", "global\n  log stdout format raw daemon\n", 1)
        (self.folder / "haproxy.cfg").write_text(text)
        self.model = save_model(self.folder / "m.onnx")
        self.servers = {name: self.start(name) for name in "abc"}
        self.log = open(self.folder / "haproxy.log", "w+")
        self.haproxy = subprocess.Popen(["haproxy", "-db", "-f", self.folder / "haproxy.cfg"], stdout=self.log, stderr=self.log)

    def start(self, name):
        http, grpc = (self.ports[str(base + 10 * "abc".index(name))] for base in (8000, 8001))
        # A delay of the queue, so that requests are under way whenever something happens.
        line = [self.program, self.model, f"--http-port={http}", f"--grpc-port={grpc}", "--metrics-port=0", "--tune=never", "--device=cpu",
                "--threads=1", "--max-queue-delay-us=10000", f"--exit-delay-secs={DELAY}", f"--plan-cache-dir={self.folder}/plans"]
        return Server(line)

    def processes(self, name):
        return [self.servers[name].process.pid, self.servers[name].worker()]

    def kill(self, name):
        self.servers[name].process.kill()
        self.servers[name].process.wait()

    def restart(self, name):
        self.servers[name] = self.start(name)
        time.sleep(SEEN)

    def hang(self, name):
        pids = self.processes(name)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(HANGS)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        time.sleep(SEEN)

    def replace(self, name):
        code = self.servers[name].stop()
        if code != 0:
            raise AssertionError(f"server {name} ended with {code}: {self.servers[name].log[-500:]}")
        self.restart(name)

    def close(self):
        for server in self.servers.values():
            if server.process.poll() is None:
                server.process.kill()
        self.haproxy.kill()
        self.haproxy.wait()

    def failed_on(self):
        """The servers whose requests HAProxy answered by an error of its own or of theirs."""
        text = pathlib.Path(self.log.name).read_text()
        return re.findall(r" tenfold-\w+/(\S+) \S+ (?:5\d\d|-1) ", text)


def run(kind, server, retry):
    """Lines about what is wrong, and a line of what happened."""
    protocol = "HTTP" if kind is HttpClient else "gRPC"
    wrong, said = [], []
    with tempfile.TemporaryDirectory() as folder:
        farm = Farm(folder, server, retry)
        try:
            port = farm.ports["8080" if kind is HttpClient else "8081"]
            wait_until(lambda: farm_answers(farm), 30, "HAProxy")
            time.sleep(SEEN)
            load = Load(kind, port)
            time.sleep(1)
            marks = [("start", time.monotonic())]
            for event, act in (("killed", lambda: (farm.kill("a"), time.sleep(SEEN), farm.restart("a"))), ("hung", lambda: farm.hang("b")),
                               ("replaced", lambda: [farm.replace(name) for name in "abc"])):
                act()
                marks.append((event, time.monotonic()))
            load.stop()
            for (_, begin), (event, end) in zip(marks, marks[1:]):
                answers = load.between(begin, end if event != "replaced" else time.monotonic())
                faults = [one.fault for one in answers if one.fault]
                said.append(f"{event}: {len(faults)} of {len(answers)} failed")
                if len(answers) < 100:
                    wrong.append(f"{protocol}, {event}: {len(answers)} answers are no load")
                allowed = 0 if retry or event == "replaced" else len(load.threads) * (1 if event == "killed" else 2)
                if len(faults) > allowed:
                    wrong.append(f"{protocol}, {event}: {len(faults)} of {len(answers)} failed, {allowed} may: {sorted(set(faults))[:5]}")
            on = set(farm.failed_on())
            if not retry and not on <= {"a", "b"}:
                wrong.append(f"{protocol}: requests failed on {on}, and only a was killed and b hung")
        finally:
            farm.close()
    print(f"{protocol}, {'one retry' if retry else 'no retry'}: {'; '.join(said)}", flush=True)
    return wrong


def farm_answers(farm):
    try:
        return ask(farm.ports["8080"], "/v2/health/ready")[0] == 200
    except OSError:
        return False


def syntax():
    """That HAProxy reads the file as it stands, and refuses broken copies."""
    if subprocess.run(["haproxy", "-c", "-f", DEPLOY / "haproxy/haproxy.cfg"], capture_output=True).returncode != 0:
        yield "haproxy.cfg is refused"
    for old, new in (("retry-on conn", "retryon conn"), ("check-proto h1", "check-proto h9"),
                     ("default_backend tenfold-grpc", "default_backend g")):
        with broken("haproxy/haproxy.cfg", old, new) as deploy:
            if subprocess.run(["haproxy", "-c", "-f", deploy / "haproxy/haproxy.cfg"], capture_output=True).returncode == 0:
                yield f"haproxy.cfg with {new!r} passes"


def main():
    if not shutil.which("haproxy"):
        print("haproxy is not installed: apt-get install haproxy")
        return LEFT_OUT
    server = program(pathlib.Path(sys.argv[1], "cli/tenfold"))
    if not server:
        print(f"there is no tenfold-server in {sys.argv[1]}")
        return LEFT_OUT
    kinds = [kind for kind in (HttpClient, GrpcClient) if len(sys.argv) < 3 or kind.__name__.lower().startswith(sys.argv[2])]
    wrong = list(syntax())
    wrong += [line for kind in kinds for retry in (True, False) for line in run(kind, server, retry)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
