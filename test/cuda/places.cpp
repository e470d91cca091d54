//===- places.cpp - where inputs, outputs and workspaces are --------------===//

#include "plan.h"
#include <algorithm>
#include <iterator>

using namespace test;
using fake::driver;
using fake::Entry;
using fake::What;

namespace {

/// A plan whose inputs and outputs are too large for its graph: two more
/// streams copy them.
class StagedModel : public PlanModel {
public:
  static constexpr int64_t count = 40'000;
  static constexpr size_t bytes = count * 4, input = parameterBytes,
                          output = 512 * 1024;

  StagedModel() : PlanModel(std::vector<StepShape>(1)) {
    plan.inputs = &in;
    plan.inputCount = 1;
    plan.outputs = &out;
    plan.arenaBytes = output + 512 * 1024;
  }

private:
  int64_t shape[1] = {count};
  mn::Tensor in = {"x", mn::Type::f32, 1, shape, input},
             out = {"y", mn::Type::f32, 1, shape, output};
};

/// The entries of a submission: in, to the plan, the plan, from it, out.
std::vector<size_t> parts(const std::vector<Entry> &log, size_t submission) {
  std::vector<size_t> found;
  for (size_t i = 0; i < log.size(); ++i)
    if (log[i].what == What::copy || log[i].what == What::graph)
      found.push_back(i);
  EXPECT_GE(found.size(), 5 * submission + 5);
  const auto first = found.begin() + ptrdiff_t(5 * submission);
  return {first, first + 5};
}

TEST(Places, StagedCopiesWaitForWhatTheyCopy) {
  StagedModel made;
  auto executor = open(made, true);
  ASSERT_TRUE(executor->prepare(0).ok());
  driver().log.clear();
  for (int slot : {0, 1})
    ASSERT_TRUE(executor->submit(0, slot).ok());
  const std::vector<Entry> log = driver().log;
  const auto done = doneBefore(log);
  const auto first = parts(log, 0), second = parts(log, 1);
  for (const auto &submission : {first, second})
    for (size_t i = 1; i < submission.size(); ++i)
      EXPECT_TRUE(done[submission[i]][submission[i - 1]]) << i;
  // One slot is copied while the other is computed.
  EXPECT_FALSE(done[second[0]][first[1]]);
  EXPECT_FALSE(done[second[2]][first[4]]);
  // What a slot waits for is recorded after its last copy.
  for (int slot : {0, 1}) {
    ASSERT_TRUE(executor->wait(slot).ok());
    const auto recorded =
        std::find_if(log.rbegin(), log.rend(), [&](const Entry &entry) {
          return entry.what == What::record &&
                 entry.event == driver().log.back().event;
        });
    ASSERT_NE(recorded, log.rend());
    EXPECT_TRUE(done[size_t(log.rend() - recorded) - 1]
                    [(slot == 0 ? first : second)[4]]);
  }
}

TEST(Places, SlotsAreStagedApart) {
  StagedModel made;
  auto executor = open(made, true);
  ASSERT_TRUE(executor->prepare(0).ok());
  driver().log.clear();
  const char *staged[2][2] = {}; // of a slot: in, out
  for (int slot : {0, 1}) {
    ASSERT_TRUE(executor->submit(0, slot).ok());
    const auto at = parts(driver().log, size_t(slot));
    const auto entry = [&](int i) { return driver().log[at[size_t(i)]]; };
    EXPECT_EQ(entry(0).from, executor->input(0, 0, slot));
    EXPECT_EQ(entry(0).to, entry(1).from);
    EXPECT_EQ(entry(3).to, entry(4).from);
    EXPECT_EQ(entry(4).to, executor->output(0, 0, slot));
    const auto address = [](const void *at) {
      return static_cast<const char *>(at);
    };
    EXPECT_EQ(address(entry(3).from) - address(entry(1).to),
              ptrdiff_t(made.output - made.input));
    for (int i : {0, 1, 3, 4})
      EXPECT_EQ(entry(i).bytes, made.bytes);
    staged[slot][0] = address(entry(0).to);
    staged[slot][1] = address(entry(3).to);
  }
  std::set<const char *> begins;
  for (auto &slot : staged)
    begins.insert({slot[0], slot[1]});
  ASSERT_EQ(begins.size(), 4u);
  for (auto at = begins.begin(); std::next(at) != begins.end(); ++at)
    EXPECT_GE(size_t(*std::next(at) - *at), made.bytes);
}

TEST(Places, StreamsThatCallLibrariesHaveAWorkspaceEach) {
  PlanModel made({{0, {}, "library"},
                  {1, {0}, "library"},
                  {2, {0}},
                  {3, {0}, "library"},
                  {0, {1}, "library"}});
  made.plan.workspaceBytes = 1000;
  auto executor = open(made, false);
  std::vector<const char *> workspaces;
  const char *arena = nullptr;
  driver().onLaunch = [&](const std::string &, void **arguments, bool) {
    arena = *static_cast<const char **>(arguments[0]);
    workspaces.push_back(*static_cast<const char **>(arguments[1]));
  };
  ASSERT_TRUE(executor->prepare(0).ok());
  ASSERT_EQ(workspaces.size(), 5u);
  EXPECT_GE(workspaces[0] - arena, ptrdiff_t(made.arenaBytes));
  EXPECT_GE(workspaces[1] - workspaces[0], 1000);
  EXPECT_GE(workspaces[3] - workspaces[1], 1000);
  EXPECT_EQ(workspaces[4], workspaces[0]);
  EXPECT_LE(workspaces[3] + 1000 - arena, ptrdiff_t(executor->deviceBytes()));
}

} // namespace
