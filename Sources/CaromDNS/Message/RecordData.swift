import CaromCore

/// The data of a record, decoded by type.
package enum RecordData: Hashable, Sendable {
  /// An A or AAAA record's address, without an IPv6 scope.
  case address(IPAddress)
  /// A PTR record's target name.
  case pointer(Name)
  /// An SRV record (RFC 2782).
  case service(priority: UInt16, weight: UInt16, port: UInt16, target: Name)
  /// A TXT record's strings, each preceded by its length byte; `TXTRecord` decodes them.
  case text([UInt8])
  /// An NSEC record in the restricted form of RFC 6762 §6.1: the types below 256 that exist for the
  /// name, in ascending order.
  case types(next: Name, [RecordType])
  /// The data of any other type, which is not interpreted.
  case raw(RecordType, [UInt8])

  /// The record type to which the data belongs.
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

  /// Returns whether this is the data of an NSEC record that denies that its name has records of
  /// the type (RFC 6762 §6.1). PTR record sets are shared and cannot be denied.
  package func denies(_ type: RecordType) -> Bool {
    guard case .types(_, let types) = self, type.rawValue < 256 else { return false }
    return ![.ptr, .any, .nsec].contains(type) && !types.contains(type)
  }

  /// The data in wire format without name compression, the form in which simultaneous-probe
  /// tiebreaking compares it (RFC 6762 §8.2).
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

  /// Returns the NSEC type bitmap: one window block for the types below 256 (RFC 4034 §4.1.2).
  static func bitmap(of types: [RecordType]) -> [UInt8] {
    var bits = [UInt8](repeating: 0, count: 32)
    for type in types where type.rawValue < 256 {
      bits[Int(type.rawValue / 8)] |= 0x80 >> UInt8(type.rawValue % 8)
    }
    let count = (bits.lastIndex { $0 != 0 } ?? 0) + 1
    return [0, UInt8(count)] + bits[..<count]
  }
}
