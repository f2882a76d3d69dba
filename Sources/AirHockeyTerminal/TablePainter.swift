import AirHockey
import CaromPhysics

/// Paints the state of the game as a screen. The picture of the empty table is cached until the
/// size changes.
package struct TablePainter: Sendable {
  private var field: (layout: Layout, canvas: Canvas)?

  /// Creates a painter with an empty cache.
  package init() {}

  /// Returns a screen of the given size that shows `view`, or a message if the size is too small
  /// for it.
  package mutating func paint(_ view: TableView, columns: Int, rows: Int) -> Screen {
    guard let layout = Layout(columns: columns, rows: rows) else {
      return apology(columns: max(1, columns), rows: max(1, rows))
    }
    var canvas = emptyTable(layout)
    paintScores(view, layout, on: &canvas)
    paintFlash(view, layout, on: &canvas)
    paintTrail(view, layout, on: &canvas)
    for side in TableView.Side.allCases { paintMallet(view[side].mallet, side, layout, &canvas) }
    if let puck = view.puck { paintPuck(puck, layout, on: &canvas) }
    let title = view.banner.map { banner in
      view.code.flatMap { paintCode($0, layout, on: &canvas) }
        ?? paintBanner(banner, layout, on: &canvas)
    }
    var screen = Screen(canvas)
    writeNames(view, on: &screen)
    writeStatus(view, on: &screen)
    if let banner = view.banner, let title { write(banner, below: title, on: &screen) }
    return screen
  }

  private mutating func emptyTable(_ layout: Layout) -> Canvas {
    if let field, field.layout == layout { return field.canvas }
    let canvas = FieldPainter(layout: layout).paint()
    field = (layout, canvas)
    return canvas
  }

  private func apology(columns: Int, rows: Int) -> Screen {
    var screen = Screen(columns: columns, rows: rows, filledWith: Palette.backdrop)
    let needed = "\(Layout.minimumColumns) × \(Layout.minimumRows) cells"
    let lines = ["This window is too small:", "a table needs \(needed)."]
    for (index, line) in lines.enumerated() {
      let text = TextWidth.fitting(line, columns)
      screen.writeCentered(text, in: 0..<columns, row: rows / 2 + index - 1, Palette.text)
    }
    return screen
  }
}

// This extension paints everything that moves, from bottom to top.
extension TablePainter {
  /// Paints the score, large and faint, on each half of the field.
  private func paintScores(_ view: TableView, _ layout: Layout, on canvas: inout Canvas) {
    let size = max(1, Int(0.058 * layout.scale))
    for side in TableView.Side.allCases {
      let middle = Vector(0.5 * (side == .left ? -Preset.halfLength : Preset.halfLength), 0)
      let color = Palette.player(side)
      canvas.write(
        String(view[side].score), around: layout.pixel(middle), size: size, color, strength: 0.2)
    }
  }

  private func paintFlash(_ view: TableView, _ layout: Layout, on canvas: inout Canvas) {
    guard let (side, strength) = view.flash, strength > 0 else { return }
    let corner = Vector(Preset.halfLength, Preset.halfWidth)
    let low = layout.pixel(Vector(-corner.x, corner.y))
    let high = layout.pixel(Vector(corner.x, -corner.y))
    // The puck entered the goal opposite the player who scored.
    let goal = layout.pixel(Vector(side == .left ? corner.x : -corner.x, 0))
    canvas.paint(from: low, to: high, Palette.player(side)) { point in
      let near = max(0, 1 - (point - goal).length / (1.5 * corner.x * layout.scale))
      return strength * (0.12 + 0.6 * near * near)
    }
  }

  private func paintTrail(_ view: TableView, _ layout: Layout, on canvas: inout Canvas) {
    guard let puck = view.puck, !view.trail.isEmpty else { return }
    let points = ([puck] + view.trail).map(layout.pixel)
    let radius = puckRadius(layout)
    for index in points.indices.dropLast() {
      let (from, to) = (points[index], points[index + 1])
      let fade = 1 - Double(index) / Double(points.count - 1)
      guard (from - to).length > 0.05 else { continue }
      let reach = Vector(radius + 1, radius + 1)
      let low = Vector(min(from.x, to.x), min(from.y, to.y)) - reach
      let high = Vector(max(from.x, to.x), max(from.y, to.y)) + reach
      canvas.paint(from: low, to: high, Palette.trail) { point in
        let (distance, isInside) = Self.distance(of: point, from, to)
        return isInside ? 0.42 * fade * fade * edge(distance - radius * (0.35 + 0.6 * fade)) : 0
      }
    }
  }

  /// Returns the distance of a point from the line through a segment, and whether the point is
  /// beside the segment rather than beyond its ends. Points beyond an end belong to the next
  /// segment, so that no pixel is painted twice.
  private static func distance(
    of point: Vector, _ from: Vector, _ to: Vector
  ) -> (Double, Bool) {
    let (way, offset) = (to - from, point - from)
    let along = way.dot(offset) / way.lengthSquared
    return ((offset - way * along).length, along >= 0 && along < 1)
  }

  private func paintMallet(
    _ place: Vector, _ side: TableView.Side, _ layout: Layout, _ canvas: inout Canvas
  ) {
    let radius = max(1.7, Preset.malletRadius * layout.scale)
    let center = layout.pixel(place)
    let color = Palette.player(side)
    let shadow = center + Vector(0.18, 0.3) * radius
    canvas.paintRound(shadow, reach: radius + 1, Palette.black) { 0.4 * edge($0 - radius) }
    canvas.paintRound(center, reach: radius + 1, color.mixed(with: Palette.black, 0.25)) {
      edge($0 - radius)
    }
    canvas.paintRound(center, reach: radius, color) { edge($0 - 0.8 * radius) }
    guard radius >= 2.4 else { return }
    canvas.paintRound(center, reach: radius, color.mixed(with: Palette.black, 0.35)) {
      edge($0 - 0.56 * radius)
    }
    let knob = center - Vector(0.05, 0.1) * radius
    canvas.paintRound(knob, reach: radius, color.mixed(with: Palette.white, 0.55)) {
      edge($0 - 0.4 * radius)
    }
  }

  private func puckRadius(_ layout: Layout) -> Double {
    max(1.15, Preset.puckRadius * layout.scale)
  }

  private func paintPuck(_ place: Vector, _ layout: Layout, on canvas: inout Canvas) {
    let radius = puckRadius(layout)
    let center = layout.pixel(place)
    let glow = 4 * radius
    canvas.paintRound(center, reach: glow, Palette.trail) { distance in
      let near = max(0, 1 - distance / glow)
      return 0.4 * near * near
    }
    canvas.paintRound(center, reach: radius + 1, Palette.puck) { edge($0 - radius) }
    guard radius >= 2 else { return }
    canvas.paintRound(center, reach: radius, Palette.trail) {
      0.7 * edge(abs($0 - 0.6 * radius) - 0.12 * radius)
    }
  }
}
