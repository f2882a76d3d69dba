/// The type of a resource record (RFC 1035 §3.2.2 and its successors).
package struct RecordType: RawRepresentable, Hashable, Sendable {
  /// The number on the wire.
  package let rawValue: UInt16

  /// The type of that number.
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// An IPv4 address.
  package static let a = RecordType(rawValue: 1)
  /// A name server, known only for its compressed name.
  package static let ns = RecordType(rawValue: 2)
  /// An alias, known only for its compressed name.
  package static let cname = RecordType(rawValue: 5)
  /// A pointer to another name.
  package static let ptr = RecordType(rawValue: 12)
  /// Strings beside a service (RFC 6763 §6).
  package static let txt = RecordType(rawValue: 16)
  /// An IPv6 address.
  package static let aaaa = RecordType(rawValue: 28)
  /// Host and port of a service (RFC 2782).
  package static let srv = RecordType(rawValue: 33)
  /// Which types a name has (RFC 4034 §4, RFC 6762 §6.1).
  package static let nsec = RecordType(rawValue: 47)
  /// In a question: every type.
  package static let any = RecordType(rawValue: 255)
}

extension RecordType: Comparable {
  /// By number.
  package static func < (a: RecordType, b: RecordType) -> Bool { a.rawValue < b.rawValue }
}
