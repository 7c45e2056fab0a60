// Texts as ids, and the runs that compute them: texts of equal length together, so nothing is padded.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tenfold::encoders {

// Ids (and types) of many texts, one behind the other.
struct Tokens {
  std::vector<std::int32_t> ids, types;  // types may be empty
  std::vector<std::size_t> ends;
  std::size_t size() const { return ends.size(); }
  std::size_t begin(std::size_t text) const { return text == 0 ? 0 : ends[text - 1]; }
  std::size_t length(std::size_t text) const { return ends[text] - begin(text); }
  void clear() { ids.clear(), types.clear(), ends.clear(); }
};

// Calls run(texts) for each run: places of texts of one length, at most as many as most(length).
void for_each_run(const Tokens& tokens, const std::function<std::int64_t(std::int64_t length)>& most,
                  const std::function<void(std::span<const std::size_t> texts)>& run);

}  // namespace tenfold::encoders
