import CaromCore

/// The name of a file that is sent to another peer: one component of a path, which cannot denote a
/// file in another folder.
///
/// A name has 1 to 255 bytes of UTF-8. It contains no separator (`/` or `\`), no control character
/// and none of the invisible characters that change the direction or the lines of a text, because a
/// person has to see which file is offered. It does not begin with a dot: such a file would be
/// hidden, some programs run hidden files without being asked, and incomplete files have such
/// names.
public struct FileName: Hashable, Sendable {
  /// The maximum length of a name, in bytes of UTF-8. File systems have the same limit.
  public static let maximumLength = 255

  /// The name.
  public let text: String

  /// Creates a name. Returns nil if `text` is not a valid name.
  public init?(_ text: String) {
    // The scalars are examined rather than the characters, because a separator that is followed by
    // a combining mark is another character but still separates a path.
    guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.first != UInt8(ascii: "."),
      text.unicodeScalars.allSatisfy(Self.isAllowed)
    else { return nil }
    self.text = text
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: false  // control characters
    case 0x2F, 0x5C: false  // the separators / and \
    case 0x61C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false  // direction of text
    case 0x2028, 0x2029: false  // line and paragraph separators
    default: true
    }
  }

  /// Returns the name with a number before its extension: "photo (2).jpg". If the result would be
  /// longer than `maximumLength`, the part before the number is shortened.
  public func numbered(_ number: Int) -> FileName {
    let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")) ?? text.endIndex
    let suffix = " (\(number))\(text[dot...])"
    var stem = text[..<dot]
    if suffix.utf8.count >= Self.maximumLength {
      return FileName("file (\(number))") ?? self
    }
    while stem.utf8.count + suffix.utf8.count > Self.maximumLength { stem.removeLast() }
    return FileName(stem + suffix) ?? FileName("file (\(number))") ?? self
  }
}

extension FileName: CustomStringConvertible {
  /// The name itself.
  public var description: String { text }
}
