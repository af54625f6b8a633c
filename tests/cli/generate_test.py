"""lattice generate, chat and perplexity, run as a user runs them. LATTICE_CLI names the binary."""

import fcntl
import json
import math
import os
import pty
import select
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from cli_test import CLI, TINY, TempCase, rows, run
from cli_test import MODEL as ENCODER

MODEL = str(TINY.parent / "generation/tied")
FREE = ["--ignore-eos", "--temperature", "1", "--seed", "3"]
TIMINGS = r"^\d+ prompt tokens \(\d+ known\) in \d+ ms; \d+ tokens at [\d.]+ tokens/s"


def generate(*args, **kwargs):
    return run("generate", "-m", MODEL, *args, **kwargs)


def one(done):
    """The only JSON object on standard output."""
    objects = rows(done)
    assert len(objects) == 1, objects
    return objects[0]


class Generate(TempCase):
    def test_text_is_that_of_the_json(self):
        done = generate("--prompt", "It is", "--max-tokens", 20, *FREE)
        answer = one(generate("--prompt", "It is", "--max-tokens", 20, *FREE, "--json"))
        self.assertEqual(done.stdout.decode(), answer["text"] + "\n")
        self.assertRegex(done.stderr.decode(), TIMINGS)
        self.assertEqual(answer["prompt_ids"], [40, 83, 294, 82])
        self.assertEqual(len(answer["ids"]), 20)
        self.assertEqual(answer["finish_reason"], "length")
        self.assertEqual(answer["timings"]["output_tokens"], 20)
        self.assertEqual(answer["timings"]["prompt_tokens"], 4)
        self.assertNotIn("logprobs", answer)

    def test_quiet_says_nothing_else(self):
        self.assertEqual(generate("--prompt", "a", "--max-tokens", 2, "--quiet").stderr, b"")

    def test_greedy_unless_asked(self):
        texts = {generate("--prompt", "It is", "--max-tokens", 9, "--seed", seed).stdout
                 for seed in range(3)}
        self.assertEqual(len(texts), 1)
        texts = {generate("--prompt", "It is", "--max-tokens", 9, "--temperature", 1, "--seed",
                          seed).stdout for seed in range(5)}
        self.assertGreater(len(texts), 1)

    def test_prompt_file_and_standard_input(self):
        direct = generate("--prompt", "two\nlines\n", "--max-tokens", 5).stdout
        path = self.write("prompt.txt", "two\nlines\n")
        self.assertEqual(generate("--prompt-file", path, "--max-tokens", 5).stdout, direct)
        self.assertEqual(generate("--prompt-file", "-", "--max-tokens", 5,
                                  input=b"two\nlines\n").stdout, direct)

    def test_logprobs(self):
        answer = one(generate("--prompt", "It is", "--max-tokens", 3, "--ignore-eos", "--json",
                              "--logprobs", 2))
        self.assertEqual([token["id"] for token in answer["logprobs"]], answer["ids"])
        for token in answer["logprobs"]:
            self.assertEqual(len(token["top"]), 2)
            self.assertEqual(token["top"][0], {"id": token["id"], "logprob": token["logprob"]})
            self.assertLess(token["logprob"], 0)

    def test_speculation_prints_the_same(self):
        args = ["--prompt", "a b a b a b a b", "--max-tokens", 60, "--ignore-eos"]
        plain = generate(*args)
        fast = generate(*args, "--speculation", "ngram", "--max-drafts", 4)
        self.assertEqual(plain.stdout, fast.stdout)
        self.assertRegex(fast.stderr.decode(), r"; \d+ of \d+ drafts accepted")

    def test_the_models_own_head_prints_the_same(self):
        def with_head(*more, **kwargs):
            return run("generate", "-m", str(TINY.parent / "generation/mtp"), "--prompt", "It is",
                       "--max-tokens", 60, "--ignore-eos", *more, **kwargs)
        fast = with_head("--speculation", "mtp")
        self.assertEqual(fast.stdout, with_head().stdout)
        self.assertRegex(fast.stderr.decode(), r"; \d+ of \d+ drafts accepted")
        refused = generate("--prompt", "a", "--speculation", "mtp", code=1)
        self.assertIn("mtp", refused.stderr.decode())

    def test_stop_bias_and_end_tokens(self):
        said = ["--prompt", "?", "--max-tokens", 3, "--repetition-penalty", "1e6", "--json",
                "--logit-bias", "33=3000", "--logit-bias", "34=2000", "--logit-bias", "302=1000"]
        self.assertEqual(one(generate(*said))["text"], "BC")
        self.assertEqual(one(generate(*said))["finish_reason"], "stop")
        self.assertEqual(one(generate(*said, "--ignore-eos"))["finish_reason"], "length")
        self.assertEqual(one(generate(*said, "--stop", "x", "--stop", "C"))["text"], "B")

    def test_every_option_is_taken(self):
        generate("--prompt", "a", "--max-tokens", 3, "--max-context", 10, "--temperature", 0.5,
                 "--top-k", 5, "--top-p", 0.9, "--min-p", 0.01, "--repetition-penalty", 1.1,
                 "--presence-penalty", 0.1, "--frequency-penalty", 0.1, "--seed", 1,
                 "--threads", 1, "--dtype", "bf16")

    def test_wrong_values_exit_2_and_are_named(self):
        for name, value, part in [("--temperature", -1, "temperature"), ("--top-p", 2, "top_p"),
                                  ("--top-k", -1, "top_k"), ("--min-p", 2, "min_p"),
                                  ("--repetition-penalty", 0, "repetition_penalty"),
                                  ("--presence-penalty", 9, "presence_penalty"),
                                  ("--max-tokens", 0, "max_tokens"),
                                  ("--max-context", 1, "max_context"),
                                  ("--logit-bias", "7", "--logit-bias"),
                                  ("--logit-bias", "999=1", "logit_bias"), ("--stop", "", "stop"),
                                  ("--max-drafts", 0, "--max-drafts"),
                                  ("--speculation", "magic", "--speculation")]:
            for rest in [["--prompt", "a"], ["some", "rows"]]:
                done = generate(*rest, name, value, code=2)
                self.assertIn(part, done.stderr.decode())
                self.assertEqual(done.stdout, b"")

    def test_contradicting_arguments_exit_2(self):
        for args in [[], ["--prompt", "a", "b"], ["--prompt", "a", "--prompt-file", "x"],
                     ["--prompt", "a", "--input", "x"], ["--prompt", "a", "--format", "table"],
                     ["--prompt", "a", "--output", self.dir / "x"]]:
            self.assertNotEqual(generate(*args, code=2).stderr, b"", args)

    def test_failures_exit_with_their_reason(self):
        self.assertIn(b"nothing.txt", generate("--prompt-file", self.dir / "nothing.txt",
                                               code=1).stderr)
        self.assertIn(b"prompt", generate("--prompt", "", code=2).stderr)
        self.assertIn(b"max_context", generate("--prompt", "a b c d", "--max-context", 3,
                                               code=1).stderr)
        self.assertNotEqual(run("generate", "-m", ENCODER, "--prompt", "a", code=1).stderr, b"")

    def test_text_comes_as_it_is_made(self):
        process = subprocess.Popen([CLI, "generate", "-m", MODEL, "--prompt", "It", "--max-tokens",
                                    "32000", *FREE], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.assertTrue(process.stdout.read(1))
        self.assertIsNone(process.poll(), "it had ended before its first byte came")
        process.kill()
        process.wait()

    def test_broken_pipe_ends_quietly(self):
        for verb in ["generate --prompt It", "chat --message It"]:
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c",
                 f"'{CLI}' {verb} -m '{MODEL}' --max-tokens 20000 {' '.join(FREE)} | head -c 1"],
                capture_output=True, timeout=120)
            self.assertEqual(done.stderr, b"")
            ignored = subprocess.Popen([CLI, *verb.split(), "-m", MODEL, "--max-tokens", "20000",
                                        *FREE], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       restore_signals=False)
            ignored.stdout.read(1)
            ignored.stdout.close()
            self.assertEqual(ignored.stderr.read(), b"")
            ignored.stderr.close()
            self.assertEqual(ignored.wait(timeout=60), 0)


class GenerateRows(TempCase):
    def test_rows_equal_single_prompts_in_order(self):
        prompts = ["It is", "late", "a b c d e f g", "x", "the tea is late", "I"]
        path = self.write("in.jsonl", "".join(json.dumps({"p": p}) + "\n" for p in prompts))
        out = rows(generate("--input", path, "--field", "p", "--max-tokens", 9, *FREE,
                            "--parallel", 4))
        self.assertEqual([row["index"] for row in out], list(range(6)))
        for row, prompt in zip(out, prompts):
            alone = one(generate("--prompt", prompt, "--max-tokens", 9, *FREE, "--json"))
            self.assertEqual((row["text"], row["ids"], row["finish_reason"]),
                             (alone["text"], alone["ids"], alone["finish_reason"]))
        arguments = rows(generate(*prompts, "--max-tokens", 9, *FREE, "--parallel", 1))
        self.assertEqual([row["ids"] for row in arguments], [row["ids"] for row in out])

    def test_a_bad_row_ends_it_with_its_number(self):
        path = self.write("in.txt", b"fine\nalso\nbad \xff\nnever\n")
        done = generate("--input", path, "--max-tokens", 2, code=1)
        self.assertIn(b"row 2", done.stderr)
        self.assertEqual([row["index"] for row in rows(done)], [0, 1])
        target = self.dir / "out.jsonl"
        generate("--input", path, "--max-tokens", 2, "--output", target, code=1)
        self.assertFalse(target.exists())

    def test_skip_writes_the_error_and_exits_1(self):
        path = self.write("in.txt", b"fine\nbad \xff\n\nlast\n")
        done = generate("--input", path, "--max-tokens", 2, "--ignore-eos", "--on-error", "skip",
                        code=1)
        out = rows(done)
        self.assertEqual([row["index"] for row in out], [0, 1, 2, 3])
        self.assertEqual([("error" in row) for row in out], [False, True, True, False])
        self.assertEqual(out[1]["error"]["code"], "invalid_argument")
        self.assertIn("prompt", out[2]["error"]["message"])
        self.assertEqual(len(out[3]["ids"]), 2)

    def test_a_row_that_is_too_long(self):
        out = rows(generate("a", "b " * 40, "--max-context", 20, "--max-tokens", 2, "--on-error",
                            "skip", code=1))
        self.assertEqual(out[1]["error"]["code"], "too_long")
        self.assertIn("ids", out[0])

    def test_output_file_and_table(self):
        generate("a", "b", "--max-tokens", 2, "--output", self.dir / "out.jsonl")
        self.assertEqual(len((self.dir / "out.jsonl").read_text().splitlines()), 2)
        table = generate("a", "", "--max-tokens", 2, "--ignore-eos", "--format", "table",
                         "--on-error", "skip", code=1).stdout.decode().splitlines()
        self.assertRegex(table[0], r"^ +0 +length  ")
        self.assertRegex(table[1], r"^ +1  error: ")

    def test_rows_come_before_the_input_ends(self):
        process = subprocess.Popen([CLI, "generate", "-m", MODEL, "--input", "-", "--parallel", "2",
                                    "--max-tokens", "2"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        process.stdin.write(b"one\ntwo\n")
        process.stdin.flush()
        self.assertEqual(json.loads(process.stdout.readline())["index"], 0)
        self.assertEqual(json.loads(process.stdout.readline())["index"], 1)
        rest, _ = process.communicate(b"three\n", timeout=60)
        self.assertEqual(json.loads(rest)["index"], 2)
        self.assertEqual(process.returncode, 0)


def chat(*args, **kwargs):
    return run("chat", "-m", MODEL, *args, **kwargs)


class Chat(TempCase):
    def test_message(self):
        text = chat("--message", "hi", "--max-tokens", 9, *FREE, "--no-think")
        answer = one(chat("--message", "hi", "--max-tokens", 9, *FREE, "--no-think", "--json"))
        self.assertEqual(text.stdout.decode(), answer["content"] + "\n")
        self.assertEqual(answer["reasoning"], "")
        self.assertRegex(text.stderr.decode(), TIMINGS)
        self.assertEqual(answer["content"], answer["text"])
        self.assertEqual(chat("--message", "hi", "--max-tokens", 2, "--quiet").stderr, b"")

    def test_thoughts_are_set_apart(self):
        # Says "BC", </think>, "DE".
        said = ["--message", "?", "--repetition-penalty", "1e6", "--temperature", 0]
        for i, token in enumerate([33, 34, 304, 35, 36]):
            said += ["--logit-bias", f"{token}={9000 - 1000 * i}"]
        five = ["--max-tokens", 5]
        self.assertEqual(chat(*said, *five).stdout.decode(), "[thinking]\nBC\n[answer]\nDE\n")
        answer = one(chat(*said, *five, "--think", "--json"))
        self.assertEqual((answer["reasoning"], answer["content"]), ("BC", "DE"))
        cut = one(chat(*said, "--max-tokens", 2, "--json"))
        self.assertEqual((cut["reasoning"], cut["content"], cut["finish_reason"]),
                         ("BC", "", "length"))
        off = one(chat(*said, "--no-think", "--max-tokens", 2, "--json"))
        self.assertEqual((off["reasoning"], off["content"]), ("", "BC"))

    def test_sampling_defaults_come_from_the_model(self):
        answers = {chat("--message", "hi", "--max-tokens", 12, "--seed", seed).stdout
                   for seed in range(6)}
        self.assertGreater(len(answers), 1, "generation_config.json says do_sample")

    def test_system(self):
        ids = [one(chat("--message", "hi", "--max-tokens", 1, "--json", *args))["prompt_ids"]
               for args in [[], ["--system", "Be brief."]]]
        self.assertEqual(ids[1][-len(ids[0]):], ids[0])
        self.assertGreater(len(ids[1]), len(ids[0]))

    def test_wrong_usage(self):
        self.assertIn(b"--message", chat("--json", code=2).stderr)
        chat("--think", "--no-think", "--message", "a", code=2)
        self.assertIn(b"max_tokens", chat("--message", "a", "--max-tokens", 0, code=2).stderr)
        self.assertNotEqual(run("chat", "-m", ENCODER, "--message", "a", code=1).stderr, b"")

    def talk(self, *lines, args=()):
        done = chat("--max-tokens", 6, *FREE, *args, input=("\n".join(lines) + "\n").encode())
        return done.stdout.decode(), done.stderr.decode()

    def test_a_conversation_through_a_pipe(self):
        out, err = self.talk("hello", "", "again", args=["--no-think"])
        self.assertEqual(err.count("prompt tokens"), 2)
        self.assertRegex(err.splitlines()[1], r"\([1-9]\d* known\)")
        one_out, _ = self.talk("hello", args=["--no-think"])
        self.assertTrue(out.startswith(one_out))
        self.assertGreater(len(out), len(one_out))

    def test_commands(self):
        _, err = self.talk("/history", "/system x y", "hello", "/history", "/undo", "/history",
                           "/clear", "/history", "/exit", "never", args=["--system", "first"])
        self.assertEqual(err.count("prompt tokens"), 1)
        self.assertEqual(err.count("system: first\n"), 1)
        self.assertEqual(err.count("system: x y\n"), 3)
        self.assertEqual(err.count("user: hello\n"), 1)
        self.assertEqual(err.count("assistant: "), 1)
        self.assertNotIn("never", err)

    def test_thinking_can_be_switched(self):
        out, err = self.talk("/think off", "hello")
        self.assertNotIn("[thinking]", out)
        out, err = self.talk("/think on", "hello", args=["--no-think"])
        self.assertIn("[thinking]", out)

    def test_unknown_commands_and_help(self):
        _, err = self.talk("/nonsense", "/think maybe", "/help")
        self.assertIn('unknown command "/nonsense"', err)
        self.assertIn('unknown command "/think maybe"', err)
        for name in ["/clear", "/system", "/think", "/undo", "/history", "/exit"]:
            self.assertIn(name, err)

    def test_a_bad_line_is_an_error_and_not_the_end(self):
        done = chat("--max-tokens", 3, *FREE, input=b"bad \xff\nfine\n/history\n")
        self.assertEqual(done.stderr.decode(errors="replace").count("lattice: error:"), 1)
        self.assertEqual(done.stderr.count(b"prompt tokens"), 1)
        self.assertEqual(done.stderr.count(b"user: "), 1)

    def test_styled_only_on_a_terminal(self):
        leader, follower = pty.openpty()
        process = subprocess.Popen([CLI, "chat", "-m", MODEL, "--message", "hi", "--max-tokens",
                                    "3", *FREE, "--quiet"], stdout=follower)
        os.close(follower)
        out = b""
        try:
            while part := os.read(leader, 4096):
                out += part
        except OSError:
            pass  # the other end is closed
        os.close(leader)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertTrue(out.startswith(b"\x1b[2m"), out)
        self.assertIn(b"\x1b[0m", out)


class ChatInterrupt(TempCase):
    def start(self, *args):
        process = subprocess.Popen([CLI, "chat", "-m", MODEL, "--max-tokens", "30000", *FREE,
                                    "--no-think", *args], stdin=subprocess.PIPE, bufsize=0,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for stream in [process.stdin, process.stdout, process.stderr]:
            self.addCleanup(stream.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def interrupt(self, process):
        process.send_signal(signal.SIGINT)
        # The text ends before the line of timings comes, so that nothing of it is left over.
        line = b""
        while not line.endswith(b"\n"):
            for stream in select.select([process.stdout, process.stderr], [], [], 60)[0]:
                part = os.read(stream.fileno(), 1 if stream is process.stderr else 1 << 16)
                line += part if stream is process.stderr else b""
                self.assertTrue(part, "it ended")
        self.assertRegex(line.decode(), TIMINGS)
        self.assertLess(int(line.decode().split("; ")[1].split()[0]), 29000)

    def test_ends_the_answer_and_not_the_program(self):
        process = self.start()
        for question in [b"hello\n", b"and again\n"]:
            process.stdin.write(question)
            self.assertTrue(process.stdout.read(1))
            self.interrupt(process)
            self.assertIsNone(process.poll())
        _, err = process.communicate(b"/history\n/exit\n", timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(err.decode().count("user: "), 2)

    def wait_until_it_cannot_write(self, process):
        deadline = time.monotonic() + 60
        asleep = 0
        while asleep < 5 and time.monotonic() < deadline:
            state = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            asleep = asleep + 1 if state == "S" else 0
            time.sleep(0.01)

    @unittest.skipUnless(sys.platform == "linux", "hardware: no Linux, whose /proc tells who sleeps")
    def test_while_nobody_reads(self):
        process = self.start("--threads", "1")
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        process.stdin.write(b"hello\n")
        self.assertTrue(process.stdout.read(1))
        self.wait_until_it_cannot_write(process)
        self.interrupt(process)
        self.assertIsNone(process.poll())

    def test_without_an_answer_it_ends_the_program(self):
        process = self.start()
        process.stdin.write(b"hello\n")
        self.assertTrue(process.stdout.read(1))
        self.interrupt(process)
        # The old handler is back when the answer has ended.
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)

    def test_one_message_is_ended_like_any_program(self):
        process = self.start("--message", "hello")
        self.assertTrue(process.stdout.read(1))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)


class Perplexity(TempCase):
    TEXT = "It is late, and the tea will be ready soon. " * 12

    def measure(self, *args, **kwargs):
        return one(run("perplexity", "-m", MODEL, "--json", *args, **kwargs))

    def test_numbers(self):
        path = self.write("text.txt", self.TEXT)
        got = self.measure(path)
        self.assertAlmostEqual(got["perplexity"],
                               math.exp(got["negative_log_likelihood"] / got["tokens"]), places=6)
        self.assertGreater(got["tokens_per_second"], 0)
        ids = rows(run("tokenize", "-m", MODEL, self.TEXT))[0]["ids"]
        self.assertEqual(got["tokens"], len(ids) - 1)
        sentence = run("perplexity", "-m", MODEL, path).stdout.decode()
        self.assertRegex(sentence, rf"^perplexity {got['perplexity']:.4f} over {len(ids) - 1} "
                         r"tokens \([\d.]+ tokens/s\)\n$")
        piped = self.measure("-", input=self.TEXT.encode())
        self.assertEqual(piped["negative_log_likelihood"], got["negative_log_likelihood"])

    def test_windows(self):
        path = self.write("text.txt", self.TEXT)
        whole, same, small = (self.measure(path), self.measure(path, "--window", 1000, "--stride", 7),
                              self.measure(path, "--window", 16, "--stride", 8))
        self.assertEqual(whole["negative_log_likelihood"], same["negative_log_likelihood"])
        self.assertNotEqual(whole["negative_log_likelihood"], small["negative_log_likelihood"])
        self.assertEqual(whole["tokens"], small["tokens"])

    def test_errors(self):
        path = self.write("text.txt", self.TEXT)
        for args, part in [(["--window", 1], b"window"), (["--window", 8, "--stride", 8], b"stride")]:
            self.assertIn(part, run("perplexity", "-m", MODEL, path, *args, code=2).stderr)
        self.assertIn(b"nothing.txt", run("perplexity", "-m", MODEL, self.dir / "nothing.txt",
                                          code=1).stderr)
        self.assertIn(b"two tokens", run("perplexity", "-m", MODEL, self.write("e", ""),
                                         code=2).stderr)
        run("perplexity", "-m", MODEL, code=2)
        run("perplexity", "-m", ENCODER, path, code=1)


if __name__ == "__main__":
    unittest.main()
