#!/usr/bin/env python3
"""The scripts that a newcomer runs: what they refuse, install and return.

Package tools and Bazel are stood in for by small programs that record how they
were called: a test must not change the machine that it runs on.
"""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.realpath(os.path.join(
    os.path.dirname(os.path.realpath(__file__)), "../.."))
TOOLS = ("bash", "cat", "dirname", "env", "grep", "ln", "mktemp", "python3",
         "rm", "sed", "tail")
UCX_FILES = ("include/ucp/api/ucp.h", "lib/libucp.so", "lib/libucs.so",
             "lib/libuct.so")


class ScriptsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)
        self.calls = os.path.join(self.folder, "calls")
        for tool in TOOLS:
            found = shutil.which(tool)
            self.program(tool, 'exec "%s" "$@"' % found)

    def program(self, name, body):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/bash\n%s\n" % body)
        os.chmod(path, 0o755)

    def recorder(self, name, body=""):
        """A program that notes its arguments."""
        self.program(name, 'echo "%s $*" >>%s\n%s' % (name, self.calls, body))

    def packages(self, missing):
        """dpkg-query as if `missing` were missing and all else installed."""
        self.program("dpkg-query", 'case " %s " in *" ${*: -1} "*) exit 1;; '
                     'esac; printf installed' % " ".join(missing))

    def recorded(self):
        if not os.path.exists(self.calls):
            return []
        with open(self.calls, encoding="utf-8") as file:
            return file.read().splitlines()

    def ucx_tree(self, path, without=()):
        """What looks like an installed UCX to the scripts."""
        for name in UCX_FILES:
            if name in without:
                continue
            file = os.path.join(self.folder, path, name)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            open(file, "w", encoding="utf-8").close()
        return os.path.join(self.folder, path)

    def run_script(self, *command, before=(), cwd=None):
        return subprocess.run(
            [*before, "/bin/bash", os.path.join(ROOT, command[0]),
             *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            cwd=cwd,
            env={"PATH": self.folder, "HOME": self.folder,
                 "TMPDIR": self.folder}, timeout=120)

    def install(self, *groups, before=()):
        return self.run_script("third_party/install_packages.sh", *groups,
                               before=before)

    def test_nothing_happens_when_all_is_there(self):
        self.packages([])
        self.recorder("apt-get")
        done = self.install()
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertEqual(self.recorded(), [])

    def test_root_installs_only_what_is_missing(self):
        self.packages(["g++", "libucx-dev"])
        self.recorder("apt-get")
        if os.geteuid() != 0:
            self.program("sudo", 'if [[ $1 == -n ]]; then shift; fi; "$@"')
            self.program("true", "exit 0")
        done = self.install()
        self.assertEqual(done.returncode, 0, done.stdout)
        update, install = self.recorded()
        self.assertTrue(update.endswith(" update"), update)
        self.assertTrue(install.endswith(
            " install -y --no-install-recommends g++ libucx-dev"), install)

    def test_packages_of_a_group_are_installed_on_request(self):
        self.packages(["clang"])
        self.recorder("apt-get")
        self.assertEqual(self.install().returncode, 0)
        self.assertEqual(self.recorded(), [])
        if os.geteuid() == 0:
            self.assertEqual(self.install("clang").returncode, 0)
            self.assertIn(" clang", self.recorded()[-1])

    def test_a_failed_installation_names_what_is_missing(self):
        self.packages(["g++"])
        self.program("apt-get", "echo E: no such package; exit 100")
        done = self.install()
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"  g++\n", done.stdout)

    def test_without_apt_the_missing_packages_are_named(self):
        done = self.install()  # no dpkg-query either: all count as missing
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"  libucx-dev\n", done.stdout)
        self.assertNotIn(b"  clang\n", done.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_others_without_sudo_are_told_what_to_install(self):
        self.packages(["g++"])
        self.recorder("apt-get")
        nobody = [shutil.which("setpriv"), "--reuid=65534", "--regid=65534",
                  "--clear-groups"]
        done = subprocess.run(nobody + ["/bin/true"])
        if done.returncode != 0:
            self.skipTest("this sandbox does not let root become nobody")
        shutil.copy(os.path.join(ROOT, "third_party/install_packages.sh"),
                    os.path.join(self.folder, "install"))
        shutil.copy(os.path.join(ROOT, "third_party/debian_packages.txt"),
                    self.folder)
        script = os.path.join(self.folder, "install")
        done = self.run_script(script, before=nobody)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(b"not root, and there is no sudo", done.stdout)
        self.assertIn(b"  g++\n", done.stdout)
        self.assertEqual(self.recorded(), [])

    def fake_bazel(self, status, xml):
        """A Bazel whose one test target left `xml`."""
        xml_path = os.path.join(self.folder, "test.xml")
        with open(xml_path, "w", encoding="utf-8") as file:
            file.write(xml)
        events = os.path.join(self.folder, "prepared")
        with open(events, "w", encoding="utf-8") as file:
            file.write(json.dumps({
                "id": {"testResult": {"label": "//a:t"}},
                "testResult": {
                    "status": "PASSED" if status == 0 else "FAILED",
                    "testActionOutput": [{"name": "test.xml",
                                          "uri": "file://" + xml_path}]},
            }))
        self.recorder("bazel", 'if [[ -n ${UCX_HOME:-} ]]; then echo '
                      '"UCX_HOME=$UCX_HOME" >>%s; fi; ' % self.calls +
                      'for word; do case $word in '
                      '--build_event_json_file=*) cat %s >"${word#*=}";; esac; '
                      'done; exit %d' % (events, status))

    def test_run_ends_in_the_totals(self):
        self.packages([])
        self.fake_bazel(0, '<t><testcase classname="S" name="A"/></t>')
        done = self.run_script("tests/run", "--config", "tsan", "//a:t")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(done.stdout.endswith(
            b"1 passed, 0 failed, 0 skipped\n"), done.stdout)
        self.assertIn("--config=tsan", self.recorded()[0])
        self.assertTrue(self.recorded()[0].endswith("-- //a:t"))

    def test_run_fails_when_a_test_fails(self):
        self.packages([])
        self.fake_bazel(3, '<t><testcase classname="S" name="A"><failure/>'
                        '</testcase></t>')
        done = self.run_script("tests/run")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.endswith(
            b"0 passed, 1 failed, 0 skipped\n"), done.stdout)
        self.assertTrue(self.recorded()[0].endswith("-- //..."))

    def test_another_ucx_reaches_bazel_from_any_folder(self):
        self.packages([])
        self.fake_bazel(0, '<t><testcase classname="S" name="A"/></t>')
        tree = self.ucx_tree("a/ucx")
        self.assertEqual(self.run_script("tests/run").returncode, 0)
        self.assertNotIn("UCX_HOME", " ".join(self.recorded()))
        for directory in (tree, "a/ucx", "./a/../a/ucx/"):
            with self.subTest(directory=directory):
                done = self.run_script("tests/run", "--ucx", directory,
                                       cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertEqual(self.recorded()[-1], "UCX_HOME=" + tree)

    def test_a_ucx_that_lacks_something_is_refused_with_its_name(self):
        self.recorder("bazel")
        for number, lacking in enumerate(UCX_FILES):
            tree = self.ucx_tree("ucx%d" % number, without=[lacking])
            for script in ("tests/run", "perf/quickstart"):
                with self.subTest(script=script, lacking=lacking):
                    done = self.run_script(script, "--ucx", tree)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn(("--ucx '%s': no %s" % (tree, lacking))
                                  .encode(), done.stdout)
        done = self.run_script("tests/run", "--ucx", self.ucx_tree("a b"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"a path that has spaces", done.stdout)
        self.assertEqual(self.recorded(), [])

    def fake_pip(self, package):
        """A python3 whose pip installs the folder `package`."""
        self.recorder("python3", 'while (($# > 1)); do if [[ $1 == --target ]];'
                      ' then %s "$2" && %s -r "%s" "$2/libucx"; fi; shift; done'
                      % (shutil.which("mkdir") + " -p", shutil.which("cp"),
                         package))

    def test_fetching_ucx_once_gives_a_tree_that_is_accepted(self):
        versioned = self.ucx_tree("package", without=UCX_FILES[1:])
        os.mkdir(os.path.join(versioned, "lib"))
        for name in UCX_FILES[1:]:
            open(os.path.join(versioned, name + ".0"), "w",
                 encoding="utf-8").close()
        self.fake_pip(versioned)
        tree = os.path.join(self.folder, "f/libucx")
        for calls in (2, 2):  # asked for its version, and to install
            done = self.run_script("third_party/fetch_ucx.sh", "f",
                                   cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout.decode()),
                             (0, tree + "\n"))
            self.assertEqual(len(self.recorded()), calls)
        self.assertEqual(os.readlink(os.path.join(tree, "lib/libucp.so")),
                         "libucp.so.0")

    def test_fetching_ucx_says_what_failed(self):
        self.program("python3", "exit 1")
        done = self.run_script("third_party/fetch_ucx.sh")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"python3-pip", done.stdout)
        self.program("python3", '[[ $* == *--version* ]]')
        done = self.run_script("third_party/fetch_ucx.sh")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"pip could not install", done.stdout)
        self.assertIn(self.folder.encode(), done.stdout)

    def test_ci_fails_on_a_skip_without_a_reason(self):
        self.packages([])
        self.fake_bazel(0, '<t><testcase classname="S" name="A"/><testcase '
                        'classname="No" name="Reason" result="skipped"/></t>')
        self.assertEqual(self.run_script("tests/run").returncode, 0)
        done = self.run_script(".ci/run")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.endswith(
            b"1 passed, 0 failed, 1 skipped\n"), done.stdout)

    def test_bad_options_are_refused_with_what_is_accepted(self):
        for script, words, said in (
                ("tests/run", ["--config", "debug"], b"asan, tsan, lint"),
                ("tests/run", ["--ucx", "/nowhere"], b"'/nowhere'"),
                ("tests/run", ["--fast"], b"'--fast'"),
                ("tests/run", ["--allowed-skips", "/no"], b"'/no'"),
                ("perf/quickstart", ["--ranks", "0"], b"from 1 to 99"),
                ("perf/quickstart", ["--ucx"], b"no include"),
                ("perf/quickstart", ["x"], b"'x'")):
            with self.subTest(script=script, words=words):
                done = self.run_script(script, *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stdout)
        self.assertEqual(self.recorded(), [])

    def test_help_is_printed(self):
        for script in ("tests/run", "perf/quickstart"):
            done = self.run_script(script, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn(b"--ucx DIR", done.stdout)


if __name__ == "__main__":
    unittest.main()
