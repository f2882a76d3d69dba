extension PacketWriter {
  /// Appends a signed integer in two's complement, little-endian.
  @inlinable public mutating func write<Value: FixedWidthInteger & SignedInteger>(_ value: Value)
  where Value.Magnitude: UnsignedInteger & FixedWidthInteger {
    write(Value.Magnitude(truncatingIfNeeded: value))
  }

  /// Appends a signed integer as 8 bytes, even on platforms where `Int` has 4 bytes.
  public mutating func write(_ value: Int) { write(Int64(value)) }

  /// Appends 1 for true and 0 for false.
  public mutating func write(_ value: Bool) { append(value ? 1 : 0) }

  /// Appends a number's IEEE 754 bits, 4 bytes, little-endian.
  public mutating func write(_ value: Float) { write(value.bitPattern) }

  /// Appends a number's IEEE 754 bits, 8 bytes, little-endian.
  public mutating func write(_ value: Double) { write(value.bitPattern) }

  /// Appends 1 and the value, or 0 if there is none.
  public mutating func writeOptional(_ value: (some PacketCodable)?) {
    append(value == nil ? 0 : 1)
    value?.encode(into: &self)
  }

  /// Appends the number of values (`VarInt`), then the values.
  public mutating func writeArray(_ values: [some PacketCodable]) {
    writeVarInt(UInt64(values.count))
    for value in values { value.encode(into: &self) }
  }
}

extension PacketReader {
  /// Reads a signed integer in two's complement, little-endian.
  @inlinable public mutating func read<Value: FixedWidthInteger & SignedInteger>(
    _ type: Value.Type = Value.self
  ) throws(DecodeError) -> Value where Value.Magnitude: UnsignedInteger & FixedWidthInteger {
    Value(truncatingIfNeeded: try read(Value.Magnitude.self))
  }

  /// Reads a signed integer of 8 bytes. Throws `invalid` if `Int` has 4 bytes on this platform and
  /// the value does not fit.
  public mutating func read(_ type: Int.Type = Int.self) throws(DecodeError) -> Int {
    guard let value = Int(exactly: try read(Int64.self)) else {
      throw .invalid(what: "Int: out of range")
    }
    return value
  }

  /// Reads a truth value. Throws `invalid` if the byte is neither 0 nor 1.
  public mutating func read(_ type: Bool.Type = Bool.self) throws(DecodeError) -> Bool {
    switch try read(UInt8.self) {
    case 0: return false
    case 1: return true
    default: throw .invalid(what: "Bool: neither 0 nor 1")
    }
  }

  /// Reads a number's IEEE 754 bits, 4 bytes, little-endian. Accepts every bit pattern, including
  /// those of infinities and NaN.
  public mutating func read(_ type: Float.Type = Float.self) throws(DecodeError) -> Float {
    Float(bitPattern: try read())
  }

  /// Reads a number's IEEE 754 bits, 8 bytes, little-endian. Accepts every bit pattern, including
  /// those of infinities and NaN.
  public mutating func read(_ type: Double.Type = Double.self) throws(DecodeError) -> Double {
    Double(bitPattern: try read())
  }

  /// Reads a value that may be absent. Throws `invalid` if the first byte is neither 0 nor 1.
  public mutating func readOptional<Value: PacketCodable>(
    _ type: Value.Type = Value.self
  ) throws(DecodeError) -> Value? {
    switch try read(UInt8.self) {
    case 0: return nil
    case 1: return try Value(decoding: &self)
    default: throw .invalid(what: "optional: neither absent nor present")
    }
  }

  /// Reads values that `writeArray` wrote. Throws `tooLarge` if there are more than `limit`.
  /// Reserves capacity for at most as many values as there are bytes left.
  public mutating func readArray<Value: PacketCodable>(
    of type: Value.Type = Value.self, limit: Int
  ) throws(DecodeError) -> [Value] {
    let count = try readVarInt()
    guard count <= UInt64(limit) else { throw .tooLarge(length: count, limit: UInt64(limit)) }
    var values: [Value] = []
    values.reserveCapacity(min(Int(count), remaining))
    for _ in 0..<count { values.append(try Value(decoding: &self)) }
    return values
  }
}

// Numbers as elements of arrays, as optionals and as messages.

extension UInt8: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(UInt8.self)
  }
}

extension UInt16: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(UInt16.self)
  }
}

extension UInt32: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(UInt32.self)
  }
}

extension UInt64: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(UInt64.self)
  }
}

extension Int8: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(Int8.self)
  }
}

extension Int16: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(Int16.self)
  }
}

extension Int32: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(Int32.self)
  }
}

extension Int64: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(Int64.self)
  }
}

extension Int: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(Int.self)
  }
}

extension Float: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(Float.self)
  }
}

extension Double: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(Double.self)
  }
}

extension Bool: PacketCodable {
  /// Appends the value as `PacketWriter.write` does.
  public func encode(into writer: inout PacketWriter) { writer.write(self) }
  /// Reads the value as `PacketReader.read` does.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    self = try reader.read(Bool.self)
  }
}
