// Strings of a request of the v2 protocol as an encoder's tokens, before the request waits.
#pragma once

#include "core/inference.h"

namespace tenfold::server {

// Of inputs that were checked. Throws RequestError for what is no UTF-8, and where a text has no partner.
TextWork text_work_of(const ServedEncoder& encoder, const InferRequest& request);

}  // namespace tenfold::server
