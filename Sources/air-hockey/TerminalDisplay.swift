import AirHockey
import AirHockeyTerminal
import CaromCore
import CaromPhysics
import Foundation

/// Draws the table in the terminal, and reads the keyboard and the mouse.
struct TerminalDisplay: GameDisplay {
  /// The length of the puck's trail, in frames.
  private static let trailLength = 9
  /// A distance in meters. A puck that moves farther than this within one frame has not slid but
  /// been repositioned, so its trail starts again.
  private static let leap = 0.3
  /// The time after which an escape character that no other input has followed counts as the Escape
  /// key.
  private static let escapeTimeout = Duration.milliseconds(15)

  private let terminal: Terminal
  private let seating: Controls.Seating
  private var controls: Controls
  private var parser = InputParser()
  private var painter = TablePainter()
  private var encoder: ScreenEncoder
  private var size: (columns: Int, rows: Int)
  private var trail: [Vector] = []
  private var lastInput = Instant.zero
  private var isOpen = true

  /// Creates a display that uses the terminal as a full screen. Throws if there is no terminal.
  init(_ seating: Controls.Seating) throws(Terminal.Unavailable) {
    terminal = try Terminal()
    self.seating = seating
    controls = Controls(seating)
    encoder = ScreenEncoder(
      depth: ColorDepth(environment: ProcessInfo.processInfo.environment))
    size = terminal.size
  }

  var inputDescriptor: Int32? { isOpen ? terminal.descriptor : nil }

  mutating func readCommands(at now: Instant) -> [Controls.Command]? {
    guard isOpen else { return nil }
    var events: [InputEvent] = []
    var bytes = 0
    let isAlive = terminal.read { byte in
      bytes += 1
      if let event = parser.handle(byte) { events.append(event) }
    }
    if bytes > 0 {
      lastInput = now
    } else if now - lastInput >= Self.escapeTimeout, let event = parser.handlePause() {
      events.append(event)
    }
    if isAlive, bytes == 0, events.isEmpty { return nil }
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

  /// Draws a state, or skips the frame if the terminal has not accepted the previous one yet.
  mutating func present(_ view: TableView) {
    follow(view.puck)
    guard isOpen, terminal.write() else { return }
    let now = terminal.size
    // After a change of size, the contents of the window are unknown.
    if now != size { encoder.reset() }
    size = now
    var view = view
    view.trail = Array(trail.dropFirst())
    if view.hint.isEmpty { view.hint = hint }
    let screen = painter.paint(view, columns: size.columns, rows: size.rows)
    _ = terminal.write(encoder.encode(screen))
  }

  /// Adds the puck's position to its trail.
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

  mutating func close() {
    isOpen = false
    terminal.close()
  }
}
