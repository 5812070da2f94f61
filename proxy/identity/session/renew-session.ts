import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { CompiledIdentityProvider } from '../../../shared/snapshot/snapshot.ts';
import { randomToken } from '../../crypto/tokens.ts';
import type { Configuration } from '../../configuration/configuration.ts';
import { retryWhileUnavailable } from '../../store/retry-while-unavailable.ts';
import type { SignInRecord } from '../../records/sign-in-record.ts';
import type { VersionedSignIn } from '../../store/sign-in-store.ts';
import { createSession } from './create-session.ts';
import { endSignIn } from './end-sign-in.ts';
import { keepSignIn, type SignInStores } from './listed-sign-ins.ts';
import type { ProviderDiscovery } from '../../identity-provider/provider-discovery.ts';
import {
  isSignInProvider,
  type SignInProvider,
} from '../../identity-provider/require-identity-provider.ts';
import { identityRefreshOf } from './identity-refresh-of.ts';
import type { ExtendLease } from '../../store/renewal-lease.ts';
import type { AuditLog } from '../../telemetry/audit-log.ts';
import type { Session } from '../../records/session.ts';

/** Retries for one minute to store the next refresh token: the provider may not issue it again. */
const KEEP_RETRIES = { attempts: 240, intervalMs: 250 };

/** The part of the request's configuration by which a session is renewed. */
export type CurrentSettings = Pick<Configuration, 'identityProviders' | 'settings'>;

/** Options of `renewSession`. */
export interface RenewalOptions {
  readonly stores: SignInStores;
  readonly discovery: ProviderDiscovery;
  readonly audit: AuditLog;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Thrown if another request renewed or ended the sign-in after it was read. */
export class StaleSignInError extends Error {
  override readonly name = 'StaleSignInError';
}

/**
 * Makes a new session of a sign-in that the caller has claimed, after getting the user's current identity
 * from the provider. Null if the user must sign in again.
 *
 * Rejects with a `StaleSignInError` if the caller has lost the claim, and with an `UnavailableError` if
 * provider or store are unavailable.
 */
export async function renewSession(
  claimed: VersionedSignIn,
  extend: ExtendLease,
  { identityProviders, settings }: CurrentSettings,
  options: RenewalOptions,
): Promise<Session | null> {
  const { signIn } = claimed;
  const provider = identityProviders.find(signIn.provider.name);
  if (provider === undefined || !isFrom(signIn, provider)) {
    return notRenewed(signIn, 'other-provider', options);
  }
  const refreshIdentity = await identityRefreshOf(signIn, provider, options.discovery);
  if (refreshIdentity === undefined) return notRenewed(signIn, 'no-refresh-token', options);
  // Directly before the token is used: a process may have been paused for longer than its lease, and a
  // provider that sees one token twice can revoke every token of the sign-in.
  if (!(await extend())) throw new StaleSignInError();
  let held = claimed;
  const refresh = await refreshIdentity(async (next) => {
    const replace = () => update({ ...signIn, refreshToken: next }, claimed.version, options);
    held = await retryWhileUnavailable(replace, KEEP_RETRIES);
  });
  if (refresh.kind === 'over') {
    // Another request may have used the token, and its next token is valid.
    if (!(await endSignIn(held, options.stores))) throw new StaleSignInError();
    const { id: signInId, identity } = signIn;
    const { reason } = refresh;
    options.audit.write(
      'sign-in-ended',
      { configuration: { settings } },
      { identity, signInId, reason },
    );
    return null;
  }
  const renewed = { ...held.signIn, identity: refresh.identity };
  return putSession({ ...held, signIn: renewed }, settings, options);
}

/** A token is sent only to the provider that issued it. */
function isFrom(
  { provider: { name, issuer, clientId } }: SignInRecord,
  current: CompiledIdentityProvider,
): current is SignInProvider {
  const isSame = name === current.name && issuer === current.issuer;
  return isSame && clientId === current.clientId && isSignInProvider(current);
}

async function putSession(
  { signIn, version }: VersionedSignIn,
  settings: CurrentSettings['settings'],
  options: RenewalOptions,
): Promise<Session> {
  const { stores, logger } = options;
  const { id: signInId, identity } = signIn;
  await keepSignIn({ identity, signInId }, stores, settings.cookie.expirationSeconds);
  const id = randomToken();
  const session = await createSession({ id, signInId, identity }, settings, options);
  try {
    await update({ ...signIn, sessionId: id }, version, options);
  } catch (error) {
    await stores.sessions.revoke(id);
    throw error;
  }
  logger.info('session renewed', fieldsOf(signIn));
  return session;
}

async function update(
  signIn: SignInRecord,
  version: number,
  { stores }: RenewalOptions,
): Promise<VersionedSignIn> {
  const next = await stores.signIns.update(signIn, version);
  if (next === null) throw new StaleSignInError();
  return { signIn, version: next };
}

function notRenewed(signIn: SignInRecord, reason: string, { logger }: RenewalOptions): null {
  logger.info('session not renewed', { reason, ...fieldsOf(signIn) });
  return null;
}

function fieldsOf({ id, identity: { subject, provider } }: SignInRecord) {
  return { 'sign-in-id': id, user: subject, provider };
}
