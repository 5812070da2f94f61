/** An API server refused a request: what its `Status` says. */
export class ApiStatusError extends Error {
  override readonly name = 'ApiStatusError';
  readonly code: number;
  readonly reason: string;
  /** The whole body, as it came. */
  readonly status: unknown;

  /** `body` is what came with `code`: a `Status`, or whatever else answered. */
  constructor(code: number, body: unknown) {
    const { reason, message } = wordsOf(body);
    super(message ?? `answered with ${String(code)}`);
    this.code = code;
    this.reason = reason ?? '';
    this.status = body;
  }
}

function wordsOf(body: unknown): { readonly reason?: string; readonly message?: string } {
  // A `Status` has both as text; anything else that is an object lacks them.
  return typeof body === 'object' && body !== null ? body : {};
}
