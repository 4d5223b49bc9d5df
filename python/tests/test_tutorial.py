# SPDX-License-Identifier: Apache-2.0
"""The tutorial's program runs, and its results are right."""
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Tutorial(unittest.TestCase):
    def test_pytorch(self):
        env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
        done = subprocess.run([sys.executable, "-W", "ignore", str(ROOT / "tutorials/16-pytorch/pytorch.py")], env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("right"), 5, done.stdout)


if __name__ == "__main__":
    unittest.main()
