// Parsing of --image.
#include "image_spec.h"

#include <algorithm>
#include <set>

#include "flags.h"
#include "specs.h"
#include "tenfold/internal/nearest.h"

namespace tenfold::cli {
namespace {

constexpr const char* kFlag = "image";
constexpr int kMaxSide = 1 << 14;
const std::vector<std::string> kKeys{"resize", "crop", "scale", "mean", "std", "layout", "order"};

std::string hint(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : "; did you mean " + near + "?";
}

[[noreturn]] void wrong(const std::string& key, const std::string& value, const std::string& requested) {
  throw UsageError("--image: " + key + " takes " + requested + ", not '" + value + "'");
}

// Nothing if it is neither N nor HxW.
std::vector<int> sides(const std::string& key, const std::string& value) {
  std::vector<int> all;
  for (const std::string& word : split(value, 'x')) {
    if (word.empty() || word.size() > 6 || word.find_first_not_of("0123456789") != word.npos) wrong(key, value, "N or HxW");
    all.push_back(std::stoi(word));
    if (all.back() < 1 || all.back() > kMaxSide) wrong(key, value, "sides of 1 to " + std::to_string(kMaxSide));
  }
  if (all.size() > 2) wrong(key, value, "N or HxW");
  return all;
}

std::vector<float> numbers(const std::string& key, const std::string& value) {
  std::vector<float> all;
  for (const std::string& word : split(value, '/')) {
    try {
      all.push_back(static_cast<float>(parse_number(kFlag, word)));
    } catch (const UsageError&) {
      wrong(key, value, "one number, or three such as 0.485/0.456/0.406");
    }
  }
  if (all.size() != 1 && all.size() != 3) wrong(key, value, "one number, or three such as 0.485/0.456/0.406");
  return all;
}

template <class T>
T one_of(const std::string& key, const std::string& value, const std::vector<std::pair<std::string, T>>& known) {
  std::vector<std::string> names;
  for (const auto& [name, meaning] : known) {
    if (name == value) return meaning;
    names.push_back(name);
  }
  wrong(key, value, names[0] + " or " + names[1]);
}

void take(ImageSpec& spec, const std::string& key, const std::string& value) {
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
    throw UsageError("--image has no '" + key + "'" + (hint(key, kKeys).empty() ? "; it has " + all : hint(key, kKeys)));
  }
}

}  // namespace

ImageSpec parse_image_spec(const std::string& text) {
  ImageSpec spec;
  std::set<std::string> given;
  for (const std::string& one : split(text, ',')) {
    const std::size_t colon = one.find(':');
    if (colon == one.npos) throw UsageError("--image: '" + one + "' is not key:value, such as resize:256" + hint(one, kKeys));
    const std::string key = one.substr(0, colon);
    take(spec, key, lower(one.substr(colon + 1)));
    if (!given.insert(key).second) throw UsageError("--image gives " + key + " twice");
  }
  return spec;
}

}  // namespace tenfold::cli
