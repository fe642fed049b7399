#!/usr/bin/env python3
"""Programs that know an installation only are built on it, and run."""

import os
import re
import unittest

import installed

OUTSIDE = os.path.abspath("tests/install/outside")
VECTORS = os.path.abspath("tests/pytorch/adam_vectors.txt")
GATHERED = r"(?m)^%d ranks, 0 wrong elements$"


class OutsideTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.rondo = installed.Installation()

    @classmethod
    def tearDownClass(cls):
        cls.rondo.remove()

    def source(self, name, text):
        path = os.path.join(self.rondo.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def assert_job_succeeds(self, program, ranks, expected):
        for status, output in self.rondo.run_ranks(program, ranks):
            self.assertEqual(status, 0, output)
            self.assertRegex(output, expected)

    def check_programs(self, shared, static):
        """Runs both, and makes sure that each is what its name says."""
        self.assertIn("librondo.so.0", installed.needed(shared))
        self.assertNotIn("librondo.so.0", installed.needed(static))
        for program in (shared, static):
            self.assert_job_succeeds(program, 1, GATHERED % 1)
            self.assert_job_succeeds(program, 2, GATHERED % 2)

    def check_rules(self, program):
        """The user's rule meets PyTorch as the library's own does."""
        for rule in ("own", "built_in"):
            for status, output in self.rondo.run_ranks(program, 2, rule,
                                                       VECTORS):
                self.assertEqual(status, 0, output)
                self.assertRegex(output, r"^[1-9]\d{3,} elements compared, "
                                         r"0 differ\n$")
        for status, output in self.rondo.run_ranks(program, 2,
                                                   "own_wrong_decay", VECTORS):
            self.assertEqual(status, 1, output)
            self.assertRegex(output, r" [1-9]\d{3,} differ\n$")

    def test_pkg_config_builds_a_sharded_optimizer(self):
        source = os.path.join(OUTSIDE, "own_rule.cc")
        for module in ("rondo", "rondo-static"):
            self.check_rules(self.rondo.compile(source, module))

    def test_pkg_config_builds_cxx_programs(self):
        source = os.path.join(OUTSIDE, "collectives.cc")
        static = self.rondo.compile(source, "rondo-static")
        self.check_programs(self.rondo.compile(source, "rondo"), static)
        self.assertLessEqual(installed.newest_glibc(static), (2, 34))

    def test_pkg_config_builds_c_programs(self):
        source = os.path.join(OUTSIDE, "c_program.c")
        self.check_programs(self.rondo.compile(source, "rondo"),
                            self.rondo.compile(source, "rondo-static"))

    def test_cmake_builds_both(self):
        build = os.path.join(self.rondo.work, "build")
        self.rondo.cmake(OUTSIDE, build)
        for name in ("collectives", "c_program"):
            program = os.path.join(build, name)
            self.check_programs(program + "_rondo", program + "_static")
        for way in ("rondo", "static"):
            self.check_rules(os.path.join(build, "own_rule_" + way))

    def test_cmake_refuses_another_version(self):
        for wanted in ("0.2", "1.0", "0.1.99"):
            build = os.path.join(self.rondo.work, "build" + wanted)
            with self.assertRaisesRegex(AssertionError, "rondo"):
                self.rondo.cmake(OUTSIDE, build, "-DRONDO_WANTED=" + wanted)

    def test_pkg_config_names_what_an_archive_needs(self):
        plain = self.rondo.pkg_config("--libs", "rondo")
        self.assertIn("-lrondo", plain)
        self.assertNotIn("-lucp", plain)
        self.assertIn("-lucp", self.rondo.pkg_config("--static", "--libs",
                                                     "rondo"))

    def test_every_installed_header_compiles(self):
        include = self.rondo.path("include")
        names = [os.path.relpath(os.path.join(folder, name), include)
                 for folder, _, files in os.walk(include) for name in files]
        self.assertGreater(len(names), 10)
        lines = ["#include <%s>\n" % name for name in sorted(names)]
        source = self.source("all.cc", "".join(lines) + "int main() {}\n")
        self.rondo.compile(source, "rondo")

    def test_an_internal_header_is_not_there(self):
        hidden = "rondo/collectives/engine/engine.h"
        source = self.source("internal.cc", "#include <%s>\nint main() {}\n" %
                             hidden)
        with self.assertRaisesRegex(AssertionError,
                                    re.escape(hidden) + ": No such file"):
            self.rondo.compile(source, "rondo")

    def test_a_job_that_fails_would_be_noticed(self):
        source = self.source("fails.c", "int main(void) { return 3; }\n")
        program = self.rondo.compile(source, "rondo")
        self.assertEqual(self.rondo.run_ranks(program, 2), [(3, ""), (3, "")])


if __name__ == "__main__":
    unittest.main()
