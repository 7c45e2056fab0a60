// Names of CPU features, printed and parsed.
#include "backends/device_info.h"

#include <string_view>

#include "base/check.h"

namespace tenfold::backends {
namespace {
struct Named {
  Feature bit;
  std::string_view name;
};
constexpr Named kFeatures[] = {{kAvx2, "avx2"},       {kAvx512, "avx512"},  {kVnni, "vnni"}, {kAvx512Bf16, "avx512bf16"},
                               {kAmxInt8, "amxint8"}, {kAmxBf16, "amxbf16"}};

std::uint32_t bit_of(std::string_view word) {
  for (const Named& f : kFeatures)
    if (f.name == word) return f.bit;
  fail(ErrorKind::invalid_argument, cat("unknown CPU feature '", word, "', expected some of avx2 avx512 vnni avx512bf16 amxint8 amxbf16"));
}
}  // namespace

std::string feature_text(std::uint32_t features) {
  std::string out;
  for (const Named& f : kFeatures)
    if (features & f.bit) out += cat(out.empty() ? "" : " ", f.name);
  return out;
}

std::uint32_t parse_features(std::string_view text) {
  std::uint32_t features = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" ,"), text.size());
    if (end > 0) features |= bit_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return features;
}

}  // namespace tenfold::backends
