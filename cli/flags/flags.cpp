// Parsing, help and hints from a table of flags.
#include "flags/flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "tenfold/internal/nearest.h"

namespace tenfold::cli {
namespace {

template <class T>
T parse_with(const std::string& flag, const std::string& text, const char* what) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    throw UsageError("--" + flag + " takes " + what + ", not '" + text + "'");
  return value;
}

}  // namespace

std::string Flag::spelled() const {
  if (name.size() == 1) return "-" + name + " " + value;
  if (value.empty()) return "--" + name;
  if (value.front() == '[') return "--" + name + "[=" + value.substr(1);
  return "--" + name + "=" + value;
}

double parse_number(const std::string& flag, const std::string& text, double min) {
  const double value = parse_with<double>(flag, text, "a number");
  if (!std::isfinite(value)) throw UsageError("--" + flag + " takes a finite number, not '" + text + "'");
  if (value < min)
    throw UsageError("--" + flag + " takes a number of at least " + std::to_string(static_cast<int>(min)) + ", not " + text);
  return value;
}

int parse_int(const std::string& flag, const std::string& text, int min, int largest) {
  const int value = parse_with<int>(flag, text, "a whole number");
  if (value < min || value > largest)
    throw UsageError("--" + flag + " takes " +
                     (largest == std::numeric_limits<int>::max() ? "at least " + std::to_string(min)
                                                                 : std::to_string(min) + " to " + std::to_string(largest)) +
                     ", not " + text);
  return value;
}

void Flags::add_switch(const std::string& name, bool& target, const std::string& help) {
  add({name, "", help, [&target](const std::string&) { target = true; }});
}

void Flags::add_text(const std::string& name, std::string& target, const std::string& value, const std::string& help) {
  add({name, value, help, [&target](const std::string& text) { target = text; }});
}

void Flags::add_int(const std::string& name, int& target, const std::string& help) {
  add({name, "N", help, [&target, name](const std::string& text) {
         target = parse_int(name, text, 0);
       }});
}

const Flag* Flags::find(const std::string& name) const {
  for (const Group& group : groups_)
    for (const Flag& flag : group.flags)
      if (flag.name == name) return &flag;
  return nullptr;
}

// `spelled_as`: with the dashes that it came with.
void Flags::unknown(const std::string& name, const std::string& spelled_as) const {
  if (find(name)) throw UsageError("unknown flag " + spelled_as + ": flags begin with two dashes: --" + name);
  if (const auto refused = refused_.find(name); refused != refused_.end())
    throw UsageError("--" + name + " is not supported by Tenfold: " + refused->second);
  std::vector<std::string> names;
  for (const Group& group : groups_)
    for (const Flag& flag : group.flags) names.push_back(flag.name);
  std::string hint = nearest(name, names);
  if (hint.empty() && find(name.substr(0, 1))) hint = name.substr(0, 1);   // --out is -o
  throw UsageError("unknown flag " + spelled_as +
                   (hint.empty() ? "; --help lists the flags" : "; did you mean " + (hint.size() > 1 ? "--" + hint : "-" + hint) + "?"));
}

std::vector<std::string> Flags::parse(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words;
  for (const Given& given : read(arguments, words)) given.flag->apply(given.value);
  return words;
}

std::vector<Flags::Given> Flags::read(const std::vector<std::string>& arguments, std::vector<std::string>& words) const {
  std::vector<Given> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') {
      words.push_back(argument);
      continue;
    }
    const std::size_t dashes = argument[1] == '-' ? 2 : 1, equals = argument.find('=');
    const std::string name = argument.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
    const Flag* flag = find(name == "h" ? "help" : name);
    if (!flag || (dashes == 1 && name.size() > 1)) unknown(name, argument.substr(0, equals));
    const bool attached = equals != std::string::npos;
    if (attached && flag->value.empty()) throw UsageError("--" + name + " takes no value");
    if (attached || flag->value.empty() || flag->value.front() == '[') {
      given.push_back({flag, attached ? argument.substr(equals + 1) : ""});
    } else {
      if (i + 1 == arguments.size()) throw UsageError("--" + name + " needs a value: " + flag->spelled());
      given.push_back({flag, arguments[++i]});
    }
  }
  return given;
}

std::string Flags::help(bool full) const {
  constexpr std::size_t kColumn = 34, kWidth = 118;
  std::string text = "usage: " + usage_ + "\n" + about_ + "\n";
  for (const Group& group : groups_) {
    if (group.full_only && !full) continue;
    text += "\n" + group.title + "\n";
    std::string also;
    for (const Flag& flag : group.flags) {
      const std::string left = "  " + flag.spelled();
      const bool detail = flag.help.starts_with('+');
      if (full || !detail) {
        text += left + std::string(left.size() + 2 > kColumn ? 2 : kColumn - left.size(), ' ') + flag.words() + "\n";
      } else {
        if (also.size() - (also.rfind('\n') + 1) + left.size() > kWidth) also += "\n";
        also += also.empty() || also.back() == '\n' ? left : left.substr(1);
      }
    }
    if (!also.empty()) text += also + "\n";
  }
  return text + (footer_.empty() ? "" : "\n" + footer_ + "\n");
}

}  // namespace tenfold::cli
