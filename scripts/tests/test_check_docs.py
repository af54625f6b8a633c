"""Unit test of check_docs.py."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import check_docs  # noqa: E402


class CheckDocsTest(unittest.TestCase):
    def test_links(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs" / "a.md").write_text("# One heading\n\n[up](../README.md) [x](nowhere.md)\n")
            (root / "README.md").write_text(
                "[a](docs/a.md) [b](docs/a.md#one-heading) [c](docs/a.md#no) [d](https://e.org/x)\n"
                "```\n[not a link](missing.md)\n```\n")
            problems, count = check_docs.check(root)
            self.assertEqual(count, 5)
            self.assertEqual(problems, ["README.md: docs/a.md#no: no such heading",
                                        "docs/a.md: nowhere.md: no such file"])


if __name__ == "__main__":
    unittest.main()
