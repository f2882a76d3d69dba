/// A cell as it is sent to the terminal. Two cells that would be sent as the same bytes are equal.
struct EncodedCell: Hashable, Sendable {
  /// The value that stands for the terminal's default color.
  static let noColor = UInt32.max
  /// The brightness, 0 to 255, above which a pixel is drawn on a terminal without colors. Rails,
  /// lines and discs are brighter; the field and its faint score are not.
  static let brightnessLimit = 66

  let glyph: Unicode.Scalar
  let foreground: UInt32
  let background: UInt32
  let isBold: Bool

  init(_ cell: Cell, _ depth: ColorDepth) {
    isBold = cell.isBold
    switch depth {
    case .none:
      glyph = Self.block(cell)
      foreground = Self.noColor
      background = Self.noColor
    case .palette:
      glyph = cell.glyph
      background = UInt32(cell.background.paletteIndex)
      foreground = glyph == " " ? background : UInt32(cell.foreground.paletteIndex)
    case .full:
      glyph = cell.glyph
      background = Self.code(cell.background)
      foreground = glyph == " " ? background : Self.code(cell.foreground)
    }
  }

  /// Creates a copy of `cell` with a different foreground color.
  init(_ cell: EncodedCell, foreground: UInt32) {
    glyph = cell.glyph
    self.foreground = foreground
    background = cell.background
    isBold = cell.isBold
  }

  private static func code(_ color: Color) -> UInt32 {
    UInt32(color.red) << 16 | UInt32(color.green) << 8 | UInt32(color.blue)
  }

  /// Returns the half block that represents the cell's two pixels by brightness alone. For a cell
  /// of text, returns the cell's own character.
  private static func block(_ cell: Cell) -> Unicode.Scalar {
    guard cell.glyph == Cell.halfBlock || cell.glyph == " " else { return cell.glyph }
    let upper = cell.glyph == " " ? cell.background : cell.foreground
    switch (upper.brightness > brightnessLimit, cell.background.brightness > brightnessLimit) {
    case (true, true): return "█"
    case (true, false): return "▀"
    case (false, true): return "▄"
    case (false, false): return " "
    }
  }
}
