/** An error in the form of Redis's own errors: the code is the first word. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}
