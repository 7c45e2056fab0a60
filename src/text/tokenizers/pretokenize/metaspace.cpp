// SentencePiece's: a space is a letter that words begin with.
#include <algorithm>

#include "text/tokenizers/pretokenize/metaspace.h"

namespace tenfold::tokenizing {
namespace {

class Metaspace : public PreTokenizer {
 public:
  explicit Metaspace(const Json& json) : form_(read_metaspace_form(json)), splits_(json.flag("split", true)) {}

  void split(Word text, std::vector<Word>& words, Made& made) const override {
    const bool may_prepend = form_.scheme == MetaspaceForm::always || (form_.scheme == MetaspaceForm::first && text[0].begin == 0);
    const bool prepends = may_prepend && text[0].c != ' ' && text[0].c != form_.space;
    const std::span<Char> marked = made.take(text.size() + prepends);
    if (prepends) marked[0] = {form_.space, text[0].begin, text[0].end};
    for (std::size_t i = 0; i < text.size(); ++i) {
      marked[i + prepends] = text[i];
      if (text[i].c == ' ') marked[i + prepends].c = form_.space;
    }
    if (!splits_) return words.push_back(marked);
    std::size_t begin = 0;
    for (std::size_t i = 1; i <= marked.size(); ++i) {
      if (i < marked.size() && marked[i].c != form_.space) continue;
      words.push_back(marked.subspan(begin, i - begin));
      begin = i;
    }
  }

 private:
  MetaspaceForm form_;
  bool splits_;
};

}  // namespace

MetaspaceForm read_metaspace_form(const Json& json) {
  MetaspaceForm form;
  const std::u32string space = scalars(json.text("replacement"));
  if (space.size() != 1) json.wrong("'replacement' must be one character");
  form.space = space[0];
  const std::string scheme = json.has("prepend_scheme") ? json.text("prepend_scheme") : "always";
  if (scheme == "first") form.scheme = MetaspaceForm::first;
  else if (scheme == "never") form.scheme = MetaspaceForm::never;
  else if (scheme != "always") json.wrong("the prepend_scheme '" + scheme + "' is none of always, first and never");
  if (!json.flag("add_prefix_space", true)) {
    if (json.has("prepend_scheme") && form.scheme != MetaspaceForm::never)
      json.wrong("add_prefix_space is false, and prepend_scheme is '" + scheme + "': make that never");
    form.scheme = MetaspaceForm::never;
  }
  return form;
}

std::unique_ptr<PreTokenizer> read_metaspace(const Json& json) { return std::make_unique<Metaspace>(json); }

}  // namespace tenfold::tokenizing
