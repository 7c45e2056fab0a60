// Photographs as samples. All that will be asked for are looked at first, so that a build does not begin on broken ones.
#include <algorithm>

#include "formats/images/image_file.h"
#include "formats/images/image_tensor.h"
#include "formats/samples/samples.h"
#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

constexpr std::size_t kMaxKept = std::size_t{1} << 28;   // bytes of prepared pixels; what is beyond is read again when it is asked for
constexpr std::size_t kMaxBroken = 20;                   // one in so many

class ImageSamples : public Samples {
 public:
  ImageSamples(std::vector<std::string> files, const SampleSource& source)
      : files_(std::move(files)),
        form_(resolve_image_spec(source.image.value_or(ImageSpec{}), source.inputs, source.names)),
        elements_(form_) {
    look_at(source);
    if (source.log)
      source.log(Severity::info, source.names.data + ": " + std::to_string(images_.size()) + " photographs of '" + source.path + "', as " +
                                     source.names.image + "=" + form_.text());
  }

  std::optional<InputSet> at(int index) override {
    const std::size_t first = static_cast<std::size_t>(index) * batch();
    if (first + batch() > images_.size()) return {};
    std::vector<Pixels> read(batch());
    std::vector<const Pixels*> all;
    for (std::size_t i = 0; i < batch(); ++i) {
      const Image& image = images_[first + i];
      if (image.kept.empty()) read[i] = again(image.number);
      all.push_back(image.kept.empty() ? &read[i] : &image.kept);
    }
    return InputSet{{form_.input, elements_.tensor(all)}};
  }

  std::vector<ImageOrigin> origins(int index) const override {
    std::vector<ImageOrigin> all;
    const std::size_t first = static_cast<std::size_t>(index) * batch();
    for (std::size_t i = first; i < first + batch() && first + batch() <= images_.size(); ++i)
      all.push_back({images_[i].number, files_[images_[i].number]});
    return all;
  }

 private:
  struct Image {
    std::size_t number = 0;   // of files_
    Pixels kept;              // prepared; empty beyond kMaxKept
  };

  std::size_t batch() const { return static_cast<std::size_t>(form_.batch); }

  Pixels again(std::size_t number) const {
    try {
      return prepared(read_image(files_[number], form_.depth()), form_);
    } catch (const BrokenImage& e) {   // it was whole a moment ago
      throw Error(ErrorKind::io, "'" + files_[number] + "': " + e.what());
    }
  }

  void look_at(const SampleSource& source) {
    const std::size_t requested = static_cast<std::size_t>(std::max(source.max_samples, 1)) * batch();
    std::size_t seen = 0, broken = 0, bytes = 0;
    std::string first;
    for (; seen < files_.size() && images_.size() < requested; ++seen) try {
        Pixels pixels = prepared(read_image(files_[seen], form_.depth()), form_);
        bytes += pixels.bytes();
        images_.push_back({seen, bytes <= kMaxKept ? std::move(pixels) : Pixels{}});
      } catch (const BrokenImage& e) {
        if (broken++ == 0) first = "'" + files_[seen] + "': " + e.what();
      }
    const std::string reported =
        source.names.data + ": " + std::to_string(broken) + " of " + std::to_string(seen) + " photographs cannot be used";
    if (broken * kMaxBroken > seen) throw Error(ErrorKind::io, reported + (seen > 1 ? ", more than 5 %; the first is " : ": ") + first);
    if (broken > 0 && source.log) source.log(Severity::warning, reported + " and are left out; the first is " + first);
    if (images_.size() < batch())
      throw Error(ErrorKind::io, source.names.data + ": " + std::to_string(images_.size()) + " photographs in '" + source.path +
                                     "', and a batch of the input '" + form_.input + "' takes " + std::to_string(batch()));
  }

  std::vector<std::string> files_;
  ImageForm form_;
  ImageElements elements_;
  std::vector<Image> images_;
};

}  // namespace

std::unique_ptr<Samples> image_samples(std::vector<std::string> files, const SampleSource& source) {
  return std::make_unique<ImageSamples>(std::move(files), source);
}

}  // namespace tenfold::formats
