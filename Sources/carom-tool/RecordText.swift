import CaromDNS

/// Converts record types and data to and from the text form of zone files.
enum RecordText {
  private static let names: [(String, UInt16)] = [
    ("A", 1), ("NS", 2), ("CNAME", 5), ("SOA", 6), ("PTR", 12), ("HINFO", 13), ("MX", 15),
    ("TXT", 16), ("AAAA", 28), ("SRV", 33), ("OPT", 41), ("NSEC", 47), ("SVCB", 64),
    ("HTTPS", 65), ("ANY", 255),
  ]

  /// Returns the name of a type, or "TYPE" and its number if it has none (RFC 3597 §5).
  static func name(of type: RecordType) -> String {
    names.first { $0.1 == type.rawValue }?.0 ?? "TYPE\(type.rawValue)"
  }

  /// Returns the type with the given name or number, or nil if there is no such type.
  static func type(_ text: String) -> RecordType? {
    let text = text.uppercased()
    if let known = names.first(where: { $0.0 == text }) { return RecordType(rawValue: known.1) }
    let digits = text.hasPrefix("TYPE") ? text.dropFirst(4) : text[...]
    return UInt16(digits).map(RecordType.init)
  }

  /// Returns the text form of a record's data.
  static func text(of data: RecordData) -> String {
    switch data {
    case .address(let address): address.description
    case .pointer(let name): name.description
    case .service(let priority, let weight, let port, let target):
      "\(priority) \(weight) \(port) \(target)"
    case .text(let bytes): strings(bytes)
    case .types(let next, let types):
      "\(next) " + types.map(Self.name).joined(separator: " ")
    case .raw(.cname, let wire), .raw(.ns, let wire): labels(wire).joined(separator: ".")
    case .raw(_, let bytes): "\\# \(bytes.count) " + bytes.map(hexadecimal).joined()
    }
  }

  /// Returns the strings of a TXT record, quoted. Invalid UTF-8 is escaped as in names.
  private static func strings(_ bytes: [UInt8]) -> String {
    labels(bytes, escapesDots: false).map { "\"\($0)\"" }.joined(separator: " ")
  }

  /// Returns the length-prefixed strings of which the data consists, each escaped. If `escapesDots`
  /// is true, the strings are the labels of a name, so dots are escaped instead of quotation marks.
  private static func labels(_ wire: [UInt8], escapesDots: Bool = true) -> [String] {
    var rest = wire[...]
    var parts: [String] = []
    while let length = rest.popFirst(), length > 0 || !escapesDots {
      let part = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(part.count)
      let special: [UInt8] = escapesDots ? [0x2E, 0x5C] : [0x22, 0x5C]
      parts.append(escaped(part, special))
    }
    return parts
  }

  private static func escaped(_ bytes: [UInt8], _ special: [UInt8]) -> String {
    let isText = String(validating: bytes, as: UTF8.self) != nil
    var out: [UInt8] = []
    for byte in bytes {
      if special.contains(byte) {
        out += [0x5C, byte]
      } else if byte < 0x20 || byte == 0x7F || byte >= 0x80 && !isText {
        out += [0x5C, 48 + byte / 100, 48 + byte / 10 % 10, 48 + byte % 10]
      } else {
        out.append(byte)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}
