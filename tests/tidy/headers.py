#!/usr/bin/env python3
"""Checks that every header compiles when it is the only thing included.

Each header is given to the compiler alone and twice in a row, so that a missing
include and a missing guard both show. A bad header is made on the fly first, as
a negative control.
"""

import concurrent.futures
import os
import subprocess
import sys
import tempfile

import source_tree

C_HEADERS = ("collectives/rondo.h", "optimizer/rondo_optimizer.h")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
CXX = ["g++", "-x", "c++", "-std=c++20"] + WARNINGS
C = ["gcc", "-x", "c", "-std=c99", "-pedantic"] + WARNINGS


def complaint(command, root, path):
    """What the compiler says about the header; empty when it compiles."""
    source = '#include "%s"\n' % path
    includes = ["-I", root]
    if os.environ.get("UCX_HOME"):
        includes += ["-isystem", os.path.join(os.environ["UCX_HOME"],
                                              "include")]
    result = subprocess.run(command + includes + ["-"], cwd=root,
                            input=(source + source).encode(),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode == 0:
        return ""
    return "%s is not self-contained:\n%s" % (path, result.stdout.decode())


def finds_bad_headers():
    with tempfile.TemporaryDirectory() as root:
        for name, text in (("good.h", "#pragma once\n"
                            "#include <vector>\nstruct A {};\n"),
                           ("missing.h", "#pragma once\nstd::vector<int> a;\n"),
                           ("twice.h", "struct A {};\n"),
                           ("cplusplus.h", "#pragma once\nclass A {};\n")):
            with open(os.path.join(root, name), "w", encoding="utf-8") as out:
                out.write(text)
        return bool(not complaint(CXX, root, "good.h") and
                    complaint(CXX, root, "missing.h") and
                    complaint(CXX, root, "twice.h") and
                    complaint(C, root, "cplusplus.h"))


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    if not finds_bad_headers():
        print("the compiler does not tell bad headers from good ones")
        return 1
    # Highway's *-inl.h are no headers of their own.
    jobs = [(CXX, path) for path in source_tree.list_files(root)
            if path.endswith(".h") and not path.endswith("-inl.h")]
    if not jobs:
        print("no headers under %s" % root)
        return 1
    jobs += [(C, path) for path in C_HEADERS]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        complaints = [text for text in pool.map(
            lambda job: complaint(job[0], root, job[1]), jobs) if text]
    print("\n".join(complaints))
    print("%d headers, %d not self-contained" % (len(jobs), len(complaints)))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
