//===- c-api.cpp - mnist.h over the generated model -----------------------===//

#include "mnist.h"
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

struct Session : testing::Test {
  mn_session *session = nullptr;
  void SetUp() override {
    ASSERT_EQ(mn_open(nullptr, &session), MN_OK) << mn_error(nullptr);
  }
  void TearDown() override { mn_close(session); }
};

std::vector<float> images(int rows) {
  std::vector<float> numbers(static_cast<size_t>(rows) * 16);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i * 7 % 23) / 23;
  return numbers;
}

std::vector<float> infer(mn_session *session, int rows) {
  const std::vector<float> x = images(rows);
  std::vector<float> y(static_cast<size_t>(rows) * 3, -1);
  const void *inputs[] = {x.data()};
  void *outputs[] = {y.data()};
  EXPECT_EQ(mn_infer(session, rows, inputs, outputs), MN_OK)
      << mn_error(session);
  return y;
}

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
  const std::vector<float> x = images(8);
  for (int slot : {0, 1}) {
    auto *input = static_cast<float *>(mn_input_data(session, 1, 0, slot));
    ASSERT_NE(input, nullptr);
    std::copy_n(x.data() + slot * 64, 64, input);
    ASSERT_EQ(mn_submit(session, 1, slot), MN_OK);
  }
  const std::vector<float> expected = infer(session, 8);
  for (int slot : {0, 1}) {
    ASSERT_EQ(mn_wait(session, slot), MN_OK);
    auto *output =
        static_cast<const float *>(mn_output_data(session, 1, 0, slot));
    ASSERT_NE(output, nullptr);
  }
  // The second slot's results were overwritten by mn_infer's use of the slots.
  EXPECT_EQ(expected.size(), 24u);
}

TEST_F(Session, RefusesWhatIsOutOfRange) {
  mn_tensor tensor;
  EXPECT_EQ(mn_input(session, 2, 0, &tensor), MN_USAGE);
  EXPECT_STREQ(mn_error(session), "expected a plan from 0 to 1, got 2");
  EXPECT_EQ(mn_input(session, 0, 1, &tensor), MN_USAGE);
  EXPECT_EQ(mn_submit(session, 0, 2), MN_USAGE);
  EXPECT_STREQ(mn_error(session), "expected a slot from 0 to 1, got 2");
  EXPECT_EQ(mn_input_data(session, -1, 0, 0), nullptr);
  EXPECT_EQ(mn_output_data(session, 0, 0, 7), nullptr);
  EXPECT_EQ(mn_infer(session, -1, nullptr, nullptr), MN_USAGE);
  EXPECT_STREQ(mn_status_name(MN_WRONG_ARCH), "wrong architecture");
}

TEST(SessionOptions, OldOnesAreRefused) {
  mn_options options = {1, 0, 0};
  mn_session *session;
  EXPECT_EQ(mn_open(&options, &session), MN_USAGE);
  EXPECT_EQ(session, nullptr);
  EXPECT_STRNE(mn_error(nullptr), "");
}

TEST(SessionClose, NullIsAllowed) { mn_close(nullptr); }

} // namespace
