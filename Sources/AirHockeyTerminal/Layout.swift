import AirHockey
import CaromPhysics

/// The layout of a screen of a given size: a line of names at the top, a status line at the bottom,
/// and between them the table, as large as possible.
package struct Layout: Hashable, Sendable {
  /// The minimum width of a screen, in cells.
  package static let minimumColumns = 40
  /// The minimum height of a screen, in cells.
  package static let minimumRows = 12
  /// The width of the rails, in meters.
  static let rail = 0.056

  /// The number of cells in a row.
  package let columns: Int
  /// The number of rows of cells.
  package let rows: Int
  /// The scale in pixels per meter. A cell is one pixel wide and two pixels high.
  package let scale: Double
  /// The center of the table on the screen, in pixels.
  let center: Vector

  /// Creates the layout for a screen. Returns nil if the screen is too small.
  package init?(columns: Int, rows: Int) {
    guard columns >= Self.minimumColumns, rows >= Self.minimumRows else { return nil }
    self.columns = columns
    self.rows = rows
    let height = Double(2 * (rows - 2))
    scale = min(
      Double(columns) / (2 * (Preset.halfLength + Self.rail)),
      height / (2 * (Preset.halfWidth + Self.rail)))
    center = Vector(Double(columns) / 2, Double(rows))
  }

  /// Converts a position on the table, in meters, to a position in pixels from the screen's upper
  /// left corner.
  package func pixel(_ place: Vector) -> Vector {
    center + Vector(place.x, -place.y) * scale
  }

  /// Converts a position in pixels from the screen's upper left corner to a position on the table,
  /// in meters.
  package func place(_ pixel: Vector) -> Vector {
    let offset = (pixel - center) * (1 / scale)
    return Vector(offset.x, -offset.y)
  }

  /// Returns the position on the table, in meters, at the center of the cell or pixel in column `x`
  /// and row `y` of the window. `parts` is the number of cells or pixels into which the window is
  /// divided.
  package func place(x: Int, y: Int, of parts: (width: Int, height: Int)) -> Vector {
    place(
      Vector(
        (Double(x) + 0.5) * Double(columns) / Double(parts.width),
        (Double(y) + 0.5) * Double(2 * rows) / Double(parts.height)))
  }
}
