#include "text/tokenizers/normalize/normalizer.h"

namespace tenfold::tokenizing {
namespace {

class Prepend : public Normalizer {
 public:
  explicit Prepend(const Json& json) : text_(scalars(json.text("prepend"))), rule_(json.where) {}
  void run(Chars& chars, const Room& room) const override {
    if (chars.empty() || text_.empty()) return;
    room.expect(chars.size() + text_.size(), rule_);
    const Char first = chars.front();
    chars.insert(chars.begin(), text_.size(), first);   // all have its place
    for (std::size_t i = 0; i < text_.size(); ++i) chars[i].c = text_[i];
  }

 private:
  std::u32string text_;
  std::string rule_;
};

}  // namespace

std::unique_ptr<Normalizer> read_prepend(const Json& json) { return std::make_unique<Prepend>(json); }

}  // namespace tenfold::tokenizing
