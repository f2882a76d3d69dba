"""Runs the tests for every fault, and decides whether they notice it."""
import json
import queue
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from testruns import Interrupted, Worker, pattern_of

# Not run: these tests are about the text of the sources.
EXCLUDED = {"TidyTests"}
# Run last, in this order: they use everything, and take long.
LAST = ["WireFormatTests", "EndToEndTests", "InteropTests"]


class RedBaseline(Exception):
    """A test fails without any fault."""


@dataclass
class Baseline:
    """A test target's run without a fault."""

    seconds: float
    longest_gap: float
    durations: dict
    # Tests that failed once and passed the second time; they are left out.
    unsteady: list
    # The numbers of the faults that the run reached, by target.
    reached: dict

    @property
    def timeout(self):
        return 3 * self.seconds + 20

    @property
    def gap(self):
        return 3 * self.longest_gap + 20

    def timeout_of(self, tests):
        """The limit of a run of single tests."""
        return 3 * max(self.durations.get(test, self.seconds) for test in tests) + 20


@dataclass
class Verdict:
    """What became of a fault."""

    fault: object
    # "killed" or "survived"
    outcome: str = "survived"
    # "failed", "crash" or "hang" of a fault that was killed
    how: str = ""
    tests: list = field(default_factory=list)
    message: str = ""
    # The test targets that reached the fault's code and passed.
    passed: list = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_wrong(self):
        """A survivor that nobody expects, or a fault that was expected to survive."""
        return (self.outcome == "survived") != (self.fault.survives is not None)

    def record(self):
        fault = self.fault
        return {
            "module": fault.module, "name": fault.name, "outcome": self.outcome, "how": self.how,
            "tests": self.tests, "message": self.message, "passed": self.passed,
            "seconds": round(self.seconds, 1), "file": fault.file, "line": fault.line,
            "promise": fault.promise, "before": fault.before, "after": fault.after,
            "survives": fault.survives}


class Order:
    """Which test targets run for the faults of a target, and in which order."""

    def __init__(self, targets):
        self.targets = targets
        self.tests = [n for n, (is_test, _) in targets.items() if is_test and n not in EXCLUDED]
        self.reach = {name: self._all_below(name) for name in targets}

    def _all_below(self, name):
        found, stack = set(), [name]
        while stack:
            for below in self.targets.get(stack.pop(), (False, []))[1]:
                if below not in found:
                    found.add(below)
                    stack.append(below)
        return found

    def tests_of(self, target, depth):
        """The target's own tests, or those of the modules above it: from the lowest on, and at
        last those that use everything."""
        able = [test for test in self.tests if target in self.reach[test]]

        def rank(test):
            module = test.removesuffix("Tests")
            late = LAST.index(test) if test in LAST else -1
            direct = target not in self.targets[test][1]
            return (module != target, late, direct, len(self.reach[test]))

        able.sort(key=rank)
        # A target without tests of its own is tested by those of the module next to it.
        return able[:1] if depth == "own" else able[1:]


class Campaign:
    """All runs of one build."""

    def __init__(self, package, sandbox, jobs, depth="all", report=print):
        self.package, self.sandbox, self.depth, self.report = package, sandbox, depth, report
        self.jobs = jobs if sandbox.prefix else 1
        self.order = Order(package.targets())
        self.left_out = set()
        self.baselines, self.locks = {}, {test: threading.Lock() for test in self.order.tests}
        self.memory = threading.Lock()
        self.killers_file = package.top / "killers.json"
        self.baselines_file = package.top / "baselines.json"
        self.killers = load(self.killers_file)
        self._load_baselines()

    def judge_all(self, faults, each, survived_own):
        """Calls `each` with the verdict on every fault, as they come.

        All faults meet the tests of their own module first. Those that survive these, which
        `survived_own` is told, meet the tests of the modules above afterwards.
        """
        survivors = []

        def sort(verdict):
            if verdict.outcome == "killed" or self.depth == "own":
                each(verdict)
            else:
                survived_own(verdict)
                survivors.append(verdict)

        self._judge_side_by_side([Verdict(fault) for fault in faults], "own", sort)
        survivors.sort(key=lambda verdict: faults.index(verdict.fault))
        self._judge_side_by_side(survivors, "above", each)

    def _judge_side_by_side(self, some, depth, each):
        waiting = queue.SimpleQueue()
        for verdict in some:
            waiting.put(verdict)
        verdicts = queue.SimpleQueue()
        workers = [Worker(self.package.bundle, self.sandbox) for _ in range(self.jobs)]

        def work(worker):
            try:
                while True:
                    verdicts.put(self.judge(waiting.get_nowait(), depth, worker))
            except (queue.Empty, Interrupted):
                pass
            except BaseException as error:
                verdicts.put(error)
            finally:
                worker.close()
                verdicts.put(None)

        threads = [threading.Thread(target=work, args=[worker]) for worker in workers]
        for thread in threads:
            thread.start()
        left = len(threads)
        try:
            while left:
                verdict = verdicts.get()
                if verdict is None:
                    left -= 1
                elif isinstance(verdict, BaseException):
                    raise verdict
                else:
                    each(verdict)
        finally:
            # Nothing is left to interrupt unless this ends early.
            for worker in workers:
                worker.interrupt()
            for thread in threads:
                thread.join()

    # One fault

    def judge(self, before, depth, worker):
        """Returns the verdict after the tests of the fault's own module, or after those of the
        modules above it, given the verdict before."""
        begin = time.monotonic()
        verdict = self._judge(before, depth, worker)
        verdict.seconds = before.seconds + time.monotonic() - begin
        return verdict

    def _judge(self, before, depth, worker):
        fault = before.fault
        tests = self.order.tests_of(fault.target, depth)
        passed = list(before.passed)
        known = self._known_killer(fault)
        if known and depth == "own" and (self.depth == "all" or known.split(".")[0] in tests):
            verdict = self._try_tests(fault, worker, [known])
            if verdict:
                return verdict
        for target in tests:
            baseline = self.baseline(target, worker)
            if baseline is None or fault.number not in baseline.reached.get(fault.target, ()):
                continue
            verdict = self._try_target(fault, worker, target, baseline)
            if verdict:
                self._learn(fault, verdict)
                verdict.passed = passed
                return verdict
            passed.append(target)
        return Verdict(fault, passed=passed)

    def _try_target(self, fault, worker, target, baseline):
        """Runs a test target with the fault. A test that fails without the fault too, or with it
        once only, is left out of the next run."""
        skipped = set(baseline.unsteady)
        for _ in range(4):
            run = self._run(
                worker, f"^{target}\\.", fault, baseline.timeout, baseline.gap, skip=skipped)
            if run.passed:
                return None
            suspects = [t for t in run.failures if t] if run.failures else run.unfinished
            if suspects:
                verdict = self._confirm(fault, worker, suspects, baseline)
                if verdict:
                    return verdict
            if suspects and run.failures:
                skipped.update(suspects)
                continue
            # A crash or a hang that these tests alone do not show.
            again = self._run(
                worker, f"^{target}\\.", fault, baseline.timeout, baseline.gap, skip=skipped)
            if again.passed:
                return None
            if again.how == run.how:
                return killed(fault, again, [f"{target} as a whole"])
        return None

    def _try_tests(self, fault, worker, tests):
        """Runs a single test that has killed the fault before."""
        baseline = self.baseline(tests[0].split(".")[0], worker)
        if baseline is None or set(tests) & set(baseline.unsteady):
            return None
        if self._run(worker, pattern_of(tests), fault, baseline.timeout_of(tests)).passed:
            return None
        return self._confirm(fault, worker, tests, baseline)

    def _confirm(self, fault, worker, tests, baseline):
        """Runs single tests again with the fault, and twice without it. Only all of that is a
        proof, since a test of real time fails now and then where the machine is busy."""
        timeout = baseline.timeout_of(tests)
        run = self._run(worker, pattern_of(tests), fault, timeout)
        if run.passed:
            return None
        names = [t for t in run.failures if t] if run.failures else run.unfinished
        for _ in range(2):
            if not worker.run(pattern_of(names or tests), {}, timeout).passed:
                return None
        return killed(fault, run, names or tests)

    def _run(self, worker, pattern, fault, timeout, gap=None, skip=()):
        return worker.run(
            pattern, {"CAROM_FAULT": f"{fault.target}:{fault.number}"}, timeout, gap,
            skip=pattern_of(skip) if skip else None)

    # Without a fault

    def baseline(self, target, worker):
        """The target's run without a fault, made when it is first needed."""
        if target in self.left_out:
            return None
        with self.locks[target]:
            if target not in self.baselines:
                self.baselines[target] = self._measure(target, worker)
                self._save_baselines()
            return self.baselines[target]

    def _measure(self, target, worker):
        folder = Path(worker.folder) / "reached"
        folder.mkdir(exist_ok=True)
        for name, size in self.package.sizes.items():
            (folder / name).write_bytes(bytes(size))
        environment = {"CAROM_FAULTS_REACHED": str(folder)}
        run = worker.run(f"^{target}\\.", environment, 1800, stop=False)
        unsteady = []
        if not run.passed:
            unsteady = self._second_chance(target, worker, run, environment)
            if unsteady is None:
                return None
        reached = {
            path.name: [n for n, byte in enumerate(path.read_bytes()) if byte]
            for path in folder.iterdir()}
        self.report(
            f"{target} without a fault: {len(run.durations)} tests, {run.seconds:.1f} s"
            + (f"; unsteady, left out: {', '.join(unsteady)}" if unsteady else ""))
        return Baseline(run.seconds, run.longest_gap, run.durations, unsteady, reached)

    def _second_chance(self, target, worker, run, environment):
        """Runs the failed tests again, twice at most. Returns them if they pass; tests of other
        programs, which may not be able to run here, are left out, and others must be green."""
        names = failed = [t for t in run.failures if t]
        again = run
        for _ in range(2):
            if not failed:
                break
            again = worker.run(pattern_of(failed), environment, 600, stop=False)
            if again.passed:
                return names
            failed = [t for t in again.failures if t]
        if target == "InteropTests":
            self.report(f"{target} cannot run here and is left out: {first_of(again)}")
            self.left_out.add(target)
            return None
        raise RedBaseline(
            f"{target} fails without a fault: {again.how} {first_of(again)}\n"
            f"{again.output[-3000:]}")

    # What earlier runs have learned

    def _known_killer(self, fault):
        known = self.killers.get(fault.title)
        return known[1] if known and known[0] == [fault.before, fault.after] else None

    def _learn(self, fault, verdict):
        if verdict.tests and "." in verdict.tests[0] and " as a whole" not in verdict.tests[0]:
            with self.memory:
                self.killers[fault.title] = [[fault.before, fault.after], verdict.tests[0]]
                self.killers_file.write_text(json.dumps(self.killers))

    def _load_baselines(self):
        saved = load(self.baselines_file)
        if saved.get("stamp") == self.package.stamp and saved.get("sizes") == self.package.sizes:
            self.baselines = {t: Baseline(**facts) for t, facts in saved["targets"].items()}

    def _save_baselines(self):
        with self.memory:
            self.baselines_file.write_text(json.dumps({
                "stamp": self.package.stamp, "sizes": self.package.sizes,
                "targets": {t: vars(b) for t, b in list(self.baselines.items()) if b}}))


def killed(fault, run, tests):
    message = next(iter(run.failures.values()), "")
    return Verdict(fault, "killed", how=run.how, tests=tests, message=message)


def first_of(run):
    test, message = next(iter(run.failures.items()), ("", ""))
    return f"{test} {message}".strip()


def load(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
