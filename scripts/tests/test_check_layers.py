"""Unit test of check_layers.py: planted violations must be found, legal includes must not."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import check_layers  # noqa: E402

HEADERS = [
    "src/base/log.h", "src/tensor/tensor.h", "src/io/safetensors.h", "src/ops/linear.h",
    "src/text/bpe.h", "src/layers/norm.h", "src/models/bert.h", "src/engine/pool.h",
    "src/server/http.h", "src/backends/cpu/gemm.h", "src/backends/cuda/gemm.h",
    "src/backends/registry.h", "src/backends/metal/device.h", "src/backends/metal/simt/device.h",
    "include/lattice/engine.h", "include/lattice/error.h", "include/lattice/tokenizer.h",
]


class CheckLayersTest(unittest.TestCase):
    def offences(self, path: str, include: str) -> list[str]:
        """The offences in a small tree whose file `path` holds the line #include `include`."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in HEADERS:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("#pragma once\n")
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(f"// first line\n#include {include}\n")
            found, count = check_layers.check(root)
            self.assertGreaterEqual(count, len(HEADERS))
            return found

    def assert_refused(self, path: str, include: str, words: str):
        found = self.offences(path, include)
        self.assertEqual(len(found), 1, f"{path} with {include}: {found}")
        self.assertIn(words, found[0])
        self.assertTrue(found[0].startswith(f"{path}:2:"), found[0])

    def assert_accepted(self, path: str, include: str):
        self.assertEqual(self.offences(path, include), [])

    def test_upward_includes_are_refused(self):
        for path, include in [
            ("src/base/a.cc", '"tensor/tensor.h"'), ("src/tensor/a.cc", '"ops/linear.h"'),
            ("src/io/a.cc", '"ops/linear.h"'), ("src/ops/a.cc", '"layers/norm.h"'),
            ("src/ops/a.cc", '"io/safetensors.h"'), ("src/layers/a.cc", '"models/bert.h"'),
            ("src/models/a.cc", '"engine/pool.h"'), ("src/models/a.cc", '"text/bpe.h"'),
            ("src/engine/a.cc", '"server/http.h"'), ("src/text/a.cc", '"tensor/tensor.h"'),
            ("src/text/a.cc", '"engine/pool.h"'), ("src/base/a.cc", '"../engine/pool.h"'),
            ("src/backends/cpu/a.cc", '"layers/norm.h"'), ("src/io/a.cc", '"lattice/engine.h"'),
        ]:
            with self.subTest(path=path, include=include):
                self.assert_refused(path, include, "may not include layer")

    def test_only_tests_see_the_simt_instrument(self):
        for path in ("src/backends/metal/a.cc", "src/backends/registry.cc", "src/engine/a.cc"):
            with self.subTest(path=path):
                self.assert_refused(path, '"backends/metal/simt/device.h"', "instrument of the tests")
        self.assert_accepted("src/backends/metal/simt/a.cc", '"backends/metal/simt/device.h"')
        self.assert_accepted("src/backends/metal/simt/a.cc", '"backends/metal/device.h"')
        self.assert_accepted("tests/unit/a.cc", '"backends/metal/simt/device.h"')

    def test_downward_includes_are_accepted(self):
        for path, include in [
            ("src/tensor/a.cc", '"base/log.h"'), ("src/models/a.cc", '"layers/norm.h"'),
            ("src/layers/a.cc", '"io/safetensors.h"'), ("src/engine/a.cc", '"text/bpe.h"'),
            ("src/text/a.cc", '"io/safetensors.h"'), ("src/server/a.cc", '"engine/pool.h"'),
            ("apps/a.cc", '"server/http.h"'), ("src/base/a.cc", "<vector>"),
            ("src/base/a.cc", '"lattice/error.h"'), ("src/text/a.cc", '"lattice/tokenizer.h"'),
            ("src/engine/a.cc", '"lattice/engine.h"'), ("src/base/a.cc", '"log.h"'),
            ("src/backends/cpu/a.cc", '"backends/cpu/gemm.h"'),
            ("src/backends/cpu/a.cc", '"ops/linear.h"'),
            ("src/backends/registry.cc", '"backends/cuda/gemm.h"'),
        ]:
            with self.subTest(path=path, include=include):
                self.assert_accepted(path, include)

    def test_backends_are_seen_by_the_registry_only(self):
        for path in ["src/engine/a.cc", "src/ops/a.cc", "apps/a.cc", "src/models/a.h"]:
            with self.subTest(path=path):
                self.assert_refused(path, '"backends/cpu/gemm.h"', "only the registry may")
        self.assert_refused("src/models/a.cc", '"backends/registry.h"', "only the registry may")
        self.assert_accepted("src/engine/a.cc", '"backends/registry.h"')
        self.assert_refused("src/backends/cpu/a.cc", '"backends/cuda/gemm.h"', "includes backend cuda")

    def test_public_headers_and_examples(self):
        self.assert_refused("include/lattice/a.h", '"base/log.h"', "private header")
        self.assert_refused("include/lattice/a.h", "<fmt/core.h>", "other than the standard")
        self.assert_refused("include/lattice/a.h", "<sys/mman.h>", "other than the standard")
        self.assert_refused("examples/a.cc", '"engine/pool.h"', "private header")
        self.assert_accepted("include/lattice/a.h", '"lattice/error.h"')
        self.assert_accepted("include/lattice/a.h", "<string_view>")
        self.assert_accepted("examples/a.cc", "<lattice/engine.h>")
        self.assert_accepted("examples/a.cc", "<simdjson.h>")

    def test_other_projects_headers_are_accepted_below_the_public_ones(self):
        self.assert_accepted("apps/cli/a.cc", '"CLI/CLI.hpp"')
        self.assert_accepted("src/io/a.cc", "<simdjson.h>")

    def test_tests_may_include_anything(self):
        self.assert_accepted("tests/unit/a.cc", '"backends/cpu/gemm.h"')


if __name__ == "__main__":
    unittest.main()
