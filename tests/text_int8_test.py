#!/usr/bin/env python3
"""`tenfold serve FOLDER --precision=int8`: text_int8_test.py TENFOLD"""

import json
import os
import subprocess
import sys

import cli_case
from serve_case import Server, save_tanh
from text_case import TextCase, np, text_of


class Int8(TextCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.texts = os.path.join(cls.temporary.name, "texts.txt")
        with open(cls.texts, "w") as file:
            file.writelines(text_of(seed, 3 + seed % 9) + "\n" for seed in range(100, 140))

    def test_vectors_are_near_those_of_fp32(self):
        server = Server(
            self.encoder.folder,
            f"--plan-cache-dir={self.temporary.name}/plans",
            "--precision=int8",
            f"--calibration-texts={self.texts}",
        )
        try:
            self.assertRegex(server.start, r"bert +1 +ready +cpu +int8")
            self.assertNotIn("built-in sentences", server.start)
            texts = [text_of(seed, 3 + seed % 9) for seed in range(30)]
            status, _, body = server.send("POST", "/embed", json.dumps({"inputs": texts}), {"Content-Type": "application/json"})
            self.assertEqual(status, 200, body)
            got = np.array(json.loads(body))
            cosines = (got * np.array([self.vector(text) for text in texts])).sum(1)
            self.assertGreater(cosines.mean(), 0.99)
            self.assertLess(cosines.mean(), 0.999999, "these are the vectors of fp32")
        finally:
            self.assertEqual(server.stop(), 0)

    def refused(self, *flags):
        command = [cli_case.TENFOLD, "serve", *flags, "--http-port=0", "--metrics-port=0"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_what_is_refused(self):
        folder = self.encoder.folder
        self.assertIn("is for --precision=int8", self.refused(folder, f"--calibration-texts={self.texts}"))
        missing = self.refused(folder, "--precision=int8", f"--calibration-texts={self.texts}.absent")
        self.assertIn("texts.txt.absent' has no text that can be read", missing)
        for endless in ("/dev/zero", self.temporary.name):
            self.assertIn("is no file of at most 64 MiB", self.refused(folder, "--precision=int8", f"--calibration-texts={endless}"))
        model = save_tanh(os.path.join(self.temporary.name, "m.onnx"))
        self.assertIn("--precision is int8, which is for encoders' folders", self.refused(model, "--precision=int8"))


if __name__ == "__main__":
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), "tenfold-server")):
        print("skipped: tenfold-server is not built (script/bootstrap build installs what it needs)")
        sys.exit(77)
    cli_case.main()
