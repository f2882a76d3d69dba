/// Which publication of a responder.
package struct PublicationID: Hashable, Sendable {
  /// The host's own name, which publications point at.
  static let host = PublicationID(number: 0)

  let number: UInt64
}
