"""What an installation of Rondo consists of: paths, contents and modes."""

import collections
import json
import os
import re

import header_closure

# `content` is bytes; or the text of a symbolic link, when `mode` is None.
Item = collections.namedtuple("Item", "path content mode")

_DATA, _PROGRAM = 0o644, 0o755
SONAME = "librondo.so.0"


class BrokenPackage(Exception):
    """The files to install are not what they should be."""


class Package:
    """The files that the build made for an installation.

    `root` is the folder that the paths in the manifest start from.
    """

    def __init__(self, root, manifest):
        self._root = root
        self._manifest = json.loads(self._bytes(manifest).decode())

    def _bytes(self, path):
        try:
            with open(os.path.join(self._root, path), "rb") as file:
                return file.read()
        except OSError as error:
            raise BrokenPackage("cannot read what is to be installed: %s" %
                                error) from error

    def _text(self, path):
        return self._bytes(path).decode("utf-8")

    def version(self):
        """(major, minor, patch)"""
        path = self._manifest["version_header"]
        found = re.search(r"\bkVersionCode = (\d+);", self._text(path))
        if not found:
            raise BrokenPackage("%s has no line `kVersionCode = NUMBER;`" %
                                path)
        code = int(found.group(1))
        return code // 10000, code // 100 % 100, code % 100

    def headers(self):
        """Items of all headers that users need."""
        paths = header_closure.closure(self._manifest["public_headers"],
                                       set(self._manifest["headers"]),
                                       self._text)
        for path in paths:
            text = header_closure.installed_text(self._text(path), "rondo")
            yield Item("include/rondo/" + path, text.encode(), _DATA)

    def _values(self):
        """What the templates' @NAME@ stand for."""
        major, minor, patch = self.version()
        options = self._text(self._manifest["link_options"]).split("\n")[:-1]
        return {
            "VERSION": "%d.%d.%d" % (major, minor, patch),
            "MAJOR": str(major),
            "MINOR": str(minor),
            "LINK_OPTIONS": " ".join(options),
            "LINK_OPTION_LIST": ";".join(options),
        }

    def templates(self):
        """Items of all texts that depend on version and link options."""
        folders = {".h": "include/rondo", ".pc": "lib/pkgconfig",
                   ".cmake": "lib/cmake/rondo"}
        values = self._values()
        for path in self._manifest["templates"]:
            name = os.path.basename(path)[:-len(".in")]
            folder = folders[os.path.splitext(name)[1]]
            text = re.sub(r"@([A-Z_]+)@", lambda m: values[m.group(1)],
                          self._text(path))
            yield Item(folder + "/" + name, text.encode(), _DATA)

    def items(self):
        """Everything, by path."""
        binaries = [
            Item("bin/rondo", self._bytes(self._manifest["program"]), _PROGRAM),
            Item("lib/librondo.a", self._bytes(self._manifest["archive"]),
                 _DATA),
            Item("lib/" + SONAME,
                 self._bytes(self._manifest["shared_object"]), _PROGRAM),
            Item("lib/librondo.so", SONAME, None),
        ]
        return sorted(binaries + list(self.headers()) + list(self.templates()))
