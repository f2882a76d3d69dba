/// What one cell of the terminal shows.
package struct Cell: Hashable, Sendable {
  /// The character; `Cell.tail` for the right half of a wide one.
  package var glyph: Unicode.Scalar
  /// The character's colour; of a half block, the upper pixel's.
  package var foreground: Color
  /// The ground's colour; of a half block, the lower pixel's.
  package var background: Color
  /// Whether the character is in bold type.
  package var isBold: Bool

  /// A cell with this character in these colours.
  package init(
    _ glyph: Unicode.Scalar, _ foreground: Color, on background: Color, isBold: Bool = false
  ) {
    self.glyph = glyph
    self.foreground = foreground
    self.background = background
    self.isBold = isBold
  }

  /// Stands in the second column of a character two columns wide.
  package static let tail: Unicode.Scalar = "\0"
  /// Shows two pixels.
  package static let halfBlock: Unicode.Scalar = "▀"
}
