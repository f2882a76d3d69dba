import CaromSession
import CaromTransport

/// The reliable messages that wait to be sent to one member, in order.
final class Outbox: Sendable {
  /// The maximum number of bytes that wait.
  static let byteLimit = 128 << 20

  private let peer: Peer
  private let queued = Locked(0)
  private let input: AsyncStream<[UInt8]>.Continuation
  private let sending: Task<Void, Never>

  /// Creates an outbox, and begins to send what is put into it.
  init(to peer: Peer, on loop: NetworkLoop) {
    let (messages, input) = AsyncStream.makeStream(of: [UInt8].self)
    self.input = input
    self.peer = peer
    let queued = queued
    sending = Task(executorPreference: loop) {
      for await message in messages {
        do throws(SendError) {
          try await peer.send(RawMessage(message), on: PeerEngine.reliable)
        } catch {
          return  // the peer has left, and its event follows
        }
        queued.withLock { $0 -= message.count }
      }
    }
  }

  /// Queues messages that belong together. Can be called from any thread. Returns false, and queues
  /// none of them, if there is no room.
  func append(_ messages: [[UInt8]]) -> Bool {
    queued.withLock { queued in
      let count = messages.reduce(0) { $0 + $1.count }
      guard queued + count <= Self.byteLimit else { return false }
      queued += count
      // Under the lock, so that the parts of one message stay together.
      for message in messages { input.yield(message) }
      return true
    }
  }

  /// Sends nothing that was not queued before, and waits until all of it has arrived, or the
  /// connection has ended.
  func finish() async {
    input.finish()
    await sending.value
    let leave = RawMessage(MemberMessage.leave.encoded)
    _ = try? await peer.sendConfirmed(leave, on: PeerEngine.reliable)
  }

  /// Drops what was not sent.
  func cancel() {
    input.finish()
    sending.cancel()
  }
}
