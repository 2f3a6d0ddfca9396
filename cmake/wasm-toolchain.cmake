# wasm32 with shared memory and threads: Debian's clang 19 and libc++ headers, linked against the runtime in
# tools/wasm alone. Debian's libc.a and libc++.a were compiled without atomics and must not be linked.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(OURO_WASM_LLVM /usr/lib/llvm-19 CACHE PATH "LLVM 19 with libc++'s headers for wasm32-wasi")
set(OURO_WASM_LIBC_HEADERS /usr/include/wasm32-wasi CACHE PATH "wasi-libc's headers")
set(OURO_WASM_MAX_MEMORY_MIB 1024 CACHE STRING "Upper bound of the linear memory, in MiB (at most 4096)")
set(OURO_WASM_STACK_KIB 1024 CACHE STRING "Stack of the main thread, in KiB")
set(OURO_XXHASH_HEADER /usr/include/xxhash.h CACHE FILEPATH "xxHash as a header (Debian: libxxhash-dev)")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES OURO_WASM_LLVM OURO_WASM_LIBC_HEADERS
     OURO_WASM_MAX_MEMORY_MIB OURO_WASM_STACK_KIB OURO_XXHASH_HEADER)

set(OURO_WASM_BUILTINS "${OURO_WASM_LLVM}/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a")
foreach(needed "${OURO_WASM_LLVM}/include/wasm32-wasi/c++/v1/__config=libc++-19-dev-wasm32"
               "${OURO_WASM_BUILTINS}=libclang-rt-19-dev-wasm32"
               "${OURO_WASM_LLVM}/bin/wasm-ld=lld-19"
               "${OURO_WASM_LIBC_HEADERS}/stdint.h=wasi-libc"
               "${OURO_XXHASH_HEADER}=libxxhash-dev")
  string(REGEX MATCH "^(.*)=(.*)$" matched "${needed}")
  if(NOT EXISTS "${CMAKE_MATCH_1}")
    message(FATAL_ERROR "${CMAKE_MATCH_1} is missing: install Debian's package ${CMAKE_MATCH_2}")
  endif()
endforeach()

set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
# lld reads the members of an archive itself, so the host's ar and ranlib serve, which know nothing of wasm.
set(CMAKE_AR ar)
set(CMAKE_RANLIB ranlib)
get_filename_component(ouro_wasm_tools "${CMAKE_CURRENT_LIST_DIR}/../tools/wasm" ABSOLUTE)

# The override folder stands before libc++'s own: its __config_site turns libc++'s threads on, without which
# shared_ptr would count without atomics and atomic<T>::wait would spin. wasi-libc comes after the compiler's
# own headers, and /usr/include is not searched at all. Rows of components are read several at a time, which is
# off for this target; loops that ask for it and cannot have it are no mistake (see wide_rows.hpp).
string(JOIN " " CMAKE_CXX_FLAGS_INIT
  -matomics -mbulk-memory -mmutable-globals -msign-ext -mnontrapping-fptoint -msimd128
  -mllvm -enable-interleaved-mem-accesses -DOURO_INTERLEAVES -Wno-pass-failed
  -ftls-model=local-exec -fno-exceptions -fno-rtti -fvisibility=hidden
  -nostdinc++ -nostdlibinc
  "-isystem ${ouro_wasm_tools}/libcxx"
  "-isystem ${OURO_WASM_LLVM}/include/wasm32-wasi/c++/v1"
  "-idirafter ${OURO_WASM_LIBC_HEADERS}")

math(EXPR ouro_wasm_max_memory "${OURO_WASM_MAX_MEMORY_MIB} * 1024 * 1024")
math(EXPR ouro_wasm_stack "${OURO_WASM_STACK_KIB} * 1024")
# Linked by lld itself: the compiler driver would add start files, and wasm-opt where it is installed.
set(CMAKE_CXX_LINK_EXECUTABLE
  "${OURO_WASM_LLVM}/bin/wasm-ld -m wasm32 <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
# The stack comes first, so that overflowing it traps instead of overwriting data.
string(JOIN " " CMAKE_EXE_LINKER_FLAGS_INIT
  --import-memory --shared-memory --max-memory=${ouro_wasm_max_memory}
  --stack-first -z stack-size=${ouro_wasm_stack}
  --no-entry --export=ouro_wasm_program_enter --export=ouro_wasm_thread_enter
  --export=__stack_pointer --export=__wasm_init_tls --export=__tls_base
  --export=__tls_size --export=__tls_align)
set(CMAKE_EXECUTABLE_SUFFIX_CXX .wasm)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

get_property(ouro_in_try_compile GLOBAL PROPERTY IN_TRY_COMPILE)
if(NOT ouro_in_try_compile)
  # xxHash is one header without dependencies; a folder of its own keeps the host's other headers out.
  file(COPY "${OURO_XXHASH_HEADER}" DESTINATION "${CMAKE_BINARY_DIR}/wasm_include")
  set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES "${CMAKE_BINARY_DIR}/wasm_include")

  find_program(OURO_NODE NAMES node nodejs REQUIRED DOC "node 18 or newer, which runs the wasm programs")
  set(CMAKE_CROSSCOMPILING_EMULATOR "${OURO_NODE}" "${ouro_wasm_tools}/run.mjs")
endif()
