#!/usr/bin/env python3
"""Traces of `tenfold serve`: traces_test.py TENFOLD"""

import json
import os
import sys
import threading
import time
import unittest

import cli_case
from serve_case import json_request, rows
from observe_case import PARENT, TRACE, Collector, run, scrape, total, traced


class Traces(unittest.TestCase):
    def test_spans_of_a_request(self):
        collector = Collector()
        resource = "--trace-config=opentelemetry,resource=service.name=cats"
        with traced(collector, "--trace-config=level=TIMESTAMPS", "--trace-config=rate=1", resource) as server:
            headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "a=b"}
            self.assertEqual(server.infer(json_request(rows(1), id="seven"), headers=headers)[0], 200)
            (request,) = collector.wait(1)
            self.assertEqual(server.stop(), 0)
        self.assertEqual(collector.paths, {"/v1/traces"})
        self.assertIn({"key": "service.name", "value": {"stringValue": "cats"}}, collector.resources[0])
        by_name = {span["name"]: span for span in collector.spans}
        self.assertEqual(set(by_name), {"InferRequest", "m", "compute", "batch"})
        self.assertEqual((request["traceId"], request["parentSpanId"], request["traceState"]), (TRACE, PARENT, "a=b"))
        self.assertEqual(by_name["m"]["parentSpanId"], request["spanId"])
        self.assertEqual(by_name["compute"]["parentSpanId"], by_name["m"]["spanId"])
        self.assertEqual({span["traceId"] for name, span in by_name.items() if name != "batch"}, {TRACE})
        link, batch = by_name["compute"]["links"][0], by_name["batch"]
        self.assertEqual((link["traceId"], link["spanId"]), (batch["traceId"], batch["spanId"]))
        self.assertIn({"key": "triton.request_id", "value": {"stringValue": "seven"}}, by_name["m"]["attributes"])
        events = [(int(event["timeUnixNano"]), event["name"]) for event in by_name["m"]["events"][:2] + by_name["compute"]["events"]]
        names = ["REQUEST_START", "QUEUE_START", "COMPUTE_START", "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END"]
        self.assertEqual([name for _, name in sorted(events, key=lambda event: event[0])], names)
        for span in collector.spans:
            self.assertLessEqual(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))
            self.assertLess(abs(int(span["endTimeUnixNano"]) / 1e9 - time.time()), 120)

    def test_requests_of_a_batch_have_one_link(self):
        collector = Collector()
        flags = ("--trace-config=level=TIMESTAMPS", "--trace-config=rate=1", "--max-batch=4", "--max-queue-delay-us=2000000")
        with traced(collector, *flags) as server:
            threads = [threading.Thread(target=server.infer, args=(json_request(rows(i)),)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            computes = collector.wait(4, "compute")
            batches = collector.wait(1, "batch")
        links = {(span["links"][0]["traceId"], span["links"][0]["spanId"]) for span in computes}
        self.assertEqual(links, {(batch["traceId"], batch["spanId"]) for batch in batches})
        self.assertLess(len(batches), 4)
        self.assertEqual(len({span["traceId"] for span in computes}), 4)

    def test_errors_and_settings(self):
        collector = Collector()
        with traced(collector, "--trace-config=rate=1") as server:
            post = lambda path, **settings: server.send("POST", path, json.dumps(settings))   # noqa: E731
            one, all_ = "/v2/models/m/trace/setting", "/v2/trace/setting"
            self.assertEqual(server.get(all_)[1]["trace_level"], ["OFF"])
            server.infer(json_request(rows(1)))
            self.assertEqual(post(one, trace_level=["TIMESTAMPS"], trace_count="2")[0], 200)
            self.assertEqual(server.get(one)[1]["trace_count"], "2")
            self.assertEqual(server.get(all_)[1]["trace_level"], ["OFF"])
            wrong = json_request(rows(1))
            wrong["inputs"][0]["name"] = "z"
            self.assertEqual(server.infer(wrong)[0], 400)
            for i in range(3):
                server.infer(json_request(rows(i)))
            self.assertEqual(server.get(one)[1]["trace_count"], "0")
            self.assertEqual(post(one, trace_count=None)[0], 200)
            self.assertEqual(server.get(one)[1]["trace_count"], "-1")
            for settings, status in (
                ({"trace_rate": "x"}, 400), ({"trace_rate": "0"}, 400), ({"trace_rate": 5}, 400), ({"trace_count": "-7"}, 400),
                ({"trace_level": "TIMESTAMPS"}, 400), ({"trace_level": ["FOO"]}, 400), ({"trace_level": ["TENSORS"]}, 501),
                ({"trace_file": "/tmp/x"}, 501), ({"foo": "1"}, 200),
            ):
                self.assertEqual(post(all_, **settings)[0], status, settings)
            self.assertEqual(server.send("POST", all_, "[")[0], 400)
            self.assertEqual(server.send("POST", "/v2/models/none/trace/setting", "{}")[0], 404)
            spans = collector.wait(2)
        self.assertEqual(len(spans), 2)
        self.assertEqual([span["status"].get("code") for span in spans], [2, None])

    def test_rate_and_forced_samples(self):
        collector = Collector()
        with traced(collector, "--trace-config=level=TIMESTAMPS", "--trace-config=rate=5") as server:
            for i in range(10):
                server.infer(json_request(rows(i)))
            for flags, trace in (("01", "1"), ("00", "2"), ("01", "0")):   # sampled by who called; not; not valid, for it is all zeros
                server.infer(json_request(rows(1)), headers={"traceparent": f"00-{trace * 32}-{PARENT}-{flags}"})
            spans = collector.wait(3)
            time.sleep(0.2)
            self.assertEqual(total(scrape(server), "tenfold_trace_exported_total"), 3)
        self.assertEqual(len(spans), 3)
        self.assertIn("1" * 32, {span["traceId"] for span in spans})

    def test_a_collector_that_fails_costs_traces_and_no_requests(self):
        collector = Collector(status=503)
        collector.delay = 0.3
        flags = ("--trace-config=level=TIMESTAMPS", "--trace-config=rate=1", "--trace-config=opentelemetry,bsp_max_queue_size=4")
        with traced(collector, *flags) as server:
            started = time.monotonic()
            for i in range(40):
                self.assertEqual(server.infer(json_request(rows(i)))[0], 200)
            self.assertLess(time.monotonic() - started, 20)
            until = time.monotonic() + 30
            while time.monotonic() < until:
                dropped = scrape(server)["tenfold_trace_dropped_total"]
                if sum(dropped.values()) == 40:
                    break
                time.sleep(0.1)
            self.assertEqual(sum(dropped.values()), 40)
            self.assertTrue(all(value > 0 for value in dropped.values()), dropped)

    def test_flags_that_are_refused(self):
        for flag, words in (
            ("mode=triton", "writes no trace files"), ("triton,file=/tmp/x", "writes no trace files"), ("rate=0", "non-zero"),
            ("level=TENSORS", "TIMESTAMPS"), ("opentelemetry,url=https://x/v1/traces", "collector"), ("opentelemetry,foo=1", "bsp_"),
            ("foo=1", "level"), ("x", "NAME=VALUE"),
        ):
            with self.subTest(flag=flag):
                result = run("serve", "m.onnx", "--trace-config=" + flag)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(words, result.stderr)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
