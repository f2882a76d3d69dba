import AirHockey
import AirHockeyTerminal
import CaromCore
import CaromPhysics
import Foundation

/// The table, drawn in the terminal, with its keys and pointer.
struct TerminalFace: GameFace {
  /// Frames that the puck's trail reaches back.
  private static let trailLength = 9
  /// What moves farther than this in a frame was put there by hand, metres.
  private static let leap = 0.3

  private let terminal: Terminal
  private let seating: Controls.Seating
  private var controls: Controls
  private var parser = InputParser()
  private var painter = TablePainter()
  private var encoder: ScreenEncoder
  private var size: (columns: Int, rows: Int)
  private var trail: [Vector] = []
  private var isOpen = true

  /// Takes the screen.
  init(_ seating: Controls.Seating) throws(Terminal.Unavailable) {
    terminal = try Terminal()
    self.seating = seating
    controls = Controls(seating)
    encoder = ScreenEncoder(
      depth: ColorDepth(environment: ProcessInfo.processInfo.environment))
    size = terminal.size
  }

  mutating func commands(at now: Instant) -> [Controls.Command] {
    guard isOpen else { return [] }
    var events: [InputEvent] = []
    var bytes = 0
    let isAlive = terminal.read { byte in
      bytes += 1
      if let event = parser.handle(byte) { events.append(event) }
    }
    if bytes == 0, let event = parser.handlePause() { events.append(event) }
    let layout = Layout(columns: size.columns, rows: size.rows)
    let pixels = terminal.pixels
    let commands = events.compactMap {
      controls.handle($0, at: now, layout: layout, pixels: pixels)
    }
    return isAlive ? commands : commands + [.quit]
  }

  mutating func sampleFirst(mallet: Vector, at now: Instant) -> MalletInput? {
    controls.sampleFirst(mallet: mallet, at: now)
  }

  mutating func sampleSecond(mallet: Vector, at now: Instant) -> MalletInput? {
    seating == .two ? controls.sampleSecond(mallet: mallet, at: now) : nil
  }

  /// A frame for which the terminal is not ready yet is left out, and the next one makes up for it.
  mutating func present(_ view: TableView) {
    follow(view.puck)
    guard isOpen, terminal.write() else { return }
    let now = terminal.size
    // A window that changed its size may have kept any of its cells, or none.
    if now != size { encoder.reset() }
    size = now
    var view = view
    view.trail = Array(trail.dropFirst())
    if view.hint.isEmpty { view.hint = hint }
    let screen = painter.paint(view, columns: size.columns, rows: size.rows)
    _ = terminal.write(encoder.encode(screen))
  }

  private mutating func follow(_ puck: Vector?) {
    guard let puck else { return trail = [] }
    if let last = trail.first, (last - puck).length > Self.leap { trail = [] }
    trail.insert(puck, at: 0)
    if trail.count > Self.trailLength { trail.removeLast() }
  }

  private var hint: String {
    switch seating {
    case .one: "mouse, arrows or WASD · p pause · q quit"
    case .nobody: "space pause · ← → 5 s · q quit"
    case .two: "left WASD · right arrows or IJKL · p pause · q quit"
    }
  }

  func tell(_ line: String) {}

  mutating func close() {
    isOpen = false
    terminal.close()
  }
}
