//===- embed.cpp - a compiled model in a program of one's own -------------===//
//
// Says what the model takes and gives, runs it on zeros, and prints the first
// result. Everything that a model can do is in <mnist.h>, which libdigits.h has
// in it.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <libdigits.h>
#include <memory>
#include <vector>

struct Close {
  void operator()(mn_session *session) const { mn_close(session); }
};

static int fail() {
  std::fprintf(stderr, "error: %s\n", mn_error());
  return 1;
}

/// One zeroed buffer for each input or output, for `rows` rows.
using Describe = mn_status (*)(mn_session *, int, int, mn_tensor *);
static bool makeBuffers(mn_session *session, const char *what, int count,
                        Describe describe, size_t rows,
                        std::vector<std::vector<char>> &buffers) {
  for (int i = 0; i < count; ++i) {
    mn_tensor tensor;
    if (describe(session, 0, i, &tensor) != MN_OK)
      return false;
    std::printf("%s '%s': %zu bytes a row\n", what, tensor.name,
                tensor.row_bytes);
    buffers.emplace_back(tensor.row_bytes * (tensor.batched ? rows : 1));
  }
  return true;
}

int main() {
  mn_session *opened;
  if (mn_open(digits_model(), nullptr, &opened) != MN_OK)
    return fail();
  const std::unique_ptr<mn_session, Close> session(opened);
  std::printf("%s on %s\n", mn_model_name(opened), mn_device_name(opened));

  const int rows = 3;
  std::vector<std::vector<char>> inputs, outputs;
  if (!makeBuffers(opened, "input", mn_input_count(opened), mn_input, rows,
                   inputs) ||
      !makeBuffers(opened, "output", mn_output_count(opened), mn_output, rows,
                   outputs))
    return fail();
  std::vector<mn_const_buffer> from;
  std::vector<mn_buffer> to;
  for (const std::vector<char> &buffer : inputs)
    from.push_back({nullptr, buffer.data(), buffer.size()});
  for (std::vector<char> &buffer : outputs)
    to.push_back({nullptr, buffer.data(), buffer.size()});
  if (mn_infer(opened, rows, from.data(), static_cast<int>(from.size()),
               to.data(), static_cast<int>(to.size())) != MN_OK)
    return fail();
  mn_tensor tensor;
  if (mn_output(opened, 0, 0, &tensor) == MN_OK && tensor.type == MN_F32)
    std::printf("%g\n", *static_cast<const float *>(to[0].data));
  return 0;
}
