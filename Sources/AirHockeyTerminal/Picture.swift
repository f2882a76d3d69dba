import CaromPhysics

/// Renders screens as image files, for the README.
package enum Picture {
  /// The width of a cell in pixels. A cell is twice as high.
  static let cellWidth = 12

  /// Returns the screen as a portable pixmap (PPM, 8 bits per channel).
  package static func ppm(_ screen: Screen) -> [UInt8] {
    let canvas = render(screen)
    var bytes = Array("P6\n\(canvas.width) \(canvas.height)\n255\n".utf8)
    bytes.reserveCapacity(bytes.count + 3 * canvas.width * canvas.height)
    for y in 0..<canvas.height {
      for x in 0..<canvas.width {
        let color = canvas[x, y]
        bytes += [color.red, color.green, color.blue]
      }
    }
    return bytes
  }

  private static func render(_ screen: Screen) -> Canvas {
    let (width, height) = (cellWidth, 2 * cellWidth)
    var canvas = Canvas(
      width: screen.columns * width, height: screen.rows * height, filledWith: Palette.backdrop)
    for row in 0..<screen.rows {
      for column in 0..<screen.columns {
        let cell = screen[column, row]
        for y in 0..<height {
          let isUpper = cell.glyph == Cell.halfBlock && y < height / 2
          for x in 0..<width {
            canvas[column * width + x, row * height + y] =
              isUpper ? cell.foreground : cell.background
          }
        }
        guard cell.glyph != Cell.halfBlock, cell.glyph != " ", cell.glyph != Cell.tail else {
          continue
        }
        let middle = Vector(
          Double(column * width + width / 2 - 1), Double(row * height + height / 2))
        canvas.write(
          String(cell.glyph), around: middle, size: width / PixelFont.advance, cell.foreground,
          strength: 1)
      }
    }
    return canvas
  }
}
