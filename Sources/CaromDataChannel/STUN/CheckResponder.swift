import CaromCore

/// Answers connectivity checks as an ICE-lite agent (RFC 8445 §2.5, §7.3). It keeps no state but
/// its buffer.
package struct CheckResponder: Sendable {
  /// What was done about a datagram.
  package enum Answer: Hashable, Sendable {
    /// The check succeeded, and `response` has to be sent to where the request came from.
    /// `isNominated` says whether the peer uses this path.
    case accepted(isNominated: Bool)
    /// The request is authentic, but has attributes that this agent does not comprehend; `response`
    /// says so and has to be sent.
    case refused
    /// The datagram is no authentic request, and has no answer.
    case dropped
  }

  private var writer = STUNWriter()

  package init() {}

  /// The response to the last request that was accepted or refused.
  package var response: Span<UInt8> {
    @_lifetime(borrow self) get { writer.message }
  }

  /// Answers the check in a datagram from `source`.
  ///
  /// - Parameters:
  ///   - password: Returns the password that belongs to the fragment of this agent in the username,
  ///     or nil if no fragment is such.
  package mutating func answer(
    _ datagram: Span<UInt8>, from source: Endpoint, password: (Span<UInt8>) -> [UInt8]?
  ) -> Answer {
    guard let request = try? STUNMessage(datagram), request.kind == .bindingRequest,
      let fragment = request.receiverFragment, let key = password(fragment),
      request.isAuthentic(key: key.span)
    else { return .dropped }
    if request.unknownCount > 0 {
      writer.writeUnknownAttributes(of: request, key: key.span)
      return .refused
    }
    writer.writeBindingSuccess(to: request.transaction, mapped: source, key: key.span)
    return .accepted(isNominated: request.usesCandidate)
  }
}
