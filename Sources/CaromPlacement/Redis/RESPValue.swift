/// A value of Redis's protocol, version 2 (redis.io, "Redis serialization protocol specification").
package enum RESPValue: Hashable, Sendable {
  /// A line of text, such as "OK".
  case simpleString([UInt8])
  /// A line that says why a command failed, such as "ERR unknown command".
  case error([UInt8])
  case integer(Int64)
  /// Any bytes.
  case bulkString([UInt8])
  case array([RESPValue])
  /// The bulk string or the array that does not exist.
  case null
}

extension RESPValue {
  /// The value's bytes in the protocol.
  package var encoded: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .simpleString(let text): Self.appendLine("+", text, to: &bytes)
    case .error(let text): Self.appendLine("-", text, to: &bytes)
    case .integer(let number): Self.appendLine(":", number.description.utf8, to: &bytes)
    case .bulkString(let content):
      Self.appendLine("$", content.count.description.utf8, to: &bytes)
      bytes += content
      bytes += [13, 10]
    case .array(let values):
      Self.appendLine("*", values.count.description.utf8, to: &bytes)
      for value in values { value.append(to: &bytes) }
    case .null: Self.appendLine("$", "-1".utf8, to: &bytes)
    }
  }

  private static func appendLine(
    _ kind: Unicode.Scalar, _ text: some Sequence<UInt8>, to bytes: inout [UInt8]
  ) {
    bytes.append(UInt8(ascii: kind))
    bytes += text
    bytes += [13, 10]
  }
}
