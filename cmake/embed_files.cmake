# Run by cmake/kernels.cmake's command while building: writes OUT, a C++ table of FILES by their names under ROOT and their texts.
set(rows "")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"~kernel~(${text})~kernel~\"},\n")
endforeach()
file(WRITE ${OUT} "// Written by cmake/embed_files.cmake; do not edit.\n#include \"backends/cuda/codegen/kernel_files.h\"\n\n"
  "namespace tenfold::backends::cuda {\n\nstd::span<const KernelFile> embedded_kernel_files() {\n"
  "  static constexpr KernelFile kFiles[] = {\n" "${rows}" "  };\n  return kFiles;\n}\n\n}  // namespace tenfold::backends::cuda\n")
