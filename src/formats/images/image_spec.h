// How photographs become a model's input, as text: resize:256,crop:224,scale:255,mean:0.485/0.456/0.406,std:0.229/0.224/0.225.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/images/image_file.h"
#include "tenfold/engine.h"

namespace tenfold::formats {

struct ImageSize {
  int height = 0, width = 0;
  bool operator==(const ImageSize&) const = default;
};
enum class ImageLayout { nchw, nhwc };

// As it was written; what is left out follows from the input.
struct ImageSpec {
  std::optional<int> shorter;         // resize:N, the shorter side
  std::optional<ImageSize> size;      // resize:HxW
  std::optional<ImageSize> crop;
  std::optional<float> scale;
  std::vector<float> mean, deviation; // one for all channels, or one for each
  std::optional<ImageLayout> layout;
  bool bgr = false;
};
// What messages call the source of the photographs and the specification: a command line says "--data" and "--image".
struct SourceNames {
  std::string data = "data", image = "image";
};
// Throws Error(invalid_argument), beginning with `name`.
ImageSpec parse_image_spec(const std::string& text, const std::string& name = "image");

// Everything that is needed, for one input. A value is (level / scale - mean) / deviation, all in f32, where white is level 255: a picture
// of 16 bits has levels between those of 8.
struct ImageForm {
  std::string input;
  DType type = DType::f32;
  int shorter = 0;                    // 0: `size`
  ImageSize size, crop;
  float scale = 1;
  std::vector<float> mean, deviation; // of each channel, in the order in which the model has them
  ImageLayout layout = ImageLayout::nchw;
  bool bgr = false, batched = true;   // batched: the input has an axis for images
  int batch = 1;
  SourceNames names;

  // Floats and u16 get what 16 bits of a file tell apart; other types its 8 highest ones.
  Depth depth() const { return is_float(type) || type == DType::u16 ? Depth::as_in_file : Depth::eight_bits; }
  int channels() const { return static_cast<int>(mean.size()); }
  std::string text() const;           // as parse_image_spec() takes it, nothing left out
};
// `inputs`: those that must be given. Throws Error(invalid_argument) where the specification does not fit the input or is not enough for
// it.
ImageForm resolve_image_spec(const ImageSpec& spec, const std::vector<BindingInfo>& inputs, const SourceNames& names = {});

// Resized and cropped, with as many channels. Throws BrokenImage for one that has not enough pixels, or too many.
Pixels prepared(Pixels image, const ImageForm& form);

}  // namespace tenfold::formats
