/** Something that the definitions of OTLP do not allow; the message says what, and where it stands. */
export class ViolationError extends Error {
  override readonly name = 'ViolationError';

  constructor(path: string, what: string) {
    super(`${path}: ${what}`);
  }
}
