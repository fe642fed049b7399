"""Rules about how files stand to each other: folders, includes, BUILD files.

Each takes all text files and yields (path, line number, what to do).
"""

import os
import re

MAX_FILE_BYTES = 300 * 1024

TOP_LEVEL = ("WORKSPACE", "BUILD", "README.md", "CHANGELOG.md", "collectives",
             "transports", "optimizer", "plugin", "tests", "perf",
             "third_party")

# A folder may include those before it and itself; `tests` may include all.
LAYERS = ("transports", "collectives", "optimizer", "plugin", "perf")

_INCLUDE = re.compile(r"\s*#\s*include\s+<<(.*)>>")


def top_level(files):
    for file in files:
        name = file.path.split("/")[0]
        if name not in TOP_LEVEL and not name.startswith("."):
            yield file.path, 1, ("'%s' is not a top-level name of this project;"
                                 " put it into one of: %s" %
                                 (name, ", ".join(TOP_LEVEL)))


def sizes(files, binaries):
    for path, _ in binaries:
        yield path, 1, "is not text; generate it, or keep it elsewhere"
    for file in files:
        size = len(file.text.encode("utf-8"))
        if size > MAX_FILE_BYTES:
            yield file.path, 1, "%d bytes; at most %d are kept here" % (
                size, MAX_FILE_BYTES)


def system_headers(files):
    """Names and folders that WORKSPACE's system libraries provide."""
    names = []
    for file in files:
        if file.path == "WORKSPACE":
            for group in re.findall(r"\bheaders = \[(.*?)\]", file.text,
                                    re.DOTALL):
                names += re.findall(r'"([^"]+)"', group)
    return tuple(name if name.endswith(".h") else name + "/" for name in names)


def _points_upward(includer, included):
    source, target = includer.split("/")[0], included.split("/")[0]
    if includer.startswith("transports/base/"):
        return not included.startswith("transports/base/")
    if source not in LAYERS:
        return False
    return (target not in LAYERS or
            LAYERS.index(target) > LAYERS.index(source))


def includes(files):
    known = {file.path for file in files}
    system = system_headers(files)
    for file in files:
        if not file.is_cxx:
            continue
        for number, line in enumerate(file.code, 1):
            found = _INCLUDE.match(line)
            if not found:
                continue
            name = found.group(1)
            if name.startswith(system):
                continue
            if name not in known:
                yield file.path, number, (
                    '"%s" is no file of the workspace; spell includes from '
                    "the workspace root, those of the system with <>" % name)
            elif not name.endswith(".h") and not name.endswith(".inc"):
                yield file.path, number, '"%s" is not a header' % name
            elif _points_upward(file.path, name) and not (
                    file.is_test and name.startswith("tests/")):
                yield file.path, number, (
                    '"%s" points upward: includes go transports <- collectives'
                    " <- optimizer <- plugin, perf" % name)


def _build_file(path, builds):
    folder = os.path.dirname(path)
    while True:
        build = os.path.join(folder, "BUILD") if folder else "BUILD"
        if build in builds:
            return builds[build]
        if not folder:
            return None
        folder = os.path.dirname(folder)


def named_in_build(files):
    """A source that no BUILD file names is never compiled, a test never run."""
    builds = {file.path: file for file in files if file.name == "BUILD"}
    for file in files:
        if not file.is_cxx:
            continue
        build = _build_file(file.path, builds)
        if build is None:
            yield file.path, 1, "no BUILD file covers it"
            continue
        name = os.path.relpath(file.path, os.path.dirname(build.path) or ".")
        if '"%s"' % name not in build.text:
            yield file.path, 1, "is not named in %s; add it to a target" % (
                build.path)


RULES = (top_level, includes, named_in_build)
