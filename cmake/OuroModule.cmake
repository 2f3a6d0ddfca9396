include_guard()
include(GNUInstallDirs)

# ouro_module(<name> [DEPENDS <earlier module>...] SOURCES <file>...)
#
# Declares the module in the current folder as the target ouro_<name> (ouroboros::<name> to users), with
# include/ as its only public include root and no exceptions or RTTI inside.
function(ouro_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;SOURCES")
  ouro_check_layer_order(${name} "${arg_DEPENDS}")

  add_library(ouro_${name} STATIC ${arg_SOURCES})
  add_library(ouroboros::${name} ALIAS ouro_${name})
  set_target_properties(ouro_${name} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME ouroboros_${name})
  target_include_directories(ouro_${name}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE src)
  target_link_libraries(ouro_${name} PUBLIC ouro_contract PRIVATE $<BUILD_INTERFACE:ouro_strict>)
  foreach(dependency IN LISTS arg_DEPENDS)
    target_link_libraries(ouro_${name} PUBLIC ouro_${dependency})
  endforeach()
  target_compile_options(ouro_${name} PRIVATE -fno-exceptions -fno-rtti)
  ouro_check_headers_stand_alone(${name})
endfunction()

# Stops the configuration when a module wants to link one that does not stand before it in OURO_LAYERS.
function(ouro_check_layer_order name dependencies)
  list(FIND OURO_LAYERS ${name} own_position)
  foreach(dependency IN LISTS dependencies)
    list(FIND OURO_LAYERS ${dependency} position)
    if(position EQUAL -1 OR NOT position LESS own_position)
      message(FATAL_ERROR "Module '${name}' may not depend on '${dependency}': the order is ${OURO_LAYERS}")
    endif()
  endforeach()
endfunction()

# Compiles each public header as a translation unit of its own: with one compiler and one set of flags, and for wasm32,
# where other headers of the system lie below.
function(ouro_check_headers_stand_alone name)
  if(NOT OURO_BUILD_TESTS OR NOT ("project" IN_LIST OURO_TEST_KINDS OR OURO_WASM))
    return()
  endif()
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/include" "include/*.hpp")
  foreach(header IN LISTS headers)
    string(MAKE_C_IDENTIFIER "${header}" stem)
    set(probe "${CMAKE_CURRENT_BINARY_DIR}/header_probes/${stem}.cpp")
    file(GENERATE OUTPUT "${probe}" CONTENT "#include <${header}>\n")
    list(APPEND probes "${probe}")
  endforeach()
  add_library(ouro_${name}_header_probes OBJECT ${probes})
  target_link_libraries(ouro_${name}_header_probes PRIVATE ouro_${name} ouro_strict)
  target_compile_options(ouro_${name}_header_probes PRIVATE -fno-exceptions -fno-rtti)
endfunction()
