import CaromCore

/// A message of a file transfer on the control channel. The number of a transfer is counted by its
/// sender, from 0, separately for each direction.
package enum TransferMessage: Hashable, Sendable {
  /// The sender offers a file.
  case offer(UInt64, FileOffer)
  /// The sender offers a file whose name is not valid. Only the decoder creates this case.
  case invalidOffer(UInt64)
  /// The receiver wants the file from the given offset on.
  case accept(UInt64, offset: UInt64)
  /// The receiver has stored the file up to `stored`, and accepts bytes up to `limit`.
  case credit(UInt64, stored: UInt64, limit: UInt64)
  /// The receiver has stored the whole file and verified its hash.
  case complete(UInt64)
  /// The receiver of the file refuses or ends the transfer.
  case stop(UInt64, TransferFailure)
  /// The sender of the file ends the transfer.
  case withdraw(UInt64, TransferFailure)
}

extension TransferMessage: PacketCodable {
  private enum Kind: UInt8 {
    case offer = 1, accept, credit, complete, stop, withdraw
  }

  package func encode(into writer: inout PacketWriter) {
    switch self {
    case .offer(let number, let offer):
      write(.offer, number, &writer)
      writer.write(offer.size)
      writer.write(offer.hash)
      writer.writeText(offer.name.text)
    case .invalidOffer: preconditionFailure("an invalid offer is only received")
    case .accept(let number, let offset):
      write(.accept, number, &writer)
      writer.writeVarInt(offset)
    case .credit(let number, let stored, let limit):
      write(.credit, number, &writer)
      writer.writeVarInt(stored)
      writer.writeVarInt(limit)
    case .complete(let number): write(.complete, number, &writer)
    case .stop(let number, let failure):
      write(.stop, number, &writer)
      writer.append(failure.rawValue)
    case .withdraw(let number, let failure):
      write(.withdraw, number, &writer)
      writer.append(failure.rawValue)
    }
  }

  private func write(_ kind: Kind, _ number: UInt64, _ writer: inout PacketWriter) {
    writer.append(kind.rawValue)
    writer.writeVarInt(number)
  }

  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let kind = Kind(rawValue: try reader.read()) else { throw .invalid(what: "kind") }
    let number = try reader.readVarInt()
    switch kind {
    case .offer: self = try Self.readOffer(number, &reader)
    case .accept: self = .accept(number, offset: try reader.readVarInt())
    case .credit:
      let stored = try reader.readVarInt()
      self = .credit(number, stored: stored, limit: try reader.readVarInt())
    case .complete: self = .complete(number)
    case .stop: self = .stop(number, TransferFailure(rawValue: try reader.read()) ?? .unknown)
    case .withdraw:
      self = .withdraw(number, TransferFailure(rawValue: try reader.read()) ?? .unknown)
    }
  }

  private static func readOffer(
    _ number: UInt64, _ reader: inout PacketReader
  ) throws(DecodeError) -> TransferMessage {
    let size = try reader.read(UInt64.self)
    guard size <= FileOffer.maximumSize else {
      throw .tooLarge(length: size, limit: FileOffer.maximumSize)
    }
    let hash = try reader.readBytes(FileOffer.hashLength)
    let text = try reader.readText(limit: FileName.maximumLength)
    guard let name = FileName(text) else { return .invalidOffer(number) }
    return .offer(number, FileOffer(name, size: size, hash: hash))
  }
}
