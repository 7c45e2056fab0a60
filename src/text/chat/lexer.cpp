#include "text/chat/lexer.h"

#include <algorithm>

#include "text/chars.h"
#include "text/fail.h"

namespace tenfold::chat {

void wrong(int line, const std::string& what) {
  tokenizing::fail(ErrorKind::invalid_model, "the chat template, line " + std::to_string(line) + ": " + what);
}
void missing(int line, const std::string& what) {
  tokenizing::fail(ErrorKind::unsupported, "the chat template, line " + std::to_string(line) + ": " + what);
}

namespace {

constexpr std::string_view kWhite = " \t\n\v\f\r";

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

// Line ends become "\n"; one at the end of the template is no part of it.
std::string normal(std::string_view source) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    text += source[i] == '\r' ? '\n' : source[i];
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normal(source)) {}
  std::vector<Lexed> run() {
    while (at_ < source_.size()) data();
    add(Token::end, "");
    return std::move(tokens_);
  }

 private:
  void add(Token kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  char now(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  bool here(std::string_view what) const { return std::string_view(source_).substr(at_).starts_with(what); }
  void skip(std::size_t count) {
    const auto from = source_.begin() + static_cast<std::ptrdiff_t>(at_);
    line_ += static_cast<int>(std::count(from, from + static_cast<std::ptrdiff_t>(count), '\n'));
    at_ += count;
  }
  void skip_white() { skip(std::min(source_.find_first_not_of(kWhite, at_), source_.size()) - at_); }

  // Data up to the next tag, without what the tag's sign takes from its end.
  void data() {
    std::size_t tag = at_;
    while ((tag = source_.find('{', tag)) != std::string::npos &&
           (tag + 1 == source_.size() || std::string_view("{%#").find(source_[tag + 1]) == std::string_view::npos))
      ++tag;
    tag = std::min(tag, source_.size());
    std::string text = source_.substr(at_, tag - at_);
    const char kind = tag < source_.size() ? source_[tag + 1] : '\0', sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    if (kind) trim(text, kind, sign);
    if (!text.empty()) add(Token::data, text);
    skip(tag - at_);
    if (!kind) return;
    const int line = line_;
    skip(sign == '-' || (sign == '+' && kind != '{') ? 3 : 2);
    if (kind == '#') return comment(line);
    if (kind == '%' && raw()) return;
    add(kind == '%' ? Token::block_begin : Token::variable_begin, "");
    tag_tokens(kind == '%', line);
  }

  void trim(std::string& text, char kind, char sign) const {
    if (sign == '-') {
      text.resize(text.find_last_not_of(kWhite) + 1);  // npos + 1 is 0
    } else if (kind != '{' && sign != '+') {
      const std::size_t newline = text.rfind('\n');
      const std::size_t from = newline == std::string::npos ? 0 : newline + 1;
      const bool starts_line = newline != std::string::npos || line_starts_;
      if (starts_line && text.find_first_not_of(kWhite, from) == std::string::npos) text.resize(from);
    }
  }

  // Behind a block's or a comment's last sign: "-" takes white space, none takes one newline, "+" nothing.
  void behind(char sign) {
    const std::size_t from = at_;
    if (sign == '-')
      skip_white();
    else if (sign != '+' && now() == '\n')
      skip(1);
    line_starts_ = at_ > from && source_[at_ - 1] == '\n';
  }

  void comment(int line) {
    const std::size_t end = source_.find("#}", at_);
    if (end == std::string::npos) wrong(line, "a comment {# has no #}");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    skip(end + 2 - at_), behind(sign);
  }

  // {% raw %}...{% endraw %}: data, whatever it holds.
  bool raw() {
    std::size_t at = source_.find_first_not_of(kWhite, at_);
    if (at == std::string::npos || source_.compare(at, 3, "raw") != 0) return false;
    at = source_.find_first_not_of(kWhite, at + 3);
    if (at == std::string::npos) return false;
    const char sign = source_[at];
    if (sign == '-' || sign == '+') ++at;
    if (source_.compare(at, 2, "%}") != 0) return false;
    const int line = line_;
    skip(at + 2 - at_), behind(sign);
    for (std::size_t tag = at_; (tag = source_.find("{%", tag)) != std::string::npos; ++tag) {
      std::size_t word = tag + 2;
      const char first = word < source_.size() ? source_[word] : '\0';
      if (first == '-' || first == '+') ++word;
      word = source_.find_first_not_of(kWhite, word);
      if (word == std::string::npos || source_.compare(word, 6, "endraw") != 0) continue;
      std::size_t end = source_.find_first_not_of(kWhite, word + 6);
      if (end == std::string::npos) break;
      const char last = source_[end];
      if (last == '-' || last == '+') ++end;
      if (source_.compare(end, 2, "%}") != 0) continue;
      std::string text = source_.substr(at_, tag - at_);
      trim(text, '%', first);
      if (!text.empty()) add(Token::data, text);
      skip(end + 2 - at_), behind(last);
      return true;
    }
    wrong(line, "{% raw %} has no {% endraw %}");
  }

  void tag_tokens(bool block, int line) {
    std::string open;
    for (;;) {
      skip_white();
      if (at_ == source_.size()) wrong(line, block ? "a tag {% has no %}" : "a tag {{ has no }}");
      if (open.empty() && ends(block)) return;
      if (letter(now()))
        name();
      else if (digit(now()))
        number();
      else if (now() == '\'' || now() == '"')
        text();
      else
        sign(open);
    }
  }

  bool ends(bool block) {
    const char sign = now();
    const bool signed_end = sign == '-' || (block && sign == '+');
    if (!std::string_view(source_).substr(at_ + (signed_end ? 1 : 0)).starts_with(block ? "%}" : "}}")) return false;
    add(block ? Token::block_end : Token::variable_end, "");
    skip(signed_end ? 3 : 2);
    if (block || sign == '-')
      behind(sign);
    else
      line_starts_ = false;
    return true;
  }

  void name() {
    std::size_t size = 1;
    while (letter(now(size)) || digit(now(size))) ++size;
    add(Token::name, source_.substr(at_, size)), skip(size);
  }

  void number() {
    std::string digits;
    std::size_t size = 0;
    bool real = false;
    const auto take = [&] {
      for (; digit(now(size)) || (now(size) == '_' && digit(now(size + 1))); ++size)
        if (now(size) != '_') digits += now(size);
    };
    take();
    if (now(size) == '.' && digit(now(size + 1))) real = true, digits += '.', ++size, take();
    const std::size_t signs = now(size + 1) == '-' || now(size + 1) == '+' ? 2 : 1;
    if ((now(size) == 'e' || now(size) == 'E') && digit(now(size + signs))) {
      real = true, digits += source_.substr(at_ + size, signs), size += signs;
      take();
    }
    if (!real && digits[0] == '0' && digits.find_first_not_of('0') != std::string::npos) wrong(line_, "a number begins with 0");
    add(real ? Token::real : Token::integer, digits), skip(size);
  }

  void text() {
    const char quote = now();
    std::string out;
    std::size_t size = 1;
    for (; now(size) != quote; ++size) {
      if (at_ + size >= source_.size()) wrong(line_, std::string("a text has no second ") + quote);
      if (now(size) == '\\')
        escape(out, ++size);
      else
        out += now(size);
    }
    add(Token::text, out), skip(size + 1);
  }

  // As in Python; the last character that it has is source_[at_ + size].
  void escape(std::string& out, std::size_t& size) {
    constexpr std::string_view kNames = "nrtbfav0\\'\"", kMeant("\n\r\t\b\f\a\v\0\\'\"", 11);
    const char c = now(size);
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (c == '\n') return;
    if (digits > 0) {
      char32_t value = 0;
      for (std::size_t i = 1; i <= digits; ++i) {
        const std::size_t hex = std::string_view("0123456789abcdef").find(static_cast<char>(now(size + i) | 0x20));
        if (hex == std::string_view::npos || now(size + i) < '0')
          wrong(line_, std::string("\\") + c + " takes " + std::to_string(digits) + " hexadecimal digits");
        value = value * 16 + static_cast<char32_t>(hex);
      }
      if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) wrong(line_, "an escaped character is none of Unicode's");
      tokenizing::append_utf8(value, out), size += digits;
    } else if (const std::size_t at = kNames.find(c); at != std::string_view::npos && c != '\0') {
      out += kMeant[at];
    } else {
      out += '\\', out += c;
    }
  }

  void sign(std::string& open) {
    constexpr std::string_view kSigns[] = {"==", "!=", ">=", "<=", "//", "**"}, kSingle = "+-*/%~()[]{}<>=.,:|";
    for (const std::string_view two : kSigns)
      if (here(two)) return add(Token::sign, std::string(two)), skip(2);
    const char c = now();
    if (kSingle.find(c) == std::string_view::npos) wrong(line_, std::string("the character '") + c + "' has no meaning here");
    constexpr std::string_view kOpen = "([{", kClose = ")]}";
    if (kOpen.find(c) != std::string_view::npos) open += kClose[kOpen.find(c)];
    if (kClose.find(c) != std::string_view::npos) {
      if (open.empty() || open.back() != c) wrong(line_, std::string("'") + c + "' closes nothing");
      open.pop_back();
    }
    add(Token::sign, std::string(1, c)), skip(1);
  }

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starts_ = true;
  std::vector<Lexed> tokens_;
};

}  // namespace

std::vector<Lexed> tokens_of(std::string_view source) { return Lexer(source).run(); }

}  // namespace tenfold::chat
