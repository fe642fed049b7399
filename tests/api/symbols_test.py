#!/usr/bin/env python3
"""librondo.so shows Rondo's symbols, all of rondo.h, and nothing else."""

import os
import re
import subprocess
import tempfile
import unittest

import symbols

LIBRARY = "librondo.so"
HERE = os.path.dirname(os.path.realpath(__file__))
HEADER = os.path.join(HERE, "../../collectives/rondo.h")


def build(folder, source):
    """A small shared object made of C++ `source`."""
    path = os.path.join(folder, "libsmall.so")
    subprocess.run(["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", path],
                   input=source.encode(), check=True)
    return path


class SymbolsTest(unittest.TestCase):

    def test_only_rondo_symbols_are_defined(self):
        names = symbols.exported(LIBRARY)
        self.assertGreater(len(names), 20)
        self.assertEqual(symbols.foreign(names), [])

    def test_every_function_of_the_header_is_there(self):
        with open(HEADER, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
        declared = set(re.findall(r"\b(rondo[A-Z]\w*)\(", text))
        self.assertGreater(len(declared), 20)
        self.assertEqual(declared - set(symbols.exported(LIBRARY)), set())

    def test_the_cxx_api_is_there(self):
        names = symbols.exported(LIBRARY)
        self.assertTrue(any(name.startswith("rondo::Communicator::Create(")
                            for name in names))

    def test_the_soname_has_the_abi_version(self):
        self.assertEqual(symbols.soname(LIBRARY), "librondo.so.0")

    def test_a_foreign_symbol_would_be_found(self):
        with tempfile.TemporaryDirectory() as folder:
            path = build(folder, 'extern "C" int rondoX() { return 1; }\n'
                                 "int Leak() { return 2; }\n"
                                 "namespace rondo { int Api() { return 3; } }")
            names = symbols.exported(path)
            self.assertIn("rondoX", names)
            self.assertEqual(symbols.foreign(names), ["Leak()"])
            self.assertIsNone(symbols.soname(path))


if __name__ == "__main__":
    unittest.main()
