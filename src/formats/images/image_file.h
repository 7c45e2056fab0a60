// Photographs: files of pictures as pixels of 8 bits, or of 16.
#pragma once

#include <string>
#include <string_view>

#include "images/decode.h"

namespace tenfold::formats {

using images::BrokenImage, images::Depth, images::expect_size, images::luminance, images::Pixels, images::room_for;

bool is_image_name(const std::string& path);   // by its ending

// As images::decode(). Throws BrokenImage, or Error(io) for a file that cannot be opened or a decoder that is not installed.
Pixels read_image(const std::string& path, Depth depth = Depth::eight_bits);
Pixels decode_image(std::string_view bytes, Depth depth = Depth::eight_bits);  // the same, of a file's bytes

}  // namespace tenfold::formats
