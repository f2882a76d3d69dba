/// Turns the bytes that a terminal sends into events. It parses plain UTF-8, xterm's sequences
/// (ECMA-48 §5.4), SGR mouse reports, and the progressive keyboard protocol. Bytes may arrive in
/// chunks of any size. Unknown sequences are skipped.
package struct InputParser: Sendable {
  /// The maximum number of parameter bytes in a sequence. No key's sequence is longer.
  static let parameterLimit = 48

  private enum State: Hashable {
    case ground
    case escape
    /// In a control sequence. The value is its parameter bytes so far, or nil if there are too
    /// many.
    case control([UInt8]?)
    /// After ESC O, before the one character that follows.
    case single
    /// In a control string, which is skipped up to its terminator. `escaped` tells whether the last
    /// byte was ESC.
    case string(escaped: Bool)
    /// In an old mouse report, which has three bytes. The value is the bytes received so far.
    case oldMouse([UInt8])
    /// In a UTF-8 character. The values are the bits of its code point that have been decoded so
    /// far, and the number of bytes that are still missing.
    case character(UInt32, left: Int)
  }
  private var state = State.ground

  /// Creates a parser at the start of the input.
  package init() {}

  /// Parses one byte. Returns the event that the byte completes, or nil if there is none.
  package mutating func handle(_ byte: UInt8) -> InputEvent? {
    switch state {
    case .ground: return handleGround(byte)
    case .escape: return handleEscape(byte)
    case .control(let parameters): return handleControl(byte, parameters)
    case .single:
      state = .ground
      return Self.arrow(byte).map { .key(KeyPress($0)) }
    case .string(let escaped):
      let isEnd = byte == 0x07 || escaped && byte == 0x5C
      state = isEnd ? .ground : .string(escaped: byte == 0x1B)
      return nil
    case .oldMouse(let bytes): return handleOldMouse(bytes + [byte])
    case .character(let code, let left): return handleCharacter(byte, code, left)
    }
  }

  /// Handles a pause in the input: an ESC that is not followed by another byte is the Escape key.
  /// Returns the event for that key, or nil if the last byte was not such an ESC.
  package mutating func handlePause() -> InputEvent? {
    guard case .escape = state else { return nil }
    state = .ground
    return .key(KeyPress(.escape))
  }

  private mutating func handleGround(_ byte: UInt8) -> InputEvent? {
    switch byte {
    case 0x1B: state = .escape
    case 0x0D, 0x0A: return .key(KeyPress(.enter))
    case 0x09: return .key(KeyPress(.tab))
    case 0x08, 0x7F: return .key(KeyPress(.backspace))
    case 0x01...0x1A:
      return .key(KeyPress(.character(Unicode.Scalar(byte + 0x60)), control: true))
    case 0x20...0x7E: return .key(KeyPress(.character(Self.small(UInt32(byte)) ?? " ")))
    case 0xC2...0xDF: state = .character(UInt32(byte & 0x1F), left: 1)
    case 0xE0...0xEF: state = .character(UInt32(byte & 0x0F), left: 2)
    case 0xF0...0xF4: state = .character(UInt32(byte & 0x07), left: 3)
    default: break
    }
    return nil
  }

  private mutating func handleCharacter(_ byte: UInt8, _ code: UInt32, _ left: Int) -> InputEvent? {
    guard byte & 0xC0 == 0x80 else {
      state = .ground
      return handleGround(byte)
    }
    let longer = code << 6 | UInt32(byte & 0x3F)
    state = left > 1 ? .character(longer, left: left - 1) : .ground
    guard left == 1, let scalar = Self.small(longer) else { return nil }
    return .key(KeyPress(.character(scalar)))
  }

  private mutating func handleEscape(_ byte: UInt8) -> InputEvent? {
    switch byte {
    case 0x5B: state = .control([])
    case 0x4F: state = .single
    case 0x50, 0x58, 0x5D, 0x5E, 0x5F: state = .string(escaped: false)
    case 0x1B: return .key(KeyPress(.escape))
    default:
      state = .ground
      return handleGround(byte)
    }
    return nil
  }

  private mutating func handleControl(_ byte: UInt8, _ parameters: [UInt8]?) -> InputEvent? {
    switch byte {
    case 0x20...0x3F:
      let room = parameters.map { $0.count < Self.parameterLimit } ?? false
      state = .control(room ? parameters.map { $0 + [byte] } : nil)
      return nil
    case 0x4D where parameters == []:
      state = .oldMouse([])
      return nil
    case 0x40...0x7E:
      state = .ground
      return parameters.flatMap { ControlSequence($0, final: byte)?.event }
    case 0x1B:
      state = .escape
      return nil
    default:
      state = .ground
      return nil
    }
  }

  /// Handles the bytes of an old mouse report: the button, column and row, each with 32 added.
  /// Returns nil if there are fewer than three bytes, or if the report is invalid or comes from the
  /// wheel.
  private mutating func handleOldMouse(_ bytes: [UInt8]) -> InputEvent? {
    guard bytes.count == 3 else {
      state = .oldMouse(bytes)
      return nil
    }
    state = .ground
    let (button, column, row) = (Int(bytes[0]) - 32, Int(bytes[1]) - 33, Int(bytes[2]) - 33)
    guard button >= 0, column >= 0, row >= 0 else { return nil }
    let action: InputEvent.PointerAction =
      button & 32 != 0 ? .moved : button & 3 == 3 ? .released : .pressed
    return button & 64 != 0 ? nil : .pointer(x: column, y: row, action: action)
  }

  static func arrow(_ byte: UInt8) -> KeyPress.Key? {
    switch byte {
    case 0x41: .up
    case 0x42: .down
    case 0x43: .right
    case 0x44: .left
    default: nil
    }
  }

  /// Returns the character with the given Unicode code point, in lower case, or nil if the number
  /// is not the code point of a character.
  static func small(_ code: UInt32) -> Unicode.Scalar? {
    guard let scalar = Unicode.Scalar(code) else { return nil }
    return scalar.properties.lowercaseMapping.unicodeScalars.first
  }
}
