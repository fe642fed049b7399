#!/usr/bin/env python3
"""The set of public headers is complete, and errors name what is missing."""

import unittest

import header_closure

TREE = {
    "a/top.h": '#include <vector>\n#include "b/middle.h"\n'
               '#  include "b/low.h"\n',
    "b/middle.h": '// Example: #include "b/unused.h"\n#include "b/low.h"\n',
    "b/low.h": '#include "a/top.h"\n',
    "b/unused.h": "",
    "c/broken.h": '#include "fmt/format.h"\n',
}


def closure(*public):
    return header_closure.closure(public, set(TREE), TREE.get)


class HeaderClosureTest(unittest.TestCase):

    def test_everything_that_is_included_comes_along(self):
        self.assertEqual(closure("a/top.h"),
                         ["a/top.h", "b/low.h", "b/middle.h"])
        self.assertEqual(closure("b/unused.h"), ["b/unused.h"])
        self.assertEqual(closure(), [])

    def test_a_missing_header_is_named_with_its_includer(self):
        with self.assertRaisesRegex(header_closure.MissingHeader,
                                    '"fmt/format.h", which c/broken.h'):
            closure("a/top.h", "c/broken.h")
        with self.assertRaisesRegex(header_closure.MissingHeader,
                                    '"a/gone.h", which the list of public'):
            closure("a/gone.h")

    def test_includes_are_spelled_below_the_folder(self):
        self.assertEqual(
            header_closure.installed_text(TREE["a/top.h"], "rondo"),
            '#include <vector>\n#include "rondo/b/middle.h"\n'
            '#  include "rondo/b/low.h"\n')
        self.assertEqual(
            header_closure.installed_text('// as #include "b/x.h" shows\n"b"',
                                          "rondo"),
            '// as #include "rondo/b/x.h" shows\n"b"')


if __name__ == "__main__":
    unittest.main()
