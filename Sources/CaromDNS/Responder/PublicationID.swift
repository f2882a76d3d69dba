/// Identifies one of a responder's claims: to a name of the host, or to the name of a service.
package struct PublicationID: Hashable, Sendable {
  /// Identifies the claim to the host's default name, to which the SRV records of most services
  /// point.
  static let host = PublicationID(number: 0)

  /// Identifies the claim to the host's second name, a random one to which the SRV records of
  /// services with unique names point.
  static let uniqueHost = PublicationID(number: 1)

  let number: UInt64
}

extension PublicationID: Comparable {
  /// Orders the claims to the host's names first, then services in the order in which they were
  /// published.
  package static func < (a: PublicationID, b: PublicationID) -> Bool { a.number < b.number }
}
