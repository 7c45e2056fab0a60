// The words that say how a caller gives shapes to inputs. The program and Python turn them into their own (cli/flag_words.cpp,
// python/native/words.cpp).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "ir/graph.h"

namespace tenfold::ir {

// Of inputs with open dimensions, which are 1 in the example: config.profiles = {{{"x", {min, opt, max}}}}; to the program by
// --shapes=x:1x64, or --minShapes, --optShapes and --maxShapes
inline std::string shape_advice(const std::vector<const Value*>& inputs) {
  std::string profile, flag;
  for (const Value* v : inputs) {
    const bool quoted = v->name.find_first_of(":,") != std::string::npos;
    profile += cat(profile.empty() ? "" : ", ", "{\"", v->name, "\", {min, opt, max}}");
    flag += cat(flag.empty() ? "" : ",", quoted ? "'" : "", v->name, quoted ? "':" : ":");
    for (std::size_t d = 0; d < v->dims().size(); ++d)
      flag += cat(d ? "x" : "", v->dims()[d].is_constant() ? v->dims()[d].constant() : 1);
  }
  return cat("config.profiles = {{", profile, "}}; to the program by --shapes=", flag, ", or --minShapes, --optShapes and --maxShapes");
}

}  // namespace tenfold::ir
