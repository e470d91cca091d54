//===- page.cpp - the page that shows a model -----------------------------===//

#include "mnistrt/report_page.h"
#include <stdexcept>
#include <zlib.h>

/// What utils/pack-page.py makes of this folder.
extern "C" const unsigned char mn_page[], mn_page_end[];

namespace mn {

namespace {

/// Where the data goes, in the page.
constexpr std::string_view place = "@DATA@";

/// JSON that HTML cannot take for the end of its script, nor JavaScript for the
/// end of a line.
void appendEscaped(std::string_view json, std::string &text) {
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i, 3);
    if (json[i] == '<')
      text += "\\u003c";
    else if (json[i] == '>')
      text += "\\u003e";
    else if (json[i] == '&')
      text += "\\u0026";
    else if (rest == "\xe2\x80\xa8" || rest == "\xe2\x80\xa9")
      text += rest.back() == '\xa8' ? "\\u2028" : "\\u2029", i += 2;
    else
      text += json[i];
  }
}

} // namespace

std::string packText(std::string_view text) {
  uLongf bytes = compressBound(static_cast<uLong>(text.size()));
  std::string packed(bytes, '\0');
  if (compress2(reinterpret_cast<Bytef *>(packed.data()), &bytes,
                reinterpret_cast<const Bytef *>(text.data()),
                static_cast<uLong>(text.size()), Z_BEST_COMPRESSION) != Z_OK)
    throw std::bad_alloc();
  packed.resize(bytes);
  return packed;
}

std::string unpackText(std::string_view packed) {
  z_stream stream = {};
  if (inflateInit(&stream) != Z_OK)
    throw std::bad_alloc();
  std::string text, part(1 << 16, '\0');
  // zlib does not write to what it reads.
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef *>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(part, 0, part.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END)
    throw std::runtime_error("expected whole data of a report, got damaged");
  return text;
}

std::string reportPage(std::string_view compiled, std::string_view profile,
                       std::string_view training) {
  const std::string page =
      unpackText({reinterpret_cast<const char *>(mn_page),
                  static_cast<size_t>(mn_page_end - mn_page)});
  const size_t at = page.find(place);
  if (at == std::string::npos)
    throw std::logic_error("expected a place for data in the page, got none");
  std::string text = page.substr(0, at) + "{\"compiled\":";
  appendEscaped(compiled, text);
  if (!profile.empty()) {
    text += ",\"profile\":";
    appendEscaped(profile, text);
  }
  if (!training.empty()) {
    text += ",\"training\":";
    appendEscaped(training, text);
  }
  return text + "}" + page.substr(at + place.size());
}

} // namespace mn
