//===- proposals.cpp - tests of what is tried first -----------------------===//

#include "cuda/proposals.h"
#include <gtest/gtest.h>

using namespace mn::cuda;

namespace {

using Order = std::vector<size_t>;

TEST(Proposals, WhatBothThinkWellOfIsFirst) {
  // Its places are 1 and 1, those of the others 0 in one list.
  EXPECT_EQ(orderByPlaces({{10}, {20}}, {{30}, {20}}), (Order{3, 2, 0}));
  // A knob makes another one.
  EXPECT_EQ(orderByPlaces({{10}, {20, 1, 2}}, {{30}, {20, 1, 3}}),
            (Order{2, 3, 0, 1}));
}

TEST(Proposals, PlacesOfTheFirstListCountHalfAsMuchAgain) {
  // 3 * 0 + 2 * 1 before 3 * 1 + 2 * 0.
  EXPECT_EQ(orderByPlaces({{10}, {20}}, {{20}, {10}}), (Order{3, 2}));
  // Of equal sums, 3 * 2 and 2 * 3, the second list's is first.
  EXPECT_EQ(orderByPlaces({{1}, {2}, {3}, {4}}, {{3}, {2}, {4}, {1}}),
            (Order{5, 4, 7, 6}));
  EXPECT_EQ(orderByPlaces({{10}}, {{20}}), (Order{1, 0}));
}

TEST(Proposals, LaterPlacesAreAlike) {
  std::vector<Identity> first(10), second(24);
  for (size_t i = 0; i < first.size(); ++i)
    first[i] = {int64_t(i)};
  for (size_t i = 0; i < second.size(); ++i)
    second[i] = {int64_t(100 + i)};
  // The first list's last, 9, counts as 8, as what that does not have: 3 * 8 +
  // 2 * 0, before its first, 2 * 20.
  second[0] = {9};
  const Order order = orderByPlaces(first, second);
  EXPECT_EQ(order[0], first.size());
  // Of the second list, 8 places are less than 3 * 0 + 2 * 20, the next one is
  // equal; those after 20 are as late as what it does not have.
  EXPECT_EQ(order[8], first.size() + 8);
  EXPECT_EQ(order[9], 0u);
  second[23] = {0};
  EXPECT_EQ(orderByPlaces(first, second)[9], first.size() + 23);
}

TEST(Proposals, OneListIsInItsOrder) {
  EXPECT_EQ(orderByPlaces({{1}, {2}, {3}}, {}), (Order{0, 1, 2}));
  EXPECT_EQ(orderByPlaces({}, {{1}, {2}, {3}}), (Order{0, 1, 2}));
  EXPECT_EQ(orderByPlaces({}, {}), Order{});
}

} // namespace
