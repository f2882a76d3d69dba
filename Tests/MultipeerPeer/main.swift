import Foundation
import MultipeerConnectivity
import MultipeerSamples

// A program for tests with two processes:
//   multipeer-peer <service type> <display name> <archive of the own id>

let arguments = CommandLine.arguments
guard arguments.count == 4 else {
  print("usage: multipeer-peer <service type> <display name> <archive>")
  exit(2)
}
let peerID = try StoredPeerID.load(
  from: URL(fileURLWithPath: arguments[3]), displayName: arguments[2])
print("id \(peerID.hash)")
let conversation = ChatConversation(serviceType: arguments[1], peerID: peerID)
guard let lines = conversation.run(timeout: 20) else {
  print("no conversation")
  exit(1)
}
for line in lines { print(line) }
