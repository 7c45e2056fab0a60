#!/usr/bin/env python3
"""Configurations of models that are wrong, and what becomes of fields: model_config_test.py TENFOLD"""

import os
import subprocess
import tempfile
import time
import unittest

from repository_case import main, save_scale, server_program


class BadConfigurations(unittest.TestCase):
    """Each is refused with words that say where and what; none ends the server otherwise."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        save_scale(os.path.join(cls.folder.name, "m", "1", "model.onnx"), 2.0)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def said(self, text, code=1, seconds=120):
        with open(os.path.join(self.folder.name, "m", "config.pbtxt"), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        done = subprocess.run(
            [server_program(), "--print-model-config=" + os.path.join(self.folder.name, "m")],
            capture_output=True,
            timeout=seconds,
        )
        self.assertEqual(done.returncode, code, done.stderr[:500])
        return (done.stderr or done.stdout).decode(errors="replace")

    def test_text(self):
        for text, words in (
            ("max_batch_size: 4\n  foo: 1", '2:6: Message type "inference.ModelConfig" has no field named "foo"'),
            ("max_batch_size: x", "1:17: Expected integer, got: x"),
            ("max_batch_size: 4 max_batch_size: 5", "1:33:"),
            (
                "input { name: 'x' data_type: TYPE_FP33 }",
                '1:40: Unknown enumeration value of "TYPE_FP33" for field "data_type"',
            ),
            ("input {", "1:8:"),
            ('name: "m', "1:9: Unexpected end of string"),
            ("dynamic_batching { } sequence_batching { }", "1:40: Field"),
            (b'name: "\xff\xfe"', "it is not UTF-8"),
            (b"\x00\x01", "1:1:"),
            ("max_batch_size: 99999999999999999999", "Integer out of range"),
        ):
            self.assertIn(words, self.said(text))

    def test_ten_megabytes_of_braces(self):
        for text in (
            b"{" * 10_000_000,
            b"input {" * 1_500_000,
            b"optimization { cuda { graph_spec { input { value { " * 200_000,
            b"[" * 10_000_000,
            b"x" * 17_000_000,
        ):
            start = time.monotonic()
            self.assertIn("failed to read text proto", self.said(text))
            self.assertLess(time.monotonic() - start, 60)

    def test_values(self):
        x = 'input { name: "x" data_type: TYPE_FP32 dims: [ 4 ] }'
        y = 'output { name: "y" data_type: TYPE_FP32 dims: [ 4 ] }'
        for text, words in (
            ("max_batch_size: -1", "'max_batch_size' must be non-negative value for m"),
            ("max_batch_size: 2000000000", "max_batch_size is 2000000000"),
            (
                "max_batch_size: 4 dynamic_batching { preferred_batch_size: 5 }",
                "dynamic batching preferred size must be <= max batch size for m",
            ),
            (
                "max_batch_size: 4 dynamic_batching { preferred_batch_size: -5 }",
                "dynamic batching preferred size must be positive for m",
            ),
            ("dynamic_batching { priority_levels: 2 }", "default priority level must be in range [1, 2] for m"),
            (
                "dynamic_batching { priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 3 value { } } }",
                "priority queue policy must have priority level in range [1, 2] for m",
            ),
            (
                "dynamic_batching { priority_levels: 2 default_priority_level: 1 preserve_ordering: true }",
                "Only one priority level is allowed when 'preserve_ordering' is true for m",
            ),
            ("instance_group { count: -3 }", "has count -3"),
            ("instance_group { count: 2000000000 }", "2000000000 instances"),
            ("instance_group { kind: KIND_CPU gpus: 0 }", "has kind KIND_CPU but specifies one or more GPUs"),
            ("input { data_type: TYPE_FP32 dims: 4 } " + y, "model input must specify 'name'"),
            ('input { name: "x" dims: 4 } ' + y, "model input 'x' must specify 'data_type' for m"),
            ('input { name: "x" data_type: TYPE_FP32 } ' + y, "model input 'x' must specify 'dims' for m"),
            ('input { name: "x" data_type: TYPE_FP32 dims: -2 } ' + y, "dimension must be integer >= 1, or -1"),
            (
                'input { name: "z" data_type: TYPE_FP32 dims: 4 } ' + y,
                "input 'z' of the configuration is not in the model",
            ),
            ('input { name: "x" data_type: TYPE_INT32 dims: 4 } ' + y, "configure data_type: TYPE_FP32"),
            ('max_batch_size: 4 input { name: "x" data_type: TYPE_FP32 dims: 5 } ' + y, "'x'"),
            (
                'max_batch_size: 4 input { name: "x" data_type: TYPE_FP32 dims: [ 2, 2 ] reshape { shape: 5 } } ' + y,
                "different size for dims and reshape",
            ),
            (x + x + y, "given twice"),
            (
                'parameters { key: "tenfold.precisoin" value { string_value: "fp16" } }',
                "did you mean 'tenfold.precision'?",
            ),
            (
                'parameters { key: "tenfold.threads" value { string_value: "-3" } }',
                "parameter 'tenfold.threads' is '-3'",
            ),
            (
                'max_batch_size: 4 parameters { key: "tenfold.max_batch_tokens" value { string_value: "64" } }',
                "parameter 'tenfold.max_batch_tokens' is for encoders in Tenfold's server",
            ),
            (
                'output { name: "y" data_type: TYPE_FP32 dims: 4 label_filename: "labels.txt" } max_batch_size: 4',
                "labels.txt cannot be read",
            ),
            (
                'output { name: "y" data_type: TYPE_FP32 dims: 4 label_filename: "/etc/passwd" } max_batch_size: 4',
                "expected a path inside",
            ),
            (
                'max_batch_size: 4 model_warmup { name: "w" batch_size: 9 '
                'inputs { key: "x" value { data_type: TYPE_FP32 dims: 4 zero_data: true } } }',
                "has batch_size 9",
            ),
            (
                'model_warmup { inputs { key: "x" value { data_type: TYPE_FP32 dims: [ 99999999, 99999999 ] zero_data: true } } }',
                "larger than 1 GiB",
            ),
            (
                'model_warmup { inputs { key: "x" value { data_type: TYPE_FP32 dims: 4 input_data_file: "../x" } } }',
                "expected a path inside",
            ),
        ):
            self.assertIn(words, self.said(text), text)


if __name__ == "__main__":
    main()
