//===- npy.cpp - NumPy's files, versions 1 to 3 ---------------------------===//

#include "formats/files.h"
#include <algorithm>

namespace mn {

namespace {

struct NpyType {
  const char *descr;
  Type type;
};
constexpr NpyType npyTypes[] = {{"<f4", Type::f32}, {"<f8", Type::f64},
                                {"<i4", Type::i32}, {"<i8", Type::i64},
                                {"|u1", Type::u8},  {"|b1", Type::b8}};

/// The value after 'key': in the header, a Python dictionary.
std::string valueOf(const std::string &header, const std::string &key) {
  size_t at = header.find("'" + key + "'");
  if (at == std::string::npos)
    return "";
  at = header.find(':', at);
  if (at == std::string::npos)
    return "";
  at = header.find_first_not_of(' ', at + 1);
  if (at == std::string::npos)
    return "";
  const char close = header[at] == '(' ? ')' : header[at] == '\'' ? '\'' : ',';
  size_t end = header.find(close, at + 1);
  if (end == std::string::npos)
    return "";
  return header.substr(at, close == ',' ? end - at : end - at + 1);
}

Status parseShape(const std::string &shape, std::vector<int64_t> &result) {
  const auto wrong = [&] {
    return badData("expected a tuple of numbers as shape, got '%s'",
                   shape.c_str());
  };
  if (shape.size() < 2 || shape.front() != '(' || shape.back() != ')')
    return wrong();
  const char *at = shape.c_str() + 1;
  for (;;) {
    while (*at == ' ' || *at == ',')
      ++at;
    if (*at == ')')
      return Status::success();
    if (*at < '0' || *at > '9' || result.size() == 32)
      return wrong();
    int64_t number = 0;
    for (; *at >= '0' && *at <= '9'; ++at)
      if (__builtin_mul_overflow(number, 10, &number) ||
          __builtin_add_overflow(number, *at - '0', &number))
        return wrong();
    result.push_back(number);
  }
}

} // namespace

Status parseNpyHeader(std::string_view head, ArrayHeader &result) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(head[i]); };
  if (head.size() < 12)
    return badData("expected the header of a .npy file, got %zu bytes",
                   head.size());
  const int version = byte(6);
  if (version < 1 || version > 3)
    return badData("expected version 1, 2 or 3 of .npy, got version %d",
                   version);
  const size_t begin = version == 1 ? 10 : 12;
  size_t size = byte(8) | size_t(byte(9)) << 8;
  if (version > 1)
    size |= size_t(byte(10)) << 16 | size_t(byte(11)) << 24;
  if (size > headBytes - begin)
    return badData("expected a header of at most %zu bytes, got %zu",
                   headBytes - begin, size);
  if (size > head.size() - begin)
    return badData("expected a header of %zu bytes, got %zu bytes", size,
                   head.size() - begin);
  const std::string header(head.data() + begin, size);

  std::string descr = valueOf(header, "descr");
  descr = descr.size() > 2 ? descr.substr(1, descr.size() - 2) : descr;
  const NpyType *type =
      std::find_if(std::begin(npyTypes), std::end(npyTypes),
                   [&](const NpyType &t) { return descr == t.descr; });
  if (type == std::end(npyTypes))
    return badData("expected elements of type <f4, <f8, <i4, <i8, |u1 or |b1, "
                   "got '%s'",
                   descr.c_str());
  const std::string order = valueOf(header, "fortran_order");
  if (order != "False" && order != "True")
    return badData("expected 'fortran_order' True or False, got '%s'",
                   order.c_str());
  Array &array = result.array;
  array = {};
  array.type = type->type;
  MN_TRY(parseShape(valueOf(header, "shape"), array.shape));
  if (order == "True" && array.shape.size() > 1)
    return badData("expected elements in C order, got Fortran order");
  array.pixels = array.type == Type::u8;
  result.begin = begin + size;
  return checkedBytes(array.type, array.shape, result.bytes);
}

std::vector<char> npyOf(Type type, const std::vector<int64_t> &shape,
                        const void *data, size_t bytes) {
  std::string header = "{'descr': '";
  for (const NpyType &known : npyTypes)
    if (known.type == type)
      header += known.descr;
  header += "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape)
    header += std::to_string(size) + ", ";
  if (shape.size() > 1)
    header.resize(header.size() - 2);
  header += "), }";
  // The elements begin at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::vector<char> file = {'\x93',
                            'N',
                            'U',
                            'M',
                            'P',
                            'Y',
                            1,
                            0,
                            static_cast<char>(header.size() & 255),
                            static_cast<char>(header.size() >> 8)};
  file.insert(file.end(), header.begin(), header.end());
  const char *from = static_cast<const char *>(data);
  file.insert(file.end(), from, from + bytes);
  return file;
}

} // namespace mn
