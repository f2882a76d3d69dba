/// Functions that measure the width of text on a terminal, and that make text safe to write there.
/// Names come from other machines, so characters that would move the cursor, change colors or join
/// other characters have no width and are never written.
package enum TextWidth {
  /// Returns the width of a character in columns: 0 if it must not be written, 2 for East Asian
  /// wide characters and emoji, otherwise 1.
  package static func columns(of scalar: Unicode.Scalar) -> Int {
    if (0x20...0x7E).contains(scalar.value) { return 1 }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
      .paragraphSeparator, .nonspacingMark, .enclosingMark, .spacingMark:
      return 0
    default: return isWide(scalar) ? 2 : 1
    }
  }

  /// Returns the width of `text` in columns.
  package static func columns(of text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + columns(of: $1) }
  }

  /// Returns the text without the characters that move the cursor, end the line or change the text
  /// direction, for use in one line of a log.
  package static func plain(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: break
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// Returns the text on one line, with visible escapes such as `\u{1B}` in place of the characters
  /// that `plain` removes. Characters that join emoji remain.
  package static func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .format where scalar.value == 0x200C || scalar.value == 0x200D:
        out.unicodeScalars.append(scalar)
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
        .paragraphSeparator:
        out += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  /// Returns the text truncated to `limit` columns; an ellipsis marks the cut.
  package static func fitting(_ text: String, _ limit: Int) -> String {
    guard columns(of: text) > limit else { return text }
    var taken = 0
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      taken += columns(of: scalar)
      if taken > limit - 1 { break }
      scalars.append(scalar)
    }
    return limit > 0 ? String(scalars) + "…" : ""
  }

  /// Returns whether a character is two columns wide, according to an approximation of the blocks
  /// in Unicode Standard Annex 11.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F000...0x1FAFF,
      0x20000...0x3FFFD:
      true
    default: scalar.properties.isEmojiPresentation
    }
  }
}
