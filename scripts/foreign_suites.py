# SPDX-License-Identifier: MIT
"""Runs other people's tests of vectors on ours: python3 scripts/foreign_suites.py SUITE FOLDER [option...]

SUITE and the FOLDER of its sources, which are fetched by hand and never become part of this project:
  libstdc++   gcc's libstdc++-v3/testsuite           (23_containers/vector)
  libc++      llvm-project's libcxx/test             (std/containers/sequences/vector and vector.bool)
  microsoft   microsoft/STL's tests/std              (every unit of tests/ that includes <vector>, or is of P0220R1)
  boost       boostorg's assert, config, container, core, intrusive and move side by side    (container/test/vector_test)

--only WORDS    units whose path contains one of WORDS, between commas
--without WORD  ... and does not contain WORD
--compiler C    g++ unless told otherwise; libc++'s suite: clang++-19 -stdlib=libc++
--build DIR     where the library is built with AddressSanitizer and UBSan, and what is made lies: build/foreign

Each unit is a program. It is compiled and run with the toolchain's own vector first, then with headroom::vector and with
headroom::settled_vector in its place, all under AddressSanitizer and UBSan. The toolchain's headers are read with their
vector under another name; after that std::vector is ours, and the unit's text is as it was, but for what libc++ asks of itself
alone (LIBCPP_ASSERT, __invariants).
settled_vector knows no allocators, and its capacity grows in pages: it is lent constructors that take an allocator and forget
it, a capacity() need only be as large as is asked, and tests that are run while compiling are run only as a program.

boost's test is one program; each call of its main() that is about what every vector has is a unit here. Its own vector is a class
derived from the toolchain's vector or from ours, which is lent nth(), index_of() and get_stored_allocator().

A line for each unit that the toolchain's vector does not pass (baseline) or that ours does not; the last lines count. What
a unit said stands in DIR/said. A unit that is meant not to compile passes when it does not.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from sources import ROOT

SECONDS = 120
KINDS = ("std", "vector", "settled_vector")
STANDARD = """algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable
coroutine deque exception execution expected filesystem format forward_list fstream functional future generator initializer_list
iomanip ios iosfwd iostream istream iterator latch limits list locale map mdspan memory memory_resource mutex new numbers numeric
optional ostream print queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span
spanstream sstream stack stdexcept stop_token streambuf string string_view strstream syncstream system_error thread tuple
type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version cassert cctype cerrno cfenv
cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar
cwctype""".split()

EVERY_HEADER = "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in STANDARD)
# (Two headers of ours name std::vector, and no vector of ours.)
RENAMED = f"""#define vector vector_of_the_toolchain
{EVERY_HEADER}#include <headroom/relocatable.hpp>
#include <headroom/reservation.hpp>
#undef vector
"""
# settled_vector with allocators that it forgets.
LENDING = """
namespace foreign {
template <class T, class A = std::allocator<T>>
class vector : public headroom::settled_vector<T> {
    static_assert(std::is_same_v<typename std::allocator_traits<A>::value_type, T> && !std::is_const_v<T>);
    using base = headroom::settled_vector<T>;
    using traits = std::allocator_traits<A>;
    [[no_unique_address]] A allocator_;
public:
    using allocator_type = A;
    using size_type = typename base::size_type;
    vector() = default;
    vector(const vector& other) : base(other), allocator_(traits::select_on_container_copy_construction(other.allocator_)) {}
    vector(vector&&) = default;
    vector& operator=(const vector& other) { base::operator=(other); return *this; }
    vector& operator=(vector&& other) noexcept { base::operator=(std::move(other)); return *this; }
    vector& operator=(std::initializer_list<T> v) { base::operator=(v); return *this; }
    explicit vector(const A& a) noexcept : allocator_(a) {}
    explicit vector(std::size_t n, const A& a = A()) : base(n), allocator_(a) {}
    vector(std::size_t n, const T& v, const A& a = A()) : base(n, v), allocator_(a) {}
    vector(std::initializer_list<T> v, const A& a = A()) : base(v), allocator_(a) {}
    template <class I> requires requires { typename std::iterator_traits<I>::iterator_category; }
    vector(I from, I to, const A& a = A()) : base(from, to), allocator_(a) {}
    template <std::same_as<headroom::from_range_t> F, class R> requires std::constructible_from<base, F, R>
    vector(F tag, R&& r, const A& a = A()) : base(tag, std::forward<R>(r)), allocator_(a) {}
    vector(const vector& other, const std::type_identity_t<A>& a) : base(other), allocator_(a) {}
    vector(vector&& other, const std::type_identity_t<A>& a) noexcept : base(std::move(other)), allocator_(a) {}
    A get_allocator() const noexcept { return allocator_; }
    void swap(vector& other) noexcept { base::swap(other); std::swap(allocator_, other.allocator_); }
    friend void swap(vector& a, vector& b) noexcept { a.swap(b); }
};
template <class I, class A = std::allocator<typename std::iterator_traits<I>::value_type>>
    requires std::derived_from<typename std::iterator_traits<I>::iterator_category, std::input_iterator_tag> &&
             requires(A a) { a.allocate(1); }
vector(I, I, A = A()) -> vector<typename std::iterator_traits<I>::value_type, A>;
template <std::same_as<headroom::from_range_t> F, std::ranges::input_range R,
          class A = std::allocator<std::ranges::range_value_t<R>>>
vector(F, R&&, A = A()) -> vector<std::ranges::range_value_t<R>, A>;
template <class T, class A, class B>
vector(vector<T, A>, B) -> vector<T, A>;
}
"""
OURS = {
    "std": EVERY_HEADER,
    "vector": RENAMED + """
#include <headroom/vector.hpp>
namespace std {
using headroom::vector;
using headroom::erase;
using headroom::erase_if;
namespace pmr { template <class T> using vector = headroom::pmr::vector<T>; }
}
""",
    "settled_vector": RENAMED + """
#include <headroom/settled_vector.hpp>
""" + LENDING + """namespace std {
using foreign::vector;
using headroom::erase;
using headroom::erase_if;
namespace pmr { template <class T> using vector = foreign::vector<T, polymorphic_allocator<T>>; }
}
""",
}
# What microsoft's units ask of the headers of their own library.
MICROSOFT = {
    "yvals_core.h": """#pragma once
#define _HAS_CXX17 1
#define _HAS_CXX20 1
#define _HAS_CXX23 (__cplusplus > 202002L)
#define _HAS_CXX26 0
#define _CONSTEXPR20 constexpr
#define _CONSTEXPR23 constexpr
#define _ITERATOR_DEBUG_LEVEL 0
#define _CONTAINER_DEBUG_LEVEL 0
#define _NODISCARD [[nodiscard]]
#define _STD ::std::
#define _Analysis_assume_(...)
#define _INLINE_VAR inline
#define _aligned_malloc(bytes, alignment) std::aligned_alloc(alignment, bytes)
#define _aligned_free std::free
""",
    "crtdbg.h": "#pragma once\n#define _CrtSetDbgFlag(...) 0\n#define _CrtSetReportMode(...) 0\n#define _CrtSetReportFile(...) 0\n",
}

# boost's vector, for its tests: the other one with a few members more.
BOOST_VECTOR = """#pragma once
#include <boost/container/allocator_traits.hpp>
#include <boost/container/container_fwd.hpp>
#include <boost/container/detail/algorithm.hpp>
#include <boost/container/detail/iterators.hpp>
#include <boost/container/detail/mpl.hpp>
#include <boost/container/detail/type_traits.hpp>
#include <boost/container/new_allocator.hpp>
#include <boost/container/throw_exception.hpp>
#include <boost/move/iterator.hpp>
#include <boost/move/utility_core.hpp>
namespace boost::container {
template <class T, class A>
using lender = LENDER<T, std::conditional_t<std::is_void_v<A>, new_allocator<T>, A>>;
template <class T, class A, class Options>
class vector : public lender<T, A> {
    using base = lender<T, A>;
public:
    using base::base;
    using base::operator=;
    using typename base::allocator_type;
    using stored_allocator_type = allocator_type;
    using typename base::const_iterator;
    using typename base::iterator;
    using typename base::size_type;
    vector() = default;
    vector(const vector&) = default;
    vector(vector&&) = default;
    vector(const vector& other, const allocator_type& a) : base(other, a) {}
    vector(vector&& other, const allocator_type& a) : base(std::move(other), a) {}
    vector& operator=(const vector&) = default;
    vector& operator=(vector&&) = default;
    void swap(vector& other) { base::swap(other); }
    iterator nth(size_type n) { return this->begin() + static_cast<std::ptrdiff_t>(n); }
    const_iterator nth(size_type n) const { return this->begin() + static_cast<std::ptrdiff_t>(n); }
    size_type index_of(const_iterator at) const { return static_cast<size_type>(at - this->cbegin()); }
    allocator_type get_stored_allocator() const { return this->get_allocator(); }
};
}
"""
BOOST_TESTS = """#include <boost/container/vector.hpp>
#include "movable_int.hpp"
#include "propagate_allocator_test.hpp"
#include "vector_test.hpp"
#include "emplace_test.hpp"
#include "../../intrusive/test/iterator_test.hpp"
using namespace boost::container;
// With the standard's type for what boost has its own.
template <class T>
struct from_new : new_allocator<T> {
    using is_always_equal = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;
    template <class U>
    struct rebind { using other = from_new<U>; };
    from_new() = default;
    template <class U>
    from_new(const from_new<U>&) {}
};
struct kind;
namespace boost::container::test {
template <> struct alloc_propagate_base<kind> { template <class T, class A> struct apply { using type = vector<T, A>; }; };
}
"""
BOOST_CALLS = {
    **{f"vector_test {element} {allocator}": f"return test::vector_test<vector<{element}, {allocator}<{element}>>>();"
       for allocator in ("std::allocator", "from_new")
       for element in ("int", "test::movable_int", "test::movable_and_copyable_int", "test::copyable_int",
                       "test::moveconstruct_int", "test::overaligned_copyable_int")},
    "emplace": "return !test::test_emplace<vector<test::EmplaceInt>, test::EmplaceOptions(test::EMPLACE_BACK | test::EMPLACE_BEFORE)>();",
    "propagate_allocator": "return !test::test_propagate_allocator<kind>();",
    "initializer_list": "return !test::test_vector_methods_with_initializer_list_as_argument_for<vector<int>>();",
    "iterator_random": """vector<int> v;
    for (std::size_t size : {10, 100, 1000, 10000}) {
        while (v.size() < size) v.push_back(static_cast<int>(v.size()));
        boost::intrusive::test::test_iterator_random<vector<int>>(v);
    }
    return boost::report_errors();""",
}

def marks(text, name):
    return re.findall(r"\{\s*dg-" + name + r"\b([^\n]*)\}", text)


class suite:
    """Which files are units, and what it takes to compile one."""
    compiler = ["g++", "-std=gnu++20"]
    first = ""      # what stands before anything else
    beside = ()     # their files, linked with every unit
    alone = False   # ours are run where the toolchain's vector does not pass, too

    def __init__(self, folder):
        self.folder = folder

    def include(self):
        return ()

    def vectors(self):
        """What comes first, for each kind."""
        return OURS

    def read(self, unit):
        return unit.read_text(encoding="utf-8", errors="replace")

    def negative(self, unit, text):
        return False

    def flags(self, unit, text):
        return []

    def lent(self):
        """Headers that the units ask for and the toolchain has not."""
        return {}

    def name(self, unit):
        return str(unit.relative_to(self.folder))


class libstdcxx(suite):
    beside = ("util/testsuite_hooks.cc", "util/testsuite_allocator.cc")

    def units(self):
        return sorted((self.folder / "23_containers/vector").rglob("*.cc"))

    def include(self):
        return [self.folder / "util"]

    def negative(self, unit, text):
        return bool(marks(text, "error")) or "dg-prune-output" in text and "_neg" in unit.name

    def flags(self, unit, text):
        asked = " ".join(marks(text, "options") + marks(text, "additional-options"))
        return [flag for flag in re.findall(r"-[^\s\"}]+", asked.split("{")[0]) if not flag.startswith(("-std=", "-W"))]

    def name(self, unit):
        return str(unit.relative_to(self.folder / "23_containers/vector"))


class libcxx(suite):
    compiler = ["clang++-19", "-stdlib=libc++", "-std=c++23", "-fconstexpr-steps=20000000"]

    def units(self):
        where = self.folder / "std/containers/sequences"
        return [path for name in ("vector", "vector.bool") for path in sorted((where / name).rglob("*.pass.cpp"))]

    def include(self):
        return [self.folder / "support"]

    def name(self, unit):
        return str(unit.relative_to(self.folder / "std/containers/sequences"))


class microsoft(suite):
    first = '#include "yvals_core.h"\n'

    def units(self):
        found = (self.folder / "tests").glob("*/test*.cpp")
        return sorted(path for path in found
                      if "P0220R1" in str(path) or "#include <vector>" in path.read_text(encoding="utf-8", errors="replace"))

    def include(self):
        return [self.folder / "include"]

    def lent(self):
        return MICROSOFT

    def name(self, unit):
        return unit.parent.name if unit.name in ("test.cpp", "test.compile.pass.cpp") else f"{unit.parent.name}/{unit.name}"


class boost(suite):
    alone = True

    def units(self):
        return [pathlib.PurePath(name) for name in BOOST_CALLS]

    def include(self):
        return [self.folder / part / "include" for part in ("assert", "config", "container", "core", "intrusive", "move")] + [
            self.folder / "container/test"]

    def lent(self):
        return {"boost/container/vector.hpp": BOOST_VECTOR, "boost_tests.hpp": BOOST_TESTS}

    def vectors(self):
        return {"std": EVERY_HEADER + "#define LENDER std::vector\n",
                "vector": EVERY_HEADER + "#include <headroom/vector.hpp>\n#define LENDER headroom::vector\n",
                "settled_vector": EVERY_HEADER + "#include <headroom/settled_vector.hpp>\n" + LENDING +
                                  "#define LENDER foreign::vector\n"}

    def read(self, unit):
        return f'#include "boost_tests.hpp"\nint main() {{\n    {BOOST_CALLS[str(unit)]}\n}}\n'

    def name(self, unit):
        return str(unit)


SUITES = {"libstdc++": libstdcxx, "libc++": libcxx, "microsoft": microsoft, "boost": boost}


def run(command, seconds=SECONDS, **more):
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                              timeout=seconds, **more)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, 124, "", f"error: not done after {late.timeout} s")


def checked(command, **more):
    done = run(command, seconds=1200, **more)
    if done.returncode != 0:
        sys.exit(f"foreign_suites.py: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


def built_library(build, compiler):
    cxx, *flags = compiler
    configured = [f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_CXX_FLAGS={' '.join(f for f in flags if f.startswith('-stdlib'))}"]
    checked(["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1",
             "-DHEADROOM_SANITIZE=address,undefined", "-DHEADROOM_TESTS=OFF", "-DHEADROOM_LAB=OFF", *configured])
    checked(["cmake", "--build", build, "--target", "headroom"])
    return build / "libheadroom.a"


class bench:
    """Everything that is made once: the library, the headers that come first, and what is linked with every unit."""

    def __init__(self, tests, options):
        self.tests, self.build = tests, options.build
        self.compiler = options.compiler.split() if options.compiler else tests.compiler
        self.build.mkdir(parents=True, exist_ok=True)
        self.library = built_library(self.build, self.compiler)
        shutil.copytree(ROOT / "include", self.build / "include", dirs_exist_ok=True)    # ours may be edited meanwhile
        for folder in ("said", "made", "lent"):
            (self.build / folder).mkdir(exist_ok=True)
        for name, text in tests.lent().items():
            (self.build / "lent" / tests.__class__.__name__ / name).parent.mkdir(parents=True, exist_ok=True)
            (self.build / "lent" / tests.__class__.__name__ / name).write_text(text, encoding="utf-8")
        self.command = [*self.compiler, "-O0", "-g0", "-w", "-pthread", "-fsanitize=address,undefined",
                        "-fno-sanitize-recover=all", "-D_GLIBCXX_USE_TBB_PAR_BACKEND=0", "-I", self.build / "include",
                        "-I", self.build / "lent" / tests.__class__.__name__]
        for folder in tests.include():
            self.command += ["-I", folder]
        self.first = {}
        for kind in KINDS:
            self.first[kind] = header = self.build / "made" / f"{kind}.hpp"
            header.write_text("#pragma once\n" + tests.first + tests.vectors()[kind], encoding="utf-8")
            compiled = header.with_suffix(".hpp.pch" if "clang" in self.compiler[0] else ".hpp.gch")
            checked([*self.command, "-x", "c++-header", header, "-o", compiled])
        self.objects = []
        for file in tests.beside:
            self.objects.append(self.build / "made" / (pathlib.Path(file).stem + ".o"))
            checked([*self.command, "-c", tests.folder / file, "-o", self.objects[-1]])

    def text_for(self, kind, text):
        if kind == "std":
            return text
        text = re.sub(r"\b\w+(\.|->)__invariants\(\)", "true", text)
        text = re.sub(r"\bLIBCPP_ASSERT\(.*\);", ";", text)
        if kind == "vector":
            return text
        text = re.sub(r"(?<=\.capacity\(\)) ==(?= )", " >=", text)
        text = re.sub(r"== (?=\w+\.capacity\(\))", "<= ", text)
        return re.sub(r"(?i)static_assert\(\w+(<[^<>()]*>)?\(\)( == \w+)?(, \"[^\"]*\")?\)", "static_assert(true)", text)

    def one(self, unit):
        """What became of the unit with each kind ("" where it passes), and whether it contains ours."""
        text = self.tests.read(unit)
        came, used = {}, {}
        for kind in KINDS:
            came[kind], used[kind] = self.attempt(unit, text, kind)
            if kind == "std" and came[kind] and not self.tests.alone:
                break
        return unit, came, used

    def attempt(self, unit, text, kind):
        name = re.sub(r"\W+", "_", f"{self.tests.name(unit)}.{kind}")
        copy, made = self.build / "made" / f"{name}.cpp", self.build / "made" / f"{name}.o"
        program = made.with_suffix("")
        copy.write_text(f'#line 1 "{unit}"\n' + self.text_for(kind, text), encoding="utf-8")
        try:
            done = run([*self.command, *self.tests.flags(unit, text), "-include", self.first[kind], "-iquote", unit.parent,
                        "-c", copy, "-o", made])
            said = done.stdout + done.stderr
            if self.tests.negative(unit, text):
                return ("" if done.returncode == 1 else "compiles, and should not"), False
            if done.returncode != 0:
                errors = [line for line in said.splitlines() if "error:" in line]
                return self.tell(name, "does not compile: " + (errors or [said[-200:]])[0], said), False
            inside = made.read_bytes()
            used = b"8headroom4v0_1" in inside and (b"6vectorI" in inside if kind == "vector" else b"14settled_vectorI" in inside)
            if re.search(r"\bmain\s*\(", text) is None:
                return "", used
            done = run([*self.compiler, "-pthread", "-fsanitize=address,undefined", made, *self.objects, self.library,
                        "-o", program])
            if done.returncode != 0:
                return self.tell(name, "does not link: " + done.stderr.strip().splitlines()[0], done.stderr), used
            done = run([program], cwd=self.build / "made", env={**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1"})
            said = done.stdout[-20000:] + done.stderr[-20000:]
            if done.returncode == 0:
                return "", used
            why = [line for line in said.splitlines() if re.search("rror|ssert|terminate|what", line)]
            return self.tell(name, f"ends with {done.returncode}: " + (why or said.splitlines() or ["nothing said"])[0], said), used
        finally:
            for file in (copy, made, program):
                file.unlink(missing_ok=True)

    def tell(self, name, summary, said):
        (self.build / "said" / name).write_text(said, encoding="utf-8")
        return summary[:260]


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default=None)
    parser.add_argument("--compiler")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/foreign")
    options = parser.parse_args()
    options.build = options.build.resolve()
    tests = SUITES[options.suite](options.folder.resolve())
    units = [unit for unit in tests.units() if any(word in tests.name(unit) for word in options.only.split(","))]
    if options.without is not None:
        units = [unit for unit in units if options.without not in tests.name(unit)]
    if not units:
        sys.exit(f"foreign_suites.py: no such units in {options.folder}")
    here = bench(tests, options)
    passed, exercised, failed = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0), 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for unit, came, used in pool.map(here.one, units):
            for kind, what in came.items():
                passed[kind] += not what
                exercised[kind] += used[kind]
                if what:
                    failed += kind != "std"
                    print(f"{'baseline' if kind == 'std' else kind:14} {tests.name(unit)}: {what}", flush=True)
    print(f"{len(units)} units; pass with the toolchain's {passed['std']}, with vector {passed['vector']} (ours is in "
          f"{exercised['vector']}), with settled_vector {passed['settled_vector']} (in {exercised['settled_vector']})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
