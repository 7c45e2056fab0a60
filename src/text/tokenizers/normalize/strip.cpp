#include <algorithm>

#include "text/tokenizers/normalize/normalizer.h"
#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::tokenizing {
namespace {

class Strip : public Normalizer {
 public:
  explicit Strip(const Json& json) : left_(json.flag("strip_left", true)), right_(json.flag("strip_right", true)) {}
  void run(Chars& chars, const Room&) const override {
    const auto is_text = [](const Char& one) { return !Unicode::tables().is(one.c, kSpace); };
    if (right_) chars.erase(std::find_if(chars.rbegin(), chars.rend(), is_text).base(), chars.end());
    if (left_) chars.erase(chars.begin(), std::find_if(chars.begin(), chars.end(), is_text));
  }

 private:
  bool left_, right_;
};

}  // namespace

std::unique_ptr<Normalizer> read_strip(const Json& json) { return std::make_unique<Strip>(json); }

}  // namespace tenfold::tokenizing
