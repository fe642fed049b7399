"""What a shared object defines for others, and under which name."""

import re
import subprocess

_RONDO = re.compile(r"rondo[A-Z]\w*$|"
                    r"(?:vtable for |typeinfo for |typeinfo name for )?"
                    r"rondo::")


def exported(path):
    """Demangled names of the dynamic symbols that the object defines."""
    output = subprocess.run(["nm", "-D", "--defined-only", "-C", path],
                            check=True, stdout=subprocess.PIPE).stdout.decode()
    # "address type name", or "type name" for what has no address.
    return [re.sub(r"^(?:[0-9a-f]+)?\s*\w ", "", line).strip()
            for line in output.splitlines()]


def foreign(names):
    """The names that are not Rondo's."""
    return [name for name in names if not _RONDO.match(name)]


def soname(path):
    """The SONAME of the object, or None."""
    output = subprocess.run(["readelf", "-d", path], check=True,
                            stdout=subprocess.PIPE).stdout.decode()
    found = re.search(r"Library soname: \[(.*)\]", output)
    return found.group(1) if found else None
