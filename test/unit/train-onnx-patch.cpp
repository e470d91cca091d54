//===- train-onnx-patch.cpp - the same model with other weights -----------===//
//
// Messages are written byte by byte, in every form that the format allows.
// train-onnx-patch.py does the same with files from the ONNX library.
//
//===----------------------------------------------------------------------===//

#include "formats/onnx_patch.h"
#include "formats/onnx_tensor.h"
#include "formats/protobuf.h"
#include "formats/safetensors.h"
#include "train-folder.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace {

template <typename T> std::string bytesOf(std::vector<T> values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

std::string field(uint32_t number, const std::string &body) {
  std::string to;
  mn::putBytesField(to, number, body);
  return to;
}

std::string number(uint32_t field, uint64_t value) {
  std::string to;
  mn::putVarintField(to, field, value);
  return to;
}

/// A TensorProto named "w" of `type` and two elements, and what follows.
std::string tensor(uint64_t type, const std::string &data) {
  return number(1, 2) + number(2, type) + field(8, "w") + data;
}

std::string modelOf(const std::string &graph) {
  return number(1, 8) + field(2, "producer") + field(7, graph) +
         field(8, number(2, 17));
}

const std::vector<float> values = {1.5f, -2};

struct Result {
  std::string bytes, error;
};

Result patch(const std::string &model, const std::vector<float> &to = values,
             const std::string &name = "w") {
  Result result;
  result.error = mn::patchOnnx(model, {{name, to}}, {}, result.bytes).message;
  return result;
}

/// A model whose one tensor is patched, as its TensorProto.
Result patchTensor(const std::string &before,
                   const std::vector<float> &to = values) {
  return patch(modelOf(field(5, before)), to);
}

const std::string raw = field(9, bytesOf<float>({1.5f, -2}));

TEST(OnnxPatch, RawDataStaysInItsPlace) {
  const std::string doc = field(12, "doc");
  EXPECT_EQ(patchTensor(tensor(1, field(9, "12345678") + doc)).bytes,
            modelOf(field(5, tensor(1, raw + doc))));
  // Twice: the last counts for readers, and there is one afterwards.
  EXPECT_EQ(
      patchTensor(tensor(1, field(9, "1234") + doc + field(9, "5678"))).bytes,
      modelOf(field(5, tensor(1, raw + doc))));
  EXPECT_EQ(patchTensor(field(9, "12345678") + tensor(1, "")).bytes,
            modelOf(field(5, raw + tensor(1, ""))));
}

TEST(OnnxPatch, OtherFormsBecomeRawData) {
  std::string loose;
  mn::putFixed32Field(loose, 4, 1);
  mn::putFixed32Field(loose, 4, 2);
  for (const std::string &data :
       {loose, field(4, bytesOf<float>({1, 2})), std::string()})
    EXPECT_EQ(patchTensor(tensor(1, data)).bytes,
              modelOf(field(5, tensor(1, raw))));
  const std::string external =
      field(13, field(1, "location") + field(2, "weights.bin")) + number(14, 1);
  EXPECT_EQ(patchTensor(tensor(1, external)).bytes,
            modelOf(field(5, tensor(1, raw))));
}

TEST(OnnxPatch, ShapesMayBePacked) {
  const std::string packed = field(1, std::string("\1\2", 2)) + number(2, 1) +
                             field(8, "w") + field(9, "12345678");
  EXPECT_EQ(patchTensor(packed).error, "");
}

TEST(OnnxPatch, KeepsWhatItDoesNotKnow) {
  // A group (wire types 3 and 4) with a group inside, and an unknown number.
  const std::string unknown = "\xa3\x06\xab\x06\x08\x01\xac\x06\xa4\x06" +
                              field(4000, "new") + number(4001, 7);
  const std::string before = modelOf(field(5, tensor(1, field(9, "12345678"))) +
                                     field(5, field(8, "other") + unknown));
  const std::string after =
      modelOf(field(5, tensor(1, raw)) + field(5, field(8, "other") + unknown));
  EXPECT_EQ(patch(before + unknown).bytes, after + unknown);
}

TEST(OnnxPatch, GraphInParts) {
  const std::string name = field(7, field(2, "graph"));
  EXPECT_EQ(patch(name + field(7, field(5, tensor(1, "")))).bytes,
            name + field(7, field(5, tensor(1, raw))));
}

TEST(OnnxPatch, ConvertsToTheTensorsType) {
  EXPECT_EQ(
      patchTensor(tensor(11, field(10, bytesOf<double>({1, 2})))).bytes,
      modelOf(field(5, tensor(11, field(9, bytesOf<double>({1.5, -2}))))));
  const std::string half = field(9, bytesOf<uint16_t>({0x3e00, 0xc000}));
  EXPECT_EQ(patchTensor(tensor(10, field(5, std::string("\1\2", 2)))).bytes,
            modelOf(field(5, tensor(10, half))));
  const std::string brain = field(9, bytesOf<uint16_t>({0x3fc0, 0xc000}));
  EXPECT_EQ(patchTensor(tensor(16, "")).bytes,
            modelOf(field(5, tensor(16, brain))));
}

TEST(OnnxPatch, RoundsToTheNearestEven) {
  const auto as = [](uint64_t type, float value) {
    std::string to;
    const std::string one = number(1, 1) + number(2, type);
    EXPECT_TRUE(mn::replaceOnnxTensor(one, std::vector<float>{value}, to).ok());
    uint16_t bits;
    std::memcpy(&bits, to.data() + to.size() - 2, 2);
    return bits;
  };
  const auto half = [&](float value) { return as(10, value); };
  EXPECT_EQ(half(1 + 0x1p-11f), 0x3c00);
  EXPECT_EQ(half(1 + 0x1.8p-10f), 0x3c02);
  EXPECT_EQ(half(0x1p-24f), 1);
  EXPECT_EQ(half(0x1p-25f), 0);
  EXPECT_EQ(half(-0x1.8p-25f), 0x8001);
  EXPECT_EQ(half(65519), 0x7bff);
  EXPECT_EQ(half(INFINITY), 0x7c00);
  EXPECT_EQ(half(NAN) & 0x7e00, 0x7e00);
  const auto brain = [&](float value) { return as(16, value); };
  EXPECT_EQ(brain(1 + 0x1p-8f), 0x3f80);
  EXPECT_EQ(brain(1 + 0x1.8p-7f), 0x3f82);
  EXPECT_EQ(brain(1 + 0x1.2p-8f), 0x3f81);
  EXPECT_EQ(brain(0x1p-149f), 0);
  EXPECT_EQ(brain(-INFINITY), 0xff80);
  EXPECT_EQ(brain(NAN) & 0x7fc0, 0x7fc0);
}

std::string constant(const std::string &attribute) {
  return modelOf(
      field(1, field(2, "w") + field(4, "Constant") + field(5, attribute)));
}

TEST(OnnxPatch, Constants) {
  EXPECT_EQ(
      patch(
          constant(field(1, "value") + field(5, tensor(1, "")) + number(20, 4)))
          .bytes,
      constant(field(1, "value") + field(5, tensor(1, raw)) + number(20, 4)));
  std::string before, after;
  mn::putFixed32Field(before, 7, 1);
  mn::putFixed32Field(before, 7, 2);
  mn::putFixed32Field(after, 7, 0x3fc00000);
  mn::putFixed32Field(after, 7, 0xc0000000);
  EXPECT_EQ(patch(constant(field(1, "value_floats") + before)).bytes,
            constant(field(1, "value_floats") + after));
  EXPECT_EQ(patch(constant(field(1, "value_floats") + before), {1}).error,
            "weight 'w': expected 2 numbers, got 1");
  EXPECT_EQ(patch(constant(field(1, "value_ints") + number(8, 1))).error,
            "weight 'w': expected a Constant with 'value', 'value_float' or "
            "'value_floats', got another one");
}

TEST(OnnxPatch, LeavesSubgraphsAndFunctions) {
  const std::string same = field(5, tensor(1, field(9, "12345678")));
  const std::string node = field(1, field(4, "If") + field(5, field(6, same)));
  const std::string function = field(25, same);
  EXPECT_EQ(patch(modelOf(node) + function).error,
            "weight 'w': expected an initializer or Constant of this name in "
            "the model's graph, got none");
  EXPECT_EQ(patch(modelOf(node + field(5, tensor(1, ""))) + function).bytes,
            modelOf(node + field(5, tensor(1, raw))) + function);
}

TEST(OnnxPatch, Errors) {
  EXPECT_EQ(patchTensor(tensor(1, ""), {1}).error,
            "weight 'w': expected 2 numbers for its shape [2], got 1");
  EXPECT_EQ(patchTensor(tensor(7, "")).error,
            "weight 'w': expected a tensor of float, double, float16 or "
            "bfloat16, got int64");
  EXPECT_EQ(patchTensor(tensor(10, ""), {0, 65520}).error,
            "weight 'w': expected numbers that fit float16, got 65520 at 1");
  EXPECT_EQ(patch(modelOf(field(15, field(1, tensor(1, ""))))).error,
            "weight 'w': expected a dense initializer, got a sparse one");
  const std::string one = field(5, tensor(1, ""));
  EXPECT_EQ(patch(modelOf(one + one)).error,
            "weight 'w': expected one tensor of this name, got two");
  EXPECT_EQ(patchTensor(tensor(1, field(3, ""))).error,
            "weight 'w': expected a whole tensor, got a segment of one");
  EXPECT_EQ(patch(number(1, 8)).error,
            "expected an ONNX model, got one without a graph");
}

TEST(OnnxPatch, EveryCutIsAnErrorOrAModel) {
  const std::string model = modelOf(field(5, tensor(1, field(9, "12345678"))));
  for (size_t size = 0; size < model.size(); ++size)
    patch(model.substr(0, size));
  for (size_t at = 0; at < model.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = model;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      patch(changed);
    }
  EXPECT_EQ(patch(model.substr(0, model.size() - 1)).error,
            "expected an ONNX model, got a malformed model");
}

TEST(OnnxPatch, SizesBeyondProtobuf) {
  // No memory is touched: the sizes are refused.
  const std::vector<float> none;
  const std::span<const float> huge(none.data(), size_t(1) << 31);
  std::string to;
  EXPECT_EQ(mn::patchOnnx("", {{"w", huge}}, {}, to).message,
            "expected a model of less than 2 GiB, which is the most that "
            "protobuf reads, got 4294967296 bytes");
}

TEST(OnnxPatch, ExternalFiles) {
  const auto external = [](const std::string &file) {
    return field(8, file) + number(14, 1) +
           field(13, field(1, "location") + field(2, file));
  };
  const std::string node = field(
      1, field(4, "If") + field(5, field(6, field(5, external("inner.bin")))) +
             field(5, field(5, external("attribute.bin"))));
  std::set<std::string> files;
  ASSERT_TRUE(
      mn::externalFilesOf(modelOf(node + field(5, external("a.bin"))), files)
          .ok());
  EXPECT_EQ(files,
            (std::set<std::string>{"a.bin", "attribute.bin", "inner.bin"}));
}

// For train-onnx-patch.py: patches each NAME.onnx of a folder with the weights
// in NAME.safetensors, and writes NAME.patched.
TEST(OnnxPatch, Folder) {
  const char *folder = std::getenv("MN_PATCH_FOLDER");
  if (!folder)
    GTEST_SKIP() << "run by train-onnx-patch.py";
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    std::filesystem::path path = entry.path();
    if (path.extension() != ".onnx")
      continue;
    const std::string model = test::contentOf(path.string());
    mn::SafetensorsFile file;
    const mn::Status status =
        file.open(path.replace_extension(".safetensors").string());
    ASSERT_TRUE(status.ok()) << status.message;
    std::map<std::string, std::vector<float>> data;
    mn::OnnxWeights weights;
    for (const mn::SafetensorsEntry &tensor : file.entries()) {
      std::vector<float> &to = data[tensor.name];
      to.resize((tensor.end - tensor.begin) / 4);
      ASSERT_TRUE(
          file.read(tensor.name, mn::DType::f32, tensor.shape, to.data()).ok());
      weights[tensor.name] = to;
    }
    std::string patched;
    const mn::Status result = mn::patchOnnx(model, weights, {}, patched);
    ASSERT_TRUE(result.ok()) << path << ": " << result.message;
    test::write(path.replace_extension(".patched").string(), patched);
  }
}

} // namespace
