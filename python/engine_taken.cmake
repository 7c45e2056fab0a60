# The engine that the package holds, as another build folder has it: TENFOLD_ENGINE, where the target tenfold-python-engine has been
# built from this tree. So a wheel for another Python takes the minute that python/native takes.
function(tenfold_engine_file file depends path)
  set(found ${TENFOLD_ENGINE}/python/tenfold/${file})
  if(NOT EXISTS ${found})
    message(FATAL_ERROR "TENFOLD_ENGINE: ${found} is not there; build the target tenfold-python-engine in ${TENFOLD_ENGINE} first")
  endif()
  set(${depends} ${found} PARENT_SCOPE)
  set(${path} ${found} PARENT_SCOPE)
endfunction()

foreach(library tenfold-runtime tenfold-builder tenfold-text tenfold-imaging)
  string(REPLACE -runtime "" file ${library})
  tenfold_engine_file(lib${file}.so.0 depends path)
  add_library(${library}_shared SHARED IMPORTED)
  set_target_properties(${library}_shared PROPERTIES IMPORTED_LOCATION ${path} IMPORTED_SONAME lib${file}.so.0
    INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_SOURCE_DIR}/include)
endforeach()
