/// A cell as the terminal can tell it apart from others: two that would be sent alike are equal.
struct EncodedCell: Hashable, Sendable {
  /// Stands for "whatever the terminal has".
  static let noColor = UInt32.max
  /// A brighter pixel is set where there are no colours: rails, lines and discs, not the field
  /// with its faint score.
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

  /// The same cell with another foreground.
  init(_ cell: EncodedCell, foreground: UInt32) {
    glyph = cell.glyph
    self.foreground = foreground
    background = cell.background
    isBold = cell.isBold
  }

  private static func code(_ color: Color) -> UInt32 {
    UInt32(color.red) << 16 | UInt32(color.green) << 8 | UInt32(color.blue)
  }

  /// Half blocks by brightness alone; text stays text.
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
