/// The type of a DNS resource record (RFC 1035 §3.2.2 and its successors).
public struct RecordType: RawRepresentable, Hashable, Sendable {
  /// The type's number on the wire.
  public let rawValue: UInt16

  /// Creates a type from its number on the wire.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// An IPv4 address.
  public static let a = RecordType(rawValue: 1)
  /// A name server (NS). Its data is not interpreted, but a compressed name in it is expanded.
  public static let ns = RecordType(rawValue: 2)
  /// An alias (CNAME). Its data is not interpreted, but a compressed name in it is expanded.
  public static let cname = RecordType(rawValue: 5)
  /// The start of a zone (SOA). Its data is not interpreted.
  package static let soa = RecordType(rawValue: 6)
  /// A pointer to another name.
  public static let ptr = RecordType(rawValue: 12)
  /// The key-value strings that describe a service (RFC 6763 §6).
  public static let txt = RecordType(rawValue: 16)
  /// An IPv6 address.
  public static let aaaa = RecordType(rawValue: 28)
  /// The host and the port of a service (RFC 2782).
  public static let srv = RecordType(rawValue: 33)
  /// The list of the types that exist for a name (RFC 4034 §4, RFC 6762 §6.1).
  public static let nsec = RecordType(rawValue: 47)
  /// A signature of the message (TSIG, RFC 8945), which is the last record of a message.
  package static let tsig = RecordType(rawValue: 250)
  /// Every type. Valid only in a question.
  public static let any = RecordType(rawValue: 255)
}

extension RecordType: Comparable {
  /// Orders types by number.
  public static func < (a: RecordType, b: RecordType) -> Bool { a.rawValue < b.rawValue }
}
