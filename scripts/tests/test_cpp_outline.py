"""Unit test of cpp_outline.py."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import cpp_outline  # noqa: E402

SOURCE = '''#include <map>
#define MACRO(x) \\
  do { x; } while (0)
namespace lattice {
namespace {

// a comment with { a brace
constexpr int kTable[] = {1, 2, 3};
constexpr const char* kText = "{ (";
const char kOpen = '{';
constexpr auto kRaw = R"json({"a": {)json";
constexpr int kMillion = 1'000'000;

int first(int a, std::map<int, int> b) {
  auto lambda = [&](int x) {
    return x + a;
  };
  if (a > 0) {
    return lambda(a);
  }
  return 0;
}

}  // namespace

template <typename T, int N>
[[nodiscard]] T second(
    const T& value,
    int count) {
  return value * count;
}

class Thing final : public Base {
 public:
  Thing(int a, int b) : a_{a}, b_(b) {
    check();
  }
  ~Thing() override { release(); }
  int get() const noexcept { return a_; }
  bool operator()(int a) const { return a == a_; }

 private:
  int a_ = 0;
  int b_{0};
};

enum class Kind { kOne, kTwo };

TEST(Suite, Name) {
  EXPECT_EQ(1, 1);
}

auto trailing(int a) -> int {
  return a;
}

}  // namespace lattice
'''


class OutlineTest(unittest.TestCase):
    def test_functions(self):
        found = cpp_outline.functions(SOURCE)
        self.assertEqual(
            [(f.name, f.num_lines, f.num_parameters) for f in found],
            [("first", 9, 2), ("second", 6, 2), ("Thing", 3, 2), ("~Thing", 1, 0), ("get", 1, 0),
             ("operator", 1, 1), ("TEST", 3, 2), ("trailing", 3, 1)])
        self.assertEqual(SOURCE.splitlines()[found[0].first_line - 1][:9], "int first")

    def test_blank_keeps_lines(self):
        blanked = cpp_outline.blank(SOURCE)
        self.assertEqual(blanked.count("\n"), SOURCE.count("\n"))
        self.assertNotIn("a brace", blanked)
        self.assertNotIn("MACRO", blanked)
        self.assertIn("1'000'000", blanked)


if __name__ == "__main__":
    unittest.main()
