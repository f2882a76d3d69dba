import CaromCore
import CaromProtocol
import CaromSimulation
import WebEngine

/// What the exported functions of a game call beside those of `PageEngine`, as closures. Until they
/// are set, they do nothing.
package struct GamePage {
  /// Begins a game without a network: encoded state, players, ticks per second.
  package var start: ([UInt8], Int, Int, Instant) -> Bool = { _, _, _, _ in false }
  /// Prepares to join a host: this player, the channel of the inputs, that of other messages.
  package var join: (PeerInfo, UInt8, UInt8, Instant) -> Void = { _, _, _, _ in }
  /// Sets the input of a player.
  package var setInput: ([Int32], Int) -> Bool = { _, _ in false }
  /// Returns the encoded state of a kind: a value of `GameEngine.StateKind`.
  package var state: (Int32) -> [UInt8]? = { _ in nil }
  /// Returns how the game stands.
  package var status: (Instant) -> GameStatus = { _ in GameStatus() }
  /// Removes and returns the oldest event of the game, or nil if there is none.
  package var pollEvent: () -> GameEvent? = { nil }

  /// Creates a page without a game.
  package init() {}
}

extension GameEngine {
  /// What the functions of every game call.
  package var page: PageEngine {
    var page = PageEngine()
    page.openLink = { self.openLink(at: $0) }
    page.receive = { self.receive($0.span, at: $1) }
    page.closeLink = { self.closeLink($0, at: $1) }
    page.openDatagrams = { self.openDatagrams(at: $0) }
    page.receiveDatagram = { self.receiveDatagram($0.span, at: $1) }
    page.takeDatagram = { self.takeDatagram(at: $0) }
    page.closeDatagrams = { self.closeDatagrams(at: $0) }
    page.messageLink = { self.messageLink }
    page.leave = { self.leave($0, at: $1) }
    page.takeOutput = { self.takeOutput(upTo: $0, queued: $1, at: $2) }
    page.takeLinkAction = { self.takeLinkAction() }
    page.nextTimeout = { self.nextTimeout }
    page.step = { self.step(at: $0) }
    page.pollEvent = { self.linkEvents.popFirst()?.bytes }
    page.hostName = { self.hostName }
    page.endText = { self.endText }
    page.confirmed = { self.confirmed }
    return page
  }

  /// What the functions of games of any kind call.
  package var gamePage: GamePage {
    var page = GamePage()
    page.start = { self.start($0, players: $1, rate: $2, at: $3) }
    page.join = { self.join(as: $0, channels: (inputs: $1, control: $2), at: $3) }
    page.setInput = { self.setInput($0, for: $1) }
    page.state = { StateKind(rawValue: $0).flatMap(self.state) }
    page.status = { self.status(at: $0) }
    page.pollEvent = { self.events.popFirst() }
    return page
  }
}
