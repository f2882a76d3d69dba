@_spi(_Unicode) import Swift

extension String {
  /// The same text with its characters composed as far as they can be (Unicode's form C).
  package var composed: String {
    guard utf8.contains(where: { $0 >= 0x80 }) else { return self }
    var scalars = UnicodeScalarView()
    for scalar in _nfc { scalars.append(scalar) }
    return String(scalars)
  }
}
