import Dispatch
import Foundation
import MultipeerConnectivity

/// A short conversation of two processes: each greets the other, answers the greeting, and says
/// goodbye once it has an answer itself. It ends when the other side has said goodbye, or has left.
public class ChatConversation: NearbyChatDelegate {
  private let chat: NearbyChat
  private let isDone = DispatchSemaphore(value: 0)
  private var greeting: String?
  private var answer: String?
  private var hasSaidGoodbye = false
  private var wasToldGoodbye = false

  /// Begins to look for the other side.
  public init(serviceType: String, peerID: MCPeerID) {
    chat = NearbyChat(serviceType: serviceType, peerID: peerID)
    chat.delegate = self
  }

  /// Runs the conversation. Returns what the other side has said, or nil after `timeout` seconds.
  public func run(timeout: TimeInterval) -> [String]? {
    guard isDone.wait(timeout: .now() + timeout) == .success,
      let greeting = greeting, let answer = answer
    else { return nil }
    return [greeting, answer]
  }

  func chat(_ chat: NearbyChat, connectedPeersChanged names: [String]) {
    guard !names.isEmpty else {
      wasToldGoodbye = true
      return endIfDone()
    }
    chat.send(event: "hello", object: chat.myPeerID.displayName as NSString)
  }

  func chat(_ chat: NearbyChat, received event: String, object: Any?, from name: String) {
    switch event {
    case "hello":
      greeting = "\(object as? String ?? "?") greets"
      chat.send(event: "welcome", object: ["to": name, "count": 1] as NSDictionary)
    case "welcome":
      let values = object as? [String: Any]
      answer = "\(name) welcomes \(values?["to"] as? String ?? "?")"
    case "goodbye": wasToldGoodbye = true
    default: return
    }
    endIfDone()
  }

  private func endIfDone() {
    guard greeting != nil, answer != nil else { return }
    if !hasSaidGoodbye { chat.send(event: "goodbye") }
    hasSaidGoodbye = true
    if wasToldGoodbye { isDone.signal() }
  }
}

/// The own id of an application, which is archived so that it stays the same.
public enum StoredPeerID {
  /// Returns the id in the archive at `url`, which is made if there is none.
  public static func load(from url: URL, displayName: String) throws -> MCPeerID {
    if let data = try? Data(contentsOf: url),
      let peerID = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data),
      peerID.displayName == displayName
    {
      return peerID
    }
    let peerID = MCPeerID(displayName: displayName)
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: peerID, requiringSecureCoding: true)
    try data.write(to: url)
    return peerID
  }
}
