import CaromDNS

/// An advertiser's discovery info as the key-value pairs of a TXT record.
///
/// The record's own keys are `txtvers`, `id` and `name`. A key of the application that is one of
/// them, or begins with "~", gets a "~" in front.
enum DiscoveryInfo {
  private static let reserved: Set<String> = ["txtvers", "id", "name"]

  /// Returns the record. Throws if a key is empty, contains "=" or a character that is not
  /// printable ASCII, or if a pair has more than 255 bytes.
  static func record(of info: [String: String]) throws -> TXTRecord {
    var record: TXTRecord = [:]
    for (key, value) in info.sorted(by: { $0.key < $1.key }) {
      let isEscaped = reserved.contains(key.lowercased()) || key.hasPrefix("~")
      try record.set(isEscaped ? "~" + key : key, to: .bytes(Array(value.utf8)))
    }
    return record
  }

  /// Returns the application's pairs in a record; nil if there are none.
  static func info(in record: TXTRecord) -> [String: String]? {
    var info: [String: String] = [:]
    for key in record.keys {
      info[key.hasPrefix("~") ? String(key.dropFirst()) : key] = record[key] ?? ""
    }
    return info.isEmpty ? nil : info
  }
}
