//===- onnx-patch.cpp - trained weights into any file ---------------------===//

#include "formats/onnx_patch.h"
#include "formats/onnx_uses.h"
#include "formats/protobuf.h"
#include <vector>

/// The initializers of the main graph, with numbers for the smaller ones.
static void collect(std::string_view model, std::vector<float> &numbers,
                    mn::OnnxWeights &weights) {
  constexpr uint32_t graph = 7, initializer = 5, name = 8;
  mn::WireReader fields(model);
  for (mn::WireField field; fields.next(field);) {
    if (field.number != graph || field.wire != mn::Wire::bytes)
      continue;
    mn::WireReader tensors(field.body);
    for (mn::WireField tensor; tensors.next(tensor);) {
      if (tensor.number != initializer || tensor.wire != mn::Wire::bytes)
        continue;
      mn::WireReader parts(tensor.body);
      for (mn::WireField part; parts.next(part);)
        if (part.number == name && part.wire == mn::Wire::bytes)
          weights[std::string(part.body)] = {
              numbers.data(), part.body.size() % (numbers.size() + 1)};
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view model(reinterpret_cast<const char *>(data), size);
  std::vector<float> numbers(8, 1.5f);
  mn::OnnxWeights weights;
  collect(model, numbers, weights);
  std::string patched, again;
  std::set<std::string> files;
  (void)mn::externalFilesOf(model, files);
  (void)mn::weightUsesOf(model);
  if (!mn::patchOnnx(model, weights, {{"key", "value"}}, patched).ok())
    return 0;
  // The same numbers again change nothing more.
  if (!mn::patchOnnx(patched, weights, {{"key", "value"}}, again).ok() ||
      again != patched)
    __builtin_trap();
  return 0;
}
