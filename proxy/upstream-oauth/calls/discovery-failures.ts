import {
  UpstreamAuthError,
  type UpstreamAuthReason,
  type UpstreamAuthStep,
} from '../../errors/upstream-auth-error.ts';
import { OutboundFailedError, OutboundRefusedError } from '../../outbound/outbound-errors.ts';

const SERVER_ERROR_STATUS = 500;
const TOO_MANY_REQUESTS = 429;
const MOVED = 300;
const BAD_REQUEST = 400;

/** Returns the error for a URL that must not be asked, or could not be. Other errors stay as they are. */
export function callFailure(error: unknown, url: string, step: UpstreamAuthStep): unknown {
  const host = URL.parse(url)?.host;
  if (error instanceof OutboundFailedError) {
    const reason =
      error.kind === 'too-large' ? 'upstream-auth-metadata-invalid' : 'upstream-auth-unavailable';
    return new UpstreamAuthError(reason, withHost(error.message, url), { step, host });
  }
  if (!(error instanceof OutboundRefusedError)) return error;
  if (error.kind === 'domain') return domainNotAllowed(url, step);
  if (error.kind === 'address') {
    const missing = { setting: 'outboundAllowedCidrs' };
    const reason = 'upstream-auth-address-not-allowed';
    return new UpstreamAuthError(reason, error.message, { step, host, missing });
  }
  const message = `${JSON.stringify(url)} cannot be asked: ${error.message}`;
  return new UpstreamAuthError('upstream-auth-metadata-invalid', message, { step, host });
}

function withHost(message: string, url: string): string {
  const { host = url, hostname = url } = URL.parse(url) ?? {};
  return message.includes(hostname) ? message : `${host}: ${message}`;
}

/** Returns the error for a URL on a domain that the settings do not list. */
export function domainNotAllowed(url: string, step: UpstreamAuthStep): UpstreamAuthError {
  const { host, hostname: entry = url } = URL.parse(url) ?? {};
  const setting = 'mcpAllowedAsMetadataDomains';
  const message = `${setting} does not list the domain ${entry}`;
  const missing = { setting, entry };
  return new UpstreamAuthError('upstream-auth-domain-not-allowed', message, {
    step,
    host,
    missing,
  });
}

/** Returns the error for a response with a status that is no success. */
export function statusFailure(
  status: number,
  url: string,
  step: UpstreamAuthStep,
): UpstreamAuthError {
  const host = URL.parse(url)?.host;
  const message = `${url} was answered with status ${String(status)}`;
  return new UpstreamAuthError(reasonOfStatus(status), message, { step, host });
}

function reasonOfStatus(status: number): UpstreamAuthReason {
  if (status >= SERVER_ERROR_STATUS || status === TOO_MANY_REQUESTS) {
    return 'upstream-auth-unavailable';
  }
  // Redirects are not followed: they could lead anywhere.
  const isRedirect = status >= MOVED && status < BAD_REQUEST;
  return isRedirect ? 'upstream-auth-metadata-invalid' : 'upstream-auth-not-found';
}

/** What an operator can mend comes first, then what may pass, and last that nothing is there. */
const BY_WORTH: readonly UpstreamAuthReason[] = [
  'upstream-auth-domain-not-allowed',
  'upstream-auth-address-not-allowed',
  'upstream-auth-unavailable',
  'upstream-auth-issuer-mismatch',
  'upstream-auth-no-pkce',
  'upstream-auth-metadata-invalid',
];

/** Returns the error of several attempts that says most; undefined if there was none. */
export function mostTelling(errors: readonly UpstreamAuthError[]): UpstreamAuthError | undefined {
  for (const reason of BY_WORTH) {
    const found = errors.find((error) => error.reason === reason);
    if (found !== undefined) return found;
  }
  return errors[0];
}
