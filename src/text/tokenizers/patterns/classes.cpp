#include "text/tokenizers/patterns/classes.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "text/tokenizers/unicode/data.h"
#include "text/tokenizers/unicode/general_category.h"

namespace tenfold::tokenizing {
namespace {

constexpr char32_t kLast = 0x10ffff, kSurrogates = 0xd800, kBehindSurrogates = 0xe000;

// In the order of Category.
constexpr std::string_view kNames[] = {"lu", "ll", "lt", "lm", "lo", "mn", "mc", "me", "nd", "nl", "no", "pc", "pd", "ps", "pe",
                                       "pi", "pf", "po", "sm", "sc", "sk", "so", "zs", "zl", "zp", "cc", "cf", "co", "cn"};
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"letter", "l"}, {"mark", "m"}, {"number", "n"}, {"punctuation", "p"}, {"punct", "p"}, {"symbol", "s"}, {"separator", "z"},
    {"other", "c"}, {"digit", "nd"}, {"alpha", "alphabetic"}, {"upper", "uppercase"}, {"lower", "lowercase"},
    {"uppercaseletter", "lu"}, {"lowercaseletter", "ll"}, {"titlecaseletter", "lt"}, {"modifierletter", "lm"}, {"otherletter", "lo"},
    {"nonspacingmark", "mn"}, {"decimalnumber", "nd"}, {"whitespace", "space"}, {"cntrl", "cc"}};

std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (c != ' ' && c != '-' && c != '_') result += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return result;
}

void append(Ranges& ranges, char32_t first, char32_t last) {
  if (!ranges.empty() && ranges.back().second + 1 == first) ranges.back().second = last;
  else ranges.emplace_back(first, last);
}

Ranges of_categories(std::uint32_t requested) {
  Ranges ranges;
  for (std::size_t i = 0; i < data::general_size; ++i) {
    const char32_t behind = i + 1 < data::general_size ? data::general[i + 1] & 0xffffff : kLast + 1;
    if (requested >> (data::general[i] >> 24) & 1) append(ranges, data::general[i] & 0xffffff, behind - 1);
  }
  return ranges;
}

Ranges listed(const char32_t* data, std::size_t size) {
  Ranges ranges;
  for (std::size_t i = 0; i < size; i += 2) append(ranges, data[i], data[i + 1]);
  return ranges;
}

Ranges both(Ranges a, const Ranges& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  return a;
}

}  // namespace

std::optional<Ranges> class_named(std::string_view given) {
  std::string name = plain(given);
  for (const auto& [other, known] : kOtherNames)
    if (name == other) name = known;
  std::uint32_t categories = 0;
  for (int i = 0; i < kCategories; ++i)
    if (kNames[i] == name || (name.size() == 1 && kNames[i][0] == name[0])) categories |= std::uint32_t{1} << i;
  if (categories != 0) return of_categories(categories);
  if (name == "any") return Ranges{{0, kLast}};
  if (name == "space") return listed(data::space, data::space_size);
  if (name == "blank") return both({{'\t', '\t'}}, of_categories(bit(Category::Zs)));
  if (name == "xdigit") return Ranges{{'0', '9'}, {'A', 'F'}, {'a', 'f'}};
  if (name == "alnum") return both(*class_named("alphabetic"), of_categories(bit(Category::Nd)));
  for (const auto table : {std::span(data::pattern_classes, data::pattern_classes_size),
                           std::span(data::pattern_scripts, data::pattern_scripts_size)})
    for (const data::NamedRanges& one : table)
      if (plain(one.name) == name) return listed(one.ranges, one.size);
  return std::nullopt;
}

Ranges others_than(const Ranges& ranges) {
  Ranges others;
  char32_t open = 0;
  for (const auto& [first, last] : ranges) {
    if (first > open) others.emplace_back(open, first - 1);
    open = std::max<char32_t>(open, last + 1);
  }
  if (open <= kLast) others.emplace_back(open, kLast);
  return others;
}

std::string spelled_out(const Ranges& ranges) {
  std::string text;
  for (auto [first, last] : ranges) {
    if (first >= kSurrogates && first < kBehindSurrogates) first = kBehindSurrogates;   // PCRE2 takes none of them as an end
    if (last >= kSurrogates && last < kBehindSurrogates) last = kSurrogates - 1;
    if (first > last) continue;
    char one[40];
    std::snprintf(one, sizeof one, "\\x{%x}-\\x{%x}", static_cast<unsigned>(first), static_cast<unsigned>(last));
    text += one;
  }
  return text;
}

}  // namespace tenfold::tokenizing
