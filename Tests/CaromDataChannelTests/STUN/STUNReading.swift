import CaromCore

@testable import CaromDataChannel

/// A copy of what a STUN message says, which macros can hold.
struct STUNReading {
  var kind: STUN.Kind
  var transaction: STUN.Transaction
  var username: String
  var receiver: String?
  var sender: String?
  var usesCandidate: Bool
  var priority: UInt32?
  var mappedAddress: Endpoint?
  var errorCode: Int?
  var unknownCount: Int
  /// Whether the message is made with the password of the test vectors.
  var isAuthentic: Bool
  var isAuthenticWithAnotherKey: Bool

  init(_ bytes: [UInt8]) throws(DecodeError) {
    try self.init(bytes.span)
  }

  init(_ bytes: Span<UInt8>) throws(DecodeError) {
    let message = try STUNMessage(bytes)
    kind = message.kind
    transaction = message.transaction
    username = Self.text(message.username)
    if let fragment = message.receiverFragment { receiver = Self.text(fragment) }
    if let fragment = message.senderFragment { sender = Self.text(fragment) }
    usesCandidate = message.usesCandidate
    priority = message.priority
    mappedAddress = message.mappedAddress
    errorCode = message.errorCode
    unknownCount = message.unknownCount
    let key = STUNVectors.password
    isAuthentic = message.isAuthentic(key: key.span)
    isAuthenticWithAnotherKey = message.isAuthentic(key: Array("another".utf8).span)
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    String(decoding: Array(copying: bytes), as: UTF8.self)
  }
}
