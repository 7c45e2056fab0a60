#include "text/tokenizers/normalize/normalizer.h"
#include "text/tokenizers/unicode/normal_form.h"
#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::tokenizing {
namespace {

class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(const Json& json)
      : cleans_(json.flag("clean_text", true)), parts_ideographs_(json.flag("handle_chinese_chars", true)),
        lowers_(json.flag("lowercase", true)), strips_accents_(json.flag("strip_accents", lowers_)) {}

  void run(Chars& chars, const Room&) const override {
    if (cleans_) clean(chars);
    if (parts_ideographs_) part_ideographs(chars);
    if (strips_accents_) decompose(chars, false), strip(chars, kMark);
    if (lowers_) lower_case(chars);
  }

 private:
  static void clean(Chars& chars) {
    const Unicode& unicode = Unicode::tables();
    std::size_t kept = 0;
    for (const Char& one : chars) {
      if (unicode.is(one.c, kControl)) continue;
      chars[kept] = one;
      if (unicode.is(one.c, kSpace)) chars[kept].c = ' ';
      ++kept;
    }
    chars.resize(kept);
  }
  static void part_ideographs(Chars& chars) {
    const Unicode& unicode = Unicode::tables();
    std::size_t found = 0;
    for (const Char& one : chars) found += unicode.is(one.c, kIdeograph);
    if (found == 0) return;
    Chars parted;
    parted.reserve(chars.size() + 2 * found);
    for (const Char& one : chars) {
      const bool alone = unicode.is(one.c, kIdeograph);
      if (alone) parted.push_back({' ', one.begin, one.end});
      parted.push_back(one);
      if (alone) parted.push_back({' ', one.begin, one.end});
    }
    chars = std::move(parted);
  }

  bool cleans_, parts_ideographs_, lowers_, strips_accents_;
};

}  // namespace

std::unique_ptr<Normalizer> read_bert_normalizer(const Json& json) { return std::make_unique<BertNormalizer>(json); }

}  // namespace tenfold::tokenizing
