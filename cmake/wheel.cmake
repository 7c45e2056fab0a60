# pip's folder compiles nothing. The wheel is made in build/release, the one folder of the presets "release" and "ci", and taken from there:
# pip's own environment lies at another path each time, for which scikit-build-core empties its folder, and CMake would compile a thousand
# files anew. What lies in that environment and is needed later is kept below build/.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
set(engine ${CMAKE_SOURCE_DIR}/build/release)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  message(FATAL_ERROR "The wheel is made in build/release, as Release; CMAKE_BUILD_TYPE is '${CMAKE_BUILD_TYPE}'. For another type "
    "configure a folder of its own with -DTENFOLD_PYTHON=ON.")
endif()

# A file or folder of pip's environment at a path that stays, in the variable `to`.
function(tenfold_keep from to path)
  if(NOT EXISTS ${path})
    file(COPY ${from} DESTINATION ${path}.new)
    file(RENAME ${path}.new ${path})   # whole, or not there
  endif()
  get_filename_component(name ${from} NAME)
  set(${to} ${path}/${name} PARENT_SCOPE)
endfunction()

set(where "import nanobind, os; print(nanobind.__version__, os.path.dirname(nanobind.__file__), sep=';')")
execute_process(COMMAND ${Python_EXECUTABLE} -c "${where}" OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE found
  COMMAND_ERROR_IS_FATAL ANY)
list(GET found 0 version)
list(GET found 1 folder)
tenfold_keep(${folder} nanobind ${CMAKE_SOURCE_DIR}/build/nanobind-${version})   # its sources are compiled into the extension

find_program(system_ninja NAMES ninja ninja-build PATHS /usr/local/bin /usr/bin NO_DEFAULT_PATH)
set(ninja ${system_ninja})
if(NOT ninja AND CMAKE_GENERATOR STREQUAL "Ninja")
  tenfold_keep(${CMAKE_MAKE_PROGRAM} ninja ${CMAKE_SOURCE_DIR}/build/ninja)
elseif(NOT ninja)
  message(FATAL_ERROR "Ninja builds Tenfold: apt-get install ninja-build, or pip install ninja (the generator is '${CMAKE_GENERATOR}')")
endif()

# What was said by `-C cmake.define.NAME=VALUE`, and what of the stable ABI python/CMakeLists.txt and nanobind ask.
set(given "")
get_cmake_property(names CACHE_VARIABLES)
list(FILTER names INCLUDE REGEX "^(TENFOLD_[A-Z]+|CMAKE_CXX_FLAGS|CMAKE_TOOLCHAIN_FILE|SKBUILD_SABI_COMPONENT|SKBUILD_SABI_VERSION)$")
list(REMOVE_ITEM names TENFOLD_TESTS)   # a folder that has tests keeps them
foreach(name IN LISTS names)
  if(NOT "${${name}}" STREQUAL "" OR name MATCHES "^SKBUILD")
    list(APPEND given "-D${name}=${${name}}")
  endif()
endforeach()

add_custom_target(tenfold-python ALL USES_TERMINAL VERBATIM
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${engine} -G Ninja -DCMAKE_BUILD_TYPE=Release -USKBUILD
    -DCMAKE_MAKE_PROGRAM=${ninja} ${given} -DTENFOLD_PYTHON=ON -DPython_EXECUTABLE=${Python_EXECUTABLE}
    -DTENFOLD_NANOBIND=${nanobind}/cmake
  COMMAND ${CMAKE_COMMAND} --build ${engine} --target tenfold-python)
install(CODE "
  set(strip \"\")
  if(CMAKE_INSTALL_DO_STRIP)
    set(strip --strip)
  endif()
  execute_process(COMMAND \"\${CMAKE_COMMAND}\" --install \"${engine}\" --component python --prefix \"\${CMAKE_INSTALL_PREFIX}\" \${strip}
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT python)
include(${CMAKE_SOURCE_DIR}/cmake/wheel_sbom.cmake)
tenfold_wheel_sbom(${ninja} ${engine})
