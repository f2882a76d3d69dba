/// The type of a resource record (RFC 1035 §3.2.2 and its successors).
public struct RecordType: RawRepresentable, Hashable, Sendable {
  /// The number on the wire.
  public let rawValue: UInt16

  /// The type of that number.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// An IPv4 address.
  public static let a = RecordType(rawValue: 1)
  /// A name server, known only for its compressed name.
  public static let ns = RecordType(rawValue: 2)
  /// An alias, known only for its compressed name.
  public static let cname = RecordType(rawValue: 5)
  /// A pointer to another name.
  public static let ptr = RecordType(rawValue: 12)
  /// Strings beside a service (RFC 6763 §6).
  public static let txt = RecordType(rawValue: 16)
  /// An IPv6 address.
  public static let aaaa = RecordType(rawValue: 28)
  /// Host and port of a service (RFC 2782).
  public static let srv = RecordType(rawValue: 33)
  /// Which types a name has (RFC 4034 §4, RFC 6762 §6.1).
  public static let nsec = RecordType(rawValue: 47)
  /// In a question: every type.
  public static let any = RecordType(rawValue: 255)
}

extension RecordType: Comparable {
  /// By number.
  public static func < (a: RecordType, b: RecordType) -> Bool { a.rawValue < b.rawValue }
}
