#!/usr/bin/env python3
"""Counts the test cases of one `bazel test` run.

Reads the run's build events (--build_event_json_file): they say which test
targets there were, how each ended and where its test.xml lies, so results of
other runs are never counted. Prints every failed and every skipped case, then
`N passed, N failed, N skipped`.

A test target counts at least once. One that was not built, or did not pass
without an XML file that says which case failed, counts as one failed case.

Exit status: 0 when nothing failed, something passed, and every skipped case is
named in --allowed-skips (if given); else 1.
"""

import argparse
import collections
import json
import os
import sys
import urllib.parse
import xml.etree.ElementTree

# One attempt at one shard of one run of a test target.
Shard = collections.namedtuple("Shard", "label run shard attempt status xml")
# status: "passed", "failed" or "skipped".
Case = collections.namedtuple("Case", "label name status why")


def read_events(path):
    """The events of the file; a cut-off last line (Bazel died) is dropped."""
    if not os.path.exists(path):
        return []
    events = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            try:
                events.append(json.loads(line))
            except ValueError:
                break
    return events


def configured_tests(events):
    """Labels of the test targets that this run was to execute."""
    labels = []
    for event in events:
        label = event.get("id", {}).get("targetConfigured", {}).get("label")
        configured = event.get("configured", {})
        if label and configured.get("testSize"):
            labels.append(label)
    return labels


def _xml_path(test_result):
    for output in test_result.get("testActionOutput", []):
        if output.get("name") == "test.xml":
            uri = urllib.parse.urlparse(output.get("uri", ""))
            return urllib.parse.unquote(uri.path)
    return None


def last_attempts(events):
    """The last attempt of every shard, in the order of the events."""
    shards = {}
    for event in events:
        key = event.get("id", {}).get("testResult")
        if not key:
            continue
        result = event.get("testResult", {})
        shard = Shard(key["label"], key.get("run", 1), key.get("shard", 1),
                      key.get("attempt", 1), result.get("status", "NO_STATUS"),
                      _xml_path(result))
        place = shard[:3]
        if place not in shards or shards[place].attempt < shard.attempt:
            shards[place] = shard
    return list(shards.values())


def _one_line(text):
    """The text of a failure on one line of a sensible length."""
    words = " ".join(text.split())
    return words if len(words) <= 200 else words[:197] + "..."


def _case_of(element, label):
    name = element.get("name", "?")
    suite = element.get("classname")
    if suite:
        name = suite + "." + name
    bad = [child for child in element if child.tag in ("failure", "error")]
    if bad:
        text = bad[0].get("message") or bad[0].text or ""
        return Case(label, name, "failed", _one_line(text))
    skipped = element.find("skipped")
    if skipped is not None:
        text = skipped.get("message") or skipped.text or ""
        return Case(label, name, "skipped", _one_line(text))
    if element.get("result") == "skipped":
        return Case(label, name, "skipped", "")
    if element.get("status") == "notrun":
        return Case(label, name, "skipped", "disabled")
    return Case(label, name, "passed", "")


def cases_of(shard):
    """The cases of one shard; a failed shard has at least one failed case."""
    cases = []
    problem = "no test.xml"
    if shard.xml and os.path.exists(shard.xml):
        try:
            root = xml.etree.ElementTree.parse(shard.xml).getroot()
            cases = [_case_of(e, shard.label) for e in root.iter("testcase")]
            problem = "its test.xml names no failed case"
        except xml.etree.ElementTree.ParseError as error:
            problem = "its test.xml cannot be read: %s" % error
    passed = shard.status == "PASSED"
    readable = problem == "its test.xml names no failed case"
    if passed and readable:
        return cases
    if any(case.status == "failed" for case in cases):
        return cases
    name = shard.label
    if shard.shard > 1:
        name += " shard %d" % shard.shard
    why = "%s, and %s" % (shard.status, problem)
    return cases + [Case(shard.label, name, "failed", why)]


def summarize(events, bazel_status):
    """All cases of the run, those of targets that never ran included."""
    cases = []
    ran = set()
    for shard in last_attempts(events):
        ran.add(shard.label)
        cases += cases_of(shard)
    for label in configured_tests(events):
        if label not in ran:
            ran.add(label)
            cases.append(Case(label, label, "failed", "was not built or run"))
    failed = any(case.status == "failed" for case in cases)
    # 4 is Bazel's "no tests found": nothing failed, nothing passed either.
    if bazel_status not in (0, 4) and not failed:
        why = "exited with %d; its messages say why" % bazel_status
        cases.append(Case("bazel", "bazel", "failed", why))
    return cases


def read_allowed_skips(path):
    """The names in a file of `Suite.Case  # reason` lines."""
    names = set()
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            name, _, reason = (part.strip() for part in line.partition("#"))
            if not name:
                continue
            if not reason:
                raise ValueError("%s:%d: '%s' needs a reason: "
                                 "`Suite.Case  # reason`" %
                                 (path, number, name))
            names.add(name)
    return names


def report(cases, allowed_skips, out):
    """Prints the cases that did not pass and the totals; the exit status."""
    refused = 0
    for case in cases:
        if case.status == "passed":
            continue
        line = "%s: %s" % (case.status.upper(), case.name)
        if case.name != case.label:
            line += "  (%s)" % case.label
        if case.why:
            line += ": " + case.why
        if (case.status == "skipped" and allowed_skips is not None and
                case.name not in allowed_skips):
            refused += 1
            line += "  [not an allowed skip]"
        print(line, file=out)
    count = collections.Counter(case.status for case in cases)
    print("%d passed, %d failed, %d skipped" %
          (count["passed"], count["failed"], count["skipped"]), file=out)
    good = count["passed"] > 0 and count["failed"] == 0 and refused == 0
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(description="Counts test cases.")
    parser.add_argument("events", help="the --build_event_json_file of the run")
    parser.add_argument("--bazel-status", type=int, required=True)
    parser.add_argument("--allowed-skips", help="`Suite.Case  # reason` lines")
    arguments = parser.parse_args()
    allowed = None
    if arguments.allowed_skips:
        try:
            allowed = read_allowed_skips(arguments.allowed_skips)
        except ValueError as error:
            print(error, file=sys.stderr)
            return 2
    cases = summarize(read_events(arguments.events), arguments.bazel_status)
    return report(cases, allowed, sys.stdout)


if __name__ == "__main__":
    sys.exit(main())
