#!/usr/bin/env python3
"""Checks that every C and C++ file is formatted as .clang-format says.

A misformatted file is made on the fly first: a check that cannot find it proves
nothing about the tree.
"""

import os
import subprocess
import sys
import tempfile

import source_tree


def misformatted(root, paths):
    """What clang-format says about the files; empty when nothing."""
    command = ["clang-format", "--dry-run", "--Werror", "--style=file"]
    result = subprocess.run(command + paths, cwd=root, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    return result.stdout.decode() if result.returncode != 0 else ""


def finds_a_bad_file(root):
    with open(os.path.join(root, ".clang-format"), encoding="utf-8") as file:
        style = file.read()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ((".clang-format", style), ("bad.cc", "int  a ;\n"),
                           ("good.cc", "int a;\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                out.write(text)
        return bool(misformatted(folder, ["bad.cc"]) and
                    not misformatted(folder, ["good.cc"]))


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    paths = [path for path in source_tree.list_files(root)
             if path.endswith(source_tree.CXX)]
    if not finds_a_bad_file(root):
        print("clang-format does not tell a bad file from a good one")
        return 1
    complaints = misformatted(root, paths)
    if not paths or complaints:
        print(complaints)
        print("%d files; to mend: clang-format -i FILE" % len(paths))
        return 1
    print("%d files are formatted" % len(paths))
    return 0


if __name__ == "__main__":
    sys.exit(main())
