/// A key of a map: an integer where the `CodingKey` has one, else a text.
///
/// The standard library gives the text "7" of a dictionary the integer 7, and "007" too: an integer
/// stands for a numeral only if it is that numeral.
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
  /// The order of the encoded bytes: integers from 0 up, then from -1 down, then texts, the
  /// shorter first.
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
