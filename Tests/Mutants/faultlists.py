"""The lists of faults: reading them, and checking them against the sources."""
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTS = Path(__file__).resolve().parent / "faults"

REQUIRED = {"name": str, "promise": str, "file": str, "before": str, "after": str}
OPTIONAL = {"within": str, "statements": bool, "survives": str}

# How many faults there have to be, in all and by risk: a group of targets and its number.
LEAST = 250
SPREAD = [
    ("protocol", {"CaromProtocol"}, 80),
    ("discovery", {"CaromDNS", "CaromDiscovery"}, 50),
    ("simulation", {"CaromSimulation"}, 35),
    ("transport", {"CaromTransport", "CUVLoop"}, 30),
    ("session", {"CaromSession", "CaromServer", "Carom"}, 25),
    ("physics", {"CaromPhysics"}, 15),
    ("codec", {"CaromCBOR", "CaromCodec", "CaromCore"}, 10),
    ("game", {
        "AirHockey", "AirHockeyEngine", "AirHockeyTerminal", "TerminalText", "WebEngine", "WebGame",
        "air-hockey"}, 5),
]
# The modules whose survivors are wanted first.
RISK = [
    "CaromProtocol", "CaromDNS", "CaromTransport", "CaromSession", "CaromSimulation",
    "CaromDiscovery"]
# At most one fault in this many may be expected to survive.
SURVIVORS = 20

# What a parser takes for an expression in parentheses, and a compiler does not.
STATEMENT = re.compile(r"\s*(if|switch|do|for|while|repeat|guard|defer|return|throw|break|continue)\b")
# Where a member that follows is no implicit one.
OPERAND = re.compile(r"[\w)\]}\"?!](\n\s*)?\Z")
LITERAL = re.compile(r'"(\\.|[^"\\])*"')
LABEL = re.compile(r"\s*\w+:\s")


@dataclass(eq=False)
class Fault:
    """A single fault: the text `before` of a file, and the text that takes its place."""

    module: str
    name: str
    file: str
    before: str
    after: str
    promise: str = ""
    within: str | None = None
    statements: bool = False
    survives: str | None = None
    # Of the file's text, in characters; known once the fault was found in it.
    start: int = -1
    end: int = -1
    line: int = 0
    # Unique within the target, from 1.
    number: int = 0

    @property
    def target(self):
        """The target of Package.swift that has the file."""
        return self.file.split("/")[1]

    @property
    def is_c(self):
        return self.file.endswith((".c", ".h"))

    @property
    def title(self):
        return f"{self.module} {self.name}"

    def find(self, text):
        """Finds `before` in the file's text. Returns what is wrong, or None."""
        begin = 0
        if self.within is not None:
            begin = text.find(self.within)
            if begin < 0:
                return f"`within` is not in the file:\n{self.within}"
        self.start = text.find(self.before, begin)
        if self.start < 0:
            return f"`before` is not in the file:\n{self.before}"
        if self.within is None and text.find(self.before, self.start + 1) >= 0:
            return f"`before` is in the file more than once:\n{self.before}"
        if not self.statements and self.before.startswith(".") and OPERAND.search(text[:self.start]):
            return f"`before` is the end of an expression, and not the whole:\n{self.before}"
        self.end = self.start + len(self.before)
        self.line = text.count("\n", 0, self.start) + 1
        return None


class Sources:
    """The texts of the project's files, read once."""

    def __init__(self, root=ROOT):
        self.root = root
        self.texts = {}

    def __getitem__(self, file):
        if file not in self.texts:
            self.texts[file] = (self.root / file).read_text()
        return self.texts[file]


def parse(entry, module, place):
    """Makes a fault of an entry of a list. Returns the fault, or None, and what is wrong."""
    problems = []
    for key, value in entry.items():
        kind = REQUIRED.get(key) or OPTIONAL.get(key)
        if kind is None:
            problems.append(f"unknown field {key}")
        elif not isinstance(value, kind):
            problems.append(f"{key} has to be a {kind.__name__}")
    problems += [f"{key} is missing" for key in REQUIRED if key not in entry]
    if problems:
        return None, [f"{place}: {problem}" for problem in problems]
    fault = Fault(module=module, **entry)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fault.name):
        problems.append("the name is not in kebab case")
    if not fault.promise.strip():
        problems.append("promise is empty")
    if not fault.before.strip():
        problems.append("before is empty")
    if not fault.after.strip() and not fault.statements:
        problems.append("after is empty, which only statements may be")
    if not fault.statements:
        problems += [
            f"{key} is no expression: {reason}" for key in ("before", "after")
            if (reason := no_expression(getattr(fault, key)))]
    if fault.before == fault.after:
        problems.append("before and after are equal")
    if not re.match(r"C?Sources/[^/]+/.*\.(swift|c|h)$", fault.file):
        problems.append(f"{fault.file} is no source of a module")
    return fault, [f"{place}: {problem}" for problem in problems]


def no_expression(text):
    """Why a text cannot be an operand of a choice although a parser takes it for one, or None."""
    if ";" in LITERAL.sub("", text):
        return "a semicolon ends a statement"
    if word := STATEMENT.match(text):
        return f"`{word[1]}` begins a statement"
    if LABEL.match(text):
        return "a label makes a tuple of it"
    depth = 0
    for mark in re.findall(r"[][(){},]", LITERAL.sub("", text)):
        depth += (mark in "([{") - (mark in ")]}")
        if mark == "," and depth == 0:
            return "a comma makes a tuple of it"
    return None


def read(folder=LISTS, sources=None):
    """Reads all lists. Returns the faults that were found in the sources, and what is wrong."""
    sources = sources or Sources()
    faults, problems = [], []
    for path in sorted(folder.glob("*.toml")):
        place = f"{path.parent.name}/{path.name}"
        try:
            entries = tomllib.loads(path.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            problems.append(f"{place}: {error}")
            continue
        names = set()
        for key in entries.keys() - {"fault"}:
            problems.append(f"{place}: unknown table {key}")
        for index, entry in enumerate(entries.get("fault", [])):
            where = f"{place}: {entry.get('name', f'fault {index + 1}')}"
            fault, wrong = parse(entry, path.stem, where)
            if fault is not None and not wrong:
                if fault.name in names:
                    wrong.append(f"{where}: the name is there twice")
                names.add(fault.name)
                wrong += find(fault, sources, where)
            if wrong:
                problems += wrong
            else:
                faults.append(fault)
    return number(faults), problems


def find(fault, sources, where):
    try:
        problem = fault.find(sources[fault.file])
    except OSError:
        return [f"{where}: there is no file {fault.file}"]
    return [f"{where}: {fault.file}: {problem}"] if problem else []


def number(faults):
    """Numbers the faults of each target from 1, so that a new one rebuilds its own target only."""
    counts = {}
    for fault in faults:
        counts[fault.target] = fault.number = counts.get(fault.target, 0) + 1
    return faults


def risk_of(fault):
    return RISK.index(fault.module) if fault.module in RISK else len(RISK)


def check_spread(faults):
    """Whether there are enough faults where the risk is, and few that are expected to survive."""
    problems = []
    if len(faults) < LEAST:
        problems.append(f"there are {len(faults)} faults, fewer than {LEAST}")
    for name, targets, least in SPREAD:
        count = sum(fault.target in targets for fault in faults)
        if count < least:
            problems.append(f"{name}: {count} faults, fewer than {least}")
    return problems


def check_survivors(faults):
    count = sum(fault.survives is not None for fault in faults)
    if count * SURVIVORS > len(faults):
        return [f"{count} of {len(faults)} faults may survive, more than one in {SURVIVORS}"]
    return []
