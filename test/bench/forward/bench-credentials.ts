import { randomUUID } from 'node:crypto';

import { ExternalTokens } from '../../../proxy/authentication/external-tokens.ts';
import { Sealer } from '../../../proxy/crypto/sealer.ts';
import type { SealingKeys } from '../../../proxy/crypto/sealing-key.ts';
import { hashToken, randomToken } from '../../../proxy/crypto/tokens.ts';
import { sessionCookieName } from '../../../proxy/http/cookies.ts';
import type { Stores } from '../../../proxy/store/stores.ts';
import { originOf } from '../../../shared/snapshot/origin.ts';
import { IDENTITY } from './access.ts';
import { GATEWAY_ID } from './bench-configuration.ts';
import { TOKEN_COUNT, type Workload } from './workload.ts';

const HOUR = 3_600_000;
const HOUR_SECONDS = 3_600;
const CLIENT_ID = 'bench';

/** Where credentials are valid, and what they are remembered in. */
export interface CredentialOptions {
  /** Port in `from` of the measured route. */
  readonly port: number;
  /** Whether it has https in `from`. */
  readonly isTls: boolean;
  readonly stores: Stores;
  readonly sealingKeys: SealingKeys;
}

/**
 * Issues what the requests of a workload carry: external tokens, session cookies (as `name=value`), or
 * nothing. Each is of another session.
 */
export async function issueCredentials(
  workload: Exclude<Workload, 'jwt'>,
  options: CredentialOptions,
): Promise<readonly string[]> {
  if (workload === 'public') return [];
  if (workload === 'mcp') await registerClient(options);
  const issue = workload === 'mcp' ? issueToken : issueCookie;
  return Promise.all(Array.from({ length: TOKEN_COUNT }, () => issue(options)));
}

/** A client that may revoke its tokens. */
async function registerClient({ stores, ...route }: CredentialOptions): Promise<void> {
  const metadata = {
    redirectUris: [],
    tokenEndpointAuthMethod: 'none',
    grantTypes: ['authorization_code'],
  } as const;
  const client = {
    id: CLIENT_ID,
    issuer: originOfRoute(route),
    registeredAt: Date.now(),
    metadata,
  };
  await stores.clients.register(client, HOUR_SECONDS);
}

async function issueToken(options: CredentialOptions): Promise<string> {
  const { stores, sealingKeys } = options;
  const origin = originOfRoute(options);
  const { sessionId, signInId, expiresAt } = await createSession(stores);
  const grantId = randomUUID();
  const whose = { issuer: origin, clientId: CLIENT_ID };
  const grant = { id: grantId, ...whose, signInId, resource: origin, scopes: [] };
  await stores.grants.create(grant, HOUR_SECONDS);
  return new ExternalTokens(new Sealer(sealingKeys)).issue({
    gatewayId: GATEWAY_ID,
    ...{ ...whose, sessionId, grantId, audience: origin, issuedAt: Date.now(), expiresAt },
  });
}

async function issueCookie({ stores, ...route }: CredentialOptions): Promise<string> {
  const origin = originOfRoute(route);
  const { sessionId, expiresAt } = await createSession(stores);
  const value = randomToken();
  await stores.browserSessions.save(hashToken(value), { sessionId, origin }, expiresAt);
  return `${sessionCookieName(origin, { signIn: true, name: IDENTITY.provider })}=${value}`;
}

async function createSession(
  stores: Stores,
): Promise<{ readonly sessionId: string; readonly signInId: string; readonly expiresAt: number }> {
  const sessionId = randomUUID();
  const signInId = randomUUID();
  const expiresAt = Date.now() + HOUR;
  const session = { id: sessionId, signInId, identity: IDENTITY, createdAt: 0, expiresAt };
  await stores.sessions.create(session);
  return { sessionId, signInId, expiresAt };
}

function originOfRoute({
  port,
  isTls,
}: Pick<CredentialOptions, 'port' | 'isTls'>): ReturnType<typeof originOf> {
  return originOf({ scheme: isTls ? 'https' : 'http', host: 'localhost', port });
}
