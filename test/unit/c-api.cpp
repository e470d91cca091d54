//===- c-api.cpp - mnist.h over the generated model -----------------------===//

#include "c-api.h"
#include <cmath>
#include <functional>

extern "C" int omp_get_max_threads(void);

namespace {

struct Session : testing::Test {
  mn_session *session = openSession();
  void TearDown() override { mn_close(session); }
};

TEST_F(Session, SaysWhatTheModelIs) {
  EXPECT_EQ(mn_version() / 1000, MN_VERSION_MAJOR);
  EXPECT_STREQ(mn_model_name(session), "unit");
  EXPECT_EQ(std::string(mn_device_name(session)).rfind("CPU, ", 0), 0u);
  EXPECT_EQ(mn_plan_count(session), 2);
  EXPECT_EQ(mn_plan_batch(session, 1), 4);
  EXPECT_EQ(mn_input_count(session), 1);
  mn_tensor tensor;
  ASSERT_EQ(mn_input(session, 1, 0, &tensor), MN_OK);
  EXPECT_STREQ(tensor.name, "image");
  EXPECT_EQ(tensor.type, MN_F32);
  EXPECT_EQ(std::vector<int64_t>(tensor.shape, tensor.shape + tensor.rank),
            (std::vector<int64_t>{4, 1, 4, 4}));
  EXPECT_EQ(tensor.row_bytes, 64u);
  EXPECT_TRUE(tensor.batched);
}

TEST_F(Session, GivesProbabilities) {
  const std::vector<float> y = infer(session, 4);
  for (int row = 0; row < 4; ++row) {
    EXPECT_NEAR(y[row * 3] + y[row * 3 + 1] + y[row * 3 + 2], 1, 1e-6);
    EXPECT_GT(y[row * 3], 0);
  }
}

// Whatever the number of rows and the plans that they run in.
TEST_F(Session, RowsDoNotDependOnEachOther) {
  const std::vector<float> all = infer(session, 11);
  for (int rows : {0, 1, 2, 4, 5, 9}) {
    const std::vector<float> some = infer(session, rows);
    for (size_t i = 0; i < some.size(); ++i)
      EXPECT_NEAR(some[i], all[i], 1e-6) << rows << " rows, element " << i;
  }
}

TEST_F(Session, SlotsAreWithoutCopies) {
  const std::vector<float> x = images(8), expected = infer(session, 8);
  for (int slot : {0, 1}) {
    auto *input = static_cast<float *>(mn_input_data(session, 1, 0, slot));
    ASSERT_NE(input, nullptr);
    std::copy_n(x.data() + slot * 64, 64, input);
    ASSERT_EQ(mn_submit(session, 1, slot), MN_OK);
  }
  // Nothing else may use the slots now.
  std::vector<float> y;
  EXPECT_EQ(infer(session, 1, y), MN_USAGE);
  EXPECT_STREQ(mn_error(), "expected mn_wait for slot 0 first");
  EXPECT_EQ(mn_submit(session, 0, 1), MN_USAGE);
  for (int slot : {0, 1}) {
    ASSERT_EQ(mn_wait(session, slot), MN_OK);
    auto *output =
        static_cast<const float *>(mn_output_data(session, 1, 0, slot));
    ASSERT_NE(output, nullptr);
    for (int i = 0; i < 12; ++i)
      EXPECT_EQ(output[i], expected[static_cast<size_t>(slot * 12 + i)]);
  }
  EXPECT_EQ(mn_wait(session, 0), MN_USAGE);
  EXPECT_STREQ(mn_error(), "expected mn_submit for slot 0 first");
}

/// Every call that a caller can get wrong, and what it hears.
struct Wrong {
  const char *message;
  std::function<mn_status(mn_session *)> call;
  mn_status status = MN_USAGE;
};

float x[16], y[3];
const mn_const_buffer in = {"image", x, sizeof x};
const mn_buffer out = {"probabilities", y, sizeof y};

mn_status inferWith(mn_session *s, mn_const_buffer input, mn_buffer output,
                    int64_t rows = 1) {
  return mn_infer(s, rows, &input, 1, &output, 1);
}

mn_status openWith(size_t size, int device = 0, int threads = 0) {
  const mn_options options = {size, device, 0, threads};
  mn_session *none = nullptr;
  const mn_status status = mn_open(unitModel(), &options, &none);
  EXPECT_EQ(none == nullptr, status != MN_OK);
  return status;
}

const Wrong wrongCalls[] = {
    {"a plan from 0 to 1, got 2", [](auto s) { return mn_submit(s, 2, 0); }},
    {"a plan from 0 to 1, got -1", [](auto s) { return mn_submit(s, -1, 0); }},
    {"a slot from 0 to 1, got 2", [](auto s) { return mn_submit(s, 0, 2); }},
    {"a slot from 0 to 1, got -1", [](auto s) { return mn_wait(s, -1); }},
    {"an input from 0 to 0, got 1",
     [](auto s) {
       mn_tensor tensor;
       return mn_input(s, 0, 1, &tensor);
     }},
    {"a tensor to fill in, got NULL",
     [](auto s) { return mn_output(s, 0, 0, nullptr); }},
    {"0 rows or more, got -1",
     [](auto s) { return inferWith(s, in, out, -1); }},
    {"rows that fit in memory",
     [](auto s) { return inferWith(s, in, out, INT64_MAX); }},
    {"128 bytes for input 'image', got 64",
     [](auto s) { return inferWith(s, in, out, 2); }},
    {"12 bytes for output 'probabilities', got 8",
     [](auto s) { return inferWith(s, in, {out.name, y, 8}); }},
    {"memory for input 'image', got NULL",
     [](auto s) { return inferWith(s, {in.name, nullptr, 64}, out); }},
    {"memory for output 'probabilities', got NULL",
     [](auto s) { return inferWith(s, in, {nullptr, nullptr, 12}); }},
    {"an input of the model ('image'), got 'picture'",
     [](auto s) { return inferWith(s, {"picture", x, sizeof x}, out); }},
    {"an output of the model ('probabilities'), got ''",
     [](auto s) { return inferWith(s, in, {"", y, sizeof y}); }},
    {"1 input buffers, got 0",
     [](auto s) { return mn_infer(s, 1, nullptr, 0, &out, 1); }},
    {"1 output buffers, got -5",
     [](auto s) { return mn_infer(s, 1, &in, 1, &out, -5); }},
    {"input buffers, got NULL",
     [](auto s) { return mn_infer(s, 1, nullptr, 1, &out, 1); }},
    {"output buffers, got NULL",
     [](auto s) { return mn_infer(s, 1, &in, 1, nullptr, 1); }},
    {"a model, as the function in its library's header returns it, got NULL",
     [](auto) {
       mn_session *none;
       return mn_open(nullptr, nullptr, &none);
     }},
    {"a place for the session, got NULL",
     [](auto) { return mn_open(unitModel(), nullptr, nullptr); }},
    {"mn_options of 24 bytes, got 1", [](auto) { return openWith(1); }},
    {"a device of 0 or more",
     [](auto) { return openWith(sizeof(mn_options), -1); }},
    {"device 0 for a model compiled for a CPU, got 1",
     [](auto) { return openWith(sizeof(mn_options), 1); }},
    {"threads of 0 or more",
     [](auto) { return openWith(sizeof(mn_options), 0, -1); }},
    {"threads of at most 1024, got 5000",
     [](auto) { return openWith(sizeof(mn_options), 0, 5000); }},
};

TEST_F(Session, SurvivesEveryWrongCall) {
  const std::vector<float> expected = infer(session, 5);
  for (const Wrong &wrong : wrongCalls) {
    EXPECT_EQ(wrong.call(session), wrong.status) << wrong.message;
    EXPECT_NE(std::string(mn_error()).find(wrong.message), std::string::npos)
        << "expected '" << wrong.message << "', got '" << mn_error() << "'";
    EXPECT_EQ(infer(session, 5), expected) << wrong.message;
  }
  EXPECT_EQ(mn_input_data(session, -1, 0, 0), nullptr);
  EXPECT_EQ(mn_output_data(session, 0, 0, 7), nullptr);
  EXPECT_EQ(mn_plan_batch(session, 9), -1);
  for (int status = -1; status < 30; ++status)
    EXPECT_STRNE(mn_status_name(status), "");
}

// Buffers may come without names, and in a newer caller's options.
TEST_F(Session, TakesBuffersByPosition) {
  const std::vector<float> expected = infer(session, 1), numbers = images(1);
  EXPECT_EQ(inferWith(session, {nullptr, numbers.data(), 64}, {nullptr, y, 12}),
            MN_OK);
  EXPECT_EQ(std::vector<float>(y, y + 3), expected);
}

TEST(SessionOptions, NewerOnesMustBeZero) {
  struct {
    mn_options known;
    int64_t next;
  } newer = {{sizeof(newer), 0, 0, 0}, 0};
  mn_session *session;
  ASSERT_EQ(mn_open(unitModel(), &newer.known, &session), MN_OK);
  EXPECT_EQ(mn_close(session), MN_OK);
  newer.next = 1;
  EXPECT_EQ(mn_open(unitModel(), &newer.known, &session), MN_USAGE);
  EXPECT_EQ(session, nullptr);
}

// What version 2.1 brought is not in the table of an older library.
TEST(SessionVersions, OlderModelsAreRefusedWhatTheyHaveNot) {
  mn_compiled_model older = *unitModel();
  older.version = 2000;
  older.inferOnDevice = nullptr;
  older.training = nullptr;
  mn_session *session = nullptr;
  ASSERT_EQ(mn_open(&older, nullptr, &session), MN_OK);
  EXPECT_EQ(infer(session, 3).size(), 9u);
  EXPECT_EQ(mn_infer_on_device(session, 1, &in, 1, &out, 1, nullptr),
            MN_NO_LIBRARY);
  EXPECT_EQ(mn_train_start(session, nullptr), MN_NO_LIBRARY);
  EXPECT_NE(std::string(mn_error()).find("compile it again"),
            std::string::npos);
  EXPECT_EQ(mn_close(session), MN_OK);
  older.version = 1000;
  EXPECT_EQ(mn_open(&older, nullptr, &session), MN_NO_LIBRARY);
}

TEST(SessionOptions, ThreadsAreThoseAskedFor) {
  const int before = omp_get_max_threads();
  std::vector<float> expected;
  for (int threads : {1, 2, 3}) {
    const mn_options options = {sizeof(mn_options), 0, 0, threads};
    mn_session *session;
    ASSERT_EQ(mn_open(unitModel(), &options, &session), MN_OK);
    EXPECT_EQ(std::string(mn_device_name(session))
                  .rfind("CPU, " + std::to_string(threads) + " thread", 0),
              0u);
    const std::vector<float> found = infer(session, 9);
    EXPECT_TRUE(expected.empty() || found == expected) << threads;
    expected = found;
    EXPECT_EQ(omp_get_max_threads(), before) << "the caller's own";
    mn_close(session);
  }
}

} // namespace
