#include "text/tokenizers/normalize/normalizer.h"
#include "text/tokenizers/unicode/normal_form.h"

namespace tenfold::tokenizing {
namespace {

class NormalForm : public Normalizer {
 public:
  NormalForm(bool composes, bool compatible) : composes_(composes), compatible_(compatible) {}
  void run(Chars& chars, const Room&) const override { composes_ ? compose(chars, compatible_) : decompose(chars, compatible_); }

 private:
  bool composes_, compatible_;
};

}  // namespace

std::unique_ptr<Normalizer> read_normal_form(const Json& json) {
  const std::string type = json.type();
  return std::make_unique<NormalForm>(type.back() == 'C', type.size() == 4);
}

}  // namespace tenfold::tokenizing
