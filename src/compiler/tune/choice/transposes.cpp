// Transposes that move nothing: equal strides on both sides.
#include "tune/choice/transposes.h"

namespace tenfold::tune {

ir::Ints permutation(const ir::Node& transpose) {
  ir::Ints reversed;
  for (int i = transpose.in(0)->rank(); i-- > 0;) reversed.push_back(i);
  return transpose.attributes.ints("perm", reversed);
}

bool moves_nothing(const ir::Node& node, const backends::Formats& formats) {
  if (node.def->traits.movement != ir::Movement::transpose || node.body || formats.in.at(0) == formats.out.at(0)) return false;
  if (bits(node.in(0)->dtype()) < 8) return false;   // several elements of a byte have no address
  for (const backends::Layout layout : {formats.in[0], formats.out[0]})
    if (layout != backends::kPlain && layout != backends::kChannelsLast) return false;   // elements of blocks have no strides
  const ir::Dims from = backends::strides(formats.in[0], node.in(0)->dims()), to = backends::strides(formats.out[0], node.out()->dims());
  const ir::Ints perm = permutation(node);
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (from[static_cast<std::size_t>(perm[i])] != to[i]) return false;
  return true;
}

}  // namespace tenfold::tune
