import CaromGroup

/// The name of a resource as the name of a file on the wire.
///
/// A resource may have any name; the name of a file must not begin with a dot, and contains neither
/// a separator nor an invisible character. Such characters, and the percent sign, are written as
/// "%" and two hexadecimal digits for each byte of UTF-8. An empty name is written as "%".
enum ResourceName {
  /// Returns the name of the file; nil if it would have more than 255 bytes.
  static func fileName(for name: String) -> FileName? {
    if name.isEmpty { return FileName("%") }
    var text = ""
    for scalar in name.unicodeScalars {
      let piece = String(Character(scalar))
      let isHidden = text.isEmpty && scalar == "."
      let isPlain = scalar != "%" && !isHidden && FileName("a\(piece)") != nil
      text += isPlain ? piece : escape(piece)
    }
    return FileName(text)
  }

  private static func escape(_ text: String) -> String {
    text.utf8.reduce(into: "") { result, byte in
      result += byte < 16 ? "%0" : "%"
      result += String(byte, radix: 16)
    }
  }

  /// Returns the name that was written as the name of a file. A name that no sender of this module
  /// has written is returned as it is.
  static func name(of file: FileName) -> String {
    if file.text == "%" { return "" }
    let text = Array(file.text.utf8)
    var bytes: [UInt8] = []
    var index = 0
    while index < text.count {
      if text[index] == UInt8(ascii: "%") {
        let digits = String(decoding: text[index...].dropFirst().prefix(2), as: UTF8.self)
        guard digits.utf8.count == 2, let byte = UInt8(digits, radix: 16) else { return file.text }
        bytes.append(byte)
        index += 3
      } else {
        bytes.append(text[index])
        index += 1
      }
    }
    return String(validating: bytes, as: UTF8.self) ?? file.text
  }
}
