// Data and weights, by QuantizeLinear and DequantizeLinear around products.
#include "base/check.h"
#include "builder/model/profiles.h"
#include "builder/precision/cache_origin.h"
#include "builder/precision/calibrate.h"
#include "builder/quantize/rewriting.h"

namespace tenfold::builder {
namespace {

quant::Activations activations_for(const QuantizeOptions& options) {
  switch (options.reader) {
    case QuantizeFor::any: return quant::Activations::signed_bytes;
    case QuantizeFor::onnxruntime: return quant::Activations::unsigned_bytes;
    case QuantizeFor::openvino: return quant::Activations::unsigned_if_never_negative;
  }
  fail(ErrorKind::internal, "no such reader");
}

quant::WeightForm weights_for(const QuantizeOptions& options) {
  return options.reduce_range ? quant::WeightForm::seven_bits : quant::WeightForm::bytes;
}

class WithQdq : public Rewriting {
 public:
  WithQdq(const FileSource& source, const Places& excluded, CalibrationReport& report) : source_(source), excluded_(excluded) {
    ir::Graph runnable = source.graph.clone();   // what its shapes decide is not the file's
    specialize(runnable, source.ranges);
    const quant::Placing placing = placing_without({});
    const CacheOrigin origin(source.read, *source.config.calibration);
    BuildConfig config = source.config;
    config.calibration = origin.watched();
    ranges_ = calibrated(runnable, source.ranges, placing, config, report);
    origin.keep(report);
  }

  FileEdits edits(const Places& in_floats) const override {
    const quant::Placing placing = placing_without(in_floats);
    const Before before(source_.graph);
    ir::Graph placed = source_.graph.clone();
    place_qdq(placed, ranges_, placing);
    const bool integer_bias = source_.options.type != QuantizeType::fp8 && source_.options.reader == QuantizeFor::onnxruntime;
    FileEdits made =
        file_edits(placed, before, source_.model, source_.nodes, {.integer_bias = integer_bias, .keeps_weights = source_.keeps_weights});
    raise_versions(source_.model, source_.options.type, made);
    return made;
  }

 private:
  quant::Placing placing_without(const Places& in_floats) const {
    quant::Placing placing{.activations = activations_for(source_.options), .weights = weights_for(source_.options),
                           .float8 = source_.options.type == QuantizeType::fp8};
    placing.takes = [this, in_floats](const ir::Node& node) {
      const auto place = source_.nodes.place_of(node);
      return place && !excluded_.count(*place) && !in_floats.count(*place);
    };
    return placing;
  }

  const FileSource& source_;
  const Places& excluded_;
  quant::Ranges ranges_;
};

}  // namespace

std::unique_ptr<Rewriting> with_qdq(const FileSource& source, const Places& excluded, CalibrationReport& report) {
  return std::make_unique<WithQdq>(source, excluded, report);
}

}  // namespace tenfold::builder
