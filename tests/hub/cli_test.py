#!/usr/bin/env python3
"""Runs `lattice pull`, `list` and `rm` against the misbehaving hub.

    LATTICE_BINARY=build/dev/bin/lattice python3 tests/hub/cli_test.py
"""

import json
import os
import pathlib
import pty
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BINARY = os.environ["LATTICE_BINARY"]
COMMIT = "c" * 40
DEADLINE_SECONDS = 60


class HubCliTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lattice-hub-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.weights = random.Random(1).randbytes(300_000)
        self.add_file("config.json", b'{"model_type":"bert"}')
        self.add_file("tokenizer.json", b"{}")
        self.add_file("model.safetensors", self.weights)
        self.add_file("pytorch_model.bin", b"not needed")
        self.store = self.folder / "store"
        self.server = None

    def add_file(self, name, content):
        path = self.folder / "root/org/tiny" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def start(self, **script):
        self.stop()
        (self.folder / "script.json").write_text(json.dumps({"commit": COMMIT, **script}))
        self.server = subprocess.Popen(
            [sys.executable, HERE / "server.py", "--root", self.folder / "root", "--script",
             self.folder / "script.json", "--log", self.folder / "log.jsonl"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        self.endpoint = f"http://127.0.0.1:{self.server.stdout.readline().split()[0]}"

    def stop(self):
        if self.server:
            self.server.stdin.close()
            self.server.wait()
            self.server.stdout.close()
            self.server = None

    def environment(self, **extra):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("HF_", "LATTICE_HOME")) and not key.lower().endswith("_proxy")}
        env.update(LATTICE_HOME=str(self.store), HF_ENDPOINT=getattr(self, "endpoint", ""), **extra)
        return env

    def lattice(self, *arguments, **extra):
        return subprocess.run([BINARY, *arguments], env=self.environment(**extra), text=True,
                              capture_output=True, timeout=DEADLINE_SECONDS, check=False)

    def partial(self):
        return (self.store / "models/.incoming/org--tiny" / COMMIT / "model.safetensors.partial")

    def wait_for_partial(self, size):
        end = time.monotonic() + DEADLINE_SECONDS
        while not self.partial().exists() or self.partial().stat().st_size < size:
            self.assertLess(time.monotonic(), end, "the download did not come that far")
            time.sleep(0.01)

    def ranges(self):
        lines = (self.folder / "log.jsonl").read_text().splitlines()
        return [entry["range"] for entry in map(json.loads, lines) if entry["role"] == "cdn"]

    def listed(self):
        result = self.lattice("list", "--json", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_pull_list_rm(self):
        self.start()
        result = self.lattice("pull", "org/tiny")
        self.assertEqual(result.returncode, 0, result.stderr)
        path = pathlib.Path(result.stdout.strip())
        self.assertEqual((path / "model.safetensors").read_bytes(), self.weights)
        self.assertFalse((path / "pytorch_model.bin").exists())
        self.assertNotIn("\r", result.stderr)  # no progress line into a pipe
        (model,) = self.listed()
        self.assertEqual(model["name"], "org/tiny")
        self.assertEqual(model["revisions"], ["main"])
        self.assertEqual(model["commit"], COMMIT)
        self.assertEqual(model["path"], str(path))
        self.assertEqual(model["bytes"], sum(p.stat().st_size for p in path.iterdir()
                                             if p.name != "lattice_manifest.json"))
        self.assertIsNone(model["problem"])
        table = self.lattice("list").stdout.splitlines()
        self.assertEqual(table[0].split(), ["NAME", "REVISION", "SIZE", "PATH"])
        self.assertEqual(table[1].split(), ["org/tiny", "main", "300.0", "kB", str(path)])
        self.assertEqual(self.lattice("rm", "org/tiny").returncode, 0)
        self.assertEqual(self.listed(), [])
        self.assertFalse(path.exists())
        self.assertEqual(self.lattice("rm", "org/tiny").returncode, 1)

    def test_json_and_quiet(self):
        self.start()
        result = self.lattice("pull", "org/tiny@main", "--json", "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        outcome = json.loads(result.stdout)
        self.assertEqual(outcome["commit"], COMMIT)
        self.assertFalse(outcome["already_there"])
        again = json.loads(self.lattice("pull", "org/tiny", "--json", "--quiet").stdout)
        self.assertTrue(again["already_there"])
        self.assertEqual(again["bytes_received"], 0)
        self.assertEqual(again["path"], outcome["path"])

    def test_kill_in_mid_download_then_resume(self):
        self.start(faults={"cdn:model.safetensors": [{"stall_after": 100_000}]})
        process = subprocess.Popen([BINARY, "pull", "org/tiny"], env=self.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for_partial(100_000)
        process.kill()
        self.assertEqual(process.wait(), -signal.SIGKILL)
        self.assertEqual(self.listed(), [])
        remark = self.lattice("list").stderr
        self.assertIn("unfinished: org/tiny", remark)
        self.assertIn(f"lattice pull org/tiny@{COMMIT}", remark)
        result = self.lattice("pull", "org/tiny")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.ranges(), [None, "bytes=100000-"])
        self.assertEqual(len(self.listed()), 1)

    def test_interrupt_says_how_to_resume(self):
        self.start(faults={"cdn:model.safetensors": [{"stall_after": 100_000}]})
        process = subprocess.Popen([BINARY, "pull", "org/tiny"], env=self.environment(), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for_partial(100_000)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=DEADLINE_SECONDS)
        self.assertEqual((process.returncode, stdout), (1, ""))
        self.assertIn("to resume, run: lattice pull org/tiny", stderr)
        self.assertEqual(self.partial().stat().st_size, 100_000)

    def test_progress_on_a_terminal_only(self):
        self.start()
        for arguments, expected in ((["pull", "org/tiny"], True),
                                    (["pull", "org/tiny", "--quiet"], False)):
            self.lattice("rm", "org/tiny")
            main, secondary = pty.openpty()
            process = subprocess.Popen([BINARY, *arguments], env=self.environment(),
                                       stdout=subprocess.DEVNULL, stderr=secondary)
            os.close(secondary)
            self.assertEqual(process.wait(timeout=DEADLINE_SECONDS), 0)
            shown = b""
            try:
                while chunk := os.read(main, 4096):
                    shown += chunk
            except OSError:  # what Linux reports when the other side is closed
                pass
            os.close(main)
            self.assertEqual(b"%)" in shown, expected, shown)

    def test_token_from_the_environment(self):
        self.start(token="hf_secret")
        denied = self.lattice("pull", "org/tiny")
        self.assertEqual(denied.returncode, 1)
        self.assertIn("HF_TOKEN", denied.stderr)
        allowed = self.lattice("pull", "org/tiny", HF_TOKEN="hf_secret")
        self.assertEqual(allowed.returncode, 0, allowed.stderr)
        for line in (self.folder / "log.jsonl").read_text().splitlines():
            entry = json.loads(line)
            if entry["role"] == "cdn":
                self.assertIsNone(entry["authorization"])
        self.assertNotIn("hf_secret", allowed.stdout + allowed.stderr)

    def test_a_pulled_model_embeds(self):
        source = HERE.parent / "golden/tiny/bert-cls"
        shutil.copytree(source, self.folder / "root/org/bert")
        self.start()
        result = self.lattice("pull", "org/bert")
        self.assertEqual(result.returncode, 0, result.stderr)
        by_name = self.lattice("embed", "-m", "org/bert", "a small text")
        self.assertEqual(by_name.returncode, 0, by_name.stderr)
        self.assertEqual(by_name.stdout, self.lattice("embed", "-m", source, "a small text").stdout)
        self.assertIn('"embedding":[', by_name.stdout)
        missing = self.lattice("embed", "-m", "org/other", "a small text")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("lattice pull org/other", missing.stderr)

    def test_wrong_usage(self):
        self.start()
        outside = self.folder / "precious"
        outside.mkdir()
        for arguments in (["pull"], ["pull", "../x"], ["pull", "a/b/c"], ["rm", "../precious"],
                          ["rm", ".."], ["rm", str(outside)], ["rm", "org/tiny", "/"], ["rm"],
                          ["pull", "org/tiny", "--endpoint", "ftp://x"], ["list", "extra"]):
            result = self.lattice(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(result.stdout, "", arguments)
            self.assertNotEqual(result.stderr, "", arguments)
        self.assertTrue(outside.exists())

    def test_help_has_an_example(self):
        for verb in ("pull", "list", "rm"):
            result = self.lattice(verb, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("Example:", result.stdout)

    def test_failures_exit_with_one(self):
        self.start(faults={"api": [{"status": 404}]})
        result = self.lattice("pull", "org/tiny")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("org/tiny@main", result.stderr)

    def test_two_processes_at_once(self):
        self.start(faults={"cdn:model.safetensors": [{"drop_after": 100_000}]})
        processes = [subprocess.Popen([BINARY, "pull", "org/tiny"], env=self.environment(),
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                     for _ in range(3)]
        outputs = {process.communicate(timeout=DEADLINE_SECONDS)[0] for process in processes}
        self.assertEqual([process.returncode for process in processes], [0, 0, 0])
        self.assertEqual(len(outputs), 1)
        self.assertEqual(self.ranges(), [None, "bytes=100000-"])


if __name__ == "__main__":
    unittest.main()
