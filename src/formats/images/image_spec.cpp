// Parsing a specification: key:value,key:value.
#include "formats/images/image_spec.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "tenfold/internal/nearest.h"

namespace tenfold::formats {
namespace {

constexpr int kMaxSide = 1 << 14;
const std::vector<std::string> kKeys{"resize", "crop", "scale", "mean", "std", "layout", "order"};

std::string hint(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : "; did you mean " + near + "?";
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == separator) parts.emplace_back();
    else parts.back() += c;
  return parts;
}

class SpecParser {
 public:
  explicit SpecParser(std::string name) : name_(std::move(name)) {}
  ImageSpec parse(const std::string& text);

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw Error(ErrorKind::invalid_argument, name_ + why); }
  [[noreturn]] void wrong(const std::string& key, const std::string& value, const std::string& expected) const {
    refuse(": " + key + " takes " + expected + ", not '" + value + "'");
  }
  std::vector<int> sides(const std::string& key, const std::string& value) const;
  std::vector<float> numbers(const std::string& key, const std::string& value) const;
  template <class T>
  T one_of(const std::string& key, const std::string& value, const std::vector<std::pair<std::string, T>>& known) const;
  void take(ImageSpec& spec, const std::string& key, const std::string& value) const;
  std::string name_;
};

// One for N, two for HxW.
std::vector<int> SpecParser::sides(const std::string& key, const std::string& value) const {
  std::vector<int> all;
  for (const std::string& word : split(value, 'x')) {
    if (word.empty() || word.size() > 6 || word.find_first_not_of("0123456789") != word.npos) wrong(key, value, "N or HxW");
    all.push_back(std::stoi(word));
    if (all.back() < 1 || all.back() > kMaxSide) wrong(key, value, "sides of 1 to " + std::to_string(kMaxSide));
  }
  if (all.size() > 2) wrong(key, value, "N or HxW");
  return all;
}

std::vector<float> SpecParser::numbers(const std::string& key, const std::string& value) const {
  constexpr const char* kExpected = "one number, or three such as 0.485/0.456/0.406";
  std::vector<float> all;
  for (const std::string& word : split(value, '/')) {
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || !(std::abs(number) <= std::numeric_limits<float>::max()))
      wrong(key, value, kExpected);
    all.push_back(static_cast<float>(number));
  }
  if (all.size() != 1 && all.size() != 3) wrong(key, value, kExpected);
  return all;
}

template <class T>
T SpecParser::one_of(const std::string& key, const std::string& value, const std::vector<std::pair<std::string, T>>& known) const {
  std::vector<std::string> names;
  for (const auto& [name, meaning] : known) {
    if (name == value) return meaning;
    names.push_back(name);
  }
  wrong(key, value, names[0] + " or " + names[1]);
}

void SpecParser::take(ImageSpec& spec, const std::string& key, const std::string& value) const {
  if (key == "resize") {
    const std::vector<int> all = sides(key, value);
    if (all.size() == 1) spec.shorter = all[0];
    else spec.size = ImageSize{all[0], all[1]};
  } else if (key == "crop") {
    const std::vector<int> all = sides(key, value);
    spec.crop = ImageSize{all.front(), all.back()};
  } else if (key == "scale") {
    spec.scale = numbers(key, value).front();
    if (value.find('/') != value.npos || !(*spec.scale > 0)) wrong(key, value, "one number above 0");
  } else if (key == "mean") {
    spec.mean = numbers(key, value);
  } else if (key == "std") {
    spec.deviation = numbers(key, value);
    if (std::any_of(spec.deviation.begin(), spec.deviation.end(), [](float d) { return !(d > 0); })) wrong(key, value, "numbers above 0");
  } else if (key == "layout") {
    spec.layout = one_of<ImageLayout>(key, value, {{"nchw", ImageLayout::nchw}, {"nhwc", ImageLayout::nhwc}});
  } else if (key == "order") {
    spec.bgr = one_of<bool>(key, value, {{"rgb", false}, {"bgr", true}});
  } else {
    std::string all;
    for (const std::string& known : kKeys) all += (all.empty() ? "" : ", ") + known;
    refuse(" has no '" + key + "'" + (hint(key, kKeys).empty() ? "; it has " + all : hint(key, kKeys)));
  }
}

ImageSpec SpecParser::parse(const std::string& text) {
  ImageSpec spec;
  std::set<std::string> given;
  for (const std::string& one : split(text, ',')) {
    const std::size_t colon = one.find(':');
    if (colon == one.npos) refuse(": '" + one + "' is not key:value, such as resize:256" + hint(one, kKeys));
    const std::string key = one.substr(0, colon);
    std::string value = one.substr(colon + 1);
    for (char& c : value) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    take(spec, key, value);
    if (!given.insert(key).second) refuse(" gives " + key + " twice");
  }
  return spec;
}

}  // namespace

ImageSpec parse_image_spec(const std::string& text, const std::string& name) { return SpecParser(name).parse(text); }

}  // namespace tenfold::formats
