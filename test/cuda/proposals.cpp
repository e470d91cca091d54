//===- proposals.cpp - tests of what is tried first -----------------------===//

#include "cuda/proposals.h"
#include <gtest/gtest.h>

using namespace mn::cuda;

namespace {

using Order = std::vector<size_t>;

TEST(Proposals, WhatBothThinkWellOfIsFirst) {
  // Its places are 1 and 1, those of the others 0 and 5.
  EXPECT_EQ(orderByPlaces({{10}, {20}}, {{30}, {20}}), (Order{3, 2, 0}));
  // A knob makes another one.
  EXPECT_EQ(orderByPlaces({{10}, {20, 1, 2}}, {{30}, {20, 1, 3}}),
            (Order{2, 0, 3, 1}));
}

TEST(Proposals, OfEqualSumsTheSecondListIsFirst) {
  EXPECT_EQ(orderByPlaces({{10}, {20}}, {{20}, {10}}), (Order{2, 3}));
  EXPECT_EQ(orderByPlaces({{10}}, {{20}}), (Order{1, 0}));
}

TEST(Proposals, LaterPlacesAreAlike) {
  const std::vector<Identity> first = {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}};
  // The last of the first list is the first of the second: 5 + 0, as is what
  // the first list does not have.
  EXPECT_EQ(orderByPlaces(first, {{8}, {9}}),
            (Order{8, 0, 9, 1, 2, 3, 4, 5, 6}));
  // With its place, 9, the last one would be after all others.
  std::vector<Identity> longer = {{10}, {11}, {12}, {13}, {14}, {15}, {16}};
  EXPECT_EQ(orderByPlaces(longer, {{20}, {21}, {22}, {23}, {24}, {25}, {16}}),
            (Order{7, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 13, 5}));
}

TEST(Proposals, OneListIsInItsOrder) {
  EXPECT_EQ(orderByPlaces({{1}, {2}, {3}}, {}), (Order{0, 1, 2}));
  EXPECT_EQ(orderByPlaces({}, {{1}, {2}, {3}}), (Order{0, 1, 2}));
  EXPECT_EQ(orderByPlaces({}, {}), Order{});
}

} // namespace
