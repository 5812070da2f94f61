/** What Redis would answer: its code is the first word. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}
