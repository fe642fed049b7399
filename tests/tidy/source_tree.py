"""The files of the project as the tidiness rules see them."""

import os
import re
import subprocess

CXX = (".h", ".cc", ".c")


class SourceFile:
    """One text file: its path from the root, its lines, its code alone."""

    def __init__(self, path, text, executable=False):
        self.path = path
        self.text = text
        self.executable = executable
        # Test code: may print, exit and set the environment.
        self.is_test = path.startswith("tests/")
        self.lines = text.split("\n")
        if self.lines and self.lines[-1] == "":
            self.lines.pop()
        self._code = None

    @property
    def name(self):
        return os.path.basename(self.path)

    @property
    def is_cxx(self):
        return self.path.endswith(CXX)

    @property
    def code(self):
        """The lines without comments and without what literals contain."""
        if self._code is None:
            self._code = code_lines(self.text)
        return self._code


_TOKEN = re.compile(
    r"""//[^\n]*(?:\\\n[^\n]*)*   # a comment to the end of the line
    |/\*.*?\*/                    # a block comment
    |R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"   # a raw string
    |"(?:\\.|[^"\\\n])*"          # a string
    |(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'  # a character; not a digit separator
    """, re.VERBOSE | re.DOTALL)


def code_lines(text):
    """C++ `text` with comments and literals blanked; the same lines."""

    def blank(match):
        found = match.group(0)
        newlines = "\n" * found.count("\n")
        return newlines if found[0] == "/" else '""' + newlines

    # An include keeps its path: it looks like a string, but is not one.
    marked = re.sub(r'(?m)^(\s*#\s*include\s+)"([^"\n]*)"', r"\1<<\2>>", text)
    return _TOKEN.sub(blank, marked).split("\n")


_TARGET = re.compile(r"^(\w+)\(\n(.*?)^\)", re.MULTILINE | re.DOTALL)


def mark_tests(files):
    """Sets is_test of what cc_test and testonly targets are made of."""
    by_path = {file.path: file for file in files}
    for build in files:
        if build.name != "BUILD":
            continue
        folder = os.path.dirname(build.path)
        for rule, body in _TARGET.findall(build.text):
            if rule != "cc_test" and "testonly = True" not in body:
                continue
            for name in re.findall(r'"([^":]+\.(?:cc|h|c))"', body):
                file = by_path.get(os.path.join(folder, name))
                if file:
                    file.is_test = True


def _git_files(root):
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others",
               "--exclude-standard"]
    try:
        listed = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in listed.decode().split("\0") if name]


def _walked_files(root):
    found = []
    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root)
        folders[:] = [name for name in folders if name not in
                      (".git", "__pycache__") and not
                      (relative == "." and name.startswith("bazel-"))]
        for name in files:
            found.append(os.path.normpath(os.path.join(relative, name)))
    return found


def list_files(root):
    """Paths from the root: what git tracks or would; else every file."""
    names = _git_files(root) or _walked_files(root)
    return sorted(name for name in names
                  if os.path.isfile(os.path.join(root, name)))


def read_tree(root):
    """(text files, [(path, bytes) of the files that are not text])."""
    files, binaries = [], []
    for path in list_files(root):
        full = os.path.join(root, path)
        with open(full, "rb") as file:
            data = file.read()
        executable = bool(os.stat(full).st_mode & 0o111)
        try:
            if b"\0" in data:
                raise UnicodeDecodeError("utf-8", data, 0, 1, "NUL")
            text = data.decode("utf-8")
            files.append(SourceFile(path, text, executable))
        except UnicodeDecodeError:
            binaries.append((path, len(data)))
    mark_tests(files)
    return files, binaries
