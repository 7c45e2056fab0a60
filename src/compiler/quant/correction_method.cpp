#include "quant/correction_method.h"

#include <string>

#include "tenfold/error.h"

namespace tenfold::quant {

CorrectionMethod correction_method_equalize();
CorrectionMethod correction_method_smooth();
CorrectionMethod correction_method_round();
CorrectionMethod correction_method_bias();

const std::vector<CorrectionMethod>& correction_methods() {
  static const std::vector<CorrectionMethod> all{correction_method_equalize(), correction_method_smooth(), correction_method_round(),
                                                 correction_method_bias()};
  return all;
}

const CorrectionMethod& correction_method(std::string_view name) {
  std::string names;
  for (const CorrectionMethod& r : correction_methods()) {
    if (r.name == name) return r;
    names += (names.empty() ? "" : ", ") + std::string(r.name);
  }
  throw Error(ErrorKind::invalid_argument, "there is no correction '" + std::string(name) + "'; there are " + names);
}

}  // namespace tenfold::quant
