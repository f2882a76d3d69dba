import CaromCore

/// A message of the mesh, on channel `GroupChannel.mesh`.
package enum MeshMessage: Hashable, Sendable {
  /// The first message of each side on a new connection.
  case hello(MeshHello)
  /// The side with the lower id has selected this connection for the pair. Its selections have
  /// different numbers, from 1.
  case use(number: UInt32)
  /// An invitation to join the sender's session.
  case invite(InvitationRequest)
  /// The answer to the invitation with this number.
  case answer(number: UInt32, InvitationAnswer)
  /// The sender no longer waits for an answer to its invitation with this number.
  case withdraw(number: UInt32)
  /// The sender has received the acceptance of its invitation with this number, and both sides have
  /// joined.
  case confirm(number: UInt32)
}

/// What a side says about itself on a new connection.
package struct MeshHello: Hashable, Sendable {
  /// The version of the group's protocols.
  package static let version: UInt8 = 1

  /// A random number that the process has chosen at its start. A peer that was restarted with the
  /// same id has another one, so that its new connection is not taken for a second one.
  package var incarnation: UInt64
  /// Whether the side joins every peer that does so as well, without an invitation.
  package var joinsEveryone: Bool
  /// The number of the last selection of the other side that has arrived; 0 if there is none. From
  /// it, the other side sees whether this side has lost the selected connection, or did not know of
  /// it when it opened another one.
  package var lastUse: UInt32

  package init(incarnation: UInt64, joinsEveryone: Bool, lastUse: UInt32 = 0) {
    self.incarnation = incarnation
    self.joinsEveryone = joinsEveryone
    self.lastUse = lastUse
  }
}

extension MeshMessage: PacketCodable {
  private enum Kind: UInt8 {
    case hello = 1
    case use = 2
    case invite = 3
    case answer = 4
    case withdraw = 5
    case confirm = 6
  }

  /// Appends the kind (1 byte) and the message's fields.
  package func encode(into writer: inout PacketWriter) {
    switch self {
    case .hello(let hello):
      writer.write(Kind.hello.rawValue)
      hello.encode(into: &writer)
    case .use(let number):
      writer.write(Kind.use.rawValue)
      writer.write(number)
    case .invite(let invitation):
      writer.write(Kind.invite.rawValue)
      invitation.encode(into: &writer)
    case .answer(let number, let answer):
      writer.write(Kind.answer.rawValue)
      writer.write(number)
      writer.write(answer.rawValue)
    case .withdraw(let number):
      writer.write(Kind.withdraw.rawValue)
      writer.write(number)
    case .confirm(let number):
      writer.write(Kind.confirm.rawValue)
      writer.write(number)
    }
  }

  /// Reads a message. Throws if its kind or its answer is unknown, or if a field is out of bounds.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let kind = Kind(rawValue: try reader.read()) else { throw .invalid(what: "mesh message") }
    switch kind {
    case .hello: self = .hello(try MeshHello(decoding: &reader))
    case .use: self = .use(number: try reader.read())
    case .invite: self = .invite(try InvitationRequest(decoding: &reader))
    case .answer:
      let number: UInt32 = try reader.read()
      guard let answer = InvitationAnswer(rawValue: try reader.read()) else {
        throw .invalid(what: "answer")
      }
      self = .answer(number: number, answer)
    case .withdraw: self = .withdraw(number: try reader.read())
    case .confirm: self = .confirm(number: try reader.read())
    }
  }
}

extension MeshHello: PacketCodable {
  private static let joinsEveryoneFlag: UInt8 = 1

  /// Appends the version, the flags, the incarnation and the number of the last selection.
  package func encode(into writer: inout PacketWriter) {
    writer.write(Self.version)
    writer.write(joinsEveryone ? Self.joinsEveryoneFlag : 0)
    writer.write(incarnation)
    writer.write(lastUse)
  }

  /// Reads a hello. Ignores unknown flags. Throws if the version is another one.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard try reader.read() == Self.version else { throw .invalid(what: "version of the mesh") }
    joinsEveryone = try reader.read() & Self.joinsEveryoneFlag != 0
    incarnation = try reader.read()
    lastUse = try reader.read()
  }
}
