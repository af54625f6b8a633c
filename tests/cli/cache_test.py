"""lattice embed --cache, run as a user runs it. LATTICE_CLI names the binary."""

import signal
import subprocess
import time
import unittest

from cli_test import CLI, MODEL, TINY, TempCase, rows, run


class Cache(TempCase):
    def setUp(self):
        super().setUp()
        self.cache = self.dir / "vectors.cache"

    def embed(self, *args, code=0):
        return run("embed", "-m", MODEL, "--cache", self.cache, *args, code=code)

    def assert_counts(self, done, hits, misses, vectors):
        self.assertIn(f"cache: {hits} hits, {misses} misses, {vectors} vectors in {self.cache}",
                      done.stderr.decode())

    def test_a_second_run_computes_nothing_and_prints_the_same(self):
        texts = ["the cat sat", "", "the moon", "the cat sat"]
        plain = run("embed", "-m", MODEL, *texts).stdout
        first = self.embed(*texts)
        self.assert_counts(first, 1, 3, 3)
        saved = self.cache.read_bytes()
        second = self.embed(*texts)
        self.assert_counts(second, 4, 0, 3)
        self.assertEqual(first.stdout, plain)
        self.assertEqual(second.stdout, plain)
        self.assertEqual(self.cache.read_bytes(), saved)
        self.assertEqual([p.name for p in self.dir.iterdir()], [self.cache.name])

    def test_other_options_are_other_vectors(self):
        base = ["the cat sat", "the moon"]
        variants = [[], ["--dimensions", 8], ["--pooling", "cls"], ["--no-normalize"],
                    ["--prompt", "the "], ["--dtype", "bf16"], ["--device", "reference"]]
        for _ in range(2):
            for options in variants:
                self.assertEqual(self.embed(*options, *base).stdout,
                                 run("embed", "-m", MODEL, *options, *base).stdout, options)
        self.assert_counts(self.embed(*base), 2, 0, 14)

    def test_quiet_reports_nothing(self):
        self.assertEqual(self.embed("--quiet", "a").stderr, b"")
        self.assertTrue(self.cache.exists())

    def test_damaged_files_are_refused_and_left_alone(self):
        self.embed("the cat sat")
        good = self.cache.read_bytes()
        cases = {"corrupt": good[:60] + bytes([good[60] ^ 4]) + good[61:], "cut": good[:-9],
                 "foreign": b"the cat sat\n", "empty": b""}
        for name, content in cases.items():
            self.cache.write_bytes(content)
            done = self.embed("the cat sat", code=1)
            self.assertEqual(done.stdout, b"", name)
            self.assertIn(str(self.cache).encode(), done.stderr, name)
            self.assertIn(b"delete this file, or name another one", done.stderr, name)
            self.assertEqual(self.cache.read_bytes(), content, name)

    def test_another_models_file_is_refused_before_any_output(self):
        self.embed("the cat sat")
        good = self.cache.read_bytes()
        out = self.dir / "out.jsonl"
        done = run("embed", "-m", TINY / "bert-cls", "--cache", self.cache, "--output", out,
                   "the cat sat", code=2)
        self.assertIn(b"another model", done.stderr)
        self.assertEqual(self.cache.read_bytes(), good)
        self.assertEqual([p.name for p in self.dir.iterdir()], [self.cache.name])

    def test_a_place_that_cannot_be_written_is_known_before_computing(self):
        self.cache = self.dir / "absent" / "vectors.cache"
        done = self.embed("the cat sat", code=1)
        self.assertEqual(done.stdout, b"")
        self.assertIn(b"absent", done.stderr)

    def test_an_error_in_a_row_keeps_the_rows_before_it(self):
        texts = self.write("in.txt", b"the cat sat\n" * 3 + b"the moon\nbad \xff\n")
        self.embed("--input", texts, code=1)
        self.assert_counts(self.embed("the cat sat", "the moon"), 2, 0, 2)

    def test_skipped_rows_are_reported_as_without_a_cache(self):
        texts = self.write("in.txt", b"the cat sat\nbad \xff\nthe moon\n")
        args = ["--input", texts, "--on-error", "skip"]
        plain = run("embed", "-m", MODEL, *args, code=1).stdout
        for hits, misses in [(0, 2), (2, 0)]:
            done = self.embed(*args, code=1)
            self.assertEqual(done.stdout, plain)
            self.assert_counts(done, hits, misses, 2)

    def test_a_full_cache_is_emptied_and_says_so(self):
        done = self.embed("--cache-entries", 2, "a", "b", "c")
        self.assert_counts(done, 0, 3, 1)
        self.assertIn(b"emptied 1 times, full at --cache-entries 2", done.stderr)
        self.embed("--cache-entries", 10, *"abcdef")
        refused = self.embed("--cache-entries", 2, "a", code=2)
        self.assertIn(b"it holds 6 vectors, the cache's capacity is 2", refused.stderr)

    def test_wrong_usage(self):
        self.assertIn(b"--cache", run("embed", "-m", MODEL, "--cache-entries", 5, "a", code=2).stderr)
        self.assertIn(b"same file", self.embed("--output", self.cache, "a", code=2).stderr)
        self.embed("--cache-entries", 0, "a", code=2)

    def test_two_runs_at_once_leave_one_whole_file(self):
        for _ in range(5):
            runs = [subprocess.Popen([CLI, "embed", "-m", MODEL, "--cache", self.cache, word, "--quiet"],
                                     stdout=subprocess.DEVNULL) for word in ["cat", "moon", "mat"]]
            self.assertEqual([process.wait(timeout=60) for process in runs], [0] * 3)
        done = self.embed("--quiet", "cat", "moon", "mat")
        self.assertEqual(done.stdout, run("embed", "-m", MODEL, "cat", "moon", "mat").stdout)
        self.assertEqual([p.name for p in self.dir.iterdir()], [self.cache.name])

    def test_resuming_uses_the_cache(self):
        lines = 40000
        # One word per digit: the tiny vocabulary has no numbers, and equal ids would be hits.
        words = ["the", "cat", "sat", "moon", "dog", "quick", "fox", "over", "lazy", "brown"]
        texts = self.write("in.txt", "".join(" ".join(words[int(d)] for d in str(i)) + "\n"
                                             for i in range(lines)))
        args = ["--input", texts, "--output", self.dir / "out.jsonl", "--resume",
                "--cache-entries", lines]
        process = subprocess.Popen([CLI, "embed", "-m", MODEL, "--cache", self.cache,
                                    *map(str, args)], stderr=subprocess.DEVNULL)
        part = self.dir / "out.jsonl.part"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if part.exists() and part.stat().st_size > 1:
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL, "finished before it could be killed")
        rows_done = part.read_bytes().count(b"\n")
        self.assertGreater(rows_done, 0)
        self.assert_counts(self.embed(*args), 0, lines - rows_done, lines - rows_done)
        again = self.embed("--input", texts, "--cache-entries", lines)
        self.assert_counts(again, lines - rows_done, rows_done, lines)
        self.assertEqual(again.stdout, (self.dir / "out.jsonl").read_bytes())
        self.assertEqual(len(rows(again)), lines)


if __name__ == "__main__":
    unittest.main()
