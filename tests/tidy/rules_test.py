#!/usr/bin/env python3
"""Each tidiness rule finds its bad fixture and leaves the good one alone."""

import os
import subprocess
import tempfile
import unittest

import source_tree
import tidy

GOOD_HEADER = """// What this is, for whom, and how it fails: an opening line.
#pragma once

#include <vector>

namespace rondo {
// A comment may say throw, exit(1) or std::endl.
inline const char* Text() { return "throw abort() exit(1)"; }
constexpr int kMillion = 1'000'000;
}  // namespace rondo
"""
WORKSPACE = 'system_library(\n    headers = ["gtest", "ucp"],\n)\n'
MACHINE = "/ro" + "ot/"
UNFINISHED = "TO" + "DO"


def good_tree():
    """A small tree without a problem: path -> (text, executable)."""
    build = 'cc_library(\n    srcs = ["a.cc"],\n    hdrs = ["a.h"],\n)\n'
    test = 'cc_test(\n    srcs = ["a_test.cc"],\n)\n'
    return {
        "WORKSPACE": (WORKSPACE, False),
        "README.md": ("# R\n", False),
        "collectives/BUILD": (build + test, False),
        "collectives/a.h": (GOOD_HEADER, False),
        "collectives/a.cc": ('#include "collectives/a.h"\n', False),
        "collectives/a_test.cc": ('#include "gtest/gtest.h"\n'
                                  '#include "collectives/a.h"\n'
                                  'void F() { exit(1); }\n', False),
        "tests/run": ("#!/usr/bin/env bash\n", True),
    }


def check(tree, binaries=()):
    files = [source_tree.SourceFile(path, text, executable)
             for path, (text, executable) in tree.items()]
    source_tree.mark_tests(files)
    return tidy.problems(files, binaries)


class RulesTest(unittest.TestCase):

    def assert_found(self, path, text, expected, line=None, executable=False,
                     name_in_build=True):
        tree = good_tree()
        tree[path] = (text, executable)
        if name_in_build:
            folder, name = os.path.split(path)
            build = os.path.join(folder, "BUILD")
            old = tree.get(build, ("", False))[0]
            tree[build] = (old + '# "%s"\n' % name, False)
        found = check(tree)
        self.assertEqual(len(found), 1, found)
        self.assertEqual(found[0][0], path)
        self.assertIn(expected, found[0][2])
        if line is not None:
            self.assertEqual(found[0][1], line)

    def assert_code(self, code, expected, path="collectives/b.cc"):
        self.assert_found(path, "int a;\n" + code + "\n", expected, line=2)

    def assert_clean(self, path, text):
        tree = good_tree()
        tree[path] = (text, False)
        folder, name = os.path.split(path)
        build = os.path.join(folder, "BUILD")
        tree[build] = (tree.get(build, ("", False))[0] + '# "%s"\n' % name,
                       False)
        self.assertEqual(check(tree), [])

    def test_a_good_tree_has_no_problem(self):
        self.assertEqual(check(good_tree()), [])

    def test_long_lines(self):
        self.assert_code("int b" + "b" * 76 + ";", "82 columns")
        self.assert_clean("perf/b.cc", "int " + "b" * 75 + ";\n")

    def test_long_files(self):
        self.assert_found("perf/b.cc", "int a;\n" * 401, "401 lines")
        self.assert_clean("perf/b.cc", "int a;\n" * 400)

    def test_long_functions(self):
        for open_line in ("int F() {", "A::A(int b)\n    : b_(b), c_{b} {",
                          "template <class T>\nT F(T t) const {",
                          "struct S {\n  int F(int a = 1,\n      int b = 2) {"):
            close = "  }\n};\n" if open_line.startswith("struct") else "}\n"
            rest = open_line.count("\n") - open_line.startswith("struct")
            body = "  while (true) { a(); }\n"
            with self.subTest(open_line=open_line):
                self.assert_found("perf/b.cc", open_line + "\n" +
                                  body * (69 - rest) + close,
                                  "a function of 71 lines")
                self.assert_clean("perf/b.cc", open_line + "\n" +
                                  body * (68 - rest) + close)

    def test_long_classes_namespaces_and_tables_are_no_functions(self):
        for open_line in ("namespace a {", "class A final : public B {",
                          "struct alignas(64) A {", "enum class A : int {",
                          'extern "C" {', "const int kA[] = {",
                          "template <int a = F(1)>\nstruct A {",
                          "#define A(b) \\\n  F() {\nclass C {"):
            with self.subTest(open_line=open_line):
                self.assert_clean("perf/b.cc",
                                  open_line + "\n" + "  int a;\n" * 90 + "};\n")

    def test_white_space(self):
        self.assert_code("int b; ", "white space")
        self.assert_code("\tint b;", "tab")
        self.assert_found("README.md", "# R", "no newline", name_in_build=False)

    def test_unfinished_work(self):
        self.assert_code("// " + UNFINISHED + ": later", UNFINISHED)
        self.assert_found("README.md", UNFINISHED + "\n", UNFINISHED,
                          name_in_build=False)

    def test_machine_paths(self):
        self.assert_code('const char* p = "%sx";' % MACHINE, MACHINE)
        self.assert_clean("perf/b.cc", "// bazel-bin" + MACHINE + "x\n")

    def test_headers_open_with_prose(self):
        self.assert_found("perf/b.h", "#pragma once\n", "open with a paragraph")
        self.assert_found("perf/b.h", "// Short.\n#pragma once\n",
                          "open with a paragraph")

    def test_headers_are_guarded(self):
        comment = GOOD_HEADER.split("\n")[0] + "\n"
        self.assert_found("perf/b.h", comment, "#pragma once")
        self.assert_found("collectives/rondo.h", comment, "guard")
        self.assert_found("perf/b-inl.h", comment, "HWY_TARGET_TOGGLE")

    def test_scripts_and_run_bits(self):
        self.assert_found("tests/b", "#!/bin/sh\n", "chmod +x")
        self.assert_found("tests/b.sh", "echo\n", "starts with")
        self.assert_found("tests/b", "x\n", "no shebang", executable=True)

    def test_printing(self):
        self.assert_code("std::cout << 1;", "std::cout")
        self.assert_code('std::fprintf(stderr, "x");', "does not print")
        for path in ("perf/b.cc", "optimizer/examples/b.cc"):
            self.assert_clean(path, 'void F() { printf("x"); }\n')
        self.assert_clean("collectives/b.cc", 'int a = snprintf(b, 1, "");\n')

    def test_ending_the_process(self):
        self.assert_code("assert(a);", "assert")
        self.assert_code("std::abort();", "abort")
        self.assert_code("if (a) _exit(1);", "exit")
        self.assert_code("abort();", "Status", path="perf/b.cc")
        self.assert_clean("collectives/b.cc",
                          "static_assert(a);\nvoid F() { a->exit(1); }\n")

    def test_exceptions_and_habits(self):
        self.assert_code("throw 1;", "Status")
        self.assert_code("using namespace std;", "using a::b")
        self.assert_code("a << std::endl;", "flushes")
        self.assert_code("using namespace a;", "a::b", path="tests/b.cc")

    def test_waits_without_deadline(self):
        self.assert_code("std::this_thread::sleep_for(a);", "Deadline")
        self.assert_code("usleep(1);", "Deadline", path="perf/b.cc")
        self.assert_clean("transports/base/b.cc", "void F() { usleep(1); }\n")

    def test_parsing(self):
        for call in ("atoi(a)", "std::stoi(a)", "strtoull(a, b, 0)",
                     'sscanf(a, "%d", b)', "strtod(a, b)", "std::stod(a)"):
            self.assert_code("b = %s;" % call, "ParseSize")
        self.assert_clean("transports/base/size_text.cc", "int a = atoi(b);\n")

    def test_environment(self):
        self.assert_code('a = getenv("A");', "EnvironmentReader")
        self.assert_code('setenv("A", "b", 1);', "EnvironmentReader",
                         path="perf/b.cc")
        self.assert_clean("transports/bootstrap/launch.cc",
                          'const char* a = getenv("A");\n')

    def test_ucx_stays_in_its_folder(self):
        self.assert_code("#include <ucp/api/ucp.h>", "Transport")
        self.assert_code('#include "ucp/api/ucp.h"', "Transport")
        self.assert_clean("transports/ucx/b.cc",
                          '#include "ucp/api/ucp.h"\n')

    def test_includes_are_spelled_from_the_root(self):
        self.assert_code('#include "a.h"', "workspace root")
        self.assert_code('#include "../collectives/a.h"', "workspace root")
        self.assert_code('#include "collectives/a.cc"', "not a header")

    def test_includes_point_one_way(self):
        self.assert_code('#include "collectives/a.h"', "points upward",
                         path="transports/b.cc")
        self.assert_clean("optimizer/b.cc", '#include "collectives/a.h"\n')
        self.assert_clean("tests/b.cc", '#include "collectives/a.h"\n')
        tree = good_tree()
        tree["transports/BUILD"] = ('# "net.h"', False)
        tree["transports/net.h"] = (GOOD_HEADER, False)
        tree["transports/base/BUILD"] = ('# "b.cc"\n', False)
        tree["transports/base/b.cc"] = ('#include "transports/net.h"\n', False)
        self.assertIn("points upward", str(check(tree)))

    def test_top_level_names(self):
        self.assert_found("docs/a.md", "# A\n", "not a top-level name",
                          name_in_build=False)

    def test_sources_are_built(self):
        for name in ("b.cc", "b.h", "b_test.cc"):
            text = GOOD_HEADER if name.endswith(".h") else "int a;\n"
            self.assert_found("collectives/" + name, text, "is not named in",
                              name_in_build=False)
        self.assert_found("optimizer/b.cc", "int a;\n", "no BUILD file",
                          name_in_build=False)

    def test_large_files_and_binaries(self):
        self.assert_found("README.md", "a\n" * 200000, "bytes",
                          name_in_build=False)
        self.assertIn("is not text",
                      str(check(good_tree(), [("perf/a.bin", 10)])))

    def test_the_command_reads_a_real_tree(self):
        script = os.path.join(os.path.dirname(os.path.realpath(__file__)),
                              "tidy.py")
        with tempfile.TemporaryDirectory() as root:
            for path, (text, executable) in good_tree().items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(full, 0o755 if executable else 0o644)
            command = ["python3", script, root]
            self.assertEqual(subprocess.run(command).returncode, 0)
            with open(os.path.join(root, "perf.bin"), "wb") as file:
                file.write(b"\0\xff")
            bad = subprocess.run(command, stdout=subprocess.PIPE)
            self.assertEqual(bad.returncode, 1)
            self.assertIn(b"perf.bin:1: is not text", bad.stdout)
            empty = subprocess.run(command[:2] + [root + "/collectives"])
            self.assertEqual(empty.returncode, 1)


if __name__ == "__main__":
    unittest.main()
