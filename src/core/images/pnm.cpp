// PNM: PBM, PGM and PPM, as text (P1 to P3) and as bytes (P4 to P6).
#include "images/byte_reader.h"
#include "images/decode.h"

namespace tenfold::images {
namespace {

bool is_space(std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// White space and comments, each of which ends with its line.
void skip_space(ByteReader& in) {
  while (!in.at_end() && (is_space(in.peek()) || in.peek() == '#'))
    if (in.byte() == '#')
      while (!in.at_end() && in.peek() != '\n' && in.peek() != '\r') in.byte();
}

std::uint32_t number(ByteReader& in, const char* what) {
  skip_space(in);
  std::uint64_t value = 0;
  int digits = 0;
  for (; in.peek() >= '0' && in.peek() <= '9'; ++digits) {
    value = value * 10 + (in.byte() - '0');
    if (value > 0x7FFFFFFF) throw BrokenImage(std::string(what) + " is beyond all measure");
  }
  if (digits == 0) throw BrokenImage(std::string(what) + " is no number");
  return static_cast<std::uint32_t>(value);
}

struct Header {
  bool text, bits;          // samples as text; one bit each, 1 being black
  int channels;
  std::uint32_t width, height, white = 1;
};

Header read_header(ByteReader& in) {
  in.byte();
  const int kind = in.byte() - '0';
  Header h{kind <= 3, kind % 3 == 1, kind % 3 == 0 ? 3 : 1, number(in, "the width"), number(in, "the height")};
  if (!h.bits) h.white = number(in, "the largest level");
  if (h.white < 1 || h.white > 65535) throw BrokenImage("the largest level is " + std::to_string(h.white) + ", 1 to 65535 expected");
  if (!h.text && !is_space(in.byte())) throw BrokenImage("no white space stands before its samples");
  return h;
}

// One bit as text needs no space behind it.
std::uint32_t text_sample(ByteReader& in, const Header& h) {
  if (!h.bits) return number(in, "a sample");
  skip_space(in);
  const std::uint8_t bit = in.byte();
  if (bit != '0' && bit != '1') throw BrokenImage("a sample of one bit is neither 0 nor 1");
  return bit - '0';
}

std::uint8_t level(std::uint32_t sample, const Header& h) {
  if (sample > h.white) throw BrokenImage("a sample of " + std::to_string(sample) + " is beyond " + std::to_string(h.white));
  if (h.bits) return sample ? 0 : 255;
  return static_cast<std::uint8_t>((sample * 255 + h.white / 2) / h.white);
}

}  // namespace

Pixels decode_pnm(std::string_view bytes) {
  ByteReader in(bytes);
  const Header h = read_header(in);
  expect_size(h.width, h.height);
  const std::uint64_t row = h.bits && !h.text ? (h.width + 7) / 8 : std::uint64_t{h.width} * static_cast<std::uint64_t>(h.channels);
  const std::uint64_t bytes_each = !h.text && h.white > 255 ? 2 : 1;
  if (in.left() < row * h.height * bytes_each) throw BrokenImage("it ends in the middle of its samples");   // before memory is taken
  Pixels pixels = room_for(h.width, h.height);
  std::uint8_t* to = pixels.values.data();
  for (std::uint32_t y = 0; y < h.height; ++y) {
    std::uint32_t eight = 0;
    for (std::uint32_t x = 0; x < h.width; ++x)
      for (int c = 0; c < 3; ++c) {
        if (c >= h.channels) {   // gray
          *to = to[-1], ++to;
          continue;
        }
        std::uint32_t sample;
        if (h.text) sample = text_sample(in, h);
        else if (h.bits) eight = x % 8 == 0 ? in.byte() : eight << 1, sample = eight >> 7 & 1;
        else sample = in.byte(), sample = bytes_each == 2 ? sample << 8 | in.byte() : sample;
        *to++ = level(sample, h);
      }
  }
  return pixels;
}

}  // namespace tenfold::images
