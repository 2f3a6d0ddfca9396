# What walks by rules are tested on: functions built in several ways, and libraries that differ in one number.
if(NOT TARGET os_test AND NOT TARGET os_concurrent_test)
  return()
endif()

# ouro_frame_kinds(<start> <option>...): the functions, called <start>, compiled with these options.
function(ouro_frame_kinds start)
  add_library(ouro_${start} OBJECT test/linux/frame_kinds.cpp)
  target_compile_definitions(ouro_${start} PRIVATE OURO_FRAME_CHAIN_START=${start})
  target_compile_options(ouro_${start} PRIVATE ${ARGN})
  target_link_libraries(ouro_${start} PRIVATE ouro_contract ouro_strict)
endfunction()
ouro_frame_kinds(go_on_unoptimized -O0 -fno-omit-frame-pointer)
ouro_frame_kinds(go_on_optimized -O3 -fomit-frame-pointer)
ouro_frame_kinds(go_on_with_frame_pointers -O2 -fno-omit-frame-pointer)

# ouro_frame_module(<bytes> <build id>): a library whose function has a frame of that size. All of them ask for the
# same addresses.
function(ouro_frame_module bytes build_id)
  add_library(ouro_frame_module_${bytes} MODULE test/x86/frame_module.cpp)
  target_compile_definitions(ouro_frame_module_${bytes} PRIVATE OURO_FRAME_BYTES=${bytes})
  target_link_options(ouro_frame_module_${bytes} PRIVATE
    -Wl,-Ttext-segment=0x7ea000000000 -Wl,--build-id=${build_id})
endfunction()
ouro_frame_module(24 sha1)
ouro_frame_module(56 sha1)
ouro_frame_module(40 none)
ouro_frame_module(72 none)

set(modules)
foreach(bytes 24 40 56 72)
  list(APPEND modules "OURO_FRAME_MODULE_${bytes}=\"$<TARGET_FILE:ouro_frame_module_${bytes}>\"")
endforeach()
set_source_files_properties(test/linux/reloaded_module_test.cpp test/linux/rule_walk_concurrent_test.cpp
                            PROPERTIES COMPILE_DEFINITIONS "${modules}")

foreach(test os_test os_concurrent_test)
  if(NOT TARGET ${test})
    continue()
  endif()
  target_sources(${test} PRIVATE
    $<TARGET_OBJECTS:ouro_go_on_unoptimized>
    $<TARGET_OBJECTS:ouro_go_on_optimized>
    $<TARGET_OBJECTS:ouro_go_on_with_frame_pointers>)
  add_dependencies(${test}
    ouro_frame_module_24 ouro_frame_module_40 ouro_frame_module_56 ouro_frame_module_72)
endforeach()
