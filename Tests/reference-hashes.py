#!/usr/bin/env python3
"""Prints, as Swift, the hashes that have to be the same in every build: those of the fixed match, of the
reference cases of the physics, and of a recorded match. Beside it belong FixedMatch.swift,
CaseHashes.swift and RecordedMatchHashes.swift.

usage: reference-hashes.py PHYSICS_CASES.json MATCH.crpl
"""

import json
import math
import sys

TABLE, COLLISION, RAIL, SLIDE, CIRCLES, SEGMENT, INTERPOLATION, GAS = range(8)
STEP = 1 / 60
GAS_STEPS = 30
MATCH = 3  # the number of hashes of the fixed match
NO_MASS = 0  # the inverse mass of a disc that only moves others


def table(case, discs, seconds, step=STEP):
    """Discs on a table: (position, velocity, spin, radius, inverse mass) each."""
    surface = [case.get(key, usual) for key, usual in
        [("hx", 50), ("hy", 50), ("g", 0), ("e_w", 1), ("e_d", 1), ("mu_w", 0), ("k", 0), ("a", 0)]]
    return [TABLE, *surface, step, int(seconds / step + 1e-9), *(x for disc in discs for x in disc)]


def disc(fields, mass=None):
    mass = fields.get("m", mass)
    return [*fields["p"], *fields["v"], fields.get("w", 0), fields["r"], 1 / mass if mass else NO_MASS]


def shot(speed, place, radius, mallet_radius, share=1):
    """A puck and a mallet that approach each other."""
    return [
        disc(dict(p=place, v=[speed * (1 - share), 0], r=radius, m=0.03)),
        disc(dict(p=[place[0] - 0.2 if share == 1 else 0, 0], v=[speed * share, 0], r=mallet_radius))]


def invariant(case, cases):
    """The inputs of a case that checks a property of many runs: one run, or a few."""
    if "discs" in case:
        side = math.ceil(math.sqrt(case["discs"]))
        half = math.sqrt(case["discs"] * math.pi * case["r"] ** 2 / case["area_fraction"]) / 2
        return [[GAS, case["discs"], side, half, case["r"], case["m"], case["speed"], case["e"],
            case["dt"], GAS_STEPS]]
    if "mallet" in case:
        return [table(case, [disc(case["puck"], 0.03), disc(case["mallet"])], case["seconds"])]
    if "same_as" in case:
        same = next(each["input"] for each in cases if each["id"] == case["same_as"])
        return [table(same, list(map(disc, same["discs"])), same["T"], step) for step in case["dts"]]
    if "mallet_speeds" in case:
        puck = case["puck"]
        return [table(case, shot(speed, puck["p"], puck["r"], case["mallet_r"]), 0.5)
            for speed in case["mallet_speeds"]]
    if "speeds" in case:
        return [table({}, shot(speed, [-0.3, 0.03], 0.04, 0.05, share), 0.5)
            for speed in case["speeds"] for share in (0, 1)]
    touching = [[-0.5, 0, 3], [0.1, 0.04, 0], [0.1, -0.04, 0]]
    return [table({}, [disc(dict(p=[x, y], v=[v, 0], r=0.04, m=0.03)) for x, y, v in touching], 1)]


def inputs(item, cases):
    case, kind = item["input"], item["kind"]
    get = lambda *keys: [x for key in keys for x in
        (case[key] if isinstance(case[key], list) else [case[key]])]
    if kind == "table_run":
        return [table(case, list(map(disc, case["discs"])), case["T"])]
    if kind == "invariant":
        return invariant(case, cases)
    if kind == "impulse_disc_disc":
        return [[COLLISION, 1 / case["m1"], 1 / case["m2"], *get("v1", "v2", "p1", "p2"),
            case.get("e", 1)]]
    if kind == "impulse_disc_kinematic":
        return [[COLLISION, 1 / case["m1"], NO_MASS, *get("v1", "v2_kinematic", "p1", "p2"),
            case.get("e", 1)]]
    if kind.startswith("impulse_disc_rail"):
        return [[RAIL, *get("v", "n"), case.get("w", 0), case.get("r", 0.04), case.get("e_w", 1),
            case.get("mu_w", 0)]]
    if kind.startswith("free_slide"):
        times = [sample["t"] for sample in item["expect"].get("samples", [])]
        return [[SLIDE, case["v0"], case.get("distance", 1), case.get("k", 0), case.get("a", 0),
            *times]]
    if kind == "toi_circle_circle":
        return [[CIRCLES, *get("p1", "v1", "r1", "p2", "v2", "r2")]]
    if kind == "toi_circle_segment":
        return [[SEGMENT, *get("p", "v", "r", "a", "b")]]
    if kind == "interpolate":
        return [[INTERPOLATION, *get("p0", "v0", "p1", "v1", "h", "u")]]
    raise SystemExit(f"{item['id']}: unknown kind {kind}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    with open(sys.argv[2], "rb") as file:
        recording = file.read()
    runs = [run for item in cases for run in inputs(item, cases)]
    lines = "\n".join(f"    case {index}: [{', '.join(float(x).hex() for x in run)}]"
        for index, run in enumerate(runs))
    print(f"""import AirHockey
import CaromCore
import CaromPhysics
import CaromSimulation

enum ReferenceHashes {{
  static let match = FixedMatch.play().hashes
  static let recorded: [UInt64] = {{
    let digits: [UInt8] = recording.withUTF8Buffer {{ $0.map {{ $0 < 97 ? $0 - 48 : $0 - 87 }} }}
    let bytes = (0..<digits.count / 2).map {{ digits[2 * $0] << 4 | digits[2 * $0 + 1] }}
    do throws(DecodeError) {{
      return try RecordedMatchHashes.play(bytes)
    }} catch {{
      return [UInt64](repeating: 0, count: RecordedMatchHashes.count)
    }}
  }}()
  static let count = {MATCH + len(runs)} + RecordedMatchHashes.count

  static func hash(_ index: Int) -> UInt64 {{
    if index < {MATCH} {{ return match[index] }}
    let index = index - {MATCH}
    return index < {len(runs)} ? CaseHashes.hash(of: numbers(index)) : recorded[index - {len(runs)}]
  }}

  private static func numbers(_ index: Int) -> [Double] {{
    switch index {{
{lines}
    default: []
    }}
  }}

  private static let recording: StaticString = "{recording.hex()}"
}}""")


if __name__ == "__main__":
    main()
