import CaromCore
import CaromProtocol

// A fail-safe for moving objects: if the peer that controls one falls silent, an event reports it.
extension SessionNode {
  /// Reports `inputStopped` when a peer that has sent messages on `channel` sends none for `limit`,
  /// or disconnects. Reports `inputResumed` when its messages arrive again. If `limit` is nil,
  /// stops watching the channel.
  public func watchInput(channel: UInt8, limit: Duration?) {
    inputs.watch(channel, limit: limit)
    rearm()
  }

  func recordInput(_ connection: ConnectionID, _ channel: UInt8) {
    guard inputs.channels.contains(channel) else { return }
    if inputs.recordMessage(of: connection, on: channel, at: loop.now) {
      emit(.inputResumed(connection, channel: channel))
    }
  }

  func emitStoppedInputs(at now: Instant) {
    guard !inputs.channels.isEmpty else { return }
    for input in inputs.takeStopped(at: now) {
      emit(.inputStopped(input.connection, channel: input.channel))
    }
  }
}
