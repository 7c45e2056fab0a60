// Pictures in files of seven forms as pixels. BMP and PNM are read here; what decodes the others is the system's, and opened when the first
// such file is read. All functions throw BrokenImage for bytes that cannot be read, and Error(io) where a decoder is not installed.
#pragma once

#include <string_view>

#include "images/pixels.h"

namespace tenfold::images {

enum class Form { none, bmp, jpeg, jpeg2000, png, pnm, tiff, webp };
Form form_of(std::string_view bytes);   // by the first bytes: endings of names are often wrong

// In color, whatever the file holds; gray becomes three equal channels, and alpha is dropped. How the camera was held (EXIF) is not
// looked at. 16 bits are kept of a PNG without alpha.
Pixels decode(std::string_view bytes, Depth depth = Depth::eight_bits);

// A decoder for each form.
Pixels decode_bmp(std::string_view bytes);
Pixels decode_jpeg(std::string_view bytes);
Pixels decode_jpeg2000(std::string_view bytes);
Pixels decode_png(std::string_view bytes, Depth depth = Depth::eight_bits);
Pixels decode_pnm(std::string_view bytes);
Pixels decode_tiff(std::string_view bytes);
Pixels decode_webp(std::string_view bytes);

}  // namespace tenfold::images
