// Photographs among files, by the endings of their names.
#include "formats/images/image_file.h"

#include "formats/files.h"

namespace tenfold::formats {

bool is_image_name(const std::string& path) {
  const std::string end = extension(path);
  return end == ".jpg" || end == ".jpeg" || end == ".png";
}

Pixels read_image(const std::string& path, Depth depth) { return decode_image(read_whole(path), depth); }

Pixels decode_image(std::string_view bytes, Depth depth) { return images::decode(bytes, depth); }

}  // namespace tenfold::formats
