// Which encoders can run texts of several lengths together: those whose layers and poolings know a mask, so that the builder can leave
// out what it hides.
#include <algorithm>

#include "text/encoders/model.h"
#include "text/encoders/pooling/pooling.h"

namespace tenfold::encoders {

PackTokens Model::packing(const OutputRequest& request) const {
  if (!architecture || !architecture->masks || request.skipped > 0) return PackTokens::no;
  if (request.output == OutputRequest::scores) return PackTokens::with_zeros;   // of the first token's row
  if (request.output != OutputRequest::vectors) return PackTokens::no;
  PackTokens needed = PackTokens::where_equal;
  for (const Module& module : folder.modules) {
    if (module.type != "Pooling") continue;
    for (const std::string& kind : poolings_of(module.json())) {
      const auto at = std::find_if(poolings().begin(), poolings().end(), [&](const Pooling& one) { return one.name == kind; });
      if (at == poolings().end() || at->packing == PackTokens::no) return PackTokens::no;
      if (at->packing == PackTokens::with_zeros) needed = PackTokens::with_zeros;
    }
  }
  return needed;
}

}  // namespace tenfold::encoders
