/** The command was called wrongly: exit code 2, and the message says how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
