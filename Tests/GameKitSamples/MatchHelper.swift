import Dispatch
import Foundation
import GameKit

/// What a match tells its game.
protocol MatchHelperDelegate: AnyObject {
  func matchDidStart()
  func matchDidEnd()
  func matchDidReceive(_ data: Data, from name: String)
}

/// A helper in the manner of many games: it signs in, finds a match, and begins when all players
/// have connected, whichever of the two callbacks is the one that says so.
class MatchHelper: NSObject, GKMatchDelegate {
  private weak var delegate: MatchHelperDelegate?
  private var match: GKMatch?
  private var isStarted = false

  func findMatch(minPlayers: Int, maxPlayers: Int, delegate: MatchHelperDelegate) {
    self.delegate = delegate
    let player = GKLocalPlayer.local
    player.authenticateHandler = { viewController, error in
      guard viewController == nil, error == nil, GKLocalPlayer.local.isAuthenticated else {
        return NSLog("cannot sign in: \(String(describing: error))")
      }
      let request = GKMatchRequest()
      request.minPlayers = minPlayers
      request.maxPlayers = maxPlayers
      GKMatchmaker.shared().findMatch(for: request) { match, error in
        if let error = error {
          return NSLog("cannot find a match: \(error.localizedDescription)")
        }
        guard let match = match else { return }
        self.match = match
        match.delegate = self
        if !self.isStarted && match.expectedPlayerCount == 0 { self.start() }
      }
    }
  }

  var playerNames: [String] { match?.players.map { $0.displayName } ?? [] }

  func send(_ text: String) {
    do {
      try match?.sendData(toAllPlayers: Data(text.utf8), with: .reliable)
    } catch let error {
      NSLog("cannot send: \(error.localizedDescription)")
    }
  }

  func leave() { match?.disconnect() }

  private func start() {
    isStarted = true
    delegate?.matchDidStart()
  }

  func match(
    _ match: GKMatch, player: GKPlayer, didChange state: GKPlayerConnectionState
  ) {
    guard self.match == match else { return }
    switch state {
    case .connected where !isStarted && match.expectedPlayerCount == 0: start()
    case .connected: break
    case .disconnected: delegate?.matchDidEnd()
    case .unknown: break
    @unknown default: break
    }
  }

  func match(
    _ match: GKMatch, didReceive data: Data, fromRemotePlayer player: GKPlayer
  ) {
    delegate?.matchDidReceive(data, from: player.displayName)
  }

  func match(_ match: GKMatch, didFailWithError error: Error?) {
    delegate?.matchDidEnd()
  }
}

/// A conversation of the players of a match: each greets the others, and leaves when it has been
/// greeted and thanked by all of them.
public class MatchConversation: MatchHelperDelegate {
  private let helper = MatchHelper()
  private let count: Int
  private var greetings: [String] = []
  private var thanks = 0
  private let completion: ([String]) -> Void

  /// Begins to look for the others. `completion` is called once, with who has greeted, sorted.
  public init(players count: Int, completion: @escaping ([String]) -> Void) {
    self.count = count
    self.completion = completion
    helper.findMatch(minPlayers: count, maxPlayers: count, delegate: self)
  }

  func matchDidStart() { helper.send("hello") }

  func matchDidEnd() { NSLog("somebody has left") }

  func matchDidReceive(_ data: Data, from name: String) {
    switch String(decoding: data, as: UTF8.self) {
    case "hello":
      greetings.append("\(name) of \(helper.playerNames.sorted().joined(separator: ", "))")
      if greetings.count == count - 1 { helper.send("thanks") }
    case "thanks": thanks += 1
    default: return
    }
    guard greetings.count == count - 1, thanks == count - 1 else { return }
    helper.leave()
    completion(greetings.sorted())
  }
}
