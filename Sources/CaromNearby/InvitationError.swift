/// The reason why an invitation was not sent.
public enum InvitationError: Error, Hashable, Sendable {
  /// The context has more bytes than the limit.
  case contextTooLong(bytes: Int, limit: Int)

  /// Throws `contextTooLong` if an invitation cannot carry this context.
  static func check(_ context: [UInt8]) throws(InvitationError) {
    let limit = NearbyInvitation.maximumContextLength
    guard context.count <= limit else {
      throw .contextTooLong(bytes: context.count, limit: limit)
    }
  }
}

extension InvitationError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .contextTooLong(let bytes, let limit):
      "the context of the invitation has \(bytes) bytes, and at most \(limit) are allowed: "
        + "send more once the peer has joined"
    }
  }
}
