/// An optional value that lies outside the value that owns it, of which it takes one word. It is
/// meant for what most connections never have, or what no packet needs.
///
/// Copies of the owner share the value until one of them changes it. Reading the property copies
/// the value; `$property` tells whether there is one, without copying it.
@propertyWrapper
struct Boxed<Value: Sendable>: Sendable {
  /// Only a storage that has one owner is changed, so no two threads ever change the same one.
  private final class Storage: @unchecked Sendable {
    var value: Value?

    init(_ value: consuming Value?) { self.value = value }
  }

  private var storage: Storage?

  init(wrappedValue: Value?) { storage = wrappedValue.map { Storage($0) } }

  @inline(__always) var projectedValue: Bool { storage != nil }

  @inline(__always) var wrappedValue: Value? {
    get { storage?.value }
    set { storage = newValue.map { Storage($0) } }
    // The value is moved out and back. With a `yield` for each case instead, the compiler would not
    // inline this accessor, and each access would allocate its frame on the heap.
    _modify {
      var value: Value?
      moveOut(to: &value)
      defer { putBack(&value) }
      yield &value
    }
  }

  @inline(__always) private mutating func moveOut(to value: inout Value?) {
    guard storage != nil else { return }
    if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage?.value) }
    if let storage { swap(&storage.value, &value) }
  }

  @inline(__always) private mutating func putBack(_ value: inout Value?) {
    if value == nil {
      storage = nil
    } else if let storage {
      swap(&storage.value, &value)
    } else {
      storage = Storage(value)
    }
  }
}
