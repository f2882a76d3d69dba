"""Whether the sources with the faults in them are still Swift: a parser reads them, which takes a
moment, and no compiler, which would take minutes."""
import re
import subprocess
import tempfile
from pathlib import Path

import substitution

ERROR = re.compile(r"^(?:.*/)?([0-9]+)\.swift:(\d+):(\d+): error: (.*)$", re.MULTILINE)


def check(faults, sources):
    """What is wrong with the faults that no parser understands where they are planted."""
    by_file = {}
    for fault in faults:
        if not fault.is_c:
            by_file.setdefault(fault.file, []).append(fault)
    files = list(by_file.values())
    try:
        broken = parse([plant(some, sources) for some in files])
        # An error misleads the parser about what follows it. Alone, every fault has its own.
        alone = [fault for index in broken for fault in files[index]]
        errors = parse([plant([fault], sources) for fault in alone])
    except OSError as error:
        return [f"the sources with the faults cannot be parsed: {error}"]
    found = {fault: errors[index] for index, fault in enumerate(alone) if index in errors}
    for index, messages in broken.items():
        if not any(fault in found for fault in files[index]):
            found[files[index][0]] = messages
    return [problem(fault, found[fault]) for fault in faults if fault in found]


def plant(faults, sources):
    try:
        return substitution.substitute(sources[faults[0].file], faults)[0]
    except substitution.Overlap:
        # Reported elsewhere.
        return ""


def parse(texts):
    """Returns the messages about each text that is no Swift, by its index."""
    errors = {}
    if not texts:
        return errors
    with tempfile.TemporaryDirectory(prefix="carom-mutants-") as name:
        paths = [Path(name) / f"{index}.swift" for index in range(len(texts))]
        for path, text in zip(paths, texts):
            path.write_text(text)
        done = subprocess.run(
            ["swiftc", "-frontend", "-parse", "-diagnostic-style", "llvm", *map(str, paths)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    for index, _, _, message in ERROR.findall(done.stderr):
        errors.setdefault(int(index), []).append(message)
    if done.returncode != 0 and not errors:
        raise OSError(done.stderr.strip()[-1000:] or f"swiftc: status {done.returncode}")
    return errors


def problem(fault, messages):
    kind = (
        "have to be whole statements" if fault.statements else
        "have to be whole expressions, or statements with `statements = true`")
    return (
        f"faults/{fault.module}.toml: {fault.name}: {fault.file}:{fault.line}: `before` and `after` "
        f"{kind}: {messages[0]}")
