import CaromCore

/// The reason why an event was not submitted to a group, or why waiting for it has ended.
public enum GroupError: Error, Hashable, Sendable {
  /// The event has more bytes than the limit after it was encoded.
  case eventTooLong(bytes: Int, limit: Int)
  /// Encoding the event has thrown this error.
  case eventNotEncodable(String)
  /// The state could not be given to a new member, for this reason. This side has left the group.
  case stateNotEncodable(String)
  /// The leader's state could not be decoded, for this reason. This side has left the group.
  case stateNotDecodable(String)
  /// The leader's state is too large to be sent to this side. This side has left the group.
  case stateTooLarge(leader: PeerID)
  /// This side has left the group, because the closure of `withGroup` has ended.
  case left
  /// The task was cancelled. An event that was submitted before is applied nevertheless.
  case cancelled
}

extension GroupError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .eventTooLong(let bytes, let limit):
      "the event takes \(bytes) bytes, and at most \(limit) are allowed: send a file instead"
    case .eventNotEncodable(let why): "the event cannot be encoded: \(why)"
    case .stateNotEncodable(let why): "the state cannot be given to a new member: \(why)"
    case .stateNotDecodable(let why):
      "the group's state cannot be read: \(why); all members need the same version of the program"
    case .stateTooLarge(let leader):
      "the state of the group that \(leader) leads is too large to be sent to this side: "
        + "enter the group before it has grown, or keep less in the state"
    case .left: "this side has left the group"
    case .cancelled: "the task was cancelled"
    }
  }
}
