import CaromCore

/// Writes CBOR items (RFC 8949), each in its shortest form.
struct CBORWriter {
  private var writer = PacketWriter()
  /// The number of items written so far: numbers, strings, containers and keys.
  private(set) var itemCount = 0

  var bytes: [UInt8] { writer.bytes }

  /// Writes the initial byte of an item and its argument in the fewest bytes (RFC 8949 §4.2.1).
  mutating func writeHead(_ major: CBORMajor, _ argument: UInt64) {
    itemCount += 1
    let top = major.rawValue << 5
    switch argument {
    case 0..<24: writer.append(top | UInt8(argument))
    case 24...0xFF:
      writer.append(top | 24)
      writer.append(UInt8(argument))
    case 0x100...0xFFFF:
      writer.append(top | 25)
      writer.writeBigEndian(UInt16(argument))
    case 0x1_0000...0xFFFF_FFFF:
      writer.append(top | 26)
      writer.writeBigEndian(UInt32(argument))
    default:
      writer.append(top | 27)
      writer.writeBigEndian(argument)
    }
  }

  mutating func write(_ value: Int64) {
    if value >= 0 {
      writeHead(.unsigned, UInt64(value))
    } else {
      writeHead(.negative, UInt64(bitPattern: ~value))
    }
  }

  mutating func write(_ text: String) {
    let utf8 = text.utf8
    writeHead(.text, UInt64(utf8.count))
    writer.write(utf8)
  }

  mutating func write(_ bytes: [UInt8]) {
    writeHead(.bytes, UInt64(bytes.count))
    writer.write(bytes)
  }

  /// Writes a simple value: 20 is false, 21 is true and 22 is null (RFC 8949 §3.3).
  mutating func writeSimple(_ value: UInt8) {
    itemCount += 1
    writer.append(CBORMajor.simple.rawValue << 5 | value)
  }

  /// Writes a floating-point number in the shortest of the three widths that represents it exactly.
  /// All NaNs have the same encoding (RFC 8949 §4.2.2).
  mutating func write(_ value: Double) {
    itemCount += 1
    let top = CBORMajor.simple.rawValue << 5
    if value.isNaN {
      writer.append(top | 25)
      writer.writeBigEndian(UInt16(0x7E00))
    } else if let half = HalfFloat(exactly: value) {
      writer.append(top | 25)
      writer.writeBigEndian(half.bits)
    } else if Double(Float(value)) == value {
      writer.append(top | 26)
      writer.writeBigEndian(Float(value).bitPattern)
    } else {
      writer.append(top | 27)
      writer.writeBigEndian(value.bitPattern)
    }
  }

  /// Writes the bytes of a string whose head has been written.
  mutating func writeRaw(_ bytes: [UInt8]) { writer.write(bytes) }

  /// Writes the items that another writer has written.
  mutating func write(_ other: CBORWriter) {
    writer.write(other.bytes)
    itemCount += other.itemCount
  }
}

/// The eight major types of CBOR items (RFC 8949 §3.1).
enum CBORMajor: UInt8 {
  case unsigned, negative, bytes, text, array, map, tag, simple
}
