# Every switch of the build, with its default. CMakePresets.json sets them per configuration.
include_guard()

option(OURO_BUILD_TESTS "Build the tests and examples (needs GoogleTest's sources)" ${PROJECT_IS_TOP_LEVEL})
option(OURO_BUILD_APPS "Build the ouro program (needs CLI11)" ${PROJECT_IS_TOP_LEVEL})
option(OURO_BUILD_BENCHES "Build the benchmark programs" ${PROJECT_IS_TOP_LEVEL})
option(OURO_BUILD_SYMBOLIZE "Build ouroboros::symbolize (needs libunwind and libdw)" ${PROJECT_IS_TOP_LEVEL})
option(OURO_WARNINGS_AS_ERRORS "Turn warnings into errors" ${PROJECT_IS_TOP_LEVEL})
option(OURO_FAULT_INJECTION "Let tests make any operating-system call fail" OFF)

set(OURO_ASSERT_LEVEL "0" CACHE STRING "0: always-on asserts only, 1: debug asserts too, 2: expensive ones too")
set(OURO_SANITIZERS "" CACHE STRING "Sanitizers to build with, as in -fsanitize=")
set(OURO_TEST_KINDS "unit;concurrent;golden;project" CACHE STRING "Which kinds of tests to build and register")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

string(COMPARE EQUAL "${CMAKE_SYSTEM_PROCESSOR}" "wasm32" OURO_WASM)
if(OURO_WASM)
  set(OURO_PLATFORM wasm)
else()
  set(OURO_PLATFORM linux)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(OURO_CPU x86)
else()
  set(OURO_CPU portable)
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(OURO_CCACHE ccache)
if(OURO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${OURO_CCACHE}")
endif()
