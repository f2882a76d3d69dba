import Foundation
import MultipeerConnectivity

// The best host. The player with the lowest key of those that are connected chooses it, so that all
// who ask get the same answer.
extension MatchCore {
  private var keys: Set<String> { Set(players.map(\.key)).union([local.key]) }

  /// Calls `body` with the key of the best host, or with nil if it is unknown.
  func findHost(_ body: @escaping (String?) -> Void) {
    guard let lowest = keys.min(), lowest != local.key, let decider = members[lowest] else {
      return decide(body)
    }
    questions.append(body)
    guard questions.count == 1 else { return }
    send(.askForHost, to: [decider.peerID])
    questionNumber += 1
    let number = questionNumber
    // The decider waits for the other players' answers for half of this time. The other half is for
    // its own answer to arrive.
    wait(hostAnswerTime * 2) { [self] in
      if questionNumber == number { answerQuestions(nil) }
    }
  }

  /// Calls `body` after this time. This object exists until then, so that no handler is released
  /// without having been called.
  private func wait(_ time: Duration, _ body: @escaping @Sendable () -> Void) {
    let milliseconds = Int(time / .milliseconds(1))
    session.delegateQueue.asyncAfter(
      deadline: .now() + .milliseconds(milliseconds), execute: body)
  }

  /// Asks the next player if the one that was asked has gone.
  func askAgain(after player: GKPlayer) {
    guard !questions.isEmpty, keys.allSatisfy({ player.key < $0 }) else { return }
    let waiting = questions
    questions = []
    for body in waiting { findHost(body) }
  }

  /// Answers those on this side who wait for the player with the lowest key.
  func answerQuestions(_ host: String?) {
    let waiting = questions
    questions = []
    for body in waiting { body(host) }
  }

  /// Answers a player who asks for the best host, unless the player waits for the answer already.
  func answer(_ player: GKPlayer) {
    guard askers.insert(player.key).inserted else { return }
    decide { [self] host in
      askers.remove(player.key)
      send(.host(host), to: [player.peerID])
    }
  }

  /// Chooses the best host, which asks all players, unless it was chosen a moment ago.
  func decide(_ body: @escaping (String?) -> Void) {
    let keys = keys
    if let chosen, chosen.players == keys, chosen.at + HostChoice.validity > .now {
      return body(chosen.host)
    }
    deciders.append(body)
    guard choice == nil else { return }
    choice = HostChoice(among: keys)
    choiceNumber += 1
    let number = choiceNumber
    send(.askForCost, to: players.map(\.peerID))
    session.measureHostCost { [self] cost in
      choice?.note(cost, of: local.key)
      finishChoiceIfComplete()
    }
    wait(hostAnswerTime) { [self] in
      if choiceNumber == number { finishChoice() }
    }
  }

  func finishChoiceIfComplete() { if choice?.isComplete == true { finishChoice() } }

  private func finishChoice() {
    guard let choice else { return }
    self.choice = nil
    let host = choice.best
    if host != nil { chosen = (host, keys, .now) }
    let waiting = deciders
    deciders = []
    for body in waiting { body(host) }
  }
}
