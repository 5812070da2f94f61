/** Why a URL must not be fetched. */
export type RefusalKind =
  /** Not an absolute URL, or not one that can be fetched. */
  | 'url'
  /** Neither https nor an allowed http URL. */
  | 'scheme'
  /** A user name or password in the URL. */
  | 'userinfo'
  /** The host is on no allowed domain. */
  | 'domain'
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

/** Why a URL could not be fetched. */
export type FailureKind = 'dns' | 'connection' | 'timeout' | 'too-large' | 'aborted';

/** The URL could not be fetched. The message has no content from the server. */
export class OutboundFailedError extends Error {
  override readonly name = 'OutboundFailedError';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
