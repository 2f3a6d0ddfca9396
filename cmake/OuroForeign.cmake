# Libraries of others that examples, tests and benchmarks roll back: Lua, Bullet and SQLite, each as a target where
# it is found (foreign_lua, foreign_bullet, foreign_sqlite). None of them is used by the modules.
include_guard()

# ouro_foreign_library(<name> HEADER <file> [FOLDER <below include>] LIBRARIES <name>...)
function(ouro_foreign_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;FOLDER" "LIBRARIES")
  string(TOUPPER "OURO_FOREIGN_${name}" prefix)
  find_path(${prefix}_INCLUDE ${arg_HEADER} PATH_SUFFIXES ${arg_FOLDER})
  mark_as_advanced(${prefix}_INCLUDE)
  if(NOT ${prefix}_INCLUDE)
    return()
  endif()
  set(libraries "")
  foreach(library IN LISTS arg_LIBRARIES)
    find_library(${prefix}_${library} ${library})
    mark_as_advanced(${prefix}_${library})
    if(NOT ${prefix}_${library})
      return()
    endif()
    list(APPEND libraries "${${prefix}_${library}}")
  endforeach()
  add_library(foreign_${name} INTERFACE IMPORTED GLOBAL)
  # As headers of the system, since they do not follow our warnings.
  target_include_directories(foreign_${name} SYSTEM INTERFACE "${${prefix}_INCLUDE}")
  target_link_libraries(foreign_${name} INTERFACE ${libraries})
  # A function that is found only when it is first called costs a walk of the loader, which leaves the caller's
  # registers on the stack: the first run of a tick would leave other bytes in gaps than the second.
  target_link_options(foreign_${name} INTERFACE -Wl,-z,now)
endfunction()

if(NOT OURO_WASM)
  ouro_foreign_library(lua HEADER lua.h FOLDER lua5.4 LIBRARIES lua5.4)
  ouro_foreign_library(bullet HEADER btBulletDynamicsCommon.h FOLDER bullet
    LIBRARIES BulletDynamics BulletCollision LinearMath)
  ouro_foreign_library(sqlite HEADER sqlite3.h LIBRARIES sqlite3)
endif()
