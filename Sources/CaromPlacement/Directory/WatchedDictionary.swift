/// A dictionary that can note which of its entries are changed, so that a check of what has become
/// of a few need not look at all.
struct WatchedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private(set) var entries: [Key: Value] = [:]
  /// The keys of the entries that may have changed since they were taken last, some of them more
  /// than once. Nil if nobody wants to know.
  private var changes: [Key]?

  var count: Int { entries.count }
  var keys: Dictionary<Key, Value>.Keys { entries.keys }
  var values: Dictionary<Key, Value>.Values { entries.values }

  subscript(key: Key) -> Value? {
    get { entries[key] }
    _modify {
      note(key)
      yield &entries[key]
    }
  }

  /// Changes an entry in place if there is one.
  mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
    guard let index = entries.index(forKey: key) else { return }
    note(key)
    body(&entries.values[index])
  }

  /// Notes changes from now on.
  mutating func watch() { changes = [] }

  /// Sets `keys` to those of the entries that may have changed since the last call.
  mutating func takeChanges(into keys: inout [Key]) {
    if !keys.isEmpty { keys.removeAll(keepingCapacity: true) }
    if changes?.isEmpty == false { swap(&keys, &changes!) }
  }

  private mutating func note(_ key: Key) {
    if changes?.last != key { changes?.append(key) }
  }
}

extension WatchedDictionary: Sequence {
  func makeIterator() -> Dictionary<Key, Value>.Iterator { entries.makeIterator() }
}
