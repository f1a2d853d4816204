// How an operation says that it failed: Result<T> holds a value or an Error, and cannot be ignored.
//
//   Result<Model> read_model(const std::string& path) {
//     DEEPGAP_ASSIGN(std::string bytes, files.read(path));
//     if (bytes.empty()) return bad_input("expected an ONNX model, found an empty file: export the model
//     again");
//     ...
//   }
//   DEEPGAP_ASSIGN(Model model, read_model(path).in("model 'resnet50'"));
//
// An Error's text is one sentence: what was expected, what was found, where, and what to do about it.
// Doubtful data is no Error but a Diagnostic (core/diagnostic.h). No exception leaves a module.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace deepgap {

// What kind of trouble it is; each kind has one exit code of the program (exit_code below).
enum class ErrorKind {
  kUsage,      // the request is wrong: unknown name, contradictory options
  kBadInput,   // a file or a store is not what it should be, cannot be read or cannot be written
  kPartial,    // some of it was done, the rest was not
  kMissing,    // an engine, a device or a library is not there
  kCancelled,  // the user stopped it
  kInternal,   // a bug of ours
};

// The program's exit codes, the one list of them (section 7 of the design).
enum class ExitCode : int {
  kDone = 0,
  kNegativeVerdict = 1,
  kUsage = 2,
  kBadInput = 3,
  kPartial = 4,
  kMissing = 5,
  kInternal = 70,
};

ExitCode exit_code(ErrorKind kind);

class [[nodiscard]] Error {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  ErrorKind kind() const { return kind_; }
  // "context: context: message", outermost context first.
  const std::string& message() const { return message_; }
  // Adds where it happened; call it on the way out, innermost first.
  Error in(const std::string& context) && {
    message_ = context + ": " + message_;
    return std::move(*this);
  }

 private:
  ErrorKind kind_;
  std::string message_;
};

inline Error usage_error(std::string message) {
  return {ErrorKind::kUsage, std::move(message)};
}
inline Error bad_input(std::string message) {
  return {ErrorKind::kBadInput, std::move(message)};
}
inline Error missing(std::string message) {
  return {ErrorKind::kMissing, std::move(message)};
}
inline Error internal_error(std::string message) {
  return {ErrorKind::kInternal, std::move(message)};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Only when ok().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Only when not ok().
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

  // The same result with a context added to its error, if it has one.
  Result in(const std::string& context) && {
    if (ok()) return std::move(*this);
    return std::get<1>(std::move(state_)).in(context);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }
  Result in(const std::string& context) && {
    if (ok()) return {};
    return std::move(*error_).in(context);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace deepgap

#define DEEPGAP_CONCAT_INNER(a, b) a##b
#define DEEPGAP_CONCAT(a, b) DEEPGAP_CONCAT_INNER(a, b)

// DEEPGAP_ASSIGN(auto x, expression): x is the value, or the enclosing function returns the error.
#define DEEPGAP_ASSIGN(declaration, ...) \
  DEEPGAP_ASSIGN_INNER(DEEPGAP_CONCAT(deepgap_result_, __LINE__), declaration, __VA_ARGS__)
#define DEEPGAP_ASSIGN_INNER(result, declaration, ...) \
  auto result = (__VA_ARGS__);                         \
  if (!result.ok()) return std::move(result).error();  \
  declaration = std::move(result).value()

// DEEPGAP_RETURN_IF_ERROR(expression): returns the error of a Result<void>, if there is one.
#define DEEPGAP_RETURN_IF_ERROR(...)                                    \
  do {                                                                  \
    auto deepgap_result = (__VA_ARGS__);                                \
    if (!deepgap_result.ok()) return std::move(deepgap_result).error(); \
  } while (false)
