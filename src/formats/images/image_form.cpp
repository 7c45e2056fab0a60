// What a specification left out, by the shape and the type of the model's input; and a photograph in that form.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "formats/images/image_spec.h"
#include "formats/images/resize.h"
#include "formats/shape_text.h"

namespace tenfold::formats {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::invalid_argument, why); }

std::string number(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

std::string side_text(ImageSize size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }

std::string what(const BindingInfo& input) { return "the input '" + input.name + "' is " + shape_text(input.shape); }

// Images of the only input.
const BindingInfo& image_input(const std::vector<BindingInfo>& inputs, const SourceNames& names) {
  if (inputs.size() != 1) {
    std::string all;
    for (const BindingInfo& b : inputs) all += (all.empty() ? "'" : ", '") + b.name + "'";
    refuse(names.data + ": photographs are for models of one input, and this one has " + std::to_string(inputs.size()) +
           (all.empty() ? "" : " (" + all + ")") + "; " + names.data + "=file.npz gives each by its name");
  }
  const BindingInfo& input = inputs.front();
  if (input.shape.size() != 3 && input.shape.size() != 4)
    refuse(names.data + ": " + what(input) + ", which is no image: [N,3,H,W] is one, or [N,H,W,3]; " + names.data +
           "=file.npz gives other arrays");
  return input;
}

// Where the channels stand, and how many of them.
ImageLayout layout_of(const ImageSpec& spec, const BindingInfo& input, const std::string& name, int& channels) {
  const std::size_t rank = input.shape.size();
  const std::int64_t first = input.shape[rank - 3], last = input.shape[rank - 1];
  const auto counts = [](std::int64_t d) { return d == 3 || d == 1; };
  if (!spec.layout && !counts(first) && !counts(last))
    refuse(name + ": " + what(input) +
                     " without 3 or 1 channels in a place where they can be told: say layout:nchw or layout:nhwc");
  // 3 counts before 1: [N,1,W,3] is one line of colors.
  const bool behind = spec.layout ? *spec.layout == ImageLayout::nhwc : counts(last) && (!counts(first) || (first == 1 && last == 3));
  const std::int64_t found = behind ? last : first;
  if (found >= 0 && !counts(found))
    refuse(name + ": " + what(input) + ", with " + std::to_string(found) + " channels as layout:" + (behind ? "nhwc" : "nchw") +
                     "; images have 3, or 1 (luminance)");
  channels = found == 1 ? 1 : 3;
  return behind ? ImageLayout::nhwc : ImageLayout::nchw;
}

void resolve_sizes(const ImageSpec& spec, const BindingInfo& input, ImageForm& form) {
  const std::size_t rank = input.shape.size(), row = form.layout == ImageLayout::nchw ? rank - 2 : rank - 3;
  const std::int64_t height = input.shape[row], width = input.shape[row + 1];
  const std::optional<ImageSize> given = spec.crop ? spec.crop : spec.size;
  form.crop = {height < 0 && given ? given->height : static_cast<int>(height), width < 0 && given ? given->width : static_cast<int>(width)};
  if (form.crop.height < 1 || form.crop.width < 1)
    refuse(form.names.image + ": " + what(input) + ", which does not fix the size of an image: say crop:HxW or resize:HxW");
  if (spec.crop && *spec.crop != form.crop)
    refuse(form.names.image + ": crop:" + side_text(*spec.crop) + " does not fit, for " + what(input));
  if (spec.size) form.size = *spec.size;
  else form.shorter = spec.shorter.value_or(std::max(form.crop.height, form.crop.width));
  const ImageSize min = spec.size ? form.size : ImageSize{form.shorter, form.shorter};
  if (spec.size ? min.height < form.crop.height || min.width < form.crop.width
                : form.shorter < std::min(form.crop.height, form.crop.width))
    refuse(form.names.image + ": resize:" + (spec.size ? side_text(form.size) : std::to_string(form.shorter)) + " leaves less than the " +
                     side_text(form.crop) + " that the input '" + input.name + "' takes");
}

std::vector<float> for_channels(const std::string& name, const char* key, const std::vector<float>& given, float otherwise, int channels) {
  if (given.empty()) return std::vector<float>(static_cast<std::size_t>(channels), otherwise);
  if (given.size() == 1) return std::vector<float>(static_cast<std::size_t>(channels), given.front());
  if (static_cast<int>(given.size()) != channels)
    refuse(name + ": " + key + " has " + std::to_string(given.size()) + " numbers, and the input one channel");
  return given;
}

std::string joined(const std::vector<float>& values) {
  std::string text;
  for (const float v : values) text += (text.empty() ? "" : "/") + number(v);
  return text;
}

}  // namespace

ImageForm resolve_image_spec(const ImageSpec& spec, const std::vector<BindingInfo>& inputs, const SourceNames& names) {
  const BindingInfo& input = image_input(inputs, names);
  ImageForm form;
  form.names = names;
  form.input = input.name, form.type = input.dtype;
  int channels = 3;
  form.layout = layout_of(spec, input, names.image, channels);
  form.batched = input.shape.size() == 4;
  form.batch = form.batched && input.shape[0] > 0 ? static_cast<int>(input.shape[0]) : 1;
  resolve_sizes(spec, input, form);
  form.scale = spec.scale.value_or(is_float(form.type) ? 255.0f : form.type == DType::u16 ? 1 / 257.0f : 1.0f);  // white is 1, or 65535
  form.mean = for_channels(names.image, "mean", spec.mean, 0, channels);
  form.deviation = for_channels(names.image, "std", spec.deviation, 1, channels);
  form.bgr = spec.bgr && channels == 3;
  return form;
}

std::string ImageForm::text() const {
  return "resize:" + (shorter ? std::to_string(shorter) : side_text(size)) + ",crop:" + side_text(crop) + ",scale:" + number(scale) +
         ",mean:" + joined(mean) + ",std:" + joined(deviation) + ",layout:" + (layout == ImageLayout::nchw ? "nchw" : "nhwc") +
         (channels() == 3 ? std::string(",order:") + (bgr ? "bgr" : "rgb") : "");
}

Pixels prepared(Pixels image, const ImageForm& form) {
  if (form.channels() == 1) image = luminance(image);
  ImageSize to = form.size;
  if (form.shorter > 0) {
    const int min = std::min(image.width, image.height);
    const std::int64_t max = static_cast<std::int64_t>(std::max(image.width, image.height)) * form.shorter / min;   // cut to a whole one
    const bool wide = image.width > image.height;
    expect_size(max, form.shorter);   // of a strip, the longer side may be beyond all measure
    to = wide ? ImageSize{form.shorter, static_cast<int>(max)} : ImageSize{static_cast<int>(max), form.shorter};
  }
  expect_size(to.width, image.height);   // between both passes
  if (to.height < form.crop.height || to.width < form.crop.width)
    throw BrokenImage("resized it is " + side_text(to) + ", less than the " + side_text(form.crop) + " to cut out of it");
  return cropped(resized(image, to.width, to.height), form.crop.width, form.crop.height);
}

}  // namespace tenfold::formats
