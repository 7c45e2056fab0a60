# pip's folder compiles nothing. The wheel is made in build/release, the one folder of the preset "release", and taken from there: pip's own
# environment lies at another path each time, for which scikit-build-core empties its folder, and CMake would compile a thousand files anew.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
set(engine ${CMAKE_SOURCE_DIR}/build/release)

# nanobind's sources are compiled into the extension. They stay at one path, too.
set(where "import nanobind, os; print(nanobind.__version__, os.path.dirname(nanobind.__file__), sep=';')")
execute_process(COMMAND ${Python_EXECUTABLE} -c "${where}" OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind
  COMMAND_ERROR_IS_FATAL ANY)
list(GET nanobind 0 version)
list(GET nanobind 1 folder)
set(kept ${CMAKE_SOURCE_DIR}/build/nanobind-${version})
if(NOT EXISTS ${kept}/nanobind/cmake/nanobind-config.cmake)
  file(COPY ${folder} DESTINATION ${kept})
endif()

set(abi "")
foreach(variable SKBUILD_SABI_COMPONENT SKBUILD_SABI_VERSION)   # of the stable ABI, which python/CMakeLists.txt and nanobind ask
  list(APPEND abi "-D${variable}=${${variable}}")
endforeach()
add_custom_target(tenfold-python ALL USES_TERMINAL VERBATIM
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${engine} -G Ninja -DCMAKE_BUILD_TYPE=Release
    -USKBUILD -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DTENFOLD_PYTHON=ON -DPython_EXECUTABLE=${Python_EXECUTABLE}
    -DTENFOLD_NANOBIND=${kept}/nanobind/cmake ${abi}
  COMMAND ${CMAKE_COMMAND} --build ${engine} --target tenfold-python)
install(CODE "
  set(strip \"\")
  if(CMAKE_INSTALL_DO_STRIP)
    set(strip --strip)
  endif()
  execute_process(COMMAND \${CMAKE_COMMAND} --install ${engine} --component python --prefix \${CMAKE_INSTALL_PREFIX} \${strip}
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT python)
