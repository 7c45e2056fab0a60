#include "text/decoders/rotary.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "text/fail.h"

namespace tenfold::decoders {
namespace {

using tokenizing::Json;

// The object that says how angles are made; nothing where config.json has plain fields alone.
std::optional<Json> parameters(const Json& config) {
  for (const char* key : {"rope_parameters", "rope_scaling"})
    if (config.has(key)) return config.at(key);
  return std::nullopt;
}

double theta_of(const Json& config, const std::optional<Json>& rope) {
  const double own = config.real("rope_theta", 10000.0);
  const double theta = rope ? rope->real("rope_theta", own) : own;
  if (!(theta > 0)) config.wrong("rope_theta is not above 0");
  return theta;
}

std::string type_of(const std::optional<Json>& rope) {
  for (const char* key : {"rope_type", "type"})
    if (rope && rope->has(key)) return rope->text(key);
  return "default";
}

double positive(const Json& rope, const char* key) {
  const double value = rope.real(key, 0);
  if (!(value > 0)) rope.wrong(std::string("'") + key + "' is missing or not above 0");
  return value;
}

// Llama 3.1's: long waves are stretched by `factor`, short ones stay, and those between are mixed.
float stretched(float step, const Json& rope) {
  const double factor = positive(rope, "factor"), low = positive(rope, "low_freq_factor"), high = positive(rope, "high_freq_factor");
  const double places = positive(rope, "original_max_position_embeddings"), wave = 2 * std::numbers::pi / static_cast<double>(step);
  if (!(high > low)) rope.wrong("high_freq_factor is not above low_freq_factor");
  if (wave < places / high) return step;
  if (wave > places / low) return static_cast<float>(step / factor);
  const double share = (places / wave - low) / (high - low);
  return static_cast<float>((1 - share) * step / factor + share * step);
}

float scaled(float step, const std::string& type, const std::optional<Json>& rope) {
  if (type == "linear") return static_cast<float>(step / positive(*rope, "factor"));
  return type == "llama3" ? stretched(step, *rope) : step;
}

}  // namespace

Rotary::Rotary(const transformers::Blocks& blocks, const Json& config, std::int64_t places, std::int64_t turned)
    : blocks_(blocks), turned_(turned) {
  const std::optional<Json> rope = parameters(config);
  const std::string type = type_of(rope);
  if (type != "default" && type != "linear" && type != "llama3")
    tokenizing::fail(ErrorKind::unsupported,
                     rope->where + ": the rope_type '" + type + "' is not supported; default, linear and llama3 are");
  const double theta = theta_of(config, rope);
  const std::int64_t half = turned / 2;
  Tensor cosines(DType::f32, {places, half}), sines(DType::f32, {places, half});
  for (std::int64_t i = 0; i < half; ++i) {
    const float step =
        scaled(1.0f / std::pow(static_cast<float>(theta), static_cast<float>(2 * i) / static_cast<float>(turned)), type, rope);
    for (std::int64_t place = 0; place < places; ++place) {
      const float angle = static_cast<float>(place) * step;   // rounded as the reference rounds it
      cosines.mutable_data<float>()[place * half + i] = std::cos(angle), sines.mutable_data<float>()[place * half + i] = std::sin(angle);
    }
  }
  cosines_ = blocks.net.constant(std::move(cosines)), sines_ = blocks.net.constant(std::move(sines));
}

NetworkTensor Rotary::operator()(NetworkTensor heads, NetworkTensor positions) const {
  return blocks_.net.add_node("RotaryEmbedding", {heads, cosines_, sines_, positions}, {{"rotary_embedding_dim", turned_}})[0];
}

}  // namespace tenfold::decoders
