import AirHockey
import CaromCore
import CaromPhysics
import Testing

@testable import AirHockeyTerminal

/// How keys and the pointer move a mallet.
@Suite struct SteeringTests {
  private let tick = Duration.nanoseconds(16_666_667)

  /// The targets of a mallet that starts in the center and reaches each of them at once.
  private func targets(
    of steering: inout Steering, _ ticks: Int, from start: Instant = .zero,
    releasesAreKnown: Bool = true
  ) -> [Vector] {
    var (mallet, now) = (Vector.zero, start)
    return (0..<ticks).map { _ in
      mallet = steering.target(from: mallet, at: now, releasesAreKnown)
      now = now + tick
      return mallet
    }
  }

  @Test(
    arguments: [
      (.up, Vector(0, 1)), (.down, Vector(0, -1)), (.left, Vector(-1, 0)), (.right, Vector(1, 0)),
    ] as [(Direction, Vector)])
  func `a key accelerates by 36 meters per second squared, up to 3_6 meters per second`(
    direction: Direction, vector: Vector
  ) {
    var steering = Steering()
    steering.push(direction, isDown: true, at: .zero)
    let places = targets(of: &steering, 10)
    // After each tick the speed is 0.6 m/s higher, and 3.6 m/s after six.
    var (place, speed) = (0.0, 0.0)
    for target in places {
      speed = min(speed + 0.6, 3.6)
      place += speed / 60
      #expect((target - vector * place).length < 1e-6)
    }
    // It brakes by 60 meters per second squared: in four ticks.
    steering.push(direction, isDown: false, at: .zero + .seconds(1))
    var last = Vector.zero
    let braked = (0..<6).map { index in
      let now = Instant.zero + tick * (10 + index)
      let target = steering.target(from: last, at: now, true)
      defer { last = target }
      return (target - last).dot(vector) * 60
    }
    for (speed, expected) in zip(braked, [2.6, 1.6, 0.6, 0, 0, 0]) {
      #expect(abs(speed - expected) < 1e-4)
    }
    #expect(direction.opposite.opposite == direction && direction.vector == vector)
    #expect(direction.opposite.vector == -vector)
  }

  @Test func `two keys move diagonally, no faster than one`() {
    var steering = Steering()
    for direction in [Direction.up, .right] { steering.push(direction, isDown: true, at: .zero) }
    let places = targets(of: &steering, 12)
    let step = places[11] - places[10]
    #expect(abs(step.length * 60 - 3.6) < 1e-6 && abs(step.x - step.y) < 1e-12)
  }

  @Test func `the newer of two opposite keys wins, and its release stops the mallet`() {
    var steering = Steering()
    steering.push(.up, isDown: true, at: .zero)
    steering.push(.down, isDown: true, at: .zero)
    #expect(targets(of: &steering, 3)[2].y < 0)
    steering.push(.down, isDown: false, at: .zero)
    let rest = targets(of: &steering, 8, from: .zero + .milliseconds(50))
    #expect(rest[7] == rest[6])
  }

  @Test func `without releases a key counts as down for 180 ms after its last press`() {
    for (milliseconds, isDown) in [(180, true), (181, false)] {
      var steering = Steering()
      steering.push(.up, isDown: true, at: .zero)
      _ = steering.target(from: .zero, at: .zero, false)
      let now = Instant.zero + .milliseconds(milliseconds)
      let first = steering.target(from: .zero, at: now, false).y
      #expect(isDown ? first * 60 > 2 : first == 0)
      var other = Steering()
      other.push(.up, isDown: true, at: .zero)
      _ = other.target(from: .zero, at: .zero, true)
      #expect(other.target(from: .zero, at: now, true).y * 60 > 2)
    }
  }

  @Test func `a pause between two samples counts as 50 ms at most, and a clock behind as nothing`()
  {
    for (milliseconds, speed) in [(25, 1.5), (50, 2.4), (2_000, 2.4), (-30, 0.6), (0, 0.6)] {
      var steering = Steering()
      steering.push(.up, isDown: true, at: .zero)
      // The first sample counts as one tick.
      #expect(abs(steering.target(from: .zero, at: .zero, true).y * 60 - 0.6) < 1e-9)
      let now = Instant.zero + .milliseconds(milliseconds)
      #expect(abs(steering.target(from: .zero, at: now, true).y * 60 - speed) < 1e-9)
    }
  }

  @Test func `the device that was used last is in control`() {
    var steering = Steering()
    steering.push(.up, isDown: true, at: .zero)
    _ = targets(of: &steering, 5)
    steering.point(at: Vector(0.4, 0))
    // In each tick the mallet covers 45 % of the way to the pointer.
    let places = targets(of: &steering, 3)
    #expect((places[0] - Vector(0.18, 0)).length < 1e-12)
    #expect((places[1] - Vector(0.279, 0)).length < 1e-12)
    steering.point(at: Vector(0.4, 0))
    steering.letGo()
    #expect(targets(of: &steering, 2) == [.zero, .zero])
  }
}

@Suite struct KeyTests {
  private func press(
    _ key: KeyPress.Key, _ action: KeyPress.Action = .pressed, control: Bool = false
  ) -> InputEvent { .key(KeyPress(key, action, control: control)) }

  private func command(_ event: InputEvent, _ seating: Controls.Seating = .one)
    -> Controls.Command?
  {
    var controls = Controls(seating)
    return controls.handle(event, at: .zero, layout: nil)
  }

  /// The directions in which both mallets move after a key was pressed.
  private func moves(_ event: InputEvent, _ seating: Controls.Seating) -> (Vector, Vector) {
    var controls = Controls(seating)
    _ = controls.handle(event, at: .zero, layout: nil)
    let first = controls.sampleFirst(mallet: .zero, at: .zero).vector
    let second = controls.sampleSecond(mallet: .zero, at: .zero).vector
    return (first, second)
  }

  @Test(
    arguments: [
      ("w", "i", .up), ("a", "j", .left), ("s", "k", .down), ("d", "l", .right),
    ] as [(Unicode.Scalar, Unicode.Scalar, Direction)])
  func `each player has four keys, and a single player has all`(
    left: Unicode.Scalar, right: Unicode.Scalar, direction: Direction
  ) {
    let arrows: [Direction: KeyPress.Key] = [
      .up: .up, .down: .down, .left: .left, .right: .right,
    ]
    let step = direction.vector * 0.01
    let arrow = arrows[direction] ?? .escape
    for key in [.character(left), .character(right), arrow] as [KeyPress.Key] {
      #expect(moves(press(key), .one) == (step, .zero))
      #expect(moves(press(key), .nobody) == (.zero, .zero))
      let isLeft = key == .character(left)
      #expect(moves(press(key), .two) == (isLeft ? step : .zero, isLeft ? .zero : step))
      // With the control key, a key moves nothing.
      #expect(moves(press(key, control: true), .one) == (.zero, .zero))
      #expect(moves(press(key, .released), .one) == (.zero, .zero))
      #expect(command(press(key)) == nil)
    }
  }

  @Test func `each command has its keys`() {
    let commands: [(KeyPress.Key, Bool, Controls.Command?)] = [
      (.character("q"), false, .quit), (.character("q"), true, nil), (.escape, false, .quit),
      (.escape, true, .quit), (.character("c"), true, .quit), (.character("c"), false, nil),
      (.character("p"), false, .pause), (.character("p"), true, nil),
      (.character(" "), false, .proceed), (.enter, false, .proceed), (.tab, false, nil),
      (.backspace, false, nil), (.up, false, nil), (.down, false, nil), (.left, false, .back),
      (.right, false, .forth),
    ]
    for (key, control, expected) in commands {
      #expect(command(press(key, control: control), .nobody) == expected)
      #expect(command(press(key, .repeated, control: control), .nobody) == nil)
      #expect(command(press(key, .released, control: control), .nobody) == nil)
    }
    #expect(command(press(.left)) == nil && command(press(.left, control: true)) == .back)
  }

  @Test func `only the first player has the pointer, and only where a table is shown`() throws {
    let layout = try #require(Layout(columns: 80, rows: 24))
    var controls = Controls(.two)
    let event = InputEvent.pointer(x: 50, y: 11, action: .moved)
    #expect(controls.handle(event, at: .zero, layout: nil) == nil)
    #expect(controls.sampleFirst(mallet: .zero, at: .zero).vector == .zero)
    #expect(controls.handle(event, at: .zero, layout: layout) == nil)
    let place = layout.place(x: 50, y: 11, of: (80, 24))
    let target = controls.sampleFirst(mallet: .zero, at: .zero).vector
    #expect((target - place * 0.45).length < 1e-4)
    #expect(controls.sampleSecond(mallet: .zero, at: .zero).vector == .zero)
    // Without the window's size in pixels, positions count as cells.
    _ = controls.handle(.reportsPixels, at: .zero, layout: layout)
    _ = controls.handle(event, at: .zero, layout: layout)
    let again = controls.sampleFirst(mallet: .zero, at: .zero).vector
    #expect(again == target)
    for focused in [true, false] {
      _ = controls.handle(.focus(focused), at: .zero, layout: layout)
      let last = controls.sampleFirst(mallet: .zero, at: .zero).vector
      #expect((last == target) == focused)
    }
  }

  @Test func `a cell or pixel of the window has its place on the table`() throws {
    let layout = try #require(Layout(columns: 80, rows: 24))
    #expect(Layout(columns: 39, rows: 12) == nil && Layout(columns: 40, rows: 11) == nil)
    #expect(Layout(columns: 40, rows: 12) != nil)
    // The table's scale is limited by the width or by the height.
    #expect(abs(layout.scale - 80 / (2 * 1.03)) < 1e-9 || abs(layout.scale - 44 / 1.15) < 1e-9)
    let wide = try #require(Layout(columns: 400, rows: 24))
    #expect(abs(wide.scale - 44 / (2 * 0.575)) < 1e-9)
    let high = try #require(Layout(columns: 80, rows: 90))
    #expect(abs(high.scale - 80 / (2 * 1.03)) < 1e-9)
    // A cell is one pixel wide and two high; its place is that of its center.
    let cell = layout.place(x: 3, y: 5, of: (80, 24))
    #expect((layout.pixel(cell) - Vector(3.5, 11)).length < 1e-9)
    let pixel = layout.place(x: 35, y: 110, of: (800, 480))
    #expect((layout.pixel(pixel) - Vector(3.55, 11.05)).length < 1e-9)
    #expect(cell.y > 0 && cell.x < 0)
  }
}
