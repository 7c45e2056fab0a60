#include "text/decoders/architecture.h"

#include <algorithm>

namespace tenfold::decoders {

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> all{gpt2(), llama()};
  return all;
}

const Architecture* find_architecture(const std::string& model_type) {
  for (const Architecture& one : architectures())
    if (std::count(one.model_types.begin(), one.model_types.end(), model_type)) return &one;
  return nullptr;
}

std::string known_architectures() {
  std::string names;
  for (const Architecture& one : architectures())
    for (const std::string& type : one.model_types) names += (names.empty() ? "" : ", ") + type;
  return names;
}

NetworkTensor Tokens::embedded(const std::string& table, std::int64_t rows, std::int64_t width) const {
  return blocks.rows_of(table, {rows, width}, ids);
}
NetworkTensor Tokens::asked(NetworkTensor x, std::int64_t width) const {
  return blocks.net.gather(blocks.net.shuffle(x, {}, Shape{-1, width}), last);
}

}  // namespace tenfold::decoders
