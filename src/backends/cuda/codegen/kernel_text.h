// What NVRTC compiles: macros that specialize a file of kernels/ for a problem, what is printed for that problem alone, and the file.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "base/check.h"

namespace tenfold::backends::cuda {

// A number with all its digits, and with a point, so that no kernel divides integers.
std::string decimal(double value);

class KernelText {
 public:
  template <class T>
  void define(std::string_view name, const T& value) {
    if constexpr (std::is_floating_point_v<T>) return define(name, decimal(value));
    else macros_ += cat("#define ", name, " ", value, "\n");
  }
  // Statements that the file has under this name: an epilogue, say. May have #pragma unroll, but neither comments nor other directives.
  void define_code(std::string_view name, std::string_view statements);
  // Declarations that the file calls; they may use macros and the prelude.
  void declare(std::string_view code) { declarations_ += code; }
  // The whole text for a file by its name below kernels/.
  std::string of(std::string_view file) const;

 private:
  std::string macros_, declarations_;
};

}  // namespace tenfold::backends::cuda
