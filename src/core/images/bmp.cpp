// BMP: 1 to 32 bits a pixel, with a palette, with masks, and in runs (RLE4, RLE8).
#include <algorithm>
#include <array>
#include <bit>

#include "images/byte_reader.h"
#include "images/decode.h"

namespace tenfold::images {
namespace {

using Color = std::array<std::uint8_t, 3>;   // red, green, blue
enum Compression : std::uint32_t { kNone = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3, kMasksAlpha = 6 };

struct Header {
  std::int64_t width = 0, height = 0;
  bool from_top = false;
  std::uint32_t bits = 0, compression = kNone, pixels_at = 0;
  std::array<std::uint32_t, 3> masks{};
  std::vector<Color> palette;
};

void read_masks(ByteReader& in, std::uint32_t size, Header& h) {
  if (h.compression == kMasks || h.compression == kMasksAlpha) {   // behind a header of 40 bytes, or inside of a longer one
    for (std::uint32_t& mask : h.masks) mask = in.little32();
    if (size == 40 && h.compression == kMasksAlpha) in.little32();
  } else {
    h.masks = h.bits == 16 ? std::array<std::uint32_t, 3>{0x7C00, 0x3E0, 0x1F} : std::array<std::uint32_t, 3>{0xFF0000, 0xFF00, 0xFF};
  }
}

void read_palette(ByteReader& in, std::uint64_t at, std::uint32_t colors, std::size_t bytes_each, Header& h) {
  if (h.bits > 8) return;
  if (colors == 0) colors = 1u << h.bits;
  if (colors > 1u << h.bits)
    throw BrokenImage("its palette has " + std::to_string(colors) + " colors for " + std::to_string(h.bits) + " bits");
  in.go_to(at);
  for (std::uint32_t i = 0; i < colors; ++i) {
    const std::string_view entry = in.take(bytes_each, "a color of its palette");
    h.palette.push_back({static_cast<std::uint8_t>(entry[2]), static_cast<std::uint8_t>(entry[1]), static_cast<std::uint8_t>(entry[0])});
  }
}

void expect_known(const Header& h) {
  const std::uint32_t b = h.bits;
  const bool runs = (h.compression == kRuns8 && b == 8) || (h.compression == kRuns4 && b == 4);
  const bool masks = (h.compression == kMasks || h.compression == kMasksAlpha) && (b == 16 || b == 32);
  const bool plain = h.compression == kNone && (b == 1 || b == 2 || b == 4 || b == 8 || b == 16 || b == 24 || b == 32);
  if (!runs && !masks && !plain)
    throw BrokenImage("it is a BMP of " + std::to_string(b) + " bits a pixel in compression " + std::to_string(h.compression));
}

Header read_header(ByteReader& in) {
  Header h;
  in.go_to(10);
  h.pixels_at = in.little32();
  const std::uint32_t size = in.little32();
  std::uint32_t colors = 0;
  if (size == 12) {   // of OS/2
    h.width = in.little16(), h.height = in.little16();
    in.little16(), h.bits = in.little16();
  } else if (size >= 40 && size <= 1024) {
    h.width = static_cast<std::int32_t>(in.little32());
    const std::int64_t height = static_cast<std::int32_t>(in.little32());
    h.from_top = height < 0, h.height = h.from_top ? -height : height;
    in.little16(), h.bits = in.little16(), h.compression = in.little32();
    in.take(12, "its header");   // size of the pixels, and pixels per meter
    colors = in.little32(), in.little32();
  } else {
    throw BrokenImage("its header has " + std::to_string(size) + " bytes, which no BMP has");
  }
  expect_known(h);
  expect_size(h.width, h.height);
  read_masks(in, size, h);
  read_palette(in, std::uint64_t{14} + size, colors, size == 12 ? 3 : 4, h);
  return h;
}

std::uint8_t masked(std::uint32_t pixel, std::uint32_t mask) {
  if (mask == 0) return 0;
  const std::uint32_t white = mask >> std::countr_zero(mask), value = (pixel & mask) >> std::countr_zero(mask);
  return static_cast<std::uint8_t>((std::uint64_t{value} * 255 + white / 2) / white);
}

class Canvas {
 public:
  explicit Canvas(const Header& h) : h_(h), pixels_(room_for(h.width, h.height)) {}
  void put(std::int64_t x, std::int64_t y, const Color& color) {   // y: of the file's order
    const std::int64_t row = h_.from_top ? y : h_.height - 1 - y;
    std::copy(color.begin(), color.end(), pixels_.values.begin() + (row * h_.width + x) * 3);
  }
  void put_index(std::int64_t x, std::int64_t y, std::uint32_t index) {
    if (x >= h_.width || y >= h_.height) throw BrokenImage("a run leaves its rows");
    if (index >= h_.palette.size())
      throw BrokenImage("a pixel is color " + std::to_string(index) + " of a palette of " + std::to_string(h_.palette.size()));
    put(x, y, h_.palette[index]);
  }
  void fill(const Color& color) {
    for (std::size_t i = 0; i < pixels_.values.size(); ++i) pixels_.values[i] = color[i % 3];
  }
  Pixels take() { return std::move(pixels_); }

 private:
  const Header& h_;
  Pixels pixels_;
};

void read_rows(ByteReader& in, const Header& h, Canvas& canvas) {
  const std::uint64_t bits = static_cast<std::uint64_t>(h.width) * h.bits, row = (bits + 31) / 32 * 4;
  for (std::int64_t y = 0; y < h.height; ++y) {
    // The last row may lack what fills it to whole words.
    const std::uint64_t there = std::max<std::uint64_t>(in.left(), (bits + 7) / 8);
    ByteReader line(in.take(std::min(row, there), "a row"));
    std::uint32_t eight = 0;
    for (std::int64_t x = 0; x < h.width; ++x) {
      if (h.bits <= 8) {
        const std::uint32_t per_byte = 8 / h.bits, place = static_cast<std::uint32_t>(x) % per_byte;
        if (place == 0) eight = line.byte();
        canvas.put_index(x, y, eight >> (8 - h.bits * (place + 1)) & ((1u << h.bits) - 1));
      } else if (h.bits == 24) {
        const std::uint8_t blue = line.byte(), green = line.byte();
        canvas.put(x, y, {line.byte(), green, blue});
      } else {
        const std::uint32_t pixel = h.bits == 16 ? line.little16() : line.little32();
        canvas.put(x, y, {masked(pixel, h.masks[0]), masked(pixel, h.masks[1]), masked(pixel, h.masks[2])});
      }
    }
  }
}

// Pairs of a count and a color, or of 0 and a command: 0 ends a row, 1 the picture, 2 moves on, more are so many colors one by one.
void read_runs(ByteReader& in, const Header& h, Canvas& canvas) {
  const std::uint32_t per_byte = 8 / h.bits, mask = (1u << h.bits) - 1;
  const auto part = [&](std::uint32_t byte, std::uint32_t i) { return byte >> (h.bits * (per_byte - 1 - i % per_byte)) & mask; };
  for (std::int64_t x = 0, y = 0;;) {
    const std::uint32_t count = in.byte(), value = in.byte();
    if (count > 0) {
      for (std::uint32_t i = 0; i < count; ++i) canvas.put_index(x++, y, part(value, i));
    } else if (value == 0) {
      x = 0, ++y;
    } else if (value == 1) {
      return;
    } else if (value == 2) {
      x += in.byte(), y += in.byte();
    } else {
      const std::uint32_t bytes = (value + per_byte - 1) / per_byte;
      ByteReader colors(in.take(bytes + bytes % 2, "a run"));
      for (std::uint32_t i = 0, byte = 0; i < value; ++i) {
        if (i % per_byte == 0) byte = colors.byte();
        canvas.put_index(x++, y, part(byte, i));
      }
    }
    if (y > h.height) throw BrokenImage("its runs leave the picture");
  }
}

}  // namespace

Pixels decode_bmp(std::string_view bytes) {
  ByteReader in(bytes);
  const Header h = read_header(in);
  in.go_to(h.pixels_at);
  const bool runs = h.compression == kRuns8 || h.compression == kRuns4;
  // Before memory is taken: what is no run has its rows in the file. A run names at most 255 pixels by two bytes, but may leave out rows.
  if (!runs && in.left() < static_cast<std::uint64_t>(h.width) * h.bits / 8 * static_cast<std::uint64_t>(h.height))
    throw BrokenImage("it ends in the middle of its rows");
  Canvas canvas(h);
  if (runs) canvas.fill(h.palette.front());   // what runs leave out
  runs ? read_runs(in, h, canvas) : read_rows(in, h, canvas);
  return canvas.take();
}

}  // namespace tenfold::images
