import CaromDiscovery

/// Something that a command has to tell: a row for people, an object for machines.
struct Report: Sendable {
  /// What happened.
  enum Event: String, Sendable {
    case added, updated, removed, resolved, unresolved, published, renamed, withdrawn

    /// Before a line.
    var mark: String {
      switch self {
      case .added, .published: "+"
      case .updated, .resolved, .renamed: "~"
      case .removed, .withdrawn: "-"
      case .unresolved: "?"
      }
    }

    /// What a change means for a row.
    init<Item>(_ change: DiscoveryChange<Item>) {
      self =
        switch change {
        case .added: .added
        case .updated: .updated
        case .removed: .removed
        }
    }

    /// Whether the row goes.
    var isEnd: Bool { self == .removed || self == .withdrawn }
  }

  let event: Event
  /// Which row it is about.
  let key: String
  /// The row's cells, one for each column.
  let cells: [String]
  /// What machines read, behind the event.
  let fields: [JSONValue.Field]

  init(_ event: Event, _ key: String, cells: [String], _ fields: [JSONValue.Field]) {
    self.event = event
    self.key = key
    self.cells = cells
    self.fields = fields
  }

  /// One object on one line.
  var json: String {
    JSONValue.object([.init("event", .string(event.rawValue))] + fields).text
  }
}
