"""Makes faults by rule: negates conditions, shifts comparisons, drops statements, and so on."""
import random
import re
import subprocess

from faultlists import ROOT, Fault

# Not the programs, whose tests are those of their modules, nor the helpers of tests.
EXCLUDED = {"CaromTesting", "air-hockey", "carom-tool", "CTerminal", "CLibuv"}

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SUMS = {"+": "-", "-": "+", "&+": "&-", "&-": "&+"}

# Lines that declare, that stop a program that is wrong, or that only reserve room; rows of tables.
REFUSED = re.compile(
    r"^\s*(import|@|#|case\b|default\b|struct\b|extension\b|typealias\b|return;?$)"
    r"|\b(func|init|subscript|enum|class|actor|protocol|associatedtype|precondition\w*|assert\w*"
    r"|fatalError|_Static_assert|typedef|sizeof|reserve\w*)\b"
    r"|^\s*self\.(?P<property>\w+) = (?P=property)$|^[\s\d_,.-]+$"
    # A parameter, a stored property without a value, or a member of a C structure.
    r"|^\s*(_ |\w+ )?\w+: [^=?]*,?$")
KEYWORDS = re.compile(
    r"\b(return|if|guard|while|else|in|where|case|let|var|try[?!]?|await|throw|yield|do|switch"
    r"|for)\s*$")


def mask(text, is_c):
    """The text with spaces for comments and a row of `s` for string literals, of equal length."""
    out, at = list(text), 0

    def blank(start, end, filler=" "):
        for i in range(start, min(end, len(text))):
            if out[i] != "\n":
                out[i] = filler

    while at < len(text):
        if text.startswith("//", at):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            blank(at, end)
        elif text.startswith("/*", at):
            end = end_of_comment(text, at, is_c)
            blank(at, end)
        elif (opening := re.compile(r'#*"""|#*"').match(text, at)) and not is_c:
            end = end_of_string(text, at, opening[0])
            blank(at, end, "s")
        elif is_c and text[at] in "\"'":
            end = at + 1
            while end < len(text) and text[end] != text[at]:
                end += 2 if text[end] == "\\" else 1
            end += 1
            blank(at, end, "s")
        else:
            end = at + 1
        at = end
    return "".join(out)


def end_of_comment(text, at, is_c):
    depth = 0
    for mark in re.finditer(r"/\*|\*/", text[at:]):
        depth += 1 if mark[0] == "/*" and (depth == 0 or not is_c) else 0
        if mark[0] == "*/":
            depth -= 1
            if depth == 0:
                return at + mark.end()
    return len(text)


def end_of_string(text, at, opening):
    """The end of a Swift string literal, whose interpolations may contain others."""
    hashes = opening.count("#")
    closing = opening[hashes:] + "#" * hashes
    escape = "\\" + "#" * hashes
    at += len(opening)
    while at < len(text):
        if text.startswith(closing, at):
            return at + len(closing)
        if text.startswith(escape + "(", at):
            depth, at = 1, at + len(escape) + 1
            while depth and at < len(text):
                inner = re.compile(r'#*"""|#*"').match(text, at)
                if inner:
                    at = end_of_string(text, at, inner[0])
                    continue
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                at += 1
        elif text.startswith(escape, at):
            at += len(escape) + 1
        else:
            at += 1
    return at


class File:
    """A source file, and the faults that the rules find in it."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.is_c = path.endswith((".c", ".h"))
        self.masked = mask(text, self.is_c)
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.lines = self.masked.split("\n")

    def candidates(self):
        """All faults of the file by line: lists of (kind, start, end, after, statements)."""
        found, depth = {}, 0
        for index, line in enumerate(self.lines):
            bare = line.strip()
            if bare.startswith("#if"):
                depth += 1
            if bare.startswith("#endif"):
                depth -= 1
            if depth or not bare or REFUSED.search(line):
                continue
            some = [c for c in self._of_line(index) if c]
            if some:
                found[index] = some
        return found

    def _of_line(self, index):
        line, start = self.lines[index], self.starts[index]
        yield from self._conditions(line, start)
        for mark in re.finditer(r"(?<= )(<=|>=|==|!=|<|>|&\+|&-|\+|-)(?= )", line):
            op = mark[1]
            changed = COMPARISONS.get(op) or SUMS.get(op)
            span = self._operands(start + mark.start(), start + mark.end(), op in SUMS)
            if span:
                first, last = span
                after = (
                    self.text[first:start + mark.start()] + changed
                    + self.text[start + mark.end():last])
                yield (f"{op} to {changed}", first, last, after, False)
        for mark in re.finditer(r"(?<![\w.$])(\d[\d_]*)(?![\w.]|:)", line):
            value = int(mark[1].replace("_", ""))
            for other in {value + 1, max(value - 1, 0)} - {value}:
                yield (
                    f"{mark[1]} to {other}", start + mark.start(), start + mark.end(), str(other),
                    False)
        for mark in re.finditer(r"(?<![\w.])(true|false)\b", line):
            other = "false" if mark[1] == "true" else "true"
            yield (f"{mark[1]} flipped", start + mark.start(), start + mark.end(), other, False)
        yield from self._statement(index)

    def _conditions(self, line, start):
        pattern = (
            r"\b(if|while)\s*\((.*)\)\s*\{?\s*$" if self.is_c
            else r"\b(if|while|guard) (.*?)(?: else)? \{")
        mark = re.search(pattern, line)
        if not mark or "{" in mark[2] or not is_balanced(mark[2]):
            return
        for first, last in split(mark[2]):
            part = mark[2][first:last]
            if not part.strip() or re.search(r"\b(let|var|case)\b|#", part):
                continue
            first += len(part) - len(part.lstrip())
            begin, end = start + mark.start(2) + first, start + mark.start(2) + last
            yield ("negated", begin, end, f"!({self.text[begin:end]})", False)

    def _statement(self, index):
        """An assignment or a call that stands on a line of its own."""
        line = self.lines[index]
        bare = line.strip()
        is_statement = re.match(
            r"(try )?(await )?(self\.|\w+(->|\.))?\w[\w.>-]*(\[[^\]]*\])?"
            r"( [-+*/|&^]?=(?!=) .+|[?!]?(\.\w+)*\(.*\));?$", bare)
        if not is_statement or re.match(r"(return|let|var|if|guard|for|while|throw|else)\b", bare):
            return
        if not is_balanced(bare) or bare.endswith(("{", "(", ",")):
            return
        if self.is_c != (bare[-1] == ";"):
            return
        before, after = self._neighbour(index, -1), self._neighbour(index, 1)
        if not re.search(r"[{};:]$" if self.is_c else r"[\w)\]}\"?!{]$|\bin$", before):
            return
        if re.search(r"\b(return|else|in|and|or)$", before) and not before.endswith(" in"):
            return
        if re.match(r"[.?:&|<>=*/+,)\]-]|\?\?", after):
            return
        first = self.starts[index] + len(line) - len(line.lstrip())
        yield ("removed", first, first + len(bare), "", True)
        change = re.match(r"(.* )([-+])(= .*)$", bare)
        if change:
            text = self.text[first:first + len(bare)]
            at = len(change[1])
            other = "-" if change[2] == "+" else "+"
            yield (
                f"{change[2]}= to {other}=", first, first + len(bare),
                text[:at] + other + text[at + 1:], True)

    def _neighbour(self, index, step):
        index += step
        while 0 <= index < len(self.lines):
            if self.lines[index].strip():
                return self.lines[index].strip()
            index += step
        return ""

    # Operands

    def _operands(self, start, end, is_sum):
        """Where the smallest whole expression with this operator begins and ends, or None if that
        is hard to tell."""
        first, last = self._left(start, is_sum), self._right(end, is_sum)
        if first is None or last is None:
            return None
        text = self.masked[first:last]
        first += len(text) - len(text.lstrip())
        last -= len(text) - len(text.rstrip())
        text = self.masked[first:last]
        if not is_balanced(text) or "{" in text or "=>" in text or first >= start or last <= end:
            return None
        if self.is_c and re.search(r"(?<!&)&(?!&)|(?<!\|)\|(?!\|)|\^|<<|>>", text):
            return None
        return first, last

    STOPS = re.compile(r"&&|\|\||(?<= )[?:](?= )|,|;|(?<![=!<>+*/&|^-])=(?!=)|[-+*/|&^]=(?!=)|->(?= )")
    LOWER = re.compile(r"(?<= )(<=|>=|==|!=|<|>|\?\?|as[?!]?|is)(?= )|\.\.\.|\.\.<")
    SAME = re.compile(r"(?<= )(&?[-+]|\||\^)(?= )")

    def _left(self, at, is_sum):
        depth, text = 0, self.masked
        index = at - 1
        while index >= 0:
            char = text[index]
            if char in ")]}":
                depth += 1
            elif char in "([{":
                if depth == 0:
                    return index + 1
                depth -= 1
            elif depth == 0 and char == "\n":
                part = text[index + 1:at].strip()
                line = text[text.rfind("\n", 0, index) + 1:index].strip()
                if part[:1] in ("", ".", "?", ":", "&", "|", "<", ">", "=", "+", "-", "*", "/"):
                    return None
                if re.search(r"[-+*/<>|&^?]$", line):
                    return None
                return index + 1
            elif depth == 0:
                stop = self._stop_before(text, index, is_sum)
                if stop is not None:
                    return stop
            index -= 1
        return None

    def _stop_before(self, text, index, is_sum):
        for pattern in (self.STOPS, self.LOWER) if is_sum else (self.STOPS,):
            mark = pattern.match(text, index)
            if mark:
                return mark.end()
        if text[index] == ":" and text[index + 1] == " ":
            return index + 1
        if text[index] == " " and KEYWORDS.search(text[max(0, index - 12):index + 1]):
            return index + 1
        return None

    def _right(self, at, is_sum):
        depth, text = 0, self.masked
        for index in range(at, len(text)):
            char = text[index]
            if char in "([":
                depth += 1
            elif char in ")]":
                if depth == 0:
                    return index
                depth -= 1
            elif depth == 0 and char in "{}":
                return index
            elif depth == 0 and char == "\n":
                line = text[text.rfind("\n", 0, index) + 1:index].strip()
                after = text[index:].lstrip()
                if re.search(r"[-+*/<>=|&^?]$", line):
                    return None
                if re.match(r"&&|\|\||[?:] ", after):
                    return index
                return None if after[:1] and after[0] in ".+-*/<>=|&^?" else index
            elif depth == 0:
                patterns = (self.STOPS, self.LOWER, self.SAME) if is_sum else (self.STOPS,)
                if any(pattern.match(text, index) for pattern in patterns):
                    return index
                if re.compile(r" (else|where|in)\b").match(text, index):
                    return index
        return None


def is_balanced(text):
    depth = 0
    for char in text:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(char, 0)
        if depth < 0:
            return False
    return depth == 0


def split(text):
    """Where the parts between commas outside of brackets begin and end."""
    depth, first = 0, 0
    for index, char in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            yield first, index
            first = index + 1
    yield first, len(text)


class Plan:
    """The faults of a seed: as many as asked for, from each module in proportion to its lines."""

    def __init__(self, sources, count, seed):
        self.random = random.Random(seed)
        self.count = count
        self.waiting = {}
        self.numbers = {}
        self.used = {}
        lines = {}
        for path in sorted(listed()):
            target = path.split("/")[1]
            if target in EXCLUDED:
                continue
            file = File(path, sources[path])
            lines[target] = lines.get(target, 0) + len(file.lines)
            found = file.candidates()
            for index in sorted(found):
                for candidate in found[index]:
                    kinds = self.waiting.setdefault(target, {})
                    kinds.setdefault(rule_of(candidate[0]), []).append((file, index, candidate))
        for kinds in self.waiting.values():
            for candidates in kinds.values():
                self.random.shuffle(candidates)
        total = sum(lines.values())
        targets = sorted(lines)
        ideal = {target: count * lines[target] / total for target in targets}
        quota = {target: int(ideal[target]) for target in targets}
        rounded = sorted(targets, key=lambda target: quota[target] - ideal[target])
        for target in rounded[:count - sum(quota.values())]:
            quota[target] += 1
        self.faults = []
        for target in targets:
            for _ in range(quota[target]):
                self._add(target)

    def replace(self, dropped):
        """Takes others from the same modules; returns whether there are any new ones."""
        new = False
        for fault in dropped:
            if fault in self.faults:
                self.faults.remove(fault)
                new = self._add(fault.target) or new
        return new

    def _add(self, target):
        kinds = self.waiting[target]
        while kinds:
            # Each rule equally often, as far as it finds something.
            rule = self.random.choice(sorted(kinds))
            file, index, (kind, start, end, after, statements) = kinds[rule].pop()
            if not kinds[rule]:
                del kinds[rule]
            used = self.used.setdefault(file.path, [])
            if any(start < last and first < end for first, last in used):
                continue
            used.append((start, end))
            self.numbers[target] = self.numbers.get(target, 0) + 1
            name = file.path.split("/", 2)[2]
            self.faults.append(Fault(
                module=target, name=f"{name}:{index + 1} {kind}", file=file.path,
                before=file.text[start:end], after=after, statements=statements, start=start,
                end=end, line=index + 1, number=self.numbers[target]))
            return True
        return False


def rule_of(kind):
    """The rule that a kind of change is an instance of."""
    if kind[0].isdigit():
        return "number"
    if " to " in kind:
        return "sum" if kind[0] in "+-&" else "comparison"
    return kind.split()[-1]


def listed():
    listing = subprocess.run(
        ["git", "ls-files", "-z", "Sources", "CSources"], cwd=ROOT, check=True,
        capture_output=True, text=True).stdout
    return [path for path in listing.split("\0") if path.endswith((".swift", ".c"))]
