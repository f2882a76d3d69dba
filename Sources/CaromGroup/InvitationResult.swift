import CaromProtocol

/// How an invitation has ended.
public enum InvitationResult: Hashable, Sendable {
  /// The invited peer has accepted, and both sides have joined.
  case accepted
  /// The invited peer has declined.
  case declined
  /// No answer has arrived in time.
  case timedOut
  /// The invited peer has no room, or too many open invitations, or this side has already invited
  /// it and waits for the answer.
  case busy
  /// The two sides cannot connect, for a reason that waiting does not change.
  case refused(DisconnectReason)
  /// This side has ended the invitation.
  case cancelled
}

extension InvitationResult {
  /// How an invitation ends if its peer cannot be connected to for this reason; nil if another
  /// attempt may succeed.
  init?(failure reason: DisconnectReason) {
    switch reason {
    case .full, .busy: self = .busy
    case .declined: self = .declined
    case .versionMismatch, .wrongApplication, .securityMismatch, .untrusted, .wrongCode,
      .tooManyAttempts, .identityMismatch, .tokenRefused, .kicked, .moved:
      self = .refused(reason)
    case .closedLocally, .left, .finished, .replaced, .protocolViolation, .handshakeTimeout,
      .timedOut, .tooSlow, .connectionReset, .connectionLost:
      return nil
    }
  }
}
