// Patterns that no scanner knows, matched by PCRE2.
#include <chrono>

#include "text/fail.h"
#include "text/tokenizers/patterns/pattern.h"
#include "text/tokenizers/patterns/pcre2_library.h"
#include "text/tokenizers/patterns/translate.h"

namespace tenfold::tokenizing {
namespace {

// What one match may take before the pattern counts as one that explodes. PCRE2 counts steps from each place where a match may begin, and
// looks at so many places in one call; the time of a whole text is bounded beside that.
constexpr std::uint32_t kSteps = 1'000'000, kHeapKiB = 1 << 18;
constexpr std::size_t kPlaces = 256;
constexpr std::chrono::seconds kPatience{10};

// A text as PCRE2 reads it, and the character of each byte.
struct Subject {
  std::string text;
  std::vector<std::uint32_t> chars;

  explicit Subject(Word word) {
    for (std::size_t i = 0; i < word.size(); ++i) {
      append_utf8(word[i].c, text);
      chars.resize(text.size(), static_cast<std::uint32_t>(i));
    }
    chars.push_back(static_cast<std::uint32_t>(word.size()));
  }
  std::size_t behind(std::size_t at) const {
    const std::uint32_t c = chars[at];
    while (at < text.size() && chars[at] == c) ++at;
    return at;
  }
};

class Pcre2 : public Pattern {
 public:
  Pcre2(const Pcre2Library& library, void* code, std::string shown) : library_(library), code_(code), shown_(std::move(shown)) {}
  ~Pcre2() override { library_.free_code(code_); }
  Pcre2(const Pcre2&) = delete;

  void find(Word word, std::vector<Match>& matches) const override {
    const Subject subject(word);
    Run run{*this, subject};
    std::size_t open = 0, from = 0, last = SIZE_MAX;
    while (from <= subject.text.size() && run.next(from)) {
      const std::size_t begin = run.places()[0], end = std::max(begin, run.places()[1]);   // \K may turn them round
      if (begin == end && end == last) {   // nothing matches right behind a match
        from = from < subject.text.size() ? subject.behind(from) : from + 1;
        continue;
      }
      if (begin > open) put(subject, open, begin, false, matches);
      put(subject, begin, end, true, matches);
      open = from = last = end;
    }
    if (open < subject.text.size()) put(subject, open, subject.text.size(), false, matches);
  }

 private:
  static void put(const Subject& subject, std::size_t begin, std::size_t end, bool is_match, std::vector<Match>& matches) {
    matches.push_back({subject.chars[begin], subject.chars[end], is_match});
  }

  // The memory of one text's matches.
  struct Run {
    const Pcre2& pattern;
    const Subject& subject;
    void* data = pattern.library_.make_data(1, nullptr);
    void* context = pattern.library_.make_context(nullptr);
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

    Run(const Pcre2& p, const Subject& s) : pattern(p), subject(s) {
      if (!data || !context) fail(ErrorKind::out_of_memory, "there is no memory to match a pattern in");
      pattern.library_.set_match_limit(context, kSteps), pattern.library_.set_heap_limit(context, kHeapKiB);
    }
    Run(const Run&) = delete;
    ~Run() { pattern.library_.free_data(data), pattern.library_.free_context(context); }

    const std::size_t* places() const { return pattern.library_.places(data); }
    // The next match from a place on; false: there is none.
    bool next(std::size_t from) {
      for (;; from += kPlaces) {
        while (from < subject.text.size() && from > 0 && subject.chars[from] == subject.chars[from - 1]) ++from;   // not inside a character
        const bool is_last = subject.text.size() - from <= kPlaces;
        const int found = call(from, is_last ? subject.text.size() : from + kPlaces);
        if (found >= 0) return true;
        if (found != pcre2::kNoMatch) pattern.fail_with(found);
        if (is_last) return false;
        if (std::chrono::steady_clock::now() - start > kPatience) pattern.fail_with(0);
      }
    }
    int call(std::size_t from, std::size_t last) {
      pattern.library_.set_offset_limit(context, last);
      const auto* text = reinterpret_cast<const std::uint8_t*>(subject.text.data());
      const auto match = [&](std::uint32_t options) {
        return pattern.library_.match(pattern.code_, text, subject.text.size(), from, pcre2::kNoUtfCheck | options, data, context);
      };
      const int found = match(0);
      return found == pcre2::kJitStackLimit ? match(pcre2::kNoJit) : found;
    }
  };

  [[noreturn]] void fail_with(int error) const {
    std::uint8_t what[200] = "it takes too long";
    if (error != 0) library_.error_message(error, what, sizeof what);
    fail(ErrorKind::invalid_argument, "the pattern '" + shown_ + "' of the tokenizer cannot be matched in this text: " +
                                          reinterpret_cast<const char*>(what) + "; shorten the text, or use a simpler pattern");
  }

  const Pcre2Library& library_;
  void* code_;
  std::string shown_;
};

}  // namespace

std::unique_ptr<Pattern> make_pcre2(const std::string& regex, const Json& where) {
  constexpr std::size_t kShown = 80;
  const std::string pattern = "(*LF)" + for_pcre2(regex, where);
  const Pcre2Library* library = Pcre2Library::opened();
  if (!library)
    fail(ErrorKind::unsupported, where.where + ": this pattern needs libpcre2-8.so.0 (PCRE2), which cannot be opened: install it");
  int error = 0;
  std::size_t place = 0;
  void* code = library->compile(reinterpret_cast<const std::uint8_t*>(pattern.data()), pattern.size(),
                                pcre2::kUtf | pcre2::kMultiline | pcre2::kNoByteOfUtf | pcre2::kOffsetLimit, &error, &place, nullptr);
  if (!code) {
    std::uint8_t what[200] = "";
    library->error_message(error, what, sizeof what);
    where.wrong("the pattern cannot be used: " + std::string(reinterpret_cast<const char*>(what)));
  }
  library->jit_compile(code, pcre2::kJitComplete);   // where there is no JIT, matching is slower
  return std::make_unique<Pcre2>(*library, code, regex.size() > kShown ? regex.substr(0, kShown) + "..." : regex);
}

}  // namespace tenfold::tokenizing
