#include "text/tokenizers/models/word_cache.h"

#include <atomic>

namespace tenfold::tokenizing {

std::uint32_t WordCache::new_model() {
  static std::atomic<std::uint32_t> last = 0;
  return ++last;
}

}  // namespace tenfold::tokenizing
