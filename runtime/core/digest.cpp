//===- digest.cpp - XXH64 -------------------------------------------------===//

#include "core/digest.h"
#include "core/array.h"

// The library as inline functions: nothing to link, and no public symbols.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mn {

struct Digest::State : XXH64_state_t {};

Digest::Digest() : state(std::make_unique<State>()) {
  XXH64_reset(state.get(), /*seed=*/0);
}

Digest::~Digest() = default;

void Digest::add(const void *data, size_t bytes) {
  if (bytes > 0)
    XXH64_update(state.get(), data, bytes);
}

void Digest::addTensor(std::string_view name, const void *data, size_t bytes) {
  const uint64_t nameBytes = name.size(), dataBytes = bytes;
  add(&nameBytes, sizeof(nameBytes));
  add(name.data(), name.size());
  add(&dataBytes, sizeof(dataBytes));
  add(data, bytes);
}

uint64_t Digest::value() const { return XXH64_digest(state.get()); }

std::string Digest::text() const {
  return mn::text("%016llx", static_cast<unsigned long long>(value()));
}

} // namespace mn
