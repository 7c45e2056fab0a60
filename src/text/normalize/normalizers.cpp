#include "text/normalize/normalizer.h"

namespace tenfold::tokenizing {
namespace {

class Normalizers : public Normalizer {
 public:
  explicit Normalizers(const Json& json) {
    for (const Json& one : json.list("normalizers")) all_.push_back(read_normalizer(one));
  }
  void run(Chars& chars) const override {
    for (const auto& one : all_) one->run(chars);
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> all_;
};

}  // namespace

std::unique_ptr<Normalizer> read_normalizers(const Json& json) { return std::make_unique<Normalizers>(json); }

}  // namespace tenfold::tokenizing
