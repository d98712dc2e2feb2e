#!/usr/bin/env python3
"""Judges what `qpscope case` says of the cases in unseen/, written apart from the rules: unseen.py [--weakened] [NAME...]

--weakened judges each case with less material: without one of its files, and with the first half of one. A verdict may
become undecided by that, and never wrong.

A folder of unseen/ holds what a hurried person would hand over, and expected.json, which the program never sees: the
material is copied to a folder with a neutral name.

  party, host     who is right; party_also: other parties that are not wrong
  must_say        regexes; a right verdict matches all of them
  must_not_say    regexes of tempting wrong claims
  next_step       regexes; a right verdict matches one of them

Regexes are searched without regard to case in the whole output, white space folded.

  right       the party, all of must_say and a next step
  undecided   too little, but nothing false: no party, or words are missing
  wrong       another party, or a match of must_not_say
  failed      no output, no party in it, or more of it than anybody reads

Exit status: 0; 1 if a verdict was wrong or failed; 2 if a case is not in order. Environment: QPSCOPE, the program.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CASES = pathlib.Path(__file__).resolve().parent / "unseen"
LONGEST = 12000  # characters; more is no verdict
TIMEOUT = 60  # seconds
PARTIES = {"undecided", "local host", "remote host", "network", "switch setting", "host setting", "application", "library", "firmware"}
KEYS = {"party", "party_also", "host", "must_say", "must_not_say", "next_step"}


def folded(text):
    return re.sub(r"(\\[nrt]|\s)+", " ", text)


def matches(regex, text):
    return re.search(regex, text, re.I | re.S) is not None


def material(case):
    return [path for path in sorted(case.rglob("*")) if path.is_file() and path.name != "expected.json"]


def faults(case, expected):
    """What is not in order in a case: a wrong claim that a quoted line of its material would make is none."""
    found = [f"unknown key {key}" for key in expected.keys() - KEYS]
    found += [f"no {key}" for key in KEYS - {"party_also"} - expected.keys()]
    if found:
        return found
    found += [f"unknown party {party}" for party in {expected["party"], *expected.get("party_also", [])} - PARTIES]
    found += [f"empty {key}" for key in ("must_say", "must_not_say", "next_step") if not expected[key]]
    said = [folded(path.read_text(errors="replace")) for path in material(case)]
    found += [] if said else ["no material"]
    for regex in expected["must_not_say"]:
        if any(matches(regex, text) for text in said):
            found.append(f"must_not_say matches its own material: {regex}")
    return found


def weakened(case):
    """What may be done to a copy of a case, by name."""
    files = [path.relative_to(case) for path in material(case)]
    for file in files:
        if len(files) > 1:
            yield f"without {file}", lambda folder, file=file: (folder / file).unlink()
        lines = (case / file).read_text(errors="replace").splitlines(keepends=True)
        if len(lines) > 1:
            half = "".join(lines[: (len(lines) + 1) // 2])
            yield f"half of {file}", lambda folder, file=file, half=half: (folder / file).write_text(half)


def output_of(program, case, change=lambda folder: None):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "material"
        shutil.copytree(case, folder, ignore=shutil.ignore_patterns("expected.json"))
        change(folder)
        done = subprocess.run([program, "case", "-f", "json", folder], capture_output=True, timeout=TIMEOUT, cwd=scratch)
        if not done.stdout.strip():
            complaint = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise RuntimeError(f"exit code {done.returncode}, no output{': ' + complaint[0] if complaint else ''}")
        return done.stdout.decode("utf-8", "replace")


def judge(text, expected):
    """The result, the party that was named, and what is missing or wrong."""
    party = re.search(r'"party"\s*:\s*"([^"]*)"', text)
    if not party:
        return "failed", "-", ["names no party"]
    if len(text) > LONGEST:
        return "failed", party[1], [f"{len(text)} characters, more than {LONGEST}"]
    text = folded(text)
    allowed = {expected["party"], *expected.get("party_also", [])}
    false = [f"says {regex}" for regex in expected["must_not_say"] if matches(regex, text)]
    if party[1] not in allowed | {"undecided"}:
        false.insert(0, f"blames {party[1]}, not {expected['party']}")
    if false:
        return "wrong", party[1], false
    lacks = [] if party[1] in allowed else [f"does not name {expected['party']}"]
    lacks += [f"lacks {regex}" for regex in expected["must_say"] if not matches(regex, text)]
    if not any(matches(regex, text) for regex in expected["next_step"]):
        lacks.append("lacks a next step")
    return ("undecided" if lacks else "right"), party[1], lacks


def judged(program, case, expected, change=lambda folder: None):
    try:
        return judge(output_of(program, case, change), expected)
    except (RuntimeError, subprocess.TimeoutExpired) as failure:
        return "failed", "-", [str(failure)]


def main():
    program = shutil.which(os.environ.get("QPSCOPE", "qpscope"))
    names = [word for word in sys.argv[1:] if word != "--weakened"]
    chosen = [case for case in sorted(CASES.iterdir()) if case.is_dir() and (not names or case.name in names)]
    expectations = {case: json.loads((case / "expected.json").read_text()) for case in chosen}
    disorder = [f"{case.name}: {fault}" for case in chosen for fault in faults(case, expectations[case])]
    if disorder or not chosen or not program:
        print("\n".join(disorder) or "no such case, or no program: QPSCOPE names it", file=sys.stderr)
        return 2
    counts = dict.fromkeys(("right", "undecided", "wrong", "failed"), 0)
    if "--weakened" in sys.argv:
        for case, expected in expectations.items():
            for name, change in weakened(case):
                result, party, reasons = judged(program, case, expected, change)
                counts[result] += 1
                if result in ("wrong", "failed"):
                    print(f"{case.name}, {name}: {result}, {party}", *(f"    {reason}" for reason in reasons), sep="\n")
    else:
        print(f"{'case':48} {'result':10} {'party':14} expected")
        for case, expected in expectations.items():
            result, party, reasons = judged(program, case, expected)
            counts[result] += 1
            print(f"{case.name:48} {result:10} {party:14} {expected['party']}", *(f"    {reason}" for reason in reasons), sep="\n")
    print(f"{sum(counts.values())} verdicts:", ", ".join(f"{number} {result}" for result, number in counts.items()))
    return 1 if counts["wrong"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
