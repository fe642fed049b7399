"""Rules about what C++ code may say, and where."""

import collections
import re

# A pattern that code may not contain, what to write instead, and the files in
# which it is right all the same.
Ban = collections.namedtuple("Ban", "pattern instead where_allowed in_tests")


def _ban(pattern, instead, where_allowed="$^", in_tests=True):
    return Ban(re.compile(pattern), instead, re.compile(where_allowed),
               in_tests)


_PROGRAMS = r"^perf/|/examples/|^plugin/check/"

BANS = (
    _ban(r"\bstd::c(?:out|err)\b|(?<!\w)(?:std::)?(?:f?printf|puts)\s*\(",
         "a library does not print; use RONDO_LOG_* or return the text",
         _PROGRAMS),
    _ban(r"(?<!\w)assert\s*\(",
         "an assertion would end the user's process; return Internal(...)"),
    _ban(r"(?<![\w.>:])(?:std::)?abort\s*\(",
         "nothing ends the user's process; return a Status"),
    _ban(r"(?<![\w.>:])(?:std::|::)?(?:_exit|exit|quick_exit|_Exit)\s*\(",
         "nothing ends the user's process; return a Status", _PROGRAMS),
    _ban(r"\bthrow\b", "no exceptions; return a Status or a Result<T>"),
    _ban(r"\busing\s+namespace\b", "name what you use: using a::b;",
         in_tests=False),
    _ban(r"\bstd::endl\b", "write '\\n': std::endl flushes every time",
         in_tests=False),
    _ban(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\b|(?<!\w)sleep\s*\(",
         "a sleep is a wait without a deadline; use Deadline and Backoff",
         r"^transports/base/"),
    _ban(r"(?<!\w)(?:std::)?(?:ato[ifl]+|strto[a-z]+|sto[ildfu]+|sscanf)\s*\(",
         "use std::from_chars, ParseSize or ParseParameter, which refuse "
         "what they cannot read",
         r"^transports/base/(?:size_text|parameter)"),
    _ban(r"(?<!\w)(?:std::)?(?:secure_)?(?:get|set|put|unset)env\s*\(",
         "read parameters from an EnvironmentReader",
         # UCX's own variables are read where UCX is set up, as UCX reads them;
         # the checks of a plugin set what the plugin will read.
         r"^transports/base/|^transports/bootstrap/launch|^transports/ucx/"
         r"|^plugin/check/|^perf/net/net_pair"),
    _ban(r"#\s*include\s*<+uc[pts]/",
         "UCX is seen by transports/ucx only; go through Transport",
         # NCCL's plugin interface has registered memory, flushes and a worker
         # for each communicator, none of which a Transport has.
         r"^transports/ucx/|^plugin/net/"),
)


def banned_words(file):
    if not file.is_cxx:
        return
    for ban in BANS:
        if ban.where_allowed.search(file.path) or (ban.in_tests and
                                                   file.is_test):
            continue
        for number, line in enumerate(file.code, 1):
            found = ban.pattern.search(line)
            if found:
                yield number, "`%s`: %s" % (found.group(0).strip(), ban.instead)


RULES = (banned_words,)
