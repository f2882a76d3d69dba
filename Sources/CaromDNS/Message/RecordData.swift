import CaromCore

/// What a record says, by its type.
package enum RecordData: Hashable, Sendable {
  /// A or AAAA, without scope.
  case address(IPAddress)
  /// PTR.
  case pointer(Name)
  /// SRV (RFC 2782).
  case service(priority: UInt16, weight: UInt16, port: UInt16, target: Name)
  /// TXT: strings behind their length bytes; `TXTRecord` reads them.
  case text([UInt8])
  /// NSEC in the form of RFC 6762 §6.1: the types below 256 that the name has, ascending.
  case types(next: Name, [RecordType])
  /// A type that these machines do not read, as it came.
  case raw(RecordType, [UInt8])

  /// The record's type.
  package var type: RecordType {
    switch self {
    case .address(let address): address.isV6 ? .aaaa : .a
    case .pointer: .ptr
    case .service: .srv
    case .text: .txt
    case .types: .nsec
    case .raw(let type, _): type
    }
  }

  /// The bytes without compression, as tiebreaks compare them (RFC 6762 §8.2).
  package var uncompressed: [UInt8] {
    switch self {
    case .address(let address): return address.bytes
    case .pointer(let name): return name.wire + [0]
    case .service(let priority, let weight, let port, let target):
      var writer = PacketWriter(capacity: 8 + target.wire.count)
      for field in [priority, weight, port] { writer.writeBigEndian(field) }
      return writer.bytes + target.wire + [0]
    case .text(let bytes), .raw(_, let bytes): return bytes
    case .types(let next, let types): return next.wire + [0] + Self.bitmap(of: types)
    }
  }

  /// One window block for the types below 256 (RFC 4034 §4.1.2).
  static func bitmap(of types: [RecordType]) -> [UInt8] {
    var bits = [UInt8](repeating: 0, count: 32)
    for type in types where type.rawValue < 256 {
      bits[Int(type.rawValue / 8)] |= 0x80 >> UInt8(type.rawValue % 8)
    }
    let count = (bits.lastIndex { $0 != 0 } ?? 0) + 1
    return [0, UInt8(count)] + bits[..<count]
  }
}
