import CaromPhysics

/// A field of pixels, two of which (one above the other) make a terminal's cell.
package struct Canvas: Hashable, Sendable {
  /// Pixels in a row.
  package let width: Int
  /// Rows of pixels.
  package let height: Int
  private var pixels: [Color]

  /// A canvas all in one colour.
  package init(width: Int, height: Int, filledWith color: Color) {
    precondition(width > 0 && height > 0, "a canvas has at least one pixel")
    self.width = width
    self.height = height
    pixels = Array(repeating: color, count: width * height)
  }

  /// The pixel in column `x` of row `y`; both have to lie on the canvas.
  package subscript(x: Int, y: Int) -> Color {
    get { pixels[y * width + x] }
    set { pixels[y * width + x] = newValue }
  }

  /// Lays `color` over the pixels whose centres lie within `reach` of `center`, each as strongly
  /// as `coverage` says for its distance from there (0 to 1).
  package mutating func paintRound(
    _ center: Vector, reach: Double, _ color: Color, coverage: (Double) -> Double
  ) {
    let corner = Vector(reach, reach)
    paint(from: center - corner, to: center + corner, color) { point in
      coverage((point - center).length)
    }
  }

  /// Lays `color` over the pixels of a box, each as strongly as `coverage` says for its centre.
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

/// How much of a pixel an edge leaves covered: `distance` is from the edge, in pixels, negative
/// inside. A shape's border is one pixel wide.
func edge(_ distance: Double) -> Double { min(max(0.5 - distance, 0), 1) }
