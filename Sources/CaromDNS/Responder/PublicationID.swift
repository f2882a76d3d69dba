/// Which publication of a responder.
package struct PublicationID: Hashable, Sendable {
  /// The host's own name, which publications point at.
  static let host = PublicationID(number: 0)

  /// A second name of the host, unique by construction, for services that are.
  static let uniqueHost = PublicationID(number: 1)

  let number: UInt64
}

extension PublicationID: Comparable {
  /// In the order in which they were published, after the host's.
  package static func < (a: PublicationID, b: PublicationID) -> Bool { a.number < b.number }
}
