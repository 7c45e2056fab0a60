#!/usr/bin/env python3
"""The command line of deploy/kubernetes with the rights of its pod: user 1000, no capabilities, no new privileges, a root file system that
is read only, and its volumes. (The profile of seccomp is the container runtime's, and is not tried.)

    check_rights.py BUILD
"""

import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile

from broken import DEPLOY, LEFT_OUT
from objects import containers, is_server
from servers import PORTS, REQUEST, Server, program, save_model

# In a mount namespace of its own: all that is mounted is read only but for what the environment names.
CONFINE = r"""
set -e
mount --make-rprivate /
for folder in $WRITABLE; do mount --bind "$folder" "$folder"; done
awk '{ print $5 }' /proc/self/mountinfo | sort -u | while read -r point; do
  case " $WRITABLE /proc /dev /sys " in *" $point "*) continue ;; esac
  case $point in /proc/* | /dev/* | /sys/*) continue ;; esac
  mount -o remount,bind,ro "$point"
done
exec setpriv --reuid=1000 --regid=1000 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"
"""


def status(pid, name):
    return re.search(rf"^{name}:\s*(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1].split()


def start(folder, server, args, writable):
    """The server, confined."""
    line = ["unshare", "-m", "bash", "-c", CONFINE, "confine", server, *args]
    return Server(line, env={**os.environ, "WRITABLE": " ".join(map(str, writable)), "HOME": "/"})


def answers(server):
    """What is wrong with its answer and its rights."""
    code, text = server.ask("/v2/models/m/infer", REQUEST)
    if code != 200:
        yield f"an inference is answered with {code}: {text}"
    worker = server.worker()
    for pid in (server.process.pid, worker):
        if set(status(pid, "Uid")) != {"1000"} or int(status(pid, "CapEff")[0], 16) or status(pid, "NoNewPrivs") != ["1"]:
            yield f"it has other rights than the pod's: {pathlib.Path(f'/proc/{pid}/status').read_text()}"
    root = [line.split()[5] for line in pathlib.Path(f"/proc/{worker}/mountinfo").read_text().splitlines() if line.split()[4] == "/"]
    if not all(options.split(",")[0] == "ro" for options in root):
        yield f"its root file system can be written: {root}"


def problems(folder, server):
    container = next(one for one in containers(DEPLOY, "kubernetes") if is_server(one))
    mounts = {one["mountPath"]: folder / one["mountPath"].strip("/") for one in container.body["volumeMounts"]}
    for path in mounts.values():
        path.mkdir()
    save_model(mounts["/models"] / "m/1/model.onnx")
    writable = [mounts[one["mountPath"]] for one in container.body["volumeMounts"] if not one.get("readOnly")]
    for path in writable:
        os.chown(path, 1000, 1000)
    os.chmod(folder, 0o755)
    args = [re.sub(r"=(/models|/cache)$", lambda m: f"={mounts[m[1]]}", word) for word in container.body["args"]] + [*PORTS, "--device=cpu"]
    os.environ["TMPDIR"] = str(mounts["/tmp"])
    for name, volumes in (("as it stands", writable), ("with a cache that is read only", [mounts["/tmp"]])):
        one = start(folder, server, args, volumes)
        try:
            yield from (f"{name}: {line}" for line in answers(one))
            kept = list(mounts["/cache"].rglob("*.plan*"))
            if volumes == writable and not kept:
                yield f"{name}: no plan was kept in the cache"
            if volumes != writable and not re.search(r"cache.*(ead-only|cannot|not written)", one.log):
                yield f"{name}: the log says nothing: {one.log}"
        finally:
            one.process.send_signal(signal.SIGTERM)
            if one.process.wait(60) != 0:
                yield f"{name}: it ended with {one.process.returncode}: {one.log[-300:]}"
        shutil.rmtree(mounts["/cache"])
        mounts["/cache"].mkdir()


def main():
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("setpriv"):
        print("it needs root, unshare and setpriv")
        return LEFT_OUT
    server = program(pathlib.Path(sys.argv[1], "cli/tenfold"))
    if not server:
        print(f"there is no tenfold-server in {sys.argv[1]}")
        return LEFT_OUT
    with tempfile.TemporaryDirectory(prefix="tenfold-rights-") as folder:
        wrong = list(problems(pathlib.Path(folder), server))
    print("\n".join(wrong) if wrong else "it serves with the rights of its pod, also where the cache cannot be written")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
