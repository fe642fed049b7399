#!/usr/bin/env python3
"""Tests of summarize_results: hand-written events and XML in, lines out."""

import io
import json
import os
import tempfile
import unittest

import summarize_results as results

GTEST_XML = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="5" failures="1" disabled="1" errors="0" name="AllTests">
  <testsuite name="Ring" tests="5" failures="1" disabled="1" errors="0">
    <testcase name="Passes" status="run" result="completed" classname="Ring" />
    <testcase name="Fails" status="run" result="completed" classname="Ring">
      <failure message="ring_test.cc:12&#x0A;Expected: 1" type=""></failure>
      <failure message="second" type=""></failure>
    </testcase>
    <testcase name="Skips" status="run" result="skipped" classname="Ring">
      <skipped message="ring_test.cc:20&#x0A;no mpirun" />
    </testcase>
    <testcase name="DISABLED_Off" status="notrun" result="suppressed"
              classname="Ring" />
    <testcase name="Passes2" status="run" result="completed" classname="Ring" />
  </testsuite>
</testsuites>
"""

ONE_PASS = ('<testsuites><testsuite name="S"><testcase name="%s" status="run" '
            'result="completed" classname="S"/></testsuite></testsuites>')

# What Bazel writes for a program that wrote no XML itself and crashed.
CRASH_XML = ('<testsuites><testsuite name="t" tests="1" failures="0" '
             'errors="1"><testcase name="t" status="run" duration="1">'
             '<error message="exited with error code 139"></error></testcase>'
             '</testsuite></testsuites>')


class SummaryTest(unittest.TestCase):

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self._events = []

    def configure(self, label):
        self._events.append({
            "id": {"targetConfigured": {"label": label}},
            "configured": {"targetKind": "cc_test rule", "testSize": "SMALL"},
        })

    def ran(self, label, status, xml, shard=1, attempt=1):
        outputs = []
        if xml is not None:
            path = os.path.join(self._folder.name,
                                "a b%d.xml" % len(self._events))
            with open(path, "w", encoding="utf-8") as file:
                file.write(xml)
            uri = "file://" + path.replace(" ", "%20")
            outputs = [{"name": "test.log", "uri": "file:///none"},
                       {"name": "test.xml", "uri": uri}]
        self._events.append({
            "id": {"testResult": {"label": label, "run": 1, "shard": shard,
                                  "attempt": attempt}},
            "testResult": {"status": status, "testActionOutput": outputs},
        })

    def summary(self, bazel_status=0, allowed=None):
        path = os.path.join(self._folder.name, "events.json")
        with open(path, "w", encoding="utf-8") as file:
            for event in self._events:
                file.write(json.dumps(event) + "\n")
        cases = results.summarize(results.read_events(path), bazel_status)
        out = io.StringIO()
        status = results.report(cases, allowed, out)
        return status, out.getvalue().splitlines()

    def test_counts_every_kind_of_case(self):
        self.configure("//a:ring_test")
        self.ran("//a:ring_test", "FAILED", GTEST_XML)
        status, lines = self.summary(bazel_status=3)
        self.assertEqual(lines[-1], "2 passed, 1 failed, 2 skipped")
        self.assertEqual(status, 1)
        self.assertIn("FAILED: Ring.Fails  (//a:ring_test): "
                      "ring_test.cc:12 Expected: 1", lines)
        self.assertIn(
            "SKIPPED: Ring.Skips  (//a:ring_test): ring_test.cc:20 no mpirun",
            lines)
        self.assertIn(
            "SKIPPED: Ring.DISABLED_Off  (//a:ring_test): disabled", lines)

    def test_all_passed_is_success(self):
        self.configure("//a:t")
        self.ran("//a:t", "PASSED", ONE_PASS % "A")
        self.assertEqual(self.summary(), (0, ["1 passed, 0 failed, 0 skipped"]))

    def test_shards_add_up(self):
        self.configure("//a:t")
        for shard in (1, 2, 3):
            self.ran("//a:t", "PASSED", ONE_PASS % ("A%d" % shard), shard)
        self.assertEqual(self.summary()[1], ["3 passed, 0 failed, 0 skipped"])

    def test_only_the_last_attempt_counts(self):
        self.configure("//a:t")
        self.ran("//a:t", "FAILED", CRASH_XML, attempt=1)
        self.ran("//a:t", "PASSED", ONE_PASS % "A", attempt=2)
        self.assertEqual(self.summary()[1][-1], "1 passed, 0 failed, 0 skipped")

    def test_a_crash_is_one_failure(self):
        self.configure("//a:t")
        self.ran("//a:t", "FAILED", CRASH_XML)
        status, lines = self.summary(bazel_status=3)
        self.assertEqual(status, 1)
        self.assertIn("exited with error code 139", lines[0])
        self.assertEqual(lines[-1], "0 passed, 1 failed, 0 skipped")

    def test_a_failed_target_without_a_failed_case_is_a_failure(self):
        for xml in (ONE_PASS % "A", None, "<testsuites><testca"):
            with self.subTest(xml=xml):
                self._events = []
                self.configure("//a:t")
                self.ran("//a:t", "TIMEOUT", xml)
                status, lines = self.summary(bazel_status=3)
                self.assertEqual(status, 1)
                self.assertIn("TIMEOUT", lines[-2])
                self.assertIn(" 1 failed,", lines[-1])

    def test_a_passed_target_without_xml_is_a_failure(self):
        self.configure("//a:t")
        self.ran("//a:t", "PASSED", None)
        status, lines = self.summary()
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "0 passed, 1 failed, 0 skipped")

    def test_a_target_that_did_not_build_is_a_failure(self):
        self.configure("//a:good")
        self.configure("//a:broken")
        self.ran("//a:good", "PASSED", ONE_PASS % "A")
        status, lines = self.summary(bazel_status=1)
        self.assertEqual(status, 1)
        self.assertEqual(lines[0],
                         "FAILED: //a:broken: was not built or run")
        self.assertEqual(lines[-1], "1 passed, 1 failed, 0 skipped")

    def test_bazel_failing_for_another_reason_is_a_failure(self):
        self.configure("//a:good")
        self.ran("//a:good", "PASSED", ONE_PASS % "A")
        status, lines = self.summary(bazel_status=1)
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 0 skipped")

    def test_no_tests_at_all_is_not_success(self):
        self.assertEqual(self.summary(bazel_status=4),
                         (1, ["0 passed, 0 failed, 0 skipped"]))

    def test_a_missing_events_file_is_a_failure(self):
        self.assertEqual(results.read_events("/nonexistent/events"), [])
        cases = results.summarize([], 37)
        self.assertEqual([c.status for c in cases], ["failed"])

    def test_a_cut_off_events_file_keeps_what_was_complete(self):
        path = os.path.join(self._folder.name, "cut")
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"id":{}}\n{"id":{"test')
        self.assertEqual(results.read_events(path), [{"id": {}}])

    def test_a_skip_that_is_not_allowed_is_not_success(self):
        self.configure("//a:t")
        self.ran("//a:t", "PASSED", ONE_PASS % "A")
        self.ran("//a:t", "PASSED",
                 '<t><testcase name="G" classname="S" result="skipped"/></t>',
                 shard=2)
        self.assertEqual(self.summary(allowed=set())[0], 1)
        self.assertEqual(self.summary(allowed={"S.G"})[0], 0)
        self.assertEqual(self.summary(allowed=None)[0], 0)

    def test_allowed_skips_need_a_reason(self):
        path = os.path.join(self._folder.name, "allowed")
        with open(path, "w", encoding="utf-8") as file:
            file.write("# comment\n\nS.G  # no GPU here\n")
        self.assertEqual(results.read_allowed_skips(path), {"S.G"})
        with open(path, "a", encoding="utf-8") as file:
            file.write("S.H\n")
        with self.assertRaisesRegex(ValueError, "4: 'S.H' needs a reason"):
            results.read_allowed_skips(path)


if __name__ == "__main__":
    unittest.main()
