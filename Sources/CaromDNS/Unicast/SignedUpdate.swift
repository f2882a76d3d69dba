import CaromCore

/// An update to send to name servers, with the key that signs it and the wall clock.
struct SignedUpdate: Sendable {
  /// What a response to the update means.
  enum Result: Hashable, Sendable {
    /// The server has made the update, at the given time of its own clock, or has refused it for
    /// a reason for which other servers would refuse it as well.
    case finished(Swift.Result<UInt64, UnicastError>)
    /// The server could not make the update, but another one may.
    case tryNext(UnicastError)
    /// Anybody may have sent the response, which has the given error. If it is nil, the response
    /// claims success.
    case unproven(UnicastError?)
  }

  /// Response codes (RFC 2136 §2.2).
  private enum ResponseCode: UInt16 {
    case success = 0
    case nameError = 3
    case refused = 5
    case nameInUse = 6
    case recordsExist = 7
    case recordsMissing = 8
    case notAuthoritative = 9
    case notInZone = 10
  }

  private let update: DynamicUpdate
  private let key: TransactionKey
  /// The time on the wall clock, in seconds since the beginning of 1970, at the instant `start`.
  private let startTime: UInt64
  private let start: Instant
  /// The request without its ID and its signature.
  private let unsigned: [UInt8]
  /// The length of the signed request, in bytes.
  let length: Int

  init(_ update: DynamicUpdate, key: TransactionKey, time: UInt64, at now: Instant) {
    self.update = update
    self.key = key
    startTime = time
    start = now
    unsigned = update.encoded(id: 0)
    length = unsigned.count + key.signatureLength
  }

  /// Returns the wall clock's time at `now`, in seconds since the beginning of 1970.
  private func time(at now: Instant) -> UInt64 {
    startTime + UInt64(max(0, (now - start).components.seconds))
  }

  func request(id: UInt16, at now: Instant) -> TransactionKey.SignedRequest {
    let id = [UInt8(id >> 8), UInt8(truncatingIfNeeded: id)]
    return key.sign(id + unsigned.dropFirst(2), at: time(at: now))
  }

  func isAnswered(by message: Message, id: UInt16) -> Bool {
    update.isAnswered(by: message, id: id)
  }

  /// Returns what a response means that answers the request with the authentication code `code`.
  func result(
    of message: Message, _ payload: [UInt8], to code: [UInt8], at now: Instant
  ) -> Result {
    let responseCode = ResponseCode(rawValue: message.flags & 0x000F)
    switch key.verify(payload, to: code, at: time(at: now)) {
    case .verified(let signature): return Self.proven(responseCode, signature)
    case .clocksDiffer(let signature):
      return .finished(.failure(clocksDiffer(from: signature, at: now)))
    case .unproven(let error): return .unproven(Self.unprovenError(responseCode, error))
    }
  }

  private static func proven(
    _ code: ResponseCode?, _ signature: TransactionSignature
  ) -> Result {
    switch code {
    case .success: .finished(.success(signature.time))
    case .nameInUse: .finished(.failure(.nameInUse))
    case .recordsExist, .recordsMissing, .nameError: .finished(.failure(.prerequisiteFailed))
    case .refused: .tryNext(.refused)
    case .notAuthoritative, .notInZone: .tryNext(.notAuthoritative)
    case nil: .tryNext(.serverFailure)
    }
  }

  private func clocksDiffer(
    from signature: TransactionSignature, at now: Instant
  ) -> UnicastError {
    let (ours, theirs) = (time(at: now), signature.serverTime)
    let magnitude = Int64(clamping: max(ours, theirs) - min(ours, theirs))
    return .clocksDiffer(bySeconds: ours < theirs ? -magnitude : magnitude)
  }

  private static func unprovenError(
    _ code: ResponseCode?, _ signatureError: UInt16?
  ) -> UnicastError? {
    guard code != .success else { return nil }
    switch signatureError.flatMap(TransactionSignature.Failure.init) {
    case .badSignature, .badKey, .badTime: return .keyRejected
    case nil: return code == .refused ? .refused : .serverFailure
    }
  }
}
