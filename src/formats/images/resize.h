// Sizes of photographs.
#pragma once

#include "formats/images/image_file.h"

namespace tenfold::formats {

// Bilinear, and by an average of what a new pixel covers where the picture becomes smaller, as Pillow does it: a triangle as wide as two
// new pixels, or as two old ones if those are larger, first along rows and then along columns, each rounded to a level. (Pillow 13
// begins with the columns where it finds that shorter, so that a level may differ by 1 there.)
Pixels resized(const Pixels& image, int width, int height);
// From the center; half a pixel goes to the even side. Both throw Error(invalid_argument) for a size that cannot be.
Pixels cropped(const Pixels& image, int width, int height);

}  // namespace tenfold::formats
