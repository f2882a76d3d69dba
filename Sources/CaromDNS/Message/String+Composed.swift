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

extension Name {
  /// The name with each label in Unicode normalization form C. Labels that are not valid UTF-8
  /// remain as they are.
  package var composed: Name {
    guard wire.contains(where: { $0 >= 0x80 }) else { return self }
    let composed = labels.map { label in
      String(validating: label, as: UTF8.self).map { Array($0.composed.utf8) } ?? label
    }
    return (try? Name(labels: composed)) ?? self
  }

  /// Returns the name with one more label on its left, encoded as UTF-8 without normalization.
  package func prefixed(byUncomposed label: String) throws(NameError) -> Name {
    try Name(labels: [Array(label.utf8)] + labels)
  }
}
