# Writes a registry source from file names: a new operator, pass or tactic is one new file and nothing else.
#   tenfold_registry(OUT kind type header function files...)
# Each file <folder>/<stem>.cpp must define `<type> <kind>_<stem>();` in the given namespace; the table calls all of them, in the order of
# the stems, whatever folders they lie in. Of the kind "onnx", where folders may have files of the same name, it is
# `<kind>_<folder>_<stem>()`, and the table tells in_folder() the folder. The files are kept in the global property `function`, for tests
# that make a table with more.
function(tenfold_registry out kind type header namespace function)
  set(declarations "")
  set(calls "")
  set(stems "")
  foreach(file IN LISTS ARGN)
    get_filename_component(stem ${file} NAME_WE)
    if(kind STREQUAL "onnx")
      get_filename_component(folder ${file} DIRECTORY)
      get_filename_component(folder ${folder} NAME)
      string(APPEND declarations "${type} onnx_${folder}_${stem}();\n")
      string(APPEND calls "  all.push_back(in_folder(\"${folder}\", onnx_${folder}_${stem}()));\n")
      continue()
    endif()
    if(stem IN_LIST stems)
      message(FATAL_ERROR "${file}: another file of ${function}() has this name, and both define ${kind}_${stem}(); rename one")
    endif()
    list(APPEND stems ${stem})
  endforeach()
  list(SORT stems)
  foreach(stem IN LISTS stems)
    string(APPEND declarations "${type} ${kind}_${stem}();\n")
    string(APPEND calls "  all.push_back(${kind}_${stem}());\n")
  endforeach()
  set(result "all")
  if(type STREQUAL "Tactic")   # one that computes several operators stands once for each of them
    set(result "by_operator(all)")
  endif()
  string(CONCAT content "// Written by cmake/registry.cmake from the file names; do not edit.\n"
    "#include \"${header}\"\n\n#include <vector>\n\n"
    "namespace ${namespace} {\n${declarations}\n"
    "std::vector<${type}> ${function}() {\n  std::vector<${type}> all;\n${calls}  return ${result};\n}\n"
    "}  // namespace ${namespace}\n")
  set_property(GLOBAL PROPERTY ${function} "${ARGN}")
  file(CONFIGURE OUTPUT ${out} CONTENT "${content}" @ONLY)
endfunction()

# Sources below a folder, tests and programs left out, sorted.
function(tenfold_glob result)
  set(patterns "")
  foreach(pattern IN LISTS ARGN)
    list(APPEND patterns ${pattern})
  endforeach()
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${patterns})
  list(FILTER files EXCLUDE REGEX "_(test|main)\\.cpp$")
  list(SORT files)
  set(${result} ${files} PARENT_SCOPE)
endfunction()
