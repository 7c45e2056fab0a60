#include "text/tokenizers/patterns/translate.h"

#include <vector>

#include "text/fail.h"
#include "text/tokenizers/patterns/classes.h"

namespace tenfold::tokenizing {
namespace {

class Translator {
 public:
  Translator(const std::string& regex, const Json& where) : in_(regex), where_(where) {}

  std::string run() {
    while (at_ < in_.size()) {
      const char c = in_[at_];
      if (c == '\\') escape();
      else if (c == '[') brackets();
      else if (c == '(') open();
      else if (c == ')') close();
      else if (c == '{') repeat();
      else if (c == '*' || c == '+' || c == '?') put(1);
      else begin_atom(), put(1);
    }
    return out_;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    fail(ErrorKind::unsupported,
         where_.where + ": the pattern has " + what + " at byte " + std::to_string(at_) + ", which is not supported");
  }
  char peek(std::size_t ahead) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  void put(std::size_t count) { out_.append(in_, at_, count), at_ += count; }
  void begin_atom() { atom_ = out_.size(); }

  void open() {
    groups_.push_back(out_.size());
    put(1);
    if (peek(0) != '?') return;
    put(1);
    // (?m) is Ruby's name for what others call (?s).
    for (std::size_t i = 0; std::string_view("imx-").find(peek(0)) != std::string_view::npos && peek(0) != '\0'; ++i) {
      out_ += peek(0) == 'm' ? 's' : peek(0);
      ++at_;
    }
    if (peek(0) == '~' || peek(0) == '@') refuse("an absent operator or a condition");
  }
  void close() {
    put(1);
    if (groups_.empty()) refuse("a parenthesis too many");
    atom_ = groups_.back();
    groups_.pop_back();
  }
  // {n,m}+ repeats what is repeated; in PCRE2 it would give nothing back.
  void repeat() {
    std::size_t length = 1;
    while (peek(length) >= '0' && peek(length) <= '9') ++length;
    if (peek(length) == ',') ++length;
    while (peek(length) >= '0' && peek(length) <= '9') ++length;
    if (peek(length) != '}' || length == 1) {
      begin_atom(), out_ += "\\{", ++at_;   // it stands for itself
      return;
    }
    if (peek(1) == ',') out_ += "{0", ++at_, put(length);   // {,m}
    else put(length + 1);
    if (peek(0) != '+') return;
    out_.insert(atom_, "(?:"), out_ += ")+", ++at_;
  }

  // The class of \s, \P{...} and so on at `at_`, which moves behind it; empty: it is no class.
  Ranges escaped_class() {
    const char c = peek(1);
    if (c == 'p' || c == 'P') return property(c == 'P');
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    const char* name = small == 's' ? "space" : small == 'd' ? "nd" : small == 'w' ? "word" : small == 'h' ? "xdigit" : nullptr;
    if (!name) return {};
    at_ += 2;
    return small == c ? *class_named(name) : others_than(*class_named(name));
  }
  Ranges property(bool turned) {
    const std::size_t end = in_.find('}', at_);
    if (peek(2) != '{' || end == std::string::npos) refuse("a property without braces");
    std::string name = in_.substr(at_ + 3, end - at_ - 3);
    if (name.starts_with('^')) name.erase(0, 1), turned = !turned;
    const std::optional<Ranges> found = class_named(name);
    if (!found) refuse("the property '" + name + "'");
    at_ = end + 1;
    return turned ? others_than(*found) : *found;
  }

  void escape() {
    const char c = peek(1);
    if (c == 'b' || c == 'B') return edge(c == 'b');
    if (const Ranges found = escaped_class(); !found.empty()) {
      begin_atom();
      out_ += "[" + spelled_out(found) + "]";
      return;
    }
    begin_atom();
    character();
  }
  // Where a word begins or ends.
  void edge(bool is_edge) {
    const std::string word = "[" + spelled_out(*class_named("word")) + "]";
    begin_atom();
    const char* const behind = is_edge ? "!" : "=";
    const char* const otherwise = is_edge ? "=" : "!";
    out_ += "(?:(?<=" + word + ")(?" + behind + word + ")|(?<!" + word + ")(?" + otherwise + word + "))";
    at_ += 2;
  }
  // The four behind "\\u".
  std::string hex_digits() const {
    const std::string digits = in_.substr(at_ + 2, 4);
    if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      refuse("'\\u" + digits + "', which is not followed by four hexadecimal digits");
    return digits;
  }
  // A backslash and what it makes of a character, in brackets or not.
  void character() {
    const char c = peek(1);
    if (c == 'u') {
      out_ += "\\x{" + hex_digits() + "}", at_ += 6;
    } else if (c == 'v') {
      out_ += "\\x0b", at_ += 2;
    } else {
      const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (c == '\0' || (is_letter && std::string_view("AzZGRnrtfaexk").find(c) == std::string_view::npos))
        refuse(std::string("'\\") + c + "'");
      put(2);
    }
  }

  void brackets() {
    begin_atom();
    put(1);
    if (peek(0) == '^') put(1);
    if (peek(0) == ']') out_ += "\\]", ++at_;
    while (at_ < in_.size() && peek(0) != ']') {
      if (peek(0) == '[' && peek(1) == ':') posix();
      else if (peek(0) == '[') refuse("a set in a set");
      else if (peek(0) == '&' && peek(1) == '&') refuse("an intersection of sets");
      else if (peek(0) != '\\') put(1);
      else if (peek(1) == 'b') out_ += "\\x08", at_ += 2;
      else if (const Ranges found = escaped_class(); !found.empty()) out_ += spelled_out(found);
      else character();
    }
    put(1);
  }
  void posix() {
    const std::size_t end = in_.find(":]", at_);
    std::string name = end == std::string::npos ? std::string() : in_.substr(at_ + 2, end - at_ - 2);
    const bool turned = name.starts_with('^');
    if (turned) name.erase(0, 1);
    const std::optional<Ranges> found = class_named(name == "punct" ? "PosixPunct" : name);
    if (!found) refuse("the class '" + name + "'");
    out_ += spelled_out(turned ? others_than(*found) : *found), at_ = end + 2;
  }

  const std::string& in_;
  const Json& where_;
  std::size_t at_ = 0;
  std::string out_;
  std::size_t atom_ = 0;   // where in `out_` what a quantifier repeats begins
  std::vector<std::size_t> groups_;
};

}  // namespace

std::string for_pcre2(const std::string& regex, const Json& where) { return Translator(regex, where).run(); }

}  // namespace tenfold::tokenizing
