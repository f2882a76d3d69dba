/// An event that a terminal reports to the program.
package enum InputEvent: Hashable, Sendable {
  /// A key was pressed, repeated or released.
  case key(KeyPress)
  /// The pointer moved or its button changed, at a position counted from 0: a cell, or a pixel
  /// after `reportsPixels`.
  case pointer(x: Int, y: Int, action: PointerAction)
  /// The window gained or lost the focus. Keys that are down when it is lost get no release event.
  case focus(Bool)
  /// The terminal supports reports of key releases.
  case reportsReleases
  /// The terminal reports the pointer's position in pixels.
  case reportsPixels

  /// The pointer's action.
  package enum PointerAction: Hashable, Sendable { case moved, pressed, released }
}

/// A key and its action.
package struct KeyPress: Hashable, Sendable {
  /// A key, identified by its meaning.
  package enum Key: Hashable, Sendable {
    case character(Unicode.Scalar)
    case up, down, left, right
    case escape, enter, tab, backspace
  }

  /// The key's action. Terminals without the keyboard protocol report only presses, and report them
  /// repeatedly while a key is held down.
  package enum Action: Hashable, Sendable { case pressed, repeated, released }

  /// The key; letters are in lower case.
  package var key: Key
  /// The key's action.
  package var action: Action
  /// Whether the control key was down.
  package var control: Bool

  /// Creates an event for a key: a press, unless `action` says otherwise.
  package init(_ key: Key, _ action: Action = .pressed, control: Bool = false) {
    self.key = key
    self.action = action
    self.control = control
  }
}
