//===- c-api.h - a session, and rows for it ---------------------*- C++ -*-===//

#ifndef MNISTC_TEST_UNIT_C_API_H
#define MNISTC_TEST_UNIT_C_API_H

#include "api/compiled_model.h"
#include "mnist.h"
#include <gtest/gtest.h>
#include <string>
#include <vector>

inline const mn_compiled_model *unitModel() { return mn::compiledModel(); }

inline mn_session *openSession() {
  mn_session *session = nullptr;
  EXPECT_EQ(mn_open(unitModel(), nullptr, &session), MN_OK) << mn_error();
  return session;
}

inline std::vector<float> images(int rows) {
  std::vector<float> numbers(static_cast<size_t>(rows) * 16);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i * 7 % 23) / 23;
  return numbers;
}

inline mn_status infer(mn_session *session, int rows, std::vector<float> &y) {
  const std::vector<float> x = images(rows);
  y.assign(static_cast<size_t>(rows) * 3, -1);
  const mn_const_buffer input = {"image", x.data(), x.size() * 4};
  const mn_buffer output = {"probabilities", y.data(), y.size() * 4};
  return mn_infer(session, rows, &input, 1, &output, 1);
}

inline std::vector<float> infer(mn_session *session, int rows) {
  std::vector<float> y;
  EXPECT_EQ(infer(session, rows, y), MN_OK) << mn_error();
  return y;
}

#endif // MNISTC_TEST_UNIT_C_API_H
