const SERVICE_ACCOUNT = /^system:serviceaccount:([-a-z0-9.]{1,253}):([-a-z0-9.]{1,253})$/;
const POD = /^[-a-z0-9.]{1,253}$/;
const AUDIENCE = /^[!-~]{1,253}$/;
const MAX_AUDIENCES = 4;
const UNKNOWN = 'unknown';
const NONE = 'none';

/** The holder of a token, made safe for the log: anyone may present a token with any claims. */
export interface TokenHolder {
  /** `namespace/name` of the ServiceAccount. */
  readonly tokenOf: string;
  /** Pod that the token is bound to. */
  readonly pod: string;
  readonly audience: string;
}

/** Returns the holder that a token, or the API server, names. */
export function tokenHolder({
  subject,
  pod,
  audiences,
}: {
  readonly subject: unknown;
  readonly pod: unknown;
  readonly audiences: readonly unknown[];
}): TokenHolder {
  return { tokenOf: accountOf(subject), pod: shown(pod, POD), audience: audienceOf(audiences) };
}

function accountOf(subject: unknown): string {
  const match = SERVICE_ACCOUNT.exec(typeof subject === 'string' ? subject : '');
  return match === null ? UNKNOWN : `${match[1] ?? ''}/${match[2] ?? ''}`;
}

function audienceOf(audiences: readonly unknown[]): string {
  const some = audiences.slice(0, MAX_AUDIENCES).map((audience) => shown(audience, AUDIENCE));
  return some.length === 0 ? NONE : some.join(' ');
}

function shown(value: unknown, form: RegExp): string {
  if (value === undefined) return NONE;
  return typeof value === 'string' && form.test(value) ? value : UNKNOWN;
}
