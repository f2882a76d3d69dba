import AirHockey
import CaromPhysics

/// Paints everything that does not move: rails, goal mouths, the field and its lines.
struct FieldPainter {
  let layout: Layout
  /// The size of one pixel in meters, which is the minimum width of a line.
  private var pixel: Double { 1 / layout.scale }

  func paint() -> Canvas {
    var canvas = Canvas(
      width: layout.columns, height: 2 * layout.rows, filledWith: Palette.backdrop)
    for y in 0..<canvas.height {
      for x in 0..<canvas.width {
        let place = layout.place(Vector(Double(x) + 0.5, Double(y) + 0.5))
        canvas[x, y] = color(at: place)
      }
    }
    return canvas
  }

  private func color(at place: Vector) -> Color {
    let outer = boxDistance(
      place, halfLength: Preset.halfLength + Layout.rail, halfWidth: Preset.halfWidth + Layout.rail,
      radius: 1.6 * Layout.rail)
    let inner = boxDistance(
      place, halfLength: Preset.halfLength, halfWidth: Preset.halfWidth, radius: 0)
    var color = Palette.backdrop.mixed(with: rail(at: place, inner), edge(outer / pixel))
    color = color.mixed(with: field(at: place), edge(inner / pixel))
    return mouth(at: place, over: color)
  }

  /// Returns the rail's color at `place`, with light from above: the outer edge of the upper rail
  /// and the inner edge of the lower rail are bright. `inner` is the distance from the rail's inner
  /// edge in meters.
  private func rail(at place: Vector, _ inner: Double) -> Color {
    let across = min(max(inner / Layout.rail, 0), 1)
    let lit = place.y > Preset.halfWidth ? across : 1 - across
    let shaded = Palette.rail.mixed(with: Palette.railLight, 0.55 * lit * lit)
    return shaded.mixed(with: Palette.railDark, 0.08 * (1 - lit))
  }

  private func field(at place: Vector) -> Color {
    let (x, y) = (place.x / Preset.halfLength, place.y / Preset.halfWidth)
    let middle = max(0, 1 - 0.55 * (x * x + y * y))
    var color = Palette.fieldEdge.mixed(with: Palette.fieldMiddle, middle)
    let side = place.x < 0 ? Palette.left : Palette.right
    color = color.mixed(with: side, 0.05 * abs(x))
    let thickness = max(0.006, 0.5 * pixel)
    let ring = abs(place.length - 0.17) - thickness
    let center = abs(place.x) - thickness
    color = color.mixed(with: Palette.line, 0.6 * edge(min(ring, center) / pixel))
    let spot = place.length - max(0.014, 0.8 * pixel)
    color = color.mixed(with: Palette.line, 0.8 * edge(spot / pixel))
    let goal = Vector(place.x < 0 ? -Preset.halfLength : Preset.halfLength, 0)
    let crease = abs((place - goal).length - 1.9 * Preset.goalHalfWidth) - thickness
    return color.mixed(with: side, 0.4 * edge(crease / pixel))
  }

  /// Returns `color` with the goal mouths in the end rails painted over it. A mouth is dark, with a
  /// rim in its player's color.
  private func mouth(at place: Vector, over color: Color) -> Color {
    let depth = abs(place.x) - Preset.halfLength
    guard depth > -0.5 * pixel, depth < Layout.rail + pixel else { return color }
    let side = place.x < 0 ? Palette.left : Palette.right
    let opening = edge((abs(place.y) - Preset.goalHalfWidth) / pixel)
    let inside = edge((depth - Layout.rail) / pixel)
    let glow = side.mixed(with: Palette.black, min(max(depth / Layout.rail, 0), 1) * 0.75)
    let post = abs(abs(place.y) - Preset.goalHalfWidth - 0.012) - 0.012
    return color.mixed(with: glow, opening * inside)
      .mixed(with: side, 0.9 * edge(post / pixel) * inside * (1 - opening))
  }

  /// Returns the signed distance from a place to the edge of a box with rounded corners, in meters.
  /// The distance is negative inside the box.
  private func boxDistance(
    _ place: Vector, halfLength: Double, halfWidth: Double, radius: Double
  ) -> Double {
    let x = abs(place.x) - halfLength + radius
    let y = abs(place.y) - halfWidth + radius
    return Vector(max(x, 0), max(y, 0)).length + min(max(x, y), 0) - radius
  }
}
