import CaromCore

/// A wrong attempt to join with a code.
public struct WrongCode: Hashable, Sendable {
  /// The number of wrong attempts since the last right one.
  public var count: Int
  /// The time until which no other attempt is made; nil if the next one may be made at once.
  public var waitsUntil: Instant?
}

extension WrongCode: CustomStringConvertible {
  /// The attempt as a line for logs.
  public var description: String {
    (count == 1 ? "a wrong code was tried" : "\(count) attempts in a row had a wrong code")
      + (waitsUntil == nil ? "" : "; nobody can join for a while")
  }
}

/// The answer of a host's gate to an attempt.
struct GateDecision {
  /// The reason to refuse the attempt; nil if it is accepted.
  var refusal: Goodbye.Code?
  /// What the owner should know about a wrong attempt.
  var failure: WrongCode?
}

/// The state of the attempt that a link of a connection makes to prove that its peer knows the
/// code. Until the host's gate has decided, nothing is sent that would show whether it was right.
enum CodeAttempt: UInt8 {
  /// There is no attempt, or it was accepted.
  case none
  case right
  case wrong
}

/// How a handshake ends on the responder's side.
enum HandshakeEnd {
  case keys(LinkKeys)
  /// The initiator has completed the handshake that it began, with another code.
  case wrongCode
}
