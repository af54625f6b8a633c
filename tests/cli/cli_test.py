"""The lattice program, run as a user runs it. LATTICE_CLI names the binary."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy

CLI = os.environ["LATTICE_CLI"]
TINY = Path(os.environ["LATTICE_SOURCE_DIR"]) / "tests/golden/tiny"
MODEL = str(TINY / "bert-mean")
CROSS = TINY.parent / "cross"
RERANKER = str(CROSS / "bert-1-label")
CLASSIFIER = str(CROSS / "bert-3-labels")
VERBS = ["embed", "rerank", "classify", "generate", "chat", "perplexity", "tokenize", "info", "quantize",
         "pull", "list", "rm", "bench", "doctor"]


def run(*args, code=0, **kwargs):
    """Runs the program; fails the test unless it exits with `code`."""
    done = subprocess.run([CLI, *map(str, args)], capture_output=True, timeout=240, **kwargs)
    assert done.returncode == code, f"{args}: exit {done.returncode}: {done.stderr.decode()}"
    return done


def rows(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


class TempCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = Path(self.folder.name)

    def write(self, name, text):
        path = self.dir / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path


class EmbedOutput(TempCase):
    def test_json_lines_in_input_order(self):
        out = rows(run("embed", "-m", MODEL, "the cat sat", "", "the moon"))
        self.assertEqual([row["index"] for row in out], [0, 1, 2])
        self.assertEqual([row["tokens"] for row in out], [7, 2, 5])
        self.assertEqual([row["truncated"] for row in out], [False] * 3)
        self.assertTrue(all(len(row["embedding"]) == 36 for row in out))
        self.assertAlmostEqual(sum(v * v for v in out[0]["embedding"]), 1.0, places=5)

    def test_equal_bits_print_equally_and_round_trip(self):
        a = run("embed", "-m", MODEL, "the cat sat", "the moon").stdout.splitlines()[1]
        b = run("embed", "-m", MODEL, "a", "the moon", "--threads", 1).stdout.splitlines()[1]
        self.assertEqual(a, b)
        text = a.decode().split('"embedding":[')[1].rstrip("]}")
        for number in text.split(","):
            value = numpy.float32(number)
            self.assertEqual(numpy.float32(repr(float(value))), value)
            self.assertLessEqual(len(number), 16, "longer than the shortest form of a float32")

    def test_npy_loads_in_numpy_and_equals_json(self):
        texts = self.write("in.txt", "the cat sat\n\nthe moon\n")
        run("embed", "-m", MODEL, "--input", texts, "--output", self.dir / "out.npy")
        array = numpy.load(self.dir / "out.npy")
        self.assertEqual(array.shape, (3, 36))
        self.assertEqual(array.dtype, numpy.float32)
        expected = rows(run("embed", "-m", MODEL, "--input", texts))
        for got, row in zip(array, expected):
            self.assertTrue((got == numpy.float32(row["embedding"])).all())

    def test_output_appears_only_when_complete(self):
        texts = self.write("in.txt", b"fine\nbad \xff\n")
        run("embed", "-m", MODEL, "--input", texts, "--output", self.dir / "out.jsonl", code=1)
        self.assertFalse((self.dir / "out.jsonl").exists())

    def test_table(self):
        out = run("embed", "-m", MODEL, "--format", "table", "the cat sat").stdout.decode()
        self.assertIn("7 tokens", out)
        self.assertIn("36 values", out)

    def test_broken_pipe_ends_quietly(self):
        texts = self.write("in.txt", "the cat sat\n" * 5000)
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f"'{CLI}' embed -m '{MODEL}' --input '{texts}' | head -n 1"],
            capture_output=True, timeout=120)
        self.assertEqual(done.stderr, b"")
        self.assertEqual(json.loads(done.stdout)["index"], 0)
        ignored = subprocess.Popen([CLI, "embed", "-m", MODEL, "--input", texts],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   restore_signals=False)
        ignored.stdout.readline()
        ignored.stdout.close()
        self.assertEqual(ignored.stderr.read(), b"")
        ignored.stderr.close()
        self.assertEqual(ignored.wait(timeout=60), 0)


class EmbedInput(TempCase):
    def test_jsonl_carries_any_string(self):
        texts = ["line\nbreak", "nul\0inside", "  spaces  ", "\u2028", ""]
        path = self.write("in.jsonl", "".join(json.dumps({"body": t}) + "\n" for t in texts))
        out = rows(run("embed", "-m", MODEL, "--input", path, "--field", "body"))
        self.assertEqual(len(out), len(texts))

    def test_standard_input_is_text_unless_told(self):
        out = rows(run("embed", "-m", MODEL, "--input", "-", input=b"the cat sat\r\nthe moon"))
        self.assertEqual([row["tokens"] for row in out], [7, 5])
        out = rows(run("embed", "-m", MODEL, "--input", "-", "--input-format", "jsonl",
                       input=b'{"text":"the cat sat"}\n'))
        self.assertEqual(out[0]["tokens"], 7)

    def test_bad_rows_are_named(self):
        for line, part in [(b'{"text":3}', b"expected a string"), (b'{"x":"y"}', b'"text"'),
                           (b"{", b"JSON"), (b"", b"JSON")]:
            path = self.write("in.jsonl", b'{"text":"a"}\n' + line + b"\n")
            done = run("embed", "-m", MODEL, "--input", path, code=1)
            self.assertIn(b"row 1", done.stderr)
            self.assertIn(b"line 2", done.stderr)
            self.assertIn(part, done.stderr)

    def test_skip_writes_the_error_and_exits_1(self):
        path = self.write("in.txt", b"the cat sat\nbad \xff\nthe moon\n")
        out = rows(run("embed", "-m", MODEL, "--input", path, "--on-error", "skip", code=1))
        self.assertEqual([row["index"] for row in out], [0, 1, 2])
        self.assertEqual(out[1]["error"]["code"], "invalid_argument")
        self.assertIn("embedding", out[2])

    def test_missing_file(self):
        self.assertIn(b"nothing.txt", run("embed", "-m", MODEL, "--input", self.dir / "nothing.txt",
                                          code=1).stderr)

    def test_an_over_long_text_is_the_same_error_alone_and_in_a_list(self):
        long = "cat " * 100
        alone = run("embed", "-m", MODEL, long, code=1)
        listed = run("embed", "-m", MODEL, "a", long, "b", code=1)
        self.assertIn(b"row 0: the text has", alone.stderr)
        self.assertIn(b"row 1: the text has", listed.stderr)
        for policy in ["end", "start"]:
            out = rows(run("embed", "-m", MODEL, "--truncate", policy, "a", long))
            self.assertEqual([row["truncated"] for row in out], [False, True])
            self.assertEqual(out[1]["tokens"], 48)


class EmbedOptions(TempCase):
    def test_prompts(self):
        model = TINY / "bert-prompt-included"
        named = run("embed", "-m", model, "--prompt-name", "passage", "x").stdout
        default = run("embed", "-m", model, "x").stdout
        text = run("embed", "-m", model, "--prompt", "the: ", "x").stdout
        none = run("embed", "-m", model, "--prompt", "", "x").stdout
        self.assertEqual(len({named, default, text}), 3)
        self.assertEqual(named, none, "the passage prompt is empty")
        unknown = run("embed", "-m", model, "--prompt-name", "nope", "x", code=2)
        self.assertIn(b"passage", unknown.stderr)

    def test_dimensions(self):
        out = rows(run("embed", "-m", MODEL, "--dimensions", 8, "the cat sat"))[0]["embedding"]
        self.assertEqual(len(out), 8)
        self.assertAlmostEqual(sum(v * v for v in out), 1.0, places=5)
        for bad in [0, 37]:
            self.assertIn(b"1..36", run("embed", "-m", MODEL, "--dimensions", bad, "a", code=2).stderr)

    def test_dtype_and_device(self):
        run("embed", "-m", MODEL, "--dtype", "bf16", "a")
        run("embed", "-m", MODEL, "--device", "reference", "a")
        self.assertIn(b"cuda", run("embed", "-m", MODEL, "--device", "cuda", "a", code=1).stderr)
        self.assertIn(b"f9", run("embed", "-m", MODEL, "--dtype", "f9", "a", code=1).stderr)

    def test_cpu_target_that_does_not_exist(self):
        done = run("embed", "-m", MODEL, "a", code=2, env={**os.environ, "LATTICE_CPU_TARGET": "z80"})
        self.assertIn(b"z80", done.stderr)

    def test_batch_size_and_threads_change_no_bit(self):
        path = self.write("in.txt", "".join("cat " * (i % 23) + "\n" for i in range(200)))
        outputs = {run("embed", "-m", MODEL, "--input", path, "--batch-tokens", b, "--threads", t).stdout
                   for b, t in [(1, 1), (64, 2), (100000, 3)]}
        self.assertEqual(len(outputs), 1)


class EmbedResume(TempCase):
    LINES = 60000

    def embed(self, output, *more):
        return [CLI, "embed", "-m", MODEL, "--input", str(self.dir / "in.txt"), "--output",
                str(self.dir / output), *more]

    def interrupt(self, output, after_bytes):
        part = self.dir / (output + ".part")
        process = subprocess.Popen(self.embed(output, "--resume"))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if part.exists() and part.stat().st_size > after_bytes:
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL, "finished before it could be killed")
        return part

    def check(self, output):
        self.write("in.txt", "".join(f"the cat sat {i}\n" for i in range(self.LINES)))
        subprocess.run(self.embed("whole_" + output), check=True)
        for after in [1, 2_000_000, 4_000_000]:
            part = self.interrupt(output, after)
        # A row that was half-written when the power went.
        with part.open("ab") as file:
            file.write(b'{"index":')
        subprocess.run(self.embed(output, "--resume"), check=True)
        self.assertEqual((self.dir / output).read_bytes(), (self.dir / ("whole_" + output)).read_bytes())
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()),
                         sorted(["in.txt", output, "whole_" + output]))

    def test_json_after_kill_9(self):
        self.check("out.jsonl")

    def test_npy_after_kill_9(self):
        self.check("out.npy")
        self.assertEqual(numpy.load(self.dir / "out.npy").shape, (self.LINES, 36))

    def test_another_run_is_refused(self):
        self.write("in.txt", "the cat sat\n" * self.LINES)
        self.interrupt("out.jsonl", 1)
        other = subprocess.run(self.embed("out.jsonl", "--resume", "--dimensions", "8"),
                               capture_output=True)
        self.assertEqual(other.returncode, 2)
        self.assertIn(b"another model, options or input", other.stderr)

    def test_complete_output_is_left_alone(self):
        self.write("in.txt", "the cat sat\n")
        subprocess.run(self.embed("out.jsonl"), check=True)
        before = (self.dir / "out.jsonl").read_bytes()
        again = subprocess.run(self.embed("out.jsonl", "--resume"), capture_output=True)
        self.assertEqual(again.returncode, 2)
        self.assertIn(b"is complete", again.stderr)
        self.assertEqual((self.dir / "out.jsonl").read_bytes(), before)


class LargeInput(TempCase):
    def test_100000_lines_stream_in_bounded_memory(self):
        path = self.write("in.txt", "".join(f"the cat sat on mat {i}\n" for i in range(100000)))
        run("embed", "-m", MODEL, "--input", path, "--output", self.dir / "out.npy")
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
        self.assertEqual(numpy.load(self.dir / "out.npy").shape, (100000, 36))
        self.assertLess(peak, 400 << 20)


class Rerank(TempCase):
    DOCUMENTS = ["It is late!", "The tea will be ready soon.", "It is late!", ""]

    def rank(self, *args, **kwargs):
        return rows(run("rerank", "-m", RERANKER, "--query", "What time is it?", *args, **kwargs))

    def test_best_first_with_the_document(self):
        out = self.rank(*self.DOCUMENTS)
        self.assertEqual(sorted(row["index"] for row in out), [0, 1, 2, 3])
        scores = [row["score"] for row in out]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertTrue(all(0 < score < 1 for score in scores))
        for row in out:
            self.assertEqual(row["document"], self.DOCUMENTS[row["index"]])
            self.assertFalse(row["truncated"])
        equal = [row["index"] for row in out if row["index"] in (0, 2)]
        self.assertEqual(equal, [0, 2])

    def test_top_n_and_raw(self):
        out = self.rank(*self.DOCUMENTS, "--top-n", 2)
        self.assertEqual(out, self.rank(*self.DOCUMENTS)[:2])
        for row in self.rank(*self.DOCUMENTS, "--raw"):
            self.assertEqual(row["score"], row["logit"])

    def test_a_thousand_documents_from_a_file_in_any_batches(self):
        docs = self.write("docs.jsonl", "".join(
            json.dumps({"id": i, "body": f"the tea {'is late ' * (i % 9)}{i}"}) + "\n"
            for i in range(1000)))
        args = ["--input", docs, "--field", "body"]
        out = self.rank(*args)
        self.assertEqual(len(out), 1000)
        self.assertEqual(out, self.rank(*args, "--batch-tokens", 64, "--threads", 1))

    def test_truncation_is_reported_and_windows_avoid_it(self):
        long = "the tea will be ready soon. " * 40
        self.assertTrue(self.rank(long)[0]["truncated"])
        self.assertFalse(self.rank(long, "--windows")[0]["truncated"])
        done = run("rerank", "-m", RERANKER, "--query", "q", "--truncate", "error", "a", long,
                   code=1)
        self.assertIn("row 1", done.stderr.decode())
        self.assertEqual(done.stdout, b"")

    def test_skip_ranks_bad_rows_last_and_exits_1(self):
        docs = self.write("docs.txt", b"fine\nbad \xff\nalso fine\n")
        out = self.rank("--input", docs, "--on-error", "skip", code=1)
        self.assertEqual(out[2]["index"], 1)
        self.assertIn("UTF-8", out[2]["error"]["message"])
        run("rerank", "-m", RERANKER, "--query", "q", "--input", docs, code=1)

    def test_output_file_and_table(self):
        self.rank("a", "b", "--output", self.dir / "out.jsonl")
        self.assertEqual(len((self.dir / "out.jsonl").read_text().splitlines()), 2)
        table = run("rerank", "-m", RERANKER, "--query", "q", "a\nb", "--format", "table").stdout
        self.assertNotIn(b"b", table)

    def test_a_model_without_a_head(self):
        done = run("rerank", "-m", MODEL, "--query", "q", "a", code=1)
        self.assertIn("no classification head", done.stderr.decode())


class Classify(TempCase):
    def test_labels_in_the_models_order(self):
        out = rows(run("classify", "-m", CLASSIFIER, "one text", "another"))
        info = json.loads(run("info", "-m", CLASSIFIER, "--json").stdout)
        self.assertEqual([row["index"] for row in out], [0, 1])
        for row in out:
            self.assertEqual(row["labels"], info["labels"])
            self.assertAlmostEqual(sum(row["scores"]), 1.0, places=5)
            self.assertEqual(len(row["logits"]), 3)

    def test_pairs(self):
        by_argument = rows(run("classify", "-m", CLASSIFIER, "--pair", "a", "b"))
        pairs = self.write("pairs.jsonl", '{"text":"a","other":"b"}\n{"text":"a","other":""}\n')
        out = rows(run("classify", "-m", CLASSIFIER, "--input", pairs, "--pair-field", "other"))
        self.assertEqual(out[0], by_argument[0])
        self.assertEqual(len(out), 2)

    def test_raw(self):
        for row in rows(run("classify", "-m", CLASSIFIER, "--raw", "a")):
            self.assertEqual(row["scores"], row["logits"])

    def test_over_long_text_is_an_error_unless_allowed(self):
        long = "the tea will be ready soon. " * 40
        done = run("classify", "-m", CLASSIFIER, "fine", long, code=1)
        self.assertIn("row 1", done.stderr.decode())
        out = rows(run("classify", "-m", CLASSIFIER, long, "--truncate", "end"))
        self.assertTrue(out[0]["truncated"])

    def test_bad_rows_can_be_skipped(self):
        texts = self.write("in.jsonl", '{"text":"a"}\n{"txt":"b"}\n{"text":"c"}\n')
        out = rows(run("classify", "-m", CLASSIFIER, "--input", texts, "--on-error", "skip",
                       code=1))
        self.assertEqual([("error" in row) for row in out], [False, True, False])

    def test_contradicting_arguments_are_wrong_usage(self):
        run("classify", "-m", CLASSIFIER, "--pair", "a", "b", "--input", "x", code=2)
        run("classify", "-m", CLASSIFIER, "--pair-field", "x", "a", code=2)


class Usage(TempCase):
    def test_every_verb_has_help_with_an_example(self):
        for verb in VERBS:
            self.assertIn(b"Example:", run(verb, "--help").stdout, verb)
        top = run("--help").stdout.decode()
        for verb in VERBS:
            self.assertIn(verb, top)

    def test_version(self):
        self.assertRegex(run("--version").stdout.decode(), r"^lattice \d+\.\d+\.\d+\n$")

    def test_wrong_usage_exits_2(self):
        for args in [[], ["fly"], ["embed"], ["embed", "-m", MODEL], ["embed", "-m", MODEL, "--no", "a"],
                     ["embed", "-m", MODEL, "--input", "x", "a"],
                     ["embed", "-m", MODEL, "a", "--pooling", "median"],
                     ["embed", "-m", MODEL, "a", "--format", "npy"],
                     ["embed", "-m", MODEL, "a", "--resume"],
                     ["bench", "-m", MODEL, "--shape", "2by3"]]:
            self.assertNotEqual(run(*args, code=2).stderr, b"", args)

    def test_a_model_that_is_not_there_exits_1(self):
        done = run("embed", "-m", "nobody/nothing", "a", code=1,
                   env={**os.environ, "LATTICE_HOME": str(self.dir)})
        self.assertIn(b"nobody/nothing", done.stderr)
        self.assertIn(b"pull", done.stderr)


class Tokenize(TempCase):
    def test_ids_tokens_and_types(self):
        row = rows(run("tokenize", "-m", MODEL, "the moon"))[0]
        self.assertEqual(row["ids"], [2, 116, 22, 141, 3])
        self.assertEqual(row["tokens"][0], "[CLS]")
        self.assertEqual(row["type_ids"], [0] * 5)

    def test_pair_special_tokens_and_decode(self):
        pair = rows(run("tokenize", "-m", MODEL, "--pair", "the moon", ""))[0]
        self.assertEqual(pair["ids"], [2, 116, 22, 141, 3, 3])
        self.assertEqual(pair["type_ids"], [0, 0, 0, 0, 0, 1])
        plain = rows(run("tokenize", "-m", MODEL, "--no-special-tokens", "the moon"))[0]
        self.assertEqual(plain["ids"], [116, 22, 141])
        text = rows(run("tokenize", "-m", MODEL, "--no-special-tokens", "--decode", "2,116,22,141,3"))[0]
        self.assertEqual(text["text"], "the moon")


class Reports(TempCase):
    def test_info_says_where_each_setting_is_from(self):
        info = rows(run("info", "-m", MODEL, "--json"))[0]
        self.assertEqual(info["family"], "bert")
        self.assertEqual(info["pooling"]["value"], "mean")
        self.assertEqual(info["pooling"]["source"], "1_Pooling/config.json")
        self.assertEqual(info["max_length"]["value"], 48)
        self.assertIn(".json", info["max_length"]["source"])
        self.assertEqual(info["device"], "cpu")
        self.assertTrue(info["device_reason"])
        self.assertIn("max length", run("info", "-m", MODEL).stdout.decode())

    def test_doctor(self):
        report = rows(run("doctor", "--json"))[0]
        self.assertEqual(report["chosen"], "cpu")
        self.assertGreaterEqual(report["usable_threads"], 1)
        self.assertIn("cpu", run("doctor").stdout.decode())

    def test_bench(self):
        report = rows(run("bench", "-m", MODEL, "--shape", "2x8", "--seconds", 0.05, "--warmup", 0,
                          "--json"))[0]
        self.assertEqual((report["cases"][0]["batch"], report["cases"][0]["tokens"]), (2, 8))
        self.assertGreater(report["cases"][0]["tokens_per_s"], 0)
        self.assertGreater(report["peak_rss_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
