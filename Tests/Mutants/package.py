"""The copy of the package that has the faults, and its build."""
import fcntl
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import substitution
from faultlists import ROOT

# A function that reads the environment once. A file that a test run maps has a byte for each fault;
# a run without a fault sets those that it reaches.
SWIFT = """\
// Written by Tests/Mutants/mutants.py.
import Glibc

private let activeFault: Int = {
  guard let text = unsafe getenv("CAROM_FAULT") else { return 0 }
  let parts = unsafe String(cString: text).split(separator: ":")
  return parts.count == 2 && parts[0] == "TARGET" ? Int(parts[1]) ?? 0 : 0
}()

private nonisolated(unsafe) let reachedFaults: UnsafeMutablePointer<UInt8>? = {
  guard let folder = unsafe getenv("CAROM_FAULTS_REACHED") else { return nil }
  let file = unsafe open(String(cString: folder) + "/TARGET", O_RDWR)
  guard file >= 0 else { return nil }
  defer { close(file) }
  let memory = unsafe mmap(nil, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
  guard let memory = unsafe memory, Int(bitPattern: memory) != -1 else { return nil }
  return unsafe memory.assumingMemoryBound(to: UInt8.self)
}()

@usableFromInline func caromFault(_ number: Int) -> Bool {
  if let reachedFaults = unsafe reachedFaults { unsafe reachedFaults[number] = 1 }
  return number == activeFault
}
"""

C = """\
// Written by Tests/Mutants/mutants.py.
#ifndef CAROM_FAULT_H
#define CAROM_FAULT_H
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int carom_fault_active;
static unsigned char *carom_faults_reached;

__attribute__((constructor, unused)) static void carom_fault_read(void) {
  const char *text = getenv("CAROM_FAULT");
  if (text && strncmp(text, "TARGET:", sizeof "TARGET:" - 1) == 0)
    carom_fault_active = atoi(text + sizeof "TARGET:" - 1);
  const char *folder = getenv("CAROM_FAULTS_REACHED");
  char path[4096];
  if (!folder || snprintf(path, sizeof path, "%s/TARGET", folder) >= (int)sizeof path) return;
  int file = open(path, O_RDWR);
  if (file < 0) return;
  void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) carom_faults_reached = memory;
}

__attribute__((unused)) static inline int carom_fault(int number) {
  if (carom_faults_reached) carom_faults_reached[number] = 1;
  return number == carom_fault_active;
}
#endif
"""

ERROR = re.compile(r"^(/[^:\n]+):(\d+):(\d+): (?:fatal )?error: (.*)$", re.MULTILINE)


class BuildFailure(Exception):
    """The build failed, and no fault can be blamed."""


class InUse(Exception):
    """Another run uses the copy."""


class Package:
    """The copy in `.build-mutants/package` and its build in `.build-mutants/build`."""

    def __init__(self, root=ROOT):
        self.root = root
        self.top = root / ".build-mutants"
        self.folder = self.top / "package"
        self.scratch = self.top / "build"
        self.sizes = {}
        self.places = {}
        self.top.mkdir(exist_ok=True)
        # Held until this process ends.
        self.lock = open(self.top / "lock", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"another run uses {self.top}") from None

    @property
    def bundle(self):
        return self.scratch / "debug" / "caromPackageTests.xctest"

    @property
    def stamp(self):
        """Changes whenever the tests were linked anew."""
        facts = self.bundle.stat()
        return f"{facts.st_mtime_ns} {facts.st_size}"

    # Writing

    def write(self, faults):
        """Writes the package with these faults; files that do not change are left alone."""
        by_file, by_target = {}, {}
        for fault in faults:
            by_file.setdefault(fault.file, []).append(fault)
            by_target.setdefault(fault.target, []).append(fault)
        self.sizes = {
            target: max(fault.number for fault in some) + 1 for target, some in by_target.items()}
        self.places = {}
        wanted = set()
        for path in self._listed():
            wanted.add(path)
            self._copy(path, by_file.get(path, []))
        for target, some in by_target.items():
            for path, text in self._switches(target, some):
                wanted.add(path)
                self._put(self.folder / path, text.encode(), 0o644)
        self._remove_others(wanted)
        resolved = self.root / "Package.resolved"
        if resolved.exists():
            self._put(self.folder / "Package.resolved", resolved.read_bytes(), 0o644)

    def _listed(self):
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self.root, check=True, capture_output=True, text=True).stdout
        paths = sorted(set(listing.split("\0")) - {""})
        return [path for path in paths if os.path.lexists(self.root / path)]

    def _copy(self, path, faults):
        source, copy = self.root / path, self.folder / path
        if source.is_symlink():
            target = os.readlink(source)
            if not copy.is_symlink() or os.readlink(copy) != target:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.unlink(missing_ok=True)
                copy.symlink_to(target)
            return
        data = source.read_bytes()
        if path == "Package.swift":
            # The faults cause warnings, such as those of a branch that is always taken.
            text = re.sub(r"\.treatAllWarnings\(as: \.error\),?\s*", "", data.decode())
            data = text.encode()
        if faults:
            text, self.places[path] = substitution.substitute(data.decode(), faults)
            if faults[0].is_c:
                header = os.path.relpath(
                    Path(path).parts[0] + "/" + faults[0].target, Path(path).parent)
                # The second line makes the others keep their numbers.
                text = f'#include "{header}/carom_fault.h"\n#line 1\n{text}'
            data = text.encode()
        self._put(copy, data, stat.S_IMODE(source.stat().st_mode))

    def _switches(self, target, faults):
        size = str(self.sizes[target])
        for template, path in [(SWIFT, "CaromFault.swift"), (C, "carom_fault.h")]:
            folders = {
                f.file.split("/")[0] for f in faults if f.is_c == path.endswith(".h")}
            for folder in folders:
                text = template.replace("TARGET", target).replace("SIZE", size)
                yield f"{folder}/{target}/{path}", text

    def _put(self, path, data, mode):
        if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            path.unlink()
        path.write_bytes(data)
        path.chmod(mode)

    def _remove_others(self, wanted):
        for folder, folders, files in os.walk(self.folder):
            folders[:] = [name for name in folders if name not in (".build", ".swiftpm")]
            for name in files:
                path = os.path.relpath(os.path.join(folder, name), self.folder)
                if path not in wanted and path != "Package.resolved":
                    os.unlink(self.folder / path)

    # Building

    def build(self):
        """Builds all tests and programs. Returns the errors by (file, number of the fault)."""
        command = [
            "swift", "build", "--build-tests", "--scratch-path", str(self.scratch),
            "-Xswiftc", "-gline-tables-only", "-Xswiftc", "-suppress-warnings"]
        # As the gate compiles it: some modules optimized, which makes their tests faster.
        done = subprocess.run(
            command, cwd=self.folder, text=True, errors="replace",
            env=os.environ | {"CAROM_OPTIMIZED": "1"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        (self.top / "build.log").write_text(done.stdout)
        if done.returncode == 0:
            return {}
        errors = {}
        for path, line, column, message in ERROR.findall(done.stdout):
            file = os.path.relpath(path, self.folder)
            if file in self.places:
                number = substitution.blamed(self.places[file], int(line), int(column))
                messages = errors.setdefault((file, number), [])
                if message not in messages:
                    messages.append(message)
        if not errors:
            raise BuildFailure(f"{self.top / 'build.log'}:\n{done.stdout[-4000:]}")
        return errors

    def targets(self):
        """The targets in the order of Package.swift: name, whether it is one of tests, and the
        targets that it depends on."""
        dump = subprocess.run(
            ["swift", "package", "dump-package", "--scratch-path", str(self.scratch)],
            cwd=self.folder, check=True, capture_output=True, text=True).stdout
        found = {}
        for target in json.loads(dump)["targets"]:
            names = [d["byName"][0] for d in target["dependencies"] if "byName" in d]
            names += [d["target"][0] for d in target["dependencies"] if "target" in d]
            found[target["name"]] = (target["type"] == "test", names)
        return found
