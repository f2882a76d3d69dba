/// A change to one item that a browser or a query watches.
public enum DiscoveryChange<Item: Hashable & Sendable>: Hashable, Sendable {
  /// The item was found. Reported once, even if the item is found on several interfaces.
  case added(Item)
  /// The data of an item that was already reported has changed.
  case updated(Item)
  /// The item is gone: a goodbye record was received, or its records expired. Reported once.
  case removed(Item)

  /// The item that changed.
  public var item: Item {
    switch self {
    case .added(let item), .updated(let item), .removed(let item): item
    }
  }

  /// Merges this unread change with the change that follows it. Returns nil if the two cancel out.
  func merged(with next: Self) -> Self? {
    switch (self, next) {
    case (.added, .removed): nil
    case (.added, .added(let item)), (.added, .updated(let item)): .added(item)
    // The reader has seen the item before its removal, so its return is an update.
    case (.removed, .added(let item)), (.removed, .updated(let item)): .updated(item)
    case (.updated, .added(let item)), (.updated, .updated(let item)): .updated(item)
    case (.updated, .removed(let item)), (.removed, .removed(let item)): .removed(item)
    }
  }

  /// Returns this change with its item replaced by the result of `transform`.
  func map<Other>(_ transform: (Item) -> Other) -> DiscoveryChange<Other> {
    switch self {
    case .added(let item): .added(transform(item))
    case .updated(let item): .updated(transform(item))
    case .removed(let item): .removed(transform(item))
    }
  }
}
