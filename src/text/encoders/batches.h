// Texts as ids, and the runs that compute them: texts of equal length together, or packed, so nothing is padded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

// Texts whose ids are in memory. The first has this number among all texts of the call.
struct Window {
  std::size_t first = 0;
  Tokens tokens;
};

// Texts by their places in their window, the longest first: what one device computes before it takes more.
struct WorkItem {
  std::shared_ptr<const Window> window;
  std::vector<std::size_t> texts;
  bool packed = false;  // of any lengths; else of one
  std::size_t length() const { return window->tokens.length(texts.front()); }
  std::int64_t tokens() const;
  std::size_t units() const { return texts.size(); }   // as serving::WorkQueue asks
  std::int64_t cost() const { return tokens(); }
};

// All texts of a window, at most max_texts(the length of the longest) in a piece; the longest first, so that no long piece ends the call.
std::vector<WorkItem> pieces_of(const std::shared_ptr<const Window>& window,
                             const std::function<std::int64_t(std::int64_t length)>& max_texts,
                             bool packed = false);

}  // namespace tenfold::encoders
