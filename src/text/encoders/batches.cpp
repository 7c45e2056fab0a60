#include "text/encoders/batches.h"

#include <algorithm>
#include <numeric>

namespace tenfold::encoders {

std::int64_t WorkItem::tokens() const {
  std::size_t all = 0;
  for (const std::size_t text : texts) all += window->tokens.length(text);
  return static_cast<std::int64_t>(all);
}

std::vector<WorkItem> pieces_of(const std::shared_ptr<const Window>& window, const std::function<std::int64_t(std::int64_t)>& max_texts,
                             bool packed) {
  const Tokens& tokens = window->tokens;
  std::vector<std::size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tokens.length(a) > tokens.length(b); });
  std::vector<WorkItem> pieces;
  for (std::size_t at = 0; at < order.size();) {
    const std::size_t length = tokens.length(order[at]);
    std::size_t end = at;
    const auto fit = static_cast<std::size_t>(std::max<std::int64_t>(1, max_texts(static_cast<std::int64_t>(length))));
    if (packed) end = std::min(order.size(), at + fit);
    while (packed && length > 0 && tokens.length(order[end - 1]) == 0) --end;   // texts without tokens are not run
    while (!packed && end < order.size() && tokens.length(order[end]) == length) ++end;
    // Pieces of one length get about equal numbers of texts.
    const std::size_t count = (end - at + fit - 1) / fit;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t take = (end - at + (count - i) - 1) / (count - i);
      const auto first = order.begin() + static_cast<std::ptrdiff_t>(at);
      pieces.push_back({window, {first, first + static_cast<std::ptrdiff_t>(take)}, packed});
      at += take;
    }
  }
  return pieces;
}

}  // namespace tenfold::encoders
