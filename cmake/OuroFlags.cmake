# Compiler flags, as two interface targets:
#   ouro_contract   what every user of the library must share (exported with it)
#   ouro_strict     warnings and sanitizers for code of this tree only
include_guard()

add_library(ouro_contract INTERFACE)
target_compile_features(ouro_contract INTERFACE cxx_std_20)
# Contracted multiply-adds round differently from compiler to compiler; simulation results must not.
target_compile_options(ouro_contract INTERFACE -ffp-contract=off)
# The library has no type information; a user's UndefinedBehaviorSanitizer would look for it and fail to link.
target_compile_options(ouro_contract INTERFACE -fno-sanitize=vptr)
target_compile_definitions(ouro_contract INTERFACE OURO_ASSERT_LEVEL=${OURO_ASSERT_LEVEL})

# A number, because the preprocessor compares no words.
set(ouro_hardening_tiers off checked hardened)
list(FIND ouro_hardening_tiers "${OURO_HARDENING}" OURO_HARDENING_TIER)
if(OURO_HARDENING_TIER EQUAL -1)
  message(FATAL_ERROR "OURO_HARDENING is '${OURO_HARDENING}'; it can be off, checked or hardened")
endif()
target_compile_definitions(ouro_contract INTERFACE OURO_HARDENING=${OURO_HARDENING_TIER})

# What the headers ask for: users by pkg-config must see what the library was built with, too.
set(ouro_pc_definitions "-DOURO_ASSERT_LEVEL=${OURO_ASSERT_LEVEL} -DOURO_HARDENING=${OURO_HARDENING_TIER}")
string(APPEND ouro_pc_definitions " -DOURO_DEFAULT_ALIGNMENT=${OURO_DEFAULT_ALIGNMENT}")
if(OURO_OBSERVE)
  string(APPEND ouro_pc_definitions " -DOURO_OBSERVE=1")
else()
  string(APPEND ouro_pc_definitions " -DOURO_OBSERVE=0")
endif()
if(OURO_HUGE_PAGES)
  string(APPEND ouro_pc_definitions " -DOURO_HUGE_PAGES=1")
else()
  string(APPEND ouro_pc_definitions " -DOURO_HUGE_PAGES=0")
endif()
if(OURO_VALGRIND)
  find_path(OURO_VALGRIND_INCLUDE valgrind/memcheck.h)
  if(OURO_VALGRIND_INCLUDE)
    target_compile_definitions(ouro_contract INTERFACE OURO_VALGRIND=1)
    string(APPEND ouro_pc_definitions " -DOURO_VALGRIND=1")
  else()
    message(WARNING "OURO_VALGRIND is on, but valgrind/memcheck.h was not found: allocators tell Valgrind nothing")
  endif()
endif()
set_target_properties(ouro_contract PROPERTIES EXPORT_NAME contract)
add_library(ouroboros::contract ALIAS ouro_contract)

add_library(ouro_strict INTERFACE)
target_compile_options(ouro_strict INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Wundef -Wvla
  # Stacks are captured by walking frame pointers.
  -fno-omit-frame-pointer
  $<$<BOOL:${OURO_WARNINGS_AS_ERRORS}>:-Werror>)
if(OURO_SANITIZERS)
  # One string, because CMake would drop an option that it has seen before and the order matters.
  target_compile_options(ouro_strict INTERFACE
    "SHELL:-fsanitize=${OURO_SANITIZERS} -fno-sanitize-recover=all -fno-sanitize=vptr")
  target_link_options(ouro_strict INTERFACE -fsanitize=${OURO_SANITIZERS})
endif()
