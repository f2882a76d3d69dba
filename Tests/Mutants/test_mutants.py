"""Tests of the tool itself, which `mutants.py --check` runs."""
import os
import re
import tempfile
import unittest
from pathlib import Path

import campaign
import faultlists
import generator
import parsing
import substitution
import testruns
from faultlists import Fault

TEXT = """\
func f(_ a: Int) -> Int {
  if a > 3 && a < 9 {
    send(a + 1)
  }
  return a
}
"""


def plant(text, *faults, is_c=False):
    made = []
    for number, (before, after, *more) in enumerate(faults, 1):
        fault = Fault(
            module="M", name=f"fault-{number}",
            file="Sources/M/f.c" if is_c else "Sources/M/F.swift",
            before=before, after=after, number=number, **(more[0] if more else {}))
        assert fault.find(text) is None
        made.append(fault)
    return substitution.substitute(text, made)


class SubstitutionTests(unittest.TestCase):
    def test_an_expression_becomes_a_choice(self):
        text, places = plant(TEXT, ("a > 3", "a >= 3"))
        self.assertIn("  if (caromFault(1) ? (a >= 3) : (a > 3)) && a < 9 {\n", text)
        self.assertEqual(places, {1: ((2, 6), (2, 42))})

    def test_statements_become_an_if(self):
        text, _ = plant(TEXT, ("send(a + 1)", "", {"statements": True}))
        self.assertIn("if caromFault(1) {\n\n} else {\nsend(a + 1)\n}\n", text)

    def test_a_fault_inside_another_stands_in_its_unchanged_branch(self):
        text, places = plant(
            TEXT, ("a + 1", "a"), ("send(a + 1)", "send(0)", {"statements": True}))
        self.assertIn(
            "if caromFault(2) {\nsend(0)\n} else {\nsend((caromFault(1) ? (a) : (a + 1)))\n}", text)
        self.assertEqual(substitution.blamed(places, 6, 30), 1)
        self.assertEqual(substitution.blamed(places, 4, 1), 2)

    def test_faults_of_the_same_text_are_chained(self):
        text, _ = plant(TEXT, ("a + 1", "a"), ("a + 1", "a + 2"))
        self.assertIn("(caromFault(1) ? (a) : ((caromFault(2) ? (a + 2) : (a + 1))))", text)

    def test_faults_that_overlap_in_part_are_refused(self):
        with self.assertRaises(substitution.Overlap):
            plant(TEXT, ("a > 3 && a", "a"), ("a < 9", "a < 10"))

    def test_neighbours_do_not_overlap(self):
        text, _ = plant(TEXT, ("a > 3", "true"), (" && a < 9", " || a < 9"))
        self.assertEqual(text.count("caromFault"), 2)

    def test_a_comment_does_not_swallow_the_parenthesis(self):
        text, _ = plant("let a = 3 // three\n", ("3 // three", "4"))
        self.assertIn("(3 // three\n))", text)

    def test_the_c_form(self):
        text, _ = plant("int f(void) {\n  go();\n  return 3;\n}\n", ("3", "4"),
                        ("go();", "", {"statements": True}), is_c=True)
        self.assertIn("return (carom_fault(1) ? (4) : (3));", text)
        self.assertIn("if (carom_fault(2)) {\n\n} else {\ngo();\n}", text)

    def test_an_error_outside_is_the_nearest_fault_s(self):
        _, places = plant(TEXT, ("a > 3", "a >= 3"), ("return a", "return 0", {"statements": True}))
        self.assertEqual(substitution.blamed(places, 1, 1), 1)
        self.assertEqual(substitution.blamed(places, 11, 1), 2)


class ListTests(unittest.TestCase):
    GOOD = """
[[fault]]
name = "one"
promise = "A promise."
file = "Sources/M/F.swift"
before = 'a > 3'
after = 'true'
"""

    def read(self, *lists):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "Sources/M").mkdir(parents=True)
            (root / "Sources/M/F.swift").write_text(TEXT)
            (root / "faults").mkdir()
            for index, text in enumerate(lists):
                (root / f"faults/M{index}.toml").write_text(text)
            return faultlists.read(root / "faults", faultlists.Sources(root))

    def test_a_good_list(self):
        faults, problems = self.read(self.GOOD, self.GOOD)
        self.assertEqual(problems, [])
        self.assertEqual(
            [(f.module, f.number, f.line) for f in faults], [("M0", 1, 2), ("M1", 2, 2)])

    def test_what_is_wrong_is_said_with_file_name_and_text(self):
        for old, new, text in [
            ("a > 3", "a > 4",
             "M0.toml: one: Sources/M/F.swift: `before` is not in the file:\na > 4"),
            ("a > 3", "a", "more than once"),
            ("promise", "promises", "promise is missing"),
            ("'true'", "''", "only statements"),
            ('"one"', '"One"', "kebab"),
            ("F.swift", "G.swift", "no file"),
            ("[[fault]]", "[[fault]", "M0.toml"),
            ("before", "within = 'nowhere'\nbefore", "`within` is not in the file:\nnowhere"),
            ("before", "statements = 'yes'\nbefore", "has to be a bool"),
            ("a > 3", "a > 3, b(1, 2)", "before is no expression: a comma makes a tuple"),
            ("'true'", "'a = 3;'", "after is no expression: a semicolon ends a statement"),
            ("'true'", "'label: true'", "after is no expression: a label makes a tuple"),
            ("'true'", "'if a { b }'", "after is no expression: `if` begins a statement"),
        ]:
            _, problems = self.read(self.GOOD.replace(old, new))
            self.assertEqual(len([p for p in problems if text in p]), 1, (new, problems))

    def test_a_name_twice_in_a_list(self):
        _, problems = self.read(self.GOOD + self.GOOD)
        self.assertEqual(problems, ["faults/M0.toml: one: the name is there twice"])

    def test_within_chooses_the_first_place_after_it(self):
        faults, problems = self.read(
            self.GOOD.replace("before = 'a > 3'", "within = 'send'\nbefore = 'a'"))
        self.assertEqual(problems, [])
        self.assertEqual(faults[0].start, TEXT.index("a + 1"))

    def test_a_member_is_an_expression_only_by_itself(self):
        for text, is_right in [
            ("let a = b\n  .c(d)", False), ("a.c(d)", False), ("a().c(d)", False),
            ("let a: B = .c(d)", True), ("f(.c(d))", True), ("switch a {\ncase b:\n  .c(d)\n}", True),
        ]:
            problem = Fault("M", "n", "Sources/M/F.swift", ".c(d)", "e").find(text)
            self.assertEqual(problem is None, is_right, text)
            self.assertIsNone(Fault("M", "n", "F.swift", ".c(d)", "e", statements=True).find(text))

    def test_one_in_twenty_may_survive(self):
        faults = [Fault("M", str(n), "Sources/M/F.swift", "a", "b") for n in range(20)]
        faults[0].survives = "reason"
        self.assertEqual(faultlists.check_survivors(faults), [])
        self.assertEqual(len(faultlists.check_survivors(faults[:19])), 1)
        self.assertEqual(len(faultlists.check_spread(faults)), 1 + len(faultlists.SPREAD))


class ParsingTests(unittest.TestCase):
    def check(self, *entries):
        faults = []
        for index, (file, before, after, *more) in enumerate(entries):
            fault = Fault(
                module="M", name=f"fault-{index}", file=f"{file}.swift", before=before, after=after,
                number=index + 1, statements=bool(more))
            self.assertIsNone(fault.find(TEXT))
            faults.append(fault)
        return parsing.check(faults, {fault.file: TEXT for fault in faults})

    def test_whole_expressions_and_statements_are_right(self):
        self.assertEqual(self.check(
            ("F", "a > 3", "true"), ("F", "send(a + 1)", "", True), ("F", "a + 1", "a"),
            ("G", "return a", "let b = a\nreturn b", True)), [])

    def test_each_fault_that_is_no_swift_is_named(self):
        problems = self.check(
            ("F", "if a > 3", "if a > 4"), ("F", "a < 9", "a < 10"), ("F", "a + 1", "a +"),
            ("G", "-> Int {", "-> Int8 {"), ("H", "func f", "", True), ("I", "a + 1", "2"))
        self.assertEqual(
            [re.search(r"M.toml: (fault-\d: \w\.swift:\d): ", p)[1] for p in problems],
            ["fault-0: F.swift:2", "fault-2: F.swift:3", "fault-3: G.swift:1", "fault-4: H.swift:1"])

    def test_faults_that_only_together_are_no_swift_are_not_lost(self):
        def parse(texts):
            return {i: ["no"] for i, text in enumerate(texts) if text.count("caromFault(") > 1}

        self.addCleanup(setattr, parsing, "parse", parsing.parse)
        parsing.parse = parse
        problems = self.check(("F", "a > 3", "true"), ("F", "a < 9", "true"), ("G", "a + 1", "a"))
        self.assertEqual([p.split()[1] for p in problems], ["fault-0:"])

    def test_a_missing_parser_is_an_error(self):
        self.addCleanup(os.environ.__setitem__, "PATH", os.environ["PATH"])
        os.environ["PATH"] = "/nowhere"
        self.assertIn("cannot be parsed", self.check(("F", "a > 3", "true"))[0])


class OrderTests(unittest.TestCase):
    TARGETS = {
        "Core": (False, []), "DNS": (False, ["Core"]), "Discovery": (False, ["DNS"]),
        "CTests": (True, []), "EndToEndTests": (True, ["Discovery"]), "DNSTests": (True, ["DNS"]),
        "DiscoveryTests": (True, ["Discovery"]), "CoreTests": (True, ["Core"]),
        "TidyTests": (True, [])}

    def test_own_tests_run_first_and_those_of_everything_last(self):
        order = campaign.Order(self.TARGETS)
        self.assertEqual(
            order.tests_of("Core", "above"), ["DNSTests", "DiscoveryTests", "EndToEndTests"])
        self.assertEqual(order.tests_of("DNS", "above"), ["DiscoveryTests", "EndToEndTests"])
        self.assertEqual(order.tests_of("DNS", "own"), ["DNSTests"])


class Machine:
    """In place of a package and a worker: tests that fail as they are told to."""

    def __init__(self, folder, fails):
        self.top = Path(folder)
        self.folder = folder
        self.fails = fails
        self.stamp, self.sizes, self.bundle = "1", {"DNS": 2}, None
        self.unreached = set()
        self.log = []

    def targets(self):
        return OrderTests.TARGETS

    def run(self, pattern, environment, timeout, gap=None, skip=None, stop=True):
        names = [f"{t}.T/{x}()" for t in ("DNSTests", "DiscoveryTests", "EndToEndTests")
                 for x in "ab"]
        chosen = [n for n in names if re.search(pattern, n)]
        chosen = [n for n in chosen if not skip or not re.search(skip, n)]
        run = testruns.Run(status=0, durations=dict.fromkeys(chosen, 0.1), seconds=0.2)
        if folder := environment.get("CAROM_FAULTS_REACHED"):
            if names.index(chosen[0]) // 2 not in self.unreached:
                (Path(folder) / "DNS").write_bytes(b"\0\1")
        with_fault = environment.get("CAROM_FAULT") == "DNS:1"
        self.log.append(("fault " if with_fault else "") + pattern)
        for name in chosen:
            how = self.fails(name, with_fault, len(self.log))
            if how == "failed":
                run.failures[name] = "1: it failed"
            elif how:
                run.unfinished.append(name)
                run.hung = how == "hang"
            run.status = 1 if how else run.status
        return run


class CampaignTests(unittest.TestCase):
    FAULT = Fault("DNS", "one", "Sources/DNS/F.swift", "a", "b", number=1)

    def judge(self, fails, unreached=(), again=False):
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(folder, fails)
            machine.unreached = set(unreached)
            for _ in range(2 if again else 1):
                machine.log.clear()
                made = campaign.Campaign(
                    machine, RunTests, 1, report=lambda line: self.lines.append(line))
                verdict = made.judge(campaign.Verdict(self.FAULT), "own", machine)
                if verdict.outcome == "survived":
                    verdict = made.judge(verdict, "above", machine)
            return verdict, machine.log

    def setUp(self):
        self.lines = []

    def test_a_test_that_fails_only_with_the_fault_kills(self):
        verdict, _ = self.judge(lambda name, fault, _: fault and "b()" in name and "failed")
        self.assertEqual(
            (verdict.outcome, verdict.how, verdict.tests), ("killed", "failed", ["DNSTests.T/b()"]))
        self.assertFalse(verdict.is_wrong)

    def test_a_crash_and_a_hang_kill(self):
        for how in ("crash", "hang"):
            verdict, _ = self.judge(lambda name, fault, _: fault and "a()" in name and how)
            self.assertEqual((verdict.how, verdict.tests), (how, ["DNSTests.T/a()"]))

    def test_the_modules_above_come_after_and_only_where_they_reach_the_fault(self):
        verdict, log = self.judge(
            lambda name, fault, _: fault and "EndToEnd" in name and "failed", unreached=[1])
        self.assertEqual(verdict.tests[0].split(".")[0], "EndToEndTests")
        self.assertEqual(verdict.passed, ["DNSTests"])
        self.assertNotIn("fault ^DiscoveryTests\\.", log)

    def test_a_failure_that_does_not_repeat_is_no_kill(self):
        # The second run of all is the first one with the fault.
        verdict, _ = self.judge(lambda name, _, run: run == 2 and "a()" in name and "failed")
        self.assertEqual(verdict.outcome, "survived")
        self.assertTrue(verdict.is_wrong)
        self.assertEqual(verdict.passed, ["DNSTests", "DiscoveryTests", "EndToEndTests"])

    def test_a_test_that_fails_without_the_fault_now_and_then_is_no_kill(self):
        # Green when it is measured, and red ever after.
        verdict, _ = self.judge(
            lambda name, _, run: run > 1 and "DNSTests.T/a()" in name and "failed")
        self.assertEqual(verdict.outcome, "survived")

    def test_a_test_that_is_red_without_a_fault_stops_everything(self):
        with self.assertRaises(campaign.RedBaseline):
            self.judge(lambda name, _, run: "a()" in name and "failed")
        verdict, _ = self.judge(lambda name, fault, run: "a()" in name and run == 1 and "failed")
        self.assertIn("unsteady, left out: DNSTests.T/a()", self.lines[-3])

    def test_a_killer_is_remembered(self):
        verdict, log = self.judge(
            lambda name, fault, _: fault and "EndToEndTests.T/b()" in name and "failed", again=True)
        self.assertEqual(verdict.tests, ["EndToEndTests.T/b()"])
        pattern = testruns.pattern_of(verdict.tests)
        self.assertEqual(log, [f"fault {pattern}"] * 2 + [pattern] * 2)

    def test_a_fault_that_is_expected_to_survive(self):
        fault = Fault("DNS", "two", "Sources/DNS/F.swift", "a", "b", survives="reason")
        self.assertFalse(campaign.Verdict(fault).is_wrong)
        self.assertTrue(campaign.Verdict(fault, "killed").is_wrong)


class PatternTests(unittest.TestCase):
    def test_a_pattern_is_exact(self):
        self.assertEqual(
            testruns.pattern_of(["M.T/`a (b)`()"]), r"^(M\.T\/`a \(b\)`\(\))")
        self.assertEqual(testruns.identifier("M.T/`a`()/File.swift:3:4"), "M.T/`a`()")


class RunTests(unittest.TestCase):
    """Runs of a program that says what a test bundle would."""

    def run_bundle(self, *ends, timeout=60, gap=None, then="", stop=True):
        lines = [
            '{"kind": "test", "payload": {"kind": "function", "id": "M.T/%s()/F.swift:1:1"}}' % name
            for name, *_ in ends]
        for name, *kinds in ends:
            lines += [
                '{"kind": "event", "payload": {"kind": "%s", "testID": "M.T/%s()/F.swift:1:1"}}'
                % (kind, name) for kind in ("testStarted", *kinds)]
        with tempfile.TemporaryDirectory() as folder:
            bundle = Path(folder) / "bundle"
            events = "\n".join(lines)
            # The last argument is where the events go.
            bundle.write_text(
                "#!/bin/sh\nfor to; do :; done\n"
                f"cat >$to <<'END'\n{events}\nEND\necho said\n{then}\n")
            bundle.chmod(0o755)
            worker = testruns.Worker(bundle, self)
            try:
                return worker.run("^M", {}, timeout, gap, stop=stop)
            finally:
                worker.close()

    # As a sandbox, this runs nothing in a namespace.
    prefix = None

    def setUp(self):
        self.addCleanup(setattr, testruns, "GRACE", testruns.GRACE)
        testruns.GRACE = 0.02

    def test_a_run_that_passes(self):
        run = self.run_bundle(("a", "testEnded"), ("b", "testEnded"))
        self.assertTrue(run.passed)
        self.assertEqual(sorted(run.durations), ["M.T/a()", "M.T/b()"])
        self.assertEqual(run.output, "said\n")

    def test_the_first_failure_ends_a_run(self):
        run = self.run_bundle(("a", "testEnded"), ("b", "issueRecorded"), then="sleep 60")
        self.assertEqual((run.how, list(run.failures)), ("failed", ["M.T/b()"]))
        self.assertLess(run.seconds, 30)

    def test_a_crash_and_a_hang(self):
        run = self.run_bundle(("a", "testEnded"), ("b",), then="kill -ILL $$")
        self.assertEqual((run.how, run.unfinished), ("crash", ["M.T/b()"]))
        for limit in ("timeout", "gap"):
            # On a busy machine, the program may take longer to begin.
            for seconds in (0.05, 1, 20):
                run = self.run_bundle(("a",), **{limit: seconds}, then="sleep 60")
                if run.unfinished:
                    break
            self.assertEqual((run.how, run.unfinished), ("hang", ["M.T/a()"]))


class GeneratorTests(unittest.TestCase):
    def changes(self, text, path="Sources/M/F.swift"):
        file = generator.File(path, text)
        return {
            (index + 1, text[start:end], after)
            for index, found in file.candidates().items()
            for _, start, end, after, _ in found}

    def test_each_rule(self):
        found = self.changes(TEXT)
        for change in [
            (2, "a > 3", "a >= 3"), (2, "a < 9", "a <= 9"), (2, "3", "4"), (2, "9", "8"),
            (2, "a > 3 && a < 9", "!(a > 3 && a < 9)"), (3, "a + 1", "a - 1"),
            (3, "send(a + 1)", ""),
        ]:
            self.assertIn(change, found)
        self.assertFalse([c for c in found if c[0] in (1, 5)])

    def test_comments_strings_and_conditional_code_are_left_alone(self):
        found = self.changes(
            'let a = "1 < 2 \\(b["c < d"] + 3)" // 4 < 5\n#if os(Linux)\nlet b = 6\n#endif\n'
            '/* 7 /* 8 */ 9 */\nlet c = #"\\"# + d\n')
        self.assertEqual(found, {(6, '#"\\"# + d', '#"\\"# - d')})

    def test_operands_are_whole(self):
        found = self.changes(
            "  let x = try a.b(c) + d * e - f(g + 1) ?? h\n  return i.j == k + 2 ? true : l\n")
        for change in [
            (1, "a.b(c) + d * e", "a.b(c) - d * e"), (1, "g + 1", "g - 1"),
            (1, "a.b(c) + d * e - f(g + 1)", "a.b(c) + d * e + f(g + 1)"),
            (2, "i.j == k + 2", "i.j != k + 2"), (2, "k + 2", "k - 2"), (2, "true", "false"),
        ]:
            self.assertIn(change, found)

    def test_operands_in_c(self):
        found = self.changes("  if (a->b + 1 < c->d && e & 1 == f) {\n", "CSources/M/f.c")
        self.assertIn((1, "a->b + 1 < c->d", "a->b + 1 <= c->d"), found)
        self.assertIn((1, "a->b + 1", "a->b - 1"), found)
        self.assertFalse([c for c in found if c[1] != "1" and "e" in c[1] and "&&" not in c[1]])

    def test_parts_of_an_expression_of_several_lines_are_not_statements(self):
        found = self.changes("  let x = f(\n    g(y)\n  )\n  let z = a\n    .map(b)\n  c.d(e)\n")
        self.assertEqual([c for c in found if c[2] == ""], [(6, "c.d(e)", "")])


if __name__ == "__main__":
    unittest.main()
