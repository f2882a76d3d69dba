import CaromCore

/// The key-value strings that describe a service, in order (RFC 6763 §6).
///
/// Keys are printable ASCII without "=" and are compared without regard to case; values are bytes.
/// An absent key, a key without a value, an empty value and a non-empty value are four distinct
/// cases.
public struct TXTRecord: Hashable, Sendable {
  /// The value of a key that is present.
  public enum Content: Hashable, Sendable {
    /// The key stands alone, without "=".
    case none
    /// The bytes after "=", possibly none.
    case bytes([UInt8])
  }

  /// The maximum length of a string, in bytes including the key and "=" (RFC 6763 §6.1).
  public static let maximumStringLength = 255
  /// The maximum length of a record, in bytes: the record must fit into one message (RFC 6763
  /// §6.1).
  public static let maximumLength = 8900
  /// The recommended maximum length, in bytes. With longer records, a message that lists several
  /// services becomes too large (RFC 6763 §6.2).
  public static let largeLength = 400
  /// The maximum length, in bytes, that fits into an Ethernet frame with the rest of the message.
  /// Longer records arrive in IP fragments or not at all (RFC 6763 §6.2).
  public static let frameLength = 1300

  private struct Entry: Hashable, Sendable {
    var key: String
    var value: Content
  }

  private var entries: [Entry] = []

  /// Creates a record without strings.
  public init() {}

  /// The keys, in order.
  public var keys: [String] { entries.map(\.key) }
  /// The number of keys.
  public var count: Int { entries.count }
  /// Whether the record has no keys.
  public var isEmpty: Bool { entries.isEmpty }

  /// Returns the value of `key`, or nil if the key is absent.
  public func value(for key: String) -> Content? { index(of: key).map { entries[$0].value } }

  /// The value of `key` as text, or nil if the key is absent, has no value, or is not valid UTF-8.
  /// Setting nil removes the key. Setting a value that `set(_:to:)` would reject is a programming
  /// error.
  public subscript(key: String) -> String? {
    get {
      guard case .bytes(let bytes) = value(for: key) else { return nil }
      return String(validating: bytes, as: UTF8.self)
    }
    set {
      guard let newValue else {
        remove(key)
        return
      }
      do throws(TXTRecordError) {
        try set(key, to: .bytes(Array(newValue.utf8)))
      } catch {
        preconditionFailure("cannot set TXT key '\(key)': \(error)")
      }
    }
  }

  /// The length of the encoded strings, in bytes including their length bytes.
  public var length: Int { entries.reduce(0) { $0 + Self.string(of: $1).count + 1 } }
  /// Whether the record is longer than the recommended maximum of 400 bytes.
  public var isLarge: Bool { length > Self.largeLength }
  /// Whether the record is too long for an Ethernet frame: more than 1,300 bytes.
  public var exceedsFrame: Bool { length > Self.frameLength }

  /// The version of the record's format, stored under the key "txtvers", or nil if the key is
  /// absent or its value is not a number. Setting the version puts the key first, where readers
  /// expect it (RFC 6763 §6.7).
  public var version: Int? {
    get { self["txtvers"].flatMap { Int($0) } }
    set {
      remove("txtvers")
      guard let newValue else { return }
      let entry = Entry(key: "txtvers", value: .bytes(Array("\(newValue)".utf8)))
      entries.insert(entry, at: 0)
    }
  }

  /// Returns the record itself if its version is one of `versions`, otherwise an empty record. A
  /// record without a version is treated as one of version `first` (RFC 6763 §6.7).
  public func understood(by versions: ClosedRange<Int>, default first: Int = 1) -> TXTRecord {
    let isVersioned = value(for: "txtvers") != nil
    let version = isVersioned ? version : first
    return version.map(versions.contains) ?? false ? self : TXTRecord()
  }

  /// Sets the value of `key`. A key that is present keeps its position, and a new key is appended.
  public mutating func set(_ key: String, to value: Content) throws(TXTRecordError) {
    guard !key.isEmpty else { throw .emptyKey }
    guard key.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }) else {
      throw .invalidKey(key)
    }
    let entry = Entry(key: key, value: value)
    let length = Self.string(of: entry).count
    guard length <= Self.maximumStringLength else { throw .stringTooLong(length) }
    var changed = entries
    if let index = index(of: key) { changed[index] = entry } else { changed.append(entry) }
    let total = changed.reduce(0) { $0 + Self.string(of: $1).count + 1 }
    guard total <= Self.maximumLength else { throw .recordTooLong(total) }
    entries = changed
  }

  /// Removes `key` if it is present.
  public mutating func remove(_ key: String) {
    if let index = index(of: key) { entries.remove(at: index) }
  }

  private func index(of key: String) -> Int? {
    entries.firstIndex { Self.isSame($0.key, key) }
  }

  private static func isSame(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count
      && zip(a.utf8, b.utf8).allSatisfy { Name.folded($0) == Name.folded($1) }
  }

  private static func string(of entry: Entry) -> [UInt8] {
    guard case .bytes(let value) = entry.value else { return Array(entry.key.utf8) }
    return Array(entry.key.utf8) + [UInt8(ascii: "=")] + value
  }
}

// MARK: - Wire format

extension TXTRecord {
  /// The strings in wire format, each preceded by its length byte. An empty record is one zero byte
  /// (RFC 6763 §6.1).
  package var encoded: [UInt8] {
    guard !entries.isEmpty else { return [0] }
    return entries.flatMap { entry in
      let string = Self.string(of: entry)
      return [UInt8(string.count)] + string
    }
  }

  /// Creates a record by decoding strings in wire format. Strings without a key, repeated keys (RFC
  /// 6763 §6.4) and a truncated last string are skipped.
  package init(decoding bytes: [UInt8]) {
    var rest = bytes[...]
    while let length = rest.popFirst() {
      guard Int(length) <= rest.count else { return }
      append(rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
    }
  }

  private mutating func append(_ string: ArraySlice<UInt8>) {
    let keyBytes = string.prefix { $0 != UInt8(ascii: "=") }
    guard !keyBytes.isEmpty, keyBytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return }
    let key = String(decoding: keyBytes, as: UTF8.self)
    guard index(of: key) == nil else { return }
    let hasValue = keyBytes.endIndex < string.endIndex
    let value: Content = hasValue ? .bytes(Array(string[(keyBytes.endIndex + 1)...])) : .none
    entries.append(Entry(key: key, value: value))
  }
}

extension TXTRecord: ExpressibleByDictionaryLiteral {
  /// Creates a record from a literal. If a key occurs more than once, its first value is used.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (key, value) in elements where index(of: key) == nil { self[key] = value }
  }
}

extension TXTRecord: CustomStringConvertible {
  /// The `key=value` pairs, separated by spaces, for display.
  public var description: String {
    entries.map { String(decoding: Self.string(of: $0), as: UTF8.self) }.joined(separator: " ")
  }
}
