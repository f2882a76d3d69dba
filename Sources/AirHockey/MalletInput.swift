import CaromCore
import CaromPhysics

/// Where a player wants the mallet in one tick: the one input type of computers, people at this
/// machine and people far away.
///
/// Whole tenths of a millimetre, so that input, wire and simulation agree. The simulation moves the
/// mallet towards it within the speed limit and the player's own half.
public struct MalletInput: Hashable, Sendable {
  /// The largest magnitude of `x`.
  public static let maximumX = Int16(9_740)
  /// The largest magnitude of `y`.
  public static let maximumY = Int16(5_190)
  /// Tenths of a millimetre in a metre.
  public static let unitsPerMetre = 10_000.0

  /// Along the table, 0.1 mm.
  public let x: Int16
  /// Across the table, 0.1 mm.
  public let y: Int16

  /// The wanted place, brought onto the table where it lies outside.
  public init(x: Int16, y: Int16) {
    self.x = min(max(x, -Self.maximumX), Self.maximumX)
    self.y = min(max(y, -Self.maximumY), Self.maximumY)
  }

  /// The nearest place to `point` (metres); what is not a number counts as 0.
  public init(_ point: Vector) {
    self.init(x: Self.units(point.x), y: Self.units(point.y))
  }

  /// The wanted place in metres.
  public var vector: Vector { Vector(Double(x) / 10_000, Double(y) / 10_000) }

  /// Turned half around the table's centre.
  public var mirrored: MalletInput { MalletInput(x: -x, y: -y) }

  private static func units(_ metres: Double) -> Int16 {
    guard metres == metres else { return 0 }
    let tenths = min(max(metres, -1), 1) * unitsPerMetre
    return Int16(tenths < 0 ? tenths - 0.5 : tenths + 0.5)
  }
}

extension MalletInput {
  /// Bytes on the wire: x and y, each a little-endian two's complement of 16 bits.
  public static let encodedLength = 4

  /// Appends the four bytes.
  public func encode(into writer: inout PacketWriter) {
    writer.write(UInt16(bitPattern: x))
    writer.write(UInt16(bitPattern: y))
  }

  /// Reads the four bytes; a place outside the table is `invalid`.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    let x = Int16(bitPattern: try reader.read(UInt16.self))
    let y = Int16(bitPattern: try reader.read(UInt16.self))
    guard x >= -Self.maximumX, x <= Self.maximumX else { throw .invalid(what: "mallet x") }
    guard y >= -Self.maximumY, y <= Self.maximumY else { throw .invalid(what: "mallet y") }
    self.init(x: x, y: y)
  }
}
