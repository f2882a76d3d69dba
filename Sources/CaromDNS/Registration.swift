import CaromCore

/// A service as the responder is asked to publish it.
package struct Registration: Hashable, Sendable {
  /// What people see, 1 to 63 bytes; validated by the caller.
  package var instance: String
  /// What it speaks.
  package var type: ServiceType
  /// Narrower types that it is also found under (RFC 6763 §7.1), such as "_ranked".
  package var subtypes: [String]
  /// Where it listens.
  package var port: UInt16
  /// The strings beside it.
  package var text: TXTRecord
  /// Whether a taken name is changed to "X (2)"; else the publication fails.
  package var renames: Bool

  /// A service on `port` of this host.
  package init(
    instance: String, type: ServiceType, port: UInt16, text: TXTRecord = [:],
    subtypes: [String] = [], renames: Bool = true
  ) {
    self.instance = instance
    self.type = type
    self.port = port
    self.text = text
    self.subtypes = subtypes
    self.renames = renames
  }
}
