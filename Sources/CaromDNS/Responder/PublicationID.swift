/// Identifies a publication of a responder.
package struct PublicationID: Hashable, Sendable {
  /// The claim of the host's own name, to which most services point.
  static let host = PublicationID(number: 0)

  /// The claim of the host's random second name, to which services with unique names point.
  static let uniqueHost = PublicationID(number: 1)

  let number: UInt64
}

extension PublicationID: Comparable {
  /// Orders publications by their start, after the claims of the host names.
  package static func < (a: PublicationID, b: PublicationID) -> Bool { a.number < b.number }
}
