/** The `Status` with which an API server refused a request. */
export class ApiStatusError extends Error {
  override readonly name = 'ApiStatusError';
  readonly code: number;
  readonly reason: string;
  /** The whole body, as received. */
  readonly status: unknown;

  /** `body` is the response with status `code`: a `Status`, or anything else. */
  constructor(code: number, body: unknown) {
    const { reason, message } = wordsOf(body);
    super(message ?? `answered with ${String(code)}`);
    this.code = code;
    this.reason = reason ?? '';
    this.status = body;
  }
}

function wordsOf(body: unknown): { readonly reason?: string; readonly message?: string } {
  // A `Status` has both as text; any other object lacks them.
  return typeof body === 'object' && body !== null ? body : {};
}
