"""Runs of the test bundle: each in a network namespace of its own, watched as it goes."""
import ctypes
import json
import os
import re
import resource
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

# The loopback interface as tests expect it, then the command. The shell stays, as the first process
# of its namespace, because such a process would not get signals that it does not handle.
INSIDE = """\
ip link set lo up && ip link set lo multicast on || exit 125
"$@"
exit $?
"""
# More memory than any test needs; a fault that allocates without end must not take the machine's.
MEMORY = 8 << 30
FILE_SIZE = 2 << 30
# What is kept of a run's output.
TAIL = 20_000
# Of prctl(2): the signal that a process gets when its parent ends.
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
# After the first failure, others may still come that are just as good to know.
GRACE = 0.3


@dataclass
class Run:
    """What a run of tests showed."""

    # The messages of the tests that failed, by the test's identifier.
    failures: dict = field(default_factory=dict)
    # Tests that had begun and not ended when the run did.
    unfinished: list = field(default_factory=list)
    # Seconds of each test that ended.
    durations: dict = field(default_factory=dict)
    # The longest time in which no test began or ended.
    longest_gap: float = 0.0
    seconds: float = 0.0
    status: int | None = None
    hung: bool = False
    stopped: bool = False
    output: str = ""

    @property
    def passed(self):
        return self.status == 0 and not self.failures and not self.hung

    @property
    def how(self):
        """How the run ended: "passed", "failed", "hang" or "crash"."""
        if self.passed:
            return "passed"
        if self.failures:
            return "failed"
        return "hang" if self.hung else "crash"


def pattern_of(tests):
    """A pattern for exactly these tests."""
    return "^(" + "|".join(sorted(re.sub(r"([][\\.^$|?*+(){}/])", r"\\\1", t) for t in tests)) + ")"


class Interrupted(Exception):
    """The whole is to end."""


class Sandbox:
    """Runs commands so that they neither disturb each other nor leave loopback."""

    def __init__(self):
        self.prefix = next((p for p in self._prefixes() if self._works(p)), None)

    def _prefixes(self):
        namespaces = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        inside = ["sh", "-c", INSIDE, "mutants"]
        if os.geteuid() == 0:
            yield ["unshare", *namespaces, *inside]
        else:
            yield ["unshare", "--user", "--map-root-user", *namespaces, *inside]

    def _works(self, prefix):
        try:
            done = subprocess.run([*prefix, "true"], capture_output=True, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0


class Worker:
    """Runs tests of a bundle, one run at a time, with a folder for temporary files of its own."""

    def __init__(self, bundle, sandbox):
        self.bundle = bundle
        self.sandbox = sandbox
        # A short path: names of sockets have little room.
        self.folder = tempfile.mkdtemp(prefix="carom-mutants-")
        self.watch = None
        self.is_interrupted = False

    def interrupt(self):
        """Ends the run that is under way, from another thread, and lets no other begin."""
        self.is_interrupted = True
        if self.watch is not None:
            self.watch.kill()

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, pattern, environment, timeout, gap=None, skip=None, stop=True):
        """Runs the tests that match the pattern. It ends early at the first failure if `stop`, and
        where it takes longer than the timeout, or nothing happens for longer than the gap."""
        command = [str(self.bundle), "--testing-library", "swift-testing", "--filter", pattern]
        if skip:
            command += ["--skip", skip]
        temporary = Path(self.folder) / "tmp"
        temporary.mkdir()
        reading, writing = os.pipe()
        command += [
            "--event-stream-version", "0", "--event-stream-output-path", f"/dev/fd/{writing}"]
        variables = {k: v for k, v in os.environ.items() if not k.startswith("CAROM_")}
        variables |= {
            "TMPDIR": str(temporary), "LAN_STATE": str(temporary / "lan"),
            # A crash is to end at once.
            "SWIFT_BACKTRACE": "enable=no"}
        variables |= environment
        try:
            process = subprocess.Popen(
                [*(self.sandbox.prefix or []), *command], env=variables, pass_fds=[writing],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=limit)
            os.close(writing)
            writing = -1
            self.watch = Watch(process, reading, timeout, gap, stop)
            if self.is_interrupted:
                self.watch.kill()
            run = self.watch.run()
            if self.is_interrupted:
                raise Interrupted
            return run
        finally:
            self.watch = None
            os.close(reading)
            if writing >= 0:
                os.close(writing)
            shutil.rmtree(temporary, ignore_errors=True)


def limit():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))


class Watch:
    """Follows one run by its events, and ends it."""

    def __init__(self, process, events, timeout, gap, stop):
        self.process, self.events = process, events
        self.timeout, self.gap, self.stop = timeout, gap, stop
        self.result = Run()
        self.functions, self.began = set(), {}
        self.rest = b""
        self.first_failure = None

    def run(self):
        self.begin = self.last = time.monotonic()
        ended = os.pidfd_open(self.process.pid)
        output = self.process.stdout.fileno()
        os.set_blocking(output, False)
        os.set_blocking(self.events, False)
        selector = selectors.DefaultSelector()
        for descriptor in (ended, output, self.events):
            selector.register(descriptor, selectors.EVENT_READ)
        try:
            is_running = True
            while is_running and not self._is_over(time.monotonic()):
                for key, _ in selector.select(self._patience()):
                    if key.fd == ended:
                        is_running = False
                    elif not self._read(key.fd, output):
                        selector.unregister(key.fd)
            self._end()
            self._read(output, output)
            self._read(self.events, output)
        finally:
            self._end()
            selector.close()
            os.close(ended)
            self.process.stdout.close()
        return self._finish()

    def _is_over(self, now):
        if self.first_failure is not None and self.stop and now - self.first_failure >= GRACE:
            self.result.stopped = True
        elif now - self.begin > self.timeout:
            self.result.hung = True
        elif self.gap is not None and now - self.last > self.gap:
            self.result.hung = True
        return self.result.stopped or self.result.hung

    def _patience(self):
        now = time.monotonic()
        ends = [self.begin + self.timeout]
        if self.gap is not None:
            ends.append(self.last + self.gap)
        if self.first_failure is not None and self.stop:
            ends.append(self.first_failure + GRACE)
        return max(0.0, min(ends) - now) + 0.001

    def kill(self):
        if self.process.returncode is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def _end(self):
        self.kill()
        self.process.wait()

    def _read(self, descriptor, output):
        """Reads what there is; returns whether more can come."""
        while True:
            try:
                data = os.read(descriptor, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            if descriptor == output:
                text = self.result.output + data.decode(errors="replace")
                self.result.output = text[-TAIL:]
            else:
                *lines, self.rest = (self.rest + data).split(b"\n")
                for line in lines:
                    if line.strip():
                        self._take(json.loads(line))

    def _take(self, record):
        payload = record["payload"]
        if record["kind"] == "test" and payload["kind"] == "function":
            self.functions.add(identifier(payload["id"]))
        if record["kind"] != "event":
            return
        now = time.monotonic()
        test = identifier(payload.get("testID") or "")
        if payload["kind"] == "issueRecorded":
            self._fail(test, payload, now)
        elif test in self.functions and payload["kind"] in ("testStarted", "testEnded"):
            self.result.longest_gap = max(self.result.longest_gap, now - self.last)
            self.last = now
            if payload["kind"] == "testStarted":
                self.began[test] = now
            else:
                self.result.durations[test] = now - self.began.pop(test, now)

    def _fail(self, test, payload, now):
        issue = payload.get("issue", {})
        severity = issue.get("severity", issue.get("_severity", "error"))
        if issue.get("isKnown") or severity == "warning":
            return
        messages = [m["text"] for m in payload.get("messages", []) if m.get("text")]
        place = issue.get("sourceLocation") or issue.get("_sourceLocation") or {}
        text = " ".join(messages)[:300]
        self.result.failures.setdefault(test, f"{place.get('line', '?')}: {text}")
        if self.first_failure is None:
            self.first_failure = now

    def _finish(self):
        result = self.result
        result.seconds = time.monotonic() - self.begin
        result.unfinished = sorted(self.began)
        result.longest_gap = max(result.longest_gap, time.monotonic() - self.last)
        if not result.stopped and not result.hung:
            result.status = self.process.returncode
        return result


def identifier(test):
    """A test's identifier without the place in its file, as patterns match it."""
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", test)
