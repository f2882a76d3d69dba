import CaromPhysics

/// A grid of pixels. Two pixels, one above the other, fill one cell of the terminal.
package struct Canvas: Hashable, Sendable {
  /// The number of pixels in a row.
  package let width: Int
  /// The number of rows of pixels.
  package let height: Int
  private var pixels: [Color]

  /// Creates a canvas filled with one color.
  package init(width: Int, height: Int, filledWith color: Color) {
    precondition(width > 0 && height > 0, "a canvas has at least one pixel")
    self.width = width
    self.height = height
    pixels = Array(repeating: color, count: width * height)
  }

  /// Accesses the pixel in column `x` of row `y`, both of which must be on the canvas.
  package subscript(x: Int, y: Int) -> Color {
    get { pixels[y * width + x] }
    set { pixels[y * width + x] = newValue }
  }

  /// Blends `color` over the pixels whose centers are within `reach` of `center`. `coverage` maps a
  /// pixel's distance from `center` to the strength of the blend, 0 to 1.
  package mutating func paintRound(
    _ center: Vector, reach: Double, _ color: Color, coverage: (Double) -> Double
  ) {
    let corner = Vector(reach, reach)
    paint(from: center - corner, to: center + corner, color) { point in
      coverage((point - center).length)
    }
  }

  /// Blends `color` over the pixels of the box from `low` to `high`, in pixels. `coverage` maps a
  /// pixel's center to the strength of the blend, 0 to 1.
  package mutating func paint(
    from low: Vector, to high: Vector, _ color: Color,
    coverage: (Vector) -> Double
  ) {
    let columns = clamped(low.x, high.x, width)
    for y in clamped(low.y, high.y, height) {
      for x in columns {
        let share = coverage(Vector(Double(x) + 0.5, Double(y) + 0.5))
        guard share > 0 else { continue }
        self[x, y] = self[x, y].mixed(with: color, share)
      }
    }
  }

  private func clamped(_ low: Double, _ high: Double, _ limit: Int) -> Range<Int> {
    guard low.isFinite, high.isFinite, low < high else { return 0..<0 }
    let bound = Double(limit)
    let first = Int(min(max(low, 0), bound))
    return first..<max(first, Int(min(max(high.rounded(.up), 0), bound)))
  }
}

/// Returns the fraction of a pixel that a shape covers, 0 to 1, if the pixel's center is at
/// `distance` from the shape's edge. The distance is in pixels and negative inside the shape. The
/// edge is blended over one pixel.
func edge(_ distance: Double) -> Double { min(max(0.5 - distance, 0), 1) }
