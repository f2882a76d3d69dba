import CaromPhysics
import Foundation

/// A JSON value of a case file.
enum JSON: Hashable, Sendable, Decodable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  case list([JSON])
  case object([String: JSON])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .list(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  /// The member of an object with a key, or null if there is none.
  subscript(key: String) -> JSON {
    if case .object(let members) = self { return members[key] ?? .null }
    return .null
  }

  var double: Double? {
    if case .number(let value) = self { return value }
    return nil
  }

  var text: String? {
    if case .text(let value) = self { return value }
    return nil
  }

  var bool: Bool? {
    if case .bool(let value) = self { return value }
    return nil
  }

  var list: [JSON]? {
    if case .list(let value) = self { return value }
    return nil
  }

  var vector: Vector? {
    guard let x = list?.first?.double, let y = list?.dropFirst().first?.double else { return nil }
    return Vector(x, y)
  }

  /// Whether an object has a member with a key, even if its value is null.
  func has(_ key: String) -> Bool {
    if case .object(let members) = self { return members[key] != nil }
    return false
  }
}
