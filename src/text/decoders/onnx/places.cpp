#include "text/decoders/onnx/places.h"

#include <algorithm>

#include "text/decoders/onnx/walk.h"
#include "text/fail.h"

namespace tenfold::decoders::onnx {
namespace {

// TensorScatter is told where the first row goes. ScatterElements is told it of each element of [batch, heads, tokens, size].
bool is_behind_the_past(const Samples::One& one) {
  const bool by_element = one.shape.size() == 4;
  const std::int64_t size = by_element ? std::max<std::int64_t>(1, one.shape[3]) : 1;
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    const std::int64_t row = by_element ? static_cast<std::int64_t>(i) / size % one.lengths.tokens : 0;
    if (one.values[i] != static_cast<double>(one.lengths.before + row)) return false;
  }
  return !by_element || one.shape[2] == one.lengths.tokens;
}

}  // namespace

void check_places(const Network& net, const Bindings& bindings, std::span<const Samples> samples) {
  std::size_t next = 0;
  for (const Cache& cache : bindings.caches) {
    if (!cache.places.defined()) continue;
    const std::vector<Samples::One>& all = samples[next++].all;
    const auto wrong = std::find_if_not(all.begin(), all.end(), is_behind_the_past);
    if (wrong == all.end()) continue;
    const std::string found = wrong->values.empty() ? "nowhere" : "place " + std::to_string(static_cast<std::int64_t>(wrong->values[0]));
    tokenizing::fail(ErrorKind::unsupported,
                     shown(net.node(cache.node)) + " continues '" + cache.past_name + "' at " + found + " where it holds " +
                         std::to_string(wrong->lengths.before) + " tokens; new tokens right behind them were expected, and no cache "
                         "that is written around: export it with one as long as the context");
  }
}

}  // namespace tenfold::decoders::onnx
