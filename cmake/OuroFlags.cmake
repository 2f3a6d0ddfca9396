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
