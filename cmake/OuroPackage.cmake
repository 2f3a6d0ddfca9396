# Installing: one export set a module, so that each is a component of find_package(ouroboros), and a pkg-config
# file for those who do not use CMake.
include_guard()
if(OURO_WASM OR NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(ouro_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ouroboros")

# ouro_refuse_unbuilt(<component>=<target>...): before anything is copied, cmake --install says what is not built yet,
# instead of leaving half an installation.
function(ouro_refuse_unbuilt)
  foreach(pair IN LISTS ARGN)
    string(REGEX REPLACE "=(.*)" "=$<TARGET_FILE:\\1>" file "${pair}")
    list(APPEND files "${file}")
  endforeach()
  install(CODE "set(ouro_files \"${files}\")" ALL_COMPONENTS)
  install(CODE [[
    set(ouro_unbuilt "")
    foreach(pair IN LISTS ouro_files)
      string(REGEX MATCH "^([a-z]+)=(.*)$" found "${pair}")
      if(CMAKE_INSTALL_COMPONENT AND NOT CMAKE_INSTALL_COMPONENT STREQUAL CMAKE_MATCH_1)
        continue()
      endif()
      if(NOT EXISTS "${CMAKE_MATCH_2}")
        string(APPEND ouro_unbuilt "\n  ${CMAKE_MATCH_2}")
      endif()
    endforeach()
    if(ouro_unbuilt)
      message(FATAL_ERROR "Nothing was installed, because not everything is built. Build it first, e.g. with "
                          "tools/build release. These files are missing:${ouro_unbuilt}")
    endif()]] ALL_COMPONENTS)
endfunction()

# ouro_install_component(<name>): installs the target ouro_<name> as the component <name>.
function(ouro_install_component name)
  install(TARGETS ouro_${name} EXPORT ouroboros-${name}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name})
  install(EXPORT ouroboros-${name} NAMESPACE ouroboros:: FILE ouroboros-${name}.cmake
          DESTINATION ${ouro_package_dir} COMPONENT ${name})
endfunction()

# Reads off what the target links: the components, and the packages of other projects, that <name>'s users need too.
function(ouro_component_needs name components_result packages_result)
  get_target_property(links ouro_${name} INTERFACE_LINK_LIBRARIES)
  set(components "")
  set(packages "")
  foreach(link IN LISTS links)
    if(link MATCHES "^(\\$<LINK_ONLY:)?ouro_([a-z_]+)>?$" AND NOT CMAKE_MATCH_2 STREQUAL "contract")
      list(APPEND components ${CMAKE_MATCH_2})
    elseif(link MATCHES "^(\\$<LINK_ONLY:)?([A-Za-z0-9_]+)::")
      list(APPEND packages ${CMAKE_MATCH_2})
    endif()
  endforeach()
  set(${components_result} "${components}" PARENT_SCOPE)
  set(${packages_result} "${packages}" PARENT_SCOPE)
endfunction()

set(ouro_components contract)
foreach(layer IN LISTS OURO_LAYERS ITEMS symbolize malloc)
  if(TARGET ouro_${layer})
    list(APPEND ouro_components ${layer})
    list(APPEND ouro_built_files ${layer}=ouro_${layer})
  endif()
endforeach()
if(TARGET ouro)
  list(APPEND ouro_built_files programs=ouro)
endif()
ouro_refuse_unbuilt(${ouro_built_files})

foreach(layer IN LISTS OURO_LAYERS)
  install(DIRECTORY modules/${layer}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${layer}
          FILES_MATCHING PATTERN "*.hpp")
endforeach()
if(TARGET ouro)
  install(TARGETS ouro COMPONENT programs)
endif()

if(TARGET ouro_observe)
  install(FILES tools/debuggers/ouro_gdb.py tools/debuggers/ouro_gdb_sim.py tools/debuggers/ouroboros.natvis
          DESTINATION ${CMAKE_INSTALL_DATADIR}/ouroboros COMPONENT observe)
endif()

set(ouro_component_dependencies "")
foreach(component IN LISTS ouro_components)
  ouro_install_component(${component})
  ouro_component_needs(${component} needs packages)
  string(APPEND ouro_component_dependencies "set(ouroboros_${component}_needs ${needs})\n"
         "set(ouroboros_${component}_packages ${packages})\n")
endforeach()

list(JOIN ouro_components " " ouro_component_list)
configure_package_config_file(cmake/ouroboros-config.cmake.in "${PROJECT_BINARY_DIR}/package/ouroboros-config.cmake"
                              INSTALL_DESTINATION ${ouro_package_dir} NO_SET_AND_CHECK_MACRO
                              NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/ouroboros-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/ouroboros-config.cmake"
              "${PROJECT_BINARY_DIR}/package/ouroboros-config-version.cmake"
        DESTINATION ${ouro_package_dir} COMPONENT contract)

# A static library stands before those it uses on the linker's command line, so the last layer comes first.
set(ouro_pc_libs "")
foreach(layer IN LISTS OURO_LAYERS)
  if(TARGET ouro_${layer})
    string(PREPEND ouro_pc_libs "-louroboros_${layer} ")
  endif()
endforeach()
string(STRIP "${ouro_pc_libs}" ouro_pc_libs)
if(OURO_LZ4_INCLUDE AND OURO_LZ4_LIBRARY)
  string(APPEND ouro_pc_libs " -llz4")
endif()
file(RELATIVE_PATH ouro_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" ouro_pc_prefix "${ouro_pc_prefix}")
configure_file(cmake/ouroboros.pc.in "${PROJECT_BINARY_DIR}/package/ouroboros.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/ouroboros.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT contract)
