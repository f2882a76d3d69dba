@_spi(_Unicode) import Swift

extension String {
  /// The string in Unicode normalization form C.
  package var composed: String {
    guard utf8.contains(where: { $0 >= 0x80 }) else { return self }
    var scalars = UnicodeScalarView()
    for scalar in _nfc { scalars.append(scalar) }
    return String(scalars)
  }
}
