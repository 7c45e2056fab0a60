// What an encoder's vectors depend on, as text: the folder's files, weights by their hashes.
#pragma once

#include <string>

#include "text/encoders/model.h"

namespace tenfold::encoders {

std::string identity_of(const Model& model);  // reads all weights; throws io

}  // namespace tenfold::encoders
