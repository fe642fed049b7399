#!/usr/bin/env python3
"""Checks the whole source tree against the project's mechanical rules.

Prints `path:line: what to do` for each problem. Exit status 0 when there is
none, 1 otherwise. Give another root as the only argument.
"""

import os
import sys

import code_rules
import source_tree
import text_rules
import tree_rules


def problems(files, binaries=()):
    """Sorted (path, line, what to do) of everything that breaks a rule."""
    found = []
    for file in files:
        for rule in text_rules.RULES + code_rules.RULES:
            found += [(file.path, line, text) for line, text in rule(file)]
    for rule in tree_rules.RULES:
        found += list(rule(files))
    found += list(tree_rules.sizes(files, binaries))
    return sorted(found)


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    if len(sys.argv) > 1:
        root = sys.argv[1]
    files, binaries = source_tree.read_tree(root)
    if not any(file.path == "WORKSPACE" for file in files):
        print("%s is not the root of the source tree" % root)
        return 1
    found = problems(files, binaries)
    for path, line, text in found:
        print("%s:%d: %s" % (path, line, text))
    print("%d files checked, %d problems" % (len(files), len(found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
