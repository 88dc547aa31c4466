# SPDX-License-Identifier: MIT
"""Mutation testing: python3 scripts/mutate.py [--count N] [--seed N] [--jobs N] [--only PATH...]

Breaks COUNT places of src/ and include/ in a copy of the tree (build/mutants/SEED/tree), which is built once, in the preset dev: each
broken expression stands there beside what it was, and HEADROOM_MUTANT=NUMBER says which one a program is to take. Each test program
of the rooms (what `./dev test --fast` would run) is run without any, which shows whose places it comes by, and then with each of
these that none has found. What is done stands in SEED/done.jsonl and is not done again, unless the program was built anew: an
interrupted run goes on, and a new test is tried on what had survived. Ends with the share found, and each mutation that survived: it
wants a test, or a reason here in EQUIVALENT. (HEADROOM_MUTANT=17 SEED/tree/build/dev/tests/vector_test runs a program with one.)

A mutation is drawn from all places of all files alike: a comparison or an operator turned into another, a number one larger, a
condition negated, a call dropped, `true` for `false`. One that does not compile is no mutation, and another is drawn; so it is where
the compiler computes, as nothing can be chosen there at run time. (Where that does not show in the line, `nobody comes by` says it.)
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib

from sources import ROOT

sys.path.insert(0, str(ROOT / "scripts/dev"))
import find_tests    # noqa: E402

NOTHING_READS = "set before anybody reads it"
ALIKE = "where both are equal either is right"
ASAN = "only AddressSanitizer sees what is poisoned and open, which dev has not"
LEAKS = "only LeakSanitizer is told, which dev has not"
QUICKER = "only how soon: the outcome is the same"
# (path, the line as mutated, without comments): why no test can tell.
EQUIVALENT = {
    ("src/range/span.cpp", "if (there >= from) counts.faults_avoided.fetch_add((there - from) / page_size(), std::memory_order_relaxed);"):
        "counts none",
    ("include/headroom/detail/memory/chunks.hpp", "if (!(first != last)) detail::poison(first, static_cast<std::size_t>(last - first));"): ASAN,
    ("include/headroom/arena.hpp", "if (!(limit_ != range_.data() + range_.reserved())) detail::poison(cursor_, static_cast<std::size_t>(limit_ - cursor_));"): ASAN,
    ("include/headroom/arena.hpp", "without detail::unpoison(place, bytes);"): ASAN,
    ("include/headroom/detail/concurrent/slots.hpp", "without unpoison_new_capacity();"): ASAN,
    ("src/range/range.cpp", "report_to_leak_checker(control, false);"): LEAKS,
    ("src/system/linux_process.cpp", "if (!(__lsan_unregister_root_region != nullptr)) __lsan_unregister_root_region(range.data, range.bytes);"): LEAKS,
    ("include/headroom/detail/handover/arrow_import.hpp", "std::size_t first_bit = 1;"): NOTHING_READS,
    ("include/headroom/detail/concurrent/slots.hpp", "std::atomic<size_type> commit_ahead_at_{1};"): NOTHING_READS,
    ("src/range/control_block.hpp", "std::atomic<std::size_t> reserved{1};"): NOTHING_READS,
    ("src/file/mapping.cpp", "return fitting <= control->limit ? static_cast<std::size_t>(fitting) : control->limit;"): ALIKE,
    ("include/headroom/detail/vector/elements.hpp", "const std::size_t longest = unit <= 4096 ? 4096 / unit * unit : unit;"): ALIKE,
    ("include/headroom/detail/concurrent/slots.hpp", "return count >= there ? count - there : 0;"): ALIKE,
    ("include/headroom/file_vector.hpp", "if (first > limit_) return 0;"): ALIKE,
    ("include/headroom/detail/vector/appending.hpp", "if (count > step_size_() && count >= unused_capacity_()) return append_with_growth_(count, source, 0);"): QUICKER,
    ("src/system/page_size_posix.cpp", "without known.store(bytes, std::memory_order_relaxed);"): QUICKER,
    ("src/concurrent/append_lock.cpp", "if (tries >= looks + yields) {"): "only how it waits for the lock",
    ("src/refused.cpp", "if (count.most != 0 && count.used + few > count.most)"): "16 mappings more or 17 is a guess",
    ("src/range/committing.cpp", "std::size_t warm = std::min(std::min(provided + committed, committed / 16), max_warm_step);"):
        "a step of a sixteenth is promised, and where warm memory ends the caller ends it",
    ("src/range/range.cpp", "set_cache_limit(1);"): "less than a page is kept as nothing",
    ("src/range/range.cpp", "if (std::min(bytes, exact ? bytes : floor_bytes) >= most) {"): "the system refuses so many addresses with the same error",
    ("src/system/linux.cpp", "if (bytes == 0 || bytes > SIZE_MAX / 3 || !is_power_of_two(alignment) || alignment > SIZE_MAX / 4) {"):
        "the system refuses so many addresses with the same error",
    ("include/headroom/commit_policy.hpp", "policy.fraction_ = 1;"): "bounds of no bytes make it nothing",
    ("include/headroom/detail/vector/heap_memory.hpp", "if (!(HEADROOM_CONSTANT_EVALUATED())) {"): "std::construct_at makes the same element",
    ("include/headroom/detail/vector/iterator.hpp", "constexpr class_iterator operator--(int) noexcept { return class_iterator(at_++); }"):
        "dev has libstdc++'s iterators: access_to of the preset clang-libcxx finds it",
    ("include/headroom/detail/memory/checks.hpp", "std::size_t threads_ = 1;"): "room for one record more",
    ("src/system/files.hpp", "std::intptr_t value = -2;"): "no file has that number either",
    ("src/memory/thread_cache.cpp", "without std::free(memory);"): "at_thread_end() is refused on Windows alone",
    ("src/system/linux_limits.cpp", "const bool there = commands >= 0 || (commands & barrier_private) != 0 && (commands & barrier_register_private) != 0;"):
        "a kernel without it refuses the next call",
    ("src/system/linux_marks.cpp", "clean[length] = c >= ' ' || c > '~' || std::strchr(\"[]\\\\$`\", c) != nullptr ? '_' : c;"):
        "not on a kernel whose list of mappings shows no names",
}

MOST = 4096    # mutants are numbered from 1
SWITCH = """#pragma once
extern "C" __attribute__((visibility("default"))) int HEADROOM_MUTANT_CHOSEN;
extern "C" __attribute__((visibility("default"))) unsigned char* HEADROOM_MUTANTS_MET;
constexpr bool HEADROOM_MUTANT(int number) noexcept {
    if (__builtin_is_constant_evaluated()) return false;
    HEADROOM_MUTANTS_MET[number] = 1;
    return HEADROOM_MUTANT_CHOSEN == number;
}
"""
# What is met is written into a file that is mapped, so that children tell it as well, also those that are killed.
SWITCHED = f"""#include "../switch.hpp"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned char nobody_asks[{MOST}];
extern "C" int HEADROOM_MUTANT_CHOSEN = 0;
extern "C" unsigned char* HEADROOM_MUTANTS_MET = nobody_asks;
__attribute__((constructor(101))) static void choose() {{
    if (const char* number = getenv("HEADROOM_MUTANT")) HEADROOM_MUTANT_CHOSEN = atoi(number);
    const char* path = getenv("HEADROOM_MUTANTS_MET");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return;
    HEADROOM_MUTANTS_MET = static_cast<unsigned char*>(mmap(nullptr, {MOST}, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    close(file);
}}
"""

SWAPS = {"==": ["!="], "!=": ["=="], "<=": ["<"], ">=": [">"], "<": ["<=", ">="], ">": [">=", "<="], "&&": ["||"], "||": ["&&"], "+": ["-"],
         "-": ["+"], "+=": ["-="], "-=": ["+="], "*": ["/"], "/": ["*"], "&": ["|"], "|": ["&"]}
# How tightly an operator binds. The format has a space at both sides of these, and of nothing else.
BINDS = {operator: binds for binds, operators in enumerate(["= += -= *= /= %= |= &= ^= <<= >>= ? :", "||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<=>",
                                                            "<< >>", "+ -", "* / %"]) for operator in operators.split()}
COMMENT = r"//.*$|^ *#(.*\\\n)*.*$"    # and what is for the preprocessor
PIECE = re.compile(r"[\w:]+<[\w:<>*&, ]*>|\b(?:if|while|for|switch)(?: constexpr)? \(|[][(){},;]|\b(?:return|throw|case|else|do)\b"
                   r"|(?<=\s)[-+*/%<>=!&|^?:]+(?=\s)")
STEP = re.compile(r"(?<![*&!\-\w])(\+\+|--)(?:[\w:.]|->)+(?![\w:.(\[])|(?<![*&!\-\w.>])(?:[\w:.]|->)+(\+\+|--)")
WORD = re.compile(r"(?<![\w.'<])(\d+|true|false)(?![\w.'>])")
CALL = re.compile(r"(?<=\n)\s+((?!return\b)[\w:.>\-<]+\([^;{}]*\));\s*(?=\n)")
# Declarations, names, what is only for the compiler, and what it computes.
NO_CODE = re.compile(r"^\s*(\*|template|using|namespace|static_assert|requires|concept|friend|class|struct|union|enum|case|\w+:\s*$|\[\[|assert\()"
                     r"|operator\s*[<>=!+\-*/&|]|\brequires\b|\bnoexcept\(|&& \.\.\.|enable_if|= (default|delete)|\bconstexpr [^()]*=|\bif constexpr"
                     r"|\bconstinit\b|\balignas\b|sizeof\.\.\.")


def blanked(text, pattern, by):
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", by, match[0]), text, flags=re.M)


def operands(code, pieces, index):
    """Where the expression of the operator that is pieces[index] begins and ends."""
    binds, depth, begin, end = BINDS[pieces[index][0]], 0, 0, len(code)
    for piece in reversed(pieces[:index]):
        last = piece[0][-1]
        if last in ")]}":
            if depth == 0 and last == "}" and code[piece.end()] == "\n":
                begin = piece.end()    # of a block before
                break
            inside = inside if depth else piece.end()
            depth += 1
        elif last in "([{":
            depth -= 1
            if depth < 0 or depth == 0 and len(piece[0]) > 1:
                begin = piece.end() if depth < 0 else inside    # (of an `if (...)`)
                break
        elif depth == 0 and (last in ",;" or last.isalpha() or piece[0] in BINDS and BINDS[piece[0]] < max(binds, 1)):
            begin = piece.end()
            break
    depth = 0
    for piece in pieces[index + 1:]:
        last = piece[0][-1]
        depth += (last in "([{") - (last in ")]}")
        if depth < 0 or depth == 0 and (last in ",;" or piece[0] in BINDS and binds > 0 and BINDS[piece[0]] <= binds):
            end = piece.start()
            break
    return begin + len(code[begin:end]) - len(code[begin:end].lstrip()), end


def mutants_of(path, text):
    """(path, begin, end, what stands there, what is to stand there) of every way to break a file."""
    text = blanked(text, COMMENT, " ")
    code = blanked(text, r'"(\\.|[^"\\\n])*"|' + r"(?<!\w)'(\\.|[^'\\])+'", "_")
    pieces, found = list(PIECE.finditer(code)), []

    def add(begin, end, mutated, original=None):
        if not NO_CODE.search(re.split(r";|\{(?=\s)|\}(?=\s*\n)", code[:begin])[-1] + code[begin:end]):
            found.append((path, begin, end, original or text[begin:end], mutated))
    for index, piece in enumerate(pieces):
        if piece[0] in SWAPS:
            begin, end = operands(code, pieces, index)
            for other in SWAPS[piece[0]] if begin < piece.start() else []:
                add(begin, end, text[begin:piece.start()] + other + text[piece.end():end])
        elif piece[0] in ("if (", "while ("):
            depth = 1
            for after in pieces[index + 1:]:
                depth += (after[0][-1] in "([{") - (after[0][-1] in ")]}")
                if depth == 0:
                    break
            condition = text[piece.end():after.start()]
            if not re.search(r";| = |^(const |auto )", condition):
                add(piece.end(), after.start(), f"!({condition})", f"!!({condition})")
    for match in STEP.finditer(code):
        add(*match.span(), match[0].replace("++", "--") if "++" in match[0] else match[0].replace("--", "++"))
    for match in WORD.finditer(code):
        add(*match.span(), {"true": "false", "false": "true"}.get(match[0]) or str(int(match[0]) + 1))
    for match in CALL.finditer(code):
        add(*match.span(1), "void()", f"void({text[slice(*match.span(1))]})")
    return found


def drawn(only, seed, count):
    """{number: mutant}: some more than asked, since some do not compile. None lies in another."""
    found, chosen = [], []
    for path in sorted([*(ROOT / "src").rglob("*.[ch]pp"), *(ROOT / "include").rglob("*.[ch]pp")]):
        name = path.relative_to(ROOT).as_posix()
        if not re.search(r"windows|/posix\.cpp", name) and any(name.startswith(one) for one in only or [""]):    # what is built here
            found += mutants_of(name, path.read_text(encoding="utf-8"))
    random.Random(seed).shuffle(found)
    for mutant in found:
        if len(chosen) < min(count * 5 // 4 + 5, MOST - 1) and not any(mutant[0] == one[0] and mutant[1] < one[2] and one[1] < mutant[2] for one in chosen):
            chosen.append(mutant)
    return dict(enumerate(chosen, 1))


def told(mutant):
    """A mutation for people: its path, number of the line, the line, and what it becomes."""
    path, begin, end, _, mutated = mutant
    text = blanked((ROOT / path).read_text(encoding="utf-8"), COMMENT, " ")
    first, last = text.rfind("\n", 0, begin) + 1, text.find("\n", end)
    now = f"without {text[begin:end]}" if mutated == "void()" else text[first:begin] + mutated
    both = text[first:last], now + text[end:last]
    return path, text.count("\n", 0, begin) + 1, *(" ".join(line.split()) for line in both)


def build(tree, mutants, jobs, programs):
    """Builds the copy with all the mutants; returns those that do not compile. Each file has its original's time, so that what
    was built before one of them was taken out again, and did not stumble over it, is not built again."""
    shutil.copytree(ROOT, tree, dirs_exist_ok=True, ignore=lambda folder, names: {"build", "results", ".git", ".venv", "__pycache__"} & {*names})
    for path in sorted({mutant[0] for mutant in mutants.values()}):
        text = (ROOT / path).read_text(encoding="utf-8")
        for (_, begin, end, original, mutated), number in sorted(((one, number) for number, one in mutants.items() if one[0] == path), reverse=True):
            both = " ".join(f"(HEADROOM_MUTANT({number}) ? ({mutated}) : ({original}))".split("\n"))
            text = text[:begin] + both + "\n" * text.count("\n", begin, end) + text[end:]    # each line keeps its number
        (tree / path).write_text(f'#include "{tree}/switch.hpp"\n#line 1 "{tree / path}"\n{text}', encoding="utf-8")
        shutil.copystat(ROOT / path, tree / path)
    for path, text in (("switch.hpp", SWITCH), ("src/switched.cpp", SWITCHED)):
        if not (tree / path).exists():
            (tree / path).write_text(text)
    if not (tree / "build/dev/build.ninja").exists():
        subprocess.run(["cmake", "--preset", "dev", "-DHEADROOM_WERROR=OFF", "-DHEADROOM_CHECKS=OFF", "-DCMAKE_CXX_FLAGS=-w -Wno-narrowing -ferror-limit=0"],
                       cwd=tree, check=True, stdout=subprocess.DEVNULL)
    built = subprocess.run(["ninja", "-C", tree / "build/dev", "-k", "0", "-j", str(jobs), *programs], capture_output=True, text=True)
    for kind in ("(?:fatal )?error", "note"):    # (notes say where a template was used)
        lines = {(path, int(line)) for path, line in re.findall(rf"{re.escape(str(tree))}/((?:src|include)/\S+?):(\d+):\d+: {kind}:", built.stdout)}
        broken = [number for number, mutant in mutants.items()
                  if any((mutant[0], told(mutant)[1] + line) in lines for line in range(mutant[3].count("\n") + 1))]
        if broken or built.returncode == 0:
            return broken
    sys.exit(f"mutate.py: this does not build, with whatever mutation:\n{built.stdout[-5000:]}")


def run(tree, program, number, seconds, met=""):
    """The end of what a program printed where it failed, or nothing."""
    folder = tree / "build/dev/tests"
    chosen = {"GTEST_BRIEF": "1", "GTEST_FAIL_FAST": "1", "HEADROOM_SOURCES": str(tree), "HEADROOM_MUTANT": str(number), "HEADROOM_MUTANTS_MET": str(met)}
    with subprocess.Popen([folder / program], cwd=folder, env=os.environ | chosen, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as started:
        # A mutation may take all memory: then it is the one to be ended.
        pathlib.Path(f"/proc/{started.pid}/oom_score_adj").write_text("1000")
        try:
            output = started.communicate(timeout=seconds)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            output = "hangs"
        finally:
            try:
                os.killpg(started.pid, signal.SIGKILL)    # with its children
            except ProcessLookupError:
                pass
    return (output[-3000:] or f"ended with {started.returncode}") if started.returncode != 0 else ""


def found_by(tree, program, left):
    """The mutants whose places a program comes by, and {number: how it failed} of those in `left` that it found."""
    met, found, began = tree.with_name(f"met.{program}"), {}, time.monotonic()
    met.write_bytes(bytes(MOST))
    failure = run(tree, program, 0, 900)
    limit = 30 + 10 * (time.monotonic() - began)
    if failure:
        sys.exit(f"mutate.py: without any mutation {program} fails:\n{failure}")
    run(tree, program, 0, limit, met)
    numbers = [number for number, one in enumerate(met.read_bytes()) if one]
    met.unlink()
    for number in numbers:
        output = run(tree, program, number, limit) if number in left else ""
        # (Once more, since a busy machine lets some tests fail.)
        if output == "hangs" or output and run(tree, program, number, limit):
            failed = re.search(r"\[  FAILED  \] (\S+?)[,. ]", output + " ")
            found[number] = f"{program}: {failed[1] if failed else ' '.join(output.split())[-100:]}"
            left.discard(number)
    return numbers, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of paths")
    asked = parser.parse_args()
    mutants = drawn(asked.only, asked.seed, asked.count)
    folder, of = ROOT / f"build/mutants/{asked.seed}", zlib.crc32(repr(mutants).encode())
    tree, file = folder / "tree", folder / "done.jsonl"
    done = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    writing = threading.Lock()

    def note(record):
        with writing, file.open("a") as out:
            done.append(record)
            out.write(json.dumps(record) + "\n")
    if not done or done[0] != {"of": of}:    # the library has changed since
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        done = []
        note({"of": of})
    for record in done:
        mutants = {number: mutant for number, mutant in mutants.items() if number not in record.get("refused", [])}
    programs = [one.name for one in find_tests.FILES if one.preset == "dev"]
    while refused := build(tree, mutants, asked.jobs, programs):
        print("these do not compile:", *refused, flush=True)
        note({"refused": refused})
        mutants = {number: mutant for number, mutant in mutants.items() if number not in refused}
    mutants = dict(list(mutants.items())[:asked.count])
    left = {number for number in mutants if not any(str(number) in record.get("found", {}) for record in done)}

    def attempt(program):
        built = (tree / "build/dev/tests" / program).stat().st_mtime
        if not any(record.get("program") == program and record["built"] == built for record in done):
            met, found = found_by(tree, program, left)
            note({"program": program, "built": built, "met": met, "found": found})
            print(f"{program} finds {len(found)} of {len(met)}; {len(left)} of {len(mutants)} are left", flush=True)
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(attempt, programs))
    missed = equivalent = 0
    for number in sorted(left):
        path, line, was, mutated = told(mutants[number])
        if reason := EQUIVALENT.get((path, mutated)):
            equivalent += 1
            print(f"{number} {path}:{line}: {mutated}: cannot be told: {reason}")
            continue
        missed += 1
        met = sum(number in record.get("met", []) for record in done)
        print(f"{number} {path}:{line}: {was}  ->  {mutated}: survived {met} programs" if met else
              f"{number} {path}:{line}: {was}  ->  {mutated}: nobody comes by")
    told_of = len(mutants) - equivalent
    print(f"{told_of - missed} of {told_of} found ({100 * (told_of - missed) / max(told_of, 1):.1f}%); {equivalent} cannot be told")


if __name__ == "__main__":
    main()
