/// A key of a CBOR map: the `CodingKey`'s integer value if it has one, otherwise its string value.
///
/// For the string keys of a dictionary, the standard library turns both "7" and "007" into coding
/// keys with the integer value 7. Such a key is encoded as an integer only if the integer's decimal
/// form equals the key's string value.
enum CBORKey: Hashable {
  case integer(Int)
  case text([UInt8])

  init(_ key: some CodingKey) {
    let text = key.stringValue
    if let integer = key.intValue, Int(text) == nil || String(integer) == text {
      self = .integer(integer)
    } else {
      self = .text(Array(text.utf8))
    }
  }

  func write(into writer: inout CBORWriter) {
    switch self {
    case .integer(let value): writer.write(Int64(value))
    case .text(let utf8):
      writer.writeHead(.text, UInt64(utf8.count))
      writer.writeRaw(utf8)
    }
  }
}

extension CBORKey: Comparable {
  /// Orders keys by their encoded bytes: integers from 0 upwards, then integers from -1 downwards,
  /// then strings, with shorter strings first.
  static func < (a: CBORKey, b: CBORKey) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)):
      (a < 0) == (b < 0) ? a.magnitude < b.magnitude : a >= 0
    case (.integer, .text): true
    case (.text, .integer): false
    case (.text(let a), .text(let b)):
      a.count == b.count ? a.lexicographicallyPrecedes(b) : a.count < b.count
    }
  }
}
