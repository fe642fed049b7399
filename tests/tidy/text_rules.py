"""Rules about the text of one file. Each yields (line number, what to do)."""

import re

MAX_COLUMNS = 80
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 70
_CODE_SUFFIXES = (".h", ".cc", ".c", ".bzl", ".py", ".sh")
# A header that C programs include cannot use `#pragma once`.
_C_HEADERS = ("collectives/rondo.h", "optimizer/rondo_optimizer.h")
# Spelled in pieces, so that this file does not break its own rule.
_UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
_MACHINE_PATH = re.compile(r"(?<![\w.:/])/(?:wo" r"rk|ro" r"ot|ho" r"me)/")


def columns(file):
    script = file.lines and file.lines[0].startswith("#!")
    if not (file.path.endswith(_CODE_SUFFIXES) or script):
        return
    for number, line in enumerate(file.lines, 1):
        if len(line) > MAX_COLUMNS and not re.search(r"https?://\S{40}", line):
            yield number, "%d columns; break the line at %d" % (
                len(line), MAX_COLUMNS)


def file_length(file):
    if file.path.endswith(_CODE_SUFFIXES) and len(file.lines) > MAX_FILE_LINES:
        yield len(file.lines), ("%d lines; find the second concept in here and "
                                "move it out (at most %d)" %
                                (len(file.lines), MAX_FILE_LINES))


def whitespace(file):
    for number, line in enumerate(file.lines, 1):
        if line != line.rstrip():
            yield number, "ends in white space; remove it"
        if "\t" in line:
            yield number, "has a tab; use spaces"
    if file.text and not file.text.endswith("\n"):
        yield len(file.lines), "the last line has no newline; add one"


def unfinished(file):
    for number, line in enumerate(file.lines, 1):
        found = _UNFINISHED.search(line)
        if found:
            yield number, "%s; finish it, or say what is missing in prose" % (
                found.group(0))


def machine_paths(file):
    for number, line in enumerate(file.lines, 1):
        found = _MACHINE_PATH.search(line)
        if found:
            yield number, "%s is a path of one machine; make it relative" % (
                found.group(0))


def header_opening(file):
    """A header says what it is first, and is safe to include twice."""
    if not file.path.endswith(".h"):
        return
    comment = re.match(r"(?:[ \t]*//[^\n]*\n)+|/\*.*?\*/", file.text, re.DOTALL)
    if comment is None or len(comment.group(0)) < 40:
        yield 1, ("open with a paragraph: what this is, thread-safety, "
                  "ownership, failure, an example")
    if file.path in _C_HEADERS:
        if not re.search(r"(?m)^#ifndef \w+_H_$", file.text):
            yield 1, "a C header needs an #ifndef ..._H_ guard"
    elif file.path.endswith("-inl.h"):
        # Highway includes these once for each instruction set.
        if "HWY_TARGET_TOGGLE" not in file.text:
            yield 1, "a *-inl.h header needs Highway's HWY_TARGET_TOGGLE guard"
    elif not re.search(r"(?m)^#pragma once$", file.text):
        yield 1, "no `#pragma once`; add it after the opening comment"


def scripts(file):
    shebang = file.text.startswith("#!")
    if shebang and not file.executable:
        yield 1, "has a shebang but is not executable; chmod +x"
    if file.executable and not shebang:
        yield 1, "is executable but has no shebang; add one or chmod -x"
    if file.path.endswith(".sh") and not shebang:
        yield 1, "a script starts with #!/usr/bin/env bash"


_TYPE_HEAD = re.compile(r"^\s*(?:export\s+)?(?:typedef\s+)?"
                        r"(?:class|struct|union|enum|namespace|inline\s+"
                        r"namespace)\b")


# "A::A(int b) : b_(b), c_" before a brace: c_ is being initialised.
_INITIALISER = re.compile(r"\)[\w\s]*:[^:].*[\w>]\s*$")


def _kind_of_block(head):
    """What a brace opens, from what stands before it.

    One of "scope", "function", "initialiser" (of a member), "other".
    """
    if _INITIALISER.search(head):
        return "initialiser"
    head = re.sub(r"\b(?:alignas|__attribute__)\s*\(+[^()]*\)+", " ", head)
    head = re.sub(r"\[\[.*?\]\]", " ", head).strip()
    if head in ("extern", 'extern ""') or _TYPE_HEAD.match(
            re.sub(r"^template\s*<[^{]*?>\s*(?=class|struct|union)", "", head)):
        return "scope"
    if ")" in head and not head.endswith(("=", ",", "(", "return")):
        return "function"
    return "other"


def functions(file):
    """(first line, last line) of each C++ function; lambdas are not counted."""
    text = "\n".join("" if re.match(r"\s*#", line) else line
                     for line in _without_macros(file.code))
    blocks = []  # (kind, line of the head's start, the head)
    head, head_line, line = "", 1, 1
    for character in text:
        if character == "\n":
            line += 1
            head += " "
        elif character == "{":
            inside = any(kind != "scope" for kind, _, _ in blocks)
            blocks.append(("other" if inside else _kind_of_block(head),
                           head_line, head))
            head = ""
        elif character == "}":
            kind, start, before = blocks.pop() if blocks else ("", 0, "")
            head = ""
            if kind == "function":
                yield start, line
            elif kind == "initialiser":
                head, head_line = before + "()", start
        elif character == ";":
            head = ""
        else:
            if not head.strip():
                head_line = line
            head += character


def _without_macros(lines):
    """Blanks the continuation lines of macros, whose braces need not match."""
    continued = False
    kept = []
    for line in lines:
        directive = continued or bool(re.match(r"\s*#", line))
        kept.append("" if directive else line)
        continued = directive and line.endswith("\\")
    return kept


def function_length(file):
    if not file.is_cxx:
        return
    for first, last in functions(file):
        length = last - first + 1
        if length > MAX_FUNCTION_LINES:
            yield first, "a function of %d lines; split it (at most %d)" % (
                length, MAX_FUNCTION_LINES)


RULES = (columns, file_length, whitespace, unfinished, machine_paths,
         header_opening, scripts, function_length)
