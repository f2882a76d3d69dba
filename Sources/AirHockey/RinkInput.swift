import CaromCore
import CaromPhysics
import CaromSimulation

/// What one player does in one tick of a match in step: where it wants its mallet, and what it asks
/// for. Places are whole half millimetres, so that input, packet and simulation agree.
public struct RinkInput: Hashable, Sendable {
  /// What a player can ask for once.
  public enum Request: UInt8, Hashable, Sendable {
    /// Hold the match.
    case pause = 1
    /// No longer hold it.
    case resume = 2
    /// Begin the next match.
    case startMatch = 3
    /// Begin anew at 0-0, whatever goes on: home's alone, when somebody else sits down.
    case restart = 4
  }

  /// The tenths of a millimetre in a step of a place.
  static let step = Int32(5)
  /// The largest magnitudes of a place.
  static let limits = (x: MalletInput.maximumX / 5, y: MalletInput.maximumY / 5)

  private let x: Int16
  private let y: Int16
  private let isPresent: Bool
  /// What the player asks for.
  public let request: Request?

  /// Nobody is there: the mallet rests where it is.
  public init() { self.init(nil) }

  /// The wanted place, to the nearest half millimetre, or nobody; and a request.
  public init(_ mallet: MalletInput?, request: Request? = nil) {
    x = Self.rounded(mallet?.x ?? 0)
    y = Self.rounded(mallet?.y ?? 0)
    isPresent = mallet != nil
    self.request = request
  }

  /// The wanted place; `nil` where nobody is there.
  public var mallet: MalletInput? {
    isPresent ? MalletInput(x: x * Int16(Self.step), y: y * Int16(Self.step)) : nil
  }

  private init(_ input: RinkInput, request: Request?) {
    (x, y, isPresent) = (input.x, input.y, input.isPresent)
    self.request = request
  }

  private static func rounded(_ tenths: Int16) -> Int16 {
    let wide = Int32(tenths)
    return Int16((wide + (wide < 0 ? -2 : 2)) / step)
  }
}

extension RinkInput: SimulationInput {
  /// Along, across, and who is there with what request.
  public static var fieldCount: Int { 3 }

  /// Half millimetres along and across; then 0 for nobody or 1 for somebody, plus twice the
  /// request's number.
  public func field(_ index: Int) -> Int32 {
    switch index {
    case 0: Int32(x)
    case 1: Int32(y)
    default: Int32(request?.rawValue ?? 0) << 1 | (isPresent ? 1 : 0)
    }
  }

  /// Reads the three; a place off the table or an unknown request is `invalid`.
  public init(fields: Span<Int32>) throws(DecodeError) {
    let rest = fields[2]
    guard fields[0].magnitude <= UInt32(Self.limits.x), fields[1].magnitude <= UInt32(Self.limits.y)
    else { throw .invalid(what: "mallet place") }
    guard (0...9).contains(rest) else { throw .invalid(what: "rink request") }
    x = Int16(fields[0])
    y = Int16(fields[1])
    isPresent = rest & 1 == 1
    request = Request(rawValue: UInt8(rest >> 1))
    guard isPresent || x == 0 && y == 0 else { throw .invalid(what: "nobody's place") }
  }

  /// The same place, asking for nothing.
  public var held: RinkInput { request == nil ? self : RinkInput(self, request: nil) }

  /// The later place; the later request, or else this one.
  public func merged(with later: RinkInput) -> RinkInput {
    later.request == nil ? RinkInput(later, request: request) : later
  }
}
