#include "backends/cpu/tactics/recurrent/recurrent_fixed_common.h"

namespace tenfold::backends::cpu {

std::vector<Config> fixed_configs(const Problem& p) {
  const RecurrentExtents e = fixed_extents(p);
  std::vector<Config> all{{1}};
  for (const std::int64_t parts : {2, 4})
    if (e.row() * e.hidden >= parts << 15) all.push_back({parts});
  return all;
}
Verdict valid_fixed(const Problem&, const Config& c) {
  if (c.size() != 1) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[0] <= 64, "its number of parts is out of range");
}

}  // namespace tenfold::backends::cpu
