import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';

import { createGateway } from '../../../proxy/gateway.ts';
import { Sealer, type SealingKey } from '../../../proxy/crypto/sealer.ts';
import { ExternalTokens } from '../../../proxy/oauth/external-token.ts';
import { createMemoryStores } from '../../../proxy/store/memory/memory-stores.ts';
import { LineWriter } from '../../../shared/process/line-writer.ts';
import { createLogger } from '../../../shared/process/logger.ts';
import { hashResource, snapshotOf } from '../../../shared/snapshot/hash-resource.ts';
import {
  AUTHORIZE_LOG_FIELDS,
  type CompiledRoute,
  type CompiledSettings,
  type CompiledSigningKeys,
} from '../../../shared/snapshot/snapshot.ts';
import { IDENTITY, POLICY } from './access.ts';
import { discard, reportReady } from './subject-process.ts';
import { TOKEN_COUNT } from './workload.ts';

const HOUR = 3_600_000;
const HOUR_SECONDS = 3_600;
const GATEWAY_ID = 'bench/gateway';

const sealingKey: SealingKey = { id: 'bench', secret: randomBytes(32) };
const stores = createMemoryStores();
const lines = new LineWriter(discard);
const gateway = createGateway({
  devAllowLoopback: true,
  sealingKeys: [sealingKey],
  defaultSigningKeys: signingKeys(),
  stores,
  logger: createLogger('bench', lines),
  lines,
});
const [address] = await gateway.listen([{ host: '127.0.0.1', port: 0 }]);
if (address === undefined) throw new Error('not listening');
const { port } = address;
const origin = `http://localhost:${String(port)}`;
gateway.apply(
  snapshotOf([
    hashResource('settings', settings()),
    hashResource('identity-provider/bench', {
      kind: 'identity-provider',
      name: IDENTITY.provider,
      issuer: 'https://bench.example.com',
      clientId: 'bench',
      scopes: [],
      authorizationParams: {},
    }),
    hashResource('route/bench/mcp', route(process.argv[2] ?? '')),
  ]),
);
reportReady(port, await issueTokens());

function signingKeys(): CompiledSigningKeys {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return {
    kind: 'signing-keys',
    keys: [{ keyId: 'bench', algorithm: 'ES256', privateKey: pem }],
  };
}

function settings(): CompiledSettings {
  return {
    kind: 'settings',
    gatewayId: GATEWAY_ID,
    allowedClientIdDomains: [],
    allowedOrigins: [],
    outboundAllowedCidrs: [],
    authorizeLogFields: AUTHORIZE_LOG_FIELDS.filter((field) => field !== 'mcp-tool-parameters'),
    cookie: { expirationSeconds: HOUR_SECONDS, sameSite: 'Lax' },
    tokens: {
      externalTokenSeconds: HOUR_SECONDS,
      refreshTokenSeconds: HOUR_SECONDS,
      refreshTokenGraceSeconds: 60,
    },
  };
}

function route(upstream: string): CompiledRoute {
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

/** Tokens of as many users as there are tokens. */
async function issueTokens(): Promise<readonly string[]> {
  const externalTokens = new ExternalTokens(new Sealer([sealingKey]));
  const issuedAt = Date.now();
  const expiresAt = issuedAt + HOUR;
  return Promise.all(
    Array.from({ length: TOKEN_COUNT }, async () => {
      const sessionId = randomUUID();
      const grantId = randomUUID();
      const clientId = 'bench';
      const grant = { id: grantId, issuer: origin, clientId, sessionId, resource: origin };
      await stores.sessions.create({ id: sessionId, identity: IDENTITY, createdAt: 0, expiresAt });
      await stores.grants.create({ ...grant, scopes: [] }, HOUR_SECONDS);
      return externalTokens.issue({
        gatewayId: GATEWAY_ID,
        issuer: origin,
        sessionId,
        grantId,
        clientId,
        audience: origin,
        issuedAt,
        expiresAt,
      });
    }),
  );
}
