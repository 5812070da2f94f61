/** The command cannot do what it was asked to, for a reason that its user can mend: exit code 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}
