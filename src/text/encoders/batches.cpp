#include "text/encoders/batches.h"

#include <algorithm>
#include <numeric>

namespace tenfold::encoders {

void for_each_run(const Tokens& tokens, const std::function<std::int64_t(std::int64_t)>& most,
                  const std::function<void(std::span<const std::size_t>)>& run) {
  std::vector<std::size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tokens.length(a) < tokens.length(b); });
  for (std::size_t at = 0; at < order.size();) {
    const std::size_t length = tokens.length(order[at]);
    std::size_t end = at;
    while (end < order.size() && tokens.length(order[end]) == length) ++end;
    // Runs of one length get about equal numbers of texts.
    const auto fit = static_cast<std::size_t>(std::max<std::int64_t>(1, most(static_cast<std::int64_t>(length))));
    const std::size_t runs = (end - at + fit - 1) / fit;
    for (std::size_t i = 0; i < runs; ++i) {
      const std::size_t take = (end - at + (runs - i) - 1) / (runs - i);
      run({order.data() + at, take});
      at += take;
    }
  }
}

}  // namespace tenfold::encoders
