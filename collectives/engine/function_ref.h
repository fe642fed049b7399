// FunctionRef: a reference to something callable, for the length of a call.
//
// std::function allocates when what it holds is large; the way of every chunk
// must not.
//
// Thread-safety, failure: those of what is called. Ownership: none; it must not
// outlive the callable.
//
// Example:  void ForEach(FunctionRef<void(int)> visit);
#pragma once

#include <type_traits>
#include <utility>

namespace rondo {

template <typename Signature>
class FunctionRef;

template <typename Return, typename... Arguments>
class FunctionRef<Return(Arguments...)> {
 public:
  template <typename Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef>)
      FunctionRef(const Callable& callable)  // NOLINT
      : callable_(&callable),
        call_([](const void* object, Arguments... values) {
          return (*static_cast<const Callable*>(object))(
              std::forward<Arguments>(values)...);
        }) {}

  Return operator()(Arguments... values) const {
    return call_(callable_, std::forward<Arguments>(values)...);
  }

 private:
  const void* callable_;
  Return (*call_)(const void*, Arguments...);
};

}  // namespace rondo
