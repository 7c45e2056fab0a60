// Opening a model: instances, what warms them up, the queue in front of them.
#include "core/datatype.h"
#include "core/models.h"
#include "core/unloading.h"
#include "core/warmup.h"
#include "tenfold/error.h"
#include "triton_backend/open_model.h"

namespace tenfold::server {

// An encoder that tokenizes stays while the model is unloaded; it has no engines.
void Model::open() {
  const auto open = [path = options_.path, served = options_.served, encoder = options_.encoder]() -> std::shared_ptr<ServedModel> {
    if (encoder) return open_served_encoder(path, *encoder);
    return triton::open_model(path, served);
  };
  const bool unloads = options_.unload_after.count() > 0;
  served_ = unloads ? open_unloading(open, options_.unload_after) : open();
  encoder_ = std::dynamic_pointer_cast<const ServedEncoder>(unloads ? open() : served_);
}

Model::Model(ModelOptions options) : options_(std::move(options)) {
  open();
  for (const BindingInfo& b : served_->bindings())
    if (v2_name(b.dtype).empty())
      throw Error(ErrorKind::unsupported, "'" + b.name + "' has the type " + std::string(tenfold::name(b.dtype)) +
                                              ", which the v2 protocol does not have: add a Cast to the model");
  std::vector<std::unique_ptr<ServedInstance>> instances;
  for (const Instances& group : options_.instances)
    for (int i = 0; i < group.count; ++i) {
      instances.push_back(served_->create_instance(group.device));
      devices_.push_back(instances.back()->device());
      for (const Warmup& warmup : options_.warmups) warm_up(*instances.back(), warmup, served_->bindings());
    }
  queue_ = std::make_unique<RequestQueue>(std::move(instances), options_.queue);
}

Model::~Model() = default;

}  // namespace tenfold::server
