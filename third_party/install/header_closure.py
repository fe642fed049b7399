"""Which headers a user needs, and how they are spelled once installed."""

import re

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
# Also where a comment shows an include, so that examples stay right.
_MENTION = re.compile(r'(#[ \t]*include[ \t]*)"([^"\n]+)"')


class MissingHeader(Exception):
    """A header that users would need is not among those that exist."""


def includes(text):
    """What `text` includes with quotation marks, in order."""
    return _INCLUDE.findall(text)


def closure(public, available, read):
    """Paths of `public` headers and of all that they include, sorted.

    `available` holds the paths of the headers that exist, and read(path) gives
    a header's text.
    """
    found = set()
    waiting = [(path, "the list of public headers") for path in public]
    while waiting:
        path, includer = waiting.pop()
        if path in found:
            continue
        if path not in available:
            raise MissingHeader(
                '"%s", which %s names, is no header of the library: either no '
                "target that it depends on has it in `hdrs`, or it belongs to "
                "another library, which public headers must not include" %
                (path, includer))
        found.add(path)
        waiting += [(name, path) for name in includes(read(path))]
    return sorted(found)


def installed_text(text, folder):
    """`text` with its own headers included from `folder`."""
    return _MENTION.sub(r'\1"%s/\2"' % folder, text)
