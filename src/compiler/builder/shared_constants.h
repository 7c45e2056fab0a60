// Constants that several graphs of one build have in common. Each profile's graph is rewritten by itself, and folds the same weights again:
// equal ones become one, so that a build with many profiles holds them once.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenfold::builder {

class SharedConstants {
 public:
  // Constants of `source` come from the model: all graphs share them already.
  void know(const ir::Graph& source);
  // Large constants of the graph, its bodies included, that equal earlier ones become these.
  void share(ir::Graph& graph);

 private:
  using Shared = std::shared_ptr<const ir::Constant>;
  std::set<const ir::Constant*> known_;
  std::map<std::string, std::vector<Shared>> by_content_;   // type, name of the weight and hash
};

}  // namespace tenfold::builder
