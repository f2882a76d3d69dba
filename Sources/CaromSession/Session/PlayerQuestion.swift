import CaromProtocol
import CaromTransport

/// The question of a player with a door token: where is my match? The host answers by ending the
/// connection, which never has a seat.
package struct PlayerQuestion: Sendable {
  /// The player, with the id and the data that the token has proven.
  package let player: PeerInfo
  let connection: ConnectionID
  let node: SessionNode

  /// Ends the connection with the answer. Called on the loop; a second call has no effect.
  package func answer(_ goodbye: Goodbye) {
    node.assumeIsolated { $0.close(connection, goodbye) }
  }
}

extension Session {
  /// Calls `take` on the loop with each question from now on. Without this call, the host declines
  /// them. A question that is not answered within `SessionTiming.handshakeLimit` ends by itself.
  package func answerQuestions(_ take: @escaping @Sendable (PlayerQuestion) -> Void) async {
    for hub in hubs { await hub.setQuestionHandler(take) }
  }
}

extension SessionHub {
  func setQuestionHandler(_ take: @escaping @Sendable (PlayerQuestion) -> Void) {
    takeQuestion = take
  }

  func takeQuestion(of player: PeerInfo, on connection: ConnectionID) {
    let question = PlayerQuestion(player: player, connection: connection, node: node)
    guard let takeQuestion else {
      return question.answer(Goodbye(.declined, text: "this host is no door of a fleet"))
    }
    takeQuestion(question)
  }
}
