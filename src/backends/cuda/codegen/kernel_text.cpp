// Putting a kernel's text together.
#include "backends/cuda/codegen/kernel_text.h"

#include <algorithm>
#include <cstdio>

namespace tenfold::backends::cuda {

std::string decimal(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  const bool whole = std::string_view(text).find_first_not_of("-0123456789") == std::string_view::npos;
  return whole ? cat(text, ".0") : text;
}

void KernelText::define_code(std::string_view name, std::string_view statements) {
  constexpr std::string_view kPragma = "#pragma ";
  macros_ += cat("#define ", name);
  while (!statements.empty()) {
    const std::size_t end = std::min(statements.find('\n'), statements.size());
    std::string_view line = statements.substr(0, end);
    statements.remove_prefix(std::min(end + 1, statements.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) continue;
    if (line.starts_with(kPragma)) {
      macros_ += cat(" \\\n  _Pragma(\"", line.substr(kPragma.size()), "\")");
      continue;
    }
    check(line[0] != '#' && line.find("//") == std::string_view::npos, "a macro cannot hold ", line);
    macros_ += cat(" \\\n  ", line);
  }
  macros_ += '\n';
}

std::string KernelText::of(std::string_view file) const {
  return cat("#include \"backends/cuda/kernels/lib/prelude.cuh\"\n#define CONFIGURED\n", macros_, declarations_,
             "#include \"backends/cuda/kernels/", file, "\"\n");
}

}  // namespace tenfold::backends::cuda
