import AirHockey
import CaromPhysics

/// Where things stand on a screen of a given size: a line of names above, a line of figures below,
/// and the table, as large as fits, in the middle.
package struct Layout: Hashable, Sendable {
  /// The smallest screen that a table fits on.
  package static let minimumColumns = 40
  /// The smallest screen that a table fits on.
  package static let minimumRows = 12
  /// How broad the rails are, in metres.
  static let rail = 0.056

  /// Cells in a row.
  package let columns: Int
  /// Rows of cells.
  package let rows: Int
  /// Pixels a metre; a cell is one pixel wide and two high.
  package let scale: Double
  /// Where the table's middle lies, in pixels.
  let center: Vector

  /// The layout for a screen; `nil` where it is too small.
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

  /// Where a place on the table lies, in pixels from the screen's upper left corner.
  package func pixel(_ place: Vector) -> Vector {
    center + Vector(place.x, -place.y) * scale
  }

  /// The place on the table under a pixel.
  package func place(_ pixel: Vector) -> Vector {
    let offset = (pixel - center) * (1 / scale)
    return Vector(offset.x, -offset.y)
  }

  /// The place on the table under the middle of one of the parts that a window is divided in:
  /// its cells, or its pixels.
  package func place(x: Int, y: Int, of parts: (width: Int, height: Int)) -> Vector {
    place(
      Vector(
        (Double(x) + 0.5) * Double(columns) / Double(parts.width),
        (Double(y) + 0.5) * Double(2 * rows) / Double(parts.height)))
  }
}
