#include "text/tokenizers/normalize/normalizer.h"
#include "text/tokenizers/unicode/normal_form.h"
#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::tokenizing {
namespace {

class LowerCase : public Normalizer {
 public:
  void run(Chars& chars, const Room&) const override { lower_case(chars); }
};

}  // namespace

// Scalar by scalar: the reference does not look at what stands beside one (a final sigma).
void lower_case(Chars& chars) {
  const Unicode& unicode = Unicode::tables();
  bool grows = false;
  for (Char& one : chars) {
    if (one.c < 0x80) {
      if (one.c - 'A' < 26) one.c += 'a' - 'A';
      continue;
    }
    const std::span<const char32_t> lower = unicode.lower(one.c);
    if (lower.size() == 1) one.c = lower[0];
    grows = grows || lower.size() > 1;
  }
  if (!grows) return;
  std::vector<Step> steps;
  for (const Char& one : chars) {
    const std::span<const char32_t> lower = unicode.lower(one.c);
    if (lower.size() < 2) steps.push_back({one.c, 0});
    else
      for (std::size_t i = 0; i < lower.size(); ++i) steps.push_back({lower[i], i > 0});
  }
  replace(chars, steps);
}

std::unique_ptr<Normalizer> read_lower_case(const Json&) { return std::make_unique<LowerCase>(); }

}  // namespace tenfold::tokenizing
