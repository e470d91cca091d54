//===- train_session.h - training whose loop is the caller's ----*- C++ -*-===//
//
// The caller gives the rows of each step. The same rows in the same order make
// the same weights as Trainer does, bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_TRAIN_SESSION_H
#define MNISTRT_TRAIN_TRAIN_SESSION_H

#include "train/checkpoint.h"
#include "train/recipe.h"
#include <optional>

namespace mn {

/// Rows of inputs and targets, as the plans that train have them.
struct TrainRows {
  int64_t count = 0;
  const void *inputs = nullptr, *targets = nullptr;
  bool onDevice = false;
  void *stream = nullptr; ///< the caller's, where they are on the device
  int64_t ofStep = 0;     ///< of a batch: the rows of all batches of its step
};

class TrainSession {
public:
  struct Begin {
    int64_t batch = 0; ///< 0: the largest
    int64_t seed = 0;
    std::string init = "file";
    std::string checkpoint =
        {}; ///< a folder, instead of seed and init; or empty
  };

  /// `executor` lives longer, and nothing else writes its parameters.
  static Status begin(const Model &model, Executor &executor,
                      const Begin &begin,
                      std::shared_ptr<TrainSession> &session);
  TrainSession(Executor &executor) : executor(executor) {}

  const TrainModel &tables() const { return model; }

  /// The numbers of the optimizer, by the names of options without dashes. Null
  /// beyond the last.
  const char *numberName(int number) const;
  Status get(const std::string &name, double &value) const;
  Status set(const std::string &name, double value);

  /// Waits only where `loss` is asked for.
  Status step(const TrainRows &rows, double *loss);
  /// Of the steps since it was last called.
  Status takeMetrics(Metrics &metrics);
  /// Of any number of rows in the host's memory.
  Status evaluate(const TrainRows &rows, Metrics &metrics);

  Status digest(std::string &text) const;
  Status save(const std::string &path) const;
  Status writeCheckpoint(const std::string &folder) const;

private:
  Status beginNew(const Begin &begin, std::vector<char> &block);
  Status resume(const std::string &folder, std::vector<char> &block);
  std::vector<RunFact> facts() const;
  Status findNumber(const std::string &name, const RecipeNumber *&found) const;
  Status renewRing();
  Status checkRows(int64_t count) const;
  Status fill(int plan, const TrainRows &rows);
  TrainRows batchOf(const TrainRows &rows, int64_t first) const;
  Status runOnHost(const TrainRows &rows);
  Status submitAll(int plan, const TrainRows &rows);
  Status runOnDevice(const TrainRows &rows);
  Status runBatchOnDevice(const TrainRows &batch);
  Status look();
  Status runEvaluation(const TrainRows &rows, Metrics &metrics);
  Status readMetrics(Metrics &metrics);
  Status writeMetrics(const Metrics &metrics);
  Status readBlock(std::vector<char> &block) const;

  Executor &executor;
  TrainModel model;
  TrainOptions given; ///< numbers that were set
  RecipeValues recipe = {};
  std::optional<RecipeRing> ring;
  int64_t steps = 0;    ///< that were enqueued, in total
  int64_t written = 0;  ///< steps whose rows of the recipe are on the device
  int64_t periods = 0;  ///< how often metrics were taken
  Metrics last;         ///< at the last look
  int64_t lookedAt = 0; ///< how many steps there were then
  int slot = 0;
};

} // namespace mn

#endif // MNISTRT_TRAIN_TRAIN_SESSION_H
