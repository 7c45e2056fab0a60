// From RE2's syntax to that of ECMAScript, term by term. Classes are written as ranges of code points, for RE2's are those of ASCII and
// the standard library's those of a locale. Groups capture nothing, and a lazy repeat is a greedy one: the whole string matches or not.
#include "ops/text/regex_common.h"

#include <algorithm>
#include <array>
#include <locale>
#include <optional>

#include "ir/fault.h"
#include "ops/text/text_common.h"

namespace tenfold::ops {
namespace {

static_assert(sizeof(wchar_t) == 4);   // a code point each

constexpr std::uint32_t kLast = 0x10ffff;

struct Range {
  std::uint32_t first = 0, last = 0;
};
using Ranges = std::vector<Range>;

Ranges without(Ranges ranges) {   // all others
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  Ranges rest;
  std::uint32_t next = 0;
  for (const Range& r : ranges) {
    if (r.first > next) rest.push_back({next, r.first - 1});
    next = std::max(next, r.last + 1);
  }
  if (next <= kLast) rest.push_back({next, kLast});
  return rest;
}

// \d and its like, which RE2 has for ASCII alone.
std::optional<Ranges> perl_class(std::uint32_t letter) {
  switch (letter) {
    case 'd': return Ranges{{'0', '9'}};
    case 'w': return Ranges{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    case 's': return Ranges{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
    case 'D': case 'W': case 'S': return without(*perl_class(letter + 32));
    default: return std::nullopt;
  }
}

std::optional<Ranges> named_class(std::string_view name) {
  static const std::array<std::pair<std::string_view, Ranges>, 14> kClasses = {{
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}}, {"alpha", {{'A', 'Z'}, {'a', 'z'}}}, {"ascii", {{0, 127}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}}, {"cntrl", {{0, 31}, {127, 127}}}, {"digit", {{'0', '9'}}}, {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}}, {"print", {{' ', '~'}}}, {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}}, {"upper", {{'A', 'Z'}}}, {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}}};
  for (const auto& [known, ranges] : kClasses)
    if (known == name) return ranges;
  return std::nullopt;
}

bool is_digit(std::uint32_t c) { return c >= '0' && c <= '9'; }
bool is_letter(std::uint32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// UTF-8 as code points; nothing if it is something else.
std::optional<std::wstring> code_points(const std::string& text) {
  std::wstring result;
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t c = 0;
    const int length = decode_character(text, at, c);
    constexpr std::uint32_t kMin[] = {0, 0, 0x80, 0x800, 0x10000};   // shorter forms have what is below
    if (length == 0 || c < kMin[length] || c > kLast) return std::nullopt;
    result += static_cast<wchar_t>(c);
    at += static_cast<std::size_t>(length);
  }
  return result;
}

class Translation {
 public:
  explicit Translation(const std::string& pattern) : pattern_(pattern) {
    supported(pattern.size() <= kMaxPatternBytes, "it has more than ", kMaxPatternBytes, " bytes");
    const std::optional<std::wstring> points = code_points(pattern);
    validate(points.has_value(), "it is no UTF-8");
    in_ = *points;
    const Subpattern all = alternatives(0);
    validate(at_ == in_.size(), "a ')' at character ", at_, " has no '('");
    text_ = all.text, cost_ = all.cost;
  }
  const std::wstring& text() const { return text_; }
  std::int64_t cost() const { return cost_; }

 private:
  struct Subpattern {
    std::wstring text;
    std::int64_t cost = 0;
  };

  template <class... Args> void validate(bool condition, const Args&... args) const {
    ir::validate(condition, "the pattern '", pattern_.substr(0, 200), "' is no regular expression of RE2: ", args...);
  }
  template <class... Args> void supported(bool condition, const Args&... args) const {
    ir::supported(condition, "the pattern '", pattern_.substr(0, 200), "' is not supported: ", args...);
  }

  bool done() const { return at_ == in_.size(); }
  std::uint32_t peek(std::size_t ahead = 0) const { return at_ + ahead < in_.size() ? static_cast<std::uint32_t>(in_[at_ + ahead]) : 0; }
  bool looking_at(std::wstring_view what) const { return std::wstring_view(in_).substr(at_).starts_with(what); }
  bool take(std::uint32_t c) { return !done() && peek() == c ? (++at_, true) : false; }
  Subpattern priced(std::wstring text, std::int64_t cost) const {
    supported(cost <= kMaxPatternCost, "with its repeats written out it has more than ", kMaxPatternCost, " parts");
    return {std::move(text), cost};
  }

  static void write(std::wstring& to, std::uint32_t c) {
    constexpr const wchar_t* kHex = L"0123456789abcdef";
    if (c < 0x80 && !is_digit(c) && !is_letter(c)) to += {L'\\', L'x', kHex[c >> 4], kHex[c & 15]};
    else to += static_cast<wchar_t>(c);
  }
  static std::wstring written(const Ranges& ranges, bool others) {
    std::wstring text = others ? L"[^" : L"[";
    for (const Range& r : ranges) {
      write(text, r.first);
      if (r.last != r.first) text += L'-', write(text, r.last);
    }
    return text + L"]";
  }
  Subpattern one_of(const Ranges& ranges, bool others = false) const {
    return priced(written(ranges, others), 1 + static_cast<std::int64_t>(ranges.size()) / 4);
  }

  Subpattern alternatives(std::int64_t depth) {
    supported(depth <= kMaxPatternDepth, "it has groups inside of more than ", kMaxPatternDepth, " others");
    Subpattern all = sequence(depth);
    while (take('|')) {
      const Subpattern next = sequence(depth);
      all = priced(all.text + L"|" + next.text, all.cost + next.cost + 1);
    }
    return all;
  }

  Subpattern sequence(std::int64_t depth) {
    Subpattern all;
    while (!done() && peek() != '|' && peek() != ')') {
      const Subpattern next = repeated(atom(depth));
      all = priced(all.text + next.text, all.cost + next.cost);
    }
    return all;
  }

  Subpattern atom(std::int64_t depth) {
    const std::size_t start = at_;
    std::wstring times;
    std::int64_t max = 1;
    validate(!repeat(times, max), "the repeat at character ", start, " has nothing before it");
    const std::uint32_t c = peek();
    ++at_;
    switch (c) {
      case '(': {
        open_group(start);
        Subpattern inside = alternatives(depth + 1);
        validate(take(')'), "the '(' at character ", start, " has no ')'");
        return priced(L"(?:" + inside.text + L")", inside.cost + 1);
      }
      case '[': return char_class(start);
      case '.': return one_of({{'\n', '\n'}}, true);
      case '^': return priced(L"(?:^)", 1);
      case '$': return priced(L"(?:$)", 1);
      case '\\': return escape();
      default: break;
    }
    return one_of({{c, c}});
  }

  void open_group(std::size_t start) {
    if (!take('?')) return;
    if (take(':')) return;
    for (const wchar_t* looks : {L"=", L"!", L"<=", L"<!"})
      validate(!looking_at(looks), "RE2 has no look-ahead and no look-behind ('(?' at character ", start, ")");
    const bool named = looking_at(L"P<") || looking_at(L"<");
    supported(named || !(is_letter(peek()) || peek() == '-'), "flags of a group ('(?' at character ", start, ")");
    validate(named, "what follows '(?' at character ", start, " is no group");
    take('P'), take('<');
    const std::size_t first = at_;
    while (is_letter(peek()) || is_digit(peek()) || peek() == '_') ++at_;
    validate(at_ > first && peek() == '>', "the group at character ", start, " has no name of letters, digits and '_'");
    ++at_;
  }

  // A repeat behind an atom. RE2 refuses a second one.
  Subpattern repeated(Subpattern one) {
    const std::size_t start = at_;
    std::wstring times;
    std::int64_t max = 1;
    if (!repeat(times, max)) return one;
    take('?');   // lazy
    std::wstring again;
    std::int64_t unused = 0;
    validate(!repeat(again, unused), "a repeat of the repeat at character ", start);
    return priced(L"(?:" + one.text + L")" + times, one.cost * max + 1);
  }
  bool repeat(std::wstring& times, std::int64_t& max) {
    for (const wchar_t simple : {L'*', L'+', L'?'})
      if (take(static_cast<std::uint32_t>(simple))) return times = simple, true;
    const std::size_t start = at_;
    std::int64_t low = 0, high = -1;
    if (!take('{') || !number(low)) return at_ = start, false;   // a brace that counts nothing is itself
    const bool range = take(',');
    const bool open = range && !number(high);
    if (!take('}')) return at_ = start, false;
    if (!range) high = low;
    validate(low <= 1000 && high <= 1000, "the repeat at character ", start, " is above 1000");
    validate(open || high >= low, "the repeat at character ", start, " ends below its start");
    times.assign(in_, start, at_ - start);
    max = std::max<std::int64_t>(1, open ? low + 1 : high);
    return true;
  }
  bool number(std::int64_t& value) {
    if (!is_digit(peek())) return false;
    for (value = 0; is_digit(peek()); ++at_) value = std::min<std::int64_t>(value * 10 + peek() - '0', 1001);
    return true;
  }

  Subpattern escape() {
    validate(!done(), "it ends with a '\\'");
    const std::uint32_t c = peek();
    if (const std::optional<Ranges> some = perl_class(c)) return ++at_, one_of(*some);
    switch (c) {
      case 'b': return ++at_, priced(L"(?:\\b)", 1);
      case 'B': return ++at_, priced(L"(?:\\B)", 1);
      case 'A': return ++at_, priced(L"(?:^)", 1);
      case 'z': return ++at_, priced(L"(?:$)", 1);
      default: break;
    }
    const std::uint32_t one = escaped_character();
    return one_of({{one, one}});
  }

  // What stands behind a '\' for one character, in classes, too.
  std::uint32_t escaped_character() {
    validate(!done(), "it ends with a '\\'");
    const std::size_t start = at_ - 1;
    const std::uint32_t c = peek();
    ++at_;
    switch (c) {
      case 'a': return '\a';
      case 'f': return '\f';
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      case 'v': return '\v';
      case 'x': return hex(start);
      default: break;
    }
    supported(c != 'p' && c != 'P' && c != 'Q' && c != 'E' && c != 'C', "'\\", static_cast<char>(c), "' at character ", start);
    supported(c != '0', "an octal number at character ", start);
    supported(!is_digit(c), "'\\", static_cast<char>(c), "' at character ", start,
              " (an octal number, or what RE2 has not: a back-reference)");
    validate(c < 0x80 && !is_letter(c) && c != '_', "what follows the '\\' at character ", start);
    return c;
  }
  std::uint32_t hex(std::size_t start) {
    const bool braces = take('{');
    std::uint32_t value = 0;
    int digits = 0;
    for (; digits < (braces ? 8 : 2); ++digits, ++at_) {
      const std::uint32_t c = peek(), small = c | 32;
      if (is_digit(c)) value = value * 16 + c - '0';
      else if (small >= 'a' && small <= 'f') value = value * 16 + small - 'a' + 10;
      else break;
    }
    validate((braces ? digits > 0 && take('}') : digits == 2) && value <= kLast, "the number at character ", start, " is no code point");
    return value;
  }

  Subpattern char_class(std::size_t start) {
    const bool others = take('^');
    Ranges ranges;
    const auto add = [&](const Ranges& more) { ranges.insert(ranges.end(), more.begin(), more.end()); };
    for (bool first = true; first || peek() != ']' || done(); first = false) {
      validate(!done(), "the '[' at character ", start, " has no ']'");
      if (looking_at(L"[:") && named(add)) continue;
      if (peek() == '\\')
        if (const std::optional<Ranges> some = perl_class(peek(1))) {
          at_ += 2, add(*some);
          continue;
        }
      const std::uint32_t low = class_character(start);
      if (peek() != '-' || peek(1) == ']' || at_ + 1 >= in_.size()) {
        add({{low, low}});
        continue;
      }
      ++at_;
      const std::uint32_t high = class_character(start);
      validate(low <= high, "a range of the class at character ", start, " ends below its start");
      add({{low, high}});
    }
    ++at_;
    return one_of(ranges, others);
  }
  std::uint32_t class_character(std::size_t start) {
    validate(!done(), "the '[' at character ", start, " has no ']'");
    const std::uint32_t c = peek();
    ++at_;
    return c == '\\' ? escaped_character() : c;
  }
  template <class Add> bool named(const Add& add) {   // [:alpha:], [:^alpha:]
    const std::size_t end = in_.find(L":]", at_ + 2);
    if (end == std::wstring::npos) return false;
    const bool others = peek(2) == '^';
    std::string name;
    for (std::size_t i = at_ + (others ? 3 : 2); i < end; ++i) name += in_[i] < 0x80 ? static_cast<char>(in_[i]) : '?';
    const std::optional<Ranges> found = named_class(name);
    validate(found.has_value(), "there is no class [:", name, ":]");
    add(others ? without(*found) : *found);
    at_ = end + 2;
    return true;
  }

  const std::string& pattern_;
  std::wstring in_, text_;
  std::size_t at_ = 0;
  std::int64_t cost_ = 0;
};

}  // namespace

FullMatch::FullMatch(const std::string& pattern) {
  const Translation translation(pattern);
  cost_ = std::max<std::int64_t>(1, translation.cost());
  regex_.imbue(std::locale::classic());
  try {
    using namespace std::regex_constants;
    regex_.assign(translation.text(), ECMAScript | nosubs | __polynomial);   // libstdc++'s: all states at once, no backtracking
  } catch (const std::regex_error& e) {
    ir::supported(false, "the pattern '", pattern.substr(0, 200), "' cannot be compiled: ", e.what());
  }
}

bool FullMatch::operator()(const std::string& text) const {
  const std::optional<std::wstring> points = code_points(text);
  if (!points) return false;
  return std::regex_match(*points, regex_);
}

}  // namespace tenfold::ops
