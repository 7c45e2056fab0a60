#!/usr/bin/env python3
"""Models that clients of `tenfold serve` have loaded and unloaded, in the next worker: next_worker_test.py TENFOLD"""

import json
import os
import signal
import threading

import supervised
from repository_case import RepositoryCase
from supervised import children, running, wait_until


class Repositories(RepositoryCase):
    """What clients have loaded and unloaded outlives the worker."""

    def supervised(self, *flags):
        server = self.ready("--model-control-mode=explicit", *flags)
        self.log = [server.start]
        reader = threading.Thread(target=lambda: self.log.extend(server.process.stderr), daemon=True)
        reader.start()
        self.addCleanup(reader.join, 30)
        self.addCleanup(server.stop)   # first: the reader ends with it
        return server

    def replaced(self, server, how):
        """Has another worker take the place of the one there is."""
        before, starts = children(server.process.pid)[0], "".join(self.log).count("ready on http")
        if how == "killed":
            os.kill(before, signal.SIGKILL)
        else:
            server.process.send_signal(signal.SIGUSR2)
        wait_until(lambda: "".join(self.log).count("ready on http") > starts, what="the next worker")
        wait_until(lambda: not running(before), what="the end of the worker before")

    def states(self, server):
        return {name: state for (name, _), state in server.index().items()}

    def test_loaded_and_unloaded_models(self):
        for name in ("a", "b", "c", "d"):
            self.repository.add(name, factors={1: 2.0, 2: 3.0})
        server = self.supervised("--load-model=a", "--load-model=b")
        one_version = json.dumps({"name": "c", "version_policy": {"specific": {"versions": [1]}}})
        self.assertEqual(server.control("c", "load", config=one_version)[0], 200)
        self.assertEqual(server.control("d", "load")[0], 200)
        self.assertEqual(server.control("a", "unload")[0], 200)
        self.assertNotEqual(server.control("e", "load")[0], 200)
        for how in ("killed", "replaced", "killed"):
            self.replaced(server, how)
            self.assertEqual((server.factor("b"), server.factor("c"), server.factor("d")), (3, 2, 3), how)  # c: its version 1 only
            self.assertEqual(server.factor("a"), 404, how)
            self.assertEqual(server.factor("c", 2), 404)
            self.assertEqual(server.get("/v2/health/ready")[0], 200)
        self.assertEqual(server.control("c", "load")[0], 200)  # by its files from now on
        self.assertEqual(server.control("d", "unload")[0], 200)
        self.assertEqual(server.control("a", "load")[0], 200)
        self.replaced(server, "killed")
        self.assertEqual([server.factor(name) for name in "abcd"], [3, 3, 3, 404])
        self.assertEqual(server.stop(), 0)

    def test_a_model_that_has_gone_ends_nothing(self):
        self.repository.add("a").add("b")
        server = self.supervised("--load-model=a")
        self.assertEqual(server.control("b", "load")[0], 200)
        os.rename(self.repository.path("b"), self.repository.path("..b"))
        self.replaced(server, "killed")
        self.assertEqual((server.factor("a"), server.factor("b")), (2, 404))
        self.assertEqual(server.get("/v2/health/ready")[0], 200)
        os.rename(self.repository.path("..b"), self.repository.path("b"))
        self.replaced(server, "replaced")
        self.assertEqual(server.factor("b"), 2)

    def test_changes_while_the_next_worker_starts(self):
        """The worker that serves loads and unloads until the last moment, and none of it is lost."""
        for name in ("a", "b", "c"):
            self.repository.add(name)
        server = self.supervised("--load-model=a")
        for turn in range(3):
            starts = "".join(self.log).count("ready on http")
            server.process.send_signal(signal.SIGUSR2)
            wanted = {}
            for i in range(60):
                name, action = ("b", "c")[i % 2], ("load", "unload")[i // 2 % 2]
                self.assertEqual(server.control(name, action)[0], 200)
                wanted[name] = 2 if action == "load" else 404
                if "".join(self.log).count("ready on http") > starts:
                    break
            wait_until(lambda n=starts: "".join(self.log).count("ready on http") > n, what="the next worker")
            wait_until(lambda: len(children(server.process.pid)) == 1, what="the end of the worker before")
            for name, factor in wanted.items():
                wait_until(lambda n=name, f=factor: server.factor(n) == f, what=f"{name} in turn {turn}")

    def test_a_large_configuration(self):
        """Larger than a packet of the link."""
        self.repository.add("a").add("b")
        server = self.supervised("--load-model=a")
        config = json.dumps({"name": "b", "parameters": {"note": {"string_value": "x" * 2_000_000}}})
        self.assertEqual(server.control("b", "load", config=config)[0], 200)
        self.replaced(server, "killed")
        status, text = server.get("/v2/models/b/config")
        self.assertEqual((status, len(text["parameters"]["note"]["string_value"])), (200, 2_000_000))


if __name__ == "__main__":
    supervised.main()
