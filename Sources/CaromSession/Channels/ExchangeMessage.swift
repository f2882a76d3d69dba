import CaromCore

/// What goes over an exchange's channel: a question or an answer with its number.
struct ExchangeMessage: PacketCodable {
  enum Kind: UInt8, Sendable {
    case question = 0
    case answer = 1
    /// Whoever was asked could not answer.
    case failed = 2
    /// Too many questions wait already.
    case busy = 3
  }

  var kind: Kind
  /// The asking side's; the answer has that of its question.
  var number: UInt32
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
      throw .invalid(what: "kind of a question or answer")
    }
    self.kind = kind
    number = try reader.read()
    body = reader.readRest()
    if kind == .failed || kind == .busy, !body.isEmpty {
      throw .invalid(what: "answer: bytes after a refusal")
    }
  }
}
