//===- rank_checks.cpp - what must be equal on all ranks ------------------===//

#include "train/rank_checks.h"
#include "core/digest.h"

namespace mn {

/// Texts of one length, to be sent.
static std::vector<char> digestsOf(const std::vector<RunPart> &parts) {
  std::vector<char> bytes;
  for (const RunPart &part : parts) {
    Digest digest;
    digest.add(part.name.data(), part.name.size());
    digest.add(part.value.data(), part.value.size());
    const std::string text = digest.text();
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  return bytes;
}

Status checkEqual(Ranks &ranks, const std::vector<RunPart> &parts, Code code,
                  const std::string &when) {
  if (!ranks.several() || parts.empty())
    return Status::success();
  const std::vector<char> mine = digestsOf(parts);
  std::vector<char> first = mine;
  // All have equally many: they come from one program, which is compared first.
  MN_TRY(ranks.broadcast(first.data(), first.size()));
  const size_t size = mine.size() / parts.size();
  size_t same = 0;
  while (same < mine.size() && mine[same] == first[same])
    ++same;
  const RankPlace &place = ranks.place();
  const double none = static_cast<double>(parts.size()) * place.count;
  double found =
      same == mine.size()
          ? none
          : static_cast<double>(same / size) * place.count + place.rank;
  MN_TRY(ranks.reduce(Reduction::min, &found, 1));
  if (found == none)
    return Status::success();
  const auto at = static_cast<size_t>(found);
  const std::string &name = parts[at / size_t(place.count)].name;
  if (!ranks.isFirst())
    return ranks.end(Status::error(code, ""));
  return ranks.end(Status::error(
      code, "expected " + name + " to be equal on all ranks" + when +
                ", got another on rank " +
                std::to_string(at % size_t(place.count)) + " than on rank 0"));
}

} // namespace mn
