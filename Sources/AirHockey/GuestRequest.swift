import CaromCore

/// What a guest asks of the host, in order and exactly once.
public enum GuestRequest: UInt8, Hashable, Sendable, PacketCodable, CaseIterable {
  /// Hold the match.
  case pause = 0
  /// Hold it no longer.
  case resume = 1
  /// The next match, once one is over.
  case startMatch = 2
  /// The guest's time is up: tell the final score and say goodbye.
  case finish = 3

  /// The command of the away seat that it stands for; `finish` is none.
  public var command: RinkCommand? {
    switch self {
    case .pause: .pause(.away)
    case .resume: .resume(.away)
    case .startMatch: .startMatch(.away)
    case .finish: nil
    }
  }

  /// Appends one byte.
  public func encode(into writer: inout PacketWriter) { writer.append(rawValue) }

  /// Reads one byte; an unknown one is `invalid`.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let request = Self(rawValue: try reader.read()) else { throw .invalid(what: "request") }
    self = request
  }
}
