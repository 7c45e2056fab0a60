#include "text/tokenizers/normalize/normalizer.h"

namespace tenfold::tokenizing {
namespace {

class Normalizers : public Normalizer {
 public:
  explicit Normalizers(const Json& json) {
    for (const Json& one : json.list("normalizers")) all_.push_back({read_normalizer(one), one.where});
  }
  void run(Chars& chars, const Room& room) const override {
    for (const auto& [one, rule] : all_) {
      one->run(chars, room);
      room.expect(chars.size(), rule);
    }
  }

 private:
  std::vector<std::pair<std::unique_ptr<Normalizer>, std::string>> all_;   // each with its place in the file
};

}  // namespace

std::unique_ptr<Normalizer> read_normalizers(const Json& json) { return std::make_unique<Normalizers>(json); }

}  // namespace tenfold::tokenizing
