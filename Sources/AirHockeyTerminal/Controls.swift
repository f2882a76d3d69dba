import AirHockey
import CaromCore
import CaromPhysics

/// Makes mallet inputs and commands of what people do at one terminal.
///
/// Everything is in the looker's own sight: the first player sits at the left. Keys push a mallet
/// faster and faster up to a limit; the pointer says where the first player's mallet shall be.
package struct Controls: Sendable {
  /// Who sits at the terminal.
  package enum Seating: Hashable, Sendable {
    /// One person, with every key and the pointer.
    case one
    /// Two on one keyboard: W, A, S, D at the left; arrows or I, J, K, L at the right.
    case two
    /// Nobody plays: the left and right arrows go back and forth in time.
    case nobody
  }

  /// What a person asks for beside moving a mallet.
  package enum Command: Hashable, Sendable {
    case quit
    /// Hold the match, or let it go on.
    case pause
    /// The next match, once one is over.
    case proceed
    /// A little back in time, where nobody plays.
    case back
    /// A little forth.
    case forth
  }

  private let seating: Seating
  private var first = Steering()
  private var second = Steering()
  private var releasesAreKnown = false
  private var pointsAtPixels = false

  /// Controls that nobody has touched.
  package init(_ seating: Seating) { self.seating = seating }

  /// Takes an event that came at `now`. `layout` says where the table lies on the screen, and
  /// `pixels` how large the window is, where that is known.
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

  /// Where the first player's mallet shall be next, given where it is now.
  package mutating func sampleFirst(mallet: Vector, at now: Instant) -> MalletInput {
    MalletInput(first.target(from: mallet, at: now, releasesAreKnown))
  }

  /// The same for the second player, who sits at the right.
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

  /// Which player a key moves, and where to.
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
