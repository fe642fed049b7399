#!/usr/bin/env python3
"""Installs Rondo: `bazel run //:install -- --prefix DIR`.

Libraries, headers, the `rondo` command, and what pkg-config and CMake need to
find them. What an older installation left is replaced file by file, each at
once, so that running programs keep theirs. Nothing else is touched.
"""

import argparse
import os
import sys

import header_closure
import installation

MANIFEST = "install_manifest.json"


def runfiles():
    """The folder in which the build laid out what is to be installed."""
    for folder in (os.path.abspath(sys.argv[0]) + ".runfiles/rondo",
                   os.getcwd()):
        if os.path.exists(os.path.join(folder, MANIFEST)):
            return folder
    raise installation.BrokenPackage(
        "%s is not there; start this as `bazel run //:install`" % MANIFEST)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="install", description="Installs Rondo into a folder.",
        epilog="The environment's DESTDIR, if set, is put before DIR: for "
               "packages that are made in one place and used in another.")
    parser.add_argument("--prefix", metavar="DIR", required=True,
                        help="where to install, for example /usr/local; "
                             "relative to where you stand")
    parsed = parser.parse_args(arguments)
    if not parsed.prefix:
        parser.error("--prefix '': not the name of a folder")
    return parsed


def target_folder(prefix, environment):
    """Where files go: `bazel run` starts programs elsewhere than the user."""
    here = environment.get("BUILD_WORKING_DIRECTORY", os.getcwd())
    absolute = os.path.normpath(os.path.join(here, prefix))
    staging = environment.get("DESTDIR", "")
    if not staging:
        return absolute
    return os.path.join(here, staging, absolute.lstrip("/"))


def place(item, folder):
    """Puts one file into the installation, or none of it."""
    path = os.path.join(folder, item.path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # A name of its own, until it is complete.
    temporary = "%s.%d.new" % (path, os.getpid())
    try:
        if item.mode is None:
            os.symlink(item.content, temporary)
        else:
            with open(temporary, "xb") as file:
                file.write(item.content)
            os.chmod(temporary, item.mode)
        os.replace(temporary, path)
    except OSError:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise
    return path


def main():
    arguments = parse_arguments(sys.argv[1:])
    path = folder = target_folder(arguments.prefix, os.environ)
    try:
        # All of it is read before anything is written.
        items = installation.Package(runfiles(), MANIFEST).items()
        for item in items:
            path = os.path.join(folder, item.path)
            place(item, folder)
    except (installation.BrokenPackage,
            header_closure.MissingHeader) as error:
        print("install: %s" % error, file=sys.stderr)
        return 2
    except OSError as error:
        print("install: cannot write %s: %s; --prefix must be a folder that "
              "you may write to, or create" % (path, error.strerror),
              file=sys.stderr)
        return 2
    print("Installed %d files into %s" % (len(items), folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
