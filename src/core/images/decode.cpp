// Which decoder a file needs, told by its first bytes.
#include "images/decode.h"

namespace tenfold::images {

Form form_of(std::string_view bytes) {
  const auto begins = [&](std::string_view with) { return bytes.starts_with(with); };
  using namespace std::string_view_literals;
  if (begins("\xFF\xD8")) return Form::jpeg;
  if (begins("\x89PNG\r\n\x1A\n")) return Form::png;
  if (begins("BM")) return Form::bmp;
  if (begins("\0\0\0\x0CjP  \r\n\x87\n"sv) || begins("\xFF\x4F\xFF\x51")) return Form::jpeg2000;   // a file, or its code stream alone
  if (begins("II*\0"sv) || begins("MM\0*"sv) || begins("II+\0"sv) || begins("MM\0+"sv)) return Form::tiff;   // the last two: BigTIFF
  if (begins("RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP") return Form::webp;
  if (bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6') return Form::pnm;
  return Form::none;
}

Pixels decode(std::string_view bytes, Depth depth) {
  switch (form_of(bytes)) {
    case Form::bmp: return decode_bmp(bytes);
    case Form::jpeg: return decode_jpeg(bytes);
    case Form::jpeg2000: return decode_jpeg2000(bytes);
    case Form::png: return decode_png(bytes, depth);
    case Form::pnm: return decode_pnm(bytes);
    case Form::tiff: return decode_tiff(bytes);
    case Form::webp: return decode_webp(bytes);
    case Form::none: break;
  }
  throw BrokenImage(bytes.empty() ? "it is empty" : "it is neither BMP, JPEG, JPEG 2000, PNG, PNM, TIFF nor WebP");
}

}  // namespace tenfold::images
