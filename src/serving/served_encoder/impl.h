// An encoder's model and its instances.
#pragma once

#include <map>
#include <mutex>

#include "tenfold/serving/served_encoder.h"

namespace tenfold::served_encoder {

class EncoderModel final : public ServedEncoder, public std::enable_shared_from_this<EncoderModel> {
 public:
  EncoderModel(const std::string& folder, ServedEncoderOptions options);
  const std::vector<BindingInfo>& bindings() const noexcept override { return bindings_; }
  const std::vector<std::string>& open_inputs() const noexcept override { return none_; }
  std::int64_t max_rows() const noexcept override { return 0; }
  std::unique_ptr<ServedInstance> create_instance(const std::string& device) override;
  const Encoder& encoder() const noexcept override { return *first_; }
  const std::string& prompt() const noexcept override { return prompt_; }
  std::int64_t max_batch() const { return options_.max_batch; }

 private:
  std::shared_ptr<const Encoder> load(const std::string& device) const;
  std::shared_ptr<const Encoder> encoder_on(const std::string& device);   // with its engines

  std::string folder_;
  ServedEncoderOptions options_;
  std::shared_ptr<const Encoder> first_;         // of the options' device
  std::string prompt_;
  std::vector<BindingInfo> bindings_;
  std::vector<std::string> none_;
  std::mutex mutex_;                             // of what follows; held while engines are built
  std::map<std::string, std::shared_ptr<const Encoder>> encoders_;
};

std::unique_ptr<ServedInstance> make_instance(std::shared_ptr<const EncoderModel> model, std::shared_ptr<const Encoder> encoder,
                                              std::string device);

}  // namespace tenfold::served_encoder
