"""Checks the workflows in .github/workflows: syntax, permissions, time limits, what their steps name."""

import json
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).parent.parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def parse(path):
    """A YAML file, parsed by the system's Python, for which scripts/install_deps.sh installs PyYAML."""
    program = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"
    done = subprocess.run(["/usr/bin/python3", "-c", program], input=path.read_text(), text=True,
                          capture_output=True, check=True)
    return json.loads(done.stdout)


def jobs():
    """(file name, job) of every workflow."""
    for path in WORKFLOWS:
        for job in parse(path)["jobs"].values():
            yield path.name, job


def steps():
    """(file name, step) of every job."""
    for name, job in jobs():
        for step in job["steps"]:
            yield name, step


class WorkflowTest(unittest.TestCase):
    def test_there_are_some(self):
        self.assertTrue(WORKFLOWS)

    def test_they_may_only_read(self):
        for path in WORKFLOWS:
            self.assertEqual(parse(path)["permissions"], {"contents": "read"}, path)
        for name, job in jobs():
            self.assertNotIn("permissions", job, name)

    def test_everything_ends(self):
        for name, job in jobs():
            self.assertIsInstance(job["timeout-minutes"], int, name)
        for name, step in steps():
            if "run" in step:
                self.assertIsInstance(step["timeout-minutes"], int, f"{name}: {step}")

    def test_steps_do_one_thing_with_a_known_version(self):
        for name, step in steps():
            self.assertEqual(("run" in step) + ("uses" in step), 1, f"{name}: {step}")
            if "uses" in step:
                self.assertRegex(step["uses"], r"^[\w-]+/[\w-]+@v\d+$", name)

    def test_commands_are_shell(self):
        for name, step in steps():
            if "run" in step:
                result = subprocess.run(["bash", "-n"], input=step["run"], text=True,
                                        stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, 0, f"{name}: {result.stderr}")

    def test_what_they_name_exists(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())
        known = {group: {preset["name"] for preset in presets[f"{group}Presets"]}
                 for group in ("configure", "build", "test")}
        for name, step in steps():
            command = step.get("run", "")
            for group, pattern in [("configure", r"cmake --preset (\S+)"),
                                   ("build", r"cmake --build --preset (\S+)"),
                                   ("test", r"ctest --preset (\S+)")]:
                for preset in re.findall(pattern, command):
                    self.assertIn(preset, known[group], name)
            for script in re.findall(r"scripts/\S+", command):
                self.assertTrue((ROOT / script).is_file(), f"{name}: {script}")
            for program in re.findall(r"build/\w+/bench/(\w+)", command):
                self.assertTrue((ROOT / "bench" / f"{program}.cc").is_file(), f"{name}: {program}")


if __name__ == "__main__":
    unittest.main()
