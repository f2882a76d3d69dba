import AirHockey
import CaromCore
import CaromPhysics
import Testing

@testable import AirHockeyTerminal

struct ControlsTests {
  let tick = Duration.nanoseconds(16_666_667)
  let layout = Layout(columns: 80, rows: 24)

  /// Simulates `ticks` ticks in which the mallets reach their targets at once. Each event is
  /// handled before the tick with its index. Returns the final positions of both mallets.
  func play(
    _ controls: inout Controls, ticks: Int, _ events: [Int: [InputEvent]] = [:]
  ) -> (first: Vector, second: Vector) {
    var (first, second) = (Vector(-0.5, 0), Vector(0.5, 0))
    var now = Instant.zero
    for index in 0..<ticks {
      for event in events[index] ?? [] { _ = controls.handle(event, at: now, layout: layout) }
      first = controls.sampleFirst(mallet: first, at: now).vector
      second = controls.sampleSecond(mallet: second, at: now).vector
      now = now + tick
    }
    return (first, second)
  }

  func makeKey(_ key: Unicode.Scalar, _ action: KeyPress.Action = .pressed) -> InputEvent {
    .key(KeyPress(.character(key), action))
  }

  @Test func `a key moves the mallet until it is released, on a terminal that reports releases`() {
    var controls = Controls(.one)
    let down: [InputEvent] = [.reportsReleases, makeKey("w")]
    let held = play(&controls, ticks: 10, [0: down])
    #expect(held.first.y > 0.15)
    #expect(abs(held.first.x + 0.5) < 1e-4)
    controls = Controls(.one)
    let tapped = play(&controls, ticks: 30, [0: down, 2: [makeKey("w", .released)]])
    #expect(tapped.first.y < 0.1)
    let later = play(&controls, ticks: 30)
    #expect(later.first.y == 0)
  }

  @Test func `on a terminal without releases, a key counts as released unless it repeats`() {
    var controls = Controls(.one)
    let tapped = play(&controls, ticks: 60, [0: [.key(KeyPress(.right))]])
    controls = Controls(.one)
    let repeats = Dictionary(uniqueKeysWithValues: (0..<6).map { (2 * $0, [makeKey("d")]) })
    let held = play(&controls, ticks: 60, repeats)
    #expect(tapped.first.x > -0.45)
    #expect(held.first.x > tapped.first.x)
  }

  @Test func `the newer of two opposite keys wins`() {
    var controls = Controls(.one)
    let end = play(
      &controls, ticks: 10, [0: [.reportsReleases, makeKey("w")], 1: [makeKey("s")]])
    #expect(end.first.y < 0)
  }

  @Test func `two players at one keyboard move their own mallets`() {
    var controls = Controls(.two)
    let end = play(&controls, ticks: 5, [0: [makeKey("w"), makeKey("k")]])
    #expect(end.first.y > 0)
    #expect(end.second.y < 0)
    controls = Controls(.two)
    let arrows = play(&controls, ticks: 5, [0: [.key(KeyPress(.left))]])
    #expect(arrows.first == Vector(-0.5, 0))
    #expect(arrows.second.x < 0.5)
  }

  @Test func `a single player moves the mallet with all keys`() {
    for event in [makeKey("i"), makeKey("w"), .key(KeyPress(.up))] {
      var controls = Controls(.one)
      let end = play(&controls, ticks: 5, [0: [event]])
      #expect(end.first.y > 0)
      #expect(end.second == Vector(0.5, 0))
    }
  }

  @Test func `the mallet follows the pointer`() throws {
    var controls = Controls(.one)
    let cell = InputEvent.pointer(x: 20, y: 6, action: .moved)
    let end = play(&controls, ticks: 40, [0: [cell]])
    let place = try #require(layout).place(x: 20, y: 6, of: (80, 24))
    #expect((end.first - place).length < 0.001)
  }

  @Test func `the pointer's position is finer on a terminal that reports pixels`() throws {
    var controls = Controls(.one)
    let pixels = (width: 800, height: 480)
    _ = controls.handle(.reportsPixels, at: .zero, layout: layout, pixels: pixels)
    let pixel = InputEvent.pointer(x: 204, y: 130, action: .moved)
    _ = controls.handle(pixel, at: .zero, layout: layout, pixels: pixels)
    let end = play(&controls, ticks: 40)
    let place = try #require(layout).place(Vector(20.45, 13.05))
    #expect((end.first - place).length < 0.001)
  }

  @Test func `all keys count as released when the window loses the focus`() {
    var controls = Controls(.one)
    let events: [Int: [InputEvent]] = [0: [.reportsReleases, makeKey("w")], 1: [.focus(false)]]
    #expect(play(&controls, ticks: 60, events).first.y < 0.05)
  }

  @Test func `each command key causes its command once`() {
    var controls = Controls(.one)
    let command = { (event: InputEvent) in controls.handle(event, at: .zero, layout: nil) }
    #expect(command(makeKey("q")) == .quit)
    #expect(command(.key(KeyPress(.escape))) == .quit)
    #expect(command(.key(KeyPress(.character("c"), control: true))) == .quit)
    #expect(command(makeKey("p")) == .pause)
    #expect(command(makeKey("p", .released)) == nil)
    #expect(command(makeKey("p", .repeated)) == nil)
    #expect(command(makeKey(" ")) == .proceed)
    #expect(command(makeKey("z")) == nil)
  }
}
