/// A JSON value. All control and format characters in strings are escaped, so that a terminal does
/// not interpret them.
enum JSONValue: Hashable, Sendable {
  case null
  case string(String)
  case number(Int)
  case array([JSONValue])
  case object([Field])

  /// A member of an object; objects keep the order of their members.
  struct Field: Hashable, Sendable {
    let name: String
    let value: JSONValue

    init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  static func strings(_ values: [String]) -> JSONValue { .array(values.map(JSONValue.string)) }

  /// The value as JSON text on one line (RFC 8259).
  var text: String {
    switch self {
    case .null: "null"
    case .string(let text): Self.quoted(text)
    case .number(let number): "\(number)"
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let fields):
      "{" + fields.map { Self.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
        .paragraphSeparator:
        for unit in String(scalar).utf16 { out += escaped(unit) }
      default:
        if scalar == "\"" || scalar == "\\" { out += "\\" }
        out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }

  private static func escaped(_ unit: UInt16) -> String {
    let digits = String(unit, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
