/** Receives the whole body of a message. */
export interface BodyReceiver {
  onPart(part: Buffer): void;
  onEnd(): void;
  /** The client has left. */
  onClose(): void;
}
