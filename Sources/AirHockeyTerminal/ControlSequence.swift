/// A parsed control sequence: an optional prefix, numeric parameters with optional subparameters,
/// an optional dollar sign, and a final byte.
struct ControlSequence {
  private let prefix: UInt8?
  private let fields: [[Int?]]
  private let isAnswer: Bool
  private let final: UInt8

  /// Creates a sequence from its parameter bytes and its final byte. Returns nil if the parameters
  /// are not numbers.
  init?(_ parameters: [UInt8], final: UInt8) {
    self.final = final
    prefix = parameters.first.flatMap { (0x3C...0x3F).contains($0) ? $0 : nil }
    isAnswer = parameters.last == 0x24
    let digits = parameters.dropFirst(prefix == nil ? 0 : 1).dropLast(isAnswer ? 1 : 0)
    guard digits.allSatisfy({ (0x30...0x3B).contains($0) }) else { return nil }
    fields = digits.split(separator: 0x3B, omittingEmptySubsequences: false).map { field in
      field.split(separator: 0x3A, omittingEmptySubsequences: false).map(Self.number)
    }
  }

  /// The event that the sequence reports, or nil if the game does not use the sequence.
  var event: InputEvent? {
    if isAnswer { return mode }
    return switch (prefix, final) {
    case (0x3C, 0x4D), (0x3C, 0x6D): pointer
    case (0x3F, 0x75): (field(0) ?? 0) & 2 != 0 ? .reportsReleases : nil
    case (nil, 0x49): .focus(true)
    case (nil, 0x4F): .focus(false)
    case (nil, 0x75): code.flatMap(Self.key).flatMap(press)
    case (nil, _): InputParser.arrow(final).flatMap(press)
    default: nil
    }
  }

  /// The event for a reply to DECRQM, which contains the number of a mode and the mode's state: 1
  /// if set, 3 if permanently set.
  private var mode: InputEvent? {
    guard prefix == 0x3F, final == 0x79, field(0) == 1016, [1, 3].contains(field(1)) else {
      return nil
    }
    return .reportsPixels
  }

  /// The event for an SGR mouse report, which contains the button, the column and the row; columns
  /// and rows are counted from 1. The final byte is M if the button was pressed or the pointer
  /// moved, and m if the button was released.
  private var pointer: InputEvent? {
    guard let button = field(0), let column = field(1), let row = field(2), column > 0, row > 0,
      button & 64 == 0
    else { return nil }
    let action: InputEvent.PointerAction =
      button & 32 != 0 ? .moved : final == 0x4D ? .pressed : .released
    return .pointer(x: column - 1, y: row - 1, action: action)
  }

  /// Returns the event for a report about `key`. The report's second field is the modifiers plus
  /// one, followed by the key's action as a subparameter.
  private func press(_ key: KeyPress.Key) -> InputEvent? {
    let modifiers = max(0, (field(1) ?? 1) - 1)
    let action: KeyPress.Action =
      switch field(1, 1) {
      case 2: .repeated
      case 3: .released
      default: .pressed
      }
    return .key(KeyPress(key, action, control: modifiers & 4 != 0))
  }

  /// The code of a key: its position on a standard keyboard if the terminal reports that, so that
  /// W, A, S and D are next to each other in every keyboard layout.
  private var code: Int? { field(0, 2) ?? field(0) }

  private static func key(_ code: Int) -> KeyPress.Key? {
    switch code {
    case 27: .escape
    case 13, 57414: .enter
    case 9: .tab
    case 127: .backspace
    case 57417: .left
    case 57418: .right
    case 57419: .up
    case 57420: .down
    case 57344...63743: nil
    default: UInt32(exactly: code).flatMap(InputParser.small).map { .character($0) }
    }
  }

  private func field(_ index: Int, _ part: Int = 0) -> Int? {
    guard index < fields.count, part < fields[index].count else { return nil }
    return fields[index][part]
  }

  /// Parses one to nine digits. Returns nil for anything else.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard (1...9).contains(digits.count) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
  }
}
