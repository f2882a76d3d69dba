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

    init(_ value: Value?) { self.value = value }
  }

  private var storage: Storage?

  init(wrappedValue: Value?) { storage = wrappedValue.map { Storage($0) } }

  @inline(__always) var projectedValue: Bool { storage != nil }

  @inline(__always) var wrappedValue: Value? {
    get { storage?.value }
    set { storage = newValue.map { Storage($0) } }
    _modify {
      if storage != nil {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage!.value) }
        defer { if storage!.value == nil { storage = nil } }
        yield &storage!.value
      } else {
        var value: Value?
        defer { storage = value.map { Storage($0) } }
        yield &value
      }
    }
  }

  /// Calls `body` with the value, which is accessed in place. Returns nil if there is none.
  @inline(__always)
  mutating func withValue<Result>(_ body: (inout Value) -> Result) -> Result? {
    storage == nil ? nil : body(&wrappedValue!)
  }
}
