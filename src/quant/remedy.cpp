#include "quant/remedy.h"

#include <string>

#include "tenfold/error.h"

namespace tenfold::quant {

Remedy remedy_equalize();
Remedy remedy_smooth();
Remedy remedy_round();
Remedy remedy_bias();

const std::vector<Remedy>& remedies() {
  static const std::vector<Remedy> all{remedy_equalize(), remedy_smooth(), remedy_round(), remedy_bias()};
  return all;
}

const Remedy& remedy(std::string_view name) {
  std::string names;
  for (const Remedy& r : remedies()) {
    if (r.name == name) return r;
    names += (names.empty() ? "" : ", ") + std::string(r.name);
  }
  throw Error(ErrorKind::invalid_argument, "there is no remedy '" + std::string(name) + "'; there are " + names);
}

}  // namespace tenfold::quant
