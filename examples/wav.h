// Reads a sound file: WAV, one channel, 16 bits a sample.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

struct Sound { int rate = 0; std::vector<float> samples; };   // samples in [-1, 1)

inline Sound read_wav(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open '" + path + "'");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto number = [&](std::size_t at, int width) {   // little-endian
    std::uint32_t value = 0;
    if (at + static_cast<std::size_t>(width) > bytes.size()) throw std::runtime_error("'" + path + "' ends in the middle of a chunk");
    for (int i = 0; i < width; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    return value;
  };
  if (bytes.size() < 12 || bytes.compare(0, 4, "RIFF") != 0 || bytes.compare(8, 4, "WAVE") != 0)
    throw std::runtime_error("'" + path + "' is no WAV file");
  Sound sound;
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::string id = bytes.substr(at, 4);
    const std::size_t size = number(at + 4, 4), body = at + 8;
    if (id == "fmt ") {
      if (number(body, 2) != 1 || number(body + 2, 2) != 1 || number(body + 14, 2) != 16)
        throw std::runtime_error("'" + path + "' must hold one channel of 16-bit samples");
      sound.rate = static_cast<int>(number(body + 4, 4));
    } else if (id == "data") {
      for (std::size_t i = body; i + 2 <= std::min(body + size, bytes.size()); i += 2)
        sound.samples.push_back(static_cast<float>(static_cast<std::int16_t>(number(i, 2))) / 32768.0f);
    }
    at = body + size + (size & 1);   // chunks start at even offsets
  }
  if (sound.rate == 0 || sound.samples.empty()) throw std::runtime_error("'" + path + "' holds no sound");
  return sound;
}
