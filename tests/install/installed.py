"""An installation in a temporary folder, and programs that are built on it."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile

INSTALL = os.path.abspath("install")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
LANGUAGES = {".c": ["gcc", "-std=c99"], ".cc": ["g++", "-std=c++20"]}


def run_install(arguments, **environment):
    """The finished process, with its output as text."""
    return subprocess.run([INSTALL] + arguments,
                          env=dict(os.environ, **environment),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)


def output_of(command, **options):
    """What a command prints; an error with all that it said if it fails."""
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, universal_newlines=True,
                            **options)
    if result.returncode != 0:
        raise AssertionError("%s failed with %d:\n%s" % (
            " ".join(command), result.returncode, result.stdout))
    return result.stdout


def newest_glibc(path):
    """The highest version of glibc that the file asks for, as numbers."""
    symbols = output_of(["objdump", "-T", path])
    found = re.findall(r"\*UND\*.*\bGLIBC_(\d+(?:\.\d+)+)", symbols)
    return max(tuple(int(number) for number in version.split("."))
               for version in found)


def needed(path):
    """The shared objects that the file asks for."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]",
                      output_of(["readelf", "-d", path]))


class Installation:
    """Rondo, installed for one folder and then moved to another."""

    def __init__(self):
        self.work = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        stage = os.path.join(self.work, "stage")
        result = run_install(["--prefix", "/opt/first"], DESTDIR=stage)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        self.prefix = os.path.join(self.work, "moved")
        os.rename(os.path.join(stage, "opt/first"), self.prefix)
        self.sanitizers = self._sanitizers()

    def remove(self):
        shutil.rmtree(self.work)

    def path(self, name):
        return os.path.join(self.prefix, name)

    def _sanitizers(self):
        """A program with a sanitized library needs its run time, too."""
        symbols = output_of(["nm", "-D", self.path("lib/librondo.so.0")])
        if "__asan_init" in symbols:
            return ["-fsanitize=address,undefined"]
        return ["-fsanitize=thread"] if "__tsan_init" in symbols else []

    def pkg_config(self, *arguments):
        environment = dict(os.environ,
                           PKG_CONFIG_PATH=self.path("lib/pkgconfig"))
        return shlex.split(output_of(["pkg-config"] + list(arguments),
                                     env=environment))

    def compile(self, source, module):
        """Builds one source file as pkg-config says; the program's path."""
        name, suffix = os.path.splitext(os.path.basename(source))
        program = os.path.join(self.work, name + "-" + module)
        output_of(LANGUAGES[suffix] + WARNINGS + self.sanitizers +
                  self.pkg_config("--cflags", module) + [source] +
                  self.pkg_config("--libs", module) + ["-o", program])
        return program

    def cmake(self, source, build, *definitions):
        flags = " ".join(WARNINGS + self.sanitizers)
        output_of(["cmake", "-S", source, "-B", build,
                   "-DCMAKE_PREFIX_PATH=" + self.prefix,
                   "-DCMAKE_C_FLAGS=" + flags,
                   "-DCMAKE_CXX_FLAGS=" + flags] + list(definitions))
        output_of(["cmake", "--build", build])

    def run_ranks(self, program, ranks, *arguments):
        """Runs a job; [(exit status, output)] by rank."""
        rendezvous = tempfile.mktemp(dir=self.work)
        processes = []
        for rank in range(ranks):
            environment = dict(
                os.environ, RONDO_RANK=str(rank), RONDO_WORLD_SIZE=str(ranks),
                RONDO_SOCKET_IFNAME="lo", RONDO_RENDEZVOUS_FILE=rendezvous,
                LD_LIBRARY_PATH=self.path("lib"))
            processes.append(subprocess.Popen(
                [program] + list(arguments), env=environment,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                universal_newlines=True))
        try:
            return [(process.communicate(timeout=60)[0], process.returncode)
                    [::-1] for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait()
