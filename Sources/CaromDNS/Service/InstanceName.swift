/// The rules for the user-visible part of a service's name, which is one label (RFC 6763 §4.1.1).
package enum InstanceName {
  /// Throws an error if `name` is not a valid instance name.
  package static func validate(_ name: String) throws(InstanceNameError) {
    let name = name.composed
    let count = name.utf8.count
    guard count > 0 else { throw .empty }
    guard count <= Name.maximumLabelLength else { throw .tooLong(count) }
    guard name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw .controlCharacter }
  }

  /// Returns the name to try if `name` is taken: "X" becomes "X (2)", and "X (2)" becomes "X (3)"
  /// (RFC 6763 appendix D). Long names are shortened to fit in 63 bytes.
  package static func successor(of name: String, by step: Int = 1) -> String {
    let (base, number) = split(name, before: " (", after: ")")
    return joined(base, " (\(number + step))")
  }

  /// Returns the host label to try if `label` is taken: "host" becomes "host-2", and "host-2"
  /// becomes "host-3".
  package static func hostSuccessor(of label: String, by step: Int = 1) -> String {
    let (base, number) = split(label, before: "-", after: "")
    return joined(base, "-\(number + step)")
  }

  /// Returns a valid host label derived from any text: 1 to 63 ASCII letters, digits and inner
  /// hyphens (RFC 1123 §2.1).
  package static func hostLabel(from text: String) -> String {
    let allowed = text.unicodeScalars.map { scalar in
      let isLegal = scalar.isASCII && (scalar.properties.isAlphabetic || isDigit(scalar))
      return isLegal ? Character(scalar) : "-"
    }
    let words = String(allowed).split(separator: "-")
    let label = words.joined(separator: "-").prefix(Name.maximumLabelLength)
    let trimmed = label.hasSuffix("-") ? label.dropLast() : label
    return trimmed.isEmpty ? "host" : String(trimmed)
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  /// Splits a name into the part before its counter and the counter, which is 1 if the name has
  /// none. In the name, the counter stands between the strings `before` and `after`.
  private static func split(_ name: String, before: String, after: String) -> (Substring, Int) {
    guard name.hasSuffix(after) else { return (name[...], 1) }
    let inner = name.dropLast(after.count)
    let digits = String(inner.reversed().prefix { $0.isASCII && $0.isNumber }.reversed())
    let head = inner.dropLast(digits.count)
    guard head.hasSuffix(before), head.count > before.count, (1...6).contains(digits.count),
      let number = Int(digits), number > 1
    else { return (name[...], 1) }
    return (head.dropLast(before.count), number)
  }

  private static func joined(_ base: Substring, _ suffix: String) -> String {
    var base = base
    while base.utf8.count + suffix.utf8.count > Name.maximumLabelLength { base.removeLast() }
    return base + suffix
  }
}

/// The reason why text is not a valid instance name.
package enum InstanceNameError: Error, Hashable, Sendable {
  /// The name is empty.
  case empty
  /// The name is too long: it has the given number of UTF-8 bytes, and at most 63 are allowed.
  case tooLong(Int)
  /// The name contains the byte 0x7F or a byte below 0x20.
  case controlCharacter
}
