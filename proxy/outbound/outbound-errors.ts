export type RefusalKind =
  /** Not an absolute URL, or none that can be fetched. */
  | 'url'
  /** Neither https nor an http that is allowed. */
  | 'scheme'
  /** A user name or password in the URL. */
  | 'userinfo'
  /** The host is, or resolves to, an address that is not public. */
  | 'address';

/** The URL must not be fetched; nothing was sent. */
export class OutboundRefusedError extends Error {
  override readonly name = 'OutboundRefusedError';
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export type FailureKind = 'dns' | 'connection' | 'timeout' | 'too-large' | 'aborted';

/** The URL could not be fetched. What the server sent is not part of the message. */
export class OutboundFailedError extends Error {
  override readonly name = 'OutboundFailedError';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
