import CaromCore

/// A failed attempt to join, made with a wrong code.
public struct WrongCode: Hashable, Sendable {
  /// The number of wrong attempts since the last right one.
  public var count: Int
  /// The time before which the host refuses all further attempts; nil if the next attempt may be
  /// made immediately.
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
  /// The report to the host's owner about a wrong attempt; nil if there is nothing to report.
  var failure: WrongCode?
}

/// The state of the attempt by which the peer proves, on one link of a connection, that it knows
/// the code. Until the host's gate has decided about the attempt, the host sends nothing that would
/// show whether it was right.
enum CodeAttempt: UInt8 {
  /// There is no attempt, or it was accepted.
  case none
  case right
  case wrong
}

/// How a handshake ends on the responder's side.
enum HandshakeEnd {
  case keys(DerivedKeys)
  /// The initiator has completed its handshake, but with a different code.
  case wrongCode
}
