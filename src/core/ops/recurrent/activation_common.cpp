// The activation functions that recurrent operators name, with their parameters.
#include "ops/recurrent/activation_common.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace tenfold::ops {
namespace {

struct Entry {
  std::string_view name;
  int parameters;      // 0: none, 1: alpha, 2: alpha and beta
  double alpha, beta;  // defaults
  double (*function)(double x, double alpha, double beta);
};

constexpr std::array kFunctions{
    Entry{"relu", 0, 0, 0, [](double x, double, double) { return std::max(x, 0.0); }},
    Entry{"tanh", 0, 0, 0, [](double x, double, double) { return std::tanh(x); }},
    Entry{"sigmoid", 0, 0, 0, [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    Entry{"softsign", 0, 0, 0, [](double x, double, double) { return x / (1 + std::fabs(x)); }},
    Entry{"softplus", 0, 0, 0, [](double x, double, double) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }},
    Entry{"leakyrelu", 1, 0.01, 0, [](double x, double a, double) { return x < 0 ? a * x : x; }},
    Entry{"thresholdedrelu", 1, 1, 0, [](double x, double a, double) { return x > a ? x : 0; }},
    Entry{"elu", 1, 1, 0, [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }},
    Entry{"affine", 2, 1, 0, [](double x, double a, double b) { return a * x + b; }},
    Entry{"scaledtanh", 2, 1, 1, [](double x, double a, double b) { return a * std::tanh(b * x); }},
    Entry{"hardsigmoid", 2, 0.2, 0.5, [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }},
};

const Entry& find(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto* entry = std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Entry& e) { return e.name == name; });
  ir::validate(entry != kFunctions.end(), "there is no activation '", name, "'");
  return *entry;
}

}  // namespace

double Activation::operator()(double x) const { return function(clip > 0 ? std::clamp(x, -clip, clip) : x, alpha, beta); }

std::vector<Activation> activations_of(const ir::Attributes& attributes, const RecurrentForm& form, std::int64_t directions) {
  const std::size_t count = form.activations.size() * static_cast<std::size_t>(directions);
  ir::Strings names;
  if (attributes.has("activations")) names = attributes.strings("activations");
  for (std::size_t i = 0; names.size() < count && !attributes.has("activations"); ++i)
    names.push_back(form.activations[i % form.activations.size()]);
  ir::validate(names.size() == count, "activations has ", names.size(), " values, expected ", count);
  const ir::Floats alphas = attributes.has("activation_alpha") ? attributes.floats("activation_alpha") : ir::Floats{};
  const ir::Floats betas = attributes.has("activation_beta") ? attributes.floats("activation_beta") : ir::Floats{};
  std::vector<Activation> result;
  std::size_t alpha = 0, beta = 0;  // parameters are listed for the functions that take them, in order
  for (const std::string& name : names) {
    const Entry& entry = find(name);
    Activation a{entry.function, entry.alpha, entry.beta, attributes.number("clip", 0)};
    if (entry.parameters >= 1 && alpha < alphas.size()) a.alpha = alphas[alpha++];
    if (entry.parameters >= 2 && beta < betas.size()) a.beta = betas[beta++];
    result.push_back(a);
  }
  return result;
}

}  // namespace tenfold::ops
