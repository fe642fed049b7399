#!/usr/bin/env python3
"""README.md says what the program says, and its examples compile and run."""

import os
import re
import subprocess
import tempfile
import unittest

RONDO = "perf/rondo"
LIBRARY = "librondo.so.0"
ROOT = os.path.realpath(os.path.join(
    os.path.dirname(os.path.realpath(__file__)), "../.."))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def parameter_table(text):
    """What stands between the two marks of the generated table."""
    found = re.search(r"<!-- parameters:begin [^\n]*-->\n(.*?)"
                      r"<!-- parameters:end -->", text, re.DOTALL)
    return found.group(1).strip() if found else None


def example(text, name):
    """The code block after `<!-- example:NAME -->`."""
    found = re.search(r"<!-- example:%s -->\n```[^\n]*\n(.*?)```" % name, text,
                      re.DOTALL)
    return found.group(1) if found else None


def sanitizer_flags():
    """The program that loads a sanitized library needs its run time, too."""
    needed = subprocess.run(["nm", "-D", LIBRARY], check=True,
                            stdout=subprocess.PIPE).stdout
    if b"__asan_init" in needed:
        return ["-fsanitize=address,undefined"]
    return ["-fsanitize=thread"] if b"__tsan_init" in needed else []


class ReadmeTest(unittest.TestCase):

    def setUp(self):
        self.readme = read("README.md")

    def run_example(self, name, compiler, suffix):
        """Output of the example as a program with one rank."""
        code = example(self.readme, name)
        self.assertIsNotNone(code)
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "example" + suffix)
            program = os.path.join(folder, "example")
            with open(source, "w", encoding="utf-8") as file:
                file.write(code)
            subprocess.run(
                compiler + ["-Wall", "-Wextra", "-Werror", "-I", ROOT, source,
                            os.path.abspath(LIBRARY), "-o", program,
                            "-Wl,-rpath," + os.getcwd()] + sanitizer_flags(),
                check=True)
            return subprocess.run([program], check=True, timeout=60,
                                  stdout=subprocess.PIPE).stdout.decode()

    def test_the_table_is_what_the_program_generates(self):
        generated = subprocess.run([RONDO, "info", "--markdown-parameters"],
                                   check=True, stdout=subprocess.PIPE)
        table = generated.stdout.decode().strip()
        self.assertIn("RONDO_TIMEOUT_MS", table)
        self.assertEqual(
            parameter_table(self.readme), table,
            "paste the output of `rondo info --markdown-parameters` between "
            "the marks in README.md")

    def test_the_c_example_runs(self):
        self.assertEqual(
            self.run_example("c", ["gcc", "-std=c99", "-pedantic"], ".c"),
            "1 ranks, last element 2\n")

    def test_the_cxx_example_runs(self):
        self.assertEqual(self.run_example("cc", ["g++", "-std=c++20"], ".cc"),
                         "the sum over 1 ranks is 1\n")

    def test_the_files_that_it_names_exist(self):
        paths = re.findall(r"`((?:collectives|optimizer|transports|tests|perf|"
                           r"third_party)/[\w/.]+)`", self.readme)
        self.assertGreater(len(paths), 4)
        missing = [path for path in paths
                   if not os.path.exists(os.path.join(ROOT, path))]
        self.assertEqual(missing, [])

    def test_marks_that_are_missing_would_be_noticed(self):
        self.assertIsNone(parameter_table("no marks"))
        self.assertIsNone(example("```c\nint a;\n```", "c"))


if __name__ == "__main__":
    unittest.main()
