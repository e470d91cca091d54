//===- checkpoint.h - all that continues a run ------------------*- C++ -*-===//
//
// One safetensors file, FOLDER/checkpoint.safetensors, written atomically:
// parameters, buffers and states, and in its metadata what the run is and how
// far it came.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_CHECKPOINT_H
#define MNISTRT_TRAIN_CHECKPOINT_H

#include "formats/safetensors.h"
#include "train/run_options.h"
#include "train/train_model.h"

namespace mn {

/// What must be the same in a run that continues: "'--batch'", "64".
struct RunFact {
  std::string key;  ///< in the metadata
  std::string name; ///< in messages
  std::string value;
};

/// The loss and the optimizer that a run was compiled with.
RunFact recipeFact(const Recipe &recipe);

struct Checkpoint {
  int64_t step = 0; ///< that were done, in total
  std::string best; ///< best test result so far; empty: none yet
  std::string history;
  OptionTexts options; ///< of the run
  int64_t ranks = 1;   ///< that wrote it: each has a batch in a step
};

class CheckpointFile {
public:
  CheckpointFile(const TrainModel &model, std::string folder)
      : model(model), path(std::move(folder) + "/checkpoint.safetensors") {}

  const std::string &name() const { return path; }
  bool exists() const;
  /// Makes the folder; finds out whether a checkpoint can be written.
  Status checkWritable() const;

  /// Makes the folder. `block`: the parameter block.
  Status write(const std::vector<char> &block, const std::vector<RunFact> &run,
               const Checkpoint &checkpoint) const;

  /// The options of the run, before there is a model of its batch. `facts`:
  /// what must be the same, as in `read`.
  Status readOptions(const char *modelName, const std::vector<RunFact> &facts,
                     OptionTexts &options) const;

  /// Errors say what was expected and found: no checkpoint, one of another
  /// model or of another run. What a checkpoint does not hold stays as it is in
  /// `block`.
  Status read(const std::vector<RunFact> &run, std::vector<char> &block,
              Checkpoint &checkpoint) const;

private:
  Status makeFolder() const;
  Status checkFormat(const SafetensorsFile &file, const char *name) const;
  Status checkFacts(const SafetensorsFile &file,
                    const std::vector<RunFact> &facts) const;
  Status checkModel(const SafetensorsFile &file) const;
  std::string modelDigest() const;
  Status prefixed(Status status) const;

  const TrainModel &model;
  std::string path;
};

} // namespace mn

#endif // MNISTRT_TRAIN_CHECKPOINT_H
