/// An event that a terminal reports to the program.
package enum InputEvent: Hashable, Sendable {
  /// A key was pressed, repeated or released.
  case key(KeyPress)
  /// The pointer moved or its button changed, at a position counted from 0. The position is a cell
  /// or, after `reportsPixels`, a pixel.
  case pointer(x: Int, y: Int, action: PointerAction)
  /// The window gained (true) or lost (false) the focus. Keys that are down when the focus is lost
  /// get no release event.
  case focus(Bool)
  /// The terminal supports reports of key releases.
  case reportsReleases
  /// The terminal reports the pointer's position in pixels.
  case reportsPixels

  /// An action of the pointer.
  package enum PointerAction: Hashable, Sendable { case moved, pressed, released }
}

/// A key and its action.
package struct KeyPress: Hashable, Sendable {
  /// A key, identified by the character or function that it produces.
  package enum Key: Hashable, Sendable {
    case character(Unicode.Scalar)
    case up, down, left, right
    case escape, enter, tab, backspace
  }

  /// An action of a key. Terminals without the keyboard protocol report only presses, and report
  /// them repeatedly while a key is held down.
  package enum Action: Hashable, Sendable { case pressed, repeated, released }

  /// The key. Letters are in lower case.
  package var key: Key
  /// The key's action.
  package var action: Action
  /// Whether the control key was down.
  package var control: Bool

  /// Creates an event for a key, by default a press.
  package init(_ key: Key, _ action: Action = .pressed, control: Bool = false) {
    self.key = key
    self.action = action
    self.control = control
  }
}
