// Pixels of a picture: what decoders make of a file's bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/error.h"

namespace tenfold::images {

// Rows from the top, `channels` values for each pixel: red, green, blue, or luminance alone. Level L of 8 bits is level 257 L of 16.
struct Pixels {
  int width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> values;
  std::vector<std::uint16_t> deep = {};  // in place of `values`: levels of 16 bits

  bool is_deep() const { return !deep.empty(); }
  bool empty() const { return values.empty() && deep.empty(); }
  std::size_t bytes() const { return values.size() + 2 * deep.size(); }
  // f(levels of this picture, levels of `other`), both of the depth of this one.
  template <class F>
  void with_levels(Pixels& other, F&& f) const {
    if (is_deep())
      f(deep, other.deep);
    else
      f(values, other.values);
  }
};
enum class Depth { eight_bits, as_in_file };  // of levels: 16 bits of a file become 8, or are kept

// A file that is no image that can be read. The text says why, without the file's name.
struct BrokenImage : Error {
  explicit BrokenImage(std::string why) : Error(ErrorKind::io, std::move(why)) {}
};

// Throws BrokenImage for a size that is none, or beyond any photograph: a small file may claim it.
void expect_size(std::int64_t width, std::int64_t height);
// Room for so many pixels in color; the same throws.
Pixels room_for(std::int64_t width, std::int64_t height);
// One channel of three: 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601).
Pixels luminance(const Pixels& colors);

}  // namespace tenfold::images
