//===- wrong_pictures.cpp - the rows that a classifier gets wrong ---------===//

#include "commands/eval_output.h"
#include "formats/atomic_file.h"
#include "inference/row_pictures.h"
#include <filesystem>

namespace mn {

namespace fs = std::filesystem;

Status checkWrongFolder(const std::string &folder, const SampleSet &data) {
  if (!pictureShapeOf(data.inputs))
    return Status::error(Code::usage,
                         "expected pictures for '--wrong', [rows, height, "
                         "width] with one or three channels, got rows of "
                         "shape " +
                             shapeText(data.inputs.shape));
  std::error_code error;
  fs::create_directories(folder, error);
  fs::directory_iterator entry;
  if (!error)
    entry = fs::directory_iterator(folder, error);
  if (error)
    return badData("cannot make the folder '%s': %s", folder.c_str(),
                   error.message().c_str());
  return entry == fs::directory_iterator()
             ? Status::success()
             : badData("expected an empty or a new folder for '--wrong', got "
                       "'%s' with files",
                       folder.c_str());
}

Status writeWrongPictures(const std::string &folder, const SampleSet &data,
                          const std::vector<JudgedRow> &rows) {
  const PictureShape shape = *pictureShapeOf(data.inputs);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<char> file;
    MN_TRY(pictureOf(data.inputs, shape, rows[i].row, file));
    MN_TRY(writeAtomically(folder +
                               text("/%04zu-row-%lld-is-%zu-taken-for-%zu.png",
                                    i + 1, static_cast<long long>(rows[i].row),
                                    rows[i].label, rows[i].guess),
                           {file.data(), file.size()}));
  }
  return Status::success();
}

} // namespace mn
