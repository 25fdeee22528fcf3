#include <penstock/error.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "lib/base/errno_code.h"
#include "lib/base/text.h"

namespace penstock {
namespace {

// Categories other than errno's (streams, futures, getaddrinfo) may have an errno as their portable
// meaning.
ErrorCode code_of_system(const std::error_code& error) noexcept {
  const std::error_condition meaning = error.default_error_condition();
  if (meaning.category() != std::generic_category()) return ErrorCode::internal;
  return code_of_errno(meaning.value(), ErrorCode::internal);
}

std::string op_text(const ErrorPlace& place) {
  std::string text = place.op.empty() ? "an op" : place.op;
  std::string where;
  if (place.position >= 0) where = "op " + std::to_string(place.position);
  if (!place.call_site.empty()) where += (where.empty() ? "at " : " at ") + place.call_site;
  return where.empty() ? text : text + " (" + where + ")";
}

std::string source_text(const ErrorPlace& place) {
  std::string text;
  if (place.source_ordinal >= 0) {
    text = "source element " + std::to_string(place.source_ordinal);
    if (place.source_position >= 0) text += " of op " + std::to_string(place.source_position);
  }
  if (!place.origin.empty()) text += (text.empty() ? "" : ", ") + in_quotes(place.origin);
  return text.empty() ? text : " (" + text + ")";
}

// What the exception's own text cannot know: that it came out of a pipeline.
const char* advice_for(const std::exception_ptr& cause) {
  if (!cause) return "";
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception&) {
    return "";
  } catch (...) {
    return " (throw a std::exception to have its text here; cause() has what was thrown)";
  }
}

// " at element 17 (source element 12, 'a.jpg') of"; " in" for what was no element's.
std::string element_text(const ErrorPlace& place) {
  const std::string source = source_text(place);
  if (place.ordinal < 0 && source.empty()) return " in";
  return " at " + (place.ordinal >= 0 ? "element " + std::to_string(place.ordinal) : "an element") + source + " of";
}

// "map (op 2 at train.cc:14) failed at element 17 (source element 12, 'a.jpg') of epoch 0: not a
// JPEG file"
std::string describe(const ErrorPlace& place, const std::exception_ptr& cause) {
  return op_text(place) + " failed" + element_text(place) + " epoch " + std::to_string(place.epoch) + ": " +
         message_of(cause) + advice_for(cause);
}

}  // namespace

ErrorCode code_of_errno(int number, ErrorCode other) noexcept {
  static constexpr std::array<std::pair<int, ErrorCode>, 28> kCodes = {{
      {ENOENT, ErrorCode::not_found},          {ENOTDIR, ErrorCode::not_found},
      {EACCES, ErrorCode::permission_denied},  {EPERM, ErrorCode::permission_denied},
      {ENOMEM, ErrorCode::resource_exhausted}, {EMFILE, ErrorCode::resource_exhausted},
      {ENFILE, ErrorCode::resource_exhausted}, {ENOSPC, ErrorCode::resource_exhausted},
      {EDQUOT, ErrorCode::resource_exhausted}, {EIO, ErrorCode::unavailable},
      {EAGAIN, ErrorCode::unavailable},        {EBUSY, ErrorCode::unavailable},
      {EINTR, ErrorCode::unavailable},         {ECONNREFUSED, ErrorCode::unavailable},
      {ECONNRESET, ErrorCode::unavailable},    {ENETUNREACH, ErrorCode::unavailable},
      {EHOSTUNREACH, ErrorCode::unavailable},  {EPIPE, ErrorCode::unavailable},
      {ESTALE, ErrorCode::unavailable},        {ETIMEDOUT, ErrorCode::deadline},
      {ECANCELED, ErrorCode::cancelled},       {EINVAL, ErrorCode::invalid_argument},
      {EISDIR, ErrorCode::invalid_argument},   {ENAMETOOLONG, ErrorCode::invalid_argument},
      {ELOOP, ErrorCode::invalid_argument},    {ENOSYS, ErrorCode::unimplemented},
      {EOPNOTSUPP, ErrorCode::unimplemented},  {EBADMSG, ErrorCode::data_loss},
  }};
  const auto found = std::ranges::find(kCodes, number, &std::pair<int, ErrorCode>::first);
  return found == kCodes.end() ? other : found->second;
}

std::string_view to_string(ErrorCode code) noexcept {
  static constexpr std::array<std::string_view, 11> names{
      "invalid_argument", "data_loss", "not_found",           "permission_denied", "unavailable", "resource_exhausted",
      "deadline",         "cancelled", "failed_precondition", "unimplemented",     "internal"};
  const auto index = static_cast<std::size_t>(code);
  return index < names.size() ? names[index] : "unknown";
}

ErrorCode code_of(const std::exception_ptr& error) noexcept {
  if (!error) return ErrorCode::internal;
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return e.code();
  } catch (const std::invalid_argument&) {
    return ErrorCode::invalid_argument;
  } catch (const std::bad_alloc&) {
    return ErrorCode::resource_exhausted;
  } catch (const std::system_error& e) {
    return code_of_system(e.code());
  } catch (...) {
    return ErrorCode::internal;
  }
}

ElementError::ElementError(ErrorPlace place, std::exception_ptr cause)
    : Error(code_of(cause), describe(place, cause)), place_(std::move(place)), cause_(std::move(cause)) {}

}  // namespace penstock
