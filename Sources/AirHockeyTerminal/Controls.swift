import AirHockey
import CaromCore
import CaromPhysics

/// Converts the input events of one terminal into mallet inputs and commands.
///
/// Positions are given as this screen shows them, with the first player on the left. Keys
/// accelerate a mallet up to a maximum speed; the pointer sets the target of the first player's
/// mallet.
package struct Controls: Sendable {
  /// The number of players at the terminal.
  package enum Seating: Hashable, Sendable {
    /// One player, who uses all keys and the pointer.
    case one
    /// Two players at one keyboard: W, A, S, D for the left one; arrows or I, J, K, L for the right
    /// one.
    case two
    /// No player: the left and right arrow keys move through a replay.
    case nobody
  }

  /// A request other than moving a mallet.
  package enum Command: Hashable, Sendable {
    case quit
    /// Pause or resume the match.
    case pause
    /// Start the next match after one has ended.
    case proceed
    /// Go back a few seconds in a replay.
    case back
    /// Go forward a few seconds in a replay.
    case forth
  }

  private let seating: Seating
  private var first = Steering()
  private var second = Steering()
  private var releasesAreKnown = false
  private var pointsAtPixels = false

  /// Creates controls in their initial state, with no key down.
  package init(_ seating: Seating) { self.seating = seating }

  /// Handles an event that was received at `now`, and returns the resulting command, if any.
  /// `layout` maps the screen to the table; `pixels` is the size of the window, if known.
  package mutating func handle(
    _ event: InputEvent, at now: Instant, layout: Layout?,
    pixels: (width: Int, height: Int)? = nil
  ) -> Command? {
    switch event {
    case .reportsReleases: releasesAreKnown = true
    case .focus(let isFocused): if !isFocused { letGo() }
    case .reportsPixels: pointsAtPixels = true
    case .pointer(let x, let y, _):
      guard let layout else { return nil }
      let cells = (layout.columns, layout.rows)
      first.point(at: layout.place(x: x, y: y, of: pointsAtPixels ? pixels ?? cells : cells))
    case .key(let press): return handle(press, at: now)
    }
    return nil
  }

  /// Returns the first player's input for the next tick. `mallet` is the mallet's current position
  /// in meters.
  package mutating func sampleFirst(mallet: Vector, at now: Instant) -> MalletInput {
    MalletInput(first.target(from: mallet, at: now, releasesAreKnown))
  }

  /// Returns the input of the second player, who is on the right, for the next tick. `mallet` is
  /// the mallet's current position in meters.
  package mutating func sampleSecond(mallet: Vector, at now: Instant) -> MalletInput {
    MalletInput(second.target(from: mallet, at: now, releasesAreKnown))
  }

  private mutating func letGo() {
    first.letGo()
    second.letGo()
  }

  private mutating func handle(_ press: KeyPress, at now: Instant) -> Command? {
    if let (player, direction) = meaning(of: press.key), !press.control {
      let isDown = press.action != .released
      if player == .home {
        first.push(direction, isDown: isDown, at: now)
      } else {
        second.push(direction, isDown: isDown, at: now)
      }
      return nil
    }
    guard press.action == .pressed else { return nil }
    switch (press.key, press.control) {
    case (.character("q"), false), (.escape, _), (.character("c"), true): return .quit
    case (.character("p"), false): return .pause
    case (.character(" "), _), (.enter, _): return .proceed
    case (.left, _): return .back
    case (.right, _): return .forth
    default: return nil
    }
  }

  /// Returns the player whose mallet a key moves and the direction of the movement, or nil for any
  /// other key.
  private func meaning(of key: KeyPress.Key) -> (Seat, Direction)? {
    guard seating != .nobody else { return nil }
    let right: Seat = seating == .two ? .away : .home
    return switch key {
    case .character("w"): (.home, .up)
    case .character("a"): (.home, .left)
    case .character("s"): (.home, .down)
    case .character("d"): (.home, .right)
    case .up, .character("i"): (right, .up)
    case .left, .character("j"): (right, .left)
    case .down, .character("k"): (right, .down)
    case .right, .character("l"): (right, .right)
    default: nil
    }
  }
}
