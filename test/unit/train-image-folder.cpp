//===- train-image-folder.cpp - pictures sorted into folders by class -----===//

#include "data/image_folder.h"
#include "train-folder.h"
#include <gtest/gtest.h>
#include <png.h>

namespace {

using test::Folder;

void writePng(const std::string &path, unsigned width, unsigned height,
              uint8_t grey) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_GRAY;
  const std::vector<uint8_t> pixels(size_t(width) * height, grey);
  ASSERT_TRUE(png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0,
                                      nullptr));
}

void makeFolders(const Folder &folder) {
  for (const char *name : {"b", "a", ".hidden"})
    std::filesystem::create_directory(folder / name);
  writePng(folder / "a/2.png", 3, 2, 12);
  writePng(folder / "a/10.PNG", 3, 2, 110);
  writePng(folder / "b/x.png", 3, 2, 200);
  test::write(folder / "b/notes.txt", "");
  test::write(folder / "b/.x.png", "");
}

TEST(ImageFolder, SortsByBytes) {
  Folder folder;
  makeFolders(folder);
  mn::ImageFolder found;
  const mn::Status status = mn::listImageFolder(folder.path, {}, found);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(found.classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(found.paths,
            (std::vector<std::string>{folder / "a/10.PNG", folder / "a/2.png",
                                      folder / "b/x.png"}));
  EXPECT_EQ(found.labels, (std::vector<int32_t>{0, 0, 1}));
  EXPECT_EQ(found.others, 1u);
}

TEST(ImageFolder, OtherClassesNumberIt) {
  Folder folder;
  makeFolders(folder);
  mn::ImageFolder found;
  std::filesystem::create_directory(folder / "c"); // no pictures
  const std::vector<std::string> classes = {"B", "Z", "a",
                                            "b", "c", "\xc3\xa4"};
  const mn::Status status = mn::listImageFolder(folder.path, classes, found);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(found.classes, classes);
  EXPECT_EQ(found.labels, (std::vector<int32_t>{2, 2, 3}));
  EXPECT_EQ(mn::listImageFolder(folder.path, {"a", "b"}, found).message,
            "expected in '" + folder.path +
                "' only classes to train on, got 'c'");
}

TEST(ImageFolder, Reads) {
  Folder folder;
  makeFolders(folder);
  mn::ImageFolder found;
  ASSERT_TRUE(mn::listImageFolder(folder.path, {}, found).ok());
  mn::Array images;
  const mn::Status status = mn::readImageFolder(found, 1, 2, images);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(images.shape, (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(static_cast<uint8_t>(images.bytes[0]), 12);
  EXPECT_EQ(static_cast<uint8_t>(images.bytes[6]), 200);
}

TEST(ImageFolder, SizesMustAgree) {
  Folder folder;
  makeFolders(folder);
  writePng(folder / "b/y.png", 4, 5, 1);
  mn::ImageFolder found;
  ASSERT_TRUE(mn::listImageFolder(folder.path, {}, found).ok());
  mn::Array images;
  EXPECT_EQ(mn::readImageFolder(found, 0, 4, images).message,
            "'" + folder / "b/y.png" + "': expected 3 x 2 pixels, as in '" +
                folder / "a/10.PNG" + "', got 4 x 5");
}

TEST(ImageFolder, Errors) {
  Folder folder;
  mn::ImageFolder found;
  EXPECT_EQ(mn::listImageFolder(folder.path, {}, found).message,
            "expected a folder for each class in '" + folder.path +
                "', got none");
  EXPECT_EQ(mn::listImageFolder(folder / "no", {}, found).message,
            "cannot read the folder '" + folder / "no" +
                "': No such file or directory");
  std::filesystem::create_directory(folder / "a");
  test::write(folder / "a/x.jpg", "");
  EXPECT_EQ(mn::listImageFolder(folder.path, {}, found).message,
            "expected .png pictures in '" + folder / "a" +
                "', got none among 1 files");
}

TEST(ImageFolder, BrokenPictures) {
  Folder folder;
  std::filesystem::create_directory(folder / "a");
  test::write(folder / "a/x.png", "no picture");
  mn::ImageFolder found;
  ASSERT_TRUE(mn::listImageFolder(folder.path, {}, found).ok());
  mn::Array images;
  EXPECT_EQ(mn::readImageFolder(found, 0, 1, images)
                .message.find("'" + folder / "a/x.png" + "': "),
            0u);
  EXPECT_FALSE(mn::readImageFolder(found, 0, 2, images).ok());
}

} // namespace
