import CaromCore

/// A message of an exchange as it is sent: a request or a response, with the request's number.
struct ExchangeMessage: PacketCodable {
  enum Kind: UInt8, Sendable {
    case request = 0
    case response = 1
    /// The responder's closure threw an error.
    case failed = 2
    /// The responder's request queue is full.
    case busy = 3
  }

  var kind: Kind
  /// The request's number, chosen by the requester; a response repeats the number of its request.
  var number: UInt32
  /// The encoded request or response; empty in `failed` and `busy`.
  var body: [UInt8]

  init(_ kind: Kind, _ number: UInt32, _ body: [UInt8] = []) {
    self.kind = kind
    self.number = number
    self.body = body
  }

  func encode(into writer: inout PacketWriter) {
    writer.write(kind.rawValue)
    writer.write(number)
    writer.write(body)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let kind = Kind(rawValue: try reader.read()) else {
      throw .invalid(what: "kind of a request or response")
    }
    self.kind = kind
    number = try reader.read()
    body = reader.readRest()
    if kind == .failed || kind == .busy, !body.isEmpty {
      throw .invalid(what: "response: bytes after a refusal")
    }
  }
}
