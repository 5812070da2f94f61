/** Thrown if a command fails for a reason that its user can fix: exit code 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}
