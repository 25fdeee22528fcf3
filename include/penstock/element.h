// Element: an owning, move-only box for one value of any type.
//
// The engine moves elements between ops without knowing their types. Values of at most 32 bytes (numbers, std::string,
// std::vector, smart pointers) live inside the box; larger ones in memory that boxes use again and again. Moving an
// Element never throws.
// Users meet it only when they write an op of their own (op.h); Dataset<T> is typed.
//
//   ps::Element box(std::string("n01440764/1.JPEG"));
//   std::string name = box.take<std::string>();      // box is empty now
//
// An Element may also refer to a value that lives elsewhere (Element::referring_to): sources in memory make such ones.
// Who only reads them, through a const Element, costs no copy; get() and take() of one that is not const make it an
// owner first.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <penstock/bytes.h>
#include <penstock/detail/pooled.h>

#pragma GCC visibility push(default)

namespace penstock {

namespace detail {
// Throws Error(invalid_argument); null: the element is empty.
[[noreturn]] void fail_element_type(const std::type_info* held, const std::type_info& asked);

// Whether the bytes of a value, copied elsewhere, are that value, and what is left behind needs no destructor. C++
// tells it of what is trivially copyable; tuples and pairs of these are not, but consist of them alone.
template <class T> inline constexpr bool moves_as_bytes = std::is_trivially_copyable_v<T>;
template <class... T> inline constexpr bool moves_as_bytes<std::tuple<T...>> = (moves_as_bytes<T> && ...);
template <class A, class B>
inline constexpr bool moves_as_bytes<std::pair<A, B>> = moves_as_bytes<A>&& moves_as_bytes<B>;
}  // namespace detail

class Element {
  static constexpr std::size_t kInlineBytes = 32, kWord = 8;
  static constexpr std::size_t kInlineAlignment = 8;  // what is aligned more strictly would make every element larger
  template <class T>
  static constexpr bool is_inline = sizeof(T) <= kInlineBytes &&
                                    alignof(T) <= kInlineAlignment&& std::is_nothrow_move_constructible_v<T>;
  // Nobody refers to these: a copy costs no more.
  template <class T> static constexpr bool is_plain = is_inline<T>&& std::is_trivially_copyable_v<T>;

 public:
  Element() noexcept = default;

  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Element>) explicit Element(T&& value)
      : type_(&type_of<std::remove_cvref_t<T>>) {
    using V = std::remove_cvref_t<T>;
    if constexpr (is_inline<V>) {
      ::new (static_cast<void*>(storage_)) V(std::forward<T>(value));
    } else {
      ::new (static_cast<void*>(storage_)) V*(detail::make_pooled<V>(std::forward<T>(value)).release());
    }
  }

  // The value, which must outlive the element and everything that it is moved to, and must not change meanwhile. What
  // is as cheaply copied is copied.
  template <class T> static Element referring_to(const T& value) {
    if constexpr (is_plain<T>) {
      return Element(T(value));
    } else {
      Element element;
      ::new (static_cast<void*>(element.storage_)) const T*(&value);
      element.type_ = &type_of_reference<T>;
      return element;
    }
  }

  Element(Element&& other) noexcept { steal(other); }
  Element& operator=(Element&& other) noexcept {
    if (this != &other) {
      reset();
      steal(other);
    }
    return *this;
  }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;
  ~Element() { reset(); }

  bool empty() const noexcept { return type_ == nullptr; }

  // Whether the value is a T, and no other type.
  template <class T> bool holds() const noexcept { return type_ == &type_of<T> || holds(typeid(T)); }
  bool holds(const std::type_info& type) const noexcept { return type_ != nullptr && *type_->info == type; }

  // The value's type; null: the element is empty.
  const std::type_info* type() const noexcept { return type_ == nullptr ? nullptr : type_->info; }

  // The value. T must be the very type that was put in: Error(invalid_argument) names both otherwise. Of one that is
  // not const it throws, too, what copying a value throws that the element referred to.
  template <class T> T& get() {
    check<T>();
    return unchecked<T>();
  }
  template <class T> const T& get() const {
    check<T>();
    return unchecked<T>();
  }

  // Moves the value out and empties the box. Errors as get().
  template <class T> T take() {
    T value = std::move(get<T>());
    reset();
    return value;
  }

  // get() for those who know the type: a wrong one reads memory as what it is not (debug builds look at it).
  template <class T> T& unchecked() noexcept(is_plain<T>) {
    assert(holds<T>());
    if constexpr (!is_plain<T>) {
      if (type_->own != nullptr) type_->own(*this);
    }
    return at<T>(storage_);
  }
  template <class T> const T& unchecked() const noexcept {
    assert(holds<T>());
    if constexpr (!is_plain<T>) {
      if (type_->own != nullptr) return referred<T>(storage_);
    }
    return at<T>(const_cast<std::byte*>(storage_));
  }

  // Copies the value here if the element only referred to it; throws what that copy throws.
  void own() {
    if (type_ != nullptr && type_->own != nullptr) type_->own(*this);
  }

  bool refers() const noexcept { return type_ != nullptr && type_->own != nullptr; }  // to a value that is not its own

  void reset() noexcept {
    if (type_ != nullptr && type_->destroy != nullptr) type_->destroy(storage_);
    type_ = nullptr;
  }

  // Bytes that the value holds, as ps::bytes_of counts them; 0 when empty. `unseen` in Type says whether it is more
  // than sizeof.
  std::size_t bytes() const {
    if (type_ == nullptr) return 0;
    return type_->bytes == nullptr ? type_->size : type_->bytes(storage_);
  }
  // Names the value's type where all of that type hold as many bytes; null: they differ, or it is empty. Two that are
  // equal are of one type; two libraries may have two for one type.
  const void* same_bytes() const noexcept {
    return type_ != nullptr && type_->bytes == nullptr && type_->unseen == nullptr ? type_ : nullptr;
  }
  bool bytes_are_known() const noexcept { return type_ == nullptr || type_->unseen == nullptr; }
  // Else: of which part of it nobody can tell what memory it owns. It may be the whole type.
  const std::type_info* unseen_type() const noexcept { return type_ == nullptr ? nullptr : type_->unseen; }

 private:
  struct Type {
    const std::type_info* info;
    std::size_t size;
    std::size_t stored;  // bytes of the box that are in use: of the value, or of a pointer to it
    void (*relocate)(std::byte* to, std::byte* from) noexcept;  // null: its bytes are copied
    void (*destroy)(std::byte* at) noexcept;                    // null: nothing to do
    std::size_t (*bytes)(const std::byte* at);                  // null: size
    const std::type_info* unseen;                               // null: bytes_known
    void (*own)(Element& element);  // null: it owns its value; else a copy takes the reference's place
  };

  template <class T> static T& at(std::byte* place) noexcept {
    if constexpr (is_inline<T>) {
      return *std::launder(reinterpret_cast<T*>(place));
    } else {
      return **std::launder(reinterpret_cast<T**>(place));
    }
  }
  template <class T> static void relocate(std::byte* to, std::byte* from) noexcept {
    ::new (static_cast<void*>(to)) T(std::move(at<T>(from)));
    at<T>(from).~T();
  }
  template <class T> static void destroy(std::byte* place) noexcept {
    if constexpr (is_inline<T>) {
      at<T>(place).~T();
    } else {
      detail::PooledPtr<T> owner(&at<T>(place));
    }
  }
  template <class T> static std::size_t count_bytes(const std::byte* place) {
    return bytes_of(static_cast<const T&>(at<T>(const_cast<std::byte*>(place))));
  }
  template <class T>
  static constexpr Type type_of = {
      &typeid(T),
      sizeof(T),
      is_inline<T> ? sizeof(T) : sizeof(T*),
      is_inline<T> && !detail::moves_as_bytes<T> ? &relocate<T> : nullptr,
      is_inline<T>&& std::is_trivially_destructible_v<T> ? nullptr : &destroy<T>,
      has_fixed_bytes<T> ? nullptr : &count_bytes<T>,
      detail::Bytes<T>::unseen,
      nullptr,
  };

  template <class T> static const T& referred(const std::byte* place) noexcept {
    return **std::launder(reinterpret_cast<const T* const*>(place));
  }
  template <class T> static void become_owner(Element& element) { element = Element(T(referred<T>(element.storage_))); }
  template <class T> static std::size_t count_referred_bytes(const std::byte* place) {
    return bytes_of(referred<T>(place));
  }
  template <class T>
  static constexpr Type type_of_reference = {
      &typeid(T),
      sizeof(T),
      sizeof(const T*),
      nullptr,
      nullptr,
      has_fixed_bytes<T> ? nullptr : &count_referred_bytes<T>,
      detail::Bytes<T>::unseen,
      &become_owner<T>,
  };

  template <class T> void check() const {
    if (!holds<T>()) detail::fail_element_type(type_ == nullptr ? nullptr : type_->info, typeid(T));
  }

  void steal(Element& other) noexcept {
    type_ = std::exchange(other.type_, nullptr);
    if (type_ == nullptr) return;
    if (type_->relocate == nullptr) {
      // Word by word: the value may just have been written so, and a wider load would wait until that is in the cache.
      for (std::size_t at = 0; at < type_->stored; at += kWord) std::memcpy(storage_ + at, other.storage_ + at, kWord);
    } else {
      type_->relocate(storage_, other.storage_);
    }
  }

  const Type* type_ = nullptr;
  alignas(kInlineAlignment) std::byte storage_[kInlineBytes];
};

}  // namespace penstock

// Lists of elements (emit_many) take their memory from where boxes do: every std::vector of Element in a program, yours
// too.
template <> class std::allocator<penstock::Element> : public penstock::detail::PooledAllocator<penstock::Element> {
 public:
  allocator() noexcept = default;
  template <class U> allocator(const std::allocator<U>&) noexcept {}
};

#pragma GCC visibility pop
