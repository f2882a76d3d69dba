/// A QR code (ISO/IEC 18004): a square of dark and light modules.
package struct QRCode: Hashable, Sendable {
  /// The width of the light margin that readers need on each side, in modules (ISO/IEC 18004).
  package static let quietZone = 4

  /// The text that the code contains.
  package let text: String
  /// The number of modules in each row, without the margin.
  package let size: Int
  /// Whether each module is dark, row by row.
  private let darkness: [Bool]

  /// Creates the code of `text`, which has `size` rows and columns. `isDark` tells whether the
  /// module in a column and a row is dark.
  package init(_ text: String, size: Int, isDark: (_ x: Int, _ y: Int) -> Bool) {
    self.text = text
    self.size = size
    darkness = (0..<size * size).map { isDark($0 % size, $0 / size) }
  }

  /// Whether the module in column `x` of row `y` is dark. The modules of the margin are light.
  package subscript(x: Int, y: Int) -> Bool {
    let indices = 0..<size
    return indices.contains(x) && indices.contains(y) && darkness[y * size + x]
  }

  /// The code as lines of ASCII text, for output that is not a terminal. A dark module is `##`, and
  /// a light one is two blanks. The margin is included, except for blanks at the end of a line.
  package var lines: [String] {
    (-Self.quietZone..<size + Self.quietZone).map { y in
      let dark = (0..<size).filter { self[$0, y] }
      guard let last = dark.last else { return "" }
      return (-Self.quietZone...last).map { self[$0, y] ? "##" : "  " }.joined()
    }
  }
}
