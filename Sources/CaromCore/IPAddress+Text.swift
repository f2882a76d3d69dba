extension IPAddress: CustomStringConvertible {
  /// The text form: dotted decimal for IPv4; the RFC 5952 form for IPv6, followed by `%index` if a
  /// scope is set.
  public var description: String {
    switch self {
    case .v4(let value):
      return [24, 16, 8, 0].map { String((value >> UInt32($0)) & 0xFF) }.joined(separator: ".")
    case .v6(let high, let low, let scope):
      let groups =
        [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: high >> UInt64($0)) }
        + [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: low >> UInt64($0)) }
      return Self.text(of: groups) + (scope == 0 ? "" : "%\(scope)")
    }
  }

  /// Formats eight 16-bit groups in hexadecimal. The longest run of two or more zero groups becomes
  /// "::", and the first run wins a tie (RFC 5952 §4.2).
  private static func text(of groups: [UInt16]) -> String {
    var best = 0..<0
    var start = 0
    for index in 0...groups.count where index == groups.count || groups[index] != 0 {
      if index - start > best.count { best = start..<index }
      start = index + 1
    }
    let hex = { (part: ArraySlice<UInt16>) in
      part.map { String($0, radix: 16) }.joined(separator: ":")
    }
    guard best.count > 1 else { return hex(groups[...]) }
    return hex(groups[..<best.lowerBound]) + "::" + hex(groups[best.upperBound...])
  }

  /// Creates an address from text such as "10.0.0.1" or "fe80::1%2". Returns nil if the text is not
  /// an address. A scope must be an interface index, not an interface name.
  public init?(_ text: some StringProtocol) {
    if let v4 = Self.parseV4(text) {
      self = .v4(v4)
      return
    }
    let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    let scope = parts.count == 2 ? Self.parseDecimal(parts[1]) : 0
    guard let scope, let address = parts.first, let groups = Self.parseGroups(String(address))
    else { return nil }
    let halves = groups.reduce(into: (high: UInt64(0), low: UInt64(0))) { halves, group in
      halves.high = halves.high << 16 | halves.low >> 48
      halves.low = halves.low << 16 | UInt64(group)
    }
    self = .v6(high: halves.high, low: halves.low, scope: scope)
  }

  private static func parseV4(_ text: some StringProtocol) -> UInt32? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var value: UInt32 = 0
    for part in parts {
      guard let byte = parseDecimal(part), byte < 256 else { return nil }
      value = value << 8 | byte
    }
    return value
  }

  /// Parses a decimal number. Returns nil if it contains anything but digits, is too large, or has
  /// a leading zero, which some parsers take as a sign of octal notation.
  private static func parseDecimal(_ digits: some StringProtocol) -> UInt32? {
    guard digits.utf8.allSatisfy({ (48...57).contains($0) }), digits == "0" || digits.first != "0"
    else { return nil }
    return UInt32(digits)
  }

  /// Parses the eight groups of an IPv6 address, with at most one "::". The last 32 bits may be
  /// written as an IPv4 address (RFC 4291 §2.2). Returns nil for any other text.
  private static func parseGroups(_ text: String) -> [UInt16]? {
    var sides: [[UInt16]] = [[]]
    var rest = Substring(text)
    if rest.hasPrefix("::") {
      sides.append([])
      rest = rest.dropFirst(2)
    }
    while !rest.isEmpty {
      if sides.reduce(0, { $0 + $1.count }) <= 6, let v4 = parseV4(rest) {
        sides[sides.count - 1] += [UInt16(v4 >> 16), UInt16(v4 & 0xFFFF)]
        break
      }
      let digits = rest.prefix { $0.isHexDigit }
      rest = rest.dropFirst(digits.count)
      guard (1...4).contains(digits.utf8.count), let group = UInt16(digits, radix: 16) else {
        return nil
      }
      sides[sides.count - 1].append(group)
      if rest.hasPrefix("::") {
        guard sides.count == 1 else { return nil }
        sides.append([])
        rest = rest.dropFirst(2)
      } else if rest.hasPrefix(":") {
        rest = rest.dropFirst()
        guard !rest.isEmpty else { return nil }
      } else if !rest.isEmpty {
        return nil
      }
    }
    let count = sides.reduce(0) { $0 + $1.count }
    if sides.count == 1 { return count == 8 ? sides[0] : nil }
    guard count < 8 else { return nil }
    return sides[0] + Array(repeating: 0, count: 8 - count) + sides[1]
  }
}
