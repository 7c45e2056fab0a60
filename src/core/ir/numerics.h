// Numerics: how far the computation of one node may leave exact arithmetic of its types. The user gives the permission
// (BuildConfig), passes/precision/ writes it at the nodes, tactics ask for it. It is no attribute: a model file has no say in it. Every
// field but `exact` starts without permission, so that a pass that loses one makes a node slower and never less exact than the user allowed.
#pragma once

#include <optional>
#include <string>

#include "tenfold/tensor.h"

namespace tenfold::ir {

class Scanner;

// A format that f32 may be rounded to. tf32 has 11 significant bits and f32's range, f16 11 and less range, bf16 8 and f32's range.
enum class Rounding : std::uint8_t { none, tf32, f16, bf16, count_ };
std::string_view name(Rounding rounding);
Rounding rounding_to(DType dtype);   // of f16 and bf16; none for all other types

struct Numerics {
  // f32 operands of a product may be rounded to this format or to a finer one; sums stay f32.
  Rounding round_to = Rounding::none;
  // Winograd's algorithm for convolutions, Strassen's for products. Tactics that round need round_to besides.
  bool winograd = false, strassen = false;
  // Exponentials of softmax to 1e-7 in place of the last bit.
  bool fast_exp = false;
  // Not to be rounded or narrowed, whatever the user permits: the operator's definition wants all bits of its type, as a Fourier
  // transform does, whose sums cancel. Importers set it.
  bool exact = false;
  // The type that the user gave the layer (tenfold/precision.h). Passes follow it while they settle precision; f32 stays here
  // afterwards, so that re-tuning rounds such a node no further.
  std::optional<DType> type;

  // May f32 be rounded to `to`? Any leave is one for tf32, which is no narrower than the others in bits or in range.
  bool allows(Rounding to) const { return round_to == to || to == Rounding::none || (to == Rounding::tf32 && round_to != Rounding::none); }
  bool operator==(const Numerics&) const = default;
};

// "round_to=tf32,winograd=1": what differs from Numerics{}, and so empty for that.
std::string text(const Numerics& numerics);
// " numerics={round_to=tf32}", as graphs and problems print it; empty for Numerics{}.
std::string numerics_words(const Numerics& numerics);
// From '{' to '}'; what is not named stays as it is in `numerics`. Throws as Scanner::bad does on an unknown name or value.
Numerics parse_numerics(Scanner& in, Numerics numerics = {});

}  // namespace tenfold::ir
