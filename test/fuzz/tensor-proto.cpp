//===- tensor-proto.cpp - ONNX's tensors ----------------------------------===//

#include "formats/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mn::Array array;
  (void)mn::parseTensorProto({reinterpret_cast<const char *>(data), size},
                             array);
  return 0;
}
