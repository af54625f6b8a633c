"""Unit tests of protocol.py."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import protocol  # noqa: E402

FAST = {"gflops": 100.0, "read_gbytes": 20.0}
SLOW = {"gflops": 90.0, "read_gbytes": 20.0}


def record(seconds, canaries=None):
    """A round in the order of `seconds`; all canaries agree unless given."""
    return {"order": list(seconds), "seconds": seconds,
            "canaries": canaries or [FAST] * (len(seconds) + 1)}


class StatisticsTest(unittest.TestCase):
    def test_quartiles_lie_between_values(self):
        self.assertEqual(protocol.quartiles([4.0, 1.0, 3.0, 2.0]),
                         {"q1": 1.75, "median": 2.5, "q3": 3.25})

    def test_quartiles_of_one_value(self):
        self.assertEqual(protocol.quartiles([7.0]), {"q1": 7.0, "median": 7.0, "q3": 7.0})

    def test_canaries_agree_within_five_percent(self):
        self.assertTrue(protocol.steady([FAST, {"gflops": 104.9, "read_gbytes": 20.0}]))
        self.assertFalse(protocol.steady([FAST, SLOW]))
        self.assertFalse(protocol.steady([FAST, {"gflops": 100.0, "read_gbytes": 21.1}]))


class TurnsTest(unittest.TestCase):
    def test_the_order_rotates(self):
        orders = ["".join(protocol.turns(["a", "b", "c"], number)) for number in range(4)]
        self.assertEqual(orders, ["abc", "bca", "cab", "abc"])

    def test_a_round_has_every_leg_between_canaries(self):
        calls = []

        def leg(name):
            return lambda: (calls.append(name), [3.0, 1.0, 2.0])[1]

        def canary():
            calls.append("canary")
            return FAST

        found = protocol.interleave({"a": leg("a"), "b": leg("b")}, 2, canary)
        self.assertEqual(calls, ["canary", "a", "canary", "b", "canary",
                                 "canary", "b", "canary", "a", "canary"])
        self.assertEqual([entry["seconds"] for entry in found], [{"a": 2.0, "b": 2.0}] * 2)
        self.assertEqual(found[1]["order"], ["b", "a"])

    def test_the_first_round_is_run_whatever_the_limit(self):
        found = protocol.interleave({"a": lambda: [1.0]}, 5, lambda: FAST, limit_s=0)
        self.assertEqual(len(found), 1)


class CompareTest(unittest.TestCase):
    def test_ratio_above_one_is_faster(self):
        result = protocol.compare([record({"a": 1.0, "b": 2.0})] * 6, "a", "b")
        self.assertEqual(result["ratio"]["median"], 2.0)
        self.assertEqual(result["seconds"]["median"], 1.0)
        self.assertFalse(result["noisy"])

    def test_rounds_with_disagreeing_canaries_are_dropped(self):
        calm = record({"a": 1.0, "b": 2.0})
        wild = record({"a": 1.0, "b": 50.0}, [FAST, FAST, SLOW])
        result = protocol.compare([calm] * 5 + [wild] * 6, "a", "b")
        self.assertEqual((result["steady_rounds"], result["noisy"]), (5, False))
        self.assertEqual(result["ratio"]["q3"], 2.0)

    def test_with_fewer_than_five_steady_rounds_all_are_used(self):
        calm = record({"a": 1.0, "b": 2.0})
        wild = record({"a": 1.0, "b": 4.0}, [FAST, FAST, SLOW])
        result = protocol.compare([calm] * 4 + [wild] * 6, "a", "b")
        self.assertEqual((result["steady_rounds"], result["noisy"]), (4, True))
        self.assertEqual(result["ratio"]["median"], 4.0)

    def test_only_the_canaries_beside_both_turns_count(self):
        late = record({"a": 1.0, "b": 2.0, "c": 3.0}, [FAST, FAST, FAST, SLOW])
        self.assertFalse(protocol.compare([late] * 5, "a", "b")["noisy"])
        self.assertTrue(protocol.compare([late] * 5, "c", "b")["noisy"])

    def test_the_base_beside_itself(self):
        result = protocol.compare([record({"a": 1.0})] * 5, "a", "a")
        self.assertEqual(result["ratio"], {"q1": 1.0, "median": 1.0, "q3": 1.0})

    def test_share_of_bandwidth(self):
        share = protocol.share_of_bandwidth([record({"a": 0.5})], "a", 5e9)
        self.assertAlmostEqual(share, 0.5)


if __name__ == "__main__":
    unittest.main()
