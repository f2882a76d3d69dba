import CaromDNS

/// A key of a TXT record and its new value, as written on the command line and in the lines of
/// `publish --txt`: `KEY=VALUE`, `KEY` for a key without a value, or `-KEY` to remove the key.
struct TXTPair {
  let key: String
  /// The value; nil if the key is removed.
  let value: TXTRecord.Content?

  init(_ text: String, removes: Bool = false) {
    if removes, text.hasPrefix("-") {
      (key, value) = (String(text.dropFirst()), nil)
      return
    }
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    key = String(parts[0])
    value = parts.count == 2 ? .bytes(Array(parts[1].utf8)) : TXTRecord.Content.none
  }

  func apply(to record: inout TXTRecord) throws(TXTRecordError) {
    if let value { try record.set(key, to: value) } else { record.remove(key) }
  }
}
