/** Thrown if a command is called wrongly: exit code 2. The message explains how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
