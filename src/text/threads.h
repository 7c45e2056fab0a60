// Several threads for many texts.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace tenfold::tokenizing {

// How many threads are worth starting for so many bytes of text, at most `threads` (0: as there are processors).
std::size_t threads_for(std::size_t bytes, int threads);

// Calls `work` with 0 to count - 1, each in a thread of its own while the system gives any. Of what they throw, the first
// part's is thrown here.
void on_threads(std::size_t count, const std::function<void(std::size_t)>& work);

// Calls `work` with the number of each text, on at most `threads` threads (0: as many as there are processors), few for little text.
// Of what the texts throw, the exception of the first one is thrown here.
void for_each_text(std::span<const std::string_view> texts, int threads, const std::function<void(std::size_t)>& work);

}  // namespace tenfold::tokenizing
