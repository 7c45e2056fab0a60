// Several threads for many texts.
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace tenfold::tokenizing {

// Calls `work` with the number of each text, on at most `threads` threads (0: as many as there are processors), few for little text.
// Of what the texts throw, the exception of the first one is thrown here.
void for_each_text(std::span<const std::string_view> texts, int threads, const std::function<void(std::size_t)>& work);

}  // namespace tenfold::tokenizing
