/// The contents of one cell of the terminal.
package struct Cell: Hashable, Sendable {
  /// The character, or `Cell.tail` in the second column of a wide character.
  package var glyph: Unicode.Scalar
  /// The character's color. For a half block, the color of the upper pixel.
  package var foreground: Color
  /// The background color. For a half block, the color of the lower pixel.
  package var background: Color
  /// Whether the character is bold.
  package var isBold: Bool

  /// Creates a cell with the given character and colors.
  package init(
    _ glyph: Unicode.Scalar, _ foreground: Color, on background: Color, isBold: Bool = false
  ) {
    self.glyph = glyph
    self.foreground = foreground
    self.background = background
    self.isBold = isBold
  }

  /// The placeholder in the second column of a character that is two columns wide.
  package static let tail: Unicode.Scalar = "\0"
  /// The character that shows two pixels: the upper one in the foreground color, the lower one in
  /// the background color.
  package static let halfBlock: Unicode.Scalar = "▀"
}
