/// How many columns text takes. Names come from strangers: what would move the cursor, colour the
/// screen or join other characters takes none, and is never written.
package enum TextWidth {
  /// 0 for what is not to be shown, 2 for East Asian wide characters and pictures, else 1.
  package static func columns(of scalar: Unicode.Scalar) -> Int {
    if (0x20...0x7E).contains(scalar.value) { return 1 }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
      .paragraphSeparator, .nonspacingMark, .enclosingMark, .spacingMark:
      return 0
    default: return isWide(scalar) ? 2 : 1
    }
  }

  /// The sum over the text's characters.
  package static func columns(of text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + columns(of: $1) }
  }

  /// The text for a line of a log: without what moves a cursor, ends a line or turns others round.
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

  /// The text on one line with what `plain` leaves out written as `\u{1B}`, so that it can be
  /// seen; what joins pictures stays.
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

  /// As much of the text as fits, with an ellipsis where something was cut.
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

  /// The wide blocks of Unicode Standard Annex 11, coarsely.
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
