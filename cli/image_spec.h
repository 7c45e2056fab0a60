// --image: how photographs become a model's input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "image_file.h"
#include "tenfold/engine.h"

namespace tenfold::cli {

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
ImageSpec parse_image_spec(const std::string& text);   // throws UsageError

// Everything that is needed, for one input. A value is (level / scale - mean) / deviation, all in f32.
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

  int channels() const { return static_cast<int>(mean.size()); }
  std::string text() const;           // as --image takes it, nothing left out
};
// `inputs`: those that must be given. Throws UsageError where the specification does not fit the input or is not enough for it.
ImageForm resolve_image_spec(const ImageSpec& spec, const std::vector<BindingInfo>& inputs);

// Resized and cropped, with as many channels. Throws BrokenImage for one that has not enough pixels, or too many.
Pixels prepared(Pixels image, const ImageForm& form);

}  // namespace tenfold::cli
