"""Writes faults into a file's text, each behind the switch that turns it on."""
import re
from dataclasses import dataclass, field

# Private characters that mark where a fault's text begins and ends until the lines are counted.
BEGIN, END, STOP = "\ue000", "\ue001", "\ue002"


class Overlap(Exception):
    """Two faults whose texts overlap, neither inside the other."""

    def __init__(self, first, second):
        super().__init__(
            f"{first.file}: {first.name} (line {first.line}) and {second.name}"
            f" (line {second.line}) overlap in part")
        self.faults = (first, second)


@dataclass
class Region:
    """A piece of the text with the faults that replace it, and the regions inside it."""

    start: int
    end: int
    faults: list
    inner: list = field(default_factory=list)


def nest(faults):
    """Arranges the faults of one file as regions, outer ones first."""
    top, stack = [], []
    for fault in sorted(faults, key=lambda f: (f.start, -f.end, not f.statements, f.number)):
        while stack and stack[-1].end <= fault.start:
            stack.pop()
        if stack and stack[-1].end < fault.end:
            raise Overlap(stack[-1].faults[0], fault)
        if stack and (stack[-1].start, stack[-1].end) == (fault.start, fault.end):
            stack[-1].faults.append(fault)
            continue
        region = Region(fault.start, fault.end, [fault])
        (stack[-1].inner if stack else top).append(region)
        stack.append(region)
    return top


def switch(fault, before):
    """The text that stands for `before`: the fault where it is on, otherwise `before`."""
    call = f"carom_fault({fault.number})" if fault.is_c else f"caromFault({fault.number})"
    if fault.statements:
        condition = f"({call})" if fault.is_c else call
        text = f"if {condition} {{\n{fault.after}\n}} else {{\n{before}\n}}"
    else:
        text = f"({call} ? {parenthesized(fault.after)} : {parenthesized(before)})"
    return f"{BEGIN}{fault.number}{STOP}{text}{END}{fault.number}{STOP}"


def parenthesized(text):
    # The parenthesis must not end up in a comment.
    return f"({text}\n)" if "//" in text else f"({text})"


def render(text, regions, start=0, end=None):
    """The text from start to end, with the regions' faults in it."""
    end = len(text) if end is None else end
    parts, at = [], start
    for region in regions:
        parts.append(text[at:region.start])
        before = render(text, region.inner, region.start, region.end)
        # The first fault becomes the outermost switch.
        for fault in reversed(region.faults):
            before = switch(fault, before)
        parts.append(before)
        at = region.end
    return "".join(parts) + text[at:end]


def substitute(text, faults):
    """Writes the faults of one file into its text.

    Returns the new text, and for each fault's number where it stands there: the first and the last
    position, each a line and a column from 1 (columns in UTF-8 bytes, as compilers count).
    """
    marked = render(text, nest(faults))
    parts, places = [], {}
    line, column, at = 1, 1, 0
    for mark in re.finditer(f"([{BEGIN}{END}])([0-9]+){STOP}", marked):
        piece = marked[at:mark.start()]
        parts.append(piece)
        at = mark.end()
        line += piece.count("\n")
        if "\n" in piece:
            column = 1
        column += len(piece.rpartition("\n")[2].encode())
        number = int(mark[2])
        if mark[1] == BEGIN:
            places[number] = ((line, column), None)
        else:
            places[number] = (places[number][0], (line, column))
    return "".join(parts) + marked[at:], places


def blamed(places, line, column):
    """The number of the fault that an error at a position of the new text is about: the innermost
    one there, or else the nearest one by lines."""
    def distance(number):
        (first, last) = places[number]
        if first <= (line, column) <= last:
            return (0, 0, last[0] - first[0], last[1] - first[1])
        if first[0] <= line <= last[0]:
            return (0, 1, last[0] - first[0], 0)
        return (1, min(abs(first[0] - line), abs(last[0] - line)), 0, 0)

    return min(places, key=distance, default=None)
