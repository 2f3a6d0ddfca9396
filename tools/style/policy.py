"""What the style check asks for, as tables. A new exception is added here, with its reason, and reviewed here."""

SOFT_FILE_LINES = 400
HARD_FILE_LINES = 600
SOFT_FUNCTION_LINES = 50
HARD_FUNCTION_LINES = 70
LINE_CHARACTERS = 120  # Of scripts; clang-format keeps C++ shorter.

CXX_SUFFIXES = (".hpp", ".cpp", ".h")
CODE_SUFFIXES = CXX_SUFFIXES + (".py", ".cmake", ".sh", ".mjs", ".js", ".ts")
TEXT_SUFFIXES = CODE_SUFFIXES + (".txt", ".json", ".md", ".in", ".html", ".css", ".yml", ".yaml")

# Standard headers that modules/ may not use outside its tests, and what to use instead.
_THREADS = "use the threads, futexes and clock of modules/os (wasm32 has no such header)"
_FILES = "no files or streams in modules/; hand bytes or a callback to the caller"
_THROWS = "failures are values: return a Status or an Expected"
FORBIDDEN_STANDARD = {
    "thread": _THREADS, "mutex": _THREADS, "shared_mutex": _THREADS, "condition_variable": _THREADS,
    "future": _THREADS, "semaphore": _THREADS, "barrier": _THREADS, "latch": _THREADS, "stop_token": _THREADS,
    "chrono": _THREADS, "ctime": _THREADS,
    "iostream": _FILES, "fstream": _FILES, "sstream": _FILES, "filesystem": _FILES, "syncstream": _FILES,
    "exception": _THROWS, "stdexcept": _THROWS,
    "typeinfo": "there is no RTTI in modules/", "typeindex": "there is no RTTI in modules/",
    "any": "there is no RTTI in modules/",
    "functional": "std::function allocates behind the caller's back; take a template or a function pointer",
    "random": "its results differ between libraries; use <ouro/base/random.hpp>",
    "regex": "it throws, allocates and is slow; parse by hand",
    "locale": "results must not depend on the machine's settings",
}

STANDARD = frozenset("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint
cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream
functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory
memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore
set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view syncstream
system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector
version
""".split())

# Headers of an operating system or a processor, and the places that exist for them.
OS_HEADER = (r"^(sys|linux|asm|net|netinet|arpa|bits)/|^(unistd|pthread|fcntl|sched|signal|poll|search|dlfcn"
             r"|link|dirent|spawn|semaphore|ucontext|execinfo|unwind|cxxabi|numa|numaif|elf|termios|errno|malloc"
             r"|syscall)\.h$")
OS_PLACES = (
    r"^modules/(os|base)/src/linux/",  # the backends, chosen by CMake
    r"^modules/os/src/symbolize/",  # a target of its own, native only
    r"^modules/[a-z]+/test/(linux|foreign)/",  # tests of what only Linux has
    r"^benches/",  # measures the operating system next to us
    r"^apps/malloc/",  # stands in for the C library's own functions
)
CPU_HEADER = r"^([a-z]+intrin|wasm_simd128|arm_neon|cpuid)\.h$"
CPU_PLACES = (
    r"/src/(x86|wasm)/",
    r"^benches/",
    r"^modules/base/include/ouro/base/detail/math_core\.hpp$",  # the square root instruction, inlined
)

# Third-party headers and the only places that may include them.
_PROGRAMS = (r"^apps/", r"^benches/", r"^tests/")
_FOREIGN = (r"^examples/", r"^benches/", r"^modules/streams/test/foreign/")
THIRD_PARTY = (
    (r"^xxhash\.h$", (r"^modules/base/src/", r"^benches/")),
    (r"^lz4[a-z]*\.h$", (r"^modules/streams/src/",)),
    (r"^(zstd|zdict)[a-z_]*\.h$", (r"^modules/replay/src/",)),
    (r"^libunwind[a-z0-9_-]*\.h$|^elfutils/|^dwarf\.h$|^g?elf\.h$|^libelf\.h$", (r"^modules/os/src/", r"^benches/")),
    # Both declare functions of the sanitizer: tests include them together.
    (r"^sanitizer/asan_interface\.h$", (r"^modules/memory/test/linux/annotations_",)),
    (r"^unwind\.h$", (r"^apps/malloc/", r"^modules/os/src/linux/", r"^benches/os/")),
    (r"^valgrind/", (r"^modules/memory/include/ouro/memory/annotations\.hpp$",)),
    (r"^civetweb\.h$", (r"^modules/inspect/src/",)),
    # Rolled back as examples of code that was not written for it.
    (r"^lua\.hpp$|^sqlite3\.h$|^bt[A-Z]\w*\.h$|^LinearMath/", _FOREIGN),
    (r"^CLI/", _PROGRAMS),
    (r"^nlohmann/", _PROGRAMS + (r"^modules/observe/test/",)),  # reads what was written for others
    (r"^benchmark/", (r"^benches/",)),
    (r"^gtest/", (r"/test/", r"^tests/", r"^examples/", r"^apps/.*test")),
)
# A benchmark may include its peers; their names are not ours to list.
ANY_HEADER_PLACES = (r"^benches/",)

# tools/wasm implements what a C library would; the rules on includes and platforms are for those who use it.
INCLUDE_ROOTS = ("modules/", "apps/", "benches/", "examples/", "tests/")

PLATFORM_MACRO = (r"\b(__linux__|__linux|__unix__|_WIN32|_WIN64|__APPLE__|__wasm__|__wasm32__|__wasi__|__EMSCRIPTEN__"
                  r"|__x86_64__|__i386__|__aarch64__|__AVX2?__|__SSE[0-9_]*__|__wasm_simd128__|_MSC_VER)\b")
PLATFORM_PLACES = (
    r"^tools/wasm/",  # is the platform
    r"^modules/base/src/portable/",  # names the baseline that the compiler was told to use
    r"^modules/os/src/linux/fault_slots\.cpp$",  # reads the processor's part of a signal frame
    # Single instructions, inlined into their users: a header cannot be chosen by CMake.
    r"^modules/base/include/ouro/base/detail/math_core\.hpp$",
    r"^modules/observe/include/ouro/observe/detail/owner_words\.hpp$",
    r"^modules/ecs/include/ouro/ecs/detail/(block_key|settled_value)\.hpp$",
    r"^modules/os/include/ouro/os/(stack_trace|thread)\.hpp$",
)

# Ours, and those that configure a third party's header before it is included.
MACRO_NAME = r"OURO_[A-Z0-9_]+|XXH_[A-Z0-9_]+|UNW_[A-Z0-9_]+"
VAGUE_FILE_NAME = r"(^|_)(utils?|misc|manager|helpers?|common|stuff)(_|\.)"
# Written so that this file does not contain what it looks for.
UNFINISHED = r"\b(TO[D]O|FIX[M]E|XX[X])\b"
MACHINE_PATH = r"(?<![\w.$}{)/-])/(home/[a-z]|root/|work/|Users/[A-Za-z])"
MACHINE_PATH_PLACES = ()
