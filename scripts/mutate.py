"""Mutation testing: python3 scripts/mutate.py [--count N] [--seed N] [--jobs N] [--out FILE] [--only PATH...]

Breaks one place of src/ or include/ at a time in a copy of the tree (build/mutants/tree), builds what is affected in the preset
dev, and runs what `./dev test --fast` would run of it: first the rooms that the file belongs to, then, where they find nothing,
all the others. Writes one line of JSON for each mutation to FILE (build/mutants/SEED.jsonl); what stands there already is not
done again, so that an interrupted run goes on. Ends with the share found, and each one that survived: it wants a test, or a
reason here in EQUIVALENT.

A mutation is drawn from all places of all files alike: a comparison or an operator turned into another, a number one larger, a
condition negated, a call dropped, `true` for `false`. One that does not compile is no mutation, and another is drawn.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

from sources import ROOT

sys.path.insert(0, str(ROOT / "scripts/dev"))
import find_tests    # noqa: E402

PLACE = ROOT / "build/mutants"
TREE = PLACE / "tree"
BUILD = TREE / "build/dev"
# (path, text of the line as mutated): why no test can tell.
EQUIVALENT = {
    ("src/range/committing.cpp", "if (there >= from) count_faults_avoided((there - from) / page_size());"): "counts none",
    ("include/headroom/detail/memory/chunks.hpp", "if (!(first != last)) detail::poison(first, static_cast<std::size_t>(last - first));"):
        "only AddressSanitizer sees what is poisoned, which dev has not: memory_poison_test of the preset asan-ubsan finds it",
    ("include/headroom/detail/handover/arrow_import.hpp", "std::size_t first_bit = 1;"): "set before anybody reads it",
}

SWAPS = {"==": ["!="], "!=": ["=="], "<=": ["<"], ">=": [">"], " < ": [" <= ", " >= "], " > ": [" >= ", " <= "], "&&": ["||"],
         "||": ["&&"], " + ": [" - "], " - ": [" + "], "+=": ["-="], "-=": ["+="], " * ": [" / "], " / ": [" * "], "true": ["false"],
         "false": ["true"], "++": ["--"], " & ": [" | "], " | ": [" & "]}
OPERATOR = re.compile(r"(==|!=|<=(?!>)|>=|&&|\|\||\+=|-=|\+\+| < | > | \+ | - | \* | / | & | \| |\btrue\b|\bfalse\b)")
NUMBER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
CONDITION = re.compile(r"\b(if|while) \((?!const |auto )(.+?)\)(?= \{| \w|$)")
CALL = re.compile(r"^\s+[\w:.>\-<]+\([^;{}]*\);\s*$")
# Declarations, names and what is only for the compiler.
NO_CODE = re.compile(r"^\s*(#|//|\*|template|using|namespace|static_assert|requires|concept|friend|class|struct|public|private|protected|\[\[|assert\(|return;)"
                     r"|operator\s*[<>=!+\-*/&|]|\brequires\b|\bnoexcept\(|&&\s+\w+[,)]|&& \.\.\.|<typename|<class|enable_if|is_\w+_v<|= (default|delete)")
ROOMS = [("src/range", ["range", "settled_vector", "memory"]), ("src/system", ["system", "range", "file_vector"]), ("src/memory", ["memory"]),
         ("src/file", ["file_vector"]), ("src/concurrent", ["concurrent_vector"]), ("src/handover", ["arrow"]),
         ("include/headroom/detail/vector", ["vector", "settled_vector", "small_vector"]), ("include/headroom/detail/memory", ["memory"]),
         ("include/headroom/detail/concurrent", ["concurrent_vector"]), ("include/headroom/vector", ["vector"]),
         ("include/headroom/settled", ["settled_vector"]), ("include/headroom/small", ["small_vector"]), ("include/headroom/concurrent", ["concurrent_vector"]),
         ("include/headroom/file", ["file_vector"]), ("include/headroom/detail/file", ["file_vector"]), ("include/headroom/arrow", ["arrow"]),
         ("include/headroom/dlpack", ["arrow"]), ("include/headroom/frozen", ["arrow"]), ("include/headroom/arena", ["memory"]),
         ("include/headroom/monotonic", ["memory"]), ("include/headroom/multipool", ["memory"]), ("include/headroom/reservation", ["range"])]


def mutants_of(line):
    """Every way to break one line, as the whole line that it becomes."""
    code = line.split("//")[0]
    if NO_CODE.search(code) or not code.strip() or '"' in code:
        return []
    found = []
    for match in OPERATOR.finditer(code):
        found += [code[:match.start()] + other + code[match.end():] for other in SWAPS[match[0]]]
    for match in NUMBER.finditer(code):
        found.append(code[:match.start()] + str(int(match[0]) + 1) + code[match.end():])
    for match in CONDITION.finditer(code):
        if not match[2].startswith("constexpr"):
            found.append(f"{code[:match.start(2)]}!({match[2]}){code[match.end(2):]}")
    if CALL.match(code) and not code.strip().startswith("return"):
        found.append(re.match(r"\s*", code)[0] + ";")
    return found


def all_mutants(only):
    found = []
    for folder in ("src", "include"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            name = path.relative_to(ROOT).as_posix()
            if re.search(r"windows|/posix\.cpp", name) or only and not any(name.startswith(one) for one in only):
                continue    # what is not built here
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
                found += [(name, number, line, other) for other in mutants_of(line)]
    return found


def prepare():
    """The copy, configured and built, with all tests passing: else nothing could be told from a failure."""
    for name in ("build", "results", ".git", ".venv"):
        assert not (TREE / name).is_symlink()
    TREE.mkdir(parents=True, exist_ok=True)
    for path in ROOT.iterdir():
        if path.name in ("build", "results", ".git", ".venv"):
            continue
        if path.is_dir():
            wanted = TREE / path.name
            shutil.rmtree(wanted, ignore_errors=True)
            shutil.copytree(path, wanted, symlinks=True)    # with the files' times: what was built stays so
        else:
            shutil.copy2(path, TREE / path.name)
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "dev"], cwd=TREE, check=True, stdout=subprocess.DEVNULL)


def files_of(rooms):
    return [file for file in find_tests.FILES if file.room in rooms and file.preset == "dev"]


def attempt(files, jobs):
    """None where all passes, or what found the fault: a test's name, or that it does not compile."""
    names = [file.name for file in files]
    built = subprocess.run(["ninja", "-C", BUILD, "-j", str(jobs), *names], capture_output=True, text=True)
    if built.returncode != 0:
        return "does not compile"
    ran = subprocess.run(["ctest", "--test-dir", BUILD, "-j", str(jobs), "--stop-on-failure", "--timeout", "120", "-R", f"^({'|'.join(names)})$"],
                         capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if ran.returncode == 0:
        return None
    failed = re.findall(r"^\s*\d+ - (\S+) \(", ran.stdout, re.M)
    return failed[0] if failed else "something"


def outcome_of(name, jobs):
    near = next((rooms for begin, rooms in ROOMS if name.startswith(begin)), ["vector", "memory", "range"])
    first = attempt(files_of(near), jobs)
    if first:
        return first
    others = {file.room for file in find_tests.FILES} - set(near)
    return attempt(files_of(others), jobs) or "survived"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of paths")
    chosen = parser.parse_args()
    out = chosen.out or PLACE / f"{chosen.seed}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    prepare()
    files = files_of({file.room for file in find_tests.FILES})
    if not done and (failure := attempt(files, chosen.jobs)):
        sys.exit(f"mutate.py: without any mutation: {failure}")
    drawn = all_mutants(chosen.only)
    random.Random(chosen.seed).shuffle(drawn)
    seen = {(one["path"], one["line"], one["mutated"]) for one in done}
    counted = sum(one["outcome"] != "does not compile" for one in done)
    for name, number, line, mutated in drawn:
        if counted >= chosen.count:
            break
        if (name, number + 1, mutated.strip()) in seen:
            continue
        path = TREE / name
        before = path.read_text(encoding="utf-8")
        lines = before.splitlines(keepends=True)
        lines[number] = mutated + "\n"
        path.write_text("".join(lines), encoding="utf-8")
        try:
            outcome = outcome_of(name, chosen.jobs)
        finally:
            path.write_text(before, encoding="utf-8")
        record = {"path": name, "line": number + 1, "was": line.strip(), "mutated": mutated.strip(), "outcome": outcome}
        if outcome == "survived" and (name, mutated.strip()) in EQUIVALENT:
            record["outcome"] = "equivalent"
        done.append(record)
        with out.open("a") as file:
            file.write(json.dumps(record) + "\n")
        counted += outcome != "does not compile"
        print(f"{counted}/{chosen.count} {name}:{number + 1}: {mutated.strip()}: {record['outcome']}", flush=True)
    told = [one for one in done if one["outcome"] not in ("does not compile", "equivalent")]
    survived = [one for one in told if one["outcome"] == "survived"]
    for one in survived:
        print(f"survived: {one['path']}:{one['line']}: {one['was']}  ->  {one['mutated']}")
    print(f"{len(told) - len(survived)} of {len(told)} found ({100 * (len(told) - len(survived)) / max(len(told), 1):.1f}%)")


if __name__ == "__main__":
    main()
