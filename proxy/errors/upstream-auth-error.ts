import { clip } from '../../shared/runtime/clip.ts';
import { GatewayError } from './gateway-error.ts';

/** Why users cannot connect to an upstream, whoever they are. */
export type UpstreamAuthReason =
  /** A host is on no domain that may be asked. */
  | 'upstream-auth-domain-not-allowed'
  /** A host is at an address that is neither public nor in `outboundAllowedCidrs`. */
  | 'upstream-auth-address-not-allowed'
  /** A server did not answer in time, failed, or could not be reached. */
  | 'upstream-auth-unavailable'
  /** No metadata say which authorization server the upstream has, and no fallback is set. */
  | 'upstream-auth-not-found'
  /** A server answered with metadata that cannot be used, or a URL in metadata is not https. */
  | 'upstream-auth-metadata-invalid'
  /** The metadata are about a resource other than the upstream. */
  | 'upstream-auth-resource-mismatch'
  /** The metadata are those of an issuer other than the one that was asked. */
  | 'upstream-auth-issuer-mismatch'
  /** The authorization server does not say that it supports PKCE with S256. */
  | 'upstream-auth-no-pkce'
  /** The Secret of the given client cannot be used, and without it the gateway is not that client. */
  | 'upstream-auth-no-client-secret'
  /** The token endpoint does not accept the gateway as the client that it is. */
  | 'upstream-auth-client-refused'
  /** The authorization server takes no client that registers itself, and no credentials are given. */
  | 'upstream-auth-no-registration'
  /** The authorization server refused to register the gateway, or its answer is not usable. */
  | 'upstream-auth-registration-refused';

/** What was being done. */
export type UpstreamAuthStep =
  'challenge' | 'resource-metadata' | 'server-metadata' | 'registration' | 'token' | 'revocation';

/** A setting, and the entry that is missing in it. */
export interface MissingSetting {
  /** Its name in the CRDs, with the path from `spec`. */
  readonly setting: string;
  /** The value to set or to add. Absent if the operator must find it. */
  readonly entry?: string;
}

/** Details of an `UpstreamAuthError`. */
export interface UpstreamAuthDetails {
  readonly step: UpstreamAuthStep;
  /** The host that was asked, with its port. Absent if nobody was asked. */
  readonly host?: string | undefined;
  readonly missing?: MissingSetting | undefined;
}

/** For one page, log line or status. */
const LONGEST_MESSAGE = 1000;
/** Terminals act on these. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/**
 * The authorization server of an upstream cannot be found or used, or the gateway cannot be its client. It is
 * the same for every user of the route, and has nothing to do with who they are. Messages quote servers that nobody
 * here wrote: they are cut, and have no control characters.
 */
export class UpstreamAuthError extends GatewayError {
  override readonly name = 'UpstreamAuthError';
  override readonly reason: UpstreamAuthReason;
  override readonly status = 502;
  readonly step: UpstreamAuthStep;
  readonly host: string | undefined;
  /** What an operator has to set or to add. */
  readonly missing: MissingSetting | undefined;

  constructor(
    reason: UpstreamAuthReason,
    message: string,
    { step, host, missing }: UpstreamAuthDetails,
  ) {
    super(clip(message.replaceAll(CONTROL_CHARACTERS, ' '), LONGEST_MESSAGE));
    this.reason = reason;
    this.step = step;
    this.host = host;
    this.missing = missing;
  }

  /** Whether it may be gone in a while without a change of settings. */
  get isTemporary(): boolean {
    return this.reason === 'upstream-auth-unavailable';
  }
}
