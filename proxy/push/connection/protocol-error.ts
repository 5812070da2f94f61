/** Thrown if the controller breaks the push protocol. The message holds nothing that it sent. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
