import { randomUUID } from 'node:crypto';

import { deriveAssertionKeys } from '../../../proxy/crypto/assertion-keys.ts';
import { Gateway } from '../../../proxy/gateway.ts';
import { Sealer } from '../../../proxy/crypto/sealer.ts';
import type { SealingKeys } from '../../../proxy/crypto/sealing-key.ts';
import { ExternalTokens } from '../../../proxy/authentication/external-tokens.ts';
import type { Stores } from '../../../proxy/store/stores.ts';
import { LineWriter } from '../../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../../shared/telemetry/logger.ts';
import { hashResource, snapshotOf } from '../../../shared/snapshot/hash-resource.ts';
import {
  AUTHORIZE_LOG_FIELDS,
  type CompiledRoute,
  type CompiledSettings,
} from '../../../shared/snapshot/snapshot.ts';
import { IDENTITY, POLICY } from './access.ts';
import { discard, type Ready } from '../support/subject-process.ts';
import { TOKEN_COUNT } from './workload.ts';

const HOUR = 3_600_000;
const HOUR_SECONDS = 3_600;
const GATEWAY_ID = 'bench/gateway';
const CLIENT_ID = 'bench';

export interface BenchGatewayOptions {
  /** Origin of the MCP server behind the gateway. */
  readonly upstream: string;
  readonly stores: Stores;
  readonly sealingKeys: SealingKeys;
  /** Port in the route's `from`; defaults to the port that the gateway listens on. */
  readonly routePort?: number;
}

/** Starts a gateway with one MCP route, and issues tokens for it. */
export async function startBenchGateway(options: BenchGatewayOptions): Promise<Ready> {
  const { upstream, stores, sealingKeys } = options;
  const lines = new LineWriter(discard);
  const gateway = new Gateway({
    devAllowLoopback: true,
    sealingKeys,
    defaultSigningKeys: deriveAssertionKeys(sealingKeys),
    stores,
    logger: createLogger('bench', lines),
    lines,
  });
  const [address] = await gateway.listen([{ host: '127.0.0.1', port: 0 }]);
  if (address === undefined) throw new Error('not listening');
  const { routePort = address.port } = options;
  await gateway.apply(
    snapshotOf([
      hashResource('settings', settings()),
      hashResource('identity-provider/bench', {
        kind: 'identity-provider',
        name: IDENTITY.provider,
        issuer: IDENTITY.issuer,
        clientId: 'bench',
        scopes: [],
        authorizationParams: {},
      }),
      hashResource('route/bench/mcp', route(upstream, routePort)),
    ]),
  );
  const origin = `http://localhost:${String(routePort)}`;
  return { port: address.port, tokens: await issueTokens(origin, options) };
}

function settings(): CompiledSettings {
  return {
    kind: 'settings',
    gatewayId: GATEWAY_ID,
    allowedClientIdDomains: [],
    allowedOrigins: [],
    outboundAllowedCidrs: [],
    trustedProxies: [],
    unusedClientSeconds: HOUR_SECONDS,
    outageGraceSeconds: 0,
    authorizeLogFields: AUTHORIZE_LOG_FIELDS.filter((field) => field !== 'mcp-tool-parameters'),
    cookie: { expirationSeconds: HOUR_SECONDS, sameSite: 'Lax' },
    tokens: {
      externalTokenSeconds: HOUR_SECONDS,
      refreshTokenSeconds: HOUR_SECONDS,
      refreshTokenGraceSeconds: 60,
    },
  };
}

function route(upstream: string, port: number): CompiledRoute {
  return {
    kind: 'route',
    name: 'bench/mcp',
    scheme: 'http',
    host: 'localhost',
    port,
    path: { kind: 'prefix', value: '' },
    upstream,
    access: { kind: 'policy', policy: POLICY },
    mcpServer: { path: '/mcp', maxRequestBytes: 4096 },
    allowWebsockets: false,
    responseTimeoutMs: 0,
  };
}

/** One token for each of several users, from a client that may revoke them. */
async function issueTokens(
  origin: string,
  { stores, sealingKeys }: BenchGatewayOptions,
): Promise<readonly string[]> {
  const externalTokens = new ExternalTokens(new Sealer(sealingKeys));
  const issuedAt = Date.now();
  const expiresAt = issuedAt + HOUR;
  const metadata = {
    redirectUris: [],
    tokenEndpointAuthMethod: 'none',
    grantTypes: ['authorization_code'],
  } as const;
  const client = { id: CLIENT_ID, issuer: origin, registeredAt: issuedAt, metadata };
  await stores.clients.register(client, HOUR_SECONDS);
  return Promise.all(
    Array.from({ length: TOKEN_COUNT }, async () => {
      const sessionId = randomUUID();
      const signInId = randomUUID();
      const grantId = randomUUID();
      const grant = {
        id: grantId,
        issuer: origin,
        clientId: CLIENT_ID,
        signInId,
        resource: origin,
      };
      const session = { id: sessionId, signInId, identity: IDENTITY, createdAt: 0, expiresAt };
      await stores.sessions.create(session);
      await stores.grants.create({ ...grant, scopes: [] }, HOUR_SECONDS);
      return externalTokens.issue({
        gatewayId: GATEWAY_ID,
        issuer: origin,
        sessionId,
        grantId,
        clientId: CLIENT_ID,
        audience: origin,
        issuedAt,
        expiresAt,
      });
    }),
  );
}
