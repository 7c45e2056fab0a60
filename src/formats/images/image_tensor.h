// Pixels as the elements of a model's input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/images/image_spec.h"

namespace tenfold::formats {

// An image has 256 levels or 65536, so an element's bits stand in a table: for each channel of the model, of each level.
class ImageElements {
 public:
  // Throws Error(invalid_argument) where the input's type is not one of numbers, or cannot hold the values.
  explicit ImageElements(const ImageForm& form);
  // `images`: as many as a sample has, each as prepared() makes it.
  Tensor tensor(std::span<const Pixels* const> images) const;

 private:
  ImageForm form_;
  using Table = std::vector<std::vector<std::uint64_t>>;
  Table table(std::size_t levels) const;

  Table bits_, deep_bits_;  // the second one where form_.depth() wants it
};

}  // namespace tenfold::formats
