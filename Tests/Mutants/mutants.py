#!/usr/bin/env python3
"""mutants.py [MODULE] [NAME]: plants single faults in a copy of the sources, and says which of
them the tests notice. The lists of faults are in faults/; README.md tells how to add one.

All faults are built at once, each behind a switch; then the tests run once for each fault. The exit
status is 1 where a fault survives that is not expected to."""
import argparse
import json
import os
import signal
import sys
import time

sys.dont_write_bytecode = True

import faultlists  # noqa: E402
import generator  # noqa: E402
import parsing  # noqa: E402
import substitution  # noqa: E402
from campaign import Campaign, RedBaseline  # noqa: E402
from package import BuildFailure, InUse, Package  # noqa: E402
from testruns import Sandbox  # noqa: E402


def main():
    arguments = parse()
    sources = faultlists.Sources()
    faults, problems = faultlists.read(sources=sources)
    problems += overlaps(faults)
    if arguments.check:
        return check(faults, problems, sources)
    if problems:
        return complain(problems)
    if arguments.generated:
        return run_generated(sources, arguments)
    chosen = choose(faults, arguments)
    if arguments.list:
        for fault in chosen:
            print(f"{fault.module:18} {fault.name:48} {fault.file}:{fault.line}")
        return 0
    if not chosen:
        return complain(["no fault has such a name"])
    package = Package()
    package.write(faults)
    dropped = build(package, faults, arguments.drop or arguments.compile)
    if dropped is None:
        return 2
    if arguments.compile:
        return 2 if dropped else 0
    chosen = [f for f in chosen if f not in dropped]
    return run(package, sorted(chosen, key=faultlists.risk_of), arguments)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", nargs="?", help="only the faults of this module")
    parser.add_argument("name", nargs="?", help="only the faults whose name contains this")
    parser.add_argument("--check", action="store_true", help="only check the lists")
    parser.add_argument(
        "--compile", action="store_true",
        help="only build the copy, and name all faults that do not compile")
    parser.add_argument("--list", action="store_true", help="only list the faults")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at a time")
    parser.add_argument("--json", metavar="FILE", help="write the results as lines of JSON")
    parser.add_argument(
        "--drop", action="store_true", help="leave out the faults that do not compile")
    parser.add_argument(
        "--depth", choices=["all", "own"], default="all",
        help="own: only the tests of the fault's module, not those of the modules above it")
    parser.add_argument(
        "--generated", type=int, metavar="N", help="N faults made by rule instead of the lists")
    parser.add_argument("--seed", type=int, default=1, help="which faults are made")
    return parser.parse_args()


def complain(problems):
    for problem in problems:
        print(problem, file=sys.stderr)
    return 2


def overlaps(faults):
    by_file = {}
    for fault in faults:
        by_file.setdefault(fault.file, []).append(fault)
    found = []
    for some in by_file.values():
        try:
            substitution.nest(some)
        except substitution.Overlap as overlap:
            found.append(str(overlap))
    return found


def check(faults, problems, sources):
    import unittest

    problems = (
        problems + faultlists.check_spread(faults) + faultlists.check_survivors(faults)
        + parsing.check(faults, sources))
    tests = unittest.defaultTestLoader.loadTestsFromName("test_mutants")
    result = unittest.TestResult()
    tests.run(result)
    problems += [f"{test}:\n{text}" for test, text in result.failures + result.errors]
    if not problems:
        print(f"{len(faults)} faults, all found; {result.testsRun} tests of the tool")
    return complain(problems) if problems else 0


def choose(faults, arguments):
    modules = {fault.module for fault in faults}
    module, name = arguments.module, arguments.name
    if module and not name and module not in modules:
        module, name = None, module
    return [
        f for f in faults
        if (not module or f.module == module) and (not name or name in f.name)]


# Building


def build(package, faults, drop):
    """Builds the package with the faults. Those that do not compile are dropped or, if they may
    not be, printed. Returns the dropped ones, or None."""
    dropped = []
    begin = time.monotonic()
    while True:
        try:
            errors = package.build()
        except BuildFailure as failure:
            print(f"the copy does not build:\n{failure}", file=sys.stderr)
            return None
        if not errors:
            print(f"built in {time.monotonic() - begin:.0f} s", flush=True)
            return dropped
        for fault in faults:
            messages = errors.get((fault.file, fault.number))
            if messages:
                print(f"does not compile: {fault.title} ({fault.file}:{fault.line})")
                for message in messages:
                    print(f"  {message}")
                dropped.append(fault)
        if not drop:
            return None
        package.write([fault for fault in faults if fault not in dropped])


def run_generated(sources, arguments):
    package = Package()
    plan = generator.Plan(sources, arguments.generated, arguments.seed)
    while True:
        package.write(plan.faults)
        dropped = build(package, plan.faults, drop=True)
        if dropped is None:
            return 2
        if not plan.replace(dropped):
            break
    faults = [f for f in plan.faults if f not in dropped]
    print(f"{len(faults)} faults, seed {arguments.seed}")
    return run(package, faults, arguments)


# Running


class Table:
    """The results as they come, and in sum."""

    def __init__(self, total, path):
        self.total, self.verdicts = total, []
        self.file = open(path, "w") if path else None

    def add(self, verdict):
        self.verdicts.append(verdict)
        fault = verdict.fault
        if verdict.outcome == "killed":
            how = "" if verdict.how == "failed" else f" ({verdict.how})"
            more = f" and {len(verdict.tests) - 1} more" if len(verdict.tests) > 1 else ""
            text = f"killed{how} by {verdict.tests[0]}{more}"
            if fault.survives is not None:
                text += ", although it was expected to survive"
        else:
            text = "survived" if fault.survives is not None else "SURVIVED"
            passed = ", ".join(verdict.passed)
            text += f": {passed} passed" if passed else ": no test reaches it"
            if fault.survives is not None:
                text += f"; expected: {fault.survives}"
        count = f"{len(self.verdicts):3}/{self.total}"
        print(f"{count} {fault.title}: {text} ({verdict.seconds:.1f} s)", flush=True)
        if self.file:
            self.file.write(json.dumps(verdict.record()) + "\n")
            self.file.flush()

    def survived_own(self, verdict):
        passed = ", ".join(verdict.passed) or "no test"
        print(f"        {verdict.fault.title}: {passed} did not notice; later those above")

    def close(self):
        if self.file:
            self.file.close()
        heads = ["faults", "killed", "survived", "expected", "%"]
        print(f"\n{'module':20}" + "".join(f"{head:>9}" for head in heads))
        modules = sorted({v.fault.module for v in self.verdicts})
        for module in modules:
            self._line(module, [v for v in self.verdicts if v.fault.module == module])
        self._line("all", self.verdicts)

    def _line(self, name, verdicts):
        killed = sum(v.outcome == "killed" for v in verdicts)
        expected = sum(v.outcome == "survived" and not v.is_wrong for v in verdicts)
        survived = len(verdicts) - killed - expected
        counted = killed + survived
        percent = 100 * killed / counted if counted else 100
        print(
            f"{name:20}{len(verdicts):9}{killed:9}{survived:9}{expected:9}{percent:9.1f}")


def run(package, faults, arguments):
    sandbox = Sandbox()
    if sandbox.prefix is None:
        print("no network namespaces here: one run at a time", flush=True)
    table = Table(len(faults), arguments.json)
    begin = time.monotonic()

    def report(line):
        print(line, flush=True)

    campaign = Campaign(package, sandbox, arguments.jobs, arguments.depth, report)
    try:
        campaign.judge_all(faults, table.add, table.survived_own)
    except RedBaseline as red:
        print(red, file=sys.stderr)
        return 2
    table.close()
    wrong = [v for v in table.verdicts if v.is_wrong]
    for verdict in wrong:
        fault = verdict.fault
        print(f"\n{verdict.outcome}: {fault.title}\n  {fault.file}:{fault.line}")
        if fault.promise:
            print(f"  {fault.promise}")
        print(f"  - {flat(fault.before)}\n  + {flat(fault.after) or 'nothing'}")
    print(f"\n{time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


def flat(text):
    return " ".join(text.split())[:200]


if __name__ == "__main__":
    # As an interrupt from the keyboard, so that everything that runs is ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(complain(["interrupted"]))
    except InUse as error:
        sys.exit(complain([error]))
