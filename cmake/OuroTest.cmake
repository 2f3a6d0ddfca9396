include_guard()

# What ends a test that hangs. Far more than any test needs: on a machine that is busy with other work, one that takes
# seconds takes minutes.
set(OURO_TEST_SECONDS 900)

if(NOT OURO_BUILD_TESTS)
  function(ouro_test)
  endfunction()
  return()
endif()

enable_testing()
include(GoogleTest)

if(NOT OURO_WASM)
  # Built from source so that it carries the same sanitizers as the code under test.
  set(OURO_GOOGLETEST_DIR /usr/src/googletest CACHE PATH "GoogleTest's sources")
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  add_subdirectory(${OURO_GOOGLETEST_DIR} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
  foreach(library gtest gtest_main)
    target_compile_options(${library} PRIVATE -w)
    if(OURO_SANITIZERS)
      target_compile_options(${library} PRIVATE -fsanitize=${OURO_SANITIZERS})
    endif()
  endforeach()
endif()

# Reading GoogleTest's header takes a third of compiling a test: gcc reads it once for all of them. Whether a test
# includes what it needs is seen by clang and for wasm32, which read everything each time.
set(OURO_PRECOMPILED_TESTS OFF)
if(NOT OURO_WASM AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(OURO_PRECOMPILED_TESTS ON)
  # A test with flags of its own cannot use what was read with others, and reads the header itself.
  set(CMAKE_PCH_WARN_INVALID OFF)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/test_headers.cpp" CONTENT "int main() {}\n")
  add_executable(ouro_test_headers EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/test_headers.cpp")
  target_link_libraries(ouro_test_headers PRIVATE ouro_contract ouro_strict gtest_main)
  target_precompile_headers(ouro_test_headers PRIVATE
    <gtest/gtest.h> <algorithm> <array> <atomic> <cstdint> <cstring> <span> <string> <thread> <vector>)
endif()

# What all tests are compiled with, and what is read before them.
function(ouro_test_options name)
  if(OURO_SANITIZERS MATCHES "address")
    # The code under test is optimised a little; optimising what a sanitizer adds to the tests took most of the build.
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(OURO_PRECOMPILED_TESTS)
    # ccache looks into what was read with this.
    target_compile_options(${name} PRIVATE -fpch-preprocess)
  endif()
endfunction()
if(OURO_PRECOMPILED_TESTS)
  ouro_test_options(ouro_test_headers)
endif()

# ouro_test(<name> [KIND unit|concurrent|golden] [LINK <target>...] SOURCES <file>... [NATIVE_SOURCES <file>...])
#
# Declares a test program in the one vocabulary of the tree (GoogleTest's; tools/wasm has the same macros
# for wasm32) and registers each of its cases with ctest as <name>.<Suite>.<Case>. NATIVE_SOURCES need what wasm32
# has not: exceptions, processes, libm as an oracle.
function(ouro_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND" "LINK;SOURCES;NATIVE_SOURCES")
  if(NOT arg_KIND)
    set(arg_KIND unit)
  endif()
  if(NOT arg_KIND IN_LIST OURO_TEST_KINDS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  if(NOT OURO_WASM)
    target_sources(${name} PRIVATE ${arg_NATIVE_SOURCES})
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LINK} ouro_strict)
  ouro_test_options(${name})
  if(OURO_PRECOMPILED_TESTS)
    target_precompile_headers(${name} REUSE_FROM ouro_test_headers)
  endif()
  if(OURO_WASM)
    target_link_libraries(${name} PRIVATE ouro_wasm_test)
  else()
    target_link_libraries(${name} PRIVATE gtest_main)
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." PROPERTIES LABELS ${arg_KIND} TIMEOUT ${OURO_TEST_SECONDS}
                       DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT ${OURO_TEST_SECONDS})
endfunction()
