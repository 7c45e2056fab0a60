# Run by commands of the build: writes OUT, a C++ table of FILES by their names under ROOT and their texts. HEADER declares FUNCTION, which
# returns the table, and ROW, a struct of the two, in NAMESPACE. `sv` knows the length of a text: clang would count a megabyte of characters
# in a constant expression and give up.
set(rows "")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"~kernel~(${text})~kernel~\"sv},\n")
endforeach()
file(WRITE ${OUT} "// Written by cmake/embed_files.cmake; do not edit.\n#include \"${HEADER}\"\n\n"
  "namespace ${NAMESPACE} {\n\nusing namespace std::string_view_literals;\n\nstd::span<const ${ROW}> ${FUNCTION}() {\n"
  "  static constexpr ${ROW} kFiles[] = {\n" "${rows}" "  };\n  return kFiles;\n}\n\n}  // namespace ${NAMESPACE}\n")
