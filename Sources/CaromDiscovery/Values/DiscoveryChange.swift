/// What watching has to tell of one thing on the network.
public enum DiscoveryChange<Item: Hashable & Sendable>: Hashable, Sendable {
  /// It is there: once, on however many interfaces it is heard.
  case added(Item)
  /// It is other than it was.
  case updated(Item)
  /// It said goodbye, or was not heard of for as long as it allowed; once.
  case removed(Item)

  /// What it is about.
  public var item: Item {
    switch self {
    case .added(let item), .updated(let item), .removed(let item): item
    }
  }

  /// One change instead of two that nobody has read: `nil` where the second undoes the first.
  func merged(with next: Self) -> Self? {
    switch (self, next) {
    case (.added, .removed): nil
    case (.added, .added(let item)), (.added, .updated(let item)): .added(item)
    // Who saw it before sees what it has become.
    case (.removed, .added(let item)), (.removed, .updated(let item)): .updated(item)
    case (.updated, .added(let item)), (.updated, .updated(let item)): .updated(item)
    case (.updated, .removed(let item)), (.removed, .removed(let item)): .removed(item)
    }
  }
}

/// What browsing for services has to tell.
public typealias ServiceChange = DiscoveryChange<DiscoveredService>

extension DiscoveryChange where Item == DiscoveredService {
  /// The service that it is about.
  public var service: DiscoveredService { item }
}
