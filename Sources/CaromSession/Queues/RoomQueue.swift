import CaromCore
import CaromProtocol

/// Messages of one connection that wait until its queue has room, in the order of sending.
struct RoomQueue: Sendable {
  /// The most messages that wait so; each belongs to a task that is suspended.
  static let limit = 1024

  struct Entry: Sendable {
    let turn: UInt64
    let bytes: [UInt8]
    let channel: UInt8
    let options: SendOptions
    let continuation: CheckedContinuation<Result<UInt64?, SendError>, Never>
  }

  var entries = Deque<Entry>()
}
