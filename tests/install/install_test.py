#!/usr/bin/env python3
"""The installer puts its files in place, and says what it cannot do."""

import os
import re
import subprocess
import tempfile
import unittest

import installed

FILES = ("bin/rondo", "include/rondo/rondo.h",
         "include/rondo/collectives/communicator.h",
         "include/rondo/collectives/rondo.h",
         "include/rondo/collectives/symmetric_buffer.h",
         "include/rondo/optimizer/kernels/adam_rule.h",
         "include/rondo/optimizer/kernels/update_rule.h",
         "include/rondo/optimizer/sharded_optimizer.h",
         "include/rondo/transports/base/status.h",
         "lib/cmake/rondo/rondoConfig.cmake",
         "lib/cmake/rondo/rondoConfigVersion.cmake", "lib/librondo.a",
         "lib/librondo.so", "lib/librondo.so.0",
         "lib/pkgconfig/rondo-static.pc", "lib/pkgconfig/rondo.pc")


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(place, name), folder)
                  for place, _, names in os.walk(folder) for name in names)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class InstallTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.prefix = os.path.join(scratch.name, "a/prefix")

    def install(self, *arguments, **environment):
        result = installed.run_install(list(arguments), **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def assert_refused(self, arguments, *expected):
        result = installed.run_install(arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        for text in expected:
            self.assertIn(text, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_all_files_are_in_place_and_no_other(self):
        said = self.install("--prefix", self.prefix)
        found = files_below(self.prefix)
        self.assertIn("Installed %d files into %s" % (len(found), self.prefix),
                      said)
        self.assertEqual(set(FILES) - set(found), set())
        others = [name for name in set(found) - set(FILES)
                  if not re.match(r"include/rondo/[\w/]+\.h$", name)]
        self.assertEqual(others, [])
        self.assertEqual(os.readlink(self.prefix + "/lib/librondo.so"),
                         "librondo.so.0")

    def test_headers_are_found_below_rondo_only(self):
        self.install("--prefix", self.prefix)
        include = self.prefix + "/include"
        self.assertEqual(os.listdir(include), ["rondo"])
        for name in files_below(include):
            text = read(os.path.join(include, name))
            for quoted in re.findall(r'#\s*include\s*"([^"]+)"', text):
                self.assertTrue(os.path.exists(os.path.join(include, quoted)),
                                "%s includes %s" % (name, quoted))
            # Users need no headers of other libraries.
            angled = re.findall(r"(?m)^\s*#\s*include\s*<([^>]+)>", text)
            self.assertEqual([other for other in angled if not re.match(
                r"(sys/)?\w+(\.h)?$", other)], [], name)

    def test_the_command_runs_and_knows_its_version(self):
        self.install("--prefix", self.prefix)
        version = re.search(r"(?m)^Version: (.*)$", read(
            self.prefix + "/lib/pkgconfig/rondo.pc")).group(1)
        self.assertIn(version, installed.output_of(
            [self.prefix + "/bin/rondo", "--version"]))
        header = read(self.prefix + "/include/rondo/collectives/rondo.h")
        numbers = re.findall(r"#define RONDO_(?:MAJOR|MINOR|PATCH) (\d+)",
                             header)
        self.assertEqual(".".join(numbers), version)

    def test_destdir_comes_before_the_prefix(self):
        self.install("--prefix", "/opt/rondo", DESTDIR=self.folder)
        self.assertTrue(os.path.exists(
            self.folder + "/opt/rondo/lib/librondo.a"))

    def test_a_relative_prefix_starts_where_the_user_stands(self):
        self.install("--prefix", "b", BUILD_WORKING_DIRECTORY=self.folder)
        self.assertTrue(os.path.exists(self.folder + "/b/lib/librondo.a"))

    def test_an_older_installation_is_replaced_file_by_file(self):
        self.install("--prefix", self.prefix)
        files = files_below(self.prefix)
        old = self.prefix + "/lib/librondo.so.0"
        with open(old, "rb") as file:
            content = file.read()
        with open(old, "wb") as file:
            file.write(b"an older version")
        os.unlink(self.prefix + "/lib/librondo.so")
        os.symlink("librondo.so.older", self.prefix + "/lib/librondo.so")
        with open(self.prefix + "/lib/libother.so", "wb") as file:
            file.write(b"not ours")
        with open(old, "rb") as running:
            self.install("--prefix", self.prefix)
            # Who uses the old file keeps it.
            self.assertEqual(running.read(), b"an older version")
        with open(old, "rb") as file:
            self.assertEqual(file.read(), content)
        self.assertEqual(os.readlink(self.prefix + "/lib/librondo.so"),
                         "librondo.so.0")
        self.assertEqual(files_below(self.prefix),
                         sorted(files + ["lib/libother.so"]))

    def test_a_missing_or_empty_prefix_is_refused(self):
        self.assert_refused([], "--prefix", "required")
        self.assert_refused(["--prefix"], "--prefix", "expected one argument")
        self.assert_refused(["--prefix", ""], "--prefix ''")
        self.assert_refused(["--prefix", self.prefix, "--perfix", "x"],
                            "--perfix")
        self.assertFalse(os.path.exists(self.prefix))

    def test_a_prefix_that_cannot_be_written_is_refused(self):
        path = self.folder + "/file"
        open(path, "w", encoding="utf-8").close()
        self.assert_refused(["--prefix", path], "cannot write " + path,
                            "--prefix")
        os.makedirs(self.prefix + "/lib/librondo.a")
        self.assert_refused(["--prefix", self.prefix],
                            "cannot write %s/lib/librondo.a" % self.prefix)
        self.assertEqual([name for name in files_below(self.prefix)
                          if name.endswith(".new")], [])

    def test_everything_runs_with_the_glibc_of_2021(self):
        self.install("--prefix", self.prefix)
        for name in ("bin/rondo", "lib/librondo.so.0"):
            newest = installed.newest_glibc(os.path.join(self.prefix, name))
            self.assertGreaterEqual(newest, (2, 17), name)
            self.assertLessEqual(newest, (2, 34), name)

    def test_a_newer_glibc_would_be_found(self):
        program = self.folder + "/newer"
        subprocess.run(["gcc", "-x", "c", "-", "-o", program], check=True,
                       input=b"#include <stdlib.h>\n"
                             b"int main() { return arc4random() & 0; }\n")
        self.assertEqual(installed.newest_glibc(program), (2, 36))


if __name__ == "__main__":
    unittest.main()
