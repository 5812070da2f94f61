/** The other side does not speak the push protocol. The message holds nothing of what it sent. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
