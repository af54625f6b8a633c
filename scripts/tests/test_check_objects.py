"""Unit test of check_objects.py: planted AVX code and banned calls must be found in an archive."""

import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parent.parent / "check_objects.py"
KERNEL = 'namespace %s { __attribute__((target("avx2"))) void f(float* x) {' \
         " for (int i = 0; i < 64; ++i) x[i] *= 2; } }\n"


@unittest.skipUnless(platform.machine() == "x86_64", "hardware: not x86-64")
class CheckObjectsTest(unittest.TestCase):
    def check(self, source: str, *options: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            source_file = pathlib.Path(folder, "a.cc")
            source_file.write_text(source)
            subprocess.run(["g++", "-O3", "-c", source_file, "-o", source_file.with_suffix(".o")],
                           check=True)
            archive = source_file.with_suffix(".a")
            subprocess.run(["ar", "rc", archive, source_file.with_suffix(".o")], check=True)
            result = subprocess.run([sys.executable, SCRIPT, *options, archive], capture_output=True, text=True)
            return result.returncode, result.stdout

    def test_kernels_in_their_namespace_are_accepted(self):
        code, output = self.check(KERNEL % "N_AVX2" + KERNEL % "avx512bf16")
        self.assertEqual(code, 0, output)
        self.assertIn("2 in target namespaces", output)

    def test_vector_code_elsewhere_is_refused(self):
        code, output = self.check(KERNEL % "common")
        self.assertEqual(code, 1)
        self.assertIn("common::f(float*)", output)

    def test_banned_calls_are_refused(self):
        code, output = self.check("#include <cstdlib>\nvoid f() { std::exit(1); }\n")
        self.assertEqual(code, 1)
        self.assertIn("refers to exit", output)

    def test_a_library_without_any_target_is_refused_if_they_are_expected(self):
        code, output = self.check("int f() { return 1; }\n", "--expect-targets")
        self.assertEqual(code, 1)
        self.assertIn("no function is in a target namespace", output)
        self.assertEqual(self.check("int f() { return 1; }\n")[0], 0)
        self.assertEqual(self.check(KERNEL % "N_AVX3", "--expect-targets")[0], 0)

    def test_an_empty_archive_is_refused(self):
        self.assertEqual(self.check("int a;\n")[0], 1)


if __name__ == "__main__":
    unittest.main()
